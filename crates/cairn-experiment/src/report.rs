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
    text
}

/// One line for each run of an arm.
pub fn csv(results: &Results) -> String {
    let mut text = String::from(
        "target,arm,repetition,branches_reached,branches,inputs,unmeasured,cpu_seconds,wall_seconds\n",
    );
    for (target, arm, cells) in results.iter() {
        for (index, cell) in cells.iter().enumerate() {
            text.push_str(&format!(
                "{target},{arm},{},{},{},{},{},{:.3},{:.3}\n",
                index + 1,
                cell.reached(),
                cell.n_branches,
                cell.n_inputs,
                cell.n_unmeasured,
                cell.cpu_seconds,
                cell.wall_seconds,
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{CellResult, Checkpoint};
    use expect_test::expect;

    pub(super) fn sample() -> Results {
        let mut results = Results::default();
        for (arm, values) in [("ours", [30, 32, 31]), ("theirs", [20, 21, 25])] {
            for reached in values {
                results.add(
                    "one",
                    arm,
                    CellResult {
                        wall_seconds: 10.0,
                        cpu_seconds: 9.5,
                        n_inputs: 7,
                        n_unmeasured: 0,
                        n_branches: 40,
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
    fn every_run_is_a_line() {
        let text = csv(&sample());
        assert_eq!(text.lines().count(), 7);
        assert!(text.contains("one,theirs,3,25,40,7,0,9.500,10.000\n"), "{text}");
    }
}
