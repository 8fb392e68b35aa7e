//! Seeds that are plain files: what a campaign makes of them are plain files, too.

use cairn_testkit::Workspace;
use std::{fs, path::PathBuf};

const READS_A_FILE: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
  struct stat status;
  char text[8] = "";
  FILE *file = argc > 2 ? fopen(argv[2], "r") : NULL;
  if (!file || fstat(fileno(file), &status))
    return 2;
  fread(text, 1, sizeof text - 1, file);
  if ((status.st_mode & 0777) == 0600)
    puts("private");
  if (status.st_size > 1000)
    puts("large");
  if (strcmp(argv[1], "-v") == 0)
    return 1;
  if (text[0] == 'a' && text[1] == 'b')
    puts("found");
  return 0;
}
"#;

fn corpus(workspace: &Workspace) -> Vec<PathBuf> {
    let kept = fs::read_dir(workspace.path("out/corpus")).unwrap();
    kept.map(|kept| kept.unwrap().path()).collect()
}

fn build(text: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", text.trim_start());
    workspace.write("seeds/one", "x\n");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    workspace
}

fn run(workspace: &Workspace, seeds: &str, more: &[&str]) {
    let words = ["run", "./program", seeds, "-o", "out", "--workers", "1", "--inputs", "20000"];
    workspace.run("cairn", words.iter().chain(more)).success();
}

#[test]
fn what_is_made_of_a_plain_file_is_one() {
    let workspace = build(READS_A_FILE);
    run(&workspace, "seeds", &["--", "-q", "@@"]);
    let says =
        |path: &PathBuf| workspace.run("./program", ["-q".as_ref(), path.as_os_str()]).success().stdout;
    let kept = corpus(&workspace);
    assert!(kept.iter().all(|path| path.extension().is_none()), "{kept:?}");
    // The program itself reads them, without Cairn.
    assert!(kept.iter().any(|path| says(path).contains("found")), "{kept:?}");
}

#[test]
fn beside_whole_inputs_plain_files_stay_plain() {
    let workspace = build(READS_A_FILE);
    let whole =
        r#"{"args": ["-v", "input"], "files": [{"path": "input", "kind": {"regular": "y"}, "mode": 420}]}"#;
    workspace.write("seeds/two.json", whole);
    run(&workspace, "seeds", &["--", "-q", "@@"]);
    let events = workspace.read("out/events.jsonl");
    let kept: Vec<serde_json::Value> = events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|event| event["event"] == "kept")
        .collect();
    let is_raw = |event: &serde_json::Value| {
        workspace.path(format!("out/corpus/{}", event["address"].as_str().unwrap())).exists()
    };
    let mut n_children = 0;
    for event in &kept {
        let Some(parent) = event["parent"].as_u64() else { continue };
        let parent = kept.iter().find(|event| event["entry"] == parent).unwrap();
        if is_raw(parent) {
            assert!(is_raw(event), "{event} comes of {parent}");
            n_children += 1;
        }
    }
    assert!(n_children > 0, "{events}");
    // What is more than bytes is found by whole inputs.
    assert!(kept.iter().any(|event| !is_raw(event) && !event["parent"].is_null()), "{events}");
}

#[test]
fn inputs_stay_as_small_as_the_program_takes_them() {
    let workspace = build(
        "#include <stdio.h>\nint main(void) {\n  int n = 0;\n  while (getchar() >= 0) n++;\n  return n > 40;\n}\n",
    );
    workspace.write("cairn.toml", "[input]\nmax_size = 16\n");
    run(&workspace, "seeds", &[]);
    let sizes: Vec<u64> = corpus(&workspace).iter().map(|path| path.metadata().unwrap().len()).collect();
    assert!(sizes.iter().all(|size| *size <= 16) && sizes.iter().any(|size| *size > 2), "{sizes:?}");
    workspace.run("cairn", ["resume", "out", "--inputs", "100"]).success();
}

#[test]
fn declared_variables_are_changed_and_others_told() {
    let workspace = Workspace::new();
    workspace.write(
        "program.c",
        "#include <cairn.h>\nint main(void) {\n  int n = cairn_int(\"n\");\n  double x = cairn_double(\"x\");\n  \
         if (n == 4711)\n    return 1;\n  if (x > 2.5)\n    return 2;\n  return 0;\n}\n",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    let words = ["run", "./program", "--inputs", "3000", "--workers", "1", "-o"];
    let ran = workspace.run("cairn", [&words[..], &["without"]].concat()).success();
    let warning = "warning: the program asks for a typed variable `n`, and is given 0";
    assert_eq!(ran.stderr.matches(warning).count(), 1, "{ran}");
    let declared = ["n\"\ntype = \"int", "x\"\ntype = \"double"];
    let declared = declared.map(|words| format!("[[input.variables]]\nname = \"{words}\"\n"));
    workspace.write("cairn.toml", declared.concat());
    let ran = workspace.run("cairn", [&words[..], &["with"]].concat()).success();
    assert!(!ran.stderr.contains("typed variable"), "{ran}");
    assert!(ran.stdout.contains("4 of 4 branches reached"), "{ran}");
}
