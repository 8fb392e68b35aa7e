//! Ways to change what a file is beside its content.

use crate::random::Random;
use cairn_model::input::{FileKind, FileRegion};

/// A way is known by its place here.
pub(super) const NAMES: [&str; 3] = ["other mode", "other size", "size of the content"];

/// The longest a file becomes by a hole at its end: some programs read all of it.
const LONGEST: u64 = 1 << 20;

/// Modes that programs tell apart.
const MODES: [u32; 10] = [0, 0o400, 0o200, 0o100, 0o600, 0o644, 0o755, 0o777, 0o4755, 0o1777];

/// Changes mode or size of a regular file.
pub(super) fn change(file: &mut FileRegion, way: usize, random: &mut Random) -> bool {
    let FileKind::Regular(content) = &file.kind else { return false };
    match way {
        0 => {
            let mode = file.mode.unwrap_or(0o644);
            let other = if random.once_in(2) {
                mode ^ 1 << random.below(12)
            } else {
                MODES[random.below(MODES.len())]
            };
            file.mode.replace(other) != Some(other)
        }
        1 => {
            let length = content.0.len() as u64;
            let size = match random.below(4) {
                // Shorter than the content, which is cut.
                0 => random.below(content.0.len() + 1) as u64,
                1 => length + 1 + random.below(64) as u64,
                2 => length.max(1) * (2 + random.below(8) as u64),
                _ => (1u64 << random.below(21)) + random.below(3) as u64 - 1,
            };
            file.size = Some(size.min(LONGEST));
            true
        }
        _ => file.size.take().is_some(),
    }
}
