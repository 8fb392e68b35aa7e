//! Looks at standard input without taking anything from it.
//!
//! The program, or whoever shares its pipe (`while read line; do program; done`), must find every byte still there. A
//! file is read beside its offset, a pipe is duplicated with `tee`, a socket is peeked at. Only time passes: the end of
//! a pipe is known once its writers have closed it, so they are waited for while they write, and a little longer.

use crate::{
    reasons::{LeftOut, Note},
    settings::Settings,
};
use nix::{
    fcntl::{FcntlArg, SpliceFFlags, fcntl, tee},
    libc,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        socket::{MsgFlags, recv},
        stat::{FileStat, SFlag, fstat, major, minor},
    },
    unistd::{lseek, pipe, read},
};
use std::{
    fs::{self, File},
    io::{IsTerminal, stdin},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::fs::FileExt,
    },
    path::PathBuf,
    time::{Duration, Instant},
};

/// What will be read from standard input, as far as it is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StandardInput {
    /// Everything up to the end.
    pub content: Vec<u8>,
    /// If it is less than everything.
    pub note: Option<Note>,
    /// Which file it is.
    pub identity: Option<(u64, u64)>,
}

/// Looks at this process's standard input. A closed one counts as empty.
pub(crate) fn look(settings: &Settings) -> Result<StandardInput, LeftOut> {
    let stdin = stdin();
    let fd = stdin.as_fd();
    let Ok(status) = fstat(fd) else { return Ok(StandardInput::default()) };
    let identity = Some((status.st_dev, status.st_ino));
    let limit = settings.limits.bytes;
    let (content, note) = match SFlag::from_bits_truncate(status.st_mode & SFlag::S_IFMT.bits()) {
        SFlag::S_IFREG => (rest_of_file(fd, limit)?, None),
        SFlag::S_IFIFO => look_into(&Pipe(fd), settings, &status)?,
        SFlag::S_IFSOCK => look_into(&Socket(fd), settings, &status)?,
        SFlag::S_IFCHR if is_null(&status) || stdin.is_terminal() => (Vec::new(), None),
        _ => return Err(LeftOut::StrangeStandardInput),
    };
    Ok(StandardInput { content, note, identity })
}

fn is_null(status: &FileStat) -> bool {
    (major(status.st_rdev), minor(status.st_rdev)) == (1, 3)
}

fn rest_of_file(fd: BorrowedFd, limit: u64) -> Result<Vec<u8>, LeftOut> {
    let too_large = LeftOut::TooLarge { limit };
    let Ok(offset) = lseek(fd, 0, nix::unistd::Whence::SeekCur) else { return Ok(Vec::new()) };
    let Ok(file) = fd.try_clone_to_owned().map(File::from) else { return Ok(Vec::new()) };
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let rest = size.saturating_sub(offset as u64);
    if rest > limit {
        return Err(too_large);
    }
    let mut content = vec![0; rest as usize];
    let mut n = 0;
    while n < content.len() {
        // A descriptor that may only be written gives nothing to the program either.
        match file.read_at(&mut content[n..], offset as u64 + n as u64) {
            Ok(0) | Err(_) => break,
            Ok(more) => n += more,
        }
    }
    content.truncate(n);
    Ok(content)
}

/// A stream whose waiting bytes can be looked at.
trait Stream {
    fn fd(&self) -> BorrowedFd<'_>;
    /// The waiting bytes.
    fn peek(&self, n: usize) -> Vec<u8>;
    /// Makes room for more than the `n` bytes that wait, up to `wanted` if possible; returns the room there is.
    fn make_room(&self, n: u64, wanted: u64) -> u64;
}

fn look_into(
    stream: &dyn Stream,
    settings: &Settings,
    status: &FileStat,
) -> Result<(Vec<u8>, Option<Note>), LeftOut> {
    const SLICE: Duration = Duration::from_millis(5);
    let limit = settings.limits.bytes;
    let too_large = LeftOut::TooLarge { limit };
    // A pipe that a whole suite inherited is waited for once, not at every call.
    let known = known_to_stay_open(settings, status);
    let patience = if known.exists() { Duration::ZERO } else { settings.limits.patience };
    let began = Instant::now();
    let mut progress = (0, began);
    let is_complete = loop {
        let closed = is_closed(stream.fd(), if patience.is_zero() { Duration::ZERO } else { SLICE });
        let n = waiting(stream.fd());
        if n > limit {
            return Err(too_large);
        }
        if closed {
            break true;
        }
        if n != progress.0 {
            progress = (n, Instant::now());
            let room = stream.make_room(n, limit);
            // Its writer waits for somebody to read, and we never do.
            if n >= limit.min(room) {
                return Err(LeftOut::TooLarge { limit: limit.min(room) });
            }
        }
        // Somebody else may be reading too, and then it never comes to rest.
        if progress.1.elapsed() >= patience || began.elapsed() >= 10 * patience {
            break false;
        }
    };
    let content = stream.peek(waiting(stream.fd()) as usize);
    if is_complete {
        return Ok((content, None));
    }
    let _ = fs::write(&known, "");
    let note = if content.is_empty() { Note::StandardInputOpen } else { Note::StandardInputCut };
    Ok((content, Some(note)))
}

/// The file that says that this pipe was waited for in vain.
fn known_to_stay_open(settings: &Settings, status: &FileStat) -> PathBuf {
    settings.session.join(format!("open-{}-{}", status.st_dev, status.st_ino))
}

fn is_closed(fd: BorrowedFd, wait: Duration) -> bool {
    // Data is not asked for, so waiting data does not wake us, only the end does. A socket whose other side has
    // finished writing says so in its own way, which has no name in `PollFlags`, and then `revents` is `None`.
    let mut fds = [PollFd::new(fd, PollFlags::from_bits_retain(libc::POLLRDHUP))];
    let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::ZERO);
    let ends = PollFlags::POLLHUP | PollFlags::POLLERR;
    poll(&mut fds, timeout).is_ok() && fds[0].revents().is_none_or(|events| events.intersects(ends))
}

nix::ioctl_read_bad!(bytes_to_read, libc::FIONREAD, libc::c_int);

fn waiting(fd: BorrowedFd) -> u64 {
    let mut n = 0;
    // SAFETY: the call writes one int, which `n` is.
    match unsafe { bytes_to_read(fd.as_raw_fd(), &mut n) } {
        Ok(_) => u64::try_from(n).unwrap_or(0),
        Err(_) => 0,
    }
}

/// What an unprivileged process may make of a pipe, unless the machine says otherwise.
const LARGEST_PIPE: u64 = 1 << 20;

struct Pipe<'a>(BorrowedFd<'a>);

impl Stream for Pipe<'_> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.0
    }

    fn peek(&self, n: usize) -> Vec<u8> {
        let copied = || -> nix::Result<Vec<u8>> {
            let (out, into) = pipe()?;
            fcntl(&into, FcntlArg::F_SETPIPE_SZ(fcntl(self.0, FcntlArg::F_GETPIPE_SZ)?))?;
            let n = tee(self.0, &into, n, SpliceFFlags::SPLICE_F_NONBLOCK)?;
            let mut content = vec![0; n];
            let mut filled = 0;
            while filled < n {
                filled += match read(&out, &mut content[filled..])? {
                    0 => break,
                    more => more,
                };
            }
            content.truncate(filled);
            Ok(content)
        };
        if n == 0 { Vec::new() } else { copied().unwrap_or_default() }
    }

    fn make_room(&self, n: u64, wanted: u64) -> u64 {
        let room = || fcntl(self.0, FcntlArg::F_GETPIPE_SZ).map_or(u64::MAX, |size| size as u64);
        // Early, because pages that are not full take room too.
        if n >= room() / 2 && room() < wanted {
            let grow = |size: u64| fcntl(self.0, FcntlArg::F_SETPIPE_SZ(size.min(1 << 30) as libc::c_int));
            let _ = grow(wanted.next_power_of_two()).or_else(|_| grow(wanted.min(LARGEST_PIPE)));
        }
        room()
    }
}

struct Socket<'a>(BorrowedFd<'a>);

impl Stream for Socket<'_> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.0
    }

    fn peek(&self, n: usize) -> Vec<u8> {
        let mut content = vec![0; n];
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        let n = recv(self.0.as_raw_fd(), &mut content, flags).unwrap_or(0);
        content.truncate(n);
        content
    }

    fn make_room(&self, _: u64, _: u64) -> u64 {
        u64::MAX
    }
}
