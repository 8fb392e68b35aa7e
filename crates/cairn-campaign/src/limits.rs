//! What a run of a strategy may use.

use cairn_executor::{ExecutorError, Session, Wants};
use cairn_strategy::{Corpus, Stop};
use std::time::Duration;

/// A run may take so many times what the slowest input took.
const TIME_MARGIN: u32 = 20;

/// The least time a run has: on a busy machine any run may have to wait.
pub(crate) const LEAST_TIME: Duration = Duration::from_millis(200);

/// The same for runs that are made once more, with all their time, if they are out of it and new.
const BACKSTOP_MARGIN: u32 = 10;
const LEAST_BACKSTOP: Duration = Duration::from_millis(25);

/// A run that takes longer than all before is made so many times: it may only have had to wait.
const LOOKS_AT_SLOW: u32 = 3;

/// Inputs whose time is looked at.
const MOST_INPUTS: usize = 256;

/// What a run of a strategy may use.
///
/// Most hangs run out of fuel at once; small loops take none, and are told by the clock. Among many inputs that hang, waiting
/// the whole time for each would take all there is, so runs of strategies have less of it. Whether it is a hang is for the bare
/// build to say, which has the whole time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    fuel: u64,
    wall: Duration,
    /// What takes longer may hang, and is worth waiting for only if it is new.
    pub(crate) backstop: Duration,
}

impl Limits {
    /// From what inputs need that are known to end.
    pub(crate) fn learn(
        plain: &mut Session,
        corpus: &Corpus,
        fuel: u64,
        stop: &Stop,
    ) -> Result<Self, crate::CampaignError> {
        let mut slowest = Duration::ZERO;
        for entry in corpus.since(0).iter().rev().take(MOST_INPUTS) {
            if stop.is_asked() {
                break;
            }
            let mut took = time(plain, entry)?;
            for _ in 1..LOOKS_AT_SLOW {
                if took <= slowest {
                    break;
                }
                took = took.min(time(plain, entry)?);
            }
            slowest = slowest.max(took);
        }
        let most = plain.config().run.wall_limit;
        let wall = slowest.saturating_mul(TIME_MARGIN).max(LEAST_TIME).min(most);
        let backstop = slowest.saturating_mul(BACKSTOP_MARGIN).max(LEAST_BACKSTOP).min(wall);
        Ok(Self { fuel, wall, backstop })
    }

    /// Sets them.
    pub(crate) fn set(&self, plain: &mut Session) {
        plain.set_fuel(self.fuel);
        plain.set_wall_limit(self.wall);
    }
}

fn time(plain: &mut Session, entry: &cairn_model::Entry) -> Result<Duration, ExecutorError> {
    let runs = plain.run_batch(std::slice::from_ref(&entry.input), Wants::NOVELTY)?;
    Ok(runs.iter().map(|run| run.execution.outcome.elapsed).max().unwrap_or_default())
}
