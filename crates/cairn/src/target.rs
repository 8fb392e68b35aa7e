//! From an executable to something that can be run and measured.

use crate::{
    config::{self, Config},
    failure::{Failure, chain},
    surroundings,
};
use cairn_abi::{
    channel::Stage,
    view::{VIEW_SECTION, ViewLabel},
};
use cairn_campaign::SanitizedBuild;
use cairn_cc::{
    BuildRecord, elf,
    views::{self, Sanitizer, ViewRequest, Views},
};
use cairn_executor::{
    CompareFunction, Execution, Executor, ExecutorError, FailureConfig, FailureExplainer, RunConfig,
    SandboxLevel, Session, SessionConfig, SymbolicConfig, SymbolicExecutor, Target,
};
use cairn_model::{
    ProgramMap, SiteTable, Template,
    versioned::{self, Versioned, VersionedError},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// How a user names a target: a program, inputs, and arguments after `--`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TargetArgs {
    /// The program, built with `cairn-cc` (default: `target.program` in `cairn.toml`), then inputs
    #[arg(value_name = "PROGRAM | INPUT")]
    pub words: Vec<PathBuf>,
    /// Arguments of the program; `@@` stands for the file that carries a raw input
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
    /// How well runs are contained: full, basic or off
    #[arg(long, value_name = "LEVEL")]
    pub sandbox: Option<SandboxLevel>,
}

/// A target with its views and map.
pub struct Subject {
    /// The executable the user named.
    pub program: PathBuf,
    /// What remains of the words: inputs.
    pub inputs: Vec<PathBuf>,
    /// How it was built.
    pub record: BuildRecord,
    /// Its views.
    pub views: Views,
    /// Its map.
    pub map: ProgramMap,
    /// How raw bytes become inputs.
    pub template: Template,
    /// Limits and sandbox.
    pub run_config: RunConfig,
    /// What `cairn.toml` says.
    pub config: Config,
}

/// Views beyond the bare build and the plain view.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The view with a path hash.
    pub path: bool,
    /// The view whose counters are the basic paths.
    pub basic_paths: bool,
    /// The view that follows values.
    pub symbolic: bool,
    /// Likewise, and can be asked about expressions and functions.
    pub detailed: bool,
    /// The view with the mutants of this set.
    pub mutants: Option<String>,
    /// Whether nobody looks at the sites of the map, which take most of the time of reading it.
    pub without_sites: bool,
}

impl Wanted {
    /// The usual ones only.
    pub const USUAL: Self = Self {
        path: false,
        basic_paths: false,
        symbolic: false,
        detailed: false,
        mutants: None,
        without_sites: false,
    };
}

impl TargetArgs {
    /// The program and the inputs: the first word is the program if it is an ELF file, else `cairn.toml` names it.
    pub fn split(&self, config: &Config) -> Result<(PathBuf, Vec<PathBuf>), Failure> {
        let mut words = self.words.clone();
        let is_program = |path: &Path| !is_input_file(path);
        if words.first().is_some_and(|first| is_program(first)) {
            let program = words.remove(0);
            return Ok((program, words));
        }
        match &config.target.program {
            Some(program) => Ok((PathBuf::from(program), words)),
            None if words.is_empty() => Err(Failure::usage("no program was named")
                .hint("name one (`cairn cover ./prog inputs/`), or run `cairn init ./prog` once")),
            None => Ok((words.remove(0), words)),
        }
    }
}

/// Whether a word names an existing file or folder that is no program.
fn is_input_file(path: &Path) -> bool {
    let mut magic = [0; 4];
    path.is_dir()
        || fs::File::open(path).is_ok_and(|mut file| {
            std::io::Read::read_exact(&mut file, &mut magic).is_err() || magic != *b"\x7fELF"
        })
}

impl Subject {
    /// Finds the record, builds the views unless they are there, reads the map.
    pub fn open(args: &TargetArgs, wanted: &Wanted, progress: &dyn Fn(&str)) -> Result<Self, Failure> {
        let places = surroundings::places()?;
        let config = Config::load(&places.directory)?;
        let mut run_config = config.run_config(args.sandbox)?;
        let (program, inputs) = args.split(&config)?;
        let record = views::find(&places, &program).map_err(|error| Failure::target(chain(&error)))?;
        // Programs ask for their own name, and views have others.
        run_config.program_name = Some(
            program
                .file_name()
                .map_or_else(|| record.name.clone(), |name| name.to_string_lossy().into_owned()),
        );
        let settings = surroundings::settings(places)?;
        let scope = serde_json::to_string(&config.scope).expect("a scope is always JSON");
        let request = ViewRequest {
            scope: Some(scope),
            with_path: wanted.path,
            with_basic_paths: wanted.basic_paths,
            with_symbolic: wanted.symbolic,
            with_detailed: wanted.detailed,
            mutants: wanted.mutants.clone(),
            ..ViewRequest::default()
        };
        let views =
            while_telling(&format!("building the views of `{}`", program.display()), progress, || {
                views::build_views(&settings, &record, &request)
            })
            .map_err(|error| Failure::target(chain(&error)))?;
        let bytes = read_bytes(&views.map, "map")?;
        let map_hash = ProgramMap::hash_of(&bytes);
        let map = match wanted.without_sites {
            true => ProgramMap::decode_without_sites(&bytes),
            false => versioned::decode(&bytes),
        };
        let map = map.map_err(|error| unreadable(&views.map, &error))?;
        let detailed = views.detailed.as_ref().map(|view| &view.program);
        let more = [views.basic_paths.as_ref(), views.symbolic.as_ref(), detailed];
        for view in [&views.plain].into_iter().chain(more.into_iter().flatten()) {
            check_label(view, &map_hash)?;
        }
        if map.functions.iter().all(|function| !function.in_scope) {
            return Err(Failure::target(format!("no function of `{}` is in scope", program.display()))
                .hint("check `[scope]` in `cairn.toml`"));
        }
        let template = config::template(&config, &args.args, is_harness(&program));
        Ok(Self { program, inputs, record, views, map, template, run_config, config })
    }

    /// Runs the plain view.
    pub fn plain(&self) -> Result<Executor, Failure> {
        self.executor(&self.views.plain, self.map.n_counters)
    }

    /// Runs the plain view live, one input after the other.
    pub fn session(&self) -> Result<Session, Failure> {
        let target = Target { program: self.views.plain.clone(), n_counters: self.map.n_counters };
        let config = SessionConfig { run: self.run_config.clone(), ..SessionConfig::default() };
        Ok(Session::new(target, config)?)
    }

    /// Runs the bare build, the judge of outcomes.
    pub fn bare(&self) -> Result<Executor, Failure> {
        self.executor(&self.views.bare, 0)
    }

    /// Runs the view with a path hash, if it was asked for.
    pub fn path(&self) -> Result<Option<Executor>, Failure> {
        self.views.path.as_ref().map(|view| self.executor(view, self.map.n_counters)).transpose()
    }

    /// Runs the symbolic view, which must have been asked for.
    pub fn symbolic(&self, config: SymbolicConfig) -> Result<SymbolicExecutor, Failure> {
        let view = self.views.symbolic.clone().expect("the symbolic view was asked for");
        let target = Target { program: view, n_counters: self.map.n_counters };
        Ok(SymbolicExecutor::new(target, self.run_config.clone(), config)?)
    }

    /// Runs the detailed symbolic view, which must have been asked for, and tells what it can be asked about.
    pub fn detailed(&self, config: SymbolicConfig) -> Result<(SymbolicExecutor, SiteTable), Failure> {
        let view = self.views.detailed.clone().expect("the detailed view was asked for");
        let sites: SiteTable = read(&view.sites, "site table")?;
        if sites.map_hash != self.map.hash() {
            let what = format!("the site table `{}` belongs to another build", view.sites.display());
            return Err(
                Failure::target(what).hint("delete the folder it lies in and run `cairn build` again")
            );
        }
        let target = Target { program: view.program, n_counters: self.map.n_counters };
        let config = SymbolicConfig { n_probes: sites.probes.len(), ..config };
        Ok((SymbolicExecutor::new(target, self.run_config.clone(), config)?, sites))
    }

    /// Asks the program's own `cairn_compare`.
    pub fn compare_function(&self) -> Result<CompareFunction, Failure> {
        let view = Target { program: self.views.plain.clone(), n_counters: self.map.n_counters };
        Ok(CompareFunction::new(view, self.run_config.clone())?)
    }

    /// Runs the user's own executable.
    pub fn ordinary(&self) -> Result<Executor, Failure> {
        self.executor(&self.program, 0)
    }

    /// Tells why runs of the bare build fail, and where.
    pub fn explainer(&self) -> Result<FailureExplainer, Failure> {
        let target = Target { program: self.views.bare.clone(), n_counters: 0 };
        let config = FailureConfig { root: self.record.root.clone(), has_sanitizers: false };
        Ok(FailureExplainer::new(target, self.run_config.clone(), config)?)
    }

    /// Builds the program with sanitizers, unless it is there already; where it lies.
    pub fn build_sanitized(
        &self,
        sanitizers: &BTreeSet<Sanitizer>,
        progress: &dyn Fn(&str),
    ) -> Result<PathBuf, Failure> {
        let settings = surroundings::settings(surroundings::places()?)?;
        let what = format!("building `{}` with sanitizers", self.program.display());
        while_telling(&what, progress, || views::build_sanitized(&settings, &self.record, sanitizers))
            .map_err(|error| Failure::target(chain(&error)))
    }

    /// Runs the build with sanitizers that lies at `program`, and tells what it reports.
    pub fn sanitized(&self, program: &Path) -> Result<SanitizedBuild, ExecutorError> {
        let target = Target { program: program.to_path_buf(), n_counters: 0 };
        let run = RunConfig { memory_limit: 0, ..self.run_config.clone() };
        let config = FailureConfig { root: self.record.root.clone(), has_sanitizers: true };
        let runner = Executor::new(target.clone(), run.clone())?;
        Ok(SanitizedBuild { runner, explainer: FailureExplainer::new(target, run, config)? })
    }

    /// Fails if a run of a view left no sign of its runtime, because then its counters mean nothing.
    pub fn check_reported(&self, execution: &Execution) -> Result<(), Failure> {
        let reported = execution.stage.is_some_and(|stage| stage > Stage::Nothing);
        if reported || execution.outcome.ending.is_failure() {
            return Ok(());
        }
        Err(Failure::target(format!(
            "the plain view of `{}` did not report: its runtime never ran",
            self.program.display()
        ))
        .hint("programs linked with `-nostartfiles` or an entry point of their own cannot be measured"))
    }

    fn executor(&self, view: &Path, n_counters: u32) -> Result<Executor, Failure> {
        let target = Target { program: view.to_path_buf(), n_counters };
        Ok(Executor::new(target, self.run_config.clone())?)
    }
}

/// Reads a file that was made with the views; `what` it is.
pub fn read<T: Versioned>(path: &Path, what: &str) -> Result<T, Failure> {
    versioned::decode(&read_bytes(path, what)?).map_err(|error| unreadable(path, &error))
}

fn read_bytes(path: &Path, what: &str) -> Result<Vec<u8>, Failure> {
    fs::read(path)
        .map_err(|error| Failure::target(format!("failed to read the {what} `{}`: {error}", path.display())))
}

fn unreadable(path: &Path, error: &VersionedError) -> Failure {
    Failure::target(format!("`{}`: {}", path.display(), chain(error)))
        .hint("delete the folder it lies in and run `cairn build` again")
}

/// Does `work` and tells every second how long it has taken.
fn while_telling<T: Send>(what: &str, progress: &dyn Fn(&str), work: impl FnOnce() -> T + Send) -> T {
    let start = Instant::now();
    progress(what);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let worker = scope.spawn(move || {
            // Dropped with the closure, also when the work panics.
            let _done: mpsc::Sender<()> = sender;
            work()
        });
        while receiver.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
            progress(&format!("{what} ({} s)", start.elapsed().as_secs()));
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Refuses a view that was not built from this map.
pub fn check_label(view: &Path, map_hash: &[u8; 32]) -> Result<(), Failure> {
    let bytes = fs::read(view)
        .map_err(|error| Failure::target(format!("failed to read the view `{}`: {error}", view.display())))?;
    let label = elf::section(&bytes, VIEW_SECTION).and_then(ViewLabel::parse);
    let rebuild = "delete the folder it lies in and run `cairn build` again";
    match label {
        None => Err(Failure::target(format!("`{}` is not a view", view.display())).hint(rebuild)),
        Some(label) if label.map_hash != *map_hash => Err(Failure::target(format!(
            "the view `{}` and its map come from different builds",
            view.display()
        ))
        .hint(rebuild)),
        Some(_) => Ok(()),
    }
}

/// Whether a program takes its input through `LLVMFuzzerTestOneInput`.
pub fn is_harness(program: &Path) -> bool {
    let bytes = fs::read(program).unwrap_or_default();
    elf::defined_symbols(&bytes).binary_search_by(|name| name.as_str().cmp("LLVMFuzzerTestOneInput")).is_ok()
}
