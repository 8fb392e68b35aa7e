//! Writes the record of a link, the record itself last.

use super::{
    Build,
    items::is_system,
    merge::{Merge, without_linker_words},
    replace::{Replaced, When},
};
use crate::{
    archive,
    elf::{self, FileKind},
    record::{BuildRecord, Merged, NativeInfo, NativeKind, RECORD_FORMAT, UnitInfo},
    store,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Moves what the links made to `<cairn_dir>/<build id>` and tells the user's index about it.
///
/// A record that has bitcode is never replaced by one that has none.
pub(super) fn save(
    build: &Build,
    build_id: &str,
    root: &Path,
    cairn_dir: &Path,
    replaced: Replaced,
    merge: Merge,
) -> io::Result<()> {
    let folder = cairn_dir.join(build_id);
    // The same executable once more, from objects that carry nothing: what is known about it stays.
    if merge.bitcode.is_err() && has_bitcode(&folder) {
        return Ok(());
    }
    fs::create_dir_all(&folder)?;
    let is_linked = |when: &When| match when {
        When::Always => true,
        // Without a second link nobody knows which members were taken.
        When::Traced(name) => merge.bitcode.is_err() || merge.trace.contains(name),
    };
    let mut units = Vec::new();
    for (_, unit) in replaced.units.iter().filter(|(when, _)| is_linked(when)) {
        let facts = folder.join("facts").join(&unit.meta.key);
        if !unit.facts.is_empty() && fs::read(&facts).ok().as_deref() != Some(&unit.facts) {
            store::write_atomically(&facts, &unit.facts)?;
        }
        units.push(UnitInfo {
            key: unit.meta.key.clone(),
            directory: unit.meta.directory.clone().into(),
            source: unit.meta.source.clone().into(),
            is_cxx: unit.meta.is_cxx,
            arguments: unit.meta.arguments.clone(),
            bitcode_error: unit.meta.bitcode_error.clone(),
            facts_error: unit.meta.facts_error.clone(),
        });
    }
    let mut native: Vec<NativeInfo> =
        replaced.native.iter().filter(|(when, _)| is_linked(when)).map(|(_, info)| info.clone()).collect();
    let linked: u64 = native.iter().map(|info| info.bytes).sum();
    let mut instrumented_bytes: u64 =
        replaced.instrumented.iter().filter(|(when, _)| is_linked(when)).map(|(_, bytes)| bytes).sum();
    if replaced.has_bitcode_sources {
        // Sources linked in one command left no object; what the executable holds beyond the others is theirs.
        instrumented_bytes = instrumented_bytes.max(build.code_size.saturating_sub(linked));
    }
    native.extend(unreplaced(build, root, &replaced.second, &merge));
    let bitcode = match merge.bitcode {
        Ok(path) => {
            let hash = blake3::hash(&fs::read(&path)?).to_hex().to_string();
            copy_objects(path.parent().expect("bitcode lies in a folder"), &folder)?;
            store::move_into_place(&path, &folder.join("program.bc"))?;
            Merged::Hash(hash)
        }
        Err(reason) => Merged::Failed(reason),
    };
    let record = BuildRecord {
        format: RECORD_FORMAT,
        cairn_version: env!("CARGO_PKG_VERSION").to_owned(),
        build_id: build_id.to_owned(),
        name: build.output.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        executable: build.output.clone(),
        is_cxx: build.line.is_cxx,
        root: source_root(root, &units),
        directory: build.settings.places.directory.clone(),
        link_arguments: without_linker_words(&replaced.view, &merge.dropped),
        libraries: replaced.libraries,
        dropped_options: merge.dropped,
        units,
        native,
        instrumented_bytes,
        bitcode,
        folder: folder.clone(),
    };
    let text = serde_json::to_vec_pretty(&record).map_err(io::Error::other)?;
    store::write_atomically(&folder.join("record.json"), &text)?;
    if let Some(cache_dir) = &build.settings.places.cache_dir {
        let entry = store::index_entry(cache_dir, build_id);
        store::write_atomically(&entry, folder.as_os_str().as_encoded_bytes())?;
    }
    Ok(())
}

/// Whether a record with bitcode lies there.
fn has_bitcode(folder: &Path) -> bool {
    fs::read(folder.join("record.json"))
        .ok()
        .and_then(|text| serde_json::from_slice::<BuildRecord>(&text).ok())
        .is_some_and(|record| record.format == RECORD_FORMAT && matches!(record.bitcode, Merged::Hash(_)))
}

fn copy_objects(work: &Path, folder: &Path) -> io::Result<()> {
    let Ok(objects) = fs::read_dir(work.join("objects")) else { return Ok(()) };
    for object in objects {
        let object = object?;
        store::move_into_place(&object.path(), &folder.join("objects").join(object.file_name()))?;
    }
    Ok(())
}

/// What lld read beside the inputs we replaced: the project's own shared objects, and native code that came in through
/// `LIBRARY_PATH` or a linker script.
fn unreplaced(build: &Build, root: &Path, second: &[String], merge: &Merge) -> Vec<NativeInfo> {
    let mut names: Vec<&String> = merge.trace.iter().collect();
    names.sort_unstable();
    let mut native = Vec::new();
    for name in names {
        let (file, member) = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
            Some((file, member)) => (file, Some(member)),
            None => (name.as_str(), None),
        };
        let path = build.settings.places.directory.join(file);
        if is_system(&path, root) || path == build.settings.distribution.deliver_archive {
            continue;
        }
        let Ok(bytes) = fs::read(&path) else { continue };
        let is_shared = elf::file_kind(&bytes) == FileKind::Shared;
        if !is_shared && second.iter().any(|input| input == file) {
            continue;
        }
        let (kind, reason) = if is_shared {
            (NativeKind::SharedObject, "shared objects stay native")
        } else {
            (NativeKind::Object, "the linker found it by itself")
        };
        let bytes = match member {
            None => elf::code_size(&bytes),
            Some(member) => archive::read(&path, &bytes)
                .unwrap_or_default()
                .iter()
                .filter(|other| other.name == member)
                .map(|member| elf::code_size(&member.bytes))
                .sum(),
        };
        native.push(NativeInfo { name: name.clone(), kind, bytes, reason: Some(reason.to_owned()) });
    }
    native
}

/// The folder source paths are shown relative to: the project's root, or, when the build folder lies elsewhere, the
/// deepest folder that holds the sources outside it.
fn source_root(root: &Path, units: &[UnitInfo]) -> PathBuf {
    let sources: Vec<PathBuf> = units.iter().map(|unit| normal(&unit.directory.join(&unit.source))).collect();
    let outside: Vec<&PathBuf> = sources.iter().filter(|source| !source.starts_with(root)).collect();
    if outside.len() * 2 <= sources.len() {
        return root.to_owned();
    }
    let mut common = outside[0].parent().unwrap_or(Path::new("/")).to_owned();
    while !outside.iter().all(|source| source.starts_with(&common)) {
        common.pop();
    }
    common
}

/// Takes `.` and `..` out of a path by its text, as compilers show paths.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(directory: &str, source: &str) -> UnitInfo {
        UnitInfo {
            key: String::new(),
            directory: directory.into(),
            source: source.into(),
            is_cxx: false,
            arguments: Vec::new(),
            bitcode_error: None,
            facts_error: None,
        }
    }

    #[test]
    fn a_build_folder_beside_the_sources_is_not_their_root() {
        let units = [unit("/p/build", "../src/a.c"), unit("/p/build", "../src/lib/b.c")];
        assert_eq!(source_root(Path::new("/p/build"), &units), Path::new("/p/src"));
        assert_eq!(source_root(Path::new("/p"), &units), Path::new("/p"));
    }

    #[test]
    fn a_few_generated_sources_do_not_move_the_root() {
        let units = [unit("/p", "a.c"), unit("/p", "b.c"), unit("/p", "/tmp/generated.c")];
        assert_eq!(source_root(Path::new("/p"), &units), Path::new("/p"));
    }
}
