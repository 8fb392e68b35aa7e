//! Where the labels of memory are.

/// Where the shadow begins. Above what the kernel maps at fixed places, below what it hands out.
pub const SHADOW_BASE: u64 = 0x1000_0000_0000;

/// The bits of an address that decide its place in the shadow.
pub const SHADOW_MASK: u64 = (1 << 42) - 1;

/// The size of the shadow in bytes: 4 for every byte that can be told apart.
pub const SHADOW_SIZE: u64 = 4 << 42;

/// Where the [`ShadowByte`] of a byte lies.
pub const fn shadow_address(address: u64) -> u64 {
    SHADOW_BASE + (address & SHADOW_MASK) * 4
}

/// What lies in a byte of memory: byte number `byte` of the value with a label, counted from the lowest; 0 is concrete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct ShadowByte(pub u32);

impl ShadowByte {
    /// One byte of a value at most 64 bits wide.
    pub const fn new(label: u32, byte: u32) -> Self {
        Self(label << 3 | byte)
    }

    /// The label of the value.
    pub const fn label(self) -> u32 {
        self.0 >> 3
    }

    /// Which of its bytes.
    pub const fn byte(self) -> u32 {
        self.0 & 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_places_do_not_share_a_shadow() {
        let places = [0x40_0000, 0x5555_5555_4000, 0x7fff_f7c0_0000, 0x7fff_ffff_e000_u64];
        let mut shadows = places.map(shadow_address);
        shadows.sort_unstable();
        assert!(shadows.windows(2).all(|pair| pair[1] - pair[0] >= 4 << 20));
        assert!(shadows.iter().all(|at| (SHADOW_BASE..SHADOW_BASE + SHADOW_SIZE).contains(at)));
    }
}
