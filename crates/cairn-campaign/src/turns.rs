//! Whose turn it is.

use std::time::Duration;

/// Whose turn it is among the strategies of a worker.
///
/// One goes on as long as it comes to something new more quickly than the next one is used to; then it is the next one's turn, which begins
/// with what the others have found. With random and concolic testing that is the hybrid of Majumdar and Sen, *Hybrid Concolic Testing*
/// (ICSE 2007), who change when random testing finds nothing more; how long to wait for that is learnt here, not chosen.
///
/// Where work is limited and not time, everybody has one step after the other, so that nothing depends on the clock.
#[derive(Debug)]
pub(crate) struct Turns {
    current: usize,
    /// For how long the current one has found nothing.
    dry: Duration,
    /// By strategy.
    earned: Vec<Earned>,
}

/// What a strategy has found for its time; what is long ago counts less.
#[derive(Clone, Copy, Debug, Default)]
struct Earned {
    seconds: f64,
    n_found: f64,
}

/// Nobody is interrupted sooner: a strategy has to get going.
const LEAST_PATIENCE: f64 = 0.25;

/// And nobody is waited for longer, however little the next one is used to find.
const MOST_PATIENCE: f64 = 4.0;

/// What is left of what one has earned after a step of another, which may have changed what there is to be found.
const MEMORY: f64 = 0.97;

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
        Self { current: 0, dry: Duration::ZERO, earned: vec![Earned::default(); n] }
    }

    /// Who makes the next step.
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// Hears what came of a step of the current one.
    pub(crate) fn hear(&mut self, step: Step) {
        let next = (self.current + 1) % self.earned.len();
        let Some(took) = step.took else {
            self.current = next;
            return;
        };
        self.earned.iter_mut().enumerate().filter(|(index, _)| *index != self.current).for_each(
            |(_, earned)| {
                earned.seconds *= MEMORY;
                earned.n_found *= MEMORY;
            },
        );
        let earned = &mut self.earned[self.current];
        earned.seconds += took.as_secs_f64();
        earned.n_found += step.n_found as f64;
        self.dry = if step.n_found > 0 { Duration::ZERO } else { self.dry + took };
        if step.is_idle || self.dry.as_secs_f64() >= self.earned[next].patience() {
            (self.current, self.dry) = (next, Duration::ZERO);
        }
    }
}

impl Earned {
    /// How long others may find nothing before it is better to wait for this one.
    fn patience(&self) -> f64 {
        (self.seconds / self.n_found.max(1.0)).clamp(LEAST_PATIENCE, MOST_PATIENCE)
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
    fn who_finds_something_goes_on() {
        assert_eq!(steps(30, [|_| 1, |_| 1]), [60, 0]);
        let [first, second] = steps(30, [|_| 0, |_| 1]);
        assert!(first == 1 && second == 59, "{first} {second}");
    }

    #[test]
    fn where_nobody_finds_anything_all_have_the_same_time() {
        let [first, second] = steps(120, [|_| 0, |_| 0]);
        assert!(first.abs_diff(second) <= 16, "{first} {second}");
    }

    #[test]
    fn who_finds_more_rarely_has_less_time_but_some() {
        let [first, second] =
            steps(300, [|step| usize::from(step % 3 == 0), |step| usize::from(step % 40 == 39)]);
        assert!(second >= 10 && first > 2 * second, "{first} {second}");
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
