//! Changes that leave alone what a seed's way depends on.
//!
//! Of a seed that concolic testing made it is known which bytes decide its way, and the other ways were asked for already. So most of its
//! children change only what is free, or stay within what is allowed; the others may change anything, fewer of them the more often the
//! seed was chosen.

use crate::random::Random;
use cairn_abi::symbolic::RegionId;
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
    let is_same_shape =
        original.args.len() == changed.args.len() && original.files.len() == changed.files.len();
    if !is_same_shape {
        changed.args.clone_from(&original.args);
        changed.files.clone_from(&original.files);
    }
    let mut is_changed =
        original.variables != changed.variables || original.environment != changed.environment;
    for ((region, before), (_, now)) in contents(original).zip(contents_mut(changed)) {
        is_changed |= hold(freedom, region, before, now);
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::symbolic::RegionKind;

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
}
