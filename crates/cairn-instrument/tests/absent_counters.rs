//! Every counter of the map is in the optimised plain view, or is listed here with the reason.

use cairn_abi::{counters::COUNTERS_START, view::ViewKind};
use cairn_instrument::{
    emit,
    ir::read_module,
    lower::lower,
    mapping::{self, Options},
    scope::Scope,
};
use cairn_model::{CounterId, ProgramMap, map::ConditionKind};
use cairn_testkit::{Workspace, fixture};
use expect_test::{Expect, expect};
use inkwell::context::Context;
use std::collections::{BTreeMap, BTreeSet};

/// The conditions of a fixture one of whose counters did not survive optimisation.
fn absent(name: &str, source: &str) -> String {
    let workspace = Workspace::new();
    let source = fixture(name).join(source);
    let compiler = if source.extension().is_some_and(|extension| extension == "cpp") {
        "clang++-19"
    } else {
        "clang-19"
    };
    let options = ["-g", "-O2", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-lifetime-markers"];
    let source = source.display().to_string();
    let words = options.into_iter().chain(["-c", "-emit-llvm", "-o", "program.bc", &source]);
    workspace.run(compiler, words).success();

    let context = Context::create();
    let module = emit::read(&context, &workspace.path("program.bc")).expect("clang writes bitcode");
    let (scope, units) = (Scope::default(), BTreeMap::new());
    let root = fixture(name).display().to_string();
    let options = Options { root: &root, scope: &scope, units: &units, bitcode_hash: [0; 32] };
    let (map, plan) = mapping::build(&read_module(&module), &options);
    lower(&module, &plan, ViewKind::Plain, &map.hash());
    module.strip_debug_info();
    emit::optimise(&module).expect("a view can be optimised");
    describe(&map, &counters_in(&module.print_to_string().to_string()))
}

/// The counters that code refers to by constant offset.
fn counters_in(text: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for part in text.split("@__cairn_counters, i64 ").skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        if let Some(counter) =
            digits.parse::<usize>().ok().and_then(|offset| offset.checked_sub(COUNTERS_START))
        {
            found.insert(counter as u32);
        }
    }
    found
}

fn describe(map: &ProgramMap, present: &BTreeSet<u32>) -> String {
    let is_absent = |counters: &[CounterId]| counters.iter().all(|counter| !present.contains(&counter.0));
    let mut text = String::new();
    // Values and selects are counted at a computed offset, by one store for both directions.
    let is_constant = |kind| matches!(kind, ConditionKind::Branch | ConditionKind::Case);
    for condition in map.conditions.iter().filter(|condition| is_constant(condition.kind)) {
        for (counters, direction) in [(&condition.when_true, "true"), (&condition.when_false, "false")] {
            if is_absent(counters) {
                text.push_str(&format!("{} {direction}\n", map.show(condition.extent.start)));
            }
        }
    }
    text
}

#[track_caller]
fn check(name: &str, source: &str, expected: Expect) {
    expected.assert_eq(&absent(name, source));
}

#[test]
fn plain_conditions_keep_their_counters() {
    check("condition_if", "target.c", expect![""]);
}

#[test]
fn branches_of_values_and_ternaries_keep_their_counters() {
    check("condition_value", "target.c", expect![""]);
    check("condition_ternary", "target.c", expect![""]);
}

#[test]
fn case_labels_keep_their_counters() {
    check("condition_switch", "target.c", expect![""]);
}

#[test]
fn loops_keep_their_counters() {
    check("condition_loops", "target.c", expect![""]);
}

#[test]
fn calls_that_do_not_come_back_keep_their_counters() {
    check("condition_exit", "target.c", expect![""]);
}

#[test]
fn cxx_keeps_its_counters() {
    check("condition_cxx", "target.cpp", expect![""]);
}
