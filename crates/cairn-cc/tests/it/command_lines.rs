//! Odd and passed-through command lines behave as clang's own.

use crate::project::{MAIN, Project, TWICE, assert_defines, has_payload, units};

fn twice() -> Project {
    Project::new(&[("main.c", MAIN), ("twice.c", TWICE)])
}

#[test]
fn what_builds_nothing_is_clang_itself() {
    let project = twice();
    for words in [
        "--version",
        "-dumpversion",
        "-dumpmachine",
        "-print-search-dirs",
        "-print-prog-name=ld",
        "-print-libgcc-file-name",
        "-S twice.c -o -",
        "-MM main.c",
        "-M twice.c",
        "-fsyntax-only main.c",
    ] {
        let ours = project.sh(&format!("cairn-cc {words}"));
        assert_eq!(ours, project.sh(&format!("clang-19 {words}")), "{words}");
    }
    assert!(project.try_sh("cairn-cc -v").stderr.contains("clang version 19"));
    assert!(project.try_sh("cairn-cc '-###' main.c").stderr.contains("-cc1"));
    assert!(!project.has("a.out") && !project.has(".cairn"));
    let c = project.try_sh("cairn-cc -fsyntax-only -x c++ -std=c++17 main.c");
    assert_eq!(c.code, 0, "{}", c.stderr);
}

#[test]
fn the_preprocessor_knows_our_macros() {
    let project = Project::new(&[("a.c", "#ifdef __CAIRN__\nyes\n#endif\n")]);
    assert!(project.sh("cairn-cc -E a.c").contains("yes"));
    assert!(project.sh("echo __CAIRN__ | cairn-cc -E -P -").contains('1'));
    assert!(project.sh("cairn-cc -dM -E -x c /dev/null").contains("#define __CAIRN__ 1"));
}

#[test]
fn without_o_the_result_is_a_out() {
    let project = twice();
    project.sh("cairn-cc main.c twice.c");
    assert_eq!(project.sh("./a.out"), "2\n");
    assert_eq!(units(&project.record("a.out")), ["main.c", "twice.c"]);
}

#[test]
fn response_files_are_read_nested_and_quoted() {
    let project = Project::new(&[
        ("main.c", MAIN),
        ("with space.c", TWICE),
        ("outer.rsp", "-O1 @inner.rsp\n'-DTEXT=\"a b\"'"),
        ("inner.rsp", "main.c \"with space.c\" -o\nprog"),
    ]);
    project.sh("cairn-cc @outer.rsp");
    assert_eq!(project.sh("./prog"), "2\n");
    assert_eq!(units(&project.record("prog")), ["main.c", "with space.c"]);
}

#[test]
fn a_line_too_long_for_one_command_still_works() {
    let project = twice();
    let defines: Vec<String> = (0..9000).map(|n| format!("-DA_RATHER_LONG_MACRO_NAME_{n}={n}")).collect();
    project.write("long.rsp", &defines.join("\n"));
    project.sh("cairn-cc @long.rsp -c twice.c && cairn-cc @long.rsp main.c twice.o -o prog");
    assert_eq!(units(&project.record("prog")), ["main.c", "twice.c"]);
}

#[test]
fn a_forced_language_is_followed() {
    let project = Project::new(&[("main.txt", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc -x c main.txt -x none twice.c -o prog");
    assert_eq!(project.sh("./prog"), "2\n");
    assert_eq!(units(&project.record("prog")), ["main.txt", "twice.c"]);
}

#[test]
fn standard_input_is_compiled_natively() {
    let project = twice();
    project.sh("cairn-cc -c -x c - -o twice.o < twice.c && cairn-cc main.c twice.o -o prog");
    assert_eq!(project.sh("./prog"), "2\n");
    assert!(!has_payload(&project.path().join("twice.o")));
    let record = project.record("prog");
    assert_eq!(record.native[0].name, "twice.o");
}

#[test]
fn flags_only_gcc_knows_do_as_with_clang() {
    let project = twice();
    for flag in [
        "-fno-tree-vrp",
        "-Wlogical-op",
        "-fno-ipa-cp",
        "-fvar-tracking",
        "-Wno-maybe-uninitialized",
        "-mno-such",
    ] {
        let clang = project.try_sh(&format!("clang-19 {flag} -Werror -c twice.c -o theirs.o"));
        let ours = project.try_sh(&format!("cairn-cc {flag} -Werror -c twice.c -o ours.o"));
        assert_eq!((ours.code, ours.stderr), (clang.code, clang.stderr), "{flag}");
    }
}

#[test]
fn warnings_are_printed_once_and_errors_keep_their_code() {
    let project = Project::new(&[
        ("warn.c", "int f(void) { int unused_one; return 0; }\n"),
        ("bad.c", "int f(void) { return missing; }\n"),
    ]);
    let warned = project.try_sh("cairn-cc -Wall -c warn.c");
    assert_eq!(warned.stderr.matches("unused variable").count(), 1, "{}", warned.stderr);
    for words in ["-c bad.c -o bad.o", "bad.c -o bad"] {
        let clang = project.try_sh(&format!("clang-19 {words}"));
        let ours = project.try_sh(&format!("cairn-cc {words}"));
        assert_eq!((ours.code, &ours.stderr), (clang.code, &clang.stderr));
        assert_ne!(ours.code, 0);
    }
    assert!(!project.has("bad.o"));
    assert_ne!(project.try_sh("cairn-cc -Werror -Wall -c warn.c").code, 0);
}

#[test]
fn our_macros_pass_the_strictest_warnings() {
    let project = Project::new(&[("a.c", "int a(int x);\nint a(int x) { return x; }\n")]);
    let ran = project.try_sh(
        "cairn-cc -std=c99 -pedantic-errors -Weverything -Werror -Wno-poison-system-directories \
                              -Wno-unsafe-buffer-usage -c a.c",
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn bypass_and_probes_leave_no_trace() {
    let project = Project::new(&[("conftest.c", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc -c conftest.c && CAIRN_BYPASS=1 cairn-cc -c twice.c");
    assert!(!has_payload(&project.path().join("conftest.o")));
    assert!(!has_payload(&project.path().join("twice.o")));
    project.sh("cairn-cc conftest.c twice.c -o conftest && ./conftest");
    project.sh("CAIRN_BYPASS=1 cairn-cc twice.o conftest.o -o prog && ./prog");
    assert!(!project.has(".cairn"));
    assert!(project.find("prog").is_err());
}

#[test]
fn link_time_optimisation_of_the_users_is_left_out() {
    let project = twice();
    project.sh(
        "cairn-cc -O2 -flto=thin -ffat-lto-objects -c twice.c && cairn-cc -O2 -flto main.c twice.o -o prog",
    );
    assert!(project.bytes("twice.o").starts_with(b"\x7fELF"));
    assert_eq!(project.sh("./prog"), "2\n");
    assert_defines(&project.record("prog"), &["main", "twice", "helper"]);
}

#[test]
fn a_language_still_in_force_does_not_reach_our_archive() {
    let project = twice();
    project.sh("echo 'int main(){return 0;}' | cairn-cc -x c - -o /dev/null");
    project.sh("cairn-cc -x c main.c twice.c -o prog && CAIRN_BYPASS=1 cairn-cc -fsanitize=fuzzer -x c main.c twice.c");
    assert_eq!(project.sh("./prog"), "2\n");
    assert_eq!(units(&project.record("prog")), ["main.c", "twice.c"]);
}

#[test]
fn files_may_start_with_a_dash() {
    let project = Project::new(&[("-main.c", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc -c -o main.o -- -main.c && cairn-cc main.o twice.c -o one && cairn-cc -o two -- -main.c twice.c");
    for program in ["one", "two"] {
        assert_eq!(project.sh(&format!("./{program}")), "2\n");
        assert_eq!(units(&project.record(program)), ["-main.c", "twice.c"]);
    }
}

#[test]
fn what_is_not_utf_8_is_left_to_clang() {
    let project = twice();
    project.sh("f=$(printf 'b\\377d'); cp twice.c $f.c && cairn-cc -c $f.c && test -f $f.o && \
                printf 'b\\377d.c -o from-file.o' > words.rsp && cairn-cc -c @words.rsp && test -f from-file.o && \
                mkdir d$f && cp *.c d$f && cd d$f && cairn-cc -c main.c twice.c && cairn-cc main.o twice.o -o prog && ./prog");
    assert!(!has_payload(&project.path().join("from-file.o")));
    assert_eq!(project.sh("find . -name .cairn"), "");
}

#[test]
fn nothing_is_left_behind_by_a_command_that_is_ended() {
    let project = twice();
    // A compiler that reads from a pipe nobody writes to waits.
    project.write("waits.c", "#include \"pipe\"\n");
    project.sh("mkdir temporary && mkfifo pipe");
    for signal in ["TERM", "HUP", "KILL"] {
        project.sh(&format!(
            "export TMPDIR=$PWD/temporary; cairn-cc -c waits.c & until ls temporary/*/*.messages 2> /dev/null; do \
             sleep 0.01; done > /dev/null; kill -{signal} $!; wait $! || true; \
             while test -n \"$(ls temporary)\"; do sleep 0.01; done"
        ));
    }
    assert!(!project.has("waits.o"));
}
