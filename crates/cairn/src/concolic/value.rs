//! The value that an expression is to have, as users name it.

use crate::failure::Failure;
use cairn_concolic::{Event, Path};
use cairn_model::{ProbeId, ProgramMap, SiteId, SiteTable, SiteValue, mutants::ValueType};

/// An expression and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueGoal {
    /// The expression: one site, or one for each instance of a template.
    sites: Vec<Observed>,
    /// For people.
    shown: String,
}

/// Where the value of a site is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Observed {
    site: SiteId,
    spot: u16,
    probe: ProbeId,
    /// The wanted value's bits.
    bits: u64,
}

/// One evaluation of the expression in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The number of the step.
    pub step: usize,
    /// The how manyth it is among those that depend on the input; 0 for one that does not.
    pub occurrence: u32,
    /// The wanted value's bits.
    pub wanted: u64,
    /// Whether it has the value.
    pub has_it: bool,
}

impl ValueGoal {
    /// Reads the id of a site and a value of its type.
    pub fn new(map: &ProgramMap, table: &SiteTable, name: &str, value: &str) -> Result<Self, Failure> {
        let named: Vec<SiteId> = (0..)
            .map(SiteId)
            .zip(&map.sites)
            .filter(|(_, site)| site.stable_id.to_string() == name)
            .map(|(id, _)| id)
            .collect();
        let Some(first) = named.first() else {
            return Err(Failure::usage(format!("there is no site `{name}`"))
                .hint("`cairn map --sites` lists the expressions of a program with their ids"));
        };
        let site = &map.sites[first.index()];
        let place = format!("{} `{}`", map.show(site.extent.start), site.text);
        let mut sites = Vec::new();
        for id in named {
            // The first spot is where the expression itself is computed.
            if let Some((probe, found)) = table.of_site(id).next() {
                let bits = bits(value, found.value_type)?;
                sites.push(Observed { site: id, spot: found.spot, probe, bits });
            }
        }
        if sites.is_empty() {
            return Err(Failure::usage(format!("the value of {place} cannot be observed")).hint(
                "it is an address, or the code has no value of its own for it: name the expression around it or one of its operands",
            ));
        }
        Ok(Self { sites, shown: format!("{place} = {value}") })
    }

    /// The probes that tell of it.
    pub fn probes(&self) -> Vec<ProbeId> {
        self.sites.iter().map(|observed| observed.probe).collect()
    }

    /// For people.
    pub fn show(&self) -> &str {
        &self.shown
    }

    /// The evaluations of the expression in a run, in order.
    pub fn evaluations(&self, path: &Path) -> Vec<Evaluation> {
        let evaluation = |(step, event): (usize, &Event)| {
            let Event::SiteValue { site, spot, value, occurrence, .. } = *event else { return None };
            let observed =
                self.sites.iter().find(|observed| (observed.site, observed.spot) == (site, spot))?;
            Some(Evaluation { step, occurrence, wanted: observed.bits, has_it: value == observed.bits })
        };
        path.steps().iter().map(|step| &step.event).enumerate().filter_map(evaluation).collect()
    }
}

/// The bits of a value of a type, as users write it: `42`, `-1`, `0xff`, `'x'`, `0.5`, `true`.
fn bits(text: &str, value_type: ValueType) -> Result<u64, Failure> {
    let value = match value_type {
        ValueType::Bool => match text {
            "true" | "1" => Some(SiteValue::Bool(true)),
            "false" | "0" => Some(SiteValue::Bool(false)),
            _ => None,
        },
        ValueType::Int { is_signed, bits } => {
            integer(text).and_then(|number| in_range(number, bits.into(), is_signed))
        }
        ValueType::Float { bits: 32 } => {
            text.parse().ok().map(|number: f32| SiteValue::Float(number.to_bits()))
        }
        ValueType::Float { .. } => text.parse().ok().map(|number: f64| SiteValue::Double(number.to_bits())),
        ValueType::Pointer => None,
    };
    value.and_then(|value| value.to_bits(value_type)).ok_or_else(|| {
        let (kind, example) = match value_type {
            ValueType::Bool => ("truth value".to_owned(), "`true` or `false`"),
            ValueType::Int { bits, is_signed: true } => {
                (format!("signed integer of {bits} bits"), "`42`, `-1`, `0xff` or `'x'`")
            }
            ValueType::Int { bits, is_signed: false } => {
                (format!("unsigned integer of {bits} bits"), "`42`, `0xff` or `'x'`")
            }
            ValueType::Float { .. } | ValueType::Pointer => ("number".to_owned(), "`0.5` or `1e-9`"),
        };
        Failure::usage(format!("`{text}` is no {kind}")).hint(format!("write {example}"))
    })
}

fn integer(text: &str) -> Option<i128> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(i128::from);
    }
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let [byte] = quoted.as_bytes() else { return None };
        return Some((*byte).into());
    }
    text.parse().ok()
}

/// A number of a type. Hexadecimal numbers and the like may name the bits of a negative one.
fn in_range(number: i128, bits: u32, is_signed: bool) -> Option<SiteValue> {
    let size = 1i128 << bits.min(64);
    let least = if is_signed { -size / 2 } else { 0 };
    if number < least || number >= size {
        return None;
    }
    let is_negative = is_signed && number >= size / 2;
    let number = if is_negative { number - size } else { number };
    Some(match is_signed {
        true => SiteValue::Signed(number as i64),
        false => SiteValue::Unsigned(number as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_people_write_them() {
        let int = |bits, is_signed| ValueType::Int { bits, is_signed };
        let check = |text: &str, value_type, expected: Option<u64>| {
            assert_eq!(bits(text, value_type).ok(), expected, "{text} {value_type:?}");
        };
        check("42", int(32, true), Some(42));
        check("-1", int(32, true), Some(0xffff_ffff));
        check("-1", int(32, false), None);
        check("0xff", int(8, true), Some(0xff));
        check("256", int(8, false), None);
        check("-129", int(8, true), None);
        check("'x'", int(32, true), Some(0x78));
        check("18446744073709551615", int(64, false), Some(u64::MAX));
        check("true", ValueType::Bool, Some(1));
        check("2", ValueType::Bool, None);
        check("0.5", ValueType::Float { bits: 64 }, Some(0.5f64.to_bits()));
        check("0.5", ValueType::Float { bits: 32 }, Some(0.5f32.to_bits().into()));
        check("many", int(32, true), None);
    }

    #[test]
    fn a_value_of_another_type_is_refused_by_name() {
        let error = bits("300", ValueType::Int { bits: 8, is_signed: false }).unwrap_err();
        assert!(format!("{error:?}").contains("`300` is no unsigned integer of 8 bits"), "{error:?}");
    }
}
