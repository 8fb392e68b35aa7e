//! Inputs of a target: what its own test suite asks of it, or samples its source brings.

use crate::{
    Cache, Flavour,
    error::{TargetsError, Tried},
    needs::need,
    shell::log_of,
    target::{Input, Target},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A folder of inputs, as `cairn cover` reads them.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The folder.
    pub folder: PathBuf,
    /// How many inputs it holds.
    pub n_inputs: usize,
}

impl Target {
    /// Records the inputs, once.
    ///
    /// A suite may fail, and many do in one test or other: what counts is that it gave the inputs it is known to
    /// give.
    pub fn record(&self, cache: &Cache) -> Result<Recorded, TargetsError> {
        let source = self.fetch(cache)?;
        let made_by = match self.input {
            // The executable that the suite calls, and the program that stands in for it.
            Input::Suite { .. } => {
                let recorder = cache.tool_hash("cairn-recorder")?;
                format!("{}\n{recorder}", self.recipe(cache, Flavour::Cairn, source.as_deref())?)
            }
            Input::Samples(_) => format!("{source:?}"),
        };
        let recipe = format!("{:?}\n{made_by}", self.input);
        let folder = cache.step(&self.recording_name(), &recipe, |folder| self.record_into(cache, folder))?;
        let folder = folder.join("inputs");
        Ok(Recorded { n_inputs: count(&folder)?, folder })
    }

    /// Makes the next [`Target::record`] run the suite again.
    pub fn forget_inputs(&self, cache: &Cache) -> Result<(), TargetsError> {
        cache.forget(&self.recording_name())
    }

    fn recording_name(&self) -> String {
        format!("recordings/{}", self.name)
    }

    fn record_into(&self, cache: &Cache, folder: &Path) -> Result<(), TargetsError> {
        let inputs = folder.join("inputs");
        fs::create_dir_all(&inputs).tried("create", &inputs)?;
        match self.input {
            Input::Samples(patterns) => {
                let Some(source) = self.fetch(cache)? else { return Ok(()) };
                let into = inputs.to_string_lossy().into_owned();
                let script = format!(
                    "shopt -s nullglob\nfor file in {}; do [ ! -f \"$file\" ] || cp \"$file\" \"$INTO\"; done",
                    patterns.join(" ")
                );
                cache.shell(&source, &script, &[("INTO", into.as_str())]).map(|_| ())
            }
            Input::Suite { needs, command, is_applet, least } => {
                need(cache, needs)?;
                let executable = self.executable(cache, Flavour::Cairn)?;
                let build = executable.ancestors().nth(Path::new(self.executable).components().count());
                let build = build.unwrap_or(&executable).to_string_lossy().into_owned();
                (cache.say)(&format!("recording the test suite of {}", self.name));
                let name = if is_applet { format!("--name {}", self.program_name) } else { String::new() };
                let script = format!(
                    "cd \"$BUILD\"; cairn record ./{} {name} --into \"$INTO\" -- bash -c \"$SUITE\" || true",
                    self.executable
                );
                let into = inputs.to_string_lossy().into_owned();
                let variables = [("BUILD", build.as_str()), ("INTO", into.as_str()), ("SUITE", command)];
                cache.shell(folder, &script, &variables)?;
                let found = count(&inputs)?;
                if found < least {
                    let log = log_of(folder);
                    return Err(TargetsError::TooFew { target: self.name.into(), found, least, log });
                }
                Ok(())
            }
        }
    }
}

fn count(folder: &Path) -> Result<usize, TargetsError> {
    let entries = fs::read_dir(folder).tried("read", folder)?;
    Ok(entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_file())).count())
}
