//! The dependency table of ARCHITECTURE.md against cargo.
//!
//! ```markdown
//! ## Dependency table
//!
//! | level | crate | depends on |
//! |---|---|---|
//! | 0 | `cairn-abi` | – |
//! | 1 | `cairn-runtime` | `cairn-abi` |
//! ```
//! Dependencies point to lower levels. Crates with `–` for a level are helpers: only tests and other helpers may depend on
//! them.

use crate::workspace::Workspace;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    /// `None` for helpers.
    level: Option<u32>,
    dependencies: BTreeSet<String>,
}

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Compares the table with the workspace.
pub fn check(workspace: &Workspace, complaints: &mut Vec<String>) {
    let Ok(text) = fs::read_to_string(workspace.root.join("ARCHITECTURE.md")) else {
        complaints.push("ARCHITECTURE.md is missing".into());
        return;
    };
    let table = match parse(&text) {
        Ok(table) => table,
        Err(problem) => return complaints.push(format!("ARCHITECTURE.md: {problem}")),
    };
    compare(&table, &edges(workspace), complaints);
    for package in &workspace.packages {
        if package.folder != workspace.root.join("crates").join(&package.name) {
            complaints.push(format!("package `{}` lies in `{}`", package.name, package.folder.display()));
        }
    }
}

fn edges(workspace: &Workspace) -> Edges {
    let members: BTreeSet<_> = workspace.packages.iter().map(|package| &package.name).collect();
    let mut edges = Edges::new();
    for package in &workspace.packages {
        let dependencies = package.dependencies.iter().filter(|dependency| !dependency.is_dev);
        let inside = dependencies.map(|dependency| &dependency.name).filter(|name| members.contains(name));
        edges.insert(package.name.clone(), inside.cloned().collect());
    }
    edges
}

fn parse(text: &str) -> Result<BTreeMap<String, Row>, String> {
    let section = text
        .lines()
        .skip_while(|line| line.trim() != "## Dependency table")
        .skip(1)
        .take_while(|line| !line.starts_with("## "));
    let mut table = BTreeMap::new();
    for line in section.filter(|line| line.starts_with('|')) {
        let cells: Vec<_> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [level, name, dependencies] = cells[..] else {
            return Err(format!("`{line}` has {} columns, not 3", cells.len()));
        };
        if level == "level" || level.starts_with("--") || level.starts_with(":-") {
            continue;
        }
        let level = match level {
            "–" => None,
            number => Some(number.parse().map_err(|_| format!("`{number}` is no level"))?),
        };
        let names = quoted(name)?;
        let [name] = &names[..] else {
            return Err(format!("`{line}` names {} crates, not one", names.len()));
        };
        let dependencies = if dependencies == "–" { vec![] } else { quoted(dependencies)? };
        let row = Row { level, dependencies: dependencies.into_iter().collect() };
        if table.insert(name.clone(), row).is_some() {
            return Err(format!("`{name}` has two rows"));
        }
    }
    if table.is_empty() {
        return Err("there is no table under `## Dependency table`".into());
    }
    Ok(table)
}

/// The names in a list such as `` `a`, `b` ``.
fn quoted(list: &str) -> Result<Vec<String>, String> {
    list.split(',')
        .map(|name| {
            let name = name.trim();
            let inner = name.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
            inner.map(Into::into).ok_or_else(|| format!("`{name}` is not a crate in backticks"))
        })
        .collect()
}

fn compare(table: &BTreeMap<String, Row>, edges: &Edges, complaints: &mut Vec<String>) {
    for name in table.keys().filter(|name| !edges.contains_key(*name)) {
        complaints.push(format!("ARCHITECTURE.md lists `{name}`, which does not exist"));
    }
    for (name, actual) in edges {
        let Some(row) = table.get(name) else {
            complaints.push(format!("ARCHITECTURE.md does not list `{name}`"));
            continue;
        };
        for dependency in actual.difference(&row.dependencies) {
            complaints.push(format!("ARCHITECTURE.md lacks the edge `{name}` -> `{dependency}`"));
        }
        for dependency in row.dependencies.difference(actual) {
            complaints
                .push(format!("ARCHITECTURE.md has the edge `{name}` -> `{dependency}`, which is gone"));
        }
        for dependency in actual {
            let Some(below) = table.get(dependency) else { continue };
            let points_down = match (row.level, below.level) {
                (Some(_), None) => false,
                (None, _) => true,
                (Some(above), Some(below)) => below < above,
            };
            if !points_down {
                complaints.push(format!("the edge `{name}` -> `{dependency}` does not point down"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const TABLE: &str = "\
# A

| level | crate | depends on |
|---|---|---|
| 9 | `elsewhere` | – |

## Dependency table

Words.

| level | crate | depends on |
|---|---|---|
| 0 | `base` | – |
| 1 | `middle` | `base` |
| 2 | `top` | `base`, `middle` |
| – | `kit` | `base` |

## After
| 0 | `other` | – |
";

    fn check(edges: &[(&str, &[&str])], expected: Expect) {
        let edges = edges
            .iter()
            .map(|(name, dependencies)| {
                (name.to_string(), dependencies.iter().map(ToString::to_string).collect())
            })
            .collect();
        let mut complaints = Vec::new();
        compare(&parse(TABLE).unwrap(), &edges, &mut complaints);
        expected.assert_eq(&complaints.join("\n"));
    }

    #[test]
    fn a_true_table_has_no_complaints() {
        check(
            &[("base", &[]), ("middle", &["base"]), ("top", &["base", "middle"]), ("kit", &["base"])],
            expect![""],
        );
    }

    #[test]
    fn every_difference_is_named() {
        check(
            &[("base", &["kit"]), ("middle", &["top"]), ("top", &["base", "middle"]), ("new", &[])],
            expect![[r#"
                ARCHITECTURE.md lists `kit`, which does not exist
                ARCHITECTURE.md lacks the edge `base` -> `kit`
                the edge `base` -> `kit` does not point down
                ARCHITECTURE.md lacks the edge `middle` -> `top`
                ARCHITECTURE.md has the edge `middle` -> `base`, which is gone
                the edge `middle` -> `top` does not point down
                ARCHITECTURE.md does not list `new`"#]],
        );
    }

    #[test]
    fn a_table_that_cannot_be_read_is_not_an_empty_one() {
        assert!(parse("## Dependency table\n").is_err());
        assert!(parse("## Dependency table\n| 0 | base | – |\n").is_err());
        assert!(parse("## Dependency table\n| x | `base` | – |\n").is_err());
    }
}
