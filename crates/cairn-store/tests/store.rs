//! A store as its users meet it: reopened, shared, killed.

use cairn_model::{KillReason, MutantId, Spent, StableId, Verdict};
use cairn_store::{
    Beyond, CampaignHead, Circumstances, ExaminedInput, InputResults, ResultKey, Store, StoreError,
};
use std::{collections::BTreeMap, env, fs, path::Path, process::Command, thread, time::Duration};

fn circumstances(fuel: u64) -> Circumstances {
    Circumstances { view: [1; 32], oracle: [2; 32], fuel }
}

fn key(input: &str) -> ResultKey {
    ResultKey { input: input.to_owned(), original: [3; 32] }
}

fn results(input: &str, first_mutant: u64) -> InputResults {
    InputResults {
        key: key(input),
        examined: Some(ExaminedInput {
            reached: vec![MutantId(0), MutantId(7), MutantId(8 + first_mutant as u32)],
            infected: vec![],
        }),
        verdicts: vec![
            (StableId(first_mutant), Verdict::Survived),
            (StableId(first_mutant + 1), Verdict::Killed(KillReason::Crash(11))),
            (StableId(u64::MAX), Verdict::LayoutDependent),
        ],
    }
}

/// Sorted as the store sorts them: ids as signed numbers.
fn in_store_order(mut results: InputResults) -> InputResults {
    results.verdicts.sort_by_key(|(mutant, _)| mutant.0 as i64);
    results
}

#[test]
fn what_was_remembered_is_recalled_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    let under = store.circumstances(&circumstances(5)).unwrap();
    store.remember(under, &[results("a", 1), results("b", 7)]).unwrap();
    drop(store);
    let mut store = Store::open(&path).unwrap();
    let again = store.circumstances(&circumstances(5)).unwrap();
    assert_eq!(store.recall(again, &key("a")).unwrap(), in_store_order(results("a", 1)));
    assert_eq!(store.recall(again, &key("b")).unwrap(), in_store_order(results("b", 7)));
    assert_eq!(store.recall(again, &key("c")).unwrap().verdicts, []);
}

#[test]
fn results_of_other_circumstances_are_not_taken_for_these() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let under = store.circumstances(&circumstances(5)).unwrap();
    store.remember(under, &[results("a", 1)]).unwrap();
    for other in [
        circumstances(6),
        Circumstances { view: [9; 32], ..circumstances(5) },
        Circumstances { oracle: [9; 32], ..circumstances(5) },
    ] {
        let other = store.circumstances(&other).unwrap();
        assert_eq!(store.recall(other, &key("a")).unwrap(), nothing(&key("a")));
    }
}

fn nothing(key: &ResultKey) -> InputResults {
    InputResults { key: key.clone(), ..InputResults::default() }
}

#[test]
fn results_belong_to_what_the_original_did() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let under = store.circumstances(&circumstances(5)).unwrap();
    store.remember(under, &[results("a", 1)]).unwrap();
    let changed = ResultKey { original: [4; 32], ..key("a") };
    assert_eq!(store.recall(under, &changed).unwrap(), nothing(&changed));
    let verdicts = vec![(StableId(1), Verdict::Undecided)];
    let now = InputResults { key: changed.clone(), examined: None, verdicts };
    store.remember(under, std::slice::from_ref(&now)).unwrap();
    assert_eq!(store.recall(under, &changed).unwrap(), now);
    // When things are as they were, so are the results.
    assert_eq!(store.recall(under, &key("a")).unwrap(), in_store_order(results("a", 1)));
}

#[test]
fn results_of_the_first_format_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let first = rusqlite::Connection::open(&path).unwrap();
    first
        .execute_batch(
            "CREATE TABLE circumstances (id INTEGER PRIMARY KEY, view BLOB NOT NULL, oracle BLOB NOT NULL,
                 fuel INTEGER NOT NULL, UNIQUE (view, oracle, fuel)) STRICT;
             CREATE TABLE inputs (id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE) STRICT;
             CREATE TABLE examined (circumstances INTEGER NOT NULL REFERENCES circumstances (id) ON DELETE CASCADE,
                 input INTEGER NOT NULL REFERENCES inputs (id), reached BLOB NOT NULL, infected BLOB NOT NULL,
                 PRIMARY KEY (circumstances, input)) STRICT, WITHOUT ROWID;
             CREATE TABLE verdicts (circumstances INTEGER NOT NULL REFERENCES circumstances (id) ON DELETE CASCADE,
                 input INTEGER NOT NULL REFERENCES inputs (id), mutant INTEGER NOT NULL, verdict INTEGER NOT NULL,
                 PRIMARY KEY (circumstances, input, mutant)) STRICT, WITHOUT ROWID;
             INSERT INTO inputs VALUES (1, 'a');
             PRAGMA user_version = 1;",
        )
        .unwrap();
    let Circumstances { view, oracle, .. } = circumstances(5);
    let values = rusqlite::params![&view[..], &oracle[..]];
    first.execute("INSERT INTO circumstances VALUES (1, ?1, ?2, 5)", values).unwrap();
    first.execute("INSERT INTO verdicts VALUES (1, 1, 7, 0)", []).unwrap();
    drop(first);
    let mut store = Store::open(&path).unwrap();
    let under = store.circumstances(&circumstances(5)).unwrap();
    assert_eq!(store.recall(under, &key("a")).unwrap(), nothing(&key("a")));
    store.remember(under, &[results("a", 1)]).unwrap();
    assert_eq!(store.recall(under, &key("a")).unwrap(), in_store_order(results("a", 1)));
}

#[test]
fn a_campaign_of_the_third_format_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let head = CampaignHead { map_hash: [7; 32], seed: 1, settings: "{}".into() };
    Store::open(&path).unwrap().begin_campaign(&head).unwrap();
    // What the third format did not have.
    let third = rusqlite::Connection::open(&path).unwrap();
    let undo = "DROP TABLE beyond; DROP TABLE kills; \
                ALTER TABLE moments DROP COLUMN n_killed; ALTER TABLE work DROP COLUMN on_mutants; PRAGMA user_version = 3;";
    third.execute_batch(undo).unwrap();
    drop(third);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.campaign().unwrap(), Some(head));
    assert_eq!(store.beyond().unwrap(), Beyond::default());
    assert_eq!((store.kills().unwrap().len(), store.moments().unwrap().len()), (0, 0));
    let beyond = Beyond { failing: vec![3, 70_000], unstable: vec![5] };
    store.note_beyond(&beyond).unwrap();
    drop(store);
    assert_eq!(Store::open(&path).unwrap().beyond().unwrap(), beyond);
}

#[test]
fn work_is_read_as_it_was_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let spent = Spent {
        wall: Duration::from_micros(1),
        cpu: Duration::from_micros(2),
        on_mutants: Duration::from_micros(3),
        inputs: 4,
        target_runs: 5,
        mutant_runs: 6,
        new_paths: 7,
    };
    let work = BTreeMap::from([("mu2".to_owned(), spent)]);
    Store::open(&path).unwrap().note_work(&work, None).unwrap();
    assert_eq!(Store::open(&path).unwrap().work().unwrap(), work);
}

#[test]
fn a_later_verdict_replaces_the_earlier_one_and_forgetting_removes_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let under = store.circumstances(&circumstances(0)).unwrap();
    let verdict =
        |verdict| InputResults { key: key("a"), examined: None, verdicts: vec![(StableId(3), verdict)] };
    store.remember(under, &[verdict(Verdict::Survived)]).unwrap();
    store.remember(under, &[verdict(Verdict::Undecided)]).unwrap();
    assert_eq!(store.recall(under, &key("a")).unwrap().verdicts, [(StableId(3), Verdict::Undecided)]);
    store.forget(under).unwrap();
    assert_eq!(store.recall(under, &key("a")).unwrap().verdicts, []);
}

#[test]
fn threads_with_stores_of_their_own_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let write = |name: String| {
        let mut store = Store::open(&path).unwrap();
        let under = store.circumstances(&circumstances(1)).unwrap();
        for round in 0..20 {
            store.remember(under, &[results(&format!("{name}{round}"), 1)]).unwrap();
        }
    };
    thread::scope(|scope| {
        for worker in 0..4 {
            scope.spawn(move || write(format!("worker{worker}-")));
        }
    });
    let mut store = Store::open(&path).unwrap();
    let under = store.circumstances(&circumstances(1)).unwrap();
    for worker in 0..4 {
        for round in 0..20 {
            assert_eq!(
                store.recall(under, &key(&format!("worker{worker}-{round}"))).unwrap().verdicts.len(),
                3
            );
        }
    }
}

/// Set for a process that writes until it is killed.
const VICTIM: &str = "CAIRN_TEST_STORE_VICTIM";

/// Tells which rounds were remembered, one byte each.
const PROGRESS: &str = "progress";

#[test]
fn a_killed_process_leaves_whole_results_and_everything_it_was_promised() {
    if let Some(folder) = env::var_os(VICTIM) {
        write_until_killed(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "a_killed_process_leaves_whole_results_and_everything_it_was_promised",
            "--nocapture",
        ])
        .env(VICTIM, folder.path())
        .spawn()
        .unwrap();
    let progress = folder.path().join(PROGRESS);
    let n_promised = || fs::metadata(&progress).map_or(0, |metadata| metadata.len());
    while n_promised() < 30 {
        assert_eq!(child.try_wait().unwrap(), None, "the writer ended by itself");
        thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let under = store.circumstances(&circumstances(1)).unwrap();
    let n_promised = n_promised();
    for round in 0..n_promised + 2 {
        let found = store.recall(under, &key(&round.to_string())).unwrap();
        let is_whole = found == in_store_order(results(&round.to_string(), round));
        let is_absent = found.examined.is_none() && found.verdicts.is_empty();
        assert!(is_whole || (round >= n_promised && is_absent), "round {round}: {found:?}");
    }
}

fn write_until_killed(folder: &Path) -> ! {
    use std::io::Write;
    let mut store = Store::open(&folder.join("store.db")).unwrap();
    let under = store.circumstances(&circumstances(1)).unwrap();
    let mut progress = fs::File::create(folder.join(PROGRESS)).unwrap();
    for round in 0.. {
        store.remember(under, &[results(&round.to_string(), round)]).unwrap();
        progress.write_all(b".").unwrap();
    }
    unreachable!()
}

#[test]
fn a_store_of_a_later_version_and_a_file_that_is_none_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(Store::open(&path).unwrap());
    // The format stands at byte 60 of a SQLite file, big-endian.
    let mut bytes = fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::TooNew { found: 99, .. }), "{error:?}");
    fs::write(&path, "this is no database, whatever its name says; it is long enough to be one, though")
        .unwrap();
    assert!(matches!(Store::open(&path).unwrap_err(), StoreError::Open { .. }));
}
