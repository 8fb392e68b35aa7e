//! What a campaign has found, shared by its workers.

use crate::{
    clock::{Clock, CpuClock},
    error::CampaignError,
    event::{Event, EventKind},
    folder::CampaignFolder,
    journal::{self, Journal},
    reached::Reached,
};
use cairn_executor::Explained;
use cairn_model::{
    Budget, ConditionId, Coverage, Ending, Entry, EntryId, Input, Kill, KillReason, MutantId, ProgramFailure,
    ProgramMap, Provenance, Spent, StableId, map::Branch,
};
use cairn_store::{CampaignHead, Moment, Store};
use cairn_strategy::{
    Corpus, CountedMutants, FailingRuns, Finding, FindingKind, Kills, Seen, TargetViews, Unstable,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    time::Duration,
};

/// How many new branches are named when an input is kept; the others are counted.
const NAMED_BRANCHES: usize = 2;

/// What a campaign has found. Everything is stored before it is told.
pub(crate) struct Ledger<'a> {
    /// The inputs that are kept.
    pub(crate) corpus: Corpus,
    /// The mutants they kill.
    pub(crate) kills: Kills,
    pub(crate) map: &'a ProgramMap,
    pub(crate) mutants: Option<&'a CountedMutants>,
    pub(crate) clock: Clock,
    /// Inputs that somebody has taken away or changed.
    n_lost: usize,
    state: Mutex<State>,
}

pub(crate) struct State {
    folder: CampaignFolder,
    pub(crate) store: Store,
    journal: Journal,
    observer: Sender<Event>,
    reached: Reached,
    failures: BTreeMap<String, Arc<ProgramFailure>>,
    /// Signatures under which known failures may appear, with those that they are known by.
    other_names: BTreeMap<String, String>,
    failing_runs: FailingRuns,
    pub(crate) findings: Vec<Arc<Finding>>,
    work: BTreeMap<String, Spent>,
    paths: BTreeSet<u64>,
    /// What each worker is at.
    workers: Vec<String>,
    /// Inputs that each worker may try in the step it is at, and has not told of.
    promised: Vec<u64>,
    /// What was warned of.
    warned: BTreeSet<String>,
    /// Inputs tried, and when, at the last moment that was told.
    last_moment: (Duration, u64),
    cpu: CpuClock,
}

/// A candidate that may be kept, after its runs.
pub(crate) struct Tried {
    pub(crate) input: Input,
    pub(crate) counters: Vec<u8>,
    pub(crate) fuel: u64,
    pub(crate) path_hash: u64,
    pub(crate) parent: Option<EntryId>,
    pub(crate) strategy: String,
    pub(crate) made_by: String,
    /// Mutants it was found to kill.
    pub(crate) kills: Vec<(MutantId, KillReason)>,
}

/// What came of a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Time it worked, earlier parts included.
    pub worked: Duration,
    /// Branches reached, and how many there are.
    pub n_branches: (usize, usize),
    /// Inputs kept.
    pub n_entries: usize,
    /// Ways to fail.
    pub failures: Vec<Arc<ProgramFailure>>,
    /// Inputs that failed in a view and in no run of the bare build.
    pub n_unconfirmed: usize,
    /// Counters that differ from run to run.
    pub n_unstable: usize,
    /// Work done, by strategy.
    pub work: BTreeMap<String, Spent>,
    /// What everything together reached.
    pub coverage: Coverage,
    /// What became of mutants; `None` where none were run.
    pub kills: Option<KillSummary>,
}

/// What became of the mutants that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KillSummary {
    /// How many count.
    pub n_mutants: usize,
    /// How many are killed.
    pub n_killed: usize,
    /// The same, by the way in which they give themselves away.
    pub by_reason: BTreeMap<&'static str, usize>,
}

impl KillSummary {
    /// How many were given away only by a comparison with what the original does: the differential oracle. The others failed.
    pub fn n_by_difference(&self) -> usize {
        let names = [KillReason::Output, KillReason::Exit, KillReason::Files].map(KillReason::name);
        names.iter().filter_map(|name| self.by_reason.get(name)).sum()
    }
}

impl fmt::Debug for Ledger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("entries", &self.corpus.len()).finish_non_exhaustive()
    }
}

impl<'a> Ledger<'a> {
    /// What the folder holds; nothing for a new campaign.
    pub(crate) fn open(
        folder: CampaignFolder,
        mut store: Store,
        target: &'a dyn TargetViews,
        n_workers: usize,
        observer: Sender<Event>,
    ) -> Result<Self, CampaignError> {
        let (map, mutants) = (target.map(), target.mutants());
        let corpus = Corpus::default();
        let mut reached = Reached::after(map, &store.beyond()?);
        let mut paths = BTreeSet::new();
        let (inputs, lost) = load_all(&folder, &store.addresses()?)?;
        if !lost.is_empty() {
            store.forget_entries(&lost)?;
        }
        for entry in store.entries(|address| Ok(inputs.get(address).cloned().unwrap_or_default()))? {
            reached.keep(&entry.hits);
            paths.insert(entry.path_hash);
            corpus.push(entry);
        }
        let kills = Kills::default();
        let table = mutants.map(|mutants| &*mutants.table);
        let named = table.iter().flat_map(|table| table.mutants_with_ids());
        let by_name: HashMap<StableId, MutantId> = named.map(|(id, mutant)| (mutant.stable_id, id)).collect();
        for kill in store.kills()? {
            // Of other sets of mutants nothing is known here.
            if let Some(mutant) = by_name.get(&kill.mutant) {
                kills.push(Kill { mutant: *mutant, entry: kill.entry, reason: kill.reason });
            }
        }
        let load = |address: &str| match folder.crashes.load(address) {
            Err(error) if error.is_lost() => folder.hangs.load(address),
            loaded => loaded,
        };
        let failures = store.failures(load)?.into_iter();
        let failures = failures.map(|failure| (failure.signature.clone(), Arc::new(failure))).collect();
        let worked = journal::worked(&store, &folder.journal_path())?;
        let journal = Journal::open(&folder.journal_path())?;
        let work = store.work()?;
        let cpu_before = work.values().map(|spent| spent.cpu).sum();
        let n_inputs = work.values().map(|spent| spent.inputs).sum();
        let state = State {
            folder,
            store,
            journal,
            observer,
            reached,
            failures,
            other_names: BTreeMap::new(),
            failing_runs: FailingRuns::default(),
            findings: Vec::new(),
            work,
            paths,
            workers: vec!["starting".into(); n_workers],
            promised: vec![0; n_workers],
            warned: BTreeSet::new(),
            last_moment: (worked, n_inputs),
            cpu: CpuClock::after(cpu_before),
        };
        let (clock, state) = (Clock::after(worked), Mutex::new(state));
        Ok(Self { corpus, kills, map, mutants, clock, n_lost: lost.len(), state })
    }

    /// Tells that work begins, and what is missing of what there was.
    pub(crate) fn begin(&self, began: EventKind) -> Result<(), CampaignError> {
        self.announce(began)?;
        if self.n_lost == 0 {
            return Ok(());
        }
        let text = format!(
            "{} of the inputs that were kept are gone from `corpus`, or were changed; what only they reached has to be found \
             again, and the others are numbered anew",
            self.n_lost
        );
        self.announce(EventKind::Warned { text })
    }

    /// What runs have reached.
    pub(crate) fn seen(&self) -> Seen {
        self.lock().reached.seen.clone()
    }

    /// Whether a run that hit this would be new.
    pub(crate) fn is_new(&self, hits: &[(u32, u8)]) -> bool {
        self.lock().reached.seen.new_in(hits).0 > 0
    }

    /// Nothing about these counters is new any more. That there are any is told once.
    pub(crate) fn ignore(&self, unstable: &Unstable) -> Result<(), CampaignError> {
        let mut state = self.lock();
        let is_first = state.reached.n_unstable() == 0;
        if state.reached.ignore(unstable) {
            let beyond = state.reached.beyond();
            state.store.note_beyond(&beyond)?;
        }
        if !is_first || unstable.is_empty() {
            return Ok(());
        }
        let text = format!(
            "two runs of one input differ at {} of {} places that are counted; what is not always the same tells nothing \
             from now on\n\nhint: `cairn doctor` shows what of an input's outcome is not always the same",
            state.reached.n_unstable(),
            self.map.n_counters,
        );
        self.tell(&mut state, EventKind::Warned { text })
    }

    /// Keeps an input, unless another worker was quicker.
    pub(crate) fn keep(&self, tried: Tried) -> Result<FindingKind, CampaignError> {
        let hits = Seen::hits(&tried.counters);
        let mut state = self.lock();
        let (n_new, _) = state.reached.seen.new_in(&hits);
        if n_new == 0
            && let Some(known) = self.find(&tried.input)
        {
            drop(state);
            return self.note_kills(known, &tried.strategy, &tried.kills);
        }
        let kills = self.unknown_kills(EntryId(self.corpus.len() as u32), &tried.kills);
        if n_new == 0 && kills.is_empty() {
            return Ok(FindingKind::NothingNew);
        }
        let mut kept = state.reached.kept.clone();
        kept.add(&tried.counters);
        let covers = (n_new > 0).then(|| self.kept_for(&state.reached.kept, &kept, n_new));
        let reasons = [covers, self.kills_text(&kills)];
        let provenance = Provenance {
            parent: tried.parent,
            strategy: tried.strategy,
            made_by: tried.made_by,
            kept_for: reasons.into_iter().flatten().collect::<Vec<_>>().join("; "),
            found_after: self.clock.now(),
        };
        let entry = Entry {
            id: EntryId(self.corpus.len() as u32),
            input: tried.input,
            provenance,
            hits,
            fuel: tried.fuel,
            path_hash: tried.path_hash,
        };
        state.folder.corpus.save(&entry.input)?;
        state.store.keep_entry(&entry)?;
        self.store_kills(&mut state, &kills)?;
        // From here on it is there, whatever happens.
        state.reached.keep(&entry.hits);
        state.paths.insert(entry.path_hash);
        let entry = self.corpus.push(entry);
        let kind = EventKind::Kept {
            entry: entry.id.0,
            address: entry.input.address(),
            strategy: entry.provenance.strategy.clone(),
            parent: entry.provenance.parent.map(|parent| parent.0),
            made_by: entry.provenance.made_by.clone(),
            kept_for: entry.provenance.kept_for.clone(),
            n_branches: state.reached.all.n_branches(self.map),
        };
        self.tell(&mut state, kind)?;
        self.tell_kills(&mut state, &entry, &kills)?;
        let kind = FindingKind::Kept(entry.clone());
        let strategy = entry.provenance.strategy.clone();
        state.findings.push(Arc::new(Finding { strategy, input: entry.input.clone(), kind: kind.clone() }));
        Ok(kind)
    }

    /// Whether a failing run is worth a look on the bare build; a seed always is.
    pub(crate) fn is_worth_a_look(&self, ending: &Ending, counters: &[u8], is_seed: bool) -> bool {
        self.lock().failing_runs.is_worth(ending, &Seen::hits(counters), is_seed)
    }

    /// The signature under which a failure is known, or its own. By any of its names it is known from now on.
    pub(crate) fn name_of(&self, explained: &Explained) -> String {
        let State { failures, other_names, .. } = &mut *self.lock();
        let told = std::iter::once(&explained.signature).chain(&explained.also);
        let names: Vec<String> =
            told.flat_map(|name| [Some(name.clone()), if_slow(name)]).flatten().collect();
        let known = names.iter().find(|name| failures.contains_key(*name));
        let known = known.or_else(|| names.iter().find_map(|name| other_names.get(name)));
        let name = known.unwrap_or(&explained.signature).clone();
        other_names.extend(names.into_iter().map(|other| (other, name.clone())));
        name
    }

    /// Keeps a way to fail, or a smaller input for a known one.
    pub(crate) fn fail(
        &self,
        failure: ProgramFailure,
        counters: &[u8],
    ) -> Result<FindingKind, CampaignError> {
        let mut state = self.lock();
        if state.reached.fail(Seen::hits(counters).into_iter().map(|(counter, _)| counter)) {
            let beyond = state.reached.beyond();
            state.store.note_beyond(&beyond)?;
        }
        let signature = failure.signature.clone();
        let Some(failure) = self.keep_failure(&mut state, failure)? else {
            return Ok(FindingKind::KnownFailure { signature });
        };
        let strategy = failure.provenance.strategy.clone();
        let kind = FindingKind::Failure(failure.clone());
        state.findings.push(Arc::new(Finding { strategy, input: failure.input.clone(), kind: kind.clone() }));
        Ok(kind)
    }

    /// Keeps what a sanitizer reports, or a smaller input for it; whether that is new. Strategies are not told: to them the
    /// input is one on which the program works.
    pub(crate) fn report(&self, failure: ProgramFailure) -> Result<bool, CampaignError> {
        Ok(self.keep_failure(&mut self.lock(), failure)?.is_some())
    }

    /// Stores and tells a failure, unless it is known with an input as small.
    fn keep_failure(
        &self,
        state: &mut State,
        mut failure: ProgramFailure,
    ) -> Result<Option<Arc<ProgramFailure>>, CampaignError> {
        let known = state.failures.get(&failure.signature).cloned();
        if let Some(known) = &known {
            if size(&failure.input) >= size(&known.input) {
                return Ok(None);
            }
            failure.provenance = known.provenance.clone();
        } else {
            failure.provenance.found_after = self.clock.now();
        }
        let folder = match failure.ending {
            Ending::Signalled { .. } | Ending::Exited { .. } => &state.folder.crashes,
            _ => &state.folder.hangs,
        };
        folder.save(&failure.input)?;
        state.store.keep_failure(&failure)?;
        state.folder.unconfirmed.remove(&failure.input)?;
        let failure = Arc::new(failure);
        state.failures.insert(failure.signature.clone(), failure.clone());
        // One input may fail in several ways: on the bare build, and with sanitizers.
        if let Some(known) = &known
            && state.failures.values().all(|other| other.input != known.input)
        {
            state.folder.crashes.remove(&known.input)?;
            state.folder.hangs.remove(&known.input)?;
        }
        let kind = EventKind::Failed {
            signature: failure.signature.clone(),
            kind: failure.kind.clone(),
            address: failure.input.address(),
            strategy: failure.provenance.strategy.clone(),
            stack: failure.stack.iter().map(ToString::to_string).collect(),
            is_smaller: known.is_some(),
        };
        self.tell(state, kind)?;
        Ok(Some(failure))
    }

    /// Keeps an input apart that ended in a view as `ending` says, and failed in none of `n_runs` of the bare build.
    pub(crate) fn note_unconfirmed(
        &self,
        input: &Input,
        strategy: &str,
        ending: &Ending,
        n_runs: u32,
    ) -> Result<(), CampaignError> {
        let mut state = self.lock();
        state.folder.unconfirmed.save(input)?;
        let (address, strategy) = (input.address(), strategy.to_string());
        self.tell(&mut state, EventKind::Unconfirmed { address, strategy, ending: ending.clone(), n_runs })
    }

    /// All ways to fail that are known.
    pub(crate) fn failures(&self) -> Vec<Arc<ProgramFailure>> {
        self.lock().failures.values().cloned().collect()
    }

    /// Replaces what the caller needs to start the campaign again.
    pub(crate) fn set_plan(&self, plan: &str) -> Result<(), CampaignError> {
        let mut state = self.lock();
        if let Some(head) = state.store.campaign()? {
            state.store.begin_campaign(&CampaignHead { settings: plan.to_string(), ..head })?;
        }
        Ok(())
    }

    /// Whether a path was never taken before, if it is known; from now on it was.
    pub(crate) fn is_new_path(&self, path_hash: u64) -> bool {
        path_hash != 0 && self.lock().paths.insert(path_hash)
    }

    /// New findings of all workers from the `start`th on.
    pub(crate) fn findings_since(&self, start: usize) -> Vec<Arc<Finding>> {
        self.lock().findings.get(start..).unwrap_or_default().to_vec()
    }

    /// Adds to what a strategy has spent, in a step of a worker that is over.
    pub(crate) fn spend(&self, worker: usize, strategy: &str, spent: Spent) {
        let mut state = self.lock();
        state.promised[worker] = 0;
        *state.work.entry(strategy.to_string()).or_default() += spent;
    }

    /// What a worker may use in its next step: of what is left of the budget for the whole campaign, and is not promised to
    /// others. Time is looked at only where it is limited.
    pub(crate) fn promise(&self, worker: usize, step: &Budget, budget: &Budget) -> Budget {
        let mut state = self.lock();
        state.promised[worker] = 0;
        let mut spent = self.spent(&mut state, budget);
        let promised: u64 = state.promised.iter().sum();
        spent.inputs += promised;
        // An input takes one run at least.
        spent.target_runs += promised;
        let step = step.and(&budget.left(&spent));
        // Each input takes a run, so there are no more of them than runs.
        state.promised[worker] = step.inputs.into_iter().chain(step.target_runs).min().unwrap_or(0);
        step
    }

    /// Whether a budget for the whole campaign is over.
    pub(crate) fn is_over(&self, budget: &Budget) -> bool {
        budget.is_over(&self.spent(&mut self.lock(), budget))
    }

    /// Runs that are left of a budget for the whole campaign, when a step that is under way has spent so much.
    pub(crate) fn runs_left(&self, budget: &Budget, spent: &Spent) -> u64 {
        let mut total = self.lock().total();
        total += *spent;
        budget.left(&total).target_runs.unwrap_or(u64::MAX)
    }

    /// Time that is left of a budget for the whole campaign, on the clock or of processors; `None` without a limit.
    pub(crate) fn time_left(&self, budget: &Budget) -> Option<Duration> {
        let left = budget.left(&self.spent(&mut self.lock(), budget));
        left.wall.into_iter().chain(left.cpu).min()
    }

    fn spent(&self, state: &mut State, budget: &Budget) -> Spent {
        let mut spent = state.total();
        spent.wall = if budget.wall.is_some() { self.clock.now() } else { Duration::ZERO };
        spent.cpu = if budget.cpu.is_some() { state.cpu.now() } else { Duration::ZERO };
        spent
    }

    /// Notes what a worker is at.
    pub(crate) fn set_worker(&self, worker: usize, at: &str) {
        self.lock().workers[worker] = at.to_string();
    }

    /// Tells something.
    pub(crate) fn announce(&self, kind: EventKind) -> Result<(), CampaignError> {
        let mut state = self.lock();
        self.tell(&mut state, kind)
    }

    /// Warns of something, unless that was done.
    pub(crate) fn warn_once(&self, text: String) -> Result<(), CampaignError> {
        let mut state = self.lock();
        if !state.warned.insert(text.clone()) {
            return Ok(());
        }
        self.tell(&mut state, EventKind::Warned { text })
    }

    /// Stores and tells how far the campaign is.
    pub(crate) fn note_moment(&self) -> Result<(), CampaignError> {
        let mut state = self.lock();
        let now = self.clock.now();
        let total = state.total();
        let n_branches = state.reached.all.n_branches(self.map);
        let (last, n_inputs_then) = std::mem::replace(&mut state.last_moment, (now, total.inputs));
        let seconds = (now - last).as_secs_f64().max(1e-9);
        let moment = Moment {
            after: now,
            n_branches: n_branches as u32,
            n_entries: self.corpus.len() as u32,
            n_failures: state.failures.len() as u32,
            n_inputs: total.inputs,
            n_killed: self.kills.len() as u32,
        };
        let work = state.work_with_cpu();
        state.store.note_work(&work, Some(&moment))?;
        let kind = EventKind::Moment {
            n_branches,
            n_entries: self.corpus.len(),
            n_failures: state.failures.len(),
            n_inputs: total.inputs,
            n_target_runs: total.target_runs,
            n_mutant_runs: total.mutant_runs,
            on_mutants_ms: total.on_mutants.as_millis() as u64,
            n_killed: self.kills.len(),
            inputs_per_second: (total.inputs.saturating_sub(n_inputs_then)) as f64 / seconds,
            workers: state.workers.clone(),
        };
        self.tell(&mut state, kind)
    }

    /// What came of it all.
    pub(crate) fn summary(&self) -> Summary {
        let mut state = self.lock();
        let mut failures: Vec<_> = state.failures.values().cloned().collect();
        failures.sort_by_key(|failure| failure.provenance.found_after);
        Summary {
            worked: self.clock.now(),
            n_branches: (state.reached.all.n_branches(self.map), 2 * self.map.conditions.len()),
            n_entries: self.corpus.len(),
            failures,
            n_unconfirmed: state.folder.unconfirmed.n_inputs(),
            n_unstable: state.reached.n_unstable(),
            work: state.work_with_cpu(),
            coverage: state.reached.all.clone(),
            kills: self.mutants.map(|mutants| self.kill_summary(mutants)),
        }
    }

    pub(crate) fn tell(&self, state: &mut State, kind: EventKind) -> Result<(), CampaignError> {
        let event = Event { after_ms: self.clock.now().as_millis() as u64, kind };
        state.journal.write(&event)?;
        // Whoever watched may have gone; the journal has it.
        let _ = state.observer.send(event);
        Ok(())
    }

    fn kept_for(&self, before: &Coverage, after: &Coverage, n_new: usize) -> String {
        let branches = (0..self.map.conditions.len() as u32).flat_map(|index| {
            [true, false].map(|direction| Branch { condition: ConditionId(index), direction })
        });
        let new: Vec<Branch> = branches
            .filter(|branch| after.covers(self.map, *branch) && !before.covers(self.map, *branch))
            .collect();
        if new.is_empty() {
            let places = if n_new == 1 { "1 place".into() } else { format!("{n_new} places") };
            return format!("another number of times at {places}");
        }
        let named: Vec<String> = new.iter().take(NAMED_BRANCHES).map(|branch| self.name(*branch)).collect();
        let mut text = named.join(", ");
        if new.len() > NAMED_BRANCHES {
            let n_more = new.len() - NAMED_BRANCHES;
            text.push_str(&format!(" and {n_more} more branch{}", if n_more == 1 { "" } else { "es" }));
        }
        text
    }

    fn name(&self, branch: Branch) -> String {
        let condition = &self.map.conditions[branch.condition.index()];
        let place = self.map.show(condition.extent.start);
        format!("{place} `{}` is {}", condition.text, branch.direction)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A worker that panicked here left the last change half done at worst in memory, never on disk.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn total(&self) -> Spent {
        let mut total = Spent::default();
        self.work.values().for_each(|spent| total += *spent);
        total
    }

    /// The work by strategy, processor time shared out by time on the clock.
    fn work_with_cpu(&mut self) -> BTreeMap<String, Spent> {
        let mut work = self.work.clone();
        let cpu = self.cpu.now();
        let wall: f64 = work.values().map(|spent| spent.wall.as_secs_f64()).sum();
        for spent in work.values_mut() {
            spent.cpu = cpu.mul_f64(spent.wall.as_secs_f64() / wall.max(1e-9));
        }
        work
    }
}

/// The inputs at these addresses, and addresses of those that somebody has taken away or changed.
fn load_all(
    folder: &CampaignFolder,
    addresses: &[String],
) -> Result<(HashMap<String, Input>, BTreeSet<String>), CampaignError> {
    let (mut inputs, mut lost) = (HashMap::new(), BTreeSet::new());
    for address in addresses {
        match folder.corpus.load(address) {
            Ok(input) => drop(inputs.insert(address.clone(), input)),
            Err(error) if error.is_lost() => drop(lost.insert(address.clone())),
            Err(error) => return Err(error.into()),
        }
    }
    // Somebody who tidies up does not take most of it.
    if 2 * lost.len() > addresses.len() {
        let (n_lost, n_all) = (lost.len(), addresses.len());
        return Err(CampaignError::Lost { folder: folder.path().to_path_buf(), n_lost, n_all });
    }
    Ok((inputs, lost))
}

/// The signature that the same failure may have on a slower or quicker machine: what fills memory slowly is out of time first.
fn if_slow(signature: &str) -> Option<String> {
    const KINDS: [&str; 2] = ["hang", "out of memory"];
    let place_of = |kind: &str| signature.strip_prefix(kind).filter(|place| !place.is_empty());
    let other = |(kind, other): (&str, &str)| place_of(kind).map(|place| format!("{other}{place}"));
    [(KINDS[0], KINDS[1]), (KINDS[1], KINDS[0])].into_iter().find_map(other)
}

/// How much there is to read in an input.
pub(crate) fn size(input: &Input) -> usize {
    input.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_memory_may_be_a_hang_at_the_same_place() {
        assert_eq!(if_slow("hang in fill < main").as_deref(), Some("out of memory in fill < main"));
        assert_eq!(if_slow("out of memory in fill < main").as_deref(), Some("hang in fill < main"));
        assert_eq!(if_slow("SIGSEGV in fill < main"), None);
        // Without a place they have nothing in common.
        assert_eq!(if_slow("hang"), None);
    }
}
