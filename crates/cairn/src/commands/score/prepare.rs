//! What must hold before an input has a say.

use super::{memory::ExaminedSets, worker::Worker};
use crate::{commands::cover::verb, failure::Failure};
use cairn_executor::oracle::{Masks, Reference};
use cairn_model::{
    Coverage, Input, MutantId, Outcome, ProgramMap, Verdict,
    map::Branch,
    outcome::{Captured, Comparison, FileChange},
};
use cairn_mutants::analysis::MutantSet;
use std::{collections::BTreeSet, sync::Arc};

/// A mutant may take so many times the steps that the original takes on the same input.
pub const FUEL_MARGIN: u64 = 10;

/// The least fuel of a mutant: originals that do little may have mutants that do more and end all the same.
pub const LEAST_FUEL: u64 = 1_000_000;

/// How often the bare build is run again when the view seems to differ from it: perhaps it differs from itself.
const SECOND_LOOKS: usize = 5;

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

/// An input that mutants can be run on.
pub struct Ready {
    /// What the bare build does, if that is small enough to keep.
    pub original: Option<Arc<Outcome>>,
    /// What of it is not always the same.
    pub masks: Masks,
    /// The same, to be told.
    pub masked: Vec<String>,
    /// Steps the original takes.
    pub fuel_used: u64,
    /// Branches it takes.
    pub branches: BTreeSet<u32>,
    /// What it reaches.
    pub examined: ExaminedSets,
}

impl Ready {
    /// The steps a mutant may take.
    pub fn fuel(&self) -> u64 {
        self.fuel_used.saturating_mul(FUEL_MARGIN).max(LEAST_FUEL)
    }
}

impl Worker {
    /// Runs `input` on the bare build and on the mutant view with nothing active, and examines it.
    pub fn prepare(&mut self, input: &Input) -> Result<Prepared, Failure> {
        let mut stability = self.bare.run_twice(input)?;
        let original = stability.first.outcome.clone();
        self.unmask_equal_outputs(&mut stability.unstable, &original, &stability.second.outcome)?;
        if let Err(why) = self.oracle.check(&original, &Masks::of(&stability)) {
            return Ok(Prepared::LeftOut(why.to_string()));
        }
        self.session.set_fuel(0);
        let inactive = self.session.original(input)?;
        let oracle = self.oracle;
        let mut masks = Masks::of(&stability);
        let mut verdict = self.verdict(
            &Reference { oracle: &oracle, original: &original, masks: &masks },
            &inactive.execution.outcome,
        )?;
        if verdict.kill_reason().is_some() {
            for _ in 0..SECOND_LOOKS {
                let again = self.bare.run(input)?;
                if let Comparison::Different(parts) = original.compare(&again.outcome) {
                    stability.unstable.extend(parts);
                }
            }
            masks = Masks::of(&stability);
            if let Err(why) = oracle.check(&original, &masks) {
                return Ok(Prepared::LeftOut(why.to_string()));
            }
            let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
            let fresh = self.session.run_fresh(input, None)?;
            if self.verdict(&reference, &fresh.outcome)?.kill_reason().is_some() {
                return Ok(Prepared::Differs(difference(&original, &fresh.outcome)));
            }
            verdict = self.verdict(&reference, &inactive.execution.outcome)?;
            if verdict.kill_reason().is_some() {
                let how = difference(&original, &inactive.execution.outcome);
                return Ok(Prepared::LeftOut(format!("runs in one process after another differ: {how}")));
            }
        }
        if verdict == Verdict::Undecided {
            return Ok(Prepared::LeftOut("its output is longer than what is kept of it".into()));
        }
        let examined = self.session.examine(input)?;
        let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
        let outcome = &examined.run.execution.outcome;
        if self.verdict(&reference, outcome)?.kill_reason().is_some() {
            let how = difference(&original, outcome);
            return Ok(Prepared::Differs(format!("{how}, while mutants are only looked at")));
        }
        // Mutated bodies take steps in every loop, and only examined ones do so too.
        let fuel_used = inactive.execution.fuel_used.max(examined.run.execution.fuel_used);
        let table = self.session.table().clone();
        let reached: MutantSet = examined
            .reached
            .iter()
            .flat_map(|patch| table.patches[patch.index()].mutants.clone().map(MutantId))
            .collect();
        let examined = ExaminedSets { reached, infected: examined.infected.into_iter().collect() };
        let masked: Vec<String> =
            stability.unstable.iter().filter(|part| *part != "coverage").cloned().collect();
        Ok(Prepared::Ready(Box::new(Ready {
            original: (size(&original) <= KEPT_BYTES).then(|| Arc::new(original)),
            masks,
            masked,
            fuel_used,
            branches: branches(&self.map, &inactive.execution.counters),
            examined,
        })))
    }

    /// Where the user compares outputs, two that they call the same are not unstable.
    fn unmask_equal_outputs(
        &mut self,
        unstable: &mut Vec<String>,
        first: &Outcome,
        second: &Outcome,
    ) -> Result<(), Failure> {
        if !self.has_comparison() {
            return Ok(());
        }
        let parts = [
            ("stdout", &first.stdout, &second.stdout),
            ("harness output", &first.harness_output, &second.harness_output),
        ];
        for (name, one, other) in parts {
            if unstable.iter().any(|part| part == name)
                && self.compares_equal(&one.bytes.0, &other.bytes.0)?
            {
                unstable.retain(|part| part != name);
            }
        }
        Ok(())
    }
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
