//! What must hold before an input has a say, told to people.

use super::{
    memory::ExaminedSets,
    ready::{Ready, name_original},
    worker::Worker,
};
use crate::{commands::cover::verb, failure::Failure};
use cairn_executor::{
    mutants::{Difference, LeftOut, Original, Prepared as Outcomes, Preparing},
    oracle::Reference,
};
use cairn_model::{
    Coverage, Ending, Input, Outcome, ProgramMap,
    map::Branch,
    outcome::{Captured, Comparison, FileChange},
};
use cairn_store::ResultKey;
use std::{collections::BTreeSet, sync::Arc};

/// An outcome that takes more bytes is made again when it is needed.
const KEPT_BYTES: usize = 256 << 10;

/// What became of preparing an input.
pub enum Prepared {
    /// It has no say, for this reason.
    LeftOut(String),
    /// The mutant view does something else than the bare build: this.
    Differs(String),
    /// Mutants can be run on it.
    Ready(Box<Ready>),
}

impl Worker {
    /// Runs `input` on the bare build and on the mutant view with nothing active, and examines it.
    pub fn prepare(&mut self, input: &Input) -> Result<Prepared, Failure> {
        Ok(match self.judge.prepare(&mut self.bare, input, Preparing::Thorough)? {
            Outcomes::LeftOut(why) => Prepared::LeftOut(self.no_say(&why)),
            Outcomes::Differs(difference) => Prepared::Differs(shown(&difference)),
            Outcomes::Ready(original) => Prepared::Ready(Box::new(self.ready(input, *original))),
        })
    }

    fn ready(&self, input: &Input, original: Original) -> Ready {
        let Original { outcome, masks, masked, varying, refused, counters, .. } = original;
        let oracle = &self.judge.oracle;
        let examined = ExaminedSets { reached: original.reached, infected: original.infected };
        let reference = Reference { oracle, original: &outcome, masks: &masks };
        Ready {
            key: ResultKey {
                input: input.address(),
                original: name_original(&reference, &varying, &examined),
            },
            time: original.time,
            examined_time: original.examined_time,
            original: (size(&outcome) <= KEPT_BYTES).then(|| Arc::new(outcome)),
            masks,
            masked,
            refused,
            is_movable: original.is_movable,
            fuel_used: original.fuel_used,
            branches: branches(&self.map, &counters),
            examined,
        }
    }

    /// Why an input has no say, with what to try.
    fn no_say(&self, why: &LeftOut) -> String {
        match why {
            LeftOut::Unusable { why, ending: Ending::TimedOut } => {
                let limit = self.bare.config().wall_limit.as_millis();
                format!("{why} within {limit} ms; raise `run.wall_limit_ms` if it only needs longer")
            }
            LeftOut::Unusable { why, .. } => why.to_string(),
            LeftOut::Wavers(difference) => {
                format!("runs in one process after another differ: {}", shown(difference))
            }
            LeftOut::TakesTooLong(waited) => format!(
                "looking at its mutants takes more than {} s; a smaller `--set` or a shorter input helps",
                waited.as_secs()
            ),
            LeftOut::OutputCut => "its output is longer than what is kept of it".into(),
            LeftOut::CompareFailed(failure) => {
                format!("`oracle.compare` failed on two runs of the original: {failure}")
            }
        }
    }
}

/// What ought to be the same and is not.
fn shown(difference: &Difference) -> String {
    let how = self::difference(&difference.bare, &difference.view);
    if difference.is_examined { format!("{how}, while mutants are only looked at") } else { how }
}

/// Branches that a run with these counters takes, as numbers.
fn branches(map: &ProgramMap, counters: &[u8]) -> BTreeSet<u32> {
    let mut coverage = Coverage::empty(map);
    coverage.add(counters);
    map.conditions_with_ids()
        .flat_map(|(condition, _)| [true, false].map(|direction| Branch { condition, direction }))
        .filter(|branch| coverage.covers(map, *branch))
        .map(|branch| branch.condition.0 * 2 + u32::from(branch.direction))
        .collect()
}

fn size(outcome: &Outcome) -> usize {
    let kept = |captured: &Captured| captured.bytes.0.len();
    let files = outcome.files.values().map(|change| match change {
        FileChange::Written { content, .. } => kept(content),
        _ => 0,
    });
    kept(&outcome.stdout) + kept(&outcome.stderr) + kept(&outcome.harness_output) + files.sum::<usize>()
}

/// How two outcomes differ, in a line.
fn difference(bare: &Outcome, view: &Outcome) -> String {
    if bare.ending != view.ending {
        return format!("the bare build {}, the view {}", verb(&bare.ending), verb(&view.ending));
    }
    let shown = |captured: &Captured| {
        const LIMIT: usize = 120;
        let bytes = &captured.bytes.0;
        let more = if bytes.len() > LIMIT { "…" } else { "" };
        format!("\"{}\"{more}", bytes[..bytes.len().min(LIMIT)].escape_ascii())
    };
    for (name, one, other) in [
        ("stdout", &bare.stdout, &view.stdout),
        ("output", &bare.harness_output, &view.harness_output),
        ("stderr", &bare.stderr, &view.stderr),
    ] {
        if one != other {
            return format!("{name} is {} and {}", shown(one), shown(other));
        }
    }
    match bare.compare(view) {
        Comparison::Different(parts) | Comparison::Unknown(parts) => parts.join(", "),
        Comparison::Same => "in nothing that can be shown".into(),
    }
}
