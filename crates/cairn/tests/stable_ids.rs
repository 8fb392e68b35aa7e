//! Ids name the same things across rebuilds and edits elsewhere.

use cairn_testkit::Workspace;
use serde_json::Value;
use std::collections::BTreeSet;

const PROGRAM: &str = r#"
#include <stdio.h>
static int grade(int n) {
  if (n > 10 && n < 20)
    return n == 15 ? 1 : 2;
  switch (n) { case 1: return 3; default: return 4; }
}
int main(void) { int n; return scanf("%d", &n) == 1 ? grade(n) : 9; }
"#;

/// The stable ids of everything in `grade` and `main`.
fn ids(source: &str) -> BTreeSet<String> {
    let workspace = Workspace::new();
    workspace.write("program.c", source);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    let map = workspace.run("cairn", ["map", "./program", "--json"]).success();
    let map: Value = serde_json::from_str(&map.stdout).expect("the map is JSON");
    let functions = map["functions"].as_array().expect("functions");
    let is_ours = |index: &Value| {
        let name = functions[index.as_u64().expect("an index") as usize]["name"].as_str();
        matches!(name, Some("grade" | "main"))
    };
    let mut ids = BTreeSet::new();
    for table in ["conditions", "decisions", "sites"] {
        for entry in
            map[table].as_array().expect("a table").iter().filter(|entry| is_ours(&entry["function"]))
        {
            ids.insert(format!("{table} {}", entry["stable_id"].as_str().expect("an id")));
        }
    }
    assert!(ids.len() > 20, "{ids:?}");
    ids
}

#[test]
fn a_comment_changes_no_id() {
    let commented = PROGRAM
        .replace("static int", "/* how good\n   is it? */\nstatic int")
        .replace("n > 10 &&", "n >/* ten */10 && /* and */");
    assert_eq!(ids(PROGRAM), ids(&commented));
}

#[test]
fn another_function_changes_no_id() {
    let longer = PROGRAM.replace(
        "static int grade",
        "static int above(int n) { return n > 10 && n < 20 ? n : 0; }\nstatic int grade",
    );
    let longer = longer.replace("grade(n) : 9", "grade(n) + 0 * above(n) : 9");
    let (before, after) = (ids(PROGRAM), ids(&longer));
    // The call in `main` was edited, so sites around it are new; nothing of `grade` is.
    let lost: Vec<_> = before.difference(&after).filter(|id| !id.starts_with("sites")).collect();
    assert!(lost.len() <= 2, "{lost:?}");
    let unrelated = PROGRAM.to_string() + "int unused(int n) { return n > 10 ? n == 15 : 0; }\n";
    assert_eq!(before, ids(&unrelated));
}

#[test]
fn an_edited_condition_has_another_id() {
    let edited = PROGRAM.replace("n == 15", "n == 16");
    let (before, after) = (ids(PROGRAM), ids(&edited));
    assert!(before != after);
    assert!(before.intersection(&after).count() > before.len() / 2);
}
