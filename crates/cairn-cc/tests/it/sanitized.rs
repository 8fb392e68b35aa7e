//! Builds with sanitizers are made from the recorded commands.

use crate::project::{MAIN, Project, TWICE};
use cairn_cc::views::{Sanitizer, ViewError, build_sanitized};
use std::{collections::BTreeSet, fs, os::unix::process::ExitStatusExt, path::Path, process::Command};

const SIGABRT: i32 = 6;

fn set(names: &str) -> BTreeSet<Sanitizer> {
    names.split(',').map(|name| name.parse().unwrap()).collect()
}

/// The signal a program dies of, if any, and what it says.
fn run(program: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.signal(), String::from_utf8_lossy(&text).into_owned())
}

const FAULTS: &str = "#include <stdlib.h>\n#include \"last.h\"\nint main(int n, char **v) {\n  \
                      char *p = malloc(N);\n  if (n > 2) return 0x7fffffff + atoi(v[2]);\n  \
                      return n > 1 ? last(p, atoi(v[1])) : 0; }\n";

fn faults() -> Project {
    let project = Project::new(&[
        ("src/main.c", FAULTS),
        ("src/last.c", "int last(char *p, int n) { return p[n]; }\n"),
    ]);
    project.write("include/last.h", "int last(char *, int);\n");
    project.write("src/plain.c", "int plain = 1;\n");
    // Options with their own sense of place, an archive, a native object, and nothing left of any of them.
    project.sh("mkdir build && cd build && cairn-cc -O2 -DN=5 -I../include -D_FORTIFY_SOURCE=2 -c ../src/main.c && \
                cairn-cc -I../include -c ../src/last.c && clang-19 -c ../src/plain.c && ar rcs liblast.a last.o && \
                cairn-cc main.o plain.o -L. -llast -o ../prog && rm *.o *.a");
    project
}

#[test]
fn sanitizers_find_what_the_program_hides_and_end_it_by_a_signal() {
    let project = faults();
    let (settings, record) = (project.settings(), project.record("prog"));
    let both = build_sanitized(&settings, &record, &set("undefined,address")).unwrap();
    assert_eq!(run(&both, &[]).0, None);
    assert_eq!(run(&both, &["4"]).0, None, "within the five bytes");
    let (signal, text) = run(&both, &["5"]);
    assert_eq!(signal, Some(SIGABRT));
    assert!(text.contains("AddressSanitizer: heap-buffer-overflow"), "{text}");
    let (signal, text) = run(&both, &["5", "1"]);
    assert_eq!(signal, Some(SIGABRT));
    assert!(text.contains("main.c:5:32: runtime error: signed integer overflow"), "{text}");
    assert!(text.contains("#0 0x"), "{text}");

    let undefined = build_sanitized(&settings, &record, &set("undefined")).unwrap();
    assert_ne!(undefined, both);
    assert_eq!(run(&undefined, &["4", "1"]).0, Some(SIGABRT));
    assert!(!run(&undefined, &["5"]).1.contains("AddressSanitizer"));
}

#[test]
fn it_is_built_once_and_needs_its_sources_only_for_that() {
    let project = faults();
    let (settings, record) = (project.settings(), project.record("prog"));
    let first = build_sanitized(&settings, &record, &set("address")).unwrap();
    let made = fs::metadata(&first).unwrap().modified().unwrap();
    fs::remove_dir_all(project.path().join("src")).unwrap();
    let second = build_sanitized(&settings, &record, &set("address")).unwrap();
    assert_eq!((&second, fs::metadata(&second).unwrap().modified().unwrap()), (&first, made));
}

#[test]
fn sources_that_are_not_what_they_were_are_named() {
    let project = faults();
    let (settings, record) = (project.settings(), project.record("prog"));
    project.write("src/last.c", "int last(char *p, int n) { return 0; }\n");
    let error = build_sanitized(&settings, &record, &set("address")).unwrap_err();
    assert!(matches!(error, ViewError::SourceChanged { .. }), "{error}");
    assert!(error.to_string().contains("last.c` has changed"), "{error}");
    fs::remove_file(project.path().join("src/last.c")).unwrap();
    let error = build_sanitized(&settings, &record, &set("address")).unwrap_err();
    assert!(matches!(error, ViewError::SourceGone { .. }), "{error}");
    // A header that is gone shows when it is needed.
    project.write("src/last.c", "int last(char *p, int n) { return p[n]; }\n");
    fs::remove_file(project.path().join("include/last.h")).unwrap();
    let error = build_sanitized(&settings, &record, &set("address")).unwrap_err();
    assert!(error.to_string().contains("'last.h' file not found"), "{error}");
}

#[test]
fn harnesses_and_cxx_have_sanitizers_too() {
    let text = "#include <cstddef>\n#include <vector>\n#include <cairn.h>\n\
                extern \"C\" const char *__asan_default_options() { return \"abort_on_error=0\"; }\nextern \"C\" int LLVMFuzzerTestOneInput(const unsigned char \
                *d, size_t n) { std::vector<char> v(2); return n > 1 ? v.data()[n] : 0; }\n";
    let project = Project::new(&[("harness.cc", text)]);
    project.sh("cairn-c++ -fsanitize=fuzzer harness.cc -o prog");
    let program = build_sanitized(&project.settings(), &project.record("prog"), &set("address")).unwrap();
    project.write("short", "a");
    project.write("long", "abc");
    let file = |name: &str| project.path().join(name).display().to_string();
    assert_eq!(run(&program, &[&file("short")]).0, None);
    let (signal, text) = run(&program, &[&file("long")]);
    assert_eq!(signal, Some(SIGABRT), "{text}");
    assert!(text.contains("heap-buffer-overflow"), "{text}");
}

#[test]
fn a_program_without_faults_behaves_the_same() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc main.c twice.c -o prog");
    let both = set("address,undefined");
    let program = build_sanitized(&project.settings(), &project.record("prog"), &both).unwrap();
    assert_eq!(run(&program, &[]), (None, project.sh("./prog")));
    assert!("thread".parse::<Sanitizer>().is_err());
}
