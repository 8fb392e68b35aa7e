//! Carries the placement out on a module.

use super::{
    Fuel,
    placement::{RegisterLoop, Steps, place},
    split::split_before,
};
use crate::{
    emit::EmitError,
    ir::{instructions, read_module, walk_functions},
    lower::{apart_from_program, edges},
};
use cairn_abi::view::{FUEL_SYMBOL, OUT_OF_FUEL_SYMBOL};
use inkwell::{
    llvm_sys::{
        LLVMAttributeFunctionIndex, LLVMIntPredicate, LLVMOpcode::*, LLVMVisibility, core::*, prelude::*,
    },
    module::Module,
};
use std::ffi::CString;

/// Makes a lowered and optimised module use fuel.
pub fn insert(module: &Module, fuel: Fuel) -> Result<(), EmitError> {
    let steps = place(&read_module(module), fuel);
    let inserter = Inserter::new(module);
    for (function, steps) in walk_functions(module).into_iter().zip(steps) {
        // SAFETY: the steps were placed in this very module.
        unsafe { inserter.function(function, &steps) };
    }
    inserter.finish();
    if cfg!(debug_assertions) {
        module.verify().map_err(|reason| EmitError::Broken { reason: reason.to_string() })?;
    }
    Ok(())
}

struct Inserter {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    fuel: LLVMValueRef,
    out_of_fuel: LLVMValueRef,
    tbaa_kind: u32,
    apart: LLVMValueRef,
    branch_kind: u32,
    hardly_ever: LLVMValueRef,
}

/// What a step compares and passes on.
struct Step {
    next: LLVMValueRef,
    is_out: LLVMValueRef,
}

impl Inserter {
    fn new(module: &Module) -> Self {
        let module = module.as_mut_ptr();
        let symbol = |name: &str| CString::new(name).expect("our symbols have no zero byte");
        let kind = |context, name: &str| {
            // SAFETY: the context is alive and the name as long as it says.
            unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) }
        };
        // SAFETY: the module is alive; everything made here belongs to its context.
        unsafe {
            let context = LLVMGetModuleContext(module);
            let mut fuel = LLVMGetNamedGlobal(module, symbol(FUEL_SYMBOL).as_ptr());
            if fuel.is_null() {
                // It is in another object of the view; what is only declared does not outlive the optimiser.
                fuel = LLVMAddGlobal(module, LLVMInt64TypeInContext(context), symbol(FUEL_SYMBOL).as_ptr());
                LLVMSetVisibility(fuel, LLVMVisibility::LLVMHiddenVisibility);
            }
            let out_type = LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0);
            let out_of_fuel = LLVMAddFunction(module, symbol(OUT_OF_FUEL_SYMBOL).as_ptr(), out_type);
            for name in ["cold", "noreturn", "nounwind"] {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                let attribute = LLVMCreateEnumAttribute(context, kind, 0);
                LLVMAddAttributeAtIndex(out_of_fuel, LLVMAttributeFunctionIndex, attribute);
            }
            let weight = |n| LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), n, 0));
            let name = "branch_weights";
            let name = LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len());
            let mut weights = [name, weight(1), weight((1 << 20) - 1)];
            let weights = LLVMMDNodeInContext2(context, weights.as_mut_ptr(), weights.len());
            Self {
                context,
                builder: LLVMCreateBuilderInContext(context),
                fuel,
                out_of_fuel,
                tbaa_kind: kind(context, "tbaa"),
                apart: LLVMMetadataAsValue(context, apart_from_program(context)),
                branch_kind: kind(context, "prof"),
                hardly_ever: LLVMMetadataAsValue(context, weights),
            }
        }
    }

    /// # Safety
    /// `steps` were placed in this function.
    unsafe fn function(&self, function: LLVMValueRef, steps: &Steps) {
        // Positions are resolved before anything is inserted, because insertions move them.
        // SAFETY: promised by the caller.
        unsafe {
            let blocks = blocks(function);
            let mut places = Vec::new();
            for call in &steps.after_calls {
                places.push(instructions(blocks[call.block])[call.instruction + 1]);
            }
            places.extend(steps.at_blocks.iter().map(|block| start(blocks[*block])));
            if steps.at_entry {
                places.push(first(blocks[0]));
            }
            let mut out = None;
            for place in places {
                self.step_before(place, &mut out);
            }
            for register_loop in &steps.in_register {
                self.register_loop(&blocks, register_loop);
            }
        }
    }

    /// Takes a step on the fuel in memory before an instruction. `out` is the function's block for running out.
    ///
    /// # Safety
    /// `at` belongs to the live module and is no phi.
    unsafe fn step_before(&self, at: LLVMValueRef, out: &mut Option<LLVMBasicBlockRef>) {
        // SAFETY: promised by the caller.
        unsafe {
            let on = LLVMGetInstructionParent(at);
            let block = split_before(self.builder, self.context, at);
            let out = *out.get_or_insert_with(|| self.add_out(on, None));
            LLVMPositionBuilderAtEnd(self.builder, block);
            let left = self.load();
            let step = self.step(left);
            self.store(step.next);
            self.leave(step, out, on);
        }
    }

    /// Makes a loop count in a register.
    ///
    /// ```text
    ///   before:                      ; each way in
    ///     %before = load i64, ptr @__cairn_fuel
    ///   header:
    ///     %left = phi i64 [ %before, %before ], [ %next, %latch ]
    ///     %next = sub i64 %left, 1
    ///     %is_out = icmp eq i64 %next, 0
    ///     br i1 %is_out, label %out, label %on
    ///   after:                       ; each way out
    ///     store i64 %next, ptr @__cairn_fuel
    ///   out:
    ///     store i64 %next, ptr @__cairn_fuel
    ///     call void @cairn_out_of_fuel()
    /// ```
    ///
    /// # Safety
    /// `register_loop` was placed in the function of these blocks.
    unsafe fn register_loop(&self, blocks: &[LLVMBasicBlockRef], register_loop: &RegisterLoop) {
        let none = c"".as_ptr();
        // SAFETY: promised by the caller.
        unsafe {
            let on = blocks[register_loop.header];
            let header = split_before(self.builder, self.context, start(on));
            let mut inside: Vec<_> = register_loop.blocks.iter().map(|block| blocks[*block]).collect();
            inside.push(header);
            let mut entries = Vec::new();
            for (before, ways) in ways_into(header) {
                if inside.contains(&before) {
                    continue;
                }
                let end = LLVMGetBasicBlockTerminator(before);
                if LLVMGetNumSuccessors(end) == 1 {
                    LLVMPositionBuilderBefore(self.builder, end);
                } else {
                    edges::position_on_edges(self.builder, self.context, end, &ways);
                }
                let edge = LLVMGetInsertBlock(self.builder);
                entries.push((self.load(), edge));
            }
            // So far the header holds phis only.
            LLVMPositionBuilderAtEnd(self.builder, header);
            let left = LLVMBuildPhi(self.builder, LLVMInt64TypeInContext(self.context), none);
            let step = self.step(left);
            let next = step.next;
            let out = self.add_out(on, Some(next));
            LLVMPositionBuilderAtEnd(self.builder, header);
            self.leave(step, out, on);
            for (before, ways) in ways_into(header) {
                if inside.contains(&before) {
                    entries.extend(ways.iter().map(|_| (next, before)));
                }
            }
            for (mut value, mut block) in entries {
                LLVMAddIncoming(left, &mut value, &mut block, 1);
            }
            inside.push(out);
            self.store_on_exits(&inside, next);
        }
    }

    /// Writes `next` back on every edge out of a loop.
    ///
    /// # Safety
    /// `next` is computed by a block of the loop that dominates all others.
    unsafe fn store_on_exits(&self, inside: &[LLVMBasicBlockRef], next: LLVMValueRef) {
        // SAFETY: promised by the caller.
        unsafe {
            let mut exits = Vec::new();
            for block in inside {
                let end = LLVMGetBasicBlockTerminator(*block);
                for to in (0..LLVMGetNumSuccessors(end)).map(|way| LLVMGetSuccessor(end, way)) {
                    if !inside.contains(&to) && !exits.contains(&to) {
                        exits.push(to);
                    }
                }
            }
            for exit in exits {
                let ways_in = ways_into(exit);
                let only_from_inside = ways_in.iter().all(|(before, _)| inside.contains(before));
                if only_from_inside && !is_address_taken(exit) {
                    LLVMPositionBuilderBefore(self.builder, start(exit));
                    self.store(next);
                    continue;
                }
                for (before, ways) in ways_in {
                    if inside.contains(&before) {
                        let end = LLVMGetBasicBlockTerminator(before);
                        edges::position_on_edges(self.builder, self.context, end, &ways);
                        self.store(next);
                    }
                }
            }
        }
    }

    /// # Safety
    /// The builder is positioned.
    unsafe fn load(&self) -> LLVMValueRef {
        // SAFETY: promised by the caller.
        unsafe {
            let i64_type = LLVMInt64TypeInContext(self.context);
            let load = LLVMBuildLoad2(self.builder, i64_type, self.fuel, c"".as_ptr());
            LLVMSetAlignment(load, 8);
            LLVMSetMetadata(load, self.tbaa_kind, self.apart);
            load
        }
    }

    /// # Safety
    /// The builder is positioned where `value` is known.
    unsafe fn store(&self, value: LLVMValueRef) {
        // SAFETY: promised by the caller.
        unsafe {
            let store = LLVMBuildStore(self.builder, value, self.fuel);
            LLVMSetAlignment(store, 8);
            LLVMSetMetadata(store, self.tbaa_kind, self.apart);
        }
    }

    /// # Safety
    /// The builder is positioned where `left` is known.
    unsafe fn step(&self, left: LLVMValueRef) -> Step {
        let none = c"".as_ptr();
        // SAFETY: promised by the caller.
        unsafe {
            let i64_type = LLVMInt64TypeInContext(self.context);
            let next = LLVMBuildSub(self.builder, left, LLVMConstInt(i64_type, 1, 0), none);
            let zero = LLVMConstNull(i64_type);
            let is_out = LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntEQ, next, zero, none);
            Step { next, is_out }
        }
    }

    /// Ends the builder's block: to `out` when the step was the last, else `on`.
    ///
    /// # Safety
    /// The builder stands at the end of a block without a terminator.
    unsafe fn leave(&self, step: Step, out: LLVMBasicBlockRef, on: LLVMBasicBlockRef) {
        // SAFETY: promised by the caller.
        unsafe {
            let branch = LLVMBuildCondBr(self.builder, step.is_out, out, on);
            LLVMSetMetadata(branch, self.branch_kind, self.hardly_ever);
        }
    }

    /// Adds the block that ends the run, to the function of `neighbour`; it writes `left` back first.
    ///
    /// # Safety
    /// `neighbour` belongs to a function of the live module.
    unsafe fn add_out(&self, neighbour: LLVMBasicBlockRef, left: Option<LLVMValueRef>) -> LLVMBasicBlockRef {
        // SAFETY: promised by the caller.
        unsafe {
            let function = LLVMGetBasicBlockParent(neighbour);
            let out = LLVMAppendBasicBlockInContext(self.context, function, c"cairn.out".as_ptr());
            LLVMPositionBuilderAtEnd(self.builder, out);
            if let Some(left) = left {
                self.store(left);
            }
            let callee_type = LLVMGlobalGetValueType(self.out_of_fuel);
            let no_arguments = std::ptr::null_mut();
            LLVMBuildCall2(self.builder, callee_type, self.out_of_fuel, no_arguments, 0, c"".as_ptr());
            LLVMBuildUnreachable(self.builder);
            out
        }
    }

    fn finish(self) {
        // SAFETY: the builder was made by us and is not used afterwards.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

unsafe fn blocks(function: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    let mut blocks = Vec::new();
    // SAFETY: the function belongs to a live module.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            blocks.push(block);
            block = LLVMGetNextBasicBlock(block);
        }
    }
    blocks
}

unsafe fn first(block: LLVMBasicBlockRef) -> LLVMValueRef {
    // SAFETY: the block belongs to a live module.
    unsafe { LLVMGetFirstInstruction(block) }
}

/// Where code may be put at the start of a block: behind phis and a landing pad.
unsafe fn start(block: LLVMBasicBlockRef) -> LLVMValueRef {
    // SAFETY: the block belongs to a live module.
    unsafe {
        let is_fixed = |at: &LLVMValueRef| matches!(LLVMGetInstructionOpcode(*at), LLVMPHI | LLVMLandingPad);
        instructions(block).into_iter().find(|at| !is_fixed(at)).expect("a block has a terminator")
    }
}

/// The blocks control comes from, each with the numbers of its successors that lead here. The order does not depend on
/// addresses, so that the same module always becomes the same object.
unsafe fn ways_into(block: LLVMBasicBlockRef) -> Vec<(LLVMBasicBlockRef, Vec<u32>)> {
    let mut ways: Vec<(LLVMBasicBlockRef, Vec<u32>)> = Vec::new();
    // SAFETY: the block belongs to a live module, and a block is used by terminators or by its address.
    unsafe {
        for end in users(block).into_iter().filter(|user| !LLVMIsAInstruction(*user).is_null()) {
            let before = LLVMGetInstructionParent(end);
            if ways.iter().all(|(known, _)| *known != before) {
                let leads_here = |way: &u32| LLVMGetSuccessor(end, *way) == block;
                ways.push((before, (0..LLVMGetNumSuccessors(end)).filter(leads_here).collect()));
            }
        }
    }
    ways
}

/// Whether control can come to a block by its address.
unsafe fn is_address_taken(block: LLVMBasicBlockRef) -> bool {
    // SAFETY: the block belongs to a live module.
    unsafe { users(block).into_iter().any(|user| LLVMIsAInstruction(user).is_null()) }
}

unsafe fn users(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    let mut users = Vec::new();
    // SAFETY: the block belongs to a live module whose uses do not change while they are walked.
    unsafe {
        let mut used = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
        while !used.is_null() {
            users.push(LLVMGetUser(used));
            used = LLVMGetNextUse(used);
        }
    }
    users
}

#[cfg(test)]
mod tests;
