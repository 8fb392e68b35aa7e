//! Programs with their views, and a campaign of one strategy.
#![allow(dead_code, reason = "each test binary uses its own part")]

use cairn_cc::{
    Settings, Toolchain,
    settings::{Distribution, Places},
    views::{self, ViewRequest, Views},
};
use cairn_executor::{
    Executor, ExecutorError, FailureConfig, FailureExplainer, RunConfig, Session, SessionConfig,
    SymbolicConfig, SymbolicExecutor, Target, Wants,
};
use cairn_model::{Input, ProgramFailure, ProgramMap, Template, versioned};
use cairn_strategy::{
    Budget, CampaignView, Candidate, Corpus, Entry, EntryId, Finding, FindingKind, Kills, Provenance, Seen,
    Spent, Stop, Strategy, TargetViews,
};
use cairn_testkit::{Workspace, dist};
use std::{fs, path::Path, sync::Arc, time::Duration};

/// A program with its views.
pub struct Program {
    pub workspace: Workspace,
    pub map: ProgramMap,
    pub template: Template,
    views: Views,
    has_symbolic: bool,
}

impl Program {
    /// A fixture.
    pub fn fixture(name: &str) -> Self {
        Self::build(Workspace::of_fixture(name), true)
    }

    /// C text.
    pub fn text(text: &str, has_symbolic: bool) -> Self {
        let workspace = Workspace::new();
        workspace.write("target.c", text);
        Self::build(workspace, has_symbolic)
    }

    fn build(workspace: Workspace, has_symbolic: bool) -> Self {
        let is_harness = workspace.read("target.c").contains("LLVMFuzzerTestOneInput");
        let more: &[&str] = if is_harness { &["-fsanitize=fuzzer"] } else { &[] };
        workspace.run("cairn-cc", ["target.c", "-lm", "-o", "program"].iter().chain(more)).success();
        let places = Places { directory: workspace.root().into(), cairn_dir: None, cache_dir: None };
        let search_path: Vec<_> =
            std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        let settings = Settings {
            toolchain: Toolchain::find(&search_path, None).unwrap(),
            distribution: Distribution::at(dist().root()),
            places: places.clone(),
            temporary_dir: std::env::temp_dir(),
            bypass: false,
        };
        let record = views::find(&places, &workspace.path("program")).unwrap();
        let request = ViewRequest { with_symbolic: has_symbolic, ..ViewRequest::default() };
        let views = views::build_views(&settings, &record, &request).unwrap();
        let map = versioned::decode(&fs::read(&views.map).unwrap()).unwrap();
        let template = Template { base: Input::default(), is_harness, max_size: 1 << 16 };
        Self { workspace, map, template, views, has_symbolic }
    }

    /// The first input of a fixture.
    pub fn start(&self) -> Input {
        match fs::read(self.workspace.path("inputs/start")) {
            Ok(bytes) => self.template.fill(bytes),
            Err(_) => serde_json::from_str(&self.workspace.read("inputs/start.json")).unwrap(),
        }
    }

    fn target(&self, program: &Path, n_counters: u32) -> Target {
        Target { program: program.into(), n_counters }
    }

    fn run_config(&self) -> RunConfig {
        RunConfig {
            program_name: Some("program".into()),
            wall_limit: Duration::from_secs(5),
            ..RunConfig::default()
        }
    }
}

impl TargetViews for Program {
    fn map(&self) -> &ProgramMap {
        &self.map
    }

    fn plain(&self) -> Result<Session, ExecutorError> {
        let config = SessionConfig { run: self.run_config(), ..SessionConfig::default() };
        Session::new(self.target(&self.views.plain, self.map.n_counters), config)
    }

    fn bare(&self) -> Result<Executor, ExecutorError> {
        Executor::new(self.target(&self.views.bare, 0), self.run_config())
    }

    fn explainer(&self) -> Result<FailureExplainer, ExecutorError> {
        let config = FailureConfig { root: self.workspace.root().into(), has_sanitizers: false };
        FailureExplainer::new(self.target(&self.views.bare, 0), self.run_config(), config)
    }

    fn path(&self) -> Result<Option<Session>, ExecutorError> {
        Ok(None)
    }

    fn symbolic(&self, config: SymbolicConfig) -> Result<Option<SymbolicExecutor>, ExecutorError> {
        let view = self.views.symbolic.as_ref().filter(|_| self.has_symbolic);
        view.map(|view| {
            SymbolicExecutor::new(self.target(view, self.map.n_counters), self.run_config(), config)
        })
        .transpose()
    }
}

/// A campaign of one worker and one strategy.
pub struct Campaign<'a> {
    program: &'a Program,
    session: Session,
    pub corpus: Corpus,
    pub seen: Seen,
    random: fastrand::Rng,
    stop: Stop,
    backstop: Option<Duration>,
}

impl<'a> Campaign<'a> {
    /// Begins with inputs.
    pub fn new(program: &'a Program, seed: u64, inputs: &[Input]) -> Self {
        let mut campaign = Self {
            program,
            session: program.plain().unwrap(),
            corpus: Corpus::default(),
            seen: Seen::nothing(program.map.n_counters),
            random: fastrand::Rng::with_seed(seed),
            stop: Stop::default(),
            backstop: None,
        };
        for input in inputs {
            campaign.judge(
                &Candidate {
                    input: input.clone(),
                    parent: None,
                    reason: "seed".into(),
                    kills: Vec::new(),
                    failed: None,
                },
                "seed",
            );
        }
        campaign
    }

    /// Runs of a batch may take so long, and those that are waited for `whole`.
    pub fn give_up_after(&mut self, backstop: Duration, whole: Duration) {
        self.backstop = Some(backstop);
        self.session.set_wall_limit(whole);
    }

    /// One step, whose candidates are judged.
    pub fn step(&mut self, strategy: &mut dyn Strategy, budget: &Budget) -> (Vec<Candidate>, Spent) {
        let (candidates, spent) = self.propose(strategy, budget);
        for candidate in &candidates {
            let kind = self.judge(candidate, strategy.name());
            strategy.observe(&Finding {
                strategy: strategy.name().into(),
                input: candidate.input.clone(),
                kind,
            });
        }
        (candidates, spent)
    }

    /// What a strategy proposes in one step.
    fn propose(&mut self, strategy: &mut dyn Strategy, budget: &Budget) -> (Vec<Candidate>, Spent) {
        let Self { program, session, corpus, seen, random, stop, backstop } = self;
        let kills = Kills::default();
        let mut view = CampaignView::new(
            *program,
            corpus,
            seen,
            &kills,
            session,
            random,
            program.template.max_size,
            stop,
        );
        view.backstop = *backstop;
        let candidates = strategy.step(&mut view, budget).unwrap();
        (candidates, view.finish())
    }

    /// One step whose candidates are all turned down, as if runs of the judge had not reached what they reach.
    pub fn step_in_vain(&mut self, strategy: &mut dyn Strategy, budget: &Budget) -> Vec<Candidate> {
        let (candidates, _) = self.propose(strategy, budget);
        for Candidate { input, .. } in &candidates {
            let (input, kind) = (input.clone(), FindingKind::NothingNew);
            strategy.observe(&Finding { strategy: strategy.name().into(), input, kind });
        }
        candidates
    }

    /// Steps of so many inputs each until the budget of inputs is used up or `is_enough`; returns all candidates.
    pub fn steps(
        &mut self,
        strategy: &mut dyn Strategy,
        n_inputs: u64,
        mut is_enough: impl FnMut(&Candidate) -> bool,
    ) -> Vec<Candidate> {
        let mut all = Vec::new();
        let mut n_left = n_inputs;
        while n_left > 0 {
            let (candidates, spent) = self.step(strategy, &Budget::of_inputs(n_left.min(5000)));
            n_left = n_left.saturating_sub(spent.inputs.max(1));
            let ends = candidates.iter().any(&mut is_enough);
            all.extend(candidates);
            if ends {
                break;
            }
        }
        all
    }

    /// Adds an input as another worker would.
    pub fn judge(&mut self, candidate: &Candidate, strategy: &str) -> FindingKind {
        let mut runs =
            self.session.run_batch(std::slice::from_ref(&candidate.input), Wants::EVERYTHING).unwrap();
        let execution = runs.pop().unwrap().execution;
        if execution.outcome.ending.is_failure() {
            let ending = self.program.bare().unwrap().run(&candidate.input).unwrap().outcome.ending;
            let signature = format!("{ending:?}");
            return FindingKind::Failure(Arc::new(ProgramFailure {
                kind: signature.clone(),
                signature,
                ending,
                stack: Vec::new(),
                report: String::new(),
                input: candidate.input.clone(),
                provenance: provenance(candidate, strategy),
            }));
        }
        let hits = Seen::hits(&execution.counters);
        if self.seen.new_in(&hits).0 == 0 {
            return FindingKind::NothingNew;
        }
        self.seen.add(&hits);
        FindingKind::Kept(self.corpus.push(Entry {
            id: EntryId(self.corpus.len() as u32),
            input: candidate.input.clone(),
            provenance: provenance(candidate, strategy),
            hits,
            fuel: execution.fuel_used,
            path_hash: 0,
        }))
    }
}

/// What the bare build prints.
pub fn prints(program: &Program, input: &Input) -> String {
    let outcome = program.bare().unwrap().run(input).unwrap().outcome;
    String::from_utf8_lossy(&outcome.stdout.bytes.0).into_owned()
}

fn provenance(candidate: &Candidate, strategy: &str) -> Provenance {
    Provenance {
        parent: candidate.parent,
        strategy: strategy.into(),
        made_by: candidate.reason.clone(),
        kept_for: String::new(),
        found_after: Duration::ZERO,
    }
}
