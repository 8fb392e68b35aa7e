//! Integers of 1 to 128 bits, kept in a `u128` with zeros above.

/// The widest value there is.
pub const MAX_WIDTH: u32 = 128;

/// Ones in the lowest `width` bits.
pub const fn mask(width: u32) -> u128 {
    if width >= MAX_WIDTH { u128::MAX } else { (1 << width) - 1 }
}

/// The lowest `width` bits of a value as a signed number.
pub const fn signed(value: u128, width: u32) -> i128 {
    let unused = MAX_WIDTH - width;
    ((value << unused) as i128) >> unused
}

/// Whether the highest of `width` bits is set.
pub(crate) const fn is_negative(value: u128, width: u32) -> bool {
    value >> (width - 1) & 1 == 1
}

/// The smallest signed number of a width, as bits.
pub(crate) const fn signed_min(width: u32) -> u128 {
    1 << (width - 1)
}

/// The largest signed number of a width, as bits.
pub(crate) const fn signed_max(width: u32) -> u128 {
    signed_min(width) - 1
}

/// Ones from bit 0 up to the highest bit set in `value`.
pub(crate) const fn filled(value: u128) -> u128 {
    mask(MAX_WIDTH - value.leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_signs_at_the_edges() {
        assert_eq!((mask(1), mask(64), mask(128)), (1, u64::MAX as u128, u128::MAX));
        assert_eq!((signed(1, 1), signed(0x80, 8), signed(0x7f, 8)), (-1, -128, 127));
        assert_eq!(signed(u128::MAX, 128), -1);
        assert_eq!((filled(0), filled(5), filled(1 << 127)), (0, 7, u128::MAX));
    }
}
