//! Which seeds the program works on, found out without waiting long for those on which it does not.

use crate::{error::CampaignError, limits::LEAST_TIME};
use cairn_executor::{Session, SessionRun, Wants};
use cairn_model::{Ending, Input, Spent};
use cairn_strategy::{Seen, Stop, likeness};
use std::{collections::BTreeSet, time::Duration};

/// How long a run may take until it is looked at whether it is where another did not end.
const PROBE: Duration = Duration::from_millis(25);

/// Seeds by what they are seen to do.
#[derive(Debug, Default)]
pub(crate) struct Triage<'a> {
    /// The program ends on them, be it with an error.
    pub(crate) fit: Vec<&'a Input>,
    /// It dies of a signal.
    pub(crate) crashing: Vec<&'a Input>,
    /// It did not end in the time it had, or filled memory or disk.
    pub(crate) endless: Vec<Endless<'a>>,
    /// Nobody had the time to run them.
    pub(crate) unseen: Vec<&'a Input>,
    /// Steps of the hungriest that ended.
    pub(crate) most_fuel: u64,
    /// How long each of them had.
    pub(crate) wall_limit: Duration,
}

/// A seed that did not end in the time it had.
#[derive(Clone, Debug)]
pub(crate) struct Endless<'a> {
    pub(crate) input: &'a Input,
    pub(crate) ending: Ending,
    /// The same for those that hit the same until then.
    pub(crate) likeness: u64,
}

/// Runs every seed once, with little time for each: a folder of inputs that hang would otherwise take all there is before the first
/// good one is seen. Where nothing ends so soon the program is slow, and all of them have the whole time.
pub(crate) fn sort<'a>(
    plain: &mut Session,
    seeds: &[&'a Input],
    stop: &Stop,
    spent: &mut Spent,
) -> Result<Triage<'a>, CampaignError> {
    let whole = plain.config().run.wall_limit;
    plain.set_fuel(0);
    let quick = sort_within(plain, seeds, LEAST_TIME.min(whole), stop, spent)?;
    if !quick.fit.is_empty() || quick.endless.is_empty() || quick.wall_limit == whole {
        return Ok(quick);
    }
    let slow: Vec<&Input> = quick.endless.iter().map(|seed| seed.input).collect();
    let slow = sort_within(plain, &slow, whole, stop, spent)?;
    let most_fuel = slow.most_fuel.max(quick.most_fuel);
    let crashing = [quick.crashing, slow.crashing].concat();
    let unseen = [quick.unseen, slow.unseen].concat();
    Ok(Triage { crashing, unseen, most_fuel, ..slow })
}

fn sort_within<'a>(
    plain: &mut Session,
    seeds: &[&'a Input],
    wall_limit: Duration,
    stop: &Stop,
    spent: &mut Spent,
) -> Result<Triage<'a>, CampaignError> {
    let mut triage = Triage { wall_limit, ..Triage::default() };
    let mut known = BTreeSet::new();
    for (index, input) in seeds.iter().copied().enumerate() {
        if stop.is_asked() {
            triage.unseen.extend(&seeds[index..]);
            break;
        }
        let run = run(plain, input, wall_limit, &known, spent)?;
        match run.execution.outcome.ending {
            Ending::Signalled { .. } => triage.crashing.push(input),
            ending if ending.is_failure() => {
                let likeness = likeness(&Seen::hits(&run.execution.counters));
                known.insert(likeness);
                triage.endless.push(Endless { input, ending, likeness });
                continue;
            }
            _ => triage.fit.push(input),
        }
        triage.most_fuel = triage.most_fuel.max(run.execution.fuel_used);
    }
    Ok(triage)
}

/// Runs an input, but not for long if it gets to where another did not end.
fn run(
    plain: &mut Session,
    input: &Input,
    wall_limit: Duration,
    known: &BTreeSet<u64>,
    spent: &mut Spent,
) -> Result<SessionRun, CampaignError> {
    if !known.is_empty() {
        let run = run_within(plain, input, PROBE.min(wall_limit), spent)?;
        let likeness = likeness(&Seen::hits(&run.execution.counters));
        if run.execution.outcome.ending != Ending::TimedOut || known.contains(&likeness) {
            return Ok(run);
        }
    }
    run_within(plain, input, wall_limit, spent)
}

fn run_within(
    plain: &mut Session,
    input: &Input,
    wall_limit: Duration,
    spent: &mut Spent,
) -> Result<SessionRun, CampaignError> {
    let whole = plain.config().run.wall_limit;
    plain.set_wall_limit(wall_limit);
    spent.target_runs += 1;
    let runs = plain.run_batch(std::slice::from_ref(input), Wants::COUNTERS);
    plain.set_wall_limit(whole);
    Ok(runs?.pop().expect("one run for one input"))
}
