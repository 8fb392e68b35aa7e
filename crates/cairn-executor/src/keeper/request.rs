//! What the executor asks of its keeper: one byte, and descriptors.

/// Run the program once. Descriptors: standard input, output and error, channel.
pub(super) const RUN: u8 = b'x';

/// Start a session. Descriptors: as for a run, then the memory file behind standard input, then, if there is one,
/// the watch over the scratch folder. Answered when the program was executed; the next three are obeyed from then on.
pub(super) const SESSION: u8 = b's';

/// Look at the process named on the board.
pub(super) const LOOK: u8 = b'm';

/// Kill the process named on the board, if it is one of the session.
pub(super) const KILL: u8 = b'k';

/// End the session with all its processes.
pub(super) const END: u8 = b'e';

/// The most descriptors that come with a request.
pub(super) const MAX_GIVEN: usize = 6;
