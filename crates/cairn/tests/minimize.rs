//! `cairn minimize`: fewer and smaller inputs that are as good.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;
use std::{
    collections::BTreeSet, fs, os::unix::process::ExitStatusExt, process::Stdio, thread, time::Duration,
};

/// Says what kind of number stands on standard input, and dies of one.
const KINDS: &str = r#"
#include <stdio.h>
static int half(int number) { return number / 2; }
int main(void) {
  int number = 0;
  if (scanf("%d", &number) != 1) { puts("none"); return 2; }
  if (number < 10) puts("small");
  else if (half(number) > 50 && number != 777) puts("large");
  else puts("medium");
  if (number == 4242) *(volatile int *)0 = 1;
  return 0;
}
"#;

const NUMBERS: [&str; 11] = [
    "5 is small",
    "1000",
    "9",
    "10",
    "101",
    "102 and more\nlines\n",
    "x",
    "777\n",
    "  4242  ",
    "4243",
    "\n\n 12345678  \n",
];

fn workspace(source: &str, inputs: &[&str]) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("program.c", source);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    for (index, content) in inputs.iter().enumerate() {
        workspace.write(format!("corpus/{index:02}"), content);
    }
    workspace
}

fn minimize(workspace: &Workspace, options: &[&str]) -> (Value, Ran) {
    let words = ["minimize", "./program", "corpus", "-o", "small", "--json"].iter().chain(options);
    let ran = workspace.run("cairn", words).success();
    (serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}")), ran)
}

/// Branches and lines that `cairn cover` tells of a folder.
fn covered(workspace: &Workspace, folder: &str) -> Value {
    let ran = workspace.run("cairn", ["cover", "./program", folder, "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    report
}

fn written(workspace: &Workspace) -> BTreeSet<String> {
    let entries = fs::read_dir(workspace.path("small")).expect("the folder was written");
    entries.map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("text")).collect()
}

#[test]
fn every_branch_and_the_crash_stay_with_few_small_inputs() {
    let workspace = workspace(KINDS, &NUMBERS);
    workspace.write("corpus/twice", NUMBERS[3]);
    let (report, ran) = minimize(&workspace, &[]);
    assert_eq!(report["before"]["inputs"], 11, "{report:#}");
    assert_eq!(report["duplicates"], 1, "{report:#}");
    assert_eq!(report["after"]["inputs"], 5, "{report:#}");
    assert_eq!(report["smallest"], true, "{report:#}");
    assert_eq!(report["after"]["branches"], report["before"]["branches"], "{report:#}");
    assert!(ran.stderr.contains("on 1 input of the corpus the program dies of SIGSEGV"), "{ran}");
    // What is written is what was counted, for whoever reads it as raw bytes.
    assert_eq!(covered(&workspace, "small"), covered(&workspace, "corpus"));
    assert_eq!(written(&workspace), ["", "0", "10", "4242", "777"].map(str::to_owned).into());
}

#[test]
fn the_summary_says_whether_the_set_is_smallest() {
    let workspace = workspace(KINDS, &NUMBERS);
    let ran = workspace.run("cairn", ["minimize", "./program", "corpus", "-o", "small"]).success();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "  target     ./program (10 branches)", "{ran}");
    assert_eq!(lines[1], "  before     11 inputs, 70 bytes: 10 branches, 10 lines", "{ran}");
    assert_eq!(lines[2], "  after      5 inputs, 10 bytes: 10 branches, 10 lines", "{ran}");
    assert_eq!(lines[3], "  set        smallest: no fewer than 5 of these inputs do", "{ran}");
    assert!(lines[4].starts_with("  reduced    4 of 5, in "), "{ran}");
    assert_eq!(lines[5], "  written    small", "{ran}");
}

#[test]
fn inputs_stay_as_they_are_if_nobody_wants_them_reduced() {
    let workspace = workspace(KINDS, &NUMBERS);
    let (report, _) = minimize(&workspace, &["--no-reduce"]);
    assert_eq!(report["reducing_runs"], 0, "{report:#}");
    let corpus: BTreeSet<String> = NUMBERS.map(str::to_owned).into();
    assert!(written(&workspace).is_subset(&corpus), "{report:#}");
}

#[test]
fn kills_are_kept_when_that_is_asked_for() {
    let workspace = workspace(KINDS, &NUMBERS);
    let (report, _) = minimize(&workspace, &["--kills", "compact"]);
    assert!(report["before"]["kills"].as_u64() > Some(0), "{report:#}");
    assert_eq!(report["after"]["kills"], report["before"]["kills"], "{report:#}");
    assert_eq!(report["after"]["branches"], report["before"]["branches"], "{report:#}");
    assert_eq!(report["lost"], 0, "{report:#}");
    let killed = |folder: &str| -> BTreeSet<String> {
        let words = ["score", "./program", folder, "--set", "compact", "--format", "json"];
        let ran = workspace.run("cairn", words).success();
        let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
        let mutants = report["mutants"].as_array().expect("a list").iter();
        let killed = mutants.filter(|mutant| mutant["fate"] == "killed");
        killed.map(|mutant| mutant["id"].to_string()).collect()
    };
    assert_eq!(killed("small"), killed("corpus"));
}

#[test]
fn whole_inputs_lose_what_nobody_looks_at() {
    let workspace = workspace(
        "#include <string.h>\nint main(int c, char **v) { return c > 2 && strcmp(v[2], \"--magic\") == 0; }",
        &[],
    );
    workspace.write(
        "corpus/long.json",
        r#"{"args": ["-q", "--magic", "-z"], "stdin": "much\ntext\n", "environment": [["COLOR", "red"]],
            "files": [{"path": "f", "kind": {"regular": "x"}, "mode": 384}]}"#,
    );
    let (report, _) = minimize(&workspace, &[]);
    let file = report["inputs"][0]["file"].as_str().expect("a file");
    let input: Value = serde_json::from_str(&workspace.read(file)).expect("an input");
    assert_eq!(input["args"], serde_json::json!(["", "--magic"]), "{input:#}");
    assert_eq!((&input["stdin"], &input["files"][0]), (&Value::from(""), &Value::Null), "{input:#}");
}

#[test]
fn inputs_that_go_another_way_every_time_are_kept_for_what_stays() {
    let source = r#"
#include <stdio.h>
#include <sys/random.h>
int main(void) {
  unsigned char bytes[8];
  if (getchar() == 'x') puts("x");
  getrandom(bytes, sizeof bytes, 0);
  for (int i = 0; i < 8; i++)
    switch (bytes[i]) {
    case 0 ... 31: puts("a"); break;
    case 32 ... 63: puts("b"); break;
    case 64 ... 95: puts("c"); break;
    case 96 ... 127: puts("d"); break;
    case 128 ... 159: puts("e"); break;
    case 160 ... 191: puts("f"); break;
    default: puts("g");
    }
}
"#;
    let workspace = workspace(source, &["x", "y", "z", "xx", "yy", "zz"]);
    let (report, ran) = minimize(&workspace, &["--no-reduce"]);
    assert!(!report["unstable"].as_array().expect("a list").is_empty(), "{report:#}");
    assert!(ran.stderr.contains("kept for what is always there"), "{ran}");
}

#[test]
fn a_signal_ends_it_with_the_best_set_so_far() {
    // Every byte counts, so nothing becomes smaller, however long that is tried. Runs are noted outside of the sandbox.
    let source = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char text[600];
  size_t n = fread(text, 1, sizeof text, stdin);
  unsigned sum = 0;
  for (size_t i = 0; i < n; i++) sum = sum * 31 + text[i];
  int noted = open(NOTED, O_WRONLY | O_APPEND);
  if (write(noted, "x", 1) != 1) return 3;
  close(noted);
  usleep(20000);
  if (n == 500 && sum == SUM_OF_A) puts("a");
  if (n == 500 && sum == SUM_OF_B) puts("b");
  return 0;
}
"#;
    let workspace = Workspace::new();
    let texts = ["a", "b", "c", "d"].map(|letter| letter.repeat(500));
    for text in &texts {
        workspace.write(format!("corpus/{}", &text[..1]), text);
    }
    let sum =
        |text: &str| text.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let noted = workspace.write("noted", "");
    workspace.write(
        "program.c",
        source
            .replace("NOTED", &format!("{:?}", noted.display().to_string()))
            .replace("SUM_OF_A", &format!("{}u", sum(&texts[0])))
            .replace("SUM_OF_B", &format!("{}u", sum(&texts[1]))),
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace.run("cairn", ["build", "./program"]).success();
    let child = workspace
        .command("cairn")
        .args(["minimize", "./program", "corpus", "-o", "small", "--json", "--sandbox=off"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // All have run twice by then, and are being made smaller, which would take minutes.
    while fs::metadata(&noted).unwrap().len() < 4 * 2 + 20 {
        thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    workspace.run("kill", ["-INT", &pid]).success();
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).into();
    assert_eq!(output.status.signal(), Some(2), "whoever waits for it knows why it ended: {stderr}");
    assert!(
        stderr.contains("warning: asked to end: this is the best set so far; 2 of its inputs"),
        "{stderr}"
    );
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    assert_eq!(report["interrupted"], serde_json::json!({"not_run": 0, "not_reduced": 2}), "{report:#}");
    assert_eq!(report["after"]["branches"], report["before"]["branches"], "{report:#}");
    assert_eq!(written(&workspace), texts[..2].iter().cloned().collect(), "{report:#}");
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_try() {
    let workspace = workspace(KINDS, &NUMBERS[..2]);
    let fails = |words: &[&str], expected: &str| {
        let ran = workspace.run("cairn", ["minimize"].iter().chain(words)).exits_with(2);
        assert!(ran.stderr.contains(expected) && ran.stderr.contains("hint: "), "{ran}");
    };
    fails(&["./program", "-o", "small"], "no corpus was named");
    fs::create_dir(workspace.path("empty")).unwrap();
    fails(&["./program", "empty", "-o", "small"], "there are no inputs in `empty`");
    fails(&["./program", "corpus", "-o", "corpus"], "the folder `corpus` is not empty");
    let ran = workspace.run("cairn", ["minimize", "./program", "absent", "-o", "small"]).exits_with(2);
    assert!(ran.stderr.contains("failed to read corpus `absent`"), "{ran}");
    workspace.write("bad/bad.json", "{\"args\": 5}");
    fails(&["./program", "bad", "-o", "small"], "no input of the corpus can be read");
    let ran = workspace.run("cairn", ["minimize", "./program", "bad/bad.json", "-o", "small"]).exits_with(2);
    assert!(ran.stderr.contains("`bad/bad.json` is not an input"), "{ran}");
    assert!(!workspace.path("small").exists(), "nothing was written");
    // Among others it is left out.
    let ran = workspace.run("cairn", ["minimize", "./program", "corpus", "bad", "-o", "small"]).success();
    assert!(ran.stderr.contains("warning: an input is left out: `bad/bad.json` is not an input"), "{ran}");
}
