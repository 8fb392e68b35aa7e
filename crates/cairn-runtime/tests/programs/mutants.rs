//! Mutants without a host: `CAIRN_MUTANT`, `CAIRN_REACH`, and what mutated bodies call.

use crate::support::{Channel, Link, Program};
use cairn_abi::{
    channel::RUNTIME_EXIT_CODE,
    mutants::{REACH_MAGIC, REACH_START},
};
use cairn_testkit::Ran;
use std::{fs, path::PathBuf};

/// Prints `x + 1` of two functions: `one` has selectors 1 (`x - 1`) and 2 (`x * 1`), `two` has 4 (`x`).
const TWO_FUNCTIONS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
MUTANTS(2, 2, 6, 1, 4, 6);
static int one(int x) { int body = BODY(0); return PATCH(body, 0, 1, x + 1, x - 1, x * 1); }
static int two(int x) { int body = BODY(1); return PATCH(body, 1, 4, x + 1, x); }
int main(int argc, char **argv) {
  int x = argc > 1 ? atoi(argv[1]) : 0;
  printf("%d", one(x));
  if (argc > 2) printf(" %d", two(x));
  return 0;
}"#;

fn printed(ran: Ran) -> String {
    ran.success().stdout
}

fn with(program: &Program, arguments: &[&str], name: &str, value: &str) -> Ran {
    Ran::of(program.command(None).args(arguments).env(name, value), b"")
}

#[test]
fn a_variable_activates_a_mutant_for_any_test_runner() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    let run = |value: &str| printed(with(&program, &["5", "x"], "CAIRN_MUTANT", value));
    assert_eq!(printed(program.run_alone(&["5", "x"], "")), "6 6");
    assert_eq!(run(""), "6 6");
    assert_eq!(run("1"), "4 6");
    assert_eq!(run("2"), "5 6");
    assert_eq!(run("0000000100000002"), "5 6");
    assert_eq!(run("4"), "6 5");
    assert_eq!(run("5"), "6 6", "this one only selects");
    let script = format!("cd / && exec '{}' 5 x", program.path.display());
    let mut shell = program.workspace.command("sh");
    shell.args(["-c", &script]).env("CAIRN_MUTANT", "0000000100000004");
    assert_eq!(printed(Ran::of(&mut shell, b"")), "6 5");
}

#[test]
fn a_mutant_is_active_before_main() {
    let program = Program::c(
        Link::View,
        r#"#include <stdio.h>
        MUTANTS(1, 1, 3, 1, 3);
        static int value;
        __attribute__((constructor(101))) static void construct(void) { value = PATCH(BODY(0), 0, 1, 1, 2); }
        int main(void) { printf("%d", value); return 0; }"#,
    );
    assert_eq!(printed(program.run_alone(&[], "")), "1");
    assert_eq!(printed(with(&program, &[], "CAIRN_MUTANT", "1")), "2");
}

#[test]
fn a_mutant_of_a_harness_is_active_when_it_is_replayed() {
    let program = Program::c(
        Link::View,
        r#"#include <stdio.h>
        MUTANTS(1, 1, 3, 1, 3);
        int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
          printf("%d", PATCH(BODY(0), 0, 1, 1, 2));
          return 0;
        }"#,
    );
    assert_eq!(printed(program.run_alone(&[], "")), "1");
    assert_eq!(printed(with(&program, &[], "CAIRN_MUTANT", "1")), "2");
}

#[test]
fn all_threads_run_the_same_mutant() {
    let program = Program::build(
        "clang-19",
        "program.c",
        Link::View,
        r#"#include <pthread.h>
        #include <stdio.h>
        MUTANTS(1, 1, 3, 1, 3);
        static void *one(void *unused) { return (void *)(long)PATCH(BODY(0), 0, 1, 1, 2); }
        int main(void) {
          long sum = 0;
          pthread_t threads[8];
          for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, one, 0);
          for (int i = 0; i < 8; i++) { void *value; pthread_join(threads[i], &value); sum += (long)value; }
          printf("%ld", sum);
          return 0;
        }"#,
        &["-pthread"],
    );
    assert_eq!(printed(with(&program, &[], "CAIRN_MUTANT", "1")), "16");
    note(&program, &[]).success();
    assert_eq!(noted(&program), [0, 2]);
}

#[test]
fn a_mutant_nobody_has_is_an_error() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    for unknown in ["0", "6", "-1", "x", "0000000200000001", "0000000100000009"] {
        let ran = with(&program, &["5"], "CAIRN_MUTANT", unknown);
        assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(RUNTIME_EXIT_CODE), ""), "{unknown}");
        let expected = format!("error: CAIRN_MUTANT: this program has no mutant `{unknown}`\n");
        assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
    }
}

#[test]
fn views_without_mutants_do_not_mind_the_variables() {
    let program = Program::c(Link::View, "int main(void) { return 3; }");
    assert_eq!(with(&program, &[], "CAIRN_MUTANT", "1").status.code(), Some(3));
    assert_eq!(with(&program, &[], "CAIRN_REACH", "nowhere").status.code(), Some(3));
}

#[test]
fn with_a_host_only_the_host_decides() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    let channel = Channel::new();
    let mut command = program.command(Some(&channel));
    command.arg("5").env("CAIRN_MUTANT", "1");
    assert_eq!(printed(Ran::of(&mut command, b"")), "6");
}

fn reach_file(program: &Program) -> PathBuf {
    program.workspace.path("reach")
}

fn note(program: &Program, arguments: &[&str]) -> Ran {
    with(program, arguments, "CAIRN_REACH", reach_file(program).to_str().unwrap())
}

/// The bytes that are set in the infection pages of a reach file.
fn noted(program: &Program) -> Vec<usize> {
    let bytes = fs::read(reach_file(program)).unwrap();
    assert_eq!(bytes[..8], REACH_MAGIC.to_le_bytes());
    let infections = bytes[REACH_START..].iter().enumerate();
    infections.filter(|(_, byte)| **byte != 0).map(|(index, _)| index).collect()
}

#[test]
fn programs_note_what_they_reach_in_one_file() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    assert_eq!(printed(note(&program, &["1"])), "2", "the program does what it always does");
    // Patch 0, and behind the two patches the selectors 1 (0) and 2 (1), which both differ from 2.
    assert_eq!(noted(&program), [0, 3, 4]);
    assert_eq!(printed(note(&program, &["5", "x"])), "6 6");
    assert_eq!(noted(&program), [0, 1, 3, 4, 6]);
}

#[test]
fn many_processes_note_at_once() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    let path = reach_file(&program);
    let mut children: Vec<_> = (0..16)
        .map(|number| {
            let mut command = program.command(None);
            command.arg("5").env("CAIRN_REACH", &path);
            if number == 7 {
                command.arg("x");
            }
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(noted(&program), [0, 1, 3, 4, 6]);
}

#[test]
fn what_was_noted_outlives_a_crash() {
    let program = Program::c(
        Link::View,
        "MUTANTS(1, 1, 3, 1, 3);
         int main(void) { return *(volatile int *)(long)PATCH(BODY(0), 0, 1, 0, 1); }",
    );
    note(&program, &[]).dies_of(libc::SIGSEGV);
    assert_eq!(noted(&program), [0, 2]);
}

#[test]
fn a_file_of_another_program_is_refused() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    let refused = |why: &str| {
        let ran = note(&program, &["5"]);
        assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(RUNTIME_EXIT_CODE), ""));
        assert!(ran.stderr.starts_with("error: CAIRN_REACH: ") && ran.stderr.contains(why), "{}", ran.stderr);
    };
    fs::write(reach_file(&program), "some text that was here before, and stays").unwrap();
    refused("belongs to another program");
    assert!(fs::read_to_string(reach_file(&program)).unwrap().ends_with("stays"));

    fs::remove_file(reach_file(&program)).unwrap();
    let options = ["-DMAP_HASH=8"];
    let other = Program::build("clang-19", "program.c", Link::View, TWO_FUNCTIONS, &options);
    with(&other, &["5"], "CAIRN_REACH", reach_file(&program).to_str().unwrap()).success();
    refused("belongs to another program");

    fs::remove_file(reach_file(&program)).unwrap();
    fs::create_dir(reach_file(&program)).unwrap();
    refused("cannot open");
}

#[test]
fn a_path_that_depends_on_the_folder_is_refused() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    let ran = with(&program, &["5"], "CAIRN_REACH", "reach");
    assert_eq!(ran.status.code(), Some(RUNTIME_EXIT_CODE));
    assert_eq!(
        ran.stderr,
        "error: CAIRN_REACH: `reach` is no absolute path\n\n\
         hint: tests change folders: write `$PWD/reach`\n"
    );
}

#[test]
fn a_mutant_notes_nothing() {
    let program = Program::c(Link::View, TWO_FUNCTIONS);
    let mut command = program.command(None);
    command.env("CAIRN_REACH", reach_file(&program)).env("CAIRN_MUTANT", "1");
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.status.code(), Some(RUNTIME_EXIT_CODE));
    assert!(ran.stderr.starts_with("error: CAIRN_MUTANT and CAIRN_REACH are both set"), "{}", ran.stderr);
    assert!(!reach_file(&program).exists());
}

#[test]
fn a_mutant_cannot_choose_another() {
    let program = Program::c(
        Link::View,
        "MUTANTS(1, 1, 3, 1, 3);
         int main(void) { if (PATCH(BODY(0), 0, 1, 0, 1)) BODY(0) = 0; return 4; }",
    );
    assert_eq!(with(&program, &[], "CAIRN_MUTANT", "2").status.code(), Some(4));
    with(&program, &[], "CAIRN_MUTANT", "1").dies_of(libc::SIGSEGV);
}

#[test]
fn a_bad_division_is_one_to_a_handler_too() {
    let program = Program::c(
        Link::View,
        r#"#include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        MUTANTS(1, 1, 3, 1, 3);
        static void handle(int number, siginfo_t *info, void *context) {
          printf("%d", number == SIGFPE && info->si_code == FPE_INTDIV);
          fflush(stdout);
          _Exit(5);
        }
        int main(int argc, char **argv) {
          struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
          if (argc > 1) sigaction(SIGFPE, &action, 0);
          cairn_bad_division();
          return 0;
        }"#,
    );
    program.run_alone(&[], "").dies_of(libc::SIGFPE);
    let handled = program.run_alone(&["x"], "");
    assert_eq!((handled.status.code(), handled.stdout.as_str()), (Some(5), "1"));
}
