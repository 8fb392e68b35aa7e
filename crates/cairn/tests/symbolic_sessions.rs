//! A symbolic run in a session leaves nothing behind: what it does and notes equals what it does and notes in a fresh process.

#[path = "symbolic_sessions/same.rs"]
mod same;

use cairn_abi::{channel::TraceLevel, symbolic::Cut};
use cairn_executor::{
    Ran, RunConfig, SymbolicConfig, SymbolicExecutor, SymbolicPlace, SymbolicRun, Target, WhyFresh,
};
use cairn_model::{
    Ending, Input, ProgramMap,
    input::{FileKind, VariableValue},
    versioned,
};
use cairn_testkit::{Workspace, fixture};
use nix::sys::signal::Signal;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// Limits with which an endless loop ends soon, but not so soon that a busy machine looks like one.
fn limits() -> RunConfig {
    RunConfig { wall_limit: Duration::from_secs(2), ..RunConfig::default() }
}

fn config() -> SymbolicConfig {
    SymbolicConfig { patience: 1, ..SymbolicConfig::default() }
}

/// A program with its symbolic view.
struct Built {
    workspace: Workspace,
    target: Target,
}

impl Built {
    /// `target.c` of a workspace.
    fn new(workspace: Workspace) -> Self {
        let is_harness = workspace.read("target.c").contains("LLVMFuzzerTestOneInput");
        let more: &[&str] = if is_harness { &["-fsanitize=fuzzer"] } else { &[] };
        workspace.run("cairn-cc", ["target.c", "-lm", "-o", "program"].iter().chain(more)).success();
        fs::write(workspace.path("nothing"), "").unwrap();
        // Whatever comes of the run, the view is built for it.
        workspace.run("cairn", ["trace", "./program", "nothing"]);
        let view = find(&workspace.path(".cairn"), "symbolic");
        let map = fs::read(view.with_file_name("program.map")).unwrap();
        let map: ProgramMap = versioned::decode(&map).unwrap();
        Self { workspace, target: Target { program: view, n_counters: map.n_counters } }
    }

    fn of_text(text: &str) -> Self {
        let workspace = Workspace::new();
        fs::write(workspace.path("target.c"), text).unwrap();
        Self::new(workspace)
    }

    fn executor(&self, config: SymbolicConfig) -> SymbolicExecutor {
        SymbolicExecutor::new(self.target.clone(), limits(), config).unwrap()
    }

    /// The two ways to run it.
    fn both(&self, config: SymbolicConfig) -> [SymbolicExecutor; 2] {
        [SymbolicPlace::Session, SymbolicPlace::Fresh]
            .map(|place| self.executor(SymbolicConfig { place, ..config }))
    }
}

fn find(folder: &Path, name: &str) -> PathBuf {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|found| found == name) {
                return path;
            }
        }
    }
    panic!("no `{name}` in `{}`", folder.display())
}

#[track_caller]
fn assert_same(name: &str, run: &SymbolicRun, fresh: &str) {
    if let Some(difference) = same::difference(&same::text(run), fresh) {
        panic!("{name}, which ran {:?}: {difference}", run.ran);
    }
}

/// The first input of a fixture, and others made of it.
fn inputs(workspace: &Workspace) -> Vec<Input> {
    let is_harness = workspace.read("target.c").contains("LLVMFuzzerTestOneInput");
    let start = match fs::read(workspace.path("inputs/start")) {
        Ok(bytes) if is_harness => Input { buffer: Some(bytes.into()), ..Input::default() },
        Ok(bytes) => Input { stdin: bytes.into(), ..Input::default() },
        Err(_) => {
            serde_json::from_str(&workspace.read("inputs/start.json")).expect("an input is written in JSON")
        }
    };
    let changes: [fn(&mut Vec<u8>); 5] = [
        |_| {},
        |bytes| bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1)),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.extend_from_within(..),
        |bytes| bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = b'0' + (at * 7 % 75) as u8),
    ];
    changes.map(|change| changed(&start, change)).into()
}

/// The same input with other bytes, and other numbers.
fn changed(input: &Input, change: fn(&mut Vec<u8>)) -> Input {
    let mut input = input.clone();
    let of_files = input.files.iter_mut().filter_map(|file| match &mut file.kind {
        FileKind::Regular(content) => Some(content),
        _ => None,
    });
    let bytes =
        input.buffer.iter_mut().chain(of_files).chain(input.environment.iter_mut().map(|(_, value)| value));
    bytes.chain([&mut input.stdin]).for_each(|bytes| change(&mut bytes.0));
    for variable in &mut input.variables {
        let number = |number: u64| {
            let mut bytes = number.to_le_bytes().to_vec();
            change(&mut bytes);
            bytes.resize(8, 0);
            u64::from_le_bytes(bytes.try_into().unwrap())
        };
        match &mut variable.value {
            VariableValue::Int(value) => *value = number(*value as u64) as i32 as i64,
            VariableValue::Uint(value) => *value = number(*value) as u32 as u64,
            VariableValue::Float(bits) => *bits = number((*bits).into()) as u32,
            VariableValue::Double(bits) => *bits = number(*bits),
            VariableValue::Bytes(bytes) => bytes.0.iter_mut().for_each(|byte| *byte ^= 0x41),
        }
    }
    input
}

/// How many tests share the fixtures.
const N_PARTS: usize = 8;

/// Runs the inputs of every eighth fixture in one session each, forwards and backwards, and compares each run with a fresh one.
fn compare_part(part: usize) {
    let folder = fixture("flip_strcmp");
    let mut names: Vec<String> = fs::read_dir(folder.parent().expect("fixtures lie in a folder"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("flip_"))
        .collect();
    names.sort();
    assert!(names.len() > 45, "{names:?}");
    for name in names.into_iter().skip(part).step_by(N_PARTS) {
        let built = Built::new(Workspace::of_fixture(&name));
        let inputs = inputs(&built.workspace);
        let [mut session, mut fresh] = built.both(config());
        assert_eq!(session.mode().to_string(), "snapshot", "{name}");
        let known: Vec<String> = inputs.iter().map(|input| same::text(&fresh.run(input).unwrap())).collect();
        let there = 0..inputs.len();
        for index in there.clone().chain(there.rev()) {
            let run = session.run(&inputs[index]).unwrap();
            assert_same(&format!("{name}, input {index}"), &run, &known[index]);
            assert_eq!(run.ran, Ran::Live, "{name}, input {index}");
        }
    }
}

#[test]
fn fixtures_are_the_same_in_a_session_part_1() {
    compare_part(0);
}

#[test]
fn fixtures_are_the_same_in_a_session_part_2() {
    compare_part(1);
}

#[test]
fn fixtures_are_the_same_in_a_session_part_3() {
    compare_part(2);
}

#[test]
fn fixtures_are_the_same_in_a_session_part_4() {
    compare_part(3);
}

#[test]
fn fixtures_are_the_same_in_a_session_part_5() {
    compare_part(4);
}

#[test]
fn fixtures_are_the_same_in_a_session_part_6() {
    compare_part(5);
}

#[test]
fn fixtures_are_the_same_in_a_session_part_7() {
    compare_part(6);
}

#[test]
fn fixtures_are_the_same_in_a_session_part_8() {
    compare_part(7);
}

/// Does what the first byte says, after it has looked at all others.
const DIVERSE: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static unsigned kept;
    int main(void) {
        static unsigned char text[4096];
        ssize_t length = read(0, text, sizeof text);
        unsigned char *copy = malloc(length + 1);
        memcpy(copy, text, length);
        unsigned hash = kept;
        for (ssize_t i = 1; i < length; i++) {
            hash = hash * 31 + copy[i];
            if (hash % 7 == 3) kept++;
        }
        switch (text[0]) {
        case 'f': for (unsigned i = 0; i < 100000; i++) hash = hash * 3 + i; if (hash == 5) puts("five"); break;
        case 'l': for (volatile int i = 0;; i = 0) {}
        case 'c': *(volatile int *)0 = hash; break;
        case 'e': _exit(9);
        case 'k': if (fork() == 0) _exit(kept == 3); wait(NULL); break;
        default: if (hash == 12345) puts("found");
        }
        free(copy);
        return kept % 100;
    }"#;

#[test]
fn a_run_that_is_cut_short_leaves_nothing_for_the_next() {
    let built = Built::of_text(DIVERSE);
    // Calm runs have room, one that goes on for long has not.
    let config = SymbolicConfig { n_nodes: 3000, ..config() };
    let [mut session, mut fresh] = built.both(config);
    let input = |text: &str| Input { stdin: text.into(), ..Input::default() };
    let calm = input("- every calm run is the same");
    let calm_text = same::text(&fresh.run(&calm).unwrap());
    let others = [
        ("full of nodes", Ending::Exited { code: 2 }, Cut::Nodes),
        ("loops for ever", Ending::TimedOut, Cut::None),
        ("crashes", Ending::Signalled { signal: Signal::SIGSEGV as i32 }, Cut::None),
        ("exits", Ending::Exited { code: 9 }, Cut::None),
    ];
    for (text, ending, cut) in others {
        let known = fresh.run(&input(text)).unwrap();
        assert_eq!((&known.execution.outcome.ending, known.cut), (&ending, cut), "{text}");
        for _ in 0..2 {
            let run = session.run(&input(text)).unwrap();
            assert_same(text, &run, &same::text(&known));
            assert_eq!(run.ran, Ran::Live, "{text}");
            let run = session.run(&calm).unwrap();
            assert_same(&format!("after `{text}`"), &run, &calm_text);
            assert_eq!(run.ran, Ran::Live, "after `{text}`");
        }
    }
}

#[test]
fn a_run_that_cannot_be_undone_is_made_in_a_fresh_process() {
    let built = Built::of_text(DIVERSE);
    let [mut session, mut fresh] = built.both(config());
    for text in ["kind to children", "- calm", "kind to children", "- calm too"] {
        let input = Input { stdin: text.into(), ..Input::default() };
        let run = session.run(&input).unwrap();
        assert_same(text, &run, &same::text(&fresh.run(&input).unwrap()));
        let is_fresh = matches!(&run.ran, Ran::Fresh { why: WhyFresh::Call { .. } });
        assert_eq!(is_fresh, text.starts_with('k'), "{text} ran {:?}", run.ran);
    }
}

/// Address space and memory in use of the processes that run a view, in pages.
fn pages(built: &Built) -> Vec<[u64; 2]> {
    let folder = built.workspace.root().file_name().unwrap();
    let of_process = |process: &Path| {
        let program = fs::read_link(process.join("exe")).ok()?;
        let statm = fs::read_to_string(process.join("statm")).ok()?;
        let mut numbers = statm.split(' ').map(|number| number.parse().unwrap());
        let is_ours = program.iter().any(|name| name == folder);
        is_ours.then(|| [numbers.next().unwrap(), numbers.next().unwrap()])
    };
    let mut pages: Vec<[u64; 2]> =
        fs::read_dir("/proc").unwrap().filter_map(|entry| of_process(&entry.unwrap().path())).collect();
    pages.sort_unstable();
    pages
}

#[test]
fn two_thousand_runs_need_no_more_memory_than_a_few() {
    let built = Built::of_text(DIVERSE);
    let mut session = built.executor(config());
    // Different lengths and values make different nodes, which come to lie in different lists.
    let text = |number: u32| format!("- {number} {}", "x".repeat(number as usize % 50));
    let mut run = |number: u32| {
        let run = session.run(&Input { stdin: text(number).as_str().into(), ..Input::default() }).unwrap();
        assert_eq!((run.ran, run.cut), (Ran::Live, Cut::None));
        run.nodes.len()
    };
    let n_nodes: usize = (0..200).map(&mut run).sum();
    let before = pages(&built);
    let n_nodes_more: usize = (200..2200).map(&mut run).sum();
    let after = pages(&built);
    assert!(n_nodes_more > 5 * n_nodes, "{n_nodes} and {n_nodes_more}");
    assert_eq!(before.len(), 2, "a template and a runner: {before:?}");
    for ([size, resident], [size_later, resident_later]) in before.iter().zip(&after) {
        assert_eq!(size, size_later, "{before:?}, later {after:?}");
        assert!(*resident_later < resident + 64, "{before:?}, later {after:?}");
    }
}

/// Bytes of the input take the place of equal ones in memory that later runs look at and do not write.
const KEPT: &str = r#"
    #include <stdio.h>
    #include <string.h>
    #include <unistd.h>
    static char text[3 << 20], kept[3 << 20] = "hello";
    int main(void) {
        size_t length = 0;
        for (ssize_t more; (more = read(0, text + length, sizeof text - length)) > 0;) length += more;
        if (text[0] == 'k') memcpy(kept, text + 1, length - 1);
        for (int i = 0; i < 3; i++)
            if (kept[i * 1000000] == 'x') puts("found");
        return 0;
    }"#;

#[test]
fn labels_of_one_run_are_not_found_by_the_next() {
    let built = Built::of_text(KEPT);
    let [mut session, mut fresh] = built.both(SymbolicConfig { patience: 20, ..config() });
    let calm = Input { stdin: "- does not write".into(), ..Input::default() };
    let calm_text = same::text(&fresh.run(&calm).unwrap());
    // So few pages of the shadow that each of them is remembered, and more than that.
    for length in [10, 5000, 2_500_000] {
        let mut content = b"khello".to_vec();
        content.resize(length, 0);
        let input = Input { stdin: content.into(), ..Input::default() };
        let run = session.run(&input).unwrap();
        assert_eq!((&run.ran, run.cut), (&Ran::Live, Cut::None), "{length}");
        assert!(run.records.len() > 1, "{length}");
        let run = session.run(&calm).unwrap();
        assert_same(&format!("after {length} bytes"), &run, &calm_text);
        assert_eq!(run.ran, Ran::Live, "after {length} bytes");
    }
}

#[test]
fn what_ran_before_main_is_a_part_of_every_trace() {
    let built = Built::of_text(
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        static int n_early;
        __attribute__((constructor)) static void early(void) {
            for (int i = 0; i < 3; i++)
                if (getenv("NOBODY_SETS_THIS") == NULL) n_early++;
        }
        int main(void) {
            int byte = getchar();
            if (n_early == 3 && byte == 'x') puts("found");
            return byte == EOF;
        }"#,
    );
    let [mut session, mut fresh] = built.both(SymbolicConfig { trace_level: TraceLevel::All, ..config() });
    for text in ["", "x", "y", "x"] {
        let input = Input { stdin: text.into(), ..Input::default() };
        let known = fresh.run(&input).unwrap();
        // Those of the loop, and those of `main`.
        assert!(known.records.len() > 8, "{:?}", known.records);
        let run = session.run(&input).unwrap();
        assert_same(text, &run, &same::text(&known));
        assert_eq!(run.ran, Ran::Live, "{text}");
    }
}

#[test]
fn a_program_that_reads_its_input_before_main_cannot_be_live() {
    let built = Built::of_text(
        r#"
        #include <unistd.h>
        static char early;
        __attribute__((constructor)) static void begin(void) { if (read(0, &early, 1) < 0) _exit(1); }
        int main(void) { return early == 'x'; }"#,
    );
    let [mut session, mut fresh] = built.both(config());
    let why = "it opens files, reads its input or leaves its folder before `main`";
    assert_eq!(session.mode().to_string(), format!("a fresh process for every run: {why}"));
    let input = Input { stdin: "x".into(), ..Input::default() };
    let run = session.run(&input).unwrap();
    assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 1 });
    assert_same("x", &run, &same::text(&fresh.run(&input).unwrap()));
}
