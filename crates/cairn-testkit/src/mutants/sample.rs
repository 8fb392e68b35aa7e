//! A few of many mutants, the same ones every time.

use cairn_model::{MutantId, MutantTable};
use std::collections::{BTreeMap, VecDeque};

/// At most `n` of `mutants`: each operator in turn gives one, so that rare operators are always there. The same `seed`
/// chooses the same ones.
pub fn sample(table: &MutantTable, mutants: &[MutantId], n: usize, seed: u64) -> Vec<MutantId> {
    let mut by_operator: BTreeMap<&str, Vec<(u64, MutantId)>> = BTreeMap::new();
    for mutant in mutants {
        let entry = &table.mutants[mutant.index()];
        let rank = mixed(entry.stable_id.0 ^ seed);
        by_operator.entry(&entry.operator).or_default().push((rank, *mutant));
    }
    let mut queues: VecDeque<VecDeque<MutantId>> = by_operator
        .into_values()
        .map(|mut ranked| {
            ranked.sort_unstable();
            ranked.into_iter().map(|(_, mutant)| mutant).collect()
        })
        .collect();
    let mut chosen = Vec::new();
    while chosen.len() < n
        && let Some(mut queue) = queues.pop_front()
    {
        chosen.extend(queue.pop_front());
        if !queue.is_empty() {
            queues.push_back(queue);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// A number that looks like chance: SplitMix64's last step.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{
        PatchId, StableId,
        mutants::{Change, Formula, Mutant},
    };

    #[test]
    fn every_operator_is_in_a_sample_that_has_room() {
        let mutant = |number: u64, operator: &str| Mutant {
            stable_id: StableId(number),
            patch: PatchId(0),
            operator: operator.into(),
            code: String::new(),
            replacement: String::new(),
            is_plain_text: false,
            change: Change::Value(Formula::default()),
        };
        let mut mutants: Vec<Mutant> = (0..50).map(|number| mutant(number, "common")).collect();
        mutants.push(mutant(99, "rare"));
        let table = MutantTable { mutants, ..MutantTable::default() };
        let all: Vec<MutantId> = (0..51).map(MutantId).collect();
        let chosen = sample(&table, &all, 4, 7);
        assert!(chosen.len() == 4 && chosen.contains(&MutantId(50)), "{chosen:?}");
        assert_eq!(sample(&table, &all, 4, 7), chosen);
        assert_ne!(sample(&table, &all, 4, 8), chosen);
        assert_eq!(sample(&table, &all, 99, 7), all);
    }
}
