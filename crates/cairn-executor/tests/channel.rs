//! What a target finds in its channel and what comes back through it.

mod support;

use cairn_abi::channel::{EndedBy, Stage};
use cairn_executor::{Execution, Executor, ExecutorError, SandboxLevel, Target};
use cairn_model::{
    Ending, Input,
    input::{Variable, VariableValue},
};
use support::{config, program};

/// A runtime in miniature: maps the channel in a constructor, as the real one does.
const RUNTIME: &str = r#"
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    struct region { uint64_t offset, size; };
    struct header {
        uint64_t magic; uint32_t version, trace_level;
        struct region counters, delivery, output, trace;
        uint64_t delivery_length;
        struct region fuel, session, inputs, baseline, results, captured, control, infections, values;
        struct region symbolic, sources, nodes, tables, sites;
        uint32_t task, reserved;
        uint32_t stage, ended_by; int32_t harness_return; uint32_t refusal;
        uint64_t output_total, trace_committed, trace_dropped;
    };
    static struct header *channel;
    __attribute__((unused)) static char *at(struct region r) { return (char *)channel + r.offset; }
    __attribute__((constructor(101))) static void map(void) {
        off_t size = lseek(190, 0, SEEK_END);
        channel = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, 190, 0);
        if (channel == MAP_FAILED || memcmp(&channel->magic, "cairnchn", 8)) _exit(99);
        channel->stage = 1;
    }
"#;

fn run(text: &str, input: &Input) -> Result<Execution, ExecutorError> {
    let program = program(&format!("{RUNTIME}{text}"));
    let target = Target { program: program.path.clone(), n_counters: 5000 };
    Executor::new(target, config(SandboxLevel::Full)).unwrap().run(input)
}

#[test]
fn counters_and_stage_come_back() {
    let text = r#"
        int main(void) {
            channel->stage = 2;
            char *counters = at(channel->counters);
            uint64_t hash = 77;
            memcpy(counters, &hash, 8);
            counters[64] = 3;
            counters[64 + 4999] = 1;
        }"#;
    let execution = run(text, &Input::default()).unwrap();
    assert_eq!(execution.outcome.ending, Ending::Exited { code: 0 });
    let hit: Vec<_> = (0..5000).filter(|index| execution.counters[*index] != 0).collect();
    assert_eq!((execution.counters.len(), hit), (5000, vec![0, 4999]));
    assert_eq!((execution.stage, execution.path_hash), (Some(Stage::MainEntered), 77));
    assert_eq!(execution.outcome.reached_main, Some(true));
}

#[test]
fn a_crash_before_main_is_told_from_one_after() {
    let early = "__attribute__((constructor)) static void early(void) { abort(); } int main(void) {}";
    let execution = run(early, &Input::default()).unwrap();
    assert_eq!(execution.outcome.ending, Ending::Signalled { signal: 6 });
    assert_eq!((execution.outcome.reached_main, execution.stage), (Some(false), Some(Stage::RuntimeStarted)));
    let late = "int main(void) { channel->stage = 2; abort(); }";
    assert_eq!(run(late, &Input::default()).unwrap().outcome.reached_main, Some(true));
}

#[test]
fn counters_of_a_crash_are_kept() {
    let execution =
        run("int main(void) { at(channel->counters)[64] = 1; abort(); }", &Input::default()).unwrap();
    assert_eq!(execution.counters[0], 1);
}

#[test]
fn a_false_assumption_has_its_own_ending() {
    let text = "int main(void) { channel->ended_by = 1; _exit(121); }";
    let execution = run(text, &Input::default()).unwrap();
    assert_eq!(
        (execution.outcome.ending, execution.ended_by),
        (Ending::AssumptionFailed, EndedBy::Assumption)
    );
    // The same exit status without the runtime's word is the program's own.
    let plain = run("int main(void) { _exit(121); }", &Input::default()).unwrap();
    assert_eq!(plain.outcome.ending, Ending::Exited { code: 121 });
}

#[test]
fn a_run_out_of_fuel_has_its_own_ending_and_used_all_of_it() {
    let text = r#"
        int main(void) {
            uint64_t *fuel = (uint64_t *)at(channel->fuel);
            for (int i = 0; i < 500; i++)
                if (--*fuel == 0) { channel->ended_by = 4; _exit(121); }
        }"#;
    let program = program(&format!("{RUNTIME}{text}"));
    let target = Target { program: program.path.clone(), n_counters: 5000 };
    let mut executor = Executor::new(target, config(SandboxLevel::Full)).unwrap();
    let endings = [0, 500, 501].map(|fuel| {
        executor.set_fuel(fuel);
        let execution = executor.run(&Input::default()).unwrap();
        (execution.outcome.ending, execution.fuel_used)
    });
    let done = Ending::Exited { code: 0 };
    assert_eq!(endings, [(done.clone(), 500), (Ending::OutOfFuel, 500), (done, 500)]);
    assert!(Ending::OutOfFuel.is_failure());
}

#[test]
fn variables_and_the_buffer_are_delivered() {
    let text = r#"
        int main(void) { fwrite(at(channel->delivery), 1, channel->delivery_length, stdout); }"#;
    let buffer = vec![b'x'; 100_000];
    let input = Input {
        variables: vec![Variable { name: "n".into(), value: VariableValue::Int(-2) }],
        buffer: Some(buffer.clone().into()),
        ..Input::default()
    };
    let bytes = run(text, &input).unwrap().outcome.stdout.bytes.0;
    let reader = cairn_abi::delivery::Reader::new(&bytes);
    assert_eq!(reader.variable(b"n", 1), Some(cairn_abi::delivery::Value::Int(-2)));
    assert_eq!(reader.buffer(), Some(&buffer[..]));
}

#[test]
fn what_a_harness_gives_comes_back() {
    let text = r#"
        int main(void) {
            strcpy(at(channel->output), "result");
            channel->output_total = 6;
            channel->harness_return = -1;
            channel->stage = 3;
        }"#;
    let outcome = run(text, &Input::default()).unwrap().outcome;
    assert_eq!((outcome.harness_output.bytes, outcome.harness_return), ("result".into(), Some(-1)));
}

#[test]
fn a_refused_channel_is_an_error_with_a_hint() {
    let text = "__attribute__((constructor)) static void check(void) { channel->refusal = 2; _exit(121); }
                int main(void) {}";
    let error = run(text, &Input::default()).unwrap_err();
    assert!(matches!(error, ExecutorError::Refused { .. }));
    assert!(error.hint().is_some());
}

#[test]
fn a_refusal_the_runtime_cannot_have_given_is_the_targets_own_doing() {
    for (text, code) in [
        ("int main(void) { channel->refusal = 2; return 0; }", 0),
        ("int main(void) { channel->stage = 2; channel->refusal = 2; _exit(121); }", 121),
        ("int main(void) { channel->stage = 2; channel->refusal = 1; return 7; }", 7),
    ] {
        let execution = run(text, &Input::default()).unwrap();
        assert_eq!(execution.outcome.ending, Ending::Exited { code }, "{text}");
    }
}

#[test]
fn a_target_whose_channel_fitted_once_cannot_refuse_it_later() {
    let text = "int main(int argc, char **argv) { if (argc > 1) { channel->refusal = 2; _exit(121); } }";
    let program = program(&format!("{RUNTIME}{text}"));
    let target = Target { program: program.path.clone(), n_counters: 5000 };
    let mut executor = Executor::new(target, config(SandboxLevel::Full)).unwrap();
    executor.run(&Input::default()).unwrap();
    let execution = executor.run(&support::args(&["refuse"])).unwrap();
    assert_eq!(execution.outcome.ending, Ending::Exited { code: 121 });
}

#[test]
fn a_variable_of_another_type_has_its_own_ending() {
    let execution = run("int main(void) { channel->ended_by = 3; _exit(121); }", &Input::default()).unwrap();
    assert_eq!(execution.outcome.ending, Ending::DeliveryMismatch);
    assert!(!execution.outcome.ending.is_failure());
}

#[test]
fn a_wild_target_cannot_hurt_the_host_through_its_channel() {
    let text = r#"
        int main(void) {
            if (ftruncate(190, 0) == 0) return 1;
            memset(channel, 0xff, lseek(190, 0, SEEK_END));
            return 0;
        }"#;
    // Everything it wrote is garbage; the refusal is one no runtime gives and counts as none.
    let execution = run(text, &Input::default()).unwrap();
    assert_eq!(execution.outcome.ending, Ending::Exited { code: 0 });
    assert!(execution.outcome.harness_output.is_truncated());
}
