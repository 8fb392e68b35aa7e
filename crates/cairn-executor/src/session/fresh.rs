//! Fresh processes beside a live one, which many sessions never need.

use crate::{
    channel::{Channel, ChannelLayout, MutantLayout, SymbolicLayout},
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::Executor,
};
use std::time::Duration;

/// An executor for what a session cannot run live, made when it is first asked for: its surroundings take as long to make as those of the
/// session itself.
#[derive(Debug)]
pub(super) struct Fresh {
    made: Option<Executor>,
    target: Target,
    config: RunConfig,
    mutants: Option<MutantLayout>,
    symbolic: Option<SymbolicLayout>,
    channel_size: usize,
}

impl Fresh {
    pub(super) fn new(
        target: Target,
        config: RunConfig,
        mutants: Option<MutantLayout>,
        symbolic: Option<SymbolicLayout>,
    ) -> Result<Self, ExecutorError> {
        let extra = ChannelLayout { mutants, symbolic, ..ChannelLayout::default() };
        let channel = Channel::new(Executor::layout(&target, &config, extra), config.trace_level)
            .map_err(ExecutorError::system("make a channel"))?;
        Ok(Self { made: None, channel_size: channel.size(), target, config, mutants, symbolic })
    }

    /// Bytes of the channel of a process that serves one run.
    pub(super) fn channel_size(&self) -> usize {
        self.channel_size
    }

    /// The executor, if it was asked for before.
    pub(super) fn made(&self) -> Option<&Executor> {
        self.made.as_ref()
    }

    /// The executor.
    pub(super) fn executor(&mut self) -> Result<&mut Executor, ExecutorError> {
        let made = match self.made.take() {
            Some(made) => made,
            None => {
                Executor::with_regions(self.target.clone(), self.config.clone(), self.mutants, self.symbolic)?
            }
        };
        Ok(self.made.insert(made))
    }

    pub(super) fn set_fuel(&mut self, fuel: u64) {
        self.config.fuel = fuel;
        self.made.iter_mut().for_each(|executor| executor.set_fuel(fuel));
    }

    pub(super) fn set_wall_limit(&mut self, wall_limit: Duration) {
        self.config.wall_limit = wall_limit;
        self.made.iter_mut().for_each(|executor| executor.set_wall_limit(wall_limit));
    }
}
