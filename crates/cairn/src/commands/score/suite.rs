//! Scores a test suite: tests are commands, and the mutant view stands in the program's place while they run.
//!
//! ```text
//!   each test   original ─► view, nothing active ─► view, noting what it reaches     all must pass
//!   each test   with each infected mutant that nobody has killed: does not pass, twice ─► killed
//! ```
//! Tests are the user's own programs and run as such, without a sandbox, one at a time.

use super::{
    child::{self, Ended, Limits, Tested},
    memory::{ExaminedSets, Memory},
    orphans::Orphans,
    reach_folder::ReachFolder,
    test_line::TestLine,
};
use crate::{
    failure::Failure,
    mutants::Mutants,
    place::{Fate, Place},
    report::score::{Kind, Runs, Scored, Stopped, Test},
    screen::Screen,
    signals::Signals,
    target::Subject,
};
use cairn_abi::mutants::{MUTANT_VARIABLE, REACH_VARIABLE};
use cairn_executor::mutants::ReachFile;
use cairn_model::{KillReason, MutantId, Verdict};
use cairn_mutants::analysis::{InputNumber, KillMatrix, MutantSet};
use cairn_store::ResultKey;
use std::{
    env,
    ffi::OsString,
    fs::{self, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// A mutant may take so many times what a test usually takes.
const PATIENCE: u32 = 10;

/// The least time a mutant has.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);

/// A test may take so many times what it takes with the program when it runs with the view, which is slower, and much
/// slower where it notes what is reached.
const VIEW_PATIENCE: u32 = 100;

/// The least time it has then.
const LEAST_VIEW_PATIENCE: Duration = Duration::from_secs(60);

/// Between two times that results are written down.
const BEAT: Duration = Duration::from_millis(200);

/// What a suite is scored with.
pub struct Plan<'a> {
    /// The program.
    pub subject: &'a Subject,
    /// Its mutants.
    pub mutants: &'a Mutants,
    /// Those asked about.
    pub selected: MutantSet,
    /// The tests.
    pub tests: Vec<TestLine>,
    /// Whether killed mutants are run on.
    pub is_full: bool,
    /// When to stop.
    pub budget: Option<Duration>,
}

/// Names everything that decides a verdict besides the view, the mutant and the test.
pub fn setup_hash(subject: &Subject) -> io::Result<[u8; 32]> {
    let text = format!(
        "tests of {} in {:?}, failing twice, {PATIENCE} {LEAST_PATIENCE:?} {}",
        subject.record.build_id,
        env::current_dir()?,
        env!("CARGO_PKG_VERSION")
    );
    Ok(*blake3::hash(text.as_bytes()).as_bytes())
}

/// Carries a plan out in the place of the program.
pub fn score<'a>(
    plan: Plan<'a>,
    place: Place,
    memory: &mut Memory,
    signals: &Signals,
    screen: &Screen,
) -> Result<Scored<'a>, Failure> {
    let start = Instant::now();
    let program = place.program().to_path_buf();
    let mut run = Run {
        limits: Limits {
            patience: None,
            deadline: plan.budget.and_then(|budget| start.checked_add(budget)),
            signals,
        },
        orphans: Orphans::adopt()?,
        screen,
        stopped: None,
        tests: plan.tests.iter().map(|test| Test { name: test.line.clone(), ..Test::default() }).collect(),
        times: vec![Vec::new(); plan.tests.len()],
        keys: vec![None; plan.tests.len()],
        matrix: KillMatrix::new(plan.tests.len()),
        killed: MutantSet::default(),
        runs: Runs::default(),
        memory,
        last_write: start,
        plan: &plan,
    };
    run.try_original()?;
    let place = match run.stops() {
        true => place,
        false => place.install(|path, mode| write_view(&plan.mutants.view.program, path, mode)).map_err(
            |error| {
                Failure::usage(format!(
                    "failed to put the mutant view in the place of `{}`: {error}",
                    program.display()
                ))
            },
        )?,
    };
    let ours = identity(&program)?;
    let result = run
        .try_view(&program, &ours)
        .and_then(|()| run.recall())
        .and_then(|()| run.run_mutants(&program, &ours));
    // What was found out before a failure is true all the same.
    let written = run.memory.write();
    let Run { tests, matrix, runs, stopped, .. } = run;
    let fate = place.leave()?;
    result.and(written)?;
    if fate == Fate::Missing {
        screen.warn(&format!("the tests removed `{}`; it was put back in its place", program.display()));
    }
    Ok(Scored {
        program: plan.subject.program.display().to_string(),
        mutants: plan.mutants,
        kind: Kind::Tests,
        tests,
        matrix,
        is_full: plan.is_full,
        runs,
        stopped,
        elapsed: start.elapsed(),
        wall_limit: None,
        selected: plan.selected,
    })
}

fn write_view(view: &Path, path: &Path, mode: u32) -> io::Result<()> {
    fs::copy(view, path)?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// What tells a file from another at the same path.
type Identity = (u64, u64, i64, u64);

fn identity(path: &Path) -> io::Result<Identity> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino(), metadata.mtime(), metadata.size()))
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    limits: Limits<'a>,
    orphans: Orphans,
    screen: &'a Screen,
    stopped: Option<Stopped>,
    tests: Vec<Test>,
    /// How long each test took with nothing active.
    times: Vec<Vec<Duration>>,
    /// What the results of each test are remembered under, once that is known.
    keys: Vec<Option<ResultKey>>,
    matrix: KillMatrix,
    killed: MutantSet,
    runs: Runs,
    memory: &'a mut Memory,
    last_write: Instant,
}

/// What came of a test with no mutant active.
enum Tried {
    Passed,
    /// How it did not pass.
    Failed(String),
    /// The score ends.
    Stopped,
}

impl Run<'_> {
    /// Runs every test with the program as it is. One that fails has no say.
    fn try_original(&mut self) -> Result<(), Failure> {
        for index in 0..self.tests.len() {
            if self.stops() {
                break;
            }
            self.screen.progress(&format!("trying test {} of {}", index + 1, self.tests.len()));
            // Only the user knows how long the tests take.
            match self.try_test(index, None, None)? {
                Tried::Passed => {}
                Tried::Failed(problem) => {
                    self.leave_out(index, format!("{problem} with the program as it is"))
                }
                Tried::Stopped => break,
            }
        }
        Ok(())
    }

    /// Runs every test with the view, and notes what it reaches.
    fn try_view(&mut self, program: &Path, ours: &Identity) -> Result<(), Failure> {
        let folder = ReachFolder::new(&self.plan.subject.record.folder)?;
        for index in 0..self.tests.len() {
            if self.stops() {
                return Ok(());
            }
            if self.tests[index].left_out.is_some() {
                continue;
            }
            self.screen.progress(&format!("preparing test {} of {}", index + 1, self.tests.len()));
            let reach_path = folder.path().join(index.to_string());
            let reach = (REACH_VARIABLE, reach_path.clone().into_os_string());
            let patience = (median(&self.times[index]) * VIEW_PATIENCE).max(LEAST_VIEW_PATIENCE);
            for variable in [None, Some(&reach)] {
                match self.try_test(index, variable, Some(patience))? {
                    Tried::Passed => {}
                    Tried::Stopped => return Ok(()),
                    Tried::Failed(problem) => {
                        let name = &self.tests[index].name;
                        return Err(Failure::unbelievable(format!(
                            "no score: `{name}` passes with the program and {problem} with the mutant view, no mutant active"
                        ))
                        .hint("leave the test out if it looks at the executable itself, or at how fast it is"));
                    }
                }
            }
            self.check_place(program, ours)?;
            self.note_reached(index, &reach_path)?;
        }
        Ok(())
    }

    /// A test that does not start the program reaches nothing and leaves no file.
    fn note_reached(&mut self, index: usize, path: &Path) -> Result<(), Failure> {
        let reach = match path.exists() {
            true => ReachFile::read(path, &self.plan.mutants.table)?,
            false => ReachFile::default(),
        };
        let patches = &self.plan.mutants.table.patches;
        let reached =
            reach.reached.iter().flat_map(|patch| patches[patch.index()].mutants.clone().map(MutantId));
        let examined =
            ExaminedSets { reached: reached.collect(), infected: reach.infected.into_iter().collect() };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.plan.tests[index].files);
        examined.hash_into(&mut hasher);
        let key = ResultKey {
            input: format!("test {}", self.plan.tests[index].line),
            original: *hasher.finalize().as_bytes(),
        };
        self.memory.note_examined(&key, &examined);
        self.keys[index] = Some(key);
        let of_selected =
            |set: &MutantSet| set.iter().filter(|mutant| self.plan.selected.contains(*mutant)).collect();
        self.matrix.set_examined(
            InputNumber(index as u32),
            of_selected(&examined.reached),
            of_selected(&examined.infected),
        );
        Ok(())
    }

    /// Takes over what earlier scores found out.
    fn recall(&mut self) -> Result<(), Failure> {
        for (index, key) in self.keys.iter().enumerate() {
            let Some(key) = key else { continue };
            let test = InputNumber(index as u32);
            for (mutant, verdict) in self.memory.recall(key)? {
                if self.matrix.row(test).is_some_and(|row| row.infected.contains(mutant)) {
                    self.matrix.set_verdict(test, mutant, verdict);
                    self.runs.remembered += 1;
                    if verdict.kill_reason().is_some() {
                        self.killed.insert(mutant);
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs mutants, quick tests first.
    fn run_mutants(&mut self, program: &Path, ours: &Identity) -> Result<(), Failure> {
        let mut order: Vec<usize> =
            (0..self.tests.len()).filter(|index| self.tests[*index].left_out.is_none()).collect();
        order.sort_by_key(|index| (median(&self.times[*index]), *index));
        for (position, index) in order.iter().copied().enumerate() {
            let Some(row) = self.matrix.row(InputNumber(index as u32)) else { continue };
            let is_left = |mutant: &MutantId| {
                !row.verdicts.contains_key(mutant) && (self.plan.is_full || !self.killed.contains(*mutant))
            };
            let mutants: Vec<MutantId> = row.infected.iter().filter(is_left).collect();
            for mutant in mutants {
                if self.stops() {
                    return Ok(());
                }
                let Some(verdict) = self.run_mutant(index, mutant)? else { return Ok(()) };
                self.check_place(program, ours)?;
                // Of a mutant that leaves something behind nothing is known, and the score ends here.
                if verdict.kill_reason().is_some() && !self.check_test(index, mutant)? {
                    return Ok(());
                }
                self.note(index, mutant, verdict)?;
                self.screen.progress(&format!(
                    "running mutants on test {} of {}: {} runs, {} killed",
                    position + 1,
                    order.len(),
                    self.runs.made,
                    self.killed.len()
                ));
            }
        }
        Ok(())
    }

    /// Runs a test with a mutant active; `None` if the score ends before it does.
    ///
    /// A busy machine may make a test slow, and some tests fail now and then, so one that does not pass is run again with
    /// twice the time, and what it does then is what counts.
    fn run_mutant(&mut self, index: usize, mutant: MutantId) -> Result<Option<Verdict>, Failure> {
        let name = self.plan.mutants.table.mutants[mutant.index()].stable_id.to_string();
        let variable = (MUTANT_VARIABLE, OsString::from(name));
        let patience = self.patience(index);
        let mut tested = self.run_test(index, Some(&variable), Some(patience))?;
        if !matches!(tested.ended, Ended::Stopped(_)) && !tested.ended.has_passed() {
            tested = self.run_test(index, Some(&variable), Some(patience * 2))?;
            match tested.ended {
                Ended::Stopped(_) => {}
                ended if ended.has_passed() => self.runs.not_confirmed += 1,
                _ => self.runs.confirmed += 1,
            }
        }
        Ok(match tested.ended {
            Ended::Stopped(_) => None,
            Ended::TimedOut => Some(Verdict::Killed(KillReason::Timeout)),
            Ended::With(status) if status.success() => Some(Verdict::Survived),
            Ended::With(_) => Some(Verdict::Killed(KillReason::Exit)),
        })
    }

    /// Notes a verdict, and writes down what was noted from time to time.
    fn note(&mut self, index: usize, mutant: MutantId, verdict: Verdict) -> Result<(), Failure> {
        self.runs.made += 1;
        self.matrix.set_verdict(InputNumber(index as u32), mutant, verdict);
        if verdict.kill_reason().is_some() {
            self.killed.insert(mutant);
        }
        if let Some(key) = &self.keys[index] {
            self.memory.note_verdicts(key, &[(mutant, verdict)]);
        }
        if self.last_write.elapsed() >= BEAT {
            self.last_write = Instant::now();
            self.memory.write()?;
        }
        Ok(())
    }

    /// Makes sure that a test still passes after it failed with a mutant: what the mutant left behind would look like the
    /// death of all later ones. `false` if the score ends before that is known.
    fn check_test(&mut self, index: usize, mutant: MutantId) -> Result<bool, Failure> {
        let patience = self.patience(index) * 2;
        match self.run_test(index, None, Some(patience))?.ended {
            Ended::With(status) if status.success() => Ok(true),
            Ended::Stopped(_) => Ok(false),
            _ => {
                let id = self.plan.mutants.table.mutants[mutant.index()].stable_id;
                let test = &self.tests[index].name;
                Err(Failure::unbelievable(format!(
                    "no score: `{test}` fails without a mutant, after it failed with the mutant {id}"
                ))
                .hint(
                    "this mutant left something behind, or one that ran before it: a test must clean up what an \
                     earlier run of the program left, and pass every time",
                ))
            }
        }
    }

    /// Runs a test with no mutant active and takes its time.
    fn try_test(
        &mut self,
        index: usize,
        variable: Option<&(&'static str, OsString)>,
        patience: Option<Duration>,
    ) -> Result<Tried, Failure> {
        let Tested { ended, time } = self.run_test(index, variable, patience)?;
        self.times[index].push(time);
        Ok(match ended {
            Ended::With(status) if status.success() => Tried::Passed,
            Ended::With(status) => Tried::Failed(format!("fails ({status})")),
            Ended::TimedOut => Tried::Failed("takes too long".into()),
            Ended::Stopped(_) => Tried::Stopped,
        })
    }

    /// Runs a test; where the score ends before it does, that is noted.
    fn run_test(
        &mut self,
        index: usize,
        variable: Option<&(&'static str, OsString)>,
        patience: Option<Duration>,
    ) -> Result<Tested, Failure> {
        let limits = Limits { patience, ..self.limits };
        let tested = child::run(&self.plan.tests[index].line, variable, limits, &self.orphans)?;
        if let Ended::Stopped(stopped) = tested.ended {
            self.stopped = Some(stopped);
        }
        Ok(tested)
    }

    /// How long a test may take with a mutant.
    fn patience(&self, index: usize) -> Duration {
        (median(&self.times[index]) * PATIENCE).max(LEAST_PATIENCE)
    }

    fn leave_out(&mut self, index: usize, why: String) {
        self.matrix.set_examined(InputNumber(index as u32), MutantSet::default(), MutantSet::default());
        self.tests[index].left_out = Some(why);
    }

    /// Fails if something else than the view stands in the program's place: runs would say nothing about mutants.
    fn check_place(&self, program: &Path, ours: &Identity) -> Result<(), Failure> {
        if identity(program).is_ok_and(|found| found == *ours) {
            return Ok(());
        }
        Err(Failure::unbelievable(format!(
            "no score: the tests replaced `{}`, so mutants would not be run",
            program.display()
        ))
        .hint("let the tests use what is built, and build everything once before they are scored"))
    }

    fn stops(&mut self) -> bool {
        if self.stopped.is_none() {
            self.stopped = self.limits.stopped();
        }
        self.stopped.is_some()
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Where the program really lies.
pub fn program_path(program: &Path) -> Result<PathBuf, Failure> {
    program
        .canonicalize()
        .map_err(|error| Failure::usage(format!("failed to read `{}`: {error}", program.display())))
}
