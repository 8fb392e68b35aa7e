//! `cairn run` and `cairn resume` as users meet them.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;
use std::fs;

/// A little language: three kinds of commands, nesting, a crash and a hang behind conditions.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int depth;

static int number(const char *text) {
  int value = 0;
  for (; *text >= '0' && *text <= '9'; text++)
    value = value * 10 + (*text - '0');
  return value;
}

static void crash(int *where) { *where = 1; }

static int line(char *text) {
  if (text[0] == 'p') {
    int n = number(text + 1);
    if (n > 9)
      puts("big");
    else if (n == 7)
      puts("seven");
    return 1;
  }
  if (text[0] == '(') {
    depth++;
    if (depth > 3)
      puts("deep");
  } else if (text[0] == ')') {
    depth--;
    if (depth < 0)
      puts("shallow");
  } else if (text[0] == 'x' && text[1] == 'y') {
    if (text[2] == '!')
      crash(0);
    if (text[2] == '?')
      for (;;)
        depth += 2;
  }
  return 0;
}

int main(void) {
  char text[64];
  int printed = 0;
  while (fgets(text, sizeof text, stdin))
    printed += line(text);
  return printed > 3;
}
"#;

fn program(text: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", text.trim_start());
    workspace.write("seeds/one", "p1\n(\n)\n");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    workspace
}

fn run(workspace: &Workspace, arguments: &[&str]) -> Ran {
    workspace.run("cairn", ["run"].iter().chain(arguments))
}

fn events(workspace: &Workspace, folder: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    workspace.read(format!("{folder}/events.jsonl")).lines().map(parse).collect()
}

#[test]
fn a_campaign_finds_branches_a_crash_and_a_hang() {
    finds_everything("1");
}

#[test]
fn two_workers_find_branches_a_crash_and_a_hang() {
    finds_everything("2");
}

/// Runs a campaign on [`PROGRAM`] that is long enough to find all there is.
fn finds_everything(n_workers: &str) {
    let workspace = program(PROGRAM);
    let ran =
        run(&workspace, &["./program", "seeds", "-o", "out", "--inputs", "60000", "--workers", n_workers]);
    let ran = ran.exits_with(3);
    let ended = events(&workspace, "out");
    assert_eq!(ended.last().unwrap()["event"], "ended", "{ran}");
    assert_eq!(fs::read_dir(workspace.path("out/crashes")).unwrap().count(), 1, "{ran}");
    assert_eq!(fs::read_dir(workspace.path("out/hangs")).unwrap().count(), 1, "{ran}");
    // What was generated does on the user's own executable what the campaign says.
    let crash = fs::read_dir(workspace.path("out/crashes")).unwrap().next().unwrap().unwrap().path();
    let replayed = workspace.run("sh", ["-c", &format!("./program < {}", crash.display())]);
    assert_eq!(replayed.status.code(), Some(139), "{replayed}");
    // Everything that can be reached is.
    let cover = workspace.run("cairn", ["cover", "./program", "out/corpus", "--missing"]).success();
    assert!(!cover.stdout.contains("puts") && cover.stdout.contains("target.c"), "{cover}");
    for text in ["`n > 9`", "`n == 7`", "`depth > 3`", "`depth < 0`"] {
        assert!(!cover.stdout.contains(text), "{text} is missing: {cover}");
    }
}

#[test]
fn workers_share_one_budget() {
    let workspace = program(PROGRAM);
    for (folder, n_workers, n_inputs) in [("a", "2", "3000"), ("b", "3", "500"), ("c", "2", "7000")] {
        let words = ["./program", "seeds", "-o", folder, "--inputs", n_inputs, "--workers", n_workers];
        let ran = run(&workspace, &words);
        assert!(matches!(ran.status.code(), Some(0 | 3)), "{ran}");
        let all = events(&workspace, folder);
        let last = all.iter().rfind(|event| event["event"] == "moment").unwrap();
        assert_eq!(last["n_inputs"].to_string(), n_inputs, "{ran}");
        assert_eq!(all.last().unwrap()["why"], "budget", "{ran}");
    }
}

#[test]
fn workers_use_up_a_budget_of_runs() {
    // Of which many inputs are kept: judging takes runs, too.
    let workspace = program(include_str!("../../../examples/calc/calc.c"));
    workspace.write("seeds/one", "1+(2-3)*4\n");
    for (folder, n_workers, n_runs) in [("a", "2", 3000), ("b", "3", 2500), ("c", "1", 3000)] {
        let limit = format!("--runs={n_runs}");
        let words = ["./program", "seeds", "-o", folder, &limit, "--workers", n_workers, "--", "@@"];
        let ran = run(&workspace, &words);
        let all = events(&workspace, folder);
        assert_eq!(all.last().unwrap()["why"], "budget", "{ran}");
        let last = all.iter().rfind(|event| event["event"] == "moment").unwrap();
        assert!(last["n_target_runs"].as_u64() >= Some(n_runs), "{last}: {ran}");
    }
}

#[test]
fn the_same_seed_and_work_decide_the_same() {
    let workspace = program(PROGRAM);
    // Most of the time goes to inputs that hang, and no other takes nearly as long.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 200\n");
    let decisions = |folder: &str, seed: &str| -> Vec<Value> {
        let limits = ["--workers", "1", "--inputs", "5000", "--seed", seed];
        let words = ["./program", "seeds", "-o", folder];
        let ran = run(&workspace, &[&words[..], &limits].concat());
        assert!(matches!(ran.status.code(), Some(0 | 3)), "{ran}");
        let told = events(&workspace, folder).into_iter().filter(|event| event["event"] != "moment");
        told.map(|mut event| {
            event["after_ms"] = 0.into();
            event
        })
        .collect()
    };
    let first = decisions("first", "5");
    assert!(first.len() > 5, "{first:?}");
    assert_eq!(first, decisions("second", "5"));
    assert_ne!(first, decisions("third", "6"));
}

#[test]
fn a_limit_of_time_holds_when_the_program_hangs() {
    let workspace = program(
        r#"
#include <stdio.h>
static volatile int spins;
int main(void) {
  int c = getchar();
  if (c == 'p')
    return 0;
  while (c > 'q')
    spins++;
  return 1;
}
"#,
    );
    // To confirm one hang would take twenty seconds.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 10000\n");
    let ran =
        run(&workspace, &["./program", "seeds", "-o", "out", "--for", "1s", "--workers", "1"]).success();
    let all = events(&workspace, "out");
    let ended = all.last().unwrap()["after_ms"].as_u64().unwrap();
    assert!(ended < 8_000, "it took {ended} ms: {ran}");
    let kept = all.iter().find(|event| event["event"] == "unconfirmed");
    let kept = kept.unwrap_or_else(|| panic!("no hang was seen: {ran}"));
    assert_eq!(kept["n_runs"], 0, "{ran}");
    let file = format!("out/unconfirmed/{}", kept["address"].as_str().unwrap());
    assert!(workspace.path(file).exists(), "{ran}");
}

#[test]
fn a_seed_that_hangs_does_not_outlast_a_limit_of_time_by_much() {
    let workspace = program(PROGRAM);
    workspace.write("seeds/two", "xy?\n");
    // To look at it for as long as that takes would take five times as long as a run may.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 2500\n");
    let ran = run(&workspace, &["./program", "seeds", "-o", "out", "--for", "4s", "--workers", "1"]);
    let all = events(&workspace, "out");
    let ended = all.last().unwrap()["after_ms"].as_u64().unwrap();
    assert!(ended < 9_000, "it took {ended} ms: {ran}");
    let kept = all.iter().find(|event| event["event"] == "unconfirmed");
    let kept = kept.unwrap_or_else(|| panic!("the hang is not kept: {ran}"));
    assert_eq!(kept["n_runs"], 0, "{ran}");
    assert!(workspace.path(format!("out/unconfirmed/{}", kept["address"].as_str().unwrap())).exists());
}

#[test]
fn what_is_wrong_is_said() {
    let workspace = program(PROGRAM);
    fs::create_dir(workspace.path("empty")).unwrap();
    let check = |words: &[&str], code: i32, expected: &str| {
        let ran = run(&workspace, words).exits_with(code);
        assert!(ran.stderr.contains(expected), "`{expected}` is not said: {ran}");
    };
    check(&["./program", "empty", "-o", "a"], 2, "there are no inputs in `empty`");
    check(&["./program", "nowhere", "-o", "a"], 2, "failed to read input `nowhere`");
    check(&["./program", "seeds", "-o", "a", "--strategy", "magic"], 2, "`magic` is no strategy");
    workspace.write("bad.dict", "token=\"never closed\n");
    check(&["./program", "seeds", "-o", "a", "--dict", "bad.dict"], 2, "bad.dict");
    workspace.write("crashing/one", "xy!\n");
    check(&["./program", "crashing", "-o", "b", "--inputs", "10"], 4, "the program fails on every seed");
    check(&["./program", "seeds", "-o", "c", "--inputs", "10", "--workers", "1"], 0, "budget");
    check(&["./program", "seeds", "-o", "c", "--inputs", "10"], 2, "holds a campaign already");
    let ran = workspace.run("cairn", ["resume", "nothing"]).exits_with(2);
    assert!(ran.stderr.contains("holds no campaign"), "{ran}");
    let ran = workspace.run("cairn", ["resume", "c"]).exits_with(2);
    assert!(ran.stderr.contains("used up"), "{ran}");
}
