//! Where records live: the `.cairn` folder, the per-user index, and writes that never leave half a file.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// The folder's name.
pub const FOLDER: &str = ".cairn";

/// Any of these makes a folder the root of a project.
const ROOT_MARKS: &[&str] =
    &["cairn.toml", ".git", "configure", "config.status", "CMakeCache.txt", "meson-info", ".hg"];

/// These make a folder part of a project; the topmost in a row is its root.
const PART_MARKS: &[&str] =
    &["Makefile", "makefile", "GNUmakefile", ".config", "CMakeLists.txt", "build.ninja", "meson.build"];

/// The project a command that runs in `directory` belongs to.
///
/// The nearest folder upwards that already has a `.cairn` wins, then the nearest with the marks of a root, then the
/// topmost of an unbroken row of folders with makefiles, then `directory` itself.
pub fn project_root(directory: &Path) -> PathBuf {
    let has_any = |folder: &Path, marks: &[&str]| marks.iter().any(|mark| folder.join(mark).exists());
    let nearest = |test: &dyn Fn(&Path) -> bool| directory.ancestors().find(|folder| test(folder));
    nearest(&|folder| folder.join(FOLDER).is_dir())
        .or_else(|| nearest(&|folder| has_any(folder, ROOT_MARKS)))
        .or_else(|| directory.ancestors().take_while(|folder| has_any(folder, PART_MARKS)).last())
        .unwrap_or(directory)
        .to_owned()
}

/// Makes `folder`, with a `.gitignore` so that it never ends up in someone's commit.
pub fn create(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        write_atomically(&ignore, b"*\n")?;
    }
    Ok(())
}

/// Writes a file so that readers see the old content or the new, also when several links write it at once.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    readable_by_all(file.path())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Moves a finished file to its place; both must be on one file system.
pub fn move_into_place(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.parent().expect("a file lies in a folder"))?;
    fs::rename(from, to)
}

/// The index entry of a build: a file that holds the path of its folder.
pub fn index_entry(cache_dir: &Path, build_id: &str) -> PathBuf {
    cache_dir.join("builds").join(build_id)
}

// Temporary files are private by default; these are as readable as the executable they belong to.
fn readable_by_all(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_cairn_folder_beats_marks() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("sub/deep");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(top.path().join(FOLDER)).unwrap();
        fs::write(top.path().join("sub/configure"), "").unwrap();
        assert_eq!(project_root(&inner), top.path());
    }

    #[test]
    fn without_marks_the_topmost_makefile_in_a_row_counts() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("gap/a/b");
        fs::create_dir_all(&inner).unwrap();
        for folder in [top.path().to_owned(), top.path().join("gap/a"), inner.clone()] {
            fs::write(folder.join("Makefile"), "").unwrap();
        }
        assert_eq!(project_root(&inner), top.path().join("gap/a"));
        assert_eq!(project_root(&top.path().join("gap")), top.path().join("gap"));
    }
}
