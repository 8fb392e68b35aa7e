//! Facts as text.
#![allow(dead_code, reason = "each test binary uses its own part")]

use cairn_model::facts::{
    ConditionFact, ConstantValue, Extent, FunctionFacts, Place, UnitFacts, UsedBy, VariableFact,
    VariableScope,
};
use std::{fmt::Write as _, fs, path::Path};

/// Extracts the facts of `text`, a file named `name` in a folder of its own.
pub fn extract(name: &str, text: &str, options: &[&str]) -> UnitFacts {
    let folder = tempfile::tempdir().unwrap();
    extract_in(folder.path(), name, text, options)
}

/// Extracts the facts of `text` as the file `name` in `folder`.
pub fn extract_in(folder: &Path, name: &str, text: &str, options: &[&str]) -> UnitFacts {
    fs::write(folder.join(name), text).unwrap();
    let mut args: Vec<String> = options.iter().map(|option| option.to_string()).collect();
    args.extend(["-c", name, "-o", "out.o"].map(str::to_owned));
    cairn_facts::extract(&args, folder).unwrap()
}

/// One line per condition in emission order, one per switch.
pub fn conditions(unit: &UnitFacts) -> String {
    let mut text = String::new();
    for function in &unit.functions {
        writeln!(text, "{} {}", function.name, place(function.place)).unwrap();
        for condition in &function.conditions {
            writeln!(text, "  {}", describe(function, condition)).unwrap();
        }
        for switch in &function.switches {
            let labels: Vec<String> = switch
                .labels
                .iter()
                .map(|label| match label.range {
                    Some((low, high)) if low == high => format!("`{}` {low}", label.text),
                    Some((low, high)) => format!("`{}` {low}..{high}", label.text),
                    None => label.text.clone(),
                })
                .collect();
            writeln!(text, "  switch `{}` {}: {}", switch.text, place(switch.place), labels.join(", "))
                .unwrap();
        }
    }
    text
}

/// One line per expression, indented by depth.
pub fn expressions(function: &FunctionFacts) -> String {
    let mut text = String::new();
    let mut depths: Vec<usize> = Vec::new();
    for expression in &function.expressions {
        let depth = expression.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        let indent = "  ".repeat(depth);
        let operator = if expression.operator.is_empty() { "" } else { &expression.operator };
        let of_macro = expression.macro_name.as_ref().map(|name| format!(" from {name}")).unwrap_or_default();
        writeln!(
            text,
            "{indent}{:?} {operator} `{}` {} at {}: {} ({:?} {}){of_macro}",
            expression.kind,
            expression.text,
            range(expression.extent),
            place(expression.place),
            expression.value_type.spelling,
            expression.value_type.class,
            expression.value_type.bits,
        )
        .unwrap();
    }
    text
}

/// One line per variable.
pub fn variables(variables: &[VariableFact]) -> String {
    let mut text = String::new();
    for variable in variables {
        let scope = match variable.scope {
            VariableScope::Block(extent) => format!("in {}", range(extent)),
            VariableScope::Unit { n_functions_before, .. } => format!("after {n_functions_before} functions"),
        };
        let flags = [
            (variable.is_const, " const"),
            (variable.is_volatile, " volatile"),
            (variable.is_static, " static"),
            (variable.is_external, " external"),
        ];
        let flags: String = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| *word).collect();
        writeln!(
            text,
            "{} {} {:?} {} ({}){flags} {scope}",
            place(variable.place),
            variable.name,
            variable.shape,
            variable.value_type.spelling,
            variable.canonical,
        )
        .unwrap();
    }
    text
}

/// One line per structure.
pub fn records(unit: &UnitFacts) -> String {
    let mut text = String::new();
    for record in &unit.records {
        let fields: Vec<String> = record
            .fields
            .iter()
            .map(|field| {
                let width = field.bit_width.map(|width| format!(":{width}")).unwrap_or_default();
                let offset = field.offset_bits.map_or("?".to_owned(), |bits| bits.to_string());
                format!("{} {}{width}@{offset}", field.canonical, field.name)
            })
            .collect();
        let kind = if record.is_union { "union" } else { "struct" };
        writeln!(text, "{kind} {{ {} }}", fields.join("; ")).unwrap();
    }
    text
}

/// One line per constant.
pub fn constants(function: &FunctionFacts) -> String {
    let mut text = String::new();
    for expression in &function.expressions {
        match expression.constant {
            Some(ConstantValue::Integer(value)) => writeln!(text, "`{}` {value}", expression.text).unwrap(),
            Some(ConstantValue::Float(bits)) => {
                writeln!(text, "`{}` {:?}", expression.text, f64::from_bits(bits)).unwrap();
            }
            None => {}
        }
    }
    text
}

/// The expressions in the order in which code is emitted for them, with the statement that uses them.
pub fn emission_order(function: &FunctionFacts) -> String {
    let mut expressions: Vec<_> = function.expressions.iter().collect();
    expressions.sort_by_key(|expression| expression.order);
    let describe = |used_by: UsedBy| match used_by {
        UsedBy::Other => String::new(),
        UsedBy::Return(at) => format!(" returned at {}", place(at)),
        UsedBy::Variable(number) => format!(" initialises {}", function.variables[number as usize].name),
    };
    expressions
        .iter()
        .map(|expression| format!("`{}`{}\n", expression.text, describe(expression.used_by)))
        .collect()
}

/// What `condition` reads and compares with.
pub fn traits(condition: &ConditionFact) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(condition.compares_with.map(|kind| format!("compares with {kind:?}")));
    words.extend(condition.reads_pointer.then(|| "reads pointer".to_owned()));
    words.extend(condition.reads_local.then(|| "reads local".to_owned()));
    words.extend(condition.uses_external_call.then(|| "uses external call".to_owned()));
    words.join(", ")
}

fn describe(function: &FunctionFacts, condition: &ConditionFact) -> String {
    let decision = &function.decisions[condition.decision as usize];
    let mut words = vec![format!("{} `{}`", range(condition.extent), function.text_of(condition))];
    words.push(format!("{:?} {}", decision.kind, range(decision.extent)));
    words.push(format!("{:?} at {}", condition.emission, place(condition.place)));
    words.extend(condition.constant.map(|value| format!("always {value}")));
    words.extend(condition.is_negated.then(|| "negated".to_owned()));
    words.extend(condition.is_inverted.then(|| "inverted".to_owned()));
    words.extend(condition.is_value.then(|| "value".to_owned()));
    words.extend(decision.is_tested_whole.then(|| "tested whole".to_owned()));
    words.join(", ")
}

trait TextOf {
    fn text_of(&self, condition: &ConditionFact) -> &str;
}

impl TextOf for FunctionFacts {
    fn text_of(&self, condition: &ConditionFact) -> &str {
        &self.expressions[condition.expression as usize].text
    }
}

fn place(place: Place) -> String {
    format!("{}:{}", place.line, place.column)
}

fn range(extent: Extent) -> String {
    format!("{}-{}", place(extent.start), place(extent.end))
}
