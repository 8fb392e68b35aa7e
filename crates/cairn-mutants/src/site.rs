//! What the catalogue is told about a function: the spots in its code where an expression was found.

use cairn_model::{FunctionId, SiteId, facts::TypeFact, mutants::ValueType};

/// A function with the spots where mutants can change something.
#[derive(Clone, Debug)]
pub struct MutableFunction {
    /// The function.
    pub function: FunctionId,
    /// Its spots, in the order of their sites.
    pub spots: Vec<Spot>,
    /// Variables that mutants may use instead of others.
    pub variables: Vec<Variable>,
}

/// A spot where the value of an expression was found in the code.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// The expression.
    pub site: SiteId,
    /// What of it is found here.
    pub role: Role,
    /// The type of the value found here; a formula of a mutant must have it.
    pub value_type: ValueType,
    /// What the value is computed from. By role and kind of expression; see [`Role`].
    pub operands: Vec<Operand>,
    /// Variables visible here, positions in [`MutableFunction::variables`].
    pub visible: Vec<u32>,
    /// For [`Role::Member`], members of the same type in the same structure.
    pub siblings: Vec<Sibling>,
}

/// A value that an expression is computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The expression it comes from.
    pub site: Option<SiteId>,
    /// Its type in the code, with the signedness of C. For arithmetic and comparisons, C's conversions were applied;
    /// for shifts each side has its own promoted type.
    pub value_type: ValueType,
    /// Its value, if it is an integer constant.
    pub constant: Option<i64>,
    /// Whether evaluating it has no effect but the value: no call, assignment, increment or volatile access.
    pub is_pure: bool,
}

/// What of an expression is found at a spot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// Its value.
    ///
    /// Operands: of a binary operator or comparison, both sides; of `op=`, the old value (converted as C does for the
    /// operation) and the right side, the value being the result before it is converted back; of `++` and `--`, the
    /// old value, the value being the new one; of a unary operator, its operand; of an explicit cast, what is cast;
    /// of a variable, member or element that is read, none.
    ///
    /// The value of a comparison or of `!` has type `Bool` where only its truth is used, otherwise `Int`.
    Value,
    /// A literal, enumerator or other constant, as it is used in one place.
    Constant {
        /// Its value; 0 for floating-point constants.
        value: i64,
        /// The bits of a double, for floating-point constants.
        float: Option<u64>,
    },
    /// The address that is written when a variable is assigned to; `value_type` is `Pointer`.
    ///
    /// Variables of the type of the site may be assigned instead.
    Assigned,
    /// The address of an array whose element is accessed: the site is the array's name; `value_type` is `Pointer`.
    ArrayBase,
    /// The address of a structure's member, read or written; `value_type` is `Pointer`.
    Member {
        /// Its distance from the start of the structure in bytes.
        offset: i64,
    },
    /// The value that `=` stores, after conversion to the type of the left side; it is also the value of the
    /// assignment.
    ///
    /// Operands: the old value of the left side, and the right side before that conversion. Not for bit-fields,
    /// aggregates and initialisers.
    Stored,
    /// The truth value that a whole decision of `if`, `while`, `for`, `do` or `?:` tests, where one branch tests it;
    /// the site is the whole condition.
    Decision,
    /// `&&` or `||`; operands are both sides' values. They are present only if both sides are single conditions with
    /// integer values, otherwise only [`LogicalChange::Swap`](cairn_model::mutants::LogicalChange::Swap) and its
    /// like can be made. `value_type` is `Bool` if only its truth is used.
    Logical,
    /// A value that `return` hands back; the site is the returned expression.
    Returned,
}

/// A variable a mutant may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type; for arrays the element type.
    pub value_type: TypeFact,
    /// How its value appears in the code; `None` for arrays.
    pub scalar: Option<ValueType>,
    /// Whether it is an array.
    pub is_array: bool,
    /// Whether it is a parameter or local variable.
    pub is_local: bool,
    /// Whether it is `const`: it cannot be assigned.
    pub is_const: bool,
}

/// A member of a structure that can stand for another.
#[derive(Clone, Debug, PartialEq)]
pub struct Sibling {
    /// Its name.
    pub name: String,
    /// Its distance from the start of the structure in bytes.
    pub offset: i64,
}
