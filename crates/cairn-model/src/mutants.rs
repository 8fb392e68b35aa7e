//! Mutants: small changes of the program, kept as data.
//!
//! A [`Mutant`] changes what happens at one [`Patch`], a spot in the code of an expression. What it does instead is a
//! [`Formula`] over the values that are there, so the same mutant can be built into a view, compiled alone, evaluated
//! beside the original, or solved for.
//!
//! The [`MutantTable`] is written with the mutant view and belongs to it. A running view knows mutants by *selector*:
//! the mutants of a patch have successive ones, and one more selects the patch without changing it.

use crate::{
    ids::{FunctionId, MutantId, PatchId, SiteId, StableId},
    map::ProgramMap,
    versioned::Versioned,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Every mutant of one view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MutantTable {
    /// The hash of the program map that sites and functions refer to.
    pub map_hash: [u8; 32],
    /// The operator set they were made with.
    pub set: String,
    /// Functions with mutants, by function id; the position is the number of the function's body switch.
    pub functions: Vec<FunctionId>,
    /// Patches, those of one function together, functions in the order of `functions`.
    pub patches: Vec<Patch>,
    /// Mutants, those of one patch together, patches in order.
    pub mutants: Vec<Mutant>,
    /// Mutants that were made and are not in the view.
    pub dropped: Vec<DroppedMutant>,
    /// Functions in scope that could not be mutated.
    pub unmutated: Vec<UnmutatedFunction>,
    /// Expressions without mutants, because their code could not be told from that of others at their place.
    pub n_ambiguous: u32,
    /// Expressions without mutants, because they stand in the expansion of a parameter pack: one text, several
    /// expressions.
    pub n_expanded: u32,
    /// Expressions without mutants, because the instances of their template cannot all be changed alike.
    pub n_unlike: u32,
}

impl Versioned for MutantTable {
    const MAGIC: [u8; 8] = *b"cairnmut";
    const VERSION: u32 = 4;
    const NAME: &'static str = "mutant table";
}

/// A spot in the code of an expression at which mutants change something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// The smallest expression that is replaced.
    pub site: SiteId,
    /// Which of the expression's spots it is, a number that all views agree on.
    pub spot: u16,
    /// Its function, a position in [`MutantTable::functions`].
    pub function: u32,
    /// The type of the value that is replaced.
    pub value_type: ValueType,
    /// Whether its values can be observed and carry guideposts.
    pub is_observable: bool,
    /// Its mutants.
    pub mutants: std::ops::Range<u32>,
    /// The selector of its first mutant; the one after its last mutant's selects the unchanged patch.
    pub first_selector: u32,
}

/// One mutant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mutant {
    /// Names it across rebuilds.
    pub stable_id: StableId,
    /// Where it changes something.
    pub patch: PatchId,
    /// The operator's name, such as `arith-op-replace`.
    pub operator: String,
    /// The operator's code in the literature, such as `OAAN`.
    pub code: String,
    /// What the site's text becomes.
    pub replacement: String,
    /// Whether putting `replacement` in place of the site's text gives a source that compiles to this mutant.
    pub is_plain_text: bool,
    /// What happens instead.
    pub change: Change,
}

/// A mutant that was made and left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DroppedMutant {
    /// Names it across rebuilds.
    pub stable_id: StableId,
    /// The expression it would replace.
    pub site: SiteId,
    /// The operator's name.
    pub operator: String,
    /// What the site's text would become.
    pub replacement: String,
    /// Why it was left out.
    pub reason: DropReason,
}

/// Why a mutant is not in the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// Its function optimises to the same code as the original.
    Equivalent,
    /// Its function optimises to the same code as another mutant, which is in the view.
    Duplicate(StableId),
    /// The changed function is not valid code.
    Invalid,
}

/// A function in scope without mutants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnmutatedFunction {
    /// The function.
    pub function: FunctionId,
    /// Why.
    pub reason: UnmutatedReason,
}

/// Why a function has no mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnmutatedReason {
    /// Its labels are used as values (computed goto): a copy would jump into the original.
    ComputedGoto,
    /// It is `naked`.
    Naked,
    /// It has no front-end facts, so its expressions are not known.
    NoFacts,
    /// Nothing in it can be mutated by the chosen operators.
    NothingToMutate,
    /// It is `cairn_compare`, which judges mutants.
    Comparison,
    /// Comments ask to skip all of it.
    Skipped,
    /// It was compiled in several ways that look alike from afar, and what one copy has another has not.
    CopiesDiffer,
    /// It is an instance of a template that front-end facts do not tell of, so the types in it are not known.
    UnknownInstance,
    /// It is an instance of a template, and what would change in it cannot be changed alike in another.
    InstancesDiffer,
}

impl fmt::Display for UnmutatedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ComputedGoto => "uses computed goto",
            Self::Naked => "is `naked`",
            Self::NoFacts => "has no front-end facts",
            Self::NothingToMutate => "has nothing that the chosen operators change",
            Self::Comparison => "compares what mutants do",
            Self::Skipped => "is skipped, as its comments ask",
            Self::CopiesDiffer => "has copies that differ too much",
            Self::UnknownInstance => "is an instance of a template that the front end does not tell of",
            Self::InstancesDiffer => "is an instance of a template, and others cannot be changed alike",
        })
    }
}

/// What a mutant does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The value at the patch becomes this.
    Value(Formula),
    /// A logical operator behaves otherwise; its patch is one of `&&` or `||`.
    Logical(LogicalChange),
}

/// What a logical operator does instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogicalChange {
    /// `&&` becomes `||`, or the other way round, evaluating its right side only where the new operator does.
    Swap,
    /// The whole is negated.
    Negate,
    /// Both sides are evaluated, and this formula over their values (operands 0 and 1) is the result.
    Both(Formula),
    /// Only the left side is evaluated, and it is the result.
    Left,
    /// Only the right side is evaluated, and it is the result.
    Right,
}

/// The type of a value where it can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueType {
    /// A truth value: one bit.
    Bool,
    /// An integer.
    Int {
        /// Width: 8, 16, 32, 64 or 128.
        bits: u8,
        /// Whether C sees it as signed.
        is_signed: bool,
    },
    /// A floating-point number of 32 or 64 bits.
    Float {
        /// Width.
        bits: u8,
    },
    /// An address.
    Pointer,
}

/// An expression over the values at a patch. Nodes refer to earlier ones; the last is the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// The nodes.
    pub nodes: Vec<Node>,
}

/// The position of a node in its formula.
pub type NodeIndex = u16;

/// One node of a formula. Operands have the types the operation asks for; conversions are explicit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Node {
    /// What the patch's value is without the mutant.
    Original,
    /// A value the original is computed from, by its number at the patch.
    Operand(u8),
    /// An integer or truth value of the given type, from the low bits, the sign going on above them; 0 as a pointer is
    /// the null pointer.
    Integer(ValueType, i64),
    /// A floating-point constant of the given type, as the bits of a double.
    Float(ValueType, u64),
    /// The current value of another variable, by its number among the function's variables.
    Variable(u32),
    /// The address of another variable, likewise.
    AddressOf(u32),
    /// A pointer moved by some bytes.
    Offset(NodeIndex, i64),
    /// An operation on one value.
    Unary(UnaryOperation, NodeIndex),
    /// An operation on two values of one type.
    Binary(BinaryOperation, NodeIndex, NodeIndex),
    /// A comparison of two values of one type; the result is a truth value.
    Compare(Comparison, NodeIndex, NodeIndex),
    /// The value converted to another type.
    Convert(Conversion, ValueType, NodeIndex),
}

/// Operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnaryOperation {
    /// `-x`, integer or float.
    Negate,
    /// `~x`; on a truth value, `!x`.
    Complement,
    /// `|x|`, for integers.
    Absolute,
}

/// Operations on two values of one type. Integers wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BinaryOperation {
    /// Integer or float.
    Add,
    /// Integer or float.
    Subtract,
    /// Integer or float.
    Multiply,
    /// Signed; by zero, or the least number by -1, it raises SIGFPE as the machine does.
    SignedDivide,
    /// Unsigned; by zero it raises SIGFPE.
    UnsignedDivide,
    /// Signed, likewise.
    SignedRemainder,
    /// Unsigned, likewise.
    UnsignedRemainder,
    /// For floats.
    FloatDivide,
    /// The amount is taken modulo the width, as the machine does.
    ShiftLeft,
    /// Fills with zeros; likewise.
    ShiftRightUnsigned,
    /// Fills with the sign; likewise.
    ShiftRightSigned,
    /// Bitwise.
    And,
    /// Bitwise.
    Or,
    /// Bitwise.
    Xor,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Of integers, pointers or floats.
    Equal,
    /// Of integers, pointers or floats; true for floats that cannot be ordered.
    NotEqual,
    /// Of signed integers.
    SignedLess,
    /// Of signed integers.
    SignedLessOrEqual,
    /// Of unsigned integers or pointers.
    UnsignedLess,
    /// Of unsigned integers or pointers.
    UnsignedLessOrEqual,
    /// Of floats; false for those that cannot be ordered.
    FloatLess,
    /// Of floats; likewise.
    FloatLessOrEqual,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conversion {
    /// To a narrower integer.
    Truncate,
    /// To a wider integer, filling with zeros; also from a truth value.
    ZeroExtend,
    /// To a wider integer, filling with the sign.
    SignExtend,
    /// From a signed integer to a float.
    SignedToFloat,
    /// From an unsigned integer to a float.
    UnsignedToFloat,
    /// From a float to a signed integer; what does not fit becomes the least number, as the machine does.
    FloatToSigned,
    /// From a float to an unsigned integer; what does not fit is taken modulo as the machine does.
    FloatToUnsigned,
    /// From one float to another.
    FloatToFloat,
    /// From a pointer to an integer of 64 bits.
    PointerToInteger,
}

impl MutantTable {
    /// The number by which the running view knows a mutant.
    pub fn selector(&self, mutant: MutantId) -> u32 {
        let patch = &self.patches[self.mutants[mutant.index()].patch.index()];
        patch.first_selector + (mutant.0 - patch.mutants.start)
    }

    /// The number that selects a patch without changing it.
    pub fn observing_selector(&self, patch: PatchId) -> u32 {
        let patch = &self.patches[patch.index()];
        patch.first_selector + (patch.mutants.end - patch.mutants.start)
    }

    /// One more than the largest selector; selectors start at 1.
    pub fn n_selectors(&self) -> u32 {
        1 + self.mutants.len() as u32 + self.patches.len() as u32
    }

    /// The mutant with a stable id.
    pub fn find(&self, stable_id: StableId) -> Option<MutantId> {
        self.mutants
            .iter()
            .position(|mutant| mutant.stable_id == stable_id)
            .map(|index| MutantId(index as u32))
    }

    /// The patch of a mutant.
    pub fn patch_of(&self, mutant: MutantId) -> &Patch {
        &self.patches[self.mutants[mutant.index()].patch.index()]
    }

    /// A mutant in a few words: `parse.c:57:9 `i < n` → `i <= n``. `map` is the one that the table belongs to.
    pub fn name(&self, map: &ProgramMap, mutant: MutantId) -> String {
        let site = &map.sites[self.patch_of(mutant).site.index()];
        let replacement = &self.mutants[mutant.index()].replacement;
        format!("{} `{}` → `{replacement}`", map.show(site.extent.start), site.text)
    }

    /// All mutants with their ids.
    pub fn mutants_with_ids(&self) -> impl Iterator<Item = (MutantId, &Mutant)> {
        self.mutants.iter().enumerate().map(|(index, mutant)| (MutantId(index as u32), mutant))
    }
}

impl Formula {
    /// Whether the original value takes part.
    pub fn uses_original(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Original))
    }
}
