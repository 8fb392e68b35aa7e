//! Measures Cairn on real programs against independent tools.
//!
//! ```console
//! $ bench/run                 # everything
//! $ bench/run truth grep      # coverage of grep against gcov and clang
//! $ bench/run builds sed      # stock build of sed
//! $ bench/run checks grep     # its own test suite on our executable and on the plain view
//! ```
//!
//! Sources come from Debian, are unpacked below a cache folder outside the checkout, and are never committed.

mod builds;
mod cases;
mod checks;
mod package;
mod tools;
mod truth;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (what, names) = match words.split_first() {
        None => ("all", &[][..]),
        Some((what, names)) => (what.as_str(), names),
    };
    let wanted = |all: &[&'static str]| -> Vec<String> {
        if names.is_empty() { all.iter().map(|name| name.to_string()).collect() } else { names.to_vec() }
    };
    let cache = tools::Cache::open()?;
    match what {
        "builds" => builds::run(&cache, &wanted(builds::ALL)),
        "checks" => checks::run(&cache, &wanted(checks::ALL)),
        "truth" => truth::run(&cache, &wanted(truth::ALL)),
        "all" => {
            builds::run(&cache, &wanted(builds::ALL))?;
            truth::run(&cache, &wanted(truth::ALL))?;
            checks::run(&cache, &wanted(checks::ALL))
        }
        unknown => bail!("there is no benchmark `{unknown}`; there are `builds`, `truth` and `checks`"),
    }
}
