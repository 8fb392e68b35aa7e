//! What is inside an expression, and what evaluating it does besides giving a value.

use cairn_model::{
    SiteId,
    facts::ExpressionKind,
    map::{ProgramMap, Site},
};

/// Whether leaving the expression out changes nothing but its value: it cannot fault, and nothing in it has an effect.
pub fn is_droppable(map: &ProgramMap, site: SiteId) -> bool {
    tree(map, site).all(|site| !has_effect(site) && !faults(site))
}

/// Whether evaluating it can fault.
pub fn may_fault(map: &ProgramMap, site: SiteId) -> bool {
    tree(map, site).any(faults)
}

/// Whether the parts of an expression stand side by side. In `DEC * 2` with `#define DEC x - 1`, the parts of the
/// subtraction do not: both begin with the macro.
pub fn has_parts_apart(map: &ProgramMap, site: SiteId) -> bool {
    let parts: Vec<_> = tree(map, site).filter(|part| part.parent == Some(site)).collect();
    parts.windows(2).all(|pair| pair[0].extent.end <= pair[1].extent.start)
}

/// A site and all below it. Parents come right before their children.
fn tree(map: &ProgramMap, site: SiteId) -> impl Iterator<Item = &Site> {
    let below = map.sites[site.index()..].iter().skip(1);
    let below = below.take_while(move |other| other.parent.is_some_and(|parent| parent >= site));
    std::iter::once(&map.sites[site.index()]).chain(below)
}

fn has_effect(site: &Site) -> bool {
    use ExpressionKind as Kind;
    matches!(
        site.kind,
        Kind::Call | Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement | Kind::Other
    )
}

fn faults(site: &Site) -> bool {
    use ExpressionKind as Kind;
    match site.kind {
        Kind::Call | Kind::Index | Kind::Other => true,
        Kind::Unary => site.operator == "*",
        Kind::Member => site.text.contains("->") || site.macro_name.is_some(),
        Kind::Binary | Kind::CompoundAssign => site.operator.starts_with(['/', '%']),
        _ => false,
    }
}
