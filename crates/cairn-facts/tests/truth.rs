//! Our facts against clang's own: branch regions, MC/DC regions, debug locations and unoptimised code of the same
//! sources. Needs `clang-19`, `llvm-profdata-19` and `llvm-cov-19`.

#[path = "truth/coverage.rs"]
mod coverage;
#[path = "truth/ir.rs"]
mod ir;

use cairn_model::facts::{
    ConditionFact, DecisionFact, DecisionKind, Emission, ExpressionKind, Extent, FunctionFacts, Place,
    UnitFacts,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::Command,
};

/// Language options per source.
fn options(source: &str) -> &'static [&'static str] {
    if source.ends_with(".cpp") { &["-std=c++20"] } else { &["-std=gnu17"] }
}

fn sources() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it")).join("tests/sources")
}

fn facts(source: &str) -> UnitFacts {
    let mut args: Vec<String> = options(source).iter().map(|option| option.to_string()).collect();
    args.extend(["-c".to_owned(), source.to_owned(), "-o".to_owned(), "ignored.o".to_owned()]);
    cairn_facts::extract(&args, &sources()).unwrap()
}

/// Runs a tool of LLVM and returns what it wrote to both outputs.
fn run(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap_or_else(|error| {
        panic!("failed to start {command:?}: {error}\n\nhint: install the Debian packages `clang-19` and `llvm-19`")
    });
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{command:?} failed\n{stderr}");
    (stdout, stderr)
}

/// How often each thing occurs.
type Tally = BTreeMap<String, usize>;

fn tally(items: impl IntoIterator<Item = String>) -> Tally {
    let mut tally = Tally::new();
    for item in items {
        *tally.entry(item).or_default() += 1;
    }
    tally
}

fn place(place: Place) -> String {
    format!("{}:{}", place.line, place.column)
}

fn range(extent: Extent) -> String {
    format!("{}-{}", place(extent.start), place(extent.end))
}

/// Conditions that clang does not fold and case labels: all that has branch regions. What comes from a macro is
/// known by its start alone.
fn our_branches(facts: &UnitFacts) -> Tally {
    let of_function = |function: &FunctionFacts| {
        let conditions = function.conditions.iter().filter(|condition| condition.constant.is_none());
        let conditions = conditions.map(|condition| match is_macro(function, condition) {
            true => place(condition.extent.start),
            false => range(condition.extent),
        });
        let labels =
            function.switches.iter().flat_map(|switch| &switch.labels).map(|label| range(label.extent));
        conditions.chain(labels).collect::<Vec<_>>()
    };
    tally(facts.functions.iter().flat_map(of_function))
}

fn is_macro(function: &FunctionFacts, condition: &ConditionFact) -> bool {
    function.expressions[condition.expression as usize].macro_name.is_some()
}

fn check_branches(source: &str) {
    let ours = our_branches(&facts(source));
    let theirs = coverage::measure(source).branches;
    assert_eq!(ours, theirs, "branch regions of {source}");
}

/// As above, by start: clang ends what ends in a macro with arguments before these.
fn check_branch_starts(source: &str) {
    let starts = |branches: Tally| {
        let repeated = branches.into_iter().flat_map(|(key, n)| std::iter::repeat_n(key, n));
        tally(repeated.map(|key| key.split('-').next().unwrap().to_owned()))
    };
    let ours = starts(our_branches(&facts(source)));
    let theirs = starts(coverage::measure(source).branches);
    assert_eq!(ours, theirs, "starts of branch regions of {source}");
}

/// Decisions of several conditions are MC/DC regions, but for those in which clang does not support another
/// decision, and that one. The region of a decision inside a macro is in the macro's definition.
fn check_decisions(source: &str) {
    let unit = facts(source);
    let coverage = coverage::measure(source);
    let of_function = |function: &FunctionFacts| {
        let is_unsupported =
            |decision: &DecisionFact| coverage.unsupported.contains(&place(decision.extent.start));
        let unsupported: Vec<_> =
            function.decisions.iter().filter(|decision| is_unsupported(decision)).collect();
        let decisions =
            function.decisions.iter().filter(|decision| decision.conditions.len() > 1).filter(|decision| {
                !unsupported.iter().any(|outer| outer.extent.contains(decision.extent.start))
            });
        let describe = |decision: &DecisionFact| {
            let mut conditions =
                decision.conditions.iter().map(|index| &function.conditions[*index as usize]);
            let n_conditions = decision.conditions.len();
            match conditions.all(|condition| is_macro(function, condition)) {
                true => format!("macro has {n_conditions}"),
                false => format!("{} has {n_conditions}", range(decision.extent)),
            }
        };
        decisions.map(describe).collect::<Vec<_>>()
    };
    let ours = tally(unit.functions.iter().flat_map(of_function));
    assert_eq!(ours, coverage.decisions, "MC/DC regions of {source}");
}

/// Every computation stands at the place of an expression or a condition, so a join by place finds it.
fn check_places(source: &str) {
    let unit = facts(source);
    let of_function = |function: &FunctionFacts| {
        let expressions = function.expressions.iter().map(|expression| place(expression.place));
        let conditions = function.conditions.iter().map(|condition| place(condition.place));
        expressions.chain(conditions).collect::<Vec<_>>()
    };
    let ours: BTreeSet<String> = unit.functions.iter().flat_map(of_function).collect();
    let computations = ir::compile(source).computations;
    let missing: Vec<_> = computations.difference(&ours).collect();
    assert!(missing.is_empty(), "computations of {source} at no expression: {missing:?}");
}

/// The code of each function tests what the facts predict, in their order, at their places.
fn check_emissions(source: &str) {
    let unit = facts(source);
    let code = ir::compile(source);
    // LLVM folds these where clang did not, so their branches test constants.
    let functions = unit.functions.iter().filter(|function| function.name != "tested_although_constant");
    let mut n_compared = 0;
    for function in functions {
        // Methods have other names in the code.
        let Some(tests) = code.functions.get(&function.name) else { continue };
        let (mut ours, mut theirs) = (predicted(function), tests.clone());
        // Arms of `if (a ? b : c)` are tested before what follows them in the facts.
        if function.conditions.iter().any(|condition| condition.emission == Emission::Split) {
            ours.branches.sort();
            theirs.branches.sort();
        }
        assert_eq!(ours, theirs, "{} of {source}", function.name);
        n_compared += 1;
    }
    assert!(n_compared > 1, "functions of {source} were not found");
}

fn predicted(function: &FunctionFacts) -> ir::Tests {
    let mut tests = ir::Tests { switches: function.switches.len(), ..ir::Tests::default() };
    for (number, condition) in function.conditions.iter().enumerate() {
        match condition.emission {
            Emission::Branch if is_logical(function, condition.expression) => {
                tests.branches.push("phi".to_owned())
            }
            Emission::Branch => tests.branches.push(place(condition.place)),
            Emission::Split => {
                let arms = condition.arms.iter().filter(|arm| arm.decision.is_none());
                tests.branches.extend(arms.map(|arm| place(arm.place)));
            }
            Emission::Select => tests.selects.push(place(condition.place)),
            _ => {}
        }
        let decision = &function.decisions[condition.decision as usize];
        if decision.is_tested_whole && decision.conditions.last() == Some(&(number as u32)) {
            let tests = match decision.kind {
                DecisionKind::Conditional => &mut tests.selects,
                _ => &mut tests.branches,
            };
            tests.push("phi".to_owned());
        }
    }
    tests
}

/// Whether a condition is `&&` or `||` after all, behind a cast or a comma, so that its bit is a phi.
fn is_logical(function: &FunctionFacts, expression: u32) -> bool {
    let fact = &function.expressions[expression as usize];
    if fact.kind != ExpressionKind::Cast && fact.operator != "," {
        return fact.kind == ExpressionKind::Logical;
    }
    let children = (0..).zip(&function.expressions).filter(|(_, child)| child.parent == Some(expression));
    children.last().is_some_and(|(child, _)| is_logical(function, child))
}

#[test]
fn conditions_are_the_branch_regions_of_c() {
    check_branches("conditions.c");
}

#[test]
fn conditions_are_the_branch_regions_of_macros() {
    check_branch_starts("macros.c");
}

#[test]
fn conditions_are_the_branch_regions_that_are_not_folded() {
    check_branches("folding.c");
}

#[test]
fn conditions_are_the_branch_regions_of_cpp() {
    check_branches("objects.cpp");
}

#[test]
fn conditions_are_the_branch_regions_of_a_parser() {
    check_branches("parser.c");
}

#[test]
fn decisions_are_the_mcdc_regions_of_c() {
    check_decisions("conditions.c");
}

#[test]
fn decisions_are_the_mcdc_regions_of_folded_conditions() {
    check_decisions("folding.c");
}

#[test]
fn decisions_are_the_mcdc_regions_of_cpp() {
    check_decisions("objects.cpp");
}

#[test]
fn decisions_are_the_mcdc_regions_of_a_parser() {
    check_decisions("parser.c");
}

#[test]
fn computations_stand_at_the_places_of_expressions() {
    for source in ["conditions.c", "folding.c", "macros.c", "parser.c", "plain.cpp"] {
        check_places(source);
    }
}

#[test]
fn code_tests_what_facts_predict_in_order_and_place() {
    for source in ["conditions.c", "folding.c", "macros.c", "parser.c", "plain.cpp"] {
        check_emissions(source);
    }
}
