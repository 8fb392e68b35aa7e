//! Makes objects and archives for the second link out of those of the native one.

use super::contents::{Contents, contents};
use crate::{
    Toolchain, archive,
    payload::{SECTION, UnitRecord},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Where rebuilt files go, and the tools that make them.
pub(super) struct Rebuilder<'a> {
    pub toolchain: &'a Toolchain,
    /// Keeps rebuilt archives from link to link.
    pub cache: PathBuf,
    /// For the files of this link.
    pub work: &'a Path,
}

impl Rebuilder<'_> {
    /// The folder with the archive made anew, and with its native members in an archive of their own.
    ///
    /// Many programs link the same archive, so the result is kept by content.
    pub fn archive(&self, members: &[archive::Member]) -> io::Result<PathBuf> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        for member in members {
            hasher.update(&(member.name.len() as u64).to_le_bytes());
            hasher.update(member.name.as_bytes());
            hasher.update(&(member.bytes.len() as u64).to_le_bytes());
            hasher.update(&member.bytes);
        }
        let folder = self.cache.join(&hasher.finalize().to_hex()[..32]);
        if folder.is_dir() {
            return Ok(folder);
        }
        fs::create_dir_all(&self.cache)?;
        let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.cache)?;
        let parts = fresh.path().join("members");
        fs::create_dir(&parts)?;
        let (mut all, mut native) = (Vec::new(), Vec::new());
        for (index, member) in members.iter().enumerate() {
            let file = format!("{index}.o");
            match contents(&member.bytes) {
                Contents::Native { .. } => {
                    fs::write(parts.join(&file), &member.bytes)?;
                    native.push(file.clone());
                }
                Contents::Bitcode(records) => self.one_bitcode(&records, &parts.join(&file))?,
                Contents::Mixed { records, covered } => {
                    self.one_bitcode(&records, &parts.join(&file))?;
                    let beside = format!("{index}-native.o");
                    fs::rename(self.weakened(&member.bytes, &covered)?, parts.join(&beside))?;
                    all.push(file.clone());
                    native.push(beside.clone());
                    all.push(beside);
                    continue;
                }
            }
            all.push(file);
        }
        let llvm_ar = &self.toolchain.llvm_ar;
        archive::write(llvm_ar, &fresh.path().join("bitcode.a"), &parts, &all)?;
        if !native.is_empty() {
            archive::write(llvm_ar, &fresh.path().join("native.a"), &parts, &native)?;
        }
        fs::remove_dir_all(&parts)?;
        let fresh = fresh.keep();
        // Another link may have been quicker; its result is the same.
        if fs::rename(&fresh, &folder).is_err() {
            fs::remove_dir_all(&fresh)?;
        }
        Ok(folder)
    }

    /// All units of one member as one file, because a linker takes a member whole.
    fn one_bitcode(&self, records: &[UnitRecord], output: &Path) -> io::Result<()> {
        let parts: Vec<_> = records.iter().filter(|record| !record.bitcode.is_empty()).collect();
        if let [record] = parts[..] {
            return fs::write(output, record.bitcode);
        }
        let folder = tempfile::tempdir_in(self.work)?;
        let mut link = Command::new(&self.toolchain.llvm_link);
        for (index, record) in parts.iter().enumerate() {
            let path = folder.path().join(format!("{index}.bc"));
            fs::write(&path, record.bitcode)?;
            link.arg(path);
        }
        succeed(link.arg("-o").arg(output))
    }

    /// A copy of a mixed object that yields to bitcode wherever both define a symbol.
    pub fn weakened(&self, bytes: &[u8], covered: &[String]) -> io::Result<PathBuf> {
        let folder = tempfile::tempdir_in(self.work)?.keep();
        let (path, list) = (folder.join("native.o"), folder.join("symbols"));
        fs::write(&path, bytes)?;
        fs::write(&list, covered.join("\n"))?;
        succeed(
            Command::new(&self.toolchain.llvm_objcopy)
                .arg(format!("--weaken-symbols={}", list.display()))
                .arg(format!("--remove-section={SECTION}"))
                // Constructors of the units with bitcode would run twice.
                .args(["--wildcard", "--remove-section=.init_array*", "--remove-section=.fini_array*"])
                .args(["--remove-section=.rela.init_array*", "--remove-section=.rela.fini_array*"])
                .arg(&path),
        )?;
        Ok(path)
    }
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
