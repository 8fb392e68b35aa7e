//! Basic paths as people read them.

use super::{BasicPaths, End, Start};
use crate::{
    ids::{BasicPathId, BlockId},
    map::{Branch, ConditionKind, ProgramMap},
};

/// The longest text of a condition that is shown whole.
const LONGEST_TEXT: usize = 60;

impl BasicPaths {
    /// What a path is, in a line: `parse: i < n true, c == 'x' false, again from line 12`.
    ///
    /// Paths that differ only in branches without a source condition read the same.
    pub fn describe(&self, map: &ProgramMap, id: BasicPathId) -> String {
        let (path, walk) = (self.path(id), self.walk(id));
        let mut parts = Vec::new();
        if let Start::Again(block) = path.start {
            parts.push(format!("from {}", place(map, block)));
        }
        for (block, edge) in walk.blocks.iter().zip(&walk.edges) {
            let shown = map.blocks[block.index()].successors[*edge].shows;
            parts.extend(shown.map(|branch| decided(map, branch)));
            parts.extend(self.nodes[block.index()].ways[*edge].unwinds.then(|| "unwinds".into()));
        }
        let leads_back = || walk.last_way(self).is_some_and(|way| way.is_back);
        parts.push(match path.end {
            End::Returns => "returns".into(),
            End::Exits => "exits".into(),
            End::GoesOn(block) if leads_back() => format!("again from {}", place(map, block)),
            End::GoesOn(block) => format!("on from {}", place(map, block)),
        });
        format!("{}: {}", map.functions[path.function.index()].name, parts.join(", "))
    }
}

/// A condition and its direction; a label that is taken stands for itself.
fn decided(map: &ProgramMap, branch: Branch) -> String {
    let condition = &map.conditions[branch.condition.index()];
    let text = match condition.text.is_empty() {
        true => map.show(condition.extent.start),
        false => shortened(&condition.text),
    };
    match condition.kind {
        ConditionKind::Case if branch.direction => text,
        _ => format!("{text} {}", branch.direction),
    }
}

/// On one line, and not too long.
fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The first line of a block, or of what surely follows it.
fn place(map: &ProgramMap, block: BlockId) -> String {
    let mut at = block;
    // A block without lines leads to one that has some after a few steps, or never.
    for _ in 0..8 {
        let block = &map.blocks[at.index()];
        if let Some((_, line)) = block.lines.first() {
            return format!("line {line}");
        }
        let Some(edge) = block.successors.first() else { break };
        at = edge.to;
    }
    format!("block {}", block.0)
}
