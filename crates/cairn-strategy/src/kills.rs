//! Which mutants the inputs of a campaign kill.

use cairn_model::{Kill, MutantSet};
use std::sync::{Arc, PoisonError, RwLock};

/// Which mutants the inputs of a campaign kill, each by the first that was found; shared by its workers. Kills are added and never
/// change.
#[derive(Clone, Debug, Default)]
pub struct Kills {
    board: Arc<RwLock<Board>>,
}

#[derive(Debug, Default)]
struct Board {
    killed: MutantSet,
    kills: Vec<Kill>,
}

impl Kills {
    /// The mutants that are killed.
    pub fn killed(&self) -> MutantSet {
        self.read(|board| board.killed.clone())
    }

    /// How many are.
    pub fn len(&self) -> usize {
        self.read(|board| board.kills.len())
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All kills from the `start`th on: what a worker that knows the first `start` has not heard of.
    pub fn since(&self, start: usize) -> Vec<Kill> {
        self.read(|board| board.kills.get(start..).unwrap_or_default().to_vec())
    }

    /// Adds a kill, unless its mutant is killed already; for the campaign.
    pub fn push(&self, kill: Kill) {
        let mut board = self.board.write().unwrap_or_else(PoisonError::into_inner);
        if board.killed.insert(kill.mutant) {
            board.kills.push(kill);
        }
    }

    fn read<T>(&self, look: impl FnOnce(&Board) -> T) -> T {
        // Kills are pushed whole, so what a panicking worker left is whole.
        look(&self.board.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{EntryId, KillReason, MutantId};

    #[test]
    fn the_first_input_that_kills_a_mutant_is_the_one() {
        let kills = Kills::default();
        let kill = |mutant, entry| Kill {
            mutant: MutantId(mutant),
            entry: EntryId(entry),
            reason: KillReason::Output,
        };
        [kill(3, 0), kill(1, 1), kill(3, 2)].into_iter().for_each(|kill| kills.push(kill));
        assert_eq!(kills.since(0), [kill(3, 0), kill(1, 1)]);
        assert_eq!(kills.since(1), [kill(1, 1)]);
        assert_eq!(kills.killed().iter().collect::<Vec<_>>(), [MutantId(1), MutantId(3)]);
    }
}
