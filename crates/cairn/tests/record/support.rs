//! A folder with a program and a suite.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;
use std::fs;

/// Prints its arguments, a variable, what it reads from standard input and what is in the files it is given.
pub const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static void copy(FILE *f) { int c; while ((c = getc(f)) != EOF) putchar(c); }
int main(int argc, char **argv) {
  const char *mood = getenv("MOOD");
  if (mood) printf("mood %s\n", mood);
  int reads_stdin = 0, status = 0;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-' && argv[i][1] == 0) { reads_stdin = 1; continue; }
    printf("<%s>\n", argv[i]);
    FILE *f = fopen(argv[i], "r");
    if (f) { copy(f); fclose(f); }
    if (argv[i][0] == '!') status = 7;
  }
  if (reads_stdin) copy(stdin);
  return status;
}
"#;

/// A workspace with the program and `suite.sh`, which runs in the folder `work`.
pub fn suite(script: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("program.c", PROGRAM);
    workspace.run("clang-19", ["program.c", "-o", "program"]).success();
    workspace.write("suite.sh", format!("cd work\n{script}"));
    fs::create_dir(workspace.path("work")).expect("a new folder");
    workspace
}

/// Records the suite; what it prints is on standard error.
pub fn record(workspace: &Workspace, options: &[&str]) -> Ran {
    let arguments = ["record", "./program"].iter().chain(options).chain(&["--", "sh", "-e", "suite.sh"]);
    workspace.run("cairn", arguments)
}

/// The recorded inputs, each as a person reads it, in the order of their texts.
pub fn inputs(workspace: &Workspace) -> Vec<String> {
    let mut texts: Vec<String> = fs::read_dir(workspace.path("inputs"))
        .expect("a folder of inputs")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            assert!(path.is_file(), "only inputs stay in the folder, not `{}`", path.display());
            let bytes = fs::read(&path).expect("an input");
            let input: cairn_model::Input = serde_json::from_slice(&bytes).expect("an input is JSON");
            let address = path.file_stem().expect("a name").to_string_lossy().into_owned();
            assert_eq!(input.address(), address, "an input is called by its content");
            input.to_string()
        })
        .collect();
    texts.sort();
    texts
}

/// The report as JSON.
pub fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// Nothing of the recording is left beside the program, and the program is the original.
#[track_caller]
pub fn is_as_before(workspace: &Workspace, original: &[u8]) {
    assert!(fs::read(workspace.path("program")).expect("the program") == original, "the program is back");
    let names: Vec<_> = fs::read_dir(workspace.root())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".program"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
}
