//! Every feature of a learned heuristic can be read: from the map, from the trace, or from the history.

mod support;

use cairn_model::{
    ConditionId, DecisionId, FunctionId, StableId,
    facts::{ConstantKind, DecisionKind, Extent, Place},
    map::{Branch, ConditionFeatures, ConditionKind, Decision},
};
use cairn_search::{
    FEATURES, FeatureVector, Features, Heuristic, News, Outcome, PathId, Question, Run, Search, Settled, View,
};
use expect_test::expect;
use support::{Program, function};

/// How often the loop runs.
const N: usize = 45;

/// `while (a) { if (!b) other(); switch (…) { case c: … } }` in `main`, and `other` with the six conditions `d` to `i`.
fn program() -> Program {
    let around = "a+ b+ c- ";
    let mut text = format!("{}a-\n", around.repeat(N));
    (0..N).rev().for_each(|n| text.push_str(&format!("{}a-\n", around.repeat(n))));
    text.push_str("a+ b+ c+ a-\n");
    text.push_str("a+ b- d+ e+ f+ g+ h+ i+ c- a-\n");
    let mut program = Program::new(&text);
    let map = &mut program.map;
    let n_blocks = map.blocks.len() as u32;
    let (end, after_end) = (n_blocks - 1, n_blocks);
    map.functions = vec![function("main", 0..3), function("other", 3..end), function("end", end..after_end)];
    map.conditions[3..].iter_mut().for_each(|condition| condition.function = FunctionId(1));
    let place = Place { file: 0, line: 1, column: 1 };
    let decision = |index: usize| Decision {
        stable_id: StableId(index as u64),
        function: map.conditions[index].function,
        kind: Some(if index == 0 { DecisionKind::While } else { DecisionKind::If }),
        extent: Extent { start: place, end: place },
        conditions: vec![ConditionId(index as u32)],
        n_constant: 0,
    };
    map.decisions = (0..map.conditions.len()).map(decision).collect();
    let in_loop = Branch { condition: ConditionId(0), direction: true };
    map.conditions[0].features = ConditionFeatures {
        loop_depth: 1,
        stays_in_loop: Some(true),
        compares_with: Some(ConstantKind::Integer),
        reads_local: true,
        ..ConditionFeatures::default()
    };
    map.conditions[1].features = ConditionFeatures {
        loop_depth: 1,
        nesting_depth: 1,
        dominated_by: vec![in_loop],
        compares_with: Some(ConstantKind::String),
        reads_pointer: true,
        uses_external_call: true,
        ..ConditionFeatures::default()
    };
    map.conditions[2].kind = ConditionKind::Case;
    map.conditions[2].decision = DecisionId(2);
    program
}

/// Who had each feature first, and whether somebody had it not.
struct Seen {
    features: Features,
    first: Vec<Option<String>>,
    is_lacked: Vec<bool>,
}

impl Seen {
    fn look(&mut self, view: &View<'_>, path: PathId) {
        for (index, FeatureVector(had)) in self.features.of_path(view, path).into_iter().enumerate() {
            let branch = view.branch(Question { path, index }).unwrap();
            let name = char::from(b'a' + branch.condition.0 as u8);
            let sign = if branch.direction { '+' } else { '-' };
            for (number, has) in had.into_iter().enumerate() {
                self.is_lacked[number] |= !has;
                if has && self.first[number].is_none() {
                    let when = view.history.n_executions();
                    self.first[number] =
                        Some(format!("{name}{sign}, turn {index} of run {}, after {when}", path.0));
                }
            }
        }
    }
}

#[test]
fn all_features_are_read() {
    let program = program();
    let mut search = Search::new(&program.map, Heuristic::DepthFirst.selector(), usize::MAX, 1);
    let mut seen = Seen {
        features: Features::default(),
        first: vec![None; FEATURES.len()],
        is_lacked: vec![false; FEATURES.len()],
    };
    let start_counters = program.counters(program.path(0));
    let start = search.begin(&program.map, Run { turns: program.path(0), counters: &start_counters });
    seen.look(&search.view(&program.map), start);
    // All turns of the loop's condition lead out of it; the first eleven of the other two conditions have no answer.
    for index in 0..3 * N {
        let question = Question { path: start, index };
        let is_loop = index % 3 == 0;
        if !is_loop && !(3..=40).contains(&index) {
            continue;
        }
        let path = match is_loop {
            true => {
                let found = program.flipped(program.path(0), index).unwrap();
                let counters = program.counters(program.path(found));
                search.settle(
                    &program.map,
                    question,
                    Settled::Flipped(Run { turns: program.path(found), counters: &counters }),
                )
            }
            false => search.settle(&program.map, question, Settled::Unknown),
        };
        let outcome = if is_loop { Outcome::Flipped } else { Outcome::Unknown };
        seen.features.observe(&search.view(&program.map), &News::Settled { question, outcome, path });
        seen.look(&search.view(&program.map), path.unwrap_or(start));
    }
    // Then the first `c` and the first `b` are decided otherwise.
    for index in [2, 1] {
        let question = Question { path: start, index };
        let found = program.flipped(program.path(0), index).unwrap();
        let counters = program.counters(program.path(found));
        let path = search.settle(
            &program.map,
            question,
            Settled::Flipped(Run { turns: program.path(found), counters: &counters }),
        );
        seen.features.observe(
            &search.view(&program.map),
            &News::Settled { question, outcome: Outcome::Flipped, path },
        );
        seen.look(&search.view(&program.map), path.unwrap());
    }
    let mut table = String::new();
    for (index, feature) in FEATURES.iter().enumerate() {
        assert_eq!(feature.number, index + 1);
        assert!(seen.is_lacked[index], "everything has {feature:?}");
        let first = seen.first[index].as_deref().unwrap_or("nothing");
        table.push_str(&format!("{:>2} {:?}, {}: {first}\n", feature.number, feature.source, feature.text));
    }
    expect![[r#"
         1 Map, branch in the main function: a+, turn 0 of run 0, after 1
         2 Map, true branch of a loop: a+, turn 0 of run 0, after 1
         3 Map, false branch of a loop: a-, turn 135 of run 0, after 1
         4 Map, nested branch: b+, turn 1 of run 0, after 1
         5 Map, branch containing external function calls: b+, turn 1 of run 0, after 1
         6 Map, branch containing integer expressions: a+, turn 0 of run 0, after 1
         7 Map, branch containing constant strings: b+, turn 1 of run 0, after 1
         8 Map, branch containing pointer expressions: b+, turn 1 of run 0, after 1
         9 Map, branch containing local variables: a+, turn 0 of run 0, after 1
        10 Map, branch inside a loop body: b+, turn 1 of run 0, after 1
        11 Map, true branch of a case statement: c+, turn 2 of run 46, after 47
        12 Map, false branch of a case statement: c-, turn 2 of run 0, after 1
        13 Trace, first 10% branches of a path: a+, turn 0 of run 0, after 1
        14 Trace, last 10% branches of a path: c-, turn 122 of run 0, after 1
        15 Trace, branch appearing most frequently in a path: a+, turn 0 of run 0, after 1
        16 Trace, branch appearing least frequently in a path: a-, turn 135 of run 0, after 1
        17 History, branch newly covered in the previous execution: a+, turn 0 of run 0, after 1
        18 Trace, branch located right after the just-negated branch: a-, turn 3 of run 46, after 47
        19 History, branch whose context (k = 1) is already visited: a+, turn 0 of run 2, after 3
        20 History, branch whose context (k = 2) is already visited: a+, turn 0 of run 2, after 3
        21 History, branch whose context (k = 3) is already visited: a+, turn 0 of run 2, after 3
        22 History, branch whose context (k = 4) is already visited: a+, turn 0 of run 2, after 3
        23 History, branch whose context (k = 5) is already visited: a+, turn 0 of run 2, after 3
        24 History, branch negated more than 10 times: a+, turn 0 of run 11, after 12
        25 History, branch negated more than 20 times: a+, turn 0 of run 21, after 22
        26 History, branch negated more than 30 times: a+, turn 0 of run 31, after 32
        27 Trace, branch near the just-negated branch: a-, turn 0 of run 1, after 2
        28 History, branch failed to be negated more than 10 times: b+, turn 1 of run 0, after 13
        29 History, the opposite branch failed to be negated more than 10 times: c+, turn 2 of run 46, after 47
        30 History, the opposite branch is uncovered (depth 0): b+, turn 1 of run 0, after 1
        31 History, the opposite branch is uncovered (depth 1): b+, turn 1 of run 0, after 1
        32 History, branch negated in the last 10 executions: a+, turn 0 of run 2, after 3
        33 History, branch negated in the last 20 executions: a+, turn 0 of run 2, after 3
        34 History, branch negated in the last 30 executions: a+, turn 0 of run 2, after 3
        35 History, branch in the function that has the largest number of uncovered branches: d+, turn 2 of run 47, after 48
        36 History, the opposite branch belongs to unreached functions (top 10% of the largest): b+, turn 1 of run 0, after 1
        37 History, the opposite branch belongs to unreached functions (top 20% of the largest): b+, turn 1 of run 0, after 1
        38 History, the opposite branch belongs to unreached functions (top 30% of the largest): b+, turn 1 of run 0, after 1
        39 History, the opposite branch belongs to unreached functions (more than 10 branches): b+, turn 1 of run 0, after 1
        40 History, branch inside the most recently reached function: d+, turn 2 of run 47, after 48
    "#]].assert_eq(&table);
    assert!(!table.contains("nothing"), "a feature that nothing has is read from nowhere:\n{table}");
}
