//! Finds the record of an executable by its build id.

use crate::{
    elf,
    record::{BuildRecord, Merged, RECORD_FORMAT},
    settings::Places,
    store::{self, FOLDER},
};
use std::{
    ffi::OsString,
    fs, io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

/// Why there are no views of an executable.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The file cannot be read.
    #[error("failed to read `{path}`")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not a program at all.
    #[error(
        "`{path}` is not an ELF executable\n\nhint: name the program itself, not a script that starts it"
    )]
    NotElf {
        /// The file.
        path: PathBuf,
    },
    /// Nothing to find it by.
    #[error(
        "`{path}` has no build id\n\nhint: build it with `cairn-cc` and without `-Wl,--build-id=none`, \
         and do not strip the section `.note.gnu.build-id`"
    )]
    NoBuildId {
        /// The file.
        path: PathBuf,
    },
    /// Nobody recorded it.
    #[error(
        "no bitcode was recorded for `{path}` (build id {build_id})\n\nhint: it was not built with `cairn-cc`, or its \
         `.cairn` folder is gone; build it again with `CC=cairn-cc CXX=cairn-c++`"
    )]
    NotRecorded {
        /// The file.
        path: PathBuf,
        /// Its build id.
        build_id: String,
    },
    /// The record is there, the bitcode is not.
    #[error("`{path}` was built with `cairn-cc`, but has no whole-program bitcode: {reason}")]
    NoBitcode {
        /// The file.
        path: PathBuf,
        /// What went wrong when it was linked.
        reason: String,
    },
    /// Written by another version of Cairn.
    #[error(
        "the record `{record}` has format {found}, this build reads {RECORD_FORMAT}\n\nhint: build the program again"
    )]
    OtherVersion {
        /// The record.
        record: PathBuf,
        /// Its format.
        found: u64,
    },
    /// The record or what belongs to it is broken.
    #[error("the record `{record}` is damaged: {reason}\n\nhint: link the program again")]
    Damaged {
        /// The record.
        record: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// The record of `executable`, wherever it was moved and whether or not it was stripped.
///
/// Looks in the `.cairn` folder that is set, in those above the executable and above the working directory, then
/// asks the user's index.
pub fn find(places: &Places, executable: &Path) -> Result<BuildRecord, FindError> {
    let path = executable.to_owned();
    let bytes = read(executable)?;
    let bytes = match libtool_program(executable, &bytes) {
        Some(program) => read(&program)?,
        None => bytes,
    };
    if !bytes.starts_with(b"\x7fELF") {
        return Err(FindError::NotElf { path });
    }
    let Some(build_id) = elf::build_id(&bytes) else { return Err(FindError::NoBuildId { path }) };
    let record = candidates(places, executable, &build_id)
        .into_iter()
        .map(|folder| folder.join("record.json"))
        .find(|record| record.is_file());
    let Some(record) = record else { return Err(FindError::NotRecorded { path, build_id }) };
    let record = load(&record, &build_id)?;
    match &record.bitcode {
        Merged::Hash(_) => Ok(record),
        Merged::Failed(reason) => Err(FindError::NoBitcode { path, reason: reason.clone() }),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, FindError> {
    fs::read(path).map_err(|source| FindError::Unreadable { path: path.to_owned(), source })
}

/// libtool leaves a script where the program belongs, and the program in `.libs`.
fn libtool_program(script: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    if !head.starts_with("#!") || !head.contains("libtool") {
        return None;
    }
    let name = script.file_name()?;
    Some(script.parent()?.join(".libs").join(name)).filter(|program| program.is_file())
}

fn candidates(places: &Places, executable: &Path, build_id: &str) -> Vec<PathBuf> {
    let absolute = places.directory.join(executable);
    let above = |path: &Path| -> Vec<PathBuf> {
        path.ancestors().skip(1).map(|folder| folder.join(FOLDER).join(build_id)).collect()
    };
    let mut folders: Vec<PathBuf> = places.cairn_dir.iter().map(|folder| folder.join(build_id)).collect();
    folders.extend(above(&absolute));
    if let Ok(resolved) = absolute.canonicalize() {
        folders.extend(above(&resolved));
    }
    folders.extend(above(&places.directory.join("here")));
    let entry = places.cache_dir.as_ref().map(|cache_dir| store::index_entry(cache_dir, build_id));
    if let Some(target) = entry.and_then(|entry| fs::read(entry).ok()) {
        folders.push(PathBuf::from(OsString::from_vec(target)));
    }
    folders
}

fn load(path: &Path, build_id: &str) -> Result<BuildRecord, FindError> {
    let damaged = |reason: String| FindError::Damaged { record: path.to_owned(), reason };
    let value: serde_json::Value =
        serde_json::from_slice(&read(path)?).map_err(|error| damaged(error.to_string()))?;
    let found = value["format"].as_u64().ok_or_else(|| damaged("it names no format".to_owned()))?;
    if found != u64::from(RECORD_FORMAT) {
        return Err(FindError::OtherVersion { record: path.to_owned(), found });
    }
    let mut record: BuildRecord =
        serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    record.folder = path.parent().expect("a record lies in a folder").to_owned();
    if record.build_id != build_id {
        return Err(damaged(format!("it belongs to build {}", record.build_id)));
    }
    if let Merged::Hash(hash) = &record.bitcode {
        let bitcode =
            fs::read(record.bitcode_path()).map_err(|error| damaged(format!("program.bc: {error}")))?;
        if blake3::hash(&bitcode).to_hex().as_str() != hash {
            return Err(damaged("program.bc is not the bitcode it was written for".to_owned()));
        }
    }
    Ok(record)
}
