//! Results as text, CSV and a plot.

mod plot;

pub use self::plot::plot;

use crate::comparison::Results;
use crate::statistics::median;

/// Tables for people: what each arm reached, and what differences are worth.
pub fn table(results: &Results) -> String {
    let mut text = String::from(
        "| target | arm | branches (median) | least–most | of | inputs | CPU | n |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (target, arm, cells) in results.iter() {
        let of = |value: &dyn Fn(&crate::CellResult) -> f64| cells.iter().map(value).collect::<Vec<f64>>();
        let reached = of(&|cell| cell.reached() as f64);
        let (least, most) =
            (reached.iter().copied().fold(f64::MAX, f64::min), reached.iter().copied().fold(0.0, f64::max));
        text.push_str(&format!(
            "| {target} | {arm} | {} | {least}–{most} | {} | {} | {:.0} s | {} |\n",
            median(&reached),
            cells.iter().map(|cell| cell.n_branches).max().unwrap_or(0),
            median(&of(&|cell| cell.n_inputs as f64)),
            median(&of(&|cell| cell.cpu_seconds)),
            cells.len(),
        ));
    }
    text.push_str("\n| target | arms | medians | Â12 | p | verdict |\n|---|---|---|---|---|---|\n");
    for comparison in results.comparisons() {
        let [ours, theirs] = &comparison.arms;
        let [our_median, their_median] = comparison.medians;
        text.push_str(&format!(
            "| {} | {ours} against {theirs} | {our_median} : {their_median} | {:.2} | {:.3} | {} |\n",
            comparison.target,
            comparison.a12,
            comparison.p,
            comparison.verdict(),
        ));
    }
    if !results.failed().is_empty() {
        text.push_str("\nRuns that left nothing, and are counted nowhere above:\n\n");
        results.failed().iter().for_each(|failed| text.push_str(&format!("- {failed}\n")));
    }
    text
}

/// One line for each run of an arm that was measured.
pub fn csv(results: &Results) -> String {
    let mut text = String::from(
        "target,arm,repetition,branches_reached,branches,lines_reached,lines,inputs,unmeasured,cpu_seconds,wall_seconds\n",
    );
    for (target, arm, repetition, cell) in results.runs() {
        text.push_str(&format!(
            "{target},{arm},{repetition},{},{},{},{},{},{},{:.3},{:.3}\n",
            cell.reached(),
            cell.n_branches,
            cell.lines_reached,
            cell.n_lines,
            cell.n_inputs,
            cell.n_unmeasured,
            cell.cpu_seconds,
            cell.wall_seconds,
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{CellResult, Checkpoint, FailedRun};
    use expect_test::expect;

    pub(super) fn sample() -> Results {
        let mut results = Results::default();
        for (arm, values) in [("ours", [30, 32, 31]), ("theirs", [20, 21, 25])] {
            for (repetition, reached) in (1..).zip(values) {
                results.add(
                    "one",
                    arm,
                    repetition,
                    CellResult {
                        wall_seconds: 10.0,
                        cpu_seconds: 9.5,
                        n_inputs: 7,
                        n_unmeasured: 0,
                        n_branches: 40,
                        lines_reached: 50,
                        n_lines: 60,
                        checkpoints: vec![
                            Checkpoint { seconds: 1.0, reached: 10 },
                            Checkpoint { seconds: 9.0, reached },
                        ],
                    },
                );
            }
        }
        results
    }

    #[test]
    fn tables_say_who_is_ahead_and_by_how_much() {
        expect![[r#"
            | target | arm | branches (median) | least–most | of | inputs | CPU | n |
            |---|---|---|---|---|---|---|---|
            | one | ours | 31 | 30–32 | 40 | 7 | 10 s | 3 |
            | one | theirs | 21 | 20–25 | 40 | 7 | 10 s | 3 |

            | target | arms | medians | Â12 | p | verdict |
            |---|---|---|---|---|---|
            | one | ours against theirs | 31 : 21 | 1.00 | 0.100 | ahead, perhaps by chance |
        "#]]
        .assert_eq(&table(&sample()));
    }

    #[test]
    fn runs_that_left_nothing_are_told_and_change_no_figure() {
        let mut results = sample();
        let (before, csv_before) = (table(&results), csv(&results));
        for (arm, target) in [("theirs", "one"), ("ours", "two")] {
            let ended = "exit status: 1".into();
            let log = format!("{target}/{arm}/4/log").into();
            results.fail(FailedRun { arm: arm.into(), target: target.into(), repetition: 4, ended, log });
        }
        let told = table(&results).strip_prefix(&before).expect("nothing else changes").to_string();
        expect![[r#"

            Runs that left nothing, and are counted nowhere above:

            - one, theirs, repetition 4: it left no input (exit status: 1); what it printed is in `one/theirs/4/log`
            - two, ours, repetition 4: it left no input (exit status: 1); what it printed is in `two/ours/4/log`
        "#]]
        .assert_eq(&told);
        assert_eq!(csv(&results), csv_before);
    }

    #[test]
    fn no_other_arm_takes_the_place_of_a_first_one_that_left_nothing() {
        let mut results = Results::default();
        let (arm, target) = ("first".into(), "one".into());
        results.fail(FailedRun { arm, target, repetition: 1, ended: String::new(), log: "log".into() });
        for (target, arm, repetition, cell) in sample().runs() {
            results.add(target, arm, repetition, cell.clone());
        }
        assert_eq!(results.comparisons(), []);
    }

    #[test]
    fn every_run_is_a_line() {
        let text = csv(&sample());
        assert_eq!(text.lines().count(), 7);
        assert!(text.contains("one,theirs,3,25,40,50,60,7,0,9.500,10.000\n"), "{text}");
    }
}
