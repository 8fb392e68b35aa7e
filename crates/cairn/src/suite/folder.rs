//! A suite on disk.

use super::{expected::Expected, names::names};
use crate::{
    config::{OracleConfig, RunTable},
    failure::Failure,
    inputs::NamedInput,
};
use cairn_model::Input;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The layout this build reads and writes.
const FORMAT: u32 = 1;
const MANIFEST: &str = "suite.toml";
const INPUTS: &str = "inputs";
const EXPECTED: &str = "expected";

/// What holds for all tests of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout.
    pub format: u32,
    /// The program's name, which it also finds in its argument 0.
    pub program: String,
    /// Who recorded it.
    pub recorded_by: String,
    /// What counts as a difference.
    pub oracle: OracleConfig,
    /// Limits of every run.
    pub run: RunTable,
}

impl Manifest {
    /// Of a suite that is recorded now.
    pub fn new(program: String, oracle: OracleConfig, run: RunTable) -> Self {
        // How well runs are contained is for whoever runs them.
        let run = RunTable { sandbox: None, ..run };
        let recorded_by = format!("cairn {}", env!("CARGO_PKG_VERSION"));
        Self { format: FORMAT, program, recorded_by, oracle, run }
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Its name, that of its files.
    pub name: String,
    /// What the program is given.
    pub input: Input,
    /// What it does.
    pub expected: Expected,
}

/// A suite that was read.
#[derive(Debug)]
pub struct Suite {
    folder: PathBuf,
    pub manifest: Manifest,
    pub tests: Vec<Test>,
}

impl Suite {
    /// Reads a whole suite.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let manifest = read_manifest(folder)?;
        let inputs = stems(&folder.join(INPUTS))?;
        let expected = stems(&folder.join(EXPECTED))?;
        if let Some(name) = inputs.symmetric_difference(&expected).next() {
            let missing = if inputs.contains(name) { EXPECTED } else { INPUTS };
            let file = file(folder, missing, name);
            return Err(Failure::usage(format!("the suite lacks `{}`", file.display()))
                .hint("put the file back, or remove its counterpart too, or export the suite again"));
        }
        if inputs.is_empty() {
            return Err(Failure::usage(format!("the suite `{}` has no tests", folder.display()))
                .hint("write one with `cairn export --suite`"));
        }
        let test = |name: String| {
            Ok(Test {
                input: read_json(&file(folder, INPUTS, &name))?,
                expected: read_json(&file(folder, EXPECTED, &name))?,
                name,
            })
        };
        let tests = inputs.into_iter().map(test).collect::<Result<_, Failure>>()?;
        Ok(Self { folder: folder.to_path_buf(), manifest, tests })
    }

    /// Writes a suite. The manifest comes last: without it a folder is no suite.
    pub fn write(folder: &Path, manifest: &Manifest, tests: &[Test]) -> Result<(), Failure> {
        for name in [INPUTS, EXPECTED] {
            let path = folder.join(name);
            fs::create_dir_all(&path).map_err(not_written(&path))?;
        }
        for test in tests {
            write_json(&file(folder, INPUTS, &test.name), &readable(&test.input))?;
            write_json(&file(folder, EXPECTED, &test.name), &test.expected)?;
        }
        let text = toml::to_string(manifest).expect("a manifest is always TOML");
        let path = folder.join(MANIFEST);
        let text = format!(
            "# Written by `cairn export`; `cairn check PROGRAM --suite` compares later builds with it.\n{text}"
        );
        fs::write(&path, text).map_err(not_written(&path))
    }

    /// Removes the suite in a folder, so that another can take its place; only files that are a suite's.
    pub fn remove(folder: &Path) -> Result<(), Failure> {
        let removed = |path: PathBuf| match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::usage(format!("failed to remove `{}`: {error}", path.display())))
            }
            _ => Ok(()),
        };
        removed(folder.join(MANIFEST))?;
        for part in [INPUTS, EXPECTED].into_iter().filter(|part| folder.join(part).is_dir()) {
            for name in stems(&folder.join(part))? {
                removed(file(folder, part, &name))?;
            }
        }
        Ok(())
    }

    /// Whether a folder holds a suite.
    pub fn is_one(folder: &Path) -> bool {
        folder.join(MANIFEST).is_file()
    }

    /// Writes down what is expected of a test from now on.
    pub fn update(&self, name: &str, expected: &Expected) -> Result<(), Failure> {
        write_json(&file(&self.folder, EXPECTED, name), expected)
    }

    /// The file with the input of a test.
    pub fn input_file(&self, name: &str) -> PathBuf {
        file(&self.folder, INPUTS, name)
    }
}

/// Tests with names of their own.
pub fn named_tests(recorded: Vec<(NamedInput, Expected)>) -> Vec<Test> {
    let (inputs, expected): (Vec<NamedInput>, Vec<Expected>) = recorded.into_iter().unzip();
    let names = names(&inputs);
    let parts = names.into_iter().zip(inputs).zip(expected);
    parts.map(|((name, named), expected)| Test { name, input: named.input, expected }).collect()
}

fn read_manifest(folder: &Path) -> Result<Manifest, Failure> {
    let path = folder.join(MANIFEST);
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::usage(format!("`{}` is no suite: there is no `{MANIFEST}` in it", folder.display()))
                .hint("write one with `cairn export --suite`")
        }
        _ => Failure::usage(format!("failed to read `{}`: {error}", path.display())),
    })?;
    // The format first: another one may have other fields.
    #[derive(Deserialize)]
    struct Head {
        format: u32,
    }
    let wrong = |error: toml::de::Error| Failure::usage(format!("`{}` is wrong: {error}", path.display()));
    let head: Head = toml::from_str(&text).map_err(wrong)?;
    if head.format != FORMAT {
        return Err(Failure::usage(format!(
            "the suite `{}` has format {}, this build reads {FORMAT}",
            folder.display(),
            head.format
        ))
        .hint("use the Cairn that wrote it, or export the suite again"));
    }
    toml::from_str(&text).map_err(wrong)
}

/// Names of the JSON files in a folder; a folder that is not there has none.
fn stems(folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let failed = |error| Failure::usage(format!("failed to read folder `{}`: {error}", folder.display()));
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.map_err(failed)?,
    };
    let mut stems = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        stems.extend(name.strip_suffix(".json").map(str::to_owned));
    }
    Ok(stems)
}

fn file(folder: &Path, part: &str, name: &str) -> PathBuf {
    folder.join(part).join(format!("{name}.json"))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::usage(format!("failed to read `{}`: {error}", path.display())))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::usage(format!("`{}` is wrong: {error}", path.display())))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).expect("plain data is always JSON");
    text.push('\n');
    fs::write(path, text).map_err(not_written(path))
}

/// An input without what it does not say.
fn readable(input: &Input) -> Value {
    let value = |input: &Input| serde_json::to_value(input).expect("an input is always JSON");
    let (mut shown, usual) = (value(input), value(&Input::default()));
    if let Value::Object(fields) = &mut shown {
        fields.retain(|name, field| *field != usual[name.as_str()]);
        for file in fields.get_mut("files").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(fields) = file {
                fields.retain(|_, field| !field.is_null());
            }
        }
    }
    shown
}

fn not_written(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::usage(format!("failed to write `{}`: {error}", path.display()))
}
