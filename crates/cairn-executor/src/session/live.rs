//! The processes of a session: starting them, handing over a batch, noticing how it ends, replacing them.

use super::{
    changes::Changers,
    config::SessionConfig,
    counts::SessionCounts,
    futex,
    progress::{Progress, Watched},
    streams::Streams,
};
use crate::{
    channel::{Channel, ChannelLayout, MutantLayout, SessionLayout, SymbolicLayout},
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::{
        scratch_folder::ScratchFolder,
        start::{self, Started},
    },
    judge,
    keeper::{Board, Keeper},
    mutants::Arming,
    program::Program,
    request,
    scratch::Scratch,
};
use cairn_abi::{
    channel::{RUNTIME_EXIT_CODE, Refusal, Stage, TraceLevel},
    session::{BatchKind, Obstacle, RunnerMode, SessionBoard, Turn},
    symbolic::SHADOW_SIZE,
};
use cairn_model::Input;
use std::{
    fs::File,
    os::fd::AsFd,
    path::PathBuf,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed},
    time::{Duration, Instant},
};

/// How long a process may take to die when it was killed, or to leave when it said so.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long template and runner may take to get ready beyond the wall limit of a run, and a batch beyond the limits
/// of its runs.
const START_PATIENCE: Duration = Duration::from_secs(5);

/// The longest sleep between two looks at the state of things.
const LONGEST_SLICE: Duration = Duration::from_millis(50);

/// Failures in a row after which a session is given up: somebody may be killing its processes.
const MAX_FAILURES: u32 = 10;

/// No status of `wait4` is larger.
const LARGEST_STATUS: u32 = 0xffff;

/// Values of [`SessionBoard::turn`], to be matched.
const HOST: u32 = Turn::Host as u32;
const RUNNER: u32 = Turn::Runner as u32;

/// Runs after which the memory of a runner is looked at.
const RUNS_BETWEEN_LOOKS: u64 = 4096;

/// A runner that has grown by so many bytes since it was first looked at is replaced.
const MAX_GROWTH: u64 = 64 << 20;

/// The live target, and what belongs to it.
#[derive(Debug)]
pub(super) struct Live {
    // Fields are dropped in order: the keeper goes before the folders it uses.
    keeper: Keeper,
    program: Program,
    launch_path: PathBuf,
    pub(super) scratch: Scratch,
    pub(super) channel: Channel,
    streams: Streams,
    mode: RunnerMode,
    trace_level: TraceLevel,
    pub(super) wall_limit: Duration,
    /// What the program is told that it may have; its processes may have more, for what is ours.
    memory_limit: u64,
    /// Bytes of the channel of a process that serves one run.
    channel_alone: u64,
    n_counters: u32,
    recycle_after: u64,
    is_started: bool,
    /// Whether the template has forked a runner yet.
    has_forked: bool,
    runner: Option<Runner>,
    next_run: u64,
    /// Failures since the last run that had a result.
    n_failures: u32,
    /// What the template noted of its patches before `main`, as [`Channel::infections`].
    before_main: Vec<u8>,
    /// What the harness can change itself, as the template says.
    changers: Changers,
    _folder: Option<ScratchFolder>,
}

#[derive(Clone, Copy, Debug)]
struct Runner {
    pid: i32,
    n_runs: u64,
    n_runs_at_look: u64,
    first_resident: Option<u64>,
}

/// How the hand-over of a batch ended.
#[derive(Debug)]
pub(super) struct Posted {
    /// The number of the first run.
    pub(super) first_run: u64,
    /// How many inputs have a result, by the runner's word.
    pub(super) n_done: usize,
    pub(super) stop: Stop,
    /// How long it took.
    pub(super) elapsed: Duration,
}

/// Why a runner worked no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It passed the turn.
    Answered,
    /// It died; how, as `wait4` says, the most memory it held, and whether the program was running.
    Died { status: i32, peak: u64, was_running: bool },
    /// It worked on one input for too long and was killed. What it held in bytes after half the time and in the end, and
    /// whether the program was running.
    Hung { at_half: u64, at_end: u64, was_running: bool },
    /// It did not go on because it was stopped, and was killed.
    Stopped,
    /// What it wrote on the board makes no sense, and it was killed.
    Confused,
    /// The template is gone, and the runner with it.
    Lost,
}

/// Why there can be no session.
pub(super) type Reason = String;

impl Live {
    pub(super) fn new(
        target: &Target,
        config: &SessionConfig,
        mutants: Option<MutantLayout>,
        symbolic: Option<SymbolicLayout>,
        channel_alone: usize,
    ) -> Result<Self, ExecutorError> {
        let layout = ChannelLayout {
            n_counters: target.n_counters as usize,
            delivery: 0,
            output: config.run.output_limit as usize,
            trace: if symbolic.is_some() { config.run.trace_size } else { 0 },
            session: Some(SessionLayout {
                max_batch: config.max_batch,
                inputs: config.inputs_size,
                captured: config.captured_size,
            }),
            mutants,
            symbolic,
            has_stack: false,
        };
        let channel =
            Channel::new(layout, config.run.trace_level).map_err(ExecutorError::system("make a channel"))?;
        let run = RunConfig { memory_limit: memory_limit(config, &channel), ..config.run.clone() };
        let Started { keeper, layers: _, program, launch_path, scratch, folder } =
            start::start(&target.program, &run)?;
        Ok(Self {
            keeper,
            program,
            launch_path,
            scratch,
            channel,
            streams: Streams::new().map_err(ExecutorError::system("make a memory file"))?,
            mode: config.mode,
            trace_level: config.run.trace_level,
            wall_limit: config.run.wall_limit,
            memory_limit: config.run.memory_limit,
            channel_alone: channel_alone as u64,
            n_counters: target.n_counters,
            recycle_after: config.recycle_after,
            is_started: false,
            has_forked: false,
            runner: None,
            next_run: 1,
            n_failures: 0,
            before_main: Vec::new(),
            changers: Changers::default(),
            _folder: folder,
        })
    }

    /// What the template noted of its patches before `main`, as [`Channel::infections`]; empty without mutants.
    pub(super) fn before_main(&self) -> &[u8] {
        &self.before_main
    }

    /// What the harness can change itself.
    pub(super) fn changers(&self) -> Changers {
        self.changers
    }

    /// What the last run wrote to standard output and standard error.
    pub(super) fn streams(&self) -> [&File; 2] {
        [&self.streams.stdout, &self.streams.stderr]
    }

    /// Sees to it that a runner waits for a batch. The inner error says why there can be none, now or later.
    pub(super) fn ready(&mut self, counts: &mut SessionCounts) -> Result<Result<(), Reason>, ExecutorError> {
        if self.is_started && self.keeper.session_end().is_some() {
            self.end()?;
        }
        if self.runner.is_some() && self.board().runner_ended.load(Acquire) != 0 {
            self.retire()?;
        }
        if self.is_worn()? {
            counts.n_recycled += 1;
            self.retire()?;
        }
        while self.runner.is_none() {
            if self.n_failures >= MAX_FAILURES {
                self.end()?;
                return Ok(Err(format!("its processes were lost {MAX_FAILURES} times in a row")));
            }
            if !self.is_started {
                counts.n_starts += 1;
            }
            let attempt = match self.is_started {
                true => Attempt::Worked,
                false => self.start()?,
            };
            let attempt = match attempt {
                Attempt::Worked => self.fork_runner()?,
                other => other,
            };
            match attempt {
                Attempt::Worked => counts.n_runners += 1,
                Attempt::Failed => {
                    self.n_failures += 1;
                    if self.keeper.session_end().is_some() {
                        self.end()?;
                    }
                }
                Attempt::Impossible(reason) => {
                    self.end()?;
                    return Ok(Err(reason));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Hands over the first `n_inputs` of the inputs region and waits for what comes of it.
    pub(super) fn post(
        &mut self,
        kind: BatchKind,
        n_inputs: usize,
        wants: u32,
        fuel: u64,
    ) -> Result<Posted, ExecutorError> {
        let started = Instant::now();
        let first_run = self.next_run;
        self.next_run += n_inputs as u64;
        let board = self.board();
        board.batch_kind.store(kind as u32, Relaxed);
        board.n_inputs.store(n_inputs as u32, Relaxed);
        board.wants.store(wants, Relaxed);
        board.first_run.store(first_run, Relaxed);
        board.fuel.store(fuel, Relaxed);
        board.n_done.store(0, Relaxed);
        board.current.store(0, Relaxed);
        board.is_running.store(0, Relaxed);
        futex::set(&board.turn, Turn::Runner as u32);

        let stop = self.wait_for_batch(started, n_inputs as u32)?;
        let n_done = (self.board().n_done.load(Relaxed) as usize).min(n_inputs);
        if n_done > 0 {
            self.n_failures = 0;
        }
        match stop {
            Stop::Answered => {}
            Stop::Lost => {
                self.n_failures += 1;
                self.end()?;
            }
            _ => self.runner = None,
        }
        if let Some(runner) = &mut self.runner {
            runner.n_runs += n_done as u64;
        }
        Ok(Posted { first_run, n_done, stop, elapsed: started.elapsed() })
    }

    fn wait_for_batch(&mut self, started: Instant, n_inputs: u32) -> Result<Stop, ExecutorError> {
        let slice = (self.wall_limit / 8).clamp(Duration::from_millis(1), LONGEST_SLICE);
        let longest = self.wall_limit.saturating_mul(n_inputs).saturating_add(START_PATIENCE);
        let mut watched = Watched { progress: Progress::default(), since: started, at_half: None };
        loop {
            let board = self.board();
            let turn = board.turn.load(Acquire);
            match (turn, board.runner_ended.load(Acquire)) {
                (HOST, 0) => return Ok(Stop::Answered),
                // A runner that dies between two batches may be noticed when the next has just been handed over. The
                // turn is then nobody's: the template was done with it before.
                (HOST, 1 | 2) | (RUNNER, 2) => return self.stop_dead(),
                (HOST, _) => return self.stop_confused(),
                (turn, _) if turn > RUNNER => return self.stop_confused(),
                _ => {}
            }
            if self.keeper.session_end().is_some() {
                return Ok(Stop::Lost);
            }
            if started.elapsed() > longest {
                // Each run by itself would have been out of time before.
                return self.stop_confused();
            }
            if let Some(stop) = self.judge_progress(&mut watched, n_inputs)? {
                return Ok(stop);
            }
            futex::wait(&self.board().turn, turn, slice);
        }
    }

    /// Kills the runner if it has worked on one input for too long, or claims a progress that cannot be.
    fn judge_progress(
        &mut self,
        watched: &mut Watched,
        n_inputs: u32,
    ) -> Result<Option<Stop>, ExecutorError> {
        let board = self.board();
        let progress = Progress { n_done: board.n_done.load(Relaxed), current: board.current.load(Relaxed) };
        let now = Instant::now();
        if !progress.may_follow(watched.progress, n_inputs) {
            return self.stop_confused().map(Some);
        }
        if progress != watched.progress {
            *watched = Watched { progress, since: now, at_half: None };
            return Ok(None);
        }
        let waited = now - watched.since;
        if waited * 2 < self.wall_limit {
            return Ok(None);
        }
        let pid = self.runner.map_or(0, |runner| runner.pid);
        let at_half = match watched.at_half {
            Some(at_half) => at_half,
            None => *watched.at_half.insert(self.keeper.look_at(pid)?.0),
        };
        if waited < self.wall_limit {
            return Ok(None);
        }
        let (at_end, is_stopped) = self.keeper.look_at(pid)?;
        let turn = self.board().turn.load(Relaxed);
        let has_lived = self.retire()?;
        let board = self.board();
        let was_running = board.is_running.load(Relaxed) != 0;
        if !has_lived || board.n_done.load(Relaxed) != watched.progress.n_done {
            // It died or got through at the last moment, and the next input is not to blame.
            return Ok(Some(Stop::Died { status: libc::SIGKILL, peak: 0, was_running }));
        }
        Ok(Some(match turn {
            _ if is_stopped => Stop::Stopped,
            RUNNER => Stop::Hung { at_half, at_end, was_running },
            _ => Stop::Confused,
        }))
    }

    /// The board says that the runner died, which it may not have.
    fn stop_dead(&mut self) -> Result<Stop, ExecutorError> {
        let board = self.board();
        let status = board.runner_status.load(Relaxed);
        let peak = board.runner_peak.load(Relaxed);
        let was_running = board.is_running.load(Relaxed) != 0;
        if status > LARGEST_STATUS {
            return self.stop_confused();
        }
        Ok(match self.retire()? {
            true => Stop::Confused,
            false => Stop::Died { status: status as i32, peak, was_running },
        })
    }

    /// The board holds what none of us writes, so the target has written over it: nothing there counts.
    fn stop_confused(&mut self) -> Result<Stop, ExecutorError> {
        self.retire()?;
        Ok(Stop::Confused)
    }

    /// Ends the runner, if there is one, whatever the board says of it. Returns whether there was one that had not ended.
    ///
    /// The template reaps a runner before it says so on the board, and the keeper finds nothing to kill then. As long as
    /// it finds something, only the target can have written that.
    pub(super) fn retire(&mut self) -> Result<bool, ExecutorError> {
        let Some(runner) = self.runner.take() else { return Ok(false) };
        let claimed = self.board().runner_ended.swap(0, AcqRel);
        if self.keeper.kill(runner.pid)? {
            self.wait_for_end()?;
            return Ok(true);
        }
        // It was the template's word, unless that has written more by now.
        let _ = self.board().runner_ended.compare_exchange(0, claimed, AcqRel, Relaxed);
        Ok(false)
    }

    /// Waits for a runner that leaves by itself.
    pub(super) fn see_off(&mut self) -> Result<(), ExecutorError> {
        if self.runner.is_some() {
            self.ends_within(PATIENCE);
        }
        self.retire().map(drop)
    }

    /// Ends the whole session if the runner does not die.
    fn wait_for_end(&mut self) -> Result<(), ExecutorError> {
        if self.ends_within(PATIENCE) { Ok(()) } else { self.end() }
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let board = self.board();
        loop {
            match board.runner_ended.load(Acquire) {
                // At 1 the template may still take the turn away from whom the host gives it to.
                2 => return true,
                _ if Instant::now() >= deadline || self.keeper.session_end().is_some() => return false,
                ended => futex::wait(&board.runner_ended, ended, LONGEST_SLICE),
            }
        }
    }

    /// Ends the session with all its processes; the next batch starts another.
    pub(super) fn end(&mut self) -> Result<(), ExecutorError> {
        self.runner = None;
        if std::mem::take(&mut self.is_started) {
            self.keeper.end_session()?;
        }
        Ok(())
    }

    /// Whether the runner is to be replaced because of its age or size.
    fn is_worn(&mut self) -> Result<bool, ExecutorError> {
        let Some(mut runner) = self.runner else { return Ok(false) };
        if runner.n_runs >= self.recycle_after {
            return Ok(true);
        }
        if runner.n_runs < runner.n_runs_at_look + RUNS_BETWEEN_LOOKS {
            return Ok(false);
        }
        let (resident, _) = self.keeper.look_at(runner.pid)?;
        let first = *runner.first_resident.get_or_insert(resident);
        runner.n_runs_at_look = runner.n_runs;
        self.runner = Some(runner);
        Ok(resident > first.saturating_add(MAX_GROWTH))
    }

    /// Starts the template and waits until it is before `main`.
    fn start(&mut self) -> Result<Attempt, ExecutorError> {
        self.channel.restart(self.trace_level);
        // What runs before `main` runs once for all runs, without a mutant: which would have made a difference?
        Arming::EXAMINES.write(self.channel.control());
        // Its own turn, so that it shows when it passes it.
        self.board().turn.store(Turn::Template as u32, Relaxed);
        self.board().memory_limit.store(self.memory_limit, Relaxed);
        self.board().channel_alone.store(self.channel_alone, Relaxed);
        let path = self.launch_path.as_os_str().as_encoded_bytes();
        // Functions are looked up once, not in every run. Runs have the environment of their inputs.
        let start = Input { environment: vec![("LD_BIND_NOW".into(), "1".into())], ..Input::default() };
        let (argv, envp) = request::lay_out(self.keeper.shared(), path, &self.program.name, &start)?;
        self.keeper.shared().write_board(Board { argv, envp, ..Board::default() });
        let Streams { stdin, stdin_content, stdout, stderr } = &self.streams;
        let mut fds =
            vec![stdin.as_fd(), stdout.as_fd(), stderr.as_fd(), self.channel.as_fd(), stdin_content.as_fd()];
        fds.extend(self.scratch.watch());
        let board = self.keeper.start_session(&fds)?;
        judge::check_executed(&board, &self.program)?;
        self.is_started = true;
        self.has_forked = false;
        if self.turn_comes(Turn::Template) {
            self.before_main = self.channel.infections().to_vec();
            self.changers = Changers::from_target(self.board().changers.load(Relaxed));
            return Ok(Attempt::Worked);
        }
        let ended = self.keeper.session_end();
        let refusal = self.channel.refusal();
        let has_refused = ended
            .is_some_and(|status| libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == RUNTIME_EXIT_CODE);
        self.end()?;
        if refusal != Refusal::None && has_refused && self.channel.stage() < Stage::MainEntered {
            return Err(ExecutorError::Refused { refusal });
        }
        Ok(match ended {
            Some(libc::SIGKILL) => Attempt::Failed,
            Some(status) if libc::WIFSIGNALED(status) => {
                let signal = libc::WTERMSIG(status);
                Attempt::Impossible(format!("it died of signal {signal} before it was ready"))
            }
            Some(_) if self.n_counters == 0 => {
                Attempt::Impossible("it was built without instrumentation".into())
            }
            Some(_) => Attempt::Impossible("it ended before `main`".into()),
            None => Attempt::Impossible("it did not come to `main` in time".into()),
        })
    }

    fn fork_runner(&mut self) -> Result<Attempt, ExecutorError> {
        self.streams.clear().map_err(ExecutorError::system("empty a memory file"))?;
        // The template must have let go of the turn it took when the last runner ended.
        if std::mem::replace(&mut self.has_forked, true) && !self.ends_within(PATIENCE) {
            self.end()?;
            return Ok(Attempt::Failed);
        }
        let board = self.board();
        // The last runner may have written over it.
        board.memory_limit.store(self.memory_limit, Relaxed);
        board.is_running.store(0, Relaxed);
        board.mode.store(self.mode as u32, Relaxed);
        board.obstacle.store(Obstacle::None as u32, Relaxed);
        board.runner_ended.store(0, Relaxed);
        futex::set(&board.turn, Turn::Template as u32);
        let has_answered = self.turn_comes(Turn::Template);
        let board = self.board();
        let obstacle = Obstacle::from_target(board.obstacle.load(Relaxed));
        if obstacle != Obstacle::None {
            return Ok(Attempt::Impossible(obstacle_text(obstacle).into()));
        }
        if !has_answered && self.keeper.session_end().is_none() {
            return Ok(Attempt::Impossible("it did not get ready in time".into()));
        }
        if !has_answered || board.runner_ended.load(Acquire) != 0 {
            return Ok(Attempt::Failed);
        }
        let pid = board.runner.load(Relaxed) as i32;
        self.runner = Some(Runner { pid, n_runs: 0, n_runs_at_look: 0, first_resident: None });
        Ok(Attempt::Worked)
    }

    /// Waits until the host has the turn, which others have now. Not for ever, and not if the template ends.
    fn turn_comes(&self, now: Turn) -> bool {
        let deadline = Instant::now() + self.wall_limit + START_PATIENCE;
        let board = self.board();
        while board.turn.load(Acquire) != Turn::Host as u32 {
            if Instant::now() >= deadline || self.keeper.session_end().is_some() {
                return false;
            }
            futex::wait(&board.turn, now as u32, LONGEST_SLICE);
        }
        true
    }

    fn board(&self) -> &SessionBoard {
        self.channel.board()
    }
}

/// What came of starting a process.
enum Attempt {
    Worked,
    /// Another attempt may work.
    Failed,
    /// None will.
    Impossible(Reason),
}

/// What a runner maps for itself counts against its limit, and must not be missing to the program: the channel, room
/// for arguments and buffers (see the runtime's vault), a copy of its memory, and in symbolic runs the shadow.
fn memory_limit(config: &SessionConfig, channel: &Channel) -> u64 {
    const COPY: u64 = 16 << 20;
    let shadow = channel.layout().symbolic.map_or(0, |_| SHADOW_SIZE);
    match config.run.memory_limit {
        0 => 0,
        limit => limit + channel.size() as u64 + 10 * config.inputs_size as u64 + COPY + shadow,
    }
}

fn obstacle_text(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::None => "no obstacle",
        Obstacle::Maps => "its `/proc/self/maps` cannot be read",
        Obstacle::Threads => "it starts threads before `main`",
        Obstacle::SharedMemory => "it has memory that cannot be copied before `main`",
        Obstacle::Size => "it has more writable memory than can be restored quickly",
        Obstacle::Filter => "the kernel refuses the system call filter of a session",
        Obstacle::Setup => "the kernel refuses memory or another thing a session needs",
        Obstacle::BeforeMain => "it opens files, reads its input or leaves its folder before `main`",
    }
}
