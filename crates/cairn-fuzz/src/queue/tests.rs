use super::*;
use expect_test::expect;

/// A seed of so many bytes and steps that hits these counters once.
fn seed(size: usize, fuel: u64, counters: &[u32]) -> Seed {
    let input = Input { stdin: vec![b'x'; size].into(), ..Input::default() };
    Seed::new(input, counters.iter().map(|counter| (*counter, 1)).collect(), fuel, None)
}

fn favoured(queue: &mut Queue) -> Vec<usize> {
    queue.favour();
    (0..queue.len()).filter(|index| queue.seed(*index).is_favoured).collect()
}

#[test]
fn the_cheapest_seeds_that_cover_all_counters_are_favoured() {
    let mut queue = Queue::default();
    queue.add(seed(10, 10, &[0, 1, 2]));
    assert_eq!(favoured(&mut queue), [0]);
    queue.add(seed(100, 10, &[0, 1, 2, 3]));
    assert_eq!(favoured(&mut queue), [0, 1]);
    // Cheaper for two of the counters, and nobody else has the last.
    queue.add(seed(5, 10, &[2, 3]));
    assert_eq!(favoured(&mut queue), [0, 2]);
    queue.retire(2);
    assert_eq!(favoured(&mut queue), [0, 1]);
}

#[test]
fn new_favoured_seeds_come_first_and_then_what_is_rare() {
    let mut queue = Queue::default();
    let mut random = Random::new(1);
    queue.add(seed(1, 10, &[0]));
    queue.add(seed(1, 10, &[0, 1]));
    queue.add(seed(1, 40, &[0, 1, 2]));
    queue.add(seed(1, 40, &[0]));
    let mut choose = |queue: &mut Queue, n: usize| -> Vec<(usize, u32)> {
        (0..n).filter_map(|_| queue.choose(&mut random, &|_| 1.0)).collect()
    };
    let mut log = String::new();
    for (index, energy) in choose(&mut queue, 3) {
        log += &format!("first: seed {index}, {energy} inputs\n");
    }
    // Almost all runs go the way of the first seed.
    for _ in 0..1000 {
        queue.sample(queue.seed(0).signature());
    }
    for _ in 0..10 {
        queue.sample(queue.seed(1).signature());
    }
    let mut totals = [(0, 0); 4];
    for (index, energy) in choose(&mut queue, 10_000) {
        totals[index] = (totals[index].0 + 1, energy);
    }
    for (index, (n, energy)) in totals.iter().enumerate() {
        log += &format!("later: seed {index} {n} times, {energy} inputs\n");
    }
    expect![[r#"
        first: seed 0, 605 inputs
        first: seed 1, 605 inputs
        first: seed 2, 162 inputs
        later: seed 0 612 times, 1217 inputs
        later: seed 1 4663 times, 4096 inputs
        later: seed 2 4696 times, 1298 inputs
        later: seed 3 29 times, 326 inputs
    "#]]
    .assert_eq(&log);
}

#[test]
fn what_is_scored_higher_is_chosen_more_often() {
    let mut queue = Queue::default();
    let mut random = Random::new(1);
    queue.add(seed(1, 10, &[0]));
    queue.add(seed(1, 10, &[1]));
    let second_counts = |seed: &Seed| if seed.hits()[0].0 == 1 { 9.0 } else { 1.0 };
    let n_second = (0..1000).filter(|_| queue.choose(&mut random, &second_counts).unwrap().0 == 1).count();
    assert!((850..950).contains(&n_second), "{n_second}");
}

#[test]
fn without_seeds_nothing_is_chosen() {
    let mut queue = Queue::default();
    assert!(queue.choose(&mut Random::new(1), &|_| 1.0).is_none());
    queue.add(seed(1, 1, &[0]));
    queue.retire(0);
    assert!(queue.choose(&mut Random::new(1), &|_| 1.0).is_none());
}
