//! What the mutant view and the host agree on.
//!
//! Every function with mutants has three bodies: the original, a *mutated* one that holds all its mutants, and an
//! *examined* one that computes the original and, beside it, what each mutant would have made of it. A byte for each
//! function, its *body switch*, chooses at entry.
//!
//! ```text
//!   control      MutantControl, then one body switch a function; read-only for the program
//!   infections   one byte a patch: was it executed; then one byte a selector: did that mutant differ
//!   values       ValuesHead, then observed values
//! ```
//! Each is on pages of its own, which the runtime maps over with the channel's, as it does with counters.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// The view's control pages.
pub const CONTROL_SYMBOL: &str = "__cairn_mutant_control";
/// The view's infection pages.
pub const INFECTIONS_SYMBOL: &str = "__cairn_infections";
/// The global of type [`MutantViewInfo`] in a mutant view, which [`crate::view::ViewInfo::mutants`] points to.
pub const MUTANT_VIEW_SYMBOL: &str = "__cairn_mutant_view";

/// `bool cairn_site_value(u64 original, u64 changed)`: called by a mutated body at the selected patch when
/// [`MutantControl::observes`] is not 0. Values are extended with zeros to 64 bits. Returns whether the changed value
/// is taken.
pub const SITE_VALUE_SYMBOL: &str = "cairn_site_value";

/// `void cairn_bad_division(void)`: a mutant divides by zero; raises SIGFPE as the machine does.
pub const BAD_DIVISION_SYMBOL: &str = "cairn_bad_division";

/// Which body of a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Body {
    /// As compiled.
    Original = 0,
    /// With all mutants, one of them active.
    Mutated = 1,
    /// The original, with all mutants evaluated beside it.
    Examined = 2,
}

/// The start of the control pages.
#[repr(C)]
pub struct MutantControl {
    /// The selector of the active mutant, or of the observed patch; 0 for none.
    pub active: u32,
    /// What to do with the values at the selected patch, bits of [`observes`].
    pub observes: u32,
    /// The armed guidepost, if [`observes::GUIDEPOST`] is set.
    pub guidepost: Guidepost,
}

/// Bits of [`MutantControl::observes`].
pub mod observes {
    /// Values go to the values region.
    pub const RECORD: u32 = 1;
    /// Values are compared with the guidepost.
    pub const GUIDEPOST: u32 = 2;
    /// The program goes on with the original value, whatever the mutant makes of it.
    pub const KEEP_ORIGINAL: u32 = 4;
}

/// A condition on the value at the selected patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Guidepost {
    /// A [`When`] as a number.
    pub when: u32,
    /// A [`Predicate`] as a number.
    pub predicate: u32,
    /// How values compare, a [`ValueKind`] as a number.
    pub kind: u32,
    /// Width of the value in bits.
    pub bits: u32,
    /// Used entries of `values`.
    pub n_values: u32,
    /// Keeps `values` aligned.
    pub reserved: u32,
    /// The set; or the one value; or the ends of the range, both included.
    pub values: [u64; MAX_GUIDEPOST_VALUES],
}

/// How many values a guidepost can list.
pub const MAX_GUIDEPOST_VALUES: usize = 256;

impl Guidepost {
    /// No guidepost.
    pub const NONE: Self = Self {
        when: 0,
        predicate: 0,
        kind: 0,
        bits: 0,
        n_values: 0,
        reserved: 0,
        values: [0; MAX_GUIDEPOST_VALUES],
    };
}

/// Which evaluations a guidepost looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum When {
    /// The first of a run.
    First = 1,
    /// Every one.
    Every = 2,
}

/// What a guidepost asks of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Predicate {
    /// It is one of the values.
    OneOf = 1,
    /// It is none of the values.
    NoneOf = 2,
    /// It lies between the first two values, both included.
    Between = 3,
    /// It differs from what the active mutant makes of it.
    DiffersFromMutant = 4,
}

/// How values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ValueKind {
    /// As unsigned numbers.
    Unsigned = 0,
    /// As signed numbers of `bits` bits.
    Signed = 1,
    /// As floating-point numbers of `bits` bits.
    Float = 2,
}

/// Where the body switches start in the control pages.
pub const BODIES_START: usize = 2304;
const _: () = assert!(size_of::<MutantControl>() <= BODIES_START);

/// The size of the control pages of a view with `n_functions` mutated functions.
pub const fn control_size(n_functions: usize) -> usize {
    (BODIES_START + n_functions).next_multiple_of(crate::channel::PAGE)
}

/// The size of the infection pages: one byte a patch, then one a selector.
pub const fn infections_size(n_patches: usize, n_selectors: usize) -> usize {
    (n_patches + n_selectors).next_multiple_of(crate::channel::PAGE)
}

/// What stands before observed values.
#[repr(C)]
pub struct ValuesHead {
    /// Evaluations of the selected patch in this run.
    pub n_evaluations: AtomicU64,
    /// Values that were kept, one `u64` each; later ones are only counted.
    pub n_kept: AtomicU64,
    /// Evaluations that satisfied the guidepost.
    pub n_satisfied: AtomicU64,
    /// 1 when the guidepost was broken.
    pub is_broken: AtomicU32,
    /// For later versions.
    pub reserved: [u32; 9],
}

/// Bytes before the first value.
pub const VALUES_START: usize = size_of::<ValuesHead>();
const _: () = assert!(VALUES_START == 64);

/// How a mutant view describes its mutants to the runtime.
#[derive(Debug)]
#[repr(C)]
pub struct MutantViewInfo {
    /// The control pages.
    pub control: *mut u8,
    /// The infection pages.
    pub infections: *mut u8,
    /// Mutated functions.
    pub n_functions: u32,
    /// Patches.
    pub n_patches: u32,
    /// One more than the largest selector.
    pub n_selectors: u32,
    /// Entries of `names`.
    pub n_names: u32,
    /// The first selector of each function, and one more than the last selector of the last one.
    pub first_selectors: *const u32,
    /// Mutants by name, sorted.
    pub names: *const MutantName,
}

// SAFETY: a view never changes its info after it was linked.
unsafe impl Sync for MutantViewInfo {}

/// A mutant's stable id and its selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct MutantName {
    /// The stable id, low half.
    pub low: u32,
    /// The stable id, high half.
    pub high: u32,
    /// The selector.
    pub selector: u32,
}

/// A file in which programs started with `CAIRN_REACH` note what they reach: this head, then the infection pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ReachHead {
    /// [`REACH_MAGIC`].
    pub magic: u64,
    /// The first eight bytes of the map hash.
    pub view: u64,
    /// Patches.
    pub n_patches: u32,
    /// One more than the largest selector.
    pub n_selectors: u32,
}

/// The first eight bytes of a reach file.
pub const REACH_MAGIC: u64 = u64::from_le_bytes(*b"cairnrch");
/// Where the infection pages start in a reach file.
pub const REACH_START: usize = crate::channel::PAGE;
/// The variable that activates a mutant by stable id or by selector.
pub const MUTANT_VARIABLE: &str = "CAIRN_MUTANT";
/// The variable that names a reach file.
pub const REACH_VARIABLE: &str = "CAIRN_REACH";
