//! `cairn run --sanitize`: what sanitizers report about inputs that a campaign keeps.

use cairn_testkit::Workspace;
use serde_json::Value;
use std::{collections::BTreeMap, fs};

/// Fails in five ways, two of which only sanitizers notice.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int pick(int n) {
  volatile char *four = malloc(4);
  memset((char *)four, 1, 4);
  return four[n];
}
static int add(int n) {
  volatile int most = 2147483647;
  return most + n;
}
static int deep(int n) {
  volatile char room[256];
  room[0] = n;
  return deep(n + 1) + room[0];
}
static void *volatile last;
static void fill(void) {
  for (;;) {
    last = malloc(1 << 20);
    memset(last, 1, 1 << 20);
  }
}
static void set(int *where) { *where = 1; }
int main(void) {
  char text[32] = "";
  fread(text, 1, sizeof text - 1, stdin);
  switch (text[0]) {
  case 'h': return text[1] == '!' && pick(4) == 77;
  case 'u': return text[1] == '!' && add(1) == 77;
  case 'd': return text[1] == '!' && deep(1);
  case 'm': if (text[1] == '!') fill(); return 0;
  case 'c': if (text[1] == '!') set(0); return 0;
  }
  return 0;
}
"#;

#[test]
fn every_way_to_fail_is_found_once_and_told_apart() {
    let workspace = Workspace::new();
    workspace.write("target.c", PROGRAM.trim_start());
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 20000\nmemory_limit_mb = 256\n");
    for name in ["h", "u", "d", "m", "c"] {
        workspace.write(format!("seeds/{name}"), format!("{name}! and much more"));
    }
    workspace.write("seeds/none", "nothing");
    workspace.run("cairn-cc", ["-O1", "target.c", "-o", "program"]).success();
    let words = [
        "run",
        "./program",
        "seeds",
        "-o",
        "out",
        "--workers=1",
        "--inputs=6",
        "--sanitize=undefined,address",
    ];
    let ran = workspace.run("cairn", words).exits_with(3);
    let report = workspace.run("cairn", ["report", "out", "--json"]).success();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{report:#}")).to_owned();
    let failures = report["failures"].as_array().unwrap();
    let by_kind: BTreeMap<String, &Value> =
        failures.iter().map(|failure| (text(&failure["kind"]), failure)).collect();
    let kinds: Vec<&String> = by_kind.keys().collect();
    assert_eq!(
        kinds,
        [
            "AddressSanitizer: heap-buffer-overflow",
            "UndefinedBehaviorSanitizer: signed integer overflow",
            "null dereference",
            "out of memory",
            "stack overflow",
        ],
        "{ran}"
    );
    assert_eq!(failures.len(), kinds.len(), "each once: {report:#}");

    let overflow = by_kind["AddressSanitizer: heap-buffer-overflow"];
    assert!(text(&overflow["signature"]).ends_with(" in pick (target.c:7) < main"), "{report:#}");
    let file = workspace.path("out").join(text(&overflow["file"]));
    assert_eq!(fs::read(file).unwrap(), b"h!", "it is made small");
    let replay = text(&overflow["replay"]);
    assert!(
        replay.starts_with("cairn replay --sanitize=address,undefined ./program out/crashes/"),
        "{replay}"
    );
    assert!(ran.stdout.contains(&replay), "the summary has the command: {ran}");
    let replayed = workspace.sh(&format!("{replay} || test $? = 3")).success();
    assert!(replayed.stdout.contains("  outcome    exits with 0"), "{replayed}");
    assert!(replayed.stdout.contains("  sanitized  AddressSanitizer: heap-buffer-overflow"), "{replayed}");
    // What the bare build shows needs no sanitizer to be seen again.
    assert!(text(&by_kind["null dereference"]["replay"]).starts_with("cairn replay ./program out/crashes/"));

    // The campaign knows what it was asked for.
    workspace.write("seeds/second", "u! again, and another way");
    let resumed = workspace.run("cairn", ["resume", "out", "--inputs=7"]).exits_with(3);
    assert!(!resumed.stderr.contains("the program fails: "), "nothing is new: {resumed}");
}

#[test]
fn an_overflow_that_needs_no_new_branch_is_found() {
    let workspace = Workspace::of_fixture("overflow_without_branch");
    workspace.run("cairn-cc", ["-O1", "-g", "target.c", "-o", "program"]).success();
    let words = ["run", "./program", "inputs", "-o", "out", "--workers=1", "--sanitize=address"];
    let run = |folder: &str, limit: &str| {
        let words = words.map(|word| if word == "out" { folder } else { word });
        workspace.run("cairn", words.iter().copied().chain([limit])).exits_with(3)
    };
    let ran = run("out", "--inputs=30000");
    assert!(ran.stdout.contains("AddressSanitizer: heap-buffer-overflow in text_of at target.c:9"), "{ran}");
    let crashes: Vec<_> = fs::read_dir(workspace.path("out/crashes")).unwrap().flatten().collect();
    assert_eq!(crashes.len(), 1, "{ran}");
    assert_eq!(fs::metadata(crashes[0].path()).unwrap().len(), 16, "one byte fewer is no mistake: {ran}");
    // All branches were taken without it, and by no input that is kept.
    let cover = |folder: &str| {
        workspace.run("cairn", ["cover", "./program", folder, "--format", "json"]).success().stdout
    };
    let missed: Value = serde_json::from_str(&cover("out/corpus")).unwrap();
    let branches = &missed["totals"]["branches"];
    assert_eq!(branches["covered"], branches["total"], "{branches}");
    // The same seed decides the same.
    run("again", "--inputs=30000");
    let told = |folder: &str| -> Vec<Value> {
        let lines = workspace.read(format!("{folder}/events.jsonl"));
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let events = events.filter(|event| event["event"] != "moment");
        events.map(|event| serde_json::json!([event["event"], event["address"]])).collect()
    };
    assert_eq!(told("out"), told("again"));
}

#[test]
fn a_campaign_that_goes_on_with_sanitizers_has_all_it_kept_looked_at() {
    let workspace = Workspace::new();
    workspace.write("target.c", PROGRAM.trim_start());
    workspace.write("seeds/h", "h! and much more");
    workspace.write("seeds/u", "u! and much more");
    workspace.run("cairn-cc", ["-O1", "target.c", "-o", "program"]).success();
    let words = ["run", "./program", "seeds", "-o", "out", "--workers=1", "--inputs=2"];
    workspace.run("cairn", words).success();
    // Nothing is run but what is kept: the limit of one input is that of a step afterwards.
    let resume = |option: &str| workspace.run("cairn", ["resume", "out", "--inputs=1", option]).exits_with(3);
    let ran = resume("--sanitize=address");
    assert!(ran.stdout.contains("AddressSanitizer: heap-buffer-overflow in pick"), "{ran}");
    assert!(!ran.stdout.contains("UndefinedBehaviorSanitizer"), "{ran}");
    let ran = resume("--sanitize=undefined");
    assert!(ran.stdout.contains("UndefinedBehaviorSanitizer: signed integer overflow in add"), "{ran}");
    assert!(ran.stdout.contains("cairn replay --sanitize=address,undefined ./program"), "{ran}");
    // It is known from now on, and done.
    let n_looks = || {
        let report = workspace.run("cairn", ["report", "out", "--json"]).success();
        let report: Value = serde_json::from_str(&report.stdout).unwrap();
        report["work"]["sanitizers"]["n_target_runs"].as_u64().unwrap()
    };
    let before = n_looks();
    let ran = resume("--sanitize=address");
    assert!(!ran.stderr.contains("the program fails: "), "nothing is new: {ran}");
    assert_eq!(n_looks(), before);
}

#[test]
fn sanitizers_need_the_sources_before_anything_begins() {
    let workspace = Workspace::new();
    workspace.write("target.c", PROGRAM.trim_start());
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    workspace.write("target.c", "int main(void) { return 0; }\n");
    workspace.write("seed", "x");
    let ran =
        workspace.run("cairn", ["run", "./program", "seed", "-o", "out", "--sanitize=address"]).exits_with(4);
    assert!(ran.stderr.contains("target.c` has changed"), "{ran}");
    assert!(!workspace.path("out").exists(), "{ran}");
    let ran =
        workspace.run("cairn", ["run", "./program", "seed", "-o", "out", "--sanitize=thread"]).exits_with(2);
    assert!(ran.stderr.contains("is not a sanitizer"), "{ran}");
}
