//! Small kill matrices, told as text.

use super::{Fate, InputNumber, KillMatrix, MutantSet, Score, survivors};
use cairn_model::{
    FunctionId, KillReason, MutantId, MutantTable, PatchId, SiteId, StableId, Verdict,
    mutants::{Change, DropReason, DroppedMutant, Formula, Mutant, Patch, ValueType},
};
use expect_test::{Expect, expect};

/// A table whose functions have the given numbers of mutants, one patch each.
fn table(n_mutants: &[u32]) -> MutantTable {
    let mut table = MutantTable::default();
    for (function, n) in n_mutants.iter().enumerate() {
        let start = table.mutants.len() as u32;
        table.functions.push(FunctionId(function as u32));
        table.patches.push(Patch {
            site: SiteId(function as u32),
            spot: 0,
            function: function as u32,
            value_type: ValueType::Bool,
            is_observable: true,
            mutants: start..start + n,
            first_selector: 1 + start + function as u32,
        });
        for index in 0..*n {
            table.mutants.push(Mutant {
                stable_id: StableId(u64::from(start + index)),
                patch: PatchId(function as u32),
                operator: "arith-op-replace".into(),
                code: "OAAN".into(),
                replacement: "a - b".into(),
                is_plain_text: true,
                change: Change::Value(Formula::default()),
            });
        }
    }
    table
}

/// One line an input: a letter for each mutant. `.` not reached, `r` reached, `?` infected and not run, `s` survived,
/// `k` killed by output, `t` by fuel, `l` layout-dependent, `u` undecided. `-` stands for an input not examined.
fn matrix(lines: &[&str]) -> KillMatrix {
    let mut matrix = KillMatrix::new(lines.len());
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| **line != "-") {
        let input = InputNumber(index as u32);
        let those = |wanted: &dyn Fn(char) -> bool| -> MutantSet {
            let numbered = line.chars().enumerate();
            numbered.filter(|(_, letter)| wanted(*letter)).map(|(index, _)| MutantId(index as u32)).collect()
        };
        matrix.set_examined(input, those(&|letter| letter != '.'), those(&|letter| !".r".contains(letter)));
        for (mutant, letter) in line.chars().enumerate() {
            let verdict = match letter {
                's' => Verdict::Survived,
                'k' => Verdict::Killed(KillReason::Output),
                't' => Verdict::Killed(KillReason::Fuel),
                'l' => Verdict::LayoutDependent,
                'u' => Verdict::Undecided,
                _ => continue,
            };
            matrix.set_verdict(input, MutantId(mutant as u32), verdict);
        }
    }
    matrix
}

fn all(table: &MutantTable) -> MutantSet {
    table.mutants_with_ids().map(|(id, _)| id).collect()
}

fn check_fates(lines: &[&str], expected: Expect) {
    let n_mutants = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    let fates: Vec<String> = matrix(lines)
        .fates(n_mutants)
        .into_iter()
        .map(|fate| match fate {
            Fate::Killed { reason, by } => format!("killed by input {} ({reason})", by.0),
            fate => fate.name().to_owned(),
        })
        .collect();
    expected.assert_eq(&fates.join("\n"));
}

#[test]
fn a_mutant_is_what_its_best_input_made_of_it() {
    check_fates(
        &["..rsskl", ".rsktkk", ".......", "..r..t."],
        expect![[r#"
            not-reached
            reached
            infected
            killed by input 1 (output)
            killed by input 1 (fuel)
            killed by input 0 (output)
            killed by input 1 (output)"#]],
    );
}

#[test]
fn nothing_is_concluded_while_inputs_are_left() {
    check_fates(
        &["-", "rs?.kul"],
        expect![[r#"
            pending
            pending
            pending
            pending
            killed by input 1 (output)
            pending
            pending"#]],
    );
    check_fates(
        &["rs?.kul"],
        expect![[r#"
            reached
            infected
            pending
            not-reached
            killed by input 0 (output)
            undecided
            layout-dependent"#]],
    );
}

#[test]
fn a_score_counts_every_selected_mutant_once() {
    let mut table = table(&[4, 5]);
    table.dropped.push(DroppedMutant {
        stable_id: StableId(99),
        site: SiteId(0),
        operator: "arith-op-replace".into(),
        replacement: "a".into(),
        reason: DropReason::Equivalent,
    });
    let matrix = matrix(&["ktrs.lu?k"]);
    let mut selected = all(&table);
    selected.remove(MutantId(8));
    let score = Score::new(&table, &selected, &matrix);
    expect![[r#"
        Score {
            n_generated: 10,
            dropped: Dropped {
                n_equivalent: 1,
                n_duplicate: 0,
                n_invalid: 0,
            },
            n_selected: 8,
            n_not_reached: 1,
            n_reached: 7,
            n_infected: 6,
            killed: {
                "fuel": 1,
                "output": 1,
            },
            n_never_infected: 1,
            n_unnoticed: 1,
            n_layout_dependent: 1,
            n_undecided: 1,
            n_pending: 1,
        }
    "#]]
    .assert_debug_eq(&score);
    assert_eq!(score.percent_of_reached(), Some(50.0));
    assert_eq!(score.percent_of_all(), Some(40.0));
    let nothing = Score::new(&table, &MutantSet::default(), &matrix);
    assert_eq!((nothing.percent_of_all(), nothing.percent_of_reached()), (None, None));
}

#[test]
fn survivors_come_in_the_order_in_which_they_are_worth_a_look() {
    let table = table(&[3, 3, 2]);
    // In the second function one mutant is killed, in the others none.
    let matrix = matrix(&["srrksr..", ".ssrrr.s"]);
    let ranked = survivors::ranked(&table, &all(&table), &matrix);
    let lines: Vec<String> = ranked
        .iter()
        .map(|survivor| {
            format!(
                "{} {} on {}, {} of {} killed nearby",
                survivor.mutant.0,
                survivor.fate.name(),
                survivor.n_inputs,
                survivor.n_killed_nearby,
                survivor.n_nearby
            )
        })
        .collect();
    expect![[r#"
        4 infected on 1, 1 of 3 killed nearby
        0 infected on 1, 0 of 3 killed nearby
        1 infected on 1, 0 of 3 killed nearby
        2 infected on 1, 0 of 3 killed nearby
        7 infected on 1, 0 of 2 killed nearby
        5 reached on 2, 1 of 3 killed nearby
        6 not-reached on 0, 0 of 2 killed nearby"#]]
    .assert_eq(&lines.join("\n"));
}
