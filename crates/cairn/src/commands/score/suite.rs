//! Scores a test suite: tests are commands, and the mutant view stands in the program's place while they run.
//!
//! ```text
//!   each test   original ─► view, nothing active ─► view, noting what it reaches     all must pass
//!   each test   with each infected mutant that nobody has killed: fails, or takes too long ─► killed
//! ```
//! Tests are the user's own programs and run as such, without a sandbox. What they read may change from day to day, so
//! nothing is remembered.

use super::child::{self, Ended};
use crate::{
    failure::Failure,
    mutants::Mutants,
    place::{Fate, Place},
    report::score::{Runs, Scored, Stopped, Test},
    screen::Screen,
    signals::Signals,
    target::Subject,
};
use cairn_abi::mutants::{MUTANT_VARIABLE, REACH_VARIABLE};
use cairn_executor::mutants::ReachFile;
use cairn_model::{KillReason, MutantId, Verdict};
use cairn_mutants::analysis::{InputNumber, KillMatrix, MutantSet};
use std::{
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

/// What a suite is scored with.
pub struct Plan<'a> {
    /// The program.
    pub subject: &'a Subject,
    /// Its mutants.
    pub mutants: &'a Mutants,
    /// Those asked about.
    pub selected: MutantSet,
    /// One command a test.
    pub tests: Vec<String>,
    /// Whether killed mutants are run on.
    pub is_full: bool,
    /// When to stop.
    pub budget: Option<Duration>,
}

/// The tests in a file: one a line, without blank lines and those that start with `#`.
pub fn read_tests(path: &Path) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("failed to read the tests `{}`: {error}", path.display())))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tests: Vec<String> = lines.map(str::to_owned).collect();
    if tests.is_empty() {
        return Err(Failure::usage(format!("there are no tests in `{}`", path.display()))
            .hint("write one command a line; a test passes when it ends with 0"));
    }
    Ok(tests)
}

/// Carries a plan out in the place of the program.
pub fn score<'a>(
    plan: Plan<'a>,
    place: Place,
    signals: &Signals,
    screen: &Screen,
) -> Result<Scored<'a>, Failure> {
    let start = Instant::now();
    let program = place.program().to_path_buf();
    let mut run = Run {
        start,
        signals,
        screen,
        stopped: None,
        tests: plan.tests.iter().map(|line| Test { name: line.clone(), ..Test::default() }).collect(),
        times: vec![Vec::new(); plan.tests.len()],
        matrix: KillMatrix::new(plan.tests.len()),
        runs: Runs::default(),
        plan: &plan,
    };
    run.try_original()?;
    let place =
        place.install(|path, mode| write_view(&plan.mutants.view.program, path, mode)).map_err(|error| {
            Failure::usage(format!(
                "failed to put the mutant view in the place of `{}`: {error}",
                program.display()
            ))
        })?;
    let ours = identity(&program)?;
    let result = run.try_view(&program, &ours).and_then(|()| run.run_mutants(&program, &ours));
    let Run { tests, matrix, runs, stopped, .. } = run;
    let fate = place.leave()?;
    result?;
    if fate == Fate::Missing {
        screen.warn(&format!("the tests removed `{}`; it was put back in its place", program.display()));
    }
    Ok(Scored {
        program: plan.subject.program.display().to_string(),
        mutants: plan.mutants,
        tests,
        matrix,
        is_full: plan.is_full,
        runs,
        stopped,
        elapsed: start.elapsed(),
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
    signals: &'a Signals,
    screen: &'a Screen,
    start: Instant,
    stopped: Option<Stopped>,
    tests: Vec<Test>,
    /// How long each test took with nothing active.
    times: Vec<Vec<Duration>>,
    matrix: KillMatrix,
    runs: Runs,
}

impl Run<'_> {
    /// Runs every test with the program as it is. One that fails has no say.
    fn try_original(&mut self) -> Result<(), Failure> {
        for index in 0..self.tests.len() {
            self.screen.progress(&format!("trying test {} of {}", index + 1, self.tests.len()));
            if let Some(problem) = self.try_test(index, None)? {
                self.leave_out(index, format!("{problem} with the program as it is"));
            }
        }
        Ok(())
    }

    /// Runs every test with the view, and notes what it reaches.
    fn try_view(&mut self, program: &Path, ours: &Identity) -> Result<(), Failure> {
        let folder = tempfile::Builder::new().prefix("cairn-reach-").tempdir()?;
        for index in 0..self.tests.len() {
            if self.tests[index].left_out.is_some() || self.stops() {
                continue;
            }
            self.screen.progress(&format!("preparing test {} of {}", index + 1, self.tests.len()));
            let reach_path = folder.path().join(index.to_string());
            let reach = (REACH_VARIABLE, reach_path.clone().into_os_string());
            for variable in [None, Some(&reach)] {
                let Some(problem) = self.try_test(index, variable)? else { continue };
                if self.stops() {
                    return Ok(());
                }
                let name = &self.tests[index].name;
                return Err(Failure::unbelievable(format!(
                    "no score: `{name}` passes with the program and {problem} with the mutant view, no mutant active"
                ))
                .hint("leave the test out if it looks at the executable itself, or at how fast it is"));
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
        let is_selected = |mutant: &MutantId| self.plan.selected.contains(*mutant);
        let reached =
            reach.reached.iter().flat_map(|patch| patches[patch.index()].mutants.clone().map(MutantId));
        let reached: MutantSet = reached.filter(is_selected).collect();
        let infected: MutantSet = reach.infected.iter().copied().filter(is_selected).collect();
        self.matrix.set_examined(InputNumber(index as u32), reached, infected);
        Ok(())
    }

    /// Runs mutants, quick tests first.
    fn run_mutants(&mut self, program: &Path, ours: &Identity) -> Result<(), Failure> {
        let mut order: Vec<usize> =
            (0..self.tests.len()).filter(|index| self.tests[*index].left_out.is_none()).collect();
        order.sort_by_key(|index| (median(&self.times[*index]), *index));
        let mut killed = MutantSet::default();
        for (position, index) in order.iter().copied().enumerate() {
            let test = InputNumber(index as u32);
            let Some(row) = self.matrix.row(test) else { continue };
            let is_left = |mutant: &MutantId| self.plan.is_full || !killed.contains(*mutant);
            let mutants: Vec<MutantId> = row.infected.iter().filter(is_left).collect();
            let patience = (median(&self.times[index]) * PATIENCE).max(LEAST_PATIENCE);
            for mutant in mutants {
                if self.stops() {
                    return Ok(());
                }
                let name = self.plan.mutants.table.mutants[mutant.index()].stable_id.to_string();
                let variable = (MUTANT_VARIABLE, OsString::from(name));
                let (ended, _) =
                    child::run(&self.plan.tests[index], Some(&variable), patience, self.signals)?;
                let verdict = match ended {
                    Ended::Interrupted => {
                        self.stopped = Some(Stopped::Signal);
                        return Ok(());
                    }
                    Ended::TimedOut => Verdict::Killed(KillReason::Timeout),
                    Ended::With(status) if status.success() => Verdict::Survived,
                    Ended::With(_) => Verdict::Killed(KillReason::Exit),
                };
                self.check_place(program, ours)?;
                self.runs.made += 1;
                self.matrix.set_verdict(test, mutant, verdict);
                if verdict.kill_reason().is_some() {
                    killed.insert(mutant);
                    self.check_test(index, mutant, patience)?;
                }
                self.screen.progress(&format!(
                    "running mutants on test {} of {}: {} runs, {} killed",
                    position + 1,
                    order.len(),
                    self.runs.made,
                    killed.len()
                ));
            }
        }
        Ok(())
    }

    /// Makes sure that a test still passes after it failed with a mutant: what the mutant left behind would look like the
    /// death of all later ones.
    fn check_test(&mut self, index: usize, mutant: MutantId, patience: Duration) -> Result<(), Failure> {
        let (ended, _) = child::run(&self.plan.tests[index], None, patience, self.signals)?;
        match ended {
            Ended::With(status) if status.success() => Ok(()),
            Ended::Interrupted => {
                self.stopped = Some(Stopped::Signal);
                Ok(())
            }
            _ => {
                let id = self.plan.mutants.table.mutants[mutant.index()].stable_id;
                let test = &self.tests[index].name;
                Err(Failure::unbelievable(format!(
                    "no score: `{test}` fails without a mutant, after it failed with the mutant {id}"
                ))
                .hint("a test must clean up what an earlier run of the program left, and pass every time"))
            }
        }
    }

    /// Runs a test with no mutant active and takes its time; what went wrong, if something did.
    fn try_test(
        &mut self,
        index: usize,
        variable: Option<&(&'static str, OsString)>,
    ) -> Result<Option<String>, Failure> {
        let (ended, time) = child::run(&self.plan.tests[index], variable, Duration::MAX, self.signals)?;
        self.times[index].push(time);
        Ok(match ended {
            Ended::With(status) if status.success() => None,
            Ended::With(status) => Some(format!("fails ({status})")),
            Ended::TimedOut => Some("takes too long".into()),
            Ended::Interrupted => {
                self.stopped = Some(Stopped::Signal);
                Some("was interrupted".into())
            }
        })
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
            if self.signals.has_caught() {
                self.stopped = Some(Stopped::Signal);
            } else if self.plan.budget.is_some_and(|budget| self.start.elapsed() >= budget) {
                self.stopped = Some(Stopped::Budget);
            }
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
