//! The workspace as cargo sees it.

use crate::process;
use anyhow::{Context, anyhow};
use serde_json::Value;
use std::{path::PathBuf, process::Command};

/// What `cargo metadata` says, as far as tasks need it.
#[derive(Debug)]
pub struct Workspace {
    /// The repository.
    pub root: PathBuf,
    /// Where cargo puts what it builds.
    pub target: PathBuf,
    /// The members.
    pub packages: Vec<Package>,
}

/// A member of the workspace.
#[derive(Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its licence, if it states one.
    pub license: Option<String>,
    /// The programs it builds.
    pub binaries: Vec<String>,
    /// What it depends on.
    pub dependencies: Vec<Dependency>,
}

/// A dependency of a member.
#[derive(Debug)]
pub struct Dependency {
    /// The package depended on.
    pub name: String,
    /// Whether only tests and benches need it.
    pub is_dev: bool,
}

impl Workspace {
    /// Asks cargo.
    pub fn load() -> anyhow::Result<Self> {
        let text = process::output(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
        Self::parse(&text).context("failed to read `cargo metadata`")
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let metadata: Value = serde_json::from_str(text)?;
        let packages =
            array(&metadata, "packages")?.iter().map(Package::parse).collect::<anyhow::Result<_>>()?;
        Ok(Self {
            root: string(&metadata, "workspace_root")?.into(),
            target: string(&metadata, "target_directory")?.into(),
            packages,
        })
    }

    /// The member called `name`.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    fn parse(package: &Value) -> anyhow::Result<Self> {
        let manifest = PathBuf::from(string(package, "manifest_path")?);
        let folder = manifest.parent().context("a manifest lies in a folder")?.to_path_buf();
        let binaries = array(package, "targets")?
            .iter()
            .filter(|target| array(target, "kind").is_ok_and(|kinds| kinds.contains(&Value::from("bin"))))
            .map(|target| string(target, "name"))
            .collect::<anyhow::Result<_>>()?;
        let dependencies = array(package, "dependencies")?
            .iter()
            .map(|dependency| {
                Ok(Dependency { name: string(dependency, "name")?, is_dev: dependency["kind"] == "dev" })
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Self {
            name: string(package, "name")?,
            folder,
            license: package["license"].as_str().map(Into::into),
            binaries,
            dependencies,
        })
    }
}

/// The cargo this task was started with.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn string(value: &Value, key: &str) -> anyhow::Result<String> {
    value[key].as_str().map(Into::into).ok_or_else(|| anyhow!("`{key}` is missing or no string"))
}

fn array<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a Vec<Value>> {
    value[key].as_array().ok_or_else(|| anyhow!("`{key}` is missing or no list"))
}
