//! What the symbolic view costs on long runs while nothing is symbolic.

use super::{loops, subject::open};
use crate::{
    measure::{Pair, Pinned},
    plain::{Side, text, workloads},
    table::{Goal, Row, Table},
};
use anyhow::Result;
use cairn_targets::{Cache, Flavour};
use std::path::PathBuf;

/// Design §13: at most this many times the time of clang -O2.
const GOAL: Goal = Goal::AtMost(5.0);

/// Measures a program.
pub fn view(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let (ours, clang, stdin, workloads): (_, _, Option<PathBuf>, _) = match name {
        "loop" => {
            let built = loops::open(cache)?;
            let words = vec![vec!["100".to_string()]];
            (built.build.symbolic_view().program, built.clang, Some(text(cache)?), words)
        }
        _ => {
            let workloads = workloads(cache, name)?;
            let subject = open(cache, name)?;
            let clang = subject.target.executable(cache, Flavour::Clang)?;
            (subject.build.symbolic_view().program, clang, None, workloads)
        }
    };
    let _pinned = Pinned::to_one_core()?;
    for words in &workloads {
        let side = |program, output| Side { cache, name, program, words, stdin: stdin.as_deref(), output };
        let (ours, theirs) = (side(&ours, "symbolic"), side(&clang, "clang"));
        ours.check_same(&theirs)?;
        let pair = Pair::measure(|| ours.time(), || theirs.time())?;
        ours.check_same_output(&theirs)?;
        let row = Row {
            what: format!("symbolic view, no symbolic input: {}", ours.title()),
            our_command: ours.command(),
            peer_command: theirs.command(),
            unit: "s",
            pair,
            goal: GOAL,
            notes: vec![
                "CPU time of the process on one core, output to a file; both outputs are the same".into(),
                "on one loop SymCC takes 27 times, SymSan 68 times the time of clang -O2, recorded".into(),
            ],
        };
        table.add(cache, row)?;
    }
    Ok(())
}
