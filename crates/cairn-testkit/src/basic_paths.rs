//! A program and the view that counts its basic paths.

use crate::views::{decode, settings};
use cairn_cc::views::{ViewRequest, Views, build_views, find};
use cairn_executor::{RunConfig, Session, SessionConfig, Target};
use cairn_model::{BasicPathId, BasicPaths, Coverage, Input, ProgramMap};
use std::{path::Path, time::Duration};

/// A program that was built with `cairn-cc`, its basic paths, and the plain and the basic-path view, both live.
#[derive(Debug)]
pub struct BasicPathBuild {
    /// Where the views are.
    pub views: Views,
    /// The program map.
    pub map: ProgramMap,
    /// Its paths.
    pub paths: BasicPaths,
    view: Session,
    plain: Session,
}

impl BasicPathBuild {
    /// Builds the views of `program` and starts them.
    pub fn of(program: &Path) -> Self {
        let settings = settings(program);
        let record = find(&settings.places, program).unwrap_or_else(|error| panic!("{error}"));
        let request = ViewRequest { with_basic_paths: true, ..ViewRequest::default() };
        let views = build_views(&settings, &record, &request)
            .unwrap_or_else(|error| panic!("views of `{}`: {error}", program.display()));
        let map: ProgramMap = decode(&views.map);
        let paths = BasicPaths::of(&map);
        let view = views.basic_paths.as_deref().expect("it was asked for");
        Self {
            view: session(view, paths.n_paths()),
            plain: session(&views.plain, map.n_counters),
            views,
            map,
            paths,
        }
    }

    /// The paths that a run takes, by number. Panics unless a live run and a fresh process agree.
    pub fn run(&mut self, input: &Input) -> Vec<BasicPathId> {
        let counters = counters(&mut self.view, input);
        (0..).map(BasicPathId).zip(counters).filter(|(_, count)| *count > 0).map(|(id, _)| id).collect()
    }

    /// What the plain view says of the same input.
    pub fn coverage(&mut self, input: &Input) -> Coverage {
        let mut coverage = Coverage::empty(&self.map);
        coverage.add(&counters(&mut self.plain, input));
        coverage
    }
}

fn session(view: &Path, n_counters: u32) -> Session {
    let run = RunConfig { wall_limit: Duration::from_secs(10), ..RunConfig::default() };
    let target = Target { program: view.to_path_buf(), n_counters };
    let config = SessionConfig { run, ..SessionConfig::default() };
    Session::new(target, config).unwrap_or_else(|error| panic!("session of `{}`: {error}", view.display()))
}

fn counters(session: &mut Session, input: &Input) -> Vec<u8> {
    let live = session.run(input).unwrap_or_else(|error| panic!("live run: {error}")).execution;
    let fresh = session.run_fresh(input).unwrap_or_else(|error| panic!("fresh run: {error}"));
    assert_eq!(live.outcome.ending, fresh.outcome.ending);
    // Thousands of counters would hide what differs.
    let differing: Vec<usize> =
        (0..fresh.counters.len()).filter(|index| live.counters[*index] != fresh.counters[*index]).collect();
    assert!(differing.is_empty(), "a live run and a fresh process differ in the counters {differing:?}");
    fresh.counters
}
