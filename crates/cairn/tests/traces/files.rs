//! Files and their lines: what was read, what could be read instead, and what is no input.

use crate::traced::Traced;

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
fn a_buffer_that_was_filled_stays_full() {
    let traced = Traced::new(
        r#"
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  static char buffer[600];
  struct stat status;
  if (read(0, buffer, 600) != 600 || fstat(0, &status) != 0)
    return 9;
  if (status.st_size < 500)
    return 2;
  if (status.st_size < 700)
    return 3;
  return 0;
}
"#,
        "a".repeat(1000),
    );
    traced.depend(&["status.st_size < 500", "status.st_size < 700"]);
    let solve = traced.solve("target.c:11:true").success();
    assert!(!solve.stdout.contains("without what was fixed on the way"), "{solve}");
    assert!(solve.stdout.contains("exits with 3"), "{solve}");
    let solve = traced.solve("target.c:9:true");
    assert!(solve.stdout.contains("without what was fixed on the way"), "{solve}");
}

#[test]
fn a_read_after_the_end_depends_on_nothing_however_much_it_wants() {
    let traced = Traced::new(
        r#"
#include <stdio.h>

int main(void) {
  static char text[100];
  size_t length = fread(text, 1, sizeof text, stdin);
  if (fread(text + length, 1, sizeof text - length, stdin) == 0)
    return 1;
  return 0;
}
"#,
        "abc",
    );
    traced.depend(&[]);
}
