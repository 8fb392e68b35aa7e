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

/// What results belong to, besides mutant and circumstances.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResultKey {
    /// The input's address, or whatever names a test.
    pub input: String,
    /// Names what the original does with it. Something outside the program may change that, a library or a file; then
    /// what was found out about mutants says nothing any more.
    pub original: [u8; 32],
}

/// What became of one input, or of a part of its mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputResults {
    /// Which input, and what the original does with it.
    pub key: ResultKey,
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
            let mut note_key = transaction.prepare_cached(
                "INSERT OR IGNORE INTO examined (circumstances, input, original) VALUES (?1, ?2, ?3)",
            )?;
            let mut find_key = transaction.prepare_cached(
                "SELECT id FROM examined WHERE circumstances = ?1 AND input = ?2 AND original = ?3",
            )?;
            let mut note_examined = transaction
                .prepare_cached("UPDATE examined SET reached = ?2, infected = ?3 WHERE id = ?1")?;
            let mut note_verdict = transaction.prepare_cached(
                "INSERT OR REPLACE INTO verdicts (examined, mutant, verdict) VALUES (?1, ?2, ?3)",
            )?;
            for result in results {
                let ResultKey { input, original } = &result.key;
                note_input.execute([input])?;
                let input: i64 = find_input.query_row([input], |row| row.get(0))?;
                note_key.execute(params![under.0, input, &original[..]])?;
                let key: i64 =
                    find_key.query_row(params![under.0, input, &original[..]], |row| row.get(0))?;
                if let Some(ExaminedInput { reached, infected }) = &result.examined {
                    note_examined.execute(params![key, packed(reached), packed(infected)])?;
                }
                for (mutant, verdict) in &result.verdicts {
                    note_verdict.execute(params![key, mutant.0 as i64, verdict_code::encode(*verdict)])?;
                }
            }
            Ok(())
        };
        write().map_err(&failed)?;
        transaction.commit().map_err(failed)
    }

    /// Everything known about an input while the original does the same with it.
    pub fn recall(&self, under: CircumstancesId, key: &ResultKey) -> Result<InputResults, StoreError> {
        let failed = self.failed("look up results");
        let ResultKey { input, original } = key;
        let row = self
            .connection
            .prepare_cached(
                "SELECT examined.id, reached, infected FROM examined JOIN inputs ON inputs.id = input \
                 WHERE circumstances = ?1 AND address = ?2 AND original = ?3",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![under.0, input, &original[..]], |row| {
                        let sets: [Option<Vec<u8>>; 2] = [row.get(1)?, row.get(2)?];
                        Ok((row.get::<_, i64>(0)?, sets))
                    })
                    .optional()
            })
            .map_err(&failed)?;
        let Some((id, [reached, infected])) = row else {
            return Ok(InputResults { key: key.clone(), ..InputResults::default() });
        };
        let examined = reached.zip(infected).map(|(reached, infected)| ExaminedInput {
            reached: unpacked(&reached),
            infected: unpacked(&infected),
        });
        let rows = self
            .connection
            .prepare_cached("SELECT mutant, verdict FROM verdicts WHERE examined = ?1 ORDER BY mutant")
            .and_then(|mut statement| {
                statement
                    .query_map([id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?
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
        Ok(InputResults { key: key.clone(), examined, verdicts })
    }

    /// Forgets every result made under these circumstances.
    pub fn forget(&mut self, under: CircumstancesId) -> Result<(), StoreError> {
        // Their verdicts go with them.
        self.connection
            .execute("DELETE FROM examined WHERE circumstances = ?1", [under.0])
            .map(drop)
            .map_err(self.failed("forget results"))
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
