//! Ours against the references.

use super::{ReferenceCoverage, collect::normal};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

/// One disagreement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// We say executed; gcov, which solves flow equations, says not, because a function was left by `exit`,
    /// `longjmp`, an exception or a crash; source-based coverage agrees with us.
    GcovDenies(String, u32),
    /// We say executed, neither reference does.
    OnlyOurs(String, u32),
    /// gcov says executed; neither we nor source-based coverage do.
    GcovInvents(String, u32),
    /// Both references say executed, we do not: the line stands behind a call that did not come back.
    OnlyTheirs(String, u32),
    /// Branch directions at a place differ: ours, theirs.
    Branches((String, u32, u32), Vec<[bool; 2]>, Vec<[bool; 2]>),
    /// A decision only one side knows: whether it is ours, place, number of conditions.
    Decision(bool, (String, u32, u32), usize),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
        match self {
            Self::GcovDenies(file, line) => write!(f, "{}:{line}: executed, denied by gcov", name(file)),
            Self::OnlyOurs(file, line) => write!(f, "{}:{line}: executed according to us only", name(file)),
            Self::GcovInvents(file, line) => {
                write!(f, "{}:{line}: executed according to gcov only", name(file))
            }
            Self::OnlyTheirs(file, line) => {
                write!(f, "{}:{line}: executed according to both references only", name(file))
            }
            Self::Branches((file, line, column), ours, theirs) => {
                write!(
                    f,
                    "{}:{line}:{column}: branches ours {} theirs {}",
                    name(file),
                    show(ours),
                    show(theirs)
                )
            }
            Self::Decision(is_ours, (file, line, column), n) => {
                let side = if *is_ours { "ours" } else { "theirs" };
                write!(f, "{}:{line}:{column}: decision of {n} conditions only {side}", name(file))
            }
        }
    }
}

fn show(branches: &[[bool; 2]]) -> String {
    let words: Vec<_> = branches
        .iter()
        .map(|[yes, no]| match (yes, no) {
            (true, true) => "TF",
            (true, false) => "T-",
            (false, true) => "-F",
            (false, false) => "--",
        })
        .collect();
    format!("[{}]", words.join(" "))
}

/// Compares the output of `cairn cover --format json` and `cairn map --json` with the references.
///
/// Only files that we report on are compared.
pub fn compare(cover: &Value, map: &Value, reference: &ReferenceCoverage) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut our_files = BTreeSet::new();
    let mut by_function: BTreeMap<(String, u32, u32), Instances> = BTreeMap::new();
    for file in cover["files"].as_array().expect("a report has files") {
        let path = normal(Path::new(file["absolute"].as_str().expect("a file has a path")));
        our_files.insert(path.clone());
        let ours: BTreeSet<u32> = numbers(&file["lines_executed"]).collect();
        for line in &ours {
            let key = (path.clone(), *line);
            if reference.gcov_lines.get(&key) != Some(&true) {
                let (path, line) = key.clone();
                differences.push(match reference.clang_lines.contains(&key) {
                    true => Difference::GcovDenies(path, line),
                    false => Difference::OnlyOurs(path, line),
                });
            }
        }
        for ((_, line), executed) in reference.gcov_lines.range((path.clone(), 0)..=(path.clone(), u32::MAX))
        {
            if *executed && !ours.contains(line) {
                let key = (path.clone(), *line);
                differences.push(match reference.clang_lines.contains(&key) {
                    true => Difference::OnlyTheirs(key.0, key.1),
                    false => Difference::GcovInvents(key.0, key.1),
                });
            }
        }
        for condition in file["conditions"].as_array().expect("a file has conditions") {
            let number = |name: &str| condition[name].as_u64().expect("places are numbers") as u32;
            let taken = ["taken_true", "taken_false"].map(|name| condition[name] == true);
            let function = condition["function"].as_str().unwrap_or_default().to_string();
            let place = (path.clone(), number("line"), number("column"));
            by_function.entry(place).or_default().entry(function).or_default().push(taken);
        }
    }
    let our_branches: BTreeMap<_, _> =
        by_function.into_iter().map(|(place, functions)| (place, merge_instances(functions))).collect();
    let places: BTreeSet<_> = our_branches.keys().chain(reference.branches.keys()).cloned().collect();
    for place in places.into_iter().filter(|(file, _, _)| our_files.contains(file)) {
        let ours = our_branches.get(&place).cloned().unwrap_or_default();
        let theirs = reference.branches.get(&place).cloned().unwrap_or_default();
        if ours != theirs {
            differences.push(Difference::Branches(place, ours, theirs));
        }
    }
    if !reference.decisions.is_empty() {
        compare_decisions(map, reference, &mut differences);
    }
    differences.sort();
    differences
}

/// The branches at one place, by function.
type Instances = BTreeMap<String, Vec<[bool; 2]>>;

/// Instances of one template stand at one place; the references report their union, condition by condition.
fn merge_instances(functions: Instances) -> Vec<[bool; 2]> {
    let longest = functions.values().map(Vec::len).max().unwrap_or(0);
    let mut merged = vec![[false; 2]; longest];
    for branches in functions.values() {
        for (sum, taken) in merged.iter_mut().zip(branches) {
            *sum = [sum[0] | taken[0], sum[1] | taken[1]];
        }
    }
    merged.sort();
    merged
}

/// Decisions in macros are reported by clang at the macro's definition, so only those outside are compared; and
/// clang gives up on decisions that contain another one, also one negated as a whole, and on those inside.
fn compare_decisions(map: &Value, reference: &ReferenceCoverage, differences: &mut Vec<Difference>) {
    let empty = Vec::new();
    let list = |name: &str| map[name].as_array().unwrap_or(&empty).iter();
    let file_of = |place: &Value| {
        let index = place["file"].as_u64().unwrap_or(0) as usize;
        normal(Path::new(map["files"][index]["absolute"].as_str().unwrap_or_default()))
    };
    let mut ours: BTreeMap<(String, u32, u32), (usize, bool)> = BTreeMap::new();
    let extent = |decision: &Value| {
        let at = |end: &str| {
            let place = &decision["extent"][end];
            (place["line"].as_u64().unwrap_or(0) as u32, place["column"].as_u64().unwrap_or(0) as u32)
        };
        (file_of(&decision["extent"]["start"]), at("start"), at("end"))
    };
    let all: Vec<_> = list("decisions").map(extent).collect();
    let is_negation = |site: &Value| site["kind"] == "Unary" && site["operator"] == "!";
    let negated: Vec<_> = list("sites")
        .filter(|site| site["kind"] == "Logical")
        .filter(|site| {
            site["parent"].as_u64().is_some_and(|parent| is_negation(&map["sites"][parent as usize]))
        })
        .map(extent)
        .collect();
    for (index, decision) in list("decisions").enumerate() {
        let conditions: Vec<usize> = numbers(&decision["conditions"]).map(|id| id as usize).collect();
        let n = conditions.len() + decision["n_constant"].as_u64().unwrap_or(0) as usize;
        let in_macro = conditions.iter().any(|id| !map["conditions"][*id]["macro_name"].is_null());
        let is_boolean = decision["kind"] != "Switch" && !decision["kind"].is_null();
        if n < 2 || in_macro || !is_boolean {
            continue;
        }
        let (file, start, end) = &all[index];
        let nests = all.iter().enumerate().any(|(other, (other_file, other_start, other_end))| {
            let other_is_logical = map["decisions"][other]["conditions"]
                .as_array()
                .is_some_and(|conditions| conditions.len() > 1);
            let is_around = start <= other_start && other_end <= end;
            let is_inside = other_start <= start && end <= other_end;
            other != index && other_is_logical && other_file == file && (is_around || is_inside)
        });
        let negates = negated.iter().any(|(other_file, other_start, other_end)| {
            other_file == file && start <= other_start && other_end <= end
        });
        ours.insert((file.clone(), start.0, start.1), (n, nests || negates));
    }
    for (file, line, column, n) in &reference.decisions {
        let key = (file.clone(), *line, *column);
        let is_in_our_code =
            all.iter().any(|(our_file, start, _)| our_file == file && *start == (*line, *column));
        match ours.get(&key) {
            Some((ours, nests)) if ours == n || *nests => {}
            Some((ours, _)) => differences.push(Difference::Decision(true, key, *ours)),
            // At a macro's definition there is no decision of ours, because ours stand where the macro is used.
            None if !is_in_our_code && is_macro_definition(file, *line) => {}
            None => differences.push(Difference::Decision(false, key, *n)),
        }
    }
    for (key, (n, nests)) in ours {
        let known = reference
            .decisions
            .iter()
            .any(|(file, line, column, _)| (file, *line, *column) == (&key.0, key.1, key.2));
        if !known && !nests {
            differences.push(Difference::Decision(true, key, n));
        }
    }
}

/// Whether a line belongs to a `#define`, continuation lines included.
fn is_macro_definition(file: &str, line: u32) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = line as usize - 1;
    while at > 0 && lines.get(at - 1).is_some_and(|before| before.ends_with('\\')) {
        at -= 1;
    }
    lines.get(at).is_some_and(|line| line.trim_start().starts_with('#'))
}

fn numbers(list: &Value) -> impl Iterator<Item = u32> + '_ {
    list.as_array().into_iter().flatten().filter_map(|number| Some(number.as_u64()? as u32))
}
