//! The program map: what the instrumenter knows about a target.
//!
//! All techniques read it and none changes it. Tables refer to each other by dense ids, which are positions in
//! the map's vectors; [`StableId`]s name the same things across rebuilds.

use crate::{
    facts::{ConstantKind, DecisionKind, ExpressionKind, TypeFact},
    ids::{BlockId, ConditionId, CounterId, DecisionId, FunctionId, SiteId, StableId},
    versioned::{self, Versioned, VersionedError},
};
use serde::{Deserialize, Serialize};
use std::fmt;

pub use crate::facts::{Extent, Place};

/// Everything known about one program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramMap {
    /// Hash of the merged bitcode; every view of the program carries [`ProgramMap::hash`], which includes it.
    pub bitcode_hash: [u8; 32],
    /// Source files that hold at least one function.
    pub files: Vec<SourceFile>,
    /// Functions, sorted by stable key.
    pub functions: Vec<Function>,
    /// Basic blocks of all functions, those of one function together and in emission order.
    ///
    /// A block of the bitcode is cut after every call that may not return, so that a block of the map is
    /// executed either not at all or, crashes aside, to its end.
    pub blocks: Vec<Block>,
    /// Decisions.
    pub decisions: Vec<Decision>,
    /// Conditions.
    pub conditions: Vec<Condition>,
    /// How many counters the plain view has.
    pub n_counters: u32,
    /// What is not in the map, and why.
    pub left_out: Vec<LeftOut>,
    /// Expressions, parents before children. They come last, because they are most of a map and not everybody reads them.
    pub sites: Vec<Site>,
}

impl Versioned for ProgramMap {
    const MAGIC: [u8; 8] = *b"cairnmap";
    const VERSION: u32 = 2;
    const NAME: &'static str = "program map";
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Relative to the project's root where it lies below it.
    pub path: String,
    /// Where it was when the program was compiled.
    pub absolute: String,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Names it across rebuilds.
    pub stable_id: StableId,
    /// As in the source.
    pub name: String,
    /// As in the bitcode; equals `name` for most C functions.
    pub symbol: String,
    /// Where the definition's name stands.
    pub place: Place,
    /// The last line of the definition.
    pub end_line: u32,
    /// Its blocks, the entry first.
    pub blocks: std::ops::Range<u32>,
    /// Whether the scope of the build includes it. Functions out of scope have blocks, so that distances lead
    /// through them, but neither conditions nor counters.
    pub in_scope: bool,
    /// How many identical copies of it (static inline functions) share its counters.
    pub n_copies: u32,
}

impl Function {
    /// The block executed first.
    pub fn entry(&self) -> BlockId {
        BlockId(self.blocks.start)
    }
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Lines with code in it, sorted: (file, line).
    pub lines: Vec<(u32, u32)>,
    /// Where control goes next.
    pub successors: Vec<Edge>,
    /// Calls in order.
    pub calls: Vec<Call>,
    /// Set whenever the block begins, if it has a counter of its own.
    pub counter: Option<CounterId>,
    /// Whether it ends the function normally.
    pub returns: bool,
}

/// A way from a block to another of the same function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Where it leads.
    pub to: BlockId,
    /// Set whenever it is taken, if it has a counter.
    pub counter: Option<CounterId>,
    /// The condition and direction that taking it shows; for a switch, the label taken.
    pub shows: Option<Branch>,
    /// Whether executing the block implies taking this edge. False for counted edges, and after calls that may
    /// not return.
    pub is_sure: bool,
}

/// One direction of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Branch {
    /// The condition.
    pub condition: ConditionId,
    /// Its value.
    pub direction: bool,
}

/// A call in a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The functions of the map it may reach; for calls through pointers, those of a fitting type whose address
    /// is taken.
    pub callees: Vec<FunctionId>,
    /// The name of the callee when it is not in the bitcode.
    pub external: Option<String>,
    /// Whether it goes through a pointer.
    pub is_indirect: bool,
    /// Where it stands, if known.
    pub place: Option<Place>,
}

/// A decision: the conditions that together choose a way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Names it across rebuilds.
    pub stable_id: StableId,
    /// Its function.
    pub function: FunctionId,
    /// What kind of statement or expression it stands in; `None` when only the bitcode tells of it.
    pub kind: Option<DecisionKind>,
    /// Where it stands.
    pub extent: Extent,
    /// Its conditions, left to right.
    pub conditions: Vec<ConditionId>,
    /// Conditions of its source text that have no code, because the front end folded them.
    pub n_constant: u32,
}

/// How a condition appears in the bitcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionKind {
    /// A conditional branch.
    Branch,
    /// A select made from `?:`.
    Select,
    /// The right operand of `&&` or `||` used as a value.
    Value,
    /// A case label, `default` included.
    Case,
}

/// One operand of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// Names it across rebuilds.
    pub stable_id: StableId,
    /// Its function.
    pub function: FunctionId,
    /// Its decision.
    pub decision: DecisionId,
    /// How it appears in the bitcode.
    pub kind: ConditionKind,
    /// Its source text.
    pub text: String,
    /// Where it stands; a single place twice when only the bitcode tells of it.
    pub extent: Extent,
    /// The macro it comes from.
    pub macro_name: Option<String>,
    /// The block that ends with it, or holds it.
    pub block: BlockId,
    /// Any of these is set when it was true.
    pub when_true: Vec<CounterId>,
    /// Any of these is set when it was false.
    pub when_false: Vec<CounterId>,
    /// Static features.
    pub features: ConditionFeatures,
    /// The site of its expression.
    pub site: Option<SiteId>,
    /// Whether front-end facts were joined to it.
    pub is_joined: bool,
}

/// Static features of a condition, as search heuristics read them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConditionFeatures {
    /// How many loops of its function are around it.
    pub loop_depth: u32,
    /// How many conditions of its function must be decided to come to it: its depth in the dominator tree,
    /// counted in conditions.
    pub nesting_depth: u32,
    /// The direction that stays in the innermost loop, if exactly one does.
    pub stays_in_loop: Option<bool>,
    /// The branches of its function without which it is not reached, outermost first.
    pub dominated_by: Vec<Branch>,
    /// What kind of constant it compares with.
    pub compares_with: Option<ConstantKind>,
    /// Whether it reads through a pointer.
    pub reads_pointer: bool,
    /// Whether it reads a local variable.
    pub reads_local: bool,
    /// Whether it uses the result of a call to a function outside the program.
    pub uses_external_call: bool,
}

/// An expression in the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Names it across rebuilds.
    pub stable_id: StableId,
    /// Its function.
    pub function: FunctionId,
    /// The expression around it.
    pub parent: Option<SiteId>,
    /// Its kind.
    pub kind: ExpressionKind,
    /// Operator, callee or name.
    pub operator: String,
    /// Its type.
    pub value_type: TypeFact,
    /// Its text.
    pub text: String,
    /// Where it stands.
    pub extent: Extent,
    /// The macro it comes from.
    pub macro_name: Option<String>,
}

impl Site {
    /// The macro in whose body it stands, where its text is that of the macro's use and not its own.
    pub fn body_of(&self) -> Option<&str> {
        self.macro_name.as_deref().filter(|_| self.kind != ExpressionKind::MacroUse)
    }
}

/// Something that is not in the map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why.
    pub reason: LeftOutReason,
    /// What: a function, or the text of a condition or a comment.
    pub what: String,
    /// Where, as `file:line:column`.
    pub place: String,
}

/// Why something is not in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// A condition the front end folded to a constant.
    Constant,
    /// A condition in code that is never emitted.
    Dead,
    /// A boolean operand that nothing tests (`x = 1 && a`).
    Untested,
    /// Conditions of one place that cannot be told apart.
    Ambiguous,
    /// A branch in the bitcode without a source condition (cleanups, hidden loops).
    Hidden,
    /// A function without debug information.
    NoDebugInfo,
    /// A function marked `naked`, into which nothing may be inserted.
    Naked,
    /// A comment that reads like `cairn: skip` and is not: it skips nothing.
    CommentNotUnderstood,
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Constant => "folded to a constant",
            Self::Dead => "in code that is never emitted",
            Self::Untested => "an operand that nothing tests",
            Self::Ambiguous => "cannot be told apart from others at the same place",
            Self::Hidden => "a branch without a source condition",
            Self::NoDebugInfo => "has no debug information",
            Self::Naked => "is `naked`, so nothing can be inserted",
            Self::CommentNotUnderstood => "a comment that is not understood",
        })
    }
}

impl ProgramMap {
    /// The hash every view of this map carries.
    pub fn hash(&self) -> [u8; 32] {
        Self::hash_of(&crate::versioned::encode(self))
    }

    /// The hash of a map that was read from these bytes.
    pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
        *blake3::hash(bytes).as_bytes()
    }

    /// Reads a map but for its sites, which are most of it.
    pub fn decode_without_sites(bytes: &[u8]) -> Result<Self, VersionedError> {
        let (bitcode_hash, files, functions, blocks, decisions, conditions, n_counters, left_out) =
            versioned::decode_first::<Self, _>(bytes)?;
        let sites = Vec::new();
        Ok(Self {
            bitcode_hash,
            files,
            functions,
            blocks,
            decisions,
            conditions,
            n_counters,
            left_out,
            sites,
        })
    }

    /// `file:line:column` for people and editors.
    pub fn show(&self, place: Place) -> String {
        let path = self.files.get(place.file as usize).map_or("?", |file| file.path.as_str());
        format!("{path}:{}:{}", place.line, place.column)
    }

    /// All conditions with their ids.
    pub fn conditions_with_ids(&self) -> impl Iterator<Item = (ConditionId, &Condition)> {
        self.conditions.iter().enumerate().map(|(index, condition)| (ConditionId(index as u32), condition))
    }

    /// The blocks of a function with their ids.
    pub fn blocks_of(&self, function: FunctionId) -> impl Iterator<Item = (BlockId, &Block)> {
        let range = self.functions[function.index()].blocks.clone();
        range.map(|index| (BlockId(index), &self.blocks[index as usize]))
    }

    /// The function of each block, by block id.
    pub fn function_of_blocks(&self) -> Vec<FunctionId> {
        let mut function_of = vec![FunctionId(0); self.blocks.len()];
        for (index, function) in self.functions.iter().enumerate() {
            for block in function.blocks.clone() {
                function_of[block as usize] = FunctionId(index as u32);
            }
        }
        function_of
    }

    /// The condition a person names: a stable id, or `file:line:column` of its start.
    pub fn find_condition(&self, name: &str) -> Option<ConditionId> {
        self.conditions_with_ids()
            .find(|(_, condition)| {
                condition.stable_id.to_string() == name || self.show(condition.extent.start) == name
            })
            .map(|(id, _)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::TypeClass;

    #[test]
    fn a_map_is_read_without_its_sites() {
        let start = Place { file: 0, line: 1, column: 1 };
        let site = Site {
            stable_id: StableId::from_key(&["site"]),
            function: FunctionId(0),
            parent: None,
            kind: ExpressionKind::Call,
            operator: "f".into(),
            value_type: TypeFact { spelling: "int".into(), class: TypeClass::Signed, bits: 32 },
            text: "f()".into(),
            extent: Extent { start, end: start },
            macro_name: None,
        };
        let map = ProgramMap {
            files: vec![SourceFile { path: "a.c".into(), absolute: "/a.c".into() }],
            n_counters: 7,
            left_out: vec![LeftOut {
                reason: LeftOutReason::Dead,
                what: "g".into(),
                place: "a.c:9:1".into(),
            }],
            sites: vec![site],
            ..ProgramMap::default()
        };
        let bytes = versioned::encode(&map);
        assert_eq!(ProgramMap::hash_of(&bytes), map.hash());
        let read = ProgramMap::decode_without_sites(&bytes).unwrap();
        assert_eq!(read, ProgramMap { sites: Vec::new(), ..map });
    }
}
