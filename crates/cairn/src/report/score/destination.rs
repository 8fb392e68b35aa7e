//! Where the report goes.

use crate::{failure::Failure, screen::Screen};
use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A place for the report, found to be good before there is one.
///
/// A file has either what was there before or the whole report, whenever somebody looks.
#[derive(Debug)]
pub struct Destination {
    place: Place,
    is_written: bool,
}

#[derive(Debug)]
enum Place {
    /// Standard output.
    Screen,
    /// This file, which another takes the place of.
    File { path: PathBuf, folder: PathBuf },
    /// Something that must be written as it is: a device, a pipe, a file in a folder that cannot be written.
    Open { path: PathBuf, file: File },
}

impl Destination {
    /// Checks `path`; without one the report goes to standard output.
    pub fn find(path: Option<&Path>) -> Result<Self, Failure> {
        let place = match path {
            None => Place::Screen,
            Some(path) => find(path).map_err(|error| {
                Failure::usage(format!("the report cannot be written to `{}`: {error}", path.display()))
                    .hint("`--output` names a file in a folder that exists and can be written")
            })?,
        };
        Ok(Self { place, is_written: false })
    }

    /// Whether a report was written.
    pub fn is_written(&self) -> bool {
        self.is_written
    }

    /// Writes the report.
    pub fn write(&mut self, report: &str, screen: &Screen) -> Result<(), Failure> {
        self.is_written = true;
        let (path, written) = match &mut self.place {
            Place::Screen => {
                screen.result(report.trim_end());
                return Ok(());
            }
            Place::File { path, folder } => (&*path, replace(path, folder, report)),
            Place::Open { path, file } => (&*path, overwrite(file, report)),
        };
        written.map_err(|error| {
            Failure::usage(format!("failed to write the report to `{}`: {error}", path.display()))
        })
    }
}

fn find(path: &Path) -> io::Result<Place> {
    // What a link points to is written, not the link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let is_plain = fs::metadata(&path).map_or(true, |metadata| metadata.is_file());
    // A file without a name: nothing is left of it, whatever ends us.
    match tempfile::tempfile_in(&folder) {
        Ok(_) if is_plain => Ok(Place::File { path, folder }),
        Err(error) if !path.exists() => Err(error),
        _ => {
            let file = OpenOptions::new().write(true).open(&path)?;
            Ok(Place::Open { path, file })
        }
    }
}

fn replace(path: &Path, folder: &Path, report: &str) -> io::Result<()> {
    // As any new file, for everybody whom the umask lets.
    let mode = fs::metadata(path).map_or(0o666, |metadata| metadata.permissions().mode());
    let mut file =
        tempfile::Builder::new().permissions(Permissions::from_mode(mode & 0o777)).tempfile_in(folder)?;
    file.write_all(report.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

fn overwrite(file: &mut File, report: &str) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(report.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &Path) -> Result<Destination, String> {
        Destination::find(Some(path)).map_err(|failure| failure.message)
    }

    #[test]
    fn a_bad_path_is_told_before_there_is_a_report() {
        let folder = tempfile::tempdir().unwrap();
        assert!(found(&folder.path().join("no/such/folder")).is_err());
        assert!(found(folder.path()).is_err(), "a folder is no file");
        assert!(found(Path::new("/dev/null")).is_ok());
        assert!(found(&folder.path().join("new")).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made before it is written");
    }

    #[test]
    fn what_was_there_is_replaced_as_a_whole_and_links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("report"), folder.path().join("link"));
        fs::write(&file, "a longer text than the next").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut destination = found(&link).unwrap();
        assert!(!destination.is_written());
        destination.write("short\n", &Screen::new()).unwrap();
        assert!(destination.is_written());
        assert_eq!(fs::read_to_string(&file).unwrap(), "short\n");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
