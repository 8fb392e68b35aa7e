//! Which mutants a command is about.

use super::{Mutants, operator_set};
use crate::failure::Failure;
use cairn_model::{MutantId, PatchId};
use cairn_mutants::{
    analysis::MutantSet,
    catalogue::OperatorSet,
    selection::{ChangedLines, Lines, Selection},
};
use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
    str::FromStr,
};

/// How a user chooses mutants. What is left out chooses all.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Which mutants")]
pub struct ChoiceArgs {
    /// Only mutants in this file or folder
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Only mutants in this function
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Only mutants on this line, or on lines from one to another: `sort.c:12`, `sort.c:10-20`
    #[arg(long, value_name = "FILE:LINE", value_parser = lines)]
    line: Vec<Lines>,
    /// Only mutants of this operator, by name or code
    #[arg(long, value_name = "NAME")]
    operator: Vec<String>,
    /// Only mutants on lines that a unified diff adds; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    in_diff: Option<PathBuf>,
    /// Only the mutant with this id, or with the only id that starts so
    #[arg(long, value_name = "ID")]
    id: Vec<String>,
    /// At most this many mutants, chosen by chance
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// At most this many mutants on a line, chosen by chance
    #[arg(long, value_name = "N")]
    sample_per_line: Option<usize>,
    /// Another seed gives another sample
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Only one of several shares of about equal size, such as `1/4`
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
}

/// The k-th of n shares, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no share: write `1/4` for the first of four");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let (number, of) = (number.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
        if number == 0 || number > of {
            return Err(wrong());
        }
        Ok(Self { number, of })
    }
}

impl Shard {
    /// Every n-th of what is ranked, so that shares differ by one in size at most.
    fn of<T>(self, ranked: Vec<T>) -> impl Iterator<Item = T> {
        ranked.into_iter().skip(self.number - 1).step_by(self.of)
    }
}

/// A choice whose files were read.
pub struct Choice<'a> {
    args: &'a ChoiceArgs,
    operators: Option<OperatorSet>,
    diff: Option<ChangedLines>,
}

impl ChoiceArgs {
    /// Reads what the choice names, so that nobody waits for a build to hear that a file is missing. Fails on choices that
    /// can choose nothing whatever the mutants are.
    pub fn read(&self) -> Result<Choice<'_>, Failure> {
        for (option, number) in [("--sample", self.sample), ("--sample-per-line", self.sample_per_line)] {
            if number == Some(0) {
                return Err(Failure::usage(format!("`{option} 0` leaves no mutant"))
                    .hint(format!("give a number from 1 on, or leave `{option}` out for all mutants")));
            }
        }
        let operators = match self.operator.is_empty() {
            true => None,
            false => Some(operator_set(&self.operator.join(","))?),
        };
        let diff = self.in_diff.as_deref().map(read_diff).transpose()?;
        Ok(Choice { args: self, operators, diff })
    }
}

impl Choice<'_> {
    /// The chosen mutants; with `reached`, only those at these patches. Choosing nothing is a failure that says which
    /// choice did it; only a share may be empty.
    pub fn select(self, mutants: &Mutants, reached: Option<BTreeSet<PatchId>>) -> Result<MutantSet, Failure> {
        let Self { args, operators, diff } = self;
        let ids: BTreeSet<MutantId> = args.id.iter().map(|id| mutants.find(id)).collect::<Result<_, _>>()?;
        if let Some(path) = diff.as_ref().and_then(|diff| changed_in(mutants, diff)) {
            return Err(Failure::usage(format!(
                "`{path}` was changed after the program was built, so lines of the diff are not those of the mutants"
            ))
            .hint("build the program again, and then give the diff"));
        }
        let selection = Selection {
            operators,
            files: args.file.clone(),
            functions: args.function.clone(),
            lines: args.line.clone(),
            diff,
            reached,
            mutants: ids,
            per_line: args.sample_per_line,
            total: args.sample,
            seed: args.seed,
        };
        let selected = selection.select(&mutants.map, &mutants.table).map_err(|error| {
            Failure::nothing(format!("no mutant is selected: {error}"))
                .hint("`cairn mutants` without choices lists all of them")
        })?;
        Ok(match args.shard {
            None => selected.into_iter().collect(),
            Some(shard) => {
                let mut ranked = selected;
                ranked.sort_by_key(|mutant| mutants.table.mutants[mutant.index()].stable_id);
                shard.of(ranked).collect()
            }
        })
    }

    /// Whether only a share was asked for, which may be empty where there are fewer mutants than shares.
    pub fn is_share(&self) -> bool {
        self.args.shard.is_some()
    }
}

/// A file that the diff is about and that is no longer what the program was built from.
fn changed_in<'a>(mutants: &'a Mutants, diff: &ChangedLines) -> Option<&'a str> {
    mutants.sources.changed().find(|changed| {
        let changed = Path::new(changed);
        diff.iter().any(|(path, _)| changed.ends_with(path) || Path::new(path).ends_with(changed))
    })
}

fn read_diff(path: &Path) -> Result<ChangedLines, Failure> {
    let shown = path.display();
    diff_text(path)?.parse().map_err(|error| {
        Failure::usage(format!("`{shown}`: {error}"))
            .hint("write one with `git diff`, as in `git diff main | cairn score … --in-diff -`")
    })
}

/// The text of a diff; `-` stands for standard input.
pub fn diff_text(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_end(&mut bytes).map(drop),
        false => fs::read(path).map(|content| bytes = content),
    };
    let shown = path.display();
    read.map_err(|error| Failure::usage(format!("failed to read the diff `{shown}`: {error}")))?;
    // Names in other encodings are shown, not looked up.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Lines by name: `sort.c:12`, `sort.c:10-20`.
pub fn lines(text: &str) -> Result<Lines, String> {
    let wrong = || format!("`{text}` names no line: write `sort.c:12` or `sort.c:10-20`");
    let (path, lines) = text.rsplit_once(':').ok_or_else(wrong)?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last): (u32, u32) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
    if path.is_empty() || first == 0 || last < first {
        return Err(wrong());
    }
    Ok(Lines { path: path.to_owned(), lines: first..=last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_shares_are_read_or_refused() {
        assert_eq!(lines("a/b.c:7"), Ok(Lines { path: "a/b.c".into(), lines: 7..=7 }));
        assert_eq!(lines("b.c:7-9"), Ok(Lines { path: "b.c".into(), lines: 7..=9 }));
        for wrong in ["7", "b.c:", "b.c:0", "b.c:9-7", ":7"] {
            assert!(lines(wrong).is_err(), "{wrong}");
        }
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        for wrong in ["0/4", "5/4", "1", "1/x", "/"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_are_disjoint_and_about_equal() {
        let shares: Vec<Vec<u32>> =
            (1..=3).map(|number| Shard { number, of: 3 }.of((0..7).collect()).collect()).collect();
        assert_eq!(shares, [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
        assert_eq!(Shard { number: 3, of: 3 }.of(vec![0, 1]).count(), 0);
    }
}
