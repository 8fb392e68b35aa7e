//! Where steps go.
//!
//! An execution that never ends comes back to some place infinitely often: by a loop, by recursion, by being called
//! from outside again and again, or by a second return of `setjmp`.
//!
//! - Every way round a loop passes its header; where a loop has more than one way in, every way round passes the target
//!   of an edge that a depth-first walk finds leading back. Steps go there.
//! - Every recursion passes a function that is called through a pointer or by code we do not see, or one that a
//!   depth-first walk of the direct calls finds leading back. Steps go to the entries of those. Tail calls are calls.
//!   Outside code that calls in by name, not through a pointer, is taken to do so only finitely often.
//! - A step goes behind each call that can return twice.

use super::Fuel;
use crate::{
    ir::{Callee, Definition, IrFunction, IrKind, IrModule},
    shape::Shape,
};
use std::collections::BTreeSet;

/// Where one function takes steps. Positions are those of the unchanged function.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Whether each call of the function is a step.
    pub at_entry: bool,
    /// Blocks that take a step each time control comes to them.
    pub at_blocks: BTreeSet<usize>,
    /// Loops that count in a register.
    pub in_register: Vec<RegisterLoop>,
    /// Calls behind which a step is taken.
    pub after_calls: Vec<Definition>,
}

/// A loop that takes a step at its header and touches the fuel in memory only on its way in and out.
#[derive(Debug, PartialEq, Eq)]
pub struct RegisterLoop {
    /// The only block by which the loop is entered.
    pub header: usize,
    /// All its blocks.
    pub blocks: BTreeSet<usize>,
}

/// Decides for each function of a module, in module order.
pub fn place(module: &IrModule, fuel: Fuel) -> Vec<Steps> {
    let at_entry = entries(module);
    let functions = module.functions.iter().zip(at_entry);
    functions
        .map(|(function, at_entry)| match function.is_naked {
            true => Steps::default(),
            false => Steps { at_entry, ..within(function, fuel) },
        })
        .collect()
}

/// Which functions take a step at their entry.
fn entries(module: &IrModule) -> Vec<bool> {
    let from_outside: Vec<bool> = module.functions.iter().map(|function| function.address_taken).collect();
    // Steps that are taken anyway cut the graph, so they are left out of the search for further recursion.
    let calls: Vec<Vec<usize>> = module
        .functions
        .iter()
        .map(|function| callees(function).filter(|callee| !from_outside[*callee]).collect())
        .collect();
    let mut entries = from_outside;
    for (_, callee) in edges_back(&calls, 0..calls.len()) {
        entries[callee] = true;
    }
    entries
}

fn callees(function: &IrFunction) -> impl Iterator<Item = usize> {
    kinds(function).filter_map(|(_, kind)| match kind {
        IrKind::Call(Callee::Defined(callee)) | IrKind::Invoke(Callee::Defined(callee), _) => Some(*callee),
        _ => None,
    })
}

/// Where a function takes steps after its entry.
fn within(function: &IrFunction, fuel: Fuel) -> Steps {
    let successors: Vec<Vec<usize>> = function.blocks.iter().map(|block| block.successors()).collect();
    let shape = Shape::of(&successors);
    let mut steps = Steps::default();
    for (from, to) in edges_back(&successors, 0..successors.len().min(1)) {
        if !shape.dominates(to, from) {
            steps.at_blocks.insert(to);
        }
    }
    let entangled = steps.at_blocks.clone();
    for found in &shape.loops {
        let is_innermost = shape
            .loops
            .iter()
            .all(|other| other.header == found.header || !found.nodes.contains(&other.header))
            && entangled.is_disjoint(&found.nodes);
        let calls_nothing = found.nodes.iter().all(|block| !calls(function, *block));
        if !is_innermost || !calls_nothing {
            steps.at_blocks.insert(found.header);
        } else if fuel == Fuel::Everywhere {
            let blocks = found.nodes.clone();
            match fits_register(function, found.header, &blocks) {
                true => steps.in_register.push(RegisterLoop { header: found.header, blocks }),
                false => _ = steps.at_blocks.insert(found.header),
            }
        }
    }
    steps.after_calls = kinds(function)
        .filter(
            |(_, kind)| matches!(kind, IrKind::Call(Callee::External { name, .. }) if returns_twice(name)),
        )
        .map(|(at, _)| at)
        .collect();
    steps
}

/// Whether fuel can be loaded on every way into a loop and stored on every way out.
fn fits_register(function: &IrFunction, header: usize, blocks: &BTreeSet<usize>) -> bool {
    function.blocks.iter().enumerate().all(|(index, block)| {
        let matters = blocks.contains(&index) || block.successors().contains(&header);
        // No code fits on an edge of these.
        !matters || !matches!(block.end(), IrKind::OtherEnd(_) | IrKind::Invoke(..))
    })
}

/// Whether a block calls something that may take steps of its own, or may never come back.
fn calls(function: &IrFunction, block: usize) -> bool {
    function.blocks[block].instructions.iter().any(|instruction| match &instruction.kind {
        IrKind::Call(Callee::Intrinsic) => false,
        IrKind::Call(_) | IrKind::Invoke(..) => true,
        _ => false,
    })
}

fn returns_twice(name: &str) -> bool {
    matches!(name, "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" | "getcontext" | "vfork")
}

fn kinds(function: &IrFunction) -> impl Iterator<Item = (Definition, &IrKind)> {
    function.blocks.iter().enumerate().flat_map(|(block, content)| {
        let numbered = content.instructions.iter().enumerate();
        numbered.map(move |(instruction, content)| (Definition { block, instruction }, &content.kind))
    })
}

/// The edges that lead to a node still being walked, in depth-first walks from `roots`: every cycle that can be
/// reached from them has one.
fn edges_back(successors: &[Vec<usize>], roots: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Walked {
        NotYet,
        Now,
        Done,
    }
    let mut walked = vec![Walked::NotYet; successors.len()];
    let mut found = Vec::new();
    for root in roots {
        if walked[root] != Walked::NotYet {
            continue;
        }
        walked[root] = Walked::Now;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(way) = successors[*node].get(*next).copied() else {
                walked[*node] = Walked::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            match walked[way] {
                Walked::NotYet => {
                    walked[way] = Walked::Now;
                    stack.push((way, 0));
                }
                Walked::Now => found.push((*node, way)),
                Walked::Done => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
