//! Files that hardly ever change, and are looked at whenever we start.

use crate::store;
use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

/// Names one file as it is: replaced by another version, or written to, it gets another stamp.
pub fn stamp(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    let facts = (path, metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec(), changed);
    Some(blake3::hash(format!("{facts:?}").as_bytes()).to_hex()[..32].to_owned())
}

/// The hash of what a file holds, remembered in `cache_dir` by its stamp: the instrumenter is so large that reading it takes as long as
/// running some hundred inputs.
pub fn of(path: &Path, cache_dir: Option<&Path>) -> io::Result<String> {
    let before = stamp(path);
    let note = cache_dir.zip(before.as_ref()).map(|(folder, stamp)| folder.join("hashes").join(stamp));
    let noted = note.as_ref().and_then(|note| fs::read_to_string(note).ok());
    if let Some(hash) = noted.filter(|hash| hash.len() == 2 * blake3::OUT_LEN) {
        return Ok(hash);
    }
    let hash = blake3::hash(&fs::read(path)?).to_hex().to_string();
    if let Some(note) = note.filter(|_| stamp(path) == before) {
        // Without the note the next call only takes longer.
        let _ = store::write_atomically(&note, hash.as_bytes());
    }
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_to_has_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        let (file, cache) = (folder.path().join("file"), folder.path().join("cache"));
        let hash = |text: &str| {
            fs::write(&file, text).unwrap();
            let first = of(&file, Some(&cache)).unwrap();
            assert_eq!(of(&file, Some(&cache)).unwrap(), first);
            assert_eq!(of(&file, None).unwrap(), first);
            first
        };
        assert_ne!(hash("one"), hash("another"));
    }

    #[test]
    fn what_was_noted_is_believed_and_what_is_damaged_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (file, cache) = (folder.path().join("file"), folder.path().join("cache"));
        fs::write(&file, "text").unwrap();
        let hash = of(&file, Some(&cache)).unwrap();
        let note = fs::read_dir(cache.join("hashes")).unwrap().next().unwrap().unwrap().path();
        let other = "0".repeat(hash.len());
        fs::write(&note, &other).unwrap();
        assert_eq!(of(&file, Some(&cache)).unwrap(), other);
        fs::write(&note, "half").unwrap();
        assert_eq!(of(&file, Some(&cache)).unwrap(), hash);
    }
}
