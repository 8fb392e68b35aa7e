//! Joins switch statements to switch instructions.

use crate::ir::{IrFunction, IrKind, IrSwitch};
use cairn_model::facts::{FunctionFacts, LabelFact, SwitchFact};

/// One way out of a switch, with the label it stands for.
#[derive(Debug)]
pub struct LabelWay<'a> {
    /// The label; `None` for a default nobody wrote and for labels without facts.
    pub label: Option<&'a LabelFact>,
    /// Successor numbers of the instruction.
    pub successors: Vec<u32>,
    /// The block they lead to.
    pub to: usize,
}

/// The switch statement behind the switch instruction at the end of `block`, by place and order.
pub fn facts_of<'a>(
    function: &IrFunction,
    block: usize,
    facts: &'a FunctionFacts,
    file_of: &dyn Fn(u32) -> Option<u32>,
) -> Option<&'a SwitchFact> {
    let place_of = |block: usize| {
        let end = function.blocks[block].instructions.last()?;
        matches!(end.kind, IrKind::Switch(_)).then_some(end.place)?
    };
    let place = place_of(block)?;
    let fitting: Vec<_> = facts
        .switches
        .iter()
        .filter(|switch| {
            file_of(switch.place.file) == Some(place.file)
                && (switch.place.line, switch.place.column) == (place.line, place.column)
        })
        .collect();
    let same_place: Vec<usize> =
        (0..function.blocks.len()).filter(|other| place_of(*other) == Some(place)).collect();
    if fitting.len() != same_place.len() {
        return None;
    }
    fitting.get(same_place.iter().position(|other| *other == block)?).copied()
}

/// The ways out of a switch, one for each label, the default first.
///
/// Cases that no label explains are ways of their own.
pub fn ways<'a>(switch: &IrSwitch, facts: Option<&'a SwitchFact>) -> Vec<LabelWay<'a>> {
    let default_label = facts.and_then(|facts| facts.labels.iter().find(|label| label.range.is_none()));
    let mut ways = vec![LabelWay { label: default_label, successors: vec![0], to: switch.default }];
    for (number, (value, to)) in switch.cases.iter().enumerate() {
        let successor = number as u32 + 1;
        let label =
            facts.and_then(|facts| facts.labels.iter().find(|label| holds(label, *value, switch.bits)));
        let known = label.and_then(|label| {
            ways.iter_mut()
                .find(|way| way.to == *to && way.label.is_some_and(|other| std::ptr::eq(other, label)))
        });
        match known {
            Some(way) => way.successors.push(successor),
            None => ways.push(LabelWay { label, successors: vec![successor], to: *to }),
        }
    }
    ways
}

/// The labels with ranges so large that clang compares instead of listing their values, in source order.
pub fn large_ranges(facts: &SwitchFact) -> impl DoubleEndedIterator<Item = &LabelFact> {
    // clang lists up to 64 values.
    let size = |(low, high): (i64, i64)| (high as u64).wrapping_sub(low as u64);
    facts.labels.iter().filter(move |label| label.range.is_some_and(|range| size(range) >= 64))
}

/// The blocks that compare with large ranges, the label written last first: they stand before the default.
pub fn range_checks(function: &IrFunction, block: usize, facts: &SwitchFact) -> Vec<usize> {
    let IrKind::Switch(switch) = function.blocks[block].end() else { return Vec::new() };
    let mut at = switch.default;
    let mut checks = Vec::new();
    for _ in large_ranges(facts) {
        let IrKind::Branch(Some(_), [_, next]) = function.blocks[at].end() else { return Vec::new() };
        checks.push(at);
        at = *next;
    }
    checks
}

/// Whether a label takes a value, compared at the width of the switch.
fn holds(label: &LabelFact, value: i64, bits: u32) -> bool {
    let Some((low, high)) = label.range else { return false };
    let narrow = |value: i64| if bits >= 64 { value } else { value << (64 - bits) >> (64 - bits) };
    if low == high {
        return narrow(low) == narrow(value);
    }
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let offset = (value as u64).wrapping_sub(low as u64) & mask;
    offset <= (high as u64).wrapping_sub(low as u64) & mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::facts::{Extent, Place};

    fn label(range: Option<(i64, i64)>) -> LabelFact {
        let place = Place { file: 0, line: 1, column: 1 };
        LabelFact {
            range,
            extent: Extent { start: place, end: place },
            text: String::new(),
            macro_name: None,
            only_break: None,
        }
    }

    #[test]
    fn a_range_of_cases_is_one_way() {
        let place = Place { file: 0, line: 1, column: 1 };
        let facts = SwitchFact {
            place,
            extent: Extent { start: place, end: place },
            text: "x".into(),
            value: Extent { start: place, end: place },
            labels: vec![label(Some((1, 3))), label(Some((7, 7))), label(None)],
        };
        let switch = IrSwitch { default: 9, cases: vec![(1, 4), (2, 4), (3, 4), (7, 4)], bits: 32 };
        let ways = ways(&switch, Some(&facts));
        let successors: Vec<_> = ways.iter().map(|way| way.successors.clone()).collect();
        assert_eq!(successors, [vec![0], vec![1, 2, 3], vec![4]]);
    }

    #[test]
    fn values_compare_at_the_width_of_the_switch() {
        assert!(holds(&label(Some((0xffff_ffff, 0xffff_ffff))), -1, 32));
        assert!(holds(&label(Some((-2, 1))), -1, 8));
        assert!(!holds(&label(Some((-2, 1))), 5, 8));
    }
}
