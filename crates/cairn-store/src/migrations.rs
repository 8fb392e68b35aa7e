//! The layout of the file, one step for each version.
//!
//! A step is never changed once released; a new layout is a new step. The number of steps is the format, which SQLite
//! keeps as `user_version`.

use rusqlite::{Connection, TransactionBehavior};

/// Each brings a file from the format of its position to the next.
const STEPS: [&str; 6] = [FIRST, BY_ORIGINAL, CAMPAIGN, BEYOND, KILLS, ON_MUTANTS];

const FIRST: &str = "
    CREATE TABLE circumstances (
        id          INTEGER PRIMARY KEY,
        view        BLOB NOT NULL,
        oracle      BLOB NOT NULL,
        fuel        INTEGER NOT NULL,
        UNIQUE (view, oracle, fuel)
    ) STRICT;
    CREATE TABLE inputs (
        id          INTEGER PRIMARY KEY,
        address     TEXT NOT NULL UNIQUE
    ) STRICT;
    CREATE TABLE examined (
        circumstances INTEGER NOT NULL REFERENCES circumstances (id) ON DELETE CASCADE,
        input         INTEGER NOT NULL REFERENCES inputs (id),
        reached       BLOB NOT NULL,
        infected      BLOB NOT NULL,
        PRIMARY KEY (circumstances, input)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE verdicts (
        circumstances INTEGER NOT NULL REFERENCES circumstances (id) ON DELETE CASCADE,
        input         INTEGER NOT NULL REFERENCES inputs (id),
        mutant        INTEGER NOT NULL,
        verdict       INTEGER NOT NULL,
        PRIMARY KEY (circumstances, input, mutant)
    ) STRICT, WITHOUT ROWID;
";

/// Results also depend on what the original did, which nobody noted before: those results are made again.
const BY_ORIGINAL: &str = "
    DROP TABLE verdicts;
    DROP TABLE examined;
    CREATE TABLE examined (
        id            INTEGER PRIMARY KEY,
        circumstances INTEGER NOT NULL REFERENCES circumstances (id) ON DELETE CASCADE,
        input         INTEGER NOT NULL REFERENCES inputs (id),
        original      BLOB NOT NULL,
        reached       BLOB,
        infected      BLOB,
        UNIQUE (circumstances, input, original)
    ) STRICT;
    CREATE TABLE verdicts (
        examined      INTEGER NOT NULL REFERENCES examined (id) ON DELETE CASCADE,
        mutant        INTEGER NOT NULL,
        verdict       INTEGER NOT NULL,
        PRIMARY KEY (examined, mutant)
    ) STRICT, WITHOUT ROWID;
";

/// What a campaign did. Times are microseconds since it began.
const CAMPAIGN: &str = "
    CREATE TABLE campaign (
        id          INTEGER PRIMARY KEY CHECK (id = 1),
        map_hash    BLOB NOT NULL,
        seed        INTEGER NOT NULL,
        settings    TEXT NOT NULL
    ) STRICT;
    CREATE TABLE entries (
        id          INTEGER PRIMARY KEY,
        address     TEXT NOT NULL,
        parent      INTEGER REFERENCES entries (id),
        strategy    TEXT NOT NULL,
        made_by     TEXT NOT NULL,
        kept_for    TEXT NOT NULL,
        found_after INTEGER NOT NULL,
        fuel        INTEGER NOT NULL,
        path_hash   INTEGER NOT NULL,
        hits        BLOB NOT NULL
    ) STRICT;
    CREATE TABLE failures (
        signature   TEXT PRIMARY KEY,
        address     TEXT NOT NULL,
        ending      TEXT NOT NULL,
        kind        TEXT NOT NULL,
        stack       TEXT NOT NULL,
        report      TEXT NOT NULL,
        parent      INTEGER REFERENCES entries (id),
        strategy    TEXT NOT NULL,
        made_by     TEXT NOT NULL,
        kept_for    TEXT NOT NULL,
        found_after INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE work (
        strategy    TEXT PRIMARY KEY,
        wall        INTEGER NOT NULL,
        cpu         INTEGER NOT NULL,
        inputs      INTEGER NOT NULL,
        target_runs INTEGER NOT NULL,
        mutant_runs INTEGER NOT NULL,
        new_paths   INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE moments (
        after       INTEGER PRIMARY KEY,
        n_branches  INTEGER NOT NULL,
        n_entries   INTEGER NOT NULL,
        n_failures  INTEGER NOT NULL,
        n_inputs    INTEGER NOT NULL
    ) STRICT;
";

/// What inputs that are kept do not tell.
const BEYOND: &str = "
    CREATE TABLE beyond (
        id          INTEGER PRIMARY KEY CHECK (id = 1),
        failing     BLOB NOT NULL,
        unstable    BLOB NOT NULL
    ) STRICT;
";

/// Mutants that inputs of a campaign kill, by stable id, and how many there were when.
const KILLS: &str = "
    CREATE TABLE kills (
        mutant      INTEGER PRIMARY KEY,
        entry       INTEGER NOT NULL REFERENCES entries (id),
        reason      INTEGER NOT NULL,
        found_after INTEGER NOT NULL
    ) STRICT;
    ALTER TABLE moments ADD COLUMN n_killed INTEGER NOT NULL DEFAULT 0;
";

/// How much of the time went to mutants.
const ON_MUTANTS: &str = "
    ALTER TABLE work ADD COLUMN on_mutants INTEGER NOT NULL DEFAULT 0;
";

/// The newest format this build knows.
pub const NEWEST: u32 = STEPS.len() as u32;

/// The format of a file; 0 for a new one.
pub fn format(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a file to the newest format. Another process may be doing the same: one of them does it, whole.
pub fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if format(connection)? >= NEWEST {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again now that nobody else can be at it.
    for step in STEPS.iter().skip(format(&transaction)? as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", NEWEST)?;
    transaction.commit()
}
