//! Which bytes of the input an expression depends on.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use cairn_abi::symbolic::RegionId;

use crate::hash::BuildMix;

/// One byte of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputByte {
    /// The region it lies in.
    pub region: RegionId,
    /// Its place there.
    pub offset: u32,
}

/// Adjacent bytes of the input, `start..end`, never none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputRange {
    /// The region they lie in.
    pub region: RegionId,
    /// The first.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl InputRange {
    /// The bytes, one by one.
    pub fn bytes(self) -> impl Iterator<Item = InputByte> {
        (self.start..self.end).map(move |offset| InputByte { region: self.region, offset })
    }

    /// Whether a byte is among them.
    pub fn contains(self, byte: InputByte) -> bool {
        byte.region == self.region && (self.start..self.end).contains(&byte.offset)
    }
}

/// A set in [`InputSets`]; equal small sets have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SetId(u32);

/// All sets of bytes that the expressions of one graph depend on.
///
/// A set is a sorted list of ranges that do not touch. Sets of many ranges are kept as the union of two others instead, because
/// a sum over every other byte of a file would otherwise take quadratic space.
#[derive(Clone, Debug)]
pub(crate) struct InputSets {
    sets: Vec<Set>,
    known: HashMap<Set, SetId, BuildMix>,
    unions: HashMap<(SetId, SetId), SetId, BuildMix>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Set {
    Ranges(Box<[InputRange]>),
    Union(SetId, SetId),
}

/// Larger sets are kept as unions.
const MAX_RANGES: usize = 32;

impl Default for InputSets {
    fn default() -> Self {
        let mut sets = Self { sets: Vec::new(), known: HashMap::default(), unions: HashMap::default() };
        sets.intern(Set::Ranges(Box::default()));
        sets
    }
}

impl InputSets {
    pub const EMPTY: SetId = SetId(0);

    pub fn one(&mut self, range: InputRange) -> SetId {
        self.intern(Set::Ranges(Box::new([range])))
    }

    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == Self::EMPTY {
            return a;
        }
        if a == Self::EMPTY {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let set = match (&self.sets[a.0 as usize], &self.sets[b.0 as usize]) {
            (Set::Ranges(x), Set::Ranges(y)) => {
                let merged = merge(x.iter().chain(y).copied().collect());
                if merged.len() <= MAX_RANGES { Set::Ranges(merged.into()) } else { Set::Union(key.0, key.1) }
            }
            _ => Set::Union(key.0, key.1),
        };
        let union = self.intern(set);
        self.unions.insert(key, union);
        union
    }

    pub fn ranges(&self, id: SetId) -> Cow<'_, [InputRange]> {
        match &self.sets[id.0 as usize] {
            Set::Ranges(ranges) => Cow::Borrowed(ranges),
            Set::Union(..) => Cow::Owned(self.ranges_of([id])),
        }
    }

    /// Which of some sets share bytes with `other`, directly or through others of them. The empty set shares nothing.
    pub fn connected(&self, ids: &[SetId], other: SetId) -> Vec<bool> {
        let mut groups = Groups::new(self.sets.len());
        let mut seen = vec![false; self.sets.len()];
        let mut ranges: Vec<(InputRange, usize)> = Vec::new();
        let mut open: Vec<SetId> = ids.iter().copied().chain([other]).collect();
        while let Some(SetId(at)) = open.pop() {
            let at = at as usize;
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match &self.sets[at] {
                Set::Ranges(some) => ranges.extend(some.iter().map(|range| (*range, at))),
                Set::Union(a, b) => {
                    for part in [a, b] {
                        groups.join(at, part.0 as usize);
                        open.push(*part);
                    }
                }
            }
        }
        ranges.sort_unstable();
        // Of the ranges so far, the one that ends last: what starts before its end shares the byte that it starts with.
        let mut last: Option<(InputRange, usize)> = None;
        for (range, set) in ranges {
            match &mut last {
                Some((before, group)) if before.region == range.region && range.start < before.end => {
                    groups.join(*group, set);
                    before.end = before.end.max(range.end);
                }
                _ => last = Some((range, set)),
            }
        }
        let group = groups.of(other.0 as usize);
        ids.iter().map(|id| *id != Self::EMPTY && groups.of(id.0 as usize) == group).collect()
    }

    /// The only range of a set. None if there are several, and perhaps none if there are very many that touch.
    pub fn only_range(&self, id: SetId) -> Option<InputRange> {
        match &self.sets[id.0 as usize] {
            Set::Ranges(ranges) => match **ranges {
                [range] => Some(range),
                _ => None,
            },
            Set::Union(..) => None,
        }
    }

    /// The ranges of all of some sets together.
    pub fn ranges_of(&self, ids: impl IntoIterator<Item = SetId>) -> Vec<InputRange> {
        let mut seen: HashSet<SetId, BuildMix> = HashSet::default();
        let mut open = Vec::new();
        let mut ranges = Vec::new();
        for id in ids {
            open.push(id);
            while let Some(at) = open.pop() {
                if !seen.insert(at) {
                    continue;
                }
                match &self.sets[at.0 as usize] {
                    Set::Ranges(some) => ranges.extend_from_slice(some),
                    Set::Union(a, b) => open.extend([*a, *b]),
                }
            }
        }
        merge(ranges)
    }

    fn intern(&mut self, set: Set) -> SetId {
        if let Some(known) = self.known.get(&set) {
            return *known;
        }
        let id = SetId(u32::try_from(self.sets.len()).expect("there are no more sets than expressions"));
        self.sets.push(set.clone());
        self.known.insert(set, id);
        id
    }
}

/// Which sets belong together.
struct Groups {
    /// Another member of the group of each, or itself.
    towards: Vec<usize>,
}

impl Groups {
    fn new(n_sets: usize) -> Self {
        Self { towards: (0..n_sets).collect() }
    }

    fn of(&mut self, mut set: usize) -> usize {
        while self.towards[set] != set {
            self.towards[set] = self.towards[self.towards[set]];
            set = self.towards[set];
        }
        set
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.towards[a] = b;
    }
}

/// Sorts ranges and joins those that touch.
fn merge(mut ranges: Vec<InputRange>) -> Vec<InputRange> {
    ranges.sort_unstable();
    let mut merged: Vec<InputRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.region == range.region && range.start <= last.end => {
                last.end = last.end.max(range.end);
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u32, end: u32) -> InputRange {
        InputRange { region: RegionId(0), start, end }
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let mut sets = InputSets::default();
        let (a, b, c) = (sets.one(range(0, 2)), sets.one(range(2, 4)), sets.one(range(6, 7)));
        let ab = sets.union(a, b);
        let abc = sets.union(c, ab);
        assert_eq!(*sets.ranges(abc), [range(0, 4), range(6, 7)]);
        let again = sets.union(ab, c);
        assert_eq!(again, abc);
    }

    #[test]
    fn sets_of_many_ranges_are_complete() {
        let mut sets = InputSets::default();
        let mut all = InputSets::EMPTY;
        for n in 0..1000 {
            let one = sets.one(range(2 * n, 2 * n + 1));
            all = sets.union(all, one);
        }
        assert_eq!(sets.ranges(all).len(), 1000);
        assert!(sets.ranges(all).iter().all(|range| range.end - range.start == 1));
    }
}
