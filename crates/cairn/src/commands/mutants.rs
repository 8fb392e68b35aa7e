//! `cairn mutants`: which mutants a program has.

use crate::{
    commands::build::comments_not_understood,
    exit_code::Exit,
    failure::{Failure, chain},
    inputs,
    mutants::{
        DEFAULT_SET, Mutants,
        choice::ChoiceArgs,
        describe::{Described, DroppedCounts},
        not_mutated::NotMutated,
        operator_set,
    },
    screen::{Screen, count},
    target::{Subject, TargetArgs, Wanted},
};
use cairn_executor::{
    SessionConfig, Target,
    mutants::{MutantSession, ReachFile},
};
use cairn_model::{MutantId, PatchId, mutants::UnmutatedReason};
use cairn_mutants::{
    analysis::{Dropped, MutantSet},
    catalogue,
};
use serde::Serialize;
use std::{collections::BTreeSet, path::PathBuf};

/// List the mutants of a program, or show some: `cairn mutants ./prog show ID`
#[derive(Debug, clap::Args)]
pub struct ListMutants {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// The operators that make mutants: a set, or names with commas between them
    #[arg(long, value_name = "SET", default_value = DEFAULT_SET)]
    set: String,
    /// Only mutants whose place these inputs execute, or programs did that noted it in this file by `CAIRN_REACH`
    #[arg(long, value_name = "INPUTS")]
    reached_by: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    program: String,
    set: &'a str,
    generated: usize,
    dropped: DroppedCounts,
    selected: usize,
    unmutated: Vec<Unmutated<'a>>,
    not_mutated: NotMutated,
    mutants: Vec<Described<'a>>,
}

#[derive(Serialize)]
struct Unmutated<'a> {
    function: &'a str,
    place: String,
    reason: UnmutatedReason,
}

impl ListMutants {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        operator_set(&self.set)?;
        let choice = self.choice.read()?;
        inputs::check_exist(&self.reached_by)?;
        let wanted = Wanted { mutants: Some(self.set.clone()), ..Wanted::USUAL };
        let (target, shown) = self.split_show();
        let subject = Subject::open(&target, &wanted, &|text| screen.progress(text))?;
        let mutants = Mutants::of(&subject)?;
        mutants.warn_of_changes(screen);
        for warning in
            comments_not_understood(&subject.map).into_iter().chain(subject.record.sanitizer_warning())
        {
            screen.warn(&warning);
        }
        if let Some(ids) = shown {
            return self.show(&mutants, &ids, screen);
        }
        let reached = match self.reached_by.is_empty() {
            true => None,
            false => Some(self.reached(&subject, &mutants, screen)?),
        };
        let selected = choice.select(&mutants, reached)?;
        let dropped = Dropped::of(&mutants.table);
        if self.json {
            let unmutated = mutants.table.unmutated.iter().map(|unmutated| {
                let function = &mutants.map.functions[unmutated.function.index()];
                Unmutated {
                    function: &function.name,
                    place: mutants.map.show(function.place),
                    reason: unmutated.reason,
                }
            });
            let report = Report {
                format: 1,
                program: subject.program.display().to_string(),
                set: &mutants.table.set,
                generated: mutants.table.mutants.len() + dropped.total(),
                dropped: dropped.into(),
                selected: selected.len(),
                unmutated: unmutated.collect(),
                not_mutated: NotMutated::of(&mutants),
                mutants: selected.iter().map(|mutant| mutants.describe(mutant)).collect(),
            };
            screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON"));
        } else {
            screen.result(&list(&subject, &mutants, &selected, dropped));
        }
        Ok(Exit::Done)
    }

    /// The target, and the ids after the word `show` if it is there.
    fn split_show(&self) -> (TargetArgs, Option<Vec<String>>) {
        let mut target = self.target.clone();
        let Some(at) = target.words.iter().position(|word| word.as_os_str() == "show") else {
            return (target, None);
        };
        let ids = target.words.split_off(at);
        (target, Some(ids[1..].iter().map(|word| word.to_string_lossy().into_owned()).collect()))
    }

    fn show(&self, mutants: &Mutants, ids: &[String], screen: &Screen) -> Result<Exit, Failure> {
        if ids.is_empty() {
            return Err(Failure::usage("no mutant was named")
                .hint("`cairn mutants ./prog` lists them with their ids"));
        }
        for id in ids {
            let mutant = mutants.find(id)?;
            if self.json {
                let described = mutants.describe(mutant);
                screen.result(&serde_json::to_string_pretty(&described).expect("a mutant is always JSON"));
            } else {
                screen.result(&detail(mutants, mutant));
            }
        }
        Ok(Exit::Done)
    }

    /// Patches that the inputs of `--reached-by` execute, or that its files name.
    fn reached(
        &self,
        subject: &Subject,
        mutants: &Mutants,
        screen: &Screen,
    ) -> Result<BTreeSet<PatchId>, Failure> {
        let (noted, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            self.reached_by.iter().cloned().partition(|path| path.is_file() && ReachFile::is_at(path));
        let mut reached = BTreeSet::new();
        for path in noted {
            let read = ReachFile::read(&path, &mutants.table);
            reached.extend(
                read.map_err(|error| Failure::usage(chain(&error)).maybe_hint(error.hint()))?.reached,
            );
        }
        if paths.is_empty() {
            return Ok(reached);
        }
        let inputs = inputs::load(&paths, &subject.template)?;
        let target = Target { program: mutants.view.program.clone(), n_counters: mutants.map.n_counters };
        let config = SessionConfig { run: subject.run_config.clone(), ..SessionConfig::default() };
        let mut session = MutantSession::new(target, mutants.table.clone(), config)?;
        for (index, named) in inputs.iter().enumerate() {
            screen.progress(&format!("examining input {} of {}", index + 1, inputs.len()));
            reached.extend(session.examine(&named.input)?.reached);
        }
        Ok(reached)
    }
}

fn list(subject: &Subject, mutants: &Mutants, selected: &MutantSet, dropped: Dropped) -> String {
    let mut text = String::new();
    let mut in_order: Vec<MutantId> = selected.iter().collect();
    in_order.sort_by_key(|mutant| (mutants.site(*mutant).extent, *mutant));
    for mutant in in_order {
        text.push_str(&mutants.shown(mutant));
        text.push('\n');
    }
    let table = &mutants.table;
    let n_made = table.mutants.len() + dropped.total();
    text.push_str(&format!(
        "\n  target     {} ({} of {}, set {})\n",
        subject.program.display(),
        selected.len(),
        count(table.mutants.len(), "mutant"),
        table.set
    ));
    if dropped.total() > 0 {
        text.push_str(&format!(
            "  dropped    {} of {n_made} made: {} equal the original, {} equal another, {} are no valid code\n",
            dropped.total(),
            dropped.n_equivalent,
            dropped.n_duplicate,
            dropped.n_invalid
        ));
    }
    for line in NotMutated::of(mutants).lines() {
        text.push_str(&format!("  unmutated  {line}\n"));
    }
    text.trim_end().to_owned()
}

/// Everything about one mutant.
fn detail(mutants: &Mutants, mutant: MutantId) -> String {
    let entry = &mutants.table.mutants[mutant.index()];
    let site = mutants.site(mutant);
    let function = &mutants.map.functions[site.function.index()];
    let mut text = mutants.shown(mutant);
    let mut row = |name: &str, value: &str| text.push_str(&format!("\n  {name:<10} {value}"));
    row("function", &function.name);
    row("changes", &format!("`{}` to `{}`", site.text, entry.replacement));
    if let Some(name) = &site.macro_name {
        row("macro", &format!("`{name}`: only this use of it is changed"));
    }
    if let Some(operator) = catalogue::find(&entry.operator) {
        row("operator", &format!("{} ({}): {}", operator.name, operator.code, operator.meaning));
        row("surviving", operator.surviving);
        row("to kill it", operator.kill);
    }
    row("alone", &format!("CAIRN_MUTANT={} {}", entry.stable_id, mutants.view.program.display()));
    text
}
