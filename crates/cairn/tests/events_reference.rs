//! The book names every event and every field of it.

use cairn_campaign::{Event, EventKind, Why};
use cairn_model::Ending;

/// One event of each kind.
fn events() -> Vec<EventKind> {
    let word = || "word".to_string();
    let events = vec![
        EventKind::Began { is_resumed: true, seed: 1, workers: 1, n_branches: 1, n_mutants: 1 },
        EventKind::Kept {
            entry: 1,
            address: word(),
            strategy: word(),
            parent: None,
            made_by: word(),
            kept_for: word(),
            n_branches: 1,
        },
        EventKind::Killed { entry: 1, strategy: word(), kills: vec![word()], n_kills: 1, n_killed: 1 },
        EventKind::Unconfirmed { address: word(), strategy: word(), ending: Ending::OutOfFuel, n_runs: 1 },
        EventKind::Failed {
            signature: word(),
            kind: word(),
            address: word(),
            strategy: word(),
            stack: vec![word()],
            is_smaller: false,
        },
        EventKind::Warned { text: word() },
        EventKind::Restarted { worker: 1, why: word() },
        EventKind::Moment {
            n_branches: 1,
            n_entries: 1,
            n_failures: 1,
            n_inputs: 1,
            n_target_runs: 1,
            n_mutant_runs: 1,
            on_mutants_ms: 1,
            n_killed: 1,
            inputs_per_second: 1.0,
            workers: vec![word()],
        },
        EventKind::Ended { why: Why::Budget },
    ];
    for event in &events {
        // A new kind does not compile here until it is also in the list above.
        match event {
            EventKind::Began { .. }
            | EventKind::Kept { .. }
            | EventKind::Killed { .. }
            | EventKind::Failed { .. }
            | EventKind::Unconfirmed { .. }
            | EventKind::Warned { .. }
            | EventKind::Restarted { .. }
            | EventKind::Moment { .. }
            | EventKind::Ended { .. } => {}
        }
    }
    events
}

#[test]
fn the_book_names_every_event_with_its_fields() {
    let book = include_str!("../../../docs/campaigns.md");
    let (_, book) = book.split_once("\n## Events\n").expect("a section of its own");
    for kind in events() {
        let event = serde_json::to_value(Event { after_ms: 1, kind }).unwrap();
        let name = event["event"].as_str().unwrap();
        let row = book.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("`{name}` is missing in docs/campaigns.md"));
        for field in event.as_object().unwrap().keys().filter(|key| !["after_ms", "event"].contains(&&***key))
        {
            assert!(row.contains(&format!("`{field}`")), "`{field}` of `{name}` is missing in: {row}");
        }
    }
}
