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
    process::{Command, ExitStatus},
};

/// Who is measured.
pub const ALL: &[&str] = &["sort", "grep"];

/// Design §13: at most this many times the time of clang -O2.
const GOAL: Goal = Goal::AtMost(1.3);

/// The arguments of long runs of a program.
pub fn workloads(cache: &Cache, name: &str) -> Result<Vec<Vec<String>>> {
    let (arguments, text): (&[&[&str]], _) = match name {
        "sort" => (&[&["text"], &["-n", "-k2", "text"]], lines(cache, "lines.txt", 400_000, 4)?),
        "grep" => (
            &[&["-c", "needle", "text"], &["-c", "-E", "(foo|bar)+ [0-9]{2,}|Rid.*x$", "text"]],
            lines(cache, "text.txt", 1_200_000, 9)?,
        ),
        unknown => anyhow::bail!("`{unknown}` is not measured here; try {}", ALL.join(", ")),
    };
    let place = text.display().to_string();
    Ok(arguments
        .iter()
        .map(|words| words.iter().map(|word| word.replace("text", &place)).collect())
        .collect())
}

/// Measures a program.
pub fn run(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let workloads = workloads(cache, name)?;
    let target = find(name)?;
    let clang = target.executable(cache, Flavour::Clang)?;
    let built = target.build(cache)?;
    let _pinned = Pinned::to_one_core()?;
    for words in &workloads {
        let side = |program, output| Side { cache, name, program, words, stdin: None, output };
        let (plain, bare) = (side(&built.plain, "plain"), side(&built.bare, "bare"));
        let theirs = side(&clang, "clang");
        plain.check_same(&theirs)?;
        bare.check_same(&theirs)?;
        let pair = Pair::measure(|| plain.time(), || theirs.time())?;
        plain.check_same_output(&theirs)?;
        let without = Pair::measure(|| bare.time(), || theirs.time())?;
        let row = Row {
            what: format!("plain view: {}", plain.title()),
            our_command: plain.command(),
            peer_command: theirs.command(),
            unit: "s",
            pair,
            goal: GOAL,
            notes: vec![
                "CPU time of the process on one core, output to a file; both outputs are the same".into(),
                format!(
                    "ours is one merged module at -O2, theirs was compiled file by file; the bare build, merged in \
                     the same way but without counters, takes {} of clang's time",
                    without.ratio()
                ),
            ],
        };
        table.add(cache, row)?;
    }
    Ok(())
}

/// One program of a comparison.
pub struct Side<'a> {
    /// Where outputs go.
    pub cache: &'a Cache,
    /// What the program finds in `argv[0]`.
    pub name: &'a str,
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub words: &'a [String],
    /// What it reads on standard input; nothing if there is no such file.
    pub stdin: Option<&'a Path>,
    /// Names the file its output goes to, which is its own so that outputs can be compared.
    pub output: &'a str,
}

impl Side<'_> {
    /// The program and its arguments, without paths.
    pub fn title(&self) -> String {
        let words = self.words.iter().filter(|word| !word.starts_with('/')).map(String::as_str);
        std::iter::once(self.name).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// As a person would type it.
    pub fn command(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| format!("'{word}'")).collect();
        let stdin = self.stdin.map_or(String::new(), |path| format!(" < '{}'", path.display()));
        format!("LC_ALL=C {} {}{stdin}", self.program.display(), words.join(" "))
    }

    /// CPU seconds of one run, which a busy machine changes less than the time on the wall.
    pub fn time(&self) -> Result<f64> {
        let before = children_time()?;
        let status = self.run()?;
        let seconds = children_time()? - before;
        ensure!(status.code().is_some_and(|code| code < 2), "`{}` failed: {status}", self.program.display());
        Ok(seconds)
    }

    fn run(&self) -> Result<ExitStatus> {
        // Not to /dev/null: programs notice, and do less.
        let path = self.output_path();
        fs::create_dir_all(self.cache.folder.join("results"))?;
        Ok(Command::new(self.program)
            .arg0(self.name)
            .args(self.words)
            .env_clear()
            .env("LC_ALL", "C")
            .stdin(fs::File::open(self.stdin.unwrap_or(Path::new("/dev/null")))?)
            .stdout(fs::File::create(path)?)
            .status()?)
    }

    /// Runs both once; fails unless they end alike and print the same.
    pub fn check_same(&self, other: &Self) -> Result<()> {
        let (one, two) = (self.run()?, other.run()?);
        ensure!(one == two, "`{}` ends with {one}, clang's with {two}", self.program.display());
        self.check_same_output(other)
    }

    /// Fails unless their last runs printed the same, and something.
    pub fn check_same_output(&self, other: &Self) -> Result<()> {
        let printed = fs::read(self.output_path())?;
        ensure!(!printed.is_empty(), "`{}` printed nothing", self.program.display());
        ensure!(
            printed == fs::read(other.output_path())?,
            "`{}` prints something else than clang's",
            self.program.display()
        );
        Ok(())
    }

    fn output_path(&self) -> PathBuf {
        self.cache.folder.join(format!("results/{}.out", self.output))
    }
}

fn children_time() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// A text of half a megabyte.
pub fn text(cache: &Cache) -> Result<PathBuf> {
    lines(cache, "short.txt", 10_000, 7)
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
