//! What real programs consist of, and how well the symbolic view follows each kind of instruction.

use crate::tools::print_rows;
use anyhow::{Context, Result, ensure};
use cairn_targets::{Cache, find};
use cairn_testkit::{bitcode_of, dist};
use std::{collections::BTreeMap, process::Command};

/// Looks at each program; fails if anything in it is unknown.
pub fn opcodes(cache: &Cache, names: &[String]) -> Result<()> {
    println!("| program | exact | opaque | refused | unknown | what is not exact |");
    println!("|---|---|---|---|---|---|");
    let mut unknown = Vec::new();
    let outcome = print_rows(names, |name| {
        let census = Census::of(cache, name)?;
        unknown.extend(census.names("unknown").map(|what| format!("{what} in {name}")));
        Ok(census.line(name))
    });
    println!();
    outcome?;
    ensure!(unknown.is_empty(), "nobody has thought about {}", unknown.join(", "));
    Ok(())
}

/// Kinds of instructions and how many there are, by how well they are followed.
struct Census(BTreeMap<String, BTreeMap<String, usize>>);

impl Census {
    fn of(cache: &Cache, name: &str) -> Result<Self> {
        let built = find(name)?.build(cache)?;
        let bitcode = bitcode_of(&built.program).context("its bitcode is gone")?;
        let output = Command::new(dist().cairn_instrument())
            .arg("--census")
            .arg("--bitcode")
            .arg(bitcode)
            .arg("--models")
            .arg(dist().root().join("lib/cairn/models"))
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self::parse(&String::from_utf8_lossy(&output.stdout))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut census = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(treatment), Some(n), Some(what)) = (words.next(), words.next(), words.next()) else {
                anyhow::bail!("`{line}` is no line of a census");
            };
            let kinds: &mut BTreeMap<String, usize> = census.entry(treatment.to_owned()).or_default();
            kinds.insert(what.to_owned(), n.parse()?);
        }
        ensure!(!census.is_empty(), "the census is empty");
        Ok(Self(census))
    }

    fn names(&self, treatment: &str) -> impl Iterator<Item = &String> {
        self.0.get(treatment).into_iter().flat_map(BTreeMap::keys)
    }

    fn line(&self, name: &str) -> String {
        let n = |treatment: &str| self.0.get(treatment).map_or(0, |kinds| kinds.values().sum::<usize>());
        let others = self.0.iter().filter(|(treatment, _)| *treatment != "exact");
        let others = others.flat_map(|(_, kinds)| kinds).map(|(what, n)| format!("{what} ({n})"));
        format!(
            "| {name} | {} | {} | {} | {} | {} |",
            n("exact"),
            n("opaque"),
            n("refused"),
            n("unknown"),
            others.collect::<Vec<_>>().join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_census_is_told_in_a_line() {
        let census =
            Census::parse("exact 3 add\nopaque 2 fmul of other types\nunknown 1 llvm.new\n").unwrap();
        assert_eq!(census.line("p"), "| p | 3 | 2 | 0 | 1 | fmul of other types (2), llvm.new (1) |");
        assert_eq!(census.names("unknown").collect::<Vec<_>>(), ["llvm.new"]);
        assert!(Census::parse("").is_err());
    }
}
