//! Parts of an input that are bytes.

use cairn_model::{
    Input,
    input::{FileKind, VariableValue},
};

/// A part of an input that is bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    Buffer,
    Stdin,
    File(usize),
    Argument(usize),
    Environment(usize),
    /// A typed variable that is memory; the program says how much.
    Variable(usize),
}

impl Region {
    /// All regions of an input that are not empty.
    pub(super) fn of(input: &Input) -> Vec<Self> {
        let mut regions = vec![Self::Buffer, Self::Stdin];
        regions.extend((0..input.files.len()).map(Self::File));
        regions.extend((0..input.args.len()).map(Self::Argument));
        regions.extend((0..input.environment.len()).map(Self::Environment));
        regions.extend((0..input.variables.len()).map(Self::Variable));
        regions.retain(|region| !region.bytes(input).is_empty());
        regions
    }

    /// What it holds.
    pub(super) fn bytes(self, input: &Input) -> &[u8] {
        match self {
            Self::Buffer => input.buffer.as_ref().map_or(&[], |buffer| &buffer.0),
            Self::Stdin => &input.stdin.0,
            Self::File(index) => match &input.files[index].kind {
                FileKind::Regular(content) => &content.0,
                _ => &[],
            },
            Self::Argument(index) => &input.args[index].0,
            Self::Environment(index) => &input.environment[index].1.0,
            Self::Variable(index) => match &input.variables[index].value {
                VariableValue::Bytes(bytes) => &bytes.0,
                _ => &[],
            },
        }
    }

    /// The input with other bytes here.
    pub(super) fn with(self, input: &Input, bytes: Vec<u8>) -> Input {
        let mut input = input.clone();
        match self {
            Self::Buffer => input.buffer = Some(bytes.into()),
            Self::Stdin => input.stdin = bytes.into(),
            Self::File(index) => input.files[index].kind = FileKind::Regular(bytes.into()),
            Self::Argument(index) => input.args[index] = bytes.into(),
            Self::Environment(index) => input.environment[index].1 = bytes.into(),
            Self::Variable(index) => input.variables[index].value = VariableValue::Bytes(bytes.into()),
        }
        input
    }

    /// Whether it may be shorter.
    pub(super) fn can_shrink(self) -> bool {
        !matches!(self, Self::Variable(_))
    }
}
