//! Recorders as files.

use cairn_recorder::Settings;
use std::{
    env,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// Writes a recorder with its settings to `path`.
pub fn write(path: &Path, settings: &Settings, mode: u32) -> io::Result<()> {
    let recorder = env::current_exe()?.with_file_name("cairn-recorder");
    let bytes = fs::read(&recorder)
        .map_err(|error| io::Error::new(error.kind(), format!("{error}: `{}`", recorder.display())))?;
    fs::write(path, settings.append_to(bytes))?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}
