//! `-c` and its surroundings.

use crate::project::{MAIN, Project, TWICE, assert_defines, has_payload, units};
use cairn_cc::{elf, payload};

fn twice() -> Project {
    Project::new(&[("main.c", MAIN), ("twice.c", TWICE)])
}

#[test]
fn objects_carry_bitcode_and_facts_and_executables_do_not() {
    let project = twice();
    project.sh("cairn-cc -O2 -c twice.c -o out.o && cairn-cc -O2 -c main.c && cairn-cc main.o out.o -o prog");
    assert_eq!(project.sh("./prog a"), "4\n");
    let object = project.bytes("out.o");
    let records = payload::decode(elf::payload(&object).unwrap()).unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].meta.source, "twice.c");
    assert_eq!(records[0].meta.symbols, ["twice", "unused"]);
    assert!(records[0].bitcode.starts_with(b"BC\xc0\xde"));
    assert_eq!(records[0].meta.facts_error, None);
    assert!(!has_payload(&project.path().join("prog")));
    let record = project.record("prog");
    assert_eq!(units(&record), ["main.c", "twice.c"]);
    assert_defines(&record, &["main", "twice", "helper", "unused"]);
}

#[test]
fn bitcode_names_its_unit_and_keeps_names_of_values() {
    let project = twice();
    project.sh("cairn-cc -O2 main.c twice.c -o prog");
    let record = project.record("prog");
    let text = project.sh(&format!("llvm-dis-19 -o - {}", record.bitcode_path().display()));
    for unit in &record.units {
        assert!(text.contains(&format!("flags: \"cairn:{}\"", unit.key)), "{}", unit.key);
    }
    assert!(text.contains("%argc.addr"));
    assert!(!text.contains("optnone"));
}

#[test]
fn the_same_source_gives_the_same_object_whatever_its_name() {
    let project = twice();
    project.sh("cairn-cc -c twice.c -o one.o && cairn-cc -c twice.c -o two.o");
    assert_eq!(project.bytes("one.o"), project.bytes("two.o"));
    project.sh("cairn-cc -DX -c twice.c -o three.o");
    assert_ne!(project.bytes("one.o"), project.bytes("three.o"));
}

#[test]
fn several_sources_with_c_each_get_their_object() {
    let project = twice();
    project.sh("cairn-cc -c main.c twice.c");
    assert!(has_payload(&project.path().join("main.o")));
    assert!(has_payload(&project.path().join("twice.o")));
}

#[test]
fn dependency_files_are_those_of_the_native_compile() {
    let project =
        Project::new(&[("a.c", "#include \"a.h\"\nint a(void) { return A; }\n"), ("a.h", "#define A 1\n")]);
    project.sh("cairn-cc -MD -MP -MF a.d -MT target -c a.c -o a.o");
    let dependencies = project.read("a.d");
    assert!(dependencies.starts_with("target: a.c a.h"), "{dependencies}");
    project.sh("cairn-cc -Wp,-MD,b.d -c a.c -o b.o && cairn-cc -MMD -c a.c -o c.o");
    assert!(project.read("b.d").contains("a.h"));
    assert!(project.read("c.d").starts_with("c.o: a.c a.h"));
    let left: Vec<_> = project.sh("ls").lines().map(str::to_owned).collect();
    assert_eq!(left, ["a.c", "a.d", "a.h", "a.o", "b.d", "b.o", "c.d", "c.o"]);
}

#[test]
fn saved_temporaries_are_those_of_the_native_compile() {
    let project = twice();
    project.sh("cairn-cc -O2 -save-temps -c twice.c");
    assert!(has_payload(&project.path().join("twice.o")));
    assert!(project.read("twice.s").contains("twice:"));
    assert!(!project.read("twice.s").contains("helper:"), "the second compile wrote its own temporaries");
}

#[test]
fn assembly_stays_native_beside_bitcode() {
    let add = ".globl add_one\n.type add_one,@function\nadd_one:\n lea 1(%rdi), %eax\n ret\n.size add_one,.-add_one\n\
               .section .note.GNU-stack,\"\",@progbits\n";
    let main = "int add_one(int); int main(int argc, char **argv) { (void)argv; return add_one(argc); }\n";
    let project = Project::new(&[("add.s", add), ("add2.S", add), ("main.c", main)]);
    project.sh("cairn-cc -c add.s && cairn-cc -c main.c && cairn-cc main.o add.o -o prog");
    project.sh("cairn-cc main.c add2.S -Wl,--defsym=two=2 -o prog2");
    for (program, object) in [("prog", "add.o"), ("prog2", "add2.S")] {
        assert_eq!(project.try_sh(&format!("./{program}")).code, 2);
        let record = project.record(program);
        assert_eq!(units(&record), ["main.c"]);
        assert_eq!(record.native.len(), 1);
        assert_eq!(record.native[0].name, object);
        assert!(record.native_share() > 0.0 && record.native_share() < 1.0);
        assert!(record.warnings()[0].contains("% of the code is not instrumented: `add"));
    }
}

#[test]
fn a_unit_whose_second_compile_fails_stays_native_and_says_why() {
    // Optimised only: what the front end sees at -O0 is an error.
    let odd = "#ifndef __OPTIMIZE__\n#error needs optimisation\n#endif\nint twice(int x) { return 2 * x; }\n";
    let project = Project::new(&[("main.c", MAIN), ("odd.c", odd)]);
    project.sh(
        "cairn-cc -O2 -c odd.c && cairn-cc -O2 main.c odd.o -o prog && cairn-cc -O2 main.c odd.c -o prog2",
    );
    for program in ["prog", "prog2"] {
        assert_eq!(project.sh(&format!("./{program}")), "2\n");
        let record = project.record(program);
        assert_eq!(units(&record), ["main.c", "odd.c without bitcode without facts"]);
        let warnings = record.warnings().join("\n");
        assert!(warnings.contains("`odd.c` has no bitcode"), "{warnings}");
        assert!(warnings.contains("needs optimisation"), "{warnings}");
    }
}

#[test]
fn sanitizers_are_native_only() {
    let text = "int main(int argc, char **argv) { (void)argv; return 2147483647 + argc < 0; }\n";
    let project = Project::new(&[("main.c", text)]);
    project.sh("cairn-cc -fsanitize=undefined -c main.c && cairn-cc -fsanitize=undefined main.o -o prog");
    assert!(project.try_sh("./prog").stderr.contains("signed integer overflow"));
    let record = project.record("prog");
    let text = project.sh(&format!("llvm-dis-19 -o - {}", record.bitcode_path().display()));
    assert!(!text.contains("ubsan"));
    assert!(!record.link_arguments.iter().any(|word| word.contains("sanitize")));
}

#[test]
fn fortification_is_not_in_bitcode() {
    let text =
        "#include <string.h>\nint main(int c, char **v) { char b[9]; strcpy(b, v[c - 1]); return b[0]; }\n";
    let project = Project::new(&[("main.c", text)]);
    project.sh("cairn-cc -O2 -D_FORTIFY_SOURCE=2 main.c -o one && cairn-cc -O2 -Wp,-D_FORTIFY_SOURCE=2 main.c -o two");
    for program in ["one", "two"] {
        let text =
            project.sh(&format!("llvm-dis-19 -o - {}", project.record(program).bitcode_path().display()));
        assert!(text.contains("@strcpy") && !text.contains("_chk"), "{text}");
    }
}

#[test]
fn precompiled_headers_give_way_to_their_headers() {
    let project = Project::new(&[
        ("pre.h", "#ifndef PRE\n#define PRE 1\n#endif\n"),
        ("main.c", "int main(void) { return PRE - 1; }\n"),
    ]);
    project.sh(
        "cairn-cc -O2 -x c-header pre.h -o pre.h.pch && cairn-cc -O2 -include pre.h main.c -o implicit && \
                cairn-cc -O2 -include-pch pre.h.pch main.c -o named && \
                cairn-cc -O2 -Xclang -include-pch -Xclang pre.h.pch -c main.c && cairn-cc main.o -o behind",
    );
    for program in ["implicit", "named", "behind"] {
        assert_eq!(units(&project.record(program)), ["main.c"], "{program}");
        assert_defines(&project.record(program), &["main"]);
    }
}

#[test]
fn a_link_whose_only_unit_has_no_bitcode_says_what_the_unit_says() {
    let odd = "#ifndef __OPTIMIZE__\n#error needs optimisation\n#endif\nint main(void) { return 0; }\n";
    let project = Project::new(&[("odd.c", odd)]);
    project.sh("cairn-cc -O2 odd.c -o prog");
    let error = project.find("prog").unwrap_err().to_string();
    assert!(error.contains("`odd.c`: ") && error.contains("needs optimisation"), "{error}");
}

#[test]
fn sanitizers_of_the_ordinary_executable_are_told() {
    let project = Project::new(&[("main.c", "int main(void) { return 0; }\n")]);
    project.sh("cairn-cc -fsanitize=address,undefined -fno-sanitize=undefined main.c -o with && cairn-cc main.c -o without");
    let record = project.record("with");
    assert!(record.has_sanitizers());
    assert_eq!(record.warnings(), ["the ordinary executable has sanitizers (address), the views do not"]);
    assert!(!project.record("without").has_sanitizers());
    assert!(project.record("without").warnings().is_empty());
}
