//! Driver and target on one core.

use nix::{
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};
use std::io;

/// Keeps the calling thread on `core`. An executor or session made afterwards inherits it, keeper and target
/// included: passing the turn within a core takes a few microseconds, to another core a hundred on a virtual machine.
pub fn pin_to_core(core: usize) -> io::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &cores)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_on_its_core() {
        let core = nix::sched::sched_getcpu().unwrap();
        pin_to_core(core).unwrap();
        let cores = nix::sched::sched_getaffinity(Pid::from_raw(0)).unwrap();
        assert_eq!(
            (0..CpuSet::count()).filter(|core| cores.is_set(*core).unwrap()).collect::<Vec<_>>(),
            [core]
        );
        assert!(pin_to_core(CpuSet::count()).is_err());
    }
}
