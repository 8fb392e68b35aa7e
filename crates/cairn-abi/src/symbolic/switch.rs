//! How a symbolic view tells of a `switch`.

/// Stands for a branch of the program that is no condition of the map.
pub const NO_CONDITION: u32 = 0x7fff_ffff;

/// Stands for what the program does not decide: branches of library functions, and what we demand of the input because we
/// follow only what happened. Another input that breaks it may still take the program's way.
pub const LIBRARY: u32 = 0x7fff_fffe;

/// Stands for what has to hold because something worked that relies on it, such as reading a file, which is no folder.
/// Nothing decides it, but no input takes the program's way without it.
pub const GIVEN: u32 = 0x7fff_fffd;

/// Whether the number of a condition stands for something that is no condition of the map.
pub const fn is_unnamed(condition: u32) -> bool {
    condition >= GIVEN
}

/// Set in the number of a condition that is true when its value is false.
pub const INVERTED: u32 = 1 << 31;

/// Constant data of the view, one for each `switch`; its cases follow.
#[derive(Debug)]
#[repr(C)]
pub struct SwitchInfo {
    /// How many [`SwitchCase`]s there are.
    pub n_cases: u32,
    /// The width of the value in bits.
    pub width: u32,
    /// The condition of the default, or [`NO_CONDITION`].
    pub default: u32,
    /// Keeps the cases aligned.
    pub reserved: u32,
}

/// A value that is listed. Cases of one label stand together.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SwitchCase {
    /// The value, zero-extended.
    pub value: u64,
    /// Its condition, or [`NO_CONDITION`].
    pub condition: u32,
    /// For later versions.
    pub reserved: u32,
}

const _: () = assert!(size_of::<SwitchInfo>() == 16 && size_of::<SwitchCase>() == 16);
