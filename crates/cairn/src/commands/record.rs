//! `cairn record`: runs a test suite and keeps every call of a program as an input.

mod recorder;
mod report;
mod session;
mod suite;

use self::{report::Report, session::Session};
use crate::{
    exit_code::Exit,
    failure::Failure,
    place::{Fate, Place},
    screen::Screen,
    signals::Signals,
};
use cairn_model::input::Bytes;
use cairn_recorder::{Limits, Settings, environment, journal::Tally};
use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Run a test suite and keep every call of a program as an input
#[derive(Debug, clap::Args)]
pub struct Record {
    /// The program whose calls are kept; while the suite runs, a recorder stands in its place
    program: PathBuf,
    /// The folder for the inputs, made if needed
    #[arg(long, value_name = "FOLDER", default_value = "inputs")]
    into: PathBuf,
    /// Leave the program alone and put a recorder called NAME first in the suite's PATH
    #[arg(long = "as", value_name = "NAME")]
    path_name: Option<String>,
    /// Keep only calls by this name, for programs with many: `NAME …` and `PROGRAM NAME …`
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Leave out calls whose standard input and named files are larger together
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes)]
    max_bytes: u64,
    /// Record named folders empty that hold more entries
    #[arg(long, value_name = "N", default_value_t = Limits::default().files)]
    max_files: usize,
    /// Also take the other files of the working folder unless there are more; 0 takes none
    #[arg(long, value_name = "N", default_value_t = Limits::default().present_files)]
    present_files: usize,
    /// Also take the other files of the working folder unless they are larger together
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().present_bytes)]
    present_bytes: u64,
    /// Wait this long for the end of a silent pipe on standard input
    #[arg(long, value_name = "MILLISECONDS", default_value_t = Limits::default().patience.as_millis() as u64)]
    patience: u64,
    /// Keep this variable though the program does not contain its name; a `*` at the end stands for any rest
    #[arg(long, value_name = "VARIABLE")]
    keep_env: Vec<String>,
    /// Never keep this variable; a `*` at the end stands for any rest
    #[arg(long, value_name = "VARIABLE")]
    ignore_env: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Only put the program back after a recording that was killed
    #[arg(long, conflicts_with = "command")]
    restore: bool,
    /// The test suite; what it prints goes to standard error
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "restore")]
    command: Vec<OsString>,
}

impl Record {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let program = self.find_program()?;
        if self.restore {
            return self.restore(screen, &program);
        }
        // From here on a signal ends the suite, not us: the program must get back to its place.
        let signals = Signals::catch()?;
        let place = match self.path_name {
            None => {
                let (place, leftover) = Place::take(&program, &self.shown_command())?;
                self.tell_leftover(screen, leftover);
                check_executable(&program)?;
                Some(place)
            }
            Some(_) => None,
        };
        let session = Session::open(&self.into)?;
        let settings = self.settings(&program, &session)?;
        let search_path = match &self.path_name {
            Some(name) => Some(session.folder_with_recorder(name, &settings)?),
            None => None,
        };
        let place = match place {
            Some(place) => {
                Some(place.install(|path, mode| recorder::write(path, &settings, mode)).map_err(|error| {
                    let program = self.program.display();
                    Failure::usage(format!("failed to put a recorder in the place of `{program}`: {error}"))
                        .hint("`--as NAME` records through `PATH` and leaves the program alone")
                })?)
            }
            None => None,
        };
        let status = suite::run(&self.command, search_path.as_deref(), &signals);
        let fate = match place {
            Some(place) => Some(place.leave()?),
            None => None,
        };
        let status = status?;
        let report = Report {
            program: &self.program,
            into: &self.into,
            command: self.shown_command(),
            status,
            was_there: &session.was_there,
            tally: Tally::of(&session.folder)?,
            fate,
        };
        self.tell_fate(screen, fate);
        let result = self.conclude(screen, &report);
        drop(session);
        signals.die_if_caught();
        result
    }

    fn conclude(&self, screen: &Screen, report: &Report) -> Result<Exit, Failure> {
        let status = report.status;
        if !status.success() {
            screen.warn(&format!("`{}` failed ({status}); what was recorded is kept", report.command));
        }
        if report.tally.n_calls == 0 {
            let program = self.program.display();
            let hint = match (report.fate, &self.path_name) {
                (Some(Fate::Replaced), _) => {
                    "let the suite build everything once before it is recorded".into()
                }
                (_, Some(name)) => format!(
                    "perhaps it does not look for `{name}` in `PATH`; without `--as` the file itself is replaced"
                ),
                (_, None) => {
                    "perhaps it uses another copy: name that file, or record what it finds in `PATH` with \
                              `--as NAME`"
                        .into()
                }
            };
            let message = format!("`{}` never called `{program}`, so nothing was recorded", report.command);
            return Err(Failure::usage(message).hint(hint));
        }
        screen.result(&if self.json { report.json() } else { report.text() });
        Ok(Exit::Done)
    }

    /// The file itself, links followed; what is recorded through `PATH` is also looked for there.
    fn find_program(&self) -> Result<PathBuf, Failure> {
        let is_bare_name = self.program.components().count() == 1 && !self.program.exists();
        let found = match (&self.path_name, is_bare_name) {
            (Some(_), true) => env::split_paths(&env::var_os("PATH").unwrap_or_default())
                .map(|folder| folder.join(&self.program))
                .find(|path| check_executable(path).is_ok()),
            _ => None,
        };
        let path = found.unwrap_or_else(|| self.program.clone());
        let program = match path.canonicalize() {
            Ok(program) => program,
            // A recording may have been killed after the suite had removed the program.
            Err(error) => path
                .parent()
                .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
                .and_then(|folder| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
                .filter(|program| cairn_recorder::settings::saved_original(program).exists())
                .ok_or_else(|| {
                    Failure::usage(format!("failed to read `{}`: {error}", self.program.display()))
                })?,
        };
        if program.to_str().is_none() {
            return Err(Failure::usage(format!("the path `{}` is not UTF-8", program.display())));
        }
        if self.path_name.is_some() {
            check_executable(&program)?;
        }
        Ok(program)
    }

    fn settings(&self, program: &Path, session: &Session) -> Result<Settings, Failure> {
        let original = match self.path_name {
            Some(_) => program.to_path_buf(),
            None => cairn_recorder::settings::saved_original(program),
        };
        let bytes = |text: OsString| Bytes(text.as_bytes().to_vec());
        Ok(Settings {
            program: program.to_path_buf(),
            original,
            into: session.into.clone(),
            session: session.folder.clone(),
            started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64),
            name: self.name.clone(),
            limits: Limits {
                bytes: self.max_bytes,
                files: self.max_files,
                present_files: self.present_files,
                present_bytes: self.present_bytes,
                patience: Duration::from_millis(self.patience),
            },
            baseline: env::vars_os().map(|(name, value)| (bytes(name), bytes(value))).collect(),
            known_variables: environment::names_in(&fs::read(program).unwrap_or_default()),
            kept_variables: self.keep_env.clone(),
            ignored_variables: self.ignore_env.clone(),
        })
    }

    fn restore(&self, screen: &Screen, program: &Path) -> Result<Exit, Failure> {
        let (_, leftover) = Place::take(program, "cairn record --restore")?;
        if leftover.is_none() {
            screen.result(&format!("`{}` is in its place", self.program.display()));
        }
        self.tell_leftover(screen, leftover);
        Ok(Exit::Done)
    }

    fn tell_leftover(&self, screen: &Screen, leftover: Option<Fate>) {
        let program = self.program.display();
        match leftover {
            Some(Fate::Back | Fate::Missing) => {
                screen.warn(&format!("an earlier recording was cut short; `{program}` was put back in its place"))
            }
            Some(Fate::Replaced) => screen.warn(&format!(
                "an earlier recording was cut short; `{program}` was built anew since then and was left as it is"
            )),
            None => {}
        }
    }

    fn tell_fate(&self, screen: &Screen, fate: Option<Fate>) {
        let program = self.program.display();
        match fate {
            Some(Fate::Replaced) => screen.warn(&format!(
                "the suite put a new `{program}` in the recorder's place; later calls are missing"
            )),
            Some(Fate::Missing) => {
                screen.warn(&format!("the suite removed `{program}`; it was put back in its place"))
            }
            Some(Fate::Back) | None => {}
        }
    }

    fn shown_command(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }
}

fn check_executable(program: &Path) -> Result<(), Failure> {
    let name = program.display();
    let metadata =
        fs::metadata(program).map_err(|error| Failure::usage(format!("failed to read `{name}`: {error}")))?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(Failure::usage(format!("`{name}` is not an executable file"))
            .hint("name the program that the suite runs"));
    }
    Ok(())
}
