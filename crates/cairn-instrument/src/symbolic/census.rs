//! Counts what a program consists of, and how well each kind is followed.

use super::{
    SymbolicError,
    labels::{self, Treatment},
    models, optimise,
};
use crate::emit;
use inkwell::context::Context;
use std::{collections::BTreeMap, path::Path};

/// Kinds of instructions and LLVM's own functions, how well each is followed, and how many there are. `None` stands for what
/// nobody has thought about.
pub type Census = BTreeMap<String, (Option<Treatment>, usize)>;

/// Looks at a program twice: as its compiler wrote it, and as the symbolic view has it before labels are computed.
pub fn census(bitcode: &Path, models: Option<&Path>) -> Result<Census, SymbolicError> {
    let context = Context::create();
    let module = emit::read(&context, bitcode)?;
    let mut census = Census::new();
    labels::count(&module, &mut census);
    if let Some(folder) = models {
        models::replace_calls(&context, &module, folder)?;
    }
    module.strip_debug_info();
    optimise(&module)?;
    labels::count(&module, &mut census);
    Ok(census)
}
