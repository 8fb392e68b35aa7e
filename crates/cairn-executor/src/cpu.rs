//! Processor time of a process and everything below it.

use std::{collections::BTreeMap, fs, time::Duration};

/// Time that a process, its children and theirs have used, those that ended included.
///
/// Targets live for long in processes of their own, which the system adds to their parent's time only when they end.
pub fn tree_time(root: u32) -> Duration {
    let Ok(folder) = fs::read_dir("/proc") else { return Duration::ZERO };
    let mut processes = BTreeMap::new();
    for entry in folder.flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // A process that ended meanwhile has been added to its parent's.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some(process) = parse(&stat) {
            processes.insert(id, process);
        }
    }
    let is_below = |id: u32| {
        let mut at = id;
        // No line of descent is longer than the number of processes.
        for _ in 0..processes.len() {
            match processes.get(&at) {
                _ if at == root => return true,
                Some(process) => at = process.parent,
                None => return false,
            }
        }
        false
    };
    let ticks: u64 =
        processes.iter().filter(|(id, _)| is_below(**id)).map(|(_, process)| process.ticks).sum();
    // The kernel's unit in /proc, the same on every Linux that we run on.
    Duration::from_millis(ticks * 10)
}

struct Process {
    parent: u32,
    /// Own time and that of children that ended.
    ticks: u64,
}

fn parse(stat: &str) -> Option<Process> {
    // The name may hold anything, also spaces and parentheses; what follows the last one does not.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let ticks = [11, 12, 13, 14].into_iter().map(number).sum::<Option<u64>>()?;
    Some(Process { parent: number(1)? as u32, ticks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_do_not_confuse() {
        let process = parse("12 (a) b) (c) S 7 1 1 0 -1 4 1 0 0 0 5 6 7 8 20 0 1 0").unwrap();
        assert_eq!((process.parent, process.ticks), (7, 26));
    }

    #[test]
    fn our_own_time_grows() {
        let own = std::process::id();
        let before = tree_time(own);
        let mut x = 1u64;
        while tree_time(own) < before + Duration::from_millis(30) {
            for _ in 0..10_000_000 {
                x = std::hint::black_box(x.wrapping_mul(3));
            }
        }
    }
}
