//! An input as the bytes that expressions speak of, and back.
//!
//! Expressions name bytes by region and offset. [`Regions`] knows which part of an [`Input`] each of them is: it reads bytes
//! for evaluation, and [`Regions::apply`] makes a new input of the bytes a solver found.
//!
//! ```text
//!   region             byte                                 another value there
//!   stdin, file        of the content, 0 beyond its end     beyond the end: the content grows, filled with zeros
//!   argument           of the word and its terminator       on the terminator: it grows; 0 inside: it ends there
//!   environment        of `NAME=value` and its terminator   likewise
//!   variable           of the value, little-endian          the value, of the same type
//!   buffer             of the harness's buffer              it grows, filled with zeros
//!   metadata           what `stat` told the run             size: cut or filled; mode, times, owner: set
//!   arguments          how many there are                   the last ones are left out, or the last one is repeated
//! ```
//!
//! What `stat` tells is taken from the run, because owner, links and default times are not in the input.

mod apply;
mod contents;
mod domain;
mod limits;
mod metadata;
mod names;

pub use self::{
    apply::ApplyError,
    contents::{contents, contents_mut},
    limits::Limits,
};

use cairn_abi::symbolic::{self, Node, Op, RegionId, RegionKind};
use cairn_expr::Bytes;
use cairn_model::{
    Input,
    input::{FileKind, VariableValue},
};
use std::collections::BTreeMap;

/// The bytes of one input, as one run saw it.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    input: Input,
    limits: Limits,
    /// Entries `NAME=value` of the environment as the program finds them, also those that are not the input's.
    environment: Vec<Vec<u8>>,
    /// Positions of the regular files among all.
    regular: Vec<usize>,
    /// What `stat` told.
    observed: BTreeMap<(RegionId, u32), u8>,
    /// How many bytes of each variable the program asked for.
    asked: BTreeMap<RegionId, u32>,
}

impl Regions {
    /// The bytes of `input`, with the environment as the program finds it; new inputs stay within `limits`.
    pub fn new(input: Input, environment: Vec<Vec<u8>>, limits: Limits) -> Self {
        let regular = (0..input.files.len())
            .filter(|index| matches!(input.files[*index].kind, FileKind::Regular(_)))
            .collect();
        Self { input, limits, environment, regular, observed: BTreeMap::new(), asked: BTreeMap::new() }
    }

    /// Notes what a run saw of things that the input alone does not tell.
    pub fn observe(&mut self, nodes: &[Node]) {
        for node in nodes.iter().filter(|node| node.op == Op::Input as u8) {
            let region = RegionId(node.a);
            let n_bytes = u32::from(node.width / 8).min(8);
            match region.kind() {
                Some(RegionKind::FileMetadata) => {
                    for (byte, offset) in
                        node.value.to_le_bytes().into_iter().zip(node.b..).take(n_bytes as usize)
                    {
                        self.observed.insert((region, offset), byte);
                    }
                }
                Some(RegionKind::Variable) => {
                    let asked = self.asked.entry(region).or_default();
                    *asked = (*asked).max(node.b.saturating_add(n_bytes));
                }
                _ => {}
            }
        }
    }

    /// The input itself.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// What new inputs may be.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How a person calls a region: `stdin`, `argument 1`, `file in.txt`, `variable n`.
    pub fn name(&self, region: RegionId) -> String {
        let index = region.index() as usize;
        let file = |index: Option<&usize>| {
            index.and_then(|index| self.input.files.get(*index)).map_or("?", |file| file.path.as_str())
        };
        match region.kind() {
            Some(RegionKind::Stdin) => "stdin".into(),
            Some(RegionKind::Buffer) => "buffer".into(),
            Some(RegionKind::Argument) => format!("argument {}", index + 1),
            Some(RegionKind::Environment) => {
                let name = self.environment.get(index).map_or(b"?".as_slice(), |entry| variable_name(entry));
                format!("environment {}", name.escape_ascii())
            }
            Some(RegionKind::File) => format!("file {}", file(self.regular.get(index))),
            Some(RegionKind::Variable) => {
                let name = self.input.variables.get(index).map_or("?", |variable| &variable.name);
                format!("variable {name}")
            }
            Some(RegionKind::FileMetadata) => format!("status of {}", file(Some(&index))),
            Some(RegionKind::StdinMetadata) => "status of stdin".into(),
            Some(RegionKind::BufferMetadata) => "length of the buffer".into(),
            Some(RegionKind::ArgumentsMetadata) => "number of arguments".into(),
            None => format!("region {}", region.0),
        }
    }

    /// The content of the `index`-th regular file, as long as its size says.
    fn file(&self, index: usize) -> Option<(&[u8], u64)> {
        let file = self.input.files.get(*self.regular.get(index)?)?;
        let FileKind::Regular(content) = &file.kind else { return None };
        let size = file.size.unwrap_or(content.0.len() as u64);
        let kept = content.0.len().min(usize::try_from(size).unwrap_or(usize::MAX));
        Some((&content.0[..kept], size))
    }

    fn content(&self, region: RegionId, offset: usize) -> Option<u8> {
        let index = region.index() as usize;
        let bytes: &[u8] = match region.kind()? {
            RegionKind::Stdin => &self.input.stdin.0,
            RegionKind::Buffer => &self.input.buffer.as_ref()?.0,
            RegionKind::Argument => &self.input.args.get(index)?.0,
            RegionKind::Environment => self.environment.get(index)?,
            RegionKind::File => self.file(index)?.0,
            RegionKind::Variable => {
                let value = &self.input.variables.get(index)?.value;
                if let VariableValue::Bytes(bytes) = value {
                    return bytes.0.get(offset).copied();
                }
                return word(value).get(offset).copied();
            }
            RegionKind::FileMetadata
            | RegionKind::StdinMetadata
            | RegionKind::BufferMetadata
            | RegionKind::ArgumentsMetadata => {
                let size = self.size(region)?;
                let at = offset.checked_sub(symbolic::metadata::SIZE as usize)?;
                return size.to_le_bytes().get(at).copied();
            }
        };
        bytes.get(offset).copied()
    }

    /// The size in a metadata region.
    fn size(&self, region: RegionId) -> Option<u64> {
        Some(match region.kind()? {
            RegionKind::StdinMetadata => self.input.stdin.0.len() as u64,
            RegionKind::BufferMetadata => {
                self.input.buffer.as_ref().map_or(0, |buffer| buffer.0.len() as u64)
            }
            RegionKind::ArgumentsMetadata => self.input.args.len() as u64,
            RegionKind::FileMetadata => {
                let index = self.regular.iter().position(|file| *file == region.index() as usize)?;
                self.file(index)?.1
            }
            _ => return None,
        })
    }
}

impl Bytes for Regions {
    fn byte(&self, region: RegionId, offset: u32) -> u8 {
        let observed = self.observed.get(&(region, offset)).copied();
        observed.or_else(|| self.content(region, offset as usize)).unwrap_or(0)
    }
}

/// What stands before the `=` of an entry.
fn variable_name(entry: &[u8]) -> &[u8] {
    entry.split(|byte| *byte == b'=').next().unwrap_or(&[])
}

/// The bytes in which a value is delivered; empty for memory.
fn word(value: &VariableValue) -> Vec<u8> {
    match value {
        VariableValue::Int(value) => value.to_le_bytes().to_vec(),
        VariableValue::Uint(value) | VariableValue::Double(value) => value.to_le_bytes().to_vec(),
        VariableValue::Float(bits) => bits.to_le_bytes().to_vec(),
        VariableValue::Bytes(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
