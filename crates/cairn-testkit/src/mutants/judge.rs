//! Whether a mutant in the view does what the same mutant does in a build of its own.

use super::{Behaviour, MutantBuild};
use cairn_executor::{Executor, RunConfig, Target};
use cairn_model::{Input, MutantId};
use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

/// A mutant compiled into a build of its own.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The mutant.
    pub mutant: MutantId,
    /// Whether it was made from a changed source and not from the bitcode.
    pub is_text: bool,
    /// The program; if there are several, all of them are this mutant, compiled in different ways.
    pub programs: Vec<PathBuf>,
}

/// Runs references and compares.
#[derive(Clone, Debug)]
pub struct Judge {
    config: RunConfig,
}

/// Whether view and reference agree on one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// They do the same.
    Same,
    /// They do not, and the reference itself does something else in a second memory layout, without optimisation, or
    /// under AddressSanitizer: C leaves open what the mutant does.
    LayoutDependent {
        /// In the first.
        one: Behaviour,
        /// In the second.
        other: Behaviour,
    },
    /// They do not.
    Different {
        /// What the reference does.
        reference: Behaviour,
    },
}

/// A program that does not end is given up after this time if nobody expects it to end.
const SOON: Duration = Duration::from_millis(250);

/// Time for a run that should end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time for a run without optimisation that should end.
const MUCH_PATIENCE: Duration = Duration::from_secs(20);

/// Time in which a program takes many steps without optimisation. Optimised, it may take none: where a loop leads can often
/// be computed.
const MUCH_TIME_FOR_STEPS: Duration = Duration::from_millis(500);

/// What changes where things lie in memory and what is in it: the size of the environment, and what `malloc` leaves.
fn layouts() -> [Vec<(String, String)>; 3] {
    let padding = |n: usize| ("PADDING".to_owned(), "x".repeat(n));
    let perturb = |byte: u8| ("GLIBC_TUNABLES".to_owned(), format!("glibc.malloc.perturb={byte}"));
    [vec![padding(1000)], vec![perturb(0xa5)], vec![padding(40_000), perturb(1)]]
}

impl Judge {
    /// Runs references as `config` says, but for time and steps. All programs are called alike, because some print their
    /// name.
    pub fn new(config: &RunConfig) -> Self {
        let name = config.program_name.clone().unwrap_or_else(|| "program".into());
        Self { config: RunConfig { fuel: 0, program_name: Some(name), ..config.clone() } }
    }

    /// Limits and surroundings of runs that are to be compared with those of references.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// Compares `reference`, a mutant of `build`, with what the view did on `input`. Where they differ, the mutant is
    /// compiled without optimisation and with checks.
    pub fn compare(
        &self,
        reference: &Reference,
        input: &Input,
        view: &Behaviour,
        build: &MutantBuild,
    ) -> Agreement {
        let mut programs: Vec<Runs> =
            reference.programs.iter().map(|program| Runs::of(program, &self.config)).collect();
        let one = run_first(&mut programs[0], input, view);
        if one == *view {
            return Agreement::Same;
        }
        let mut in_layouts = || other_layout(&mut programs, input, &one);
        let in_builds = || {
            // The sources agree among themselves. So do builds of the bitcode, of which the view is one, unless C
            // leaves open what they do; that they agree in something else is what we look for.
            let expected = if reference.is_text { view } else { &one };
            // Who ran into a limit of steps is compared with who has to take them.
            let limit = if view.is_endless() { MUCH_TIME_FOR_STEPS } else { MUCH_PATIENCE };
            self.other_behaviour(expected, reference.mutant, input, build, limit)
        };
        // What does not end takes its time in every layout.
        let other =
            if one.is_endless() { in_builds().or_else(in_layouts) } else { in_layouts().or_else(in_builds) };
        match other {
            Some(other) => Agreement::LayoutDependent { one, other },
            None => Agreement::Different { reference: one },
        }
    }

    /// What a mutant does when it is compiled from the bitcode in other ways, if that is not always what is `expected`;
    /// without optimisation it has `limit`.
    fn other_behaviour(
        &self,
        expected: &Behaviour,
        mutant: MutantId,
        input: &Input,
        build: &MutantBuild,
        limit: Duration,
    ) -> Option<Behaviour> {
        // What is not optimised is slow, and so is what is checked: not to end soon is not to do something else.
        let unoptimised = build.unoptimised(mutant);
        let plain = Runs::of(&unoptimised, &self.config).run(input, limit);
        if plain != *expected {
            return Some(plain);
        }
        let checked = self.run_checked(&build.checked(mutant), input);
        (checked != *expected && !checked.is_endless()).then_some(checked)
    }

    /// What a build with AddressSanitizer does: the same, unless C leaves open what the program does.
    fn run_checked(&self, program: &Path, input: &Input) -> Behaviour {
        // It maps terabytes, and touches few of them.
        let config = RunConfig { memory_limit: 0, ..self.config.clone() };
        let mut input = input.clone();
        let options =
            "detect_leaks=0:handle_segv=0:handle_sigfpe=0:handle_sigbus=0:handle_sigill=0:handle_abort=0";
        input.environment.push(("ASAN_OPTIONS".into(), options.into()));
        Runs::of(program, &config).run(&input, PATIENCE)
    }

    /// What a build without instrumentation does.
    pub fn run(&self, program: &Path, input: &Input) -> Behaviour {
        Runs::of(program, &self.config).run(input, PATIENCE)
    }
}

/// What a reference does that is to be compared with `view`.
fn run_first(program: &mut Runs, input: &Input, view: &Behaviour) -> Behaviour {
    // Who expects no end need not wait long for it; who is surprised looks again.
    let limit = if view.is_endless() { SOON } else { PATIENCE };
    let first = program.run(input, limit);
    match first != *view && view.is_endless() {
        true => program.run(input, PATIENCE),
        false => first,
    }
}

/// What a reference does in another of its programs or in another layout of memory, if that is not always `one`.
fn other_layout(programs: &mut [Runs], input: &Input, one: &Behaviour) -> Option<Behaviour> {
    let n_programs = programs.len();
    let mut differs = |program: usize, variables: Vec<(String, String)>| {
        let mut input = input.clone();
        input.environment.extend(variables.into_iter().map(|(name, value)| (name, value.as_str().into())));
        let other = programs[program].run(&input, PATIENCE);
        (other != *one).then_some(other)
    };
    (1..n_programs)
        .find_map(|program| differs(program, Vec::new()))
        .or_else(|| layouts().into_iter().find_map(|variables| differs(0, variables)))
}

/// Runs one program, with little patience and with much.
pub(super) struct Runs {
    program: PathBuf,
    config: RunConfig,
    executors: BTreeMap<Duration, Executor>,
}

impl Runs {
    pub(super) fn of(program: &Path, config: &RunConfig) -> Self {
        Self { program: program.to_owned(), config: config.clone(), executors: BTreeMap::new() }
    }

    pub(super) fn run(&mut self, input: &Input, wall_limit: Duration) -> Behaviour {
        let executor = self.executors.entry(wall_limit).or_insert_with(|| {
            let target = Target { program: self.program.clone(), n_counters: 0 };
            let config = RunConfig { wall_limit, ..self.config.clone() };
            Executor::new(target, config)
                .unwrap_or_else(|error| panic!("start `{}`: {error}", self.program.display()))
        });
        let execution = executor.run(input);
        execution.unwrap_or_else(|error| panic!("run `{}`: {error}", self.program.display())).outcome.into()
    }
}

/// How many comparisons came out how, and the ones worth a look.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Pairs of a mutant and an input that agree.
    pub n_same: usize,
    /// Pairs whose reference does not agree with itself, told.
    pub layout_dependent: Vec<String>,
    /// Pairs that disagree, told.
    pub different: Vec<String>,
}

impl Tally {
    /// Adds a comparison; `what` names mutant and input.
    pub fn add(&mut self, what: &str, view: &Behaviour, agreement: Agreement) {
        match agreement {
            Agreement::Same => self.n_same += 1,
            Agreement::LayoutDependent { one, other } => self
                .layout_dependent
                .push(format!("{what}\n  view       {view}\n  reference  {one}\n  or         {other}")),
            Agreement::Different { reference } => {
                self.different.push(format!("{what}\n  view       {view}\n  reference  {reference}"))
            }
        }
    }

    /// Adds another tally.
    pub fn extend(&mut self, other: Self) {
        self.n_same += other.n_same;
        self.layout_dependent.extend(other.layout_dependent);
        self.different.extend(other.different);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} agree, {} layout-dependent, {} different",
            self.n_same,
            self.layout_dependent.len(),
            self.different.len()
        )?;
        for text in &self.different {
            writeln!(f, "different: {text}")?;
        }
        for text in &self.layout_dependent {
            writeln!(f, "layout-dependent: {text}")?;
        }
        Ok(())
    }
}
