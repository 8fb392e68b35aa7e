//! What a symbolic run is given, and what is believed of what it leaves.

mod support;

use cairn_abi::{
    record::Record,
    symbolic::{Cut, Op},
};
use cairn_executor::{SandboxLevel, SymbolicConfig, SymbolicExecutor, SymbolicRun, Target};
use cairn_model::{
    Ending, Input,
    input::{FileKind, FileRegion},
};
use support::{config, program};

/// A runtime in miniature: maps the channel and writes what the test says.
const RUNTIME: &str = r#"
    #include <stdint.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    struct region { uint64_t offset, size; };
    struct header {
        uint64_t magic; uint32_t version, trace_level;
        struct region counters, delivery, output, trace;
        uint64_t delivery_length;
        struct region fuel, session, inputs, baseline, results, captured, control, infections, values;
        struct region symbolic, sources, nodes, tables, sites;
        uint32_t task, reserved;
        uint32_t stage, ended_by; int32_t harness_return; uint32_t refusal;
        uint64_t output_total, trace_committed, trace_dropped;
    };
    struct head { uint32_t n_nodes, cut; uint64_t tables_used, n_stale, n_concrete_addresses; };
    struct node { uint8_t op, reserved; uint16_t width; uint32_t a, b, c; uint64_t value; uint32_t hash, next; };
    struct record { uint16_t kind, detail; uint32_t id; uint64_t a; uint32_t b, label, c, d; };
    static struct header *channel;
    __attribute__((unused)) static void *at(struct region r) { return (char *)channel + r.offset; }
    __attribute__((constructor(101))) static void map(void) {
        off_t size = lseek(190, 0, SEEK_END);
        channel = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, 190, 0);
        if (channel == MAP_FAILED) _exit(99);
        channel->stage = 1;
    }
"#;

fn run(text: &str, input: &Input) -> SymbolicRun {
    let program = program(&format!("{RUNTIME}{text}"));
    let target = Target { program: program.path.clone(), n_counters: 10 };
    SymbolicExecutor::new(target, config(SandboxLevel::Full), SymbolicConfig::default())
        .unwrap()
        .run(input)
        .unwrap()
}

#[test]
fn records_nodes_and_tables_come_back() {
    let text = r#"
        int main(void) {
            struct head *head = at(channel->symbolic);
            struct node *nodes = at(channel->nodes);
            struct record *records = at(channel->trace);
            if (channel->trace_level != 1) return 1;
            nodes[1] = (struct node){.op = 2, .width = 8, .value = 65};
            head->n_nodes = 2;
            memcpy(at(channel->tables), "12345678", 8);
            head->tables_used = 8;
            head->n_stale = 3;
            records[0] = (struct record){.kind = 1, .detail = 1, .id = 7, .label = 1};
            channel->trace_committed = 1;
            return 0;
        }"#;
    let run = run(text, &Input::default());
    assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 0 });
    assert_eq!(run.records, [Record::Conditional { condition: 7, direction: true, label: 1 }]);
    assert_eq!((run.nodes.len(), run.nodes[1].op, run.nodes[1].value), (2, Op::Input as u8, 65));
    assert_eq!((run.tables.as_slice(), run.n_stale), (b"12345678".as_slice(), 3));
    assert!(run.is_whole() && run.execution.trace.is_empty());
}

#[test]
fn there_is_room_for_the_shadow() {
    let text = r#"
        int main(void) {
            void *shadow = mmap((void *)0x100000000000, 16ull << 40, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
            return shadow == MAP_FAILED;
        }"#;
    assert_eq!(run(text, &Input::default()).execution.outcome.ending, Ending::Exited { code: 0 });
}

#[test]
fn the_program_is_still_limited_in_memory() {
    let text = r#"
        #include <stdlib.h>
        int main(void) {
            void *shadow = mmap((void *)0x100000000000, 16ull << 40, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
            char *volatile memory = malloc(512 << 20);
            return shadow == MAP_FAILED ? 1 : memory ? 2 : 3;
        }"#;
    assert_eq!(run(text, &Input::default()).execution.outcome.ending, Ending::Exited { code: 3 });
}

#[test]
fn wild_counts_are_cut_and_bad_records_named() {
    let text = r#"
        int main(void) {
            struct head *head = at(channel->symbolic);
            struct record *records = at(channel->trace);
            head->n_nodes = 0xffffffff;
            head->tables_used = ~0ull;
            head->cut = 77;
            records[0] = (struct record){.kind = 2, .id = 5};
            records[1] = (struct record){.kind = 99};
            channel->trace_committed = ~0ull;
            return 0;
        }"#;
    let run = run(text, &Input::default());
    let default = SymbolicConfig::default();
    assert_eq!((run.nodes.len(), run.tables.len()), (default.n_nodes, default.tables_size));
    assert_eq!(run.records, [Record::Enter { function: 5 }]);
    assert_eq!(run.cut, Cut::Aliasing);
    assert_eq!(
        run.damage.unwrap().to_string(),
        "record 1 of the trace was overwritten: no trace record has kind 99 with detail 0"
    );
}

#[test]
fn records_that_did_not_fit_cut_the_trace() {
    let run = run("int main(void) { channel->trace_dropped = 1; return 0; }", &Input::default());
    assert_eq!(run.cut, Cut::Records);
}

#[test]
fn a_run_is_told_its_files() {
    let text = r#"
        int main(void) {
            char *source = at(channel->sources);
            for (;;) {
                uint32_t head[3];
                memcpy(head, source, 12);
                if (!head[2]) return 0;
                printf("%x %x %.*s\n", head[0], head[1], (int)head[2], source + 12);
                source += (12 + head[2] + 3) / 4 * 4;
            }
        }"#;
    let file = |path: &str, kind| FileRegion {
        path: path.into(),
        kind,
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    };
    let mut files = vec![file("folder", FileKind::Folder), file("folder/a", FileKind::Regular("x".into()))];
    let listed = run(text, &Input { files: files.clone(), ..Input::default() });
    assert_eq!(support::stdout(&listed.execution), "ffffffff 6000000 folder\n4000000 6000001 folder/a\n");
    // More names than fit into the first region.
    files.extend((0..400).map(|n| file(&format!("folder/number-{n}"), FileKind::Fifo)));
    let listed = run(text, &Input { files, ..Input::default() });
    assert_eq!(support::stdout(&listed.execution).lines().count(), 402);
}
