//! Campaigns of concolic testing, alone and beside the fuzzer.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;
use std::{collections::BTreeSet, fs};

/// A parser that needs several flips in a row: a checksum has to stay right while every field behind it is changed.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>

int main(void) {
  unsigned char b[64];
  size_t n = fread(b, 1, sizeof b, stdin);
  if (n < 8)
    return 1;
  if (b[0] != 'C' || b[1] != 'N')
    return 2;
  unsigned sum = 0;
  for (int i = 2; i < 7; i++)
    sum = sum * 31 + b[i];
  if ((sum & 0xff) != b[7])
    return 3;
  puts("sum");
  if (b[2] == 4) {
    puts("four");
    if (b[3] * b[4] == 0x7f * 3)
      puts("product");
    if (b[5] > b[6] && b[5] - b[6] == 77)
      puts("difference");
  }
  return 0;
}
"#;

fn program() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", PROGRAM.trim_start());
    workspace.write("seeds/one", "0123456789");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    workspace
}

fn run(workspace: &Workspace, folder: &str, more: &[&str]) -> Ran {
    let words = ["run", "./program", "seeds", "-o", folder, "--workers", "1"];
    workspace.run("cairn", words.iter().chain(more))
}

fn events(workspace: &Workspace, folder: &str) -> Vec<Value> {
    let text = workspace.read(format!("{folder}/events.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Who made what is kept.
fn makers(events: &[Value]) -> BTreeSet<String> {
    let kept = events.iter().filter(|event| event["event"] == "kept");
    kept.map(|event| event["strategy"].as_str().unwrap().to_owned()).collect()
}

/// All that the user's own executable prints on the inputs of a corpus.
fn prints(workspace: &Workspace, folder: &str) -> String {
    let inputs = fs::read_dir(workspace.path(format!("{folder}/corpus"))).unwrap();
    let print =
        |path: &std::path::Path| workspace.sh(&format!("./program < {} || true", path.display())).stdout;
    inputs.map(|entry| print(&entry.unwrap().path())).collect()
}

#[test]
fn concolic_testing_gets_through_a_parser_by_every_heuristic() {
    let workspace = program();
    for heuristic in ["dfs", "bfs", "random-branch", "random-path", "cfds", "cgs", "generational", "klee"] {
        let ran = run(
            &workspace,
            heuristic,
            &["--strategy", "concolic", "--heuristic", heuristic, "--inputs", "400"],
        );
        let ran = ran.success();
        let prints = prints(&workspace, heuristic);
        for text in ["sum", "four", "product", "difference"] {
            assert!(prints.contains(text), "{heuristic} {text}: {prints}\n{ran}");
        }
        let events = events(&workspace, heuristic);
        assert_eq!(makers(&events), BTreeSet::from(["concolic".into(), "seed".into()]));
    }
}

#[test]
fn a_search_without_anything_left_ends_the_campaign() {
    let workspace = program();
    workspace.write(
        "target.c",
        "#include <stdio.h>\nint main(void) {\n  if (getchar() == 'a')\n    puts(\"a\");\n  return 0;\n}\n",
    );
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    run(&workspace, "out", &["--strategy", "concolic", "--inputs", "1000"]).success();
    let events = events(&workspace, "out");
    assert_eq!(events.last().unwrap()["why"], "nothing-left", "{events:#?}");
    let n_inputs = events.iter().rev().find_map(|event| event["n_inputs"].as_u64()).unwrap();
    assert!(n_inputs < 10, "{n_inputs}");
}

#[test]
fn the_same_seed_and_work_decide_the_same() {
    let workspace = program();
    let decisions = |folder: &str, seed: &str| -> Vec<Value> {
        let limits = ["--strategy", "concolic", "--heuristic", "klee", "--inputs", "60", "--seed", seed];
        run(&workspace, folder, &limits).success();
        let mut kept = events(&workspace, folder);
        kept.retain(|event| event["event"] == "kept");
        kept.iter_mut().for_each(|event| event["after_ms"] = Value::Null);
        kept
    };
    let first = decisions("a", "1");
    assert!(first.len() > 3, "{first:#?}");
    assert_eq!(first, decisions("b", "1"));
    assert_ne!(first, decisions("c", "2"));
}

/// Every way through it reaches nothing new for long, so that workers hear little of each other.
const MANY_WAYS: &str = r#"
#include <stdio.h>

int main(void) {
  unsigned char b[6];
  if (fread(b, 1, sizeof b, stdin) != sizeof b)
    return 1;
  int n = 0;
  for (int i = 0; i < 6; i++)
    if (b[i] * b[i] % 7 == 2)
      n++;
  if (n == 6)
    puts("all");
  return 0;
}
"#;

#[test]
fn workers_divide_what_is_to_be_asked() {
    let workspace = program();
    workspace.write("target.c", MANY_WAYS.trim_start());
    workspace.write("seeds/one", "000000");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    let n_inputs = |folder: &str, n_workers: &str| -> u64 {
        let limits = ["--strategy", "concolic", "--inputs", "1000", "--workers", n_workers];
        let words = ["run", "./program", "seeds", "-o", folder].into_iter().chain(limits);
        workspace.run("cairn", words).success();
        let events = events(&workspace, folder);
        assert_eq!(events.last().unwrap()["why"], "nothing-left", "{events:#?}");
        assert!(prints(&workspace, folder).contains("all"), "{events:#?}");
        events.iter().rev().find_map(|event| event["n_inputs"].as_u64()).unwrap()
    };
    let alone = n_inputs("one", "1");
    let together = n_inputs("two", "2");
    assert!(alone >= 64, "{alone}");
    // What both begin with at the same moment is tried twice.
    assert!(together < alone + alone / 4, "{together} : {alone}");
}

/// Arithmetic that the fuzzer does not see through, and then a depth that comes by chance.
const HARD: &str = r#"
#include <stdio.h>

static unsigned word(const unsigned char *b) { return b[0] | b[1] << 8 | b[2] << 16 | (unsigned)b[3] << 24; }

int main(void) {
  unsigned char b[64];
  size_t n = fread(b, 1, sizeof b, stdin);
  if (n < 10)
    return 1;
  unsigned x = word(b), y = word(b + 4);
  if (x * y != 0x3ade68b1)
    return 2;
  if ((x ^ y) % 1009 != 77)
    return 3;
  puts("remainder");
  int depth = 0;
  for (size_t i = 8; i < n; i++) {
    if (b[i] == '(')
      depth++;
    if (b[i] == ')')
      depth--;
  }
  if (depth > 5)
    puts("deep");
  return 0;
}
"#;

#[test]
fn fuzzing_and_concolic_testing_feed_each_other() {
    let workspace = program();
    workspace.write("target.c", HARD.trim_start());
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    run(&workspace, "fuzz", &["--strategy", "fuzz", "--inputs", "8000"]).success();
    assert!(!prints(&workspace, "fuzz").contains("remainder"));
    let ran = run(&workspace, "hybrid", &["--strategy", "hybrid-simple", "--inputs", "8000"]).success();
    assert!(prints(&workspace, "hybrid").contains("deep"), "{ran}");
    let events = events(&workspace, "hybrid");
    let kept: Vec<&Value> = events.iter().filter(|event| event["event"] == "kept").collect();
    let maker =
        |entry: &Value| kept.iter().find(|event| event["entry"] == *entry).unwrap()["strategy"].as_str();
    let made = kept.iter().filter(|event| !event["parent"].is_null());
    let pairs: BTreeSet<(Option<&str>, Option<&str>)> =
        made.map(|event| (maker(&event["parent"]), event["strategy"].as_str())).collect();
    assert!(pairs.contains(&(Some("concolic"), Some("fuzz"))), "{pairs:?}");
    assert!(pairs.contains(&(Some("fuzz"), Some("concolic"))), "{pairs:?}");
}

#[test]
fn raw_seeds_stay_raw() {
    let workspace = program();
    run(&workspace, "out", &["--strategy", "concolic", "--inputs", "100"]).success();
    let inputs = fs::read_dir(workspace.path("out/corpus")).unwrap();
    for entry in inputs {
        let text = fs::read(entry.unwrap().path()).unwrap();
        assert!(!text.starts_with(b"{"), "{}", text.escape_ascii());
    }
}

#[test]
fn wrong_names_are_refused_with_those_there_are() {
    let workspace = program();
    let refused = |arguments: &[&str], expected: &str| {
        let ran = run(&workspace, "out", arguments).exits_with(2);
        assert!(ran.stderr.contains(expected), "{ran}");
    };
    refused(&["--strategy", "magic"], "there are `fuzz`, `mu2`, `concolic`, `hybrid-simple`");
    refused(&["--strategy", "concolic", "--heuristic", "magic"], "`magic` is no search heuristic");
    refused(&["--heuristic", "dfs"], "no strategy searches by one");
}

#[test]
fn a_campaign_goes_on_with_its_heuristic() {
    let workspace = program();
    run(&workspace, "out", &["--strategy", "concolic", "--heuristic", "bfs", "--inputs", "5"]).success();
    workspace.run("cairn", ["resume", "out", "--inputs", "200"]).success();
    let prints = prints(&workspace, "out");
    assert!(prints.contains("difference"), "{prints}");
}
