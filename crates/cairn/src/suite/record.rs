//! What is worth recording of a program's runs.

use super::{
    compare::Comparer,
    expected::{Expected, Recorded},
};
use crate::{commands::cover::verb, failure::Failure};
use cairn_model::{
    Ending, Outcome,
    outcome::{Captured, Comparison},
};

/// What to expect of a program that did this in several runs, or why nothing can be expected.
///
/// The first run is recorded. Parts in which another run differs are not compared, unless the user's own comparison calls
/// them the same.
pub fn expected(comparer: &mut Comparer, runs: &[Outcome]) -> Result<Result<Expected, String>, Failure> {
    let first = &runs[0];
    match &first.ending {
        Ending::Forbidden { .. } | Ending::DeliveryMismatch | Ending::GuidepostBroken => {
            return Ok(Err(format!("the program {}", verb(&first.ending))));
        }
        _ => {}
    }
    let mut unstable: Vec<String> = Vec::new();
    for other in &runs[1..] {
        let Comparison::Different(parts) = first.compare(other) else { continue };
        unstable.extend(parts);
        if !comparer.same_ending(&first.ending, &other.ending) {
            return Ok(Err(format!(
                "the program does not always end in the same way: it {}, or {}",
                verb(&first.ending),
                verb(&other.ending)
            )));
        }
    }
    if first.files_cut {
        unstable.push("files".into());
    }
    unstable.sort();
    unstable.dedup();
    let oracle = comparer.oracle;
    let counts = |part: &str| match part {
        "stdout" => oracle.stdout,
        "stderr" => oracle.stderr,
        "harness output" => oracle.harness_output,
        "harness return" => oracle.harness_return,
        "ending" => false,
        _ => oracle.files,
    };
    unstable.retain(|part| counts(part));
    for (part, output) in [("stdout", stdout as Stream), ("harness output", harness_output)] {
        if unstable.iter().any(|unstable| unstable == part) {
            let recorded = Recorded::from(output(first));
            let mut is_same = true;
            for other in &runs[1..] {
                is_same = is_same && comparer.means_the_same(&recorded, output(other))?;
            }
            if is_same {
                unstable.retain(|unstable| unstable != part);
            }
        }
    }
    Ok(Ok(Expected::of(first, &oracle, unstable)))
}

type Stream = fn(&Outcome) -> &Captured;

fn stdout(outcome: &Outcome) -> &Captured {
    &outcome.stdout
}

fn harness_output(outcome: &Outcome) -> &Captured {
    &outcome.harness_output
}
