//! Cursors, locations and types of a unit, borrowed from it.

use super::{File, Unit};
use clang_sys::*;
use std::{
    ffi::{CStr, c_uint, c_void},
    ptr,
};

/// A node of the syntax tree.
#[derive(Clone, Copy)]
pub struct Cursor<'u> {
    unit: &'u Unit,
    raw: CXCursor,
}

/// A place in the source, perhaps inside a macro expansion.
#[derive(Clone, Copy)]
pub struct Location<'u> {
    unit: &'u Unit,
    raw: CXSourceLocation,
}

/// The type of a cursor.
#[derive(Clone, Copy)]
pub struct Type<'u> {
    unit: &'u Unit,
    raw: CXType,
}

/// Calls a function of libclang on values that belong to the unit.
macro_rules! call {
    ($unit:expr, $function:ident($($argument:expr),*)) => {{
        // SAFETY: the arguments came from this unit, which is alive as long as it is borrowed, or are pointers
        // to locals of the right type.
        unsafe { ($unit.library.functions.$function)($($argument),*) }
    }};
}

impl<'u> Cursor<'u> {
    pub(super) fn new(unit: &'u Unit, raw: CXCursor) -> Cursor<'u> {
        Cursor { unit, raw }
    }

    /// The kind, one of clang-sys's `CXCursor_…`.
    pub fn kind(self) -> CXCursorKind {
        self.raw.kind
    }

    /// Whether it is an expression.
    pub fn is_expression(self) -> bool {
        (100..200).contains(&self.raw.kind)
    }

    /// Whether it is a statement that is not an expression.
    pub fn is_statement(self) -> bool {
        (200..300).contains(&self.raw.kind)
    }

    /// The direct children, in the order libclang has them.
    pub fn children(self) -> Vec<Cursor<'u>> {
        extern "C" fn collect(child: CXCursor, _: CXCursor, data: CXClientData) -> CXChildVisitResult {
            // SAFETY: `data` is the vector below, which nothing else touches during the visit.
            unsafe { &mut *data.cast::<Vec<CXCursor>>() }.push(child);
            CXChildVisit_Continue
        }
        let mut raws: Vec<CXCursor> = Vec::new();
        let data: *mut c_void = ptr::from_mut(&mut raws).cast();
        call!(self.unit, clang_visitChildren(self.raw, collect, data));
        raws.into_iter().map(|raw| Cursor { unit: self.unit, raw }).collect()
    }

    /// Whether it declares and defines.
    pub fn is_definition(self) -> bool {
        call!(self.unit, clang_isCursorDefinition(self.raw)) != 0
    }

    /// Its name, or the name of what it refers to.
    pub fn spelling(self) -> String {
        self.unit.text(call!(self.unit, clang_getCursorSpelling(self.raw)))
    }

    /// The symbols that a function is compiled to; constructors and destructors have several.
    pub fn symbols(self) -> Vec<String> {
        if !matches!(self.raw.kind, CXCursor_Constructor | CXCursor_Destructor) {
            return vec![self.unit.text(call!(self.unit, clang_Cursor_getMangling(self.raw)))];
        }
        let set = call!(self.unit, clang_Cursor_getCXXManglings(self.raw));
        if set.is_null() {
            return Vec::new();
        }
        // SAFETY: the set is ours until it is disposed below, and says how many strings it has.
        let strings = unsafe { std::slice::from_raw_parts((*set).Strings, (*set).Count as usize) };
        let symbols = strings.iter().map(|string| self.unit.copy(*string)).collect();
        call!(self.unit, clang_disposeStringSet(set));
        symbols
    }

    /// The template that it is an instance or a specialisation of.
    pub fn template(self) -> Option<Cursor<'u>> {
        self.some(call!(self.unit, clang_getSpecializedCursorTemplate(self.raw)))
    }

    /// The declaration that it refers to.
    pub fn referenced(self) -> Option<Cursor<'u>> {
        self.some(call!(self.unit, clang_getCursorReferenced(self.raw)))
    }

    /// The definition, in this unit, of what it declares.
    pub fn definition(self) -> Option<Cursor<'u>> {
        self.some(call!(self.unit, clang_getCursorDefinition(self.raw)))
    }

    /// The declaration that stands for all of the same thing.
    pub fn canonical(self) -> Cursor<'u> {
        Cursor { unit: self.unit, raw: call!(self.unit, clang_getCanonicalCursor(self.raw)) }
    }

    /// What it is declared in.
    pub fn semantic_parent(self) -> Option<Cursor<'u>> {
        self.some(call!(self.unit, clang_getCursorSemanticParent(self.raw)))
    }

    /// The distance of a member from the start of its structure in bits, if it is known.
    pub fn field_offset_bits(self) -> Option<i64> {
        Some(call!(self.unit, clang_Cursor_getOffsetOfField(self.raw))).filter(|offset| *offset >= 0)
    }

    /// The width of a bit-field.
    pub fn bit_width(self) -> Option<u32> {
        let is_bit_field = call!(self.unit, clang_Cursor_isBitField(self.raw)) != 0;
        is_bit_field.then(|| call!(self.unit, clang_getFieldDeclBitWidth(self.raw)).unsigned_abs())
    }

    /// Whether it declares something that is local to a function.
    pub fn is_local(self) -> bool {
        call!(self.unit, clang_getCursorLinkage(self.raw)) == CXLinkage_NoLinkage
    }

    /// Whether it declares something that other units can name.
    pub fn is_external(self) -> bool {
        call!(self.unit, clang_getCursorLinkage(self.raw)) == CXLinkage_External
    }

    /// Whether it declares a variable that lives as long as the program.
    pub fn has_static_storage(self) -> bool {
        !self.is_local() || call!(self.unit, clang_Cursor_getStorageClass(self.raw)) == CX_SC_Static
    }

    /// The initialiser of a variable.
    pub fn initializer(self) -> Option<Cursor<'u>> {
        self.some(call!(self.unit, clang_Cursor_getVarDeclInitializer(self.raw)))
    }

    /// The operator of a binary expression, assignments among them.
    pub fn binary_operator(self) -> CXBinaryOperatorKind {
        call!(self.unit, clang_getCursorBinaryOperatorKind(self.raw))
    }

    /// The operator of a unary expression.
    pub fn unary_operator(self) -> CXUnaryOperatorKind {
        call!(self.unit, clang_getCursorUnaryOperatorKind(self.raw))
    }

    /// Whether clang's evaluator finds a constant, side effects disregarded, and its bits if it is an integer.
    pub fn evaluate(self) -> Option<Option<i64>> {
        let result = call!(self.unit, clang_Cursor_Evaluate(self.raw));
        if result.is_null() {
            return None;
        }
        let is_integer = call!(self.unit, clang_EvalResult_getKind(result)) == CXEval_Int;
        let integer = is_integer.then(|| match call!(self.unit, clang_EvalResult_isUnsignedInt(result)) {
            0 => call!(self.unit, clang_EvalResult_getAsLongLong(result)),
            _ => call!(self.unit, clang_EvalResult_getAsUnsigned(result)) as i64,
        });
        call!(self.unit, clang_EvalResult_dispose(result));
        Some(integer)
    }

    /// The value of a floating-point constant, as far as a double holds it.
    pub fn evaluate_float(self) -> Option<f64> {
        let result = call!(self.unit, clang_Cursor_Evaluate(self.raw));
        if result.is_null() {
            return None;
        }
        let is_float = call!(self.unit, clang_EvalResult_getKind(result)) == CXEval_Float;
        let value = is_float.then(|| call!(self.unit, clang_EvalResult_getAsDouble(result)));
        call!(self.unit, clang_EvalResult_dispose(result));
        value
    }

    /// Where it stands: the name of a declaration or member, else the start.
    pub fn location(self) -> Location<'u> {
        Location { unit: self.unit, raw: call!(self.unit, clang_getCursorLocation(self.raw)) }
    }

    /// Where it begins and just past where it ends.
    pub fn extent(self) -> (Location<'u>, Location<'u>) {
        let range = call!(self.unit, clang_getCursorExtent(self.raw));
        let start = Location { unit: self.unit, raw: call!(self.unit, clang_getRangeStart(range)) };
        let end = Location { unit: self.unit, raw: call!(self.unit, clang_getRangeEnd(range)) };
        (start, end)
    }

    /// Its tokens, comments left out.
    pub fn tokens(self) -> Vec<String> {
        self.unit.tokens(call!(self.unit, clang_getCursorExtent(self.raw)))
    }

    /// Whether it defines a macro with parameters.
    pub fn is_function_like_macro(self) -> bool {
        call!(self.unit, clang_Cursor_isMacroFunctionLike(self.raw)) != 0
    }

    /// Its type.
    pub fn value_type(self) -> Type<'u> {
        Type { unit: self.unit, raw: call!(self.unit, clang_getCursorType(self.raw)) }
    }

    /// What a function returns.
    pub fn result_type(self) -> Option<Type<'u>> {
        let raw = call!(self.unit, clang_getCursorResultType(self.raw));
        (raw.kind != CXType_Invalid).then_some(Type { unit: self.unit, raw })
    }

    fn some(self, raw: CXCursor) -> Option<Cursor<'u>> {
        let is_null = call!(self.unit, clang_Cursor_isNull(raw)) != 0;
        (!is_null).then_some(Cursor { unit: self.unit, raw })
    }
}

impl PartialEq for Cursor<'_> {
    fn eq(&self, other: &Self) -> bool {
        call!(self.unit, clang_equalCursors(self.raw, other.raw)) != 0
    }
}

impl<'u> Location<'u> {
    /// Whether it lies in a macro's expansion.
    pub fn is_macro(self) -> bool {
        // libclang 19 has no function for this: its "spelling location" of a token from a macro's body is the
        // place of use. `int_data` is clang's encoded location, whose top bit tells.
        self.raw.int_data >> 31 != 0
    }

    /// Whether the file is a system header.
    pub fn is_in_system_header(self) -> bool {
        call!(self.unit, clang_Location_isInSystemHeader(self.raw)) != 0
    }

    /// The file and byte offset; for a token from a macro, those of the macro's use.
    pub fn offset(self) -> Option<(File, usize)> {
        let (mut file, mut offset) = (ptr::null_mut(), 0);
        let (mut line, mut column) = (0, 0);
        call!(
            self.unit,
            clang_getExpansionLocation(self.raw, &mut file, &mut line, &mut column, &mut offset)
        );
        (!file.is_null()).then_some((File(file), offset as usize))
    }

    /// Whether it comes from a macro's own text, not from an argument.
    pub fn is_macro_text(self) -> bool {
        let (mut file, mut offset) = (ptr::null_mut(), 0);
        let (mut line, mut column) = (0, 0);
        call!(self.unit, clang_getFileLocation(self.raw, &mut file, &mut line, &mut column, &mut offset));
        self.is_macro() && self.offset() == Some((File(file), offset as usize))
    }

    /// What tells it from other locations of the unit.
    pub fn identity(self) -> u32 {
        self.raw.int_data
    }

    /// The file name as clang presents it, `#line` heeded, with line and column. `name` sees the borrowed name.
    pub fn presumed<T>(self, name: impl FnOnce(&CStr) -> T) -> (T, u32, u32) {
        let mut string = CXString::default();
        let (mut line, mut column): (c_uint, c_uint) = (0, 0);
        call!(self.unit, clang_getPresumedLocation(self.raw, &mut string, &mut line, &mut column));
        let start = call!(self.unit, clang_getCString(string));
        // SAFETY: a string of libclang is NUL-terminated and lives until it is disposed below.
        let result = name(if start.is_null() { c"" } else { unsafe { CStr::from_ptr(start) } });
        call!(self.unit, clang_disposeString(string));
        (result, line, column)
    }
}

impl<'u> Type<'u> {
    /// The kind, one of clang-sys's `CXType_…`.
    pub fn kind(self) -> CXTypeKind {
        self.raw.kind
    }

    /// What tells it from other types of the unit.
    pub fn identity(self) -> (CXTypeKind, usize) {
        (self.raw.kind, self.raw.data[0] as usize)
    }

    /// Without typedefs.
    pub fn canonical(self) -> Type<'u> {
        Type { unit: self.unit, raw: call!(self.unit, clang_getCanonicalType(self.raw)) }
    }

    /// As written.
    pub fn spelling(self) -> String {
        self.unit.text(call!(self.unit, clang_getTypeSpelling(self.raw)))
    }

    /// The members of a structure, those of an instance of a template too.
    pub fn fields(self) -> Vec<Cursor<'u>> {
        extern "C" fn collect(field: CXCursor, data: CXClientData) -> CXVisitorResult {
            // SAFETY: `data` is the vector below, which nothing else touches during the visit.
            unsafe { &mut *data.cast::<Vec<CXCursor>>() }.push(field);
            CXVisit_Continue
        }
        let mut raws: Vec<CXCursor> = Vec::new();
        let data: *mut c_void = ptr::from_mut(&mut raws).cast();
        call!(self.unit, clang_Type_visitFields(self.raw, collect, data));
        raws.into_iter().map(|raw| Cursor { unit: self.unit, raw }).collect()
    }

    /// What an array consists of.
    pub fn element(self) -> Type<'u> {
        Type { unit: self.unit, raw: call!(self.unit, clang_getArrayElementType(self.raw)) }
    }

    /// Whether it is `const`.
    pub fn is_const(self) -> bool {
        call!(self.unit, clang_isConstQualifiedType(self.raw)) != 0
    }

    /// Whether it is `volatile`.
    pub fn is_volatile(self) -> bool {
        call!(self.unit, clang_isVolatileQualifiedType(self.raw)) != 0
    }

    /// The integer type behind an enumeration.
    pub fn enum_integer(self) -> Type<'u> {
        let declaration = call!(self.unit, clang_getTypeDeclaration(self.raw));
        Type { unit: self.unit, raw: call!(self.unit, clang_getEnumDeclIntegerType(declaration)) }
    }

    /// Its size, if it has one.
    pub fn n_bytes(self) -> Option<u64> {
        u64::try_from(call!(self.unit, clang_Type_getSizeOf(self.raw))).ok()
    }
}
