//! A program and its mutant view.

use super::judge::Reference;
use crate::dist;
use cairn_cc::{
    BuildRecord, Settings, Toolchain,
    settings::{Distribution, Places},
    views::{Alone, ViewRequest, Views, build_alone, build_views, find},
};
use cairn_executor::{RunConfig, SessionConfig, Target, mutants::MutantSession};
use cairn_model::{MutantId, MutantTable, ProgramMap, SiteTable, versioned};
use std::{
    env, fs,
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
        let search_path: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
        let directory = program.parent().expect("a program lies in a folder").to_owned();
        let cache_dir = env::var_os("HOME").map(|home| Path::new(&home).join(".cache/cairn"));
        let settings = Settings {
            toolchain: Toolchain::find(&search_path, cache_dir.as_deref())
                .expect("LLVM's tools are installed"),
            distribution: Distribution::at(dist().root()),
            places: Places { directory, cairn_dir: None, cache_dir },
            temporary_dir: env::temp_dir(),
            bypass: false,
        };
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
        let programs = self.build_alone(mutants, Alone::Optimised).into_iter();
        mutants
            .iter()
            .zip(programs)
            .map(|(mutant, program)| Reference { mutant: *mutant, is_text: false, programs: vec![program] })
            .collect()
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
        let ids: Vec<_> = mutants.iter().map(|mutant| self.table.mutants[mutant.index()].stable_id).collect();
        build_alone(&self.settings, &self.record, &self.request, &ids, alone)
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

fn decode<T: versioned::Versioned>(path: &Path) -> T {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("read `{}`: {error}", path.display()));
    versioned::decode(&bytes).unwrap_or_else(|error| panic!("decode `{}`: {error}", path.display()))
}
