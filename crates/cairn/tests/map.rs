//! What the program map says about a small program.

use cairn_testkit::Workspace;
use serde_json::Value;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
int main(int argc, char **argv) {
  int (*call)(int) = argc > 2 ? twice : thrice;
  int n = 0;
  while (n < 9 && argv[0][n] != 'q') {
    if (strcmp(argv[0], "stop") == 0)
      break;
    n++;
  }
  return call(n);
}
"#;

fn map() -> Value {
    let workspace = Workspace::new();
    workspace.write("program.c", PROGRAM);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    let ran = workspace.run("cairn", ["map", "./program", "--json"]).success();
    serde_json::from_str(&ran.stdout).expect("the map is JSON")
}

fn condition<'a>(map: &'a Value, text: &str) -> &'a Value {
    let conditions = map["conditions"].as_array().expect("conditions");
    conditions.iter().find(|condition| condition["text"] == text).unwrap_or_else(|| panic!("no `{text}`"))
}

#[test]
fn conditions_carry_the_features_heuristics_need() {
    let map = map();
    assert_eq!(map["format"], 2);
    let bound = &condition(&map, "n < 9")["features"];
    assert_eq!(bound["loop_depth"], 1);
    assert_eq!(bound["stays_in_loop"], true);
    assert_eq!(bound["compares_with"], "Integer");
    assert_eq!(bound["reads_local"], true);
    let letter = &condition(&map, "argv[0][n] != 'q'")["features"];
    assert_eq!(letter["compares_with"], "Character");
    assert_eq!(letter["reads_pointer"], true);
    let word = &condition(&map, "strcmp(argv[0], \"stop\") == 0")["features"];
    assert_eq!(word["compares_with"], "String");
    assert_eq!(word["uses_external_call"], true);
    assert_eq!(word["loop_depth"], 1);
}

#[test]
fn calls_through_pointers_name_their_possible_targets() {
    let map = map();
    let functions = map["functions"].as_array().expect("functions");
    let indirect = map["blocks"]
        .as_array()
        .expect("blocks")
        .iter()
        .flat_map(|block| block["calls"].as_array().expect("calls"))
        .find(|call| call["is_indirect"] == true)
        .expect("one call goes through a pointer");
    let mut names: Vec<&str> = indirect["callees"]
        .as_array()
        .expect("callees")
        .iter()
        .map(|id| functions[id.as_u64().expect("an id") as usize]["name"].as_str().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(names, ["thrice", "twice"]);
}

#[test]
fn sites_are_nested_down_to_reads_and_constants_with_types() {
    let map = map();
    let sites = map["sites"].as_array().expect("sites");
    let at = |text: &str| {
        sites.iter().position(|site| site["text"] == text).unwrap_or_else(|| panic!("no `{text}`"))
    };
    let comparison = &sites[at("n < 9")];
    assert_eq!(comparison["kind"], "Binary");
    assert_eq!(comparison["operator"], "<");
    let constant = &sites[at("9")];
    assert_eq!(constant["kind"], "Integer");
    assert_eq!(constant["parent"], at("n < 9"));
    assert_eq!(constant["value_type"]["spelling"], "int");
    assert_eq!(constant["value_type"]["bits"], 32);
}
