//! Sessions whose processes are killed, written over, or used for very long.

mod support;

use cairn_abi::session::RunnerMode;
use cairn_executor::{BufferEnd, Ran, Session, SessionConfig, SessionMode, WantedCounters, Wants, WhyFresh};
use cairn_model::{Ending, Input};
use std::{
    collections::BTreeMap,
    fs,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};
use support::{
    args,
    view::{harness, session, session_config, session_processes, target, view},
};

const ENDINGS: &str = r#"
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static void *volatile kept;
    int main(int argc, char **argv) {
        int code = atoi(argv[1]);
        HIT(code % 50);
        printf("%d\n", code);
        if (code % 10 == 9) { fflush(stdout); *(volatile int *)0 = 1; }
        kept = malloc(200000);
        memset(kept, code, 200000);
        open("/dev/null", O_RDONLY);
        chdir("/");
        return code % 256;
    }"#;

fn expected(code: u32) -> Ending {
    match code % 10 {
        9 => Ending::Signalled { signal: libc::SIGSEGV },
        _ => Ending::Exited { code: code as u8 },
    }
}

fn check_batches(session: &mut Session, n_batches: u32) {
    for batch in 0..n_batches {
        let codes: Vec<u32> = (batch..batch + 50).collect();
        let inputs: Vec<Input> = codes.iter().map(|code| args(&[&code.to_string()])).collect();
        let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
        assert_eq!(runs.len(), inputs.len());
        for (code, run) in codes.iter().zip(&runs) {
            let execution = &run.execution;
            assert_eq!(execution.outcome.ending, expected(*code), "{code} {:?}", run.ran);
            assert_eq!(support::stdout(execution), format!("{code}\n"), "{:?}", run.ran);
            let hit: Vec<_> = (0..50).filter(|index| execution.counters[*index] != 0).collect();
            assert_eq!(hit, [*code as usize % 50], "{:?}", run.ran);
        }
    }
}

/// Kills a process of the session at random moments until told to stop; counts the kills.
fn kill_at_random(program: &support::Program, is_over: &AtomicBool, n_killed: &AtomicU32, mut random: u64) {
    while !is_over.load(Ordering::Relaxed) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(500 + (random >> 33) % 40_000));
        let processes = session_processes(program);
        if let Some(pid) = processes.get((random >> 20) as usize % processes.len().max(1)) {
            let killed = nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), nix::sys::signal::SIGKILL);
            n_killed.fetch_add(u32::from(killed.is_ok()), Ordering::Relaxed);
        }
    }
}

#[test]
fn kills_at_random_moments_lose_no_verdict() {
    let program = view(ENDINGS);
    let mut session = session(&program);
    let (is_over, n_killed) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| kill_at_random(&program, &is_over, &n_killed, 4711));
        // A failed check must not leave the other thread running for ever.
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _over = Over(&is_over);
        let mut n_live = 0;
        for round in 0.. {
            if n_killed.load(Ordering::Relaxed) >= 60 {
                break;
            }
            check_batches(&mut session, 1 + round % 3);
            // On a busy machine the killer may be quicker than the session starts, again and again.
            if matches!(session.mode(), SessionMode::Fresh { .. }) {
                n_live += session.counts().n_live;
                session = support::view::session(&program);
            }
        }
        assert!(n_live + session.counts().n_live > 0, "some runs were made in between");
    });
}

/// Address space, mappings and descriptors of a process.
fn size_of(pid: i32) -> (u64, usize, usize) {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    let pages = statm.split_whitespace().next().unwrap().parse().unwrap();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    (pages, maps.lines().count(), fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count())
}

#[test]
fn a_hundred_thousand_runs_leave_nothing_behind() {
    let program = view(&ENDINGS.replace("code % 10 == 9", "0"));
    let mut config = SessionConfig { recycle_after: u64::MAX, ..session_config() };
    // Of so many runs one may have to wait for a busy machine, and a run that is out of time costs the runner.
    config.run.wall_limit = Duration::from_secs(10);
    let mut session = Session::new(target(&program), config).unwrap();
    let inputs: Vec<Input> = (0..64).map(|code: u32| args(&[&code.to_string()])).collect();
    let run = |session: &mut Session, n_runs: usize| {
        for _ in 0..n_runs.div_ceil(inputs.len()) {
            for (code, run) in session.run_batch(&inputs, Wants::EVERYTHING).unwrap().iter().enumerate() {
                assert_eq!(run.execution.outcome.ending, Ending::Exited { code: code as u8 });
                assert_eq!(run.ran, Ran::Live);
            }
        }
    };
    let sizes = |processes: &[i32]| -> BTreeMap<i32, _> {
        processes.iter().map(|pid| (*pid, size_of(*pid))).collect()
    };
    run(&mut session, 1000);
    let processes = session_processes(&program);
    assert_eq!(processes.len(), 2, "a template and a runner");
    let before = sizes(&processes);
    run(&mut session, 100_000);
    assert_eq!(session_processes(&program), processes);
    assert_eq!(sizes(&processes), before);
    assert_eq!(session.counts().n_runners, 1);
}

/// Writes over everything of the channel that can be written.
const VANDAL: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    int main(int argc, char **argv) {
        HIT(atoi(argv[1]) % 50);
        if (argc > 2) {
            FILE *maps = fopen("/proc/self/maps", "r");
            char line[300], rights[8];
            unsigned long start[64], end[64];
            int n = 0;
            while (n < 64 && fgets(line, sizeof line, maps))
                if (strstr(line, "cairn-channel") && sscanf(line, "%lx-%lx %7s", &start[n], &end[n], rights) == 3
                    && rights[1] == 'w')
                    n++;
            while (n--) memset((void *)start[n], atoi(argv[2]), end[n] - start[n]);
        }
        return atoi(argv[1]) % 256;
    }"#;

#[test]
fn results_written_over_are_noticed_and_made_good() {
    let program = view(VANDAL);
    for damage in ["0", "1", "255"] {
        let mut session = session(&program);
        for _ in 0..3 {
            let inputs: Vec<Input> = (0..20)
                .map(|code: u32| match code % 7 {
                    3 => args(&[&code.to_string(), damage]),
                    _ => args(&[&code.to_string()]),
                })
                .collect();
            let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
            for (code, run) in runs.iter().enumerate() {
                let ending = &run.execution.outcome.ending;
                assert_eq!(*ending, Ending::Exited { code: code as u8 }, "{damage} {:?}", run.ran);
                if code % 7 != 3 {
                    let hit: Vec<_> = (0..50).filter(|index| run.execution.counters[*index] != 0).collect();
                    assert_eq!(hit, [code], "{damage} {:?}", run.ran);
                }
            }
        }
        assert_eq!(*session.mode(), SessionMode::Live(RunnerMode::Snapshot));
        assert!(session.counts().n_ruined > 0, "{:?}", session.counts());
    }
}

const HARNESS: &str = r#"
    #include <stddef.h>
    #include <stdint.h>
    #include <stdlib.h>
    static int n_calls;
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        n_calls++;
        HIT(0);
        if (size > 0 && data[0] == 'h') for (volatile int i = 0;; i++);
        if (size > 0 && data[0] == 'f') for (;;) STEP();
        if (size > 0 && data[0] == 'c') { HIT(1); *(volatile int *)0 = 1; }
        if (size > 0 && data[0] == 'x') { HIT(2); exit(5); }
        if (size > 0 && data[0] == 'o') { HIT(3); return data[size]; }
        for (size_t i = 0; i < size; i++) STEP();
        return n_calls;
    }"#;

fn run_buffers(session: &mut Session, buffers: &[&[u8]]) -> Vec<(BufferEnd, u32)> {
    let mut batch = session.buffers();
    for buffer in buffers {
        assert!(batch.push(buffer));
    }
    let wants = Wants { counters: WantedCounters::IfNew, output: false };
    let runs: Vec<_> = batch.run(wants).unwrap().collect();
    assert_eq!(runs.len(), buffers.len());
    for run in &runs {
        assert_eq!(run.counters.is_some(), run.n_new > 0);
        assert!(run.counters.is_none_or(|counters| counters[0] == 1));
    }
    runs.into_iter().map(|run| (run.end, run.n_new)).collect()
}

#[test]
fn a_persistent_harness_keeps_its_state_and_survives_every_kind_of_end() {
    let program = harness(HARNESS);
    let config = SessionConfig { mode: RunnerMode::Persistent, ..session_config() };
    let mut session = Session::new(target(&program), config).unwrap();
    assert_eq!(*session.mode(), SessionMode::Live(RunnerMode::Persistent));
    session.set_fuel(1_000_000);
    let returned = |value| (BufferEnd::Returned(value), 1);
    assert_eq!(run_buffers(&mut session, &[b"", b"a", b"bb"]), [1, 2, 3].map(returned));
    let ended = |ending, n_new| (BufferEnd::Ended(ending), n_new);
    let crash = || ended(Ending::Signalled { signal: libc::SIGSEGV }, 2);
    assert_eq!(
        run_buffers(&mut session, &[b"a", b"c", b"a", b"x", b"a", b"f", b"a", b"h", b"a", b"c", b"c", b"o"]),
        [
            returned(4),
            crash(),
            returned(1),
            ended(Ending::Exited { code: 5 }, 2),
            returned(1),
            ended(Ending::OutOfFuel, 1),
            returned(1),
            ended(Ending::TimedOut, 1),
            returned(1),
            crash(),
            crash(),
            // A read beyond the buffer is a crash, not whatever lies behind it.
            crash(),
        ]
    );
    session.baseline()[0] = 1;
    assert_eq!(run_buffers(&mut session, &[b"a"]), [(BufferEnd::Returned(1), 0)]);
    assert_eq!((session.counts().n_crashes, session.counts().n_hangs), (4, 1));
}

#[test]
fn a_harness_runs_from_a_snapshot_too() {
    let program = harness(HARNESS);
    let mut session = session(&program);
    assert_eq!(
        run_buffers(&mut session, &[b"", b"a", b"bb"]),
        [1, 1, 1].map(|n| (BufferEnd::Returned(n), 1))
    );
    let input = Input { buffer: Some("abc".into()), ..Input::default() };
    let run = session.run(&input).unwrap();
    assert_eq!((run.execution.outcome.harness_return, run.execution.fuel_used), (Some(1), 3));
    assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 0 });
}

#[test]
fn more_than_a_buffer_is_not_for_a_persistent_runner() {
    let program = harness(HARNESS);
    let config = SessionConfig { mode: RunnerMode::Persistent, ..session_config() };
    let mut session = Session::new(target(&program), config).unwrap();
    let run = session.run(&args(&["-x"])).unwrap();
    assert_eq!(run.ran, Ran::Fresh { why: WhyFresh::NotABuffer });
}
