//! `cairn.toml`: what the program is, which regions its inputs have, and how it is run.

use crate::failure::Failure;
use cairn_executor::{RunConfig, SandboxLevel};
use cairn_model::{
    Template,
    input::{FileRegion, Input, Setting, Variable, VariableValue},
};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path, time::Duration};

/// The file's name.
pub const FILE_NAME: &str = "cairn.toml";

/// The whole file. Every field may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The program under test.
    pub target: TargetConfig,
    /// The regions of an input.
    pub input: InputConfig,
    /// What is counted.
    pub scope: ScopeConfig,
    /// Limits and sandbox.
    pub run: RunTable,
    /// What counts as a difference.
    pub oracle: OracleConfig,
}

/// What counts as a difference between a mutant and the original.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OracleConfig {
    /// The exit status. Default: yes.
    pub exit: Option<bool>,
    /// Standard output. Default: yes.
    pub stdout: Option<bool>,
    /// Standard error. Default: no.
    pub stderr: Option<bool>,
    /// Files the program writes. Default: yes.
    pub files: Option<bool>,
    /// Who decides whether two outputs that differ mean the same.
    pub compare: Option<CompareConfig>,
}

/// A comparison of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CompareConfig {
    /// `"cairn_compare"`: the function of that name in the program.
    Function(String),
    /// A command; `{original}` and `{mutant}` stand for files with what each wrote. It ends with 0 if they mean the same
    /// and with 1 if not.
    Command(Vec<String>),
}

/// The program under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TargetConfig {
    /// The executable, built with `cairn-cc`; relative to the file.
    pub program: Option<String>,
}

/// The regions of an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputConfig {
    /// Arguments; `@@` stands for the file that carries a raw input. Without one, raw inputs go to stdin, or to
    /// the buffer of a harness.
    pub args: Vec<String>,
    /// `LC_ALL`. Default: `C`.
    pub locale: Option<String>,
    /// Bytes an input may have in all its regions. Default: 1 MiB.
    pub max_size: Option<u64>,
    /// Files laid out for every run.
    pub files: Vec<FileRegion>,
    /// Environment variables set for every run.
    pub environment: std::collections::BTreeMap<String, String>,
    /// Typed variables the program asks for.
    pub variables: Vec<VariableConfig>,
}

/// A typed variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableConfig {
    /// The name the program asks by.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub value_type: VariableType,
    /// The smallest value.
    #[serde(default)]
    pub min: Option<f64>,
    /// The largest value.
    #[serde(default)]
    pub max: Option<f64>,
    /// The value when an input does not say. Default: 0, or the bound nearest to it.
    #[serde(default)]
    pub default: Option<f64>,
}

/// Types of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VariableType {
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
}

impl VariableConfig {
    fn default_value(&self) -> VariableValue {
        let value = self.default.unwrap_or(0.0);
        let value = value.max(self.min.unwrap_or(f64::NEG_INFINITY)).min(self.max.unwrap_or(f64::INFINITY));
        match self.value_type {
            VariableType::Int => VariableValue::Int(value as i64),
            VariableType::Uint => VariableValue::Uint(value as u64),
            VariableType::Float => VariableValue::Float((value as f32).to_bits()),
            VariableType::Double => VariableValue::Double(value.to_bits()),
        }
    }
}

/// What is counted; see `cairn-instrument`'s scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScopeConfig {
    /// Patterns of files relative to the project's root: `src/*.c`, `lib/**`.
    pub files: Vec<String>,
    /// Patterns of function names.
    pub functions: Vec<String>,
    /// Patterns of files that are out.
    pub exclude_files: Vec<String>,
}

/// Limits and sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunTable {
    /// Milliseconds a run may take. Default: 1000.
    pub wall_limit_ms: Option<u64>,
    /// Megabytes of memory. Default: 1024.
    pub memory_limit_mb: Option<u64>,
    /// Kilobytes kept of each output. Default: 1024.
    pub output_limit_kb: Option<u64>,
    /// `full`, `basic` or `off`. Default: `full`.
    pub sandbox: Option<String>,
    /// Whether the program may run other programs. Default: no.
    pub allow_exec: bool,
}

impl Config {
    /// Reads `cairn.toml` in `folder` if there is one.
    pub fn load(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(FILE_NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(Failure::usage(format!("failed to read `{}`: {error}", path.display())));
            }
        };
        let config: Self = toml::from_str(&text)
            .map_err(|error| Failure::usage(format!("`{}` is wrong: {error}", path.display())))?;
        config.run_config(None)?;
        for variable in &config.input.variables {
            if let (Some(min), Some(max)) = (variable.min, variable.max)
                && min > max
            {
                let name = &variable.name;
                return Err(Failure::usage(format!(
                    "`input.variables`: `{name}` has min {min} above max {max}"
                )));
            }
        }
        Ok(config)
    }

    /// Limits and sandbox; the command line's level wins.
    pub fn run_config(&self, level: Option<SandboxLevel>) -> Result<RunConfig, Failure> {
        let mut config = RunConfig { allow_exec: self.run.allow_exec, ..RunConfig::default() };
        if let Some(limit) = self.run.wall_limit_ms {
            config.wall_limit = Duration::from_millis(limit);
        }
        if let Some(limit) = self.run.memory_limit_mb {
            config.memory_limit = limit << 20;
        }
        if let Some(limit) = self.run.output_limit_kb {
            config.output_limit = limit << 10;
        }
        if let Some(text) = &self.run.sandbox {
            config.level = text.parse().map_err(|error| Failure::usage(format!("`run.sandbox`: {error}")))?;
        }
        if let Some(level) = level {
            config.level = level;
        }
        Ok(config)
    }
}

/// How raw bytes become inputs, from the configuration and the words after `--`, which win over the configured arguments.
pub fn template(config: &Config, args: &[String], is_harness: bool) -> Template {
    let words = if args.is_empty() { &config.input.args } else { args };
    let mut setting = Setting::default();
    if let Some(locale) = &config.input.locale {
        setting.locale = locale.clone();
    }
    let variables = config.input.variables.iter();
    let base = Input {
        args: words.iter().map(|word| word.as_str().into()).collect(),
        files: config.input.files.clone(),
        environment: config
            .input
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect(),
        variables: variables
            .map(|variable| Variable { name: variable.name.clone(), value: variable.default_value() })
            .collect(),
        setting,
        ..Input::default()
    };
    Template { base, is_harness, max_size: config.input.max_size.unwrap_or(1 << 20) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let error = toml::from_str::<Config>("[run]\nsandbocks = \"full\"").unwrap_err();
        assert!(error.to_string().contains("sandbocks"), "{error}");
    }

    #[test]
    fn a_variable_starts_inside_its_bounds() {
        let config: Config =
            toml::from_str("[[input.variables]]\nname = \"n\"\ntype = \"int\"\nmin = 3\nmax = 9").unwrap();
        let input = template(&config, &[], false).fill(Vec::new());
        assert_eq!(input.to_string(), "n: 3\n");
    }
}
