//! Types, described once each.

use crate::clang::Type;
use cairn_model::facts::{TypeClass, TypeFact};
use clang_sys::*;
use std::{cell::RefCell, collections::HashMap};

/// Descriptions of the types met so far.
#[derive(Default)]
pub struct Types {
    known: RefCell<HashMap<(CXTypeKind, usize), TypeFact>>,
}

impl Types {
    /// Describes a type.
    pub fn describe(&self, value_type: Type<'_>) -> TypeFact {
        let identity = value_type.identity();
        if let Some(fact) = self.known.borrow().get(&identity) {
            return fact.clone();
        }
        let class = class(value_type);
        let bits = if has_size(value_type, class) { n_bits(value_type) } else { 0 };
        let fact = TypeFact { spelling: value_type.spelling(), class, bits };
        self.known.borrow_mut().insert(identity, fact.clone());
        fact
    }
}

/// Whether libclang may be asked for the size; it crashes on types that only exist inside clang, such as that of
/// a builtin function's name.
fn has_size(value_type: Type<'_>, class: TypeClass) -> bool {
    let is_function = matches!(value_type.canonical().kind(), CXType_FunctionProto | CXType_FunctionNoProto);
    !is_function && !matches!(class, TypeClass::Void | TypeClass::Other)
}

fn n_bits(value_type: Type<'_>) -> u32 {
    let n_bytes = value_type.n_bytes().unwrap_or(0);
    u32::try_from(n_bytes.saturating_mul(8)).unwrap_or(0)
}

/// The class of a type, typedefs resolved.
pub fn class(value_type: Type<'_>) -> TypeClass {
    let canonical = value_type.canonical();
    match canonical.kind() {
        CXType_Void => TypeClass::Void,
        CXType_Bool => TypeClass::Bool,
        CXType_Char_U | CXType_UChar | CXType_Char16 | CXType_Char32 | CXType_UShort | CXType_UInt
        | CXType_ULong | CXType_ULongLong | CXType_UInt128 => TypeClass::Unsigned,
        CXType_Char_S | CXType_SChar | CXType_WChar | CXType_Short | CXType_Int | CXType_Long
        | CXType_LongLong | CXType_Int128 => TypeClass::Signed,
        CXType_Float | CXType_Double | CXType_LongDouble | CXType_Float128 | CXType_Half | CXType_Float16
        | CXType_BFloat16 => TypeClass::Float,
        CXType_Enum => class(canonical.enum_integer()),
        CXType_Pointer
        | CXType_NullPtr
        | CXType_LValueReference
        | CXType_RValueReference
        | CXType_MemberPointer
        | CXType_BlockPointer
        | CXType_ConstantArray
        | CXType_IncompleteArray
        | CXType_VariableArray
        | CXType_DependentSizedArray
        | CXType_FunctionProto
        | CXType_FunctionNoProto => TypeClass::Pointer,
        CXType_Record => TypeClass::Record,
        _ => TypeClass::Other,
    }
}
