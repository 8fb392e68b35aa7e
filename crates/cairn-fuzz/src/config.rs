//! What a fuzzer is to do.

use crate::{
    dictionary::Dictionary,
    region::{self, RegionKind, Scope},
};
use cairn_concolic::Freedoms;
use cairn_model::{Input, Template};

/// What may be changed, with which words, and how far.
#[derive(Clone, Debug)]
pub struct FuzzConfig {
    /// The kinds of regions that may be changed.
    pub regions: Vec<RegionKind>,
    /// Inputs that this template makes of raw bytes stay such: only their bytes are changed, whatever else may be. Default:
    /// none, unless the configuration is of a template.
    pub raw: Option<Template>,
    /// Where to begin if there is no other input.
    pub start: Input,
    /// Words of the user.
    pub dictionary: Dictionary,
    /// Whether to use words and numbers that stand in the program, too. Default: yes.
    pub literals: bool,
    /// Whether to look at comparisons in runs of the symbolic view, and to answer them. Default: yes.
    pub comparisons: bool,
    /// Which of how many workers of a campaign this is: comparisons of what others found are answered by one of them.
    /// Default: the only one, (0, 1).
    pub worker: (u32, u32),
    /// The most words on a command line, and the most bytes in each of them. Default: 64 and 1024.
    pub max_words: usize,
    /// See [`FuzzConfig::max_words`].
    pub max_word_size: usize,
    /// What is known to be free of seeds, which is then changed rather than the rest. Default: nothing.
    pub freedoms: Freedoms,
    /// After so many candidates a step ends, so that others hear of them. Default: 64.
    pub most_candidates: usize,
}

impl FuzzConfig {
    /// Changes what carries raw bytes, and variables.
    pub fn of_template(template: &Template) -> Self {
        let start = template.fill(Vec::new());
        Self { raw: Some(template.clone()), ..Self::new(RegionKind::of_template(template), start) }
    }

    /// Whether an input may be made of another: they differ only in what may be changed, and what is made of raw bytes stays such.
    pub fn may_become(&self, old: &Input, new: &Input) -> bool {
        let scope = self.scope(old);
        let stays_raw = !matches!(scope, Scope::Raw(_)) || self.scope(new) == scope;
        region::differ_only_in(&self.regions, old, new) && stays_raw
    }

    /// What of an input may be changed.
    pub(crate) fn scope(&self, input: &Input) -> Scope<'_> {
        let raw = self.raw.as_ref().filter(|template| template.raw(input).is_some()).map(RegionKind::carrier);
        match raw {
            Some(carrier) if self.regions.contains(&carrier) => Scope::Raw(carrier),
            _ => Scope::Regions(&self.regions),
        }
    }

    /// Changes regions of these kinds.
    pub fn new(regions: Vec<RegionKind>, start: Input) -> Self {
        Self {
            regions,
            raw: None,
            start,
            dictionary: Dictionary::default(),
            literals: true,
            comparisons: true,
            worker: (0, 1),
            max_words: 64,
            max_word_size: 1024,
            freedoms: Freedoms::default(),
            most_candidates: 64,
        }
    }
}
