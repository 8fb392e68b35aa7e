//! `cairn-cc` and `cairn-c++`: stand in for clang and clang++.
//!
//! A name that ends in `++` means C++. A command line or working directory that is not UTF-8 is left to clang alone.
//! Environment:
//!
//! - `CAIRN_DIR`: the `.cairn` folder to use;
//! - `CAIRN_BYPASS=1`: compile and link natively only, record nothing;
//! - `PATH`, `PWD`, `TMPDIR`, `XDG_CACHE_HOME`, `HOME`: as everywhere.

use anyhow::Context;
use cairn_cc::{
    Settings, Toolchain,
    arguments::response,
    driver::{self, FACTS_WORD},
    settings::{Distribution, Places},
};
use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<u8> {
    let mut words = env::args_os();
    let is_cxx = words.next().unwrap_or_default().as_encoded_bytes().ends_with(b"++");
    let raw: Vec<OsString> = words.collect();
    let words: Option<Vec<String>> = raw.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let directory = working_directory()?;
    if let Some([first, output, directory, arguments @ ..]) =
        words.as_ref().and_then(|words| response::expand(words, &directory)).as_deref()
        && first == FACTS_WORD
    {
        return facts(Path::new(output), Path::new(directory), arguments);
    }
    let search_path: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let cache_dir = cache_dir();
    let toolchain = Toolchain::find(&search_path, cache_dir.as_deref())?;
    let Some(words) = words else { return Ok(driver::run_natively(&toolchain, is_cxx, &raw)?) };
    let settings = Settings {
        toolchain,
        distribution: distribution()?,
        places: Places {
            cairn_dir: env::var_os("CAIRN_DIR")
                .filter(|folder| !folder.is_empty())
                .map(|folder| directory.join(folder)),
            cache_dir,
            directory,
        },
        temporary_dir: env::temp_dir(),
        bypass: env::var_os("CAIRN_BYPASS").is_some_and(|value| !value.is_empty() && value != "0"),
    };
    Ok(driver::run(&settings, is_cxx, &words)?)
}

/// The facts of one unit, in a process of their own.
fn facts(output: &Path, directory: &Path, arguments: &[String]) -> anyhow::Result<u8> {
    let facts = cairn_facts::extract(arguments, directory)?;
    fs::write(output, cairn_model::versioned::encode(&facts))
        .with_context(|| format!("failed to write `{}`", output.display()))?;
    Ok(0)
}

/// As the shell spells it, which is also what clang writes into debug information.
fn working_directory() -> anyhow::Result<PathBuf> {
    let actual = env::current_dir().context("failed to find the working directory")?;
    let Some(spelled) = env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute()) else {
        return Ok(actual);
    };
    let identity = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    Ok(if identity(&spelled) == identity(&actual) { spelled } else { actual })
}

fn cache_dir() -> Option<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))?;
    Some(base.join("cairn"))
}

/// `bin/cairn-cc` lies beside `lib` and `include`; the executable's link is followed, so one in PATH will do.
fn distribution() -> anyhow::Result<Distribution> {
    let executable = env::current_exe().context("failed to find this program")?;
    let root = executable.ancestors().nth(2).context("this program lies in no folder")?;
    Ok(Distribution { compiler: executable.clone(), ..Distribution::at(root) })
}
