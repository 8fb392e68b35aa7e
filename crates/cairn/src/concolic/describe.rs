//! Events of a run in source terms.

use cairn_concolic::{Event, Path, Regions, Step};
use cairn_expr::{DEFAULT_OPERATIONS, InputRange, infix};
use cairn_model::{ConditionId, ProgramMap};
use serde::Serialize;

/// An event as reports have it.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    /// `condition`, `branch` (one that is no condition of the map), `address`, `site`, `guidepost`, `enter`, `leave` or `read`.
    pub kind: &'static str,
    /// The stable id of the condition or site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `file:line:column`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its source text, or the name of a function.
    pub text: String,
    /// The truth of a condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<bool>,
    /// The how manyth evaluation of a condition it is, among those that depend on the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u32>,
    /// What has to hold of the input to come past it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// The bytes of the input it depends on: `stdin[0..4]`.
    pub taint: Vec<String>,
}

/// Describes a step of a path.
pub fn describe(map: &ProgramMap, path: &Path, step: &Step) -> Described {
    let constraint =
        step.constraint.map(|constraint| infix(path.dag(), constraint.holds, DEFAULT_OPERATIONS));
    let expression = || step.event.expression().map(|id| infix(path.dag(), id, DEFAULT_OPERATIONS));
    let mut described = Described {
        kind: "condition",
        id: None,
        place: None,
        text: String::new(),
        direction: None,
        occurrence: None,
        holds: constraint.or_else(expression),
        taint: path.taint(&step.event).iter().map(|range| show_range(path.regions(), range)).collect(),
    };
    let function = |id: cairn_model::FunctionId| {
        map.functions.get(id.index()).map_or("?".into(), |function| function.name.clone())
    };
    match step.event {
        Event::Conditional { condition, direction, occurrence, .. } => {
            described.direction = Some(direction);
            described.occurrence = (occurrence > 0).then_some(occurrence);
            match condition.and_then(|id| map.conditions.get(id.index())) {
                Some(condition) => {
                    described.id = Some(condition.stable_id.to_string());
                    described.place = Some(map.show(condition.extent.start));
                    described.text = condition.text.clone();
                }
                None => described.kind = "branch",
            }
        }
        Event::Address { address, length, access, .. } => {
            described.kind = "address";
            described.text = format!("{access:?} of {length} bytes at {address:#x}").to_lowercase();
        }
        Event::SiteValue { site, value, .. } => {
            described.kind = "site";
            let site = map.sites.get(site.index());
            described.id = site.map(|site| site.stable_id.to_string());
            described.place = site.map(|site| map.show(site.extent.start));
            described.text = format!("{} = {value:#x}", site.map_or("?", |site| &site.text));
        }
        Event::Guidepost { guidepost, state, value, .. } => {
            described.kind = "guidepost";
            described.text = format!("guidepost {guidepost} {state:?} by {value:#x}").to_lowercase();
        }
        Event::Enter { function: id } => {
            described.kind = "enter";
            described.text = function(id);
        }
        Event::Leave { function: id, how } => {
            described.kind = "leave";
            described.text = format!("{} by {}", function(id), format!("{how:?}").to_lowercase());
        }
        Event::InputRead { region, offset, length } => {
            described.kind = "read";
            let end = offset + u64::from(length);
            described.text = format!("{}[{offset}..{end}]", path.regions().name(region));
        }
    }
    described
}

impl Described {
    /// One line.
    pub fn line(&self, with_taint: bool) -> String {
        let mut line = match (&self.place, self.kind) {
            (Some(place), _) => format!("{place}  `{}`", self.text),
            (None, "branch") => "(library)".to_owned(),
            (None, kind) => format!("({kind}) {}", self.text),
        };
        if let Some(direction) = self.direction {
            line.push_str(&format!("  {direction}"));
        }
        if let Some(occurrence) = self.occurrence {
            line.push_str(&format!("  #{occurrence}"));
        }
        if let Some(holds) = &self.holds {
            line.push_str(&format!("  {holds}"));
        }
        if with_taint && !self.taint.is_empty() {
            line.push_str(&format!("  <- {}", self.taint.join(", ")));
        }
        line
    }
}

/// A condition and a direction of it, for people.
pub fn branch(map: &ProgramMap, condition: ConditionId, direction: bool) -> String {
    match map.conditions.get(condition.index()) {
        Some(condition) => {
            format!("{} `{}` {direction}", map.show(condition.extent.start), condition.text)
        }
        None => format!("condition {} {direction}", condition.0),
    }
}

fn show_range(regions: &Regions, range: &InputRange) -> String {
    let name = regions.name(range.region);
    match range.end - range.start {
        1 => format!("{name}[{}]", range.start),
        _ => format!("{name}[{}..{}]", range.start, range.end),
    }
}
