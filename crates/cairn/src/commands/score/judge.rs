//! What counts as a difference, as `cairn.toml` says.

use crate::{
    config::{CompareConfig, Config},
    failure::Failure,
    surroundings,
};
use cairn_executor::{
    CompareCommand, ExecutorError, RunConfig,
    mutants::{Comparing, EXAMINED_MARGIN, FUEL_MARGIN, LEAST_FUEL, TIME_MARGINS},
    oracle::Oracle,
};
use std::{env, fs, path::PathBuf};

/// How outcomes are judged.
pub struct Setup {
    /// The parts that count.
    pub oracle: Oracle,
    /// Who compares outputs that differ.
    pub compare: Option<Compare>,
    /// Limits of every run; slow originals have mutants that may take longer.
    pub limits: RunConfig,
}

/// A comparison of the user's.
pub enum Compare {
    /// The program's own `cairn_compare`.
    Function,
    /// A command with its arguments.
    Command {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

impl Setup {
    /// From the configuration.
    pub fn new(config: &Config, limits: RunConfig) -> Result<Self, Failure> {
        let chosen = &config.oracle;
        let usual = Oracle::default();
        let oracle = Oracle {
            exit: chosen.exit.unwrap_or(usual.exit),
            stdout: chosen.stdout.unwrap_or(usual.stdout),
            stderr: chosen.stderr.unwrap_or(usual.stderr),
            files: chosen.files.unwrap_or(usual.files),
            ..usual
        };
        let compare = match &chosen.compare {
            None => None,
            Some(CompareConfig::Function(name)) if name == "cairn_compare" => Some(Compare::Function),
            Some(CompareConfig::Function(name)) => {
                return Err(Failure::usage(format!("`oracle.compare`: `{name}` is not `cairn_compare`"))
                    .hint("a command is a list: `compare = [\"./same\", \"{original}\", \"{mutant}\"]`"));
            }
            Some(CompareConfig::Command(words)) => {
                let (program, arguments) =
                    words.split_first().ok_or_else(|| Failure::usage("`oracle.compare` is an empty list"))?;
                if let Some(place) = CompareCommand::missing_place(arguments) {
                    return Err(Failure::usage(format!(
                        "`oracle.compare`: `{program}` is not given `{place}`"
                    ))
                    .hint("`{original}` and `{mutant}` stand for files with what each wrote"));
                }
                Some(Compare::Command { program: find_command(program)?, arguments: arguments.to_vec() })
            }
        };
        Ok(Self { oracle, compare, limits })
    }

    /// Readies whoever compares.
    pub fn comparing(&self) -> Result<Comparing, ExecutorError> {
        let command = self.command()?.map(|command| Comparing::Command(Box::new(command)));
        Ok(match &self.compare {
            Some(Compare::Function) => Comparing::Function,
            Some(Compare::Command { .. }) | None => command.unwrap_or_default(),
        })
    }

    /// Readies the user's command, if there is one.
    pub fn command(&self) -> Result<Option<CompareCommand>, ExecutorError> {
        match &self.compare {
            Some(Compare::Command { program, arguments }) => {
                CompareCommand::new(program.clone(), arguments.clone(), self.limits.clone()).map(Some)
            }
            Some(Compare::Function) | None => Ok(None),
        }
    }

    /// Names everything that decides a verdict besides the view, the mutant and the input.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let limits = &self.limits;
        let mut text = format!(
            "{:?} {:?} {} {} {} {} {} {:?}",
            self.oracle,
            limits.wall_limit,
            limits.memory_limit,
            limits.output_limit,
            limits.file_limit,
            limits.allow_exec,
            limits.level,
            limits.program_name,
        );
        text.push_str(&format!(
            " fuel {FUEL_MARGIN} {LEAST_FUEL} time {TIME_MARGINS:?} {EXAMINED_MARGIN} elsewhere"
        ));
        hasher.update(text.as_bytes());
        match &self.compare {
            None => {}
            Some(Compare::Function) => {
                hasher.update(b" cairn_compare");
            }
            Some(Compare::Command { program, arguments }) => {
                hasher.update(format!(" {program:?} {arguments:?}").as_bytes());
                // Also a script that was edited decides otherwise.
                hasher.update(&fs::read(program).unwrap_or_default());
            }
        }
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// A command as a shell finds it: a path, or a name in `PATH`.
fn find_command(name: &str) -> Result<PathBuf, Failure> {
    let directory = surroundings::places()?.directory;
    let found = if name.contains('/') {
        Some(directory.join(name)).filter(|path| path.is_file())
    } else {
        env::split_paths(&env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    };
    found.ok_or_else(|| Failure::usage(format!("`oracle.compare`: there is no `{name}`")))
}
