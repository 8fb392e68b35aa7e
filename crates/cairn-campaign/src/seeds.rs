//! Where a campaign starts from.

use crate::{error::CampaignError, event::EventKind, judge::Judge, ledger::Ledger};
use cairn_executor::Session;
use cairn_model::{Input, Spent};
use cairn_strategy::{Candidate, FindingKind, Stop};
use std::collections::BTreeSet;

/// The name under which seeds appear.
pub(crate) const SEED: &str = "seed";

/// Judges all seeds; at least one must be fit to start from.
pub(crate) fn judge_all(
    ledger: &Ledger<'_>,
    judge: &mut Judge<'_>,
    plain: &mut Session,
    seeds: &[Input],
    stop: &Stop,
) -> Result<(), CampaignError> {
    let mut spent = Spent::default();
    let (mut n_run, mut n_failing, mut n_unfit) = (0, 0, 0);
    let known: BTreeSet<String> = ledger.corpus.since(0).iter().map(|entry| entry.input.address()).collect();
    for seed in seeds {
        if stop.is_asked() {
            break;
        }
        n_run += 1;
        // A campaign that goes on has run it.
        if known.contains(&seed.address()) {
            continue;
        }
        spent.inputs += 1;
        let candidate = Candidate {
            input: seed.clone(),
            parent: None,
            reason: "given".into(),
            // Nobody has looked at its mutants, and it may be worth keeping for them alone.
            kills: ledger.open_mutants(),
            failed: None,
        };
        match judge.judge(plain, SEED, candidate, &mut spent)?.kind {
            FindingKind::Failure(_) | FindingKind::KnownFailure { .. } => n_failing += 1,
            FindingKind::Unconfirmed { .. } => n_unfit += 1,
            FindingKind::Kept(_) | FindingKind::Kills(_) | FindingKind::NothingNew => {}
        }
    }
    ledger.spend(0, SEED, spent);
    if n_run < seeds.len() {
        let text = format!("ended before {} of {} seeds were run", seeds.len() - n_run, seeds.len());
        ledger.announce(EventKind::Warned { text })?;
    }
    if n_failing > 0 {
        let text = format!("the program fails on {n_failing} of {} seeds; they are kept apart", seeds.len());
        ledger.announce(EventKind::Warned { text })?;
    }
    if n_unfit > 0 {
        let text = format!(
            "{n_unfit} of {} seeds fail in the plain view, and in no run of the bare build",
            seeds.len()
        );
        ledger.announce(EventKind::Warned { text })?;
    }
    if ledger.corpus.is_empty() && !stop.is_asked() {
        return Err(CampaignError::NoSeeds {
            reason: match n_failing {
                0 => "no seed reaches anything that is counted".into(),
                _ => format!(
                    "the program fails on every seed that reaches anything ({n_failing} of {}); they are kept in `crashes` \
                     and `hangs`",
                    seeds.len()
                ),
            },
            hint: "give an input that the program works on, and check its arguments with `cairn replay`",
        });
    }
    Ok(())
}
