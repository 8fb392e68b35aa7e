//! Links what the instrumenter made with everything else the program is linked from.

use super::{
    build::{ViewError, io_error, origin},
    search_path::resolved,
};
use crate::{
    Settings,
    record::{BuildRecord, FOLDER_PLACEHOLDER, VIEW_PLACEHOLDER},
    unit::command,
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

/// An executable to be linked.
#[derive(Clone, Debug)]
pub(super) struct Linked {
    /// Its file name; objects and messages are named after it.
    pub(super) name: String,
    /// Names of the objects that stand for the program's own.
    pub(super) objects: Vec<String>,
    /// Whether it has our runtime; otherwise only inputs are delivered to it.
    pub(super) has_runtime: bool,
    /// The option that links the run-time libraries of sanitizers, if it has any.
    pub(super) sanitize: Option<String>,
    /// Whether the delivery is linked even if the program asks for nothing: it is what tells where a program fails.
    pub(super) tells_failures: bool,
}

/// Makes the runtime the first to run, before anything of the program closes descriptors; as the first input of a
/// link, because linkers keep the order of these entries.
const START: &str = ".section .preinit_array,\"aw\",@preinit_array\n.p2align 3\n.quad cairn_start\n\
                     .section .note.GNU-stack,\"\",@progbits\n";

/// A running link; several link at the same time.
pub(super) struct Link {
    name: String,
    child: Child,
    messages: PathBuf,
}

impl Link {
    /// Links objects in the folder `work` to an executable there.
    pub(super) fn start(
        settings: &Settings,
        record: &BuildRecord,
        linked: &Linked,
        work: &Path,
    ) -> Result<Self, ViewError> {
        let ours = &settings.distribution;
        let Linked { name, objects, has_runtime, sanitize, tells_failures } = linked;
        let objects: Vec<String> = objects.iter().map(|name| work.join(name).display().to_string()).collect();
        let folder = record.folder.display().to_string();
        // Views lie elsewhere than the executable.
        let arguments = resolved(&record.link_arguments, origin(record), &record.directory);
        let mut words: Vec<String> = arguments
            .iter()
            .flat_map(|word| match word.strip_prefix(FOLDER_PLACEHOLDER) {
                Some(rest) => vec![format!("{folder}{rest}")],
                None if word == VIEW_PLACEHOLDER => objects.clone(),
                None => vec![word.clone()],
            })
            .collect();
        if *has_runtime {
            let start = work.join(format!("{name}-start.s"));
            fs::write(&start, START).map_err(|source| io_error("write", &start, source))?;
            words.insert(0, start.display().to_string());
        }
        let archive = if *has_runtime { &ours.runtime_archive } else { &ours.deliver_archive };
        words.push(archive.display().to_string());
        words.extend(tells_failures.then(|| "-Wl,-u,cairn_start".to_owned()));
        words.extend(sanitize.clone());
        words.push("-fuse-ld=lld".to_owned());
        words.push(format!("--ld-path={}", settings.toolchain.lld.display()));
        words.extend(["-Qunused-arguments", "-Wl,--undefined-version", "-o"].map(str::to_owned));
        words.push(work.join(name).display().to_string());
        let messages = work.join(format!("{name}.messages"));
        let output = File::create(&messages).map_err(|source| io_error("write", &messages, source))?;
        let driver = settings.toolchain.driver(record.is_cxx);
        // Relative paths the user hid in options are relative to where the link ran.
        let directory = if record.directory.is_dir() { &record.directory } else { &record.folder };
        let child = command(driver, &words, work)
            .and_then(|mut command| {
                command
                    .current_dir(directory)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(output)
                    .spawn()
            })
            .map_err(|source| io_error("start", driver, source))?;
        Ok(Self { name: name.clone(), child, messages })
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Result<(), ViewError> {
        let status = self.child.wait().map_err(|source| io_error("wait for", &self.messages, source))?;
        if status.success() {
            return Ok(());
        }
        let messages = fs::read(&self.messages).unwrap_or_default();
        let text = String::from_utf8_lossy(&messages);
        let message = text.lines().take(8).collect::<Vec<_>>().join("\n");
        Err(ViewError::Link { view: self.name, message })
    }
}
