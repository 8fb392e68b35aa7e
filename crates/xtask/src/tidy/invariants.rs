//! Invariants of ARCHITECTURE.md that the sources show.

use super::repository::files;
use crate::workspace::Workspace;
use std::fs;

/// Which package alone may depend on what.
const HIDDEN: [(&str, &str); 5] = [
    ("inkwell", "cairn-instrument"),
    ("llvm-sys", "cairn-instrument"),
    ("landlock", "cairn-executor"),
    ("clang-sys", "cairn-facts"),
    ("rusqlite", "cairn-store"),
];

/// Where printing, reading the environment and choosing an exit code is allowed.
const MAY_PRINT: [&str; 7] = [
    "crates/cairn/",
    "crates/cairn-bench/",
    "crates/cairn-cc/src/bin/",
    "crates/cairn-instrument/src/bin/",
    "crates/cairn-instrument/src/main.rs",
    "crates/cairn-testkit/",
    "crates/xtask/",
];

/// What only programs do.
const ONLY_PROGRAMS: [&str; 7] =
    ["println!(", "eprintln!(", "print!(", "eprint!(", "env::var", "env::args", "process::exit("];

/// Checks them all.
pub fn check(workspace: &Workspace, complaints: &mut Vec<String>) -> anyhow::Result<()> {
    for package in &workspace.packages {
        for dependency in &package.dependencies {
            for (hidden, owner) in HIDDEN {
                if dependency.name == hidden && package.name != owner {
                    complaints
                        .push(format!("`{}` depends on `{hidden}`, as only `{owner}` may", package.name));
                }
            }
            if dependency.name == "cairn-instrument" && !dependency.is_dev {
                complaints.push(format!("`{}` would link LLVM through `cairn-instrument`", package.name));
            }
            if package.name == "cairn-abi" && !dependency.is_dev {
                complaints.push(format!("`cairn-abi` depends on `{}`", dependency.name));
            }
        }
    }
    for path in files(&workspace.root)? {
        let is_library = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
        if is_library && !MAY_PRINT.iter().any(|allowed| path.starts_with(allowed)) {
            let text = fs::read_to_string(workspace.root.join(&path))?;
            complaints.extend(
                deeds_of_programs(&text).map(|(line, deed)| {
                    format!("{path}:{line}: a library uses `{deed}`, as only programs may")
                }),
            );
        }
    }
    Ok(())
}

fn deeds_of_programs(text: &str) -> impl Iterator<Item = (usize, &'static str)> + '_ {
    text.lines().enumerate().filter_map(|(index, line)| {
        let code = line.split("//").next().unwrap_or("");
        let deed = ONLY_PROGRAMS.iter().find(|deed| contains_word(code, deed))?;
        Some((index + 1, deed.trim_end_matches('(')))
    })
}

/// Whether `code` contains `word` and not just as the end of a longer one.
fn contains_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_of_programs_are_found_in_code_only() {
        let text = "\
fn f() {
    // println!(\"in a comment\")
    my_println!(\"another macro\");
    eprintln!(\"found\");
    let x = std::env::var(\"X\");
}";
        assert_eq!(deeds_of_programs(text).collect::<Vec<_>>(), [(4, "eprintln!"), (5, "env::var")]);
    }
}
