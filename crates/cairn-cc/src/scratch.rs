//! Folders that go away with the command, however it ends.
//!
//! Make ends its compilers by a signal, and nothing is dropped then. So a shell waits beside each folder for the pipe
//! between us to close, which the kernel does for whoever dies, and removes the folder. No handler of ours comes between
//! a signal and its usual effect.

use std::{
    fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// A folder for the files of one command.
pub(crate) struct Scratch {
    path: PathBuf,
    /// Without one the folder is still removed by every orderly end.
    cleaner: Option<Child>,
}

/// Reads until the end of the pipe. Children of ours may still write when we are gone, hence the second attempt.
const CLEANER: &str =
    "trap '' HUP INT TERM; while read -r _; do :; done; rm -rf -- \"$1\" || { sleep 1; rm -rf -- \"$1\"; }";

impl Scratch {
    /// A fresh folder in `parent`.
    pub fn new(prefix: &str, parent: &Path) -> io::Result<Self> {
        let path = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?.keep();
        let cleaner = Command::new("/bin/sh")
            .args(["-c", CLEANER, "sh"])
            .arg(&path)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of the terminal's signals.
            .process_group(0)
            .spawn()
            .ok();
        Ok(Self { path, cleaner })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        if let Some(mut cleaner) = self.cleaner.take() {
            let _ = cleaner.kill();
            let _ = cleaner.wait();
        }
    }
}
