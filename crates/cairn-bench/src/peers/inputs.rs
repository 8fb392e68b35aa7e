//! Recorded inputs as seeds for tools that know only files.

use anyhow::{Context, Result, ensure};
use cairn_model::Input;
use std::{collections::BTreeSet, fs, path::Path};

/// Inputs of a test suite.
pub struct Recorded {
    inputs: Vec<Input>,
}

impl Recorded {
    /// Reads a folder of recordings, in the order of their names.
    pub fn all(folder: &Path) -> Result<Self> {
        let mut paths: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut inputs = Vec::new();
        for path in paths {
            let mut input: Input = serde_json::from_slice(&fs::read(&path)?)
                .with_context(|| format!("`{}` is no input", path.display()))?;
            // Variables of the suite, which programs do not ask for.
            input.environment.clear();
            inputs.push(input);
        }
        ensure!(!inputs.is_empty(), "`{}` has no input", folder.display());
        Ok(Self { inputs })
    }

    /// Reads those that consist of arguments and standard input alone, which is what every tool can be given.
    pub fn without_files(folder: &Path) -> Result<Self> {
        let mut inputs = Self::all(folder)?.inputs;
        inputs.retain(|input| {
            let is_text = input.args.iter().all(|argument| {
                !argument.0.is_empty()
                    && std::str::from_utf8(&argument.0).is_ok_and(|text| !text.contains('{'))
            });
            input.files.is_empty() && is_text
        });
        ensure!(!inputs.is_empty(), "`{}` has no input without files", folder.display());
        Ok(Self { inputs })
    }

    /// Different arguments of inputs that read something, spread over all there are.
    pub fn arguments(&self, n: usize) -> Vec<Vec<String>> {
        let reading = self.inputs.iter().filter(|input| !input.stdin.0.is_empty());
        let words = |input: &Input| {
            input.args.iter().map(|word| String::from_utf8_lossy(&word.0).into_owned()).collect()
        };
        spread(reading.map(words).collect::<BTreeSet<Vec<String>>>(), n)
    }

    /// Writes different texts that were read, spread over all there are.
    pub fn write_stdins(&self, folder: &Path, n: usize) -> Result<()> {
        let texts: BTreeSet<&[u8]> = self.inputs.iter().map(|input| &*input.stdin.0).collect();
        write(folder, spread(texts.into_iter().filter(|text| !text.is_empty()), n).into_iter())
    }

    /// Writes them as `bench/harnesses/split.c` reads them.
    pub fn write_split(&self, folder: &Path) -> Result<()> {
        let split = self.inputs.iter().map(|input| {
            let mut bytes = Vec::new();
            for argument in &input.args {
                bytes.extend_from_slice(&argument.0);
                bytes.push(0);
            }
            bytes.push(0);
            bytes.extend_from_slice(&input.stdin.0);
            bytes
        });
        write(folder, split)
    }

    /// Writes them as Cairn reads them.
    pub fn write_whole(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        for (index, input) in self.inputs.iter().enumerate() {
            fs::write(folder.join(format!("{index:04}.json")), serde_json::to_vec(input)?)?;
        }
        Ok(())
    }
}

fn write(folder: &Path, contents: impl Iterator<Item = impl AsRef<[u8]>>) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (index, content) in contents.enumerate() {
        fs::write(folder.join(format!("{index:04}")), content)?;
    }
    Ok(())
}

/// So many, at equal distances.
fn spread<T>(all: impl IntoIterator<Item = T>, n: usize) -> Vec<T> {
    let all: Vec<T> = all.into_iter().collect();
    let (len, n) = (all.len(), n.min(all.len()));
    let wanted: BTreeSet<usize> = (0..n).map(|index| index * len / n).collect();
    all.into_iter().enumerate().filter(|(index, _)| wanted.contains(index)).map(|(_, item)| item).collect()
}
