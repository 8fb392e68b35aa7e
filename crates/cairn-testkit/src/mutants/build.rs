//! A program and its mutant view.

use super::judge::Reference;
use crate::views::{self, decode};
use cairn_cc::{
    BuildRecord, Settings,
    views::{Alone, ViewRequest, Views, build_alone, build_gathered, build_views, find},
};
use cairn_executor::{RunConfig, SessionConfig, Target, mutants::MutantSession};
use cairn_model::{MutantId, MutantTable, ProgramMap, SiteTable, StableId};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A program that was built with `cairn-cc`, its views, and the mutants of one set.
#[derive(Debug)]
pub struct MutantBuild {
    settings: Settings,
    record: BuildRecord,
    request: ViewRequest,
    /// Where the views are.
    pub views: Views,
    /// The program map.
    pub map: Arc<ProgramMap>,
    /// The mutants.
    pub table: Arc<MutantTable>,
}

impl MutantBuild {
    /// Builds the views of `program` with the mutants of `set`; `scope` is that of `cairn.toml`, as JSON.
    pub fn of(program: &Path, set: &str, scope: Option<String>) -> Self {
        let settings = views::settings(program);
        let record = find(&settings.places, program).unwrap_or_else(|error| panic!("{error}"));
        let request = ViewRequest { scope, mutants: Some(set.to_owned()), ..ViewRequest::default() };
        let views = build_views(&settings, &record, &request)
            .unwrap_or_else(|error| panic!("views of `{}`: {error}", program.display()));
        let view = views.mutants.as_ref().expect("the mutant view was asked for");
        Self {
            map: Arc::new(decode(&views.map)),
            table: Arc::new(decode(&view.table)),
            settings,
            record,
            request,
            views,
        }
    }

    /// The mutant view.
    pub fn mutant_view(&self) -> Target {
        let program = self.views.mutants.as_ref().expect("it was asked for").program.clone();
        Target { program, n_counters: self.map.n_counters }
    }

    /// The detailed symbolic view and what it can be asked about, built when it is asked for.
    pub fn detailed_view(&self) -> (Target, SiteTable) {
        let request = ViewRequest { with_detailed: true, ..self.request.clone() };
        let views = build_views(&self.settings, &self.record, &request)
            .unwrap_or_else(|error| panic!("the detailed view: {error}"));
        let view = views.detailed.expect("it was asked for");
        (Target { program: view.program, n_counters: self.map.n_counters }, decode(&view.sites))
    }

    /// The plain view.
    pub fn plain_view(&self) -> Target {
        Target { program: self.views.plain.clone(), n_counters: self.map.n_counters }
    }

    /// The bare build.
    pub fn bare(&self) -> Target {
        Target { program: self.views.bare.clone(), n_counters: 0 }
    }

    /// A session on the mutant view.
    pub fn session(&self, run: RunConfig) -> MutantSession {
        let config = SessionConfig { run, ..SessionConfig::default() };
        MutantSession::new(self.mutant_view(), self.table.clone(), config)
            .unwrap_or_else(|error| panic!("session of the mutant view: {error}"))
    }

    /// The program once for each of `mutants`, with only this one and without instrumentation.
    pub fn alone(&self, mutants: &[MutantId]) -> Vec<Reference> {
        self.references(mutants, Alone::Optimised)
    }

    /// Likewise, but only the function that each changes is compiled anew, which takes a fraction of the time.
    pub fn apart(&self, mutants: &[MutantId]) -> Vec<Reference> {
        self.references(mutants, Alone::Apart)
    }

    fn references(&self, mutants: &[MutantId], alone: Alone) -> Vec<Reference> {
        let programs = self.build_alone(mutants, alone).into_iter();
        mutants
            .iter()
            .zip(programs)
            .map(|(mutant, program)| Reference { mutant: *mutant, is_text: false, programs: vec![program] })
            .collect()
    }

    /// One program that can be each of `mutants`, compiled alone.
    pub(super) fn gathered(&self, mutants: &[MutantId]) -> PathBuf {
        build_gathered(&self.settings, &self.record, &self.request, &self.stable_ids(mutants))
            .unwrap_or_else(|error| panic!("mutants compiled alone and gathered: {error}"))
    }

    fn stable_ids(&self, mutants: &[MutantId]) -> Vec<StableId> {
        mutants.iter().map(|mutant| self.table.mutants[mutant.index()].stable_id).collect()
    }

    /// The program with only `mutant`, not optimised.
    pub fn unoptimised(&self, mutant: MutantId) -> PathBuf {
        self.build_alone(&[mutant], Alone::Unoptimised).remove(0)
    }

    /// The program with only `mutant`, not optimised and checked by AddressSanitizer.
    pub fn checked(&self, mutant: MutantId) -> PathBuf {
        self.build_alone(&[mutant], Alone::Checked).remove(0)
    }

    fn build_alone(&self, mutants: &[MutantId], alone: Alone) -> Vec<PathBuf> {
        build_alone(&self.settings, &self.record, &self.request, &self.stable_ids(mutants), alone)
            .unwrap_or_else(|error| panic!("mutants compiled alone: {error}"))
    }

    /// A mutant in a line: `target.c:7:10 a + b → a - b (arith-op-replace, 0123456789abcdef)`.
    pub fn describe(&self, mutant: MutantId) -> String {
        let entry = &self.table.mutants[mutant.index()];
        let site = &self.map.sites[self.table.patch_of(mutant).site.index()];
        let place = self.map.show(site.extent.start);
        format!("{place} {} → {} ({}, {})", site.text, entry.replacement, entry.operator, entry.stable_id)
    }
}
