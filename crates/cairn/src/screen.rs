//! What the user sees: results on stdout, everything else on stderr.

use crate::exit_code::Exit;
use std::{
    fmt,
    io::{ErrorKind, IsTerminal, Write, stderr, stdout},
    process::exit,
};

/// `1 branch`, `2 branches`.
pub fn count(n: usize, noun: &str) -> String {
    let ending = match noun {
        _ if n == 1 => "",
        noun if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{n} {noun}{ending}")
}

/// Where output goes.
pub struct Screen {
    draws_progress: bool,
    has_colour: bool,
}

impl Screen {
    /// Progress and colour only on a terminal, and colour only where it is welcome.
    pub fn new() -> Self {
        let is_terminal = stderr().is_terminal();
        let has_colour = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { draws_progress: is_terminal, has_colour }
    }

    /// A line that the next one replaces.
    pub fn progress(&self, text: &str) {
        if self.draws_progress {
            say(format_args!("\r\x1b[2K{text}"));
        }
    }

    /// Something to know.
    pub fn warn(&self, text: &str) {
        self.clear();
        say(format_args!("{}: {text}\n", self.paint("warning", "33")));
    }

    /// A line that stays, beside the result.
    pub fn note(&self, text: &str) {
        self.clear();
        say(format_args!("{text}\n"));
    }

    /// An error that ends the command.
    pub fn fail(&self, failure: &crate::failure::Failure) {
        self.clear();
        eprintln!("{}: {}", self.paint("error", "31"), failure.message);
        if let Some(hint) = &failure.hint {
            eprintln!("\n{}: {hint}", self.paint("hint", "36"));
        }
    }

    /// What was asked for. A reader that closed the pipe has seen enough, but the exit code is still to be told.
    pub fn result(&self, text: &str) {
        self.offer(text);
    }

    /// A part of what was asked for; whether somebody still reads.
    pub fn offer(&self, text: &str) -> bool {
        self.clear();
        let mut stdout = stdout();
        match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => false,
            Err(error) => {
                eprintln!("{}: failed to write the result: {error}", self.paint("error", "31"));
                exit(Exit::Internal as i32)
            }
        }
    }

    /// Whether colour is welcome.
    pub fn has_colour(&self) -> bool {
        self.has_colour
    }

    fn clear(&self) {
        if self.draws_progress {
            say(format_args!("\r\x1b[2K"));
        }
    }

    fn paint(&self, text: &str, colour: &str) -> String {
        if self.has_colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// A terminal that was closed is no reason to end what somebody waits for.
fn say(text: fmt::Arguments<'_>) {
    // In one piece, so that what others write stays apart.
    let _ = stderr().write_all(text.to_string().as_bytes());
}
