//! What is not followed: it is named, and what comes of it depends on what it was given.

use crate::traced::Traced;
use cairn_testkit::Workspace;
use serde_json::Value;

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
fn bytes_that_are_no_characters_are_named() {
    let text = r#"
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

int main(void) {
  setlocale(LC_ALL, "C.UTF-8");
  wchar_t line[8];
  if (getwchar() == WEOF)
    return 1;
  if (!fgetws(line, 8, stdin))
    return 2;
  return 0;
}
"#;
    assert_eq!(Traced::new(text, b"\xff").named(), ["getwchar"]);
    assert_eq!(Traced::new(text, b"a\xff").named(), ["fgetws"]);
    assert!(Traced::new(text, b"a").named().is_empty());
}

#[test]
fn a_pointer_into_a_variable_leads_to_what_is_left_of_it() {
    let traced = Traced::new(
        r#"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
  char name[8];
  char other[8];
} record = {"name", "other"};

int main(void) {
  volatile int one = 1;
  char text[16] = "say ";
  if (fread(text + 6, 1, 4, stdin) != 4)
    return 9;
  text[4] = text[5] = '-';
  record.other[0] = text[6];
  if (fnmatch("a*", &text[4], 0) == 0)
    return 1;
  if (fnmatch("a*", &text[10 * one], 0) == 0)
    return 2;
  if (fnmatch("n*", record.name + 4, 0) == 0)
    return 3;
  return 0;
}
"#,
        "abcd",
    );
    traced.depend(&[
        "fread(text + 6, 1, 4, stdin) != 4",
        "fnmatch(\"a*\", &text[4], 0) == 0",
        "fnmatch(\"n*\", record.name + 4, 0) == 0",
    ]);
    assert_eq!(traced.named(), ["fnmatch"]);
}

#[test]
fn functions_that_are_called_through_pointers_are_named() {
    let text = r#"
#include <fnmatch.h>
#include <stdio.h>

static int equal(const char *one, const char *other, int flags) { return *one == *other ? flags : 1; }

typedef int (*compare)(const char *, const char *, int);
compare volatile choices[] = {equal, fnmatch};

int main(void) {
  char text[4] = "";
  if (fread(text, 1, 3, stdin) != 3)
    return 9;
  if (choices[text[0] == 'f']("b", text + 1, 0) == 0)
    return 1;
  return 0;
}
"#;
    assert_eq!(Traced::new(text, "fab").named(), ["fnmatch"]);
    assert!(Traced::new(text, "eab").named().is_empty());
}

#[test]
fn streams_of_cxx_are_named() {
    let text = r#"
#include <iostream>

int main() {
  int number = 0;
  std::cin >> number;
  return number == 42;
}
"#;
    let traced = Traced::of(Workspace::new(), "target.cc", text, "41\n");
    assert_eq!(traced.named(), ["(reading standard input in ways that are not followed)"]);
    let nobody = text.replace("std::cin >> number;", "");
    assert!(Traced::of(Workspace::new(), "target.cc", &nobody, "41\n").named().is_empty());
}

#[test]
fn short_strings_of_cxx_are_given_with_their_objects() {
    let traced = Traced::of(
        Workspace::new(),
        "target.cc",
        r#"
#include <cstdio>
#include <string>

int main() {
  char bytes[8];
  if (fread(bytes, 1, 8, stdin) != 8)
    return 9;
  std::string text(bytes, 8);
  return text == "abcdefgh" ? 1 : 0;
}
"#,
        "AAAAAAAA",
    );
    let named = traced.named();
    assert!(named.iter().any(|name| name.contains("compare")), "{named:?}");
    assert!(!named.iter().any(|name| name.starts_with("_Zd")), "{named:?}");
}

#[test]
fn digits_of_floating_point_numbers_are_named() {
    let text = r#"
#include <stdio.h>
#include <string.h>

int main(void) {
  char text[20];
  snprintf(text, sizeof text, "%.2f", (double)getchar());
  return strcmp(text, "70.00") == 0;
}
"#;
    assert_eq!(Traced::new(text, "A").named(), ["sprintf"]);
    let constant = text.replace("getchar()", "70");
    assert!(Traced::new(&constant, "A").named().is_empty());
}
