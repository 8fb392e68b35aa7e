//! Mutants in the loop: which inputs are looked at, and what becomes of those that kill one.
//!
//! Inputs that reach something new are kept, and looked at later ([`Killer`](crate::killer::Killer)); of the others as many as the
//! share of mutants allows: what was cut down to something new, answers to questions, what hits what is rare, children of seeds that
//! infect a survivor without killing it. What infects a mutant that nothing infected before joins a *pool* of seeds, which nobody
//! else hears of: a change of it may carry the difference to the program's output.

use crate::{
    batch::Made,
    fuzz_loop::{EVERYTHING_COUNTED, Found, FuzzLoop},
    mutants::{Care, Looked},
    queue::Seed,
    surroundings::{Done, Surroundings},
};
use cairn_executor::ExecutorError;
use cairn_model::{Input, Kill, MutantId};
use cairn_strategy::{Candidate, EntryId, Seen};
use std::time::Duration;

/// Seeds of the pool at one time.
const MOST_IN_POOL: usize = 256;

/// Inputs at one time that wait because they are likely to kill something.
const MOST_LIKELY: usize = 512;

/// What no more inputs have hit is rare. On `cjson` one of four inputs killed something that were among the first two to hit a
/// counter, one of two hundred of those that came shortly before this, and one of nine thousand of those beyond 4,096.
const RARE: u32 = 1024;

/// How finely chances are told apart.
const PARTS: usize = 1 << 16;

/// How hard a child of the pool is looked for.
const TRIES: usize = 4;

/// An input that is looked at to find out whether it is worth keeping.
pub(crate) struct Sampled {
    input: Input,
    made: Made,
}

impl FuzzLoop {
    /// Notes that a mutant is killed, by whomever: seeds need not be chosen any more because they infect it.
    pub fn hear_kill(&mut self, kill: &Kill) {
        let mark = self.infection_mark(kill.mutant);
        self.queue.settle(mark);
        let mark = self.kill_mark(kill.mutant);
        if let Some(index) = self.queue.find(kill.entry) {
            self.queue.mark(index, &[mark]);
        }
    }

    /// Notes that a mutant is not run any more: nobody need be chosen because of it.
    pub(crate) fn give_up(&mut self, mutant: MutantId) {
        for mark in [self.kill_mark(mutant), self.infection_mark(mutant)] {
            self.queue.settle(mark);
        }
    }

    /// Notes what a look at an entry of the corpus found.
    pub(crate) fn mark_entry(&mut self, id: EntryId, looked: &Looked) {
        if let Some(index) = self.queue.find(id) {
            let marks = self.marks(looked);
            self.queue.mark(index, &marks);
        }
    }

    /// Looks at samples of a batch. What it found is kept anyway, and looked at when the campaign has said so.
    pub(crate) fn look_at_samples(
        &mut self,
        around: &mut dyn Surroundings,
        found: &mut Vec<Found>,
        n_before: usize,
        took: Option<Duration>,
        done: &mut Done,
    ) -> Result<(), ExecutorError> {
        let n_reached = found[n_before..].iter().filter(|found| found.n_reached > 0).count();
        let Some(mutants) = around.mutants() else { return Ok(()) };
        mutants.share.fuzzed(self.batch.len() as u64, took, n_reached);
        let is_everything = mutants.share.is_everything();
        let mut others = self.samples(is_everything).into_iter();
        loop {
            let is_timed = around.clock().is_some();
            let Some(mutants) = around.mutants().filter(|mutants| mutants.share.allows(Care::Sample)) else {
                break;
            };
            let next = self.likely.pop_front().or_else(|| Some(self.sampled(others.next()?)));
            let Some(sampled) = next else { break };
            let looked = mutants.look(&sampled.input, Care::Sample)?;
            let took = is_timed.then_some(looked.took);
            mutants.share.looked(Care::Sample, looked.n_runs, took, looked.kills.len());
            done.on_mutants += looked.took;
            done.target_runs += 1;
            done.mutant_runs += looked.n_runs;
            if let Some(candidate) = self.keep_for_mutants(sampled, looked, around, done)? {
                found.push(Found { is_failure: false, n_reached: 0, candidate });
            }
        }
        Ok(())
    }

    /// Puts aside the inputs of the batch that are the likeliest to kill something, and returns places of others to look at, the
    /// likeliest first.
    ///
    /// What was cut down to something new, of which the whole may kill more, and answers to questions are put aside. Of the others
    /// those come first that hit what hardly any input has hit; then, by chance, a child of one that infects a survivor.
    fn samples(&mut self, is_everything: bool) -> Vec<usize> {
        let by_chance = self.sample();
        let is_open =
            |place: &usize| !self.kept_places.contains(place) && !self.failed_places.contains(place);
        let cut_down = self.trimmed_places.iter().copied();
        if is_everything {
            return cut_down.chain((0..self.batch.len()).filter(is_open)).collect();
        }
        let is_answer = |place: &usize| self.batch.made(*place).how.is_some();
        let answers = (0..self.batch.len()).filter(|place| is_answer(place) && is_open(place));
        let room = MOST_LIKELY.saturating_sub(self.likely.len());
        let likely: Vec<Sampled> =
            cut_down.chain(answers).take(room).map(|place| self.sampled(place)).collect();
        let is_rare =
            |(n_runs, place): &&(u32, usize)| *n_runs <= RARE && !is_answer(place) && is_open(place);
        let mut rare: Vec<(u32, usize)> = self.rarities.iter().filter(is_rare).copied().collect();
        rare.sort_unstable();
        let is_rest = |place: &usize| {
            !is_answer(place) && is_open(place) && rare.iter().all(|(_, other)| other != place)
        };
        let rest = Some(by_chance).filter(is_rest);
        let others = rare.iter().map(|(_, place)| *place).chain(rest).collect();
        self.likely.extend(likely);
        others
    }

    fn sampled(&self, place: usize) -> Sampled {
        Sampled { input: self.batch.input(place), made: self.batch.made(place).clone() }
    }

    /// Whether the next seed is chosen because of mutants: about as often as their share says.
    pub(crate) fn is_turn_of_mutants(&mut self, around: &mut dyn Surroundings) -> bool {
        let Some(mutants) = around.mutants() else { return false };
        let part = mutants.share.part();
        (self.random.below(PARTS) as f64) < part * PARTS as f64
    }

    /// A place of the batch to look at as a sample, rather one whose parent infects a survivor that nobody kills.
    fn sample(&mut self) -> usize {
        let mut place = 0;
        for _ in 0..TRIES {
            place = self.random.below(self.batch.len());
            let parent = self.batch.made(place).seed;
            let is_infection = |mark| self.is_infection(mark);
            if parent.is_some_and(|seed| self.queue.is_cheapest_of(seed as usize, is_infection)) {
                break;
            }
        }
        place
    }

    /// Keeps an input that kills something as a seed and a candidate, and one that infects something new in the pool.
    fn keep_for_mutants(
        &mut self,
        Sampled { input, made }: Sampled,
        looked: Looked,
        around: &mut dyn Surroundings,
        done: &mut Done,
    ) -> Result<Option<Candidate>, ExecutorError> {
        if looked.kills.is_empty() && (looked.first_infections.is_empty() || self.n_pooled() >= MOST_IN_POOL)
        {
            return Ok(None);
        }
        done.target_runs += 1;
        let runs = around.session().run_batch(std::slice::from_ref(&input), EVERYTHING_COUNTED)?;
        let Some(run) = runs.into_iter().next() else { return Ok(None) };
        let (hits, fuel) = (Seen::hits(&run.execution.counters), run.execution.fuel_used);
        let parent = made.seed.and_then(|seed| self.queue.seed(seed as usize).id());
        let seed = Seed::new(input.clone(), hits, fuel, parent);
        let marks = self.marks(&looked);
        if looked.kills.is_empty() {
            self.queue.add(seed.marked(marks).only_marked());
            return Ok(None);
        }
        let reason = made.how.clone().unwrap_or_else(|| made.recipe.to_string());
        if made.how.is_none() {
            self.mutations.reward(&made.recipe);
        }
        self.keep(seed.marked(marks).for_mutants());
        Ok(Some(Candidate { input, parent, reason, kills: looked.kills, failed: None }))
    }

    fn n_pooled(&self) -> usize {
        (0..self.queue.len()).filter(|index| self.queue.is_pooled(*index)).count()
    }

    fn marks(&self, looked: &Looked) -> Vec<u32> {
        let kills = looked.kills.iter().map(|mutant| self.kill_mark(*mutant));
        kills.chain(looked.first_infections.iter().map(|mutant| self.infection_mark(*mutant))).collect()
    }

    fn kill_mark(&self, mutant: MutantId) -> u32 {
        self.first_mark() + 2 * mutant.0
    }

    fn infection_mark(&self, mutant: MutantId) -> u32 {
        self.kill_mark(mutant) + 1
    }

    fn is_infection(&self, mark: u32) -> bool {
        (mark - self.first_mark()) % 2 == 1
    }
}
