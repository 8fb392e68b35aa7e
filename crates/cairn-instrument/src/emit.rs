//! Optimises a module and writes it as an object.

mod letters;
mod startup;

use crate::fuel::{self, Fuel};
use inkwell::{
    OptimizationLevel,
    context::Context,
    memory_buffer::MemoryBuffer,
    module::Module,
    passes::PassBuilderOptions,
    targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine},
};
use std::path::{Path, PathBuf};

/// Why bitcode could not be read or an object not written.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// The file is missing or is not bitcode of this LLVM.
    #[error("failed to read bitcode `{path}`: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// LLVM's reason.
        reason: String,
    },
    /// The module is broken; a bug of ours.
    #[error("the instrumented module is broken: {reason}")]
    Broken {
        /// The verifier's reason.
        reason: String,
    },
    /// LLVM has no back end for the target.
    #[error("LLVM cannot generate code for `{triple}`: {reason}")]
    Target {
        /// The target triple of the bitcode.
        triple: String,
        /// LLVM's reason.
        reason: String,
    },
    /// A pass or the code generator failed.
    #[error("failed to write `{path}`: {reason}")]
    Write {
        /// The object.
        path: PathBuf,
        /// LLVM's reason.
        reason: String,
    },
}

/// Reads a module.
pub fn read<'c>(context: &'c Context, path: &Path) -> Result<Module<'c>, EmitError> {
    let fail = |reason: String| EmitError::Read { path: path.to_path_buf(), reason };
    let buffer = MemoryBuffer::create_from_file(path).map_err(|error| fail(error.to_string()))?;
    Module::parse_bitcode_from_buffer(&buffer, context).map_err(|error| fail(error.to_string()))
}

/// Optimises at O2.
pub fn optimise(module: &Module) -> Result<(), EmitError> {
    run_passes(module, Effort::Full.passes())
}

/// Runs passes on a module that is checked first.
pub fn run_passes(module: &Module, passes: &str) -> Result<(), EmitError> {
    run_passes_with(module, passes, PassBuilderOptions::create())
}

/// Likewise, with options.
pub fn run_passes_with(module: &Module, passes: &str, options: PassBuilderOptions) -> Result<(), EmitError> {
    let broken = |reason: String| EmitError::Broken { reason };
    module.verify().map_err(|reason| broken(reason.to_string()))?;
    module.run_passes(passes, &target_machine(module)?, options).map_err(|reason| broken(reason.to_string()))
}

/// How much to optimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As programs are built.
    Full,
    /// For bodies that are large and rarely run.
    Light,
    /// Not at all.
    None,
    /// Not at all, but with the checks of AddressSanitizer, for functions that ask for them. It does not notice who jumps
    /// far out of an object into another, so bounds that are known are checked before.
    Checked,
}

impl Effort {
    /// As LLVM writes it.
    pub fn passes(self) -> &'static str {
        match self {
            Self::Full => "default<O2>",
            Self::Light => "default<O1>",
            Self::None => "verify",
            Self::Checked => "function(bounds-checking),asan",
        }
    }
}

/// Optimises and writes a position-independent object; a view's module, once lowered, can be given fuel.
pub fn write_object(
    module: &Module,
    effort: Effort,
    fuel: Option<Fuel>,
    path: &Path,
) -> Result<(), EmitError> {
    letters::look_up(module);
    run_passes(module, effort.passes())?;
    write_optimised(module, fuel, path)
}

/// Writes an object of a module that was optimised already.
pub fn write_optimised(module: &Module, fuel: Option<Fuel>, path: &Path) -> Result<(), EmitError> {
    if let Some(fuel) = fuel {
        fuel::insert(module, fuel)?;
    }
    startup::lay_out(module);
    target_machine(module)?
        .write_to_file(module, FileType::Object, path)
        .map_err(|error| EmitError::Write { path: path.to_path_buf(), reason: error.to_string() })
}

fn target_machine(module: &Module) -> Result<TargetMachine, EmitError> {
    Target::initialize_x86(&InitializationConfig::default());
    let triple = module.get_triple();
    let fail = |reason: String| EmitError::Target { triple: triple.to_string(), reason };
    let target = Target::from_triple(&triple).map_err(|error| fail(error.to_string()))?;
    target
        .create_target_machine(
            &triple,
            "x86-64",
            "",
            OptimizationLevel::Default,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| fail("no target machine".into()))
}
