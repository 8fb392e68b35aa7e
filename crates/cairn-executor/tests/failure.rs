//! Failures are told apart by what goes wrong and where. Needs `cargo xtask dist`.

mod support;

use cairn_executor::{Executor, Explained, FailureConfig, FailureExplainer, RunConfig, SandboxLevel, Target};
use cairn_model::{Ending, Input};
use cairn_testkit::dist;
use expect_test::{Expect, expect};
use std::{fs, path::Path, process::Command, time::Duration};
use support::{Program, args, config, readable_folder};

/// Compiles C text, or C++ if it uses the standard library's names, as the bare build is compiled: optimised, with debug
/// information and the delivery.
fn build(text: &str, more: &[&str]) -> Program {
    let folder = readable_folder();
    let is_cxx = text.contains("std::");
    let source = folder.path().join(if is_cxx { "target.cc" } else { "target.c" });
    fs::write(&source, text).unwrap();
    let path = folder.path().join("target");
    let output = Command::new(if is_cxx { "clang++-19" } else { "clang-19" })
        .args([
            "-O2",
            "-g",
            "-fno-delete-null-pointer-checks",
            "-w",
            "-fuse-ld=lld",
            "-pthread",
            "-Wl,-u,cairn_start",
            "-o",
        ])
        .arg(&path)
        .arg(&source)
        .args(more)
        .arg(dist().delivery_archive())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Program { folder, path }
}

/// So long that a busy machine does not make a hang of a crash.
const PATIENCE: Duration = Duration::from_secs(20);

fn limits(level: SandboxLevel) -> RunConfig {
    RunConfig { wall_limit: PATIENCE, ..config(level) }
}

fn target(program: &Program) -> Target {
    Target { program: program.path.clone(), n_counters: 0 }
}

fn explainer(program: &Program, run: RunConfig) -> FailureExplainer {
    let root = program.path.parent().unwrap().to_path_buf();
    FailureExplainer::new(target(program), run, FailureConfig { root, has_sanitizers: false }).unwrap()
}

/// Runs an input without handlers for the verdict, and once more for the explanation.
fn explain(program: &Program, input: &Input) -> Explained {
    explain_within(program, input, PATIENCE)
}

fn explain_within(program: &Program, input: &Input, wall_limit: Duration) -> Explained {
    let run = RunConfig { wall_limit, ..limits(SandboxLevel::Full) };
    let ending = Executor::new(target(program), run.clone()).unwrap().run(input).unwrap().outcome.ending;
    assert!(ending.is_failure(), "{ending:?}");
    explainer(program, run).explain(input, &ending).unwrap()
}

fn text(explained: &Explained) -> String {
    let stack: Vec<String> = explained.stack.iter().take(6).map(|frame| format!("  {frame}\n")).collect();
    format!("{}\n{}\n{}", explained.kind, explained.signature, stack.concat())
}

fn check(program: &str, expected: Expect) {
    expected.assert_eq(&text(&explain(&build(program, &[]), &Input::default())));
}

#[test]
fn a_null_pointer_is_named_with_all_callers() {
    check(
        "__attribute__((noinline)) static void set(int *at) { *at = 3; }
         __attribute__((noinline)) static int twice(int *at) { set(at); set(at); return 0; }
         int main(void) { twice(0); return 1; }",
        expect![[r#"
            null dereference
            null dereference in set (target.c:1) < twice < main
              set at target.c:1
              twice at target.c:2
              main at target.c:3
        "#]],
    );
}

#[test]
fn a_null_pointer_to_a_large_thing_is_one_too_and_others_are_not() {
    check(
        "struct large { char head[4000]; int tail; };
         int main(int n, char **v) { return ((volatile struct large *)(long)(n - 1))->tail; }",
        expect![[r#"
            null dereference
            null dereference in main (target.c:2)
              main at target.c:2
        "#]],
    );
    check(
        "int main(int n, char **v) { return *(volatile int *)(n * 0x10000L); }",
        expect![[r#"
        SIGSEGV
        SIGSEGV in main (target.c:1)
          main at target.c:1
    "#]],
    );
    check(
        "int main(int n, char **v) { return *(volatile int *)(0x1234567812345678L * n); }",
        expect![[r#"
        SIGSEGV
        SIGSEGV in main (target.c:1)
          main at target.c:1
    "#]],
    );
}

#[test]
fn a_call_to_nowhere_is_told_by_its_caller() {
    check(
        "typedef int hook(void);
         __attribute__((noinline)) static int call(hook *volatile *at) { return (*at)() + 1; }
         int main(void) { static hook *volatile nothing; return call(&nothing); }",
        expect![[r#"
            null dereference
            null dereference in call (target.c:2)
              call at target.c:2
        "#]],
    );
}

#[test]
fn a_failed_assertion_says_what_was_asserted() {
    let program = build(
        "#include <assert.h>
         __attribute__((noinline)) static void check(int n) { assert(n > 5); }
         int main(int n, char **v) { check(n); return 0; }",
        &[],
    );
    let explained = explain(&program, &Input::default());
    expect![[r#"
        assertion failed
        assertion failed in check (target.c:2) < main
          check at target.c:2
          main at target.c:3
    "#]]
    .assert_eq(&text(&explained));
    expect!["target: …/target.c:2: void check(int): Assertion `n > 5' failed."]
        .assert_eq(&explained.report.replace(&program.folder.path().display().to_string(), "…"));
}

#[test]
fn freeing_twice_is_found_by_the_library() {
    check(
        "#include <stdlib.h>
         __attribute__((noinline)) static void drop(void *p) { free(p); }
         int main(void) { void *volatile p = malloc(40); drop(p); drop(p); return 0; }",
        expect![[r#"
            heap corruption
            heap corruption in main (target.c:3)
              main at target.c:3
        "#]],
    );
}

#[test]
fn a_stack_that_is_used_up_is_told_by_the_functions_that_use_it() {
    check(
        "__attribute__((noinline)) long odd(volatile long n);
         __attribute__((noinline)) long even(volatile long n) { return 1 + odd(n + 1); }
         __attribute__((noinline)) long odd(volatile long n) { return 1 + even(n + 1); }
         int main(void) { return even(0); }",
        expect![[r#"
            stack overflow
            stack overflow in even < odd
              odd at target.c:3
              even at target.c:2
              odd at target.c:3
              even at target.c:2
              odd at target.c:3
              even at target.c:2
        "#]],
    );
    check(
        "#include <string.h>
         __attribute__((noinline)) static int large(int n) { volatile char b[9 << 20]; b[n] = 1; return b[n]; }
         int main(int n, char **v) { return large(n); }",
        expect![[r#"
            stack overflow
            stack overflow in large
              large at target.c:2
        "#]],
    );
}

#[test]
fn writing_beyond_the_other_end_of_the_stack_uses_nothing_up() {
    check(
        "int main(int n, char **v) { for (volatile char *p = (char *)&n;; p++) *p = 1; }",
        expect![[r#"
            SIGSEGV
            SIGSEGV in main (target.c:1)
              main at target.c:1
        "#]],
    );
}

#[test]
fn divisions_and_traps_have_their_signals() {
    check(
        "int main(int n, char **v) { return 7 / (volatile int){0}; }",
        expect![[r#"
        SIGFPE
        SIGFPE in main (target.c:1)
          main at target.c:1
    "#]],
    );
    check(
        "int main(void) { __builtin_trap(); }",
        expect![[r#"
        SIGILL
        SIGILL in main (target.c:1)
          main at target.c:1
    "#]],
    );
    check(
        "int main(void) { __builtin_debugtrap(); return 0; }",
        expect![[r#"
        SIGTRAP
        SIGTRAP in main (target.c:1)
          main at target.c:1
    "#]],
    );
}

#[test]
fn a_hang_is_where_it_stays() {
    let text_of_loop = "__attribute__((noinline)) static int a(volatile int *n) { for (int i = 0; i < 99; i++) ++*n; return *n; }
         __attribute__((noinline)) static int b(volatile int *n) { for (int i = 0; i < 99; i++) --*n; return *n; }
         __attribute__((noinline)) static int spin(volatile int *n) { for (;;) if (a(n) + b(n) == -12345) return 1; }
         int main(void) { volatile int n = 0; return spin(&n) + 1; }";
    let program = build(text_of_loop, &[]);
    // On a busy machine all looks may find it in the same place.
    let looks = (0..4).map(|_| explain_within(&program, &Input::default(), Duration::from_secs(1)));
    let explained = looks.into_iter().find(|explained| explained.is_same("hang in spin < main"));
    let explained = explained.expect("it is known for what it is");
    assert_eq!(explained.kind, "hang");
    assert_eq!(explained.stack.last().unwrap().function, "main");
    // Sleeping is hanging as well.
    let sleeping = build("#include <unistd.h>\nint main(void) { for (;;) pause(); }", &[]);
    let explained = explain_within(&sleeping, &Input::default(), Duration::from_secs(1));
    assert_eq!((explained.kind.as_str(), explained.signature.as_str()), ("hang", "hang in main"));
}

#[test]
fn memory_and_output_without_end_are_told_by_where_they_are_used() {
    check(
        "#include <stdlib.h>
         #include <string.h>
         __attribute__((noinline)) static void eat(void) { char *volatile p = malloc(1 << 20); memset(p, 1, 1 << 20); }
         int main(void) { for (;;) eat(); }",
        expect![[r#"
            out of memory
            out of memory in main
              main at target.c:4
        "#]],
    );
    let writing = build(
        "#include <stdio.h>
         __attribute__((noinline)) static void say(void) { puts(\"more\"); fflush(stdout); }
         int main(void) { for (;;) say(); }",
        &[],
    );
    let ending = Ending::TooMuchOutput;
    let explained =
        explainer(&writing, limits(SandboxLevel::Full)).explain(&Input::default(), &ending).unwrap();
    assert_eq!(explained.kind, "too much output");
}

const TWO_CRASHES: &str = "#include <string.h>
     __attribute__((noinline)) static void first(char *at) { *at = 1; }
     __attribute__((noinline)) static void second(char *at) { *at = 2; }
     int main(int n, char **v) {
       if (n < 2) return 0;
       if (strchr(v[1], 'a')) first(0);
       if (strchr(v[1], 'b')) second(0);
       return 0;
     }";

#[test]
fn different_inputs_with_one_crash_have_one_signature_and_others_have_others() {
    let program = build(TWO_CRASHES, &[]);
    let signature = |argument: &str| explain(&program, &args(&[argument])).signature;
    assert_eq!(signature("a"), signature("xxxaxx"));
    assert_ne!(signature("a"), signature("b"));
}

#[test]
fn a_signature_does_not_depend_on_the_sandbox() {
    let program = build(TWO_CRASHES, &[]);
    let ending = Ending::Signalled { signal: libc::SIGSEGV };
    let explain = |level| explainer(&program, limits(level)).explain(&args(&["a"]), &ending).unwrap();
    assert_eq!(explain(SandboxLevel::Off), explain(SandboxLevel::Full));
    assert_eq!(explain(SandboxLevel::Basic), explain(SandboxLevel::Full));
    // Nor on whether the program lies where it was linked to.
    let fixed = explainer(&build(TWO_CRASHES, &["-no-pie"]), limits(SandboxLevel::Full))
        .explain(&args(&["a"]), &ending);
    assert_eq!(fixed.unwrap().signature, explain(SandboxLevel::Full).signature);
}

#[test]
fn inlined_functions_are_named() {
    check(
        "static inline void set(int *at) { *at = 3; }
         static inline void twice(int *at) { set(at); }
         int main(int n, char **v) { twice(n > 5 ? &n : 0); return n; }",
        expect![[r#"
            null dereference
            null dereference in set (target.c:1) < twice < main
              set at target.c:1
              twice at target.c:2
              main at target.c:3
        "#]],
    );
}

#[test]
fn an_exception_nobody_catches_is_told_by_who_throws() {
    let program = build(
        "#include <stdexcept>
         namespace app { struct reader {
           __attribute__((noinline)) int at(int n) { if (n > 0) throw std::out_of_range(\"nothing there\"); return n; }
         }; }
         int main(int n, char **) { return app::reader().at(n); }",
        &[],
    );
    let explained = explain(&program, &Input::default());
    expect![[r#"
        uncaught exception
        uncaught exception in app::reader::at(int) (target.cc:3) < main
          app::reader::at(int) at target.cc:3
          main at target.cc:5
    "#]]
    .assert_eq(&text(&explained));
    expect![[r#"
        terminate called after throwing an instance of 'std::out_of_range'
          what():  nothing there"#]]
    .assert_eq(&explained.report);
}

#[test]
fn a_program_without_names_still_has_a_kind_and_a_signature_of_its_own() {
    let program = build(TWO_CRASHES, &["-s"]);
    let (a, b) = (explain(&program, &args(&["a"])), explain(&program, &args(&["b"])));
    assert_eq!((a.kind.as_str(), a.stack.len()), ("null dereference", 0));
    assert_ne!(a.signature, b.signature);
}

#[test]
fn static_programs_tell_as_much() {
    let program = build(
        "#include <stdlib.h>
         __attribute__((noinline)) static void die(int n) { if (n) abort(); }
         int main(int n, char **v) { die(n); return 0; }",
        &["-static"],
    );
    expect![[r#"
        abort
        abort in die (target.c:2) < main
          die at target.c:2
          main at target.c:3
    "#]]
    .assert_eq(&text(&explain(&program, &Input::default())));
}

#[test]
fn a_program_that_is_not_ours_has_a_kind_and_no_stack() {
    let program =
        support::program("int main(int n, char **v) { *(volatile int *)(long)(n - 1) = 1; return 0; }");
    let explained = explain(&program, &Input::default());
    assert_eq!((explained.kind.as_str(), explained.stack.len()), ("SIGSEGV", 0));
    assert_eq!(explained.signature, "SIGSEGV");
}

#[test]
fn a_run_that_ends_otherwise_tells_no_stack() {
    let program = build("int main(void) { return 0; }", &[]);
    let ending = Ending::Signalled { signal: libc::SIGSEGV };
    let explained =
        explainer(&program, limits(SandboxLevel::Full)).explain(&Input::default(), &ending).unwrap();
    assert_eq!((explained.kind.as_str(), explained.stack.len()), ("SIGSEGV", 0));
}

#[test]
fn a_program_that_handles_its_signals_is_not_disturbed() {
    let program = build(
        "#include <signal.h>
         #include <unistd.h>
         static void caught(int s) { write(1, \"caught\", 6); _exit(7); }
         int main(void) { signal(SIGSEGV, caught); *(volatile int *)0 = 1; }",
        &[],
    );
    let ending = Ending::Exited { code: 7 };
    let explained =
        explainer(&program, limits(SandboxLevel::Full)).explain(&Input::default(), &ending).unwrap();
    assert_eq!((explained.kind.as_str(), explained.stack.len()), ("exit code 7", 0));
}

#[test]
fn what_a_program_says_about_its_stack_is_not_believed() {
    // The channel is found by its descriptor, and filled with nonsense before the program dies.
    let program = build(
        "#include <signal.h>
         #include <string.h>
         #include <sys/mman.h>
         #include <sys/stat.h>
         int main(void) {
           struct stat s;
           fstat(190, &s);
           char *all = mmap(0, s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, 190, 0);
           memset(all + 4096, 0x01, s.st_size - 4096);
           for (long i = 4096; i + 4 <= 4096 + 1024; i += 4) *(int *)(all + i) = 1;
           raise(9);
         }",
        &[],
    );
    let ending = Ending::Signalled { signal: libc::SIGKILL };
    let explained =
        explainer(&program, limits(SandboxLevel::Full)).explain(&Input::default(), &ending).unwrap();
    assert_eq!((explained.kind.as_str(), explained.stack.len()), ("SIGKILL", 0));
}

/// Compiles with sanitizers as a build of ours with them is.
fn explain_sanitized(program: &str, kinds: &str) -> String {
    let options = "const char *__asan_default_options(void) { return \"abort_on_error=1:symbolize=0:detect_leaks=0\"; }
         const char *__ubsan_default_options(void) { return \"abort_on_error=1:symbolize=0:print_stacktrace=1\"; }\n";
    let sanitize = format!("-fsanitize={kinds}");
    let flags = [sanitize.as_str(), "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-O1"];
    let program = build(&(program.to_owned() + "\n" + options), &flags);
    let config = FailureConfig { root: program.path.parent().unwrap().to_path_buf(), has_sanitizers: true };
    let run = RunConfig { memory_limit: 0, ..limits(SandboxLevel::Full) };
    let ending = Executor::new(target(&program), run.clone()).unwrap().run(&Input::default()).unwrap();
    let mut explainer = FailureExplainer::new(target(&program), run, config).unwrap();
    text(&explainer.explain(&Input::default(), &ending.outcome.ending).unwrap())
}

#[test]
fn address_sanitizer_is_understood() {
    expect![[r#"
        AddressSanitizer: heap-buffer-overflow
        AddressSanitizer: heap-buffer-overflow in last (target.c:3)
          last at target.c:3
    "#]]
    .assert_eq(&explain_sanitized(
        "#include <stdlib.h>
         #include <string.h>
         __attribute__((noinline)) static int last(char *p, int n) { return p[n]; }
         int main(int n, char **v) { char *p = malloc(7 + n); memset(p, 0, 7 + n); return last(p, 7 + n); }",
        "address",
    ));
    expect![[r#"
        AddressSanitizer: stack-buffer-overflow
        AddressSanitizer: stack-buffer-overflow in copy (target.c:2) < main
          copy at target.c:2
          main at target.c:3
    "#]].assert_eq(&explain_sanitized(
        "#include <string.h>
         __attribute__((noinline)) static void copy(char *to, const char *from, int n) { memcpy(to, from, n); }
         int main(int n, char **v) { char b[8], c[64] = {0}; copy(b, c, n * 20); return b[n]; }",
        "address",
    ));
}

#[test]
fn undefined_behavior_sanitizer_is_understood() {
    expect![[r#"
        UndefinedBehaviorSanitizer: signed integer overflow
        UndefinedBehaviorSanitizer: signed integer overflow in next (target.c:1)
          next at target.c:1
    "#]]
    .assert_eq(&explain_sanitized(
        "__attribute__((noinline)) static int next(int n) { return n + 1; }
         int main(int n, char **v) { return next(n * 0x7fffffff); }",
        "undefined",
    ));
}

#[test]
fn the_folder_of_a_program_need_not_be_open_to_everybody() {
    use std::os::unix::fs::PermissionsExt;
    let program = build(TWO_CRASHES, &[]);
    fs::set_permissions(program.folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let explained = explain(&program, &args(&["b"]));
    assert_eq!(explained.signature, "null dereference in second (target.c:3) < main");
    assert!(Path::new(&explained.stack[0].file.clone().unwrap()).is_relative());
}
