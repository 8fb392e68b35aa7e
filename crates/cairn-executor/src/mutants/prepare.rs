//! What must hold before an input has a say about mutants.

use super::{MutantJudge, fuel_for, layout};
use crate::{
    compare::CompareFailure,
    error::ExecutorError,
    executor::Executor,
    oracle::{Judged, Masks, Reference, Unusable},
    stability::Stability,
};
use cairn_model::{Ending, Input, MutantId, MutantSet, Outcome, Verdict, outcome::Comparison};
use std::time::Duration;

/// How often the bare build is run again when the view seems to differ from it: perhaps it differs from itself.
const SECOND_LOOKS: usize = 5;

/// The view with no mutant active may take so many times what the bare build takes.
const VIEW_TIME_MARGIN: u32 = 20;

/// Examined bodies, which evaluate every mutant, may take so many times what the bare build takes: 67 were met. The bare
/// build comes to its end, so they will, and nothing else hangs on when.
const EXAMINED_TIME_MARGIN: u32 = 300;

/// A mutant may take so many times the time that the original takes on the same input, at least and at most. Mutated
/// code is slower: hardly so where a program mostly calls, twelve times in the hottest of loops with all operators.
pub const TIME_MARGINS: [u32; 2] = [10, 40];

/// How much slower can be seen from the examining run: in between, a mutant may take so many times what that took.
pub const EXAMINED_MARGIN: u32 = 5;

/// How much is done before an input has a say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparing {
    /// The bare build is run twice, and once more where memory is laid out otherwise.
    Thorough,
    /// The bare build is run once: the view, which is to do the same twice, tells whether it always does.
    Quick,
}

/// What became of preparing an input.
#[derive(Debug)]
pub enum Prepared {
    /// It has no say.
    LeftOut(LeftOut),
    /// The mutant view does something else than the bare build, so no input has a say.
    Differs(Box<Difference>),
    /// Mutants can be run on it.
    Ready(Box<Original>),
}

/// Why an input has no say.
#[derive(Debug)]
pub enum LeftOut {
    /// The original itself does not come to a proper end, but to this one, or not always to the same.
    Unusable {
        /// Why nothing can be concluded from it.
        why: Unusable,
        /// How it ended.
        ending: Ending,
    },
    /// It does something else in a process in which others ran before.
    Wavers(Box<Difference>),
    /// Looking at its mutants takes longer than this.
    TakesTooLong(Duration),
    /// Its output is longer than what is kept of it.
    OutputCut,
    /// The user's comparison failed on two runs of the original.
    CompareFailed(CompareFailure),
}

/// Two outcomes that ought to be the same.
#[derive(Debug)]
pub struct Difference {
    /// What the bare build does.
    pub bare: Outcome,
    /// What the view does with no mutant active.
    pub view: Outcome,
    /// Whether mutants were evaluated beside the original.
    pub is_examined: bool,
}

/// What the original does with an input, and which mutants it reaches.
#[derive(Clone, Debug)]
pub struct Original {
    /// What the bare build does.
    pub outcome: Outcome,
    /// What of it is not always the same.
    pub masks: Masks,
    /// The same, by name, coverage left out.
    pub masked: Vec<String>,
    /// Parts that differ from run to run and that the user's comparison calls the same.
    pub varying: Vec<String>,
    /// System calls that the sandbox refused it.
    pub refused: Vec<String>,
    /// Steps it takes.
    pub fuel_used: u64,
    /// The longest that it took.
    pub time: Duration,
    /// How long it took to examine it.
    pub examined_time: Duration,
    /// Whether it does the same where memory is laid out otherwise; not, if that was not tried.
    pub is_movable: bool,
    /// Counters of its run.
    pub counters: Vec<u8>,
    /// Mutants whose places it executes.
    pub reached: MutantSet,
    /// Those that differ from the original there.
    pub infected: MutantSet,
}

impl Original {
    /// The steps a mutant may take.
    pub fn fuel(&self) -> u64 {
        fuel_for(self.fuel_used)
    }

    /// The time a mutant may take, where the original has `limit`, which is the least.
    pub fn wall_limit(&self, limit: Duration) -> Duration {
        time_for(self.time, self.examined_time, limit)
    }
}

/// The time a mutant may take, where the original takes `time` and may take `limit`, which is the least.
pub fn time_for(time: Duration, examined_time: Duration, limit: Duration) -> Duration {
    let [least, most] = TIME_MARGINS.map(|margin| time.saturating_mul(margin));
    examined_time.saturating_mul(EXAMINED_MARGIN).clamp(least, most).max(limit)
}

/// Whether the view does what the bare build does.
enum Agrees {
    Yes,
    No,
    Unknown(LeftOut),
}

impl MutantJudge {
    /// Runs `input` on the bare build and on the mutant view with nothing active, and examines it.
    pub fn prepare(
        &mut self,
        bare: &mut Executor,
        input: &Input,
        preparing: Preparing,
    ) -> Result<Prepared, ExecutorError> {
        let mut stability = match preparing {
            Preparing::Thorough => bare.run_twice(input)?,
            Preparing::Quick => Stability::presumed(bare.run(input)?),
        };
        let original = stability.first.outcome.clone();
        let time = original.elapsed.max(stability.second.outcome.elapsed);
        let varying =
            self.unmask_equal_outputs(&mut stability.unstable, &original, &stability.second.outcome)?;
        let oracle = self.oracle;
        let unusable =
            |why| Ok(Prepared::LeftOut(LeftOut::Unusable { why, ending: original.ending.clone() }));
        if let Err(why) = oracle.check(&original, &Masks::of(&stability)) {
            return unusable(why);
        }
        let limit = bare.config().wall_limit;
        self.session.set_fuel(0);
        self.session.set_wall_limit(time.saturating_mul(VIEW_TIME_MARGIN).max(limit));
        let inactive = self.session.original(input)?;
        let view = &inactive.execution.outcome;
        let differs = |view: &Outcome, is_examined| {
            Box::new(Difference { bare: original.clone(), view: view.clone(), is_examined })
        };
        let mut masks = Masks::of(&stability);
        let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
        let mut agrees = self.agrees(&reference, view)?;
        if matches!(agrees, Agrees::No) {
            for _ in 0..SECOND_LOOKS {
                let again = bare.run(input)?;
                if let Comparison::Different(parts) = original.compare(&again.outcome) {
                    stability.unstable.extend(parts);
                }
            }
            masks = Masks::of(&stability);
            if let Err(why) = oracle.check(&original, &masks) {
                return unusable(why);
            }
            let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
            let fresh = self.session.run_fresh(input, None)?;
            if let Agrees::No = self.agrees(&reference, &fresh.outcome)? {
                return Ok(Prepared::Differs(differs(&fresh.outcome, false)));
            }
            agrees = self.agrees(&reference, view)?;
        }
        match agrees {
            Agrees::Yes => {}
            Agrees::No => return Ok(Prepared::LeftOut(LeftOut::Wavers(differs(view, false)))),
            Agrees::Unknown(why) => return Ok(Prepared::LeftOut(why)),
        }
        self.session.set_wall_limit(time.saturating_mul(EXAMINED_TIME_MARGIN).max(limit));
        let examined = self.session.examine(input)?;
        let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
        let outcome = &examined.run.execution.outcome;
        if outcome.ending == Ending::TimedOut {
            return Ok(Prepared::LeftOut(LeftOut::TakesTooLong(outcome.elapsed)));
        }
        match self.agrees(&reference, outcome)? {
            Agrees::Yes => {}
            Agrees::No => return Ok(Prepared::Differs(differs(outcome, true))),
            Agrees::Unknown(why) => return Ok(Prepared::LeftOut(why)),
        }
        let is_movable = preparing == Preparing::Thorough && {
            let moved = bare.run(&layout::elsewhere(input))?;
            matches!(self.agrees(&reference, &moved.outcome)?, Agrees::Yes)
        };
        let table = self.session.table();
        let patches = examined.reached.iter().map(|patch| &table.patches[patch.index()]);
        Ok(Prepared::Ready(Box::new(Original {
            // Mutated bodies take steps in every loop, and only examined ones do so too.
            fuel_used: inactive.execution.fuel_used.max(examined.run.execution.fuel_used),
            time: time.max(view.elapsed),
            examined_time: outcome.elapsed,
            reached: patches.flat_map(|patch| patch.mutants.clone().map(MutantId)).collect(),
            infected: examined.infected.into_iter().collect(),
            masked: stability.unstable.iter().filter(|part| *part != "coverage").cloned().collect(),
            counters: inactive.execution.counters,
            refused: stability.first.refused,
            outcome: original,
            is_movable,
            masks,
            varying,
        })))
    }

    /// Whether an outcome of the view, with no mutant active, is the original's.
    fn agrees(&mut self, reference: &Reference<'_>, outcome: &Outcome) -> Result<Agrees, ExecutorError> {
        Ok(match self.judge(reference, outcome)? {
            Judged::Verdict(Verdict::Killed(_)) => Agrees::No,
            Judged::Verdict(Verdict::Undecided) => Agrees::Unknown(LeftOut::OutputCut),
            Judged::Verdict(Verdict::Survived | Verdict::LayoutDependent) => Agrees::Yes,
            Judged::CompareFailed(failure) => Agrees::Unknown(LeftOut::CompareFailed(failure)),
        })
    }

    /// Where the user compares outputs, two that they call the same are not unstable. Returns these.
    fn unmask_equal_outputs(
        &mut self,
        unstable: &mut Vec<String>,
        first: &Outcome,
        second: &Outcome,
    ) -> Result<Vec<String>, ExecutorError> {
        let mut equal = Vec::new();
        if !self.has_comparison() {
            return Ok(equal);
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
                equal.push(name.to_owned());
            }
        }
        Ok(equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_of_slow_originals_have_more_time_and_no_mutant_has_less_than_the_original() {
        let limit = |time, examined_time| {
            let [time, examined_time] = [time, examined_time].map(Duration::from_millis);
            time_for(time, examined_time, Duration::from_secs(1)).as_millis()
        };
        assert_eq!(limit(3, 9), 1000);
        assert_eq!(limit(900, 1000), 9000);
        assert_eq!(limit(900, 4000), 20_000);
        assert_eq!(limit(900, 60_000), 36_000);
    }
}
