//! The modules a mutant view is linked from.

use super::{
    dispatch::{self, EXAMINED, MUTATED},
    draft::{Draft, DraftFunction, DraftMutant},
    examined::Examiner,
    modules::{keep_bodies, leave_only, make_replaceable, share},
    resolve::{ResolvedFunction, resolve},
    switched::{Weave, Weaver},
};
use crate::{
    ir::walk_functions,
    lower::{Counters, Lowering, add_to_used},
    plan::Plan,
};
use cairn_abi::{
    channel::PAGE,
    mutants::{CONTROL_SYMBOL, INFECTIONS_SYMBOL, MUTANT_VIEW_SYMBOL, control_size, infections_size},
    view::{FUEL_SYMBOL, ViewKind},
};
use cairn_model::{MutantTable, StableId};
use inkwell::{
    llvm_sys::{LLVMLinkage, LLVMVisibility, core::*, prelude::*},
    module::Module,
};
use std::ffi::CString;

/// What all objects of a mutant view are made from.
pub struct MutantView<'a> {
    /// Where counters go.
    pub plan: &'a Plan,
    /// The mutants.
    pub draft: &'a Draft<'a>,
    /// The same, as the table says it.
    pub table: &'a MutantTable,
}

impl MutantView<'_> {
    /// The whole program, choosing bodies at entries.
    pub fn lower_main(&self, module: &Module) {
        let functions = walk_functions(module);
        let mut lowering = Lowering::new(module, self.plan.n_counters, ViewKind::Mutant);
        let resolved = lowering.resolve_all(module, self.plan);
        for inserts in &resolved {
            lowering.insert(inserts);
        }
        lowering.set_main_aside();
        lowering.rename_open();
        share(module);
        // SAFETY: the module is alive; functions were found in it.
        unsafe {
            let control =
                self.add_pages(module, CONTROL_SYMBOL, control_size(self.table.functions.len()), true);
            let infections = self.add_pages(module, INFECTIONS_SYMBOL, self.infections_size(), true);
            for (number, function) in self.draft.functions.iter().enumerate() {
                for member in function.bodies.iter().flat_map(|body| &body.members) {
                    dispatch::add(lowering.builder, functions[*member], control, number as u32, &|load| {
                        lowering.mark(load);
                    });
                }
            }
            lowering.add_main();
            let info = self.describe(module, control, infections);
            lowering.introduce(self.plan.n_counters, ViewKind::Mutant, &self.table.map_hash, Some(info));
        }
        lowering.finish();
    }

    /// Only mutated bodies, with all mutants of each function.
    pub fn lower_mutated(&self, module: &Module) {
        // SAFETY: the functions were resolved in this module.
        self.lower_bodies(module, MUTATED, |lowering, function, weaves, count_way| unsafe {
            let control =
                self.add_pages(module, CONTROL_SYMBOL, control_size(self.table.functions.len()), false);
            let weaver = Weaver {
                module: module.as_mut_ptr(),
                context: LLVMGetModuleContext(module.as_mut_ptr()),
                builder: lowering.builder,
                observes: true,
                count_way,
            };
            weaver.weave(function, weaves, None, control);
        });
    }

    /// Only examined bodies.
    pub fn lower_examined(&self, module: &Module) {
        // SAFETY: the functions were resolved in this module.
        self.lower_bodies(module, EXAMINED, |lowering, function, weaves, _| unsafe {
            let infections = self.add_pages(module, INFECTIONS_SYMBOL, self.infections_size(), false);
            let examiner = Examiner {
                context: LLVMGetModuleContext(module.as_mut_ptr()),
                builder: lowering.builder,
                infections,
                n_patches: self.table.patches.len() as u32,
            };
            examiner.examine(function, weaves);
        });
    }

    fn lower_bodies(
        &self,
        module: &Module,
        suffix: &str,
        change: impl Fn(&Lowering, &ResolvedFunction, &[Weave], &dyn Fn((LLVMValueRef, u32))),
    ) {
        let functions = walk_functions(module);
        let n_counters = self.plan.n_counters;
        let mut lowering = Lowering::with_counters(module, n_counters, ViewKind::Mutant, Counters::Outside);
        let inserts = lowering.resolve_all(module, self.plan);
        let (mut selector, mut patch) = (1, 0);
        let mut kept = Vec::new();
        let resolved: Vec<Vec<BodyCopy>> = self
            .draft
            .functions
            .iter()
            // SAFETY: the functions are unchanged copies of those the anchors were made for.
            .map(|function| unsafe { resolve_copies(module.as_mut_ptr(), &functions, function) })
            .collect();
        // Nothing is looked up by position any more, and what LLVM notes of variables would cling to new instructions
        // where it must not.
        module.strip_debug_info();
        for (function, copies) in self.draft.functions.iter().zip(&resolved) {
            let weaves: Vec<Vec<Weave>> =
                (0..function.bodies.len()).map(|body| function.weaves(body, patch, selector)).collect();
            for BodyCopy { body, member, resolved } in copies {
                let count_way = |way: (LLVMValueRef, u32)| {
                    if let Some(counter) = inserts[*member].counter_of(way) {
                        // SAFETY: the builder is positioned where the way is taken.
                        unsafe { lowering.count(counter) };
                    }
                };
                change(&lowering, resolved, &weaves[*body], &count_way);
                kept.push(*member);
            }
            selector += function.n_selectors();
            patch += function.patches.len() as u32;
        }
        for member in &kept {
            lowering.insert(&inserts[*member]);
        }
        // Functions that are only copies for inlining become the program's own in the main object.
        for inserts in &inserts {
            lowering.own(inserts);
        }
        lowering.set_main_aside();
        lowering.rename_open();
        share(module);
        // SAFETY: the module is alive; functions were found in it.
        unsafe {
            let kept: Vec<LLVMValueRef> = kept.iter().map(|member| functions[*member]).collect();
            keep_bodies(module, &kept, suffix);
            add_to_used(module.as_mut_ptr(), LLVMGetModuleContext(module.as_mut_ptr()), &kept);
            self.add_pages(module, FUEL_SYMBOL, PAGE, false);
        }
        lowering.finish();
    }

    fn infections_size(&self) -> usize {
        infections_size(self.table.patches.len(), self.table.n_selectors() as usize)
    }

    /// Pages of the view, defined in one object and seen in the others.
    unsafe fn add_pages(&self, module: &Module, name: &str, size: usize, is_own: bool) -> LLVMValueRef {
        let raw = module.as_mut_ptr();
        // SAFETY: the module is alive.
        unsafe {
            let name = CString::new(name).expect("our symbols have no zero byte");
            let there = LLVMGetNamedGlobal(raw, name.as_ptr());
            if !there.is_null() {
                return there;
            }
            let context = LLVMGetModuleContext(raw);
            let array = LLVMArrayType2(LLVMInt8TypeInContext(context), size as u64);
            let pages = LLVMAddGlobal(raw, array, name.as_ptr());
            if is_own {
                LLVMSetInitializer(pages, LLVMConstNull(array));
            }
            LLVMSetAlignment(pages, PAGE as u32);
            LLVMSetVisibility(pages, LLVMVisibility::LLVMHiddenVisibility);
            pages
        }
    }

    /// Adds the [`MutantViewInfo`](cairn_abi::mutants::MutantViewInfo) of this view.
    unsafe fn describe(
        &self,
        module: &Module,
        control: LLVMValueRef,
        infections: LLVMValueRef,
    ) -> LLVMValueRef {
        let raw = module.as_mut_ptr();
        // SAFETY: all constants belong to the module's context; the struct mirrors `MutantViewInfo` field by field.
        unsafe {
            let context = LLVMGetModuleContext(raw);
            let i32_type = LLVMInt32TypeInContext(context);
            let int = |value: u32| LLVMConstInt(i32_type, u64::from(value), 0);
            let words = |name: &std::ffi::CStr, words: &[u32]| {
                let mut words: Vec<_> = words.iter().map(|word| int(*word)).collect();
                let array = LLVMConstArray2(i32_type, words.as_mut_ptr(), words.len() as u64);
                let global = LLVMAddGlobal(raw, LLVMTypeOf(array), name.as_ptr());
                LLVMSetInitializer(global, array);
                LLVMSetGlobalConstant(global, 1);
                LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
                LLVMSetAlignment(global, 8);
                global
            };
            let mut first_selectors = Vec::new();
            let mut selector = 1;
            for function in &self.draft.functions {
                first_selectors.push(selector);
                selector += function.n_selectors();
            }
            first_selectors.push(selector);
            let mut names: Vec<(StableId, u32)> = self
                .table
                .mutants_with_ids()
                .map(|(id, mutant)| (mutant.stable_id, self.table.selector(id)))
                .collect();
            names.sort();
            let name_words: Vec<u32> = names
                .iter()
                .flat_map(|(id, selector)| [id.0 as u32, (id.0 >> 32) as u32, *selector])
                .collect();
            let mut fields = [
                control,
                infections,
                int(self.table.functions.len() as u32),
                int(self.table.patches.len() as u32),
                int(self.table.n_selectors()),
                int(names.len() as u32),
                words(c"cairn.first_selectors", &first_selectors),
                words(c"cairn.mutant_names", &name_words),
            ];
            let info = LLVMConstStructInContext(context, fields.as_mut_ptr(), fields.len() as u32, 0);
            let symbol = CString::new(MUTANT_VIEW_SYMBOL).expect("our symbols have no zero byte");
            let global = LLVMAddGlobal(raw, LLVMTypeOf(info), symbol.as_ptr());
            LLVMSetInitializer(global, info);
            LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility);
            global
        }
    }
}

/// A copy of a body, with its anchors found.
struct BodyCopy {
    /// The number of the body in its function.
    body: usize,
    /// The copy, by index in the module.
    member: usize,
    resolved: ResolvedFunction,
}

/// # Safety
/// `functions` are those of the module, unchanged.
unsafe fn resolve_copies(
    module: LLVMModuleRef,
    functions: &[LLVMValueRef],
    function: &DraftFunction,
) -> Vec<BodyCopy> {
    let bodies = function.bodies.iter().enumerate();
    let copies =
        bodies.flat_map(|(number, body)| body.members.iter().map(move |member| (number, *body, *member)));
    copies
        .map(|(number, body, member)| BodyCopy {
            body: number,
            member,
            // SAFETY: promised by the caller.
            resolved: unsafe { resolve(module, functions[member], body) },
        })
        .collect()
}

/// Applies one mutant to a copy of the bitcode, and nothing else.
///
/// Returns false if there is no such mutant.
pub fn lower_alone(module: &Module, draft: &Draft, mutant: StableId) -> bool {
    weave_alone(module, draft, mutant).is_some()
}

/// Applies one mutant to a copy of the bitcode, and leaves only the function that it changes: the rest of the program is
/// what [`lower_rest`] makes.
///
/// Returns false if there is no such mutant.
pub fn lower_apart(module: &Module, draft: &Draft, mutant: StableId) -> bool {
    let Some(changed) = weave_alone(module, draft, mutant) else { return false };
    share(module);
    // SAFETY: the functions belong to the module.
    unsafe { leave_only(module, &changed) };
    true
}

/// The program without any change, for objects of [`lower_apart`]: a function that has mutants gives way to another of
/// its name.
pub fn lower_rest(module: &Module, draft: &Draft) {
    let functions = walk_functions(module);
    let bodies = draft.functions.iter().flat_map(|function| &function.bodies);
    let members: Vec<LLVMValueRef> =
        bodies.flat_map(|body| &body.members).map(|member| functions[*member]).collect();
    share(module);
    // SAFETY: the functions belong to the module and have bodies.
    unsafe { make_replaceable(&members) };
}

/// Weaves a mutant in, and returns the functions that it changes; `None` if there is no such mutant, or it does not fit.
pub(super) fn weave_alone(module: &Module, draft: &Draft, mutant: StableId) -> Option<Vec<LLVMValueRef>> {
    let functions = walk_functions(module);
    for function in &draft.functions {
        for patch in &function.patches {
            let is_wanted = |other: &DraftMutant| other.proposal.stable_id == mutant;
            let Some(number) = patch.mutants.iter().position(is_wanted) else { continue };
            let raw = module.as_mut_ptr();
            // SAFETY: the function is an unchanged copy of the one the anchors were made for.
            unsafe {
                let context = LLVMGetModuleContext(raw);
                let builder = LLVMCreateBuilderInContext(context);
                let weaver = Weaver { module: raw, context, builder, observes: false, count_way: &|_| {} };
                let active = LLVMConstInt(LLVMInt32TypeInContext(context), 1, 0);
                let mut fits = true;
                let copies = resolve_copies(raw, &functions, function);
                module.strip_debug_info();
                for BodyCopy { body, resolved, .. } in &copies {
                    let weave = patch.weave_one(number, *body, function.bodies[*body]);
                    fits &= weaver.weave(resolved, weave.as_slice(), Some(active), active).is_empty();
                }
                LLVMDisposeBuilder(builder);
                let changed = copies.iter().map(|copy| copy.resolved.function);
                return fits.then(|| changed.collect());
            }
        }
    }
    None
}
