//! A campaign that is killed at any moment has everything it told of when it goes on.

use cairn_model::{Input, Template};
use cairn_store::{CorpusFolder, Store};
use cairn_testkit::Workspace;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Many branches, three crashes, and with an argument a hang, found one after the other.
const PROGRAM: &str = r#"
#include <stdio.h>
static volatile int spins;
static void first(int *where) { *where = 1; }
static void second(int *where) { *where = 2; }
static int third(int n) { return 100 / n; }
static void spin(void) {
  for (;;)
    spins += getchar();
}
static int number(const char *text) {
  int value = 0;
  for (; *text >= '0' && *text <= '9'; text++)
    value = value * 10 + (*text - '0');
  return value;
}
int main(int argc, char **argv) {
  char text[32];
  int sum = 0, start = getchar();
  if (start == '!' && argc > 1)
    spin();
  ungetc(start, stdin);
  while (fgets(text, sizeof text, stdin)) {
    int n = number(text + 1);
    switch (text[0]) {
    case 'a': sum += n > 9 ? 2 : 1; break;
    case 'b': sum -= n == 7; break;
    case 'c': if (text[1] == '!') first(0); break;
    case 'd': if (text[1] == '?' && text[2] == '!') second(0); break;
    case 'e': if (n % 100 == 42) sum += third(n - n); break;
    case 'f': sum += n > 20 && n < 30; break;
    case 'g': sum += n * 2 > 100 && n < 300; break;
    case 'h': sum += text[1] == text[2] && text[2] != text[3]; break;
    }
  }
  printf("%d\n", sum);
  return sum > 5;
}
"#;

/// Campaigns, and how often each of them is killed.
const CAMPAIGNS: usize = 20;
const KILLS: usize = 5;

/// Where moments come from.
const SEED: u64 = 0x5eed;

/// What a campaign tries each time it goes on, unless it is killed before.
const INPUTS: u32 = 500;

/// Campaigns of one kind after the other. To confirm a hang takes time, and so does running many mutants.
const KINDS: [&[&str]; 4] =
    [&[], &["--strategy=mu2", "--mutant-function=number", "--no-recheck"], &["--workers=1"], &["--", "hang"]];

/// When a campaign is killed.
enum Moment {
    /// After so much time.
    Time(Duration),
    /// So much time after it has told so many events: while something is stored, or the next thing is judged.
    Events(usize, Duration),
}

/// What a campaign has told until it was killed for the last time.
#[derive(Default)]
struct Told {
    /// On standard output.
    lines: Vec<String>,
    /// In its journal.
    journal: String,
}

#[test]
fn killed_at_any_moment_a_campaign_has_everything_it_told() {
    let workspace = program();
    let mut n_begun = 0;
    let lengths = KINDS.map(|kind| {
        // The first one builds what is missing.
        let times = [1, 2].map(|seed| {
            n_begun += 1;
            let start = Instant::now();
            begin(&workspace, &format!("whole-{n_begun}"), kind, seed).output().expect("it ends");
            start.elapsed()
        });
        times[1]
    });
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut n_there = BTreeMap::new();
    for number in 0..CAMPAIGNS {
        let (folder, kind) = (format!("campaign-{number}"), number % KINDS.len());
        let mut told = Told::default();
        for _ in 0..KILLS {
            let moment = match random.bool() {
                true => Moment::Time(lengths[kind].mul_f64(random.f64())),
                false => Moment::Events(random.usize(..12), Duration::from_micros(random.u64(..20_000))),
            };
            let command = match has_begun(&workspace, &folder) {
                true => go_on(&workspace, &folder, INPUTS),
                false => begin(&workspace, &folder, KINDS[kind], number as u64),
            };
            told.lines.extend(kill_at(&moment, lengths[kind], command));
            told.journal =
                fs::read_to_string(workspace.path(&folder).join("events.jsonl")).unwrap_or_default();
        }
        if !has_begun(&workspace, &folder) {
            assert!(
                told.lines.is_empty() && told.journal.is_empty(),
                "{folder} told of what was never stored"
            );
            continue;
        }
        let ended = go_on(&workspace, &folder, 1).output().expect("it ends");
        assert!(matches!(ended.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&ended.stderr));
        for (kind, n) in is_there(&workspace, &folder, KINDS[kind], &told) {
            *n_there.entry(kind).or_insert(0) += n;
        }
    }
    // Otherwise nothing was looked at.
    let kinds: Vec<&str> = n_there.keys().copied().collect();
    assert_eq!(kinds, ["crash", "hang", "kept", "killed"], "{n_there:?}");
    assert!(n_there["kept"] > 100, "{n_there:?}");
}

fn program() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", PROGRAM.trim_start());
    workspace.write("seeds/one", "a1\nz\n");
    // A hang is confirmed while a campaign that is killed soon is alive.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 100\n");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    workspace
}

fn begin(workspace: &Workspace, folder: &str, kind: &[&str], seed: u64) -> Command {
    let mut command = workspace.command("cairn");
    command.args(["run", "./program", "seeds", "-o", folder, "--json"]);
    command.args([format!("--seed={seed}"), format!("--inputs={INPUTS}")]).args(kind);
    command
}

fn go_on(workspace: &Workspace, folder: &str, n_inputs: u32) -> Command {
    let mut command = workspace.command("cairn");
    command.args(["resume", folder, "--json", &format!("--inputs={n_inputs}")]);
    command
}

/// Whether there is something to go on with: a campaign may have been killed before it had begun.
fn has_begun(workspace: &Workspace, folder: &str) -> bool {
    let path = workspace.path(folder).join("campaign.db");
    path.exists() && Store::open(&path).unwrap().campaign().unwrap().is_some()
}

/// Runs a campaign until a moment, or for `most` where the events do not come, and returns what it told. It may end before.
fn kill_at(moment: &Moment, most: Duration, mut command: Command) -> Vec<String> {
    let end = Instant::now() + most;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("cairn can be started");
    let (sender, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let reader = thread::spawn(move || {
        // A line without an end was not told.
        let whole =
            stdout.lines().map_while(Result::ok).filter(|line| serde_json::from_str::<Value>(line).is_ok());
        whole.for_each(|line| drop(sender.send(line)));
    });
    let mut told = Vec::new();
    match moment {
        Moment::Time(after) => thread::sleep(*after),
        Moment::Events(n, pause) => {
            let next = || lines.recv_timeout(end.saturating_duration_since(Instant::now())).ok();
            told.extend(std::iter::from_fn(next).take(*n));
            thread::sleep(*pause);
        }
    }
    child.kill().expect("it is ours");
    child.wait().expect("it was killed");
    reader.join().expect("a reader does not panic");
    told.extend(lines);
    told
}

/// Checks that everything that was told is there, and returns how much of each kind there was.
fn is_there(
    workspace: &Workspace,
    folder: &str,
    kind: &[&str],
    told: &Told,
) -> BTreeMap<&'static str, usize> {
    let path = workspace.path(folder);
    let journal = workspace.read(format!("{folder}/events.jsonl"));
    // A line that was being written is no part of it.
    let whole = told.journal.rfind('\n').map_or("", |end| &told.journal[..=end]);
    assert!(journal.starts_with(whole), "{folder}: the journal has lost something");
    let written: BTreeSet<&str> = journal.lines().collect();
    for line in &told.lines {
        assert!(written.contains(line.as_str()), "{folder}: the journal has no {line}");
    }

    let args = kind.iter().skip_while(|word| **word != "--").skip(1).map(|word| (*word).into()).collect();
    let base = Input { args, ..Input::default() };
    let template = Template { base, is_harness: false, max_size: 1 << 20 };
    let inputs = |name: &str| CorpusFolder::open(path.join(name), template.clone()).unwrap();
    let [corpus, crashes, hangs, unconfirmed] = ["corpus", "crashes", "hangs", "unconfirmed"].map(inputs);
    let store = Store::open(&path.join("campaign.db")).unwrap();
    // Reads every file, whose content must be what its name says.
    let entries = store.entries(|address| corpus.load(address)).unwrap();
    let load = |address: &str| crashes.load(address).or_else(|_| hangs.load(address));
    let failures = store.failures(load).unwrap();
    let mut n_kills = BTreeMap::new();
    for kill in store.kills().unwrap() {
        *n_kills.entry(u64::from(kill.entry.0)).or_insert(0) += 1;
    }

    let mut n_there = BTreeMap::new();
    for line in whole.lines() {
        let event: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{folder}: {error}: {line}"));
        let text = |field: &str| event[field].as_str().unwrap_or_default();
        let number = |field: &str| event[field].as_u64().unwrap_or_default();
        let kind = match text("event") {
            "kept" => {
                let entry = &entries[number("entry") as usize];
                assert_eq!(entry.input.address(), text("address"), "{folder}: {line}");
                assert_eq!(entry.provenance.kept_for, text("kept_for"), "{folder}: {line}");
                "kept"
            }
            "killed" => {
                // Each is told once, so that all that are told of an input are in the store together.
                let left: &mut u64 = n_kills.entry(number("entry")).or_default();
                *left = left.checked_sub(number("n_kills")).unwrap_or_else(|| panic!("{folder}: {line}"));
                "killed"
            }
            "failed" => {
                let found = failures.iter().find(|failure| failure.signature == text("signature"));
                let found = found.unwrap_or_else(|| panic!("{folder}: the store has no {line}"));
                assert!(!found.input.stdin.0.is_empty(), "{folder}: {line}");
                if text("kind") == "hang" { "hang" } else { "crash" }
            }
            "unconfirmed" => {
                let is_failure = failures.iter().any(|failure| failure.input.address() == text("address"));
                assert!(is_failure || unconfirmed.load(text("address")).is_ok(), "{folder}: {line}");
                continue;
            }
            _ => continue,
        };
        *n_there.entry(kind).or_insert(0) += 1;
    }
    n_there
}
