//! How many candidates the search evaluates in a second of its processor, on queries it cannot answer.
//!
//! `cargo run --release -p cairn-solver --example speed`

use cairn_expr::{Dag, ExprId, RegionId, parse, simplify};
use cairn_solver::{Budget, Query, Search, Solver};
use std::{collections::BTreeMap, fs, time::Duration};

/// Impossible, so that all of the budget is used: what a path through a parser of words, numbers or doubles asks.
const QUERIES: [(&str, &[&str]); 5] = [
    (
        "two words",
        &[
            "(ult (mul (input stdin 0 32) (input stdin 4 32)) (const 32 1))",
            "(ult (const 32 77) (or (input stdin 0 32) (const 32 1)))",
            "(eq (and (input stdin 4 32) (const 32 1)) (const 32 1))",
            "(eq (and (input stdin 0 32) (const 32 1)) (const 32 1))",
        ],
    ),
    (
        "a keyword",
        &[
            "(eq (xor (input stdin 0 8) (input stdin 1 8)) (const 8 3))",
            "(eq (xor (input stdin 1 8) (input stdin 2 8)) (const 8 5))",
            "(eq (xor (input stdin 2 8) (input stdin 0 8)) (const 8 9))",
        ],
    ),
    (
        "six digits",
        &[
            "(ule (const 8 48) (input stdin 0 8))",
            "(ule (input stdin 0 8) (const 8 57))",
            "(ule (const 8 48) (input stdin 1 8))",
            "(ule (input stdin 1 8) (const 8 57))",
            "(ule (const 8 48) (input stdin 2 8))",
            "(ule (input stdin 2 8) (const 8 57))",
            "(ule (const 8 48) (input stdin 3 8))",
            "(ule (input stdin 3 8) (const 8 57))",
            "(ule (const 8 48) (input stdin 4 8))",
            "(ule (input stdin 4 8) (const 8 57))",
            "(ule (const 8 48) (input stdin 5 8))",
            "(ule (input stdin 5 8) (const 8 57))",
            "(ult (const 32 53000000) (add (mul (add (mul (add (mul (add (mul (add (mul (zext 32 (input stdin 0 8)) (const 32 10)) (zext 32 (input stdin 1 8))) (const 32 10)) (zext 32 (input stdin 2 8))) (const 32 10)) (zext 32 (input stdin 3 8))) (const 32 10)) (zext 32 (input stdin 4 8))) (const 32 10)) (zext 32 (input stdin 5 8))))",
        ],
    ),
    (
        "two doubles",
        &[
            "(flt (fadd (fmul (input stdin 0 64) (input stdin 0 64)) (fmul (input stdin 8 64) (input stdin 8 64))) (fmul (const 64 0x3ff8000000000000) (fmul (input stdin 0 64) (input stdin 8 64))))",
        ],
    ),
    (
        "a sum of 16 bytes",
        &[
            "(ult (const 16 5000) (add (add (add (add (add (add (add (zext 16 (input stdin 0 8)) (zext 16 (input stdin 1 8))) (add (zext 16 (input stdin 2 8)) (zext 16 (input stdin 3 8)))) (add (zext 16 (input stdin 4 8)) (zext 16 (input stdin 5 8)))) (add (zext 16 (input stdin 6 8)) (zext 16 (input stdin 7 8)))) (add (zext 16 (input stdin 8 8)) (zext 16 (input stdin 9 8)))) (add (zext 16 (input stdin 10 8)) (zext 16 (input stdin 11 8)))) (add (add (zext 16 (input stdin 12 8)) (zext 16 (input stdin 13 8))) (add (zext 16 (input stdin 14 8)) (zext 16 (input stdin 15 8))))))",
        ],
    ),
];

fn main() {
    println!("{:20} {:>8} {:>14} {:>16}", "query", "nodes", "evaluations", "per second");
    for (name, texts) in QUERIES {
        let mut raw = Dag::new();
        let mut dag = Dag::new();
        let conditions: Vec<ExprId> = texts
            .iter()
            .map(|text| {
                let id = parse(&mut raw, text).expect("it is an expression");
                simplify(&raw, id, &mut dag)
            })
            .collect();
        let (goal, constraints) = conditions.split_last().expect("there are conditions");
        let seed: BTreeMap<RegionId, Vec<u8>> = BTreeMap::new();
        let query = Query { dag: &dag, constraints, n_always: 0, goal: *goal, seed: &seed };
        let budget = Budget { evaluations: 3_000_000, rlimit: 0, timeout: Duration::from_secs(10) };
        let start = processor_time();
        let response = Search::new(0).solve(&query, budget);
        let seconds = (processor_time() - start).as_secs_f64();
        let evaluations = response.work.evaluations;
        println!(
            "{name:20} {:>8} {evaluations:>14} {:>14.2} M",
            dag.evaluated(&conditions).len(),
            evaluations as f64 / seconds / 1e6,
        );
    }
}

/// How long this thread has run. Other work on the machine does not count.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let nanoseconds =
        text.split(' ').next().and_then(|number| number.parse().ok()).expect("the first number");
    Duration::from_nanos(nanoseconds)
}
