//! Formulas as instructions.

use cairn_model::mutants::{
    BinaryOperation, Comparison, Conversion, Formula, Node, NodeIndex, UnaryOperation, ValueType,
};
use inkwell::llvm_sys::{
    LLVMInlineAsmDialect, LLVMIntPredicate::*, LLVMRealPredicate::*, LLVMTypeKind, core::*, prelude::*,
};

/// What a formula finds at its patch.
pub struct Values<'a> {
    /// The value that is there.
    pub original: LLVMValueRef,
    /// The spot's operands.
    pub operands: &'a [LLVMValueRef],
    /// The function's variables: where each is, and the type of its value.
    pub variables: &'a [(LLVMValueRef, Option<ValueType>)],
}

/// How formulas treat what could stop the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As the machine does: a division by zero raises SIGFPE. Makes blocks of its own.
    Real,
    /// It never stops: the result is then arbitrary, and said to be uncertain. Makes no blocks.
    Trial,
}

/// Builds formulas at a builder's position.
pub struct FormulaBuilder {
    /// Where instructions go.
    pub builder: LLVMBuilderRef,
    /// The module's context.
    pub context: LLVMContextRef,
    /// How to treat what could stop the program.
    pub manner: Manner,
    /// Set where a trial had to avoid something: a truth value.
    pub uncertain: Option<LLVMValueRef>,
}

impl FormulaBuilder {
    /// The formula's value; `None` if it does not fit the values.
    ///
    /// # Safety
    /// The builder is positioned where all values are defined.
    pub unsafe fn build(&mut self, formula: &Formula, values: &Values) -> Option<LLVMValueRef> {
        let mut built: Vec<LLVMValueRef> = Vec::with_capacity(formula.nodes.len());
        for node in &formula.nodes {
            // SAFETY: promised by the caller; nodes refer to earlier ones.
            let value = unsafe { self.node(node, &built, values) }?;
            built.push(value);
        }
        built.last().copied()
    }

    unsafe fn node(&mut self, node: &Node, built: &[LLVMValueRef], values: &Values) -> Option<LLVMValueRef> {
        let at = |index: &NodeIndex| built.get(*index as usize).copied();
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned where all values are defined; types are checked before they are used.
        unsafe {
            Some(match node {
                Node::Original => values.original,
                Node::Operand(number) => *values.operands.get(*number as usize)?,
                Node::Integer(ValueType::Pointer, 0) => LLVMConstNull(self.type_of(ValueType::Pointer)),
                Node::Integer(value_type, value) => {
                    LLVMConstInt(self.integer_type(*value_type)?, *value as u64, 1)
                }
                Node::Float(value_type, bits) => {
                    LLVMConstReal(self.type_of(*value_type), f64::from_bits(*bits))
                }
                Node::Variable(number) => {
                    let (place, value_type) = *values.variables.get(*number as usize)?;
                    self.load(place, value_type?)
                }
                Node::AddressOf(number) => values.variables.get(*number as usize)?.0,
                Node::Offset(pointer, distance) => {
                    let mut distance =
                        [LLVMConstInt(LLVMInt64TypeInContext(self.context), *distance as u64, 1)];
                    let byte = LLVMInt8TypeInContext(self.context);
                    LLVMBuildGEP2(self.builder, byte, at(pointer)?, distance.as_mut_ptr(), 1, none)
                }
                Node::Unary(operation, of) => self.unary(*operation, at(of)?)?,
                Node::Binary(operation, left, right) => self.binary(*operation, at(left)?, at(right)?)?,
                Node::Compare(comparison, left, right) => self.compare(*comparison, at(left)?, at(right)?)?,
                Node::Convert(conversion, to, from) => self.convert(*conversion, *to, at(from)?)?,
            })
        }
    }

    /// The type of values in registers.
    pub fn type_of(&self, value_type: ValueType) -> LLVMTypeRef {
        // SAFETY: the context is alive.
        unsafe {
            match value_type {
                ValueType::Bool => LLVMInt1TypeInContext(self.context),
                ValueType::Int { bits, .. } => LLVMIntTypeInContext(self.context, u32::from(bits)),
                ValueType::Float { bits: 32 } => LLVMFloatTypeInContext(self.context),
                ValueType::Float { .. } => LLVMDoubleTypeInContext(self.context),
                ValueType::Pointer => LLVMPointerTypeInContext(self.context, 0),
            }
        }
    }

    fn integer_type(&self, value_type: ValueType) -> Option<LLVMTypeRef> {
        matches!(value_type, ValueType::Bool | ValueType::Int { .. }).then(|| self.type_of(value_type))
    }

    /// A truth value is a byte in memory.
    unsafe fn load(&self, place: LLVMValueRef, value_type: ValueType) -> LLVMValueRef {
        // SAFETY: `place` is the address of a variable of this type.
        unsafe {
            let byte = LLVMInt8TypeInContext(self.context);
            let in_memory = if value_type == ValueType::Bool { byte } else { self.type_of(value_type) };
            let value = LLVMBuildLoad2(self.builder, in_memory, place, c"".as_ptr());
            if value_type == ValueType::Bool {
                return LLVMBuildTrunc(self.builder, value, self.type_of(value_type), c"".as_ptr());
            }
            value
        }
    }

    unsafe fn unary(&self, operation: UnaryOperation, of: LLVMValueRef) -> Option<LLVMValueRef> {
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned; kinds of types are checked.
        unsafe {
            let value_type = LLVMTypeOf(of);
            let kind = Kind::of(value_type)?;
            Some(match (operation, kind) {
                (UnaryOperation::Negate, Kind::Integer) => LLVMBuildNeg(self.builder, of, none),
                (UnaryOperation::Negate, Kind::Float) => LLVMBuildFNeg(self.builder, of, none),
                (UnaryOperation::Complement, Kind::Integer) => LLVMBuildNot(self.builder, of, none),
                (UnaryOperation::Absolute, Kind::Integer) => {
                    let zero = LLVMConstNull(value_type);
                    let is_negative = LLVMBuildICmp(self.builder, LLVMIntSLT, of, zero, none);
                    let negated = LLVMBuildNeg(self.builder, of, none);
                    LLVMBuildSelect(self.builder, is_negative, negated, of, none)
                }
                _ => return None,
            })
        }
    }

    unsafe fn binary(
        &mut self,
        operation: BinaryOperation,
        left: LLVMValueRef,
        right: LLVMValueRef,
    ) -> Option<LLVMValueRef> {
        use BinaryOperation::*;
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned; kinds of types are checked.
        unsafe {
            let value_type = LLVMTypeOf(left);
            if value_type != LLVMTypeOf(right) {
                return None;
            }
            let builder = self.builder;
            Some(match (operation, Kind::of(value_type)?) {
                (Add, Kind::Integer) => LLVMBuildAdd(builder, left, right, none),
                (Add, Kind::Float) => LLVMBuildFAdd(builder, left, right, none),
                (Subtract, Kind::Integer) => LLVMBuildSub(builder, left, right, none),
                (Subtract, Kind::Float) => LLVMBuildFSub(builder, left, right, none),
                (Multiply, Kind::Integer) => LLVMBuildMul(builder, left, right, none),
                (Multiply, Kind::Float) => LLVMBuildFMul(builder, left, right, none),
                (FloatDivide, Kind::Float) => LLVMBuildFDiv(builder, left, right, none),
                (SignedDivide, Kind::Integer) => {
                    let right = self.safe_divisor(left, right, true);
                    LLVMBuildSDiv(builder, left, right, none)
                }
                (SignedRemainder, Kind::Integer) => {
                    let right = self.safe_divisor(left, right, true);
                    LLVMBuildSRem(builder, left, right, none)
                }
                (UnsignedDivide, Kind::Integer) => {
                    let right = self.safe_divisor(left, right, false);
                    LLVMBuildUDiv(builder, left, right, none)
                }
                (UnsignedRemainder, Kind::Integer) => {
                    let right = self.safe_divisor(left, right, false);
                    LLVMBuildURem(builder, left, right, none)
                }
                (ShiftLeft | ShiftRightSigned | ShiftRightUnsigned, Kind::Integer) => {
                    let most = u64::from(LLVMGetIntTypeWidth(value_type).next_power_of_two() - 1);
                    let amount = LLVMBuildAnd(builder, right, LLVMConstInt(value_type, most, 0), none);
                    match operation {
                        ShiftLeft => LLVMBuildShl(builder, left, amount, none),
                        ShiftRightSigned => LLVMBuildAShr(builder, left, amount, none),
                        _ => LLVMBuildLShr(builder, left, amount, none),
                    }
                }
                (And, Kind::Integer) => LLVMBuildAnd(builder, left, right, none),
                (Or, Kind::Integer) => LLVMBuildOr(builder, left, right, none),
                (Xor, Kind::Integer) => LLVMBuildXor(builder, left, right, none),
                _ => return None,
            })
        }
    }

    /// A divisor with which dividing does not stop the program; if this one would, it is stopped first, or the result
    /// noted as uncertain.
    unsafe fn safe_divisor(
        &mut self,
        left: LLVMValueRef,
        right: LLVMValueRef,
        is_signed: bool,
    ) -> LLVMValueRef {
        let none = c"".as_ptr();
        // SAFETY: both are integers of one type; the builder is positioned in a block without an end.
        unsafe {
            let value_type = LLVMTypeOf(right);
            let builder = self.builder;
            let mut is_bad = LLVMBuildICmp(builder, LLVMIntEQ, right, LLVMConstNull(value_type), none);
            if is_signed {
                let least = least(value_type);
                let is_least = LLVMBuildICmp(builder, LLVMIntEQ, left, least, none);
                let is_minus_one =
                    LLVMBuildICmp(builder, LLVMIntEQ, right, LLVMConstAllOnes(value_type), none);
                let overflows = LLVMBuildAnd(builder, is_least, is_minus_one, none);
                is_bad = LLVMBuildOr(builder, is_bad, overflows, none);
            }
            match self.manner {
                Manner::Trial => {
                    self.uncertain = Some(match self.uncertain {
                        Some(before) => LLVMBuildOr(builder, before, is_bad, none),
                        None => is_bad,
                    });
                    LLVMBuildSelect(builder, is_bad, LLVMConstInt(value_type, 1, 0), right, none)
                }
                Manner::Real => {
                    let function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder));
                    let bad = LLVMAppendBasicBlockInContext(self.context, function, c"cairn.bad".as_ptr());
                    let good = LLVMAppendBasicBlockInContext(self.context, function, c"cairn.good".as_ptr());
                    LLVMBuildCondBr(builder, is_bad, bad, good);
                    LLVMPositionBuilderAtEnd(builder, bad);
                    self.raise_division_error();
                    LLVMBuildUnreachable(builder);
                    LLVMPositionBuilderAtEnd(builder, good);
                    right
                }
            }
        }
    }

    /// A division the optimiser cannot see: in the eyes of LLVM a division by zero need not happen.
    unsafe fn raise_division_error(&self) {
        let text = "xorl %ecx, %ecx\n\tdivl %ecx";
        let clobbers = "~{eax},~{ecx},~{edx},~{dirflag},~{fpsr},~{flags}";
        // SAFETY: the assembly names what it changes and does not come back.
        unsafe {
            let nothing = LLVMFunctionType(LLVMVoidTypeInContext(self.context), std::ptr::null_mut(), 0, 0);
            let divide = LLVMGetInlineAsm(
                nothing,
                text.as_ptr().cast(),
                text.len(),
                clobbers.as_ptr().cast(),
                clobbers.len(),
                1,
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            LLVMBuildCall2(self.builder, nothing, divide, std::ptr::null_mut(), 0, c"".as_ptr());
        }
    }

    unsafe fn compare(
        &self,
        comparison: Comparison,
        left: LLVMValueRef,
        right: LLVMValueRef,
    ) -> Option<LLVMValueRef> {
        use Comparison::*;
        // SAFETY: the builder is positioned; kinds of types are checked.
        unsafe {
            let value_type = LLVMTypeOf(left);
            if value_type != LLVMTypeOf(right) {
                return None;
            }
            let kind = Kind::of(value_type)?;
            if kind == Kind::Float {
                let predicate = match comparison {
                    Equal => LLVMRealOEQ,
                    NotEqual => LLVMRealUNE,
                    FloatLess => LLVMRealOLT,
                    FloatLessOrEqual => LLVMRealOLE,
                    _ => return None,
                };
                return Some(LLVMBuildFCmp(self.builder, predicate, left, right, c"".as_ptr()));
            }
            let predicate = match comparison {
                Equal => LLVMIntEQ,
                NotEqual => LLVMIntNE,
                SignedLess => LLVMIntSLT,
                SignedLessOrEqual => LLVMIntSLE,
                UnsignedLess => LLVMIntULT,
                UnsignedLessOrEqual => LLVMIntULE,
                FloatLess | FloatLessOrEqual => return None,
            };
            Some(LLVMBuildICmp(self.builder, predicate, left, right, c"".as_ptr()))
        }
    }

    unsafe fn convert(
        &self,
        conversion: Conversion,
        to: ValueType,
        from: LLVMValueRef,
    ) -> Option<LLVMValueRef> {
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned; kinds of types are checked.
        unsafe {
            let (builder, to_type) = (self.builder, self.type_of(to));
            let (from_kind, to_kind) = (Kind::of(LLVMTypeOf(from))?, Kind::of(to_type)?);
            let widths = || (LLVMGetIntTypeWidth(LLVMTypeOf(from)), LLVMGetIntTypeWidth(to_type));
            Some(match (conversion, from_kind, to_kind) {
                (Conversion::Truncate, Kind::Integer, Kind::Integer) if widths().0 > widths().1 => {
                    LLVMBuildTrunc(builder, from, to_type, none)
                }
                (Conversion::ZeroExtend, Kind::Integer, Kind::Integer) if widths().0 < widths().1 => {
                    LLVMBuildZExt(builder, from, to_type, none)
                }
                (Conversion::SignExtend, Kind::Integer, Kind::Integer) if widths().0 < widths().1 => {
                    LLVMBuildSExt(builder, from, to_type, none)
                }
                (Conversion::SignedToFloat, Kind::Integer, Kind::Float) => {
                    LLVMBuildSIToFP(builder, from, to_type, none)
                }
                (Conversion::UnsignedToFloat, Kind::Integer, Kind::Float) => {
                    LLVMBuildUIToFP(builder, from, to_type, none)
                }
                (Conversion::FloatToSigned, Kind::Float, Kind::Integer) => self.to_signed(from, to_type),
                (Conversion::FloatToUnsigned, Kind::Float, Kind::Integer) => self.to_unsigned(from, to_type),
                (Conversion::FloatToFloat, Kind::Float, Kind::Float) => {
                    LLVMBuildFPCast(builder, from, to_type, none)
                }
                (Conversion::PointerToInteger, Kind::Pointer, Kind::Integer) => {
                    LLVMBuildPtrToInt(builder, from, to_type, none)
                }
                _ => return None,
            })
        }
    }

    /// As `cvttsd2si` does: through 32 or 64 bits, and what does not fit becomes the least number of that width.
    unsafe fn to_signed(&self, from: LLVMValueRef, to_type: LLVMTypeRef) -> LLVMValueRef {
        let none = c"".as_ptr();
        // SAFETY: `from` is a float, `to_type` an integer type.
        unsafe {
            let (builder, from_type) = (self.builder, LLVMTypeOf(from));
            let width = LLVMGetIntTypeWidth(to_type);
            let through_width = if width <= 32 { 32 } else { 64 };
            let through = LLVMIntTypeInContext(self.context, through_width);
            let bound = (2f64).powi(through_width as i32 - 1);
            // A double tells the number below the least from it; for a float and 64 bits both are the same.
            let above = LLVMBuildFCmp(builder, LLVMRealOGE, from, LLVMConstReal(from_type, -bound), none);
            let below = LLVMBuildFCmp(builder, LLVMRealOLT, from, LLVMConstReal(from_type, bound), none);
            let fits = LLVMBuildAnd(builder, above, below, none);
            let tame = LLVMBuildSelect(builder, fits, from, LLVMConstReal(from_type, 0.0), none);
            let converted = LLVMBuildFPToSI(builder, tame, through, none);
            let value = LLVMBuildSelect(builder, fits, converted, least(through), none);
            match width {
                _ if width < through_width => LLVMBuildTrunc(builder, value, to_type, none),
                _ if width > through_width => LLVMBuildSExt(builder, value, to_type, none),
                _ => value,
            }
        }
    }

    /// Up to 32 bits through a signed number of 64; 64 bits by taking 2^63 off large numbers.
    unsafe fn to_unsigned(&self, from: LLVMValueRef, to_type: LLVMTypeRef) -> LLVMValueRef {
        let none = c"".as_ptr();
        // SAFETY: `from` is a float, `to_type` an integer type.
        unsafe {
            let (builder, from_type) = (self.builder, LLVMTypeOf(from));
            let wide = LLVMInt64TypeInContext(self.context);
            let width = LLVMGetIntTypeWidth(to_type);
            if width < 64 {
                let value = self.to_signed(from, wide);
                return LLVMBuildTrunc(builder, value, to_type, none);
            }
            let half = LLVMConstReal(from_type, (2f64).powi(63));
            let is_large = LLVMBuildFCmp(builder, LLVMRealOGE, from, half, none);
            let smaller = LLVMBuildFSub(builder, from, half, none);
            let tame = LLVMBuildSelect(builder, is_large, smaller, from, none);
            let value = self.to_signed(tame, wide);
            let added = LLVMBuildSelect(builder, is_large, least(wide), LLVMConstNull(wide), none);
            let value = LLVMBuildXor(builder, value, added, none);
            if width > 64 { LLVMBuildZExt(builder, value, to_type, none) } else { value }
        }
    }
}

/// The least signed number of an integer type.
///
/// # Safety
/// The type is an integer type of a live context.
unsafe fn least(value_type: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe {
        let top = LLVMGetIntTypeWidth(value_type) - 1;
        let mut words = [0u64; 2];
        words[top as usize / 64] = 1 << (top % 64);
        LLVMConstIntOfArbitraryPrecision(value_type, 1 + top / 64, words.as_ptr())
    }
}

/// Kinds of types that formulas know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Pointer,
}

impl Kind {
    /// # Safety
    /// The type belongs to a live context.
    unsafe fn of(value_type: LLVMTypeRef) -> Option<Self> {
        // SAFETY: promised by the caller.
        match unsafe { LLVMGetTypeKind(value_type) } {
            LLVMTypeKind::LLVMIntegerTypeKind => Some(Self::Integer),
            LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind => Some(Self::Float),
            LLVMTypeKind::LLVMPointerTypeKind => Some(Self::Pointer),
            _ => None,
        }
    }
}
