//! A parsed translation unit.

use super::{Cursor, Library};
use crate::FactsError;
use clang_sys::*;
use std::{
    ffi::{CStr, CString, c_char},
    ptr, slice,
};

/// A translation unit and the index it lives in.
pub struct Unit {
    pub(super) library: &'static Library,
    index: CXIndex,
    raw: CXTranslationUnit,
}

/// A file of a unit, as good as its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct File(pub(super) CXFile);

impl Unit {
    /// Parses what `arguments` compile. Errors in the source are errors here: the compile beside us had none.
    pub fn parse(library: &'static Library, arguments: &[String]) -> Result<Unit, FactsError> {
        let strings = arguments
            .iter()
            .map(|argument| {
                let nul = |_| FactsError::NulByte { argument: argument.replace('\0', "\\0") };
                CString::new(argument.as_str()).map_err(nul)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = strings.iter().map(|string| string.as_ptr()).collect();
        let functions = &library.functions;
        // An index that leaves out what precompiled headers declare, of which we have none, lists what the unit declares
        // as the parser came to it, and with it the instances of templates. Any other index hides these.
        // SAFETY: takes no pointers.
        let index = unsafe { (functions.clang_createIndex)(1, 0) };
        // From here on dropping the unit disposes the index.
        let mut unit = Unit { library, index, raw: ptr::null_mut() };
        // SAFETY: `pointers` holds as many NUL-terminated strings as we say, and they outlive the call.
        let code = unsafe {
            (functions.clang_parseTranslationUnit2)(
                index,
                ptr::null(),
                pointers.as_ptr(),
                pointers.len() as i32,
                ptr::null_mut(),
                0,
                // Tells where macros are defined.
                CXTranslationUnit_DetailedPreprocessingRecord,
                &mut unit.raw,
            )
        };
        let reason = match code {
            CXError_Success if !unit.raw.is_null() => return unit.without_errors(),
            CXError_Crashed => "it crashed",
            CXError_InvalidArguments => "invalid arguments",
            CXError_ASTReadError => "unreadable precompiled header",
            _ => "no unit",
        };
        Err(FactsError::NotParsed { reason, arguments: arguments.join(" ") })
    }

    /// The cursor whose children are the top-level declarations and the instances of templates.
    pub fn cursor(&self) -> Cursor<'_> {
        // SAFETY: the unit is alive.
        let raw = unsafe { (self.library.functions.clang_getTranslationUnitCursor)(self.raw) };
        Cursor::new(self, raw)
    }

    /// The text of a file of this unit.
    pub fn contents(&self, file: File) -> &[u8] {
        let mut size = 0;
        // SAFETY: the file belongs to this unit; the buffer lives as long as the unit does.
        unsafe {
            let start = (self.library.functions.clang_getFileContents)(self.raw, file.0, &mut size);
            if start.is_null() { &[] } else { slice::from_raw_parts(start.cast(), size) }
        }
    }

    /// The tokens of a file from one byte to another, comments left out.
    pub fn tokens_between(&self, file: File, start: usize, end: usize) -> Vec<String> {
        let functions = &self.library.functions;
        // SAFETY: the file belongs to this unit.
        let range = unsafe {
            let at = |offset: usize| (functions.clang_getLocationForOffset)(self.raw, file.0, offset as u32);
            (functions.clang_getRange)(at(start), at(end))
        };
        self.tokens(range)
    }

    /// The tokens of a range, comments left out.
    pub(super) fn tokens(&self, range: CXSourceRange) -> Vec<String> {
        let functions = &self.library.functions;
        let (mut first, mut n_tokens) = (ptr::null_mut(), 0);
        // SAFETY: the range belongs to this unit; libclang sets both or neither, and takes back what it gave.
        unsafe {
            (functions.clang_tokenize)(self.raw, range, &mut first, &mut n_tokens);
            if first.is_null() {
                return Vec::new();
            }
            let tokens = slice::from_raw_parts(first, n_tokens as usize);
            let words = tokens
                .iter()
                .filter(|token| (functions.clang_getTokenKind)(**token) != CXToken_Comment)
                .map(|token| self.text((functions.clang_getTokenSpelling)(self.raw, *token)))
                .collect();
            (functions.clang_disposeTokens)(self.raw, first, n_tokens);
            words
        }
    }

    /// Copies a string of libclang and disposes it.
    pub(super) fn text(&self, string: CXString) -> String {
        let text = self.copy(string);
        // SAFETY: the string was just returned to us and is disposed exactly once, after the copy.
        unsafe { (self.library.functions.clang_disposeString)(string) };
        text
    }

    /// Copies a string of libclang that others dispose.
    pub(super) fn copy(&self, string: CXString) -> String {
        // SAFETY: a string of libclang is NUL-terminated, or null, and lives until it is disposed.
        unsafe {
            let start = (self.library.functions.clang_getCString)(string);
            if start.is_null() { String::new() } else { CStr::from_ptr(start).to_string_lossy().into_owned() }
        }
    }

    fn without_errors(self) -> Result<Unit, FactsError> {
        let functions = &self.library.functions;
        // SAFETY: the unit is alive.
        let n_diagnostics = unsafe { (functions.clang_getNumDiagnostics)(self.raw) };
        for number in 0..n_diagnostics {
            // SAFETY: `number` is in range, and the diagnostic is disposed once, after its last use.
            let message = unsafe {
                let diagnostic = (functions.clang_getDiagnostic)(self.raw, number);
                let severity = (functions.clang_getDiagnosticSeverity)(diagnostic);
                let options = CXDiagnostic_DisplaySourceLocation | CXDiagnostic_DisplayColumn;
                let message = (severity >= CXDiagnostic_Error)
                    .then(|| self.text((functions.clang_formatDiagnostic)(diagnostic, options as u32)));
                (functions.clang_disposeDiagnostic)(diagnostic);
                message
            };
            if let Some(message) = message {
                return Err(FactsError::Source { message });
            }
        }
        Ok(self)
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // SAFETY: both are ours, disposed once, the unit before its index.
        unsafe {
            if !self.raw.is_null() {
                (self.library.functions.clang_disposeTranslationUnit)(self.raw);
            }
            (self.library.functions.clang_disposeIndex)(self.index);
        }
    }
}
