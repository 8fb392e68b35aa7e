//! How a view introduces itself to the runtime and to the host.

/// The global of type [`ViewInfo`] every view defines, in the section [`VIEW_SECTION`].
pub const VIEW_SYMBOL: &str = "__cairn_view";

/// The section the host reads [`ViewInfo`] from without running the view.
pub const VIEW_SECTION: &str = ".cairn_view";

/// The view's counters: a [`crate::counters::CounterHead`], then one byte each, page-aligned and padded to pages.
pub const COUNTERS_SYMBOL: &str = "__cairn_counters";

/// A symbolic view's list of [`crate::symbolic::ConstantTable`]s.
pub const TABLES_SYMBOL: &str = "__cairn_tables";

/// What is left of the run's fuel: 64 bits on a page of their own, counted down at loop back-edges and calls.
///
/// 0 is no limit, because the next step makes it 2^64 - 1. When a step makes it 0, [`OUT_OF_FUEL_SYMBOL`] is called.
pub const FUEL_SYMBOL: &str = "__cairn_fuel";

/// Called by the view when the fuel is used up; does not return.
pub const OUT_OF_FUEL_SYMBOL: &str = "cairn_out_of_fuel";

/// What a view's `main` has become: `int cairn_run_main(int argc, char **argv, char **envp, main)`.
///
/// It calls the program's own `main`, the fourth argument: once, or in a session again and again.
pub const RUN_MAIN_SYMBOL: &str = "cairn_run_main";

/// The first eight bytes of a [`ViewInfo`].
pub const VIEW_MAGIC: u64 = u64::from_le_bytes(*b"cairnviw");

/// Kinds of views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ViewKind {
    /// Branch counters.
    Plain = 1,
    /// Branch counters and a path hash.
    Path = 2,
    /// Branch counters and all mutants.
    Mutant = 3,
    /// Branch counters and expressions of values.
    Symbolic = 4,
    /// One counter for each basic path, and no others.
    BasicPaths = 5,
}

/// What a view is and where its counters are.
#[derive(Debug)]
#[repr(C)]
pub struct ViewInfo {
    /// [`VIEW_MAGIC`].
    pub magic: u64,
    /// [`crate::ABI_VERSION`] it was built with.
    pub abi_version: u32,
    /// A [`ViewKind`] as a number.
    pub kind: u32,
    /// The hash of the program map it belongs to.
    pub map_hash: [u8; 32],
    /// How many counters it has.
    pub n_counters: u32,
    /// How many probes a detailed symbolic view has; 0 in others.
    pub n_probes: u32,
    /// The address of the counters in the running view.
    pub counters: *mut u8,
    /// The address of the fuel in the running view.
    pub fuel: *mut u64,
    /// What a mutant view says of its mutants; null in others.
    pub mutants: *const crate::mutants::MutantViewInfo,
    /// What a symbolic view says of its constant tables: ended by one of size 0; null in others.
    pub tables: *const crate::symbolic::ConstantTable,
    /// The pages of [`crate::symbolic::sites`] in a detailed symbolic view; null in others.
    pub sites: *mut u8,
}

const _: () = assert!(size_of::<ViewInfo>() == 96);

// SAFETY: a view never changes its info after it was linked.
unsafe impl Sync for ViewInfo {}

/// What the host reads of a [`ViewInfo`] in a file: everything but the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewLabel {
    /// [`crate::ABI_VERSION`] the view was built with.
    pub abi_version: u32,
    /// The hash of the program map it belongs to.
    pub map_hash: [u8; 32],
    /// How many counters it has.
    pub n_counters: u32,
}

impl ViewLabel {
    /// Reads the content of [`VIEW_SECTION`].
    pub fn parse(section: &[u8]) -> Option<Self> {
        let part = |from: usize, length: usize| section.get(from..from + length);
        if part(0, 8)? != VIEW_MAGIC.to_le_bytes() {
            return None;
        }
        Some(Self {
            abi_version: u32::from_le_bytes(part(8, 4)?.try_into().ok()?),
            map_hash: part(16, 32)?.try_into().ok()?,
            n_counters: u32::from_le_bytes(part(48, 4)?.try_into().ok()?),
        })
    }
}
