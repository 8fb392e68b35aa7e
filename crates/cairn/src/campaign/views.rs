//! The views of a target, as strategies ask for them.

use crate::{commands::score::Setup, target::Subject};
use cairn_executor::{
    Executor, ExecutorError, FailureConfig, FailureExplainer, RunConfig, Session, SessionConfig,
    SymbolicConfig, SymbolicExecutor, Target,
    mutants::{MutantJudge, MutantSession},
};
use cairn_model::{BasicPaths, ProgramMap};
use cairn_strategy::{CountedMutants, TargetViews};
use std::path::{Path, PathBuf};

/// The views of a subject.
pub struct CampaignViews<'a> {
    subject: &'a Subject,
    /// The symbolic view, if it could be built.
    symbolic: Option<PathBuf>,
    /// The mutant view, if there is one.
    mutants: Option<CampaignMutants>,
}

/// The mutants of a campaign.
pub struct CampaignMutants {
    /// Those that count.
    pub counted: CountedMutants,
    /// The view that holds them.
    pub view: PathBuf,
    /// How outcomes are judged.
    pub setup: Setup,
}

impl<'a> CampaignViews<'a> {
    /// Of a subject; the symbolic view lies at `symbolic`, if there is one.
    pub fn new(subject: &'a Subject, symbolic: Option<PathBuf>, mutants: Option<CampaignMutants>) -> Self {
        Self { subject, symbolic, mutants }
    }

    fn target(&self, view: &Path) -> Target {
        Target { program: view.to_path_buf(), n_counters: self.subject.map.n_counters }
    }

    fn run_config(&self) -> RunConfig {
        self.subject.run_config.clone()
    }

    fn session(&self, view: &Path) -> Result<Session, ExecutorError> {
        let config = SessionConfig { run: self.run_config(), ..SessionConfig::default() };
        Session::new(self.target(view), config)
    }
}

impl TargetViews for CampaignViews<'_> {
    fn map(&self) -> &ProgramMap {
        &self.subject.map
    }

    fn plain(&self) -> Result<Session, ExecutorError> {
        self.session(&self.subject.views.plain)
    }

    fn bare(&self) -> Result<Executor, ExecutorError> {
        let target = Target { n_counters: 0, ..self.target(&self.subject.views.bare) };
        Executor::new(target, self.run_config())
    }

    fn explainer(&self) -> Result<FailureExplainer, ExecutorError> {
        let target = Target { n_counters: 0, ..self.target(&self.subject.views.bare) };
        let config = FailureConfig { root: self.subject.record.root.clone(), has_sanitizers: false };
        FailureExplainer::new(target, self.run_config(), config)
    }

    fn path(&self) -> Result<Option<Session>, ExecutorError> {
        self.subject.views.path.as_deref().map(|view| self.session(view)).transpose()
    }

    fn basic_paths(&self) -> Result<Option<Session>, ExecutorError> {
        let Some(view) = &self.subject.views.basic_paths else { return Ok(None) };
        let n_counters = BasicPaths::of(&self.subject.map).n_paths();
        let config = SessionConfig { run: self.run_config(), ..SessionConfig::default() };
        Session::new(Target { program: view.clone(), n_counters }, config).map(Some)
    }

    fn symbolic(&self, config: SymbolicConfig) -> Result<Option<SymbolicExecutor>, ExecutorError> {
        let run = |view: &PathBuf| SymbolicExecutor::new(self.target(view), self.run_config(), config);
        self.symbolic.as_ref().map(run).transpose()
    }

    fn has_symbolic(&self) -> bool {
        self.symbolic.is_some()
    }

    fn mutants(&self) -> Option<&CountedMutants> {
        self.mutants.as_ref().map(|mutants| &mutants.counted)
    }

    fn mutant_judge(&self) -> Result<Option<MutantJudge>, ExecutorError> {
        let Some(CampaignMutants { counted, view, setup }) = &self.mutants else { return Ok(None) };
        let config = SessionConfig { run: self.run_config(), ..SessionConfig::default() };
        let session = MutantSession::new(self.target(view), counted.table.clone(), config)?;
        Ok(Some(MutantJudge::new(session, setup.oracle, setup.comparing()?)))
    }
}
