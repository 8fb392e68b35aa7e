//! `ld -r`: several units in one object.

use crate::project::{MAIN, Project, TWICE, assert_defines, functions, units};

const OTHER: &str = "int other(int x) { return x; }\n";

fn project() -> Project {
    Project::new(&[("main.c", MAIN), ("twice.c", TWICE), ("other.c", OTHER)])
}

#[test]
fn units_of_a_relocatable_link_are_all_found() {
    let project = project();
    project.sh("cairn-cc -c main.c twice.c other.c && ld -r twice.o other.o -o built-in.o && \
                cairn-cc -r -nostdlib twice.o other.o -o by-driver.o && ld.lld-19 -r twice.o other.o -o by-lld.o");
    for object in ["built-in.o", "by-driver.o", "by-lld.o"] {
        project.sh(&format!("cairn-cc main.o {object} -o prog"));
        assert_eq!(project.sh("./prog"), "2\n");
        let record = project.record("prog");
        assert_eq!(units(&record), ["main.c", "twice.c", "other.c"], "{object}");
        assert_defines(&record, &["twice", "helper", "other"]);
        assert!(record.native.is_empty());
    }
}

#[test]
fn an_archive_member_made_by_ld_r_is_taken_whole() {
    let project = project();
    project.sh(
        "cairn-cc -c main.c twice.c other.c && ld -r twice.o other.o -o both.o && ar rcs libboth.a both.o && \
                cairn-cc main.o libboth.a -o prog",
    );
    let record = project.record("prog");
    assert_eq!(units(&record), ["main.c", "twice.c", "other.c"]);
    assert!(functions(&record).contains("other"), "only the member's part that was asked for came along");
}

#[test]
fn native_code_inside_a_relocatable_object_is_kept_and_counted() {
    let project = project();
    project.write(
        "native.s",
        ".globl four\n.type four,@function\nfour:\n mov $4, %eax\n ret\n.size four,.-four\n\
         .section .note.GNU-stack,\"\",@progbits\n",
    );
    project.write("main.c", "int twice(int); int four(void); int main(void) { return twice(3) + four(); }\n");
    project.sh("cairn-cc -c main.c twice.c native.s && ld -r twice.o native.o -o mixed.o && ar rcs libmixed.a mixed.o && \
                cairn-cc main.o mixed.o -o prog && cairn-cc main.o libmixed.a -o prog2");
    for program in ["prog", "prog2"] {
        assert_eq!(project.try_sh(&format!("./{program}")).code, 10);
        let record = project.record(program);
        assert_eq!(units(&record), ["main.c", "twice.c"]);
        assert_defines(&record, &["twice", "main"]);
        assert_eq!(record.native[0].bytes, 6);
        assert!(record.native[0].reason.as_ref().unwrap().contains("ld -r"));
    }
}

#[test]
fn sources_of_a_relocatable_link_are_found() {
    let project = project();
    project.write("four.s", ".globl four\nfour:\n ret\n.section .note.GNU-stack,\"\",@progbits\n");
    project.sh("cairn-cc -c other.c && cairn-cc -r -nostdlib -MD twice.c other.o -o both.o && cairn-cc main.c both.o -o prog && \
                cairn-cc -r twice.c four.s other.c -o mixed.o && cairn-cc main.c mixed.o -o prog2");
    assert!(project.read("both.d").contains("twice.c"));
    assert_eq!(project.sh("./prog"), "2\n");
    let record = project.record("prog");
    assert_eq!(units(&record), ["main.c", "other.c", "twice.c"]);
    assert_defines(&record, &["twice", "helper", "other"]);
    assert!(record.native.is_empty(), "{:?}", record.native);
    let record = project.record("prog2");
    assert_eq!(units(&record), ["main.c", "twice.c", "other.c"]);
    assert_eq!(record.native.len(), 1, "assembly stays native");
}
