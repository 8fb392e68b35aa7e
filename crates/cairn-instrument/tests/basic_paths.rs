//! Which basic paths runs of the view take, as text, and whether they agree with coverage.

use cairn_model::{BasicPathId, Input, basic_paths::MOST_FROM_ONE_START, map::Branch};
use cairn_testkit::{BasicPathBuild, Workspace, fixture};
use expect_test::{Expect, expect};
use std::{collections::BTreeSet, fs, path::Path};

struct Program {
    build: BasicPathBuild,
    _workspace: Workspace,
}

impl Program {
    /// Builds one source file, `program.c` or `program.cpp`.
    fn new(file: &str, source: &str) -> Self {
        let workspace = Workspace::new();
        workspace.write(file, source);
        Self::compile(workspace, &[file])
    }

    fn c(source: &str) -> Self {
        Self::new("program.c", source)
    }

    fn compile(workspace: Workspace, files: &[&str]) -> Self {
        let is_cxx = files[0].ends_with(".cpp");
        let compiler = if is_cxx { "cairn-c++" } else { "cairn-cc" };
        workspace.run(compiler, files.iter().copied().chain(["-o", "program"])).success();
        Self { build: BasicPathBuild::of(&workspace.path("program")), _workspace: workspace }
    }

    /// Runs with each of these lists of arguments: the paths that are taken in all functions but `main`.
    #[track_caller]
    fn takes(&mut self, runs: &[&[&str]], expected: Expect) {
        let mut text = String::new();
        for arguments in runs {
            text += &format!("{arguments:?}\n");
            let args = arguments.iter().map(|argument| (*argument).into()).collect();
            for id in self.build.run(&Input { args, ..Input::default() }) {
                let line = self.build.paths.describe(&self.build.map, id);
                if !line.starts_with("main:") {
                    text += &format!("  {line}\n");
                }
            }
        }
        expected.assert_eq(&text);
    }
}

#[test]
fn no_turn_one_turn_and_more_are_told_apart() {
    let mut program = Program::c(
        "static int count(const char *text) {
  int n = 0;
  while (*text) {
    if (*text == 'x')
      n++;
    text++;
  }
  return n;
}
int main(int argc, char **argv) { return count(argv[1]); }",
    );
    program.takes(
        &[&[""], &["x"], &["a"], &["xa"], &["xx"], &["xaxa"]],
        expect![[r#"
        [""]
          count: *text false, returns
        ["x"]
          count: *text true, *text == 'x' true, again from line 3
          count: from line 3, *text false, returns
        ["a"]
          count: *text true, *text == 'x' false, again from line 3
          count: from line 3, *text false, returns
        ["xa"]
          count: *text true, *text == 'x' true, again from line 3
          count: from line 3, *text true, *text == 'x' false, again from line 3
          count: from line 3, *text false, returns
        ["xx"]
          count: *text true, *text == 'x' true, again from line 3
          count: from line 3, *text true, *text == 'x' true, again from line 3
          count: from line 3, *text false, returns
        ["xaxa"]
          count: *text true, *text == 'x' true, again from line 3
          count: from line 3, *text true, *text == 'x' true, again from line 3
          count: from line 3, *text true, *text == 'x' false, again from line 3
          count: from line 3, *text false, returns
    "#]],
    );
}

#[test]
fn labels_early_returns_and_exits_end_paths() {
    let mut program = Program::c(
        "#include <stdlib.h>
static int act(const char *text) {
  switch (*text) {
  case 'a':
    break;
  case 'b':
  case 'c':
    return 2;
  case 'd':
    exit(3);
  default:
    if (text[1] == '!')
      abort();
  }
  return 0;
}
int main(int argc, char **argv) { return act(argv[1]); }",
    );
    program.takes(
        &[&["a"], &["b"], &["c"], &["d"], &["e"], &["e!"]],
        expect![[r#"
        ["a"]
          act: case 'a', returns
        ["b"]
          act: case 'b', returns
        ["c"]
          act: case 'c', returns
        ["d"]
          act: case 'd', exits
        ["e"]
          act: default, text[1] == '!' false, returns
        ["e!"]
          act: default, text[1] == '!' true, exits
    "#]],
    );
}

#[test]
fn labels_without_code_lead_out_of_loops() {
    let mut program = Program::c(
        "static int skip(const char *text) {
  for (; *text; text++)
    switch (*text) {
    case ' ':
      break;
    case '#':
      return 1;
    }
  return 0;
}
int main(int argc, char **argv) { return skip(argv[1]); }",
    );
    program.takes(
        &[&["  "], &[" a#"]],
        expect![[r#"
        ["  "]
          skip: *text true, case ' ', again from line 2
          skip: from line 2, *text true, case ' ', again from line 2
          skip: from line 2, *text false, returns
        [" a#"]
          skip: *text true, case ' ', again from line 2
          skip: from line 2, *text true, (no case), again from line 2
          skip: from line 2, *text true, case '#', returns
    "#]],
    );
}

#[test]
fn recursion_keeps_a_number_for_each_call() {
    let mut program = Program::c(
        "static int sum(int n) {
  if (n <= 0)
    return 0;
  int rest = sum(n - 1);
  if (rest > 5)
    return rest;
  return rest + n;
}
int main(int argc, char **argv) { return sum(argc - 1); }",
    );
    program.takes(
        &[&[], &["a"], &["a", "b", "c", "d"]],
        expect![[r#"
        []
          sum: n <= 0 true, returns
        ["a"]
          sum: n <= 0 true, returns
          sum: n <= 0 false, rest > 5 false, returns
        ["a", "b", "c", "d"]
          sum: n <= 0 true, returns
          sum: n <= 0 false, rest > 5 true, returns
          sum: n <= 0 false, rest > 5 false, returns
    "#]],
    );
}

#[test]
fn a_function_that_is_left_in_a_call_has_not_ended_its_path() {
    let mut program = Program::c(
        "#include <setjmp.h>
#include <stdlib.h>
static jmp_buf place;
__attribute__((noinline)) static void leave(int how) {
  if (how == 1)
    exit(0);
  if (how == 2)
    longjmp(place, 1);
}
__attribute__((noinline)) static int middle(int how) {
  leave(how);
  return how;
}
static int outer(int how) {
  if (how == 0)
    return 0;
  if (setjmp(place))
    return 5;
  return middle(how);
}
int main(int argc, char **argv) { return outer(argc - 1); }",
    );
    program.takes(
        &[&["a"], &["a", "b"], &["a", "b", "c"]],
        expect![[r#"
        ["a"]
          leave: how == 1 true, exits
        ["a", "b"]
          leave: how == 1 false, how == 2 true, exits
          outer: how == 0 false, setjmp(place) true, returns
        ["a", "b", "c"]
          leave: how == 1 false, how == 2 false, returns
          middle: returns
          outer: how == 0 false, setjmp(place) false, returns
    "#]],
    );
}

#[test]
fn fourteen_conditions_in_a_row_are_two_paths_that_go_on_into_each_other() {
    let conditions: String = (0..14).map(|n| format!("  if (bits & 1u << {n})\n    n += {n};\n")).collect();
    let mut program = Program::c(&format!(
        "#include <stdlib.h>
static int many(unsigned bits) {{
  int n = 0;
{conditions}  return n;
}}
int main(int argc, char **argv) {{ return many(strtoul(argv[1], 0, 0)); }}"
    ));
    assert_eq!(program.build.paths.n_paths(), 2 * MOST_FROM_ONE_START + 1);
    program.takes(&[&["0x2001"]], expect![[r#"
        ["0x2001"]
          many: bits & 1u << 0 true, bits & 1u << 1 false, bits & 1u << 2 false, bits & 1u << 3 false, bits & 1u << 4 false, bits & 1u << 5 false, bits & 1u << 6 false, on from line 18
          many: from line 18, bits & 1u << 7 false, bits & 1u << 8 false, bits & 1u << 9 false, bits & 1u << 10 false, bits & 1u << 11 false, bits & 1u << 12 false, bits & 1u << 13 true, returns
    "#]]);
}

#[test]
fn exceptions_lead_from_a_call_to_what_catches_them() {
    let mut program = Program::new(
        "program.cpp",
        "#include <cstdlib>
struct Guard { bool on; ~Guard(); };
Guard::~Guard() {
  if (on)
    setenv(\"GUARD\", \"1\", 1);
}
static int check(int n) {
  if (n == 1)
    throw n;
  if (n == 2)
    throw 'c';
  return n;
}
static int guarded(int n) {
  Guard guard{n > 2};
  return check(n) + check(0);
}
static int tried(int n) {
  try {
    return guarded(n);
  } catch (int) {
    if (n > 7)
      return 8;
    return 9;
  }
}
int main(int argc, char **argv) {
  try {
    return tried(argc - 1);
  } catch (char) {
    return 10;
  }
}",
    );
    program.takes(
        &[&[], &["a"], &["a", "b"], &["a", "b", "c"]],
        expect![[r#"
            []
              check: n == 1 false, n == 2 false, returns
              tried: returns
              guarded: returns
              ~Guard: on false, returns
            ["a"]
              check: n == 1 true, exits
              tried: unwinds, n > 7 false, returns
              guarded: unwinds, exits
              ~Guard: on false, returns
            ["a", "b"]
              check: n == 1 false, n == 2 true, exits
              tried: unwinds, exits
              guarded: unwinds, exits
              ~Guard: on false, returns
            ["a", "b", "c"]
              check: n == 1 false, n == 2 false, returns
              tried: returns
              guarded: returns
              ~Guard: on true, returns
        "#]],
    );
}

#[test]
fn a_call_that_stands_for_the_return_is_counted_before() {
    let mut program = Program::c(
        "__attribute__((noinline)) static int odd(int n);
__attribute__((noinline)) static int even(int n) {
  if (n == 0)
    return 1;
  __attribute__((musttail)) return odd(n - 1);
}
static int odd(int n) {
  if (n == 0)
    return 0;
  __attribute__((musttail)) return even(n - 1);
}
int main(int argc, char **argv) { return even(argc); }",
    );
    program.takes(
        &[&[]],
        expect![[r#"
        []
          even: n == 0 false, returns
          odd: n == 0 true, returns
    "#]],
    );
}

#[test]
fn a_function_with_a_computed_goto_has_no_paths() {
    let mut program = Program::c(
        "static int run(const char *text) {
  static void *const ways[] = {&&again, &&end};
again:
  goto *ways[*text++ == 0];
end:
  return 1;
}
static int other(int n) { return n ? 1 : 2; }
int main(int argc, char **argv) { return run(argv[0]) + other(argc); }",
    );
    program.takes(
        &[&[]],
        expect![[r#"
        []
          other: returns
    "#]],
    );
}

/// Panics if a run of a fixture takes a path with a block or a branch that the plain view says was not taken; or, where
/// every function comes to its end, if a branch was taken that is on no path.
#[track_caller]
fn agrees_with_coverage(name: &str, all_end: bool) {
    let workspace = Workspace::of_fixture(name);
    let files = files(workspace.root());
    let is_source = |file: &&str| file.ends_with(".c") || file.ends_with(".cpp");
    let sources: Vec<&str> = files.iter().map(String::as_str).filter(is_source).collect();
    let mut program = Program::compile(workspace, &sources);
    let build = &mut program.build;
    let known: BTreeSet<Branch> =
        (0..build.paths.n_paths()).flat_map(|id| build.paths.branches(&build.map, BasicPathId(id))).collect();
    assert!(!known.is_empty(), "{name} has no branches");
    let inputs = fixture(name).join("inputs");
    for file in self::files(&inputs) {
        let content = fs::read(inputs.join(&file)).expect("inputs are readable");
        let input = Input { stdin: content.into(), ..Input::default() };
        let coverage = build.coverage(&input);
        let executed = coverage.executed_blocks(&build.map);
        let mut on_paths = BTreeSet::new();
        for id in build.run(&input) {
            let text = build.paths.describe(&build.map, id);
            let blocks = build.paths.path(id).blocks;
            assert!(blocks.iter().all(|block| executed[block.index()]), "{name} {file}: {text}");
            let branches = build.paths.branches(&build.map, id);
            assert!(
                branches.iter().all(|branch| coverage.covers(&build.map, *branch)),
                "{name} {file}: {text}"
            );
            on_paths.extend(branches);
        }
        if all_end {
            let taken: BTreeSet<Branch> =
                known.iter().copied().filter(|branch| coverage.covers(&build.map, *branch)).collect();
            assert_eq!(taken, on_paths, "{name} {file}");
        }
    }
}

/// The names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder exists").map(|entry| entry.expect("readable"));
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn paths_tell_of_the_branches_that_were_taken() {
    for name in [
        "condition_break",
        "condition_if",
        "condition_inline",
        "condition_large_range",
        "condition_loops",
        "condition_macro",
        "condition_switch",
        "condition_ternary",
        "condition_types",
        "condition_value",
        "event_recursion",
    ] {
        agrees_with_coverage(name, true);
    }
}

#[test]
fn nothing_is_told_of_what_was_not_taken() {
    // Functions are left in calls here, and not every edge of a split condition shows it.
    for name in [
        "condition_crash",
        "condition_cxx",
        "condition_exit",
        "condition_gnu",
        "condition_split",
        "event_exception",
        "event_longjmp",
    ] {
        agrees_with_coverage(name, false);
    }
}
