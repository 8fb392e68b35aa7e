//! The mutants of a program, as commands show them.

pub mod choice;
pub mod describe;
mod find;
pub mod not_mutated;
mod sources;

use self::sources::Sources;
use crate::{
    failure::Failure,
    screen::Screen,
    target::{self, Subject},
};
use cairn_cc::views::MutantView;
use cairn_model::{MutantId, MutantTable, ProgramMap, map::Site};
use cairn_mutants::catalogue::{OperatorSet, Set, UnknownOperator};
use std::{fs, sync::Arc};

/// The set of operators unless another is named.
pub const DEFAULT_SET: &str = "compact";

/// Checks the name of a set of operators.
pub fn operator_set(name: &str) -> Result<OperatorSet, Failure> {
    let sets: Vec<String> = Set::EACH.iter().map(|set| format!("`{}`", set.name())).collect();
    let hint = format!("sets are {}; `docs/mutation-operators.md` lists the operators", sets.join(", "));
    let set: OperatorSet = name
        .parse()
        .map_err(|error: UnknownOperator| Failure::usage(error.to_string()).hint(hint.clone()))?;
    if set.operators().is_empty() {
        return Err(Failure::usage(format!("`{name}` leaves no operator to make mutants with"))
            .hint(format!("a `-` takes operators out of those named before it; {hint}")));
    }
    Ok(set)
}

/// The mutants of a program and where they are.
pub struct Mutants {
    /// The map that sites and functions refer to.
    pub map: Arc<ProgramMap>,
    /// The mutants.
    pub table: Arc<MutantTable>,
    /// The view that holds them.
    pub view: MutantView,
    /// The files they are in.
    sources: Sources,
}

impl Mutants {
    /// Of a subject that was opened with a set of mutants.
    pub fn of(subject: &Subject) -> Result<Self, Failure> {
        let view = subject.views.mutants.clone().expect("the mutant view was asked for");
        let table: MutantTable = target::read(&view.table, "mutant table")?;
        target::check_label(&view.program, &subject.map.hash())?;
        if table.map_hash != subject.map.hash() {
            return Err(Failure::target(format!(
                "the mutant table `{}` and its map come from different builds",
                view.table.display()
            ))
            .hint("delete the folder it lies in and run the command again"));
        }
        let sites = table.patches.iter().map(|patch| &subject.map.sites[patch.site.index()]);
        // The record is written by the link.
        let record = subject.record.folder.join("record.json");
        let built = fs::metadata(record).and_then(|metadata| metadata.modified()).ok();
        let sources = Sources::read(&subject.map, sites, built);
        Ok(Self { map: Arc::new(subject.map.clone()), table: Arc::new(table), view, sources })
    }

    /// The expression a mutant replaces.
    pub fn site(&self, mutant: MutantId) -> &Site {
        &self.map.sites[self.table.patch_of(mutant).site.index()]
    }

    /// Tells of source files that are no longer what the program was built from.
    pub fn warn_of_changes(&self, screen: &Screen) {
        for path in self.sources.changed() {
            screen.warn(&format!(
                "`{path}` was changed after the program was built; its mutants are those of the old text and are \
                 shown without their lines"
            ));
        }
    }
}
