//! A guidepost that a run breaks, and an input that satisfies it.

use crate::support::{Views, path};
use cairn_abi::record::GuidepostState;
use cairn_concolic::{Event, Flip, Verification, flip, verify};
use cairn_executor::{ArmedGuidepost, Asked, Executor, RunConfig, SymbolicRun};
use cairn_model::{
    Ending, Guidepost, Input, PatchId, SiteValue,
    guidepost::{Predicate, When},
};
use cairn_solver::{Budget, Config, standard};

/// The patch at the `number`th site with this text, in the order of the table.
fn patch(views: &Views, text: &str, number: usize) -> PatchId {
    let is_meant = |patch: &PatchId| {
        let entry = &views.build.table.patches[patch.index()];
        entry.is_observable && views.build.map.sites[entry.site.index()].text == text
    };
    let mut patches = (0..views.build.table.patches.len() as u32).map(PatchId).filter(is_meant);
    patches.nth(number).expect("a patch")
}

/// Arms a guidepost, solves for it as long as runs break it, and returns the last input, its run, and how many were solved.
fn follow(views: &mut Views, guidepost: &Guidepost) -> (Input, SymbolicRun, usize) {
    let entry = &views.build.table.patches[guidepost.patch.index()];
    let armed = ArmedGuidepost::new(3, guidepost, entry, &views.sites).expect("it can be armed");
    let asked = Asked { noted: Vec::new(), guidepost: Some(armed.clone()) };
    let mut solver = standard(Config::default());
    let mut input = views.inputs[0].1.clone();
    let mut run = views.run(&input, asked.clone());
    for n_solved in 0..10 {
        if run.execution.outcome.ending != Ending::GuidepostBroken {
            return (input, run, n_solved);
        }
        let broken = path(&input, &run, &armed.condition);
        let last = broken.steps().len() - 1;
        assert!(
            matches!(
                broken.steps()[last].event,
                Event::Guidepost { guidepost: 3, state: GuidepostState::Broken, expression: Some(_), .. }
            ),
            "a broken guidepost ends the path: {:?}",
            broken.steps()[last]
        );
        let Flip::Solved(solved) = flip(&broken, last, &mut solver, Budget::default()) else {
            panic!("{guidepost:?} cannot be satisfied");
        };
        let next = views.run(&solved.input, asked.clone());
        let satisfied = path(&solved.input, &next, &armed.condition);
        assert_eq!(satisfied.n_mistakes(), 0);
        assert_eq!(verify(&broken, last, &satisfied), Verification::Flipped);
        (input, run) = (solved.input, next);
    }
    panic!("{guidepost:?} is broken again and again");
}

fn bare(views: &Views, input: &Input) -> String {
    let mut bare = Executor::new(views.build.bare(), RunConfig::default()).expect("the bare build");
    let outcome = bare.run(input).expect("a run").outcome;
    assert_eq!(outcome.ending, Ending::Exited { code: 0 });
    String::from_utf8_lossy(&outcome.stdout.bytes.0).into_owned()
}

#[test]
fn a_broken_guidepost_is_satisfied_by_the_solved_input() {
    let mut views = Views::of("event_guidepost");
    let guidepost = Guidepost {
        patch: patch(&views, "total == 1234", 0),
        when: When::First,
        predicate: Predicate::OneOf(vec![SiteValue::Bool(true)]),
    };
    let (input, _, n_solved) = follow(&mut views, &guidepost);
    assert_eq!((bare(&views, &input).as_str(), n_solved), ("found\n", 1));
}

#[test]
fn a_guidepost_on_every_turn_is_satisfied_turn_by_turn() {
    let mut views = Views::of("event_guidepost");
    let guidepost = Guidepost {
        patch: patch(&views, "b[i]", 0),
        when: When::Every,
        predicate: Predicate::Between(SiteValue::Unsigned(3), SiteValue::Unsigned(5)),
    };
    let (input, run, n_solved) = follow(&mut views, &guidepost);
    assert_eq!(
        (input.stdin.0[0], n_solved, run.execution.outcome.ending),
        (b'a', 3, Ending::Exited { code: 0 })
    );
    assert!(input.stdin.0[1..].iter().all(|byte| (3..=5).contains(byte)), "{input}");
    bare(&views, &input);
}

#[test]
fn what_is_satisfied_stays_so_where_a_later_branch_is_flipped() {
    let mut views = Views::of("event_guidepost");
    let guidepost = Guidepost {
        patch: patch(&views, "b[i]", 0),
        when: When::Every,
        predicate: Predicate::NoneOf(vec![SiteValue::Unsigned(0)]),
    };
    let entry = &views.build.table.patches[guidepost.patch.index()];
    let armed = ArmedGuidepost::new(3, &guidepost, entry, &views.sites).expect("it can be armed");
    let asked = Asked { noted: Vec::new(), guidepost: Some(armed.clone()) };
    let input = views.inputs[0].1.clone();
    let run = views.run(&input, asked.clone());
    let whole = path(&input, &run, &armed.condition);
    let (last, _) = whole.decisions().next_back().expect("`total == 1234` is decided");
    let mut solver = standard(Config::default());
    let Flip::Solved(solved) = flip(&whole, last, &mut solver, Budget::default()) else {
        panic!("1234 can be had without a zero");
    };
    let run = views.run(&solved.input, asked);
    assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 0 });
    assert_eq!(bare(&views, &solved.input), "found\n");
}
