//! Questions to solvers, kept in files.
//!
//! ```text
//!   queries/PROGRAM/
//!     0000.expressions    conditions of one path in order, then goals
//!     0000.json           its questions, and the bytes of the input that conditions are about
//! ```
//! A question is a goal and how many of the conditions come before it. What is asked depends on the tools that recorded it; the
//! files stay, so that solvers can be compared on the same questions.

use super::{pairs::walk, subject::open};
use anyhow::{Context, Result, ensure};
use cairn_concolic::Path;
use cairn_expr::{Dag, ExprId, InputByte, RegionId, store};
use cairn_targets::Cache;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path as FilePath};

/// Questions recorded of each program.
const N_QUERIES: usize = 300;

/// The questions of one path.
pub struct Recorded {
    /// Where conditions live.
    pub dag: Dag,
    /// The path.
    pub constraints: Vec<ExprId>,
    /// How many of the constraints come before a goal, and the goal.
    pub queries: Vec<(usize, ExprId)>,
    /// The run's input.
    pub seed: BTreeMap<InputByte, u8>,
}

/// Reads the questions of a program, which are recorded first where they are missing.
pub fn recorded(cache: &Cache, name: &str) -> Result<Vec<Recorded>> {
    let folder = cache.folder.join("queries").join(name);
    if !folder.exists() {
        (cache.say)(&format!("recording questions about {name}"));
        let unfinished = cache.folder.join("queries").join(format!(".{name}"));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        record(cache, name, &unfinished)?;
        fs::rename(&unfinished, &folder)?;
    }
    let mut paths: Vec<_> = fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
        .iter()
        .map(|path| read(path).with_context(|| format!("failed to read `{}`", path.display())))
        .collect()
}

fn record(cache: &Cache, name: &str, folder: &FilePath) -> Result<()> {
    let subject = open(cache, name)?;
    let mut number = 0;
    walk(cache, &subject, N_QUERIES, 31, |_, path, steps| {
        let (expressions, about) = write(path, steps);
        fs::write(folder.join(format!("{number:04}.expressions")), expressions)?;
        fs::write(folder.join(format!("{number:04}.json")), serde_json::to_vec(&about)?)?;
        number += 1;
        Ok(())
    })?;
    ensure!(number > 0, "no input of {name} decides anything");
    Ok(())
}

/// The questions of `steps`, in their order.
fn write(path: &Path, steps: &[usize]) -> (Vec<u8>, Value) {
    let last = steps.last().copied().unwrap_or(0);
    let mut roots = path.prefix(last);
    let mut queries = Vec::new();
    let n_constraints = roots.len();
    for step in steps {
        let Some(constraint) = path.steps()[*step].constraint else { continue };
        queries.push(json!([path.prefix(*step).len(), roots.len() - n_constraints]));
        roots.push(constraint.otherwise);
    }
    let mut seed: BTreeMap<InputByte, u8> = BTreeMap::new();
    for root in &roots {
        for byte in path.dag().inputs(*root).iter().flat_map(|range| range.bytes()) {
            seed.insert(byte, cairn_expr::Bytes::byte(path.regions(), byte.region, byte.offset));
        }
    }
    let seed: Vec<Value> =
        seed.iter().map(|(byte, value)| json!([byte.region.0, byte.offset, value])).collect();
    let about = json!({ "constraints": n_constraints, "queries": queries, "seed": seed });
    (store::write(path.dag(), &roots), about)
}

fn read(about: &FilePath) -> Result<Recorded> {
    let expressions = fs::read(about.with_extension("expressions"))?;
    let about: Value = serde_json::from_slice(&fs::read(about)?)?;
    let mut dag = Dag::new();
    let mut constraints = store::read(&mut dag, &expressions)?;
    let n_constraints = about["constraints"].as_u64().context("no number of constraints")? as usize;
    ensure!(n_constraints <= constraints.len(), "there are fewer constraints than it says");
    let goals = constraints.split_off(n_constraints);
    let rows = |name: &str| -> Result<Vec<Vec<u64>>> {
        let rows = about[name].as_array().with_context(|| format!("`{name}` is missing"))?;
        Ok(rows
            .iter()
            .map(|row| row.as_array().into_iter().flatten().filter_map(Value::as_u64).collect())
            .collect())
    };
    let mut queries = Vec::new();
    for row in rows("queries")? {
        let [n_before, goal] = row[..] else { anyhow::bail!("a question has no goal") };
        let goal = goals.get(goal as usize).context("a goal is missing")?;
        ensure!(n_before as usize <= n_constraints, "a constraint is missing");
        queries.push((n_before as usize, *goal));
    }
    let mut seed = BTreeMap::new();
    for row in rows("seed")? {
        let [region, offset, value] = row[..] else { anyhow::bail!("a byte has no value") };
        seed.insert(InputByte { region: RegionId(region as u32), offset: offset as u32 }, value as u8);
    }
    Ok(Recorded { dag, constraints, queries, seed })
}
