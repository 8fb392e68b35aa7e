//! Events of a run in source terms.

use cairn_abi::record::Leaving;
use cairn_concolic::{Event, Path, Regions, Step};
use cairn_expr::{DEFAULT_OPERATIONS, InputRange, infix};
use cairn_model::{ConditionId, ProgramMap, SiteTable, SiteValue, sites::ProbeRole};
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
    /// The value of an expression, as its type has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What of an expression has this value, if it is not simply its value: `constant`, `stored`, `returned`, `decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// How a function was left: `return`, `longjmp` or `exception`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<&'static str>,
    /// The how manyth evaluation of a condition or expression it is, among those that depend on the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u32>,
    /// What has to hold of the input to come past it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// The bytes of the input it depends on: `stdin[0..4]`.
    pub taint: Vec<String>,
}

/// Describes a step of a path, without the bytes it depends on. `sites` are those of the view, if it has any.
pub fn describe(map: &ProgramMap, sites: &SiteTable, path: &Path, step: &Step) -> Described {
    let constraint =
        step.constraint.map(|constraint| infix(path.dag(), constraint.holds, DEFAULT_OPERATIONS));
    // What no input can change is shown as it was, too.
    let expression = || {
        let text = infix(path.dag(), step.event.expression()?, DEFAULT_OPERATIONS);
        let is_denied = matches!(step.event, Event::Conditional { direction: false, .. });
        Some(match (is_denied, text.as_str()) {
            (true, "false") => "true".to_owned(),
            (true, _) => format!("!({text})"),
            _ => text,
        })
    };
    let mut described = Described {
        kind: "condition",
        id: None,
        place: None,
        text: String::new(),
        direction: None,
        value: None,
        role: None,
        how: None,
        occurrence: None,
        holds: constraint.or_else(expression),
        taint: Vec::new(),
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
        Event::SiteValue { site: id, spot, value, occurrence, .. } => {
            described.kind = "site";
            let site = map.sites.get(id.index());
            described.id = site.map(|site| site.stable_id.to_string());
            described.place = site.map(|site| map.show(site.extent.start));
            described.text = site.map_or("?".into(), |site| site.text.clone());
            described.occurrence = (occurrence > 0).then_some(occurrence);
            let probe = sites.of_site(id).map(|(_, probe)| probe).find(|probe| probe.spot == spot);
            described.value = Some(match probe {
                Some(probe) => SiteValue::from_bits(probe.value_type, value).to_string(),
                None => format!("{value:#x}"),
            });
            let role = probe.map(|probe| probe.role).filter(|role| *role != ProbeRole::Value);
            described.role = role.map(|role| role.to_string());
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
            described.text = function(id);
            described.how = Some(match how {
                Leaving::Return => "return",
                Leaving::Longjmp => "longjmp",
                Leaving::Unwind => "exception",
            });
        }
        Event::InputRead { region, offset, length } => {
            described.kind = "read";
            let end = offset + u64::from(length);
            described.text = format!("{}[{offset}..{end}]", path.regions().name(region));
        }
    }
    described
}

/// The bytes of the input that a step depends on, as text. A condition late in a long run may depend on most of it.
pub fn taint(path: &Path, step: &Step) -> Vec<String> {
    path.taint(&step.event).iter().map(|range| show_range(path.regions(), range)).collect()
}

/// Ranges of bytes that stand in one line.
const MAX_RANGES: usize = 64;

impl Described {
    /// One line.
    pub fn line(&self, with_taint: bool) -> String {
        let mut line = match (&self.place, self.kind) {
            (Some(place), _) => format!("{place}  `{}`", self.text),
            (None, "branch") => "(library)".to_owned(),
            (None, "enter") => format!("enter {}", self.text),
            (None, "leave") => match self.how {
                None | Some("return") => format!("leave {}", self.text),
                Some(how) => format!("leave {} by {how}", self.text),
            },
            (None, kind) => format!("({kind}) {}", self.text),
        };
        if let Some(direction) = self.direction {
            line.push_str(&format!("  {direction}"));
        }
        if let Some(role) = &self.role {
            line.push_str(&format!("  {role}"));
        }
        if let Some(value) = &self.value {
            line.push_str(&format!("  = {value}"));
        }
        if let Some(occurrence) = self.occurrence {
            line.push_str(&format!("  #{occurrence}"));
        }
        if let Some(holds) = &self.holds {
            line.push_str(&format!("  {holds}"));
        }
        if with_taint && !self.taint.is_empty() {
            let shown = self.taint.len().min(MAX_RANGES);
            line.push_str(&format!("  <- {}", self.taint[..shown].join(", ")));
            if shown < self.taint.len() {
                line.push_str(&format!(", and {} more", self.taint.len() - shown));
            }
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
