//! Whole searches through real programs.

mod support;

use cairn_concolic::search::{Change, Claims, Explorer, Memory, SearchConfig, Searched, SolvedBefore};
use cairn_model::{
    Input,
    input::{Variable, VariableValue},
};
use cairn_search::{Heuristic, Outcome};
use cairn_solver::Budget;
use std::time::Duration;
use support::Program;

/// Of so many runs. What is not found quickly is not found, so that tests are over soon.
fn config(n_executions: u32) -> SearchConfig {
    let budget = Budget { evaluations: 2_000, rlimit: 400_000, timeout: Duration::from_millis(200) };
    SearchConfig { n_executions, budget, ..SearchConfig::default() }
}

/// `sz` is 100, and the first 100 elements ascend from 1.
fn ascending() -> Input {
    let elements = (0..4096i32).map(|index| if index < 100 { index + 1 } else { 0 });
    let bytes: Vec<u8> = elements.flat_map(i32::to_le_bytes).collect();
    let variable = |name: &str, value| Variable { name: name.into(), value };
    Input {
        variables: vec![
            variable("sz", VariableValue::Uint(100)),
            variable("a", VariableValue::Bytes(bytes.into())),
        ],
        ..Input::default()
    }
}

#[test]
fn depth_first_stays_at_the_end_of_get_max_and_generational_does_not() {
    let program = Program::fixture("search_get_max");
    let otherwise = program.branch("max > 0", false);
    let start = ascending();
    assert_eq!(program.prints(&start), "100\n");
    let memory = Memory::default();
    // An input of 4096 elements makes 8192 turns, and what is asked at the end of so many takes seconds.
    let config = SearchConfig { bound: 1000, ..config(500) };

    let depth_first = program.search(&start, Heuristic::DepthFirst, &config, &memory);
    assert_eq!(depth_first.n_executions, 500);
    assert!(!depth_first.coverage.covers(program.map(), otherwise), "{depth_first:?}");
    assert!(!depth_first.is_exhausted);

    let generational = program.search(&start, Heuristic::Generational, &config, &memory);
    assert!(generational.coverage.covers(program.map(), otherwise), "{generational:?}");
    let found = generational.growth.iter().find(|growth| program.prints(&growth.input) == "found\n").unwrap();
    assert_eq!(found.generation, 1);
    assert_eq!((depth_first.counts.n_diverged, generational.counts.n_diverged), (0, 0));
}

/// Six conditions on three bytes; 12 ways, and one of them is impossible.
const SMALL: &str = r#"
#include <stdio.h>

int main(void) {
  unsigned char b[3];
  if (fread(b, 1, sizeof b, stdin) != sizeof b)
    return 1;
  if (b[0] > 100)
    puts("large");
  if (b[1] * 3 == 0x5a)
    puts("thirty");
  if (b[0] > 50) {
    if (b[2] == 'x')
      puts("x");
  } else if (b[2] == 'y')
    puts("y");
  return 0;
}
"#;

fn stdin(text: &str) -> Input {
    Input { stdin: text.into(), ..Input::default() }
}

#[test]
fn every_heuristic_exhausts_a_small_program() {
    let program = Program::text(SMALL);
    let memory = Memory::default();
    for heuristic in Heuristic::ALL {
        // Whole paths are another kind of runs.
        let memory = if heuristic.sees_whole_paths() { Memory::default() } else { memory.clone() };
        let searched = program.search(&stdin("abc"), heuristic, &config(100), &memory);
        assert_eq!(searched.coverage.n_branches(program.map()), 12, "{heuristic}: {searched:#?}");
        assert_eq!(searched.counts.n_diverged, 0, "{heuristic}");
        // CGS leaves out what it has met in a context.
        if heuristic != Heuristic::ContextGuided {
            assert!(searched.is_exhausted, "{heuristic}: {searched:#?}");
            assert_eq!(searched.n_executions, 13, "{heuristic}: {searched:#?}");
        }
        let prints: std::collections::BTreeSet<String> =
            searched.growth.iter().map(|growth| program.prints(&growth.input)).collect();
        assert!(prints.len() > 3, "{prints:?}");
    }
}

#[test]
fn a_budget_that_is_over_exhausts_nothing() {
    let program = Program::text(SMALL);
    let searched = program.search(&stdin("abc"), Heuristic::BreadthFirst, &config(12), &Memory::default());
    assert_eq!((searched.n_executions, searched.is_exhausted), (12, false));
}

#[test]
fn searches_share_runs_and_answers_and_decide_as_if_alone() {
    let program = Program::text(SMALL);
    let story = |searched: &Searched| -> Vec<(u32, String)> {
        searched.growth.iter().map(|growth| (growth.execution, growth.input.address())).collect()
    };
    let memory = Memory::default();
    let search = |memory: &Memory| program.search(&stdin("abc"), Heuristic::Klee, &config(100), memory);
    let cold = search(&memory);
    let (n_made, _) = memory.traces.counts();
    let n_answers = memory.answers.len();
    let warm = search(&memory);
    assert_eq!(story(&cold), story(&warm));
    assert_eq!(cold.counts, warm.counts);
    assert_eq!((memory.traces.counts().0, memory.answers.len()), (n_made, n_answers));
    assert_eq!(n_made, u64::from(cold.n_executions));
    // Another heuristic finds some of what it needs.
    program.search(&stdin("abc"), Heuristic::DepthFirst, &config(100), &memory);
    assert!(memory.traces.counts().0 < 2 * n_made, "{:?}", memory.traces.counts());
    // There need not be room for anything.
    let small = Memory { traces: cairn_concolic::search::Traces::with_capacity(0), ..Memory::default() };
    assert_eq!(story(&search(&small)), story(&cold));
}

#[test]
fn values_that_are_taken_as_they_were_leave_a_search_open() {
    let program = Program::text(
        r#"
#include <stdio.h>

int main(void) {
  char table[256] = {0};
  int c = getchar();
  if (c < 0)
    return 1;
  table['k'] = (char)c;
  if (table[c] == 'k')
    puts("k");
  return 0;
}
"#,
    );
    let searched = program.search(&stdin("a"), Heuristic::BreadthFirst, &config(100), &Memory::default());
    assert!(searched.n_executions < 100, "{searched:#?}");
    assert!(!searched.is_exhausted, "{searched:#?}");
}

#[test]
fn inputs_grow_and_shrink() {
    let program = Program::text(
        r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  char *line = NULL;
  size_t size = 0;
  if (argc < 2)
    return 1;
  if (strlen(argv[1]) == 1)
    puts("one letter");
  if (strcmp(argv[1], "--verbose") == 0)
    puts("many letters");
  if (getline(&line, &size, stdin) == 12)
    puts("twelve");
  if (getline(&line, &size, stdin) == 2)
    puts("a second line of two");
  return 0;
}
"#,
    );
    let start = Input { args: vec!["abc".into()], ..stdin("text\n") };
    let searched = program.search(&start, Heuristic::Generational, &config(200), &Memory::default());
    let prints: String = searched.growth.iter().map(|growth| program.prints(&growth.input)).collect();
    for text in ["one letter", "many letters", "twelve", "a second line of two"] {
        assert!(prints.contains(text), "{text}: {searched:#?}");
    }
}

#[test]
fn questions_like_others_are_left_out() {
    let program = Program::text(
        r#"
#include <stdio.h>

int main(void) {
  int c, n = 0;
  while ((c = getchar()) != EOF)
    if (c == ' ')
      n++;
  return n > 40;
}
"#,
    );
    let text = "x".repeat(60);
    let all = program.search(&stdin(&text), Heuristic::Generational, &config(100), &Memory::default());
    assert!(all.counts.n_left == 0 && all.n_executions == 100, "{all:?}");
    let few = SearchConfig { before: Some(SolvedBefore::default()), ..config(100) };
    let few = program.search(&stdin(&text), Heuristic::Generational, &few, &Memory::default());
    assert!(few.counts.n_left > 50 && few.n_executions < 30, "{few:?}");
    assert!(!few.is_exhausted);
}

#[test]
fn only_inputs_are_made_that_may_be() {
    let program = Program::text(SMALL);
    let change = Change::only(|new, old| new.stdin.0.len() == old.stdin.0.len() && new.stdin.0[2] == b'c');
    let limited = SearchConfig { change, ..config(100) };
    let searched = program.search(&stdin("abc"), Heuristic::BreadthFirst, &limited, &Memory::default());
    assert!(searched.growth.len() > 2 && searched.counts.n_unfit > 0, "{searched:#?}");
    assert!(searched.growth.iter().all(|growth| growth.input.stdin.0[2] == b'c'), "{searched:#?}");
    assert!(!searched.is_exhausted);
}

#[test]
fn searches_that_divide_the_questions_run_nothing_twice_and_leave_nothing_out() {
    let program = Program::text(SMALL);
    for heuristic in [Heuristic::Generational, Heuristic::DepthFirst, Heuristic::Klee] {
        let (memory, claims) = (Memory::default(), Claims::default());
        let n_made = || memory.traces.counts().0;
        let mut searches = [0, 1].map(|number| {
            let config = SearchConfig { share: Some(claims.share(number)), ..config(100) };
            let explorer = Explorer::new(program.map(), heuristic.selector(), &config, memory.traces.clone());
            (explorer, program.tracer(heuristic), config.solver(&memory))
        });
        for (explorer, tracer, _) in &mut searches {
            explorer.begin(program.map(), tracer, &stdin("abc")).unwrap();
        }
        assert_eq!(n_made(), 1);
        let mut n_runs = [0; 2];
        let mut is_over = [false; 2];
        while is_over != [true; 2] {
            for (index, (explorer, tracer, solver)) in searches.iter_mut().enumerate() {
                let n_before = n_made();
                // What is left to the other takes no time.
                let asked = loop {
                    match explorer.advance(program.map(), tracer, solver).unwrap() {
                        Some(advance) if !advance.outcome.is_asked() => {}
                        other => break other,
                    }
                };
                is_over[index] = asked.is_none() && !explorer.ask_more(program.map(), heuristic);
                n_runs[index] += n_made() - n_before;
            }
        }
        // As many as one search makes alone.
        assert_eq!(n_made(), 13, "{heuristic}");
        assert!(n_runs.iter().all(|n| *n >= 3), "{heuristic}: {n_runs:?}");
        for (explorer, ..) in &searches {
            assert!(explorer.is_exhausted(program.map()), "{heuristic}: {:?}", explorer.counts());
        }
    }
}

#[test]
fn questions_about_what_others_have_reached_wait() {
    let program = Program::text(SMALL);
    let (map, heuristic, memory) = (program.map(), Heuristic::BreadthFirst, Memory::default());
    let config = config(100);
    let mut explorer = Explorer::new(map, heuristic.selector(), &config, memory.traces.clone());
    let (mut tracer, mut solver) = (program.tracer(heuristic), config.solver(&memory));
    explorer.begin(map, &mut tracer, &stdin("abc")).unwrap();
    // Everything but one way of one condition.
    let wanted = program.branch("b[1] * 3 == 0x5a", true);
    let mut reached = vec![1; map.n_counters as usize];
    for counter in &map.conditions[wanted.condition.index()].when_true {
        reached[counter.index()] = 0;
    }
    explorer.hear(map, &reached);
    let mut asked = Vec::new();
    let mut n_put_off = 0;
    loop {
        match explorer.advance(map, &mut tracer, &mut solver).unwrap() {
            Some(advance) if advance.outcome.is_asked() => {
                asked.push(explorer.view(map).aim(advance.question));
            }
            Some(_) => n_put_off += 1,
            None if explorer.ask_more(map, heuristic) => {}
            None => break,
        }
    }
    assert_eq!(asked[0], Some(wanted));
    assert!(n_put_off > 0);
    assert!(asked.len() > 1 && explorer.is_exhausted(map), "in the end everything is asked");
}

#[test]
fn hard_questions_wait_until_there_are_no_others() {
    let program = Program::text(
        r#"
#include <stdio.h>

int main(void) {
  unsigned char b[4];
  if (fread(b, 1, sizeof b, stdin) != sizeof b)
    return 1;
  if (b[0] * b[1] * b[2] == 1001)
    puts("1001");
  if (b[3] == 'x')
    puts("x");
  return 0;
}
"#,
    );
    let (map, heuristic, memory) = (program.map(), Heuristic::BreadthFirst, Memory::default());
    let little = Budget { evaluations: 50, rlimit: 1, timeout: Duration::from_secs(20) };
    let budget = Budget { evaluations: 100_000, rlimit: 4_000_000, timeout: Duration::from_secs(20) };
    let config = SearchConfig { at_first: Some(little), budget, ..config(100) };
    let mut explorer = Explorer::new(map, heuristic.selector(), &config, memory.traces.clone());
    let (mut tracer, mut solver) = (program.tracer(heuristic), config.solver(&memory));
    explorer.begin(map, &mut tracer, &stdin("abcd")).unwrap();
    let (hard, easy) =
        (program.branch("b[0] * b[1] * b[2] == 1001", true), program.branch("b[3] == 'x'", true));
    let mut outcomes = Vec::new();
    loop {
        match explorer.advance(map, &mut tracer, &mut solver).unwrap() {
            Some(advance) => outcomes.push((explorer.view(map).aim(advance.question), advance.outcome)),
            None if explorer.ask_more(map, heuristic) => {}
            None => break,
        }
    }
    let place = |wanted| outcomes.iter().position(|other| *other == wanted).expect("it was asked");
    let put_off = place((Some(hard), Outcome::PutOff));
    let of_easy = place((Some(easy), Outcome::Flipped));
    let of_hard = place((Some(hard), Outcome::Flipped));
    assert!(put_off < of_easy && of_easy < of_hard, "{outcomes:?}");
    assert!(explorer.is_exhausted(map), "in the end everything is asked: {outcomes:?}");
}
