//! The one table: what was measured, both commands, the ratio with its spread, and what it should be.

use crate::{
    measure::{Pair, short},
    results,
};
use anyhow::Result;
use cairn_targets::Cache;
use serde_json::{Value, json};
use std::fmt;

/// What a ratio is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The larger the better.
    AtLeast(f64),
    /// The smaller the better.
    AtMost(f64),
}

impl Goal {
    /// Whether it is met.
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(least) => ratio >= least,
            Self::AtMost(most) => ratio <= most,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::AtMost(most) => write!(f, "≤ {most}"),
        }
    }
}

/// One comparison.
pub struct Row {
    /// What is measured.
    pub what: String,
    /// What our side ran.
    pub our_command: String,
    /// What the other side ran.
    pub peer_command: String,
    /// Of both figures: `s`, `runs/s`.
    pub unit: &'static str,
    /// The figures.
    pub pair: Pair,
    /// What the ratio, ours to theirs, should be.
    pub goal: Goal,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// All rows of one invocation: told one by one as they come, and shown together at the end.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Adds a row, and keeps it in the file at once: the next may take long, or fail.
    pub fn add(&mut self, cache: &Cache, row: Row) -> Result<()> {
        eprintln!("{}", row.line());
        results::merge(cache, NAME, vec![row.to_json()])?;
        self.rows.push(row);
        Ok(())
    }

    /// Prints the table and, below it, both commands of each row. Prints nothing if there are no rows.
    pub fn print(&self, cache: &Cache) {
        if self.rows.is_empty() {
            return;
        }
        println!("## speed\n\n| what | ours | theirs | ratio | goal | met |");
        println!("|---|---|---|---|---|---|");
        for row in &self.rows {
            println!("{}", row.line());
        }
        println!();
        for row in &self.rows {
            println!("{}\n  ours    {}\n  theirs  {}", row.what, row.our_command, row.peer_command);
            for note in &row.notes {
                println!("  note    {note}");
            }
        }
        println!("\nwritten to {}\n", results::path(cache, NAME).display());
    }
}

/// Of the file with the figures.
const NAME: &str = "speed";

impl Row {
    fn line(&self) -> String {
        let ratio = self.pair.ratio();
        let met = if self.goal.is_met(ratio.median()) { "yes" } else { "no" };
        format!(
            "| {} | {} {unit} | {} {unit} | {ratio} | {} | {met} |",
            // A pattern may hold what separates columns.
            self.what.replace('|', "\\|"),
            short(self.pair.ours.median()),
            short(self.pair.peer.median()),
            self.goal,
            unit = self.unit,
        )
    }

    fn to_json(&self) -> Value {
        let ratio = self.pair.ratio();
        let (least, most) = ratio.range();
        json!({
            "name": self.what,
            "unit": self.unit,
            "ours": { "command": self.our_command, "samples": self.pair.ours.0 },
            "theirs": { "command": self.peer_command, "samples": self.pair.peer.0 },
            "ratio": { "median": ratio.median(), "least": least, "most": most },
            "goal": self.goal.to_string(),
            "met": self.goal.is_met(ratio.median()),
            "notes": self.notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Samples;

    #[test]
    fn a_row_says_whether_its_goal_is_met() {
        let pair = Pair { ours: Samples(vec![1.2, 1.2]), peer: Samples(vec![1.0, 1.0]) };
        let row = |goal| Row {
            what: "plain view, grep a|b".into(),
            our_command: "a".into(),
            peer_command: "b".into(),
            unit: "s",
            pair: pair.clone(),
            goal,
            notes: Vec::new(),
        };
        assert_eq!(
            row(Goal::AtMost(1.3)).line(),
            "| plain view, grep a\\|b | 1.20 s | 1.00 s | 1.20 (1.20–1.20) | ≤ 1.3 | yes |"
        );
        assert!(row(Goal::AtLeast(2.0)).line().ends_with("| ≥ 2 | no |"));
    }
}
