//! The program compiled once more with sanitizers, from its sources.
//!
//! Sanitizers want to be there from the first pass on, so they cannot be added to the bitcode that views are made of.
//! What is recorded of every unit is how it was compiled; the source must still be the one that was.

use super::{
    build::{ViewError, io_error, origin, work_folder},
    link::{Link, Linked},
};
use crate::{
    Settings,
    arguments::Language,
    preset,
    record::{BuildRecord, UnitInfo},
    store,
    unit::{command, first_error, unit_key},
};
use std::{
    collections::BTreeSet,
    fmt, fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    str::FromStr,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// A set of checks a program can be compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sanitizer {
    /// Memory that is not the program's.
    Address,
    /// What the language leaves undefined.
    Undefined,
}

impl fmt::Display for Sanitizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Address => "address",
            Self::Undefined => "undefined",
        })
    }
}

impl FromStr for Sanitizer {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "address" => Ok(Self::Address),
            "undefined" => Ok(Self::Undefined),
            _ => {
                Err(format!("`{text}` is not a sanitizer: use `address`, `undefined` or `address,undefined`"))
            }
        }
    }
}

/// How sanitizers behave in the program: a finding ends it by a signal, as any other failure does, and nothing is started
/// to look up names, which the sandbox would not allow. Leaks are not looked for, because that stops all threads from
/// outside.
const BEHAVIOUR: &str = "\
#undef __asan_default_options
#undef __ubsan_default_options
const char *__asan_default_options(void) {
  return \"abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1\";
}
const char *__ubsan_default_options(void) {
  return \"abort_on_error=1:halt_on_error=1:symbolize=0:print_stacktrace=1\";
}
";

/// After the user's own options, so that they win.
const OPTIONS: &[&str] = &[
    "-fno-sanitize-recover=all",
    // Stacks are walked by frame pointers.
    "-fno-omit-frame-pointer",
    "-g",
    // Checked versions of functions would hide calls from the sanitizer.
    "-U_FORTIFY_SOURCE",
    // A harness may say itself how sanitizers shall behave, which is for another fuzzer.
    "-D__asan_default_options=cairn_other_asan_options",
    "-D__ubsan_default_options=cairn_other_ubsan_options",
    "-c",
    "-w",
    "-Qunused-arguments",
];

const PROGRAM: &str = "program";

/// Builds the program with sanitizers, unless it is there already, and returns the executable.
///
/// Units that have no bitcode are linked as they are. Runs of it need the delivery, like those of the bare build, and no
/// limit on memory.
pub fn build_sanitized(
    settings: &Settings,
    record: &BuildRecord,
    sanitizers: &BTreeSet<Sanitizer>,
) -> Result<PathBuf, ViewError> {
    let units: Vec<&UnitInfo> = record.units.iter().filter(|unit| unit.bitcode_error.is_none()).collect();
    let names: Vec<String> = sanitizers.iter().map(Sanitizer::to_string).collect();
    let option = format!("-fsanitize={}", names.join(","));
    let folder = record.folder.join("sanitized").join(content_hash(settings, record, &units, &option)?);
    let program = folder.join(PROGRAM);
    if program.is_file() {
        return Ok(program);
    }
    for unit in &units {
        check_source(unit)?;
    }
    let work = work_folder(&folder)?;
    let behaviour = work.path().join("behaviour.c");
    fs::write(&behaviour, BEHAVIOUR).map_err(|source| io_error("write", &behaviour, source))?;
    let extra = UnitInfo {
        key: String::new(),
        directory: work.path().to_path_buf(),
        source: behaviour.clone(),
        is_cxx: false,
        arguments: vec!["-x".into(), "c".into(), behaviour.display().to_string()],
        bitcode_error: None,
        facts_error: None,
    };
    let units: Vec<&UnitInfo> = units.into_iter().chain([&extra]).collect();
    compile_all(settings, &units, &option, work.path())?;
    let linked = Linked {
        name: PROGRAM.to_owned(),
        objects: (0..units.len()).map(object).collect(),
        has_runtime: false,
        sanitize: Some(option),
        tells_failures: false,
    };
    Link::start(settings, record, &linked, work.path())?.finish()?;
    store::move_into_place(&work.path().join(PROGRAM), &program)
        .map_err(|source| io_error("write", &program, source))?;
    Ok(program)
}

fn object(index: usize) -> String {
    format!("{index}.o")
}

/// Whether the source is still the one the program was built from. Headers are not looked at.
fn check_source(unit: &UnitInfo) -> Result<(), ViewError> {
    let path = unit.directory.join(&unit.source);
    let source = match fs::read(&path) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ViewError::SourceGone { unit: path });
        }
        Err(source) => return Err(io_error("read", &path, source)),
    };
    match unit_key(&unit.directory, &unit.arguments, &source) == unit.key {
        true => Ok(()),
        false => Err(ViewError::SourceChanged { unit: path }),
    }
}

/// Compiles the units, as many at a time as there are processors; the first failure is told.
fn compile_all(settings: &Settings, units: &[&UnitInfo], option: &str, work: &Path) -> Result<(), ViewError> {
    let next = AtomicUsize::new(0);
    let compile_next = || -> Result<(), ViewError> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = units.get(index) else { return Ok(()) };
            compile(settings, unit, option, work, &object(index)).inspect_err(|_| {
                // The others need not go on.
                next.store(units.len(), Ordering::Relaxed);
            })?;
        }
    };
    let n_workers = thread::available_parallelism().map_or(1, usize::from).min(units.len());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(compile_next)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("compiling does not panic"))
    })
}

fn compile(
    settings: &Settings,
    unit: &UnitInfo,
    option: &str,
    work: &Path,
    object: &str,
) -> Result<(), ViewError> {
    // What is recorded ends in `-x`, the language and the source.
    let (options, source) = unit.arguments.split_at(unit.arguments.len().saturating_sub(3));
    let mut words = options.to_vec();
    let language = source.get(1).and_then(|name| Language::of_name(name));
    if language.is_some_and(Language::is_preprocessed_by_us) {
        words.extend(preset::options(&settings.distribution.include_dir));
    }
    words.push(option.to_owned());
    words.extend(OPTIONS.iter().map(|word| (*word).to_owned()));
    words.extend(source.iter().cloned());
    words.extend(["-o".to_owned(), work.join(object).display().to_string()]);
    let driver = settings.toolchain.driver(unit.is_cxx);
    let output = command(driver, &words, work)
        .and_then(|mut command| command.current_dir(&unit.directory).stdin(Stdio::null()).output())
        .map_err(|source| io_error("start", driver, source))?;
    if output.status.success() {
        return Ok(());
    }
    let message = first_error(&String::from_utf8_lossy(&output.stderr));
    Err(ViewError::Sanitize {
        unit: unit.directory.join(&unit.source),
        message: message.unwrap_or_else(|| output.status.to_string()),
    })
}

/// Hashes everything the build is made of.
fn content_hash(
    settings: &Settings,
    record: &BuildRecord,
    units: &[&UnitInfo],
    option: &str,
) -> Result<String, ViewError> {
    let archive = &settings.distribution.deliver_archive;
    if !archive.is_file() {
        return Err(ViewError::Incomplete { path: archive.clone() });
    }
    let delivery = fs::read(archive).map_err(|source| io_error("read", archive, source))?;
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    add(&delivery);
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(BEHAVIOUR.as_bytes());
    add(option.as_bytes());
    OPTIONS.iter().for_each(|word| add(word.as_bytes()));
    units.iter().for_each(|unit| add(unit.key.as_bytes()));
    record.link_arguments.iter().for_each(|word| add(word.as_bytes()));
    add(origin(record).as_os_str().as_encoded_bytes());
    add(record.directory.as_os_str().as_encoded_bytes());
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}
