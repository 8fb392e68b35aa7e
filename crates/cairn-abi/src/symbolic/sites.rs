//! How a run is asked about expressions of the program.
//!
//! A *detailed* symbolic view has a *probe* wherever the value of an expression was found in its code. What a run is asked of
//! each is a byte, its *switch*: nothing, to note every value, or to compare them with a guidepost.
//!
//! ```text
//!   sites      SiteControl on a page of its own, then one switch a probe; read-only for the program
//! ```
//! The view has pages like these, all zero; the runtime maps the channel's over them.

use crate::mutants::Guidepost;

/// The view's pages.
pub const SITES_SYMBOL: &str = "__cairn_sites";

/// The start of these pages.
#[repr(C)]
pub struct SiteControl {
    /// How the host calls the guidepost.
    pub number: u32,
    /// For later versions.
    pub reserved: u32,
    /// What is asked of values where [`switches::GUIDEPOST`] is set. All probes that have it set are one place.
    pub guidepost: Guidepost,
}

/// Bits of a switch.
pub mod switches {
    /// Every value becomes a record.
    pub const NOTE: u8 = 1;
    /// Every value is compared with the guidepost.
    pub const GUIDEPOST: u8 = 2;
}

/// Where the switches start.
pub const SWITCHES_START: usize = crate::channel::PAGE;
const _: () = assert!(size_of::<SiteControl>() <= SWITCHES_START);

/// The size of the pages of a view with `n_probes`; 0 for a view without.
pub const fn sites_size(n_probes: usize) -> usize {
    match n_probes {
        0 => 0,
        _ => (SWITCHES_START + n_probes).next_multiple_of(crate::channel::PAGE),
    }
}

/// How a probe names its site, and which of the site's spots it is, in one number.
pub const fn place(site: u32, spot: u16) -> u64 {
    site as u64 | (spot as u64) << 32
}

/// The site and the spot that [`place`] was given.
pub const fn site_and_spot(place: u64) -> (u32, u16) {
    (place as u32, (place >> 32) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_keeps_site_and_spot_apart() {
        assert_eq!(site_and_spot(place(u32::MAX, 3)), (u32::MAX, 3));
        assert_eq!(site_and_spot(place(7, u16::MAX)), (7, u16::MAX));
    }

    #[test]
    fn switches_follow_the_control_page() {
        assert_eq!([0, 1, 4096, 4097].map(sites_size), [0, 8192, 8192, 12288]);
    }
}
