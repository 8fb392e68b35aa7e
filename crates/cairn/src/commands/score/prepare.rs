//! What must hold before an input has a say.

use super::{
    memory::ExaminedSets,
    ready::{Ready, name_original},
    worker::Worker,
};
use crate::{commands::cover::verb, failure::Failure};
use cairn_executor::oracle::{Judged, Masks, Reference, Unusable};
use cairn_model::{
    Coverage, Ending, Input, MutantId, Outcome, ProgramMap, Verdict,
    map::Branch,
    outcome::{Captured, Comparison, FileChange},
};
use cairn_mutants::analysis::MutantSet;
use cairn_store::ResultKey;
use std::{collections::BTreeSet, sync::Arc};

/// How often the bare build is run again when the view seems to differ from it: perhaps it differs from itself.
const SECOND_LOOKS: usize = 5;

/// The view with no mutant active may take so many times what the bare build takes.
const VIEW_TIME_MARGIN: u32 = 20;

/// Examined bodies, which evaluate every mutant, may take so many times what the bare build takes: 67 were met. The bare
/// build comes to its end, so they will, and nothing else hangs on when.
const EXAMINED_TIME_MARGIN: u32 = 300;

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

/// Whether the view does what the bare build does.
enum Agrees {
    Yes,
    No,
    /// Why that cannot be told.
    Unknown(String),
}

impl Worker {
    /// Runs `input` on the bare build and on the mutant view with nothing active, and examines it.
    pub fn prepare(&mut self, input: &Input) -> Result<Prepared, Failure> {
        let mut stability = self.bare.run_twice(input)?;
        let original = stability.first.outcome.clone();
        let time = original.elapsed.max(stability.second.outcome.elapsed);
        let varying =
            self.unmask_equal_outputs(&mut stability.unstable, &original, &stability.second.outcome)?;
        if let Err(why) = self.judge.oracle.check(&original, &Masks::of(&stability)) {
            return Ok(Prepared::LeftOut(self.no_say(&why, &original)));
        }
        let limit = self.bare.config().wall_limit;
        self.judge.session.set_fuel(0);
        self.judge.session.set_wall_limit(time.saturating_mul(VIEW_TIME_MARGIN).max(limit));
        let inactive = self.judge.session.original(input)?;
        let oracle = self.judge.oracle;
        let mut masks = Masks::of(&stability);
        let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
        let mut agrees = self.agrees(&reference, &inactive.execution.outcome)?;
        if matches!(agrees, Agrees::No) {
            for _ in 0..SECOND_LOOKS {
                let again = self.bare.run(input)?;
                if let Comparison::Different(parts) = original.compare(&again.outcome) {
                    stability.unstable.extend(parts);
                }
            }
            masks = Masks::of(&stability);
            if let Err(why) = oracle.check(&original, &masks) {
                return Ok(Prepared::LeftOut(self.no_say(&why, &original)));
            }
            let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
            let fresh = self.judge.session.run_fresh(input, None)?;
            if let Agrees::No = self.agrees(&reference, &fresh.outcome)? {
                return Ok(Prepared::Differs(difference(&original, &fresh.outcome)));
            }
            agrees = self.agrees(&reference, &inactive.execution.outcome)?;
        }
        match agrees {
            Agrees::Yes => {}
            Agrees::No => {
                let how = difference(&original, &inactive.execution.outcome);
                return Ok(Prepared::LeftOut(format!("runs in one process after another differ: {how}")));
            }
            Agrees::Unknown(why) => return Ok(Prepared::LeftOut(why)),
        }
        self.judge.session.set_wall_limit(time.saturating_mul(EXAMINED_TIME_MARGIN).max(limit));
        let run = self.judge.session.examine(input)?;
        let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
        let outcome = &run.run.execution.outcome;
        if outcome.ending == Ending::TimedOut {
            let waited = outcome.elapsed.as_secs();
            return Ok(Prepared::LeftOut(format!(
                "looking at its mutants takes more than {waited} s; a smaller `--set` or a shorter input helps"
            )));
        }
        match self.agrees(&reference, outcome)? {
            Agrees::Yes => {}
            Agrees::No => {
                let how = difference(&original, outcome);
                return Ok(Prepared::Differs(format!("{how}, while mutants are only looked at")));
            }
            Agrees::Unknown(why) => return Ok(Prepared::LeftOut(why)),
        }
        // Mutated bodies take steps in every loop, and only examined ones do so too.
        let fuel_used = inactive.execution.fuel_used.max(run.run.execution.fuel_used);
        let table = self.judge.session.table().clone();
        let reached: MutantSet = run
            .reached
            .iter()
            .flat_map(|patch| table.patches[patch.index()].mutants.clone().map(MutantId))
            .collect();
        let examined = ExaminedSets { reached, infected: run.infected.into_iter().collect() };
        let masked: Vec<String> =
            stability.unstable.iter().filter(|part| *part != "coverage").cloned().collect();
        Ok(Prepared::Ready(Box::new(Ready {
            key: ResultKey {
                input: input.address(),
                original: name_original(&reference, &varying, &examined),
            },
            time: time.max(inactive.execution.outcome.elapsed),
            examined_time: run.run.execution.outcome.elapsed,
            original: (size(&original) <= KEPT_BYTES).then(|| Arc::new(original)),
            masks,
            masked,
            fuel_used,
            branches: branches(&self.map, &inactive.execution.counters),
            examined,
        })))
    }

    /// Whether an outcome of the view, with no mutant active, is the original's.
    fn agrees(&mut self, reference: &Reference<'_>, outcome: &Outcome) -> Result<Agrees, Failure> {
        Ok(match self.judge.judge(reference, outcome)? {
            Judged::Verdict(Verdict::Killed(_)) => Agrees::No,
            Judged::Verdict(Verdict::Undecided) => {
                Agrees::Unknown("its output is longer than what is kept of it".into())
            }
            Judged::Verdict(Verdict::Survived | Verdict::LayoutDependent) => Agrees::Yes,
            Judged::CompareFailed(failure) => {
                Agrees::Unknown(format!("`oracle.compare` failed on two runs of the original: {failure}"))
            }
        })
    }

    /// Why an input has no say, with what to try.
    fn no_say(&self, why: &Unusable, original: &Outcome) -> String {
        match original.ending {
            Ending::TimedOut => {
                let limit = self.bare.config().wall_limit.as_millis();
                format!("{why} within {limit} ms; raise `run.wall_limit_ms` if it only needs longer")
            }
            _ => why.to_string(),
        }
    }

    /// Where the user compares outputs, two that they call the same are not unstable. Returns these.
    fn unmask_equal_outputs(
        &mut self,
        unstable: &mut Vec<String>,
        first: &Outcome,
        second: &Outcome,
    ) -> Result<Vec<String>, Failure> {
        let mut equal = Vec::new();
        if !self.judge.has_comparison() {
            return Ok(equal);
        }
        let parts = [
            ("stdout", &first.stdout, &second.stdout),
            ("harness output", &first.harness_output, &second.harness_output),
        ];
        for (name, one, other) in parts {
            if unstable.iter().any(|part| part == name)
                && self.judge.compares_equal(&one.bytes.0, &other.bytes.0)?
            {
                unstable.retain(|part| part != name);
                equal.push(name.to_owned());
            }
        }
        Ok(equal)
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
