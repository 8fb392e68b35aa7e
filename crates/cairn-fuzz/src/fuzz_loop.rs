//! The loop.

use crate::{
    batch::{Batch, Kind, Made, Notable},
    comparisons::{Answer, Asked, Comparisons},
    config::FuzzConfig,
    dictionary::Dictionary,
    hangs::Hangs,
    harness::HarnessChanges,
    killing::Sampled,
    liberty,
    mutation::{Material, Mutations, Recipe},
    pace::Pace,
    queue::{Queue, Rarity, Seed, way},
    random::Random,
    region::{self, RegionKind, Scope, is_only_buffer},
    surroundings::{Done, Surroundings},
    trim::trim,
};
use cairn_abi::symbolic::{self, RegionId};
use cairn_executor::{Changers, ExecutorError, SessionRun, WantedCounters, Wants};
use cairn_model::{Ending, Input, ProgramMap};
use cairn_strategy::{Candidate, Chosen, Entry, FailingRuns, Sample, Seen};
use std::collections::{HashMap, VecDeque};

/// Changes inputs, runs them, and goes on from those that reach something new.
///
/// What it runs, what seeds are worth and when it stops is up to its [`Surroundings`]; [`FuzzStrategy`](crate::FuzzStrategy)
/// makes a strategy of it. With the same seed, the same surroundings and without a clock it does the same every time.
pub struct FuzzLoop {
    config: FuzzConfig,
    dictionary: Dictionary,
    pub(crate) mutations: Mutations,
    pub(crate) random: Random,
    pub(crate) queue: Queue,
    pub(crate) batch: Batch,
    harness: HarnessChanges,
    notable: Vec<Notable>,
    /// The seed at work.
    current: Option<Current>,
    /// Inputs that wait to be run, with the seed each was made from.
    waiting: VecDeque<(Option<usize>, Answer)>,
    /// Seeds whose comparisons nobody has looked at, the last of them next.
    unlooked: Vec<usize>,
    comparisons: Comparisons,
    failing_runs: FailingRuns,
    hangs: Hangs,
    pace: Pace,
    /// Seeds of which the campaign has not said what became of them, by address.
    pub(crate) unjudged: HashMap<String, usize>,
    /// How often what hit a counter was proposed in vain.
    in_vain: HashMap<u32, u32>,
    n_batches: u64,
    /// Places of the last batch whose inputs were kept.
    pub(crate) kept_places: Vec<usize>,
    /// Those of them whose inputs were cut down before.
    pub(crate) trimmed_places: Vec<usize>,
    /// Those on which the target failed.
    pub(crate) failed_places: Vec<usize>,
    rarity: Rarity,
    /// How rare the rarest of what each of its inputs hit is, with its place, where there are mutants.
    pub(crate) rarities: Vec<(u32, usize)>,
    /// Inputs that are likely to kill something and wait to be looked at.
    pub(crate) likely: VecDeque<Sampled>,
    /// Marks have numbers from here on.
    first_mark: u32,
    pub(crate) counts: FuzzCounts,
}

/// The seed at work.
#[derive(Clone, Copy)]
struct Current {
    seed: usize,
    /// How many inputs are still to be made from it.
    n_left: u32,
    /// What its inputs are run as.
    kind: Kind,
    /// What carries its bytes, if these are all that is changed.
    raw: Option<RegionKind>,
}

/// What the loop did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FuzzCounts {
    /// Inputs tried.
    pub n_inputs: u64,
    /// Seeds whose comparisons were looked at.
    pub n_looks: u64,
    /// Inputs made to answer comparisons.
    pub n_answers: u64,
    /// Answers that reached something new.
    pub n_good_answers: u64,
    /// Candidates found.
    pub n_candidates: u64,
    /// Inputs that were out of time.
    pub n_out_of_time: u64,
    /// Those of them that had all the time of the session, because nothing like them was known to hang.
    pub n_waited_for: u64,
    /// Inputs that the harness was asked to change itself.
    pub n_asked_of_harness: u64,
}

/// Every so many batches the counters of all runs are looked at.
const SAMPLED: u64 = 32;

/// Runs that make a new seed smaller.
const MOST_TRIMS: u64 = 64;

/// What was proposed in vain so often is not proposed again.
const MOST_IN_VAIN: u32 = 3;

/// Counters whatever the run reached.
pub(crate) const EVERYTHING_COUNTED: Wants = Wants { counters: WantedCounters::Always, output: false };

impl FuzzLoop {
    /// A loop without seeds.
    pub fn new(config: FuzzConfig, map: &ProgramMap, seed: u64) -> Self {
        let mut dictionary = config.dictionary.clone();
        if config.literals {
            dictionary.extend(&Dictionary::of_program(map));
        }
        Self {
            dictionary,
            mutations: Mutations::new(&config),
            random: Random::new(seed),
            queue: Queue::with_marks(map.n_counters),
            batch: Batch::default(),
            harness: HarnessChanges::default(),
            notable: Vec::new(),
            current: None,
            waiting: VecDeque::new(),
            unlooked: Vec::new(),
            comparisons: Comparisons::default(),
            failing_runs: FailingRuns::default(),
            hangs: Hangs::default(),
            pace: Pace::new(),
            unjudged: HashMap::new(),
            in_vain: HashMap::new(),
            n_batches: 0,
            kept_places: Vec::new(),
            trimmed_places: Vec::new(),
            failed_places: Vec::new(),
            rarity: Rarity::default(),
            rarities: Vec::new(),
            likely: VecDeque::new(),
            first_mark: map.n_counters,
            counts: FuzzCounts::default(),
            config,
        }
    }

    /// Starts chance over from another seed.
    pub fn set_seed(&mut self, seed: u64) {
        self.random.set_seed(seed);
    }

    /// What the loop did so far.
    pub fn counts(&self) -> &FuzzCounts {
        &self.counts
    }

    /// The number of counters, behind which marks begin.
    pub(crate) fn first_mark(&self) -> u32 {
        self.first_mark
    }

    /// What a person should know of how it works on a target.
    pub fn notices(&self) -> Vec<String> {
        self.harness.notice().into_iter().collect()
    }

    /// Adds a seed that nobody need run: it is known what it reaches.
    pub fn add_seed(&mut self, seed: Seed) {
        let index = self.queue.add(seed);
        self.unlooked.push(index);
    }

    /// Adds an input that the campaign keeps, be it one of the loop's own candidates or another's.
    pub fn add_entry(&mut self, entry: &Entry) {
        if let Some(index) = self.unjudged.remove(&entry.input.address()) {
            self.queue.name(index, entry.id);
            return;
        }
        let seed = Seed::new(entry.input.clone(), entry.hits.clone(), entry.fuel, Some(entry.id));
        let index = self.queue.add(seed.with_freedom(self.config.freedoms.of(&entry.input)));
        let (worker, n_workers) = self.config.worker;
        if entry.id.0 % n_workers.max(1) == worker {
            self.unlooked.push(index);
        }
    }

    /// Notes that the campaign does not keep a candidate. What it reached is new again, unless somebody else has reached it.
    pub fn forget(&mut self, input: &Input) {
        if let Some(index) = self.unjudged.remove(&input.address()) {
            let seed = self.queue.seed(index);
            for (counter, _) in seed.hits().iter().filter(|_| !seed.is_for_mutants()) {
                *self.in_vain.entry(*counter).or_default() += 1;
            }
            self.queue.retire(index);
        }
    }

    /// Notes that the campaign has kept the same input before.
    pub fn forget_copy(&mut self, input: &Input) {
        if let Some(index) = self.unjudged.remove(&input.address()) {
            self.queue.retire(index);
        }
    }

    /// Works until the surroundings say that it is enough, or there are candidates enough to tell; best first.
    pub fn run(&mut self, around: &mut dyn Surroundings) -> Result<Vec<Candidate>, ExecutorError> {
        let mut done = Done::default();
        let mut found: Vec<Found> = Vec::new();
        self.begin(around);
        while found.len() < self.config.most_candidates {
            let allowance = around.allowance(&done);
            if allowance == 0 {
                break;
            }
            let is_timed = around.clock().is_some();
            if self.config.comparisons && self.waiting.is_empty() && self.pace.looks(is_timed) {
                self.look(around, &mut done)?;
            }
            let most = allowance.min(around.session().config().max_batch as u64);
            self.fill(self.pace.batch(most, is_timed) as usize, around);
            let n_inputs = self.batch.len() as u64;
            if n_inputs == 0 {
                break;
            }
            let start = around.clock();
            self.let_harness_change(around, &mut done)?;
            self.run_batch(around)?;
            let took = around.clock().zip(start).map(|(now, start)| now.saturating_sub(start));
            self.pace.worked(n_inputs, took);
            done.inputs += n_inputs;
            done.target_runs += n_inputs;
            self.counts.n_inputs += n_inputs;
            let n_before = found.len();
            self.judge(around, &mut found, &mut done)?;
            self.look_at_samples(around, &mut found, n_before, took, &mut done)?;
            self.hand_over_sample(around);
            done.candidates = found.len() as u64;
        }
        // Failures first, then what reached most.
        found.sort_by_key(|found| std::cmp::Reverse((found.is_failure, found.n_reached)));
        self.counts.n_candidates += found.len() as u64;
        Ok(found.into_iter().map(|found| found.candidate).collect())
    }

    /// What seeds reach is not new, whoever ran the session before. Without seeds there is a start.
    fn begin(&mut self, around: &mut dyn Surroundings) {
        let baseline = around.session().baseline();
        // What runs hit only now and then would be proposed for ever.
        let is_given_up = |counter: u32| self.in_vain.get(&counter).is_some_and(|n| *n >= MOST_IN_VAIN);
        for index in 0..self.queue.len() {
            let is_retired = self.queue.is_retired(index);
            for hit in self.queue.seed(index).hits() {
                if !is_retired || is_given_up(hit.0) {
                    merge(baseline, std::slice::from_ref(hit));
                }
            }
        }
        if self.queue.len() == 0 && self.waiting.is_empty() {
            let start = Answer { input: self.config.start.clone(), how: "where everything begins".into() };
            self.waiting.push_back((None, start));
        }
    }

    /// Looks at the comparisons of a seed.
    fn look(&mut self, around: &mut dyn Surroundings, done: &mut Done) -> Result<(), ExecutorError> {
        let next = std::iter::from_fn(|| self.unlooked.pop()).find(|index| !self.queue.is_retired(*index));
        let Some(index) = next else { return Ok(()) };
        let start = around.clock();
        let seed = self.queue.seed(index);
        let Some(run) = around.trace(seed.input())? else {
            // There is no such view, and there will be none.
            self.config.comparisons = false;
            return Ok(());
        };
        let seen = around.session().baseline().to_vec();
        let asked = Asked {
            map: around.map(),
            seen: &seen,
            regions: &self.config.regions,
            max_size: around.max_size(),
        };
        let mut answers = self.comparisons.answers(seed.input(), &run, &asked, &mut self.dictionary)?;
        if let scope @ Scope::Raw(_) = self.config.scope(seed.input()) {
            answers.retain(|answer| self.config.scope(&answer.input) == scope);
        }
        self.counts.n_looks += 1;
        self.counts.n_answers += answers.len() as u64;
        self.waiting.extend(answers.into_iter().map(|answer| (Some(index), answer)));
        done.target_runs += 1;
        let took = around.clock().zip(start).map(|(now, start)| now.saturating_sub(start));
        self.pace.looked(took);
        Ok(())
    }

    /// Fills the batch: first with what waits, then with changed seeds.
    fn fill(&mut self, n: usize, around: &mut dyn Surroundings) {
        self.batch.clear();
        let max_size = around.max_size();
        let changers = match self.harness.is_trusted() {
            true => around.session().changers(),
            false => Changers::default(),
        };
        while self.batch.len() < n {
            if let Some((_, answer)) = self.waiting.front() {
                let kind = if is_only_buffer(&answer.input) { Kind::Buffers } else { Kind::Inputs };
                if !self.batch.takes(kind) {
                    break;
                }
                let Some((seed, Answer { input, how })) = self.waiting.pop_front() else { break };
                let made =
                    Made { seed: seed.map(|seed| seed as u32), recipe: Recipe::default(), how: Some(how) };
                match (kind, input.buffer) {
                    (Kind::Buffers, Some(bytes)) => self.batch.push_buffer(|buffer| {
                        buffer.extend_from_slice(&bytes.0);
                        made
                    }),
                    (_, buffer) => self.batch.push_input(Input { buffer, ..input }, made),
                }
                continue;
            }
            let Some(current) =
                self.current.filter(|current| current.n_left > 0).or_else(|| self.next(around))
            else {
                break;
            };
            self.current = Some(current);
            if !self.batch.takes(current.kind) {
                break;
            }
            self.make(current, max_size, changers);
            self.current = Some(Current { n_left: current.n_left - 1, ..current });
        }
    }

    /// The next seed to change, if there is one of which anything can be changed.
    fn next(&mut self, around: &mut dyn Surroundings) -> Option<Current> {
        loop {
            let is_for_mutants = self.is_turn_of_mutants(around);
            let score = |seed: &Seed| around.score(seed);
            let marked = match is_for_mutants {
                true => self.queue.choose_marked(&mut self.random, &score),
                false => None,
            };
            let (seed, n_left) = match marked {
                Some(chosen) => chosen,
                None => self.queue.choose(&mut self.random, &score)?,
            };
            let input = self.queue.seed(seed).input();
            let scope = self.config.scope(input);
            let kind = if scope.is_only_buffer(input) { Kind::Buffers } else { Kind::Inputs };
            let raw = match scope {
                Scope::Raw(carrier) => Some(carrier),
                Scope::Regions(_) => None,
            };
            if scope.is_in(input) {
                return Some(Current { seed, n_left, kind, raw });
            }
            self.queue.retire(seed);
        }
    }

    /// Adds a changed seed to the batch.
    #[inline]
    fn make(&mut self, current: Current, max_size: usize, changers: Changers) {
        let Self { config, queue, mutations, random, batch, dictionary, harness, .. } = self;
        let input = queue.seed(current.seed).input();
        let donor = queue.donor(current.seed, random);
        let material = Material { dictionary, donor, max_size };
        let chosen = queue.seed(current.seed);
        let held = chosen.freedom().filter(|_| !liberty::breaks(chosen.n_chosen(), random));
        let seed = Some(current.seed as u32);
        if current.kind == Kind::Buffers {
            let original = buffer_of(input);
            if let Some((way, n_times, recipe)) = mutations.ask_harness(random, changers, donor.is_some()) {
                let other = donor.map_or(&[][..], buffer_of);
                harness.ask(batch.len(), way, n_times, random.bits() as u32, other);
                batch.push_buffer(|buffer| {
                    buffer.extend_from_slice(original);
                    Made { seed, recipe, how: None }
                });
                return;
            }
            batch.push_buffer(|buffer| {
                buffer.extend_from_slice(original);
                let mut recipe = mutations.change_buffer(buffer, random, &material);
                if let Some(freedom) = held {
                    let region = RegionId::new(symbolic::RegionKind::Buffer, 0);
                    let is_changed = liberty::hold(freedom, region, original, buffer)
                        || liberty::change_free(freedom, region, buffer, random);
                    if !is_changed {
                        recipe = mutations.change_buffer(buffer, random, &material);
                    }
                }
                Made { seed, recipe, how: None }
            });
            return;
        }
        let mut change = |input: &mut Input, random: &mut Random| match current.raw {
            Some(carrier) => mutations.change_raw(carrier, input, random, &material),
            None => mutations.change(input, random, &material),
        };
        let mut changed = input.clone();
        let mut recipe = change(&mut changed, random);
        if let Some(freedom) = held {
            let may_change =
                |region: RegionId| region::may_change(current.raw, &config.regions, input, region);
            let is_changed = liberty::hold_input(freedom, input, &mut changed)
                || liberty::change_free_input(freedom, may_change, &mut changed, random);
            if !is_changed {
                recipe = change(&mut changed, random);
            }
        }
        batch.push_input(changed, Made { seed, recipe, how: None });
    }

    /// Has the harness change what it was asked to in the batch; where nothing comes of it, the buffer is changed without.
    fn let_harness_change(
        &mut self,
        around: &mut dyn Surroundings,
        done: &mut Done,
    ) -> Result<(), ExecutorError> {
        let max_size = around.max_size();
        let Self { harness, batch, mutations, random, dictionary, counts, .. } = self;
        let n_before = harness.n_calls();
        let unchanged = harness.make(around.session(), batch, dictionary, random, max_size)?;
        counts.n_asked_of_harness = harness.n_calls();
        done.target_runs += harness.n_calls() - n_before;
        let material = Material { dictionary, donor: None, max_size };
        for place in unchanged {
            batch.change_buffer(place, |buffer| mutations.change_buffer(buffer, random, &material));
        }
        Ok(())
    }

    fn run_batch(&mut self, around: &mut dyn Surroundings) -> Result<(), ExecutorError> {
        let is_sampled = self.n_batches.is_multiple_of(SAMPLED);
        self.n_batches += 1;
        let has_mutants = around.mutants().is_some();
        let wants = if is_sampled || has_mutants { EVERYTHING_COUNTED } else { Wants::NOVELTY };
        let Self { queue, rarity, rarities, .. } = self;
        rarities.clear();
        let mut counted = |place: usize, counters: &[u8]| {
            if is_sampled {
                queue.sample(way(counters));
            }
            if has_mutants {
                rarities.push((rarity.count(counters), place));
            }
        };
        self.notable.clear();
        let whole = around.session().config().run.wall_limit;
        let backstop = self.hangs.backstop(around.backstop(), whole);
        around.session().set_wall_limit(backstop);
        let ran = self.batch.run(around.session(), wants, &mut counted, &mut self.notable);
        around.session().set_wall_limit(whole);
        ran
    }

    /// What to think of a run that is out of the time it had in the batch; `None` if it gets to where runs are known to hang.
    fn wait_for(
        &mut self,
        around: &mut dyn Surroundings,
        out_of_time: Notable,
        done: &mut Done,
    ) -> Result<Option<Notable>, ExecutorError> {
        self.counts.n_out_of_time += 1;
        let whole = around.session().config().run.wall_limit;
        let hits = Seen::hits(&out_of_time.counters);
        // A run that waits for what never comes is ended at once, and shows its counters only if they are new.
        if hits.is_empty() {
            return Ok(Some(out_of_time));
        }
        if self.hangs.is_known(&hits) {
            return Ok(None);
        }
        if self.hangs.backstop(around.backstop(), whole) == whole {
            self.hangs.add(&hits, &hits);
            return Ok(Some(out_of_time));
        }
        self.counts.n_waited_for += 1;
        done.target_runs += 1;
        let input = self.batch.input(out_of_time.place);
        let run = around.session().run_batch(std::slice::from_ref(&input), EVERYTHING_COUNTED)?.pop();
        let Some(SessionRun { execution, .. }) = run else { return Ok(Some(out_of_time)) };
        match execution.outcome.ending {
            Ending::TimedOut => self.hangs.add(&hits, &Seen::hits(&execution.counters)),
            _ => self.hangs.ended(execution.outcome.elapsed),
        }
        Ok(Some(Notable {
            place: out_of_time.place,
            ending: execution.outcome.ending,
            counters: execution.counters,
            fuel: execution.fuel_used,
        }))
    }

    /// Decides what is new in the batch.
    fn judge(
        &mut self,
        around: &mut dyn Surroundings,
        found: &mut Vec<Found>,
        done: &mut Done,
    ) -> Result<(), ExecutorError> {
        let most_trims = self.pace.batch(MOST_TRIMS, around.clock().is_some()) as usize;
        let mut notable = std::mem::take(&mut self.notable);
        self.kept_places.clear();
        self.trimmed_places.clear();
        self.failed_places.clear();
        for mut run in notable.drain(..) {
            if run.ending == Ending::TimedOut {
                let place = run.place;
                match self.wait_for(around, run, done)? {
                    Some(again) => run = again,
                    None => {
                        self.failed_places.push(place);
                        continue;
                    }
                }
            }
            let Notable { place, ending, counters, fuel } = run;
            let hits = Seen::hits(&counters);
            let made = self.batch.made(place);
            let parent = made.seed.and_then(|seed| self.queue.seed(seed as usize).id());
            let is_failure = ending.is_failure();
            if is_failure {
                self.failed_places.push(place);
            }
            let n_reached = match is_failure {
                // What only failing inputs reach stays new for others.
                true => {
                    let runs = &mut self.failing_runs;
                    let is_seen = !hits.is_empty() && runs.is_worth(&ending, &hits, false);
                    // What hangs elsewhere than others do has had to wait for that to be known, so it is told at least once.
                    let is_told = hits.is_empty() || ending == Ending::TimedOut;
                    let is_worth = is_seen || is_told && runs.is_worth_unseen(&ending, made.seed);
                    if !is_worth {
                        continue;
                    }
                    0
                }
                false if is_unwanted(&ending) => continue,
                false => match merge(around.session().baseline(), &hits) {
                    (0, _) => continue,
                    (_, n_reached) => n_reached,
                },
            };
            let reason = made.how.clone().unwrap_or_else(|| made.recipe.to_string());
            self.kept_places.push(place);
            match made.how {
                None => self.mutations.reward(&made.recipe),
                Some(_) => self.counts.n_good_answers += u64::from(made.seed.is_some()),
            }
            let mut input = self.batch.input(place);
            if !is_failure {
                let seed = Seed::new(input.clone(), hits, fuel, parent);
                // Only what reached something for the first time is built upon so often that it pays.
                let most_trims = if n_reached > 0 { most_trims } else { 0 };
                let scope = self.config.scope(seed.input());
                let (seed, n_runs) = trim(seed, scope, around.session(), most_trims)?;
                done.target_runs += n_runs as u64;
                let original = std::mem::replace(&mut input, seed.input().clone());
                if original != input {
                    self.trimmed_places.push(place);
                    if let Some(samples) = around.samples() {
                        let (reason, chosen) = (reason.clone(), Chosen::BeforeCuts);
                        samples.push(Sample { input: original, parent, reason, chosen });
                    }
                }
                self.keep(seed);
            }
            found.push(Found {
                is_failure,
                n_reached,
                candidate: Candidate {
                    input,
                    parent,
                    reason,
                    kills: Vec::new(),
                    failed: is_failure.then_some(ending),
                },
            });
        }
        self.notable = notable;
        Ok(())
    }

    /// Hands over an input of the batch that is not proposed and did not fail.
    fn hand_over_sample(&mut self, around: &mut dyn Surroundings) {
        let Some(samples) = around.samples() else { return };
        let place = self.random.below(self.batch.len());
        if self.kept_places.contains(&place) || self.failed_places.contains(&place) {
            return;
        }
        let made = self.batch.made(place);
        samples.push(Sample {
            input: self.batch.input(place),
            parent: made.seed.and_then(|seed| self.queue.seed(seed as usize).id()),
            reason: made.how.clone().unwrap_or_else(|| made.recipe.to_string()),
            chosen: Chosen::ByChance,
        });
    }

    /// Goes on from a seed before anybody else has judged it.
    pub(crate) fn keep(&mut self, seed: Seed) {
        let address = seed.input().address();
        let index = self.queue.add(seed);
        self.unjudged.insert(address, index);
        // Symbolic runs are dear, and what was kept for mutants reaches nothing that others do not.
        if !self.queue.seed(index).is_for_mutants() {
            self.unlooked.push(index);
        }
    }
}

/// The buffer of an input; empty if it has none.
fn buffer_of(input: &Input) -> &[u8] {
    input.buffer.as_ref().map_or(&[], |buffer| &buffer.0)
}

/// A candidate and what it is worth.
pub(crate) struct Found {
    pub(crate) is_failure: bool,
    /// Counters that were never hit before.
    pub(crate) n_reached: usize,
    pub(crate) candidate: Candidate,
}

/// Whether the target says that it does not want such inputs: nobody would keep them.
fn is_unwanted(ending: &Ending) -> bool {
    matches!(ending, Ending::AssumptionFailed | Ending::GuidepostBroken | Ending::DeliveryMismatch)
}

/// Adds hits to a baseline, and returns how many were new, and how many of the counters were never hit at all.
fn merge(baseline: &mut [u8], hits: &[(u32, u8)]) -> (usize, usize) {
    let mut n_new = (0, 0);
    for (counter, class) in hits {
        let Some(seen) = baseline.get_mut(*counter as usize) else { continue };
        n_new.0 += usize::from(class & !*seen != 0);
        n_new.1 += usize::from(*seen == 0);
        *seen |= class;
    }
    n_new
}
