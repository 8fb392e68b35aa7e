//! Repeats that take turns, and what they say together.

use anyhow::{Context, Result};
use cairn_executor::pin_to_core;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use std::{fmt, fs};

/// How often each side is measured.
pub const REPEATS: usize = 5;

/// Measurements of one thing, in the order they were made.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// The middle one.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
        }
    }

    /// The smallest and the largest.
    pub fn range(&self) -> (f64, f64) {
        self.0.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &sample| {
            (least.min(sample), most.max(sample))
        })
    }
}

/// `1.12 (1.10–1.15)`: the median and what lies around it.
impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = self.range();
        write!(f, "{} ({}–{})", short(self.median()), short(least), short(most))
    }
}

/// Three digits, which is more than any of this is worth.
pub fn short(number: f64) -> String {
    match number.abs() {
        n if n >= 10_000.0 => format!("{:.0} k", number / 1000.0),
        n if n >= 100.0 => format!("{number:.0}"),
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 0.1 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}

/// Keeps this thread, and what it starts, on one core until dropped. Builds in between want all of them.
pub struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// Chooses the last core: whatever else the machine does tends to start on the first.
    pub fn to_one_core() -> Result<Self> {
        let before = sched_getaffinity(Pid::from_raw(0))?;
        let last = (0..CpuSet::count()).rev().find(|core| before.is_set(*core).unwrap_or(false));
        pin_to_core(last.context("this process may run on no core")?)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Should it fail, later builds are slower and nothing else.
        let _ = sched_setaffinity(Pid::from_raw(0), &self.before);
    }
}

/// Both sides of a comparison, measured in turns so that a busy moment of the machine meets both.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Ours.
    pub ours: Samples,
    /// Theirs.
    pub peer: Samples,
}

impl Pair {
    /// Measures each side [`REPEATS`] times.
    pub fn measure(
        mut ours: impl FnMut() -> Result<f64>,
        mut peer: impl FnMut() -> Result<f64>,
    ) -> Result<Self> {
        let mut pair = Self { ours: Samples(Vec::new()), peer: Samples(Vec::new()) };
        for _ in 0..REPEATS {
            pair.ours.0.push(ours().context("our side")?);
            pair.peer.0.push(peer().context("the other side")?);
        }
        Ok(pair)
    }

    /// Ours divided by theirs, repeat by repeat.
    pub fn ratio(&self) -> Samples {
        Samples(self.ours.0.iter().zip(&self.peer.0).map(|(ours, peer)| ours / peer).collect())
    }
}

/// CPU seconds of this process and of everything it ever started, as far as the system still tells.
///
/// A busy machine changes this less than the time on the wall. It is counted in hundredths.
pub fn cpu_time() -> Result<f64> {
    let mut ticks = 0;
    let mut open = vec![std::process::id()];
    while let Some(process) = open.pop() {
        // One that has just ended is counted by its parent.
        let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { continue };
        ticks += ticks_in(&stat).with_context(|| format!("`/proc/{process}/stat` has no times"))?;
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    let a_second =
        nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)?.context("the clock has no ticks")?;
    Ok(ticks as f64 / a_second as f64)
}

/// Own ticks and those of children that were waited for. The name before them may hold anything.
fn ticks_in(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_process_stand_behind_its_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 200 0 0 3 4 50 60 20 0 1";
        assert_eq!(ticks_in(stat), Some(117));
        assert!(cpu_time().unwrap() >= 0.0);
    }

    #[test]
    fn a_ratio_is_taken_between_neighbours_in_time() {
        // The machine was busy in the second half, for both.
        let pair = Pair { ours: Samples(vec![2.0, 2.0, 4.0]), peer: Samples(vec![1.0, 1.0, 2.0]) };
        assert_eq!(pair.ratio().0, [2.0, 2.0, 2.0]);
        assert_eq!(pair.ratio().to_string(), "2.00 (2.00–2.00)");
        assert_eq!(Samples(vec![3.0, 1.0]).median(), 2.0);
        assert_eq!(Samples(vec![123_456.0]).to_string(), "123 k (123 k–123 k)");
    }
}
