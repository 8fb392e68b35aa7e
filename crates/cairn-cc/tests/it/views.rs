//! Views are linked from the record alone.

use crate::project::{MAIN, Project, TWICE};
use cairn_cc::views::{Alone, ViewError, ViewRequest, build_alone, build_views};
use cairn_model::{MutantTable, versioned};
use std::fs;

fn run(program: &std::path::Path) -> String {
    let output = std::process::Command::new(program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn views_run_after_the_build_folder_was_cleaned_and_are_built_once() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    project.write("native.c", "int native_part(void) { return 0; }\n");
    project.sh("cairn-cc -O2 -c main.c twice.c && clang-19 -c native.c && ar rcs libtwice.a twice.o && \
                cairn-cc main.o native.o -L. -ltwice -o prog && rm -f *.o *.a");
    let settings = project.settings();
    let record = project.record("prog");
    let views = build_views(&settings, &record, &ViewRequest::default()).unwrap();
    assert!(!views.was_cached);
    assert_eq!(run(&views.bare), "2\n");
    assert_eq!(run(&views.plain), "2\n");
    assert!(views.map.is_file() && views.path.is_none());
    assert!(views.warnings[0].contains("`native.o`"), "{:?}", views.warnings);

    let again = build_views(&settings, &record, &ViewRequest::default()).unwrap();
    assert!(again.was_cached);
    assert_eq!(again.folder, views.folder);

    let with_path = ViewRequest { with_path: true, ..ViewRequest::default() };
    let views = build_views(&settings, &record, &with_path).unwrap();
    assert!(!views.was_cached);
    assert_eq!(run(views.path.as_ref().unwrap()), "2\n");
    assert!(build_views(&settings, &record, &with_path).unwrap().was_cached);

    let with_basic_paths = ViewRequest { with_basic_paths: true, ..ViewRequest::default() };
    let views = build_views(&settings, &record, &with_basic_paths).unwrap();
    assert!(!views.was_cached && views.path.is_none());
    assert_eq!(run(views.basic_paths.as_ref().unwrap()), "2\n");
    assert!(build_views(&settings, &record, &with_basic_paths).unwrap().was_cached);
}

#[test]
fn a_program_of_another_version_of_the_compiler_is_refused() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc main.c twice.c -o prog");
    let (settings, record) = (project.settings(), project.record("prog"));
    let path = fs::read_dir(record.facts_dir()).unwrap().next().unwrap().unwrap().path();
    let mut facts = fs::read(&path).unwrap();
    facts[8] -= 1;
    fs::write(&path, facts).unwrap();
    let error = build_views(&settings, &record, &ViewRequest::default()).unwrap_err().to_string();
    assert!(error.contains("another version of `cairn-cc`, compile it anew"), "{error}");
}

#[test]
fn a_symbolic_view_behaves_as_the_program_and_is_built_once() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc main.c twice.c -o prog");
    let (mut settings, record) = (project.settings(), project.record("prog"));
    let request = ViewRequest { with_symbolic: true, ..ViewRequest::default() };
    let views = build_views(&settings, &record, &request).unwrap();
    assert_eq!(run(views.symbolic.as_ref().unwrap()), run(&views.bare));
    assert!(build_views(&settings, &record, &request).unwrap().was_cached);
    settings.distribution.models_dir = project.path();
    let error = build_views(&settings, &record, &request).unwrap_err();
    assert!(error.to_string().contains("models.bc` is missing"), "{error}");
}

#[test]
fn a_view_of_cxx_throws_and_catches() {
    let text = "#include <cstdio>\n#include <stdexcept>\nint main() { try { throw std::runtime_error(\"caught\"); } \
                catch (const std::exception &e) { std::puts(e.what()); } return 0; }\n";
    let project = Project::new(&[("main.cpp", text)]);
    project.sh("cairn-c++ main.cpp -o prog");
    let views = build_views(&project.settings(), &project.record("prog"), &ViewRequest::default()).unwrap();
    assert_eq!(run(&views.bare), "caught\n");
    assert_eq!(run(&views.plain), "caught\n");
}

#[test]
fn views_of_a_harness_call_it() {
    let text = "#include <stddef.h>\n#include <stdio.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) \
                { puts(n && d[0] ? \"some\" : \"none\"); return 0; }\n";
    let project = Project::new(&[("harness.c", text)]);
    project.sh("cairn-cc -fsanitize=fuzzer harness.c -o prog");
    let views = build_views(&project.settings(), &project.record("prog"), &ViewRequest::default()).unwrap();
    assert_eq!(run(&views.bare), run(&views.plain));
    assert_eq!(run(&project.path().join("prog")), run(&views.bare));
}

#[test]
fn wrapped_and_mixed_programs_behave_the_same_as_views() {
    let main = "#include <stdio.h>\nint twice(int); int four(void); int __real_twice(int);\n\
                int __wrap_twice(int x) { return 100 + __real_twice(x); }\n\
                int main(void) { printf(\"%d\\n\", twice(1) + four()); return 0; }\n";
    let project = Project::new(&[("main.c", main), ("twice.c", TWICE)]);
    project.write(
        "four.s",
        ".globl four\nfour:\n mov $4, %eax\n ret\n.section .note.GNU-stack,\"\",@progbits\n",
    );
    project.sh("cairn-cc -c main.c twice.c four.s && ld -r twice.o four.o -o mixed.o && \
                cairn-cc main.o mixed.o -Wl,--wrap=twice -o prog");
    assert_eq!(project.sh("./prog"), "106\n");
    let views = build_views(&project.settings(), &project.record("prog"), &ViewRequest::default()).unwrap();
    assert_eq!(run(&views.bare), "106\n");
    assert_eq!(run(&views.plain), "106\n");
}

#[test]
fn another_scope_is_another_view() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc main.c twice.c -o prog");
    let (settings, record) = (project.settings(), project.record("prog"));
    let whole = build_views(&settings, &record, &ViewRequest::default()).unwrap();
    let scope = r#"{"files":["twice.c"],"functions":[]}"#.to_owned();
    let part = build_views(&settings, &record, &ViewRequest { scope: Some(scope), ..ViewRequest::default() })
        .unwrap();
    assert_ne!(whole.folder, part.folder);
    assert_eq!(run(&part.plain), "2\n");
}

#[test]
fn a_missing_instrumenter_and_its_failure_are_named() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE)]);
    project.sh("cairn-cc main.c twice.c -o prog");
    let record = project.record("prog");
    let mut settings = project.settings();
    fs::write(record.bitcode_path(), "not bitcode").unwrap();
    let error = build_views(&settings, &record, &ViewRequest::default()).unwrap_err();
    assert!(matches!(error, ViewError::Instrument { .. }), "{error}");
    settings.distribution.instrument = project.path().join("nowhere");
    let error = build_views(&settings, &record, &ViewRequest::default()).unwrap_err();
    assert!(error.to_string().contains("nowhere` is missing"), "{error}");
}

#[test]
fn views_find_shared_objects_where_the_executable_does() {
    let project = Project::new(&[("main.c", MAIN), ("twice.c", TWICE), ("lib/.keep", ""), ("bin/.keep", "")]);
    project.sh("cairn-cc -shared -fPIC twice.c -o lib/libtwice.so && cd bin && \
                cairn-cc ../main.c -L../lib -ltwice -Wl,-rpath,'$ORIGIN/../lib' -o one && \
                cairn-cc ../main.c -L../lib -ltwice -Wl,-rpath='${ORIGIN}/../lib' -o two && \
                cairn-cc ../main.c -L ../lib -l:libtwice.so -Xlinker -rpath -Xlinker ../lib -o three && \
                cairn-cc ../main.c ../lib/libtwice.so -o four");
    for program in ["one", "two", "three", "four"] {
        assert_eq!(project.sh(&format!("cd bin && ./{program}")), "2\n");
        let record = project.record(&format!("bin/{program}"));
        let views = build_views(&project.settings(), &record, &ViewRequest::default()).unwrap();
        assert_eq!(run(&views.bare), "2\n", "{program}");
        assert_eq!(run(&views.plain), "2\n", "{program}");
    }
}

#[test]
fn views_link_without_a_c_library() {
    let text = "static int half(int x) { return x / 2; }\nvoid _start(void) { \
                __asm__ volatile(\"syscall\" :: \"a\"(60), \"D\"((long)half(6))); __builtin_unreachable(); }\n";
    let project = Project::new(&[("main.c", text)]);
    project.sh("cairn-cc -nostdlib -static -fno-stack-protector main.c -o prog");
    assert_eq!(project.try_sh("./prog").code, 3);
    let views = build_views(&project.settings(), &project.record("prog"), &ViewRequest::default()).unwrap();
    for view in [&views.bare, &views.plain] {
        assert_eq!(std::process::Command::new(view).status().unwrap().code(), Some(3));
    }
}

#[test]
fn a_mutant_does_the_same_in_the_view_and_compiled_alone() {
    let text =
        "#include <stdio.h>\nint main(int argc, char **argv) { printf(\"%d\\n\", argc + 41); return 0; }\n";
    let project = Project::new(&[("main.c", text)]);
    project.sh("cairn-cc main.c -o prog");
    let (settings, record) = (project.settings(), project.record("prog"));
    let request = ViewRequest { mutants: Some("compact".into()), ..ViewRequest::default() };
    let views = build_views(&settings, &record, &request).unwrap();
    assert!(!views.was_cached);
    let view = views.mutants.unwrap();
    assert_eq!(run(&view.program), "42\n");
    let table: MutantTable = versioned::decode(&fs::read(&view.table).unwrap()).unwrap();
    let minus = table.mutants.iter().find(|mutant| mutant.replacement == "argc - 41").unwrap().stable_id;
    let other = table.mutants.iter().find(|mutant| mutant.stable_id != minus).unwrap().stable_id;
    let active = |id: String| {
        let output = std::process::Command::new(&view.program).env("CAIRN_MUTANT", id).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(active(minus.to_string()), "-40\n");
    let alone = build_alone(&settings, &record, &request, &[minus, other, minus], Alone::Optimised).unwrap();
    assert_eq!(run(&alone[0]), "-40\n");
    assert_eq!(alone[0], alone[2]);
    assert_ne!(alone[0], alone[1]);
    assert!(build_views(&settings, &record, &request).unwrap().was_cached);
    let plain = build_views(&settings, &record, &ViewRequest::default()).unwrap();
    assert!(plain.was_cached && plain.mutants.is_none());
}
