//! The written queries: each stage that is said to answer one does, alone; and so does the usual composition.

mod common;

use cairn_expr::{Dag, ExprNode, Op, RegionId};
use cairn_solver::{
    Answer, Budget, Checked, Config, InputToState, Query, Reason, Response, Search, Smt, Solver, Stage,
    Strength, standard,
};
use common::Written;
use std::{collections::BTreeMap, time::Duration};

/// Enough for all of them on a slow machine, in a build without optimisation.
const BUDGET: Budget = Budget { evaluations: 400_000, rlimit: 20_000_000, timeout: Duration::from_secs(60) };

fn check_stage(stage: Stage, solver: &mut dyn Solver, raw: bool) {
    let mut wrong = Vec::new();
    for written in Written::all() {
        if !written.stages.contains(&stage) {
            continue;
        }
        let written = if raw { written } else { written.simplified() };
        let response = solver.solve(&written.query(), BUDGET);
        if !is_expected(&written, &response) {
            wrong.push(format!("{}: {:?}", written.name, response.answer));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Models are evaluated here once more, whatever the solver has checked.
fn is_expected(written: &Written, response: &Response) -> bool {
    match &response.answer {
        Answer::Sat(model) => written.is_sat && written.query().holds(model),
        Answer::Unsat => !written.is_sat,
        Answer::Unknown(_) => false,
    }
}

#[test]
fn there_are_queries_of_all_kinds() {
    let all = Written::all();
    assert!(all.len() >= 30);
    assert!(all.iter().filter(|written| !written.is_sat).count() >= 5);
    for stage in [Stage::InputToState, Stage::Search, Stage::Smt] {
        assert!(all.iter().filter(|written| written.stages.contains(&stage)).count() >= 15, "{stage}");
    }
}

#[test]
fn input_to_state_answers_its_queries() {
    check_stage(Stage::InputToState, &mut Checked::new(InputToState), false);
}

#[test]
fn input_to_state_does_not_need_simplified_queries() {
    check_stage(Stage::InputToState, &mut Checked::new(InputToState), true);
}

#[test]
fn search_answers_its_queries() {
    check_stage(Stage::Search, &mut Checked::new(Search::new(0)), false);
}

#[test]
fn search_does_not_depend_on_luck() {
    for seed in 1..6 {
        check_stage(Stage::Search, &mut Checked::new(Search::new(seed)), false);
    }
}

#[test]
fn search_does_not_need_simplified_queries() {
    check_stage(Stage::Search, &mut Checked::new(Search::new(0)), true);
}

#[test]
fn z3_answers_its_queries() {
    let smt = Smt::open().expect("these tests need libz3-4");
    check_stage(Stage::Smt, &mut Checked::new(smt), false);
}

#[test]
fn z3_does_not_need_simplified_queries() {
    let smt = Smt::open().expect("these tests need libz3-4");
    check_stage(Stage::Smt, &mut Checked::new(smt), true);
}

#[test]
fn the_usual_composition_answers_all() {
    let mut solver = standard(Config::default());
    for written in Written::all() {
        let written = written.simplified();
        let response = solver.solve(&written.query(), BUDGET);
        assert!(is_expected(&written, &response), "{}: {response:?}", written.name);
        assert_eq!(response.strength, Strength::Full, "{}", written.name);
    }
    let statistics = solver.statistics();
    assert!(statistics.stages.values().all(|record| record.n_wrong_models == 0), "{statistics:?}");
}

#[test]
fn every_thread_has_a_z3_of_its_own() {
    let ask = || {
        let mut smt = Checked::new(Smt::open().expect("these tests need libz3-4"));
        let names = ["keyword", "substitution_twice", "division", "byte_out_of_range", "even_product"];
        for _ in 0..20 {
            for written in Written::all().iter().filter(|written| names.contains(&written.name.as_str())) {
                let response = smt.solve(&written.query(), BUDGET);
                assert!(is_expected(written, &response), "{}: {response:?}", written.name);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = [scope.spawn(ask), scope.spawn(ask)];
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn z3_stops_when_its_work_is_used_up_and_goes_on_with_the_next_query() {
    let mut smt = Smt::open().expect("these tests need libz3-4");
    let all = Written::all();
    let find = |name: &str| all.iter().find(|written| written.name == name).unwrap();
    let little = Budget { rlimit: 1_000, ..BUDGET };
    let hard = smt.solve(&find("wide_product").query(), little);
    assert_eq!(hard.answer, Answer::Unknown(Reason::OutOfWork));
    let easy = smt.solve(&find("keyword").query(), little);
    assert!(matches!(easy.answer, Answer::Sat(_)), "{easy:?}");
    assert!(hard.work.rlimit >= 1_000 && easy.work.rlimit < 1_000, "{hard:?} {easy:?}");
}

#[test]
fn a_chain_of_a_hundred_thousand_operations_is_no_reason_to_stop() {
    let mut dag = Dag::new();
    let mut value = dag.raw(ExprNode::input(RegionId(0), 0, 32));
    for n in 0..50_000 {
        let step = dag.constant(32, n % 7 + 1);
        value = dag.raw(ExprNode::operation(Op::Add, 32, &[value, step]));
        let mask = dag.constant(32, 0x5a5a ^ n);
        value = dag.raw(ExprNode::operation(Op::Xor, 32, &[value, mask]));
    }
    let wanted = dag.constant(32, 0x1234_5678);
    let goal = dag.raw(ExprNode::operation(Op::Eq, 1, &[value, wanted]));
    let seed = BTreeMap::from([(RegionId(0), vec![0; 4])]);
    let query = Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed };
    let budget = Budget { evaluations: 200, ..BUDGET };
    let mut search = Checked::new(Search::new(0));
    assert!(matches!(search.solve(&query, budget).answer, Answer::Unknown(_) | Answer::Sat(_)));
    let mut smt = Smt::open().expect("these tests need libz3-4");
    assert_eq!(smt.solve(&query, budget).answer, Answer::Unknown(Reason::TooLarge));
    let mut usual = standard(Config::default());
    let response = usual.solve(&query, budget);
    assert!(response.model().is_none_or(|model| query.holds(model)));
}

#[test]
fn the_same_seed_gives_the_same_models_whatever_was_asked_before() {
    let solve = |reversed: bool| {
        let mut solver = Checked::new(Search::new(7));
        let mut all = Written::all();
        if reversed {
            all.reverse();
        }
        let mut answers: Vec<(String, Answer)> = all
            .into_iter()
            .filter(|written| written.stages.contains(&Stage::Search))
            .map(|written| (written.name.clone(), solver.solve(&written.query(), BUDGET).answer))
            .collect();
        answers.sort_by(|a, b| a.0.cmp(&b.0));
        answers
    };
    assert_eq!(solve(false), solve(true));
}
