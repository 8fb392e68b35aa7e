//! Which core a worker lives on.

use nix::{
    sched::{CpuSet, sched_getaffinity, sched_getcpu},
    unistd::Pid,
};

/// The cores this process may use, the one it is on first.
///
/// A worker and its target hand over to each other all the time, which is quick only within a core. One worker alone stays
/// where the system put it, so that campaigns side by side do not all crowd on the first core.
pub(crate) fn usable() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).ok();
    let is_allowed =
        |core: &usize| allowed.as_ref().is_some_and(|allowed| allowed.is_set(*core).unwrap_or(false));
    let mut cores: Vec<usize> = (0..CpuSet::count()).filter(is_allowed).collect();
    if let Ok(current) = sched_getcpu()
        && let Some(at) = cores.iter().position(|core| *core == current)
    {
        cores.rotate_left(at);
    }
    cores
}

/// Keeps the calling thread on the core of a worker. Best effort: a machine may forbid it.
pub(crate) fn pin(cores: &[usize], worker: usize) {
    if let Some(core) = cores.get(worker % cores.len().max(1)) {
        let _ = cairn_executor::pin_to_core(*core);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_different_cores_as_far_as_there_are_any() {
        let cores = usable();
        assert!(!cores.is_empty());
        let mut sorted = cores.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), cores.len());
    }
}
