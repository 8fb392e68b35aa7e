//! Traces that must not be wrong: what is read, moved or interrupted in ways that are not followed loses its labels, ends the
//! trace with a reason, or is named.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;

/// The trace of a program that was written for this test.
struct Traced {
    workspace: Workspace,
    report: Value,
}

impl Traced {
    /// Compiles a program and traces it on an input.
    #[track_caller]
    fn new(text: &str, input: &str) -> Self {
        Self::of(Workspace::new(), "target.c", text, input)
    }

    #[track_caller]
    fn of(workspace: Workspace, name: &str, text: &str, input: &str) -> Self {
        workspace.write(name, text.trim_start());
        let input_name = if input.starts_with('{') { "start.json" } else { "start" };
        workspace.write(input_name, input);
        let compiler = if name.ends_with(".cc") { "cairn-c++" } else { "cairn-cc" };
        workspace.run(compiler, ["-O1", name, "-o", "program"]).success();
        let ran = workspace.run("cairn", ["trace", "./program", input_name, "--json"]);
        let report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
        assert_eq!(report["n_disagreements"], 0, "{ran}");
        Self { workspace, report }
    }

    /// What had to hold for each evaluation of a condition, by its text.
    fn conditions(&self) -> Vec<(String, String)> {
        let events = self.report["events"].as_array().expect("a list");
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or("-").to_owned();
        events.iter().map(|event| (text(event, "text"), text(event, "holds"))).collect()
    }

    /// Whether these are the texts of the conditions that depend on the input.
    #[track_caller]
    fn depend(&self, expected: &[&str]) {
        let conditions = self.conditions();
        let texts: Vec<&str> = conditions.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, expected, "{conditions:?}");
    }

    #[track_caller]
    fn is_cut(&self, reason: &str) {
        assert_eq!(self.report["whole"], false);
        assert_eq!(self.report["cut"], reason);
    }

    #[track_caller]
    fn is_whole(&self) {
        assert_eq!((&self.report["whole"], &self.report["cut"]), (&Value::Bool(true), &Value::Null));
    }

    /// The functions that are named as not followed.
    fn named(&self) -> Vec<&str> {
        let list = self.report["unmodelled"].as_array().expect("a list");
        list.iter().map(|entry| entry[0].as_str().expect("a name")).collect()
    }

    fn solve(&self, line: &str) -> Ran {
        self.workspace.run("cairn", ["solve", "./program", "start", "--branch", line])
    }
}

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
fn a_file_that_the_program_has_written_is_no_input() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

static int first(const char *path) {
  FILE *file = fopen(path, "r");
  int c = fgetc(file);
  fclose(file);
  return c;
}

int main(int argc, char **argv) {
  (void)argc;
  if (first(argv[1]) == 'x')
    return 1;
  FILE *file = fopen(argv[1], "w");
  fputs("hello", file);
  fclose(file);
  if (first(argv[1]) != 'h')
    return 2;
  return 0;
}
"#,
        r#"{ "args": ["in"], "files": [{ "path": "in", "kind": { "regular": "hello" } }] }"#,
    );
    traced.is_whole();
    traced.depend(&["first(argv[1]) == 'x'"]);
    assert_eq!(traced.named(), ["(reading a file that it has changed)"]);
}

#[test]
fn a_new_file_with_the_number_of_an_old_one_is_no_input() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argc;
  char line[32] = "";
  unlink(argv[1]);
  FILE *file = fopen("new", "w+");
  fputs("hello", file);
  rewind(file);
  if (!fgets(line, sizeof line, file) || line[0] != 'h')
    return 2;
  return 0;
}
"#,
        r#"{ "args": ["in"], "files": [{ "path": "in", "kind": { "regular": "hello" } }] }"#,
    );
    traced.depend(&[]);
}

#[test]
fn what_is_pushed_back_is_what_comes_next() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  int first = getchar();
  ungetc('Q', stdin);
  if (getchar() != 'Q')
    return 1;
  ungetc('a', stdin);
  if (getchar() != 'a')
    return 2;
  ungetc(first, stdin);
  if (getchar() == 'x')
    return 3;
  if (getchar() == 'y')
    return 4;
  return 0;
}
"#,
        "abc",
    );
    traced.is_whole();
    let conditions = traced.conditions();
    let held: Vec<&str> = conditions.iter().map(|(_, held)| held.as_str()).collect();
    assert_eq!(held, ["stdin[0] != 'x'", "stdin[1] != 'y'"]);
}

#[test]
fn only_what_a_stream_gave_can_be_its_end() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

__attribute__((noinline)) static int is_end(int c) {
  if (c == EOF)
    return 1;
  return 0;
}

int main(void) {
  unsigned char bytes[2];
  if (is_end(getchar()))
    return 1;
  if (fread(bytes, 1, 2, stdin) != 2 || is_end(bytes[0]))
    return 2;
  return 0;
}
"#,
        "abc",
    );
    let conditions = traced.conditions();
    let held: Vec<&str> =
        conditions.iter().filter(|(text, _)| text == "c == EOF").map(|(_, held)| held.as_str()).collect();
    assert_eq!(held, ["stdin-stat[0..8] != 0", "true"]);
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
    traced.depend(&["byte == 'x'"]);
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
fn a_line_that_ended_makes_nothing_impossible() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  char line[16];
  if (!fgets(line, sizeof line, stdin))
    return 1;
  return line[1] == '\n' ? 7 : 0;
}
"#,
        "aaaa",
    );
    let solve = traced.solve("target.c:7:true").success();
    assert!(solve.stdout.contains("without what was fixed on the way"), "{solve}");
    assert!(solve.stdout.contains("exits with 7"), "{solve}");
}

#[test]
fn a_line_that_came_could_have_been_missing() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  char line[16];
  char *first = fgets(line, sizeof line, stdin);
  if (!first || first[0] != 'a')
    return 1;
  return fgets(line, sizeof line, stdin) ? 0 : 7;
}
"#,
        "a\na\n",
    );
    traced.depend(&["!first", "first[0] != 'a'", "fgets(line, sizeof line, stdin)"]);
    let solve = traced.solve("target.c:8:false").success();
    assert!(!solve.stdout.contains("without what was fixed on the way"), "{solve}");
    assert!(solve.stdout.contains("exits with 7"), "{solve}");
}

#[test]
fn the_last_line_could_be_another() {
    let traced = Traced::new(
        r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  char *line = NULL;
  size_t room = 0;
  int n_lines = 0, length;
  while ((length = getline(&line, &room, stdin)) > 0) {
    n_lines++;
    if (line[length - 1] != '\n')
      break;
  }
  return n_lines;
}
"#,
        "a\na\n",
    );
    traced.depend(&[
        "(length = getline(&line, &room, stdin)) > 0",
        "line[length - 1] != '\\n'",
        "(length = getline(&line, &room, stdin)) > 0",
        "line[length - 1] != '\\n'",
        "(length = getline(&line, &room, stdin)) > 0",
    ]);
    let solve = traced
        .workspace
        .run("cairn", ["solve", "./program", "start", "--branch", "target.c:9:false", "--occurrence", "1"]);
    assert!(solve.stdout.contains("exits with 0"), "{solve}");
}

#[test]
fn the_end_of_a_file_is_met_once() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  char bytes[64];
  int total = 0;
  for (;;) {
    int count = fread(bytes + total, 1, 32, stdin);
    if (count == 0)
      return total;
    total += count;
  }
}
"#,
        "aaaaa",
    );
    traced.depend(&["count == 0"]);
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
    traced.depend(&["argv[1][0] == 'a'"]);
    assert_eq!(traced.report["n_concrete_addresses"], 0);
}

#[test]
fn a_file_that_was_read_stays_a_file() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <sys/stat.h>

int main(void) {
  struct stat status;
  FILE *file = fopen("f", "r");
  if (!file || getc(file) == EOF || fstat(fileno(file), &status) != 0)
    return 1;
  return S_ISREG(status.st_mode) ? 0 : 7;
}
"#,
        r#"{"files": [{"path": "f", "kind": {"regular": "abc"}}]}"#,
    );
    let solve =
        traced.workspace.run("cairn", ["solve", "./program", "start.json", "--branch", "target.c:9:false"]);
    assert!(solve.stdout.contains("no input takes the same way"), "{solve}");
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
fn how_much_is_filled_is_a_condition() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <string.h>

static char buffer[64];

int main(void) {
  unsigned length = getchar() & 31;
  memset(buffer, 1, length);
  if (buffer[20] == 1)
    return 1;
  if (length == 7)
    return 7;
  return 0;
}
"#,
        "aaa",
    );
    let all = traced.workspace.run("cairn", ["trace", "./program", "start", "--all"]).success();
    assert!(all.stdout.contains("stdin[0].bits(0..5) == 1"), "{all}");
    let solve = traced.solve("target.c:11:true").success();
    assert!(solve.stdout.contains("exits with 7"), "{solve}");
}

#[test]
fn only_functions_that_were_given_input_are_named() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  char *line = malloc(8);
  if (!fgets(line, 8, stdin))
    return 1;
  if (line[0] == 'x')
    return 2;
  srand(line[1]);
  puts("done");
  free(line);
  return 0;
}
"#,
        "abc",
    );
    assert_eq!(traced.named(), ["srand"]);
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
fn what_assembly_computes_depends_on_its_operands() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  int byte = getchar();
  int sum;
  __asm__("movl %1, %0; addl $1, %0" : "=r"(sum) : "r"(byte));
  if (sum == 6)
    return 1;
  return 0;
}
"#,
        "a",
    );
    traced.depend(&["sum == 6"]);
    assert_eq!(traced.report["events"][0]["holds"], "!(opaque(0x62) == 6)");
    let trace = traced.workspace.run("cairn", ["trace", "./program", "start", "--taint"]).success();
    assert!(trace.stdout.contains("<- stdin[0]"), "{trace}");
}

#[test]
fn each_line_may_have_another_length_until_something_else_of_it_is_looked_at() {
    let traced = Traced::new(
        r#"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  int sum = 0;
  while ((length = getline(&line, &capacity, stdin)) > 0) {
    if (length > 90)
      sum += 1;
    if (length == 5)
      sum += 10;
    if (line[0] == '#')
      sum += 100;
  }
  return sum;
}
"#,
        "abc\nde\nf",
    );
    traced.is_whole();
    let once =
        ["(length = getline(&line, &capacity, stdin)) > 0", "length > 90", "length == 5", "line[0] == '#'"];
    traced.depend(&[&once[..], &once[..], &once[..], &once[..1]].concat());
    let exits_with = |branch: &str, occurrence: &str, code: u32| {
        let arguments = ["solve", "./program", "start", "--branch", branch, "--occurrence", occurrence];
        let solve = traced.workspace.run("cairn", arguments).success();
        assert!(solve.stdout.contains(&format!("exits with {code}\n")), "{solve}");
    };
    exits_with("target.c:12:true", "1", 10);
    exits_with("target.c:12:true", "3", 10);
    exits_with("target.c:10:true", "2", 1);
    exits_with("target.c:14:true", "2", 100);
}

#[test]
fn what_is_not_followed_depends_on_the_bytes_it_is_given_pointers_to() {
    let traced = Traced::new(
        r#"
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static char kept[16];

int main(void) {
  char text[16], path[32] = "in/";
  if (fread(text, 1, 4, stdin) != 4)
    return 1;
  text[4] = '\0';
  memcpy(kept, text + 1, 2);
  memcpy(path + 3, text, 3);
  int found = 0;
  if (fnmatch("a*", text, 0) == 0)
    found += 1;
  if (fnmatch("a*", kept, 0) == 0)
    found += 2;
  if (fnmatch("in/a*", path, 0) == 0)
    found += 4;
  if (fwrite(text, 1, 4, stdout) != 4)
    found += 8;
  return found;
}
"#,
        "abcd",
    );
    traced.is_whole();
    let matches = [
        "fnmatch(\"a*\", text, 0) == 0",
        "fnmatch(\"a*\", kept, 0) == 0",
        "fnmatch(\"in/a*\", path, 0) == 0",
    ];
    traced.depend(&[&["fread(text, 1, 4, stdin) != 4"], &matches[..]].concat());
    assert_eq!(traced.named(), ["fnmatch", "fwrite"]);
    let trace = traced.workspace.run("cairn", ["trace", "./program", "start", "--taint", "--json"]);
    let report: Value = serde_json::from_str(&trace.stdout).expect("a report is JSON");
    let taint = |event: usize| report["events"][event]["taint"].clone();
    assert_eq!(taint(1), serde_json::json!(["stdin[0..4]"]), "{trace}");
    assert_eq!(taint(2), serde_json::json!(["stdin[1..3]"]), "{trace}");
    assert_eq!(taint(3), serde_json::json!(["stdin[0..3]"]), "{trace}");
}

#[test]
fn characters_that_are_not_ascii_are_named() {
    let text = r#"
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

int main(void) {
  setlocale(LC_ALL, "C.UTF-8");
  wint_t first = fgetwc(stdin), second = getwc(stdin);
  if (first == L'x')
    return 1;
  if (second == L'y')
    return 2;
  return getwchar() == WEOF;
}
"#;
    let traced = Traced::new(text, "a\u{e4}");
    traced.is_whole();
    traced.depend(&["first == L'x'"]);
    assert_eq!(traced.named(), ["fgetwc"]);
    let traced = Traced::new(text, "ab");
    traced.depend(&["first == L'x'", "second == L'y'"]);
    assert!(traced.named().is_empty());
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
