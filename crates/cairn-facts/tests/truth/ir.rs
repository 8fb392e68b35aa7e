//! Unoptimised code of a source, read as text.

use super::{options, run, sources};
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// What the code of a source has.
pub struct Code {
    /// The places of instructions that compute something.
    pub computations: BTreeSet<String>,
    /// By function name.
    pub functions: BTreeMap<String, Tests>,
}

/// What a function tests that is no constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Where the bits of conditional branches are computed, in order; `phi` if by joining others.
    pub branches: Vec<String>,
    /// The same of selects.
    pub selects: Vec<String>,
    /// How many switches there are.
    pub switches: usize,
}

/// Compiles `source` as the bitcode beside an object is compiled.
pub fn compile(source: &str) -> Code {
    let (text, _) = run(Command::new("clang-19")
        .args(options(source))
        .args(["-O0", "-Xclang", "-disable-O0-optnone", "-g", "-fno-discard-value-names", "-w"])
        .args(["-S", "-emit-llvm", "-o", "-", source])
        .current_dir(sources()));
    let locations = locations(&text);
    let mut code = Code { computations: BTreeSet::new(), functions: BTreeMap::new() };
    let mut function = String::new();
    // Where the values of the current function are computed.
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("define ") {
            let name = rest.split_once('@').unwrap().1.split_once('(').unwrap().0;
            function = name.to_owned();
            values.clear();
            code.functions.insert(function.clone(), Tests::default());
        }
        let Some(instruction) = line.strip_prefix("  ") else { continue };
        let Some(tests) = code.functions.get_mut(&function) else { continue };
        let (name, operation) = instruction.split_once(" = ").unwrap_or(("", instruction));
        let location = operation.split_once("!dbg !").and_then(|(_, reference)| {
            let number: String = reference.chars().take_while(char::is_ascii_digit).collect();
            locations.get(&number).cloned()
        });
        let is_phi = operation.starts_with("phi ");
        values.insert(
            name.to_owned(),
            if is_phi { "phi".to_owned() } else { location.clone().unwrap_or_default() },
        );
        let tested = |rest: &str| values[rest.split(',').next().unwrap()].clone();
        tests
            .branches
            .extend(operation.strip_prefix("br i1 ").filter(|rest| rest.starts_with('%')).map(tested));
        tests
            .selects
            .extend(operation.strip_prefix("select i1 ").filter(|rest| rest.starts_with('%')).map(tested));
        tests.switches += usize::from(operation.starts_with("switch "));
        let computes =
            ["icmp ", "fcmp ", "add ", "sub ", "mul ", "sdiv ", "srem ", "and ", "or ", "ashr ", "call "];
        let is_computation = computes.iter().any(|computation| operation.starts_with(computation))
            && !operation.contains("@llvm.");
        // Line 0 is code that belongs to no source.
        code.computations.extend(location.filter(|place| is_computation && !place.starts_with("0:")));
    }
    code
}

/// `!15 = !DILocation(line: 4, column: 9, scope: !16)`.
fn locations(text: &str) -> BTreeMap<String, String> {
    let parse = |line: &str| {
        let (number, rest) = line.strip_prefix('!')?.split_once(" = !DILocation(line: ")?;
        let (line, rest) = rest.split_once(", column: ")?;
        let column: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((number.to_owned(), format!("{line}:{column}")))
    };
    text.lines().filter_map(parse).collect()
}
