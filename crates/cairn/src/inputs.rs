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

/// Fails if one of `paths` is not there, which is good to know before a long build.
pub fn check_exist(paths: &[PathBuf]) -> Result<(), Failure> {
    for path in paths {
        fs::metadata(path)
            .map_err(|error| Failure::usage(format!("failed to read input `{}`: {error}", path.display())))?;
    }
    Ok(())
}

/// Reads files and folders of inputs, folders in name order.
pub fn load(paths: &[PathBuf], template: &Template) -> Result<Vec<NamedInput>, Failure> {
    let mut inputs = Vec::new();
    for path in paths {
        for file in files(path, &mut |_| ())? {
            inputs.push(load_file(&file, template)?);
        }
    }
    Ok(inputs)
}

/// Likewise, but what is in a folder and is no input is left out, after `leave_out` was told why. What was named itself must
/// be one.
pub fn load_readable(
    paths: &[PathBuf],
    template: &Template,
    leave_out: &mut dyn FnMut(&str),
) -> Result<Vec<NamedInput>, Failure> {
    let mut inputs = Vec::new();
    for path in paths {
        for file in files(path, leave_out)? {
            match load_file(&file, template) {
                Ok(named) => inputs.push(named),
                Err(failure) if file == *path => return Err(failure),
                Err(failure) => leave_out(&failure.message),
            }
        }
    }
    Ok(inputs)
}

/// The file at `path`, or those in the folder there, in name order; at least one. What is neither is told.
fn files(path: &Path, leave_out: &mut dyn FnMut(&str)) -> Result<Vec<PathBuf>, Failure> {
    let failed = |what: &str| {
        let text = format!("failed to read {what} `{}`", path.display());
        move |error| Failure::usage(format!("{text}: {error}"))
    };
    if !fs::metadata(path).map_err(failed("input"))?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed("folder"))? {
        let file = entry.map_err(failed("folder"))?.path();
        match fs::metadata(&file) {
            Ok(metadata) if metadata.is_file() => files.push(file),
            Ok(metadata) if metadata.is_dir() => leave_out(&format!("`{}` is a folder", file.display())),
            Ok(_) => leave_out(&format!("`{}` is no file", file.display())),
            Err(error) => leave_out(&format!("failed to read input `{}`: {error}", file.display())),
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(Failure::usage(format!("there are no inputs in `{}`", path.display()))
            .hint("put an input there; a file with a few bytes is one")),
        false => Ok(files),
    }
}

/// Reads a file.
pub fn load_file(path: &Path, template: &Template) -> Result<NamedInput, Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::usage(format!("failed to read input `{}`: {error}", path.display())))?;
    let input = cairn_store::input_file::decode(path, bytes, template).map_err(|error| {
        let failure = Failure::usage(chain(&error));
        match error {
            InputFileError::TooLarge { .. } => failure.hint("raise `input.max_size` in `cairn.toml`"),
            InputFileError::Json { .. } => {
                failure.hint("to give it to the program as it is, let its name not end in `.json`")
            }
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
