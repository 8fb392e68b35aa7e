//! The archives fit into any program.

use crate::support::{Channel, Link, Program};
use cairn_abi::delivery::{Item, Value};

const RETURN_N: &str = "
#ifdef __cplusplus
extern \"C\"
#endif
int cairn_int(const char *);
int main() { return cairn_int(\"n\"); }
";

fn five() -> Channel {
    Channel::delivering(&[Item::Variable { name: b"n", value: Value::Int(5) }])
}

#[test]
fn programs_link_statically_and_at_fixed_addresses() {
    for options in [&["-static"][..], &["-static-pie", "-fPIE"], &["-no-pie"], &["-fuse-ld=bfd"]] {
        let program = Program::build("clang-19", "program.c", Link::Delivery, RETURN_N, options);
        program.run(&five()).exits_with(5);
        let program = Program::build("clang-19", "program.c", Link::View, RETURN_N, options);
        program.run(&five()).exits_with(5);
    }
}

#[test]
fn unused_code_can_be_collected() {
    let program = Program::build(
        "clang-19",
        "program.c",
        Link::View,
        RETURN_N,
        &["-Wl,--gc-sections", "-ffunction-sections"],
    );
    program.run(&five()).exits_with(5);
}

#[test]
fn cpp_programs_link_and_throw() {
    let source = format!(
        "#include <stdexcept>
         {}
         int thrown() {{ try {{ throw std::runtime_error(\"x\"); }} catch (std::exception &) {{ return cairn_int(\"n\"); }} }}",
        RETURN_N.replace("return cairn_int(\"n\")", "int thrown(); return thrown()")
    );
    for options in [&[][..], &["-static"]] {
        let program = Program::build("clang++-19", "program.cc", Link::View, &source, options);
        program.run(&five()).exits_with(5);
    }
}

#[test]
fn an_exception_that_leaves_a_harness_is_an_abort() {
    let program = Program::build(
        "clang++-19",
        "program.cc",
        Link::Delivery,
        "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { throw 1; }",
        &[],
    );
    program.run(&Channel::new()).dies_of(libc::SIGABRT);
}

#[test]
fn the_programs_own_functions_are_never_called() {
    let program = Program::c(
        Link::View,
        "typedef unsigned long size_t;
         static void called(void) { __builtin_trap(); }
         void *memcpy(void *a, const void *b, size_t n) { called(); return a; }
         void *memset(void *a, int b, size_t n) { called(); return a; }
         int bcmp(const void *a, const void *b, size_t n) { called(); return 1; }
         size_t strlen(const char *a) { called(); return 0; }
         void *malloc(size_t n) { called(); return 0; }
         long write(int f, const void *a, size_t n) { called(); return 0; }
         int klee_int(const char *name) { return 40; }
         int cairn_int(const char *);
         void cairn_bytes(const char *, void *, size_t);
         char bytes[300];
         int main(void) { cairn_bytes(\"m\", bytes, 300); return klee_int(\"x\") + cairn_int(\"n\"); }",
    );
    program.run(&five()).exits_with(45);
}

#[test]
fn a_program_that_asks_for_nothing_is_linked_with_nothing() {
    let program = Program::c(Link::Delivery, "int main(void) { return 0; }");
    let symbols = program.workspace.run("nm", [program.path.as_os_str()]).success().stdout;
    assert!(!symbols.contains("cairn_"), "{symbols}");
}

#[test]
fn headers_pass_the_oldest_and_strictest_c() {
    let program = Program::c(Link::Delivery, "int main(void) { return 0; }");
    program.workspace.write(
        "strict.c",
        "#include <cairn.h>\n#include <crest.h>\n#include <klee/klee.h>\nint main(void) { return 0; }\n",
    );
    let include = format!("-I{}", cairn_testkit::dist().include().display());
    for compiler in ["gcc", "clang-19"] {
        program
            .workspace
            .run(
                compiler,
                ["-std=c89", "-pedantic-errors", "-Wall", "-Werror", "-fsyntax-only", &include, "strict.c"],
            )
            .success();
    }
}
