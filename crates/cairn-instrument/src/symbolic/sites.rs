//! Notes where expressions are evaluated, so that runs can be asked about their values.
//!
//! ```text
//!   %sum = add i32 %a, %b
//!   call void (i32, i64, ...) @cairn.mark.site(i32 PROBE, i64 PLACE, i32 %sum, i32 %a, i32 %b)
//! ```
//! Behind the value come up to two operands, so that questions can be asked about them. Probes are where the mutant view changes and observes values, so
//! both agree on what the value of an expression is.

use super::{frames::before_return, marks::declare_mark};
use crate::{
    anchors::{AnchoredFunction, Anchors, At},
    ir::walk_functions,
    mutate::{
        instances::{by_definition, shared_spots},
        resolve::{OperandPlace, ResolvedAnchor, ResolvedAt, resolve},
        switched::{as_type, evaluated_at, read_operand},
    },
};
use cairn_abi::{
    channel::PAGE,
    symbolic::sites::{SITES_SYMBOL, place, sites_size},
};
use cairn_model::{
    ProbeId, ProgramMap, SiteId, SiteTable,
    mutants::ValueType,
    sites::{Probe, ProbeRole},
};
use cairn_mutants::site::{Role, Spot};
use inkwell::{
    llvm_sys::{LLVMOpcode, LLVMTypeKind::*, LLVMVisibility, core::*, prelude::*},
    module::Module,
};
use std::{collections::HashMap, ffi::CString};

/// The function whose calls are marks of sites.
pub const MARK_SITE: &str = "cairn.mark.site";

/// How many operands of an expression a mark names.
const MAX_OPERANDS: usize = 2;

/// Lists the spots where values can be observed.
pub fn table(anchors: &Anchors, map: &ProgramMap) -> SiteTable {
    let mut probes = Vec::new();
    let mut text = 0;
    for bodies in by_definition(&anchors.functions) {
        for spots in shared_spots(map, &bodies) {
            for (function, spot) in bodies.iter().zip(spots) {
                let Some(spot) = spot else { continue };
                if let Some(role) = role(&function.mutable.spots[spot], &function.anchors[spot].at) {
                    let Spot { site, value_type, ref operands, .. } = function.mutable.spots[spot];
                    let operands = operands.iter().map(|operand| operand.value_type).collect();
                    let spot = function.number_at_site(spot);
                    probes.push(Probe { site, spot, role, value_type, operands, text });
                }
            }
            text += 1;
        }
    }
    // A function that was compiled in several ways has its sites in all of them.
    probes.sort_by_key(|probe| (probe.site, probe.spot));
    probes.dedup_by_key(|probe| (probe.site, probe.spot));
    SiteTable { map_hash: map.hash(), probes }
}

/// What of an expression is found at a spot, if it is a value that can be observed.
fn role(spot: &Spot, at: &At) -> Option<ProbeRole> {
    let is_number = match spot.value_type {
        ValueType::Int { bits, .. } => bits <= 64,
        ValueType::Bool | ValueType::Float { .. } => true,
        ValueType::Pointer => false,
    };
    if !is_number || matches!(at, At::Logical(_)) {
        return None;
    }
    match spot.role {
        Role::Value => Some(ProbeRole::Value),
        Role::Constant { .. } => Some(ProbeRole::Constant),
        Role::Stored => Some(ProbeRole::Stored),
        Role::Returned => Some(ProbeRole::Returned),
        Role::Decision => Some(ProbeRole::Decision),
        Role::Assigned | Role::ArrayBase | Role::Member { .. } | Role::Logical => None,
    }
}

/// Probes as values of a module: positions would move.
pub struct ResolvedProbes(Vec<ResolvedProbe>);

struct ResolvedProbe {
    id: ProbeId,
    place: u64,
    value_type: ValueType,
    anchor: ResolvedAnchor,
}

/// Looks up where probes go in an unchanged copy of the bitcode.
pub fn resolve_probes(module: &Module, anchors: &Anchors, table: &SiteTable) -> ResolvedProbes {
    let functions = walk_functions(module);
    let ids: HashMap<(SiteId, u16), ProbeId> =
        (0..).map(ProbeId).zip(&table.probes).map(|(id, probe)| ((probe.site, probe.spot), id)).collect();
    let mut probes = Vec::new();
    for anchored in &anchors.functions {
        for member in &anchored.members {
            // SAFETY: the anchors were made from the same bitcode, which nobody has changed.
            let resolved = unsafe { resolve(module.as_mut_ptr(), functions[*member], anchored) };
            for (spot, anchor) in resolved.anchors.into_iter().enumerate() {
                let (site, number) = at_site(anchored, spot);
                if let (Some(anchor), Some(id)) = (anchor, ids.get(&(site, number))) {
                    let value_type = anchored.mutable.spots[spot].value_type;
                    probes.push(ResolvedProbe { id: *id, place: place(site.0, number), value_type, anchor });
                }
            }
        }
    }
    ResolvedProbes(probes)
}

fn at_site(anchored: &AnchoredFunction, spot: usize) -> (SiteId, u16) {
    (anchored.mutable.spots[spot].site, anchored.number_at_site(spot))
}

/// Inserts what was resolved.
pub fn insert(module: &Module, probes: &ResolvedProbes) {
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive, and the probes were resolved in it.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let mut parameters = [LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context)];
        let mark = declare_mark(module, MARK_SITE, &mut parameters, true);
        let builder = LLVMCreateBuilderInContext(context);
        let marker = Marker { context, builder, mark };
        for probe in &probes.0 {
            marker.probe(probe);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Adds the pages of [`cairn_abi::symbolic::sites`].
pub fn add_pages(module: &Module, n_probes: usize) -> LLVMValueRef {
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive.
    unsafe {
        let name = CString::new(SITES_SYMBOL).expect("our symbols have no zero byte");
        let byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
        let array = LLVMArrayType2(byte, sites_size(n_probes) as u64);
        let pages = LLVMAddGlobal(module, array, name.as_ptr());
        LLVMSetInitializer(pages, LLVMConstNull(array));
        LLVMSetAlignment(pages, PAGE as u32);
        LLVMSetVisibility(pages, LLVMVisibility::LLVMHiddenVisibility);
        pages
    }
}

struct Marker {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    mark: LLVMValueRef,
}

impl Marker {
    /// # Safety
    /// The probe was resolved in this module, in which nothing was inserted but marks.
    unsafe fn probe(&self, probe: &ResolvedProbe) {
        // SAFETY: promised by the caller; values are looked at where the mutant view does.
        unsafe {
            match &probe.anchor.at {
                ResolvedAt::Result(at) if LLVMIsATerminatorInst(*at).is_null() => {
                    let mut next = LLVMGetNextInstruction(*at);
                    while LLVMGetInstructionOpcode(next) == LLVMOpcode::LLVMPHI {
                        next = LLVMGetNextInstruction(next);
                    }
                    LLVMPositionBuilderBefore(self.builder, next);
                    self.mark(probe, *at);
                }
                ResolvedAt::Operands(operands) => {
                    // Nothing may stand between a call that has to be the last thing and the return.
                    let has_room = |at| LLVMIsAReturnInst(at).is_null() || before_return(at) == at;
                    for (at, number) in operands.iter().filter(|(at, _)| has_room(*at)) {
                        LLVMPositionBuilderBefore(self.builder, evaluated_at(*at, *number));
                        let value = as_type(self.builder, LLVMGetOperand(*at, *number), probe.value_type);
                        self.mark(probe, value);
                    }
                }
                ResolvedAt::Negated(at, number) => {
                    LLVMPositionBuilderBefore(self.builder, evaluated_at(*at, *number));
                    let value = LLVMBuildNeg(self.builder, LLVMGetOperand(*at, *number), c"".as_ptr());
                    self.mark(probe, value);
                }
                ResolvedAt::Stored(store) => {
                    LLVMPositionBuilderBefore(self.builder, *store);
                    self.mark(probe, LLVMGetOperand(*store, 0));
                }
                ResolvedAt::Result(_) | ResolvedAt::Logical(_) => {}
            }
        }
    }

    unsafe fn mark(&self, probe: &ResolvedProbe, value: LLVMValueRef) {
        // SAFETY: the builder stands where the value and its operands are known.
        unsafe {
            if !is_of(LLVMTypeOf(value), probe.value_type) {
                return;
            }
            let int = |bits, value: u64| LLVMConstInt(LLVMIntTypeInContext(self.context, bits), value, 0);
            let mut arguments = vec![int(32, probe.id.0.into()), int(64, probe.place), value];
            for operand in probe.anchor.operands.iter().take(MAX_OPERANDS) {
                // An address would escape by being named, and a read would keep what was stored there alive: a null pointer
                // stands for what is not told.
                let is_plain = operand.value_type != ValueType::Pointer
                    && !matches!(operand.place, OperandPlace::Target(_));
                let value = is_plain.then(|| read_operand(self.builder, operand));
                let value = value.filter(|value| is_number(LLVMTypeOf(*value)));
                let nothing = || LLVMConstNull(LLVMPointerTypeInContext(self.context, 0));
                arguments.push(value.unwrap_or_else(nothing));
            }
            let (count, none) = (arguments.len() as u32, c"".as_ptr());
            let function_type = LLVMGlobalGetValueType(self.mark);
            LLVMBuildCall2(self.builder, function_type, self.mark, arguments.as_mut_ptr(), count, none);
        }
    }
}

/// Whether values of a type of the bitcode are those of a type of the source.
///
/// # Safety
/// The type belongs to a live context.
unsafe fn is_of(there: LLVMTypeRef, value_type: ValueType) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        match (LLVMGetTypeKind(there), value_type) {
            (LLVMIntegerTypeKind, ValueType::Bool) => LLVMGetIntTypeWidth(there) == 1,
            (LLVMIntegerTypeKind, ValueType::Int { bits, .. }) => LLVMGetIntTypeWidth(there) == bits.into(),
            (LLVMFloatTypeKind, ValueType::Float { bits }) => bits == 32,
            (LLVMDoubleTypeKind, ValueType::Float { bits }) => bits == 64,
            _ => false,
        }
    }
}

unsafe fn is_number(there: LLVMTypeRef) -> bool {
    // SAFETY: the caller has a type of a live context.
    unsafe { matches!(LLVMGetTypeKind(there), LLVMIntegerTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind) }
}
