//! What a campaign makes of crashes: each mistake is one finding, with a small input.

use cairn_testkit::Workspace;
use serde_json::Value;
use std::fs;

/// Runs a campaign over its seeds only, and returns the failures of its report, each with the bytes of its input.
fn failures(workspace: &Workspace, n_seeds: usize) -> Vec<(Value, Vec<u8>)> {
    let inputs = format!("--inputs={n_seeds}");
    let words = ["run", "./program", "seeds", "-o", "out", "--workers=1", &inputs];
    workspace.run("cairn", words).exits_with(3);
    let ran = workspace.run("cairn", ["report", "out", "--json"]).success();
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let failures = report["failures"].as_array().unwrap().iter();
    let with_input = |failure: &Value| {
        let file = workspace.path("out").join(failure["file"].as_str().unwrap());
        (failure.clone(), fs::read(file).unwrap())
    };
    failures.map(with_input).collect()
}

fn program(source: &str, seeds: &[&str]) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", source.trim_start());
    for (index, seed) in seeds.iter().enumerate() {
        workspace.write(format!("seeds/{index}"), seed);
    }
    // So long that a busy machine makes no hang of a crash.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 20000\n");
    workspace.run("cairn-cc", ["-O1", "target.c", "-o", "program"]).success();
    workspace
}

/// Runs a campaign, and returns how many inputs are in each folder.
fn n_files(workspace: &Workspace, n_inputs: u32) -> [usize; 3] {
    let inputs = format!("--inputs={n_inputs}");
    workspace.run("cairn", ["run", "./program", "seeds", "-o", "out", "--workers=1", &inputs]);
    ["crashes", "hangs", "unconfirmed"]
        .map(|folder| fs::read_dir(workspace.path(format!("out/{folder}"))).unwrap().count())
}

#[test]
fn a_crash_that_comes_now_and_then_is_a_finding() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
int main(void) {
  unsigned char chance;
  if (getrandom(&chance, 1, 0) == 1 && getchar() == 'x' && chance < 100)
    abort();
  return 0;
}
"#;
    let workspace = program(source, &["a"]);
    // Now and then all eight runs of an input end well; it is then looked at with another one.
    assert!(n_files(&workspace, 3000)[0] > 0);
    let ran = workspace.run("cairn", ["report", "out", "--json"]).success();
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let frames = report["failures"].as_array().unwrap().iter().map(|failure| failure["stack"][0].as_str());
    assert!(frames.flatten().any(|frame| frame.starts_with("main")), "{report:#}");
}

#[test]
fn what_fails_in_the_plain_view_only_is_told_and_kept_apart() {
    // Only the runtime of views has this function.
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
extern int cairn_bad_division() __attribute__((weak));
int main(void) {
  int c = getchar();
  if (c == 'x' && cairn_bad_division)
    abort();
  return c == 'y';
}
"#;
    let workspace = program(source, &["a", "x"]);
    assert_eq!(n_files(&workspace, 2), [0, 0, 1]);
    let journal = fs::read_to_string(workspace.path("out/events.jsonl")).unwrap();
    let events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told: Vec<Value> = events.filter(|event| event["event"] == "unconfirmed").collect();
    assert_eq!(told.len(), 1, "{journal}");
    assert_eq!(told[0]["n_runs"], 8, "{journal}");
    let file = workspace.path("out/unconfirmed").join(told[0]["address"].as_str().unwrap());
    assert_eq!(fs::read(file).unwrap(), b"x");
    let ran = workspace.run("cairn", ["resume", "out", "--inputs=1"]).success();
    let said = "1 input failed in the plain view, and in no run of the bare build";
    assert!(ran.stdout.contains(said), "{ran}");
}

#[test]
fn a_crash_that_would_become_another_is_made_small_all_the_same() {
    // Whatever is left out of a long word makes it one of the short ones, on which the program crashes elsewhere.
    let source = r#"
#include <stdio.h>
#include <string.h>
static void of_long(int *where) { *where = 1; }
static void of_short(int *where) { *where = 2; }
int main(void) {
  char text[64] = "";
  fread(text, 1, sizeof text - 1, stdin);
  if (text[0] == 'x' && text[1] == '7' && strlen(text) < 40)
    of_long(0);
  if (text[0] && text[0] != '-')
    of_short(0);
  return 0;
}
"#;
    let workspace = program(source, &["-", "x7 and a long way to go"]);
    let failures = failures(&workspace, 2);
    let long =
        failures.iter().find(|(failure, _)| failure["stack"][0].as_str().unwrap().starts_with("of_long"));
    let (failure, input) = long.unwrap_or_else(|| panic!("{failures:?}"));
    assert_eq!(input, b"x7", "{failure:#}");
}

#[test]
fn one_mistake_is_one_finding_however_deep_the_recursion_that_leads_to_it() {
    let crate_folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo tells it");
    let source = format!("{crate_folder}/../../examples/calc/calc.c");
    let divisions = ["1 + 1\n", "7 / 0\n", "(7 / 0)\n", "-(1 + (2 * (7 / 0)))\n", "((((1 - -(3 / 0)))))\n"];
    let workspace = program(&fs::read_to_string(source).unwrap(), &divisions);
    let failures = failures(&workspace, divisions.len());
    let signatures: Vec<&str> =
        failures.iter().map(|(failure, _)| failure["signature"].as_str().unwrap()).collect();
    assert_eq!(signatures.len(), 1, "{signatures:?}");
    assert!(signatures[0].starts_with("SIGFPE in product (target.c:"), "{signatures:?}");
    assert!(signatures[0].ends_with(") < sum < main"), "{signatures:?}");
}

#[test]
fn a_hang_is_one_finding_wherever_it_happens_to_be_looked_at() {
    // About as often as not, three quarters of all looks find it in `inner`.
    let source = r#"
#include <stdio.h>
static volatile unsigned work;
__attribute__((noinline)) static void inner(void) {
  for (unsigned i = 0; i < 7000; i++)
    work += i;
}
static void hang(void) {
  for (;;) {
    inner();
    for (unsigned i = 0; i < 3000; i++)
      work -= i;
  }
}
int main(void) {
  switch (getchar()) {
  case 'a': puts("a"); hang();
  case 'b': puts("b"); hang();
  case 'c': puts("c"); hang();
  case 'd': puts("d"); hang();
  case 'e': puts("e"); hang();
  }
  return 0;
}
"#;
    let workspace = program(source, &["-", "a", "b", "c", "d", "e"]);
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 1000\n");
    let failures = failures(&workspace, 6);
    let signatures: Vec<&Value> = failures.iter().map(|(failure, _)| &failure["signature"]).collect();
    assert_eq!(signatures.len(), 1, "{signatures:?}");
    assert!(signatures[0].as_str().unwrap().ends_with("hang < main"), "{signatures:?}");
}

#[test]
fn a_crash_on_the_way_to_another_is_a_finding_of_its_own() {
    // No branch lies between the two, so that the second has hit everything that the first has.
    let source = r#"
#include <stdio.h>
#include <stdint.h>
static volatile int sink;
static int table[4];
__attribute__((noinline)) static void early(const int *where) { sink = *where; }
__attribute__((noinline)) static void late(const int *where) { sink = *where; }
int main(void) {
  char text[4] = "";
  fread(text, 1, 3, stdin);
  early((const int *)((uintptr_t)table * (text[0] != 'e')));
  late((const int *)((uintptr_t)table * (text[1] != 'l')));
  if (text[2] == 'x')
    sink = 2;
  return 0;
}
"#;
    let workspace = program(source, &["--", "-l", "e-"]);
    let failures = failures(&workspace, 3);
    let places: Vec<&str> =
        failures.iter().map(|(failure, _)| failure["stack"][0].as_str().unwrap()).collect();
    assert!(places.iter().any(|place| place.starts_with("early")), "{places:?}");
    assert!(places.iter().any(|place| place.starts_with("late")), "{places:?}");
}
