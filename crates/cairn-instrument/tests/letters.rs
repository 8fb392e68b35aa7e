//! `tolower` and `toupper` in views answer as the C library's functions do.

use cairn_instrument::emit;
use cairn_testkit::Workspace;
use inkwell::context::Context;

/// Builds the program once as clang does without optimisation and once as a view without counters. Panics unless both
/// print the same; returns the symbols that the view's object leaves to the C library.
#[track_caller]
fn undefined_symbols(source: &str) -> Vec<String> {
    let workspace = Workspace::new();
    workspace.write("program.c", source);
    let options = ["-O2", "-U__OPTIMIZE__", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm"];
    workspace.run("clang-19", options.into_iter().chain(["-o", "program.bc", "program.c"])).success();
    let context = Context::create();
    let module = emit::read(&context, &workspace.path("program.bc")).expect("clang writes bitcode");
    emit::write_object(&module, emit::Effort::Full, None, &workspace.path("program.o"))
        .expect("an object can be written");
    workspace.run("clang-19", ["-o", "view", "program.o"]).success();
    workspace.run("clang-19", ["-O0", "-fno-builtin", "-o", "plain", "program.c"]).success();
    let run = |program: &str| {
        let program = workspace.path(program).display().to_string();
        workspace.run(&program, [""; 0]).success().stdout
    };
    assert_eq!(run("view"), run("plain"));
    let listed = workspace.run("llvm-nm-19", ["-u", "-j", "program.o"]).success().stdout;
    listed.lines().map(str::to_owned).collect()
}

/// Prints what both say about everything near the table, whatever its ends.
const PRINT_ALL: &str = "
    #include <locale.h>
    #include <stdio.h>
    static void all(int (*lower)(int), int (*upper)(int)) {
      setlocale(LC_ALL, \"\");
      for (int c = -400; c < 700; c++) printf(\"%d %d\\n\", lower(c), upper(c));
      printf(\"%d %d\\n\", lower(-2147483647 - 1), upper(2147483647));
    }";

#[test]
fn calls_look_into_the_table() {
    let undefined = undefined_symbols(&format!(
        "#include <ctype.h>
        {PRINT_ALL}
        static int lower(int c) {{ return tolower(c); }}
        static int upper(int c) {{ return toupper(c); }}
        int main(void) {{ all(lower, upper); }}"
    ));
    assert!(undefined.iter().any(|symbol| symbol == "__ctype_tolower_loc"), "{undefined:?}");
    assert!(!undefined.iter().any(|symbol| symbol == "tolower" || symbol == "toupper"), "{undefined:?}");
}

#[test]
fn a_pointer_still_leads_to_the_function() {
    let undefined = undefined_symbols(&format!(
        "#include <ctype.h>
        {PRINT_ALL}
        int (*volatile lower)(int) = tolower, (*volatile upper)(int) = toupper;
        int main(void) {{ all(lower, upper); }}"
    ));
    assert!(undefined.iter().any(|symbol| symbol == "tolower"), "{undefined:?}");
}

#[test]
fn a_program_keeps_its_own() {
    let undefined = undefined_symbols(&format!(
        "{PRINT_ALL}
        __attribute__((noinline)) int tolower(int c) {{ return c * 3u; }}
        int toupper(int);
        static int lower(int c) {{ return tolower(c); }}
        static int upper(int c) {{ return toupper(c); }}
        int main(void) {{ all(lower, upper); }}"
    ));
    assert!(!undefined.iter().any(|symbol| symbol == "__ctype_tolower_loc"), "{undefined:?}");
}
