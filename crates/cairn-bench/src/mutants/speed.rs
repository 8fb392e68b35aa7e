//! All reached mutants on recorded inputs, against one process for each.

use super::{
    process::Folder,
    subject::{Subject, open, recorded},
};
use crate::{
    measure::{Pair, Pinned, REPEATS, Samples, short},
    random::Random,
    table::{Goal, Row, Table},
};
use anyhow::{Result, ensure};
use cairn_executor::mutants::{MutantSession, fuel_for};
use cairn_model::{Ending, Input, MutantId};
use cairn_targets::Cache;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Design §13: at least this many times the rate of one process for each mutant.
const AGAINST_PROCESSES: Goal = Goal::AtLeast(30.0);

/// Design §13: at least this many times Mull's rate on grep.
const AGAINST_MULL: Goal = Goal::AtLeast(100.0);

/// Mutants per second that Mull manages on grep, on this kind of machine: recorded, because no package has it here.
const MULL: f64 = 42.0;

/// Inputs whose mutants are run.
const N_INPUTS: usize = 16;

/// Mutants that the other side runs in a repeat, by chance.
const N_PEER: usize = 150;

/// An input and what it reaches.
struct Work {
    input: Input,
    reached: Vec<MutantId>,
    /// Ten times the median of the original.
    limit: Duration,
}

/// Measures a program.
pub fn speed(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let subject = open(cache, name, "deminer")?;
    let inputs = recorded(cache, subject.target, 4 * N_INPUTS)?;
    let _pinned = Pinned::to_one_core()?;
    let mut session = subject.build.session(subject.run_config());
    let inputs: Vec<Input> = inputs.into_iter().map(|(_, input)| input).collect();
    let works = prepare(&subject, &mut session, inputs)?;
    let n_pairs: usize = works.iter().map(|work| work.reached.len()).sum();
    (cache.say)(&format!("{name}: {n_pairs} pairs of mutant and input, {REPEATS} times"));
    let mut random = Random(11);
    let mut ends = Ends::default();
    let pair = Pair::measure(
        || {
            let seconds;
            (seconds, ends) = ours(&mut session, &works)?;
            Ok(n_pairs as f64 / seconds)
        },
        || theirs(&subject, &works, &mut random),
    )?;
    let counts = session.counts();
    let notes = vec![
        format!(
            "{n_pairs} pairs of a reached mutant and one of {} inputs; ours ran {} of them, the others make no \
             difference where they are reached",
            works.len(),
            ends.values().map(|(n, _)| n).sum::<usize>()
        ),
        format!("ours by how they ended, and the time between start and end: {}", told(&ends)),
        format!(
            "ours: {} runs in the session, {} in fresh processes",
            counts.n_live,
            counts.n_fresh_in_all()
        ),
        format!(
            "theirs: {N_PEER} of these pairs by chance in each of {REPEATS} repeats, each a process; all are ended after ten times the median of the original"
        ),
    ];
    let row = |what: String, peer_command: String, pair: Pair, goal| Row {
        what,
        our_command: format!(
            "examine and run in a session of {} (set deminer, snapshot, sandbox full, one core)",
            subject.build.mutant_view().program.display()
        ),
        peer_command,
        unit: "mutants/s",
        pair,
        goal,
        notes: notes.clone(),
    };
    let view = subject.build.mutant_view().program;
    let peer = format!("CAIRN_MUTANT=ID {} (one process a mutant, files in memory)", view.display());
    let mull = Pair { ours: pair.ours.clone(), peer: Samples(vec![MULL; pair.ours.0.len()]) };
    table.add(cache, row(format!("reached mutants × inputs: {name}"), peer, pair, AGAINST_PROCESSES))?;
    if name == "grep" {
        let peer = format!("Mull: {} mutants/s, recorded", short(MULL));
        table.add(
            cache,
            row(format!("reached mutants × inputs against Mull: {name}"), peer, mull, AGAINST_MULL),
        )?;
    }
    Ok(())
}

/// The inputs that both sides can run, with what they reach.
fn prepare(subject: &Subject, session: &mut MutantSession, inputs: Vec<Input>) -> Result<Vec<Work>> {
    let view = subject.build.mutant_view().program;
    let mut works = Vec::new();
    for input in inputs {
        let examined = session.examine(&input)?;
        if !matches!(examined.run.execution.outcome.ending, Ending::Exited { .. }) || works.len() == N_INPUTS
        {
            continue;
        }
        let Some(folder) = Folder::of(&input, subject.target.program_name)? else { continue };
        let mut times = Vec::new();
        for _ in 0..5 {
            times.push(folder.run(&view, None, Duration::from_secs(10))?.as_secs_f64());
        }
        drop(folder);
        let reached = examined
            .reached
            .iter()
            .flat_map(|patch| subject.build.table.patches[patch.index()].mutants.clone().map(MutantId));
        let reached: Vec<MutantId> = reached.collect();
        let limit = Duration::from_secs_f64(10.0 * Samples(times).median());
        works.push(Work { input, reached, limit });
    }
    ensure!(works.len() == N_INPUTS, "only {} recorded inputs can be run by both sides", works.len());
    Ok(works)
}

/// Runs by how they ended: how many, and how long they took together.
type Ends = BTreeMap<&'static str, (usize, Duration)>;

fn told(ends: &Ends) -> String {
    let part =
        |(name, (n, time)): (&&str, &(usize, Duration))| format!("{n} {name} ({:.1} s)", time.as_secs_f64());
    ends.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// Judges every pair once; returns the seconds and what became of mutants that had to be run.
fn ours(session: &mut MutantSession, works: &[Work]) -> Result<(f64, Ends)> {
    let start = Instant::now();
    let mut ends = Ends::default();
    for work in works {
        // Some mutants of `sort` wait for a thread that never comes; both sides give up at the same time.
        session.set_wall_limit(work.limit);
        session.set_fuel(0);
        let examined = session.examine(&work.input)?;
        session.set_fuel(fuel_for(examined.run.execution.fuel_used));
        for run in session.run(&work.input, &examined.infected)? {
            let outcome = run.run.execution.outcome;
            let name = match outcome.ending {
                Ending::Exited { .. } => "exited",
                Ending::Signalled { .. } => "crashed",
                Ending::OutOfFuel => "out of fuel",
                Ending::TimedOut => "out of time",
                _ => "others",
            };
            let end = ends.entry(name).or_default();
            end.0 += 1;
            end.1 += outcome.elapsed;
        }
    }
    Ok((start.elapsed().as_secs_f64(), ends))
}

/// Runs some pairs, each in a process of its own; mutants per second.
fn theirs(subject: &Subject, works: &[Work], random: &mut Random) -> Result<f64> {
    let view = subject.build.mutant_view().program;
    let table = &subject.build.table;
    let n_pairs: usize = works.iter().map(|work| work.reached.len()).sum();
    let mut seconds = 0.0;
    let mut n_run = 0;
    for work in works {
        // Inputs that reach more have their share.
        let n = (N_PEER * work.reached.len()).div_ceil(n_pairs.max(1));
        let folder = Folder::of(&work.input, subject.target.program_name)?.expect("it was laid out before");
        for _ in 0..n {
            let mutant = table.mutants[random.pick(&work.reached).index()].stable_id;
            seconds += folder.run(&view, Some(mutant), work.limit)?.as_secs_f64();
            n_run += 1;
        }
    }
    Ok(f64::from(n_run) / seconds)
}
