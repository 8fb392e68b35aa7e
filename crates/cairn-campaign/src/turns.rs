//! Whose turn it is.

use std::time::Duration;

/// Whose turn it is among the strategies of a worker.
///
/// Each has time in proportion to what it has found for its time lately, and none less than a small part of what the best one has, because
/// what others find may give it new work. With random and concolic testing that is the hybrid of Majumdar and Sen, *Hybrid Concolic
/// Testing* (ICSE 2007), who change when random testing finds nothing more: as it dries up, concolic testing has more and more of the time.
///
/// Where work is limited and not time, everybody has one step after the other, so that nothing depends on the clock.
#[derive(Debug)]
pub(crate) struct Turns {
    current: usize,
    /// By strategy.
    accounts: Vec<Account>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// What it found and the time that took it, lately: by its own time.
    n_found: f64,
    seconds: f64,
    /// The time it had lately: by everybody's.
    had: f64,
}

/// After so many seconds of one's own time, a third of what was found counts.
const MEMORY: f64 = 4.0;

/// After so many seconds of everybody's time, a third of what one has had is remembered. What was long ago is no debt.
const HORIZON: f64 = 10.0;

/// Everybody has this part of what the best one has.
const LEAST_PART: f64 = 1.0 / 16.0;

/// Who has nothing to do has had this much: it is not asked again at once.
const IDLE: f64 = 0.1;

/// Who has found nothing might have found half of something.
const CHANCE: f64 = 0.5;

/// What came of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// How long it took, with the judgement of what it proposed; `None` where time does not count.
    pub(crate) took: Option<Duration>,
    /// How many places it reached that nobody had reached.
    pub(crate) n_found: usize,
    /// Whether it had nothing to propose.
    pub(crate) is_idle: bool,
}

impl Turns {
    /// The first of `n` begins.
    pub(crate) fn new(n: usize) -> Self {
        Self { current: 0, accounts: vec![Account::default(); n] }
    }

    /// Who makes the next step.
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// Hears what came of a step of the current one.
    pub(crate) fn hear(&mut self, step: Step) {
        let Some(took) = step.took else {
            self.current = (self.current + 1) % self.accounts.len();
            return;
        };
        let took = took.as_secs_f64().max(if step.is_idle { IDLE } else { 0.0 });
        self.accounts.iter_mut().for_each(|account| account.had *= (-took / HORIZON).exp());
        self.accounts[self.current].learn(took, step.n_found);
        self.current = self.next();
    }

    /// Who has had the least for what it finds.
    fn next(&self) -> usize {
        let most = self.accounts.iter().map(Account::rate).fold(0.0, f64::max);
        let had = |index: &usize| {
            let account = &self.accounts[*index];
            account.had / account.rate().max(most * LEAST_PART)
        };
        let all = 0..self.accounts.len();
        all.min_by(|one, other| had(one).total_cmp(&had(other))).unwrap_or(0)
    }
}

impl Account {
    fn learn(&mut self, took: f64, n_found: usize) {
        let left = (-took / MEMORY).exp();
        self.n_found = self.n_found * left + n_found as f64;
        self.seconds = self.seconds * left + took;
        self.had += took;
    }

    /// What it finds in a second.
    fn rate(&self) -> f64 {
        (self.n_found + CHANCE) / (self.seconds + CHANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of half a second until the time is over, with what each strategy finds in its `n`th step. Steps by strategy.
    fn steps(seconds: u32, finds: [fn(usize) -> usize; 2]) -> [usize; 2] {
        let mut turns = Turns::new(2);
        let mut n_steps = [0; 2];
        for _ in 0..2 * seconds {
            let current = turns.current();
            let n_found = finds[current](n_steps[current]);
            n_steps[current] += 1;
            turns.hear(Step { took: Some(Duration::from_millis(500)), n_found, is_idle: false });
        }
        n_steps
    }

    #[test]
    fn who_finds_the_same_has_the_same_time() {
        for finds in [[|_| 0, |_| 0], [|_| 5, |_| 5]] {
            let [first, second] = steps(120, finds);
            assert!(first.abs_diff(second) <= 4, "{first} {second}");
        }
    }

    #[test]
    fn who_finds_more_has_more_time() {
        let [first, second] = steps(300, [|_| 30, |_| 10]);
        assert!((2 * second..=4 * second).contains(&first), "{first} {second}");
    }

    #[test]
    fn who_finds_nothing_has_a_little() {
        let [first, second] = steps(300, [|_| 50, |_| 0]);
        assert!((20..=60).contains(&second), "{first} {second}");
    }

    #[test]
    fn who_dries_up_makes_room_for_others() {
        let [first, second] = steps(30, [|step| if step < 20 { 50 } else { 0 }, |_| 1]);
        assert!(first > 18, "{first} {second}");
        let [later_first, later_second] = steps(300, [|step| if step < 20 { 50 } else { 0 }, |_| 1]);
        assert!(later_second - second > 2 * (later_first - first), "{later_first} {later_second}");
    }

    #[test]
    fn one_that_has_nothing_to_do_is_not_waited_for() {
        let mut turns = Turns::new(2);
        turns.hear(Step { took: Some(Duration::from_millis(1)), n_found: 0, is_idle: true });
        assert_eq!(turns.current(), 1);
    }

    #[test]
    fn without_a_clock_everybody_has_a_step_after_the_other() {
        let mut turns = Turns::new(3);
        let order: Vec<usize> = (0..6)
            .map(|_| {
                let current = turns.current();
                turns.hear(Step { n_found: 1, ..Step::default() });
                current
            })
            .collect();
        assert_eq!(order, [0, 1, 2, 0, 1, 2]);
    }
}
