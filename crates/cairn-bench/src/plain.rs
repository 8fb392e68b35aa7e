//! What the counters of the plain view cost on long runs, against plain clang.

use crate::{
    measure::{Pair, Pinned},
    random::Random,
    table::{Goal, Row, Table},
};
use anyhow::{Result, ensure};
use cairn_targets::{Cache, Flavour, find};
use nix::sys::resource::{UsageWho, getrusage};
use std::{
    fs,
    io::{BufWriter, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

/// Who is measured.
pub const ALL: &[&str] = &["sort", "grep"];

/// Design §13: at most this many times the time of clang -O2.
const GOAL: Goal = Goal::AtMost(1.3);

/// Measures each program.
pub fn run(cache: &Cache, names: &[String], table: &mut Table) -> Result<()> {
    for name in names {
        let (arguments, text): (&[&[&str]], _) = match name.as_str() {
            "sort" => (&[&["text"], &["-n", "-k2", "text"]], lines(cache, "lines.txt", 400_000, 4)?),
            "grep" => (
                &[&["-c", "needle", "text"], &["-c", "-E", "(foo|bar)+ [0-9]{2,}|Rid.*x$", "text"]],
                lines(cache, "text.txt", 1_200_000, 9)?,
            ),
            unknown => anyhow::bail!("`{unknown}` is not measured here; try {}", ALL.join(", ")),
        };
        let target = find(name)?;
        let clang = target.executable(cache, Flavour::Clang)?;
        let plain = target.build(cache)?.plain;
        let _pinned = Pinned::to_one_core()?;
        for words in arguments {
            let words: Vec<String> =
                words.iter().map(|word| word.replace("text", &text.display().to_string())).collect();
            let pair =
                Pair::measure(|| time(cache, name, &plain, &words), || time(cache, name, &clang, &words))?;
            let shown: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            let what: Vec<&str> =
                words.iter().filter(|word| !word.starts_with('/')).map(String::as_str).collect();
            table.add(Row {
                what: format!("plain view: {name} {}", what.join(" ")).trim_end().into(),
                our_command: format!("LC_ALL=C {} {}", plain.display(), shown.join(" ")),
                peer_command: format!("LC_ALL=C {} {}", clang.display(), shown.join(" ")),
                unit: "s",
                pair,
                goal: GOAL,
                notes: vec!["CPU time of the process on one core, output to a file".into()],
            });
        }
    }
    Ok(())
}

/// CPU seconds of one run, which a busy machine changes less than the time on the wall.
fn time(cache: &Cache, name: &str, program: &Path, words: &[String]) -> Result<f64> {
    // Not to /dev/null: programs notice, and do less.
    let output = cache.folder.join("results");
    fs::create_dir_all(&output)?;
    let output = fs::File::create(output.join("plain.out"))?;
    let before = children_time()?;
    let status = Command::new(program)
        .arg0(name)
        .args(words)
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(std::process::Stdio::null())
        .stdout(output)
        .status()?;
    ensure!(status.code().is_some_and(|code| code < 2), "`{}` failed: {status}", program.display());
    Ok(children_time()? - before)
}

fn children_time() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// A text that is the same every time, made once.
fn lines(cache: &Cache, name: &str, n: usize, n_words: usize) -> Result<PathBuf> {
    let folder =
        cache.step(&format!("texts/{name}"), &format!("{n} lines of {n_words} words"), |folder| {
            let path = folder.join(name);
            write_lines(&path, n, n_words).map_err(|source| cairn_targets::TargetsError::Io {
                action: "write",
                path,
                source,
            })
        })?;
    Ok(folder.join(name))
}

fn write_lines(path: &Path, n: usize, n_words: usize) -> std::io::Result<()> {
    let mut random = Random(1);
    let mut file = BufWriter::new(fs::File::create(path)?);
    for _ in 0..n {
        let line = random.line(n_words);
        writeln!(file, "{:08x} {} {line}", random.next() as u32, random.below(100_000))?;
    }
    file.flush()
}
