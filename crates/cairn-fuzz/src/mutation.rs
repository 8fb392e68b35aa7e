//! Changes inputs, and learns which changes pay.
//!
//! What is changed, in which way, and how many changes are made at once is left to a [`Bandit`] each: one over the kinds
//! of regions, one over the ways of each kind, one over numbers of changes. A [`Recipe`] remembers what was done to an
//! input, so that what pays is rewarded.
//!
//! A harness that changes its buffers itself is asked to instead, in a [`HarnessWay`]: what changes them is in the target.

mod bytes;
mod files;
mod harness_way;
mod numbers;
mod recipe;
mod words;

pub(crate) use self::{harness_way::HarnessWay, recipe::Recipe};

use self::{
    bytes::{ByteMutations, Sources},
    words::WordLimits,
};
use crate::{
    bandit::Bandit,
    config::FuzzConfig,
    dictionary::Dictionary,
    random::Random,
    region::{self, RegionKind, raw_bytes, raw_bytes_mut},
};
use cairn_executor::Changers;
use cairn_model::{
    Input,
    input::{FileKind, VariableValue},
};

/// How many changes are made at once. One is there twice: it is cheap, and what one change finds is easy to read.
const AMOUNTS: [usize; 6] = [1, 1, 2, 3, 4, recipe::MOST_STEPS];

/// A kind once chosen is kept for the next change, except once in so many times.
const STAYS: usize = 8;

/// Changes inputs.
pub(crate) struct Mutations {
    bytes: ByteMutations,
    /// Kinds that may be changed at all, and how well each pays.
    allowed: Vec<RegionKind>,
    kinds: Bandit,
    ways: [Bandit; RegionKind::ALL.len()],
    amounts: Bandit,
    /// How well each [`HarnessWay`] pays.
    harness: Bandit,
    max_words: usize,
    max_word_size: usize,
}

/// What changes draw on.
pub(crate) struct Material<'a> {
    pub dictionary: &'a Dictionary,
    /// Another input.
    pub donor: Option<&'a Input>,
    /// Bytes an input may have in all.
    pub max_size: usize,
}

impl Mutations {
    pub(crate) fn new(config: &FuzzConfig) -> Self {
        let mut allowed = config.regions.clone();
        allowed.sort_unstable();
        allowed.dedup();
        Self {
            bytes: ByteMutations::new(),
            kinds: Bandit::new(allowed.len()),
            allowed,
            ways: RegionKind::ALL.map(|kind| Bandit::new(n_ways(kind))),
            amounts: Bandit::new(AMOUNTS.len()),
            harness: Bandit::new(HarnessWay::ALL.len()),
            max_words: config.max_words,
            max_word_size: config.max_word_size,
        }
    }

    /// Changes the buffer of a harness in place; nothing is allocated once it has been as large before.
    pub(crate) fn change_buffer(
        &mut self,
        buffer: &mut Vec<u8>,
        random: &mut Random,
        material: &Material<'_>,
    ) -> Recipe {
        let kind = RegionKind::Buffer;
        let donor =
            material.donor.and_then(|donor| donor.buffer.as_ref()).map_or(&[][..], |buffer| &buffer.0);
        let sources = Sources { dictionary: material.dictionary, donor, max_size: material.max_size };
        let mut recipe = Recipe::new(self.amounts.choose(random));
        for _ in 0..AMOUNTS[recipe.amount()] {
            let way = self.ways[kind.index()].choose(random);
            if self.bytes.apply(way, buffer, random, &sources) {
                recipe.push(kind, way);
            }
        }
        if recipe.is_empty() {
            self.change_somehow(buffer, random, &sources, kind, &mut recipe);
        }
        recipe
    }

    /// What a harness is to do to its buffer itself, if it is to: in which way, how often, and by which recipe.
    pub(crate) fn ask_harness(
        &mut self,
        random: &mut Random,
        changers: Changers,
        has_donor: bool,
    ) -> Option<(HarnessWay, u32, Recipe)> {
        let can_cross = changers.has_cross_over && has_donor;
        let way = match (changers.has_mutator, can_cross) {
            (true, true) => HarnessWay::ALL[self.harness.choose(random)],
            (true, false) => HarnessWay::Mutator,
            // There is nothing else of its own that would change anything inside of what is crossed.
            (false, true) if random.once_in(2) => HarnessWay::CrossOver,
            _ => return None,
        };
        let mut recipe = match way {
            HarnessWay::Mutator => Recipe::new(self.amounts.choose(random)),
            HarnessWay::CrossOver => Recipe::new(0),
        };
        let n_times = AMOUNTS[recipe.amount()];
        for _ in 0..n_times {
            recipe.push(RegionKind::Buffer, bytes::NAMES.len() + way as usize);
        }
        Some((way, n_times as u32, recipe))
    }

    /// Changes an input in place, of which something must be there to change. It stays one that can be given to a
    /// program, and within its size.
    pub(crate) fn change(
        &mut self,
        input: &mut Input,
        random: &mut Random,
        material: &Material<'_>,
    ) -> Recipe {
        let mut recipe = Recipe::new(self.amounts.choose(random));
        let mut kind = self.choose_kind(input, random);
        for round in 0..AMOUNTS[recipe.amount()] {
            if round > 0 && !self.allowed.iter().any(|kind| kind.is_in(input)) {
                break;
            }
            if round > 0 && random.once_in(STAYS) {
                kind = self.choose_kind(input, random);
            }
            let way = self.ways[kind.index()].choose(random);
            if self.apply(kind, way, input, random, material) {
                recipe.push(kind, way);
            }
        }
        recipe
    }

    /// Changes the raw bytes that a region of an input carries, in place, and nothing else.
    pub(crate) fn change_raw(
        &mut self,
        carrier: RegionKind,
        input: &mut Input,
        random: &mut Random,
        material: &Material<'_>,
    ) -> Recipe {
        let Material { dictionary, donor, max_size } = *material;
        let room = max_size.saturating_sub(region::size(input));
        let donor = donor.and_then(|donor| raw_bytes(carrier, donor)).map_or(&[][..], Vec::as_slice);
        let mut recipe = Recipe::new(self.amounts.choose(random));
        let Some(bytes) = raw_bytes_mut(carrier, input) else { return recipe };
        let sources = Sources { dictionary, donor, max_size: bytes.len() + room };
        // What else a file is has ways, too, which come first.
        let n_others = n_ways(carrier) - bytes::NAMES.len();
        for _ in 0..AMOUNTS[recipe.amount()] {
            let way = loop {
                let way = self.ways[carrier.index()].choose(random);
                if way >= n_others {
                    break way;
                }
            };
            if self.bytes.apply(way - n_others, bytes, random, &sources) {
                recipe.push(carrier, way);
            }
        }
        recipe
    }

    /// Notes that what was made by a recipe has paid.
    pub(crate) fn reward(&mut self, recipe: &Recipe) {
        self.amounts.reward(recipe.amount(), 1.0);
        let share = 1.0 / recipe.steps().count().max(1) as f64;
        for (kind, way) in recipe.steps() {
            if let Some(place) = self.allowed.iter().position(|allowed| *allowed == kind) {
                self.kinds.reward(place, share);
            }
            match way.checked_sub(n_ways(kind)) {
                None => self.ways[kind.index()].reward(way, share),
                Some(way) => self.harness.reward(way, share),
            }
        }
    }

    fn choose_kind(&mut self, input: &Input, random: &mut Random) -> RegionKind {
        loop {
            let kind = self.allowed[self.kinds.choose(random)];
            if kind.is_in(input) {
                return kind;
            }
        }
    }

    fn apply(
        &mut self,
        kind: RegionKind,
        way: usize,
        input: &mut Input,
        random: &mut Random,
        material: &Material<'_>,
    ) -> bool {
        let Material { dictionary, donor, max_size } = *material;
        let room = max_size.saturating_sub(region::size(input));
        match kind {
            RegionKind::Arguments => {
                let size: usize = input.args.iter().map(|word| word.0.len()).sum();
                let limits = WordLimits {
                    max_words: self.max_words,
                    max_word_size: self.max_word_size,
                    max_size: size + room,
                };
                let donors = donor.map_or(&[][..], |donor| &donor.args);
                words::change(&mut input.args, way, random, &mut self.bytes, dictionary, donors, &limits)
            }
            RegionKind::Stdin => {
                let donor = donor.map_or(&[][..], |donor| &donor.stdin.0);
                let sources = Sources { dictionary, donor, max_size: input.stdin.0.len() + room };
                self.bytes.apply(way, &mut input.stdin.0, random, &sources)
            }
            RegionKind::Buffer => {
                let Some(buffer) = &mut input.buffer else { return false };
                let donor = donor.and_then(|donor| donor.buffer.as_ref()).map_or(&[][..], |donor| &donor.0);
                let sources = Sources { dictionary, donor, max_size: buffer.0.len() + room };
                self.bytes.apply(way, &mut buffer.0, random, &sources)
            }
            RegionKind::Files => self.change_file(way, input, random, material, room),
            RegionKind::Environment => {
                let index = random.below(input.environment.len());
                let Some((_, value)) = input.environment.get_mut(index) else { return false };
                if way == 2 {
                    input.environment.remove(index);
                    return true;
                }
                let max_size = self.max_word_size.min(value.0.len() + room);
                words::change_bytes(&mut value.0, way == 1, random, &mut self.bytes, dictionary, max_size)
            }
            RegionKind::Variables => {
                let index = random.below(input.variables.len());
                let Some(variable) = input.variables.get_mut(index) else { return false };
                let same =
                    |donor: &'_ Input| donor.variables.iter().position(|other| other.name == variable.name);
                let donor = donor.and_then(|donor| Some(&donor.variables[same(donor)?].value));
                match &mut variable.value {
                    VariableValue::Bytes(memory) => {
                        // The program asks for so many bytes.
                        let size = memory.0.len();
                        let way = random.below(bytes::NAMES.len());
                        let sources = Sources { dictionary, donor: &[], max_size: size };
                        let is_changed = self.bytes.apply(way, &mut memory.0, random, &sources);
                        memory.0.resize(size, 0);
                        is_changed
                    }
                    value => numbers::change(value, way, random, dictionary, donor),
                }
            }
        }
    }

    fn change_file(
        &mut self,
        way: usize,
        input: &mut Input,
        random: &mut Random,
        material: &Material<'_>,
        room: usize,
    ) -> bool {
        let is_regular = |kind: &FileKind| matches!(kind, FileKind::Regular(_));
        let n_regular = input.files.iter().filter(|file| is_regular(&file.kind)).count();
        let chosen = random.below(n_regular);
        let Some(file) = input.files.iter_mut().filter(|file| is_regular(&file.kind)).nth(chosen) else {
            return false;
        };
        let Some(way) = way.checked_sub(files::NAMES.len()) else { return files::change(file, way, random) };
        let same = material.donor.and_then(|donor| donor.files.iter().find(|other| other.path == file.path));
        let donor = match same.map(|same| &same.kind) {
            Some(FileKind::Regular(content)) => &content.0,
            _ => &[][..],
        };
        let FileKind::Regular(content) = &mut file.kind else { return false };
        let sources = Sources { dictionary: material.dictionary, donor, max_size: content.0.len() + room };
        self.bytes.apply(way, &mut content.0, random, &sources)
    }

    /// Some ways do not apply to short buffers, and running what was run before teaches nothing.
    fn change_somehow(
        &mut self,
        buffer: &mut Vec<u8>,
        random: &mut Random,
        sources: &Sources<'_>,
        kind: RegionKind,
        recipe: &mut Recipe,
    ) {
        const ALWAYS_APPLY: [usize; 2] = [bytes::RANDOM_BYTE, bytes::APPEND];
        for way in ALWAYS_APPLY {
            if recipe.is_empty() && self.bytes.apply(way, buffer, random, sources) {
                recipe.push(kind, way);
            }
        }
    }
}

/// How many ways of a kind there are; a harness's own come after them.
fn n_ways(kind: RegionKind) -> usize {
    let n_harness = if kind == RegionKind::Buffer { HarnessWay::ALL.len() } else { 0 };
    names(kind).map(<[_]>::len).iter().sum::<usize>() - n_harness
}

/// The names of the ways of a kind, in one or two lists one after the other.
fn names(kind: RegionKind) -> [&'static [&'static str]; 2] {
    match kind {
        RegionKind::Arguments => [&words::NAMES, &[]],
        RegionKind::Stdin => [&bytes::NAMES, &[]],
        RegionKind::Buffer => [&bytes::NAMES, &HarnessWay::NAMES],
        RegionKind::Files => [&files::NAMES, &bytes::NAMES],
        RegionKind::Environment => [&["change a value", "number in a value", "leave a variable out"], &[]],
        RegionKind::Variables => [&numbers::NAMES, &[]],
    }
}

/// The name of a way.
fn name(kind: RegionKind, way: usize) -> &'static str {
    let [first, second] = names(kind);
    first.get(way).unwrap_or_else(|| &second[way - first.len()])
}

#[cfg(test)]
mod tests;
