//! What each decorator adds, seen from the solver inside it.

mod common;

use cairn_expr::{Dag, ExprId, Op, RegionId};
use cairn_solver::{
    Answer, Answers, Budget, Budgeted, Cached, Checked, Config, Counted, InputToState, Model, Optimistic,
    Portfolio, Query, Reason, Response, Search, Shared, Sliced, Solver, Stage, Statistics, Strength, Work,
    standard,
};
use common::Written;
use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

const STDIN: RegionId = RegionId(0);

type Seed = BTreeMap<RegionId, Vec<u8>>;

/// Answers from a script, and writes down what it was asked.
struct Scripted<F> {
    answer: F,
    log: Rc<RefCell<Vec<String>>>,
}

impl<F: FnMut(&Query<'_>) -> Answer> Solver for Scripted<F> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let constraints: Vec<String> =
            query.constraints.iter().map(|constraint| cairn_expr::print(query.dag, *constraint)).collect();
        let goal = cairn_expr::print(query.dag, query.goal);
        self.log.borrow_mut().push(format!("{} ⊢ {goal} in {}", constraints.join(", "), budget.evaluations));
        Response::new(Stage::Smt, (self.answer)(query), Work { evaluations: 10, rlimit: 1 })
    }

    fn collect(&self, _: &mut Statistics) {}
}

fn scripted<F: FnMut(&Query<'_>) -> Answer>(answer: F) -> (Scripted<F>, Rc<RefCell<Vec<String>>>) {
    let log = Rc::default();
    (Scripted { answer, log: Rc::clone(&log) }, log)
}

fn unknown(_: &Query<'_>) -> Answer {
    Answer::Unknown(Reason::NotFound)
}

fn byte_is(dag: &mut Dag, offset: u32, value: u128) -> ExprId {
    let byte = dag.input(STDIN, offset, 8);
    let value = dag.constant(8, value);
    dag.compare(Op::Eq, byte, value)
}

fn differ(dag: &mut Dag, a: u32, b: u32) -> ExprId {
    let (a, b) = (dag.input(STDIN, a, 8), dag.input(STDIN, b, 8));
    dag.compare(Op::Ne, a, b)
}

fn model(bytes: &[(u32, u8)]) -> Model {
    bytes.iter().map(|(offset, value)| (STDIN, *offset, *value)).collect()
}

fn seed(bytes: &[u8]) -> Seed {
    Seed::from([(STDIN, bytes.to_vec())])
}

#[test]
fn a_wrong_model_is_caught_counted_and_the_next_stage_asked() {
    let mut dag = Dag::new();
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[0]);
    let query = Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed };
    let (liar, log) = scripted(|_| Answer::Sat(model(&[(0, 8)])));
    let mut alone = Checked::new(Counted::new(Stage::Smt, liar));
    assert_eq!(alone.solve(&query, Budget::default()).answer, Answer::Unknown(Reason::WrongModel));
    let mut portfolio = Portfolio::new(vec![
        Box::new(alone),
        Box::new(Checked::new(Counted::new(Stage::Search, Search::new(0)))),
    ]);
    let response = portfolio.solve(&query, Budget::default());
    assert_eq!(response.answer, Answer::Sat(model(&[(0, 7)])));
    assert_eq!(response.stage, Stage::Search);
    assert_eq!(log.borrow().len(), 2);
    let mut statistics = Statistics::default();
    portfolio.collect(&mut statistics);
    assert_eq!(statistics.stage(Stage::Smt).n_wrong_models, 2);
    assert_eq!(statistics.stage(Stage::Search).n_wrong_models, 0);
}

#[test]
fn a_right_model_is_reduced_to_what_changes() {
    let mut dag = Dag::new();
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[0, 9]);
    let query = Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed };
    let (wordy, _) = scripted(|_| Answer::Sat(model(&[(0, 7), (1, 9)])));
    let response = Checked::new(wordy).solve(&query, Budget::default());
    assert_eq!(response.answer, Answer::Sat(model(&[(0, 7)])));
}

#[test]
fn constraints_on_other_bytes_are_left_out() {
    let mut dag = Dag::new();
    let constraints = [differ(&mut dag, 0, 1), differ(&mut dag, 5, 6), differ(&mut dag, 1, 2)];
    let goal = byte_is(&mut dag, 0, 3);
    let seed = seed(&[1, 2, 3, 0, 0, 1, 2]);
    let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
    let (inner, log) = scripted(unknown);
    let mut sliced = Sliced::new(inner);
    sliced.solve(&query, Budget { evaluations: 5, ..Budget::default() });
    expect_test::expect![[r#"
        (ne (input stdin 0 8) (input stdin 1 8)), (ne (input stdin 1 8) (input stdin 2 8)) ⊢ (eq (input stdin 0 8) (const 8 3)) in 5"#]]
    .assert_eq(&log.borrow().join("\n"));
    let mut statistics = Statistics::default();
    sliced.collect(&mut statistics);
    assert_eq!((statistics.n_constraints, statistics.n_sliced_constraints), (3, 2));
}

#[test]
fn what_needs_no_solver_is_answered_at_once() {
    let mut dag = Dag::new();
    let holds = byte_is(&mut dag, 0, 3);
    let byte = dag.input(STDIN, 4, 8);
    let opaque = dag.opaque(8, 5, &[byte]);
    let six = dag.constant(8, 6);
    let never = dag.compare(Op::Eq, opaque, six);
    let seed = seed(&[3]);
    let (inner, log) = scripted(unknown);
    let mut sliced = Sliced::new(inner);
    let mut ask = |constraints: &[ExprId], goal| {
        sliced
            .solve(&Query { dag: &dag, constraints, n_always: 0, goal, seed: &seed }, Budget::default())
            .answer
    };
    assert_eq!(ask(&[], holds), Answer::Sat(Model::default()));
    assert_eq!(ask(&[], never), Answer::Unsat);
    assert_eq!(ask(&[never], holds), Answer::Unsat);
    assert!(log.borrow().is_empty());
}

#[test]
fn a_seed_that_is_not_on_the_path_does_not_lead_to_wrong_models() {
    let mut dag = Dag::new();
    let constraints = [byte_is(&mut dag, 1, 4)];
    let goal = byte_is(&mut dag, 0, 3);
    let seed = seed(&[0, 0]);
    let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
    let mut sliced = Sliced::new(Checked::new(InputToState));
    let response = sliced.solve(&query, Budget::default());
    assert_eq!(response.answer, Answer::Sat(model(&[(0, 3), (1, 4)])));
}

#[test]
fn a_query_is_known_again_in_another_graph_on_another_seed() {
    let (inner, log) = scripted(|_| Answer::Sat(model(&[(0, 7)])));
    let mut cached = Cached::new(inner);
    for (n, bytes) in [[1, 2], [9, 2], [7, 2]].into_iter().enumerate() {
        let mut dag = Dag::new();
        for extra in 0..n {
            dag.constant(16, extra as u128);
        }
        let constraints = [differ(&mut dag, 0, 1)];
        let goal = byte_is(&mut dag, 0, 7);
        let seed = seed(&bytes);
        let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
        let response = cached.solve(&query, Budget::default());
        assert_eq!(response.stage, if n == 0 { Stage::Smt } else { Stage::Cache });
        let model = response.model().unwrap();
        assert!(query.holds(model));
        // The byte the constraint reads comes from the first seed where the new one differs.
        assert!(model.get(STDIN, 1).is_none_or(|value| value == 2));
    }
    assert_eq!(log.borrow().len(), 1);
}

#[test]
fn a_remembered_model_that_does_not_hold_is_not_returned() {
    let mut dag = Dag::new();
    let goal = differ(&mut dag, 0, 1);
    let constraints = [byte_is(&mut dag, 0, 7)];
    let seed = seed(&[7, 7]);
    let (inner, log) = scripted(|query| match query.constraints.is_empty() {
        true => Answer::Sat(model(&[(0, 8)])),
        false => Answer::Sat(model(&[(1, 8)])),
    });
    let mut cached = Cached::new(inner);
    cached.solve(&Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed }, Budget::default());
    let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
    let response = cached.solve(&query, Budget::default());
    assert_eq!((response.stage, response.answer), (Stage::Smt, Answer::Sat(model(&[(1, 8)]))));
    assert_eq!(log.borrow().len(), 2);
}

#[test]
fn models_of_the_same_goal_are_tried_first() {
    let mut dag = Dag::new();
    let goal = byte_is(&mut dag, 0, 7);
    let constraints = [differ(&mut dag, 0, 1)];
    let seed = seed(&[0, 1]);
    let (inner, log) = scripted(|_| Answer::Sat(model(&[(0, 7)])));
    let mut cached = Cached::new(inner);
    cached.solve(&Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed }, Budget::default());
    let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
    assert_eq!(cached.solve(&query, Budget::default()).stage, Stage::Cache);
    assert_eq!(log.borrow().len(), 1);
}

#[test]
fn what_contains_a_refuted_query_is_refuted() {
    let mut dag = Dag::new();
    let goal = byte_is(&mut dag, 0, 7);
    let few = [byte_is(&mut dag, 0, 8)];
    let many = [differ(&mut dag, 0, 1), few[0], differ(&mut dag, 1, 2)];
    let other = byte_is(&mut dag, 1, 7);
    let seed = seed(&[8, 0, 1]);
    let (inner, log) = scripted(|query| match query.constraints.len() {
        1 => Answer::Unsat,
        _ => Answer::Unknown(Reason::NotFound),
    });
    let mut cached = Cached::new(inner);
    let mut ask = |constraints: &[ExprId], goal| {
        cached
            .solve(&Query { dag: &dag, constraints, n_always: 0, goal, seed: &seed }, Budget::default())
            .answer
    };
    assert_eq!(ask(&few, goal), Answer::Unsat);
    assert_eq!(ask(&many, goal), Answer::Unsat);
    assert_eq!(log.borrow().len(), 1);
    assert_eq!(ask(&many, other), Answer::Unknown(Reason::NotFound));
    // The goal of the refuted query is a constraint here.
    assert_eq!(ask(&[few[0], goal], other), Answer::Unsat);
    assert_eq!(log.borrow().len(), 2);
}

#[test]
fn unknown_is_asked_again_only_with_a_larger_budget() {
    let mut dag = Dag::new();
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[0]);
    let query = Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed };
    let (inner, log) = scripted(unknown);
    let mut cached = Cached::new(inner);
    let small = Budget { evaluations: 10, ..Budget::default() };
    let large = Budget { evaluations: 20, ..Budget::default() };
    for (budget, n_asked) in [(small, 1), (small, 1), (large, 2), (small, 2), (large, 2)] {
        cached.solve(&query, budget);
        assert_eq!(log.borrow().len(), n_asked);
    }
}

#[test]
fn the_oldest_answers_are_forgotten() {
    let mut dag = Dag::new();
    let goals: Vec<ExprId> = (1..5).map(|value| byte_is(&mut dag, 0, value)).collect();
    let seed = seed(&[0]);
    let (inner, log) = scripted(|_| Answer::Unsat);
    let mut cached = Cached::with_capacity(inner, 2);
    let mut ask = |goal| {
        cached
            .solve(&Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed }, Budget::default())
    };
    for goal in &goals {
        ask(*goal);
    }
    assert_eq!(ask(goals[3]).stage, Stage::Cache);
    assert_eq!(ask(goals[0]).stage, Stage::Smt);
    assert_eq!(log.borrow().len(), 5);
}

#[test]
fn the_strongest_weaker_query_is_answered() {
    let mut dag = Dag::new();
    let constraints: Vec<ExprId> = (1..5).map(|offset| differ(&mut dag, 0, offset)).collect();
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[0, 7, 1, 2, 3]);
    let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
    let (inner, log) = scripted(|query| match query.constraints.len() {
        ..=2 => Answer::Sat(model(&[(0, 7)])),
        _ => Answer::Unknown(Reason::OutOfWork),
    });
    let mut optimistic = Optimistic::new(inner);
    let response = optimistic.solve(&query, Budget::default());
    assert_eq!(response.strength, Strength::Optimistic { n_constraints: 2 });
    assert_eq!(response.work, Work { evaluations: 30, rlimit: 3 });
    assert_eq!(log.borrow().len(), 3);
    let mut statistics = Statistics::default();
    optimistic.collect(&mut statistics);
    assert_eq!(statistics.n_optimistic, 1);
}

#[test]
fn a_goal_that_is_impossible_alone_is_refuted() {
    let mut dag = Dag::new();
    let constraints = [differ(&mut dag, 0, 1)];
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[0, 7]);
    let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
    let (inner, _) = scripted(|query| match query.constraints.len() {
        0 => Answer::Unsat,
        _ => Answer::Unknown(Reason::OutOfWork),
    });
    let response = Optimistic::new(inner).solve(&query, Budget::default());
    assert_eq!((response.answer, response.strength), (Answer::Unsat, Strength::Full));
}

#[test]
fn refuted_queries_are_weakened_only_if_asked_for() {
    let mut dag = Dag::new();
    let constraints = [byte_is(&mut dag, 0, 8)];
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[8]);
    let query = Query { dag: &dag, constraints: &constraints, n_always: 0, goal, seed: &seed };
    let usual = standard(Config::default()).solve(&query, Budget::default());
    assert_eq!(usual.answer, Answer::Unsat);
    let config = Config { optimistic_if_refuted: true, ..Config::default() };
    let eager = standard(config).solve(&query, Budget::default());
    assert_eq!(eager.answer, Answer::Sat(model(&[(0, 7)])));
    assert_eq!(eager.strength, Strength::Optimistic { n_constraints: 0 });
}

#[test]
fn what_always_holds_is_never_left_out() {
    let mut dag = Dag::new();
    let constraints = [differ(&mut dag, 0, 1), byte_is(&mut dag, 0, 8)];
    let goal = byte_is(&mut dag, 0, 7);
    let config = Config { optimistic_if_refuted: true, ..Config::default() };
    let answer = |seed_bytes: &[u8]| {
        let seed = seed(seed_bytes);
        let query = Query { dag: &dag, constraints: &constraints, n_always: 1, goal, seed: &seed };
        standard(config).solve(&query, Budget::default()).answer
    };
    assert_eq!(answer(&[8, 3]), Answer::Sat(model(&[(0, 7)])));
    let Answer::Sat(other) = answer(&[8, 7]) else { panic!("the second byte can be another") };
    let second = other.get(STDIN, 1);
    assert!(second.is_some_and(|byte| byte != 7), "{other:?}");
}

#[test]
fn a_stage_gets_no_more_than_its_own_budget() {
    let mut dag = Dag::new();
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[0]);
    let query = Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed };
    let (inner, log) = scripted(unknown);
    let most = Budget { evaluations: 100, rlimit: 0, timeout: Duration::from_secs(1) };
    Budgeted::new(inner, most).solve(&query, Budget::default());
    assert!(log.borrow()[0].ends_with("in 100"), "{log:?}");
}

#[test]
fn what_one_stage_used_is_missing_for_the_next() {
    let mut dag = Dag::new();
    let goal = byte_is(&mut dag, 0, 7);
    let seed = seed(&[0]);
    let query = Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed };
    let (first, _) = scripted(unknown);
    let (second, log) = scripted(unknown);
    let budget = Budget { evaluations: 50, ..Budget::default() };
    let response = Portfolio::new(vec![Box::new(first), Box::new(second)]).solve(&query, budget);
    assert!(log.borrow()[0].ends_with("in 40"), "{log:?}");
    assert_eq!(response.work, Work { evaluations: 20, rlimit: 2 });
}

#[test]
fn without_z3_everything_else_works() {
    let mut solver = standard(Config { smt: false, optimistic: false, ..Config::default() });
    let mut n_answered = 0;
    for written in Written::all() {
        let written = written.simplified();
        let others = written.stages.iter().any(|stage| *stage != Stage::Smt);
        let response = solver.solve(&written.query(), Budget::default());
        assert_eq!(solver.statistics().stage(Stage::Smt).n_queries, 0);
        match response.answer {
            Answer::Sat(_) => assert!(written.is_sat, "{}", written.name),
            Answer::Unsat => assert!(!written.is_sat, "{}", written.name),
            Answer::Unknown(reason) => {
                // One query needs more evaluations than search has in the usual composition.
                assert!(!others || written.name == "even_product", "{}: {reason}", written.name);
                continue;
            }
        }
        n_answered += 1;
    }
    assert!(n_answered >= 30, "{n_answered}");
}

#[test]
fn work_is_limited() {
    let written =
        Written::all().into_iter().find(|written| written.name == "decimal_number_too_large").unwrap();
    let budget = Budget { evaluations: 5_000, ..Budget::default() };
    let response = Search::new(0).solve(&written.query(), budget);
    assert_eq!(response.answer, Answer::Unknown(Reason::OutOfWork));
    // A move is finished before it is noticed that the budget is used up.
    assert!((5_000..5_200).contains(&response.work.evaluations), "{:?}", response.work);
}

#[test]
fn models_found_once_are_found_again() {
    let found: Vec<String> = ["adler32_of_letters", "crc32_table", "cubic_root", "decimal_number", "djb2"]
        .into_iter()
        .map(|name| {
            let written =
                Written::all().into_iter().find(|written| written.name == name).unwrap().simplified();
            let response = Checked::new(Search::new(0)).solve(&written.query(), Budget::default());
            format!("{name}: {}", response.model().unwrap())
        })
        .collect();
    expect_test::expect![[r#"
        adler32_of_letters: stdin[0]=0x62 stdin[1]=0x65 stdin[2]=0x68 stdin[3]=0x69 stdin[4]=0x6c stdin[5]=0x6c stdin[6]=0x72 stdin[7]=0x71
        crc32_table: stdin[4]=0xae stdin[5]=0xd8 stdin[6]=0x5a stdin[7]=0x96
        cubic_root: stdin[2]=0x07 stdin[3]=0x35 stdin[4]=0xa4 stdin[5]=0xc1 stdin[7]=0x40
        decimal_number: stdin[0]=0x33 stdin[1]=0x31 stdin[2]=0x34 stdin[3]=0x31 stdin[4]=0x35 stdin[5]=0x39
        djb2: stdin[0]=0x74 stdin[1]=0x69 stdin[2]=0x6d stdin[3]=0x65"#]]
    .assert_eq(&found.join("\n"));
}

#[test]
fn solvers_that_share_their_answers_ask_once_and_say_the_same() {
    let answers = Answers::default();
    let (first, log) = scripted(|_| Answer::Sat(model(&[(0, 7)])));
    let mut first = Shared::new(first, answers.clone());
    let (second, never_asked) = scripted(|_| Answer::Unsat);
    let mut second = Shared::new(second, answers.clone());
    let ask = |solver: &mut dyn Solver, bytes: &[u8], budget: Budget| {
        let mut dag = Dag::new();
        let goal = byte_is(&mut dag, 0, 7);
        solver.solve(&Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed(bytes) }, budget)
    };
    assert_eq!(ask(&mut first, &[1, 2], Budget::default()).stage, Stage::Smt);
    // Only the bytes count that the query reads.
    let recalled = ask(&mut second, &[1, 9], Budget::default());
    assert_eq!((recalled.stage, recalled.answer), (Stage::Cache, Answer::Sat(model(&[(0, 7)]))));
    assert!(never_asked.borrow().is_empty());
    // From another value a solver may come to another answer.
    ask(&mut first, &[2, 2], Budget::default());
    assert_eq!((log.borrow().len(), answers.len()), (2, 2));
}

#[test]
fn what_was_not_found_is_looked_for_with_a_larger_budget() {
    let (inner, log) = scripted(unknown);
    let mut shared = Shared::new(inner, Answers::with_capacity(1));
    let mut dag = Dag::new();
    let (goal, other) = (byte_is(&mut dag, 0, 7), byte_is(&mut dag, 0, 8));
    let seed = seed(&[0]);
    let mut ask = |goal, evaluations| {
        let query = Query { dag: &dag, constraints: &[], n_always: 0, goal, seed: &seed };
        shared.solve(&query, Budget { evaluations, ..Budget::default() }).stage
    };
    let stages = [ask(goal, 10), ask(goal, 10), ask(goal, 5), ask(goal, 20)];
    assert_eq!(stages, [Stage::Smt, Stage::Cache, Stage::Cache, Stage::Smt]);
    // There is room for one.
    let stages = [ask(other, 10), ask(goal, 20)];
    assert_eq!(stages, [Stage::Smt, Stage::Smt]);
    assert_eq!(log.borrow().len(), 4);
}

#[test]
fn what_one_solver_refuted_is_refuted_for_others_with_more() {
    let answers = Answers::default();
    let (first, _) = scripted(|_| Answer::Unsat);
    let (second, never_asked) = scripted(unknown);
    let mut dag = Dag::new();
    let constraints = [differ(&mut dag, 0, 1), differ(&mut dag, 1, 2)];
    let (goal, other) = (byte_is(&mut dag, 0, 7), byte_is(&mut dag, 0, 8));
    let seed = seed(&[0, 1, 2]);
    let query = |constraints, goal| Query { dag: &dag, constraints, n_always: 0, goal, seed: &seed };
    let mut first = Shared::new(first, answers.clone());
    let mut second = Shared::new(second, answers);
    first.solve(&query(&constraints[..1], goal), Budget::default());
    let refuted = second.solve(&query(&constraints, goal), Budget::default());
    assert_eq!((refuted.stage, refuted.answer), (Stage::Cache, Answer::Unsat));
    assert!(never_asked.borrow().is_empty());
    // Less than what was refuted may be possible, and so may something else.
    second.solve(&query(&[], goal), Budget::default());
    second.solve(&query(&constraints, other), Budget::default());
    assert_eq!(never_asked.borrow().len(), 2);
}
