//! The mutants of a program, as commands show them.

pub mod choice;
pub mod describe;

use crate::{
    failure::Failure,
    target::{self, Subject},
};
use cairn_cc::views::MutantView;
use cairn_model::{MutantId, MutantTable, ProgramMap, map::Site};
use cairn_mutants::catalogue::{OperatorSet, Set, UnknownOperator};
use std::{collections::BTreeMap, fs, sync::Arc};

/// The set of operators unless another is named.
pub const DEFAULT_SET: &str = "compact";

/// Checks the name of a set of operators.
pub fn operator_set(name: &str) -> Result<OperatorSet, Failure> {
    name.parse().map_err(|error: UnknownOperator| {
        let sets: Vec<String> = Set::EACH.iter().map(|set| format!("`{}`", set.name())).collect();
        Failure::usage(error.to_string())
            .hint(format!("sets are {}; `docs/mutation-operators.md` lists the operators", sets.join(", ")))
    })
}

/// The mutants of a program and where they are.
pub struct Mutants {
    /// The map that sites and functions refer to.
    pub map: Arc<ProgramMap>,
    /// The mutants.
    pub table: Arc<MutantTable>,
    /// The view that holds them.
    pub view: MutantView,
    /// Lines of the source files, by their number in the map.
    sources: BTreeMap<u32, Vec<String>>,
}

impl Mutants {
    /// Of a subject that was opened with a set of mutants.
    pub fn of(subject: &Subject) -> Result<Self, Failure> {
        let view = subject.views.mutants.clone().expect("the mutant view was asked for");
        let table: MutantTable = target::read(&view.table, "mutant table")?;
        target::check_label(&view.program, &subject.map)?;
        if table.map_hash != subject.map.hash() {
            return Err(Failure::target(format!(
                "the mutant table `{}` and its map come from different builds",
                view.table.display()
            ))
            .hint("delete the folder it lies in and run the command again"));
        }
        let files: Vec<u32> = table
            .patches
            .iter()
            .map(|patch| subject.map.sites[patch.site.index()].extent.start.file)
            .collect();
        let mut sources = BTreeMap::new();
        for file in files {
            sources.entry(file).or_insert_with(|| lines(&subject.map.files[file as usize].absolute));
        }
        Ok(Self { map: Arc::new(subject.map.clone()), table: Arc::new(table), view, sources })
    }

    /// The expression a mutant replaces.
    pub fn site(&self, mutant: MutantId) -> &Site {
        &self.map.sites[self.table.patch_of(mutant).site.index()]
    }
}

/// The lines of a source file; none if it is gone.
fn lines(path: &str) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}
