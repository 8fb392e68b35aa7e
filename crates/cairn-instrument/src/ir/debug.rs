//! Debug metadata that the C API shows only as generic nodes.

use super::{IrPlace, IrSource};
use inkwell::llvm_sys::{core::*, debuginfo::*, prelude::*};
use std::{collections::HashMap, os::raw::c_uint, slice};

/// Collects the files met in debug information.
#[derive(Default)]
pub struct Files {
    /// Absolute paths.
    pub paths: Vec<String>,
    index_of: HashMap<String, u32>,
    index_of_node: HashMap<LLVMMetadataRef, u32>,
}

impl Files {
    /// The files that were met before, in their order.
    pub fn starting_with(paths: &[String]) -> Self {
        let index_of = paths.iter().enumerate().map(|(index, path)| (path.clone(), index as u32)).collect();
        Self { paths: paths.to_vec(), index_of, index_of_node: HashMap::new() }
    }

    fn index(&mut self, node: LLVMMetadataRef) -> u32 {
        if let Some(index) = self.index_of_node.get(&node) {
            return *index;
        }
        let mut length: c_uint = 0;
        // SAFETY: `node` is a DIFile of a live module, and the strings live as long as its context.
        let (name, directory) = unsafe {
            let name = text(LLVMDIFileGetFilename(node, &mut length), length as usize);
            let directory = text(LLVMDIFileGetDirectory(node, &mut length), length as usize);
            (name, directory)
        };
        let path = normalise(&if name.starts_with('/') { name } else { format!("{directory}/{name}") });
        let next = self.paths.len() as u32;
        let index = *self.index_of.entry(path.clone()).or_insert_with(|| {
            self.paths.push(path);
            next
        });
        self.index_of_node.insert(node, index);
        index
    }
}

/// Drops `.` and resolves `..` by text, so that one file has one name.
pub fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Where an instruction comes from. Code inlined by the front end counts where it was written.
pub fn place_of(files: &mut Files, instruction: LLVMValueRef) -> Option<IrPlace> {
    // SAFETY: the instruction belongs to a live module; the scope of a location always has a file.
    unsafe {
        let location = LLVMInstructionGetDebugLoc(instruction);
        if location.is_null() {
            return None;
        }
        let line = LLVMDILocationGetLine(location);
        if line == 0 {
            return None;
        }
        let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
        if file.is_null() {
            return None;
        }
        Some(IrPlace { file: files.index(file), line, column: LLVMDILocationGetColumn(location) })
    }
}

/// What debug information says of a function.
pub fn source_of(files: &mut Files, context: LLVMContextRef, function: LLVMValueRef) -> Option<IrSource> {
    // Operand numbers of DISubprogram and DICompileUnit in LLVM 19.
    const NAME: usize = 2;
    const LINKAGE_NAME: usize = 3;
    const UNIT: usize = 5;
    const UNIT_FLAGS: usize = 2;
    // SAFETY: the function belongs to a live module, and all nodes reached from it live as long.
    unsafe {
        let subprogram = LLVMGetSubprogram(function);
        if subprogram.is_null() {
            return None;
        }
        let file = LLVMDIScopeGetFile(subprogram);
        if file.is_null() {
            return None;
        }
        let operands = operands(LLVMMetadataAsValue(context, subprogram));
        let unit = operands.get(UNIT).copied().filter(|unit| !unit.is_null());
        let flags = unit.and_then(|unit| string(self::operands(unit).get(UNIT_FLAGS).copied()));
        Some(IrSource {
            name: string(operands.get(NAME).copied()).unwrap_or_default(),
            linkage_name: string(operands.get(LINKAGE_NAME).copied()).unwrap_or_default(),
            file: files.index(file),
            line: LLVMDISubprogramGetLine(subprogram),
            unit_key: flags.and_then(|flags| {
                flags.split("cairn:").nth(1).map(|key| key.split(' ').next().unwrap_or(key).into())
            }),
        })
    }
}

/// The storage and the name of the variable that a call of `llvm.dbg.declare` declares.
pub fn declared_variable(call: LLVMValueRef) -> Option<(LLVMValueRef, String)> {
    // The operand number of the name in DILocalVariable in LLVM 19.
    const NAME: usize = 1;
    // SAFETY: the call belongs to a live module; operands are looked at only after their kind was checked.
    unsafe {
        let callee = LLVMGetCalledValue(call);
        let mut length = 0;
        if LLVMIsAFunction(callee).is_null()
            || text(LLVMGetValueName2(callee, &mut length), length) != "llvm.dbg.declare"
        {
            return None;
        }
        let storage = LLVMGetOperand(call, 0);
        // Not a node: the value itself, wrapped.
        let storage = *operands(storage).first().filter(|storage| !storage.is_null())?;
        let variable = LLVMGetOperand(call, 1);
        Some((storage, string(operands(variable).get(NAME).copied())?))
    }
}

/// The name of a global variable in the source, and the file and line of its definition.
pub fn global_source(files: &mut Files, global: LLVMValueRef) -> Option<(String, (u32, u32))> {
    // Operand numbers of DIGlobalVariable in LLVM 19.
    const NAME: usize = 1;
    // SAFETY: the global belongs to a live module, and all nodes reached from it live as long.
    unsafe {
        let mut n_entries = 0;
        let entries = LLVMGlobalCopyAllMetadata(global, &mut n_entries);
        let mut found = None;
        for index in 0..n_entries as u32 {
            let node = LLVMValueMetadataEntriesGetMetadata(entries, index);
            let kind = LLVMGetMetadataKind(node);
            if !matches!(kind, LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind) {
                continue;
            }
            let variable = LLVMDIGlobalVariableExpressionGetVariable(node);
            let file = if variable.is_null() { variable } else { LLVMDIVariableGetFile(variable) };
            if file.is_null() {
                continue;
            }
            let context = LLVMGetTypeContext(LLVMTypeOf(global));
            let name = string(operands(LLVMMetadataAsValue(context, variable)).get(NAME).copied());
            let line = LLVMDIVariableGetLine(variable);
            found = found.or(name.map(|name| (name, (files.index(file), line))));
        }
        LLVMDisposeValueMetadataEntries(entries);
        found
    }
}

/// # Safety
/// `node` is a metadata node of a live module.
unsafe fn operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: the vector has room for as many operands as the node says it has.
    unsafe {
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        operands
    }
}

/// # Safety
/// `value` is an operand of a metadata node of a live module.
unsafe fn string(value: Option<LLVMValueRef>) -> Option<String> {
    let value = value.filter(|value| !value.is_null())?;
    let mut length: c_uint = 0;
    // SAFETY: the C API answers null for anything that is not a string.
    unsafe {
        let start = LLVMGetMDString(value, &mut length);
        (!start.is_null()).then(|| text(start, length as usize))
    }
}

/// # Safety
/// `start` points to `length` readable bytes, or is null.
pub unsafe fn text(start: *const std::os::raw::c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: promised by the caller.
    String::from_utf8_lossy(unsafe { slice::from_raw_parts(start.cast::<u8>(), length) }).into_owned()
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn one_file_has_one_name() {
        assert_eq!(normalise("/src/./lib/../a.c"), "/src/a.c");
    }
}
