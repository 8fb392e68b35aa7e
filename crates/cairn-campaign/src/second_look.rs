//! What sanitizers say about inputs that were kept before they were asked.

use crate::{error::CampaignError, judge::Judge, ledger::Ledger};
use cairn_executor::Session;
use cairn_model::Spent;
use cairn_strategy::Stop;

/// The name under which this work appears.
const SANITIZERS: &str = "sanitizers";

/// Looks at all inputs that are kept, and at those on which the program crashes. Whether that came to its end.
pub(crate) fn look_at_all(
    ledger: &Ledger<'_>,
    judge: &mut Judge<'_>,
    plain: &mut Session,
    stop: &Stop,
) -> Result<bool, CampaignError> {
    ledger.set_worker(0, SANITIZERS);
    let mut spent = Spent::default();
    for entry in ledger.corpus.since(0) {
        if stop.is_asked() {
            break;
        }
        judge.look_again(plain, &entry.input, &entry.provenance, &mut spent)?;
    }
    for failure in ledger.failures() {
        if stop.is_asked() {
            break;
        }
        judge.look_into(plain, &failure.ending, &failure, &mut spent)?;
    }
    ledger.spend(0, SANITIZERS, spent);
    Ok(!stop.is_asked())
}
