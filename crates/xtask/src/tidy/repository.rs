//! Licences, fixtures, and what no file may mention.

use crate::{process, workspace::Workspace};
use std::{fs, path::Path, process::Command};

/// Checks them all.
pub fn check(workspace: &Workspace, complaints: &mut Vec<String>) -> anyhow::Result<()> {
    for package in workspace.packages.iter().filter(|package| package.license.is_none()) {
        complaints.push(format!("package `{}` states no licence", package.name));
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !workspace.root.join(name).is_file() {
            complaints.push(format!("{name} is missing"));
        }
    }
    let files = files(&workspace.root)?;
    check_fixtures(&files, complaints);
    for path in files.iter().filter(|path| *path != "Cargo.lock") {
        let Ok(text) = fs::read_to_string(workspace.root.join(path)) else { continue };
        complaints.extend(registries(&text).map(|(line, host)| format!("{path}:{line}: mentions `{host}`")));
    }
    Ok(())
}

/// Every file of the repository, also those not yet added, relative to its root.
pub fn files(root: &Path) -> anyhow::Result<Vec<String>> {
    let listing = process::output(Command::new("git").current_dir(root).args([
        "-c",
        "core.quotePath=false",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    Ok(listing.lines().filter(|path| root.join(path).is_file()).map(Into::into).collect())
}

fn check_fixtures(files: &[String], complaints: &mut Vec<String>) {
    let mut folders: Vec<_> = files
        .iter()
        .filter_map(|path| path.strip_prefix("fixtures/")?.split_once('/').map(|(folder, _)| folder))
        .collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        let readme = format!("fixtures/{folder}/README.md");
        if !files.contains(&readme) {
            complaints.push(format!("{readme} is missing: say in a sentence what the fixture shows"));
        }
    }
}

/// Hosts of package registries. People have mirrors; files that name a host break theirs.
fn registry_hosts() -> Vec<String> {
    // Put together here, or this file would be the first to mention them.
    [["crates", "io"], ["deb.debian", "org"], ["security.debian", "org"], ["pypi", "org"], ["npmjs", "org"]]
        .iter()
        .map(|parts| parts.join("."))
        .collect()
}

fn registries(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let hosts = registry_hosts();
    text.lines().enumerate().filter_map(move |(index, line)| {
        hosts.iter().find(|host| line.contains(*host)).map(|host| (index + 1, host.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_found_by_line() {
        let text = format!("fine\nsee https://static.{}/x\n", ["crates", "io"].join("."));
        assert_eq!(registries(&text).map(|(line, _)| line).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_fixture_without_a_sentence_is_named() {
        let files = ["fixtures/a/README.md", "fixtures/a/x.c", "fixtures/b/x.c"].map(String::from);
        let mut complaints = Vec::new();
        check_fixtures(&files, &mut complaints);
        assert_eq!(complaints, ["fixtures/b/README.md is missing: say in a sentence what the fixture shows"]);
    }
}
