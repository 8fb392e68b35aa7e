//! Counters and stages.

use crate::support::{Channel, Link, Program, give_as_channel};
use cairn_abi::channel::{CHANNEL_MAGIC, RUNTIME_EXIT_CODE, Refusal, Stage};
use cairn_testkit::Ran;

fn hits(channel: &Channel) -> Vec<(usize, u8)> {
    let counters = channel.counters();
    counters[64..].iter().copied().enumerate().filter(|(_, count)| *count > 0).collect()
}

fn refusal(channel: &Channel) -> u32 {
    channel.header().refusal.into_inner()
}

#[test]
fn hits_are_seen_by_the_host() {
    let program = Program::c(Link::View, "int main(void) { HIT(3); HIT(3); HIT(99); }");
    let channel = Channel::new();
    program.run(&channel).success();
    assert_eq!(hits(&channel), [(3, 2), (99, 1)]);
    assert_eq!(channel.stage(), Stage::MainEntered);
}

#[test]
fn hits_outlive_a_crash() {
    let program = Program::c(
        Link::View,
        "int main(int argc, char **argv) { HIT(1); *(volatile char *)(long)(argc - 1) = 0; HIT(2); }",
    );
    let channel = Channel::new();
    program.run(&channel).dies_of(libc::SIGSEGV);
    assert_eq!(hits(&channel), [(1, 1)]);
}

#[test]
fn hits_before_main_are_kept() {
    let program = Program::c(
        Link::View,
        "static void before(void) { HIT(1); }
         __attribute__((section(\".preinit_array\"), used)) static void (*array)(void) = before;
         __attribute__((constructor(101))) static void construct(void) { HIT(2); }
         int main(void) { HIT(3); }",
    );
    let channel = Channel::new();
    program.run(&channel).success();
    assert_eq!(hits(&channel), [(1, 1), (2, 1), (3, 1)]);
}

#[test]
fn a_run_that_dies_before_main_says_so() {
    let program = Program::c(
        Link::View,
        "#include <stdlib.h>
         __attribute__((constructor)) static void construct(void) { abort(); }
         int main(void) { return 0; }",
    );
    let channel = Channel::new();
    program.run(&channel).dies_of(libc::SIGABRT);
    assert_eq!(channel.stage(), Stage::RuntimeStarted);
}

#[test]
fn children_count_too() {
    let program = Program::c(
        Link::View,
        "#include <sys/wait.h>
         #include <unistd.h>
         int main(void) { if (fork() == 0) { HIT(1); _exit(0); } wait(0); HIT(2); }",
    );
    let channel = Channel::new();
    program.run(&channel).success();
    assert_eq!(hits(&channel), [(1, 1), (2, 1)]);
}

#[test]
fn another_view_does_not_count_into_foreign_counters() {
    let program = Program::c(
        Link::View,
        "#include <unistd.h>
         int main(int argc, char **argv) { HIT(1); execl(\"./other\", \"other\", (char *)0); return 1; }",
    );
    Program::build_in(
        &program.workspace,
        "other",
        "clang-19",
        "other.c",
        Link::View,
        "int main(void) { HIT(2); return 5; }",
        &["-DMAP_HASH=8", "-DN_COUNTERS=5000"],
    );
    let channel = Channel::new();
    program.run(&channel).exits_with(5);
    assert_eq!(hits(&channel), [(1, 1)]);
    assert_eq!(refusal(&channel), Refusal::None as u32);
}

#[test]
fn an_image_that_executes_itself_goes_on_counting() {
    let program = Program::c(
        Link::View,
        "#include <unistd.h>
         int main(int argc, char **argv) {
           if (argc > 1) { HIT(2); return 0; }
           HIT(1);
           execl(argv[0], argv[0], \"again\", (char *)0);
           return 1;
         }",
    );
    let channel = Channel::new();
    program.run(&channel).success();
    assert_eq!(hits(&channel), [(1, 1), (2, 1)]);
}

#[test]
fn counters_of_another_size_are_refused() {
    let program = Program::build(
        "clang-19",
        "program.c",
        Link::View,
        "int main(void) { return 0; }",
        &["-DN_COUNTERS=5000"],
    );
    let channel = Channel::new();
    program.run(&channel).exits_with(RUNTIME_EXIT_CODE);
    assert_eq!(refusal(&channel), Refusal::Counters as u32);
}

#[test]
fn a_host_of_another_version_is_refused() {
    let program = Program::c(Link::View, "int main(void) { return 0; }");
    let channel = Channel::new();
    channel.change(|header| header.abi_version += 1);
    program.run(&channel).exits_with(RUNTIME_EXIT_CODE);
    assert_eq!(refusal(&channel), Refusal::Version as u32);
}

#[test]
fn a_view_runs_alone() {
    let program = Program::c(Link::View, "int main(void) { HIT(3); return HIT(3); }");
    program.run_alone(&[], "").exits_with(2);
}

#[test]
fn a_file_that_is_no_channel_is_left_alone() {
    let program = Program::c(Link::View, "int main(void) { HIT(3); return 0; }");
    let path = program.workspace.write("other", vec![b'x'; 10_000]);
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let mut command = program.command(None);
    give_as_channel(&mut command, &file);
    Ran::of(&mut command, b"").success();
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 10_000]);
}

#[test]
fn a_lying_header_leads_nowhere() {
    let program = Program::c(
        Link::View,
        "int cairn_int(const char *);\nint main(void) { HIT(3); return cairn_int(\"n\"); }",
    );
    let channel = Channel::new();
    channel.change(|header| {
        assert_eq!(header.magic, CHANNEL_MAGIC);
        header.counters.offset = u64::MAX - 4095;
        header.delivery.size = u64::MAX;
        header.delivery_length = u64::MAX;
    });
    program.run(&channel).success();
}

/// What comes first when a view is linked.
const START: &str = ".section .preinit_array,\"aw\",@preinit_array\n.p2align 3\n.quad cairn_start\n.section .note.GNU-stack,\"\",@progbits\n";

#[test]
fn a_program_that_brings_its_own_entry_is_counted() {
    let entry =
        "#include <unistd.h>\nvoid entry(void) { HIT(1); _exit(4); }\nint main(void) { HIT(2); return 0; }\n";
    for (source, options) in
        [(entry, &["-Wl,-e,entry"][..]), (&entry.replace("entry", "_start"), &["-nostartfiles"])]
    {
        let program = Program::build("clang-19", "program.c", Link::View, source, options);
        let channel = Channel::new();
        program.run(&channel).exits_with(4);
        assert_eq!(hits(&channel), [(1, 1)]);
        assert_eq!(channel.stage(), Stage::RuntimeStarted);
    }
}

#[test]
fn descriptors_closed_before_any_constructor_do_not_matter() {
    let workspace = cairn_testkit::Workspace::new();
    let start = workspace.write("start.s", START);
    let source = "#include <unistd.h>
         static void before(void) { HIT(1); for (int i = 3; i < 256; i++) close(i); }
         __attribute__((section(\".preinit_array\"), used)) static void (*array)(void) = before;
         int main(void) { HIT(2); }";
    for options in [&[][..], &["-static"], &["-Wl,--gc-sections"]] {
        let options: Vec<&str> = [&[start.to_str().unwrap()], options].concat();
        let program = Program::build("clang-19", "program.c", Link::View, source, &options);
        let channel = Channel::new();
        program.run(&channel).success();
        assert_eq!(hits(&channel), [(1, 1), (2, 1)]);
    }
}

#[test]
fn main_starts_the_runtime_where_nothing_did() {
    // A static program whose own entry runs neither array.
    let program = Program::build(
        "clang-19",
        "program.c",
        Link::View,
        "int main(void) { HIT(2); return 3; }
         void _start(void) { HIT(1); long code = view_main(0, 0, 0); __asm__ volatile(\"syscall\" :: \"a\"(60), \"D\"(code)); __builtin_unreachable(); }",
        &["-static", "-nostdlib", "-fno-stack-protector"],
    );
    let channel = Channel::new();
    program.run(&channel).exits_with(3);
    assert_eq!(hits(&channel), [(1, 1), (2, 1)]);
    assert_eq!(channel.stage(), Stage::MainEntered);
}
