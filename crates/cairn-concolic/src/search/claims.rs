//! Which search asks what, and what it was answered.

use super::recent::Recent;
use cairn_model::Input;
use cairn_search::{Question, View};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

/// Questions that searches of one program divide among themselves, also those of other threads.
///
/// Whoever comes to a question first has it, and what it was answered is there for the others. Two questions are the same if the ways that
/// lead to them are, whichever inputs took them.
#[derive(Clone, Debug)]
pub struct Claims {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    taken: Mutex<Recent<u64, Taken>>,
    /// Rung whenever an answer is there.
    told: Condvar,
}

#[derive(Clone, Debug)]
struct Taken {
    by: usize,
    /// None as long as it is asked.
    answer: Option<Answer>,
}

/// What came of a question, before anything was run.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// No input takes the way and decides otherwise.
    Unsat,
    /// No input was found.
    Unknown,
    /// Likewise, but there may be one.
    Hard,
    /// One was found that may not be made.
    Unfit,
    /// An input, and whether it satisfies everything that was asked for.
    Found(Arc<Input>, bool),
}

/// Questions that are remembered; what was forgotten may be asked twice.
const CAPACITY: usize = 1 << 18;

impl Claims {
    /// The part of one search, whose number no other has.
    pub fn share(&self, search: usize) -> Share {
        Share { claims: self.clone(), search }
    }
}

impl Default for Claims {
    fn default() -> Self {
        let taken = Mutex::new(Recent::with_capacity(CAPACITY));
        Self { shared: Arc::new(Shared { taken, told: Condvar::new() }) }
    }
}

/// One search's part of what is asked.
#[derive(Clone, Debug)]
pub struct Share {
    claims: Claims,
    search: usize,
}

/// A question, whichever search it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim(u64);

impl Claim {
    /// A hash of what was decided on the way to a question, and of what is to be decided otherwise.
    pub(super) fn of(view: &View<'_>, question: Question) -> Self {
        let mut hasher = DefaultHasher::new();
        let taken = view.tree.path(question.path)[question.index];
        (view.tree.way(taken.node), taken.direction).hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Share {
    /// Whether another search has a question.
    pub(super) fn is_anothers(&self, claim: Claim) -> bool {
        self.with(|taken| taken.get(&claim.0).is_some_and(|taken| taken.by != self.search))
    }

    /// What another search was answered. One that is still asking is waited for, but not for ever: its worker may have died.
    pub(super) fn anothers_answer(&self, claim: Claim, patience: Duration) -> Option<Answer> {
        let is_anothers = |taken: &&Taken| taken.by != self.search;
        let Shared { taken, told } = &*self.claims.shared;
        let taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (taken, _) = told
            .wait_timeout_while(taken, patience, |taken| {
                taken.get(&claim.0).filter(is_anothers).is_some_and(|taken| taken.answer.is_none())
            })
            .unwrap_or_else(PoisonError::into_inner);
        taken.get(&claim.0).filter(is_anothers)?.answer.clone()
    }

    /// Takes a question; false if another search has it.
    pub(super) fn take(&self, claim: Claim) -> bool {
        self.with(|taken| match taken.get(&claim.0) {
            Some(taken) => taken.by == self.search,
            None => {
                taken.insert(claim.0, Taken { by: self.search, answer: None });
                true
            }
        })
    }

    /// Tells the others what came of a question, if it is this search's.
    pub(super) fn tell(&self, claim: Claim, answer: &Answer) {
        self.with(|taken| match taken.get(&claim.0) {
            Some(other) if other.by != self.search => {}
            _ => taken.insert(claim.0, Taken { by: self.search, answer: Some(answer.clone()) }),
        });
        self.claims.shared.told.notify_all();
    }

    fn with<T>(&self, work: impl FnOnce(&mut Recent<u64, Taken>) -> T) -> T {
        // Questions are taken whole, so what a panicking thread left is whole.
        work(&mut self.claims.shared.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_second_waits_for_the_answer() {
        let claims = Claims::default();
        let (first, second) = (claims.share(0), claims.share(1));
        assert!(first.take(Claim(7)) && !second.take(Claim(7)));
        let waiting = std::thread::spawn(move || second.anothers_answer(Claim(7), Duration::MAX));
        first.tell(Claim(7), &Answer::Unsat);
        assert!(matches!(waiting.join().unwrap(), Some(Answer::Unsat)));
        assert!(first.anothers_answer(Claim(7), Duration::MAX).is_none(), "it is its own");
    }

    #[test]
    fn one_that_never_tells_is_waited_for_only_so_long() {
        let claims = Claims::default();
        claims.share(0).take(Claim(7));
        assert!(claims.share(1).anothers_answer(Claim(7), Duration::from_millis(1)).is_none());
    }
}
