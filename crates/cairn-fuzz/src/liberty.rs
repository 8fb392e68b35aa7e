//! Changes that leave alone what a seed's way depends on.
//!
//! Of a seed that concolic testing made it is known which bytes decide its way, and the other ways were asked for already. So most of its
//! children change only what is free, or stay within what is allowed; the others may change anything, fewer of them the more often the
//! seed was chosen.

use crate::random::Random;
use cairn_abi::symbolic::{RegionId, RegionKind};
use cairn_concolic::{ByteFreedom, Freedom, contents, contents_mut};
use cairn_model::Input;

/// How often something free is looked for.
const TRIES: usize = 16;

/// Once in so many times anything may be changed, at first and at last.
const BREAKS: [u32; 2] = [2, 8];

/// Whether a child of a seed that was chosen so often may leave the seed's way.
pub(crate) fn breaks(n_chosen: u32, random: &mut Random) -> bool {
    let [first, last] = BREAKS;
    random.once_in(first.saturating_add(n_chosen.saturating_sub(1)).min(last) as usize)
}

/// Undoes changes of a region that would leave the way. Whether any are left.
pub(crate) fn hold(freedom: &Freedom, region: RegionId, original: &[u8], changed: &mut Vec<u8>) -> bool {
    // Another length moves what follows.
    let kept = changed.len().min(original.len());
    changed.truncate(kept);
    changed.extend_from_slice(&original[kept..]);
    let mut is_changed = false;
    for (offset, (byte, before)) in (0..).zip(changed.iter_mut().zip(original)) {
        if byte == before {
            continue;
        }
        match freedom.of_byte(region, offset).allows(*byte) {
            true => is_changed = true,
            false => *byte = *before,
        }
    }
    is_changed
}

/// Changes a byte of a region that is free, if one is found.
pub(crate) fn change_free(
    freedom: &Freedom,
    region: RegionId,
    bytes: &mut [u8],
    random: &mut Random,
) -> bool {
    for _ in 0..TRIES {
        let offset = random.below(bytes.len());
        let Some(byte) = bytes.get_mut(offset) else { return false };
        let new = match freedom.of_byte(region, offset as u32) {
            ByteFreedom::Free => random.bits() as u8,
            ByteFreedom::Within { low, high } => low + random.below(usize::from(high - low) + 1) as u8,
            ByteFreedom::Fixed => continue,
        };
        if new != *byte {
            *byte = new;
            return true;
        }
    }
    false
}

/// Undoes changes of a whole input that would leave the way. Whether any are left.
pub(crate) fn hold_input(freedom: &Freedom, original: &Input, changed: &mut Input) -> bool {
    // What is added or left out moves the rest; which variables of the environment there are is not known by region.
    if original.args.len() != changed.args.len() {
        changed.args.clone_from(&original.args);
    }
    if original.files.len() != changed.files.len() {
        changed.files.clone_from(&original.files);
    }
    changed.environment.clone_from(&original.environment);
    let mut is_changed = false;
    for (index, (before, now)) in (0..).zip(original.variables.iter().zip(&mut changed.variables)) {
        if !freedom.is_free(RegionId::new(RegionKind::Variable, index), u32::MAX) {
            now.clone_from(before);
        }
        is_changed |= now != before;
    }
    for ((region, before), (_, now)) in contents(original).zip(contents_mut(changed)) {
        is_changed |= hold(freedom, region, before, now);
    }
    is_changed
}

/// Changes a byte that is free, in one of the regions that may be changed, if one is found.
pub(crate) fn change_free_input(
    freedom: &Freedom,
    may_change: impl Fn(RegionId) -> bool,
    input: &mut Input,
    random: &mut Random,
) -> bool {
    let regions: Vec<RegionId> = contents(input)
        .filter(|(region, bytes)| may_change(*region) && !bytes.is_empty())
        .map(|(region, _)| region)
        .collect();
    let Some(chosen) = random.one_of(&regions).copied() else { return false };
    let Some((_, bytes)) = contents_mut(input).find(|(region, _)| *region == chosen) else { return false };
    let is_changed = change_free(freedom, chosen, bytes, random);
    if chosen.kind() == Some(RegionKind::Argument) {
        // A zero would end it.
        bytes.iter_mut().for_each(|byte| *byte = (*byte).max(1));
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::input::{Variable, VariableValue};

    #[test]
    fn nothing_is_fixed_where_nothing_is_known() {
        let region = RegionId::new(RegionKind::Buffer, 0);
        let mut changed = b"other".to_vec();
        assert!(hold(&Freedom::default(), region, b"bytes", &mut changed));
        assert_eq!(changed, b"other");
    }

    #[test]
    fn the_length_stays() {
        let region = RegionId::new(RegionKind::Buffer, 0);
        for changed in [&b"by"[..], b"bytes and more"] {
            let mut changed = changed.to_vec();
            assert!(!hold(&Freedom::default(), region, b"bytes", &mut changed));
            assert_eq!(changed, b"bytes");
        }
    }

    #[test]
    fn the_way_is_left_less_often_the_more_often_a_seed_was_chosen() {
        let mut random = Random::new(1);
        let mut share = |n_chosen| (0..8000).filter(|_| breaks(n_chosen, &mut random)).count();
        let (first, later, last) = (share(1), share(4), share(1000));
        assert!((3600..4400).contains(&first) && (1400..1800).contains(&later), "{first} {later}");
        assert!((850..1150).contains(&last), "{last}");
    }

    #[test]
    fn of_whole_inputs_what_is_not_known_to_be_free_stays() {
        let variable = |value| Variable { name: "n".into(), value: VariableValue::Int(value) };
        let original = Input {
            args: vec![b"-n".as_slice().into(), b"file".as_slice().into()],
            stdin: b"text".as_slice().into(),
            variables: vec![variable(1)],
            ..Input::default()
        };
        let mut changed = original.clone();
        changed.args.pop();
        changed.stdin = b"tent and more".as_slice().into();
        changed.variables[0] = variable(2);
        assert!(hold_input(&Freedom::default(), &original, &mut changed));
        assert_eq!((&changed.args, changed.stdin.0.as_slice()), (&original.args, b"tent".as_slice()));
        assert_eq!(changed.variables, [variable(2)], "nothing depends on it");
    }

    #[test]
    fn a_free_byte_is_changed_where_that_is_allowed() {
        let mut random = Random::new(1);
        let original = Input {
            args: vec![b"-n".as_slice().into()],
            stdin: b"text".as_slice().into(),
            ..Input::default()
        };
        for _ in 0..100 {
            let mut changed = original.clone();
            let may_change = |region: RegionId| region.kind() == Some(RegionKind::Stdin);
            assert!(change_free_input(&Freedom::default(), may_change, &mut changed, &mut random));
            assert_eq!((&changed.args, changed.stdin.0.len()), (&original.args, 4));
            assert_ne!(changed.stdin, original.stdin);
        }
    }
}
