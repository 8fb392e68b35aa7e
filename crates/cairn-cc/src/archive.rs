//! Reads archives, thin ones too, and writes them.

use object::read::archive::ArchiveFile;
use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
};

/// One member of an archive.
pub(crate) struct Member {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// All members in order; duplicates of a name are kept.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> io::Result<Vec<Member>> {
    let damaged = |error: object::read::Error| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let bytes = if archive.is_thin() {
            fs::read(folder.join(&name))?
        } else {
            member.data(bytes).map_err(damaged)?.to_vec()
        };
        members.push(Member { name, bytes });
    }
    Ok(members)
}

/// Writes an archive of the files in `folder` named by `members`, in that order.
pub(crate) fn write(llvm_ar: &Path, archive: &Path, folder: &Path, members: &[String]) -> io::Result<()> {
    let list = folder.join("members.rsp");
    fs::write(&list, members.join("\n"))?;
    let output = Command::new(llvm_ar)
        .arg("qc")
        .arg(archive)
        .arg(format!("@{}", list.display()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
