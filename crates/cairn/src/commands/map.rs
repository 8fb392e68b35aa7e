//! `cairn map`: prints the program map.

use crate::{
    exit_code::Exit,
    failure::Failure,
    screen::{Screen, count},
    target::{Subject, TargetArgs, Wanted},
};
use cairn_model::{
    FunctionId, ProgramMap,
    map::{Condition, Function},
    versioned::Versioned,
};
use std::fmt::Write;

/// Print what is known about a program: functions and conditions; `--json` has everything
#[derive(Debug, clap::Args)]
pub struct Map {
    #[command(flatten)]
    target: TargetArgs,
    /// Print the whole map as JSON
    #[arg(long)]
    json: bool,
    /// Also list every expression
    #[arg(long)]
    sites: bool,
}

impl Map {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let subject = Subject::open(&self.target, &Wanted::USUAL, &|text| screen.progress(text))?;
        if self.json {
            let mut map = serde_json::to_value(&subject.map).expect("a map is always JSON");
            map["format"] = ProgramMap::VERSION.into();
            screen.result(&map.to_string());
        } else {
            screen.result(text(&subject.map, self.sites).trim_end());
        }
        Ok(Exit::Done)
    }
}

fn text(map: &ProgramMap, with_sites: bool) -> String {
    let mut text = String::new();
    for (index, function) in map.functions.iter().enumerate().filter(|(_, function)| function.in_scope) {
        let id = FunctionId(index as u32);
        function_line(&mut text, map, function);
        for condition in map.conditions.iter().filter(|condition| condition.function == id) {
            condition_line(&mut text, map, condition);
        }
        if with_sites {
            for site in map.sites.iter().filter(|site| site.function == id) {
                let place = map.show(site.extent.start);
                let spelling = &site.value_type.spelling;
                let _ = writeln!(
                    text,
                    "  {place}: {:?} `{}`: {spelling}  [{}]",
                    site.kind, site.text, site.stable_id
                );
            }
        }
    }
    for left_out in &map.left_out {
        let _ = writeln!(text, "left out: {} `{}`: {}", left_out.place, left_out.what, left_out.reason);
    }
    text
}

fn function_line(text: &mut String, map: &ProgramMap, function: &Function) {
    let place = map.show(function.place);
    let blocks = count(function.blocks.len(), "block");
    let _ = writeln!(text, "{place}: {} ({blocks})  [{}]", function.name, function.stable_id);
}

fn condition_line(text: &mut String, map: &ProgramMap, condition: &Condition) {
    let place = map.show(condition.extent.start);
    let features = &condition.features;
    let mut remarks = vec![format!("{:?}", condition.kind).to_lowercase()];
    if features.loop_depth > 0 {
        remarks.push(format!("in {}", count(features.loop_depth as usize, "loop")));
    }
    if features.nesting_depth > 0 {
        remarks.push(format!("behind {}", count(features.nesting_depth as usize, "branch")));
    }
    if let Some(kind) = features.compares_with {
        remarks.push(format!("compares with {}", format!("{kind:?}").to_lowercase()));
    }
    if let Some(name) = &condition.macro_name {
        remarks.push(format!("from {name}"));
    }
    let _ =
        writeln!(text, "  {place}: `{}` {}  [{}]", condition.text, remarks.join(", "), condition.stable_id);
}
