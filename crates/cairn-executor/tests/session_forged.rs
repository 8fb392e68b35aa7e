//! Programs that write on the session's board what only a runner or the template may: none of it is believed.

mod support;

use cairn_abi::{
    channel::ChannelHeader,
    session::{RunnerMode, SessionBoard},
};
use cairn_executor::{Ran, SandboxLevel, Session, SessionMode, Wants, WhyFresh};
use cairn_model::Ending;
use std::{mem::offset_of, time::Duration};
use support::{
    args,
    view::{session, session_config, session_processes, target, view},
};

/// Finds the board, does with it what its first argument says, and returns 7. Without a session there is no board.
const FORGER: &str = r#"
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static char *find_board(void) {
        char line[300];
        unsigned long start, offset, session;
        FILE *maps = fopen("/proc/self/maps", "r");
        while (fgets(line, sizeof line, maps))
            if (strstr(line, "cairn-channel") && sscanf(line, "%lx-%*x %*s %lx", &start, &offset) == 2 && !offset) {
                memcpy(&session, (char *)start + SESSION, 8);
                return session ? (char *)start + session : NULL;
            }
        return NULL;
    }
    int main(int argc, char **argv) {
        HIT(0);
        if (argc < 2) return 7;
        char *board = find_board();
        if (!board) return 7;
        #define AT(field) (*(volatile unsigned *)(board + field))
        if (!strcmp(argv[1], "current")) for (;;) AT(CURRENT)++;
        if (!strcmp(argv[1], "done")) for (;;) AT(N_DONE)++;
        if (!strcmp(argv[1], "back and forth")) for (;;) AT(CURRENT) ^= 1;
        if (!strcmp(argv[1], "dead")) {
            AT(RUNNER_STATUS) = atoi(argv[2]);
            AT(RUNNER_ENDED) = atoi(argv[3]);
            AT(TURN) = atoi(argv[4]);
            for (volatile int i = 0;; i++);
        }
        if (!strcmp(argv[1], "restoring")) { AT(IS_RUNNING) = 0; raise(SIGSEGV); }
        return 7;
    }"#;

fn forger() -> support::Program {
    let constants = [
        ("SESSION", offset_of!(ChannelHeader, session)),
        ("TURN", offset_of!(SessionBoard, turn)),
        ("CURRENT", offset_of!(SessionBoard, current)),
        ("N_DONE", offset_of!(SessionBoard, n_done)),
        ("RUNNER_STATUS", offset_of!(SessionBoard, runner_status)),
        ("RUNNER_ENDED", offset_of!(SessionBoard, runner_ended)),
        ("IS_RUNNING", offset_of!(SessionBoard, is_running)),
    ];
    let constants: String =
        constants.iter().map(|(name, offset)| format!("#define {name} {offset}\n")).collect();
    view(&(constants + FORGER))
}

/// One at each level: where there are no namespaces, the keeper finds processes in another way.
fn sessions(program: &support::Program) -> impl Iterator<Item = Session> {
    [SandboxLevel::Full, SandboxLevel::Basic, SandboxLevel::Off].into_iter().map(|level| {
        let mut config = session_config();
        config.run.level = level;
        Session::new(target(program), config).unwrap()
    })
}

/// Runs the forger among others, which must not suffer, and says where it ran.
fn check(session: &mut Session, forging: &[&str]) -> Ran {
    let inputs = [args(&[]), args(&[]), args(forging), args(&[])];
    let mut runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
    for (index, run) in runs.iter().enumerate() {
        assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 7 }, "{forging:?} {:?}", run.ran);
        assert_eq!(run.execution.counters[0], 1, "{forging:?}");
        // Whoever lists processes meanwhile looks at this one.
        let is_live = [Ran::Live, Ran::Fresh { why: WhyFresh::LooksAtItself }].contains(&run.ran);
        assert!(index == 2 || is_live, "{forging:?} {index} {:?}", run.ran);
    }
    assert_eq!(*session.mode(), SessionMode::Live(RunnerMode::Snapshot));
    runs.swap_remove(2).ran
}

const DAMAGED: Ran = Ran::Fresh { why: WhyFresh::Damaged };

#[test]
fn progress_that_cannot_be_ends_a_batch() {
    let program = forger();
    for mut session in sessions(&program) {
        for forging in ["current", "done", "back and forth"] {
            assert_eq!(check(&mut session, &[forging]), DAMAGED, "{forging}");
        }
    }
}

#[test]
fn a_death_that_did_not_happen_is_no_verdict() {
    let program = forger();
    for mut session in sessions(&program) {
        for (status, ended, turn) in [("11", "1", "0"), ("11", "2", "0"), ("11", "2", "2"), ("11", "9", "0")]
        {
            assert_eq!(check(&mut session, &["dead", status, ended, turn]), DAMAGED, "{ended} {turn}");
        }
        assert_eq!(session.counts().n_crashes, 0);
    }
}

#[test]
fn the_death_of_the_runner_itself_says_nothing_about_the_input() {
    let program = forger();
    let mut session = session(&program);
    assert_eq!(check(&mut session, &["restoring"]), Ran::Fresh { why: WhyFresh::DiedOddly });
}

#[test]
fn a_runner_killed_between_two_batches_is_replaced_without_a_trace() {
    let program = forger();
    let mut config = session_config();
    // Long enough for a busy machine.
    config.run.wall_limit = Duration::from_secs(5);
    let mut session = Session::new(target(&program), config).unwrap();
    for _ in 0..200 {
        let runner = *session_processes(&program).last().unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(runner), nix::sys::signal::SIGKILL).unwrap();
        let run = session.run(&args(&[])).unwrap();
        assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 7 }, "{:?}", run.ran);
        let is_killed = run.ran == Ran::Fresh { why: WhyFresh::Killed };
        assert!(is_killed || run.ran == Ran::Live, "{:?}", run.ran);
        // One that found the runner dead leaves none.
        session.run(&args(&[])).unwrap();
    }
    assert_eq!(session.counts().n_hangs, 0);
}
