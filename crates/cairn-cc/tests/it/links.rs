//! Executables: archives, libraries, linker options.

use crate::project::{MAIN, Project, TWICE, assert_defines, functions, units};
use cairn_cc::record::NativeKind;

const OTHER: &str = "int other(int x) { return x; }\n";

fn twice() -> Project {
    Project::new(&[("main.c", MAIN), ("twice.c", TWICE), ("other.c", OTHER)])
}

#[test]
fn only_the_members_a_link_takes_are_in_the_program() {
    let project = twice();
    project.sh("cairn-cc -c main.c twice.c other.c && mkdir lib && ar rcs lib/libtwice.a other.o twice.o");
    project.sh("cairn-cc main.o lib/libtwice.a -o by-path && cairn-cc main.o -L lib -ltwice -o by-name && \
                cairn-cc main.o -Llib -l:libtwice.a -o exact && \
                cairn-cc main.o -Wl,--whole-archive lib/libtwice.a -Wl,--no-whole-archive -o whole");
    for program in ["by-path", "by-name", "exact"] {
        assert_eq!(project.sh(&format!("./{program}")), "2\n");
        let record = project.record(program);
        assert_eq!(units(&record), ["main.c", "twice.c"], "{program}");
        assert!(!functions(&record).contains("other"), "{program}");
        assert!(record.native.is_empty());
    }
    assert_eq!(units(&project.record("whole")), ["main.c", "other.c", "twice.c"]);
}

#[test]
fn members_of_one_name_and_thin_archives_are_kept_apart() {
    let project = Project::new(&[
        ("main.c", "int a(void); int b(void); int main(void) { return a() + b(); }\n"),
        ("one/same.c", "int a(void) { return 1; }\n"),
        ("two/same.c", "int b(void) { return 2; }\n"),
    ]);
    project.sh("for d in one two; do cairn-cc -c $d/same.c -o $d/same.o; done; ar qc libsame.a one/same.o two/same.o; \
                ar s libsame.a; ar rcsT libthin.a one/same.o two/same.o; \
                cairn-cc main.c libsame.a -o fat; cairn-cc main.c libthin.a -o thin");
    for program in ["fat", "thin"] {
        assert_eq!(project.try_sh(&format!("./{program}")).code, 3);
        assert_defines(&project.record(program), &["a", "b", "main"]);
    }
}

#[test]
fn an_archive_may_mix_native_and_bitcode_members() {
    let project = twice();
    project.sh("cairn-cc -c twice.c && clang-19 -c other.c && ar rcs libmix.a twice.o other.o");
    project.write(
        "main.c",
        "int twice(int); int other(int); int main(int c, char **v) { (void)v; return twice(c) + other(c); }\n",
    );
    project.sh("cairn-cc main.c libmix.a -o prog");
    let record = project.record("prog");
    assert_eq!(units(&record), ["main.c", "twice.c"]);
    assert_eq!(record.native[0].name, "libmix.a(other.o)");
    assert!(record.link_arguments.iter().any(|word| word.starts_with("{folder}/objects/")));
}

#[test]
fn a_project_archive_without_bitcode_is_copied_for_views() {
    let project = twice();
    project.sh("clang-19 -c twice.c other.c && ar rcs libtwice.a twice.o other.o && cairn-cc main.c -L. -ltwice -o prog");
    let record = project.record("prog");
    assert_eq!(record.native.len(), 1);
    assert!(record.native[0].name.ends_with("libtwice.a(twice.o)"), "{:?}", record.native);
    assert!(record.link_arguments.iter().any(|word| word.ends_with("-libtwice.a")));
}

#[test]
fn shared_objects_stay_native_and_are_counted() {
    let project = twice();
    project.sh("cairn-cc -fPIC -c twice.c && cairn-cc -shared twice.o -o libtwice.so && \
                cairn-cc main.c -L. -ltwice -Wl,-rpath,$PWD -o prog && cairn-cc main.c ./libtwice.so -o prog2 && \
                cairn-cc -shared -fPIC twice.c -o libdirect.so");
    assert_eq!(project.sh("./prog"), "2\n");
    for program in ["prog", "prog2"] {
        let record = project.record(program);
        assert_eq!(units(&record), ["main.c"]);
        let shared = &record.native[0];
        assert!(shared.name.ends_with("libtwice.so"), "{shared:?}");
        assert_eq!(shared.kind, NativeKind::SharedObject);
        assert!(shared.bytes > 0);
        assert!(record.warnings()[0].contains("libtwice.so"));
    }
}

#[test]
fn code_the_linker_finds_by_itself_is_counted() {
    let project = twice();
    project.sh("cairn-cc -c twice.c && mkdir hidden && ar rcs hidden/libtwice.a twice.o && \
                LIBRARY_PATH=$PWD/hidden cairn-cc main.c -ltwice -o prog");
    let record = project.record("prog");
    assert_eq!(units(&record), ["main.c"]);
    assert_eq!(record.native.len(), 1);
    assert!(record.native[0].name.ends_with("hidden/libtwice.a(twice.o)"), "{:?}", record.native);
    assert!(record.native[0].bytes > 0);
}

#[test]
fn options_for_the_linker_survive_or_are_left_out() {
    let project = twice();
    project.write("version.map", "{ global: main; not_there; local: *; };\n");
    project.sh("cairn-cc -c main.c twice.c && cairn-cc main.o twice.o -o prog -no-pie -rdynamic -s -lm \
                -Wl,-Map=prog.map,--cref -Wl,--gc-sections -Wl,--version-script=version.map -Wl,-z,now \
                -Wl,--sort-common -Wl,--warn-common -fuse-ld=bfd -Xlinker -rpath -Xlinker /opt/lib > /dev/null");
    assert_eq!(project.sh("./prog"), "2\n");
    let map = project.read("prog.map");
    assert!(map.contains("GNU") || map.contains("Memory"), "the user's map was overwritten");
    let record = project.record("prog");
    let words = record.link_arguments.join(" ");
    assert!(words.contains("-no-pie -rdynamic"), "{words}");
    assert!(words.contains("-Xlinker -rpath -Xlinker /opt/lib"), "{words}");
    assert!(words.contains("--version-script -Xlinker {folder}/objects/"), "{words}");
    assert!(!words.contains("Map") && !words.contains("bfd") && !words.contains("-s "), "{words}");
    assert_eq!(record.libraries, ["m"]);
}

#[test]
fn an_option_lld_does_not_know_is_dropped_and_recorded() {
    let project = twice();
    project.sh("cairn-cc main.c twice.c -o prog -Wl,--no-ctf-variables -Wl,-z,now");
    let record = project.record("prog");
    assert_eq!(record.dropped_options, ["--no-ctf-variables"]);
    assert!(!record.link_arguments.contains(&"--no-ctf-variables".to_owned()));
}

#[test]
fn wrapped_symbols_stay_wrapped() {
    let main = "#include <stdio.h>\nint twice(int); int __real_twice(int);\n\
                int __wrap_twice(int x) { return 100 + __real_twice(x); }\n\
                int main(void) { printf(\"%d\\n\", twice(1)); return 0; }\n";
    let project = Project::new(&[("main.c", main), ("twice.c", TWICE)]);
    project.sh("cairn-cc main.c twice.c -Wl,--wrap=twice -o prog");
    assert_eq!(project.sh("./prog"), "102\n");
    assert_defines(&project.record("prog"), &["twice", "__wrap_twice", "main"]);
}

#[test]
fn static_executables_are_recorded() {
    let project = twice();
    project.sh("cairn-cc -static main.c twice.c -o prog");
    assert_eq!(project.sh("./prog"), "2\n");
    let record = project.record("prog");
    assert!(record.native.is_empty(), "the C library is not the project's: {:?}", record.native);
    assert!(record.link_arguments.contains(&"-static".to_owned()));
}

#[test]
fn groups_inside_wl_are_read() {
    let project = twice();
    project.sh("cairn-cc -c twice.c && ar rcs libtwice.a twice.o && \
                cairn-cc main.c -Wl,--start-group,libtwice.a,--end-group -o prog");
    assert_eq!(units(&project.record("prog")), ["main.c", "twice.c"]);
}

#[test]
fn cxx_with_exceptions_is_recorded_for_the_cxx_driver() {
    let text = "#include <stdexcept>\n#include <string>\n#include <iostream>\n\
                static int parse(const std::string &s) { if (s.empty()) throw std::runtime_error(\"empty\"); \
                return s.size(); }\n\
                int main(int argc, char **argv) { try { std::cout << parse(argc > 1 ? argv[1] : \"\") << '\\n'; }\n\
                catch (const std::exception &e) { std::cout << e.what() << '\\n'; return 3; } return 0; }\n";
    let project = Project::new(&[("main.cpp", text)]);
    project.sh("cairn-c++ -std=c++17 -O2 -c main.cpp && cairn-c++ main.o -o prog");
    assert_eq!(project.sh("./prog abc"), "3\n");
    assert_eq!(project.try_sh("./prog").stdout, "empty\n");
    let record = project.record("prog");
    assert!(record.is_cxx);
    assert_eq!(units(&record), ["main.cpp"]);
    assert!(functions(&record).iter().any(|name| name.contains("parse")));
}

#[test]
fn a_link_that_fails_natively_keeps_its_code_and_leaves_nothing() {
    let project = Project::new(&[("main.c", MAIN)]);
    let ran = project.try_sh("cairn-cc main.c -o prog");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("undefined reference to `twice'"), "{}", ran.stderr);
    assert!(!project.has(".cairn") && !project.has("prog"));
}

#[test]
fn many_links_at_once_do_not_disturb_each_other() {
    let project = twice();
    let mut makefile = "all: p1 p2 p3 p4 p5 p6\nlibtwice.a: twice.o other.o\n\tar rcs $@ $^\n".to_owned();
    makefile.push_str(
        "%.o: %.c\n\tcairn-cc -c $< -o $@\np%: main.o libtwice.a\n\tcairn-cc -Wl,--defsym=n=$* $^ -o $@\n",
    );
    project.write("Makefile", &makefile);
    project.sh("make -j6");
    for n in 1..=6 {
        assert_eq!(units(&project.record(&format!("p{n}"))), ["main.c", "twice.c"]);
    }
    let left = project.sh("find .cairn -name '.new-*' -o -name '.work-*'");
    assert_eq!(left, "");
}
