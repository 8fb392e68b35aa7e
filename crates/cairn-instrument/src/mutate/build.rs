//! From anchors to the objects of a mutant view.

use super::{
    checked::ask_for_checks,
    draft::Draft,
    gathered::{lower_gathered, lower_gathering},
    littered::litter,
    objects::{MutantView, lower_alone, lower_apart, lower_rest},
    prune::prune,
};
use crate::{
    anchors::Anchors,
    emit::{self, Effort, EmitError},
    fuel::Fuel,
    plan::Plan,
};
use cairn_model::{MutantTable, ProgramMap, StableId};
use cairn_mutants::catalogue::{OperatorSet, generate};
use inkwell::{context::Context, module::Module};
use std::path::{Path, PathBuf};

/// What mutants are made of, and of what.
pub struct Subject<'a> {
    /// The program.
    pub bitcode: &'a Path,
    /// Its map.
    pub map: &'a ProgramMap,
    /// Where its counters go.
    pub plan: &'a Plan,
    /// Where its expressions are.
    pub anchors: &'a Anchors,
    /// The operators to use.
    pub operators: &'a OperatorSet,
}

/// Where the objects of a mutant view go.
pub struct Objects<'a> {
    /// The program, choosing bodies.
    pub main: &'a Path,
    /// Mutated bodies.
    pub mutated: &'a Path,
    /// Examined bodies.
    pub examined: &'a Path,
}

/// Makes the mutants of a program and writes the objects of its mutant view.
pub fn build(subject: &Subject, objects: &Objects) -> Result<MutantTable, EmitError> {
    let mut draft = draft(subject);
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let reasons = prune(&draft, subject.bitcode, n_threads)?;
    draft.drop_mutants(&|mutant| reasons.get(&mutant).copied());
    let table = draft.table(subject.map, &subject.operators.name);
    let view = MutantView { plan: subject.plan, draft: &draft, table: &table };
    let view = &view;
    std::thread::scope(|scope| {
        let running = [
            scope.spawn(move || {
                let fuel = Some(Fuel::WhereCallsAre);
                write(subject.bitcode, objects.main, Effort::Full, fuel, |module| view.lower_main(module))
            }),
            scope.spawn(move || {
                let fuel = Some(Fuel::Everywhere);
                write(subject.bitcode, objects.mutated, Effort::Light, fuel, |module| {
                    view.lower_mutated(module)
                })
            }),
            scope.spawn(move || {
                let fuel = Some(Fuel::Everywhere);
                write(subject.bitcode, objects.examined, Effort::Light, fuel, |module| {
                    view.lower_examined(module);
                })
            }),
        ];
        running.into_iter().try_for_each(|object| object.join().expect("writing an object does not panic"))
    })?;
    Ok(table)
}

/// Compiles mutants alone: each is the bare program with one change. Returns those that do not exist.
///
/// With [`Effort::Checked`] they show whether what they do is defined at all; with [`Effort::None`] all variables hold litter
/// before they are written.
pub fn build_alone(
    subject: &Subject,
    mutants: &[(StableId, PathBuf)],
    effort: Effort,
) -> Result<Vec<StableId>, EmitError> {
    let draft = draft(subject);
    let mut unknown = Vec::new();
    for (mutant, object) in mutants {
        let mut exists = true;
        write(subject.bitcode, object, effort, None, |module| {
            exists = lower_alone(module, &draft, *mutant);
            match effort {
                Effort::None => litter(module),
                Effort::Checked => ask_for_checks(module),
                _ => {}
            }
        })?;
        if !exists {
            unknown.push(*mutant);
        }
    }
    Ok(unknown)
}

/// Compiles mutants alone as two objects each: the function that it changes, and `rest`, which is written once for all of
/// them. Hundreds of mutants of a large program take minutes in this way, and the whole program each time takes hours.
///
/// Returns those that do not exist.
pub fn build_apart(
    subject: &Subject,
    mutants: &[(StableId, PathBuf)],
    rest: Option<&Path>,
) -> Result<Vec<StableId>, EmitError> {
    let draft = draft(subject);
    if let Some(rest) = rest {
        write(subject.bitcode, rest, Effort::Full, None, |module| lower_rest(module, &draft))?;
    }
    let mut unknown = Vec::new();
    for (mutant, object) in mutants {
        let mut exists = true;
        write(subject.bitcode, object, Effort::Full, None, |module| {
            exists = lower_apart(module, &draft, *mutant);
        })?;
        if !exists {
            unknown.push(*mutant);
        }
    }
    Ok(unknown)
}

/// Compiles mutants alone, to be linked with `gathering` into one program that can do what each of them does. Returns
/// those that do not exist.
pub fn build_gathered(
    subject: &Subject,
    mutants: &[(StableId, PathBuf)],
    gathering: &Path,
) -> Result<Vec<StableId>, EmitError> {
    let draft = &draft(subject);
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = mutants.len().div_ceil(n_threads).max(1);
    let write_share = |mutants: &[(StableId, PathBuf)]| {
        let mut unknown = Vec::new();
        for (mutant, object) in mutants {
            let mut exists = true;
            write(subject.bitcode, object, Effort::Full, None, |module| {
                exists = lower_gathered(module, draft, *mutant);
            })?;
            if !exists {
                unknown.push(*mutant);
            }
        }
        Ok(unknown)
    };
    let write_share = &write_share;
    std::thread::scope(|scope| {
        let running: Vec<_> =
            mutants.chunks(share).map(|mutants| scope.spawn(move || write_share(mutants))).collect();
        write(subject.bitcode, gathering, Effort::Full, None, |module| lower_gathering(module, draft))?;
        let mut unknown = Vec::new();
        for share in running {
            unknown.extend(share.join().expect("writing an object does not panic")?);
        }
        Ok(unknown)
    })
}

fn draft<'a>(subject: &Subject<'a>) -> Draft<'a> {
    Draft::new(subject.anchors, subject.map, |function| {
        generate(subject.map, &function.mutable, subject.operators)
    })
}

fn write(
    bitcode: &Path,
    object: &Path,
    effort: Effort,
    fuel: Option<Fuel>,
    change: impl FnOnce(&Module),
) -> Result<(), EmitError> {
    let context = Context::create();
    let module = emit::read(&context, bitcode)?;
    change(&module);
    // Only now: positions count the debug intrinsics too.
    module.strip_debug_info();
    emit::write_object(&module, effort, fuel, object)
}
