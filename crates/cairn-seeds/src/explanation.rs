//! Seeds in words.

use cairn_abi::symbolic::{RegionId, RegionKind};
use cairn_concolic::{ByteFreedom, Freedom, Regions, contents};
use cairn_model::Input;

/// What of an input is free, part by part: `buffer: 3 free, 1 in a range, 2 fixed`. Parts that are empty or may not be changed
/// are left out.
pub fn describe_freedom(
    input: &Input,
    regions: &Regions,
    freedom: &Freedom,
    may_change: impl Fn(RegionId) -> bool,
) -> Vec<String> {
    let mut parts = Vec::new();
    for (region, bytes) in contents(input).filter(|(region, bytes)| may_change(*region) && !bytes.is_empty())
    {
        let freedoms: Vec<ByteFreedom> =
            (0..bytes.len() as u32).map(|offset| freedom.of_byte(region, offset)).collect();
        parts.push(format!("{}: {}", regions.name(region), count(&freedoms)));
    }
    for index in 0..input.variables.len() as u32 {
        let region = RegionId::new(RegionKind::Variable, index);
        let state = if freedom.is_free(region, u32::MAX) { "free" } else { "fixed" };
        parts.push(format!("{}: {state}", regions.name(region)));
    }
    parts
}

fn count(freedoms: &[ByteFreedom]) -> String {
    let n_of = |wanted: fn(&ByteFreedom) -> bool| freedoms.iter().filter(|freedom| wanted(freedom)).count();
    let counts = [
        (n_of(|freedom| *freedom == ByteFreedom::Free), "free"),
        (n_of(|freedom| matches!(freedom, ByteFreedom::Within { .. })), "in a range"),
        (n_of(|freedom| *freedom == ByteFreedom::Fixed), "fixed"),
    ];
    let some = counts.into_iter().filter(|(n, _)| *n > 0);
    some.map(|(n, what)| format!("{n} {what}")).collect::<Vec<_>>().join(", ")
}
