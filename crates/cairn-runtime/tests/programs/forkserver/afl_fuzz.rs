//! Debian's AFL++, which speaks the old handshake, on real views.

use cairn_abi::counters::COUNTERS_START;
use cairn_testkit::{Ran, Workspace};
use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

/// Four letters, each a branch of its own; the fourth is a crash.
const LETTERS: &str = r#"
  if (size > 3 && data[0] == 'c') { if (data[1] == 'a') { if (data[2] == 'f') { if (data[3] == 'e') abort(); } } }
"#;

/// What `afl-fuzz` says at the end.
struct Fuzzed {
    stats: BTreeMap<String, String>,
    log: String,
    n_crashes: usize,
}

impl Fuzzed {
    fn number(&self, name: &str) -> u64 {
        let value = self.stats.get(name).unwrap_or_else(|| panic!("no `{name}` in {:?}", self.stats));
        value.parse().unwrap_or_else(|_| panic!("{name}: {value}"))
    }
}

/// A program built with `cairn-cc`, and its plain view.
struct Target {
    workspace: Workspace,
    view: PathBuf,
}

impl Target {
    fn build(source: &str) -> Self {
        let workspace = Workspace::new();
        workspace.write("cairn.toml", "");
        workspace.write("program.c", source);
        workspace.sh("cairn-cc program.c -o program && cairn build ./program").success();
        let view = plain_view(&workspace);
        Self { workspace, view }
    }

    /// Gives the view to `afl-fuzz` until it finds a crash, for at most `n_runs`.
    fn fuzz(&self, n_runs: u32) -> Fuzzed {
        self.workspace.write("seeds/seed", "cbfe");
        let mut command = self.tool("afl-fuzz");
        // The time is a limit for what hangs.
        command.args(["-s", "1", "-V", "60", "-E", &n_runs.to_string(), "-i", "seeds", "-o", "out", "--"]);
        let ran = Ran::of(command.arg(&self.view).env("AFL_BENCH_UNTIL_CRASH", "1"), b"").success();
        let stats = fs::read_to_string(self.workspace.path("out/default/fuzzer_stats")).unwrap();
        let pairs = stats.lines().filter_map(|line| line.split_once(':'));
        let stats = pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
        let crashes = fs::read_dir(self.workspace.path("out/default/crashes")).unwrap();
        let crashes = crashes.map(|entry| entry.unwrap().file_name());
        let n_crashes = crashes.filter(|name| name.as_encoded_bytes().starts_with(b"id:")).count();
        Fuzzed { stats, log: ran.stdout, n_crashes }
    }

    /// One of AFL's tools, without advice on how to set up the machine.
    fn tool(&self, name: &str) -> Command {
        if !is_installed(name) {
            panic!(
                "`{name}` is not installed\n\nhint: run `scripts/setup`, or install the Debian package `afl++`"
            );
        }
        let mut command = self.workspace.command(name);
        let quiet =
            ["AFL_NO_UI", "AFL_NO_AFFINITY", "AFL_SKIP_CPUFREQ", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES"];
        command.envs(quiet.map(|name| (name, "1")));
        command
    }
}

fn is_installed(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

/// Where `cairn build` puts the plain view.
fn plain_view(workspace: &Workspace) -> PathBuf {
    let only = |folder: PathBuf| {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        let [only] = &folders[..] else { panic!("`{}` holds {folders:?}", folder.display()) };
        only.clone()
    };
    only(only(workspace.path(".cairn")).join("views")).join("plain")
}

fn whole_program(letters: &str) -> String {
    format!(
        "#include <stdlib.h>
         #include <unistd.h>
         int main(void) {{
           unsigned char data[100];
           long size = read(0, data, 100);
           {letters}
           return 0;
         }}"
    )
}

fn harness(letters: &str) -> String {
    format!(
        "#include <stdlib.h>
         int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {{ {letters} return 0; }}"
    )
}

#[test]
fn afl_fuzz_finds_paths_of_a_whole_program() {
    let fuzzed = Target::build(&whole_program(&LETTERS.replace("abort", "getpid"))).fuzz(3000);
    assert!(fuzzed.number("execs_done") >= 3000, "{:?}", fuzzed.stats);
    assert!(fuzzed.number("corpus_count") > 1, "{:?}", fuzzed.stats);
    assert!(fuzzed.number("edges_found") > 4, "{:?}", fuzzed.stats);
    assert_eq!(fuzzed.stats["stability"], "100.00%");
    assert!(!fuzzed.log.contains("SHARED MEMORY"), "{}", fuzzed.log);
}

#[test]
fn afl_fuzz_finds_the_crash_of_a_harness() {
    let fuzzed = Target::build(&harness(LETTERS)).fuzz(500_000);
    assert_eq!(fuzzed.n_crashes, 1, "{:?}", fuzzed.stats);
    assert!(fuzzed.stats["target_mode"].contains("persistent shmem_testcase"), "{:?}", fuzzed.stats);
    assert_eq!(fuzzed.stats["stability"], "100.00%");
    assert!(fuzzed.log.contains("Using SHARED MEMORY FUZZING"), "{}", fuzzed.log);
}

#[test]
fn afl_fuzz_finds_the_crash_of_a_loop() {
    let source = format!(
        "#include <stdlib.h>
         __AFL_FUZZ_INIT();
         int main(void) {{
           __AFL_INIT();
           unsigned char *data = __AFL_FUZZ_TESTCASE_BUF;
           while (__AFL_LOOP(1000)) {{
             int size = __AFL_FUZZ_TESTCASE_LEN;
             {LETTERS}
           }}
           return 0;
         }}"
    );
    let fuzzed = Target::build(&source).fuzz(500_000);
    assert_eq!(fuzzed.n_crashes, 1, "{:?}", fuzzed.stats);
    assert!(fuzzed.stats["target_mode"].contains("persistent shmem_testcase deferred"), "{:?}", fuzzed.stats);
    assert_eq!(fuzzed.stats["stability"], "100.00%");
}

#[test]
fn afl_showmap_shows_the_counters_of_one_run() {
    for source in [whole_program(LETTERS), harness(LETTERS)] {
        let target = Target::build(&source);
        let shown = |input: &[u8]| {
            let mut command = target.tool("afl-showmap");
            Ran::of(command.args(["-q", "-o", "map", "--"]).arg(&target.view), input).success();
            fs::read_to_string(target.workspace.path("map")).unwrap()
        };
        let (short, long) = (shown(b"c"), shown(b"cafx"));
        // What stands before the counters is not shown.
        let shown: Vec<usize> = short.lines().map(|line| line[..6].parse().unwrap()).collect();
        assert!(shown.iter().all(|place| *place >= COUNTERS_START), "{short}");
        assert!(!shown.is_empty());
        assert!(long.lines().count() > short.lines().count(), "{short}\n{long}");
    }
}
