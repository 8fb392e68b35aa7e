//! What the front end knows about one translation unit and bitcode does not.
//!
//! `cairn-facts` writes a [`UnitFacts`] for each compile; `cairn-cc` carries it inside the object beside the
//! bitcode; `cairn-instrument` joins it to the bitcode by position and order.
//!
//! Positions are *expansion* positions: a token that comes from a macro stands where the macro is used, just as
//! in debug information. [`ExpressionFact::macro_name`] tells such expressions apart.

use crate::versioned::Versioned;
use serde::{Deserialize, Serialize};

/// Facts about one translation unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitFacts {
    /// The files that [`Place::file`] indexes, absolute, symbolic links not resolved.
    pub files: Vec<String>,
    /// Functions defined in this unit, system headers left out, in source order.
    pub functions: Vec<FunctionFacts>,
    /// Instances of those among them that are templates, and the functions inside.
    pub instances: Vec<InstanceFacts>,
    /// Variables outside functions: those declared outside system headers, and others that are referred to.
    pub variables: Vec<VariableFact>,
    /// Structures and unions whose members are accessed.
    pub records: Vec<RecordFact>,
    /// Comments that read like `cairn: skip` and ask for nothing.
    pub comments_not_understood: Vec<CommentFact>,
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentFact {
    /// Where it begins.
    pub place: Place,
    /// What it says.
    pub text: String,
}

impl Versioned for UnitFacts {
    const MAGIC: [u8; 8] = *b"cairnfct";
    const VERSION: u32 = 7;
    const NAME: &'static str = "facts file";
}

/// A position in a file. Lines and columns count from 1; columns count bytes, as clang's do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Index into the list of files that goes with this place.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// From the first byte of the first token to just after the last byte of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Extent {
    /// Where it begins.
    pub start: Place,
    /// Just past where it ends.
    pub end: Place,
}

impl Extent {
    /// Whether `place` lies inside; the end is outside.
    pub fn contains(&self, place: Place) -> bool {
        self.start.file == place.file && self.start <= place && place < self.end
    }
}

/// An instance of a template, or a function inside one: what is written once, with the types it has there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceFacts {
    /// The symbols that the instance is compiled to, by [`InstanceFacts::key`]; of a lambda inside, those of the instance.
    pub symbols: Vec<String>,
    /// Its facts.
    pub function: FunctionFacts,
}

/// How clang calls the type of a lambda.
const LAMBDA: &str = "(lambda at ";

impl InstanceFacts {
    /// A symbol without the numbers that lambdas of one function get in the order in which they are compiled.
    pub fn key(symbol: &str) -> String {
        let mut key = String::with_capacity(symbol.len());
        let mut rest = symbol;
        while let Some((before, after)) = rest.split_once("$_") {
            key.push_str(before);
            key.push_str("$_");
            rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        }
        key.push_str(rest);
        key
    }

    /// Whether the function with this symbol may be compiled from it.
    pub fn has_symbol(&self, symbol: &str) -> bool {
        let key = Self::key(symbol);
        // The name of a function inside another begins with the name of that.
        let around = |symbol: &str| symbol.trim_start_matches('_').trim_start_matches('Z').to_owned();
        let inside = around(&key);
        self.symbols.iter().any(|own| {
            *own == key || inside.strip_prefix(&around(own)).is_some_and(|rest| rest.starts_with('E'))
        })
    }

    /// The types of lambdas among those of its variables, as `(lambda at file:line:column)`.
    pub fn lambdas(&self) -> impl Iterator<Item = &str> {
        self.function.variables.iter().filter_map(|variable| {
            let text = &variable.value_type.spelling;
            let start = text.find(LAMBDA)?;
            Some(&text[start..=start + text[start..].find(')')?])
        })
    }

    /// Whether it tells the same as another, whatever the types of lambdas are called.
    pub fn is_like(&self, other: &Self) -> bool {
        self.without_lambdas() == other.without_lambdas()
    }

    fn without_lambdas(&self) -> FunctionFacts {
        let mut function = self.function.clone();
        let forget = |text: &mut String| {
            if text.contains(LAMBDA) {
                text.clear();
            }
        };
        for expression in &mut function.expressions {
            forget(&mut expression.value_type.spelling);
        }
        for variable in &mut function.variables {
            forget(&mut variable.value_type.spelling);
            forget(&mut variable.canonical);
        }
        function.result.iter_mut().for_each(|result| forget(&mut result.spelling));
        function
    }
}

/// One function definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionFacts {
    /// The name without parameters, scope or template arguments, as debug information's `name` begins.
    pub name: String,
    /// Where the name stands.
    pub place: Place,
    /// Whether it is a template or part of one: its types are not known, those of its instances are.
    pub is_template: bool,
    /// The whole definition.
    pub extent: Extent,
    /// Every expression, parents before children.
    pub expressions: Vec<ExpressionFact>,
    /// Leaf conditions in the order clang emits code for them (`for`: init, condition, body, increment).
    pub conditions: Vec<ConditionFact>,
    /// Decisions; each condition belongs to exactly one.
    pub decisions: Vec<DecisionFact>,
    /// Switch statements in emission order.
    pub switches: Vec<SwitchFact>,
    /// What it returns; `None` if that is not known.
    pub result: Option<TypeFact>,
    /// Parameters, then local variables in source order.
    pub variables: Vec<VariableFact>,
    /// Whether `cairn: skip` stands in a comment before the definition: nothing in it is mutated.
    pub is_skipped: bool,
    /// Lines of the function's file on which nothing is mutated, sorted: `cairn: skip` stands in a comment at their
    /// end, or alone on the line before.
    pub skipped_lines: Vec<u32>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariableFact {
    /// Its name.
    pub name: String,
    /// Where its name stands in the declaration.
    pub place: Place,
    /// What it holds.
    pub shape: VariableShape,
    /// Its type; of an array, the type of an element.
    pub value_type: TypeFact,
    /// The same without typedefs; equal for equal types.
    pub canonical: String,
    /// Whether it cannot be assigned.
    pub is_const: bool,
    /// Whether it is `volatile`.
    pub is_volatile: bool,
    /// Whether it lives as long as the program.
    pub is_static: bool,
    /// Whether other units can name it.
    pub is_external: bool,
    /// Where it can be named.
    pub scope: VariableScope,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VariableShape {
    /// One number or pointer.
    Scalar,
    /// An array.
    Array,
    /// A structure, a reference, an array of variable length, ….
    Other,
}

/// Where a variable can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VariableScope {
    /// From its declaration to the end of a block.
    Block(Extent),
    /// From its declaration to the end of the unit.
    Unit {
        /// The number of functions of the unit that end before the declaration.
        n_functions_before: u32,
        /// Whether a system header declares it.
        is_system: bool,
    },
}

/// A structure or union.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordFact {
    /// Whether it is a union.
    pub is_union: bool,
    /// Its members in order.
    pub fields: Vec<FieldFact>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldFact {
    /// Its name; empty for an unnamed one.
    pub name: String,
    /// Its distance from the start of the structure in bits, if it is known.
    pub offset_bits: Option<i64>,
    /// Its width in bits if it is a bit-field.
    pub bit_width: Option<u32>,
    /// Its type without typedefs; equal for equal types.
    pub canonical: String,
}

/// One expression of the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpressionFact {
    /// The enclosing expression in [`FunctionFacts::expressions`], if any.
    pub parent: Option<u32>,
    /// What kind of expression it is.
    pub kind: ExpressionKind,
    /// The operator as spelled (`<`, `+=`, `++`, `!`), the callee's name for a direct call, the variable or
    /// member name for a reference, else empty.
    pub operator: String,
    /// Its type.
    pub value_type: TypeFact,
    /// All of it.
    pub extent: Extent,
    /// Where clang puts its debug location: the operator of a binary expression, the member name of a member
    /// access, else the start.
    pub place: Place,
    /// The outermost macro whose use it comes from.
    pub macro_name: Option<String>,
    /// The source text between the ends of `extent`, white space collapsed, at most 200 bytes.
    pub text: String,
    /// The variable or member it names.
    pub names: Option<Named>,
    /// Its value, if it is a constant that is no part of a larger one.
    pub constant: Option<ConstantValue>,
    /// Whether it is an array: where a pointer is wanted, its address is taken.
    pub is_array: bool,
    /// Whether it is `volatile`.
    pub is_volatile: bool,
    /// Whether it has no text in the program that could be changed: it is that of a macro of a system header, or it or
    /// one of its parts holds only a part of what a macro's use stands for.
    pub is_foreign: bool,
    /// Whether it is the whole use of a function-like macro of a system header: the program's own word, which can be
    /// changed as a whole, while its operator and what else stands in the macro's body cannot.
    pub is_macro_use: bool,
    /// Whether it stands in the expansion of a parameter pack, where one text is any number of expressions.
    pub is_expanded: bool,
    /// Its rank in the order in which clang emits the function's expressions; operands come before what uses them.
    pub order: u32,
    /// How a statement uses it.
    pub used_by: UsedBy,
}

/// What an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Named {
    /// One of [`FunctionFacts::variables`].
    Local(u32),
    /// One of [`UnitFacts::variables`].
    Global(u32),
    /// A member of one of [`UnitFacts::records`].
    Member {
        /// The structure.
        record: u32,
        /// The member.
        field: u32,
    },
}

/// The value of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConstantValue {
    /// An integer, by its low 64 bits.
    Integer(i64),
    /// A floating-point number, by the bits of a double.
    Float(u64),
}

/// How a statement uses the value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UsedBy {
    /// An expression uses it, or it is a condition, or nothing uses it.
    Other,
    /// The `return` that stands here hands it back.
    Return(Place),
    /// It initialises one of [`FunctionFacts::variables`].
    Variable(u32),
}

/// The kinds of expression we tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExpressionKind {
    /// `a + b`, `a < b`, `a & b`, … but neither assignment nor logical.
    Binary,
    /// `a && b`, `a || b`.
    Logical,
    /// `a = b`.
    Assign,
    /// `a += b`, ….
    CompoundAssign,
    /// `-a`, `~a`, `!a`, `*a`, `&a`.
    Unary,
    /// `++a`, `a++`, `--a`, `a--`.
    IncrementDecrement,
    /// `a ? b : c` and `a ?: c`.
    Conditional,
    /// A call.
    Call,
    /// A variable, parameter, enumerator or function by name.
    Reference,
    /// `a.b`, `a->b`.
    Member,
    /// `a[i]`.
    Index,
    /// An explicit cast.
    Cast,
    /// `123`.
    Integer,
    /// `1.5`.
    Float,
    /// `'c'`.
    Character,
    /// `"text"`.
    String,
    /// `sizeof`, `_Alignof`.
    SizeOf,
    /// Anything else.
    Other,
    /// The whole use of a function-like macro of a system header, whatever it stands for. Facts name what that is, the
    /// program map what is written.
    MacroUse,
}

/// A type as far as later techniques need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeFact {
    /// As written, sugar kept.
    pub spelling: String,
    /// Its class, typedefs resolved.
    pub class: TypeClass,
    /// Width in bits; 0 if it has none or it is unknown.
    pub bits: u32,
}

/// Classes of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeClass {
    /// `_Bool`, `bool`.
    Bool,
    /// A signed integer; enumerations by their underlying type.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// `float`, `double`, `long double`.
    Float,
    /// A pointer, reference, array or function.
    Pointer,
    /// A struct, union or class.
    Record,
    /// `void`.
    Void,
    /// Anything else, dependent types of templates among them.
    Other,
}

/// A leaf condition: an operand that is, parentheses and `!` aside, not itself `&&` or `||`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConditionFact {
    /// The expression in [`FunctionFacts::expressions`], its own `!` included, parentheses around it skipped.
    pub expression: u32,
    /// All of it, its own `!` and parentheses included: clang's branch region.
    pub extent: Extent,
    /// Where debug information puts the tested bit. That may be outside `extent`: C turns a loop's `p` into `p != 0`
    /// at the `while`, and the right operand of `&&` at the operator.
    pub place: Place,
    /// Its decision in [`FunctionFacts::decisions`].
    pub decision: u32,
    /// Whether an odd number of `!` stand around the operand inside this condition.
    pub is_negated: bool,
    /// Whether it is the last operand of `&&` or `||` used as a value, which has no branch of its own.
    pub is_value: bool,
    /// What clang's unoptimised code makes of it.
    pub emission: Emission,
    /// For [`Emission::Split`], what is tested instead of the condition itself, in emission order; else empty.
    pub arms: Vec<ArmFact>,
    /// Whether the bit that code tests is the opposite of this condition: where clang branches directly it drops
    /// `!` and swaps the targets (`if (!a)`), elsewhere it computes the `!` (`while (!a)`, `x = b && !a`).
    pub is_inverted: bool,
    /// Its value when the front end folds it to a constant (`while (1)`); such a condition has no code.
    pub constant: Option<bool>,
    /// Whether it compares with a literal, and of which kind.
    pub compares_with: Option<ConstantKind>,
    /// Whether the value read comes through a pointer or array element.
    pub reads_pointer: bool,
    /// Whether it reads a local variable or parameter.
    pub reads_local: bool,
    /// Whether it uses the result of a function not defined in this unit, directly.
    pub uses_external_call: bool,
}

/// What clang's unoptimised code makes of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Emission {
    /// A conditional branch of its own.
    Branch,
    /// The computed operand of a boolean phi: the last operand of a logical operator used as a value. Loops and
    /// constant-armed `?:` use their condition so; see [`DecisionFact::is_tested_whole`].
    Phi,
    /// The condition of a `select`: a `?:` whose arms are both constant.
    Select,
    /// A boolean that is simply used: `a` in `x = 1 && a`.
    Plain,
    /// Several branches, one at the end of each arm of a `?:` that is itself a condition: `if (a ? b : c)`.
    Split,
    /// None, or a test of a constant: it is folded, or stands where a folded condition never goes.
    Absent,
}

/// An arm of a `?:` that is itself a condition: whichever arm is reached decides the condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmFact {
    /// All of it.
    pub extent: Extent,
    /// Where debug information puts the tested bit.
    pub place: Place,
    /// Whether that bit is the opposite of the arm.
    pub is_inverted: bool,
    /// Its value when the front end folds it: the branch tests a constant.
    pub constant: Option<bool>,
    /// The condition of the `?:` and its value that lead here, if it is a single one.
    pub behind: Option<(u32, bool)>,
    /// The decision in [`FunctionFacts::decisions`] if the arm is `&&` or `||`: its conditions are tested, and
    /// there is no other branch.
    pub decision: Option<u32>,
}

/// Kinds of constants a condition may compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConstantKind {
    /// An integer or enumerator.
    Integer,
    /// A character literal.
    Character,
    /// A string literal, also as argument of a compared call (`strcmp(s, "x") == 0`).
    String,
    /// A floating-point literal.
    Float,
    /// `NULL`, `nullptr`, or a pointer against 0.
    Null,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionFact {
    /// Where it stands.
    pub kind: DecisionKind,
    /// The whole boolean expression, as clang's MC/DC region has it.
    pub extent: Extent,
    /// That expression in [`FunctionFacts::expressions`]; of a single condition its own `!` is included.
    pub expression: Option<u32>,
    /// Its conditions, left to right, indices into [`FunctionFacts::conditions`].
    pub conditions: Vec<u32>,
    /// Whether `&&` or `||` is computed as a value first and the result then tested by one more branch or select,
    /// which is no condition: `while (a && b)`, `(a && b) ? 1 : 2`.
    pub is_tested_whole: bool,
}

/// What a decision decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecisionKind {
    /// `if`.
    If,
    /// `while`.
    While,
    /// `for`, range-based ones too.
    For,
    /// `do … while`.
    Do,
    /// `?:`.
    Conditional,
    /// `&&` or `||` used as a value.
    Value,
    /// `switch`; its conditions are the case labels.
    Switch,
}

/// One switch statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchFact {
    /// Where the keyword stands.
    pub place: Place,
    /// The whole statement.
    pub extent: Extent,
    /// The text of the value switched on.
    pub text: String,
    /// Where that value stands: clang's branch region for a `default` nobody wrote.
    pub value: Extent,
    /// The labels in source order, `default` among them.
    pub labels: Vec<LabelFact>,
}

/// One `case` or `default`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelFact {
    /// The inclusive range of values (`case 1 ... 5` has two ends); `None` for `default`.
    pub range: Option<(i64, i64)>,
    /// From the keyword to the colon.
    pub extent: Extent,
    /// `case 'x'`, `default`.
    pub text: String,
    /// Where the `break` stands if it is all that the label labels: clang emits no block for it.
    pub only_break: Option<Place>,
    /// The outermost macro whose use it comes from.
    pub macro_name: Option<String>,
}
