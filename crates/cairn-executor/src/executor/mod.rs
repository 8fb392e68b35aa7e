//! One target, run again and again.

pub(crate) mod scratch_folder;
pub(crate) mod start;

use self::start::Started;
use crate::{
    capture,
    channel::{Channel, ChannelLayout, MutantLayout, SymbolicLayout},
    config::{RunConfig, Target},
    error::ExecutorError,
    judge,
    keeper::{Board, Keeper},
    mutants::Arming,
    program::Program,
    request,
    sandbox::{Layers, policy},
    scratch::Scratch,
    symbolic,
};
use cairn_abi::{
    channel::{EndedBy, Refusal, Stage, Task},
    delivery::{self, Item, Value, Writer},
    record::RECORD_SIZE,
    stack::SAMPLE_SIGNAL,
    symbolic::SHADOW_SIZE,
};
use cairn_model::{
    Input, Outcome,
    input::{Variable, VariableValue},
};
use std::{
    os::fd::AsFd,
    path::{Path, PathBuf},
    time::Duration,
};

/// Runs one target.
///
/// Dropping it ends its keeper. It can be moved between threads; several executors run side by side.
#[derive(Debug)]
pub struct Executor {
    // Fields are dropped in order: the keeper goes before the folders it uses.
    keeper: Keeper,
    config: RunConfig,
    layers: Layers,
    program: Program,
    launch_path: PathBuf,
    scratch: Scratch,
    channel: Channel,
    n_counters: u32,
    /// Whether a run has accepted the channel: the program does not change, so no later one refuses it.
    is_fitting: bool,
    /// What the next run does beside running the program.
    arming: Arming,
    _folder: Option<scratch_folder::ScratchFolder>,
}

/// Everything one run left.
#[derive(Clone, Debug)]
pub struct Execution {
    /// What the run did.
    pub outcome: Outcome,
    /// One byte per counter of the view; empty for a build without.
    pub counters: Vec<u8>,
    /// The path hash, 0 for views that keep none.
    pub path_hash: u64,
    /// How far the run came; `None` if nothing in the target reported.
    pub stage: Option<Stage>,
    /// Whether the runtime in the target ended the run, and why.
    pub ended_by: EndedBy,
    /// Steps the run took, 0 for a build that counts none.
    pub fuel_used: u64,
    /// Committed trace records as the target wrote them, not to be trusted; empty unless tracing was asked for, and in
    /// symbolic runs, which keep them apart.
    pub trace: Vec<u8>,
    /// How many records the target says it committed, and how many did not fit.
    pub n_trace_records: (u64, u64),
    /// System calls the sandbox refused while the run went on, by name.
    pub refused: Vec<String>,
    /// Input files whose owner could not be set without privileges.
    pub owners_left: Vec<String>,
}

impl Executor {
    /// Finds the program, reaches the sandbox level, and readies everything that runs share.
    pub fn new(target: Target, config: RunConfig) -> Result<Self, ExecutorError> {
        Self::with_regions(target, config, None, None)
    }

    /// Likewise; its runs tell where they fail.
    pub(crate) fn telling_stacks(target: Target, config: RunConfig) -> Result<Self, ExecutorError> {
        let layout = ChannelLayout { has_stack: true, ..ChannelLayout::default() };
        Self::with_layout(target, config, layout)
    }

    /// Likewise for a mutant or symbolic view.
    pub(crate) fn with_regions(
        target: Target,
        config: RunConfig,
        mutants: Option<MutantLayout>,
        symbolic: Option<SymbolicLayout>,
    ) -> Result<Self, ExecutorError> {
        Self::with_layout(target, config, ChannelLayout { mutants, symbolic, ..ChannelLayout::default() })
    }

    fn with_layout(target: Target, config: RunConfig, extra: ChannelLayout) -> Result<Self, ExecutorError> {
        let channel = Channel::new(Self::layout(&target, &config, extra), config.trace_level)
            .map_err(ExecutorError::system("make a channel"))?;
        let limits = RunConfig { memory_limit: address_space(&config, &channel), ..config.clone() };
        let Started { keeper, layers, program, launch_path, scratch, folder } =
            start::start(&target.program, &limits)?;
        Ok(Self {
            keeper,
            config,
            layers,
            program,
            launch_path,
            scratch,
            channel,
            n_counters: target.n_counters,
            is_fitting: false,
            arming: Arming::default(),
            _folder: folder,
        })
    }

    /// What a channel needs, besides what is `extra`.
    pub(crate) fn layout(target: &Target, config: &RunConfig, extra: ChannelLayout) -> ChannelLayout {
        ChannelLayout {
            n_counters: target.n_counters as usize,
            output: config.output_limit as usize,
            trace: config.trace_size,
            ..extra
        }
    }

    /// The sandbox layers in force.
    pub fn layers(&self) -> Layers {
        self.layers
    }

    /// The limits in force.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// Sets what each run may use from now on; 0 for no limit.
    pub fn set_fuel(&mut self, fuel: u64) {
        self.config.fuel = fuel;
    }

    /// Sets how long each run may take from now on.
    pub fn set_wall_limit(&mut self, wall_limit: Duration) {
        self.config.wall_limit = wall_limit;
    }

    /// What the next runs do beside running the program; the default is nothing.
    pub(crate) fn arm(&mut self, arming: Arming) {
        self.arming = arming;
    }

    /// The program, and where its runs find it.
    pub(crate) fn program(&self) -> (&Path, &Path) {
        (&self.program.path, &self.launch_path)
    }

    /// What the last run left.
    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Runs the target once.
    pub fn run(&mut self, input: &Input) -> Result<Execution, ExecutorError> {
        self.run_task(input, Task::Run)
    }

    /// Has the target's own `cairn_compare` compare two variables of `input`.
    pub(crate) fn compare(&mut self, input: &Input) -> Result<Execution, ExecutorError> {
        self.run_task(input, Task::Compare)
    }

    fn run_task(&mut self, input: &Input, task: Task) -> Result<Execution, ExecutorError> {
        self.deliver(input)?;
        self.channel.set_task(task);
        self.arming.write(self.channel.control());
        self.arming.asked.write(self.channel.sites());
        let layout = self.scratch.prepare(&input.files)?;
        let failed = || ExecutorError::system("make a memory file");
        let stdin = capture::stdin(&input.stdin.0).map_err(failed())?;
        let stdout = capture::memory_file("stdout").map_err(failed())?;
        let stderr = capture::memory_file("stderr").map_err(failed())?;

        let path = self.launch_path.as_os_str().as_encoded_bytes();
        let (argv, envp) = request::lay_out(self.keeper.shared(), path, &self.program.name, input)?;
        let wall_limit_ns = u64::try_from(self.config.wall_limit.as_nanos()).unwrap_or(u64::MAX);
        let sample_signal = if self.channel.layout().has_stack { SAMPLE_SIGNAL } else { 0 };
        let board = Board { wall_limit_ns, argv, envp, sample_signal, ..Board::default() };
        self.keeper.shared().write_board(board);
        let fds = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd(), self.channel.as_fd()];
        let board = self.keeper.run(fds, self.config.wall_limit)?;

        judge::check_started(&board, &self.program)?;
        let refusal = judge::refusal(&board, &self.channel, self.n_counters);
        if refusal != Refusal::None && (!self.is_fitting || task == Task::Compare) {
            return Err(ExecutorError::Refused { refusal });
        }
        self.is_fitting = true;
        let limit = self.config.output_limit;
        let changes = self.scratch.collect(&layout, &input.files, limit)?;
        let failed = || ExecutorError::system("read what the run printed");
        let stdout = capture::read(&stdout, limit).map_err(failed())?;
        let stderr = capture::read(&stderr, limit).map_err(failed())?;
        let reached_file_limit = [&stdout, &stderr]
            .into_iter()
            .chain(changes.contents())
            .any(|captured| captured.total >= self.config.file_limit);
        let ending = judge::ending(&board, &self.channel, &self.config, reached_file_limit);
        let stage = self.channel.stage();
        let (trace, n_committed, n_dropped) = self.channel.trace();
        let trace = match self.channel.layout().symbolic {
            Some(_) => &[],
            None => {
                let used = usize::try_from(n_committed).unwrap_or(usize::MAX).saturating_mul(RECORD_SIZE);
                &trace[..used.min(trace.len())]
            }
        };
        Ok(Execution {
            outcome: Outcome {
                ending,
                stdout,
                stderr,
                files: changes.files,
                files_cut: changes.is_cut,
                harness_return: self.channel.harness_return(),
                harness_output: self.channel.harness_output(),
                reached_main: judge::reached_main(stage, self.n_counters),
                elapsed: Duration::from_nanos(board.elapsed_ns),
            },
            counters: self.channel.counters().to_vec(),
            path_hash: self.channel.path_hash(),
            stage: judge::reported_stage(stage, self.n_counters),
            ended_by: self.channel.ended_by(),
            fuel_used: self.channel.fuel_used(self.config.fuel),
            trace: trace.to_vec(),
            n_trace_records: (n_committed, n_dropped),
            refused: board
                .refused
                .iter()
                .take(board.n_refused as usize)
                .map(|number| policy::name(*number))
                .collect(),
            owners_left: layout.owners_left,
        })
    }

    /// Resets the channel and writes what the input delivers, in a larger channel if need be.
    fn deliver(&mut self, input: &Input) -> Result<(), ExecutorError> {
        let items: Vec<Item<'_>> = input
            .variables
            .iter()
            .map(|variable| Item::Variable { name: variable.name.as_bytes(), value: value(variable) })
            .chain(input.buffer.iter().map(|buffer| Item::Buffer(&buffer.0)))
            .collect();
        let size = delivery::encoded_size(items.iter().copied());
        let mut layout = self.channel.layout();
        let fits = |size: usize, region: usize| size <= region.next_multiple_of(cairn_abi::channel::PAGE);
        let mut is_large_enough = fits(size, layout.delivery);
        if !is_large_enough {
            layout.delivery = size.next_power_of_two();
        }
        if let Some(symbolic) = &mut layout.symbolic {
            let size = symbolic::sources_size(input);
            if !fits(size, symbolic.sources) {
                symbolic.sources = size.next_power_of_two();
                is_large_enough = false;
            }
        }
        if !is_large_enough {
            self.channel = Channel::new(layout, self.config.trace_level)
                .map_err(ExecutorError::system("make a larger channel"))?;
        }
        self.channel
            .reset(self.config.trace_level, |region| {
                let mut writer = Writer::new(region);
                for item in &items {
                    writer.push(item).map_err(|error| {
                        let name = match item {
                            Item::Variable { name, .. } => String::from_utf8_lossy(name).into_owned(),
                            Item::Buffer(_) => "buffer".into(),
                        };
                        Failure(ExecutorError::Delivery { name, reason: error.to_string() })
                    })?;
                }
                Ok(writer.length())
            })
            .map_err(|Failure(error)| error)?;
        if layout.symbolic.is_some() {
            let is_written = symbolic::write_sources(input, self.channel.sources());
            assert!(is_written, "the region was made large enough for the sources");
        }
        self.channel.set_fuel(self.config.fuel);
        Ok(())
    }
}

/// What the limit on memory is for the kernel: a symbolic run has a shadow and large regions, which are mapped and mostly
/// not there.
fn address_space(config: &RunConfig, channel: &Channel) -> u64 {
    /// The channel may be replaced by one with more room for what an input delivers.
    const GROWTH: u64 = 64 << 20;
    match (config.memory_limit, channel.layout().symbolic) {
        (0, _) | (_, None) => config.memory_limit,
        (limit, Some(_)) => limit + SHADOW_SIZE + channel.size() as u64 + GROWTH,
    }
}

/// Lets the channel report its own failures among those of the encoder.
struct Failure(ExecutorError);

impl From<std::io::Error> for Failure {
    fn from(source: std::io::Error) -> Self {
        Self(ExecutorError::System { what: "reset the channel", source })
    }
}

/// A variable's value, as it is delivered.
pub(crate) fn value(variable: &Variable) -> Value<'_> {
    match &variable.value {
        VariableValue::Int(value) => Value::Int(*value),
        VariableValue::Uint(value) => Value::Uint(*value),
        VariableValue::Float(bits) => Value::Float(*bits),
        VariableValue::Double(bits) => Value::Double(*bits),
        VariableValue::Bytes(bytes) => Value::Bytes(&bytes.0),
    }
}
