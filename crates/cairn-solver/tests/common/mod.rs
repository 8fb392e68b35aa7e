//! Queries as text, for tests and measurements.
//!
//! ```text
//! # What it shows.
//! seed stdin 00ff
//! constraint (ult (input stdin 0 8) (const 8 10))
//! goal (eq (input stdin 1 8) (const 8 65))
//! expect sat
//! stages input-to-state search smt
//! ```
//!
//! `stages` are those that answer as expected when asked alone.

use cairn_expr::{Dag, ExprId, RegionId, parse, region_named, simplify};
use cairn_solver::{Query, Stage};
use std::{collections::BTreeMap, fs, path::PathBuf};

/// A query read from text.
pub struct Written {
    /// The file's name without its ending.
    pub name: String,
    pub dag: Dag,
    pub constraints: Vec<ExprId>,
    pub goal: ExprId,
    pub seed: BTreeMap<RegionId, Vec<u8>>,
    pub is_sat: bool,
    pub stages: Vec<Stage>,
}

impl Written {
    /// Reads one.
    pub fn read(name: &str, text: &str) -> Self {
        let mut dag = Dag::new();
        let mut seed = BTreeMap::new();
        let mut constraints = Vec::new();
        let (mut goal, mut is_sat, mut stages) = (None, None, Vec::new());
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{name}: {line}"));
            let expression =
                |dag: &mut Dag| parse(dag, rest).unwrap_or_else(|error| panic!("{name}: {word}: {error}"));
            match word {
                "seed" => {
                    let (region, hex) = rest.split_once(' ').unwrap_or((rest, ""));
                    seed.insert(region_named(region).expect("a region"), bytes(hex));
                }
                "constraint" => constraints.push(expression(&mut dag)),
                "goal" => goal = Some(expression(&mut dag)),
                "expect" => is_sat = Some(rest == "sat"),
                "stages" => stages = rest.split(' ').map(stage).collect(),
                _ => panic!("{name}: {word}?"),
            }
        }
        let goal = goal.expect("a goal");
        let is_sat = is_sat.expect("an expectation");
        Self { name: name.to_owned(), dag, constraints, goal, seed, is_sat, stages }
    }

    /// Reads all of `tests/queries`, by name.
    pub fn all() -> Vec<Self> {
        let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it"))
            .join("tests/queries");
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let read = |path: &std::path::PathBuf| {
            Self::read(path.file_stem().unwrap().to_str().unwrap(), &fs::read_to_string(path).unwrap())
        };
        paths.iter().map(read).collect()
    }

    /// The same with all conditions simplified, as those of a trace are.
    pub fn simplified(mut self) -> Self {
        let mut dag = Dag::new();
        self.goal = simplify(&self.dag, self.goal, &mut dag);
        for constraint in &mut self.constraints {
            *constraint = simplify(&self.dag, *constraint, &mut dag);
        }
        self.dag = dag;
        self
    }

    /// As a query.
    pub fn query(&self) -> Query<'_> {
        Query {
            dag: &self.dag,
            constraints: &self.constraints,
            n_always: 0,
            goal: self.goal,
            seed: &self.seed,
        }
    }
}

fn stage(name: &str) -> Stage {
    Stage::ALL.into_iter().find(|stage| stage.name() == name).unwrap_or_else(|| panic!("stage {name}?"))
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
