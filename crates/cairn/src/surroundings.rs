//! What the environment tells: where our files are, where records are kept.

use crate::failure::Failure;
use cairn_cc::{
    Settings, Toolchain,
    settings::{Distribution, Places},
};
use std::{
    env,
    path::{Path, PathBuf},
};

/// Where records are kept and looked for.
pub fn places() -> Result<Places, Failure> {
    let directory = env::current_dir()?;
    let cache_dir = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .map(|base| base.join("cairn"));
    let cairn_dir =
        env::var_os("CAIRN_DIR").filter(|folder| !folder.is_empty()).map(|folder| directory.join(folder));
    Ok(Places { directory, cairn_dir, cache_dir })
}

/// The tools of LLVM, found in `PATH`.
pub fn toolchain(places: &Places) -> Result<Toolchain, Failure> {
    let search_path: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    Toolchain::find(&search_path, places.cache_dir.as_deref())
        .map_err(|error| Failure::target(error.to_string()))
}

/// Our own files, beside this executable.
pub fn distribution() -> Result<Distribution, Failure> {
    let executable = env::current_exe()?;
    let root =
        executable.ancestors().nth(2).ok_or_else(|| Failure::target("this program lies in no folder"))?;
    Ok(Distribution::at(root))
}

/// Everything a build of views needs.
pub fn settings(places: Places) -> Result<Settings, Failure> {
    Ok(Settings {
        toolchain: toolchain(&places)?,
        distribution: distribution()?,
        places,
        temporary_dir: env::temp_dir(),
        bypass: false,
    })
}
