//! Files that outlive a process: a magic word, a version, then the value.

use serde::{Serialize, de::DeserializeOwned};

/// A value that can be written to disk and read back by a later build of Cairn.
pub trait Versioned: Serialize + DeserializeOwned {
    /// Eight bytes that say what the file holds.
    const MAGIC: [u8; 8];
    /// Raised whenever the layout changes.
    const VERSION: u32;
    /// What the file is called in messages.
    const NAME: &'static str;
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum VersionedError {
    /// The magic word is absent.
    #[error("this is not a {name}")]
    NotOne {
        /// What was expected.
        name: &'static str,
    },
    /// Written by another version of Cairn.
    #[error("the {name} has format {found}, this build reads {expected}")]
    Version {
        /// What was expected.
        name: &'static str,
        /// The version in the file.
        found: u32,
        /// The version this build reads.
        expected: u32,
    },
    /// The bytes after the header do not decode.
    #[error("the {name} is damaged")]
    Damaged {
        /// What was expected.
        name: &'static str,
        /// The decoder's reason.
        source: postcard::Error,
    },
}

/// Encodes `value` with its header.
pub fn encode<T: Versioned>(value: &T) -> Vec<u8> {
    let mut bytes = T::MAGIC.to_vec();
    bytes.extend(T::VERSION.to_le_bytes());
    postcard::to_extend(value, bytes).expect("values of the model always encode")
}

/// Decodes a value written by [`encode`].
pub fn decode<T: Versioned>(bytes: &[u8]) -> Result<T, VersionedError> {
    postcard::from_bytes(body::<T>(bytes)?).map_err(damaged::<T>)
}

/// Decodes only the first fields of a `T`, which are those of the tuple `U`.
pub(crate) fn decode_first<T: Versioned, U: DeserializeOwned>(bytes: &[u8]) -> Result<U, VersionedError> {
    let (first, _) = postcard::take_from_bytes(body::<T>(bytes)?).map_err(damaged::<T>)?;
    Ok(first)
}

fn damaged<T: Versioned>(source: postcard::Error) -> VersionedError {
    VersionedError::Damaged { name: T::NAME, source }
}

/// What follows the header.
fn body<T: Versioned>(bytes: &[u8]) -> Result<&[u8], VersionedError> {
    let name = T::NAME;
    let Some((header, body)) = bytes.split_at_checked(12) else {
        return Err(VersionedError::NotOne { name });
    };
    if header[..8] != T::MAGIC {
        return Err(VersionedError::NotOne { name });
    }
    let found = u32::from_le_bytes(header[8..].try_into().expect("four bytes remain"));
    if found != T::VERSION {
        return Err(VersionedError::Version { name, found, expected: T::VERSION });
    }
    Ok(body)
}
