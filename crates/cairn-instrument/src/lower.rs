//! Carries a plan out on a module.
//!
//! A counter is one byte that never reads 0 after a hit:
//!
//! ```text
//!   %old = load i8, ptr @__cairn_counters + 64 + N
//!   %sum = call { i8, i1 } @llvm.uadd.with.overflow.i8(i8 %old, i8 1)
//!   %more = extractvalue { i8, i1 } %sum, 0
//!   %wrapped = extractvalue { i8, i1 } %sum, 1
//!   %carry = zext i1 %wrapped to i8
//!   %new = add i8 %more, %carry
//!   store i8 %new, ptr @__cairn_counters + 64 + N
//! ```
//! which the code generator turns into an add and an add-with-carry. With a comparison in place of the intrinsic the
//! optimiser makes a maximum of it, and the code generator two instructions more.

pub(crate) mod edges;

use crate::{
    fuel::split_before,
    ir::{Definition, instructions, walk_functions},
    plan::{Insert, Plan, ValueAt},
};
use cairn_abi::{
    ABI_SYMBOL, ABI_VERSION,
    counters::{COUNTERS_START, counter_region_size},
    view::{COUNTERS_SYMBOL, FUEL_SYMBOL, RUN_MAIN_SYMBOL, VIEW_MAGIC, VIEW_SECTION, VIEW_SYMBOL, ViewKind},
};
use inkwell::{
    llvm_sys::{LLVMLinkage, LLVMOpcode::*, LLVMVisibility, core::*, prelude::*},
    module::Module,
};
use std::ffi::CString;

/// Makes a module a view: counters inserted, the view's introduction added.
pub fn lower(module: &Module, plan: &Plan, kind: ViewKind, map_hash: &[u8; 32]) {
    let mut lowering = Lowering::new(module, plan.n_counters, kind);
    let resolved = lowering.resolve_all(module, plan);
    for inserts in &resolved {
        lowering.insert(inserts);
    }
    lowering.complete(plan.n_counters, kind, map_hash);
}

/// What is inserted into one function, as values of the module: positions would move.
pub(crate) struct ResolvedInserts {
    function: LLVMValueRef,
    inserts: Vec<ResolvedInsert>,
}

enum ResolvedInsert {
    Before { at: LLVMValueRef, counter: u32 },
    Value { value: LLVMValueRef, before: LLVMValueRef, base: u32 },
    Edges { end: LLVMValueRef, successors: Vec<u32>, counter: u32 },
    Test { value: LLVMValueRef, jump: LLVMValueRef, counters: [u32; 2], shared: Option<SharedWay> },
}

/// The way out of the next block that is taken only if a boolean was evaluated and had this value.
#[derive(Clone, Copy)]
struct SharedWay {
    end: LLVMValueRef,
    successor: u32,
    truth: bool,
}

/// Finds the way that a boolean shares its counter with: `jump` leads to a phi of it and one constant, on which the
/// next block branches.
///
/// # Safety
/// `jump` ends a block of a live module.
unsafe fn shared_way(jump: LLVMValueRef) -> Option<SharedWay> {
    // SAFETY: promised by the caller.
    unsafe {
        let next = LLVMGetSuccessor(jump, 0);
        let phi = LLVMGetFirstInstruction(next);
        let end = LLVMGetBasicBlockTerminator(next);
        let branches = LLVMGetInstructionOpcode(phi) == LLVMPHI
            && LLVMGetInstructionOpcode(end) == LLVMBr
            && LLVMIsConditional(end) != 0;
        if !branches {
            return None;
        }
        let constant = (0..LLVMCountIncoming(phi))
            .map(|index| LLVMGetIncomingValue(phi, index))
            .find(|value| !LLVMIsAConstantInt(*value).is_null())?;
        let truth = LLVMConstIntGetZExtValue(constant) == 0;
        let condition = LLVMGetCondition(end);
        let is_inverted = condition != phi;
        if is_inverted
            && (LLVMGetInstructionOpcode(condition) != LLVMXor || LLVMGetOperand(condition, 0) != phi)
        {
            return None;
        }
        Some(SharedWay { end, successor: u32::from(truth == is_inverted), truth })
    }
}

impl ResolvedInserts {
    /// The counter of a way out of a block, if it has one: the block's end, and a successor number.
    pub(crate) fn counter_of(&self, way: (LLVMValueRef, u32)) -> Option<u32> {
        self.inserts.iter().find_map(|insert| match insert {
            ResolvedInsert::Edges { end, successors, counter }
                if *end == way.0 && successors.contains(&way.1) =>
            {
                Some(*counter)
            }
            _ => None,
        })
    }
}

/// Where the counters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counters {
    /// In this module.
    Own,
    /// In another object of the view.
    Outside,
}

pub(crate) struct Lowering {
    module: LLVMModuleRef,
    pub(crate) context: LLVMContextRef,
    pub(crate) builder: LLVMBuilderRef,
    counters: LLVMValueRef,
    /// `llvm.uadd.with.overflow.i8`.
    add_with_carry: LLVMValueRef,
    keeps_path_hash: bool,
    /// Whether control may go other ways than conditions say.
    is_mutated: bool,
    /// Marks accesses to counters as touching no memory of the program.
    apart: LLVMMetadataRef,
    tbaa_kind: u32,
    /// The program's own `main`, once it was set aside; sharing renames it.
    own_main: Option<LLVMValueRef>,
    /// The pages and the number of probes, in a detailed symbolic view.
    pub(crate) sites: Option<(LLVMValueRef, u32)>,
}

impl Lowering {
    pub(crate) fn new(module: &Module, n_counters: u32, kind: ViewKind) -> Self {
        Self::with_counters(module, n_counters, kind, Counters::Own)
    }

    pub(crate) fn with_counters(module: &Module, n_counters: u32, kind: ViewKind, place: Counters) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: the module is alive; everything made here belongs to its context.
        unsafe {
            let context = LLVMGetModuleContext(module);
            let size = counter_region_size(n_counters as usize) as u64;
            let array = LLVMArrayType2(LLVMInt8TypeInContext(context), size);
            let counters = LLVMAddGlobal(module, array, symbol(COUNTERS_SYMBOL).as_ptr());
            if place == Counters::Own {
                LLVMSetInitializer(counters, LLVMConstNull(array));
            }
            LLVMSetAlignment(counters, cairn_abi::channel::PAGE as u32);
            LLVMSetVisibility(counters, LLVMVisibility::LLVMHiddenVisibility);
            let add = "llvm.uadd.with.overflow";
            let add = LLVMLookupIntrinsicID(add.as_ptr().cast(), add.len());
            let mut i8_type = LLVMInt8TypeInContext(context);
            Self {
                module,
                context,
                builder: LLVMCreateBuilderInContext(context),
                counters,
                add_with_carry: LLVMGetIntrinsicDeclaration(module, add, &mut i8_type, 1),
                keeps_path_hash: kind == ViewKind::Path,
                is_mutated: place == Counters::Outside,
                apart: apart_from_program(context),
                tbaa_kind: LLVMGetMDKindIDInContext(context, c"tbaa".as_ptr(), 4),
                own_main: None,
                sites: None,
            }
        }
    }

    /// Looks up where everything goes, by function in module order.
    pub(crate) fn resolve_all(&self, module: &Module, plan: &Plan) -> Vec<ResolvedInserts> {
        let functions = walk_functions(module);
        functions.iter().zip(&plan.functions).map(|(function, inserts)| resolve(*function, inserts)).collect()
    }

    /// Makes a counted copy for inlining the program's own: it would be dropped with its counters.
    pub(crate) fn own(&self, resolved: &ResolvedInserts) {
        if !resolved.inserts.is_empty() {
            // SAFETY: the function belongs to the live module.
            unsafe { own_function(resolved.function) };
        }
    }

    /// Inserts what was resolved.
    pub(crate) fn insert(&mut self, resolved: &ResolvedInserts) {
        self.own(resolved);
        // SAFETY: the instructions belong to the live module.
        unsafe {
            for insert in &resolved.inserts {
                match insert {
                    ResolvedInsert::Before { at, counter } => {
                        LLVMPositionBuilderBefore(self.builder, *at);
                        self.count(*counter);
                    }
                    ResolvedInsert::Value { value, before, base } => {
                        LLVMPositionBuilderBefore(self.builder, *before);
                        self.count_value(*value, *base);
                    }
                    ResolvedInsert::Edges { .. } | ResolvedInsert::Test { .. } => {}
                }
            }
            for insert in &resolved.inserts {
                if let ResolvedInsert::Edges { end, successors, counter } = insert {
                    edges::position_on_edges(self.builder, self.context, *end, successors);
                    self.count(*counter);
                }
                if let ResolvedInsert::Test { value, jump, counters, shared } = insert {
                    match shared {
                        Some(shared) if self.is_mutated => {
                            self.count_test_apart(*value, *jump, *counters, *shared);
                        }
                        _ => self.count_test(*value, *jump, *counters),
                    }
                }
            }
        }
    }

    /// Counts a boolean before the jump to the block that branches on it:
    ///
    /// ```text
    ///   br i1 %value, label %true, label %false       each counts, and goes on to the jump
    /// ```
    ///
    /// The optimiser makes one branch of this and the next, so neither the address of a counter nor anything else has to
    /// be computed from the boolean.
    ///
    /// # Safety
    /// `jump` ends a block of the live module, and `value` is known there.
    unsafe fn count_test(&self, value: LLVMValueRef, jump: LLVMValueRef, counters: [u32; 2]) {
        // SAFETY: promised by the caller.
        unsafe {
            let on = LLVMGetInstructionParent(jump);
            let before = split_before(self.builder, self.context, jump);
            let ways = counters.map(|counter| {
                let way = LLVMInsertBasicBlockInContext(self.context, on, c"cairn.test".as_ptr());
                LLVMPositionBuilderAtEnd(self.builder, way);
                self.count(counter);
                LLVMBuildBr(self.builder, on);
                way
            });
            LLVMPositionBuilderAtEnd(self.builder, before);
            LLVMBuildCondBr(self.builder, value, ways[1], ways[0]);
        }
    }

    /// Counts what [`count_test`](Self::count_test) does, for code in which the next block may go another way than the
    /// boolean says: what a way shares with the boolean is counted on the way.
    ///
    /// # Safety
    /// `jump` ends a block of the live module, `value` is known there, and `shared` was found there.
    unsafe fn count_test_apart(
        &self,
        value: LLVMValueRef,
        jump: LLVMValueRef,
        counters: [u32; 2],
        shared: SharedWay,
    ) {
        // SAFETY: promised by the caller.
        unsafe {
            let on = LLVMGetInstructionParent(jump);
            let before = split_before(self.builder, self.context, jump);
            let counted = LLVMInsertBasicBlockInContext(self.context, on, c"cairn.test".as_ptr());
            LLVMPositionBuilderAtEnd(self.builder, counted);
            self.count(counters[usize::from(!shared.truth)]);
            LLVMBuildBr(self.builder, on);
            LLVMPositionBuilderAtEnd(self.builder, before);
            let ways = if shared.truth { [on, counted] } else { [counted, on] };
            LLVMBuildCondBr(self.builder, value, ways[0], ways[1]);
            edges::position_on_edges(self.builder, self.context, shared.end, &[shared.successor]);
            self.count(counters[usize::from(shared.truth)]);
        }
    }

    /// Counts at the builder's position.
    ///
    /// # Safety
    /// The builder is positioned in a function of the module.
    pub(crate) unsafe fn count(&self, counter: u32) {
        // SAFETY: the caller positioned the builder; the offset lies in the counter region.
        unsafe {
            let i64_type = LLVMInt64TypeInContext(self.context);
            let offset = LLVMConstInt(i64_type, COUNTERS_START as u64 + counter as u64, 0);
            self.increment(self.counter_at(offset));
            if self.keeps_path_hash {
                let event = LLVMConstInt(i64_type, counter as u64, 0);
                self.update_path_hash(event);
            }
        }
    }

    /// Counts a boolean at the builder's position: `base` when false, `base + 1` when true.
    unsafe fn count_value(&self, value: LLVMValueRef, base: u32) {
        // SAFETY: the caller positioned the builder where `value` is defined.
        unsafe {
            let i64_type = LLVMInt64TypeInContext(self.context);
            let direction = LLVMBuildZExt(self.builder, value, i64_type, c"".as_ptr());
            let first = LLVMConstInt(i64_type, COUNTERS_START as u64 + base as u64, 0);
            let offset = LLVMBuildAdd(self.builder, direction, first, c"".as_ptr());
            self.increment(self.counter_at(offset));
            if self.keeps_path_hash {
                let event = LLVMBuildAdd(
                    self.builder,
                    direction,
                    LLVMConstInt(i64_type, base as u64, 0),
                    c"".as_ptr(),
                );
                self.update_path_hash(event);
            }
        }
    }

    /// Counts at the builder's position what a 64-bit value names.
    ///
    /// # Safety
    /// The builder is positioned where `counter` is known, and its value is below the number of counters.
    pub(crate) unsafe fn count_named(&self, counter: LLVMValueRef) {
        // SAFETY: promised by the caller.
        unsafe {
            let first = LLVMConstInt(LLVMTypeOf(counter), COUNTERS_START as u64, 0);
            self.increment(self.counter_at(LLVMBuildAdd(self.builder, counter, first, c"".as_ptr())));
        }
    }

    unsafe fn counter_at(&self, offset: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the builder is positioned; the offset lies in the counter region.
        unsafe {
            let i8_type = LLVMInt8TypeInContext(self.context);
            let mut indices = [offset];
            LLVMBuildInBoundsGEP2(self.builder, i8_type, self.counters, indices.as_mut_ptr(), 1, c"".as_ptr())
        }
    }

    unsafe fn increment(&self, counter: LLVMValueRef) {
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned and `counter` points into the counter region.
        unsafe {
            let i8_type = LLVMInt8TypeInContext(self.context);
            let one = LLVMConstInt(i8_type, 1, 0);
            let old = self.mark(LLVMBuildLoad2(self.builder, i8_type, counter, none));
            let add_type = LLVMGlobalGetValueType(self.add_with_carry);
            let mut operands = [old, one];
            let operands = operands.as_mut_ptr();
            let sum = LLVMBuildCall2(self.builder, add_type, self.add_with_carry, operands, 2, none);
            let more = LLVMBuildExtractValue(self.builder, sum, 0, none);
            let wrapped = LLVMBuildExtractValue(self.builder, sum, 1, none);
            let carry = LLVMBuildZExt(self.builder, wrapped, i8_type, none);
            let new = LLVMBuildAdd(self.builder, more, carry, none);
            self.mark(LLVMBuildStore(self.builder, new, counter));
        }
    }

    /// Emits [`cairn_abi::counters::path_hash_step`] at the builder's position.
    unsafe fn update_path_hash(&self, event: LLVMValueRef) {
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned; the hash is the first word of the counter region.
        unsafe {
            let i64_type = LLVMInt64TypeInContext(self.context);
            let constant = |value| LLVMConstInt(i64_type, value, 0);
            let old = self.mark(LLVMBuildLoad2(self.builder, i64_type, self.counters, none));
            let high = LLVMBuildShl(self.builder, old, constant(5), none);
            let low = LLVMBuildLShr(self.builder, old, constant(59), none);
            let rotated = LLVMBuildOr(self.builder, high, low, none);
            let mixed = LLVMBuildXor(self.builder, rotated, event, none);
            let new = LLVMBuildMul(self.builder, mixed, constant(0x9e37_79b9_7f4a_7c15), none);
            self.mark(LLVMBuildStore(self.builder, new, self.counters));
        }
    }

    ///
    /// # Safety
    /// `access` is a load or store of the module.
    pub(crate) unsafe fn mark(&self, access: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: `access` was just built in this context.
        unsafe {
            LLVMSetMetadata(access, self.tbaa_kind, LLVMMetadataAsValue(self.context, self.apart));
        }
        access
    }

    /// Makes a module whose counters were inserted a view that runs as the plain one does.
    pub(crate) fn complete(mut self, n_counters: u32, kind: ViewKind, map_hash: &[u8; 32]) {
        self.set_main_aside();
        self.add_main();
        self.rename_open();
        self.introduce(n_counters, kind, map_hash, None);
        self.finish();
    }

    /// Gives the program's own `main` another name.
    pub(crate) fn set_main_aside(&mut self) {
        // SAFETY: the module is alive.
        unsafe {
            let own = LLVMGetNamedFunction(self.module, c"main".as_ptr());
            if own.is_null() || LLVMIsDeclaration(own) != 0 {
                return;
            }
            let name = "cairn.main";
            LLVMSetValueName2(own, name.as_ptr().cast(), name.len());
            LLVMSetLinkage(own, LLVMLinkage::LLVMInternalLinkage);
            self.own_main = Some(own);
        }
    }

    /// Puts the runtime between the C library and the program's own `main`, so that it can call it more than once.
    ///
    /// ```text
    ///   define i32 @main(i32 %argc, ptr %argv, ptr %envp) {
    ///     %status = call i32 @cairn_run_main(i32 %argc, ptr %argv, ptr %envp, ptr @cairn.main)
    ///     ret i32 %status
    ///   }
    /// ```
    pub(crate) fn add_main(&mut self) {
        // SAFETY: the module is alive; everything made here belongs to its context.
        unsafe {
            let Some(own) = self.own_main else { return };
            let int = LLVMInt32TypeInContext(self.context);
            let pointer = LLVMPointerTypeInContext(self.context, 0);
            let mut parameters = [int, pointer, pointer, pointer];
            let run_type = LLVMFunctionType(int, parameters.as_mut_ptr(), 4, 0);
            let run = LLVMAddFunction(self.module, symbol(RUN_MAIN_SYMBOL).as_ptr(), run_type);
            let main_type = LLVMFunctionType(int, parameters.as_mut_ptr(), 3, 0);
            let main = LLVMAddFunction(self.module, c"main".as_ptr(), main_type);
            let block = LLVMAppendBasicBlockInContext(self.context, main, c"".as_ptr());
            LLVMPositionBuilderAtEnd(self.builder, block);
            let mut arguments = [LLVMGetParam(main, 0), LLVMGetParam(main, 1), LLVMGetParam(main, 2), own];
            let status = LLVMBuildCall2(self.builder, run_type, run, arguments.as_mut_ptr(), 4, c"".as_ptr());
            LLVMBuildRet(self.builder, status);
        }
    }

    /// Makes the program open files through the runtime, which has its own answer for one of them.
    pub(crate) fn rename_open(&mut self) {
        for (name, ours) in [(c"open", "cairn_open"), (c"open64", "cairn_open64")] {
            // SAFETY: the module is alive; a declaration may have any name.
            unsafe {
                let function = LLVMGetNamedFunction(self.module, name.as_ptr());
                if !function.is_null() && LLVMIsDeclaration(function) != 0 {
                    LLVMSetValueName2(function, symbol(ours).as_ptr(), ours.len());
                }
            }
        }
    }

    /// The fuel, on a page of its own so that the runtime can lay the channel's over it.
    unsafe fn add_fuel(&self) -> LLVMValueRef {
        // SAFETY: the module is alive.
        unsafe {
            let page = cairn_abi::channel::PAGE;
            let array = LLVMArrayType2(LLVMInt64TypeInContext(self.context), (page / 8) as u64);
            let fuel = LLVMAddGlobal(self.module, array, symbol(FUEL_SYMBOL).as_ptr());
            LLVMSetInitializer(fuel, LLVMConstNull(array));
            LLVMSetAlignment(fuel, page as u32);
            LLVMSetVisibility(fuel, LLVMVisibility::LLVMHiddenVisibility);
            fuel
        }
    }

    /// Adds the [`ViewInfo`](cairn_abi::view::ViewInfo) of this view.
    pub(crate) fn introduce(
        &mut self,
        n_counters: u32,
        kind: ViewKind,
        map_hash: &[u8; 32],
        mutants: Option<LLVMValueRef>,
    ) {
        // SAFETY: all constants belong to the module's context; the struct mirrors `ViewInfo` field by field.
        unsafe {
            let null = LLVMConstNull(LLVMPointerTypeInContext(self.context, 0));
            let mutants = mutants.unwrap_or(null);
            let (sites, n_probes) = self.sites.unwrap_or((null, 0));
            let tables = match kind {
                ViewKind::Symbolic => self.declare_tables(),
                _ => null,
            };
            let int =
                |width: u32, value: u64| LLVMConstInt(LLVMIntTypeInContext(self.context, width), value, 0);
            let mut hash: Vec<_> = map_hash.iter().map(|byte| int(8, *byte as u64)).collect();
            let hash =
                LLVMConstArray2(LLVMInt8TypeInContext(self.context), hash.as_mut_ptr(), hash.len() as u64);
            let mut fields = [
                int(64, VIEW_MAGIC),
                int(32, ABI_VERSION as u64),
                int(32, kind as u64),
                hash,
                int(32, n_counters as u64),
                int(32, n_probes as u64),
                self.counters,
                self.add_fuel(),
                mutants,
                tables,
                sites,
            ];
            let info = LLVMConstStructInContext(self.context, fields.as_mut_ptr(), fields.len() as u32, 0);
            let global = LLVMAddGlobal(self.module, LLVMTypeOf(info), symbol(VIEW_SYMBOL).as_ptr());
            LLVMSetInitializer(global, info);
            LLVMSetSection(global, symbol(VIEW_SECTION).as_ptr());
            LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility);
            // Pulls the runtime of the same version out of its archive, and fails the link with any other.
            let pointer = LLVMPointerTypeInContext(self.context, 0);
            let version =
                LLVMAddGlobal(self.module, LLVMInt32TypeInContext(self.context), symbol(ABI_SYMBOL).as_ptr());
            let wants = LLVMAddGlobal(self.module, pointer, c"__cairn_wants_abi".as_ptr());
            LLVMSetInitializer(wants, version);
            LLVMSetLinkage(wants, LLVMLinkage::LLVMInternalLinkage);
            add_to_used(self.module, self.context, &[global, wants]);
        }
    }

    /// The list of constant tables, which is written when the module is optimised.
    unsafe fn declare_tables(&self) -> LLVMValueRef {
        // SAFETY: the module is alive.
        unsafe {
            let name = symbol(cairn_abi::view::TABLES_SYMBOL);
            let list = LLVMAddGlobal(self.module, LLVMInt8TypeInContext(self.context), name.as_ptr());
            LLVMSetVisibility(list, LLVMVisibility::LLVMHiddenVisibility);
            list
        }
    }

    pub(crate) fn finish(self) {
        // SAFETY: the builder was made by us and is not used afterwards.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

/// Makes a copy for inlining the program's own.
///
/// # Safety
/// The function belongs to a live module.
pub(crate) unsafe fn own_function(function: LLVMValueRef) {
    // SAFETY: promised by the caller.
    unsafe {
        if LLVMGetLinkage(function) == LLVMLinkage::LLVMAvailableExternallyLinkage {
            LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        }
    }
}

/// Adds globals to `llvm.used`, so that neither the optimiser nor the linker drops them.
///
/// # Safety
/// The module is alive and holds the globals.
pub unsafe fn add_to_used(module: LLVMModuleRef, context: LLVMContextRef, globals: &[LLVMValueRef]) {
    // SAFETY: the globals belong to the module; an existing list is replaced by a longer one.
    unsafe {
        let mut kept = Vec::new();
        let existing = LLVMGetNamedGlobal(module, c"llvm.used".as_ptr());
        if !existing.is_null() {
            let list = LLVMGetInitializer(existing);
            kept.extend((0..LLVMGetNumOperands(list) as u32).map(|index| LLVMGetOperand(list, index)));
            LLVMDeleteGlobal(existing);
        }
        kept.extend_from_slice(globals);
        if kept.is_empty() {
            // LLVM takes no list of nothing.
            return;
        }
        let list =
            LLVMConstArray2(LLVMPointerTypeInContext(context, 0), kept.as_mut_ptr(), kept.len() as u64);
        let used = LLVMAddGlobal(module, LLVMTypeOf(list), c"llvm.used".as_ptr());
        LLVMSetInitializer(used, list);
        LLVMSetLinkage(used, LLVMLinkage::LLVMAppendingLinkage);
        LLVMSetSection(used, c"llvm.metadata".as_ptr());
    }
}

/// A type-based alias tag beside the C family's `omnipotent char`: no access of the program aliases it.
///
/// # Safety
/// The context is alive.
pub(crate) unsafe fn apart_from_program(context: LLVMContextRef) -> LLVMMetadataRef {
    // SAFETY: all nodes are made in this context.
    unsafe {
        let text = |text: &str| LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
        let node = |operands: &mut [LLVMMetadataRef]| {
            LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len())
        };
        let zero = LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), 0, 0));
        let root = node(&mut [text("Simple C/C++ TBAA")]);
        let counter_type = node(&mut [text("cairn counter"), root, zero]);
        node(&mut [counter_type, counter_type, zero])
    }
}

/// Looks up where inserts go in a function of an unchanged copy of the bitcode.
fn resolve(function: LLVMValueRef, inserts: &[Insert]) -> ResolvedInserts {
    let mut blocks: Vec<Vec<LLVMValueRef>> = Vec::new();
    // SAFETY: the plan was made from the same bitcode, so every position exists.
    unsafe {
        if !inserts.is_empty() {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                blocks.push(instructions(block));
                block = LLVMGetNextBasicBlock(block);
            }
        }
        let value_at = |at: &Definition| blocks[at.block][at.instruction];
        let end_of = |block: usize| *blocks[block].last().expect("a block has a terminator");
        let inserts = inserts
            .iter()
            .map(|insert| match insert {
                Insert::Before { block, instruction, counter } => {
                    let mut rest = blocks[*block][*instruction..].iter();
                    let at = rest.find(|at| may_stand_before(**at)).copied();
                    ResolvedInsert::Before { at: at.unwrap_or_else(|| end_of(*block)), counter: counter.0 }
                }
                Insert::Value { value, at, base } => {
                    let before = match at {
                        ValueAt::EndOf(block) => end_of(*block),
                        ValueAt::Before(at) => value_at(at),
                    };
                    ResolvedInsert::Value { value: value_at(value), before, base: base.0 }
                }
                Insert::Test { value, block, counters } => {
                    let jump = end_of(*block);
                    let counters = counters.map(|counter| counter.0);
                    ResolvedInsert::Test { value: value_at(value), jump, counters, shared: shared_way(jump) }
                }
                Insert::Edges { block, successors, counter } => ResolvedInsert::Edges {
                    end: end_of(*block),
                    successors: successors.clone(),
                    counter: counter.0,
                },
            })
            .collect();
        ResolvedInserts { function, inserts }
    }
}

/// Whether a counter may be inserted before an instruction: not among phis, variables or landing pads.
///
/// # Safety
/// The instruction belongs to a live module.
pub(crate) unsafe fn may_stand_before(instruction: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller.
    unsafe { !matches!(LLVMGetInstructionOpcode(instruction), LLVMPHI | LLVMAlloca | LLVMLandingPad) }
}

fn symbol(name: &str) -> CString {
    CString::new(name).expect("our symbols have no zero byte")
}
