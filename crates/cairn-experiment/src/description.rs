//! What is compared: a file in TOML.
//!
//! Words of commands may contain names in braces. `{seeds}`, `{out}`, `{repetition}`, `{seconds}` (of the limit) and every name
//! in a target's `values` stand for what they say; the word `{args}` alone stands for all arguments of the target.

use crate::error::ExperimentError;
use cairn_model::{Input, Template};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// What is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it is called.
    pub name: String,
    /// How often each arm is run on each target.
    pub repetitions: u32,
    /// What each run of an arm may use.
    pub limit: Limit,
    /// Ways to test; the first is the one that others are compared with.
    #[serde(rename = "arm")]
    pub arms: Vec<Arm>,
    /// What is tested.
    #[serde(rename = "target")]
    pub targets: Vec<Target>,
}

/// What a run of an arm may use: exactly one of these. Time is enforced, the others are handed to the command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// Seconds of processor time, of the command and everything it starts.
    pub cpu_seconds: Option<f64>,
    /// Seconds on the clock.
    pub wall_seconds: Option<f64>,
    /// Inputs tried; stands for `{inputs}`.
    pub inputs: Option<u64>,
    /// New paths; stands for `{paths}`.
    pub paths: Option<u64>,
}

/// A way to test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// What it is called.
    pub name: String,
    /// The words of its command.
    pub command: Vec<String>,
    /// Files and folders where its inputs are afterwards. Files whose names begin with a dot, and `README.txt`, are none.
    pub inputs: Vec<String>,
    /// Environment variables.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Environment variables of the coverage build when it runs this arm's inputs, which may be in a form of their own.
    #[serde(default)]
    pub coverage_environment: BTreeMap<String, String>,
    /// Whether it may write nothing but its output: for tools that run programs without containing them.
    #[serde(default)]
    pub contained: bool,
    /// Targets it cannot be run on.
    #[serde(default)]
    pub not_on: BTreeSet<String>,
}

/// What is tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// What it is called.
    pub name: String,
    /// Files to start from.
    pub seeds: PathBuf,
    /// What `{args}` stands for.
    #[serde(default)]
    pub args: Vec<String>,
    /// A build by clang with `-fprofile-instr-generate -fcoverage-mapping`.
    pub coverage: PathBuf,
    /// Its arguments; `@@` stands for the file with an input, which goes to standard input where none is named.
    #[serde(default)]
    pub coverage_args: Vec<String>,
    /// Source files and folders that count; all where none is named.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// What other names in braces stand for.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

impl Experiment {
    /// Reads a description; paths in it start at its folder.
    pub fn load(path: &Path) -> Result<Self, ExperimentError> {
        let text = fs::read_to_string(path).map_err(ExperimentError::file("read", path))?;
        let wrong = |reason: String| ExperimentError::Description { path: path.to_path_buf(), reason };
        let mut experiment: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for target in &mut experiment.targets {
            target.seeds = folder.join(&target.seeds);
            target.coverage = folder.join(&target.coverage);
            target.files.iter_mut().for_each(|file| *file = folder.join(&*file));
        }
        experiment.check().map_err(wrong)?;
        Ok(experiment)
    }

    /// Says what is wrong, if something is.
    pub fn check(&self) -> Result<(), String> {
        let Limit { cpu_seconds, wall_seconds, inputs, paths } = &self.limit;
        let n_limits = [cpu_seconds.is_some(), wall_seconds.is_some(), inputs.is_some(), paths.is_some()];
        if n_limits.into_iter().filter(|is_set| *is_set).count() != 1 {
            return Err(
                "`limit` names exactly one of `cpu_seconds`, `wall_seconds`, `inputs` and `paths`".into()
            );
        }
        if self.repetitions == 0 {
            return Err("`repetitions` is 0".into());
        }
        for (what, names) in [
            ("arm", self.arms.iter().map(|arm| &arm.name).collect::<Vec<_>>()),
            ("target", self.targets.iter().map(|target| &target.name).collect()),
        ] {
            if names.is_empty() {
                return Err(format!("there is no `{what}`"));
            }
            let mut known = BTreeSet::new();
            for name in names {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
                if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
                    return Err(format!(
                        "`{name}` cannot name one: use letters, digits, `-`, `_`, `+` and `.`"
                    ));
                }
                if !known.insert(name) {
                    return Err(format!("two {what}s are called `{name}`"));
                }
            }
        }
        for arm in &self.arms {
            for target in self.targets.iter().filter(|target| !arm.not_on.contains(&target.name)) {
                self.words(&arm.command, arm, target, 1, Path::new("out"))?;
            }
        }
        Ok(())
    }

    /// Words of a command or of paths, with names replaced.
    pub(crate) fn words(
        &self,
        words: &[String],
        arm: &Arm,
        target: &Target,
        repetition: u32,
        out: &Path,
    ) -> Result<Vec<String>, String> {
        let mut values = target.values.clone();
        values.insert("seeds".into(), target.seeds.display().to_string());
        values.insert("out".into(), out.display().to_string());
        values.insert("repetition".into(), repetition.to_string());
        let limits = [
            (
                "seconds",
                self.limit.cpu_seconds.or(self.limit.wall_seconds).map(|seconds| seconds.to_string()),
            ),
            ("inputs", self.limit.inputs.map(|n| n.to_string())),
            ("paths", self.limit.paths.map(|n| n.to_string())),
        ];
        values.extend(limits.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))));
        let mut replaced = Vec::new();
        for word in words {
            if word == "{args}" {
                replaced.extend(target.args.iter().cloned());
                continue;
            }
            let name_missing = |name: &str| {
                format!("arm `{}` says `{{{name}}}`, which target `{}` does not know", arm.name, target.name)
            };
            replaced.push(replace(word, &values).map_err(|name| name_missing(&name))?);
        }
        Ok(replaced)
    }

    /// How long a run may take on the clock and on processors.
    pub(crate) fn times(&self) -> Times {
        let time = |seconds: Option<f64>| seconds.map(Duration::from_secs_f64);
        Times { cpu: time(self.limit.cpu_seconds), wall: time(self.limit.wall_seconds) }
    }
}

/// How long a run may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) cpu: Option<Duration>,
    pub(crate) wall: Option<Duration>,
}

impl Target {
    /// How files become inputs of the coverage build.
    pub(crate) fn template(&self) -> Template {
        let args = self.coverage_args.iter().map(|word| word.as_str().into()).collect();
        Template { base: Input { args, ..Input::default() }, is_harness: false, max_size: 64 << 20 }
    }
}

/// Replaces names in braces; the error is a name without a value.
fn replace(word: &str, values: &BTreeMap<String, String>) -> Result<String, String> {
    let mut replaced = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        replaced.push_str(before);
        replaced.push_str(values.get(name).ok_or_else(|| name.to_string())?);
        rest = behind;
    }
    replaced.push_str(rest);
    Ok(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        name = "small"
        repetitions = 3
        limit.cpu_seconds = 5
        [[arm]]
        name = "ours"
        command = ["cairn", "run", "{program}", "{seeds}", "-o", "{out}/x", "--cpu", "{seconds}s", "--", "{args}"]
        inputs = ["{out}/x/corpus"]
        [[target]]
        name = "one"
        seeds = "s"
        args = ["-a", "@@"]
        coverage = "one-cov"
        values = { program = "./one" }
    "#;

    fn load(text: &str) -> Result<Experiment, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.toml");
        fs::write(&path, text).unwrap();
        Experiment::load(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn names_in_braces_are_replaced() {
        let experiment = load(TEXT).unwrap();
        let (arm, target) = (&experiment.arms[0], &experiment.targets[0]);
        let words = experiment.words(&arm.command, arm, target, 2, Path::new("o")).unwrap();
        let seeds = target.seeds.display().to_string();
        let expected = ["cairn", "run", "./one", &seeds, "-o", "o/x", "--cpu", "5s", "--", "-a", "@@"];
        assert_eq!(words, expected);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |from: &str, to: &str, expected: &str| {
            let error = load(&TEXT.replace(from, to)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("limit.cpu_seconds = 5", "limit.inputs = 3\nlimit.paths = 1", "exactly one");
        check("{program}", "{afl}", "arm `ours` says `{afl}`, which target `one` does not know");
        check("name = \"one\"", "name = \"../one\"", "cannot name one");
        check("repetitions = 3", "repetitions = 0", "is 0");
    }
}
