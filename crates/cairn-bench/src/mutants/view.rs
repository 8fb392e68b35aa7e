//! What the mutant view costs on long runs while no mutant is active.

use super::subject::open;
use crate::{
    measure::{Pair, Pinned},
    plain::{Side, workloads},
    table::{Goal, Row, Table},
};
use anyhow::Result;
use cairn_targets::{Cache, Flavour};

/// Design §13: at most this many times the time of clang -O2.
const AGAINST_CLANG: Goal = Goal::AtMost(1.5);

/// And at most this many times the time of the plain view.
const AGAINST_PLAIN: Goal = Goal::AtMost(1.2);

/// Measures a program.
pub fn view(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let workloads = workloads(cache, name)?;
    let subject = open(cache, name, "compact")?;
    let clang = subject.target.executable(cache, Flavour::Clang)?;
    let program = subject.build.mutant_view().program;
    let _pinned = Pinned::to_one_core()?;
    for words in &workloads {
        let side = |program, output| Side { cache, name, program, words, stdin: None, output };
        let ours = side(&program, "mutant");
        for (peer, theirs, goal) in [
            ("clang", side(&clang, "clang"), AGAINST_CLANG),
            ("the plain view", side(&subject.built.plain, "plain"), AGAINST_PLAIN),
        ] {
            ours.check_same(&theirs)?;
            let pair = Pair::measure(|| ours.time(), || theirs.time())?;
            ours.check_same_output(&theirs)?;
            let row = Row {
                what: format!("mutant view, none active, against {peer}: {}", ours.title()),
                our_command: ours.command(),
                peer_command: theirs.command(),
                unit: "s",
                pair,
                goal,
                notes: vec![format!(
                    "CPU time of the process on one core; {} mutants in {} functions",
                    subject.build.table.mutants.len(),
                    subject.build.table.functions.len()
                )],
            };
            table.add(cache, row)?;
        }
    }
    Ok(())
}
