//! Small things by which a run in a session could be told from a fresh process, or a fresh process be wanted for nothing.

mod support;

use cairn_executor::{BufferEnd, Ran, SandboxLevel, Session, SessionConfig, Wants, WhyFresh};
use cairn_model::{
    Ending, Input,
    input::{FileKind, FileRegion, Variable, VariableValue},
};
use std::time::Duration;
use support::{
    args, stdout,
    view::{harness, session, session_config, target, view},
};

#[test]
fn what_a_harness_returned_is_known_however_the_process_ends() {
    let program = harness(
        r#"#include <stddef.h>
        #include <stdint.h>
        #include <unistd.h>
        static int has_returned;
        __attribute__((destructor)) static void leave(void) { if (has_returned) _exit(5); }
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return has_returned = size; }"#,
    );
    let mut session = session(&program);
    let input = Input { buffer: Some("abc".into()), ..Input::default() };
    let fresh = session.run_fresh(&input).unwrap();
    let run = session.run(&input).unwrap();
    assert_eq!(run.ran, Ran::Live);
    for execution in [&fresh, &run.execution] {
        let outcome = &execution.outcome;
        assert_eq!((&outcome.ending, outcome.harness_return), (&Ending::Exited { code: 5 }, Some(3)));
    }
    let mut batch = session.buffers();
    assert!(batch.push(b"ab") && batch.push(b""));
    let ends: Vec<BufferEnd> = batch.run(Wants::NOVELTY).unwrap().map(|run| run.end).collect();
    assert_eq!(ends, [BufferEnd::Returned(2), BufferEnd::Returned(0)]);
}

#[test]
fn a_slow_run_is_not_taken_for_one_that_looks_at_itself() {
    let program = view(
        r#"#include <stdlib.h>
        #include <unistd.h>
        int main(int argc, char **argv) { usleep(atoi(argv[1])); return 3; }"#,
    );
    let mut config = session_config();
    config.run.wall_limit = Duration::from_secs(3);
    let mut session = Session::new(target(&program), config).unwrap();
    // The host looks at the memory of a run that has taken half of its time.
    let run = session.run(&args(&["1800000"])).unwrap();
    assert_eq!((run.execution.outcome.ending, run.ran), (Ending::Exited { code: 3 }, Ran::Live));
    let run = session.run(&args(&["0"])).unwrap();
    assert_eq!((run.execution.outcome.ending, run.ran), (Ending::Exited { code: 3 }, Ran::Live));
}

#[test]
fn an_input_does_not_see_that_another_has_read_its_files() {
    let program = view(
        r#"#include <stdio.h>
        #include <sys/stat.h>
        int main(int argc, char **argv) {
            struct stat before;
            char text[10];
            stat("a", &before);
            FILE *file = fopen("a", "r");
            fread(text, 1, sizeof text, file);
            printf("%ld\n", (long)before.st_atime);
            return 0;
        }"#,
    );
    let file = FileRegion {
        path: "a".into(),
        kind: FileKind::Regular("content".into()),
        mode: None,
        size: None,
        modified: Some(2_000),
        accessed: Some(1_000),
        owner: None,
    };
    let inputs = vec![Input { files: vec![file], ..args(&[]) }; 5];
    for level in [SandboxLevel::Full, SandboxLevel::Basic, SandboxLevel::Off] {
        let mut config: SessionConfig = session_config();
        config.run.level = level;
        let mut session = Session::new(target(&program), config).unwrap();
        for run in session.run_batch(&inputs, Wants::EVERYTHING).unwrap() {
            assert_eq!(stdout(&run.execution), "1000\n", "{level:?} {:?}", run.ran);
            // Whoever lists processes meanwhile looks at this one.
            let is_live = [Ran::Live, Ran::Fresh { why: WhyFresh::LooksAtItself }].contains(&run.ran);
            assert!(is_live, "{level:?} {:?}", run.ran);
        }
    }
}

#[test]
fn a_program_is_told_the_limit_of_memory_it_would_have_alone() {
    let program = view(
        r#"#include <stdio.h>
        #include <sys/resource.h>
        int main(void) {
            struct rlimit limit;
            getrlimit(RLIMIT_AS, &limit);
            printf("%lu %lu\n", limit.rlim_cur, limit.rlim_max);
            return 0;
        }"#,
    );
    for memory_limit in [0, 300 << 20] {
        let mut config = session_config();
        config.run.memory_limit = memory_limit;
        let mut session = Session::new(target(&program), config).unwrap();
        let run = session.run(&args(&[])).unwrap();
        let fresh = session.run_fresh(&args(&[])).unwrap();
        assert_eq!(stdout(&run.execution), stdout(&fresh), "{:?}", run.ran);
        assert_eq!(run.ran, Ran::Live);
    }
}

/// Runs each input in a session and in a fresh process, and fails where the two differ.
fn assert_equal(program: &support::Program, inputs: &[Input]) {
    let mut session = session(program);
    for input in inputs {
        let run = session.run(input).unwrap();
        let fresh = session.run_fresh(input).unwrap();
        assert_eq!(run.ran, Ran::Live, "{:?}", input.args);
        assert_eq!(stdout(&run.execution), stdout(&fresh), "{:?}", input.args);
        assert_eq!(run.execution.outcome.ending, fresh.outcome.ending, "{:?}", input.args);
    }
}

#[test]
fn a_stack_grows_as_in_a_fresh_process_after_many_runs_that_need_little() {
    // Each frame tells how much of it is not zero before it is filled, but for those where others were before `main`.
    let program = view(
        r#"#include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        __attribute__((noinline, optnone)) static int dirty(int level, int depth) {
            char frame[4096];
            int found = 0;
            for (int i = 0; i < 4096; i++) found += ((volatile char *)frame)[i] != 0;
            memset(frame, 1, sizeof frame);
            if (level < 8) found = 0;
            return level == depth ? found : found + dirty(level + 1, depth) + (frame[level] != 1);
        }
        int main(int argc, char **argv) {
            int depth = atoi(argv[1]);
            printf("%d\n", dirty(0, depth));
            return 0;
        }"#,
    );
    let depths = std::iter::repeat_n("0", 80).chain(["9", "0", "60", "0", "300", "9", "60"]);
    let inputs: Vec<Input> = depths.map(|depth| args(&[depth])).collect();
    assert_equal(&program, &inputs);
}

#[test]
fn memory_above_the_break_is_out_of_reach_even_where_another_run_had_it() {
    let program = view(
        r#"#define _DEFAULT_SOURCE
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            static char buffer[64];
            setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
            for (int i = 1; i < argc; i++) {
                int by = atoi(argv[i]);
                volatile char *top = sbrk(0);
                if (argv[i][0] == '@') { printf("%d\n", top[atoi(argv[i] + 1)]); continue; }
                int found = 0;
                sbrk(by);
                for (int at = 0; at < by; at++) { found += top[at] != 0; top[at] = 1; }
                printf("%d\n", found);
            }
            return 0;
        }"#,
    );
    let runs: [&[&str]; 9] = [
        &["200000", "200000"],
        &["100000", "@100000"],
        &["100000", "300000"],
        &["4096", "@4096"],
        &["@0"],
        &["300000", "-200000", "100000", "@200000"],
        &["2000000", "@0"],
        &["200000", "-200000", "200000"],
        &["100", "@0", "5000"],
    ];
    let inputs: Vec<Input> = runs.iter().chain(&runs).map(|words| args(words)).collect();
    assert_equal(&program, &inputs);
}

#[test]
fn a_file_that_shrinks_grows_or_stays_is_found_as_the_input_says() {
    let program = view(
        r#"#include <stdio.h>
        #include <sys/stat.h>
        int main(int argc, char **argv) {
            struct stat status;
            char text[100];
            stat("a", &status);
            FILE *file = fopen("a", argv[1]);
            int length = fread(text, 1, sizeof text, file);
            printf("%ld %ld %.*s\n", (long)status.st_mtime, (long)status.st_size, length, text);
            if (argv[1][1]) fputs("more", file);
            return 0;
        }"#,
    );
    let input = |mode: &str, content: &str, modified: i64| Input {
        files: vec![FileRegion {
            path: "a".into(),
            kind: FileKind::Regular(content.into()),
            mode: None,
            size: None,
            modified: Some(modified),
            accessed: None,
            owner: None,
        }],
        ..args(&[mode])
    };
    let mut inputs = Vec::new();
    for mode in ["r", "r+"] {
        for (content, modified) in
            [("long content", 1), ("short", 1), ("short", 1), ("short", 2), ("", 2), ("again long", 2)]
        {
            inputs.push(input(mode, content, modified));
        }
    }
    let mut session = session(&program);
    let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
    for (input, run) in inputs.iter().zip(runs) {
        let fresh = session.run_fresh(input).unwrap();
        assert_eq!(run.ran, Ran::Live, "{input:?}");
        assert_eq!(stdout(&run.execution), stdout(&fresh), "{input:?}");
    }
}

#[test]
fn typed_variables_are_no_reason_for_a_fresh_process() {
    let program = view(
        r#"#include <stdio.h>
        int cairn_int(const char *name);
        int main(void) {
            printf("%d %d %d\n", cairn_int("n"), cairn_int("n"), cairn_int("m"));
            return 0;
        }"#,
    );
    let variable = |name: &str, value| Variable { name: name.into(), value: VariableValue::Int(value) };
    let input =
        Input { variables: vec![variable("n", 1), variable("n#2", 2), variable("m", 3)], ..Input::default() };
    let mut session = session(&program);
    for run in session.run_batch(&vec![input; 3], Wants::EVERYTHING).unwrap() {
        assert_eq!((stdout(&run.execution).as_str(), run.ran), ("1 2 3\n", Ran::Live));
    }
}
