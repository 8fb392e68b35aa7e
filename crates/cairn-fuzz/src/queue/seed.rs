//! An input of the queue.

use crate::region;
use cairn_abi::session::class;
use cairn_concolic::Freedom;
use cairn_model::Input;
use cairn_strategy::EntryId;
use std::sync::Arc;

/// An input that is worth changing, and what is known of it.
#[derive(Clone, Debug)]
pub struct Seed {
    input: Input,
    hits: Vec<(u32, u8)>,
    /// What else it is a reason to be chosen for, named by numbers that no counter has.
    marks: Vec<u32>,
    /// Whether it was kept for its marks only.
    is_for_mutants: bool,
    fuel: u64,
    size: usize,
    signature: u64,
    /// What of it is free, if that is known.
    freedom: Option<Arc<Freedom>>,
    pub(super) id: Option<EntryId>,
    pub(super) n_chosen: u32,
    pub(super) is_favoured: bool,
    pub(super) is_retired: bool,
}

impl Seed {
    /// An input whose run hits these counters, in order, and takes so many steps. `id` is its name in the corpus, or that
    /// of the nearest ancestor that has one.
    pub fn new(input: Input, hits: Vec<(u32, u8)>, fuel: u64, id: Option<EntryId>) -> Self {
        let size = region::size(&input);
        let signature = signature(hits.iter().copied());
        Self {
            input,
            hits,
            marks: Vec::new(),
            is_for_mutants: false,
            fuel,
            size,
            signature,
            freedom: None,
            id,
            n_chosen: 0,
            is_favoured: false,
            is_retired: false,
        }
    }

    /// The same, of which it is known what is free.
    pub(crate) fn with_freedom(mut self, freedom: Option<Arc<Freedom>>) -> Self {
        self.freedom = freedom;
        self
    }

    /// What of it is free, if that is known.
    pub(crate) fn freedom(&self) -> Option<&Arc<Freedom>> {
        self.freedom.as_ref()
    }

    /// The same, good for something else besides: numbers that no counter has.
    pub(crate) fn marked(mut self, marks: Vec<u32>) -> Self {
        self.marks = marks;
        self
    }

    /// The same, kept for its marks only: that others reach what it reaches is no news.
    pub(crate) fn for_mutants(mut self) -> Self {
        self.is_for_mutants = true;
        self
    }

    /// Whether it was kept for its marks only.
    pub(crate) fn is_for_mutants(&self) -> bool {
        self.is_for_mutants
    }

    /// The same, chosen for its marks only, but known by its way.
    pub(crate) fn only_marked(mut self) -> Self {
        self.hits = Vec::new();
        self
    }

    /// Whether it is chosen for its marks only.
    pub(super) fn is_only_marked(&self) -> bool {
        self.hits.is_empty() && !self.marks.is_empty()
    }

    /// Everything it is good for, by number: counters it hits, and marks.
    pub(super) fn goods(&self) -> impl Iterator<Item = u32> + '_ {
        self.hits.iter().map(|(counter, _)| *counter).chain(self.marks.iter().copied())
    }

    /// What else it is good for.
    pub(super) fn marks(&self) -> &[u32] {
        &self.marks
    }

    /// Adds marks.
    pub(super) fn mark(&mut self, marks: &[u32]) {
        self.marks
            .extend(marks.iter().filter(|mark| !self.marks.contains(mark)).copied().collect::<Vec<_>>());
    }

    /// What the target is given.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Counters it hits, with the class of each count.
    pub fn hits(&self) -> &[(u32, u8)] {
        &self.hits
    }

    /// Steps its run takes.
    pub fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Its name in the corpus, or that of the nearest ancestor that has one.
    pub fn id(&self) -> Option<EntryId> {
        self.id
    }

    /// How often it was chosen.
    pub fn n_chosen(&self) -> u32 {
        self.n_chosen
    }

    /// The same for all that hit the same counters in the same classes.
    pub(crate) fn signature(&self) -> u64 {
        self.signature
    }

    /// What makes one seed cheaper than another: steps times bytes.
    pub(super) fn cost(&self) -> u128 {
        (u128::from(self.fuel) + 1) * (self.size as u128 + 1)
    }
}

/// Names the way of a run by the counters it hits.
pub(crate) fn signature(hits: impl Iterator<Item = (u32, u8)>) -> u64 {
    hits.fold(0x9e37_79b9_7f4a_7c15, |hash, (counter, class)| {
        let mixed = (hash ^ (u64::from(counter) << 8 | u64::from(class))).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ mixed >> 32
    })
}

/// Names the way of a run by its counters, as [`signature`] does.
pub(crate) fn way(counters: &[u8]) -> u64 {
    // Most are not hit, and are passed over together.
    let words = counters.chunks(8).enumerate().filter(|(_, word)| word.iter().any(|count| *count != 0));
    let hits = words
        .flat_map(|(index, word)| word.iter().enumerate().map(move |(n, count)| (8 * index + n, *count)));
    signature(hits.filter(|(_, count)| *count != 0).map(|(counter, count)| (counter as u32, class(count))))
}
