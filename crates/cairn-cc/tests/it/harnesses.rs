//! Fuzzing harnesses and our headers build unchanged.

use crate::project::{Project, assert_defines, units};

const HARNESS: &str = "#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) \
                       { return n > 0 && d[0] == 'x'; }\n";

#[test]
fn a_harness_without_main_links() {
    let project = Project::new(&[("harness.c", HARNESS)]);
    project.sh("cairn-cc harness.c -o one && cairn-cc -fsanitize=fuzzer harness.c -o two && \
                cairn-cc -fsanitize=fuzzer-no-link -c harness.c && cairn-cc -fsanitize=fuzzer,undefined harness.o -o three");
    for program in ["one", "two", "three"] {
        let record = project.record(program);
        assert_eq!(units(&record), ["harness.c"]);
        assert_defines(&record, &["LLVMFuzzerTestOneInput"]);
        let text = project.sh(&format!("llvm-nm-19 {}", record.bitcode_path().display()));
        assert!(text.contains("T LLVMFuzzerTestOneInput"), "the runtime could not see it: {text}");
    }
}

#[test]
fn a_harness_in_cxx_links() {
    let text = HARNESS.replace("int LLVM", "extern \"C\" int LLVM");
    let project = Project::new(&[("harness.cc", &text)]);
    project.sh("cairn-c++ -fsanitize=fuzzer,address -g harness.cc -o prog");
    assert_eq!(units(&project.record("prog")), ["harness.cc"]);
}

#[test]
fn a_program_without_entry_point_is_named() {
    // Without `extern "C"` it is some other function.
    let project = Project::new(&[("harness.cc", HARNESS), ("none.c", "int f(void) { return 1; }\n")]);
    for link in ["cairn-c++ -fsanitize=fuzzer harness.cc -o prog", "cairn-cc none.c -o prog"] {
        let ran = project.try_sh(link);
        assert_eq!(ran.code, 1);
        assert!(
            ran.stderr
                .contains("error: the program has neither `main` nor `LLVMFuzzerTestOneInput`\n\nhint: "),
            "{}",
            ran.stderr
        );
    }
}

const PERSISTENT: &str = "__AFL_FUZZ_INIT();\nint main(void) {\n#ifdef __AFL_HAVE_MANUAL_CONTROL\n__AFL_INIT();\n\
                          #endif\nunsigned char *buf = __AFL_FUZZ_TESTCASE_BUF; int sum = 0;\n\
                          while (__AFL_LOOP(10000)) { int len = __AFL_FUZZ_TESTCASE_LEN; \
                          for (int i = 0; i < len; i++) sum += buf[i]; }\nreturn sum; }\n";

#[test]
fn persistent_mode_builds_in_c_and_cxx() {
    let project = Project::new(&[("a.c", PERSISTENT), ("b.cpp", PERSISTENT)]);
    project.sh("cairn-cc -std=c99 -Wall -Wextra -pedantic-errors -Werror a.c -o c && \
                cairn-c++ -Wall -Wextra -Werror b.cpp -o cxx");
    for program in ["c", "cxx"] {
        let record = project.record(program);
        assert_defines(&record, &["main"]);
        let text = project.sh(&format!("llvm-nm-19 -j --undefined-only {}", record.bitcode_path().display()));
        for name in ["cairn_afl_init", "cairn_afl_loop", "cairn_afl_buffer", "cairn_afl_length"] {
            assert!(text.lines().any(|line| line == name), "{name}: {text}");
        }
    }
}

#[test]
fn our_headers_are_found_after_the_users() {
    let project = Project::new(&[
        (
            "a.c",
            "#include <cairn.h>\n#include <klee/klee.h>\n#include <crest.h>\nint main(void) { return 0; }\n",
        ),
        ("own/klee/klee.h", "#define OWN 1\n"),
        ("b.c", "#include <klee/klee.h>\nint main(void) { return OWN; }\n"),
    ]);
    project.sh("cairn-cc a.c -o a && cairn-cc -isystem own b.c -o b");
}
