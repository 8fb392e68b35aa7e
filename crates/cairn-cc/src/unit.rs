//! One translation unit on its way to bitcode and facts.
//!
//! [`Unit::start`] begins both as child processes, so that they run beside the native compile; [`Running::finish`]
//! collects them. libclang gets a process of its own because no bug in it may take a build down.

use crate::{
    Settings,
    arguments::{CommandLine, Input, filter, response},
    payload::UnitMeta,
    preset,
};
use nix::{
    sys::{prctl::set_pdeathsig, signal::Signal},
    unistd::getppid,
};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// A C or C++ source with the options it is compiled with.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub meta: UnitMeta,
    /// Options for bitcode and facts, ending in the source.
    arguments: Vec<String>,
}

/// The two children of a unit.
pub(crate) struct Running {
    meta: UnitMeta,
    bitcode: Step,
    facts: Step,
}

/// A finished unit; what failed is empty, and the metadata says why.
pub(crate) struct Compiled {
    pub meta: UnitMeta,
    pub bitcode: Vec<u8>,
    pub facts: Vec<u8>,
}

/// The word by which our own binary is asked for the facts of a unit.
pub const FACTS_WORD: &str = "--cairn-facts";

const BITCODE_OPTIONS: &[&str] = &[
    "-c",
    // Not `-flto`: its module summary lets lld drop functions nobody calls, and those are part of the program.
    "-emit-llvm",
    // Unoptimised code as at `-O0`, but with type-based alias information and without `noinline` everywhere. Lifetime
    // markers would add branches of their own, and the macros say what they say at `-O0`.
    "-O2",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-U__OPTIMIZE__",
    "-D__NO_INLINE__=1",
    // A read through a null pointer shall crash, not vanish together with the counters before it.
    "-fno-delete-null-pointer-checks",
    // `a * b + c` stays two operations, each of which can be found and changed; without FMA, as on plain x86-64, the
    // machine computes the same either way.
    "-ffp-contract=off",
    "-g",
    "-fno-discard-value-names",
    "-U_FORTIFY_SOURCE",
    "-Qunused-arguments",
    "-w",
];

impl Unit {
    /// The unit made of `input`, unless it is not C or C++ or comes from standard input.
    pub fn new(settings: &Settings, line: &CommandLine, input: &Input) -> Option<Self> {
        let language = input.language.name().filter(|_| input.path != "-")?;
        let tail = ["-x".to_owned(), language.to_owned(), input.path.clone()];
        let mut recorded = filter::native_unit(line);
        recorded.extend(tail.clone());
        let mut arguments = filter::bitcode(line, &settings.places.directory);
        if input.language.is_preprocessed_by_us() {
            arguments.extend(preset::options(&settings.distribution.include_dir));
        }
        arguments.extend(tail);

        let directory = &settings.places.directory;
        let key = unit_key(directory, &recorded, &fs::read(directory.join(&input.path)).unwrap_or_default());
        let meta = UnitMeta {
            key,
            directory: directory.to_string_lossy().into_owned(),
            source: input.path.clone(),
            is_cxx: line.is_cxx,
            arguments: recorded,
            symbols: Vec::new(),
            bitcode_error: None,
            facts_error: None,
        };
        Some(Self { meta, arguments })
    }

    /// Starts both children; their files go to `folder`.
    pub fn start(&self, settings: &Settings, folder: &Path) -> Running {
        let key = &self.meta.key;
        let bitcode = folder.join(format!("{key}.o"));
        let (options, source) = self.arguments.split_at(self.arguments.len() - 3);
        let mut words: Vec<String> = options.to_vec();
        words.extend(BITCODE_OPTIONS.iter().map(|word| word.to_string()));
        words.extend(["-Xclang", "-dwarf-debug-flags", "-Xclang"].map(str::to_owned));
        words.push(format!("cairn:{key}"));
        words.extend(source.iter().cloned());
        words.extend(["-o".to_owned(), bitcode.to_string_lossy().into_owned()]);
        let driver = settings.toolchain.driver(self.meta.is_cxx);
        let bitcode = Step::start(settings, folder, driver, &words, bitcode);

        let facts = folder.join(format!("{key}.facts"));
        let mut words = vec![FACTS_WORD.to_owned(), facts.to_string_lossy().into_owned()];
        words.push(settings.places.directory.to_string_lossy().into_owned());
        words.extend(options.iter().cloned());
        words.extend(["-O0", "-U_FORTIFY_SOURCE", "-w"].map(str::to_owned));
        words.extend(source.iter().cloned());
        let facts = Step::start(settings, folder, &settings.distribution.compiler, &words, facts);
        Running { meta: self.meta.clone(), bitcode, facts }
    }
}

impl Running {
    /// Waits for both children.
    pub fn finish(self) -> Compiled {
        let mut meta = self.meta;
        let take = |step: Step, error: &mut Option<String>| {
            step.finish().unwrap_or_else(|reason| {
                *error = Some(reason);
                Vec::new()
            })
        };
        let bitcode = take(self.bitcode, &mut meta.bitcode_error);
        let facts = take(self.facts, &mut meta.facts_error);
        Compiled { meta, bitcode, facts }
    }
}

/// Names a unit by where and how it is compiled, and by its source.
///
/// Neither the output's name nor our own folders take part: the same source gives the same object.
pub(crate) fn unit_key(directory: &Path, recorded: &[String], source: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in std::iter::once(directory.as_os_str().as_encoded_bytes())
        .chain(recorded.iter().map(|word| word.as_bytes()))
        .chain([source])
    {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// A child process that writes one file.
struct Step {
    child: Option<Child>,
    started: io::Result<()>,
    output: PathBuf,
    messages: PathBuf,
}

impl Step {
    fn start(settings: &Settings, folder: &Path, program: &Path, words: &[String], output: PathBuf) -> Self {
        // A file, not a pipe: nobody reads while the native compile runs.
        let messages = output.with_extension("messages");
        let started = File::create(&messages).and_then(|file| {
            command(program, words, folder)?
                .current_dir(&settings.places.directory)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(file)
                .spawn()
        });
        match started {
            Ok(child) => Self { child: Some(child), started: Ok(()), output, messages },
            Err(error) => Self { child: None, started: Err(error), output, messages },
        }
    }

    fn finish(mut self) -> Result<Vec<u8>, String> {
        std::mem::replace(&mut self.started, Ok(())).map_err(|error| error.to_string())?;
        let mut child = self.child.take().expect("a step that started has a child");
        let status = child.wait().map_err(|error| error.to_string())?;
        if status.success() {
            return fs::read(&self.output).map_err(|error| error.to_string());
        }
        let messages = fs::read(&self.messages).unwrap_or_default();
        Err(first_error(&String::from_utf8_lossy(&messages)).unwrap_or_else(|| status.to_string()))
    }
}

impl Drop for Step {
    // A native compile that failed leaves its companions with nothing to do.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The first line that says `error`, else the first line that says anything.
pub(crate) fn first_error(messages: &str) -> Option<String> {
    let lines = || messages.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| line.contains("error")).or_else(|| lines().next()).map(str::to_owned)
}

/// A command whose words go through a response file when they would not fit on a command line.
///
/// It ends with us: whoever ends a compiler means all of it.
pub(crate) fn command(program: impl AsRef<OsStr>, words: &[String], folder: &Path) -> io::Result<Command> {
    let mut command = Command::new(program);
    let parent = std::process::id();
    let end_with_parent = move || {
        set_pdeathsig(Signal::SIGTERM)?;
        // Who was ended before that gets no signal for it.
        if getppid().as_raw() as u32 == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: `prctl` and `getppid` may be called between fork and exec, and so may what reads their results.
    unsafe { command.pre_exec(end_with_parent) };
    if fits(words) {
        command.args(words);
        return Ok(command);
    }
    let file = tempfile::Builder::new().suffix(".rsp").tempfile_in(folder)?;
    fs::write(file.path(), response::join(words))?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    let mut word = std::ffi::OsString::from("@");
    word.push(path);
    command.arg(word);
    Ok(command)
}

/// Whether the words fit on a command line with room to spare.
pub(crate) fn fits(words: &[String]) -> bool {
    const LIMIT: usize = 100_000;
    words.iter().map(|word| word.len() + 1).sum::<usize>() < LIMIT
}
