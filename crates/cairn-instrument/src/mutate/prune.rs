//! Mutants that are no mutants: those whose function optimises to the same code as the original's, or as another's.

use super::{
    draft::{Draft, DraftFunction},
    modules::{delete_body, is_internal, keep_bodies, share, shared_name},
    resolve::resolve,
    switched::{Weave, Weaver},
};
use crate::{
    anchors::{Anchor, AnchoredFunction, At, LogicalResult, OperandAt, VariableAt},
    emit::{self, EmitError},
    ir::{Definition, instructions, walk_functions},
    lower::add_to_used,
};
use cairn_model::{StableId, mutants::DropReason};
use inkwell::{
    context::Context,
    llvm_sys::{
        analysis::{LLVMVerifierFailureAction, LLVMVerifyFunction},
        core::*,
        error::LLVMConsumeError,
        prelude::*,
        transforms::pass_builder::{
            LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
        },
    },
    module::Module,
};
use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What makes equal code equal: enough to see through what mutants do, not so much that thousands take long.
const PASSES: &str = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,\
                      early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,adce)";

/// How many functions are cut out of the program at a time: cutting out one after another would copy the program as
/// often as it has functions.
const CHUNK: usize = 16;

/// Why each mutant that is left out is; the same whatever `n_threads` is.
pub fn prune(
    draft: &Draft,
    bitcode: &Path,
    n_threads: usize,
) -> Result<BTreeMap<StableId, DropReason>, EmitError> {
    let bodies: Vec<Body> = draft
        .functions
        .iter()
        .enumerate()
        .flat_map(|(function, of)| (0..of.bodies.len()).map(move |body| Body { function, body }))
        .collect();
    let hashes = Mutex::new(vec![Hashes::default(); bodies.len()]);
    let next = AtomicUsize::new(0);
    let chunks = chunks(draft, &bodies);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads.max(1))
            .map(|_| {
                scope.spawn(|| -> Result<(), EmitError> {
                    let context = Context::create();
                    // SAFETY: names of values would make equal code look different; the context is new.
                    unsafe { LLVMContextSetDiscardValueNames(context.raw(), 1) };
                    let whole = emit::read(&context, bitcode)?;
                    let anchored = without_debug_information(&whole, draft, &bodies);
                    while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        for (index, small) in extract(&whole, draft, &bodies, chunk) {
                            let Body { function, body } = bodies[index];
                            let found = hash_body(&small, &draft.functions[function], body, &anchored[index]);
                            hashes.lock().expect("no thread panics")[index] = found;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("pruning does not panic"))
    })?;
    let hashes = hashes.into_inner().expect("no thread panics");
    let mut dropped = BTreeMap::new();
    let mut rest = hashes.as_slice();
    for function in &draft.functions {
        let (own, others) = rest.split_at(function.bodies.len());
        dropped.extend(judge(function, own));
        rest = others;
    }
    Ok(dropped)
}

/// A body of the draft: a position among its functions, and one among the function's bodies.
#[derive(Clone, Copy)]
struct Body {
    function: usize,
    body: usize,
}

/// What a body optimises to; `None` is what is no valid code.
#[derive(Clone, Default)]
struct Hashes {
    original: Option<Hash>,
    /// With each mutant of the function, in order.
    mutants: Vec<Option<Hash>>,
}

type Hash = [u8; 32];

/// Why mutants of a function are left out, by what all its bodies optimise to.
fn judge(function: &DraftFunction, bodies: &[Hashes]) -> Vec<(StableId, DropReason)> {
    let original: Vec<Option<Hash>> = bodies.iter().map(|body| body.original).collect();
    let mut seen: HashMap<Vec<Option<Hash>>, StableId> = HashMap::new();
    let mut dropped = Vec::new();
    let mutants = function.patches.iter().flat_map(|patch| &patch.mutants);
    for (number, mutant) in mutants.enumerate() {
        let stable_id = mutant.proposal.stable_id;
        let hashes: Vec<Option<Hash>> = bodies.iter().map(|body| body.mutants[number]).collect();
        let reason = if hashes.contains(&None) {
            DropReason::Invalid
        } else if hashes == original {
            DropReason::Equivalent
        } else {
            match seen.entry(hashes) {
                Entry::Occupied(other) => DropReason::Duplicate(*other.get()),
                Entry::Vacant(place) => {
                    place.insert(stable_id);
                    continue;
                }
            }
        };
        dropped.push((stable_id, reason));
    }
    dropped
}

/// Bodies in chunks of about equal work, so that threads end together.
fn chunks(draft: &Draft, bodies: &[Body]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..bodies.len()).collect();
    order.sort_by_key(|body| std::cmp::Reverse(draft.functions[bodies[*body].function].n_selectors()));
    let n_chunks = order.len().div_ceil(CHUNK);
    let mut chunks = vec![Vec::new(); n_chunks];
    for (index, body) in order.into_iter().enumerate() {
        chunks[index % n_chunks].push(body);
    }
    chunks
}

/// Strips a module of debug information, and returns where the anchors of each body are then.
fn without_debug_information(whole: &Module, draft: &Draft, bodies: &[Body]) -> Vec<AnchoredFunction> {
    let functions = walk_functions(whole);
    let anchored = bodies
        .iter()
        .map(|Body { function, body }| {
            let anchored = draft.functions[*function].bodies[*body];
            // SAFETY: the function belongs to the live module.
            let dropped = unsafe { debug_positions(functions[anchored.members[0]]) };
            moved(anchored, &dropped, &|symbol| name_after_sharing(whole, symbol))
        })
        .collect();
    whole.strip_debug_info();
    anchored
}

/// A copy of a module.
fn copy<'c>(module: &Module<'c>) -> Module<'c> {
    // SAFETY: the module is alive and whole; inkwell's own way to copy checks that again, which takes longer than
    // everything else here.
    unsafe { Module::new(LLVMCloneModule(module.as_mut_ptr())) }
}

/// What the only function of `small`, a body of `function`, optimises to.
fn hash_body(small: &Module, function: &DraftFunction, body: usize, anchored: &AnchoredFunction) -> Hashes {
    forget_unused(small, anchored);
    let original = optimised(small, anchored, None);
    let mut mutants = Vec::new();
    for patch in &function.patches {
        for number in 0..patch.mutants.len() {
            mutants.push(match patch.weave_one(number, body, anchored) {
                Some(weave) => optimised(small, anchored, Some(weave)),
                None => original,
            });
        }
    }
    Hashes { original, mutants }
}

/// A hash of the only function after optimisation, with a mutant woven in; `None` if that does not fit.
fn optimised(small: &Module, anchored: &AnchoredFunction, weave: Option<Weave>) -> Option<Hash> {
    let module = copy(small);
    let function = walk_functions(&module).first().copied()?;
    let raw = module.as_mut_ptr();
    // SAFETY: the function is an unchanged copy of the one the anchors were moved to.
    unsafe {
        let context = LLVMGetModuleContext(raw);
        let builder = LLVMCreateBuilderInContext(context);
        let weaver = Weaver { module: raw, context, builder, observes: false, count_way: &|_| {} };
        let active = LLVMConstInt(LLVMInt32TypeInContext(context), 1, 0);
        let resolved = resolve(raw, function, anchored);
        let misfits = weaver.weave(&resolved, weave.as_slice(), Some(active), active);
        LLVMDisposeBuilder(builder);
        let quietly = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        if !misfits.is_empty() || LLVMVerifyFunction(function, quietly) != 0 {
            return None;
        }
        if !run(&module, PASSES) {
            return None;
        }
        let printed = LLVMPrintValueToString(function);
        let hash = blake3::hash(std::ffi::CStr::from_ptr(printed).to_bytes());
        LLVMDisposeMessage(printed);
        Some(*hash.as_bytes())
    }
}

/// Modules with one body of the chunk each.
fn extract<'c>(
    whole: &Module<'c>,
    draft: &Draft,
    bodies: &[Body],
    chunk: &[usize],
) -> Vec<(usize, Module<'c>)> {
    let some = copy(whole);
    let functions = walk_functions(&some);
    let of_body = |Body { function, body }: Body| draft.functions[function].bodies[body].members[0];
    let ours: Vec<LLVMValueRef> = chunk.iter().map(|index| functions[of_body(bodies[*index])]).collect();
    share(&some);
    // SAFETY: the functions belong to the module.
    unsafe { keep_bodies(&some, &ours, "") };
    let kept = walk_functions(&some);
    chunk
        .iter()
        .zip(&ours)
        .map(|(function, own)| {
            let small = copy(&some);
            for (kept, other) in kept.iter().zip(walk_functions(&small)) {
                if kept != own {
                    // SAFETY: the function belongs to the module.
                    unsafe { delete_body(other) };
                }
            }
            (*function, small)
        })
        .collect()
}

/// Drops declarations that neither the function nor its mutants refer to: every copy would copy them.
fn forget_unused(small: &Module, anchored: &AnchoredFunction) {
    let raw = small.as_mut_ptr();
    // SAFETY: the module is alive.
    unsafe {
        let globals: Vec<LLVMValueRef> = anchored
            .variables
            .iter()
            .filter_map(|variable| match variable {
                VariableAt::Global(symbol) => std::ffi::CString::new(symbol.as_str()).ok(),
                VariableAt::Local(_) => None,
            })
            .map(|symbol| LLVMGetNamedGlobal(raw, symbol.as_ptr()))
            .filter(|global| !global.is_null())
            .collect();
        add_to_used(raw, LLVMGetModuleContext(raw), &globals);
        run(small, "strip-dead-prototypes");
    }
}

/// Runs passes that cannot fail on whole modules.
fn run(module: &Module, passes: &str) -> bool {
    let passes = std::ffi::CString::new(passes).expect("passes have no zero byte");
    // SAFETY: the module is alive.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        // Without a machine: what is equal is so on every one.
        let error = LLVMRunPasses(module.as_mut_ptr(), passes.as_ptr(), std::ptr::null_mut(), options);
        LLVMDisposePassBuilderOptions(options);
        if !error.is_null() {
            LLVMConsumeError(error);
        }
        error.is_null()
    }
}

fn name_after_sharing(module: &Module, symbol: &str) -> String {
    let name = std::ffi::CString::new(symbol).unwrap_or_default();
    // SAFETY: the module is alive.
    unsafe {
        let global = LLVMGetNamedGlobal(module.as_mut_ptr(), name.as_ptr());
        if !global.is_null() && is_internal(global) { shared_name(symbol) } else { symbol.to_owned() }
    }
}

/// By block, the positions of instructions that go with the debug information.
unsafe fn debug_positions(function: LLVMValueRef) -> Vec<Vec<usize>> {
    let mut positions = Vec::new();
    // SAFETY: the function belongs to a live module.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let is_debug = |(index, at): (usize, LLVMValueRef)| {
                (!LLVMIsADbgInfoIntrinsic(at).is_null()).then_some(index)
            };
            positions.push(instructions(block).into_iter().enumerate().filter_map(is_debug).collect());
            block = LLVMGetNextBasicBlock(block);
        }
    }
    positions
}

/// The anchors where they are without the instructions at `dropped`.
fn moved(
    anchored: &AnchoredFunction,
    dropped: &[Vec<usize>],
    shared_name_of: &dyn Fn(&str) -> String,
) -> AnchoredFunction {
    let here = |at: Definition| Definition {
        block: at.block,
        instruction: at.instruction
            - dropped[at.block].iter().filter(|position| **position < at.instruction).count(),
    };
    let anchors = anchored
        .anchors
        .iter()
        .map(|anchor| {
            let at = match &anchor.at {
                At::Result(at) => At::Result(here(*at)),
                At::Operand(at, number) => At::Operand(here(*at), *number),
                At::Operands(operands) => {
                    At::Operands(operands.iter().map(|(at, number)| (here(*at), *number)).collect())
                }
                At::Negated(at, number) => At::Negated(here(*at), *number),
                At::Stored(at) => At::Stored(here(*at)),
                At::Logical(logical) => {
                    let mut logical = logical.clone();
                    if let LogicalResult::Phi { phi, extended, .. } = &mut logical.result {
                        *phi = here(*phi);
                        *extended = extended.map(here);
                    }
                    At::Logical(logical)
                }
            };
            let operands = anchor
                .operands
                .iter()
                .map(|operand| match operand {
                    OperandAt::Operand(at, number) => OperandAt::Operand(here(*at), *number),
                    OperandAt::Negated(at, number) => OperandAt::Negated(here(*at), *number),
                    OperandAt::Result(at) => OperandAt::Result(here(*at)),
                    OperandAt::Target(at) => OperandAt::Target(here(*at)),
                })
                .collect();
            Anchor { at, operands }
        })
        .collect();
    let variables = anchored
        .variables
        .iter()
        .map(|variable| match variable {
            VariableAt::Local(at) => VariableAt::Local(here(*at)),
            VariableAt::Global(symbol) => VariableAt::Global(shared_name_of(symbol)),
        })
        .collect();
    let (defined_at, mutable) = (anchored.defined_at.clone(), anchored.mutable.clone());
    AnchoredFunction { defined_at, members: vec![0], mutable, anchors, variables }
}
