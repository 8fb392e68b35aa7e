//! Variables from `CAIRN_VARIABLES`, for a program that runs without a host.
//!
//! ```text
//!   CAIRN_VARIABLES='n=5 x=0.25 n#2=-7 buffer=hex:0011 a%5Bi%20%2B%201%5D=1'
//! ```
//! Entries are separated by white space. In names `%xx` stands for a byte; white space, `=` and `%` must be written so.

use core::{
    arch::asm,
    ffi::{CStr, c_char},
};

/// The text given for a variable.
pub fn value(variables: &'static [u8], is_asked: impl Fn(&[u8]) -> bool) -> Option<&'static [u8]> {
    variables.split(|byte| byte.is_ascii_whitespace()).find_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'=')?;
        let (name, value) = entry.split_at(at);
        let mut decoded = [0; 512];
        is_asked(decode(name, &mut decoded)?).then(|| &value[1..])
    })
}

/// The value of `CAIRN_VARIABLES`, empty when it is not set.
pub fn variables() -> &'static [u8] {
    variable(b"CAIRN_VARIABLES").unwrap_or(&[])
}

/// The value of a variable of the environment.
pub fn variable(name: &[u8]) -> Option<&'static [u8]> {
    let place = environ();
    if place.is_null() {
        return None;
    }
    // SAFETY: the C library keeps a list of strings there that ends in a null pointer, or nothing at all.
    unsafe {
        let mut entry = *place;
        while !entry.is_null() && !(*entry).is_null() {
            let value = CStr::from_ptr(*entry).to_bytes().strip_prefix(name);
            if let Some(value) = value.and_then(|rest| rest.strip_prefix(b"=")) {
                return Some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Whether the C library has an environment yet: what runs before it finds none.
#[cfg(feature = "view")]
pub fn is_known() -> bool {
    let place = environ();
    // SAFETY: the C library keeps a pointer there.
    !place.is_null() && !unsafe { *place }.is_null()
}

/// The value of a variable among entries that each end in a zero byte.
#[cfg(feature = "view")]
pub fn variable_in<'a>(entries: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    entries.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(name)?.strip_prefix(b"="))
}

/// Gives the program another environment.
///
/// # Safety
/// `variables` is a list of strings that ends in a null pointer and stays where it is.
#[cfg(feature = "view")]
pub unsafe fn set(variables: *const *const c_char) {
    let place = environ().cast_mut();
    if !place.is_null() {
        // SAFETY: the C library keeps the pointer there.
        unsafe { place.write(variables) };
    }
}

/// Where the C library keeps the environment; null in a program without one.
fn environ() -> *const *const *const c_char {
    let place;
    // SAFETY: reads the linker's table of addresses, where a weak symbol nobody defines is null. Rust itself has no weak
    // references.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(
            ".weak environ",
            "mov {place}, qword ptr [rip + environ@GOTPCREL]",
            place = out(reg) place,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!(
            ".weak environ",
            "adrp {place}, :got:environ",
            "ldr {place}, [{place}, :got_lo12:environ]",
            place = out(reg) place,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    place
}

/// Resolves `%xx`; `None` when it is malformed or too long to be a name.
fn decode<'a>(name: &[u8], decoded: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut length = 0;
    let mut rest = name;
    while let Some((first, others)) = rest.split_first() {
        let byte;
        (byte, rest) = match (first, others) {
            (b'%', [high, low, after @ ..]) => (hex_digit(*high)? << 4 | hex_digit(*low)?, after),
            (b'%', _) => return None,
            _ => (*first, others),
        };
        *decoded.get_mut(length)? = byte;
        length += 1;
    }
    decoded.get(..length)
}

/// The value of a hexadecimal digit.
pub fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &'static str, name: &str, expected: Option<&str>) {
        let found = value(variables.as_bytes(), |given| given == name.as_bytes());
        assert_eq!(found.map(|text| std::str::from_utf8(text).unwrap()), expected, "{name} in {variables}");
    }

    #[test]
    fn values_are_found_by_name() {
        check("n=5 x=0.25\tbuf=hex:0011", "x", Some("0.25"));
        check("n=5 x=0.25\tbuf=hex:0011", "buf", Some("hex:0011"));
        check("n=5", "m", None);
        check("  n=  ", "n", Some(""));
        check("n", "n", None);
        check("", "n", None);
    }

    #[test]
    fn names_may_hold_any_byte() {
        check("a%5Bi%20%2b%201%5d=1", "a[i + 1]", Some("1"));
        check("100%=1 b=2", "b", Some("2"));
        check("%zz=1 %4=2", "%zz", None);
    }
}
