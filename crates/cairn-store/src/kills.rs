//! Mutants that inputs of a campaign kill.

use crate::{error::StoreError, store::Store, verdict_code};
use cairn_model::{EntryId, KillReason, StableId, Verdict};
use rusqlite::params;
use std::time::Duration;

/// A mutant that is killed, by the name it has in every build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredKill {
    /// The mutant.
    pub mutant: StableId,
    /// The input that kills it.
    pub entry: EntryId,
    /// How.
    pub reason: KillReason,
    /// When that was found, since the campaign began.
    pub found_after: Duration,
}

impl Store {
    /// Keeps kills; a mutant that is killed already stays with its first input.
    pub fn keep_kills(&mut self, kills: &[StoredKill]) -> Result<(), StoreError> {
        let failed = self.failed("keep kills");
        let transaction = self.connection.transaction().map_err(&failed)?;
        for kill in kills {
            transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO kills (mutant, entry, reason, found_after) VALUES (?1, ?2, ?3, ?4)",
                )
                .and_then(|mut statement| {
                    statement.execute(params![
                        kill.mutant.0 as i64,
                        kill.entry.0,
                        verdict_code::encode(Verdict::Killed(kill.reason)),
                        kill.found_after.as_micros() as i64,
                    ])
                })
                .map_err(&failed)?;
        }
        transaction.commit().map_err(failed)
    }

    /// All kills, in the order they were found.
    pub fn kills(&self) -> Result<Vec<StoredKill>, StoreError> {
        let rows = || -> rusqlite::Result<Vec<(i64, u32, i64, i64)>> {
            self.connection
                .prepare("SELECT mutant, entry, reason, found_after FROM kills ORDER BY found_after, entry, mutant")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
                .collect()
        };
        let kill = |(mutant, entry, reason, found_after): (i64, u32, i64, i64)| {
            let reason = verdict_code::decode(reason).and_then(Verdict::kill_reason);
            Ok(StoredKill {
                mutant: StableId(mutant as u64),
                entry: EntryId(entry),
                reason: reason.ok_or_else(|| self.damaged("a kill has no reason"))?,
                found_after: Duration::from_micros(found_after as u64),
            })
        };
        rows().map_err(self.failed("look up kills"))?.into_iter().map(kill).collect()
    }
}
