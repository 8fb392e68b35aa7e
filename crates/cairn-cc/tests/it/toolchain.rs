//! A missing or foreign LLVM is named before anything else.

use crate::project::{Project, Ran};
use std::{env, fs, os::unix::fs::symlink, path::Path, process::Command};

/// Runs `cairn-cc` with nothing but `tools` in its path.
fn run_with(project: &Project, tools: &Path) -> Ran {
    let output = Command::new(project.distribution_root().join("bin/cairn-cc"))
        .args(["-c", "a.c"])
        .current_dir(project.path())
        .env_clear()
        .env("PATH", tools)
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_clang_of_another_version_is_refused() {
    let project = Project::new(&[("a.c", "int a;\n")]);
    project.write("tools/clang-19", "#!/bin/sh\necho 'Debian clang version 14.0.6'\n");
    let ran = run_with(&project, &project.path().join("tools"));
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("error: `"), "{}", ran.stderr);
    assert!(ran.stderr.contains("is clang 14, Cairn needs clang 19"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: install the package `clang-19`"), "{}", ran.stderr);
    assert!(!project.has("a.o"));
}

#[test]
fn a_clang_that_says_nothing_is_refused() {
    let project = Project::new(&[("a.c", "int a;\n")]);
    project.write("tools/clang-19", "#!/bin/sh\nexit 127\n");
    let ran = run_with(&project, &project.path().join("tools"));
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("it names no version"), "{}", ran.stderr);
}

#[test]
fn a_checked_clang_is_not_asked_again_until_it_changes() {
    let project = Project::new(&[("a.c", "int a;\n")]);
    let real = env::split_paths(&env::var_os("PATH").unwrap())
        .map(|folder| folder.join("clang-19"))
        .find(|path| path.is_file())
        .expect("clang-19 is installed");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo asked >> {log}\nexec {real} \"$@\"\n",
        log = project.path().join("log").display(),
        real = real.display()
    );
    project.write("tools/clang-19", &script);
    project.sh("PATH=$PWD/tools:$PATH; cairn-cc -c a.c && cairn-cc -c a.c");
    assert_eq!(project.read("log"), "asked\n");
    project.write("tools/clang-19", &format!("{script}# newer\n"));
    project.sh("PATH=$PWD/tools:$PATH; cairn-cc -c a.c");
    assert_eq!(project.read("log"), "asked\nasked\n");
}

#[test]
fn a_distribution_without_its_archives_is_named() {
    let project = Project::new(&[("a.c", "int main(void) { return 0; }\n")]);
    let lonely = project.outside().join("bin");
    fs::create_dir_all(&lonely).unwrap();
    fs::hard_link(project.distribution_root().join("bin/cairn-cc"), lonely.join("cairn-cc")).unwrap();
    symlink("cairn-cc", lonely.join("cairn-c++")).unwrap();
    let ran = project.try_sh(&format!("{}/cairn-cc a.c -o a", lonely.display()));
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("libcairn_deliver.a` is missing"), "{}", ran.stderr);
}
