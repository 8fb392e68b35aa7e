//! No instruction and no function of LLVM's own that programs consist of is unknown to the symbolic view.

use cairn_instrument::symbolic::{
    census::{Census, census},
    labels::Treatment,
};
use cairn_testkit::{Workspace, bitcode_of, dist, fixture};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Compiles a source to bitcode as `cairn-cc` does, and counts.
fn census_of(source: &Path, bitcode: &Path) -> Census {
    let compiler = match source.extension().is_some_and(|extension| extension == "c") {
        true => "clang-19",
        false => "clang++-19",
    };
    let output = Command::new(compiler)
        .args(["-O2", "-Xclang", "-disable-llvm-passes", "-w", "-emit-llvm", "-c", "-o"])
        .arg(bitcode)
        .arg("-I")
        .arg(dist().include())
        .arg(source)
        .output()
        .expect("clang is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    census(bitcode, None).unwrap_or_else(|error| panic!("`{}`: {error}", source.display()))
}

fn unknown(census: &Census) -> Vec<&str> {
    census.iter().filter(|(_, (treatment, _))| treatment.is_none()).map(|(name, _)| name.as_str()).collect()
}

#[test]
fn nothing_in_fixtures_is_unknown() {
    let workspace = Workspace::new();
    let bitcode = workspace.path("fixture.bc");
    let mut n_fixtures = 0;
    let mut kinds = Census::new();
    for source in sources(fixture("condition_if").parent().expect("fixtures lie in a folder")) {
        let census = census_of(&source, &bitcode);
        assert_eq!(unknown(&census), [""; 0], "{}", source.display());
        kinds.extend(census);
        n_fixtures += 1;
    }
    assert!(n_fixtures > 100 && kinds.len() > 60, "{} kinds in {n_fixtures} sources", kinds.len());
}

/// All sources of fixtures.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("fixtures are readable") {
        let path = entry.expect("entry of a readable folder").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "c" || extension == "cpp") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_in_models_is_unknown() {
    let models = dist().root().join("lib/cairn/models/models.bc");
    let census = census(&models, None).unwrap();
    assert_eq!(unknown(&census), [""; 0]);
    assert!(census.contains_key("add"));
}

/// Programs that were never built on this machine are left to `bench/run opcodes`.
#[test]
fn nothing_in_real_programs_that_are_built_here_is_unknown() {
    let folder = cairn_targets::Cache::default_folder(|name| std::env::var_os(name));
    let folder = folder.expect("the environment names a folder").join("targets");
    let models = dist().root().join("lib/cairn/models");
    for target in cairn_targets::targets() {
        let program = folder.join(target.name).join(target.program_name);
        let Some(bitcode) = program.is_file().then(|| bitcode_of(&program)).flatten() else { continue };
        let census =
            census(&bitcode, Some(&models)).unwrap_or_else(|error| panic!("{}: {error}", target.name));
        assert_eq!(unknown(&census), [""; 0], "{}", target.name);
    }
}

/// What both of LLVM's vectorisers would take.
#[test]
fn no_vectors_are_made() {
    let workspace = Workspace::new();
    workspace.write(
        "vectors.c",
        "void four(int *a, const int *b) { a[0] += b[0]; a[1] += b[1]; a[2] += b[2]; a[3] += b[3]; }
         void many(int *restrict a, const int *restrict b, int n) { for (int i = 0; i < n; i++) a[i] += b[i]; }",
    );
    let census = census_of(&workspace.path("vectors.c"), &workspace.path("vectors.bc"));
    let is_vector = |name: &&String| {
        let kinds = ["extractelement", "insertelement", "shufflevector", "llvm.vector", "other types"];
        kinds.iter().any(|kind| name.contains(kind))
    };
    assert_eq!(census.keys().find(is_vector), None);
}

#[test]
fn what_is_followed_and_what_is_not_is_told_apart() {
    let workspace = Workspace::new();
    workspace.write(
        "kinds.c",
        "long double wide(long double x) { return x * 3; }
         int swap(int *p, int n) { return __atomic_exchange_n(p, n, __ATOMIC_SEQ_CST); }
         unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
         void rest(void) { __builtin_ia32_pause(); }",
    );
    let census = census_of(&workspace.path("kinds.c"), &workspace.path("kinds.bc"));
    let treatment = |name: &str| census.get(name).and_then(|(treatment, _)| *treatment);
    assert_eq!(treatment("fmul of other types"), Some(Treatment::Opaque));
    assert_eq!(treatment("atomicrmw"), Some(Treatment::Opaque));
    assert_eq!(treatment("llvm.umin.i32"), Some(Treatment::Exact));
    assert_eq!(treatment("llvm.x86.sse2.pause"), Some(Treatment::Opaque));
    assert_eq!(treatment("ret"), Some(Treatment::Exact));
}
