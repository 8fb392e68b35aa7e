//! Inputs as files.
//!
//! A file that ends in `.json` and has a field of an input at its top, or is `{}`, is a whole input, and so is one that starts as
//! our binary form. Any other file is raw bytes, placed by a [`Template`]: seeds for a reader of JSON end in `.json`, too.

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
    if path().extension().is_some_and(|extension| extension == "json") && is_meant(&bytes) {
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

/// Whether a text is meant to be an input: an object with one of its fields, or with none at all. If it names one and is no
/// JSON, that is a mistake in an input rather than anything else.
fn is_meant(text: &[u8]) -> bool {
    match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(text) {
        Ok(fields) => fields.is_empty() || Input::FIELDS.iter().any(|name| fields.contains_key(*name)),
        Err(_) => {
            let text = String::from_utf8_lossy(text);
            let names = |name: &&str| text.contains(&format!("\"{name}\""));
            text.trim_start().starts_with('{') && Input::FIELDS.iter().any(names)
        }
    }
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

    #[test]
    fn json_that_says_nothing_of_an_input_is_bytes() {
        let template = Template { base: Input::default(), is_harness: false, max_size: 100 };
        let decoded = |text: &str| decode(Path::new("x.json"), text.into(), &template);
        for text in ["[1, 2]", "{\"name\": [true]}", "{\"name\": ", "[\"args\"]", ""] {
            assert_eq!(decoded(text).unwrap(), template.fill(text.into()));
        }
        assert_eq!(decoded("{\"args\": [\"x\"]}").unwrap().args, ["x".into()]);
        // What an export leaves of an input that is empty.
        assert_eq!(decoded("{}").unwrap(), Input::default());
        for text in ["{\"args\": [\"x\"], \"stdni\": \"y\"}", "{\"args\": [\"x\"]"] {
            let mistaken = decoded(text).unwrap_err();
            assert!(matches!(mistaken, InputFileError::Json { .. }), "{mistaken}");
        }
    }
}
