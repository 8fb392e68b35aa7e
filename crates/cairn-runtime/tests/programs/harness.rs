//! Harnesses without `main`, AFL loops, and harness output.

use crate::support::{Channel, Link, Program};
use cairn_abi::{channel::Stage, delivery::Item};
use cairn_testkit::{Ran, Workspace, dist};

const HARNESS: &str = r#"
#include <cairn.h>
#include <stdint.h>
#include <stdio.h>
int LLVMFuzzerInitialize(int *argc, char ***argv) { printf("initialize %d\n", *argc); return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  printf("%zu:%.*s\n", size, (int)size, (const char *)data);
  cairn_output(data, size);
  cairn_output("!", 1);
  return -1;
}
"#;

#[test]
fn a_harness_runs_once_on_the_delivered_buffer() {
    let program = Program::c(Link::Delivery, HARNESS);
    let channel = Channel::delivering(&[Item::Buffer(b"abc")]);
    assert_eq!(program.run(&channel).success().stdout, "initialize 1\n3:abc\n");
    assert_eq!(channel.stage(), Stage::HarnessReturned);
    assert_eq!(channel.header().harness_return.into_inner(), -1);
    assert_eq!(channel.header().output_total.into_inner(), 4);
    assert_eq!(channel.output()[..5], *b"abc!\0");
}

#[test]
fn a_harness_is_a_view_too() {
    let source =
        "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { HIT(size); return 0; }";
    let program = Program::c(Link::View, source);
    let channel = Channel::delivering(&[Item::Buffer(b"abc")]);
    program.run(&channel).success();
    assert_eq!(channel.counters()[64..70], [0, 0, 0, 1, 0, 0]);
    assert_eq!(channel.stage(), Stage::HarnessReturned);
}

#[test]
fn alone_a_harness_replays_files_or_standard_input() {
    let program = Program::c(Link::Delivery, HARNESS);
    program.workspace.write("one", "first");
    program.workspace.write("two", "x".repeat(10_000));
    let files = program.run_alone(&["one", "-runs=1", "two"], "").success();
    assert_eq!(files.stdout, format!("initialize 4\n5:first\n10000:{}\n", "x".repeat(10_000)));
    assert_eq!(program.run_alone(&[], "").success().stdout, "initialize 1\n14:standard input\n");
    let missing = program.run_alone(&["none"], "").exits_with(1);
    assert_eq!(missing.stderr, "error: cannot read `none`\n");
}

#[test]
fn standard_input_of_any_length_is_read() {
    let program = Program::c(
        Link::Delivery,
        "int printf(const char *, ...);
         int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
           unsigned long sum = 0;
           for (unsigned long i = 0; i < size; i++) sum += data[i];
           printf(\"%lu %lu\\n\", size, sum);
           return 0;
         }",
    );
    let ran = Ran::of(&mut program.command(None), &vec![1; 300_000]).success();
    assert_eq!(ran.stdout, "300000 300000\n");
    let ran = Ran::of(&mut program.command(None), b"").success();
    assert_eq!(ran.stdout, "0 0\n");
}

#[test]
fn reading_one_byte_too_far_is_a_crash() {
    let program = Program::c(
        Link::Delivery,
        "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
           return ((volatile const unsigned char *)data)[size];
         }",
    );
    for buffer in [&b""[..], b"a", &[0; 4096]] {
        let channel = Channel::delivering(&[Item::Buffer(buffer)]);
        program.run(&channel).dies_of(libc::SIGSEGV);
        assert_eq!(channel.stage(), Stage::MainEntered);
    }
}

#[test]
fn a_harness_with_a_mutator_of_its_own_links_and_replays() {
    let source = "
        size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
        size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
          return LLVMFuzzerMutate(data, size, max_size);
        }";
    for link in [Link::Delivery, Link::View] {
        let program = Program::c(link, &[HARNESS, source].concat());
        assert_eq!(program.run_alone(&[], "").success().stdout, "initialize 1\n14:standard input\n");
    }
    // Whoever brings the function along keeps it.
    let own = "size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) { return 0; }";
    Program::c(Link::Delivery, &[HARNESS, source, own].concat()).run_alone(&[], "").success();
}

#[test]
fn a_program_with_nothing_to_run_does_not_link() {
    let workspace = Workspace::new();
    workspace.write("program.c", "int cairn_int(const char *);\nint f(void) { return cairn_int(\"n\"); }");
    let archive = dist().delivery_archive();
    let ran = workspace.sh(&format!("clang-19 -fuse-ld=lld program.c {}", archive.display())).exits_with(1);
    assert!(ran.stderr.contains("undefined symbol: LLVMFuzzerTestOneInput"), "{ran}");
}

#[test]
fn a_main_in_a_shared_library_is_the_programs_main() {
    let workspace = Workspace::new();
    workspace.write("main.c", "int asked(void);\nint main(void) { return asked(); }");
    workspace
        .write("program.c", "int cairn_int(const char *);\nint asked(void) { return cairn_int(\"n\"); }");
    let archive = dist().delivery_archive();
    workspace
        .sh(&format!(
            "clang-19 -shared -fPIC main.c -o libmain.so
             clang-19 -fuse-ld=lld -rdynamic program.c -L. -lmain -Wl,-rpath,. {}
             CAIRN_VARIABLES=n=5 ./a.out",
            archive.display()
        ))
        .exits_with(5);
}

#[test]
fn harness_output_beyond_its_region_is_counted() {
    let program = Program::c(
        Link::Delivery,
        "#include <cairn.h>
         static char block[3000];
         int main(void) {
           for (int i = 0; i < 3000; i++) block[i] = 'x';
           cairn_output(block, 3000);
           cairn_output(block, 3000);
           cairn_output(block, 3000);
         }",
    );
    let channel = Channel::new();
    program.run(&channel).success();
    assert_eq!(channel.header().output_total.into_inner(), 9000);
    assert_eq!(channel.output(), [b'x'; 4096]);
}

#[test]
fn an_afl_loop_runs_once_on_the_buffer() {
    let program = Program::c(
        Link::Delivery,
        "#include <stdio.h>
         void cairn_afl_init(void);
         int cairn_afl_loop(unsigned);
         unsigned char *cairn_afl_buffer(void);
         unsigned cairn_afl_length(void);
         int main(void) {
           cairn_afl_init();
           unsigned char *buffer = cairn_afl_buffer();
           while (cairn_afl_loop(1000)) printf(\"%.*s|\", (int)cairn_afl_length(), buffer);
         }",
    );
    let channel = Channel::delivering(&[Item::Buffer(b"abc")]);
    assert_eq!(program.run(&channel).success().stdout, "abc|");
    assert_eq!(program.run(&Channel::new()).success().stdout, "standard input|");
    assert_eq!(program.run_alone(&[], "").success().stdout, "standard input|");
}
