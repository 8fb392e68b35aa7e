//! The real terminal, borrowed while a campaign goes on.

use super::{Colours, Model, draw};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::{getpgrp, read, tcgetpgrp},
};
use ratatui::{
    backend::CrosstermBackend,
    crossterm::{
        cursor::{MoveToColumn, Show},
        execute,
        terminal::{
            Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
        },
    },
};
use std::{
    env,
    fs::File,
    io::{self, BufWriter, IsTerminal, Stderr, Write, stderr, stdin},
    os::fd::AsFd,
    panic,
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

/// Whether the terminal is ours now.
static IS_BORROWED: AtomicBool = AtomicBool::new(false);

/// What panicking threads said while nobody could read it.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The journal has why workers died; this is for what comes first.
const MOST_SAID: usize = 10;

/// The thread that draws is named so; what goes wrong there cannot wait.
pub const DRAWER: &str = "cairn-screen";

/// The terminal while it is drawn on. Dropped, it is as it was before.
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<BufWriter<Stderr>>>,
    colours: Colours,
    /// Where keys come from, if not from standard input.
    other_keys: Option<File>,
}

/// What a person asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// An end.
    End,
}

impl Terminal {
    /// Whether there is a terminal to draw on: one that understands more than lines and that is ours. A job in the
    /// background would be stopped for touching it.
    pub fn is_there() -> bool {
        let understands = env::var_os("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb");
        understands
            && stderr().is_terminal()
            && tcgetpgrp(stderr()).is_ok_and(|foreground| foreground == getpgrp())
    }

    /// Takes the terminal.
    pub fn open(colours: Colours) -> io::Result<Self> {
        say_panics_later();
        let other_keys = if stdin().is_terminal() { None } else { Some(File::open("/dev/tty")?) };
        IS_BORROWED.store(true, SeqCst);
        // From here on whatever was changed is undone, also by an error.
        let opened = enable_raw_mode()
            .and_then(|()| execute!(stderr(), EnterAlternateScreen))
            .and_then(|()| ratatui::Terminal::new(CrosstermBackend::new(BufWriter::new(stderr()))));
        match opened {
            Ok(inner) => Ok(Self { inner, colours, other_keys }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Draws.
    pub fn draw(&mut self, model: &Model, now: Duration) -> io::Result<()> {
        self.inner.draw(|frame| draw(frame, model, now, self.colours)).map(drop)
    }

    /// Waits at most so long for a person to ask for something. Fails when the terminal has gone away.
    pub fn wait(&self, patience: Duration) -> io::Result<Asked> {
        let stdin = stdin();
        let keys = self.other_keys.as_ref().map_or(stdin.as_fd(), AsFd::as_fd);
        let mut waiting = [PollFd::new(keys, PollFlags::POLLIN)];
        match poll(&mut waiting, PollTimeout::try_from(patience).unwrap_or(PollTimeout::ZERO)) {
            // Signals are looked at by whoever waits.
            Ok(0) | Err(Errno::EINTR) => return Ok(Asked::Nothing),
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut bytes = [0; 64];
        match read(keys, &mut bytes) {
            Ok(0) | Err(Errno::EIO) => Err(io::Error::other("the terminal has gone away")),
            Ok(n) => Ok(asked(&bytes[..n])),
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(Asked::Nothing),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// What the bytes of keys ask for.
fn asked(bytes: &[u8]) -> Asked {
    const CONTROL_C: u8 = 3;
    const ESCAPE: u8 = 0x1b;
    match bytes {
        // Arrows and the like: what follows is no key of its own.
        [ESCAPE, ..] => Asked::Nothing,
        bytes if bytes.iter().any(|byte| matches!(*byte, b'q' | b'Q' | CONTROL_C)) => Asked::End,
        _ => Asked::Nothing,
    }
}

/// Makes the terminal what it was, if it is ours, and says what could not be said meanwhile.
fn give_back() {
    if !IS_BORROWED.swap(false, SeqCst) {
        return;
    }
    // A terminal that has gone away cannot be given back, and nobody is left to tell.
    let _ = disable_raw_mode();
    let _ = execute!(stderr(), LeaveAlternateScreen, Show, MoveToColumn(0), Clear(ClearType::CurrentLine));
    for text in std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner)) {
        let _ = writeln!(stderr(), "{text}");
    }
}

/// A worker that panics is started again, and must not write across the picture; a panic of whoever draws ends it.
fn say_panics_later() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_BORROWED.load(SeqCst) && thread::current().name() != Some(DRAWER) {
                let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
                if said.len() < MOST_SAID {
                    said.push(info.to_string());
                }
                return;
            }
            give_back();
            usual(info);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_and_control_c_end_and_other_keys_do_not() {
        assert_eq!([&b"q"[..], b"\x03", b"xQ"].map(asked), [Asked::End; 3]);
        assert_eq!([&b"c"[..], b"\r", b"\x1b[1;5q"].map(asked), [Asked::Nothing; 3]);
    }
}
