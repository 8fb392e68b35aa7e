//! The compiler: decides what a command line asks for and does it.

use crate::{
    Settings, Toolchain,
    arguments::{CommandLine, Language, Mode, filter, response},
    compile, link, preset, relocatable,
    unit::{command, fits},
};
use std::{
    ffi::OsStr,
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Command, ExitStatus},
};

pub use crate::unit::FACTS_WORD;

/// Why a command could not even be started.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// clang did not start.
    #[error("failed to start `{program}`")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// No folder for temporary files.
    #[error("failed to make a temporary folder")]
    TemporaryFolder(#[source] io::Error),
    /// Nothing to start.
    #[error(
        "the program has neither `main` nor `LLVMFuzzerTestOneInput`\n\nhint: link the object that defines one; in \
         C++ a harness is declared `extern \"C\"`"
    )]
    NoEntryPoint,
    /// The delivery archive is missing.
    #[error("`{path}` is missing\n\nhint: cairn-cc was moved without its `lib` folder; install it again")]
    Incomplete {
        /// The file.
        path: String,
    },
}

/// Does what `words` (without the program's name) ask for and returns the exit code.
///
/// Where there is nothing for us to add, this process becomes clang and the call does not return.
pub fn run(settings: &Settings, is_cxx: bool, words: &[String]) -> Result<u8, DriverError> {
    let Some(expanded) = response::expand(words, &settings.places.directory) else {
        return run_natively(&settings.toolchain, is_cxx, words);
    };
    let line = CommandLine::parse(&expanded, is_cxx);
    let is_native = settings.bypass || !settings.is_text() || is_probe(&line, &settings.places.directory);
    match line.mode() {
        Mode::Compile if !is_native => compile::compile(settings, &line),
        Mode::Relocatable if !is_native && line.sources().next().is_some() => {
            relocatable::link(settings, &line)
        }
        Mode::Link if !is_native => link::link(settings, &line),
        mode => become_clang(settings, &line, mode),
    }
}

/// Becomes clang with the words as they are; returns only if clang does not start.
///
/// For command lines that are not UTF-8, which records cannot hold: such a source gets no bitcode.
pub fn run_natively<Word: AsRef<OsStr>>(
    toolchain: &Toolchain,
    is_cxx: bool,
    words: &[Word],
) -> Result<u8, DriverError> {
    let program = toolchain.driver(is_cxx);
    let source = Command::new(program).args(words).exec();
    Err(DriverError::Spawn { program: program.display().to_string(), source })
}

/// The user's words as clang shall see them, our macros and headers added.
pub(crate) fn native_words(settings: &Settings, line: &CommandLine) -> Vec<String> {
    let mut words = filter::native(line);
    // Standard input without `-x` can only be preprocessed, and is then C.
    if line.inputs().any(|input| input.language.is_preprocessed_by_us() || input.path == "-")
        && !line.has("-cc1")
        && !line.has("-cc1as")
    {
        words.extend(preset::options(&settings.distribution.include_dir));
    }
    words
}

/// An archive of ours at the end of a line, whatever language the user's `-x` still forces there.
pub(crate) fn archive_words(archive: &Path) -> [String; 3] {
    ["-x".to_owned(), "none".to_owned(), archive.to_string_lossy().into_owned()]
}

/// The exit code a shell would report.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}

fn become_clang(settings: &Settings, line: &CommandLine, mode: Mode) -> Result<u8, DriverError> {
    let mut words = native_words(settings, line);
    if mode == Mode::Link && asks_for_fuzzer(line) {
        words.extend(archive_words(&settings.distribution.deliver_archive));
    }
    let program = settings.toolchain.driver(line.is_cxx);
    let spawn = |source| DriverError::Spawn { program: program.display().to_string(), source };
    if fits(&words) {
        let error = Command::new(program).args(&words).current_dir(&settings.places.directory).exec();
        return Err(spawn(error));
    }
    // Someone has to remove the response file afterwards.
    let folder = compile::temporary_folder(settings)?;
    let mut command = command(program, &words, folder.path()).map_err(spawn)?;
    let status = command.current_dir(&settings.places.directory).status().map_err(spawn)?;
    Ok(exit_code(status))
}

fn asks_for_fuzzer(line: &CommandLine) -> bool {
    line.options().any(|option| {
        option[0].strip_prefix("-fsanitize=").is_some_and(|list| list.split(',').any(|name| name == "fuzzer"))
    })
}

/// Whether this is a build system trying the compiler out.
fn is_probe(line: &CommandLine, directory: &Path) -> bool {
    let is_probe_folder = |path: &Path| {
        path.components().any(|part| {
            let part = part.as_os_str().to_string_lossy();
            matches!(&*part, "CMakeScratch" | "CMakeTmp" | "meson-private") || part.starts_with("CompilerId")
        })
    };
    if is_probe_folder(directory) {
        return true;
    }
    let is_probe_file = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name == "conftest" || name.starts_with("conftest.")
    };
    line.inputs()
        .filter(|input| input.language != Language::LinkerInput || is_probe_file(&input.path))
        .map(|input| input.path.as_str())
        .chain(line.output())
        .any(|path| is_probe_file(path) || is_probe_folder(Path::new(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(text: &str, directory: &str) -> bool {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        is_probe(&CommandLine::parse(&words, false), Path::new(directory))
    }

    #[test]
    fn probes_of_build_systems_are_recognised() {
        assert!(probe("-c conftest.c", "/p"));
        assert!(probe("-o conftest conftest.o", "/p"));
        assert!(probe("-c x.c", "/p/CMakeFiles/CMakeScratch/TryCompile-1"));
        assert!(probe("-c /b/meson-private/tmp1/testfile.c", "/b"));
        assert!(probe("CMakeCCompilerId.c", "/b/CMakeFiles/3.25.1/CompilerIdC"));
        assert!(!probe("-c conftester.c -o a.o", "/p"));
        assert!(!probe("a.o b.o -o prog", "/p"));
    }
}
