//! Typed variables, as `cairn.h` and `crest.h` ask for them.

use crate::{
    channel,
    request::{self, Given, IntegerType, Mismatch},
};
use cairn_abi::channel::EndedBy;
use core::ffi::{
    CStr, c_char, c_double, c_float, c_int, c_long, c_short, c_uchar, c_uint, c_ulong, c_ushort, c_void,
};

/// The bytes of a name; a null pointer is called `unnamed`, as in KLEE.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte and outlives the result.
pub unsafe fn name_bytes<'a>(name: *const c_char) -> &'a [u8] {
    if name.is_null() {
        return b"unnamed";
    }
    // SAFETY: the caller vouches for the string.
    unsafe { CStr::from_ptr(name) }.to_bytes()
}

/// The next integer called `name`, within `bounds` where they are narrower than its type.
pub fn integer(name: &[u8], wanted: IntegerType, bounds: Option<(i128, i128)>) -> i128 {
    let found = accept(name, |given| request::integer(given, wanted));
    let Some((least, greatest)) = bounds else { return found.unwrap_or(0) };
    let value = found.unwrap_or(0i128.min(greatest).max(least));
    if value < least || value > greatest {
        request::end_by_bounds(name);
    }
    value
}

/// The next value called `name`, or the end of the run when it cannot be what `read` wants.
fn accept<T>(name: &[u8], read: impl FnOnce(Given) -> Result<T, Mismatch>) -> T {
    match read(request::given(name)) {
        Ok(value) => value,
        Err(Mismatch) => request::end_by_mismatch(name),
    }
}

/// Tells a symbolic view that what a function returns is a variable of the input.
pub fn returned(function: *const (), size: usize, bits: u64) {
    #[cfg(all(feature = "view", target_arch = "x86_64"))]
    crate::symbolic::sources::returned_variable(function.expose_provenance(), size, bits);
    #[cfg(not(all(feature = "view", target_arch = "x86_64")))]
    let _ = (function, size, bits);
}

macro_rules! integers {
    ($($(#[$doc:meta])* $function:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `name` is null or a string that ends in a zero byte.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(name: *const c_char) -> $type {
            let wanted = IntegerType { size: size_of::<$type>(), is_signed: <$type>::MIN != 0 };
            // SAFETY: the caller vouches for the name.
            let value = integer(unsafe { name_bytes(name) }, wanted, None) as $type;
            returned($function as *const (), size_of::<$type>(), value as u64);
            value
        }
    )*};
}

integers! {
    /// A `char`.
    cairn_char: c_char;
    /// A `signed char`.
    cairn_schar: i8;
    /// An `unsigned char`.
    cairn_uchar: c_uchar;
    /// A `short`.
    cairn_short: c_short;
    /// An `unsigned short`.
    cairn_ushort: c_ushort;
    /// An `int`.
    cairn_int: c_int;
    /// An `unsigned int`.
    cairn_uint: c_uint;
    /// A `long`.
    cairn_long: c_long;
    /// An `unsigned long`.
    cairn_ulong: c_ulong;
}

/// A `bool`: 0 or 1.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_bool(name: *const c_char) -> bool {
    let wanted = IntegerType { size: 1, is_signed: false };
    // SAFETY: the caller vouches for the name.
    let value = integer(unsafe { name_bytes(name) }, wanted, Some((0, 1))) != 0;
    returned(cairn_bool as *const (), 1, value.into());
    value
}

/// An `int` between `least` and `greatest`, both included.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_int_range(name: *const c_char, least: c_int, greatest: c_int) -> c_int {
    let wanted = IntegerType { size: size_of::<c_int>(), is_signed: true };
    // SAFETY: the caller vouches for the name.
    let value = integer(unsafe { name_bytes(name) }, wanted, Some((least.into(), greatest.into()))) as c_int;
    returned(cairn_int_range as *const (), size_of::<c_int>(), value as u64);
    value
}

/// A `float`.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_float(name: *const c_char) -> c_float {
    // SAFETY: the caller vouches for the name.
    let value = accept(unsafe { name_bytes(name) }, request::float).unwrap_or(0.0);
    returned(cairn_float as *const (), size_of::<c_float>(), value.to_bits().into());
    value
}

/// A `double`.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_double(name: *const c_char) -> c_double {
    // SAFETY: the caller vouches for the name.
    let value = accept(unsafe { name_bytes(name) }, request::double).unwrap_or(0.0);
    returned(cairn_double as *const (), size_of::<c_double>(), value.to_bits());
    value
}

/// A `double` between `least` and `greatest`, both included; never NaN.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_double_range(
    name: *const c_char,
    least: c_double,
    greatest: c_double,
) -> c_double {
    // SAFETY: the caller vouches for the name.
    let name = unsafe { name_bytes(name) };
    let value = accept(name, request::double).unwrap_or(0f64.min(greatest).max(least));
    let is_within = least <= value && value <= greatest;
    if !is_within {
        request::end_by_bounds(name);
    }
    returned(cairn_double_range as *const (), size_of::<c_double>(), value.to_bits());
    value
}

/// Fills `length` bytes at `memory`.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte; `memory` is writable for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_bytes(name: *const c_char, memory: *mut c_void, length: usize) {
    // SAFETY: the caller vouches for the name.
    let name = unsafe { name_bytes(name) };
    if length == 0 {
        return accept(name, |given| request::memory(given, &mut []));
    }
    // SAFETY: the caller vouches for the memory.
    let memory = unsafe { core::slice::from_raw_parts_mut(memory.cast::<u8>(), length) };
    accept(name, |given| request::memory(given, memory));
    #[cfg(all(feature = "view", target_arch = "x86_64"))]
    // SAFETY: the memory was just written.
    unsafe {
        crate::symbolic::sources::written_variable(memory.as_ptr(), length)
    };
}

/// Ends the run unless `condition` holds: the program has no use for inputs where it does not.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_assume(condition: c_int) {
    #[cfg(all(feature = "view", target_arch = "x86_64"))]
    crate::symbolic::sources::assumed(
        (cairn_assume as *const ()).expose_provenance(),
        condition as u32 as u64,
    );
    if condition == 0 {
        channel::end(EndedBy::Assumption, &[b"assumption failed\n"]);
    }
}
