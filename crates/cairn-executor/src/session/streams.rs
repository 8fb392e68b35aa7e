//! What a session's processes have for standard input, output and error.

use crate::capture;
use std::{
    fs::File,
    io::{self, Seek},
};

/// The memory files behind descriptors 0 to 2.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) stdin: File,
    pub(super) stdin_content: File,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

impl Streams {
    pub(super) fn new() -> io::Result<Self> {
        let stdin_content = capture::memory_file("stdin")?;
        Ok(Self {
            stdin: capture::read_only(&stdin_content)?,
            stdin_content,
            stdout: capture::memory_file("stdout")?,
            stderr: capture::memory_file("stderr")?,
        })
    }

    /// Forgets what a runner left that died: the next takes them for new.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        for file in [&self.stdin_content, &self.stdout, &self.stderr] {
            file.set_len(0)?;
        }
        for mut file in [&self.stdin, &self.stdout, &self.stderr] {
            file.rewind()?;
        }
        Ok(())
    }
}
