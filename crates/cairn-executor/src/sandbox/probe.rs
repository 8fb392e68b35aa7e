//! What this machine can do, found by doing it.

use super::{Layers, landlock, landlock_needed, wants_namespaces};
use crate::{
    config::{RunConfig, SandboxLevel},
    executor::start,
};
use std::{fmt, path::Path};

/// One layer and whether it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// It works; a remark for people.
    Works(String),
    /// It does not, and why.
    Missing(String),
}

impl Layer {
    /// Whether it works.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works(_))
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Works(remark) => write!(f, "works ({remark})"),
            Self::Missing(reason) => write!(f, "missing: {reason}"),
        }
    }
}

/// The layers of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxReport {
    /// Layer 1.
    pub namespaces: Layer,
    /// Layer 2.
    pub landlock: Layer,
    /// Its version; 0 for none.
    pub landlock_abi: u32,
    /// Layer 3.
    pub seccomp: Layer,
}

impl SandboxReport {
    /// The highest level that can be reached.
    pub fn level(&self) -> SandboxLevel {
        [SandboxLevel::Full, SandboxLevel::Basic]
            .into_iter()
            .find(|level| self.layers(*level).is_ok())
            .unwrap_or(SandboxLevel::Off)
    }

    /// The layers used at `level`, or what it lacks.
    pub fn layers(&self, level: SandboxLevel) -> Result<Layers, String> {
        if level == SandboxLevel::Off {
            return Ok(Layers { has_namespaces: false, landlock_abi: 0, has_filter: false });
        }
        let landlock_abi = self.landlock_abi;
        let needed = landlock_needed(level);
        let mut missing = Vec::new();
        if !self.namespaces.works() && landlock_abi < needed {
            missing.push(format!("namespaces are {}", self.namespaces));
            missing.push(format!("Landlock has version {landlock_abi}, {needed} could stand in for them"));
        }
        if !self.seccomp.works() {
            missing.push(format!("seccomp is {}", self.seccomp));
        }
        let has_namespaces = self.namespaces.works() && wants_namespaces(level, landlock_abi);
        let layers = Layers { has_namespaces, landlock_abi, has_filter: true };
        if missing.is_empty() { Ok(layers) } else { Err(missing.join("; ")) }
    }
}

impl fmt::Display for SandboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "namespaces  {}", self.namespaces)?;
        writeln!(f, "landlock    {}", self.landlock)?;
        writeln!(f, "seccomp     {}", self.seccomp)?;
        writeln!(f, "level       {}", self.level())
    }
}

/// Tries each layer. Folders needed meanwhile are made in `base_folder`, see [`RunConfig::base_folder`].
pub fn probe(base_folder: &Path) -> SandboxReport {
    let landlock_abi = landlock::abi();
    SandboxReport {
        namespaces: namespaces(base_folder),
        landlock: match landlock_abi {
            0 => Layer::Missing("the kernel does not have it, or it is switched off".into()),
            version => Layer::Works(format!("version {version}")),
        },
        landlock_abi,
        seccomp: seccomp(),
    }
}

fn namespaces(base_folder: &Path) -> Layer {
    let config = RunConfig { base_folder: base_folder.to_path_buf(), ..RunConfig::default() };
    match start::try_namespaces(&config) {
        Ok(remark) => Layer::Works(remark),
        Err(error) => Layer::Missing(error),
    }
}

/// Whether the kernel can hand calls to another process, without installing anything.
fn seccomp() -> Layer {
    let action = libc::SECCOMP_RET_USER_NOTIF;
    // SAFETY: the call reads four bytes and changes nothing.
    let answer =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) };
    match answer {
        0 => Layer::Works("refused calls are named".into()),
        _ => Layer::Missing(format!("handing calls over failed: {}", std::io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(namespaces: bool, landlock_abi: u32) -> SandboxReport {
        let layer =
            |works| if works { Layer::Works("here".into()) } else { Layer::Missing("not permitted".into()) };
        SandboxReport {
            namespaces: layer(namespaces),
            landlock: layer(landlock_abi > 0),
            landlock_abi,
            seccomp: layer(true),
        }
    }

    #[test]
    fn new_landlock_stands_in_for_namespaces() {
        assert_eq!(report(false, 6).level(), SandboxLevel::Full);
        assert_eq!(report(false, 5).level(), SandboxLevel::Basic);
        assert_eq!(report(true, 0).level(), SandboxLevel::Full);
        assert_eq!(report(false, 0).level(), SandboxLevel::Off);
    }

    #[test]
    fn a_level_out_of_reach_names_what_is_missing() {
        let missing = report(false, 2).layers(SandboxLevel::Full).unwrap_err();
        expect_test::expect![
            "namespaces are missing: not permitted; Landlock has version 2, 6 could stand in for them"
        ]
        .assert_eq(&missing);
    }

    #[test]
    fn basic_uses_namespaces_only_in_place_of_landlock() {
        assert!(!report(true, 1).layers(SandboxLevel::Basic).unwrap().has_namespaces);
        assert!(report(true, 0).layers(SandboxLevel::Basic).unwrap().has_namespaces);
    }
}
