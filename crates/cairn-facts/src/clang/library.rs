//! Finds libclang 19 and the functions we call in it.
//!
//! clang-sys can load libclang too, but takes the newest it finds, asks `llvm-config` and reads the environment;
//! we want this major version or a clear refusal. So we take its types and open the library ourselves.

use crate::FactsError;
use clang_sys::*;
use std::{
    ffi::{CStr, c_char, c_double, c_int, c_longlong, c_uint, c_ulonglong},
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The major version whose behaviour this crate knows.
const MAJOR: &str = "version 19.";

/// Folders of distributions that keep LLVM versions apart, then the loader's own search.
const FOLDERS: [&str; 6] = [
    "/usr/lib/llvm-19/lib",
    "/usr/lib/llvm19/lib",
    "/usr/lib64/llvm19/lib",
    "/usr/local/lib",
    "/usr/lib64",
    "",
];
const NAMES: [&str; 6] = [
    "libclang-19.so.19",
    "libclang-19.so.1",
    "libclang-19.so",
    "libclang.so.19.1",
    "libclang.so.19",
    "libclang.so",
];

/// An opened libclang 19. It is never closed: libclang keeps state that does not survive that.
pub struct Library {
    /// Its functions.
    pub functions: Functions,
}

impl Library {
    /// Opens libclang 19, the first time by searching for it.
    pub fn open() -> Result<&'static Library, FactsError> {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        if let Some(library) = LIBRARY.get() {
            return Ok(library);
        }
        let candidates = FOLDERS.iter().flat_map(|folder| NAMES.map(|name| Path::new(folder).join(name)));
        let library = open_first(candidates)?;
        Ok(LIBRARY.get_or_init(|| library))
    }
}

fn open_first(candidates: impl Iterator<Item = PathBuf>) -> Result<Library, FactsError> {
    let mut tried = Vec::new();
    let mut refusal = None;
    for path in candidates {
        if path.is_absolute() && !path.exists() {
            tried.push(path.display().to_string());
            continue;
        }
        // SAFETY: the names are those of libclang, whose initialisers only register options.
        let Ok(library) = (unsafe { libloading::Library::new(&path) }) else {
            tried.push(path.display().to_string());
            continue;
        };
        match Functions::load(&library, &path).and_then(|functions| check_version(functions, &path)) {
            Ok(functions) => {
                std::mem::forget(library);
                return Ok(Library { functions });
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    Err(refusal.unwrap_or_else(|| FactsError::NoLibclang { tried: tried.join(", ") }))
}

fn check_version(functions: Functions, path: &Path) -> Result<Functions, FactsError> {
    // SAFETY: these take no pointers of ours; the string is copied before it is disposed.
    let version = unsafe {
        let string = (functions.clang_getClangVersion)();
        let text = CStr::from_ptr((functions.clang_getCString)(string)).to_string_lossy().into_owned();
        (functions.clang_disposeString)(string);
        text
    };
    match version.contains(MAJOR) {
        true => Ok(functions),
        false => Err(FactsError::WrongVersion { path: path.to_owned(), version }),
    }
}

/// Declares the table of functions and how it is filled.
macro_rules! functions {
    ($(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of libclang that this crate calls, named and typed as in its headers.
        #[allow(non_snake_case)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn load(library: &libloading::Library, path: &Path) -> Result<Functions, FactsError> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: the signature is that of libclang's header, stable since the function appeared.
                        let symbol = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *symbol.map_err(|_| FactsError::MissingFunction {
                            path: path.to_owned(),
                            function: stringify!($name).to_owned(),
                        })?
                    },)*
                })
            }
        }
    };
}

functions! {
    fn clang_getClangVersion() -> CXString;
    fn clang_getCString(CXString) -> *const c_char;
    fn clang_disposeString(CXString);
    fn clang_createIndex(c_int, c_int) -> CXIndex;
    fn clang_disposeIndex(CXIndex);
    fn clang_parseTranslationUnit2(CXIndex, *const c_char, *const *const c_char, c_int, *mut CXUnsavedFile, c_uint, c_int, *mut CXTranslationUnit) -> CXErrorCode;
    fn clang_disposeTranslationUnit(CXTranslationUnit);
    fn clang_getNumDiagnostics(CXTranslationUnit) -> c_uint;
    fn clang_getDiagnostic(CXTranslationUnit, c_uint) -> CXDiagnostic;
    fn clang_getDiagnosticSeverity(CXDiagnostic) -> CXDiagnosticSeverity;
    fn clang_formatDiagnostic(CXDiagnostic, c_uint) -> CXString;
    fn clang_disposeDiagnostic(CXDiagnostic);
    fn clang_getTranslationUnitCursor(CXTranslationUnit) -> CXCursor;
    fn clang_getFileContents(CXTranslationUnit, CXFile, *mut usize) -> *const c_char;
    fn clang_getLocationForOffset(CXTranslationUnit, CXFile, c_uint) -> CXSourceLocation;
    fn clang_getRange(CXSourceLocation, CXSourceLocation) -> CXSourceRange;
    fn clang_tokenize(CXTranslationUnit, CXSourceRange, *mut *mut CXToken, *mut c_uint);
    fn clang_getTokenKind(CXToken) -> CXTokenKind;
    fn clang_getTokenSpelling(CXTranslationUnit, CXToken) -> CXString;
    fn clang_disposeTokens(CXTranslationUnit, *mut CXToken, c_uint);
    fn clang_visitChildren(CXCursor, CXCursorVisitor, CXClientData) -> c_uint;
    fn clang_equalCursors(CXCursor, CXCursor) -> c_uint;
    fn clang_Cursor_isNull(CXCursor) -> c_int;
    fn clang_Cursor_isMacroFunctionLike(CXCursor) -> c_uint;
    fn clang_isCursorDefinition(CXCursor) -> c_uint;
    fn clang_getCursorSpelling(CXCursor) -> CXString;
    fn clang_Cursor_getMangling(CXCursor) -> CXString;
    fn clang_Cursor_getCXXManglings(CXCursor) -> *mut CXStringSet;
    fn clang_disposeStringSet(*mut CXStringSet);
    fn clang_getSpecializedCursorTemplate(CXCursor) -> CXCursor;
    fn clang_getCursorReferenced(CXCursor) -> CXCursor;
    fn clang_getCursorDefinition(CXCursor) -> CXCursor;
    fn clang_getCanonicalCursor(CXCursor) -> CXCursor;
    fn clang_getCursorSemanticParent(CXCursor) -> CXCursor;
    fn clang_getCursorLinkage(CXCursor) -> CXLinkageKind;
    fn clang_Cursor_getStorageClass(CXCursor) -> CX_StorageClass;
    fn clang_Cursor_getOffsetOfField(CXCursor) -> c_longlong;
    fn clang_Cursor_isBitField(CXCursor) -> c_uint;
    fn clang_getFieldDeclBitWidth(CXCursor) -> c_int;
    fn clang_getCursorLocation(CXCursor) -> CXSourceLocation;
    fn clang_getCursorExtent(CXCursor) -> CXSourceRange;
    fn clang_getCursorBinaryOperatorKind(CXCursor) -> CXBinaryOperatorKind;
    fn clang_getCursorUnaryOperatorKind(CXCursor) -> CXUnaryOperatorKind;
    fn clang_Cursor_getVarDeclInitializer(CXCursor) -> CXCursor;
    fn clang_Cursor_Evaluate(CXCursor) -> CXEvalResult;
    fn clang_EvalResult_getKind(CXEvalResult) -> CXEvalResultKind;
    fn clang_EvalResult_isUnsignedInt(CXEvalResult) -> c_uint;
    fn clang_EvalResult_getAsLongLong(CXEvalResult) -> c_longlong;
    fn clang_EvalResult_getAsUnsigned(CXEvalResult) -> c_ulonglong;
    fn clang_EvalResult_getAsDouble(CXEvalResult) -> c_double;
    fn clang_EvalResult_dispose(CXEvalResult);
    fn clang_getRangeStart(CXSourceRange) -> CXSourceLocation;
    fn clang_getRangeEnd(CXSourceRange) -> CXSourceLocation;
    fn clang_Location_isInSystemHeader(CXSourceLocation) -> c_int;
    fn clang_getExpansionLocation(CXSourceLocation, *mut CXFile, *mut c_uint, *mut c_uint, *mut c_uint);
    fn clang_getFileLocation(CXSourceLocation, *mut CXFile, *mut c_uint, *mut c_uint, *mut c_uint);
    fn clang_getPresumedLocation(CXSourceLocation, *mut CXString, *mut c_uint, *mut c_uint);
    fn clang_getCursorType(CXCursor) -> CXType;
    fn clang_getCursorResultType(CXCursor) -> CXType;
    fn clang_getCanonicalType(CXType) -> CXType;
    fn clang_getTypeSpelling(CXType) -> CXString;
    fn clang_getTypeDeclaration(CXType) -> CXCursor;
    fn clang_getEnumDeclIntegerType(CXCursor) -> CXType;
    fn clang_Type_getSizeOf(CXType) -> c_longlong;
    fn clang_Type_visitFields(CXType, CXFieldVisitor, CXClientData) -> c_uint;
    fn clang_getArrayElementType(CXType) -> CXType;
    fn clang_isConstQualifiedType(CXType) -> c_uint;
    fn clang_isVolatileQualifiedType(CXType) -> c_uint;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(candidates: &[&str]) -> String {
        match open_first(candidates.iter().map(PathBuf::from)) {
            Ok(_) => panic!("a library was opened"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_missing_libclang_names_the_package() {
        let message = refusal(&["/nowhere/libclang-19.so", "libclang-of-no-system.so"]);
        assert!(message.contains("tried /nowhere/libclang-19.so, libclang-of-no-system.so"), "{message}");
        assert!(message.contains("`libclang1-19` or `libclang-19-dev`"), "{message}");
    }

    #[test]
    fn a_library_that_is_not_libclang_is_refused() {
        let message = refusal(&["libc.so.6"]);
        assert_eq!(message, "`libc.so.6` lacks the function `clang_getClangVersion` of libclang 19");
    }
}
