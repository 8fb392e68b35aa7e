//! Measures Cairn on real programs against independent tools.
//!
//! ```console
//! $ bench/run                       # everything
//! $ bench/run truth grep            # coverage of grep against gcov and clang
//! $ bench/run builds sed            # stock build of sed
//! $ bench/run checks grep           # its own test suite on our executable and on the plain view
//! $ bench/run speed                 # the next three, in one table
//! $ bench/run plain                 # what counters cost, against clang -O2
//! $ bench/run program-speed sort    # runs per second, against AFL++'s forkserver
//! $ bench/run harness-speed         # runs per second, against AFL++ persistent and libFuzzer
//! $ bench/run equality find         # runs in a session against runs in fresh processes
//! $ bench/run mutant-view           # what the mutant view costs while no mutant is active
//! $ bench/run mutants-speed grep    # mutants per second, against one process for each
//! $ bench/run mutants-truth sort    # mutants against the same mutants compiled alone
//! $ bench/run mutants-counts        # how many mutants there are, and what became of them
//! $ bench/run score-grep            # ten thousand mutants against the clock
//! $ bench/run opcodes find          # what programs consist of, and how well it is followed
//! $ bench/run symbolic-view         # what the symbolic view costs while nothing is symbolic
//! $ bench/run tracing               # runs that note what they do with their input, against native ones
//! $ bench/run queries sed           # recorded questions to the solvers
//! $ bench/run flips grep            # random branches decided otherwise
//! $ bench/run workers               # what a second worker adds
//! $ bench/run distill cjson         # distilled corpora, against afl-cmin
//! $ bench/run peers libraries       # branches reached in equal time, against AFL++ and libFuzzer
//! $ bench/run mu2 cjson             # mutants killed in equal time, with mutant feedback and without
//! $ bench/run csefuzz cjson         # symbolic seeds: how quickly they are chosen, and what fuzzing reaches from them
//! $ bench/run many-seeds            # forty thousand candidates against the clock
//! ```
//!
//! The programs are those of `cairn-targets`; figures are also written to `results/` in its cache.

mod afl;
mod builds;
mod cases;
mod checks;
mod difference;
mod distill;
mod equality;
mod generate;
mod harness_speed;
mod libfuzzer;
mod many_seeds;
mod measure;
mod mutants;
mod peers;
mod plain;
mod program_speed;
mod random;
mod results;
mod speed;
mod symbolic;
mod table;
mod tools;
mod truth;
mod workers;

use anyhow::{Result, bail, ensure};
use cairn_targets::Cache;
use table::Table;

/// All benchmarks, in the order in which `bench/run` runs them: the table comes last.
const ALL: &[&str] = &[
    "builds",
    "truth",
    "checks",
    "equality",
    "mutants-truth",
    "mutants-counts",
    "opcodes",
    "flips",
    "searches",
    "plain",
    "program-speed",
    "harness-speed",
    "mutant-view",
    "mutants-speed",
    "score-grep",
    "symbolic-view",
    "tracing",
    "queries",
    "workers",
    "many-seeds",
    "distill",
    "peers",
    "mu2",
];

/// Those that take hours, and are measured only if they are named.
const BY_NAME: &[&str] = &["heuristics", "csefuzz"];

/// Those that fill the table.
const SPEED: &[&str] = &[
    "plain",
    "program-speed",
    "harness-speed",
    "mutant-view",
    "mutants-speed",
    "score-grep",
    "symbolic-view",
    "tracing",
    "queries",
    "workers",
    "many-seeds",
];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let cache = tools::open()?;
    let (benchmarks, names) = match words.split_first() {
        None => (ALL.to_vec(), &[][..]),
        Some((what, [])) if what == "speed" => (SPEED.to_vec(), &[][..]),
        Some((what, _)) if what == "speed" => {
            bail!("`speed` takes no names\n\nhint: name one of {} and then programs", SPEED.join(", "))
        }
        Some((what, names)) => (vec![what.as_str()], names),
    };
    let mut table = Table::default();
    let mut failed = Vec::new();
    for what in benchmarks {
        if !SPEED.contains(&what) {
            println!("## {what}\n");
        }
        if let Err(error) = run(&cache, what, names, &mut table) {
            failed.push(format!("{what}: {error:#}"));
        }
    }
    table.print(&cache);
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

fn run(cache: &Cache, what: &str, names: &[String], table: &mut Table) -> Result<()> {
    let wanted = |all: &[&'static str]| -> Vec<String> {
        if names.is_empty() { all.iter().map(|name| name.to_string()).collect() } else { names.to_vec() }
    };
    match what {
        "builds" => builds::run(cache, &wanted(builds::ALL)),
        "checks" => checks::run(cache, &wanted(checks::ALL)),
        "truth" => truth::run(cache, &wanted(truth::ALL)),
        "equality" => equality::run(cache, &wanted(equality::ALL)),
        "plain" => each(&wanted(plain::ALL), |name| plain::run(cache, name, table)),
        "program-speed" => each(&wanted(program_speed::ALL), |name| program_speed::run(cache, name, table)),
        "harness-speed" => each(&wanted(harness_speed::ALL), |name| harness_speed::run(cache, name, table)),
        "mutants-truth" => mutants::truth(cache, &wanted(mutants::ALL)),
        "mutants-counts" => mutants::counts(cache, &wanted(mutants::ALL)),
        "mutant-view" => each(&wanted(mutants::ALL), |name| mutants::view(cache, name, table)),
        "mutants-speed" => each(&wanted(mutants::ALL), |name| mutants::speed(cache, name, table)),
        "score-grep" => each(&wanted(mutants::SCORED), |name| mutants::score(cache, name, table)),
        "opcodes" => symbolic::opcodes(cache, &wanted(symbolic::FLIPPED)),
        "symbolic-view" => each(&wanted(symbolic::MEASURED), |name| symbolic::view(cache, name, table)),
        "tracing" => symbolic::tracing(cache, &wanted(symbolic::MEASURED), table),
        "queries" => symbolic::queries(cache, &wanted(symbolic::FLIPPED), table),
        "workers" => each(&wanted(workers::ALL), |name| workers::run(cache, name, table)),
        "distill" => distill::run(cache, &wanted(distill::ALL)),
        "heuristics" => peers::heuristics::run(cache, &wanted(peers::heuristics::ALL)),
        "csefuzz" => peers::csefuzz::run(cache, &wanted(peers::csefuzz::ALL)),
        "many-seeds" => each(&wanted(many_seeds::ALL), |name| many_seeds::run(cache, name, table)),
        "mu2" => peers::mu2::run(cache, &wanted(peers::mu2::ALL)),
        "peers" => each(&wanted(peers::ALL), |name| peers::run(cache, name)),
        "searches" => symbolic::searches(cache, &wanted(symbolic::FLIPPED)),
        "flips" => symbolic::flips(cache, &wanted(symbolic::FLIPPED)),
        unknown => bail!(
            "there is no benchmark `{unknown}`; there are {}, `speed`, and {}",
            ALL.join(", "),
            BY_NAME.join(", ")
        ),
    }
}

/// Measures each; one that fails does not keep the others from being measured.
fn each(names: &[String], mut measure: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let mut failed = Vec::new();
    for name in names {
        failed.extend(measure(name).err().map(|error| format!("{name}: {error:#}")));
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}
