//! Which parts of an input there are to change.

use cairn_abi::symbolic;
use cairn_model::{
    Input, Template,
    input::{FileKind, VariableValue},
    template::RAW_FILE,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kinds of regions; each is changed in ways of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegionKind {
    /// Arguments: words, and which there are.
    Arguments,
    /// Standard input.
    Stdin,
    /// Content, mode and size of the regular files; which files there are stays.
    Files,
    /// Environment variables that an input has: their values, and whether they are there.
    Environment,
    /// Typed variables that an input has.
    Variables,
    /// The buffer of a harness.
    Buffer,
}

impl RegionKind {
    /// All, in order.
    pub const ALL: [Self; 6] =
        [Self::Arguments, Self::Stdin, Self::Files, Self::Environment, Self::Variables, Self::Buffer];

    /// The kinds that change where raw bytes go where a template says: what carries them, and variables.
    pub fn of_template(template: &Template) -> Vec<Self> {
        vec![Self::carrier(template), Self::Variables]
    }

    /// What carries raw bytes where a template says where they go.
    pub(crate) fn carrier(template: &Template) -> Self {
        let names_file = template.base.args.iter().any(|word| word.0.windows(2).any(|two| two == b"@@"));
        match template.is_harness {
            _ if names_file => Self::Files,
            true => Self::Buffer,
            false => Self::Stdin,
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Stdin => "stdin",
            Self::Files => "files",
            Self::Environment => "environment",
            Self::Variables => "variables",
            Self::Buffer => "buffer",
        }
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Whether an input has such regions.
    pub(crate) fn is_in(self, input: &Input) -> bool {
        match self {
            // Words and lines can be added where there are none.
            Self::Arguments | Self::Stdin => true,
            Self::Files => input.files.iter().any(|file| matches!(file.kind, FileKind::Regular(_))),
            Self::Environment => !input.environment.is_empty(),
            Self::Variables => !input.variables.is_empty(),
            Self::Buffer => input.buffer.is_some(),
        }
    }
}

impl fmt::Display for RegionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What of an input may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope<'a> {
    /// The raw bytes that a region of this kind carries, and nothing else.
    Raw(RegionKind),
    /// Regions of these kinds.
    Regions(&'a [RegionKind]),
}

impl Scope<'_> {
    /// Whether regions of a kind may be changed as a whole.
    pub(crate) fn has(self, kind: RegionKind) -> bool {
        matches!(self, Self::Regions(kinds) if kinds.contains(&kind))
    }

    /// Whether there is anything of an input to change.
    pub(crate) fn is_in(self, input: &Input) -> bool {
        match self {
            Self::Raw(_) => true,
            Self::Regions(kinds) => kinds.iter().any(|kind| kind.is_in(input)),
        }
    }

    /// Whether nothing but the buffer of a harness is there, and may be changed.
    pub(crate) fn is_only_buffer(self, input: &Input) -> bool {
        let others = [RegionKind::Arguments, RegionKind::Stdin];
        is_only_buffer(input)
            && match self {
                Self::Raw(carrier) => carrier == RegionKind::Buffer,
                Self::Regions(kinds) => {
                    kinds.contains(&RegionKind::Buffer) && !others.iter().any(|other| kinds.contains(other))
                }
            }
    }
}

/// The raw bytes that a region of some kind carries, as a template has put them there.
pub(crate) fn raw_bytes(carrier: RegionKind, input: &Input) -> Option<&Vec<u8>> {
    match carrier {
        RegionKind::Files => match &input.files.iter().find(|file| file.path == RAW_FILE)?.kind {
            FileKind::Regular(content) => Some(&content.0),
            _ => None,
        },
        RegionKind::Buffer => input.buffer.as_ref().map(|buffer| &buffer.0),
        RegionKind::Stdin => Some(&input.stdin.0),
        _ => None,
    }
}

/// Likewise, to be changed.
pub(crate) fn raw_bytes_mut(carrier: RegionKind, input: &mut Input) -> Option<&mut Vec<u8>> {
    match carrier {
        RegionKind::Files => match &mut input.files.iter_mut().find(|file| file.path == RAW_FILE)?.kind {
            FileKind::Regular(content) => Some(&mut content.0),
            _ => None,
        },
        RegionKind::Buffer => input.buffer.as_mut().map(|buffer| &mut buffer.0),
        RegionKind::Stdin => Some(&mut input.stdin.0),
        _ => None,
    }
}

/// Whether a region of an input, as symbolic runs name it, may be changed: only the raw bytes that `raw` carries, if it does, else regions
/// of these kinds.
pub(crate) fn may_change(
    raw: Option<RegionKind>,
    kinds: &[RegionKind],
    input: &Input,
    region: symbolic::RegionId,
) -> bool {
    let kind = match region.kind() {
        Some(symbolic::RegionKind::Stdin) => RegionKind::Stdin,
        Some(symbolic::RegionKind::Buffer) => RegionKind::Buffer,
        Some(symbolic::RegionKind::Argument) => RegionKind::Arguments,
        Some(symbolic::RegionKind::File) => RegionKind::Files,
        _ => return false,
    };
    let is_raw_file = || {
        let mut regular = input.files.iter().filter(|file| matches!(file.kind, FileKind::Regular(_)));
        regular.nth(region.index() as usize).is_some_and(|file| file.path == RAW_FILE)
    };
    match raw {
        Some(carrier) => kind == carrier && (kind != RegionKind::Files || is_raw_file()),
        None => kinds.contains(&kind),
    }
}

/// Bytes of all regions together: what a limit on the size of inputs counts.
pub(crate) fn size(input: &Input) -> usize {
    let args: usize = input.args.iter().map(|word| word.0.len()).sum();
    let files: usize = input
        .files
        .iter()
        .map(|file| match &file.kind {
            FileKind::Regular(content) => content.0.len(),
            _ => 0,
        })
        .sum();
    let environment: usize = input.environment.iter().map(|(_, value)| value.0.len()).sum();
    let variables: usize = input
        .variables
        .iter()
        .map(|variable| match &variable.value {
            VariableValue::Bytes(bytes) => bytes.0.len(),
            _ => 8,
        })
        .sum();
    let buffer = input.buffer.as_ref().map_or(0, |buffer| buffer.0.len());
    args + input.stdin.0.len() + files + environment + variables + buffer
}

/// Whether two inputs differ in regions of these kinds only.
pub(crate) fn differ_only_in(kinds: &[RegionKind], one: &Input, other: &Input) -> bool {
    let is_same = |kind: &RegionKind| match kind {
        RegionKind::Arguments => one.args == other.args,
        RegionKind::Stdin => one.stdin == other.stdin,
        RegionKind::Files => one.files == other.files,
        RegionKind::Environment => one.environment == other.environment,
        RegionKind::Variables => one.variables == other.variables,
        RegionKind::Buffer => one.buffer == other.buffer,
    };
    one.setting == other.setting && RegionKind::ALL.iter().all(|kind| kinds.contains(kind) || is_same(kind))
}

/// Whether an input is nothing but the buffer of a harness.
pub(crate) fn is_only_buffer(input: &Input) -> bool {
    let Input { args, stdin, files, environment, variables, buffer, setting } = input;
    args.is_empty()
        && stdin.0.is_empty()
        && files.is_empty()
        && environment.is_empty()
        && variables.is_empty()
        && buffer.is_some()
        && *setting == Default::default()
}
