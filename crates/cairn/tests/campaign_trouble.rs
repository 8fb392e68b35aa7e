//! What can go wrong with a campaign is told with what to try, and nothing that was found is lost.

use cairn_model::Input;
use cairn_store::Store;
use cairn_testkit::{Ran, Workspace};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::symlink,
    process::Stdio,
};

/// Several branches, a crash and a hang.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
static volatile int spins;
static void crash(int *where) { *where = 1; }
int main(void) {
  char text[64];
  int lines = 0;
  while (fgets(text, sizeof text, stdin)) {
    lines++;
    if (text[0] == 'c' && text[1] == '!')
      crash(0);
    if (text[0] == 'h' && text[1] == '!')
      for (;;)
        spins++;
    for (char *at = text; *at; at++)
      if (*at >= '0' && *at <= '9')
        lines += *at == '7';
  }
  return lines > 5;
}
"#;

fn program(source: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", source.trim_start());
    workspace.write("seeds/one", "p1\n");
    // Long enough for a busy machine, short enough for hangs.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 1000\n");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    workspace
}

/// Adds seeds on which [`PROGRAM`] hangs at the same place.
fn hanging_seeds(workspace: &Workspace, n_seeds: usize) {
    for n in 0..n_seeds {
        workspace.write(format!("seeds/hang{n}"), format!("h!{n}\n"));
    }
}

fn cairn(workspace: &Workspace, words: &[&str]) -> Ran {
    workspace.run("cairn", words)
}

#[track_caller]
fn says(ran: &Ran, parts: &[&str]) {
    for part in parts {
        assert!(ran.stderr.contains(part), "`{part}` is not said: {ran}");
    }
}

/// A campaign that came to its end, whatever it found.
#[track_caller]
fn ended(ran: Ran) -> Ran {
    assert!(matches!(ran.status.code(), Some(0 | 3)), "{ran}");
    ran
}

fn n_files(workspace: &Workspace, folder: &str) -> usize {
    fs::read_dir(workspace.path(folder)).unwrap().count()
}

/// Addresses that events of a kind tell of.
fn told(lines: &str, kind: &str) -> BTreeSet<String> {
    let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let events = events.filter(|event| event["event"] == kind);
    events.map(|event| event["address"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn seeds_that_are_no_inputs_are_left_out_and_named() {
    let workspace = program(PROGRAM);
    workspace.write("seeds/nothing", "");
    workspace.write("seeds/other.json", "{\"args\": 5}");
    workspace.write("seeds/large", vec![b'x'; (1 << 20) + 1]);
    workspace.write("seeds/folder/inner", "x");
    symlink("nowhere", workspace.path("seeds/link")).unwrap();
    let words = ["run", "./program", "seeds", "-o", "out", "--inputs", "50", "--workers", "1"];
    let ran = ended(cairn(&workspace, &words));
    says(
        &ran,
        &[
            "warning: a seed is left out: `seeds/other.json` is not an input",
            "warning: a seed is left out: input `seeds/large` has 1048577 bytes, more than the limit",
            "warning: a seed is left out: `seeds/folder` is a folder",
            "warning: a seed is left out: failed to read input `seeds/link`",
        ],
    );
    assert!(!ran.stderr.contains("seeds/nothing"), "an empty file is an input: {ran}");
    let bad = ["other.json", "large"].map(|name| workspace.path(format!("seeds/{name}")));
    fs::create_dir(workspace.path("bad")).unwrap();
    for path in bad {
        fs::rename(&path, workspace.path("bad").join(path.file_name().unwrap())).unwrap();
    }
    let ran = cairn(&workspace, &["run", "./program", "bad", "-o", "none"]).exits_with(2);
    says(&ran, &["error: none of the seeds can be read", "hint: "]);
    // What was named by itself is not left out.
    let ran = cairn(&workspace, &["run", "./program", "bad/large", "-o", "none"]).exits_with(2);
    says(&ran, &["`bad/large` has 1048577 bytes", "hint: raise `input.max_size`"]);
    assert!(!workspace.path("none").exists());
}

#[test]
fn a_campaign_goes_on_when_its_seeds_are_gone() {
    let workspace = program(PROGRAM);
    let words = ["run", "./program", "seeds", "-o", "out", "--inputs", "50", "--workers", "1"];
    ended(cairn(&workspace, &words));
    fs::remove_dir_all(workspace.path("seeds")).unwrap();
    let ran = ended(cairn(&workspace, &["resume", "out", "--inputs", "50"]));
    says(&ran, &["warning: going on with the corpus, without seeds: failed to read input `seeds`"]);
}

#[test]
fn seeds_that_crash_or_hang_are_findings() {
    let workspace = program(PROGRAM);
    workspace.write("seeds/crash", "c!\n");
    workspace.write("seeds/hang", "h!\n");
    let words = ["run", "./program", "seeds", "-o", "out", "--inputs", "50", "--workers", "1"];
    let ran = cairn(&workspace, &words).exits_with(3);
    says(&ran, &["warning: the program fails on 2 of 3 seeds; they are kept apart"]);
    assert_eq!((n_files(&workspace, "out/crashes"), n_files(&workspace, "out/hangs")), (1, 1), "{ran}");
    // With nothing to start from there is no campaign, but what was found is kept.
    fs::remove_file(workspace.path("seeds/one")).unwrap();
    let ran = cairn(&workspace, &["run", "./program", "seeds", "-o", "bad", "--inputs", "50"]).exits_with(4);
    says(&ran, &["the program fails on every seed that reaches anything (2 of 2)", "hint: "]);
    assert_eq!((n_files(&workspace, "bad/crashes"), n_files(&workspace, "bad/hangs")), (1, 1), "{ran}");
    // And once there is something to start from, it begins.
    workspace.write("seeds/one", "p1\n");
    let ran = cairn(&workspace, &["resume", "bad", "--inputs", "50"]).exits_with(3);
    says(&ran, &["kept #0"]);
}

#[test]
fn of_seeds_that_hang_alike_one_is_waited_for() {
    let workspace = program(PROGRAM);
    hanging_seeds(&workspace, 8);
    let words = ["run", "./program", "seeds", "-o", "out", "--inputs", "20", "--workers", "1"];
    let ran = cairn(&workspace, &words).exits_with(3);
    says(
        &ran,
        &[
            "warning: the program fails on 1 of 9 seeds; they are kept apart",
            "warning: 7 of 9 seeds get to where the program hangs on another, and were not waited for",
        ],
    );
    assert_eq!(n_files(&workspace, "out/hangs"), 1, "{ran}");
    // What the program works on comes first.
    let place = |part: &str| ran.stderr.find(part).unwrap_or_else(|| panic!("`{part}` is not said: {ran}"));
    assert!(place("kept #0 (seed: given)") < place("hang in main"), "{ran}");
}

#[test]
fn seeds_that_hang_do_not_use_up_all_time() {
    let workspace = program(PROGRAM);
    hanging_seeds(&workspace, 20);
    // To wait for each of them would take minutes, and to confirm one twenty seconds.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 10000\n");
    let words = ["run", "./program", "seeds", "-o", "out", "--for", "5s", "--workers", "1"];
    let ran = ended(cairn(&workspace, &words));
    says(&ran, &["kept #0 (seed: given)", "warning: ended before 20 of 21 seeds were looked at"]);
    let last = fs::read_to_string(workspace.path("out/events.jsonl")).unwrap();
    let last: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert!(last["after_ms"].as_u64().unwrap() < 15_000, "a limit of time holds: {last}");
}

#[test]
fn a_seed_that_is_only_slow_is_kept() {
    let source = r#"
#include <stdio.h>
#include <time.h>
int main(void) {
  int c = getchar();
  if (c != 's')
    return c == 'p';
  struct timespec until, now;
  clock_gettime(CLOCK_MONOTONIC, &until);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - until.tv_sec) * 1000 + (now.tv_nsec - until.tv_nsec) / 1000000 < 600);
  return 2;
}
"#;
    let workspace = program(source);
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 10000\n");
    workspace.write("seeds/slow", "s");
    let words = ["run", "./program", "seeds", "-o", "out", "--inputs", "2", "--workers", "1"];
    let ran = cairn(&workspace, &words).exits_with(0);
    assert_eq!(n_files(&workspace, "out/corpus"), 2, "{ran}");
    assert_eq!(n_files(&workspace, "out/unconfirmed"), 0, "{ran}");
}

#[test]
fn making_a_large_input_small_stays_within_the_limit_of_runs() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
static unsigned char text[1 << 17];
int main(void) {
  size_t n = fread(text, 1, sizeof text, stdin);
  if (n > 300 && (text[0] | text[1] << 8) == (int)n)
    abort();
  return n > 7;
}
"#;
    let workspace = program(source);
    // Nothing of it can be left out, and all of it could be simpler.
    let mut large: Vec<u8> = (0..60_000u32).map(|n| (n * 37 % 251) as u8).collect();
    large[..2].copy_from_slice(&60_000u16.to_le_bytes());
    workspace.write("seeds/large", large);
    let words = ["run", "./program", "seeds", "-o", "out", "--runs", "200", "--workers", "1"];
    let ran = cairn(&workspace, &words).exits_with(3);
    let events = fs::read_to_string(workspace.path("out/events.jsonl")).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let n_runs = events.filter_map(|event| event["n_target_runs"].as_u64()).next_back().unwrap();
    // What is confirmed in the end comes on top.
    assert!((100..250).contains(&n_runs), "{n_runs} runs: {ran}");
}

#[test]
fn a_program_that_does_not_always_take_the_same_way_is_told() {
    // So many cases that two runs hardly ever take all of them equally often.
    let cases: String = (0..16).map(|case| format!("    case {case}: n += {case}; break;\n")).collect();
    let source = r#"
#include <stdio.h>
#include <sys/random.h>
int main(void) {
  unsigned char bytes[64];
  int n = 0;
  if (getchar() == 'x')
    puts("x");
  getrandom(bytes, sizeof bytes, 0);
  for (int i = 0; i < 64; i++)
    switch (bytes[i] % 16) {
CASES
    }
  return n > 9999;
}
"#;
    let workspace = program(&source.replace("CASES", &cases));
    let words = ["run", "./program", "seeds", "-o", "out", "--inputs", "500", "--workers", "1"];
    let ran = ended(cairn(&workspace, &words));
    says(&ran, &["warning: two runs of one input differ at ", "hint: `cairn doctor`"]);
    assert_eq!(ran.stderr.matches("two runs of one input differ").count(), 1, "{ran}");
    assert!(ran.stdout.contains("differed between two runs of one input, and told nothing"), "{ran}");
}

#[test]
fn a_program_without_branches_is_refused() {
    let workspace = program("int main(void) { return 3; }\n");
    let ran = cairn(&workspace, &["run", "./program", "seeds", "-o", "out"]).exits_with(4);
    says(&ran, &["the program has no branches in scope", "hint: check `[scope]`"]);
    assert!(!workspace.path("out").exists());
}

#[test]
fn a_store_of_another_version_is_left_alone() {
    let workspace = program(PROGRAM);
    let words = ["run", "./program", "seeds", "-o", "out", "--inputs", "50", "--workers", "1"];
    ended(cairn(&workspace, &words));
    let path = workspace.path("out/campaign.db");
    let mut store = fs::read(&path).unwrap();
    // Where SQLite keeps the version of what it holds.
    store[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(&path, &store).unwrap();
    for command in ["resume", "report"] {
        let ran = cairn(&workspace, &[command, "out"]).exits_with(2);
        says(&ran, &["has format 99", "use the newer Cairn", "`out/corpus` as seeds"]);
        assert!(!ran.stderr.contains("delete"), "{ran}");
    }
    assert_eq!(fs::read(&path).unwrap(), store, "nobody wrote to it");
    fs::write(&path, "no store at all, whatever its name says\n".repeat(100)).unwrap();
    let ran = cairn(&workspace, &["resume", "out"]).exits_with(2);
    says(&ran, &["failed to open the store `out/campaign.db`", "hint: ", "`out/corpus` as seeds"]);
    ended(cairn(&workspace, &["run", "./program", "out/corpus", "-o", "new", "--inputs", "50"]));
}

#[test]
fn a_second_campaign_is_kept_out_of_the_folder() {
    let workspace = program(PROGRAM);
    let mut first = workspace
        .command("cairn")
        .args(["run", "./program", "seeds", "-o", "out", "--workers", "1", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines().map_while(Result::ok);
    let began = lines.find(|line| line.contains("\"event\":\"kept\""));
    let resumed = cairn(&workspace, &["resume", "out", "--for", "1h"]);
    let begun = cairn(&workspace, &["run", "./program", "seeds", "-o", "out", "--inputs", "50"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(began.is_some());
    says(&resumed.exits_with(2), &["another campaign is at work in `", "hint: wait for it, end it"]);
    says(&begun.exits_with(2), &["`out` holds a campaign already", "hint: `cairn resume out`"]);
    ended(cairn(&workspace, &["resume", "out", "--inputs", "50"]));
}

/// The processes that a process has started.
fn children(parent: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).unwrap().flatten();
    let of_thread =
        |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let all: Vec<String> = threads.map(of_thread).collect();
    all.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}

#[test]
fn workers_whose_processes_are_killed_are_started_again() {
    let workspace = program(PROGRAM);
    let mut campaign = workspace
        .command("cairn")
        .args(["run", "./program", "seeds", "-o", "out", "--workers", "2", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut events = BufReader::new(campaign.stdout.take().unwrap()).lines().map_while(Result::ok);
    let moment = |line: &String| line.contains("\"event\":\"moment\"");
    let before = events.find(moment).expect("it is at work");
    let children = children(campaign.id());
    workspace.run("kill", ["-9"].iter().copied().chain(children.iter().map(String::as_str)));
    let restarted = events.by_ref().find(|line| line.contains("\"event\":\"restarted\""));
    // It goes on for two seconds at least.
    let after = events.by_ref().filter(moment).nth(2).expect("it is at work again");
    workspace.run("kill", ["-INT", &campaign.id().to_string()]).success();
    let last = events.last().unwrap();
    campaign.wait().unwrap();
    let restarted = restarted.unwrap_or_else(|| panic!("nothing was told after {before}"));
    assert!(restarted.contains("the process that keeps the sandbox ended"), "{restarted}");
    let n_inputs = |line: &str| serde_json::from_str::<Value>(line).unwrap()["n_inputs"].as_u64().unwrap();
    assert!(n_inputs(&after) > n_inputs(&before), "{before} {after}");
    assert!(last.contains("\"why\":\"asked\""), "{last}");
}

#[test]
fn a_broken_dictionary_is_named_with_its_line() {
    let workspace = program(PROGRAM);
    workspace.write("words.dict", "# tokens\nfine=\"x\"\nbroken=\"never closed\n");
    let words = ["run", "./program", "seeds", "-o", "out", "--dict", "words.dict"];
    says(&cairn(&workspace, &words).exits_with(2), &["dictionary `words.dict`", "line 3 of the dictionary"]);
    let words = ["run", "./program", "seeds", "-o", "out", "--dict", "nowhere"];
    says(&cairn(&workspace, &words).exits_with(2), &["dictionary `nowhere`"]);
    assert!(!workspace.path("out").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_told_with_what_to_try() {
    let workspace = program(PROGRAM);
    workspace.write("file", "x");
    for folder in ["file", "/proc/nowhere"] {
        let ran = cairn(&workspace, &["run", "./program", "seeds", "-o", folder, "--inputs", "5"]);
        says(
            &ran.exits_with(2),
            &[&format!("failed to make the folder `{folder}`"), "hint: name a folder with `-o`"],
        );
    }
}

/// A campaign on a small disk of its own, which somebody fills meanwhile; then there is room again.
#[test]
fn a_full_disk_ends_a_campaign_with_everything_it_told() {
    let workspace = program(PROGRAM);
    cairn(&workspace, &["build", "./program"]).success();
    let script = r#"
        mkdir -p small && mount -t tmpfs -o size=8m tmpfs small
        cairn run ./program seeds -o small/out --workers 1 --json >told 2>errors &
        # At work, with something found.
        until grep -q '"event":"moment"' told && grep -q '"event":"kept"' told; do sleep 0.1; done
        dd if=/dev/zero of=small/filler bs=4k 2>/dev/null || true
        code=0; wait $! || code=$?
        echo "ended $code"
        cp -r small/out at-end
        rm small/filler
        cairn resume small/out --inputs 100 --workers 1 --json >more 2>&1 || test $? = 3
        cp -r small/out after
    "#;
    let ran = workspace.run("unshare", ["-Urm", "/bin/sh", "-ec", script]).success();
    let errors = workspace.read("errors");
    assert!(ran.stdout.contains("ended 4"), "{ran}{errors}");
    assert!(errors.contains("error: the disk is full: failed to "), "{errors}");
    assert!(errors.contains("hint: make room, then `cairn resume small/out` goes on"), "{errors}");
    let kept = told(&workspace.read("told"), "kept");
    assert!(!kept.is_empty());
    for folder in ["at-end", "after"] {
        let mut stored = BTreeSet::new();
        let store = Store::open(&workspace.path(format!("{folder}/campaign.db"))).unwrap();
        let note = |address: &str| {
            stored.insert(address.to_owned());
            Ok(Input::default())
        };
        store.entries(note).unwrap();
        assert!(kept.is_subset(&stored), "{kept:?} are not all in {stored:?} of {folder}");
        for address in &stored {
            assert!(workspace.path(format!("{folder}/corpus/{address}")).exists(), "{address} is lost");
        }
        let journal = workspace.read(format!("{folder}/events.jsonl"));
        assert!(journal.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{journal}");
    }
    let journal = workspace.read("after/events.jsonl");
    assert!(journal.contains("\"is_resumed\":true"), "{journal}");
}

/// A disk without room for a store; then there is some.
#[test]
fn a_campaign_begins_where_a_full_disk_kept_one_from_beginning() {
    let workspace = program(PROGRAM);
    cairn(&workspace, &["build", "./program"]).success();
    let script = r#"
        mkdir -p small && mount -t tmpfs -o size=60k tmpfs small
        code=0; cairn run ./program seeds -o small/out --workers 1 --inputs 20 2>errors || code=$?
        echo "ended $code"
        test -e small/out/campaign.db
        mount -o remount,size=8m small
        code=0; cairn resume small/out 2>resumed || code=$?
        echo "resumed $code"
        cairn run ./program seeds -o small/out --workers 1 --inputs 20 >more 2>&1
    "#;
    let ran = workspace.run("unshare", ["-Urm", "/bin/sh", "-ec", script]).success();
    let (errors, resumed) = (workspace.read("errors"), workspace.read("resumed"));
    assert!(ran.stdout.contains("ended 4"), "{ran}{errors}");
    assert!(errors.contains("error: the disk is full: failed to "), "{errors}");
    assert!(errors.contains("hint: make room, then give the same command again"), "{errors}");
    assert!(ran.stdout.contains("resumed 2"), "{ran}{resumed}");
    assert!(resumed.contains("`small/out` holds no campaign\n\nhint: `cairn run "), "{resumed}");
    assert!(workspace.read("more").contains("kept #0"), "{}", workspace.read("more"));
}

#[test]
fn a_campaign_begins_where_one_was_killed_before_it_had_begun() {
    let workspace = program(PROGRAM);
    let run = |folder: &str| {
        cairn(&workspace, &["run", "./program", "seeds", "-o", folder, "--workers", "1", "--inputs", "20"])
    };
    workspace.write("empty/campaign.db", "");
    says(&run("empty").success(), &["kept #0"]);
    fs::create_dir(workspace.path("made")).unwrap();
    drop(Store::open(&workspace.path("made/campaign.db")).unwrap());
    says(&cairn(&workspace, &["resume", "made"]).exits_with(2), &["`made` holds no campaign"]);
    says(&run("made").success(), &["kept #0"]);
    says(&run("made").exits_with(2), &["`made` holds a campaign already", "hint: `cairn resume made`"]);
}

#[test]
fn a_campaign_is_not_written_among_its_seeds() {
    let workspace = program(PROGRAM);
    let ran = cairn(&workspace, &["run", "./program", "seeds", "-o", "./seeds/", "--inputs", "20"]);
    says(
        &ran.exits_with(2),
        &["would be written among the seeds in `./seeds/`", "hint: `-o` chooses another"],
    );
    assert!(!workspace.path("seeds/campaign.db").exists());
}

#[test]
fn a_crash_that_was_taken_away_does_not_keep_a_campaign_from_going_on() {
    let workspace = program(PROGRAM);
    workspace.write("seeds/crash", "c!\n");
    cairn(&workspace, &["run", "./program", "seeds", "-o", "out", "--workers", "1", "--inputs", "20"])
        .exits_with(3);
    let crashes: Vec<_> = fs::read_dir(workspace.path("out/crashes")).unwrap().flatten().collect();
    assert!(!crashes.is_empty());
    crashes.iter().for_each(|crash| fs::remove_file(crash.path()).unwrap());
    // The seed is run again, and the crash found.
    let ran = cairn(&workspace, &["resume", "out", "--inputs", "60"]).exits_with(3);
    assert!(ran.stdout.contains("null dereference in crash"), "{ran}");
}

#[test]
fn inputs_that_were_taken_away_or_changed_are_found_again() {
    let workspace = program(PROGRAM);
    workspace.write("seeds/two", "77777\n");
    workspace.write("seeds/three", "\n\n\n\n\n\n\n");
    let words = ["run", "./program", "seeds", "-o", "out", "--workers", "1", "--inputs", "3"];
    let ran = cairn(&workspace, &words).success();
    let files = || -> Vec<_> {
        fs::read_dir(workspace.path("out/corpus")).unwrap().map(|file| file.unwrap().path()).collect()
    };
    assert_eq!(files().len(), 3, "{ran}");
    let seed = files().into_iter().find(|file| fs::read(file).unwrap() == b"77777\n").expect("it is kept");
    fs::write(&seed, "something else").unwrap();
    let resumed = ended(cairn(&workspace, &["resume", "out", "--inputs", "1", "--json"]));
    assert!(resumed.stdout.contains("1 of the inputs that were kept are gone from `corpus`"), "{resumed}");
    assert_eq!(fs::read(&seed).unwrap(), b"77777\n", "the seed was run again: {resumed}");
    let again = ended(cairn(&workspace, &["resume", "out", "--inputs", "1", "--json"]));
    assert!(!again.stdout.contains("are gone from"), "{again}");
    // Where most is missing, something else is wrong.
    files().iter().for_each(|file| fs::remove_file(file).unwrap());
    let ran = cairn(&workspace, &["resume", "out", "--inputs", "1"]).exits_with(4);
    says(&ran, &["are gone from its `corpus` or are others now", "hint: put back what was there"]);
}

#[test]
fn what_failing_runs_reached_and_the_time_survive_a_kill() {
    let workspace = program(PROGRAM);
    workspace.write("seeds/crash", "c!\n");
    let words = ["run", "./program", "seeds", "-o", "out", "--workers", "1", "--inputs", "2"];
    cairn(&workspace, &words).exits_with(3);
    let n_branches = |lines: &str| {
        let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut moments = events.filter(|event| event["event"] == "moment");
        moments.next_back().and_then(|event| event["n_branches"].as_u64()).unwrap()
    };
    let before = n_branches(&workspace.read("out/events.jsonl"));
    // Told after the last moment that was noted.
    let mut journal = workspace.read("out/events.jsonl");
    journal.push_str("{\"after_ms\":70000,\"event\":\"warned\",\"text\":\"late\"}\n");
    workspace.write("out/events.jsonl", journal);
    fs::remove_file(workspace.path("seeds/crash")).unwrap();
    let ran = cairn(&workspace, &["resume", "out", "--inputs", "1", "--json"]).exits_with(3);
    assert!(n_branches(&ran.stdout) >= before, "{before} branches were reached: {ran}");
    let times = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let times: Vec<u64> = times.map(|event| event["after_ms"].as_u64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] >= 70_000, "{times:?}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_a_campaign_as_a_signal_does() {
    let workspace = program(PROGRAM);
    let command = "cairn run ./program seeds -o out --workers 1 --for 60s --json | head -n 1";
    let ran = workspace.run("sh", ["-c", command]).success();
    assert!(ran.stdout.contains("began"), "{ran}");
    let events = fs::read_to_string(workspace.path("out/events.jsonl")).unwrap();
    assert!(events.lines().last().unwrap().contains("ended"), "{events}");
    assert!(workspace.path("out/report.html").exists());
}
