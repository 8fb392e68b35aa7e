//! Kills in the ledger.

use crate::{
    error::CampaignError,
    event::EventKind,
    ledger::{KillSummary, Ledger, State},
};
use cairn_model::{Entry, EntryId, Input, Kill, KillReason, MutantId};
use cairn_store::StoredKill;
use cairn_strategy::{CountedMutants, Finding, FindingKind};
use std::{collections::BTreeMap, sync::Arc};

/// How many killed mutants are named when an input is kept; the others are counted.
const NAMED_MUTANTS: usize = 2;

/// How many an event names.
const TOLD_MUTANTS: usize = 8;

impl Ledger<'_> {
    /// How many mutants count.
    pub(crate) fn n_mutants(&self) -> usize {
        self.mutants.map_or(0, |mutants| mutants.selected.len())
    }

    /// Mutants that count and that nobody kills.
    pub(crate) fn open_mutants(&self) -> Vec<MutantId> {
        let Some(mutants) = self.mutants else { return Vec::new() };
        let killed = self.kills.killed();
        mutants.selected.iter().filter(|mutant| !killed.contains(*mutant)).collect()
    }

    /// The number of an input that is kept.
    pub(crate) fn find(&self, input: &Input) -> Option<EntryId> {
        self.corpus.since(0).iter().find(|entry| entry.input == *input).map(|entry| entry.id)
    }

    /// Notes what an input kills that was kept before.
    pub(crate) fn note_kills(
        &self,
        entry: EntryId,
        strategy: &str,
        kills: &[(MutantId, KillReason)],
    ) -> Result<FindingKind, CampaignError> {
        let mut state = self.lock();
        let kills = self.unknown_kills(entry, kills);
        if kills.is_empty() {
            return Ok(FindingKind::NothingNew);
        }
        self.store_kills(&mut state, &kills)?;
        let entry = self.corpus.get(entry);
        self.tell_kills(&mut state, &entry, &kills)?;
        let kind = FindingKind::Kills(kills);
        let input = entry.input.clone();
        state.findings.push(Arc::new(Finding { strategy: strategy.into(), input, kind: kind.clone() }));
        Ok(kind)
    }

    /// Those that nobody has noted yet, as kills of an entry.
    pub(crate) fn unknown_kills(&self, entry: EntryId, kills: &[(MutantId, KillReason)]) -> Vec<Kill> {
        let killed = self.kills.killed();
        let unknown = kills.iter().filter(|(mutant, _)| !killed.contains(*mutant));
        unknown.map(|(mutant, reason)| Kill { mutant: *mutant, entry, reason: *reason }).collect()
    }

    /// Stores kills, and counts them from then on.
    pub(crate) fn store_kills(&self, state: &mut State, kills: &[Kill]) -> Result<(), CampaignError> {
        let Some(mutants) = self.mutants.filter(|_| !kills.is_empty()) else { return Ok(()) };
        let found_after = self.clock.now();
        let stored = kills.iter().map(|kill| StoredKill {
            mutant: mutants.table.mutants[kill.mutant.index()].stable_id,
            entry: kill.entry,
            reason: kill.reason,
            found_after,
        });
        state.store.keep_kills(&stored.collect::<Vec<_>>())?;
        kills.iter().for_each(|kill| self.kills.push(*kill));
        Ok(())
    }

    /// Tells of kills that are stored.
    pub(crate) fn tell_kills(
        &self,
        state: &mut State,
        entry: &Entry,
        kills: &[Kill],
    ) -> Result<(), CampaignError> {
        if kills.is_empty() {
            return Ok(());
        }
        let told = kills.iter().take(TOLD_MUTANTS);
        let kind = EventKind::Killed {
            entry: entry.id.0,
            strategy: entry.provenance.strategy.clone(),
            kills: told.map(|kill| format!("{} by {}", self.name_mutant(kill.mutant), kill.reason)).collect(),
            n_kills: kills.len(),
            n_killed: self.kills.len(),
        };
        self.tell(state, kind)
    }

    /// What is killed, for people.
    pub(crate) fn kills_text(&self, kills: &[Kill]) -> Option<String> {
        let names: Vec<String> =
            kills.iter().take(NAMED_MUTANTS).map(|kill| self.name_mutant(kill.mutant)).collect();
        let more = match kills.len().saturating_sub(NAMED_MUTANTS) {
            0 => String::new(),
            1 => " and 1 more mutant".into(),
            n => format!(" and {n} more mutants"),
        };
        (!names.is_empty()).then(|| format!("kills {}{more}", names.join(", ")))
    }

    fn name_mutant(&self, mutant: MutantId) -> String {
        let name = self.mutants.map(|mutants| mutants.table.name(self.map, mutant));
        name.unwrap_or_else(|| format!("mutant {}", mutant.0))
    }

    /// What became of the mutants that count.
    pub(crate) fn kill_summary(&self, mutants: &CountedMutants) -> KillSummary {
        let mut by_reason: BTreeMap<&'static str, usize> = BTreeMap::new();
        let counted = self.kills.since(0).into_iter().filter(|kill| mutants.selected.contains(kill.mutant));
        for kill in counted {
            *by_reason.entry(kill.reason.name()).or_default() += 1;
        }
        KillSummary { n_mutants: mutants.selected.len(), n_killed: by_reason.values().sum(), by_reason }
    }
}
