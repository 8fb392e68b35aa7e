//! The tools that are compared, each as its makers say it is used.

use cairn_experiment::Arm;
use std::collections::{BTreeMap, BTreeSet};

/// Cairn with one worker.
pub fn cairn() -> Arm {
    let command = "env -C {folder} {cairn} run {program} {seeds} -o {out} --cpu {seconds}s --workers 1 --seed {repetition} -- {args}";
    arm("cairn", command, &["{out}/corpus"], &[])
}

/// Ends Cairn when its processor time is over.
pub const BY_TIME: &str = "--cpu {seconds}s";

/// Cairn with one worker and a strategy, called `name`.
pub fn strategy(name: &str, options: &str) -> Arm {
    limited(name, options, BY_TIME)
}

/// Likewise, with options that say when it ends.
pub fn limited(name: &str, options: &str, limit: &str) -> Arm {
    let command = format!(
        "env -C {{folder}} {{cairn}} run {{program}} {{seeds}} -o {{out}} {options} {limit} --workers 1 --seed {{repetition}} -- \
         {{args}}"
    );
    arm(name, &command, &["{out}/corpus"], &[])
}

/// Nobody: what there was to begin with.
pub fn seeds() -> Arm {
    arm("seeds", "true", &["{seeds}"], &[])
}

/// AFL++ with its log of comparisons; `split` are variables that make its program split its input.
pub fn afl(split: &[(&str, &str)]) -> Arm {
    let command = "afl-fuzz -i {afl_seeds} -o {out} -c {cmplog} -s {repetition} -m none -- {afl} {args}";
    let environment = [
        ("LC_ALL", "C"),
        // It would otherwise ask for changes to the machine, or look for a core nobody uses.
        ("AFL_SKIP_CPUFREQ", "1"),
        ("AFL_NO_AFFINITY", "1"),
        ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
        ("AFL_NO_UI", "1"),
        // Without it, a seed on which the program fails ends everything.
        ("AFL_SKIP_CRASHES", "1"),
    ];
    let mut arm = arm("afl++", command, &["{out}/default/queue"], &[&environment[..], split].concat());
    arm.coverage_environment = variables(split);
    arm.contained = true;
    arm
}

/// libFuzzer; what it starts from counts as well, because it does not copy it.
///
/// A crash ends it, so it is started again. Its own handler of signals allocates, and waits forever where the heap is what
/// is broken.
pub fn libfuzzer() -> Arm {
    let command = "{libfuzzer} -seed={repetition} -create_missing_dirs=1 -handle_abrt=0 -handle_segv=0 -artifact_prefix={out}/ {out}/corpus {seeds}";
    let mut arm = arm("libfuzzer", command, &["{out}/corpus", "{seeds}"], &[]);
    let again = ["sh", "-c", "trap 'exit' INT; while :; do \"$@\"; done", "sh"].map(String::from);
    arm.command.splice(0..0, again);
    arm.contained = true;
    arm
}

fn arm(name: &str, command: &str, inputs: &[&str], environment: &[(&str, &str)]) -> Arm {
    Arm {
        name: name.into(),
        command: command.split(' ').map(String::from).collect(),
        inputs: inputs.iter().map(ToString::to_string).collect(),
        environment: variables(environment),
        coverage_environment: BTreeMap::new(),
        contained: false,
        not_on: BTreeSet::new(),
    }
}

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}
