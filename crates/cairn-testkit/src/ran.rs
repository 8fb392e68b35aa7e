//! What a program did, ready to be compared and to be shown when it was wrong.

use std::{
    fmt,
    io::Write as _,
    os::unix::process::ExitStatusExt as _,
    process::{Command, ExitStatus, Stdio},
};

/// A finished run of a program.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The command line.
    pub command: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output; bytes that are no text are replaced.
    pub stdout: String,
    /// Its standard error; bytes that are no text are replaced.
    pub stderr: String,
}

impl Ran {
    /// Runs `command` with `stdin` to its end.
    pub fn of(command: &mut Command, stdin: &[u8]) -> Self {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let text = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("failed to start `{text}`: {error}"));
        let mut pipe = child.stdin.take().expect("standard input was piped");
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that does not read its input closes the pipe; that is its right.
                let _ = pipe.write_all(stdin);
            });
            child.wait_with_output().unwrap_or_else(|error| panic!("failed to wait for `{text}`: {error}"))
        });
        Self {
            command: text,
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Panics unless it exited with 0.
    #[track_caller]
    pub fn success(self) -> Self {
        self.exits_with(0)
    }

    /// Panics unless it exited with `code`.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert!(self.status.code() == Some(code), "expected exit status {code}\n{self}");
        self
    }

    /// Panics unless `signal` killed it.
    #[track_caller]
    pub fn dies_of(self, signal: i32) -> Self {
        assert!(self.status.signal() == Some(signal), "expected death by signal {signal}\n{self}");
        self
    }
}

/// The whole story: command, ending, output.
impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        writeln!(f, "{}", self.status)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{}", text.trim_end_matches('\n'))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, stdin: &[u8]) -> Ran {
        Ran::of(Command::new("/bin/sh").args(["-c", line]), stdin)
    }

    #[test]
    fn a_failure_tells_the_whole_story() {
        let ran = shell("cat; echo oops >&2; exit 3", b"in");
        assert_eq!(
            ran.to_string(),
            "$ /bin/sh -c cat; echo oops >&2; exit 3\nexit status: 3\n--- stdout\nin\n--- stderr\noops\n"
        );
    }

    #[test]
    #[should_panic(expected = "expected exit status 0\n$ /bin/sh -c exit 3")]
    fn success_is_demanded() {
        shell("exit 3", b"").success();
    }

    #[test]
    fn a_program_need_not_read_its_input() {
        shell("exit 0", &vec![0; 1_000_000]).success();
        shell("kill -9 $$", b"").dies_of(9);
    }
}
