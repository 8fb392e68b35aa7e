//! The target as strategies can run it.

use cairn_executor::{
    Executor, ExecutorError, FailureExplainer, Session, SymbolicConfig, SymbolicExecutor,
    mutants::MutantJudge,
};
use cairn_model::{MutantSet, MutantTable, ProgramMap};
use std::sync::Arc;

/// The views of one target. Each call makes a runner of its own; what it needs is already built.
pub trait TargetViews: Send + Sync {
    /// What is known about the program.
    fn map(&self) -> &ProgramMap;
    /// Runs the plain view, live.
    fn plain(&self) -> Result<Session, ExecutorError>;
    /// Runs the bare build, the judge of outcomes.
    fn bare(&self) -> Result<Executor, ExecutorError>;
    /// Says why and where the bare build fails.
    fn explainer(&self) -> Result<FailureExplainer, ExecutorError>;
    /// Runs the view that tells paths apart; `None` if there is none.
    fn path(&self) -> Result<Option<Session>, ExecutorError>;
    /// Runs the view that tells which basic paths were taken; `None` if there is none.
    fn basic_paths(&self) -> Result<Option<Session>, ExecutorError> {
        Ok(None)
    }
    /// Runs the symbolic view; `None` if there is none.
    fn symbolic(&self, config: SymbolicConfig) -> Result<Option<SymbolicExecutor>, ExecutorError>;
    /// Whether there is a symbolic view, which is quicker to say than to run it.
    fn has_symbolic(&self) -> bool {
        self.symbolic(SymbolicConfig::default()).is_ok_and(|view| view.is_some())
    }
    /// The mutants that count; `None` if there is no mutant view.
    fn mutants(&self) -> Option<&CountedMutants> {
        None
    }
    /// Runs the mutant view and says what mutants are; `None` if there is none.
    fn mutant_judge(&self) -> Result<Option<MutantJudge>, ExecutorError> {
        Ok(None)
    }
}

/// The mutants that count in a campaign.
#[derive(Clone, Debug)]
pub struct CountedMutants {
    /// All that the view holds.
    pub table: Arc<MutantTable>,
    /// Those that count.
    pub selected: MutantSet,
}
