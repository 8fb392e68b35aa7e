//! What two symbolic runs of one input have in common, wherever they were made.

use cairn_abi::{
    record::Record,
    symbolic::{Node, Op},
};
use cairn_executor::SymbolicRun;
use cairn_model::Ending;
use std::{fmt::Write, mem::take};

/// Above this lie the stack and what is mapped. Where exactly differs between a session and a fresh process, as it would
/// between two machines; the program itself, its variables and its heap lie lower, at the same places.
const MOVABLE: u64 = 0x7000_0000_0000;

/// Everything that has to be the same in two runs, as text: outcome, counters, records with the expressions they refer to,
/// and what is said about the trace.
pub fn text(run: &SymbolicRun) -> String {
    let execution = &run.execution;
    let mut outcome = execution.outcome.clone();
    outcome.elapsed = Default::default();
    let mut text = format!("{outcome:?}\nstage {:?} ended by {:?}\n", execution.stage, execution.ended_by);
    if outcome.ending != Ending::TimedOut {
        // How often a loop was run until the time was over is no property of the run.
        writeln!(text, "counters {:?}", execution.counters).unwrap();
    }
    let mut names = Names { nodes: &run.nodes, known: vec![None; run.nodes.len()], n_known: 0 };
    for record in &run.records {
        let (record, labels) = without_place(record);
        for label in &labels {
            names.define(*label, &mut text);
        }
        let labels: Vec<String> = labels.iter().map(|label| names.of(*label)).collect();
        writeln!(text, "{record:?} {labels:?}").unwrap();
    }
    writeln!(text, "tables {:?}", run.tables).unwrap();
    writeln!(
        text,
        "{:?} {:?} stale {} addresses {} {:?}",
        run.cut, run.damage, run.n_stale, run.n_concrete_addresses, run.unmodelled
    )
    .unwrap();
    text
}

/// The first line in which two texts differ, if they do.
pub fn difference(one: &str, other: &str) -> Option<String> {
    let mut other_lines = other.lines();
    for (number, line) in one.lines().enumerate() {
        match other_lines.next() {
            Some(other) if other == line => {}
            other => {
                return Some(format!("line {number}: {line}\n        not: {}", other.unwrap_or("the end")));
            }
        }
    }
    other_lines.next().map(|line| format!("the end, not: {line}"))
}

/// A record that says nothing about where things lie, and its labels.
fn without_place(record: &Record) -> (Record, Vec<u32>) {
    let mut record = *record;
    let labels = match &mut record {
        Record::Conditional { label, .. } => vec![take(label)],
        Record::SymbolicAddress { label, address, .. } | Record::InputRead { label, address, .. } => {
            *address = (*address).min(MOVABLE);
            vec![take(label)]
        }
        Record::SiteValue { label, operands: [left, right], .. } => {
            vec![take(label), take(left), take(right)]
        }
        Record::Guidepost { label, .. } => vec![take(label)],
        Record::Enter { .. } | Record::Leave { .. } => vec![],
    };
    (record, labels)
}

/// Names nodes in the order in which records refer to them. Labels will not do: what a program finds in memory that it never
/// wrote differs between processes, and makes nodes that no condition depends on.
struct Names<'a> {
    nodes: &'a [Node],
    known: Vec<Option<usize>>,
    n_known: usize,
}

impl Names<'_> {
    fn of(&self, label: u32) -> String {
        match self.known.get(label as usize) {
            Some(Some(name)) if label != 0 => format!("n{name}"),
            _ => "-".into(),
        }
    }

    /// Writes a line for every node that a label stands for and that has no name yet.
    fn define(&mut self, label: u32, text: &mut String) {
        let mut waiting = vec![(label, false)];
        while let Some((label, has_operands)) = waiting.pop() {
            let Some(None) = self.known.get(label as usize) else { continue };
            let node = self.nodes[label as usize];
            let operands = operands(&node);
            if !has_operands {
                waiting.push((label, true));
                waiting.extend(operands.iter().rev().map(|operand| (*operand, false)));
                continue;
            }
            let names: Vec<String> = operands.iter().map(|operand| self.of(*operand)).collect();
            let numbers = &[node.a, node.b, node.c][operands.len()..];
            let (name, op) = (self.n_known, Op::from_target(node.op));
            writeln!(text, "n{name} = {op:?}:{} {names:?} {numbers:?} {}", node.width, place(node.value))
                .unwrap();
            self.known[label as usize] = Some(name);
            self.n_known += 1;
        }
    }
}

/// Those of a node's fields that are labels.
fn operands(node: &Node) -> Vec<u32> {
    let all = [node.a, node.b, node.c];
    let n = match Op::from_target(node.op) {
        Some(Op::Constant | Op::Input) | None => 0,
        Some(Op::Extract | Op::Table) => 1,
        Some(Op::Ite) => 3,
        Some(_) => 2,
    };
    all[..n].to_vec()
}

fn place(value: u64) -> String {
    match value {
        MOVABLE..0x8000_0000_0000 => "somewhere".into(),
        value => format!("{value:#x}"),
    }
}
