//! From a module to plain data.

use super::{
    Callee, Definition, IrBlock, IrFunction, IrInstruction, IrKind, IrModule, IrSwitch,
    debug::{Files, place_of, source_of, text},
};
use inkwell::{
    llvm_sys::{LLVMOpcode::*, LLVMTypeKind, LLVMValueKind, core::*, prelude::*},
    module::Module,
};
use std::collections::HashMap;

/// The functions with a body, in module order; the same for every copy of the same bitcode.
pub fn walk_functions(module: &Module) -> Vec<LLVMValueRef> {
    let mut functions = Vec::new();
    // SAFETY: the module is alive while we walk its list of functions.
    unsafe {
        let mut function = LLVMGetFirstFunction(module.as_mut_ptr());
        while !function.is_null() {
            if LLVMIsDeclaration(function) == 0 {
                functions.push(function);
            }
            function = LLVMGetNextFunction(function);
        }
    }
    functions
}

/// Reads a whole module.
pub fn read_module(module: &Module) -> IrModule {
    let functions = walk_functions(module);
    let index_of = functions.iter().enumerate().map(|(index, function)| (*function, index)).collect();
    let mut reader = Reader { files: Files::default(), index_of };
    let functions = functions.into_iter().map(|function| reader.function(function)).collect();
    IrModule { files: reader.files.paths, functions }
}

struct Reader {
    files: Files,
    index_of: HashMap<LLVMValueRef, usize>,
}

impl Reader {
    fn function(&mut self, function: LLVMValueRef) -> IrFunction {
        let mut block_of = HashMap::new();
        let mut defined_at = HashMap::new();
        let mut blocks = Vec::new();
        // SAFETY: the function belongs to a live module that nobody changes while it is read.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(function));
            let source = source_of(&mut self.files, context, function);
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                block_of.insert(block, block_of.len());
                for (index, instruction) in instructions(block).into_iter().enumerate() {
                    let definition = Definition { block: block_of.len() - 1, instruction: index };
                    defined_at.insert(instruction, definition);
                }
                block = LLVMGetNextBasicBlock(block);
            }
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let instructions = instructions(block)
                    .into_iter()
                    .map(|instruction| IrInstruction {
                        place: place_of(&mut self.files, instruction),
                        kind: self.kind(instruction, &block_of, &defined_at),
                    })
                    .collect();
                blocks.push(IrBlock { instructions });
                block = LLVMGetNextBasicBlock(block);
            }
            let naked = LLVMGetEnumAttributeKindForName(c"naked".as_ptr(), 5);
            IrFunction {
                symbol: name(function),
                source,
                blocks,
                is_naked: !LLVMGetEnumAttributeAtIndex(function, u32::MAX, naked).is_null(),
                address_taken: address_taken(function),
                signature: printed(LLVMGlobalGetValueType(function)),
            }
        }
    }

    /// # Safety
    /// `instruction` belongs to a live module and to the function the tables were made for.
    unsafe fn kind(
        &self,
        instruction: LLVMValueRef,
        block_of: &HashMap<LLVMBasicBlockRef, usize>,
        defined_at: &HashMap<LLVMValueRef, Definition>,
    ) -> IrKind {
        let defined = |value: LLVMValueRef| defined_at.get(&value).copied();
        // SAFETY: each call below fits the opcode it is made for.
        unsafe {
            let way = |index: u32| block_of[&LLVMGetSuccessor(instruction, index)];
            let ways = || (0..LLVMGetNumSuccessors(instruction)).map(way).collect::<Vec<_>>();
            match LLVMGetInstructionOpcode(instruction) {
                LLVMCall => IrKind::Call(self.callee(instruction)),
                LLVMInvoke => IrKind::Invoke(self.callee(instruction), [way(0), way(1)]),
                LLVMPHI if is_bool(instruction) => {
                    let entry = |index| {
                        let value = LLVMGetIncomingValue(instruction, index);
                        (value, block_of[&LLVMGetIncomingBlock(instruction, index)])
                    };
                    let entries: Vec<_> = (0..LLVMCountIncoming(instruction)).map(entry).collect();
                    let is = |wanted: bool| {
                        let mut others = entries.iter().filter(|(value, _)| defined(*value).is_none());
                        others.all(|(value, _)| {
                            !LLVMIsAConstantInt(*value).is_null()
                                && (LLVMConstIntGetZExtValue(*value) != 0) == wanted
                        })
                    };
                    IrKind::BoolPhi {
                        constant: [false, true].into_iter().find(|wanted| is(*wanted)),
                        incoming: entries.iter().map(|(value, block)| (defined(*value), *block)).collect(),
                    }
                }
                LLVMXor if is_bool(instruction) && LLVMIsConstant(LLVMGetOperand(instruction, 1)) != 0 => {
                    IrKind::Not(defined(LLVMGetOperand(instruction, 0)))
                }
                LLVMSelect if is_bool(LLVMGetOperand(instruction, 0)) => {
                    IrKind::Select(defined(LLVMGetOperand(instruction, 0)))
                }
                LLVMBr if LLVMIsConditional(instruction) != 0 => {
                    IrKind::Branch(defined(LLVMGetCondition(instruction)), [way(0), way(1)])
                }
                LLVMBr => IrKind::Jump(way(0)),
                LLVMSwitch => {
                    let cases = (1..LLVMGetNumSuccessors(instruction))
                        .map(|index| {
                            let value = LLVMGetOperand(instruction, 2 * index);
                            (LLVMConstIntGetSExtValue(value), way(index))
                        })
                        .collect();
                    let bits = LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
                    IrKind::Switch(IrSwitch { default: way(0), cases, bits })
                }
                LLVMRet => IrKind::Return,
                LLVMUnreachable => IrKind::Unreachable,
                LLVMIndirectBr | LLVMResume | LLVMCallBr | LLVMCatchSwitch | LLVMCatchRet
                | LLVMCleanupRet => IrKind::OtherEnd(ways()),
                LLVMLoad => IrKind::Other { can_crash: !is_local(LLVMGetOperand(instruction, 0)) },
                LLVMStore => IrKind::Other { can_crash: !is_local(LLVMGetOperand(instruction, 1)) },
                LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMAtomicCmpXchg | LLVMAtomicRMW | LLVMVAArg => {
                    IrKind::Other { can_crash: true }
                }
                _ => IrKind::Other { can_crash: false },
            }
        }
    }

    /// # Safety
    /// `call` is a call or invoke of a live module.
    unsafe fn callee(&self, call: LLVMValueRef) -> Callee {
        // SAFETY: promised by the caller.
        unsafe {
            let callee = LLVMGetCalledValue(call);
            if let Some(index) = self.index_of.get(&callee) {
                return Callee::Defined(*index);
            }
            if LLVMIsAInlineAsm(callee).is_null() && LLVMIsAFunction(callee).is_null() {
                return Callee::Indirect(printed(LLVMGetCalledFunctionType(call)));
            }
            let name = name(callee);
            if !LLVMIsAInlineAsm(callee).is_null() || name.starts_with("llvm.") {
                return Callee::Intrinsic;
            }
            let no_return = LLVMGetEnumAttributeKindForName(c"noreturn".as_ptr(), 8);
            let marked = !LLVMGetEnumAttributeAtIndex(callee, u32::MAX, no_return).is_null()
                || !LLVMGetCallSiteEnumAttribute(call, u32::MAX, no_return).is_null();
            Callee::External { name, no_return: marked }
        }
    }
}

/// # Safety
/// `block` belongs to a live module.
pub unsafe fn instructions(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    let mut instructions = Vec::new();
    // SAFETY: promised by the caller.
    unsafe {
        let mut instruction = LLVMGetFirstInstruction(block);
        while !instruction.is_null() {
            instructions.push(instruction);
            instruction = LLVMGetNextInstruction(instruction);
        }
    }
    instructions
}

/// # Safety
/// `value` belongs to a live module.
unsafe fn is_bool(value: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        let value_type = LLVMTypeOf(value);
        LLVMGetTypeKind(value_type) == LLVMTypeKind::LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(value_type) == 1
    }
}

/// Whether a pointer surely points to a variable: a local one or a global.
///
/// # Safety
/// `pointer` belongs to a live module.
unsafe fn is_local(pointer: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller.
    unsafe { !LLVMIsAAllocaInst(pointer).is_null() || !LLVMIsAGlobalVariable(pointer).is_null() }
}

/// # Safety
/// `value` belongs to a live module.
pub(super) unsafe fn name(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the name lives as long as the value.
    unsafe { text(LLVMGetValueName2(value, &mut length), length) }
}

/// # Safety
/// `printed_type` belongs to a live context.
unsafe fn printed(printed_type: LLVMTypeRef) -> String {
    // SAFETY: LLVM hands over a string that we copy and give back.
    unsafe {
        let message = LLVMPrintTypeToString(printed_type);
        let printed = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        printed
    }
}

/// # Safety
/// `function` belongs to a live module.
unsafe fn address_taken(function: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller; the list of uses does not change while we walk it.
    unsafe {
        let mut used = LLVMGetFirstUse(function);
        while !used.is_null() {
            let user = LLVMGetUser(used);
            let is_call = LLVMGetValueKind(user) == LLVMValueKind::LLVMInstructionValueKind
                && matches!(LLVMGetInstructionOpcode(user), LLVMCall | LLVMInvoke)
                && LLVMGetCalledValue(user) == function
                && (0..LLVMGetNumArgOperands(user)).all(|index| LLVMGetOperand(user, index) != function);
            if !is_call {
                return true;
            }
            used = LLVMGetNextUse(used);
        }
        false
    }
}
