//! Links an executable natively, then merges its bitcode and records how to link views of it.
//!
//! [`items`] reads the link line; [`contents`] tells what an object or archive member carries; [`replace`] gives
//! every input its stand-in for the second link and for links of views, with [`rebuild`]'s help; [`merge`] runs the second
//! link; [`identity`] gives the executable its build id; [`save`] writes the record.

mod contents;
mod identity;
mod items;
mod merge;
mod rebuild;
mod replace;
mod save;
mod sources;

pub(crate) use sources::native_object;

use crate::{
    Settings,
    arguments::CommandLine,
    compile::{beside_native, temporary_folder},
    driver::{DriverError, archive_words, exit_code, native_words},
    elf,
    scratch::Scratch,
    store::{self, FOLDER},
    unit::{Unit, command},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
};

/// Links natively and, if that worked and the result can be found again, records the build.
pub(crate) fn link(settings: &Settings, line: &CommandLine) -> Result<u8, DriverError> {
    let deliver = &settings.distribution.deliver_archive;
    if !deliver.is_file() {
        return Err(DriverError::Incomplete { path: deliver.display().to_string() });
    }
    let folder = temporary_folder(settings)?;
    let mut words = native_words(settings, line);
    if !chooses_build_id(line) {
        words.push("-Wl,--build-id=sha1".to_owned());
    }
    if wants_delivery(line) {
        words.extend(archive_words(deliver));
    }
    let units: Vec<_> = line.sources().map(|input| Unit::new(settings, line, input)).collect();
    let started: Vec<_> = units.iter().flatten().cloned().collect();
    let (status, compiled) = beside_native(settings, line, &words, &started, folder.path())?;
    if !status.success() {
        return if lacks_entry_point(settings, line, &words, folder.path()) {
            Err(DriverError::NoEntryPoint)
        } else {
            Ok(exit_code(status))
        };
    }
    // Nothing that goes wrong from here on may fail the user's link. Without a build id there is nothing to record
    // under; `views::find` explains that to whoever asks.
    let output = settings.places.directory.join(line.output().unwrap_or("a.out"));
    let executable = if output.is_file() { fs::read(&output).unwrap_or_default() } else { Vec::new() };
    if let Some(linker_id) = elf::build_id(&executable) {
        let sources = sources::sources(settings, line, &units, compiled, folder.path());
        let build = Build { settings, line, linker_id, output, code_size: elf::code_size(&executable) };
        let _ = build.record(sources);
    }
    Ok(exit_code(status))
}

/// A finished native link about to be recorded.
struct Build<'a> {
    settings: &'a Settings,
    line: &'a CommandLine,
    /// The build id the linker wrote.
    linker_id: String,
    output: PathBuf,
    code_size: u64,
}

impl Build<'_> {
    fn record(&self, sources: Vec<sources::Source>) -> io::Result<()> {
        let root = store::project_root(&self.settings.places.directory);
        let cairn_dir = self.settings.places.cairn_dir.clone().unwrap_or_else(|| root.join(FOLDER));
        store::create(&cairn_dir)?;
        // Beside the record, so that finished files are moved, not copied.
        let work = Scratch::new(".work-", &cairn_dir)?;
        let items = items::items(self.settings, self.line, &root);
        let replacer = replace::Replacer::new(self.settings, &root, &cairn_dir, work.path());
        let (replaced, merged) = match replacer.all(items, sources) {
            Ok(replaced) => {
                let merged = merge::merge(self.settings, self.line, &replaced, work.path());
                (replaced, merged)
            }
            Err(error) => (replace::Replaced::default(), merge::Merge::failed(error.to_string())),
        };
        let build_id = identity::identify(self, &replaced);
        save::save(self, &build_id, &root, &cairn_dir, replaced, merged)
    }
}

/// Whether the delivery archive belongs on this line: not where the user does without the usual start-up code.
fn wants_delivery(line: &CommandLine) -> bool {
    !["-nostdlib", "-nostartfiles", "--no-standard-libraries"].iter().any(|name| line.has(name))
}

/// Whether a link failed because there is nothing to start: only our own `main` asks for a harness.
///
/// The linker has already spoken to the user directly, so it is asked once more where we can listen.
fn lacks_entry_point(settings: &Settings, line: &CommandLine, words: &[String], folder: &Path) -> bool {
    if !wants_delivery(line) {
        return false;
    }
    let output = command(settings.toolchain.driver(line.is_cxx), words, folder).and_then(|mut command| {
        command.current_dir(&settings.places.directory).stdin(Stdio::null()).output()
    });
    output.is_ok_and(|output| {
        let said = String::from_utf8_lossy(&output.stderr);
        said.contains("undefined") && said.contains("LLVMFuzzerTestOneInput")
    })
}

fn chooses_build_id(line: &CommandLine) -> bool {
    line.linker_words().iter().any(|word| matches!(word.name(), "-build-id" | "-no-build-id"))
}
