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

use core::{
    cmp::Ordering,
    sync::atomic::{AtomicU32, AtomicU64},
};

/// The view's control pages.
pub const CONTROL_SYMBOL: &str = "__cairn_mutant_control";
/// The view's infection pages.
pub const INFECTIONS_SYMBOL: &str = "__cairn_infections";
/// The global of type [`MutantViewInfo`] in a mutant view, which [`crate::view::ViewInfo::mutants`] points to.
pub const MUTANT_VIEW_SYMBOL: &str = "__cairn_mutant_view";

/// `bool cairn_site_value(u64 original, u64 changed)`: called by a mutated body at the selected patch when
/// [`MutantControl::observes`] is not 0. Values are extended with zeros to 64 bits. Returns whether the changed value
/// is taken. The value that is taken is the one that is recorded and compared.
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

impl Guidepost {
    /// Whether an evaluation satisfies it: the original gives `original`, the active mutant makes `changed` of it, and
    /// `taken` is the one of them the program goes on with.
    ///
    /// Numbers are compared as [`ValueKind`] says. Floating-point numbers are also equal when their bits are, so that
    /// a set made of values a run has had holds these values, whatever they are. A predicate that is none of
    /// [`Predicate`]'s is never satisfied.
    pub fn admits(&self, original: u64, changed: u64, taken: u64) -> bool {
        let values = self.values.get(..self.n_values as usize).unwrap_or(&self.values);
        let is_equal = |value: &u64| self.order(*value, taken) == Some(Ordering::Equal);
        match self.predicate {
            predicate if predicate == Predicate::OneOf as u32 => values.iter().any(is_equal),
            predicate if predicate == Predicate::NoneOf as u32 => !values.iter().any(is_equal),
            predicate if predicate == Predicate::Between as u32 => match values {
                [least, greatest, ..] => {
                    matches!(self.order(*least, taken), Some(Ordering::Less | Ordering::Equal))
                        && matches!(self.order(taken, *greatest), Some(Ordering::Less | Ordering::Equal))
                }
                _ => false,
            },
            predicate if predicate == Predicate::DiffersFromMutant as u32 => {
                self.low_bits(original) != self.low_bits(changed)
            }
            _ => false,
        }
    }

    /// Whether it looks at the evaluation with this number, counted from 0.
    pub const fn looks_at(&self, evaluation: u64) -> bool {
        evaluation == 0 || self.when == When::Every as u32
    }

    fn order(&self, one: u64, other: u64) -> Option<Ordering> {
        let (one, other) = (self.low_bits(one), self.low_bits(other));
        if one == other {
            return Some(Ordering::Equal);
        }
        match (self.kind, self.bits) {
            (kind, 32) if kind == ValueKind::Float as u32 => {
                f32::from_bits(one as u32).partial_cmp(&f32::from_bits(other as u32))
            }
            (kind, _) if kind == ValueKind::Float as u32 => {
                f64::from_bits(one).partial_cmp(&f64::from_bits(other))
            }
            (kind, _) if kind == ValueKind::Signed as u32 => Some(self.signed(one).cmp(&self.signed(other))),
            _ => Some(one.cmp(&other)),
        }
    }

    /// How far a value is from the top of 64 bits.
    fn shift(&self) -> u32 {
        match self.bits {
            bits @ 1..64 => 64 - bits,
            _ => 0,
        }
    }

    fn low_bits(&self, value: u64) -> u64 {
        value << self.shift() >> self.shift()
    }

    fn signed(&self, value: u64) -> i64 {
        (value << self.shift()).cast_signed() >> self.shift()
    }
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

/// The size of a values region with room for `n_values`.
pub const fn values_size(n_values: usize) -> usize {
    (VALUES_START + n_values * size_of::<u64>()).next_multiple_of(crate::channel::PAGE)
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

impl MutantName {
    fn id(&self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

/// The selector a person means by `text`: see [`MUTANT_VARIABLE`]. `names` are sorted by id.
pub fn selector_of(names: &[MutantName], n_selectors: u32, text: &[u8]) -> Option<u32> {
    const ID_DIGITS: usize = 16;
    let text = core::str::from_utf8(text).ok()?;
    if text.len() == ID_DIGITS {
        let id = u64::from_str_radix(text, 16).ok()?;
        let found = names.binary_search_by_key(&id, MutantName::id).ok()?;
        return names.get(found).map(|name| name.selector);
    }
    text.parse().ok().filter(|selector| (1..n_selectors).contains(selector))
}

/// The function a selector belongs to, a position among `first_selectors` as [`MutantViewInfo`] has them; `None` for 0
/// and for those beyond the last.
pub fn function_of(first_selectors: &[u32], selector: u32) -> Option<usize> {
    let after = first_selectors.partition_point(|first| *first <= selector);
    (1..first_selectors.len()).contains(&after).then(|| after - 1)
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
    /// The [marks](name_mark) of all mutants, added up: another set of operators makes other mutants of the same program.
    pub mutants: u64,
}

/// A number for a mutant and its selector. Sums of these differ where mutants or selectors do.
pub const fn name_mark(stable_id: u64, selector: u32) -> u64 {
    let mixed = (stable_id ^ (selector as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The first eight bytes of a reach file, with the version of its form.
pub const REACH_MAGIC: u64 = u64::from_le_bytes(*b"cairnrc2");
/// Where the infection pages start in a reach file.
pub const REACH_START: usize = crate::channel::PAGE;
/// The variable that activates a mutant: by its stable id, 16 hexadecimal digits, or by its selector, a decimal number.
///
/// Read by a mutant view that runs without a host; inside one, only the host decides. A mutant the view does not have is
/// an error, told on standard error, and the program ends with [`crate::channel::RUNTIME_EXIT_CODE`].
pub const MUTANT_VARIABLE: &str = "CAIRN_MUTANT";
/// The variable that names a reach file, by an absolute path because test runners change folders.
///
/// Read likewise. A program runs a mutant or notes what it reaches; asked for both it ends with an error, because what
/// a mutant reaches is not what the program does.
pub const REACH_VARIABLE: &str = "CAIRN_REACH";

#[cfg(test)]
mod tests {
    use super::*;

    fn guidepost(predicate: Predicate, kind: ValueKind, bits: u32, values: &[u64]) -> Guidepost {
        let mut guidepost = Guidepost {
            when: When::Every as u32,
            predicate: predicate as u32,
            kind: kind as u32,
            bits,
            n_values: values.len() as u32,
            ..Guidepost::NONE
        };
        guidepost.values[..values.len()].copy_from_slice(values);
        guidepost
    }

    fn admitted(guidepost: &Guidepost, values: &[u64]) -> Vec<bool> {
        values.iter().map(|value| guidepost.admits(*value, *value, *value)).collect()
    }

    #[test]
    fn numbers_compare_by_their_kind_and_width() {
        let (minus_two, minus_one) = (0xffff_fffe, 0xffff_ffff);
        let signed = guidepost(Predicate::Between, ValueKind::Signed, 32, &[minus_two, 3]);
        assert_eq!(admitted(&signed, &[minus_two, minus_one, 0, 3, 4]), [true, true, true, true, false]);
        let unsigned = guidepost(Predicate::Between, ValueKind::Unsigned, 32, &[3, minus_two]);
        assert_eq!(admitted(&unsigned, &[2, 3, minus_two, minus_one]), [false, true, true, false]);
        // What lies above the width of the value is nobody's.
        let byte = guidepost(Predicate::OneOf, ValueKind::Unsigned, 8, &[7]);
        assert_eq!(admitted(&byte, &[7, 0x107, 8]), [true, true, false]);
    }

    #[test]
    fn floats_compare_as_numbers_and_a_nan_is_itself() {
        let bits = |value: f64| value.to_bits();
        let set = guidepost(Predicate::OneOf, ValueKind::Float, 64, &[bits(0.0), bits(f64::NAN)]);
        assert_eq!(admitted(&set, &[bits(-0.0), bits(f64::NAN), bits(1.0)]), [true, true, false]);
        let range = guidepost(Predicate::Between, ValueKind::Float, 64, &[bits(-1.0), bits(0.5)]);
        assert_eq!(admitted(&range, &[bits(-0.5), bits(0.6), bits(f64::NAN)]), [true, false, false]);
        let single = |value: f32| u64::from(value.to_bits());
        let none = guidepost(Predicate::NoneOf, ValueKind::Float, 32, &[single(2.5)]);
        assert_eq!(admitted(&none, &[single(2.5), single(2.0)]), [false, true]);
    }

    #[test]
    fn selectors_belong_to_the_function_they_follow() {
        let function = |selector| function_of(&[1, 4, 9, 12], selector);
        assert_eq!([0, 12, u32::MAX].map(function), [None; 3]);
        assert_eq!([1, 3, 4, 8, 9, 11].map(function), [0, 0, 1, 1, 2, 2].map(Some));
        assert_eq!(function_of(&[1], 1), None);
    }

    #[test]
    fn a_mutant_is_named_by_its_id_or_its_selector() {
        let names = [(0x1, 0x0, 7), (0x9abc_def0, 0x1234_5678, 3)];
        let names = names.map(|(low, high, selector)| MutantName { low, high, selector });
        let check = |text: &str, expected| {
            assert_eq!(selector_of(&names, 12, text.as_bytes()), expected, "{text}");
        };
        check("123456789abcdef0", Some(3));
        check("123456789ABCDEF0", Some(3));
        check("0000000000000001", Some(7));
        check("0000000000000002", None);
        check("11", Some(11));
        check("12", None);
        check("0", None);
        check("-1", None);
        check("x", None);
        check("123456789abcdef", None);
    }

    #[test]
    fn a_mutant_differs_by_its_bits() {
        let differs = guidepost(Predicate::DiffersFromMutant, ValueKind::Unsigned, 8, &[]);
        assert!(differs.admits(1, 2, 1) && !differs.admits(1, 1, 1) && !differs.admits(1, 0x101, 1));
    }

    #[test]
    fn a_damaged_guidepost_reads_nothing_beyond_itself() {
        let damaged =
            Guidepost { n_values: u32::MAX, ..guidepost(Predicate::OneOf, ValueKind::Signed, 99, &[5]) };
        assert_eq!(admitted(&damaged, &[5, 6]), [true, false]);
        assert_eq!(admitted(&Guidepost { predicate: 77, ..damaged }, &[5]), [false]);
    }

    #[test]
    fn the_first_evaluation_may_be_all_that_counts() {
        let every = guidepost(Predicate::OneOf, ValueKind::Signed, 32, &[]);
        let first = Guidepost { when: When::First as u32, ..every };
        assert_eq!([0, 1, 2].map(|number| every.looks_at(number)), [true; 3]);
        assert_eq!([0, 1, 2].map(|number| first.looks_at(number)), [true, false, false]);
    }
}
