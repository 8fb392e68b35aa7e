//! Functions of ours in place of the C library's.
//!
//! A folder holds bitcode of models, which is linked into the view and followed like the program itself, and the list of the
//! names they replace. Names are replaced in declarations, so that calls and addresses both lead to the model; a function that
//! the program defines itself stays.

use inkwell::{
    context::Context,
    llvm_sys::{LLVMLinkage, core::*, prelude::*},
    memory_buffer::MemoryBuffer,
    module::Module,
};
use std::{
    collections::HashSet,
    ffi::CString,
    fs, io,
    path::{Path, PathBuf},
};

/// The bitcode in a folder of models.
pub const BITCODE: &str = "models.bc";
/// The list of names in it: a line each, the C library's and ours, or [`HARMLESS`], or [`SILENT`].
pub const ALIASES: &str = "aliases.txt";

/// In place of a name: the function stays, and what it is given is nothing that it reads and the program could see again.
const HARMLESS: &str = "=";

/// In place of a name: the function stays and reads what it is given, but what it returns says nothing of it.
const SILENT: &str = "~";

/// What is known of functions by their names.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// There are models in their place, or they are harmless.
    pub replaced: HashSet<String>,
    /// What they return does not depend on the bytes they are given.
    pub silent: HashSet<String>,
}

/// Why models could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// A file is missing.
    #[error(
        "failed to read `{path}`\n\nhint: install Cairn again, with `bin`, `lib` and `include` side by side"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The bitcode does not fit.
    #[error("the models in `{path}` cannot be linked into the program: {reason}")]
    Link {
        /// The file.
        path: PathBuf,
        /// LLVM's reason.
        reason: String,
    },
}

/// Replaces functions of the C library that the module declares; returns what the list says of all names.
pub fn replace_calls<'c>(
    context: &'c Context,
    module: &Module<'c>,
    folder: &Path,
) -> Result<Known, ModelsError> {
    let path = folder.join(ALIASES);
    let list = fs::read_to_string(&path).map_err(|source| ModelsError::Read { path, source })?;
    let mut known = Known::default();
    for line in list.lines() {
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        if let (Some(name), Some(ours)) = (words.next(), words.next()) {
            match ours {
                SILENT => known.silent.insert(name.to_owned()),
                HARMLESS => known.replaced.insert(name.to_owned()),
                ours => {
                    rename(module, name, ours);
                    known.replaced.insert(name.to_owned())
                }
            };
        }
    }
    link(context, module, &folder.join(BITCODE))?;
    Ok(known)
}

/// Makes whoever refers to a declared function refer to another.
fn rename(module: &Module, name: &str, ours: &str) {
    let (Ok(old_name), Ok(new_name)) = (CString::new(name), CString::new(ours)) else { return };
    // SAFETY: the module is alive; a declaration may have any name and be replaced by another.
    unsafe {
        let function = LLVMGetNamedFunction(module.as_mut_ptr(), old_name.as_ptr());
        if function.is_null() || LLVMIsDeclaration(function) == 0 {
            return;
        }
        let known = LLVMGetNamedFunction(module.as_mut_ptr(), new_name.as_ptr());
        if known.is_null() {
            LLVMSetValueName2(function, new_name.as_ptr(), ours.len());
        } else {
            LLVMReplaceAllUsesWith(function, known);
            LLVMDeleteFunction(function);
        }
        forget_promises(LLVMGetNamedFunction(module.as_mut_ptr(), new_name.as_ptr()));
    }
}

/// What clang knows of the C library's function need not hold of ours.
///
/// # Safety
/// The function belongs to a live module.
unsafe fn forget_promises(function: LLVMValueRef) {
    // SAFETY: promised by the caller.
    unsafe {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        for name in ["memory", "nofree", "willreturn", "nosync", "allocsize", "allockind"] {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveEnumAttributeAtIndex(function, index, kind);
        }
    }
}

/// Links the models that are used into the module.
fn link<'c>(context: &'c Context, module: &Module<'c>, path: &Path) -> Result<(), ModelsError> {
    let fail = |reason: String| ModelsError::Link { path: path.to_owned(), reason };
    let buffer = MemoryBuffer::create_from_file(path).map_err(|error| fail(error.to_string()))?;
    let models =
        Module::parse_bitcode_from_buffer(&buffer, context).map_err(|error| fail(error.to_string()))?;
    let own: HashSet<LLVMValueRef> = defined(module).into_iter().collect();
    module.link_in_module(models).map_err(|error| fail(error.to_string()))?;
    for function in defined(module) {
        if !own.contains(&function) {
            // SAFETY: defined in this module, and nobody outside knows of it.
            unsafe { LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage) };
        }
    }
    Ok(())
}

fn defined(module: &Module) -> Vec<LLVMValueRef> {
    let mut functions = Vec::new();
    // SAFETY: the module is alive.
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
