//! The cache folder, and running other programs there.

use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// Where sources and builds are kept between runs.
pub struct Cache {
    /// The folder.
    pub folder: PathBuf,
}

impl Cache {
    /// `CAIRN_BENCH_DIR`, else below the user's cache folder.
    pub fn open() -> Result<Self> {
        let base = env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
            .context("neither `CAIRN_BENCH_DIR` nor `HOME` is set")?;
        let folder = env::var_os("CAIRN_BENCH_DIR").map_or_else(|| base.join("cairn/bench"), PathBuf::from);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder: folder.canonicalize()? })
    }

    /// An empty folder for one build.
    pub fn fresh(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join("builds").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// Prints a row for each name; one that fails does not keep the others from being measured.
pub fn print_rows(names: &[String], mut row: impl FnMut(&str) -> Result<String>) -> Result<()> {
    let mut failed = Vec::new();
    for name in names {
        match row(name) {
            Ok(row) => println!("{row}"),
            Err(error) => failed.push(format!("{name}: {error:#}")),
        }
    }
    anyhow::ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Runs a shell command in `folder`, output to a log beside it, and says how long it took.
pub fn shell(folder: &Path, script: &str) -> Result<Duration> {
    let log = folder.join("bench.log");
    let file = fs::OpenOptions::new().create(true).append(true).open(&log)?;
    let mut path = cairn_testkit::dist().bin().into_os_string();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let start = Instant::now();
    let status = Command::new("bash")
        .args(["-e", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("LC_ALL", "C")
        // Configure scripts refuse to run as root without it.
        .env("FORCE_UNSAFE_CONFIGURE", "1")
        .stdin(std::process::Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()?;
    if !status.success() {
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        bail!("`{script}` failed: {status}\n{}", lines[lines.len().saturating_sub(15)..].join("\n"));
    }
    Ok(start.elapsed())
}

/// Makes sure Debian packages are there that a source needs and `scripts/setup` does not install.
pub fn need(packages: &[&str]) -> Result<()> {
    let is_installed = |package: &&str| {
        let output = Command::new("dpkg-query").args(["-W", "-f=${db:Status-Status}", package]).output();
        output.is_ok_and(|output| output.stdout == b"installed")
    };
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let status = Command::new("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(&missing)
        .status()?;
    if !status.success() {
        bail!("these Debian packages are missing: {}", missing.join(" "));
    }
    Ok(())
}
