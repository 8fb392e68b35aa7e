//! Traces that must not be wrong: what is read, moved or interrupted in ways that are not followed loses its labels, ends the
//! trace with a reason, or is named.

#[path = "traces/files.rs"]
mod files;
#[path = "traces/named.rs"]
mod named;
#[path = "traces/traced.rs"]
mod traced;

use cairn_testkit::Workspace;
use serde_json::Value;
use traced::Traced;

#[test]
fn memory_that_shares_a_shadow_ends_the_trace() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char *map(unsigned long place) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return mmap((void *)place, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
}

int main(void) {
  char *one = map(0x200000000000);
  if (read(0, one, 1) == 1 && one[0] == 'k')
    return 1;
  volatile char *other = map(0x200000000000 + (1ul << 42));
  other[0] = 'a';
  if (other[0] != 'a')
    return 2;
  return 0;
}
"#,
        "a",
    );
    traced.is_cut("two parts of its memory share a place in the shadow");
    traced.depend(&["read(0, one, 1) == 1", "one[0] == 'k'"]);
}

#[test]
fn only_what_comes_from_the_input_has_labels() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
  char bytes[4];
  int ends[2];
  volatile char *seen = bytes;
  struct iovec places[2] = {{bytes, 1}, {bytes + 1, 1}};
  if (pipe(ends) != 0 || write(ends[1], "a", 1) != 1)
    return 9;
  readv(0, places, 2);
  if (seen[0] == 'k')
    return 1;
  if (seen[1] == 'l')
    return 2;
  readv(ends[0], places, 1);
  if (seen[0] != 'a')
    return 3;
  if (seen[1] == 'm')
    return 4;
  return 0;
}
"#,
        "abc",
    );
    traced.is_whole();
    traced.depend(&["seen[0] == 'k'", "seen[1] == 'l'", "seen[1] == 'm'"]);
}

#[test]
fn variable_arguments_in_memory_have_no_labels_of_an_earlier_call() {
    let traced = Traced::new(
        r#"
#include <stdarg.h>
#include <stdio.h>

__attribute__((noinline)) static int last(int n, ...) {
  va_list list;
  int value = 0;
  va_start(list, n);
  for (int i = 0; i < n; i++)
    value = va_arg(list, int);
  va_end(list);
  return value;
}

int main(void) {
  int c = getchar();
  volatile int seen[2];
  seen[0] = last(9, 1, 2, 3, 4, 5, 6, 7, 8, c);
  seen[1] = last(9, 1, 2, 3, 4, 5, 6, 7, 8, 'a');
  if (seen[0] == 9)
    return 1;
  if (seen[1] != 'a')
    return 2;
  return 0;
}
"#,
        "a",
    );
    traced.is_whole();
    traced.depend(&["seen[0] == 9"]);
}

#[test]
fn signals_that_come_by_themselves_disturb_nothing() {
    let traced = Traced::new(
        r#"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile unsigned char byte;
static volatile int n;

__attribute__((noinline)) static int mix(int x, int y) { return x * 5 - y; }

static void handle(int number) {
  if (mix(byte, n) == -number - 77777)
    puts("never");
  n++;
}

int main(void) {
  byte = getchar();
  signal(SIGALRM, handle);
  struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; n < 20 || i < 2000; i++)
    if (mix(i, byte) == 999999999)
      puts("never");
  setitimer(ITIMER_REAL, &never, NULL);
  if (byte == 9)
    return 9;
  return 0;
}
"#,
        "a",
    );
    traced.is_whole();
    assert_eq!(traced.named(), ["(signal handler)"]);
    let conditions = traced.conditions();
    assert_eq!(conditions.last(), Some(&("byte == 9".into(), "stdin[0] != 9".into())));
    assert!(conditions.iter().all(|(text, _)| !text.contains("77777")), "{conditions:?}");
}

#[test]
fn a_handler_that_never_returns_ends_the_trace() {
    let traced = Traced::new(
        r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigjmp_buf back;
static void handle(int number) { siglongjmp(back, number); }

int main(void) {
  volatile int c = getchar();
  if (c == 'x')
    return 1;
  signal(SIGALRM, handle);
  if (sigsetjmp(back, 1) == 0) {
    alarm(1);
    for (;;)
      pause();
  }
  if (c == 'y')
    return 2;
  return 0;
}
"#,
        "a",
    );
    traced.is_cut("a signal interrupted the program, and its handler did not return");
    traced.depend(&["c == 'x'"]);
}

#[test]
fn a_handler_that_the_program_calls_for_is_followed() {
    let traced = Traced::new(
        r#"
#include <signal.h>
#include <stdio.h>

static volatile unsigned char byte;
static void handle(int number) {
  if (byte == number + 'q')
    puts("found");
}

int main(void) {
  byte = getchar();
  signal(SIGUSR1, handle);
  void (*volatile again)(int) = handle;
  again(byte);
  raise(SIGUSR1);
  return 0;
}
"#,
        "a",
    );
    traced.is_whole();
    // The number that the kernel passes is not the one of the call before.
    let held = traced.conditions();
    assert_eq!(held[1], ("byte == number + 'q'".into(), "stdin[0] != '{'".into()), "{held:?}");
}

#[test]
fn threads_of_all_kinds_end_the_trace() {
    let reason = "the program started a thread, which symbolic runs do not follow";
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <threads.h>

static int nothing(void *argument) { return argument != NULL; }

int main(void) {
  thrd_t thread;
  if (getchar() == 'x' || thrd_create(&thread, nothing, NULL) != thrd_success)
    return 1;
  thrd_join(thread, NULL);
  if (getchar() == 'y')
    return 2;
  return 0;
}
"#,
        "ab",
    );
    traced.is_cut(reason);
    traced.depend(&["getchar() == 'x'"]);
    let traced = Traced::of(
        Workspace::new(),
        "target.cc",
        r#"
#include <cstdio>
#include <thread>

int main() {
  if (getchar() == 'x')
    return 1;
  std::thread thread([] {});
  thread.join();
  if (getchar() == 'y')
    return 2;
  return 0;
}
"#,
        "ab",
    );
    traced.is_cut(reason);
    traced.depend(&["getchar() == 'x'"]);
}

#[test]
fn a_program_that_starts_itself_anew_ends_the_trace() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char byte = 0;
  lseek(0, 0, SEEK_SET);
  read(0, &byte, 1);
  if (argc > 1 && strcmp(argv[1], "again") == 0)
    return byte == 'y' ? 2 : 0;
  if (byte == 'x')
    return 1;
  execl("/proc/self/exe", "program", "again", (char *)NULL);
  return 2;
}
"#,
        "a",
    );
    traced.is_cut("the program replaced itself by another");
    traced.depend(&["argc > 1", "byte == 'x'"]);
}

#[test]
fn an_address_that_was_fixed_makes_nothing_impossible() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  static unsigned char squares[256];
  for (int i = 0; i < 256; i++)
    squares[i] = i * i;
  unsigned char byte = getchar();
  if (squares[byte] == 9)
    return 1;
  if (byte == 7)
    puts("seven");
  if (squares[byte] + byte == 200)
    puts("both");
  return 0;
}
"#,
        "aaa",
    );
    let solve = traced.solve("target.c:10:true").success();
    assert!(solve.stdout.contains("without what was fixed on the way: stdin[0]=0x07"), "{solve}");
    let solve = traced.solve("target.c:12:true").exits_with(8);
    assert!(solve.stdout.contains("unknown: values were fixed on the way (1 address)"), "{solve}");
}

#[test]
fn counters_are_nothing_the_program_looks_into() {
    // The compiler counts both ways of the last condition in one place, at an address that depends on it.
    let traced = Traced::new(
        r#"
int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] == 'a')
    return 7;
  return 0;
}
"#,
        r#"{"args": ["x"]}"#,
    );
    traced.depend(&["argc > 1", "argv[1][0] == 'a'"]);
    assert_eq!(traced.report["n_concrete_addresses"], 0);
}

#[test]
fn letters_of_a_pattern_stay_letters() {
    let traced = Traced::new(
        r#"
#include <regex.h>
#include <stdio.h>

int main(int argc, char **argv) {
  regex_t compiled;
  if (argc < 2 || regcomp(&compiled, argv[1], REG_EXTENDED) != 0)
    return 1;
  if (argv[1][0] == '(')
    return 2;
  if (argv[1][0] == 'q')
    return 7;
  return 0;
}
"#,
        r#"{"args": ["a(b)"]}"#,
    );
    let solve = |branch: &str| {
        traced.workspace.run("cairn", ["solve", "./program", "start.json", "--branch", branch])
    };
    let parenthesis = solve("target.c:8:true");
    assert!(!parenthesis.stdout.contains("exits with 2"), "{parenthesis}");
    let letter = solve("target.c:10:true").success();
    assert!(letter.stdout.contains("exits with 7"), "{letter}");
}

#[test]
fn words_stay_options_or_none() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int option, n_options = 0;
  while ((option = getopt(argc, argv, "ab:")) > 0)
    n_options++;
  if (n_options != 2 || optind >= argc)
    return 1;
  if (argv[optind][0] == '-')
    return 7;
  return 0;
}
"#,
        r#"{"args": ["-a", "name", "-bx"]}"#,
    );
    let solve =
        traced.workspace.run("cairn", ["solve", "./program", "start.json", "--branch", "target.c:10:true"]);
    assert!(solve.stdout.contains("exits with 7"), "{solve}");
    assert!(solve.stdout.contains(r#"args: ["-a", "-", "-bx"]"#), "{solve}");
}

#[test]
fn an_argument_grows_to_what_it_is_compared_with() {
    let traced = Traced::new(
        r#"
#include <string.h>

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--magic") == 0)
    return 7;
  return 0;
}
"#,
        r#"{"args": ["x"]}"#,
    );
    let solve =
        traced.workspace.run("cairn", ["solve", "./program", "start.json", "--branch", "target.c:4:19:true"]);
    assert!(solve.stdout.contains("1 question"), "{solve}");
    assert!(solve.stdout.contains("exits with 7"), "{solve}");
}

#[test]
fn a_string_may_go_on_where_it_ended() {
    // The byte that ends the string is computed; what lies behind it is not of the input.
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <string.h>

int main(void) {
  char text[8] = "?ab";
  text[0] = getchar() - 'a';
  if (strlen(text) == 3)
    return 3;
  return 0;
}
"#,
        "a",
    );
    let all = traced.workspace.run("cairn", ["trace", "./program", "start", "--all"]).success();
    assert!(all.stdout.contains("stdin[0] == 'a'"), "{all}");
    let solve = traced.solve("target.c:7:true");
    assert!(!solve.stdout.contains("no input takes the same way"), "{solve}");
}

#[test]
fn a_long_trace_is_shown_in_part() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  int n = 0, c = getchar();
  for (volatile int i = 0; i < 100; i++)
    n += c == 'x' + i;
  return n;
}
"#,
        "a",
    );
    let part = ["trace", "./program", "start", "--all", "--limit", "3"];
    let trace = traced.workspace.run("cairn", part).success();
    let shown: Vec<&str> = trace.stdout.lines().skip(3).collect();
    assert_eq!(shown.len(), 4, "{trace}");
    assert!(shown[3].contains("more events; `--limit "), "{trace}");
    let part = traced.workspace.run("cairn", [&part[..], &["--json"]].concat()).success();
    let report: Value = serde_json::from_str(&part.stdout).expect("a report is JSON");
    assert_eq!(report["events"].as_array().map(Vec::len), Some(3));
    assert!(report["n_left_out"].as_u64() > Some(90), "{}", report["n_left_out"]);
}

#[test]
fn a_run_that_leaves_too_much_is_told_in_part_and_says_so() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  int c = getchar(), n = 0;
  for (volatile int i = 0; i < 2200000; i++)
    n += c == 'x' ? 2 : 1;
  return n == 3;
}
"#,
        "a",
    );
    traced.is_cut("there is no room for more records");
    assert_eq!(traced.report["events"].as_array().map(Vec::len), Some(10_000));
    assert!(traced.report["n_left_out"].as_u64() > Some(2_000_000));
    let trace = traced.workspace.run("cairn", ["trace", "./program", "start", "--limit", "1"]).success();
    let warning = "warning: the trace ends before the run: there is no room for more records\n";
    assert_eq!(trace.stderr, warning, "{trace}");

    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  unsigned c = getchar();
  int is_small = c < 10;
  for (int i = 0; i < 5000000; i++)
    c = c * 5 + 1;
  if (is_small)
    return 1;
  return c == 7;
}
"#,
        "a",
    );
    traced.is_cut("there is no room for more expressions");
}

#[test]
fn another_number_of_arguments_than_getopt_saw_is_not_called_impossible() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc == 7)
    return 1;
  while (getopt(argc, argv, "ab:") != -1) {
  }
  if (argc - optind == 3)
    return 2;
  if (argv[1][0] * argv[1][0] == 3)
    return 3;
  return 0;
}
"#,
        r#"{"args": ["x"]}"#,
    );
    let solve =
        |line: &str| traced.workspace.run("cairn", ["solve", "./program", "start.json", "--branch", line]);
    solve("target.c:5:true").success();
    let after = solve("target.c:9:true").exits_with(8);
    assert!(
        after.stdout.contains("values were fixed on the way (1 decision of library functions)"),
        "{after}"
    );
    let never = solve("target.c:11:true").exits_with(8);
    assert!(never.stdout.contains("no input takes the same way and decides otherwise here"), "{never}");
}
