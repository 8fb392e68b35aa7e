//! Constant tables as decision trees.
//!
//! Z3 takes seconds for arrays and long chains of if-then-else where a balanced tree takes milliseconds. Ours asks the bits
//! of the offset from the highest down, leaves out bits that are always zero, and shares equal halves.

use super::context::{Context, Fault, Term};

/// Larger tables are not worth their terms.
const MAX_LEAVES: usize = 1 << 14;

/// The little-endian value of `width` bits at a byte offset, of which only the bits in `possible` may be one.
/// None if the table is too large.
pub fn lookup(
    context: &mut Context,
    table: &[u8],
    offset: Term,
    possible: u128,
    width: u32,
) -> Result<Option<Term>, Fault> {
    let size = width as usize / 8;
    let zero = context.number(width, 0)?;
    if table.len() < size {
        return Ok(Some(zero));
    }
    // Offsets up to the last at which a whole entry lies inside.
    let n_offsets = table.len() - size + 1;
    let n_bits = usize::BITS - (n_offsets - 1).leading_zeros();
    let inside = possible & ((1 << n_bits) - 1);
    if 1usize.checked_shl(inside.count_ones()).is_none_or(|n_leaves| n_leaves > MAX_LEAVES) {
        return Ok(None);
    }
    let bits: Vec<u32> = (0..n_bits).rev().filter(|bit| inside >> bit & 1 == 1).collect();
    let mut tree = Tree { context, table, offset, size, width, bits: &bits, zero };
    let value = tree.below(0, 0)?;
    if possible >> n_bits == 0 {
        return Ok(Some(value));
    }
    let above = context.extract(63, n_bits, offset)?;
    let none = context.number(64 - n_bits, 0)?;
    let is_inside = context.binary(context.z3.Z3_mk_eq, above, none)?;
    Ok(Some(context.ite(is_inside, value, zero)?))
}

struct Tree<'a> {
    context: &'a mut Context,
    table: &'a [u8],
    offset: Term,
    size: usize,
    width: u32,
    bits: &'a [u32],
    zero: Term,
}

impl Tree<'_> {
    /// The value where the bits before `depth` are those of `start`. As deep as the offset has bits.
    fn below(&mut self, depth: usize, start: usize) -> Result<Term, Fault> {
        if start + self.size > self.table.len() {
            return Ok(self.zero);
        }
        let Some(bit) = self.bits.get(depth).copied() else {
            let bytes = &self.table[start..start + self.size];
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
            return self.context.number(self.width, value);
        };
        let low = self.below(depth + 1, start)?;
        let high = self.below(depth + 1, start | 1 << bit)?;
        // Z3 makes equal terms once, so comparing them is comparing addresses.
        if low == high {
            return Ok(low);
        }
        let one = self.context.number(1, 1)?;
        let this = self.context.extract(bit, bit, self.offset)?;
        let is_high = self.context.binary(self.context.z3.Z3_mk_eq, this, one)?;
        self.context.ite(is_high, high, low)
    }
}
