//! The models of libc in `models/`, compiled as they are for symbolic views and compared with glibc.
//!
//! These need `clang-19` and LLVM's tools. The programs are in `models/tests/`; each ends with the first difference and says
//! what it was.

use cairn_testkit::{Ran, Workspace};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// How models are compiled.
const FLAGS: [&str; 4] = ["-O1", "-fno-builtin", "-Wall", "-Wextra"];

/// How views optimise them before they are followed, with a record of every block that is executed.
const FOLLOWED: [&str; 5] =
    ["-O2", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fsanitize-coverage=trace-pc"];

/// What models ask of the runtime.
const PRIMITIVES: [&str; 10] = [
    "cairn_beyond",
    "cairn_concrete",
    "cairn_continues",
    "cairn_ends",
    "cairn_grows",
    "cairn_is_symbolic",
    "cairn_left_alone",
    "cairn_next_bytes",
    "cairn_place",
    "cairn_scanned",
];

fn models() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it")).join("models")
}

/// Runs a compiler or tool to its end, which must be a good one, and returns what it wrote.
fn tool(name: &str, words: &[&str]) -> String {
    let ran = Ran::of(Command::new(name).current_dir(models().join("tests")).args(words), b"");
    assert!(ran.status.success(), "{ran}");
    assert_eq!(ran.stderr, "", "`{}` had something to say", ran.command);
    ran.stdout
}

/// The models as an object.
struct Models {
    workspace: Workspace,
    object: String,
}

impl Models {
    fn compile(flags: &[&str]) -> Self {
        let workspace = Workspace::new();
        let object = workspace.path("models.o").to_str().unwrap().to_owned();
        tool("clang-19", &[&FLAGS, flags, &["-c", "../all.c", "-o", &object]].concat());
        Self { workspace, object }
    }

    /// Links one of the test programs with the models. Those that stand between a model and the real functions say in a
    /// file which ones.
    fn link(&self, program: &str) -> PathBuf {
        let source = format!("{program}.c");
        let wrapped = format!("{program}.link");
        let wrapped = models().join("tests").join(&wrapped).exists().then(|| format!("@{wrapped}"));
        let executable = self.workspace.path(program);
        // Not every program uses all of the memory and comparisons they share.
        let shared =
            ["-Wno-unused-function", &source, &self.object, "-lm", "-o", executable.to_str().unwrap()];
        let words = FLAGS.into_iter().chain(shared).chain(wrapped.as_deref()).collect::<Vec<_>>();
        tool("clang-19", &words);
        executable
    }

    /// Names of functions.
    fn symbols(&self, which: &str) -> BTreeSet<String> {
        let names = tool("llvm-nm-19", &["--extern-only", "--format=just-symbols", which, &self.object]);
        names.lines().map(str::to_owned).collect()
    }
}

/// Runs a test program, which must find no difference.
fn check(executable: &Path, arguments: &[&str]) {
    let ran = Ran::of(Command::new(executable).args(arguments), b"");
    assert!(ran.status.success(), "{ran}");
}

/// Pairs of a name in libc and a model.
fn aliases() -> Vec<(String, String)> {
    let text = fs::read_to_string(models().join("aliases.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, model) =
                line.split_once(' ').unwrap_or_else(|| panic!("`{line}` should be two names"));
            (name.to_owned(), model.to_owned())
        })
        .collect()
}

#[test]
fn models_answer_as_glibc_does() {
    let models = Models::compile(&[]);
    check(&models.link("strings"), &["30000"]);
    check(&models.link("numbers"), &["100000"]);
    check(&models.link("formatting"), &["40000"]);
    check(&models.link("scanning"), &["100000"]);
    check(&models.link("sorting"), &["5000"]);
    check(&models.link("checking"), &[]);
    let characters = models.link("characters");
    check(&characters, &["50000", "C"]);
    check(&characters, &["50000", "C.UTF-8"]);
}

#[test]
fn models_answer_as_glibc_does_beyond_their_windows() {
    check(&Models::compile(&["-DCAIRN_WINDOW=0"]).link("strings"), &["20000"]);
}

#[test]
fn expressions_hold_for_other_inputs() {
    let models = Models::compile(&FOLLOWED);
    check(&models.link("expressions"), &["5000"]);
}

#[test]
fn paths_hold_for_inputs_that_take_them() {
    for window in ["-DCAIRN_WINDOW=5", "-DCAIRN_NUMBER_MARGIN=3"] {
        let models = Models::compile(&[&FOLLOWED[..], &[window]].concat());
        check(&models.link("expressions"), &["3000", "paths"]);
    }
}

#[test]
fn models_have_the_types_of_what_they_replace() {
    tool("clang-19", &[&FLAGS, &["-fsyntax-only", "types.c"][..]].concat());
}

#[test]
fn every_model_has_a_name_in_libc_and_every_name_a_model() {
    let models = Models::compile(&["-O0"]);
    let defined = models.symbols("--defined-only");
    let aliases = aliases();
    let named: BTreeSet<_> = aliases.iter().map(|(_, model)| model.clone()).collect();
    assert_eq!(named, defined);
    let names: BTreeSet<_> = aliases.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), aliases.len(), "a name stands twice in aliases.txt");

    assert!(defined.iter().all(|name| name.starts_with("cairn_")), "other names belong to the program");
    let asked = models.symbols("--undefined-only");
    let of_runtime: Vec<_> = asked.iter().filter(|name| name.starts_with("cairn_")).collect();
    assert_eq!(of_runtime, PRIMITIVES);
}
