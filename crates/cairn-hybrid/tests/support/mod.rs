//! Programs to search through.
#![allow(dead_code, reason = "each test binary uses its own part")]

use cairn_concolic::search::{Memory, SearchConfig, Searched, search};
use cairn_executor::{Executor, RunConfig, SymbolicExecutor, Target};
use cairn_hybrid::SymbolicTracer;
use cairn_model::{Input, map::Branch};
use cairn_search::Heuristic;
use cairn_testkit::{SymbolicBuild, Workspace};
use std::time::Duration;

/// A program with its symbolic view.
pub struct Program {
    build: SymbolicBuild,
    _workspace: Workspace,
}

impl Program {
    /// A fixture.
    pub fn fixture(name: &str) -> Self {
        Self::build(Workspace::of_fixture(name))
    }

    /// C text.
    pub fn text(text: &str) -> Self {
        let workspace = Workspace::new();
        workspace.write("target.c", text.trim_start());
        Self::build(workspace)
    }

    fn build(workspace: Workspace) -> Self {
        workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
        Self { build: SymbolicBuild::of(&workspace.path("program"), None), _workspace: workspace }
    }

    pub fn map(&self) -> &cairn_model::ProgramMap {
        &self.build.map
    }

    /// Searches with a heuristic.
    pub fn search(
        &self,
        input: &Input,
        heuristic: Heuristic,
        config: &SearchConfig,
        memory: &Memory,
    ) -> Searched {
        search(self.map(), &mut self.tracer(heuristic), input, heuristic.selector(), config, memory).unwrap()
    }

    /// Runs it as a heuristic needs.
    pub fn tracer(&self, heuristic: Heuristic) -> SymbolicTracer {
        let symbolic = SymbolicTracer::config(heuristic, false);
        let executor = SymbolicExecutor::new(self.build.symbolic_view(), run_config(), symbolic).unwrap();
        SymbolicTracer::new(executor, 1 << 16)
    }

    /// What the bare build prints.
    pub fn prints(&self, input: &Input) -> String {
        let target = Target { program: self.build.views.bare.clone(), n_counters: 0 };
        let outcome = Executor::new(target, run_config()).unwrap().run(input).unwrap().outcome;
        String::from_utf8_lossy(&outcome.stdout.bytes.0).into_owned()
    }

    /// The condition with this text, in a direction.
    pub fn branch(&self, text: &str, direction: bool) -> Branch {
        let id = self.map().conditions.iter().position(|condition| condition.text == text);
        let id = id.expect("such a condition");
        Branch { condition: cairn_model::ConditionId(id as u32), direction }
    }
}

fn run_config() -> RunConfig {
    RunConfig {
        program_name: Some("program".into()),
        wall_limit: Duration::from_secs(5),
        ..RunConfig::default()
    }
}
