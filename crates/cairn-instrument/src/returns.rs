//! Which calls may not come back.
//!
//! A call may not come back if its callee can end the program or jump away: it calls `exit`, throws, uses
//! `longjmp`, or something we cannot see into. Functions of the C library known always to return are listed;
//! any other function outside the program may do anything.

use crate::ir::{Callee, IrKind, IrModule};

/// Tells which calls may not come back.
pub struct Returns {
    may_not_return: Vec<bool>,
}

impl Returns {
    /// Decides for every function of the module, callers of a doubtful function being doubtful too.
    pub fn of(module: &IrModule) -> Self {
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); module.functions.len()];
        let mut may_not_return = vec![false; module.functions.len()];
        for (index, function) in module.functions.iter().enumerate() {
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                match &instruction.kind {
                    IrKind::Call(Callee::Defined(callee)) | IrKind::Invoke(Callee::Defined(callee), _) => {
                        callers[*callee].push(index);
                    }
                    IrKind::Call(callee) | IrKind::Invoke(callee, _) => {
                        may_not_return[index] |= is_doubtful_outside(callee);
                    }
                    IrKind::OtherEnd(_) => may_not_return[index] = true,
                    _ => {}
                }
            }
        }
        let mut pending: Vec<usize> =
            (0..may_not_return.len()).filter(|index| may_not_return[*index]).collect();
        while let Some(index) = pending.pop() {
            for caller in std::mem::take(&mut callers[index]) {
                if !std::mem::replace(&mut may_not_return[caller], true) {
                    pending.push(caller);
                }
            }
        }
        Self { may_not_return }
    }

    /// Whether a call to `callee` may not come back.
    pub fn is_doubtful(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Defined(index) => self.may_not_return[*index],
            callee => is_doubtful_outside(callee),
        }
    }
}

fn is_doubtful_outside(callee: &Callee) -> bool {
    match callee {
        Callee::Intrinsic | Callee::Defined(_) => false,
        Callee::Indirect(_) => true,
        Callee::External { name, no_return } => *no_return || !always_returns(name),
    }
}

/// Functions of the C library that come back whatever they are given, signals and bad pointers aside.
///
/// Functions that call back into the program (`qsort`, `atexit` handlers) or block (`read`) are not here:
/// a handler or a limit may end the program inside them.
fn always_returns(name: &str) -> bool {
    const KNOWN: &[&str] = &[
        "__ctype_b_loc",
        "__ctype_get_mb_cur_max",
        "__ctype_tolower_loc",
        "__ctype_toupper_loc",
        "__errno_location",
        "__cxa_allocate_exception",
        "__cxa_free_exception",
        "abs",
        "atof",
        "atoi",
        "atol",
        "atoll",
        "calloc",
        "ceil",
        "clearerr",
        "close",
        "closedir",
        "cos",
        "difftime",
        "exp",
        "fabs",
        "feof",
        "ferror",
        "fileno",
        "floor",
        "fmod",
        "free",
        "getenv",
        "geteuid",
        "getgid",
        "getegid",
        "getpid",
        "getppid",
        "getuid",
        "gmtime",
        "gmtime_r",
        "isalnum",
        "isalpha",
        "isascii",
        "isatty",
        "isblank",
        "iscntrl",
        "isdigit",
        "isgraph",
        "islower",
        "isprint",
        "ispunct",
        "isspace",
        "isupper",
        "iswalnum",
        "iswalpha",
        "iswprint",
        "iswspace",
        "isxdigit",
        "labs",
        "llabs",
        "localeconv",
        "localtime",
        "localtime_r",
        "log",
        "log10",
        "log2",
        "lseek",
        "malloc",
        "mblen",
        "mbrlen",
        "mbrtowc",
        "mbsinit",
        "mbstowcs",
        "mbtowc",
        "memchr",
        "memcmp",
        "memcpy",
        "memmem",
        "memmove",
        "mempcpy",
        "memrchr",
        "memset",
        "mktime",
        "pow",
        "putenv",
        "rand",
        "random",
        "rawmemchr",
        "realloc",
        "reallocarray",
        "rint",
        "round",
        "setenv",
        "setlocale",
        "sin",
        "snprintf",
        "sprintf",
        "sqrt",
        "srand",
        "srandom",
        "sscanf",
        "__isoc99_sscanf",
        "__isoc23_sscanf",
        "__isoc23_strtol",
        "__isoc23_strtoul",
        "__isoc23_strtoll",
        "__isoc23_strtoull",
        "stpcpy",
        "stpncpy",
        "strcasecmp",
        "strcat",
        "strchr",
        "strchrnul",
        "strcmp",
        "strcoll",
        "strcpy",
        "strcspn",
        "strdup",
        "strerror",
        "strftime",
        "strlen",
        "strncasecmp",
        "strncat",
        "strncmp",
        "strncpy",
        "strndup",
        "strnlen",
        "strpbrk",
        "strrchr",
        "strsep",
        "strsignal",
        "strspn",
        "strstr",
        "strtod",
        "strtof",
        "strtok",
        "strtok_r",
        "strtol",
        "strtold",
        "strtoll",
        "strtoul",
        "strtoull",
        "strxfrm",
        "tan",
        "time",
        "tolower",
        "toupper",
        "towlower",
        "towupper",
        "umask",
        "unsetenv",
        "vsnprintf",
        "vsprintf",
        "wcrtomb",
        "wcscoll",
        "wcslen",
        "wcwidth",
        "_ZdlPv",
        "_ZdlPvm",
        "_ZdaPv",
        "dcgettext",
        "gettext",
        "bindtextdomain",
        "textdomain",
        "nl_langinfo",
    ];
    KNOWN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{IrBlock, IrFunction, IrInstruction};

    fn calling(callee: Callee) -> IrFunction {
        let instruction = |kind| IrInstruction { place: None, kind };
        IrFunction {
            symbol: String::new(),
            source: None,
            blocks: vec![IrBlock {
                instructions: vec![instruction(IrKind::Call(callee)), instruction(IrKind::Return)],
            }],
            is_naked: false,
            address_taken: false,
            signature: String::new(),
        }
    }

    fn external(name: &str) -> Callee {
        Callee::External { name: name.into(), no_return: false }
    }

    #[test]
    fn doubt_spreads_to_callers() {
        let functions =
            vec![calling(external("usage")), calling(Callee::Defined(0)), calling(external("strlen"))];
        let returns = Returns::of(&IrModule { files: Vec::new(), functions });
        assert!(returns.is_doubtful(&Callee::Defined(0)));
        assert!(returns.is_doubtful(&Callee::Defined(1)));
        assert!(!returns.is_doubtful(&Callee::Defined(2)));
        assert!(returns.is_doubtful(&Callee::Indirect("i32 ()".into())));
    }
}
