//! The folder everything lives in, and steps that are done once.

use crate::error::{TargetsError, Tried};
use nix::fcntl::{Flock, FlockArg};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// The name of the file that a finished step leaves in its folder.
const STAMP: &str = ".cairn-step";

/// Where sources, builds and inputs are kept between runs.
#[derive(Debug)]
pub struct Cache {
    /// The folder.
    pub folder: PathBuf,
    /// The folder with `cairn`, `cairn-cc` and `cairn-instrument`.
    pub tools: PathBuf,
    /// The repository, whose scripts, headers and harnesses are used.
    pub repository: PathBuf,
    /// Hears what is about to take long.
    pub say: fn(&str),
}

impl Cache {
    /// The folder a user's environment names: `CAIRN_TARGETS_DIR`, else below the user's cache folder.
    ///
    /// `None` if the environment names none.
    pub fn default_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let below = |base: PathBuf| base.join("cairn/targets");
        variable("CAIRN_TARGETS_DIR")
            .map(PathBuf::from)
            .or_else(|| variable("XDG_CACHE_HOME").map(|cache| below(cache.into())))
            .or_else(|| variable("HOME").map(|home| below(Path::new(&home).join(".cache"))))
    }

    /// Makes the folder if need be.
    pub fn open(folder: &Path, tools: &Path, repository: &Path, say: fn(&str)) -> Result<Self, TargetsError> {
        fs::create_dir_all(folder).tried("create", folder)?;
        let folder = folder.canonicalize().tried("find", folder)?;
        Ok(Self { folder, tools: tools.into(), repository: repository.into(), say })
    }

    /// An empty folder for one build.
    pub fn fresh(&self, name: &str) -> Result<PathBuf, TargetsError> {
        let folder = self.folder.join("builds").join(name);
        empty(&folder)?;
        Ok(folder)
    }

    /// Does `work` in an empty folder called `name` unless that was done before with the same `recipe`.
    ///
    /// A step that ended halfway is done again. Of several processes one works and the others wait.
    pub fn step(
        &self,
        name: &str,
        recipe: &str,
        work: impl FnOnce(&Path) -> Result<(), TargetsError>,
    ) -> Result<PathBuf, TargetsError> {
        let folder = self.folder.join(name);
        let _lock = self.lock(&folder)?;
        let key = blake3::hash(recipe.as_bytes()).to_hex().to_string();
        let stamp = folder.join(STAMP);
        if fs::read_to_string(&stamp).is_ok_and(|done| done == key) {
            return Ok(folder);
        }
        empty(&folder)?;
        work(&folder)?;
        fs::write(&stamp, key).tried("write", stamp)?;
        Ok(folder)
    }

    /// A hash of one of our tools, so that a recipe changes when the tool does.
    pub fn tool_hash(&self, name: &str) -> Result<String, TargetsError> {
        let path = self.tools.join(name);
        let content = fs::read(&path).tried("read", path)?;
        Ok(blake3::hash(&content).to_hex().to_string())
    }

    /// Makes the next [`Cache::step`] of that name start from nothing.
    pub fn forget(&self, name: &str) -> Result<(), TargetsError> {
        let folder = self.folder.join(name);
        let _lock = self.lock(&folder)?;
        if folder.exists() {
            fs::remove_dir_all(&folder).tried("remove", folder)?;
        }
        Ok(())
    }

    fn lock(&self, folder: &Path) -> Result<Flock<fs::File>, TargetsError> {
        let mut path = folder.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).tried("create", parent)?;
        let file = fs::File::create(&path).tried("create", &path)?;
        Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, error)| std::io::Error::from(error))
            .tried("lock", path)
    }
}

fn empty(folder: &Path) -> Result<(), TargetsError> {
    if folder.exists() {
        fs::remove_dir_all(folder).tried("remove", folder)?;
    }
    fs::create_dir_all(folder).tried("create", folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn cache(folder: &Path) -> Cache {
        Cache::open(folder, Path::new("/tools"), Path::new("/repository"), |_| ()).unwrap()
    }

    #[test]
    fn a_step_is_done_once_until_its_recipe_changes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let n_done = Cell::new(0);
        let step = |recipe: &str| {
            let work = |folder: &Path| {
                n_done.set(n_done.get() + 1);
                fs::write(folder.join(format!("made by {recipe}")), "").tried("write", folder)
            };
            cache.step("builds/x", recipe, work).unwrap()
        };
        step("one");
        step("one");
        assert_eq!(n_done.get(), 1);
        let made = step("two");
        assert_eq!(n_done.get(), 2);
        assert!(!made.join("made by one").exists() && made.join("made by two").exists());
        cache.forget("builds/x").unwrap();
        step("two");
        assert_eq!(n_done.get(), 3);
    }

    #[test]
    fn a_half_finished_step_is_redone_from_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let half = cache.step("builds/x", "recipe", |folder| {
            fs::write(folder.join("half"), "").unwrap();
            Err(TargetsError::NotInstalled { packages: "nothing".into(), tail: String::new() })
        });
        assert!(half.is_err());
        let whole = cache.step("builds/x", "recipe", |_| Ok(())).unwrap();
        assert!(!whole.join("half").exists());
    }

    #[test]
    fn a_tool_with_another_content_has_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), folder.path(), folder.path(), |_| ()).unwrap();
        assert!(cache.tool_hash("tool").is_err());
        fs::write(folder.path().join("tool"), "one").unwrap();
        let one = cache.tool_hash("tool").unwrap();
        assert_eq!(cache.tool_hash("tool").unwrap(), one);
        fs::write(folder.path().join("tool"), "two").unwrap();
        assert_ne!(cache.tool_hash("tool").unwrap(), one);
    }

    #[test]
    fn the_environment_names_the_folder() {
        let with = |set: &'static [(&str, &str)]| {
            Cache::default_folder(|name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.cache/cairn/targets".into()));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), Some("/c/cairn/targets".into()));
        assert_eq!(with(&[("HOME", "/h"), ("CAIRN_TARGETS_DIR", "/t")]), Some("/t".into()));
    }
}
