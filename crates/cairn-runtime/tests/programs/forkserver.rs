//! Views driven by clients of AFL's forkserver: one of our own that is strict, and `afl-fuzz`.
//!
//! LibAFL changes the environment of its process, so its tests are a binary of their own: `tests/libafl.rs`.

mod afl_fuzz;
mod client;

use crate::support::{Channel, FIRST_BYTE, HARNESS, Link, Program};
use cairn_testkit::Ran;
use client::{Client, Segment, Setup, give_pipes};
use std::{fs, io::Read as _};

/// What AFL's macros become.
const MACROS: &str = "
void cairn_afl_init(void);
int cairn_afl_loop(unsigned);
unsigned char *cairn_afl_buffer(void);
unsigned cairn_afl_length(void);
";

const PERSISTENT: Setup<'_> =
    Setup { map_size: 1 << 16, testcase_size: Some(1 << 12), is_persistent: true, variables: &[] };

fn with_macros(source: &str) -> Program {
    Program::c(Link::View, &format!("{MACROS}{source}"))
}

#[test]
fn a_program_is_forked_for_every_input() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let mut client = Client::greeted(&program, Setup::default());
    let (first, second) = (client.run(&[7]), client.run(&[107]));
    assert_eq!((first.exited(), first.hits), (Some(7), vec![(7, 1)]));
    assert_eq!((second.exited(), second.hits), (Some(107), vec![(7, 1)]));
    assert_ne!(first.child, second.child);
}

#[test]
fn the_old_greeting_tells_the_size_of_the_map() {
    // A head of 64 bytes and 100 counters, rounded up, less one, shifted by one.
    let program = Program::c(Link::View, FIRST_BYTE);
    let mut client = Client::start(&program, Setup::default());
    assert_eq!(client.hear(), Some(0x8000_0001 | 0x4000_0000 | 191 << 1));
    assert_eq!(client.run(&[7]).exited(), Some(7));
}

#[test]
fn how_a_child_died_is_told_as_it_is() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let mut client = Client::greeted(&program, Setup::default());
    // `abort` signals the thread whose id the C library remembers, which must be the child's.
    let aborted = client.run(b"A");
    assert_eq!((aborted.died_of(), aborted.hits), (Some(libc::SIGABRT), vec![(65, 1)]));
    assert_eq!(client.run(b"S").died_of(), Some(libc::SIGSEGV));
    assert_eq!(client.run(&[7]).exited(), Some(7));
}

#[test]
fn a_slow_child_is_killed_by_the_client_and_the_next_one_runs() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let mut client = Client::greeted(&program, Setup::default());
    let child = client.begin(b"H", false);
    // SAFETY: a signal to a child of our child.
    unsafe { libc::kill(child, libc::SIGKILL) };
    assert_eq!(client.hear(), Some(libc::SIGKILL.cast_unsigned()));
    client.begin(&[7], true);
    assert_eq!(client.hear(), Some(7 << 8));
}

#[test]
fn only_the_pages_of_the_counters_are_replaced() {
    // Much smaller and much larger than the client's map.
    for n_counters in ["1", "60000"] {
        let source = "
            static char behind[1 << 20];
            __attribute__((constructor)) static void fill(void) { for (int i = 0; i < 1 << 20; i++) behind[i] = 3; }
            int main(void) {
              HIT(N_COUNTERS - 1);
              for (int i = 0; i < 1 << 20; i++) if (behind[i] != 3) return 1;
              return 0;
            }";
        let define = format!("-DN_COUNTERS={n_counters}");
        let program = Program::build("clang-19", "program.c", Link::View, source, &[&define]);
        let mut client = Client::greeted(&program, Setup { map_size: 1 << 18, ..Setup::default() });
        let told = client.run(b"");
        assert_eq!(
            (told.exited(), told.hits),
            (Some(0), vec![(n_counters.parse::<usize>().unwrap() - 1, 1)])
        );
    }
}

#[test]
fn a_harness_runs_many_inputs_in_one_process() {
    let program = Program::c(Link::View, HARNESS);
    let mut client = Client::greeted(&program, PERSISTENT);
    let first = client.run(b"abc");
    assert!(first.stopped(), "{first:?}");
    assert_eq!(first.hits, [(3, 1)]);
    let second = client.run(b"ab");
    assert_eq!((second.child, second.hits), (first.child, vec![(2, 1), (99, 1)]));
}

#[test]
fn after_a_thousand_inputs_a_harness_starts_afresh() {
    let program = Program::c(Link::View, HARNESS);
    let mut client = Client::greeted(&program, PERSISTENT);
    let first = client.run(b"abc").child;
    for _ in 1..999 {
        assert_eq!(client.run(b"abc").child, first);
    }
    let last = client.run(b"");
    assert_eq!((last.child, last.exited()), (first, Some(0)));
    assert_eq!(last.hits, [(0, 1), (99, (999 % 256) as u8)]);
    let afresh = client.run(b"abc");
    assert_ne!(afresh.child, first);
    assert_eq!(afresh.hits, [(3, 1)]);
}

#[test]
fn a_client_that_does_not_ask_for_it_gets_a_process_for_every_input() {
    let program = Program::c(Link::View, HARNESS);
    let mut client = Client::greeted(&program, Setup { is_persistent: false, ..PERSISTENT });
    for input in [&b"abc"[..], b"", b"abcde"] {
        let told = client.run(input);
        assert_eq!((told.exited(), told.hits), (Some(0), vec![(input.len(), 1)]));
    }
}

#[test]
fn without_shared_memory_a_harness_reads_standard_input() {
    let program = Program::c(Link::View, HARNESS);
    let mut client = Client::greeted(&program, Setup { testcase_size: None, ..PERSISTENT });
    assert_eq!(client.run(b"abc").hits, [(3, 1)]);
    assert_eq!(client.run(b"abcde").hits, [(5, 1), (99, 1)]);
}

#[test]
fn a_harness_that_reads_one_byte_too_far_dies() {
    let program = Program::c(
        Link::View,
        "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
           HIT(1);
           return size > 1 ? ((volatile const unsigned char *)data)[size] : 0;
         }",
    );
    let mut client = Client::greeted(&program, PERSISTENT);
    for input in [&b"ab"[..], &[0; 4092]] {
        assert!(client.run(b"a").stopped());
        let told = client.run(input);
        assert_eq!((told.died_of(), told.hits), (Some(libc::SIGSEGV), vec![(1, 1)]));
    }
}

#[test]
fn a_length_that_cannot_be_is_cut() {
    let program = Program::c(
        Link::View,
        "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
           if (size == 4092) HIT(1);
           return 0;
         }",
    );
    let mut client = Client::greeted(&program, PERSISTENT);
    client.testcase.as_mut().unwrap().bytes()[..4].fill(0xff);
    client.say(0);
    client.hear().unwrap();
    client.hear().unwrap();
    assert_eq!(client.hits(), [(1, 1)]);
}

const LOOP: &str = "
int main(void) {
  HIT(1);
  cairn_afl_init();
  HIT(2);
  unsigned char *buffer = cairn_afl_buffer();
  while (cairn_afl_loop(3)) {
    unsigned length = cairn_afl_length();
    HIT(3);
    for (unsigned i = 0; i < length; i++) HIT(buffer[i]);
  }
  HIT(4);
  return 5;
}";

#[test]
fn a_loop_counts_what_happens_inside() {
    let program = with_macros(LOOP);
    let mut client = Client::greeted(&program, PERSISTENT);
    let rounds = [client.run(&[10, 11, 12]), client.run(&[20]), client.run(&[])];
    assert_eq!(rounds[0].hits, [(3, 1), (10, 1), (11, 1), (12, 1)]);
    assert_eq!(rounds[1].hits, [(3, 1), (20, 1)]);
    assert_eq!(rounds[2].hits, [(3, 1)]);
    assert!(rounds.iter().all(|told| told.child == rounds[0].child), "{rounds:?}");
    assert!(rounds[0].stopped() && rounds[1].stopped());
    assert_eq!(rounds[2].exited(), Some(5));
}

#[test]
fn a_loop_runs_once_for_a_client_that_wants_no_more() {
    let program = with_macros(LOOP);
    let mut client = Client::greeted(&program, Setup { is_persistent: false, ..PERSISTENT });
    let told = client.run(&[10]);
    assert_eq!((told.exited(), told.hits), (Some(5), vec![(3, 1), (10, 1)]));
}

#[test]
fn without_shared_memory_the_buffer_of_a_loop_is_standard_input() {
    let program = with_macros(LOOP);
    let mut client = Client::greeted(&program, Setup { testcase_size: None, ..PERSISTENT });
    for byte in [10, 20] {
        let told = client.run(&[byte]);
        assert_eq!((told.exited(), told.hits), (Some(5), vec![(3, 1), (byte.into(), 1)]));
    }
}

#[test]
fn what_follows_the_last_page_of_the_input_is_out_of_bounds() {
    let program = with_macros(
        "int main(void) {
           unsigned char *buffer = cairn_afl_buffer();
           while (cairn_afl_loop(1000)) HIT(((volatile unsigned char *)buffer)[cairn_afl_length() + 10]);
           return 0;
         }",
    );
    let mut client = Client::greeted(&program, Setup { testcase_size: Some(1 << 14), ..PERSISTENT });
    // Bytes of the longer input are not seen behind the shorter one.
    assert_eq!(client.run(&[1; 5000]).hits, [(0, 1)]);
    assert_eq!(client.run(&[1; 100]).hits, [(0, 1)]);
    assert_eq!(client.run(&[1; 4090]).died_of(), Some(libc::SIGSEGV));
    assert_eq!(client.run(&[1; 5000]).hits, [(0, 1)]);
}

#[test]
fn a_loop_may_read_standard_input() {
    let program = with_macros(
        "#include <unistd.h>
         int main(void) {
           while (cairn_afl_loop(1000)) {
             unsigned char byte = 0;
             read(0, &byte, 1);
             HIT(byte);
           }
         }",
    );
    let mut client = Client::greeted(&program, Setup { testcase_size: None, ..PERSISTENT });
    let (first, second) = (client.run(&[10]), client.run(&[20]));
    assert_eq!((first.hits, second.hits), (vec![(10, 1)], vec![(20, 1)]));
    assert_eq!(first.child, second.child);
}

#[test]
fn what_comes_before_the_macros_happens_once() {
    let source = |macros: &str| {
        format!(
            "#include <fcntl.h>
             #include <unistd.h>
             int main(void) {{ write(open(\"log\", O_WRONLY | O_CREAT | O_APPEND, 0600), \"x\", 1); {macros} return 0; }}"
        )
    };
    for (macros, times) in
        [("", 3), ("cairn_afl_init();", 1), ("while (cairn_afl_loop(1)) ;", 1), ("cairn_afl_buffer();", 1)]
    {
        let program = with_macros(&source(macros));
        let mut client = Client::greeted(&program, Setup { testcase_size: Some(100), ..Setup::default() });
        for _ in 0..3 {
            assert_eq!(client.run(b"").exited(), Some(0));
        }
        assert_eq!(fs::read(program.workspace.path("log")).unwrap().len(), times, "{macros}");
    }
}

#[test]
fn a_harness_is_initialised_once() {
    let program = Program::c(
        Link::View,
        "static int n;
         int LLVMFuzzerInitialize(int *argc, char ***argv) { HIT(1); n++; return 0; }
         int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { HIT(10 + n); return 0; }",
    );
    let mut client = Client::greeted(&program, Setup::default());
    assert_eq!(client.run(b"").hits, [(11, 1)]);
    assert_eq!(client.run(b"").hits, [(11, 1)]);
}

#[test]
fn a_process_killed_while_it_stood_still_is_replaced() {
    let program = Program::c(Link::View, HARNESS);
    let mut client = Client::greeted(&program, PERSISTENT);
    let first = client.run(b"abc");
    assert!(first.stopped());
    // The client lost patience just before it heard of the stop, and its signal waits for a process that stands still.
    // SAFETY: a signal to a child of our child.
    unsafe { libc::kill(first.child, libc::SIGTERM) };
    let second = client.begin(b"ab", true);
    assert_ne!(second, first.child);
    client.hear().unwrap();
    assert_eq!(client.hits(), [(2, 1)]);
}

#[test]
fn children_end_with_the_server() {
    let program = Program::c(Link::View, HARNESS);
    let mut client = Client::greeted(&program, PERSISTENT);
    let child = client.run(b"abc").child;
    client.target.kill().unwrap();
    client.target.wait().unwrap();
    let path = format!("/proc/{child}/stat");
    while fs::read_to_string(&path).is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::yield_now();
    }
}

#[test]
fn the_server_ends_when_the_client_hangs_up() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let mut client = Client::greeted(&program, Setup::default());
    assert_eq!(client.run(&[7]).exited(), Some(7));
    client.hang_up();
    assert_eq!(client.hear(), None);
    assert!(client.target.wait().unwrap().code().is_some());
}

#[test]
fn children_do_not_have_the_pipes() {
    let program = Program::c(
        Link::View,
        "#include <fcntl.h>
         int main(void) { return (fcntl(198, F_GETFD) >= 0) + 2 * (fcntl(199, F_GETFD) >= 0); }",
    );
    let mut client = Client::greeted(&program, Setup::default());
    assert_eq!(client.run(b"").exited(), Some(0));
}

#[test]
fn a_program_that_ignores_its_children_still_does() {
    let program = Program::c(
        Link::View,
        "#include <signal.h>
         #include <stddef.h>
         __attribute__((constructor)) static void ignore(void) { signal(SIGCHLD, SIG_IGN); }
         int main(void) {
           struct sigaction now;
           sigaction(SIGCHLD, NULL, &now);
           return now.sa_handler == SIG_IGN ? 3 : 4;
         }",
    );
    let mut client = Client::greeted(&program, Setup::default());
    assert_eq!(client.run(b"").exited(), Some(3));
}

#[test]
fn a_map_that_is_too_small_is_refused() {
    let define = "-DN_COUNTERS=5000";
    let program = Program::build("clang-19", "program.c", Link::View, FIRST_BYTE, &[define]);
    for (setup, greeting) in [
        (Setup { map_size: 4096, ..Setup::default() }, 0xc000_0001 | 5119 << 1),
        (Setup { map_size: 4096, variables: NEWER, ..Setup::default() }, NEW_GREETING),
    ] {
        let mut client = Client::start(&program, setup);
        assert_eq!(client.hear(), Some(greeting));
        if greeting == NEW_GREETING {
            client.say(!NEW_GREETING);
            assert_eq!(
                [client.hear(), client.hear(), client.hear()],
                [Some(1), Some(5120), Some(NEW_GREETING)]
            );
        }
        // A client that reads the size goes no further. To one that does not, this is no child's id.
        client.say(0);
        assert_eq!(client.hear(), Some(0xf800_018f));
        assert_eq!(client.hear(), None);
    }
}

#[test]
fn a_map_too_large_for_the_old_greeting_is_a_failure() {
    let define = "-DN_COUNTERS=8388608";
    let program = Program::build("clang-19", "program.c", Link::View, FIRST_BYTE, &[define]);
    let mut client = Client::start(&program, Setup { map_size: 1 << 24, ..Setup::default() });
    assert_eq!(client.hear(), Some(0xf800_018f));
    assert_eq!(client.hear(), None);
    let mut client =
        Client::start(&program, Setup { map_size: 1 << 24, variables: NEWER, ..Setup::default() });
    assert_eq!(client.hear(), Some(NEW_GREETING));
    client.say(!NEW_GREETING);
    assert_eq!([client.hear(), client.hear()], [Some(1), Some(8_388_672)]);
    assert_eq!(client.hear(), Some(NEW_GREETING));
    assert_eq!(client.run(&[7]).hits, [(7, 1)]);
}

#[test]
fn a_map_that_cannot_be_attached_is_a_failure() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let nowhere = ("__AFL_SHM_ID", "2147483647");
    for (variables, word) in
        [(&[nowhere][..], 0xf800_088f), (&[nowhere, ("__AFL_SHM_ID_SIZE", "65536")], 0xeffe_0008)]
    {
        let mut client = Client::start(&program, Setup { variables, ..Setup::default() });
        assert_eq!(client.hear(), Some(word));
        assert_eq!(client.hear(), None);
    }
}

/// What a client that knows the new form leaves in the environment.
const NEWER: &[(&str, &str)] = &[("__AFL_SHM_ID_SIZE", "65536")];
const NEW_GREETING: u32 = 0x4146_4c01;

#[test]
fn a_newer_client_is_greeted_the_new_way() {
    let program = Program::c(Link::View, HARNESS);
    let mut client = Client::start(&program, Setup { variables: NEWER, ..PERSISTENT });
    assert_eq!(client.hear(), Some(NEW_GREETING));
    client.say(!NEW_GREETING);
    // Map size and test case, and the parameter of the first.
    assert_eq!([client.hear(), client.hear()], [Some(3), Some(192)]);
    assert_eq!(client.hear(), Some(NEW_GREETING));
    assert_eq!(client.run(b"abc").hits, [(3, 1)]);
}

#[test]
fn a_client_that_does_not_answer_the_new_greeting_has_asked_for_a_run() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let mut client = Client::start(&program, Setup { variables: NEWER, ..Setup::default() });
    assert_eq!(client.hear(), Some(NEW_GREETING));
    assert_eq!(client.run(&[7]).hits, [(7, 1)]);
    assert_eq!(client.run(&[8]).hits, [(8, 1)]);
}

#[test]
fn a_client_that_declines_shared_memory_may_ask_for_a_run_at_once() {
    let program = Program::c(Link::View, HARNESS);
    for declines in [true, false] {
        let mut client = Client::start(&program, PERSISTENT);
        assert_eq!(client.hear(), Some(0x8000_0001 | 0x4000_0000 | 0x0100_0000 | 191 << 1));
        if declines {
            client.say(0x8000_0001);
        }
        client.testcase = None;
        assert_eq!(client.run(b"abc").hits, [(3, 1)]);
    }
}

#[test]
fn shared_memory_may_be_a_file() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let name = format!("/cairn-test-{}", std::process::id());
    let path = format!("/dev/shm{name}");
    fs::write(&path, [0; 1000]).unwrap();
    let variables = &[("__AFL_SHM_ID", name.as_str())];
    let mut client = Client::greeted(&program, Setup { variables, ..Setup::default() });
    client.run(&[7]);
    let map = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let mut expected = vec![0; 1000];
    expected[64 + 7] = 1;
    assert_eq!(map, expected);
}

#[test]
fn pipes_alone_do_not_make_a_forkserver() {
    let program = Program::c(Link::View, FIRST_BYTE);
    for id in [None, Some("rubbish"), Some(""), Some("/../etc"), Some("-1")] {
        let mut command = program.command(None);
        command.envs(id.map(|id| ("__AFL_SHM_ID", id)));
        let ends = give_pipes(&mut command);
        Ran::of(&mut command, &[7]).exits_with(7);
        drop(command);
        let (_, mut status) = ends.keep();
        let mut said = Vec::new();
        status.read_to_end(&mut said).unwrap();
        assert_eq!(said, b"", "{id:?}");
    }
}

#[test]
fn with_a_channel_there_is_no_forkserver() {
    let program = Program::c(Link::View, FIRST_BYTE);
    let channel = Channel::new();
    let map = Segment::new(1 << 16);
    let mut command = program.command(Some(&channel));
    command.env("__AFL_SHM_ID", map.number.to_string());
    let _ends = give_pipes(&mut command);
    Ran::of(&mut command, &[7]).exits_with(7);
    assert_eq!(channel.counters()[64 + 7], 1);
}

#[test]
fn a_view_with_a_path_hash_does_not_serve() {
    let program = Program::build("clang-19", "program.c", Link::View, FIRST_BYTE, &["-DVIEW_KIND=2"]);
    let map = Segment::new(1 << 16);
    let mut command = program.command(None);
    command.env("__AFL_SHM_ID", map.number.to_string());
    let _ends = give_pipes(&mut command);
    Ran::of(&mut command, &[7]).exits_with(7);
}

#[test]
fn without_pipes_a_fresh_map_is_counted_into() {
    let program = Program::c(Link::View, FIRST_BYTE);
    for used in [0, 1] {
        let mut map = Segment::new(1 << 16);
        // Another view of the same run was here.
        map.bytes()[500] = used;
        let mut command = program.command(None);
        command.env("__AFL_SHM_ID", map.number.to_string());
        Ran::of(&mut command, &[7]).exits_with(7);
        assert_eq!(map.bytes()[64 + 7], 1 - used);
    }
}
