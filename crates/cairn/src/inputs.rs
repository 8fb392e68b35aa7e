//! Inputs from disk.

use crate::{config::Template, failure::Failure};
use cairn_model::{Input, versioned};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// An input and where it came from.
#[derive(Clone, Debug)]
pub struct NamedInput {
    /// The file.
    pub path: PathBuf,
    /// What it holds.
    pub input: Input,
}

/// Reads files and folders of inputs, folders in name order.
///
/// A file that starts as one of our own formats is a whole input: `.json` with the fields of an input, or the
/// binary form. Any other file is raw bytes, placed by the template.
pub fn load(paths: &[PathBuf], template: &Template) -> Result<Vec<NamedInput>, Failure> {
    let mut inputs = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path)
            .map_err(|error| Failure::usage(format!("failed to read input `{}`: {error}", path.display())))?;
        if metadata.is_dir() {
            let mut files: Vec<PathBuf> = fs::read_dir(path)
                .map_err(|error| {
                    Failure::usage(format!("failed to read folder `{}`: {error}", path.display()))
                })?
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.is_file())
                .collect();
            files.sort();
            if files.is_empty() {
                return Err(Failure::usage(format!("there are no inputs in `{}`", path.display())));
            }
            for file in files {
                inputs.push(load_file(&file, template)?);
            }
        } else {
            inputs.push(load_file(path, template)?);
        }
    }
    Ok(inputs)
}

fn load_file(path: &Path, template: &Template) -> Result<NamedInput, Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::usage(format!("failed to read input `{}`: {error}", path.display())))?;
    let input = if path.extension().is_some_and(|extension| extension == "json") {
        serde_json::from_slice(&bytes)
            .map_err(|error| Failure::usage(format!("`{}` is not an input: {error}", path.display())))?
    } else if bytes.starts_with(&<Input as versioned::Versioned>::MAGIC) {
        versioned::decode(&bytes).map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))?
    } else if bytes.len() as u64 > template.max_size {
        return Err(Failure::usage(format!(
            "input `{}` has {} bytes, more than the limit of {}",
            path.display(),
            bytes.len(),
            template.max_size
        ))
        .hint("raise `input.max_size` in `cairn.toml`"));
    } else {
        template.fill(bytes)
    };
    Ok(NamedInput { path: path.to_path_buf(), input })
}

/// Writes an input into a folder, as raw bytes where the template makes it of them, else as JSON.
pub fn save(folder: &Path, input: &Input, template: &Template) -> Result<PathBuf, Failure> {
    let address = input.address();
    let (name, bytes) = match template.raw(input) {
        Some(bytes) if !bytes.starts_with(&<Input as versioned::Versioned>::MAGIC) => {
            (address, bytes.to_vec())
        }
        _ => {
            let json = serde_json::to_vec_pretty(input).expect("an input is always JSON");
            (format!("{address}.json"), json)
        }
    };
    let path = folder.join(name);
    let failed =
        |error: std::io::Error| Failure::usage(format!("failed to write `{}`: {error}", path.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(&path, bytes).map_err(failed)?;
    Ok(path)
}
