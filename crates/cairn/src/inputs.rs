//! Inputs from disk.

use crate::failure::{Failure, chain};
use cairn_model::{Input, Template};
use cairn_store::input_file::InputFileError;
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

/// Reads a file.
pub fn load_file(path: &Path, template: &Template) -> Result<NamedInput, Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::usage(format!("failed to read input `{}`: {error}", path.display())))?;
    let input = cairn_store::input_file::decode(path, bytes, template).map_err(|error| {
        let failure = Failure::usage(chain(&error));
        match error {
            InputFileError::TooLarge { .. } => failure.hint("raise `input.max_size` in `cairn.toml`"),
            _ => failure,
        }
    })?;
    Ok(NamedInput { path: path.to_path_buf(), input })
}

/// Writes an input into a folder, as raw bytes where the template makes it of them, else as JSON.
pub fn save(folder: &Path, input: &Input, template: &Template) -> Result<PathBuf, Failure> {
    let (name, bytes) = cairn_store::input_file::encode(input, template);
    let path = folder.join(name);
    let failed =
        |error: std::io::Error| Failure::usage(format!("failed to write `{}`: {error}", path.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(&path, bytes).map_err(failed)?;
    Ok(path)
}
