//! The symbolic view: beside every value, a label that says what it is made of.
//!
//! 1. [`marks`] notes on the unoptimised bitcode where conditions are evaluated, because optimisation leaves few branches as
//!    they were.
//! 2. [`models`] replaces calls of the C library by functions of ours that can be followed.
//! 3. The module is optimised like any view, but without vectors.
//! 4. [`labels`] computes labels beside values.
//!
//! A *detailed* view has more marks: [`sites`] where expressions are evaluated, [`frames`] where functions are entered and
//! left. They keep values alive that nobody else needs, and cut code into pieces; so they are in a view of their own, and the
//! ordinary one costs what it costs without them.
//!
//! The contract with the runtime is [`cairn_abi::symbolic`].

pub mod census;
pub mod frames;
pub mod labels;
pub mod marks;
pub mod models;
pub mod sites;
mod tables;

use crate::{
    anchors::Anchors,
    emit::{self, Effort, EmitError},
    fuel::Fuel,
    lower::Lowering,
    plan::Plan,
};
use cairn_abi::view::ViewKind;
use cairn_model::{FunctionId, SiteTable};
use inkwell::{
    attributes::{Attribute, AttributeLoc},
    context::Context,
    llvm_sys::{LLVMAttributeFunctionIndex, core::*},
    passes::PassBuilderOptions,
};
use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
};

/// Why a symbolic view could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SymbolicError {
    /// Reading, optimising or writing failed.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The models are missing or do not fit.
    #[error(transparent)]
    Models(#[from] models::ModelsError),
}

/// What a detailed view is made of beside what every symbolic view is.
pub struct Detail<'a> {
    /// Where expressions are.
    pub anchors: &'a Anchors,
    /// Those that get a probe, as [`sites::table`] lists them.
    pub table: &'a SiteTable,
    /// The ids of functions, by function in module order.
    pub functions: &'a [Option<FunctionId>],
}

/// Builds the object of the symbolic view, of a detailed one if there is `detail`. Returns the names of LLVM's functions that are opaque without having been looked at.
pub fn build(
    bitcode: &Path,
    plan: &Plan,
    map_hash: &[u8; 32],
    models: Option<&Path>,
    detail: Option<&Detail>,
    object: &Path,
) -> Result<BTreeSet<String>, SymbolicError> {
    let context = Context::create();
    let module = emit::read(&context, bitcode)?;
    let mut lowering = Lowering::new(&module, plan.n_counters, ViewKind::Symbolic);
    let counters = lowering.resolve_all(&module, plan);
    let marks = marks::resolve(&module, plan);
    let details = detail.map(|detail| {
        let probes = sites::resolve_probes(&module, detail.anchors, detail.table);
        (probes, frames::resolve_frames(&module, detail.functions))
    });
    // A value comes before what is decided by it. All marks come first, because counting replaces values they look at.
    if let Some((probes, _)) = &details {
        sites::insert(&module, probes);
    }
    marks::insert(&module, &marks);
    for inserts in &counters {
        lowering.insert(inserts);
    }
    let known = match models {
        Some(folder) => models::replace_calls(&context, &module, folder)?,
        None => models::Known::default(),
    };
    marks::insert_unnamed(&module, &marks);
    if let (Some(detail), Some((_, frames))) = (detail, &details) {
        frames::insert(&module, frames);
        let n_probes = detail.table.probes.len();
        lowering.sites = Some((sites::add_pages(&module, n_probes), n_probes as u32));
    }
    lowering.set_main_aside();
    lowering.add_main();
    lowering.rename_open();
    lowering.introduce(plan.n_counters, ViewKind::Symbolic, map_hash, None);
    lowering.finish();
    module.strip_debug_info();
    optimise(&module)?;
    tables::list(&module);
    let unknown = labels::compute(&module, &known);
    emit::run_passes(&module, TIDY)?;
    emit::write_optimised(&module, Some(Fuel::WhereCallsAre), object)?;
    Ok(unknown)
}

/// What is left to do when labels are computed beside values.
const TIDY: &str = "function(early-cse,simplifycfg,adce)";

/// Optimises as programs are built, but without vectors, whose parts have no labels, and without copies of loops.
fn optimise(module: &inkwell::module::Module) -> Result<(), EmitError> {
    keep_switches(module);
    let options = PassBuilderOptions::create();
    options.set_loop_unrolling(false);
    // `default<O2>` turns both vectorisers on, whatever the options say; of functions with this attribute they make nothing. It
    // must not stay: it would also keep the code generator from copying with wide registers.
    let unmarked = mark_without_vectors(module);
    emit::run_passes_with(module, Effort::Full.passes(), options)?;
    unmark(module, &unmarked);
    emit::run_passes(module, "function(scalarizer,instsimplify,adce)")
}

/// Has LLVM use no vectors that the program does not have; returns the names of functions that had it so already.
fn mark_without_vectors(module: &inkwell::module::Module) -> HashSet<String> {
    let (kind, attribute) = no_implicit_float(module);
    let mut marked_already = HashSet::new();
    for function in module.get_functions() {
        if function.get_enum_attribute(AttributeLoc::Function, kind).is_some() {
            marked_already.insert(function.get_name().to_string_lossy().into_owned());
        }
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    marked_already
}

fn unmark(module: &inkwell::module::Module, marked_already: &HashSet<String>) {
    let (kind, _) = no_implicit_float(module);
    for function in module.get_functions() {
        if !marked_already.contains(&*function.get_name().to_string_lossy()) {
            function.remove_enum_attribute(AttributeLoc::Function, kind);
        }
    }
}

fn no_implicit_float(module: &inkwell::module::Module) -> (u32, Attribute) {
    let kind = Attribute::get_named_enum_kind_id("noimplicitfloat");
    (kind, module.get_context().create_enum_attribute(kind, 0))
}

/// A switch that becomes a table of addresses would tie its value down.
fn keep_switches(module: &inkwell::module::Module) {
    let (name, value) = ("no-jump-tables", "true");
    // SAFETY: the module is alive; the attribute belongs to its context.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let attribute = LLVMCreateStringAttribute(
            context,
            name.as_ptr().cast(),
            name.len() as u32,
            value.as_ptr().cast(),
            value.len() as u32,
        );
        let mut function = LLVMGetFirstFunction(module.as_mut_ptr());
        while !function.is_null() {
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
            function = LLVMGetNextFunction(function);
        }
    }
}
