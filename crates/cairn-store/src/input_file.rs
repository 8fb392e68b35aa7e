//! Inputs as files.
//!
//! A file that ends in `.json` holds the fields of an input, one that starts as our binary form is a whole input too. Any
//! other file is raw bytes, placed by a [`Template`].

use cairn_model::{
    Input, Template,
    versioned::{self, Versioned, VersionedError},
};
use std::path::{Path, PathBuf};

/// Why a file is no input.
#[derive(Debug, thiserror::Error)]
pub enum InputFileError {
    /// JSON that says something else.
    #[error("`{path}` is not an input")]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A binary form that does not decode.
    #[error("failed to read input `{path}`")]
    Binary {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: VersionedError,
    },
    /// More raw bytes than an input may have.
    #[error("input `{path}` has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
}

/// The input that the file at `path` holds, whose content is `bytes`.
pub fn decode(path: &Path, bytes: Vec<u8>, template: &Template) -> Result<Input, InputFileError> {
    let path = || path.to_path_buf();
    if path().extension().is_some_and(|extension| extension == "json") {
        return serde_json::from_slice(&bytes)
            .map_err(|source| InputFileError::Json { path: path(), source });
    }
    if bytes.starts_with(&Input::MAGIC) {
        return versioned::decode(&bytes).map_err(|source| InputFileError::Binary { path: path(), source });
    }
    let (size, limit) = (bytes.len() as u64, template.max_size);
    if size > limit {
        return Err(InputFileError::TooLarge { path: path(), size, limit });
    }
    Ok(template.fill(bytes))
}

/// The name and content of the file for an input: raw bytes where the template makes it of them, else JSON.
pub fn encode(input: &Input, template: &Template) -> (String, Vec<u8>) {
    let address = input.address();
    match template.raw(input) {
        Some(bytes) if !bytes.starts_with(&Input::MAGIC) => (address, bytes.to_vec()),
        _ => {
            let json = serde_json::to_vec_pretty(input).expect("an input is always JSON");
            (format!("{address}.json"), json)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_its_input_back() {
        let template = Template { base: Input::default(), is_harness: false, max_size: 100 };
        let raw = template.fill(b"abc".to_vec());
        let other = Input { args: vec!["-x".into()], ..raw.clone() };
        let binary_looking = template.fill([&Input::MAGIC[..], b"and more"].concat());
        for (input, is_raw) in [(raw, true), (other, false), (binary_looking, false)] {
            let (name, bytes) = encode(&input, &template);
            assert_eq!(name.ends_with(".json"), !is_raw);
            assert_eq!(decode(Path::new(&name), bytes, &template).unwrap(), input);
        }
    }
}
