//! From a module to its code as plain data.

use super::{
    Definition, IrModule, IrPlace,
    code::{
        Arithmetic, Code, CodeOperand, CodeType, FunctionCode, GlobalVariable, LocalVariable, ModuleCode,
        Opcode, Predicate,
    },
    debug::{Files, declared_variable, global_source, place_of},
    read::{instructions, name, walk_functions},
};
use inkwell::{
    llvm_sys::{
        LLVMIntPredicate, LLVMLinkage, LLVMOpcode::*, LLVMRealPredicate, LLVMTypeKind::*, LLVMValueKind,
        core::*, prelude::*, target::*,
    },
    module::Module,
};
use std::collections::HashMap;

/// Reads the code of the module that `ir` was read from.
pub fn read_code(module: &Module, ir: &IrModule) -> ModuleCode {
    let mut files = Files::starting_with(&ir.files);
    let declared = declared_variables(module, &mut files);
    let mut reader = Reader { globals: Vec::new(), number_of: HashMap::new(), layout: std::ptr::null_mut() };
    // SAFETY: the module is alive while it is read, and nobody changes it.
    unsafe {
        reader.layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
        let mut global = LLVMGetFirstGlobal(module.as_mut_ptr());
        while !global.is_null() {
            reader.number_of.insert(global, reader.globals.len() as u32);
            let source = global_source(&mut files, global);
            let linkage = LLVMGetLinkage(global);
            reader.globals.push(GlobalVariable {
                symbol: name(global),
                line: source.as_ref().map(|(_, line)| *line),
                name: source.map(|(name, _)| name),
                is_external: !matches!(
                    linkage,
                    LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
                ),
            });
            global = LLVMGetNextGlobal(global);
        }
    }
    let functions = walk_functions(module)
        .into_iter()
        .map(|function| reader.function(function, declared.get(&function).map_or(&[], Vec::as_slice)))
        .collect();
    ModuleCode { functions, globals: reader.globals }
}

/// A declaration: the storage, the variable's name, where the name stands.
type Declared = (LLVMValueRef, String, Option<IrPlace>);

/// The declarations of variables by function.
///
/// The C API shows debug records only as the calls they once were. Turning them into calls and back leaves every
/// instruction as it is.
fn declared_variables(module: &Module, files: &mut Files) -> HashMap<LLVMValueRef, Vec<Declared>> {
    let raw = module.as_mut_ptr();
    let mut declared: HashMap<LLVMValueRef, Vec<Declared>> = HashMap::new();
    // SAFETY: the module is alive; the format is the same after as before.
    unsafe {
        let is_new = LLVMIsNewDbgInfoFormat(raw);
        LLVMSetIsNewDbgInfoFormat(raw, 0);
        for function in walk_functions(module) {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                for instruction in instructions(block) {
                    if LLVMGetInstructionOpcode(instruction) == LLVMCall
                        && let Some((storage, name)) = declared_variable(instruction)
                    {
                        let place = place_of(files, instruction);
                        declared.entry(function).or_default().push((storage, name, place));
                    }
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
        LLVMSetIsNewDbgInfoFormat(raw, is_new);
    }
    declared
}

struct Reader {
    globals: Vec<GlobalVariable>,
    number_of: HashMap<LLVMValueRef, u32>,
    layout: LLVMTargetDataRef,
}

impl Reader {
    fn function(&self, function: LLVMValueRef, declared: &[Declared]) -> FunctionCode {
        let mut values = HashMap::new();
        let mut block_of = HashMap::new();
        let mut code = FunctionCode::default();
        // SAFETY: the function belongs to a live module that nobody changes while it is read.
        unsafe {
            for index in 0..LLVMCountParams(function) {
                values.insert(LLVMGetParam(function, index), CodeOperand::Argument(index));
            }
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let number = block_of.len();
                block_of.insert(block, number);
                code.has_label_values |= has_address(block);
                for (index, instruction) in instructions(block).into_iter().enumerate() {
                    let at = Definition { block: number, instruction: index };
                    values.insert(instruction, CodeOperand::Result(at));
                }
                block = LLVMGetNextBasicBlock(block);
            }
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let instructions = instructions(block);
                code.has_label_values |= instructions
                    .iter()
                    .any(|instruction| LLVMGetInstructionOpcode(*instruction) == LLVMIndirectBr);
                code.blocks.push(
                    instructions
                        .into_iter()
                        .map(|instruction| self.code(instruction, &values, &block_of))
                        .collect(),
                );
                block = LLVMGetNextBasicBlock(block);
            }
        }
        for (storage, name, place) in declared {
            if let Some(CodeOperand::Result(storage)) = values.get(storage)
                && code.at(*storage).opcode == Opcode::Alloca
            {
                code.locals.push(LocalVariable { storage: *storage, name: name.clone(), place: *place });
            }
        }
        code
    }

    /// # Safety
    /// `instruction` belongs to a live module and to the function the tables were made for.
    unsafe fn code(
        &self,
        instruction: LLVMValueRef,
        values: &HashMap<LLVMValueRef, CodeOperand>,
        block_of: &HashMap<LLVMBasicBlockRef, usize>,
    ) -> Code {
        // SAFETY: each call below fits the opcode it is made for.
        unsafe {
            let operand = |value: LLVMValueRef| match values.get(&value) {
                Some(operand) => *operand,
                None => self.constant(value),
            };
            let opcode = opcode(instruction, self.layout, block_of);
            let operands = match &opcode {
                Opcode::Phi(blocks) => (0..blocks.len() as u32)
                    .map(|index| operand(LLVMGetIncomingValue(instruction, index)))
                    .collect(),
                Opcode::Call => (0..LLVMGetNumArgOperands(instruction))
                    .map(|index| operand(LLVMGetOperand(instruction, index)))
                    .collect(),
                Opcode::Branch => vec![operand(LLVMGetCondition(instruction))],
                _ => (0..LLVMGetNumOperands(instruction).unsigned_abs())
                    .map(|index| operand(LLVMGetOperand(instruction, index)))
                    .collect(),
            };
            Code { opcode, result: code_type(LLVMTypeOf(instruction)), operands }
        }
    }

    /// # Safety
    /// `value` belongs to a live module.
    unsafe fn constant(&self, value: LLVMValueRef) -> CodeOperand {
        // SAFETY: each call below fits the kind it is made for.
        unsafe {
            match LLVMGetValueKind(value) {
                LLVMValueKind::LLVMConstantIntValueKind => match code_type(LLVMTypeOf(value)) {
                    CodeType::Int(bits @ 0..=64) => {
                        CodeOperand::Integer { bits, value: LLVMConstIntGetSExtValue(value) }
                    }
                    _ => CodeOperand::Other,
                },
                LLVMValueKind::LLVMConstantFPValueKind => match code_type(LLVMTypeOf(value)) {
                    CodeType::Float(bits @ (32 | 64)) => {
                        let mut loses = 0;
                        let value = LLVMConstRealGetDouble(value, &mut loses);
                        CodeOperand::Float { bits, value: value.to_bits() }
                    }
                    _ => CodeOperand::Other,
                },
                LLVMValueKind::LLVMConstantPointerNullValueKind => CodeOperand::Null,
                LLVMValueKind::LLVMGlobalVariableValueKind => match self.number_of.get(&value) {
                    Some(global) => CodeOperand::Global { global: *global, offset: 0 },
                    None => CodeOperand::Other,
                },
                LLVMValueKind::LLVMConstantExprValueKind
                    if LLVMGetConstOpcode(value) == LLVMGetElementPtr =>
                {
                    let base = self.constant(LLVMGetOperand(value, 0));
                    match (base, offset(value, self.layout)) {
                        (CodeOperand::Global { global, offset }, Some(more)) => {
                            CodeOperand::Global { global, offset: offset + more }
                        }
                        _ => CodeOperand::Other,
                    }
                }
                _ => CodeOperand::Other,
            }
        }
    }
}

/// # Safety
/// `block` belongs to a live module.
unsafe fn has_address(block: LLVMBasicBlockRef) -> bool {
    // SAFETY: promised by the caller; the list of uses does not change while we walk it.
    unsafe {
        let mut used = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
        while !used.is_null() {
            if LLVMGetValueKind(LLVMGetUser(used)) == LLVMValueKind::LLVMBlockAddressValueKind {
                return true;
            }
            used = LLVMGetNextUse(used);
        }
        false
    }
}

/// # Safety
/// `instruction` belongs to a live module whose layout is given.
unsafe fn opcode(
    instruction: LLVMValueRef,
    layout: LLVMTargetDataRef,
    block_of: &HashMap<LLVMBasicBlockRef, usize>,
) -> Opcode {
    use Arithmetic::*;
    // SAFETY: each call below fits the opcode it is made for.
    unsafe {
        let is_volatile = || LLVMGetVolatile(instruction) != 0 || is_atomic(instruction);
        match LLVMGetInstructionOpcode(instruction) {
            LLVMAlloca => Opcode::Alloca,
            LLVMLoad => Opcode::Load { is_volatile: is_volatile() },
            LLVMStore => Opcode::Store { is_volatile: is_volatile() },
            LLVMGetElementPtr => Opcode::ElementPointer { offset: offset(instruction, layout) },
            LLVMAdd => Opcode::Arithmetic(Add),
            LLVMSub => Opcode::Arithmetic(Sub),
            LLVMMul => Opcode::Arithmetic(Mul),
            LLVMSDiv => Opcode::Arithmetic(SDiv),
            LLVMUDiv => Opcode::Arithmetic(UDiv),
            LLVMSRem => Opcode::Arithmetic(SRem),
            LLVMURem => Opcode::Arithmetic(URem),
            LLVMShl => Opcode::Arithmetic(Shl),
            LLVMLShr => Opcode::Arithmetic(LShr),
            LLVMAShr => Opcode::Arithmetic(AShr),
            LLVMAnd => Opcode::Arithmetic(And),
            LLVMOr => Opcode::Arithmetic(Or),
            LLVMXor => Opcode::Arithmetic(Xor),
            LLVMFAdd => Opcode::Arithmetic(FAdd),
            LLVMFSub => Opcode::Arithmetic(FSub),
            LLVMFMul => Opcode::Arithmetic(FMul),
            LLVMFDiv => Opcode::Arithmetic(FDiv),
            LLVMFNeg => Opcode::Arithmetic(FNeg),
            LLVMICmp => Opcode::Compare(integer_predicate(LLVMGetICmpPredicate(instruction))),
            LLVMFCmp => Opcode::Compare(float_predicate(LLVMGetFCmpPredicate(instruction))),
            LLVMSExt | LLVMSIToFP | LLVMFPToSI => Opcode::Convert { is_signed: true },
            LLVMZExt | LLVMTrunc | LLVMUIToFP | LLVMFPToUI | LLVMFPExt | LLVMFPTrunc | LLVMPtrToInt
            | LLVMIntToPtr => Opcode::Convert { is_signed: false },
            LLVMSelect => Opcode::Select,
            LLVMPHI => {
                let incoming = 0..LLVMCountIncoming(instruction);
                Opcode::Phi(
                    incoming.map(|index| block_of[&LLVMGetIncomingBlock(instruction, index)]).collect(),
                )
            }
            LLVMCall | LLVMInvoke => Opcode::Call,
            LLVMBr if LLVMIsConditional(instruction) != 0 => Opcode::Branch,
            LLVMRet => Opcode::Return,
            _ => Opcode::Other,
        }
    }
}

/// # Safety
/// `access` is a load or store of a live module.
unsafe fn is_atomic(access: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller.
    unsafe { LLVMGetOrdering(access) != inkwell::llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic }
}

/// By how many bytes a `getelementptr` moves its pointer, if all indices are constant.
///
/// # Safety
/// `pointer` is a `getelementptr` of a live module whose layout is given.
unsafe fn offset(pointer: LLVMValueRef, layout: LLVMTargetDataRef) -> Option<i64> {
    // SAFETY: promised by the caller; types are followed as the indices do.
    unsafe {
        let mut current = LLVMGetGEPSourceElementType(pointer);
        let mut total = 0i64;
        for index in 1..LLVMGetNumOperands(pointer).unsigned_abs() {
            let value = LLVMGetOperand(pointer, index);
            if LLVMGetValueKind(value) != LLVMValueKind::LLVMConstantIntValueKind {
                return None;
            }
            let value = LLVMConstIntGetSExtValue(value);
            if index > 1 {
                match LLVMGetTypeKind(current) {
                    LLVMStructTypeKind => {
                        let field = u32::try_from(value).ok()?;
                        total += LLVMOffsetOfElement(layout, current, field) as i64;
                        current = LLVMStructGetTypeAtIndex(current, field);
                        continue;
                    }
                    LLVMArrayTypeKind => current = LLVMGetElementType(current),
                    _ => return None,
                }
            }
            if value != 0 {
                total = total.checked_add(value.checked_mul(LLVMABISizeOfType(layout, current) as i64)?)?;
            }
        }
        Some(total)
    }
}

/// # Safety
/// `value_type` belongs to a live context.
unsafe fn code_type(value_type: LLVMTypeRef) -> CodeType {
    // SAFETY: promised by the caller.
    unsafe {
        match LLVMGetTypeKind(value_type) {
            LLVMVoidTypeKind => CodeType::Void,
            LLVMIntegerTypeKind => CodeType::Int(LLVMGetIntTypeWidth(value_type)),
            LLVMFloatTypeKind => CodeType::Float(32),
            LLVMDoubleTypeKind => CodeType::Float(64),
            LLVMPointerTypeKind => CodeType::Pointer,
            _ => CodeType::Other,
        }
    }
}

fn integer_predicate(predicate: LLVMIntPredicate) -> Predicate {
    match predicate {
        LLVMIntPredicate::LLVMIntEQ => Predicate::Eq,
        LLVMIntPredicate::LLVMIntNE => Predicate::Ne,
        LLVMIntPredicate::LLVMIntUGT => Predicate::Ugt,
        LLVMIntPredicate::LLVMIntUGE => Predicate::Uge,
        LLVMIntPredicate::LLVMIntULT => Predicate::Ult,
        LLVMIntPredicate::LLVMIntULE => Predicate::Ule,
        LLVMIntPredicate::LLVMIntSGT => Predicate::Sgt,
        LLVMIntPredicate::LLVMIntSGE => Predicate::Sge,
        LLVMIntPredicate::LLVMIntSLT => Predicate::Slt,
        LLVMIntPredicate::LLVMIntSLE => Predicate::Sle,
    }
}

fn float_predicate(predicate: LLVMRealPredicate) -> Predicate {
    match predicate {
        LLVMRealPredicate::LLVMRealOEQ => Predicate::Oeq,
        LLVMRealPredicate::LLVMRealUNE => Predicate::Une,
        LLVMRealPredicate::LLVMRealOGT => Predicate::Ogt,
        LLVMRealPredicate::LLVMRealOGE => Predicate::Oge,
        LLVMRealPredicate::LLVMRealOLT => Predicate::Olt,
        LLVMRealPredicate::LLVMRealOLE => Predicate::Ole,
        _ => Predicate::OtherFloat,
    }
}
