//! The processes of a session: starting them, handing over a batch, noticing how it ends, replacing them.

use super::{config::SessionConfig, counts::SessionCounts, futex};
use crate::{
    capture,
    channel::{Channel, ChannelLayout, SessionLayout},
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::{
        scratch_folder::ScratchFolder,
        start::{self, Started},
    },
    judge,
    keeper::{Board, Keeper},
    program::Program,
    request,
    scratch::Scratch,
};
use cairn_abi::{
    channel::{RUNTIME_EXIT_CODE, Refusal, Stage, TraceLevel},
    session::{Obstacle, RunnerMode, SessionBoard, Turn},
};
use cairn_model::Input;
use std::{
    fs::File,
    io::{self, Seek},
    os::fd::AsFd,
    path::PathBuf,
    sync::atomic::Ordering::{Acquire, Relaxed},
    time::{Duration, Instant},
};

/// How long a process may take to die when it was killed, or to leave when it said so.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long template and runner may take to get ready, beyond the wall limit of a run.
const START_PATIENCE: Duration = Duration::from_secs(5);

/// The longest sleep between two looks at the state of things.
const LONGEST_SLICE: Duration = Duration::from_millis(50);

/// Failures in a row after which a session is given up: somebody may be killing its processes.
const MAX_FAILURES: u32 = 10;

/// No status of `wait4` is larger.
const LARGEST_STATUS: u32 = 0xffff;

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
    wall_limit: Duration,
    n_counters: u32,
    recycle_after: u64,
    is_started: bool,
    runner: Option<Runner>,
    next_run: u64,
    /// Failures since the last run that had a result.
    n_failures: u32,
    _folder: Option<ScratchFolder>,
}

/// The memory files behind descriptors 0 to 2.
#[derive(Debug)]
struct Streams {
    stdin: File,
    stdin_content: File,
    stdout: File,
    stderr: File,
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
    /// It died; how, as `wait4` says, and the most memory it held.
    Died { status: i32, peak: u64 },
    /// It worked on one input for too long and was killed. What it held in bytes after half the time and in the end.
    Hung { at_half: u64, at_end: u64 },
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
    pub(super) fn new(target: &Target, config: &SessionConfig) -> Result<Self, ExecutorError> {
        let layout = ChannelLayout {
            n_counters: target.n_counters as usize,
            delivery: 0,
            output: config.run.output_limit as usize,
            trace: 0,
            session: Some(SessionLayout {
                max_batch: config.max_batch,
                inputs: config.inputs_size,
                captured: config.captured_size,
            }),
        };
        let channel =
            Channel::new(layout, TraceLevel::None).map_err(ExecutorError::system("make a channel"))?;
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
            wall_limit: config.run.wall_limit,
            n_counters: target.n_counters,
            recycle_after: config.recycle_after,
            is_started: false,
            runner: None,
            next_run: 1,
            n_failures: 0,
            _folder: folder,
        })
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
            self.runner = None;
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
    pub(super) fn post(&mut self, n_inputs: usize, wants: u32, fuel: u64) -> Result<Posted, ExecutorError> {
        let started = Instant::now();
        let first_run = self.next_run;
        self.next_run += n_inputs as u64;
        let board = self.board();
        board.n_inputs.store(n_inputs as u32, Relaxed);
        board.wants.store(wants, Relaxed);
        board.first_run.store(first_run, Relaxed);
        board.fuel.store(fuel, Relaxed);
        board.n_done.store(0, Relaxed);
        board.current.store(0, Relaxed);
        futex::set(&board.turn, Turn::Runner as u32);

        let stop = self.wait_for_batch(started)?;
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

    fn wait_for_batch(&mut self, started: Instant) -> Result<Stop, ExecutorError> {
        let slice = (self.wall_limit / 8).clamp(Duration::from_millis(1), LONGEST_SLICE);
        let mut watched = Watched { progress: (0, 0), since: started, at_half: None };
        loop {
            let board = self.board();
            let turn = board.turn.load(Acquire);
            if turn == Turn::Host as u32 {
                let status = board.runner_status.load(Relaxed);
                return Ok(match board.runner_ended.load(Acquire) {
                    0 => Stop::Answered,
                    1 if status <= LARGEST_STATUS => {
                        Stop::Died { status: status as i32, peak: board.runner_peak.load(Relaxed) }
                    }
                    _ => self.stop_confused()?,
                });
            }
            if turn > Turn::Runner as u32 {
                return self.stop_confused();
            }
            if self.keeper.session_end().is_some() {
                return Ok(Stop::Lost);
            }
            if let Some(stop) = self.judge_progress(&mut watched)? {
                return Ok(stop);
            }
            futex::wait(&self.board().turn, turn, slice);
        }
    }

    /// Kills the runner if it has worked on one input for too long.
    fn judge_progress(&mut self, watched: &mut Watched) -> Result<Option<Stop>, ExecutorError> {
        let board = self.board();
        let progress = (board.n_done.load(Relaxed), board.current.load(Relaxed));
        let now = Instant::now();
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
        self.retire()?;
        if self.board().n_done.load(Relaxed) != watched.progress.0 {
            // It got through at the last moment, and the next input is not to blame.
            return Ok(Some(Stop::Died { status: libc::SIGKILL, peak: 0 }));
        }
        Ok(Some(match turn {
            _ if is_stopped => Stop::Stopped,
            turn if turn == Turn::Runner as u32 => Stop::Hung { at_half, at_end },
            _ => Stop::Confused,
        }))
    }

    /// The board holds what none of us writes, so the target has written over it: nothing there counts.
    fn stop_confused(&mut self) -> Result<Stop, ExecutorError> {
        self.board().runner_ended.store(0, Relaxed);
        self.retire()?;
        Ok(Stop::Confused)
    }

    /// Kills the runner, if there is one, and waits until the template has seen it die.
    pub(super) fn retire(&mut self) -> Result<(), ExecutorError> {
        let Some(runner) = self.runner.take() else { return Ok(()) };
        self.keeper.kill(runner.pid)?;
        self.wait_for_end()
    }

    /// Waits for a runner that leaves by itself.
    pub(super) fn see_off(&mut self) -> Result<(), ExecutorError> {
        let Some(runner) = self.runner.take() else { return Ok(()) };
        if !self.ends_within(PATIENCE) {
            self.keeper.kill(runner.pid)?;
        }
        self.wait_for_end()
    }

    /// Ends the whole session if the runner does not die.
    fn wait_for_end(&mut self) -> Result<(), ExecutorError> {
        if self.ends_within(PATIENCE) { Ok(()) } else { self.end() }
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let board = self.board();
        while board.runner_ended.load(Acquire) == 0 {
            if Instant::now() >= deadline || self.keeper.session_end().is_some() {
                return false;
            }
            futex::wait(&board.runner_ended, 0, LONGEST_SLICE);
        }
        true
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
        self.channel.restart();
        // Its own turn, so that it shows when it passes it.
        self.board().turn.store(Turn::Template as u32, Relaxed);
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
        if self.turn_comes(Turn::Template) {
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
        let board = self.board();
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

/// Since when nothing has moved.
struct Watched {
    progress: (u32, u32),
    since: Instant,
    at_half: Option<u64>,
}

impl Streams {
    fn new() -> io::Result<Self> {
        let stdin_content = capture::memory_file("stdin")?;
        Ok(Self {
            stdin: capture::read_only(&stdin_content)?,
            stdin_content,
            stdout: capture::memory_file("stdout")?,
            stderr: capture::memory_file("stderr")?,
        })
    }

    /// Forgets what a runner left that died: the next takes them for new.
    fn clear(&mut self) -> io::Result<()> {
        for file in [&self.stdin_content, &self.stdout, &self.stderr] {
            file.set_len(0)?;
        }
        for mut file in [&self.stdin, &self.stdout, &self.stderr] {
            file.rewind()?;
        }
        Ok(())
    }
}

/// What a runner maps for itself counts against its limit, and must not be missing to the program: the channel, room
/// for arguments and buffers (see the runtime's vault), and a copy of its memory.
fn memory_limit(config: &SessionConfig, channel: &Channel) -> u64 {
    const COPY: u64 = 16 << 20;
    match config.run.memory_limit {
        0 => 0,
        limit => limit + channel.size() as u64 + 10 * config.inputs_size as u64 + COPY,
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
        Obstacle::NoMain => "its `main` is not among the instrumented code",
    }
}
