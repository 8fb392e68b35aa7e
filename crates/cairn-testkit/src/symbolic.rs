//! A program and its symbolic view.

use crate::views::{decode, settings};
use cairn_cc::views::{ViewRequest, Views, build_views, find};
use cairn_executor::Target;
use cairn_model::ProgramMap;
use std::path::{Path, PathBuf};

/// The whole bitcode of a program, if it was built with `cairn-cc` and its record is still there.
pub fn bitcode_of(program: &Path) -> Option<PathBuf> {
    find(&settings(program).places, program).ok().map(|record| record.bitcode_path())
}

/// A program that was built with `cairn-cc`, and its views with the symbolic one among them.
#[derive(Debug)]
pub struct SymbolicBuild {
    /// Where the views are.
    pub views: Views,
    /// The program map.
    pub map: ProgramMap,
    /// The whole program's bitcode, from which the views were made.
    pub bitcode: PathBuf,
}

impl SymbolicBuild {
    /// Builds the views of `program`; `scope` is that of `cairn.toml`, as JSON.
    pub fn of(program: &Path, scope: Option<String>) -> Self {
        let settings = settings(program);
        let record = find(&settings.places, program).unwrap_or_else(|error| panic!("{error}"));
        let request = ViewRequest { scope, with_symbolic: true, ..ViewRequest::default() };
        let views = build_views(&settings, &record, &request)
            .unwrap_or_else(|error| panic!("views of `{}`: {error}", program.display()));
        Self { map: decode(&views.map), bitcode: record.bitcode_path(), views }
    }

    /// The symbolic view.
    pub fn symbolic_view(&self) -> Target {
        let program = self.views.symbolic.clone().expect("it was asked for");
        Target { program, n_counters: self.map.n_counters }
    }
}
