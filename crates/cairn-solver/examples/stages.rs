//! Asks every stage every written query and prints what came of it and what it took; `!` marks what was not expected.
//!
//! `cargo run --release -p cairn-solver --example stages [NAME]`

#[path = "../tests/common/mod.rs"]
mod common;

use cairn_solver::{
    Answer, Budget, Checked, Config, InputToState, Response, Search, Smt, Solver, Stage, standard,
};
use std::time::{Duration, Instant};

fn main() {
    let only = std::env::args().nth(1);
    let mut smt = Smt::open().inspect_err(|error| eprintln!("{error}")).ok().map(Checked::new);
    println!("{:28} {:>34} {:>34} {:>34}", "query", "input-to-state", "search", "smt");
    for written in common::Written::all() {
        if only.as_ref().is_some_and(|only| !written.name.contains(only)) {
            continue;
        }
        let written = written.simplified();
        print!("{:28}", written.name);
        for stage in [Stage::InputToState, Stage::Search, Stage::Smt] {
            let mut own: Box<dyn Solver> = match stage {
                Stage::InputToState => Box::new(Checked::new(InputToState)),
                _ => Box::new(Checked::new(Search::new(0))),
            };
            let solver: &mut dyn Solver = match (&mut smt, stage) {
                (Some(smt), Stage::Smt) => smt,
                (None, Stage::Smt) => continue,
                _ => &mut *own,
            };
            let budget =
                Budget { evaluations: 2_000_000, rlimit: 20_000_000, timeout: Duration::from_secs(5) };
            let start = Instant::now();
            let response = solver.solve(&written.query(), budget);
            let text = describe(&response, start.elapsed());
            let is_promised = written.stages.contains(&stage);
            let is_kept = match response.answer {
                Answer::Sat(_) => written.is_sat,
                Answer::Unsat => !written.is_sat,
                Answer::Unknown(_) => !is_promised,
            };
            print!(" {text:>33}{}", if is_kept { ' ' } else { '!' });
        }
        println!();
    }
    if only.is_none() {
        composition();
    }
}

/// Asks the usual composition all queries and prints the record of each stage.
fn composition() {
    let mut solver = standard(Config::default());
    for written in common::Written::all() {
        let written = written.simplified();
        let response = solver.solve(&written.query(), Budget::default());
        if let Answer::Unknown(reason) = response.answer {
            println!("{}: {reason}", written.name);
        }
    }
    println!(
        "\n{:16} {:>8} {:>6} {:>6} {:>8} {:>12} {:>12} {:>10}",
        "stage", "queries", "sat", "unsat", "unknown", "evaluations", "rlimit", "ms"
    );
    for (stage, record) in solver.statistics().stages {
        println!(
            "{stage:16} {:>8} {:>6} {:>6} {:>8} {:>12} {:>12} {:>10.3}",
            record.n_queries,
            record.n_sat,
            record.n_unsat,
            record.n_unknown,
            record.work.evaluations,
            record.work.rlimit,
            record.time.as_secs_f64() * 1e3,
        );
    }
}

fn describe(response: &Response, time: Duration) -> String {
    let answer = match &response.answer {
        Answer::Sat(_) => "sat".to_owned(),
        Answer::Unsat => "unsat".to_owned(),
        Answer::Unknown(reason) => format!("- {:.14}", format!("{reason:?}")),
    };
    let work = response.work.evaluations + response.work.rlimit;
    format!("{answer} {:.3} ms {work}", time.as_secs_f64() * 1e3)
}
