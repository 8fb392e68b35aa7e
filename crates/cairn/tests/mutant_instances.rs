//! Mutants of templates, and what of templates has none.

use cairn_testkit::Workspace;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn listed(program: &str) -> Value {
    let workspace = Workspace::new();
    workspace.write("program.cpp", program);
    workspace.run("cairn-c++", ["-std=c++20", "program.cpp", "-o", "program"]).success();
    let told = workspace.run("cairn", ["mutants", "./program", "--set", "all", "--json"]).success();
    serde_json::from_str(&told.stdout).expect("a report is JSON")
}

/// What mutants make of the text `original`.
fn replacements(listed: &Value, original: &str) -> BTreeSet<String> {
    let mutants = listed["mutants"].as_array().expect("a list of mutants").iter();
    let of_text = mutants.filter(|mutant| mutant["original"] == original);
    of_text.map(|mutant| mutant["replacement"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn an_expression_of_a_templates_own_type_has_mutants() {
    let listed = listed(
        "template <class T> T largest(T a, T b) { return a > b ? a : b; }\n\
         int main(int n, char **) { return largest(n, 2) + (int)largest(n * 0.5, 2.0); }\n",
    );
    let changed = replacements(&listed, "a > b");
    assert!(changed.contains("a >= b") && changed.contains("a < b"), "{changed:?}");
    assert_eq!(listed["not_mutated"]["functions"], json!({}), "{listed:#}");
}

#[test]
fn what_cannot_be_changed_in_every_instance_has_no_mutants_and_is_counted() {
    let listed = listed(
        "struct Text { int n; Text operator+(Text o) const { return Text{n + o.n}; } };\n\
         template <class T> T sum(T a, T b) { return a + b; }\n\
         int main(int n, char **) { return sum(n, 2) + sum(Text{n}, Text{1}).n; }\n",
    );
    assert_eq!(replacements(&listed, "a + b"), BTreeSet::new());
    let not_mutated = &listed["not_mutated"];
    // `a + b`, and both of its operands.
    assert_eq!(not_mutated["unlike_expressions"], 3, "{not_mutated:#}");
    let reasons: BTreeSet<(String, String)> = listed["unmutated"]
        .as_array()
        .expect("a list of functions")
        .iter()
        .map(|one| (one["function"].to_string(), one["reason"].to_string()))
        .collect();
    assert!(reasons.contains(&("\"sum<int>\"".into(), "\"instances-differ\"".into())), "{reasons:?}");
}

#[test]
fn what_a_parameter_pack_repeats_has_no_mutants_and_is_counted() {
    let listed = listed(
        "template <class... T> int sum(int first, T... rest) { return first * 2 + (rest + ...); }\n\
         int main(int n, char **) { return sum(n, 2) + sum(1, n, 3); }\n",
    );
    assert!(!replacements(&listed, "first * 2").is_empty());
    assert_eq!(replacements(&listed, "rest"), BTreeSet::new());
    // One operand of the first instance, two of the second and their sum; and what they are added to in both.
    assert_eq!(listed["not_mutated"]["expanded_expressions"], 6, "{:#}", listed["not_mutated"]);
}

#[test]
fn a_type_decides_which_instances_have_an_expression() {
    let listed = listed(
        "template <class T> int width(T a) { if constexpr (sizeof(T) > 4) return a * 3; else return a - 3; }\n\
         int main(int n, char **) { return width(n) + width((long)n); }\n",
    );
    assert!(replacements(&listed, "a * 3").contains("a / 3"), "{:#}", listed["mutants"]);
    assert!(replacements(&listed, "a - 3").contains("a + 3"), "{:#}", listed["mutants"]);
}

#[test]
fn a_comparison_of_objects_is_negated_as_a_whole() {
    let listed = listed(
        "struct Length { int n; bool operator<(Length o) const { return n < o.n; } };\n\
         template <class T> int order(T a, T b) { if (b < a) return 1; return 2; }\n\
         int main(int n, char **) { return order(Length{n}, Length{1}); }\n",
    );
    assert!(replacements(&listed, "b < a").contains("!(b < a)"), "{:#}", listed["mutants"]);
}
