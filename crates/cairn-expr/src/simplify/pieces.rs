//! Sums and unions of values that have no bit in common, as in `b[0] | b[1] << 8`, are concatenations.

use cairn_abi::symbolic::Op;

use crate::{bits::mask, dag::Dag, node::ExprId};

/// Adjacent bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    width: u32,
    source: Source,
}

/// Where they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Zero,
    /// These bits.
    Constant(u128),
    /// Bits of an expression from this one on.
    Part(ExprId, u32),
}

/// Expressions of more pieces are left alone.
const MAX_PIECES: usize = 17;

/// Pieces are looked for this deep.
const MAX_DEPTH: u32 = 6;

impl Dag {
    /// `a | b` as a concatenation, if for every bit one of the two is known to be zero and pieces show it.
    pub(super) fn join(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.possible_ones(a) & self.possible_ones(b) != 0 {
            return None;
        }
        let (left, right) = (self.pieces(a, MAX_DEPTH)?, self.pieces(b, MAX_DEPTH)?);
        let joined = join_pieces(left, right)?;
        let mut whole: Option<ExprId> = None;
        for piece in joined {
            let part = match piece.source {
                Source::Zero => self.constant(piece.width, 0),
                Source::Constant(value) => self.constant(piece.width, value),
                Source::Part(id, low) => self.extract(id, low, piece.width),
            };
            whole = Some(match whole {
                Some(lower) => self.concat(part, lower),
                None => part,
            });
        }
        whole
    }

    /// The pieces of a value, lowest first; none if there are too many.
    fn pieces(&self, id: ExprId, depth: u32) -> Option<Vec<Piece>> {
        let node = *self.node(id);
        let width = node.width();
        let whole = vec![Piece { width, source: Source::Part(id, 0) }];
        if depth == 0 {
            return Some(whole);
        }
        let operands = node.operands();
        let pieces = match node.op {
            Op::Constant => runs(self.constant_value(id)?, width)
                .into_iter()
                .map(|(_, width, bits)| Piece {
                    width,
                    source: if bits == 0 { Source::Zero } else { Source::Constant(bits) },
                })
                .collect(),
            Op::ZExt => {
                let mut pieces = self.pieces(operands[0], depth - 1)?;
                pieces.push(Piece { width: width - self.width(operands[0]), source: Source::Zero });
                pieces
            }
            Op::Concat => {
                let mut pieces = self.pieces(operands[1], depth - 1)?;
                pieces.extend(self.pieces(operands[0], depth - 1)?);
                pieces
            }
            Op::Shl => match self.constant_value(operands[1]) {
                Some(amount) if amount > 0 && amount < width.into() => {
                    let amount = amount as u32;
                    let mut pieces = vec![Piece { width: amount, source: Source::Zero }];
                    pieces.extend(lowest(self.pieces(operands[0], depth - 1)?, width - amount));
                    pieces
                }
                _ => whole,
            },
            Op::And => match self.constant_value(operands[1]) {
                Some(ones) => runs(ones, width)
                    .into_iter()
                    .map(|(low, width, bits)| Piece {
                        width,
                        source: if bits == 0 { Source::Zero } else { Source::Part(operands[0], low) },
                    })
                    .collect(),
                None => whole,
            },
            _ => whole,
        };
        (pieces.len() <= MAX_PIECES).then_some(pieces)
    }
}

/// Where a value has only zeros or only ones, lowest first: the lowest bit, the width, and the bits.
fn runs(value: u128, width: u32) -> Vec<(u32, u32, u128)> {
    let mut runs = Vec::new();
    let mut low = 0;
    while low < width {
        let rest = value >> low;
        let length = if rest & 1 == 1 { rest.trailing_ones() } else { rest.trailing_zeros() };
        let length = length.min(width - low);
        runs.push((low, length, rest & mask(length)));
        low += length;
    }
    runs
}

/// The lowest bits of some pieces.
fn lowest(pieces: Vec<Piece>, width: u32) -> Vec<Piece> {
    let mut left = width;
    let mut lowest = Vec::new();
    for piece in pieces {
        if left == 0 {
            break;
        }
        let taken = piece.width.min(left);
        lowest.push(cut(piece, 0, taken));
        left -= taken;
    }
    lowest
}

/// Some bits of a piece.
fn cut(piece: Piece, low: u32, width: u32) -> Piece {
    let source = match piece.source {
        Source::Zero => Source::Zero,
        Source::Constant(bits) => match bits >> low & mask(width) {
            0 => Source::Zero,
            bits => Source::Constant(bits),
        },
        Source::Part(id, from) => Source::Part(id, from + low),
    };
    Piece { width, source }
}

/// The union of two values cut where either is; none where both may have ones.
fn join_pieces(left: Vec<Piece>, right: Vec<Piece>) -> Option<Vec<Piece>> {
    let mut joined: Vec<Piece> = Vec::new();
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let (mut x, mut y) = (left.next(), right.next());
    while let (Some(a), Some(b)) = (x, y) {
        let width = a.width.min(b.width);
        let source = match (cut(a, 0, width).source, cut(b, 0, width).source) {
            (source, Source::Zero) | (Source::Zero, source) => source,
            (Source::Constant(p), Source::Constant(q)) => Source::Constant(p | q),
            _ => return None,
        };
        joined.push(Piece { width, source });
        let rest = |piece: Piece| (piece.width > width).then(|| cut(piece, width, piece.width - width));
        x = rest(a).or_else(|| left.next());
        y = rest(b).or_else(|| right.next());
    }
    let joined = gather(joined);
    (joined.len() <= MAX_PIECES).then_some(joined)
}

/// Adjacent bits that are known as one piece.
fn gather(pieces: Vec<Piece>) -> Vec<Piece> {
    let known = |piece: &Piece| match piece.source {
        Source::Zero => Some(0),
        Source::Constant(bits) => Some(bits),
        Source::Part(..) => None,
    };
    let mut gathered: Vec<Piece> = Vec::new();
    for piece in pieces {
        let below = gathered.last().and_then(known);
        match (gathered.last_mut(), below, known(&piece)) {
            (Some(last), Some(lower), Some(upper)) => {
                last.source = Source::Constant(upper << last.width | lower);
                last.width += piece.width;
            }
            _ => gathered.push(piece),
        }
    }
    gathered
}
