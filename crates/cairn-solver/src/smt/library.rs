//! Finds Z3 and the functions we call in it.
//!
//! Z3 is opened when it is asked for, so nothing here needs it to be installed or to be there at build time.

use super::SmtUnavailable;
use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    path::Path,
    sync::OnceLock,
};

/// Any of Z3's objects: context, term, sort, symbol, solver, model.
pub type Object = *mut c_void;

/// What Z3 calls when it is used wrongly or runs out of something.
pub type ErrorHandler = extern "C" fn(Object, c_int);

/// The oldest version whose behaviour we know.
const FLOOR: [c_uint; 3] = [4, 8, 12];

const NAMES: [&str; 4] = ["libz3.so.4", "libz3.so.4.8", "libz3.so", "libz3.dylib"];

/// How much memory Z3 may use in this process; beyond it a query fails.
const MEMORY_MEGABYTES: &CStr = c"4096";

/// An opened Z3. It is never closed: it keeps state of its own that does not survive that.
pub struct Library {
    /// Its functions.
    pub functions: Functions,
    /// Major, minor and build number.
    pub version: [c_uint; 3],
}

impl Library {
    /// Opens the system's Z3, the first time by searching for it.
    pub fn open() -> Result<&'static Library, SmtUnavailable> {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        if let Some(library) = LIBRARY.get() {
            return Ok(library);
        }
        let library = open_first(&NAMES.map(Path::new))?;
        Ok(LIBRARY.get_or_init(|| library))
    }
}

/// Opens the first of `candidates` that is a Z3 we can use.
pub fn open_first(candidates: &[&Path]) -> Result<Library, SmtUnavailable> {
    let mut refusal = None;
    for path in candidates {
        // SAFETY: the names are those of Z3, whose initialisers only set up its own memory.
        let Ok(library) = (unsafe { libloading::Library::new(path) }) else { continue };
        match Functions::load(&library, path).and_then(|functions| check_version(functions, path)) {
            Ok(opened) => {
                std::mem::forget(library);
                return Ok(opened);
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    Err(refusal.unwrap_or(SmtUnavailable::NotFound))
}

fn check_version(functions: Functions, path: &Path) -> Result<Library, SmtUnavailable> {
    let [mut major, mut minor, mut build, mut revision] = [0; 4];
    // SAFETY: the four places are ours and outlive the call.
    unsafe { (functions.Z3_get_version)(&mut major, &mut minor, &mut build, &mut revision) };
    let version = [major, minor, build];
    if version < FLOOR {
        return Err(SmtUnavailable::TooOld {
            path: path.to_owned(),
            found: version.map(|number| number.to_string()).join("."),
        });
    }
    // SAFETY: both are terminated strings, which Z3 copies.
    unsafe { (functions.Z3_global_param_set)(c"memory_max_size".as_ptr(), MEMORY_MEGABYTES.as_ptr()) };
    Ok(Library { functions, version })
}

/// Declares the table of functions and how it is filled.
macro_rules! functions {
    ($(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of Z3 that this crate calls, named and typed as in its headers.
        #[expect(non_snake_case, reason = "Z3's own names")]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn load(library: &libloading::Library, path: &Path) -> Result<Functions, SmtUnavailable> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: the signature is that of Z3's header, the same in all versions we accept.
                        let symbol = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *symbol.map_err(|_| SmtUnavailable::MissingFunction {
                            path: path.to_owned(),
                            function: stringify!($name),
                        })?
                    },)*
                })
            }
        }
    };
}

functions! {
    fn Z3_get_version(*mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint);
    fn Z3_global_param_set(*const c_char, *const c_char);

    fn Z3_mk_config() -> Object;
    fn Z3_del_config(Object);
    fn Z3_mk_context_rc(Object) -> Object;
    fn Z3_del_context(Object);
    fn Z3_set_error_handler(Object, ErrorHandler);
    fn Z3_get_error_code(Object) -> c_int;
    fn Z3_get_error_msg(Object, c_int) -> *const c_char;
    fn Z3_inc_ref(Object, Object);
    fn Z3_dec_ref(Object, Object);

    fn Z3_mk_params(Object) -> Object;
    fn Z3_params_inc_ref(Object, Object);
    fn Z3_params_dec_ref(Object, Object);
    fn Z3_params_set_bool(Object, Object, Object, bool);
    fn Z3_params_set_uint(Object, Object, Object, c_uint);

    fn Z3_mk_tactic(Object, *const c_char) -> Object;
    fn Z3_tactic_inc_ref(Object, Object);
    fn Z3_tactic_dec_ref(Object, Object);
    fn Z3_mk_solver_from_tactic(Object, Object) -> Object;
    fn Z3_mk_solver_for_logic(Object, Object) -> Object;
    fn Z3_solver_inc_ref(Object, Object);
    fn Z3_solver_dec_ref(Object, Object);
    fn Z3_solver_set_params(Object, Object, Object);
    fn Z3_solver_push(Object, Object);
    fn Z3_solver_pop(Object, Object, c_uint);
    fn Z3_solver_reset(Object, Object);
    fn Z3_solver_assert(Object, Object, Object);
    fn Z3_solver_check(Object, Object) -> c_int;
    fn Z3_solver_get_model(Object, Object) -> Object;
    fn Z3_solver_get_reason_unknown(Object, Object) -> *const c_char;
    fn Z3_solver_get_statistics(Object, Object) -> Object;
    fn Z3_stats_inc_ref(Object, Object);
    fn Z3_stats_dec_ref(Object, Object);
    fn Z3_stats_size(Object, Object) -> c_uint;
    fn Z3_stats_get_key(Object, Object, c_uint) -> *const c_char;
    fn Z3_stats_is_uint(Object, Object, c_uint) -> bool;
    fn Z3_stats_get_uint_value(Object, Object, c_uint) -> c_uint;

    fn Z3_model_inc_ref(Object, Object);
    fn Z3_model_dec_ref(Object, Object);
    fn Z3_model_eval(Object, Object, Object, bool, *mut Object) -> bool;
    fn Z3_get_numeral_uint64(Object, Object, *mut u64) -> bool;

    fn Z3_mk_int_symbol(Object, c_int) -> Object;
    fn Z3_mk_string_symbol(Object, *const c_char) -> Object;
    fn Z3_mk_bv_sort(Object, c_uint) -> Object;
    fn Z3_mk_const(Object, Object, Object) -> Object;
    fn Z3_mk_unsigned_int64(Object, u64, Object) -> Object;

    fn Z3_mk_eq(Object, Object, Object) -> Object;
    fn Z3_mk_not(Object, Object) -> Object;
    fn Z3_mk_ite(Object, Object, Object, Object) -> Object;
    fn Z3_mk_xor(Object, Object, Object) -> Object;
    fn Z3_mk_and(Object, c_uint, *const Object) -> Object;
    fn Z3_mk_or(Object, c_uint, *const Object) -> Object;

    fn Z3_mk_bvnot(Object, Object) -> Object;
    fn Z3_mk_bvneg(Object, Object) -> Object;
    fn Z3_mk_bvand(Object, Object, Object) -> Object;
    fn Z3_mk_bvor(Object, Object, Object) -> Object;
    fn Z3_mk_bvxor(Object, Object, Object) -> Object;
    fn Z3_mk_bvadd(Object, Object, Object) -> Object;
    fn Z3_mk_bvsub(Object, Object, Object) -> Object;
    fn Z3_mk_bvmul(Object, Object, Object) -> Object;
    fn Z3_mk_bvudiv(Object, Object, Object) -> Object;
    fn Z3_mk_bvsdiv(Object, Object, Object) -> Object;
    fn Z3_mk_bvurem(Object, Object, Object) -> Object;
    fn Z3_mk_bvsrem(Object, Object, Object) -> Object;
    fn Z3_mk_bvshl(Object, Object, Object) -> Object;
    fn Z3_mk_bvlshr(Object, Object, Object) -> Object;
    fn Z3_mk_bvashr(Object, Object, Object) -> Object;
    fn Z3_mk_bvult(Object, Object, Object) -> Object;
    fn Z3_mk_bvule(Object, Object, Object) -> Object;
    fn Z3_mk_bvslt(Object, Object, Object) -> Object;
    fn Z3_mk_bvsle(Object, Object, Object) -> Object;
    fn Z3_mk_concat(Object, Object, Object) -> Object;
    fn Z3_mk_extract(Object, c_uint, c_uint, Object) -> Object;
    fn Z3_mk_sign_ext(Object, c_uint, Object) -> Object;
    fn Z3_mk_zero_ext(Object, c_uint, Object) -> Object;

    fn Z3_mk_fpa_sort_32(Object) -> Object;
    fn Z3_mk_fpa_sort_64(Object) -> Object;
    fn Z3_mk_fpa_rne(Object) -> Object;
    fn Z3_mk_fpa_rna(Object) -> Object;
    fn Z3_mk_fpa_rtp(Object) -> Object;
    fn Z3_mk_fpa_rtn(Object) -> Object;
    fn Z3_mk_fpa_rtz(Object) -> Object;
    fn Z3_mk_fpa_to_fp_bv(Object, Object, Object) -> Object;
    fn Z3_mk_fpa_to_ieee_bv(Object, Object) -> Object;
    fn Z3_mk_fpa_to_fp_float(Object, Object, Object, Object) -> Object;
    fn Z3_mk_fpa_to_fp_signed(Object, Object, Object, Object) -> Object;
    fn Z3_mk_fpa_to_fp_unsigned(Object, Object, Object, Object) -> Object;
    fn Z3_mk_fpa_to_sbv(Object, Object, Object, c_uint) -> Object;
    fn Z3_mk_fpa_add(Object, Object, Object, Object) -> Object;
    fn Z3_mk_fpa_sub(Object, Object, Object, Object) -> Object;
    fn Z3_mk_fpa_mul(Object, Object, Object, Object) -> Object;
    fn Z3_mk_fpa_div(Object, Object, Object, Object) -> Object;
    fn Z3_mk_fpa_sqrt(Object, Object, Object) -> Object;
    fn Z3_mk_fpa_round_to_integral(Object, Object, Object) -> Object;
    fn Z3_mk_fpa_neg(Object, Object) -> Object;
    fn Z3_mk_fpa_abs(Object, Object) -> Object;
    fn Z3_mk_fpa_eq(Object, Object, Object) -> Object;
    fn Z3_mk_fpa_lt(Object, Object, Object) -> Object;
    fn Z3_mk_fpa_leq(Object, Object, Object) -> Object;
    fn Z3_mk_fpa_is_nan(Object, Object) -> Object;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_z3_the_error_says_what_to_install() {
        let error = open_first(&[Path::new("libz3-that-is-not-there.so")]).err().unwrap();
        assert!(error.to_string().contains("libz3-4"), "{error}");
    }

    #[test]
    fn a_library_that_is_not_z3_is_refused_by_name() {
        let error = open_first(&[Path::new("libc.so.6")]).err().unwrap();
        assert!(
            matches!(error, SmtUnavailable::MissingFunction { function: "Z3_get_version", .. }),
            "{error}"
        );
    }
}
