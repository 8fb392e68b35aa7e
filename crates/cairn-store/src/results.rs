//! What running mutants showed.

use crate::{error::StoreError, store::Store, verdict_code};
use cairn_model::{MutantId, StableId, Verdict};
use rusqlite::{OptionalExtension, TransactionBehavior, params};

/// All that decides a result besides mutant and input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Names the mutant view: its code, its mutants and everything it was built from.
    pub view: [u8; 32],
    /// Names what outcomes are compared by, and within which limits runs are made.
    pub oracle: [u8; 32],
    /// Steps a run may take; 0 for no limit, or where the oracle's hash says it already.
    pub fuel: u64,
}

/// Circumstances as one store knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircumstancesId(i64);

/// What an examining run of one input showed. Mutants go by their position in the view's table, which
/// [`Circumstances::view`] pins: there are many, and a bit each is all they take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExaminedInput {
    /// Mutants whose place was executed, in order.
    pub reached: Vec<MutantId>,
    /// Mutants whose value differed there, in order.
    pub infected: Vec<MutantId>,
}

/// What became of one input, or of a part of its mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputResults {
    /// The input's address.
    pub input: String,
    /// The examining run, if one was made.
    pub examined: Option<ExaminedInput>,
    /// Mutants that were run.
    pub verdicts: Vec<(StableId, Verdict)>,
}

impl Store {
    /// Looks circumstances up, or notes them for the first time.
    pub fn circumstances(&mut self, circumstances: &Circumstances) -> Result<CircumstancesId, StoreError> {
        let failed = self.failed("look up circumstances");
        let Circumstances { view, oracle, fuel } = circumstances;
        // SQLite's integers are signed; the bits are what matters.
        let values = params![&view[..], &oracle[..], *fuel as i64];
        self.connection
            .execute("INSERT OR IGNORE INTO circumstances (view, oracle, fuel) VALUES (?1, ?2, ?3)", values)
            .map_err(&failed)?;
        self.connection
            .query_row(
                "SELECT id FROM circumstances WHERE view = ?1 AND oracle = ?2 AND fuel = ?3",
                values,
                |row| row.get(0),
            )
            .map(CircumstancesId)
            .map_err(failed)
    }

    /// Keeps results, all of them or none. A later result of the same mutant and input replaces the earlier one.
    pub fn remember(&mut self, under: CircumstancesId, results: &[InputResults]) -> Result<(), StoreError> {
        let failed = self.failed("keep results");
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        let write = || -> rusqlite::Result<()> {
            let mut note_input =
                transaction.prepare_cached("INSERT OR IGNORE INTO inputs (address) VALUES (?1)")?;
            let mut find_input = transaction.prepare_cached("SELECT id FROM inputs WHERE address = ?1")?;
            let mut examined = transaction.prepare_cached(
                "INSERT OR REPLACE INTO examined (circumstances, input, reached, infected) VALUES (?1, ?2, ?3, ?4)",
            )?;
            let mut verdicts = transaction.prepare_cached(
                "INSERT OR REPLACE INTO verdicts (circumstances, input, mutant, verdict) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for result in results {
                note_input.execute([&result.input])?;
                let input: i64 = find_input.query_row([&result.input], |row| row.get(0))?;
                if let Some(ExaminedInput { reached, infected }) = &result.examined {
                    examined.execute(params![under.0, input, packed(reached), packed(infected)])?;
                }
                for (mutant, verdict) in &result.verdicts {
                    let code = verdict_code::encode(*verdict);
                    verdicts.execute(params![under.0, input, mutant.0 as i64, code])?;
                }
            }
            Ok(())
        };
        write().map_err(&failed)?;
        transaction.commit().map_err(failed)
    }

    /// Everything known about an input.
    pub fn recall(&self, under: CircumstancesId, input: &str) -> Result<InputResults, StoreError> {
        let failed = self.failed("look up results");
        let examined = self
            .connection
            .prepare_cached(
                "SELECT reached, infected FROM examined JOIN inputs ON inputs.id = input \
                 WHERE circumstances = ?1 AND address = ?2",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![under.0, input], |row| {
                        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?))
                    })
                    .optional()
            })
            .map_err(&failed)?;
        let examined = examined.map(|(reached, infected)| ExaminedInput {
            reached: unpacked(&reached),
            infected: unpacked(&infected),
        });
        let rows = self
            .connection
            .prepare_cached(
                "SELECT mutant, verdict FROM verdicts JOIN inputs ON inputs.id = input \
                 WHERE circumstances = ?1 AND address = ?2 ORDER BY mutant",
            )
            .and_then(|mut statement| {
                statement
                    .query_map(params![under.0, input], |row| {
                        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
                    })?
                    .collect::<rusqlite::Result<Vec<_>>>()
            })
            .map_err(&failed)?;
        let verdicts = rows
            .into_iter()
            .map(|(mutant, code)| match verdict_code::decode(code) {
                Some(verdict) => Ok((StableId(mutant as u64), verdict)),
                None => Err(self.damaged(format!("{code} is no verdict"))),
            })
            .collect::<Result<_, _>>()?;
        Ok(InputResults { input: input.to_owned(), examined, verdicts })
    }

    /// Forgets every result made under these circumstances.
    pub fn forget(&mut self, under: CircumstancesId) -> Result<(), StoreError> {
        let failed = self.failed("forget results");
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        transaction.execute("DELETE FROM verdicts WHERE circumstances = ?1", [under.0]).map_err(&failed)?;
        transaction.execute("DELETE FROM examined WHERE circumstances = ?1", [under.0]).map_err(&failed)?;
        transaction.commit().map_err(failed)
    }
}

/// One bit a mutant.
fn packed(mutants: &[MutantId]) -> Vec<u8> {
    let mut bits = Vec::new();
    for mutant in mutants {
        let byte = mutant.index() / 8;
        if bits.len() <= byte {
            bits.resize(byte + 1, 0);
        }
        bits[byte] |= 1 << (mutant.index() % 8);
    }
    bits
}

fn unpacked(bits: &[u8]) -> Vec<MutantId> {
    let is_set = |index: &u32| bits[*index as usize / 8] & (1 << (index % 8)) != 0;
    (0..bits.len() as u32 * 8).filter(is_set).map(MutantId).collect()
}
