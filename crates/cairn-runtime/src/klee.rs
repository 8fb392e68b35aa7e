//! KLEE's intrinsics, as `klee/klee.h` declares them.
//!
//! Those that ask for values or state assumptions do so. Those that steer KLEE's search mean nothing here and do nothing.

use crate::{
    request::IntegerType,
    system,
    variables::{cairn_assume, cairn_bytes, integer, name_bytes, returned},
};
use core::ffi::{c_char, c_int, c_void};

/// Fills `length` bytes at `memory`.
///
/// # Safety
/// As for [`cairn_bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_make_symbolic(memory: *mut c_void, length: usize, name: *const c_char) {
    // SAFETY: the caller vouches for the same things.
    unsafe { cairn_bytes(name, memory, length) }
}

/// An `int` from `begin` up to, not including, `end`.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_range(begin: c_int, end: c_int, name: *const c_char) -> c_int {
    let wanted = IntegerType { size: size_of::<c_int>(), is_signed: true };
    // SAFETY: the caller vouches for the name.
    let value =
        integer(unsafe { name_bytes(name) }, wanted, Some((begin.into(), i128::from(end) - 1))) as c_int;
    returned(klee_range as *const (), size_of::<c_int>(), value as u64);
    value
}

/// An `int`.
///
/// # Safety
/// `name` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_int(name: *const c_char) -> c_int {
    let wanted = IntegerType { size: size_of::<c_int>(), is_signed: true };
    // SAFETY: the caller vouches for the name.
    let value = integer(unsafe { name_bytes(name) }, wanted, None) as c_int;
    returned(klee_int as *const (), size_of::<c_int>(), value as u64);
    value
}

/// A number below `n`, called `klee_choose`.
#[unsafe(no_mangle)]
pub extern "C" fn klee_choose(n: usize) -> usize {
    let wanted = IntegerType { size: size_of::<usize>(), is_signed: false };
    let value = integer(b"klee_choose", wanted, Some((0, n as i128 - 1))) as usize;
    returned(klee_choose as *const (), size_of::<usize>(), value as u64);
    value
}

/// Ends the run unless `condition` holds.
#[unsafe(no_mangle)]
pub extern "C" fn klee_assume(condition: usize) {
    #[cfg(all(feature = "view", target_arch = "x86_64"))]
    crate::symbolic::sources::assumed((klee_assume as *const ()).expose_provenance(), condition as u64);
    cairn_assume((condition != 0).into());
}

/// Ends the process with `status`, at once.
#[unsafe(no_mangle)]
pub extern "C" fn klee_silent_exit(status: c_int) -> ! {
    system::exit(status)
}

/// Ends the process as `abort` does.
#[unsafe(no_mangle)]
pub extern "C" fn klee_abort() -> ! {
    system::abort()
}

/// Says what is wrong and ends the process as `abort` does.
///
/// # Safety
/// `message` is null or a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_report_error(
    _file: *const c_char,
    _line: c_int,
    message: *const c_char,
    _suffix: *const c_char,
) -> ! {
    if !message.is_null() {
        system::complain(b"error: ");
        // SAFETY: the caller vouches for the message.
        system::complain(unsafe { name_bytes(message) });
        system::complain(b"\n");
    }
    system::abort()
}

/// Nothing is symbolic in a concrete run.
#[unsafe(no_mangle)]
pub extern "C" fn klee_is_symbolic(_value: usize) -> c_int {
    0
}

macro_rules! identities {
    ($($function:ident: $type:ty;)*) => {$(
        /// The value itself.
        #[unsafe(no_mangle)]
        pub extern "C" fn $function(value: $type) -> $type {
            value
        }
    )*};
}

identities! {
    klee_get_valuef: f32;
    klee_get_valued: f64;
    klee_get_valuel: core::ffi::c_long;
    klee_get_valuell: core::ffi::c_longlong;
    klee_get_value_i32: i32;
    klee_get_value_i64: i64;
}

macro_rules! no_effect {
    ($($function:ident($($argument:ty),*);)*) => {$(
        /// Steers KLEE; does nothing here.
        #[unsafe(no_mangle)]
        pub extern "C" fn $function($(_: $argument),*) {}
    )*};
}

no_effect! {
    klee_prefer_cex(*mut c_void, usize);
    klee_posix_prefer_cex(*mut c_void, usize);
    klee_mark_global(*mut c_void);
    klee_check_memory_access(*const c_void, usize);
    klee_warning(*const c_char);
    klee_warning_once(*const c_char);
    klee_set_forking(u32);
    klee_alias_function(*const c_char, *const c_char);
    klee_open_merge();
    klee_close_merge();
    klee_stack_trace();
    klee_print_range(*const c_char, c_int);
    // Declared with `...`; extra arguments are the caller's own business in the C calling convention.
    klee_print_expr(*const c_char);
}
