//! How long a run takes that notes everything it does with its input, against the same run of clang's build.

use super::{
    loops,
    subject::{Tracer, open},
};
use crate::{
    measure::{Pair, Pinned, Samples, cpu_time, short},
    plain::text,
    table::{Goal, Row, Table},
};
use anyhow::{Result, ensure};
use cairn_executor::{Executor, RunConfig, SymbolicConfig, Target};
use cairn_model::{
    Input,
    input::{FileKind, FileRegion},
};
use cairn_targets::{Cache, Flavour};
use std::{fs, path::Path};

/// Design §13: at most this many times the time of clang -O2, all programs together.
const GOAL: Goal = Goal::AtMost(15.0);

/// CPU seconds that one sample takes at least, because a single run takes milliseconds.
const LASTS: f64 = 0.5;

/// Measures all programs, each in a row, and what they say together.
pub fn tracing(cache: &Cache, names: &[String], table: &mut Table) -> Result<()> {
    let mut rows = Vec::new();
    for name in names {
        rows.push(measure(cache, name, table)?);
    }
    if let [_, _, ..] = rows[..] {
        let together = Pair {
            ours: geomean(rows.iter().map(|pair| &pair.ours)),
            peer: geomean(rows.iter().map(|pair| &pair.peer)),
        };
        let row = Row {
            what: format!("tracing, geometric mean: {}", names.join(", ")),
            our_command: "those of the rows above".into(),
            peer_command: "those of the rows above".into(),
            unit: "s",
            pair: together,
            goal: GOAL,
            notes: vec!["with solving, SymCC takes 80–100 times, SymSan 150 times the time of clang -O2 on grep, recorded".into()],
        };
        table.add(cache, row)?;
    }
    Ok(())
}

fn measure(cache: &Cache, name: &str, table: &mut Table) -> Result<Pair> {
    let (build, clang, program_name) = match name {
        "loop" => {
            let built = loops::open(cache)?;
            (built.build, built.clang, "loop")
        }
        _ => {
            let subject = open(cache, name)?;
            let clang = subject.target.executable(cache, Flavour::Clang)?;
            (subject.build, clang, subject.target.program_name)
        }
    };
    let input = workload(cache, name)?;
    let _pinned = Pinned::to_one_core()?;
    let config = SymbolicConfig { n_nodes: 64 << 20, trace_size: 256 << 20, ..SymbolicConfig::default() };
    let mut ours = Tracer::new(&build, program_name, config)?;
    let mut theirs = native(&clang, program_name)?;
    let traced = ours.run(&input)?;
    let native = theirs.run(&input)?;
    ensure!(traced.is_whole(), "the trace of {name} ends before the run: {:?}", traced.cut);
    ensure!(!traced.records.is_empty(), "{name} decides nothing by its input");
    ensure!(
        traced.execution.outcome.ending == native.outcome.ending
            && traced.execution.outcome.stdout == native.outcome.stdout,
        "{name} does something else in its symbolic view than clang's build"
    );
    let seconds = |run: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
        let start = cpu_time()?;
        let mut n_runs = 0;
        loop {
            for _ in 0..10 {
                run()?;
            }
            n_runs += 10;
            let seconds = cpu_time()? - start;
            if seconds >= LASTS {
                return Ok(seconds / f64::from(n_runs));
            }
        }
    };
    let pair = Pair::measure(
        || seconds(&mut || ours.run(&input).map(|_| ())),
        || seconds(&mut || Ok(theirs.run(&input).map(|_| ())?)),
    )?;
    let (n_nodes, n_records) = (traced.nodes.len(), traced.records.len());
    let row = Row {
        what: format!("tracing: {}", input_title(name, &input)),
        our_command: format!(
            "{}, in the executor, everything it left read",
            build.symbolic_view().program.display()
        ),
        peer_command: format!("{}, in the executor", clang.display()),
        unit: "s",
        notes: vec![format!(
            "{n_nodes} nodes and {n_records} records a run: {} nodes/s; CPU time of whole runs in fresh processes, sandbox full, the host's share included",
            short(n_nodes as f64 / pair.ours.median())
        )],
        pair: pair.clone(),
        goal: GOAL,
    };
    table.add(cache, row)?;
    Ok(pair)
}

fn native(program: &Path, name: &str) -> Result<Executor> {
    let target = Target { program: program.to_owned(), n_counters: 0 };
    Ok(Executor::new(target, RunConfig { program_name: Some(name.into()), ..RunConfig::default() })?)
}

/// A few thousand bytes, as inputs of whole programs are.
fn workload(cache: &Cache, name: &str) -> Result<Input> {
    let bytes = fs::read(text(cache)?)?;
    let lines = |n: usize| -> Vec<u8> {
        bytes.split_inclusive(|byte| *byte == b'\n').take(n).flatten().copied().collect()
    };
    let file = |content: Vec<u8>| FileRegion {
        path: "text".into(),
        kind: FileKind::Regular(content.into()),
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    };
    let with_file = |words: &[&str], content| Input {
        args: words.iter().map(|word| (*word).into()).collect(),
        files: vec![file(content)],
        ..Input::default()
    };
    Ok(match name {
        "sort" => with_file(&["text"], lines(200)),
        "grep" => with_file(&["-c", "-E", "(foo|bar)+ [0-9]{2,}|Rid.*x$", "text"], lines(200)),
        "loop" => Input { args: vec!["1".into()], stdin: lines(200).into(), ..Input::default() },
        unknown => anyhow::bail!("`{unknown}` is not measured here; try {}", super::MEASURED.join(", ")),
    })
}

fn input_title(name: &str, input: &Input) -> String {
    let words = input.args.iter().map(|word| String::from_utf8_lossy(&word.0).into_owned());
    std::iter::once(name.to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The geometric mean of several series, sample by sample.
fn geomean<'a>(series: impl Iterator<Item = &'a Samples> + Clone) -> Samples {
    let n = series.clone().count().max(1) as f64;
    let n_samples = series.clone().map(|samples| samples.0.len()).min().unwrap_or(0);
    let mean = |at: usize| (series.clone().map(|samples| samples.0[at].ln()).sum::<f64>() / n).exp();
    Samples((0..n_samples).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_of_means_is_the_mean_of_ratios() {
        let pairs = [
            Pair { ours: Samples(vec![4.0]), peer: Samples(vec![1.0]) },
            Pair { ours: Samples(vec![18.0]), peer: Samples(vec![2.0]) },
        ];
        let together = Pair {
            ours: geomean(pairs.iter().map(|pair| &pair.ours)),
            peer: geomean(pairs.iter().map(|pair| &pair.peer)),
        };
        assert!((together.ratio().0[0] - 6.0).abs() < 1e-9);
    }
}
