//! Whole inputs, many at once.

use super::{
    config::Wants,
    handle::{Ran, Session, SessionRun},
    job::Job,
    live::Posted,
    outcome, pack,
    sort_out::{Taken, sort_out},
    why::WhyFresh,
};
use crate::{
    error::ExecutorError,
    scratch::{Changes, Difference},
};
use cairn_abi::session::BatchKind;
use cairn_model::{Ending, Input};
use std::collections::VecDeque;

impl Session {
    /// Runs `inputs` and returns one run for each, in their order.
    ///
    /// They may be carried out in another order. An error means that one of them cannot be run at all, by
    /// [`crate::Executor::run`] neither, or that the system failed.
    pub fn run_batch(&mut self, inputs: &[Input], wants: Wants) -> Result<Vec<SessionRun>, ExecutorError> {
        let jobs: Vec<_> = inputs.iter().map(Job::original).collect();
        self.run_jobs(&jobs, wants)
    }

    /// Likewise, with something active in each run.
    pub(crate) fn run_jobs(
        &mut self,
        jobs: &[Job<'_>],
        wants: Wants,
    ) -> Result<Vec<SessionRun>, ExecutorError> {
        let mut runs: Vec<Option<SessionRun>> = Vec::with_capacity(jobs.len());
        let mut left: VecDeque<usize> = VecDeque::with_capacity(jobs.len());
        for (index, job) in jobs.iter().enumerate() {
            let why = job.why_fresh.clone().or_else(|| pack::why_fresh(job.input, self.config.mode));
            runs.push(match why {
                Some(why) => Some(self.fresh(job, wants, why)?),
                None => {
                    left.push_back(index);
                    None
                }
            });
        }
        while let Some(first) = left.front().copied() {
            if !self.is_ready()? {
                runs[first] = Some(self.fresh(&jobs[first], wants, WhyFresh::NoSession)?);
                left.pop_front();
                continue;
            }
            let has_watch = self.fill(jobs, &left)?;
            let n_inputs = self.pack.n_inputs();
            if n_inputs == 0 {
                runs[first] = Some(self.fresh(&jobs[first], wants, WhyFresh::TooLarge)?);
                left.pop_front();
                continue;
            }
            // A new template has found nothing there.
            self.watching.write(self.live.channel.control());
            let posted = self.live.post(BatchKind::Inputs, n_inputs, wants.bits(), self.config.run.fuel)?;
            self.counts.n_batches += 1;
            let mut taken = std::mem::take(&mut self.taken);
            sort_out(&mut self.live, &self.config.run, n_inputs, &posted, &mut taken)?;
            let last = jobs[left[taken.len() - 1]].input;
            self.live.scratch.now_holds(&last.files);
            let mut n_again = 0;
            for entry in taken.drain(..) {
                let index = left.pop_front().expect("no more results than inputs");
                match self.finish(&jobs[index], wants, entry, &posted, has_watch)? {
                    Some(run) => runs[index] = Some(run),
                    None => {
                        left.push_back(index);
                        n_again += 1;
                    }
                }
            }
            // Those to be run again come first, so that one of them is the first of the next batch.
            left.rotate_right(n_again);
            self.taken = taken;
        }
        Ok(runs.into_iter().map(|run| run.expect("every input was run")).collect())
    }

    /// Lays out the files of the first input, and packs it with as many others as find their files there. Returns
    /// whether a change of files will be noticed.
    fn fill(&mut self, jobs: &[Job<'_>], left: &VecDeque<usize>) -> Result<bool, ExecutorError> {
        self.pack.clear();
        self.live.scratch.refresh(&jobs[left[0]].input.files)?;
        let has_watch = self.live.scratch.watch().is_some();
        // Where reading leaves a trace, the host takes it back before the next input finds it.
        let is_untouched = self.live.scratch.keeps_access_times() || jobs[left[0]].input.files.is_empty();
        let most = if has_watch && is_untouched { left.len() } else { 1 };
        // Files that differ among the inputs, and that each of them therefore brings along from then on.
        let mut rewritten: Vec<usize> = Vec::new();
        let mut last: Option<&Input> = None;
        for index in left.iter().take(most) {
            let Job { input, activation, .. } = jobs[*index];
            // Many runs of one input are what mutants are run by.
            if last.is_some_and(|last| std::ptr::eq(last, input)) {
                if !self.pack.push_again(self.live.channel.inputs(), activation) {
                    break;
                }
                continue;
            }
            match self.live.scratch.difference(&input.files) {
                Difference::Same => {}
                Difference::Contents(differing) => {
                    rewritten.extend(differing);
                    rewritten.sort_unstable();
                    rewritten.dedup();
                }
                Difference::Other => break,
            }
            if !self.pack.push(self.live.channel.inputs(), input, &rewritten, activation)? {
                break;
            }
            last = Some(input);
        }
        Ok(has_watch)
    }

    /// The run that `taken` stands for; `None` if the input is to be posted again.
    fn finish(
        &mut self,
        job: &Job<'_>,
        wants: Wants,
        taken: Taken,
        posted: &Posted,
        has_watch: bool,
    ) -> Result<Option<SessionRun>, ExecutorError> {
        let elapsed = posted.elapsed / posted.n_done.max(1) as u32;
        let has_changed = taken.has_changed_files() || !has_watch;
        match taken {
            Taken::Again => Ok(None),
            Taken::Fresh(why) => {
                self.live.scratch.mark_changed();
                self.fresh(job, wants, why).map(Some)
            }
            Taken::Result(slot) => {
                let changes = if has_changed { self.collect(job.input)? } else { Changes::default() };
                let execution = outcome::of_result(&self.live.channel, &slot, changes, elapsed);
                self.note_live(&execution.outcome.ending);
                Ok(Some(SessionRun { execution, ran: Ran::Live, n_new: slot.n_new }))
            }
            Taken::Ended(ending) => {
                self.note_live(&ending);
                let changes = self.collect(job.input)?;
                let fuel = self.config.run.fuel;
                let mut execution =
                    outcome::of_remains(&self.live, ending, changes, posted.elapsed, wants, fuel)?;
                let n_new = cairn_abi::session::n_new(&execution.counters, self.live.channel.baseline());
                if !wants.counters_of(n_new, &execution.outcome.ending) {
                    execution.counters.clear();
                }
                Ok(Some(SessionRun { execution, ran: Ran::Live, n_new }))
            }
        }
    }

    pub(super) fn note_live(&mut self, ending: &Ending) {
        self.counts.n_live += 1;
        match ending {
            Ending::Signalled { .. } => self.counts.n_crashes += 1,
            Ending::TimedOut | Ending::OutOfMemory => self.counts.n_hangs += 1,
            _ => {}
        }
    }

    /// What the last run changed in the scratch folder, which is laid out anew before the next.
    fn collect(&mut self, input: &Input) -> Result<Changes, ExecutorError> {
        let limit = self.run_config().output_limit;
        let scratch = &mut self.live.scratch;
        let changes = scratch.collect(scratch.layout(), &input.files, limit);
        scratch.mark_changed();
        changes
    }
}
