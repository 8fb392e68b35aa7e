//! What every source sees: our macros and our headers.
//!
//! AFL's macros expand to calls of our runtime, so a persistent-mode harness builds unchanged. They declare what
//! they call on the spot, because the user includes no header of ours for them; an `__asm__` label gives the C name
//! also in C++, where `extern "C"` cannot stand inside a function.

use std::path::Path;

/// The options to append to the user's; our include folder comes after the user's own.
pub(crate) fn options(include_dir: &Path) -> Vec<String> {
    let mut options: Vec<String> = MACROS.iter().map(|definition| format!("-D{definition}")).collect();
    options.push("-isystem".to_owned());
    options.push(include_dir.to_string_lossy().into_owned());
    options
}

const MACROS: &[&str] = &[
    "__CAIRN__=1",
    "__AFL_HAVE_MANUAL_CONTROL=1",
    // Used at file scope and followed by a semicolon: a declaration that declares nothing of use.
    "__AFL_FUZZ_INIT()=struct cairn_afl_fuzz_init",
    r#"__AFL_INIT()=__extension__({void cairn_macro_init(void)__asm__("cairn_afl_init");cairn_macro_init();})"#,
    r#"__AFL_LOOP(n)=__extension__({int cairn_macro_loop(unsigned)__asm__("cairn_afl_loop");cairn_macro_loop(n);})"#,
    r#"__AFL_FUZZ_TESTCASE_BUF=__extension__({unsigned char*cairn_macro_buffer(void)__asm__("cairn_afl_buffer");cairn_macro_buffer();})"#,
    r#"__AFL_FUZZ_TESTCASE_LEN=__extension__({int cairn_macro_length(void)__asm__("cairn_afl_length");cairn_macro_length();})"#,
];
