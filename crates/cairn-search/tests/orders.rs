//! In which order heuristics ask, on programs small enough to see why.

mod support;

use cairn_model::{ConditionId, map::Branch};
use cairn_search::{
    FlipState, Heuristic, Outcome, PathId, Question, Run, Search, Selector, Settled,
    classic::{BreadthFirst, ContextGuided, DepthFirst, NearestUncovered},
    compose::{After, Interleaved, Moment, Until},
};
use expect_test::{Expect, expect};
use support::{Program, Searched, order};

/// Three conditions, one after the other; all eight ways can be taken.
const ALL_WAYS: &str = "
    a+ b+ c+
    a+ b+ c-
    a+ b- c+
    a+ b- c-
    a- b+ c+
    a- b+ c-
    a- b- c+
    a- b- c-
";

/// `a` is asked in a loop; `x` behind it can be had only if the loop ends at once, and `y` never.
const LOOP: &str = "
    a+ a+ a+ a- x+ y+
    a+ a+ a+ a+ a- x+ y+
    a+ a+ a- x+ y+
    a+ a- x+ y+
    a- x+ y+
    a- x- z+
    a- x- z-
";

#[track_caller]
fn check(program: &str, selector: Box<dyn Selector>, expected: Expect) {
    expected.assert_eq(&order(&Program::new(program), selector, 100));
}

#[track_caller]
fn check_named(program: &str, heuristic: Heuristic, expected: Expect) {
    check(program, heuristic.selector(), expected);
}

#[test]
fn depth_first_turns_around_at_the_end() {
    check_named(
        ALL_WAYS,
        Heuristic::DepthFirst,
        expect![[r#"
        c of 0: a+ b+ c-
        b of 1: a+ b- c+
        c of 2: a+ b- c-
        a of 3: a- b+ c+
        c of 4: a- b+ c-
        b of 5: a- b- c+
        c of 6: a- b- c-
        exhausted
    "#]],
    );
    check_named(
        LOOP,
        Heuristic::DepthFirst,
        expect![[r#"
        y of 0: unsat
        x of 0: unsat
        a of 0: a+ a+ a+ a+ a- x+ y+
        y of 1: unsat
        x of 1: unsat
        a of 1: unsat
        a of 1: a+ a+ a- x+ y+
        y of 2: unsat
        x of 2: unsat
        a of 2: a+ a- x+ y+
        y of 3: unsat
        x of 3: unsat
        a of 3: a- x+ y+
        y of 4: unsat
        x of 4: a- x- z+
        z of 5: a- x- z-
        exhausted
    "#]],
    );
}

#[test]
fn breadth_first_goes_level_by_level() {
    check_named(
        ALL_WAYS,
        Heuristic::BreadthFirst,
        expect![[r#"
        a of 0: a- b+ c+
        b of 0: a+ b- c+
        b of 1: a- b- c+
        c of 0: a+ b+ c-
        c of 1: a- b+ c-
        c of 2: a+ b- c-
        c of 3: a- b- c-
        exhausted
    "#]],
    );
    check_named(
        LOOP,
        Heuristic::BreadthFirst,
        expect![[r#"
        a of 0: a- x+ y+
        a of 0: a+ a- x+ y+
        x of 1: a- x- z+
        a of 0: a+ a+ a- x+ y+
        y of 1: unsat
        x of 2: unsat
        z of 3: a- x- z-
        a of 0: a+ a+ a+ a+ a- x+ y+
        y of 2: unsat
        x of 4: unsat
        x of 0: unsat
        y of 4: unsat
        a of 6: unsat
        y of 0: unsat
        x of 6: unsat
        y of 6: unsat
        exhausted
    "#]],
    );
}

#[test]
fn generational_asks_about_all_of_a_run_then_of_the_best_that_came_of_it() {
    check_named(
        ALL_WAYS,
        Heuristic::Generational,
        expect![[r#"
        a of 0: a- b+ c+
        b of 0: a+ b- c+
        c of 0: a+ b+ c-
        b of 1: a- b- c+
        c of 1: a- b+ c-
        c of 2: a+ b- c-
        c of 4: a- b- c-
        exhausted
    "#]],
    );
    check_named(
        LOOP,
        Heuristic::Generational,
        expect![[r#"
        a of 0: a- x+ y+
        a of 0: a+ a- x+ y+
        a of 0: a+ a+ a- x+ y+
        a of 0: a+ a+ a+ a+ a- x+ y+
        x of 0: unsat
        y of 0: unsat
        x of 1: a- x- z+
        y of 1: unsat
        z of 5: a- x- z-
        x of 2: unsat
        y of 2: unsat
        x of 3: unsat
        y of 3: unsat
        a of 4: unsat
        x of 4: unsat
        y of 4: unsat
        exhausted
    "#]],
    );
}

#[test]
fn control_flow_directed_goes_where_something_is_missing() {
    // At first all that is next is missing, so the first turn is asked about; what can be reached from it is seen then, and `b-` is nearest.
    let program = "
        a+ b+ e+
        a- e+
        a- e-
        a+ b+ e-
        a+ b- c+ e+
        a+ b- c- d+ e+
        a+ b- c- d- e+
    ";
    check_named(
        program,
        Heuristic::ControlFlowDirected,
        expect![[r#"
        a of 0: a- e+
        e of 1: a- e-
        b of 0: a+ b- c+ e+
        c of 3: a+ b- c- d+ e+
        d of 4: a+ b- c- d- e+
        e of 5: unsat
        e of 4: unsat
        e of 3: unsat
        e of 0: a+ b+ e-
        exhausted
    "#]],
    );
}

#[test]
fn control_flow_directed_comes_nearer_where_nothing_is_next() {
    // The last path has nothing to lead on from `c-`; on the one before, `e-` and then `z-` are missing behind `a-`.
    let program = "
        c+ a+ b+ d+
        c- a+ b+ d+
        c+ a- e+ z+
        c+ a+ b- d+
        c+ a+ b+ d-
        c+ a- e- z+
        c+ a- e- z-
    ";
    check_named(
        program,
        Heuristic::ControlFlowDirected,
        expect![[r#"
        c of 0: c- a+ b+ d+
        a of 1: unsat
        b of 1: unsat
        d of 1: unsat
        a of 0: c+ a- e+ z+
        e of 2: c+ a- e- z+
        z of 3: c+ a- e- z-
        z of 2: unsat
        b of 0: c+ a+ b- d+
        d of 5: unsat
        d of 0: c+ a+ b+ d-
        exhausted
    "#]],
    );
}

#[test]
fn context_guided_leaves_out_what_it_has_seen_in_a_context() {
    check(
        "
        (p+) a+ (q+) a+ (q+) a+ (q+) a+
        (p+) a+ (q+) a+ (q+) a+ (q+) a-
        (p+) a+ (q+) a+ (q+) a- (r+)
        (p+) a+ (q+) a- (r+)
        (p+) a-
    ",
        Box::new(ContextGuided::new(1)),
        expect![[r#"
            a of 0: (p+) a-
            a of 0: (p+) a+ (q+) a- (r+)
        "#]],
    );
    check(
        "
        (p+) a+ (q+) a+ (q+) a+ (q+) a+
        (p+) a+ (q+) a+ (q+) a+ (q+) a-
        (p+) a+ (q+) a+ (q+) a- (r+)
        (p+) a+ (q+) a- (r+)
        (p+) a-
    ",
        Box::new(ContextGuided::new(4)),
        expect![[r#"
            a of 0: (p+) a-
            a of 0: (p+) a+ (q+) a- (r+)
            a of 0: (p+) a+ (q+) a+ (q+) a- (r+)
            a of 0: (p+) a+ (q+) a+ (q+) a+ (q+) a-
            exhausted
        "#]],
    );
}

#[test]
fn branches_that_dominate_another_are_no_context() {
    // `b` comes after `p` or `q`, and always after `d+`.
    let text = "
        (p+) d+ b+ (q+) d+ b+
        (p+) d+ b+ (q+) d+ b-
        (p+) d+ b-
        d-
    ";
    let mut program = Program::new(text);
    check(
        text,
        Box::new(ContextGuided::new(1)),
        expect![[r#"
        d of 0: d-
        b of 0: (p+) d+ b-
        d of 0: unsat
    "#]],
    );
    let always = Branch { condition: ConditionId(3), direction: true };
    program.map.conditions[1].features.dominated_by = vec![always];
    expect![[r#"
        d of 0: d-
        b of 0: (p+) d+ b-
        d of 0: unsat
        b of 0: (p+) d+ b+ (q+) d+ b-
        exhausted
    "#]]
    .assert_eq(&order(&program, Box::new(ContextGuided::new(1)), 100));
}

#[test]
fn chance_decides_the_same_for_the_same_seed() {
    for heuristic in Heuristic::ALL {
        let program = Program::new(ALL_WAYS);
        let run = |seed| {
            let mut searched = Searched::new(&program, heuristic.selector(), seed);
            std::iter::from_fn(|| searched.step()).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1), "{heuristic}");
        let orders: std::collections::BTreeSet<Vec<String>> = (0..20).map(run).collect();
        let is_by_chance = matches!(
            heuristic,
            Heuristic::RandomBranch | Heuristic::RandomPath | Heuristic::ContextGuided | Heuristic::Klee
        );
        assert_eq!(orders.len() > 1, is_by_chance, "{heuristic}");
        assert!(orders.iter().all(|order| order.len() == 7 || heuristic == Heuristic::ContextGuided));
    }
}

#[test]
fn a_random_path_comes_out_of_a_loop_half_of_the_time() {
    // Of the flips of a path that runs around a loop many times, half of all walks end at the first, a quarter at the second.
    let mut text = format!("{}x+\n", "a+ ".repeat(50));
    (0..50).for_each(|n| text.push_str(&format!("{}a-\n", "a+ ".repeat(n))));
    let program = Program::new(&text);
    let mut firsts = [0; 50];
    for seed in 0..1000 {
        let mut searched = Searched::new(&program, Heuristic::RandomPath.selector(), seed);
        firsts[searched.choose().unwrap().index] += 1;
    }
    assert!((450..550).contains(&firsts[0]), "{firsts:?}");
    assert!((200..300).contains(&firsts[1]), "{firsts:?}");
    assert!(firsts[20..].iter().sum::<u32>() < 5, "{firsts:?}");
    // Any branch of the last path is as likely as another.
    let mut lasts = 0;
    for seed in 0..1000 {
        let mut searched = Searched::new(&program, Heuristic::RandomBranch.selector(), seed);
        lasts += u32::from(searched.choose().unwrap().index >= 25);
    }
    assert!((450..570).contains(&lasts), "{lasts}");
}

#[test]
fn what_is_near_to_something_missing_is_likelier() {
    let program = Program::new(
        "
        a+ b+ c+ d+
        a+ b+ c+ d-
        a+ b+ c- d+
        a+ b- c+ d+
        a-
    ",
    );
    let seen = [1, 2, 3].map(|path| (program.path(path).to_vec(), program.counters(program.path(path))));
    let mut n_near = 0;
    for seed in 0..300 {
        let mut searched = Searched::new(&program, Box::new(NearestUncovered::default()), seed);
        for (turns, counters) in &seen {
            searched.search.begin(&program.map, Run { turns, counters });
        }
        let question = searched.choose().unwrap();
        n_near += u32::from(question.index == 0);
    }
    // Seven turns are left. That of `a` weighs 1, the six others, from which no way leads to `a-`, next to nothing.
    assert!(n_near > 295, "{n_near}");
}

#[test]
fn turns_before_a_limit_stay_as_they_are() {
    for heuristic in Heuristic::ALL {
        let program = Program::new(ALL_WAYS);
        let limited = Box::new(After::new(1, heuristic.selector()));
        let mut searched = Searched::new(&program, limited, 1);
        let asked: Vec<String> = std::iter::from_fn(|| searched.step()).collect();
        assert_eq!(asked.len(), 3, "{heuristic}: {asked:?}");
        assert!(asked.iter().all(|line| !line.starts_with('a')), "{heuristic}: {asked:?}");
    }
}

#[test]
fn one_selector_follows_another_at_its_moment() {
    let until = |moment| {
        Box::new(Until::new(Box::new(DepthFirst::default()), moment, Box::new(BreadthFirst::default())))
    };
    check(
        LOOP,
        until(Moment::Executions(3)),
        expect![[r#"
        y of 0: unsat
        x of 0: unsat
        a of 0: a+ a+ a+ a+ a- x+ y+
        y of 1: unsat
        x of 1: unsat
        a of 1: unsat
        a of 1: a+ a+ a- x+ y+
        a of 0: a- x+ y+
        a of 0: a+ a- x+ y+
        x of 3: a- x- z+
        y of 3: unsat
        x of 4: unsat
        z of 5: a- x- z-
        x of 2: unsat
        y of 4: unsat
        y of 2: unsat
        exhausted
    "#]],
    );
    check(
        LOOP,
        until(Moment::NothingNewFor(1)),
        expect![[r#"
        y of 0: unsat
        x of 0: unsat
        a of 0: a+ a+ a+ a+ a- x+ y+
        a of 0: a- x+ y+
        a of 0: a+ a- x+ y+
        x of 2: a- x- z+
        a of 0: a+ a+ a- x+ y+
        y of 2: unsat
        x of 3: unsat
        z of 4: a- x- z-
        y of 3: unsat
        x of 5: unsat
        a of 1: unsat
        y of 5: unsat
        x of 1: unsat
        y of 1: unsat
        exhausted
    "#]],
    );
    let limited = Box::new(After::new(2, Box::new(DepthFirst::default())));
    let until = Until::new(limited, Moment::NothingLeft, Box::new(BreadthFirst::default()));
    check(
        ALL_WAYS,
        Box::new(until),
        expect![[r#"
        c of 0: a+ b+ c-
        a of 0: a- b+ c+
        b of 0: a+ b- c+
        b of 2: a- b- c+
        c of 2: a- b+ c-
        c of 3: a+ b- c-
        c of 4: a- b- c-
        exhausted
    "#]],
    );
}

#[test]
fn selectors_take_turns() {
    let both = vec![
        Box::new(DepthFirst::default()) as Box<dyn Selector>,
        Box::new(BreadthFirst::default()) as Box<dyn Selector>,
    ];
    check(
        ALL_WAYS,
        Box::new(Interleaved::new(both)),
        expect![[r#"
        c of 0: a+ b+ c-
        a of 0: a- b+ c+
        c of 2: a- b+ c-
        b of 0: a+ b- c+
        c of 4: a+ b- c-
        b of 2: a- b- c+
        c of 6: a- b- c-
        exhausted
    "#]],
    );
}

#[test]
fn a_flip_that_diverged_is_not_executed() {
    let program = Program::new("a+ b+\na+ b-\na- b+\n");
    let mut searched = Searched::new(&program, Box::new(BreadthFirst::default()), 1);
    let question = searched.choose().unwrap();
    let counters = program.counters(program.path(1));
    let run = Run { turns: program.path(1), counters: &counters };
    searched.search.settle(&program.map, question, Settled::Diverged(run));
    let tree = searched.search.view(&program.map).tree;
    let root = tree.roots()[0];
    assert_eq!(tree.flip(root), FlipState::Asked(Outcome::Diverged));
    assert_eq!(tree.n_open(), 0);
    assert!(!tree.is_exhausted());
    // Another run may take it after all.
    searched.search.begin(&program.map, Run { turns: program.path(2), counters: &[] });
    let tree = searched.search.view(&program.map).tree;
    assert_eq!(tree.flip(root), FlipState::Taken);
}

#[test]
fn a_path_that_is_longer_than_the_bound_is_not_exhausted() {
    let program = Program::new("a+ b+\na+ b-\na- b+\na- b-\n");
    for (bound, is_exhausted) in [(1, false), (2, true)] {
        let selector = Box::new(DepthFirst::default());
        let mut search = Search::new(&program.map, selector, bound, 1);
        let counters = program.counters(program.path(0));
        search.begin(&program.map, Run { turns: program.path(0), counters: &counters });
        let mut known = vec![0];
        while let Some(question) = search.choose(&program.map) {
            let found =
                program.flipped(program.path(known[question.path.0 as usize]), question.index).unwrap();
            let counters = program.counters(program.path(found));
            let run = Run { turns: program.path(found), counters: &counters };
            search.settle(&program.map, question, Settled::Flipped(run));
            known.push(found);
        }
        assert_eq!(search.view(&program.map).tree.is_exhausted(), is_exhausted, "{bound}");
    }
}

#[test]
fn turns_of_library_functions_aim_at_the_next_condition() {
    // `a-` is missing, so the branch of the library function before it is near; the one after it leads nowhere.
    check_named(
        "
        b+ *+ a+ *+
        b- *+ a+ *+
        b+ *- a- *+
        b+ *+ a+ *-
        ",
        Heuristic::ControlFlowDirected,
        expect![[r#"
            b of 0: b- *+ a+ *+
            * of 1: unsat
            a of 1: unsat
            * of 1: unsat
            * of 0: b+ *- a- *+
            a of 2: unsat
            * of 2: unsat
            a of 0: unsat
            * of 0: b+ *+ a+ *-
            exhausted
        "#]],
    );
}

#[test]
fn what_was_left_out_can_be_asked_later() {
    let program = Program::new(ALL_WAYS);
    for heuristic in Heuristic::ALL {
        let mut searched = Searched::new(&program, heuristic.selector(), 1);
        let mut n_left = 0;
        while let Some(question) = searched.choose() {
            searched.search.settle(&program.map, question, Settled::Left);
            n_left += 1;
        }
        let tree = searched.search.view(&program.map).tree;
        assert_eq!((n_left, tree.n_open(), tree.is_exhausted()), (3, 0, false), "{heuristic}");
        assert_eq!(
            searched.search.reopen(&program.map, heuristic.selector(), Outcome::Left),
            3,
            "{heuristic}"
        );
        let n_asked = std::iter::from_fn(|| searched.step()).count();
        assert!(n_asked == 7 || heuristic == Heuristic::ContextGuided, "{heuristic}: {n_asked}");
        let tree = searched.search.view(&program.map).tree;
        assert_eq!(tree.n_open_below(tree.roots()[0]), tree.n_open(), "{heuristic}");
        assert_eq!(
            searched.search.reopen(&program.map, heuristic.selector(), Outcome::Left),
            0,
            "{heuristic}"
        );
    }
}

#[test]
fn a_search_that_begins_again_remembers_what_runs_promised() {
    // The second run takes two branches that none took before, and the third takes three.
    let program = Program::new(
        "
        a+ b+ c+
        a+ b- d+ c-
        a- c+ e+
        a- c- e+
        a+ b- d- c-
        ",
    );
    let mut searched = Searched::new(&program, Heuristic::Generational.selector(), 1);
    for index in [0, 1] {
        searched.ask(Question { path: PathId(0), index });
    }
    while let Some(question) = searched.choose() {
        searched.search.settle(&program.map, question, Settled::Left);
    }
    searched.search.reopen(&program.map, Heuristic::Generational.selector(), Outcome::Left);
    let order: Vec<u32> = std::iter::from_fn(|| {
        let question = searched.choose()?;
        searched.search.settle(&program.map, question, Settled::Unsat);
        Some(question.path.0)
    })
    .collect();
    assert_eq!(order, [0, 2, 2, 1, 1]);
}
