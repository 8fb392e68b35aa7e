//! What a recorder must know, and where it carries it.

use cairn_model::{
    input::Bytes,
    versioned::{self, Versioned},
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// Everything one recorder is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The program where its users look for it.
    pub program: PathBuf,
    /// The program itself, for the time of the recording.
    pub original: PathBuf,
    /// The folder for inputs.
    pub into: PathBuf,
    /// A folder inside `into` for the journal and for half-written inputs.
    pub session: PathBuf,
    /// When the recording started, in seconds since the epoch.
    pub started: i64,
    /// Keep only calls by this name.
    pub name: Option<String>,
    /// How much an input may hold.
    pub limits: Limits,
    /// The environment of `cairn record`; only what differs from it belongs to an input.
    pub baseline: Vec<(Bytes, Bytes)>,
    /// The variables the program can know, one a line; others never belong to an input.
    pub known_variables: String,
    /// Variables that belong to an input all the same; a `*` at the end stands for any rest.
    pub kept_variables: Vec<String>,
    /// Variables that never belong to an input, likewise.
    pub ignored_variables: Vec<String>,
}

/// How much an input may hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of standard input and named files together. Default: 1 MiB.
    pub bytes: u64,
    /// Entries of named folders. Default: 1000.
    pub files: usize,
    /// Entries of the working folder beyond the named ones; with more, none is taken. Default: 32.
    pub present_files: usize,
    /// Bytes of the working folder beyond the named files; with more, none is taken. Default: 64 KiB.
    pub present_bytes: u64,
    /// How long a pipe may be silent before its writer is no longer waited for. Default: one second.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 1 << 20,
            files: 1000,
            present_files: 32,
            present_bytes: 64 << 10,
            patience: Duration::from_secs(1),
        }
    }
}

impl Versioned for Settings {
    const MAGIC: [u8; 8] = *b"cairnrec";
    const VERSION: u32 = 1;
    const NAME: &'static str = "recorder's settings";
}

/// The last bytes of a recorder that carries settings; their length stands before.
const END: [u8; 8] = *b"ceremony";

impl Settings {
    /// A recorder with these settings: `recorder` is the bare program.
    ///
    /// ```text
    ///   ELF file | settings | their length, 8 bytes | END, 8 bytes
    /// ```
    pub fn append_to(&self, mut recorder: Vec<u8>) -> Vec<u8> {
        let settings = versioned::encode(self);
        recorder.extend(&settings);
        recorder.extend((settings.len() as u64).to_le_bytes());
        recorder.extend(END);
        recorder
    }

    /// The settings at the end of `file`, if there are any.
    pub fn of(file: &File) -> Option<Self> {
        let size = file.metadata().ok()?.len();
        let mut end = [0; 16];
        let end_at = size.checked_sub(16)?;
        file.read_exact_at(&mut end, end_at).ok()?;
        if end[8..] != END {
            return None;
        }
        let length = u64::from_le_bytes(end[..8].try_into().ok()?);
        let start = end_at.checked_sub(length)?;
        let mut settings = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut settings, start).ok()?;
        versioned::decode(&settings).ok()
    }
}

/// Where the original waits while a recorder stands at `program`: in the same folder, because programs find their
/// libraries relative to their own place.
pub fn saved_original(program: &Path) -> PathBuf {
    beside(program, "cairn-original")
}

/// The file that is locked while `program` is being recorded.
pub fn lock_file(program: &Path) -> PathBuf {
    beside(program, "cairn-record")
}

/// `folder/.name.suffix` for `folder/name`.
pub fn beside(program: &Path, suffix: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(program.file_name().unwrap_or_default());
    name.push(".");
    name.push(suffix);
    program.with_file_name(name)
}

/// What every recorder contains, also when `strip` cut its settings off; written backwards, so that only recorders do.
const KRAM: [u8; 40] = *b"redrocer nriac a yb rof tuo doots margor";

/// What every recorder contains.
pub const fn marker() -> [u8; KRAM.len()] {
    let mut mark = KRAM;
    let mut index = 0;
    while index < mark.len() {
        mark[index] = KRAM[KRAM.len() - 1 - index];
        index += 1;
    }
    mark
}

/// Whether the file at `path` is a recorder, with or without settings.
pub fn is_recorder(path: &Path) -> io::Result<bool> {
    let mark: Vec<u8> = KRAM.iter().rev().copied().collect();
    let bytes = fs::read(path)?;
    Ok(bytes.windows(mark.len()).any(|window| window == mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_at_the_end_of_a_recorder_and_nowhere_else() {
        let settings = Settings {
            program: "/b/sort".into(),
            original: "/b/.sort.cairn-original".into(),
            into: "/i".into(),
            session: "/i/.recording".into(),
            started: 5,
            name: None,
            limits: Limits::default(),
            baseline: vec![("A".into(), vec![0xff].into())],
            known_variables: "A\n".into(),
            kept_variables: vec![],
            ignored_variables: vec![],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recorder");
        fs::write(&path, settings.append_to(b"ELF".to_vec())).unwrap();
        assert_eq!(Settings::of(&File::open(&path).unwrap()), Some(settings));
        for other in [&b""[..], b"short", b"long enough to hold an end", b"\xff\xff\xff\xff\0\0\0\0ceremony"]
        {
            fs::write(&path, other).unwrap();
            assert_eq!(Settings::of(&File::open(&path).unwrap()), None);
        }
    }

    #[test]
    fn the_original_waits_in_the_same_folder() {
        assert_eq!(saved_original(Path::new("/b/sort")), Path::new("/b/.sort.cairn-original"));
    }
}
