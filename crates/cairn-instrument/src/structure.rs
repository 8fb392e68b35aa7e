//! A function cut into the map's blocks, and where counters go.
//!
//! A block of the bitcode is cut after each call that may not come back. Then *executed* needs few counters: one
//! on each way out of a conditional end, and one at the entry and after a doubtful call where nothing that follows would
//! tell.

use crate::{
    ir::{IrFunction, IrInstruction, IrKind},
    returns::Returns,
};
use std::{collections::BTreeSet, ops::Range};

/// A function's blocks, cut.
#[derive(Debug)]
pub struct Structure {
    /// The pieces, in order; pieces of one bitcode block stand together.
    pub pieces: Vec<Piece>,
    /// The first piece of each bitcode block.
    pub first_piece: Vec<usize>,
}

/// Part of a bitcode block that is executed as a whole.
#[derive(Debug)]
pub struct Piece {
    /// The bitcode block.
    pub block: usize,
    /// Its instructions there.
    pub instructions: Range<usize>,
    /// Lines with code, as (file, line).
    pub lines: BTreeSet<(u32, u32)>,
    /// Whether it needs a counter of its own.
    pub needs_counter: bool,
    /// Whether it is the last piece of its block, the one with the terminator.
    pub is_last: bool,
}

impl Structure {
    /// Cuts a function.
    pub fn of(function: &IrFunction, returns: &Returns) -> Self {
        let has_computed_goto = function
            .blocks
            .iter()
            .any(|block| matches!(block.end(), IrKind::OtherEnd(ways) if !ways.is_empty()));
        let unwind_targets: BTreeSet<usize> = function
            .blocks
            .iter()
            .filter_map(
                |block| if let IrKind::Invoke(_, [_, unwind]) = block.end() { Some(*unwind) } else { None },
            )
            .collect();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut first_piece = Vec::new();
        for (index, block) in function.blocks.iter().enumerate() {
            first_piece.push(pieces.len());
            let n_instructions = block.instructions.len();
            let cuts = block.instructions.iter().enumerate().filter_map(|(at, instruction)| {
                let IrKind::Call(callee) = &instruction.kind else { return None };
                returns.is_doubtful(callee).then_some(at + 1)
            });
            let mut start = 0;
            for end in cuts.chain([n_instructions]) {
                let instructions = start..end;
                let lines: BTreeSet<_> = block.instructions[instructions.clone()]
                    .iter()
                    .filter_map(|instruction| instruction.place)
                    .map(|place| (place.file, place.line))
                    .collect();
                let is_first = start == 0;
                let is_last = end == n_instructions;
                let needs_counter = if is_first {
                    index == 0 && !shows_at_its_end(&block.instructions[instructions.clone()])
                        || has_computed_goto
                        || unwind_targets.contains(&index)
                } else {
                    let before = &pieces.last().expect("a continuation follows a piece").lines;
                    continuation_needs_counter(function, index, &instructions, &lines, before)
                };
                pieces.push(Piece { block: index, instructions, lines, needs_counter, is_last });
                start = end;
            }
        }
        // What the compiler made up (initialisers of a unit) has no line.
        let source = function.source.as_ref().filter(|source| source.line > 0);
        if let (Some(entry), Some(source)) = (pieces.first_mut(), source) {
            entry.lines.insert((source.file, source.line));
        }
        Self { pieces, first_piece }
    }
}

/// Whether a piece comes to its end whenever it begins, and its end is counted: then that tells enough.
fn shows_at_its_end(piece: &[IrInstruction]) -> bool {
    ends_counted(piece) && !can_stop(piece)
}

/// Whether nothing but a counter of its own would tell that the piece after a doubtful call was executed.
fn continuation_needs_counter(
    function: &IrFunction,
    block: usize,
    instructions: &Range<usize>,
    lines: &BTreeSet<(u32, u32)>,
    lines_before: &BTreeSet<(u32, u32)>,
) -> bool {
    let piece = &function.blocks[block].instructions[instructions.clone()];
    if matches!(piece.last().expect("a piece is not empty").kind, IrKind::Unreachable) {
        return false;
    }
    !ends_counted(piece) || can_stop(piece) && !lines.is_subset(lines_before)
}

/// Whether all ways out of a piece have counters.
fn ends_counted(piece: &[IrInstruction]) -> bool {
    matches!(piece.last().expect("a piece is not empty").kind, IrKind::Branch(..) | IrKind::Switch(_))
}

/// Whether the program may end within a piece.
fn can_stop(piece: &[IrInstruction]) -> bool {
    piece.iter().any(|instruction| {
        matches!(instruction.kind, IrKind::Other { can_crash: true } | IrKind::Call(_) | IrKind::Invoke(..))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Callee, IrBlock, IrModule, IrPlace};

    /// One block: the given instructions on lines 1, 2, …, then the end.
    fn cut(kinds: Vec<IrKind>) -> Vec<(Range<usize>, bool)> {
        let instructions = kinds
            .into_iter()
            .enumerate()
            .map(|(index, kind)| IrInstruction {
                place: Some(IrPlace { file: 0, line: index as u32 + 1, column: 1 }),
                kind,
            })
            .collect();
        let function = IrFunction {
            symbol: "f".into(),
            source: None,
            blocks: vec![IrBlock { instructions }],
            is_naked: false,
            address_taken: false,
            signature: String::new(),
        };
        let module = IrModule { files: Vec::new(), functions: vec![function] };
        let structure = Structure::of(&module.functions[0], &Returns::of(&module));
        structure.pieces.into_iter().map(|piece| (piece.instructions, piece.needs_counter)).collect()
    }

    fn call(name: &str) -> IrKind {
        IrKind::Call(Callee::External { name: name.into(), no_return: false })
    }

    #[test]
    fn a_block_is_cut_behind_a_call_that_may_not_come_back() {
        assert_eq!(cut(vec![call("usage"), call("strlen"), IrKind::Return]), [(0..1, true), (1..3, true)]);
    }

    #[test]
    fn calls_that_always_return_do_not_cut() {
        assert_eq!(cut(vec![call("strlen"), call("memcpy"), IrKind::Return]), [(0..3, true)]);
    }

    #[test]
    fn an_entry_that_surely_comes_to_a_counted_end_needs_no_counter() {
        let other = |can_crash| IrKind::Other { can_crash };
        let end = || IrKind::Branch(None, [0, 0]);
        assert_eq!(cut(vec![other(false), end()]), [(0..2, false)]);
        assert_eq!(cut(vec![other(true), end()]), [(0..2, true)]);
        assert_eq!(cut(vec![call("strlen"), end()]), [(0..2, true)]);
        assert_eq!(cut(vec![other(false), IrKind::Return]), [(0..2, true)]);
    }

    #[test]
    fn what_a_counted_end_proves_needs_no_counter() {
        let end = IrKind::Branch(None, [0, 0]);
        assert_eq!(cut(vec![call("usage"), end]), [(0..1, true), (1..2, false)]);
        assert_eq!(cut(vec![call("exit"), IrKind::Unreachable]), [(0..1, true), (1..2, false)]);
    }
}
