//! What a campaign did, so that it can go on after being killed at any moment.

use crate::{error::StoreError, store::Store};
use cairn_model::{Ending, Entry, EntryId, Frame, Input, ProgramFailure, Provenance, Spent};
use rusqlite::{OptionalExtension, Row, params};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// What a campaign is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignHead {
    /// Names the program: the hash of its map.
    pub map_hash: [u8; 32],
    /// Where its chances come from.
    pub seed: u64,
    /// Everything else that was asked for, as JSON.
    pub settings: String,
}

/// How far a campaign was at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Since it began, time it did not run left out.
    pub after: Duration,
    /// Branches reached.
    pub n_branches: u32,
    /// Inputs kept.
    pub n_entries: u32,
    /// Ways to fail.
    pub n_failures: u32,
    /// Inputs tried.
    pub n_inputs: u64,
    /// Mutants killed.
    pub n_killed: u32,
}

/// What inputs that are kept do not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    /// Counters that failing runs hit.
    pub failing: Vec<u32>,
    /// Counters that differ from run to run.
    pub unstable: Vec<u32>,
}

impl Store {
    /// Notes what the campaign in this store is.
    pub fn begin_campaign(&mut self, head: &CampaignHead) -> Result<(), StoreError> {
        let CampaignHead { map_hash, seed, settings } = head;
        self.connection
            .execute(
                "INSERT OR REPLACE INTO campaign (id, map_hash, seed, settings) VALUES (1, ?1, ?2, ?3)",
                params![&map_hash[..], *seed as i64, settings],
            )
            .map(drop)
            .map_err(self.failed("begin a campaign"))
    }

    /// What the campaign in this store is, if there is one.
    pub fn campaign(&self) -> Result<Option<CampaignHead>, StoreError> {
        let row = self
            .connection
            .query_row("SELECT map_hash, seed, settings FROM campaign", [], |row| {
                Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?, row.get(2)?))
            })
            .optional()
            .map_err(self.failed("look up the campaign"))?;
        let Some((map_hash, seed, settings)) = row else { return Ok(None) };
        let map_hash = map_hash.try_into().map_err(|_| self.damaged("the program has no name"))?;
        Ok(Some(CampaignHead { map_hash, seed: seed as u64, settings }))
    }

    /// Keeps an input; its content lies in the corpus folder.
    pub fn keep_entry(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let Provenance { parent, strategy, made_by, kept_for, found_after } = &entry.provenance;
        self.connection
            .prepare_cached(
                "INSERT INTO entries (id, address, parent, strategy, made_by, kept_for, found_after, fuel, path_hash, hits) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    entry.id.0,
                    entry.input.address(),
                    parent.map(|parent| parent.0),
                    strategy,
                    made_by,
                    kept_for,
                    found_after.as_micros() as i64,
                    entry.fuel as i64,
                    entry.path_hash as i64,
                    packed_hits(&entry.hits),
                ])
            })
            .map(drop)
            .map_err(self.failed("keep an input"))
    }

    /// All inputs that are kept, in order. `read` finds the content of an address in the corpus folder.
    pub fn entries(
        &self,
        mut read: impl FnMut(&str) -> Result<Input, StoreError>,
    ) -> Result<Vec<Entry>, StoreError> {
        let failed = self.failed("look up inputs");
        let mut statement = self
            .connection
            .prepare(
                "SELECT id, parent, strategy, made_by, kept_for, found_after, fuel, path_hash, hits, address \
                 FROM entries ORDER BY id",
            )
            .map_err(&failed)?;
        let mut rows = statement.query([]).map_err(&failed)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            let (mut entry, address) = entry_of(row).map_err(&failed)?;
            if entry.id.index() != entries.len() {
                return Err(self.damaged(format!("input {} is missing", entries.len())));
            }
            entry.input = read(&address)?;
            entries.push(entry);
        }
        Ok(entries)
    }

    /// The addresses of all inputs that are kept, in order.
    pub fn addresses(&self) -> Result<Vec<String>, StoreError> {
        let look = || -> rusqlite::Result<Vec<String>> {
            self.connection
                .prepare("SELECT address FROM entries ORDER BY id")?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        look().map_err(self.failed("look up inputs"))
    }

    /// Forgets inputs; those that are left are numbered anew.
    pub fn forget_entries(&mut self, lost: &BTreeSet<String>) -> Result<(), StoreError> {
        let failed = self.failed("forget inputs");
        // Numbers of parents are put right as a whole, and would be looked up again for each row.
        self.connection.pragma_update(None, "foreign_keys", false).map_err(&failed)?;
        let forgotten = self.renumber(lost);
        self.connection.pragma_update(None, "foreign_keys", true).map_err(&failed)?;
        forgotten.map_err(failed)
    }

    fn renumber(&mut self, lost: &BTreeSet<String>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        transaction
            .execute_batch("CREATE TEMP TABLE numbers (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")?;
        let entries: Vec<(u32, String)> = transaction
            .prepare("SELECT id, address FROM entries ORDER BY id")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let left = entries.iter().filter(|(_, address)| !lost.contains(address));
        for (new, (old, _)) in left.enumerate() {
            transaction.execute("INSERT INTO numbers VALUES (?1, ?2)", params![old, new as u32])?;
        }
        transaction.execute_batch(
            "UPDATE entries SET parent = (SELECT new FROM numbers WHERE old = parent);
             UPDATE failures SET parent = (SELECT new FROM numbers WHERE old = parent);
             DELETE FROM kills WHERE entry NOT IN (SELECT old FROM numbers);
             UPDATE kills SET entry = (SELECT new FROM numbers WHERE old = entry);
             DELETE FROM entries WHERE id NOT IN (SELECT old FROM numbers);",
        )?;
        for (new, (old, _)) in entries.iter().filter(|(_, address)| !lost.contains(address)).enumerate() {
            if new as u32 != *old {
                transaction.execute("UPDATE entries SET id = ?1 WHERE id = ?2", params![new as u32, old])?;
            }
        }
        transaction.execute_batch("DROP TABLE numbers")?;
        transaction.commit()
    }

    /// Notes what inputs that are kept do not tell.
    pub fn note_beyond(&mut self, beyond: &Beyond) -> Result<(), StoreError> {
        let packed = |counters: &[u32]| -> Vec<u8> {
            counters.iter().flat_map(|counter| counter.to_le_bytes()).collect()
        };
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO beyond (id, failing, unstable) VALUES (1, ?1, ?2)")
            .and_then(|mut statement| {
                statement.execute(params![packed(&beyond.failing), packed(&beyond.unstable)])
            })
            .map(drop)
            .map_err(self.failed("note what runs hit"))
    }

    /// What was noted last of what inputs that are kept do not tell.
    pub fn beyond(&self) -> Result<Beyond, StoreError> {
        let row = self
            .connection
            .query_row("SELECT failing, unstable FROM beyond", [], |row| {
                Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?))
            })
            .optional()
            .map_err(self.failed("look up what runs hit"))?;
        let (failing, unstable) = row.unwrap_or_default();
        let unpacked = |bytes: &[u8]| {
            let (counters, _) = bytes.as_chunks::<4>();
            counters.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
        };
        Ok(Beyond { failing: unpacked(&failing), unstable: unpacked(&unstable) })
    }

    /// Keeps a way to fail, or a smaller input for a known one.
    pub fn keep_failure(&mut self, failure: &ProgramFailure) -> Result<(), StoreError> {
        let Provenance { parent, strategy, made_by, kept_for, found_after } = &failure.provenance;
        let json =
            |value: &dyn Fn() -> serde_json::Result<String>| value().expect("plain data is always JSON");
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO failures (signature, address, ending, kind, stack, report, parent, strategy, made_by, \
                 kept_for, found_after) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    failure.signature,
                    failure.input.address(),
                    json(&|| serde_json::to_string(&failure.ending)),
                    failure.kind,
                    json(&|| serde_json::to_string(&failure.stack)),
                    failure.report,
                    parent.map(|parent| parent.0),
                    strategy,
                    made_by,
                    kept_for,
                    found_after.as_micros() as i64,
                ])
            })
            .map(drop)
            .map_err(self.failed("keep a failure"))
    }

    /// All ways to fail, in the order they were found. `read` finds the content of an address; a failure whose input somebody
    /// has taken away is no longer known, and may be found again.
    pub fn failures(
        &self,
        mut read: impl FnMut(&str) -> Result<Input, StoreError>,
    ) -> Result<Vec<ProgramFailure>, StoreError> {
        let failed = self.failed("look up failures");
        let mut statement = self
            .connection
            .prepare(
                "SELECT signature, address, ending, kind, stack, report, parent, strategy, made_by, kept_for, found_after \
                 FROM failures ORDER BY found_after, signature",
            )
            .map_err(&failed)?;
        let mut rows = statement.query([]).map_err(&failed)?;
        let mut failures = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            let text = |index| row.get::<_, String>(index).map_err(&failed);
            let damaged = |_| self.damaged("a failure cannot be read");
            let input = match read(&text(1)?) {
                Err(error) if error.is_lost() => continue,
                input => input?,
            };
            failures.push(ProgramFailure {
                signature: text(0)?,
                ending: serde_json::from_str::<Ending>(&text(2)?).map_err(damaged)?,
                kind: text(3)?,
                stack: serde_json::from_str::<Vec<Frame>>(&text(4)?).map_err(damaged)?,
                report: text(5)?,
                input,
                provenance: provenance_of(row, 6).map_err(&failed)?,
            });
        }
        Ok(failures)
    }

    /// Notes all the work that was done so far, by strategy, and how far it led.
    pub fn note_work(
        &mut self,
        work: &BTreeMap<String, Spent>,
        moment: Option<&Moment>,
    ) -> Result<(), StoreError> {
        let failed = self.failed("note work");
        let transaction = self.connection.transaction().map_err(&failed)?;
        let write = || -> rusqlite::Result<()> {
            for (strategy, spent) in work {
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO work (strategy, wall, cpu, inputs, target_runs, mutant_runs, new_paths, on_mutants) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    )?
                    .execute(params![
                        strategy,
                        spent.wall.as_micros() as i64,
                        spent.cpu.as_micros() as i64,
                        spent.inputs as i64,
                        spent.target_runs as i64,
                        spent.mutant_runs as i64,
                        spent.new_paths as i64,
                        spent.on_mutants.as_micros() as i64,
                    ])?;
            }
            if let Some(moment) = moment {
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO moments (after, n_branches, n_entries, n_failures, n_inputs, n_killed) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    )?
                    .execute(params![
                        moment.after.as_micros() as i64,
                        moment.n_branches,
                        moment.n_entries,
                        moment.n_failures,
                        moment.n_inputs as i64,
                        moment.n_killed,
                    ])?;
            }
            Ok(())
        };
        write().map_err(&failed)?;
        transaction.commit().map_err(failed)
    }

    /// The work that was noted last, by strategy.
    pub fn work(&self) -> Result<BTreeMap<String, Spent>, StoreError> {
        let look = || -> rusqlite::Result<BTreeMap<String, Spent>> {
            self.connection
                .prepare("SELECT strategy, wall, cpu, inputs, target_runs, mutant_runs, new_paths, on_mutants FROM work")?
                .query_map([], |row| {
                    let number = |index| row.get::<_, i64>(index).map(|number| number as u64);
                    let spent = Spent {
                        wall: Duration::from_micros(number(1)?),
                        cpu: Duration::from_micros(number(2)?),
                        inputs: number(3)?,
                        target_runs: number(4)?,
                        mutant_runs: number(5)?,
                        new_paths: number(6)?,
                        on_mutants: Duration::from_micros(number(7)?),
                    };
                    Ok((row.get(0)?, spent))
                })?
                .collect()
        };
        look().map_err(self.failed("look up work"))
    }

    /// How far the campaign was when, in order.
    pub fn moments(&self) -> Result<Vec<Moment>, StoreError> {
        let look = || -> rusqlite::Result<Vec<Moment>> {
            self.connection
                .prepare(
                    "SELECT after, n_branches, n_entries, n_failures, n_inputs, n_killed FROM moments \
                     ORDER BY after",
                )?
                .query_map([], |row| {
                    Ok(Moment {
                        after: Duration::from_micros(row.get::<_, i64>(0)? as u64),
                        n_branches: row.get(1)?,
                        n_entries: row.get(2)?,
                        n_failures: row.get(3)?,
                        n_inputs: row.get::<_, i64>(4)? as u64,
                        n_killed: row.get(5)?,
                    })
                })?
                .collect()
        };
        look().map_err(self.failed("look up moments"))
    }
}

/// An entry without its input, and the address of that.
fn entry_of(row: &Row<'_>) -> rusqlite::Result<(Entry, String)> {
    let entry = Entry {
        id: EntryId(row.get(0)?),
        input: Input::default(),
        provenance: provenance_of(row, 1)?,
        fuel: row.get::<_, i64>(6)? as u64,
        path_hash: row.get::<_, i64>(7)? as u64,
        hits: unpacked_hits(&row.get::<_, Vec<u8>>(8)?),
    };
    Ok((entry, row.get(9)?))
}

/// Five columns from `at` on.
fn provenance_of(row: &Row<'_>, at: usize) -> rusqlite::Result<Provenance> {
    Ok(Provenance {
        parent: row.get::<_, Option<u32>>(at)?.map(EntryId),
        strategy: row.get(at + 1)?,
        made_by: row.get(at + 2)?,
        kept_for: row.get(at + 3)?,
        found_after: Duration::from_micros(row.get::<_, i64>(at + 4)? as u64),
    })
}

/// Four bytes of the counter's number and one of the class, for each.
fn packed_hits(hits: &[(u32, u8)]) -> Vec<u8> {
    hits.iter().flat_map(|(counter, class)| counter.to_le_bytes().into_iter().chain([*class])).collect()
}

fn unpacked_hits(bytes: &[u8]) -> Vec<(u32, u8)> {
    let (hits, _) = bytes.as_chunks::<5>();
    hits.iter().map(|[a, b, c, d, class]| (u32::from_le_bytes([*a, *b, *c, *d]), *class)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u32, parent: Option<u32>) -> Entry {
        Entry {
            id: EntryId(id),
            input: Input { stdin: format!("{id}").into(), ..Input::default() },
            provenance: Provenance {
                parent: parent.map(EntryId),
                strategy: "fuzz".into(),
                made_by: "bits".into(),
                kept_for: "more".into(),
                found_after: Duration::from_micros(7),
            },
            hits: vec![(id, 1)],
            fuel: 0,
            path_hash: 0,
        }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("campaign.db")).unwrap();
        (folder, store)
    }

    #[test]
    fn inputs_that_are_left_are_numbered_without_a_gap() {
        let parents = [None, Some(0), Some(1), Some(2), Some(0), Some(4)];
        let address = |id| entry(id, None).input.address();
        let check = |lost: &[u32], expected: &[(u32, Option<u32>)], failing: Option<u32>| {
            let (_folder, mut store) = store();
            for (id, parent) in parents.iter().enumerate() {
                store.keep_entry(&entry(id as u32, *parent)).unwrap();
            }
            let Entry { input, provenance, .. } = entry(3, Some(3));
            let failure = ProgramFailure {
                signature: "abort".into(),
                ending: Ending::Signalled { signal: 6 },
                kind: "abort".into(),
                stack: Vec::new(),
                report: String::new(),
                input,
                provenance,
            };
            store.keep_failure(&failure).unwrap();
            store.forget_entries(&lost.iter().map(|id| address(*id)).collect()).unwrap();
            let left = store.entries(|_| Ok(Input::default())).unwrap();
            let number = |parent: Option<EntryId>| parent.map(|parent| parent.0);
            let shown = left.iter().map(|entry| (entry.hits[0].0, number(entry.provenance.parent)));
            assert_eq!(shown.collect::<Vec<_>>(), expected, "without {lost:?}");
            let failures = store.failures(|_| Ok(Input::default())).unwrap();
            assert_eq!(number(failures[0].provenance.parent), failing, "without {lost:?}");
            assert_eq!(store.addresses().unwrap().len(), expected.len());
        };
        check(
            &[],
            &[(0, None), (1, Some(0)), (2, Some(1)), (3, Some(2)), (4, Some(0)), (5, Some(4))],
            Some(3),
        );
        check(&[1], &[(0, None), (2, None), (3, Some(1)), (4, Some(0)), (5, Some(3))], Some(2));
        check(&[0, 1], &[(2, None), (3, Some(0)), (4, None), (5, Some(2))], Some(1));
        check(&[3, 5], &[(0, None), (1, Some(0)), (2, Some(1)), (4, Some(0))], None);
        check(&[0, 1, 2, 3, 4, 5], &[], None);
    }

    #[test]
    fn what_is_noted_beyond_inputs_comes_back() {
        let (_folder, mut store) = store();
        assert_eq!(store.beyond().unwrap(), Beyond::default());
        let beyond = Beyond { failing: vec![3, 70_000], unstable: vec![1, 65_536] };
        store.note_beyond(&Beyond::default()).unwrap();
        store.note_beyond(&beyond).unwrap();
        assert_eq!(store.beyond().unwrap(), beyond);
    }
}
