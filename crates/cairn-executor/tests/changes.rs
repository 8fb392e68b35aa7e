//! Buffers that a harness changes itself.

mod support;

use cairn_abi::session::RunnerMode;
use cairn_executor::{
    Change, ChangeFailure, Changer, Changers, Session, SessionConfig, SessionMode, WhyFresh,
};
use cairn_model::{Ending, Input};
use std::ops::ControlFlow;
use support::view::{harness, session, session_config, target, view};

/// The first byte says what the mutator does.
const MUTATOR: &str = r#"
    #include <stdlib.h>
    #include <string.h>
    #include <sys/socket.h>
    typedef unsigned char byte;
    size_t LLVMFuzzerMutate(byte *data, size_t size, size_t max_size);
    static int is_ready, n_calls;
    int LLVMFuzzerInitialize(int *argc, char ***argv) { is_ready = 1; return 0; }
    int LLVMFuzzerTestOneInput(const byte *data, size_t size) { HIT(size % 100); return n_calls; }
    size_t LLVMFuzzerCustomMutator(byte *data, size_t size, size_t max_size, unsigned seed) {
        n_calls++;
        HIT(1);
        switch (size ? data[0] : 0) {
        case 'c': *(volatile int *)0 = 1;
        case 'e': exit(3);
        case 'f': for (;;) STEP();
        case 'h': for (;;);
        case 'l': return max_size + 1;
        case 'm': return LLVMFuzzerMutate(data, size, max_size);
        case 'n': return 0;
        case 'o': data[max_size] = 1; return size;
        case 's': socket(AF_INET, SOCK_STREAM, 0); return size;
        case 'z': for (size_t i = size; i < max_size; i++) if (data[i]) return 1; return max_size;
        }
        if (size + 4 > max_size) return size;
        byte added[4] = {(byte)('0' + seed), is_ready ? 'r' : '-', (byte)('0' + n_calls), '.'};
        memcpy(data + size, added, 4);
        return size + 4;
    }
    size_t LLVMFuzzerCustomCrossOver(const byte *data, size_t size, const byte *other, size_t other_size,
                                     byte *made, size_t max_size, unsigned seed) {
        size_t n = 0;
        for (size_t i = 0; n < max_size && (i < size || i < other_size); i++) {
            if (i < size) made[n++] = data[i];
            if (i < other_size && n < max_size) made[n++] = other[i];
        }
        return n;
    }"#;

type Made = Result<String, ChangeFailure>;

fn mutated(data: &[u8], n_times: u32, seed: u32) -> Change<'_> {
    Change { data, by: Changer::Mutator { n_times }, seed, max_size: 64 }
}

/// What comes of changes, as text.
fn make(session: &mut Session, words: &[&[u8]], changes: &[Change<'_>]) -> Vec<Made> {
    let mut batch = session.changes(words.iter().copied());
    for change in changes {
        assert!(batch.push(change));
    }
    let mut all = Vec::new();
    batch
        .make(|made| {
            all.push(made.map(|bytes| bytes.escape_ascii().to_string()));
            ControlFlow::Continue(())
        })
        .unwrap();
    all
}

fn ended(ending: Ending) -> Made {
    Err(ChangeFailure::Ended { ending })
}

#[test]
fn a_mutator_is_called_where_the_harness_runs_and_leaves_nothing_behind() {
    let program = harness(MUTATOR);
    let mut session = session(&program);
    assert_eq!(session.changers(), Changers { has_mutator: true, has_cross_over: true });
    let made = make(&mut session, &[], &[mutated(b"a", 1, 5), mutated(b"", 2, 1), mutated(b"a", 1, 5)]);
    let text = |text: &str| Ok(text.to_string());
    assert_eq!(made, [text("a5r1."), text("1r1.2r2."), text("a5r1.")]);
    // Neither its variables nor its counters are seen by runs.
    let run = session.run(&Input { buffer: Some("abc".into()), ..Input::default() }).unwrap();
    assert_eq!(run.execution.outcome.harness_return, Some(0));
    let hit: Vec<_> = (0..100).filter(|index| run.execution.counters[*index] != 0).collect();
    assert_eq!(hit, [3]);
}

#[test]
fn two_buffers_are_crossed() {
    let program = harness(MUTATOR);
    let mut session = session(&program);
    let by = Changer::CrossOver { other: b"12" };
    let changes = [64, 3].map(|max_size| Change { data: b"abc", by, seed: 1, max_size });
    assert_eq!(make(&mut session, &[], &changes), [Ok("a1b2c".to_string()), Ok("a1b".to_string())]);
}

#[test]
fn what_a_mutator_does_wrong_is_its_own_change_alone() {
    let program = harness(MUTATOR);
    let mut config = session_config();
    config.run.fuel = 100_000;
    let mut session = Session::new(target(&program), config).unwrap();
    let data: [&[u8]; 12] = [b"a", b"c", b"a", b"e", b"f", b"h", b"a", b"l", b"n", b"o", b"s", b"a"];
    let changes: Vec<_> = data.iter().map(|data| mutated(data, 1, 1)).collect();
    let good = || Ok("a1r1.".to_string());
    let crash = || ended(Ending::Signalled { signal: libc::SIGSEGV });
    let call = ChangeFailure::NotLive { why: WhyFresh::Call { name: "socket".into() } };
    let expected = [
        good(),
        crash(),
        good(),
        ended(Ending::Exited { code: 3 }),
        ended(Ending::OutOfFuel),
        ended(Ending::TimedOut),
        good(),
        Err(ChangeFailure::TooLarge),
        Ok(String::new()),
        crash(),
        Err(call),
        good(),
    ];
    assert_eq!(make(&mut session, &[], &changes), expected);
    assert_eq!(session.counts().n_changes, 12);
    assert!(matches!(session.mode(), SessionMode::Live(_)));
}

#[test]
fn who_has_enough_gets_no_more() {
    let program = harness(MUTATOR);
    let mut session = session(&program);
    let mut batch = session.changes([]);
    for _ in 0..10 {
        assert!(batch.push(&mutated(b"c", 1, 1)));
    }
    assert_eq!(batch.len(), 10);
    let mut n_failures = 0;
    let count = |made: Result<&[u8], ChangeFailure>| {
        n_failures += usize::from(made.is_err());
        if n_failures < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    batch.make(count).unwrap();
    assert_eq!(n_failures, 3);
    assert_eq!(session.counts().n_changes, 3);
}

#[test]
fn bytes_behind_the_data_are_zero_whatever_was_there_before() {
    let program = harness(MUTATOR);
    let mut session = session(&program);
    let long = [b'y'; 60];
    let changes = [mutated(&long, 1, 1), mutated(b"z", 1, 1)];
    let made = make(&mut session, &[], &changes);
    assert_eq!(made[1], Ok(format!("z{}", "\\x00".repeat(63))));
}

#[test]
fn bytes_are_changed_for_a_mutator_by_chance_and_with_words() {
    let program = harness(MUTATOR);
    let mut session = session(&program);
    let changes: Vec<_> = (0..60).map(|seed| mutated(b"m12", 1, seed)).collect();
    let words: [&[u8]; 2] = [b"wonder", &[b'x'; 300]];
    let made = make(&mut session, &words, &changes);
    assert_eq!(made, make(&mut session, &words, &changes));
    let texts: Vec<&str> = made.iter().map(|made| made.as_ref().unwrap().as_str()).collect();
    assert!(texts.iter().all(|text| *text != "m12"), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("wonder")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("xxx")), "{texts:?}");
}

#[test]
fn a_persistent_harness_changes_too() {
    let program = harness(MUTATOR);
    let config = SessionConfig { mode: RunnerMode::Persistent, ..session_config() };
    let mut session = Session::new(target(&program), config).unwrap();
    let changes = [mutated(b"a", 1, 1), mutated(b"a", 1, 2), mutated(b"c", 1, 1), mutated(b"a", 1, 3)];
    let made = make(&mut session, &[], &changes);
    let text = |text: &str| Ok(text.to_string());
    let crash = ended(Ending::Signalled { signal: libc::SIGSEGV });
    // What it remembers is seen by the next call, until it dies.
    assert_eq!(made, [text("a1r1."), text("a2r2."), crash, text("a3r1.")]);
}

#[test]
fn who_has_no_mutator_says_so() {
    let harness =
        harness("int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return 0; }");
    assert_eq!(session(&harness).changers(), Changers::default());
    let program = view("int main(void) { return 0; }");
    let mut session = session(&program);
    assert_eq!(session.changers(), Changers::default());
    // Asked nevertheless, it is harmed and nobody else.
    let made = make(&mut session, &[], &[mutated(b"a", 1, 1)]);
    assert_eq!(made, [Err(ChangeFailure::NotLive { why: WhyFresh::Ruined })]);
    let run = session.run(&Input::default()).unwrap();
    assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 0 });
}
