//! Source text of mutants, with parentheses where they are needed.

use crate::{formula::BinaryOperator, site::Operand};
use cairn_model::{
    facts::ExpressionKind,
    map::{Place, ProgramMap, Site},
};

/// Texts of sites are cut at this length.
const TEXT_BYTES: usize = 200;
/// Stands for what a macro hides.
const HIDDEN: &str = "…";

/// How tightly C's operators bind; more is tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence(u8);

impl Precedence {
    const UNKNOWN: Self = Self(0);
    const ASSIGNMENT: Self = Self(2);
    const CONDITIONAL: Self = Self(3);
    /// `-a`, `!a`, `(int)a`.
    pub const PREFIX: Self = Self(14);
    /// `a.b`, `f(x)`, `a[i]`, names and numbers.
    pub const POSTFIX: Self = Self(15);

    fn of(operator: BinaryOperator) -> Self {
        use BinaryOperator::*;
        Self(match operator {
            Multiply | Divide | Remainder => 13,
            Add | Subtract => 12,
            ShiftLeft | ShiftRight => 11,
            Less | LessOrEqual | Greater | GreaterOrEqual => 10,
            Equal | NotEqual => 9,
            BitAnd => 8,
            BitXor => 7,
            BitOr => 6,
            LogicalAnd => 5,
            LogicalOr => 4,
        })
    }

    fn of_site(site: &Site) -> Self {
        use ExpressionKind as Kind;
        match site.kind {
            Kind::Binary | Kind::Logical => {
                BinaryOperator::parse(&site.operator).map_or(Self::UNKNOWN, Self::of)
            }
            Kind::Assign | Kind::CompoundAssign => Self::ASSIGNMENT,
            Kind::Conditional => Self::CONDITIONAL,
            Kind::Unary | Kind::Cast | Kind::SizeOf | Kind::IncrementDecrement => Self::PREFIX,
            Kind::Call if is_operator(site) => Self::UNKNOWN,
            Kind::Call | Kind::Reference | Kind::Member | Kind::Index | Kind::MacroUse => Self::POSTFIX,
            Kind::Integer | Kind::Float | Kind::Character | Kind::String => Self::POSTFIX,
            Kind::Other => Self::UNKNOWN,
        }
    }
}

/// Whether a call is written as an operator: `a < b` of objects. How tightly that binds is not asked.
fn is_operator(call: &Site) -> bool {
    let symbols =
        call.operator.strip_prefix("operator").filter(|symbols| !matches!(*symbols, "()" | "[]" | "->"));
    let is_symbol = |first: char| first.is_ascii_punctuation() && first != '_';
    symbols.is_some_and(|symbols| symbols.starts_with(is_symbol)) && !call.text.contains("operator")
}

/// A piece of source.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    text: String,
    precedence: Precedence,
    /// Whether it is what the source has, to the letter that matters.
    is_exact: bool,
}

impl Text {
    /// The text of an expression, as part of the expression `around` it.
    pub fn of_site(map: &ProgramMap, site: &Site, around: &Site) -> Self {
        let precedence = Precedence::of_site(site);
        // All of a macro's expressions have the macro's text; a name is still known.
        if around.macro_name.is_some() && site.text == around.text && site.body_of().is_some() {
            return match site.kind {
                ExpressionKind::Reference if !site.operator.is_empty() => Self::inexact(&site.operator),
                _ => Self::inexact(HIDDEN),
            };
        }
        // White space was collapsed, and in strings it matters.
        let is_exact = site.text.len() < TEXT_BYTES - 3 && !site.text.contains('"') && !site.text.is_empty();
        let text = if site.text.is_empty() { HIDDEN.to_owned() } else { site.text.clone() };
        Self { text, precedence, is_exact: is_exact && !hangs_over(map, site, around) }
    }

    /// The text of a spot's operand.
    pub fn of_operand(map: &ProgramMap, operand: &Operand, around: &Site) -> Self {
        match (operand.site, operand.constant) {
            (Some(site), _) => Self::of_site(map, &map.sites[site.index()], around),
            (None, Some(constant)) => Self { is_exact: false, ..Self::number(&constant.to_string()) },
            (None, None) => Self::inexact(HIDDEN),
        }
    }

    fn inexact(text: &str) -> Self {
        Self { text: text.to_owned(), precedence: Precedence::POSTFIX, is_exact: false }
    }

    /// A name.
    pub fn name(name: &str) -> Self {
        Self { text: name.to_owned(), precedence: Precedence::POSTFIX, is_exact: true }
    }

    /// A number as written, perhaps with a sign.
    pub fn number(number: &str) -> Self {
        let precedence = if number.starts_with('-') { Precedence::PREFIX } else { Precedence::POSTFIX };
        Self { text: number.to_owned(), precedence, is_exact: true }
    }

    /// Text that stands on its own, with the precedence it has.
    pub fn with_precedence(text: String, precedence: Precedence, is_exact: bool) -> Self {
        Self { text, precedence, is_exact }
    }

    /// `left operator right`.
    pub fn binary(operator: BinaryOperator, left: Self, right: Self) -> Self {
        let precedence = Precedence::of(operator);
        let is_exact = left.is_exact && right.is_exact;
        let left = left.parenthesised_if(|own| own < precedence);
        let right = right.parenthesised_if(|own| own <= precedence);
        Self { text: format!("{left} {} {right}", operator.spelling()), precedence, is_exact }
    }

    /// `left operator= right`, and `left = right` without an operator.
    pub fn assignment(operator: Option<BinaryOperator>, left: Self, right: Self) -> Self {
        let is_exact = left.is_exact && right.is_exact;
        let operator = operator.map_or("", BinaryOperator::spelling);
        let left = left.parenthesised_if(|own| own < Precedence::PREFIX);
        let right = right.parenthesised_if(|own| own < Precedence::ASSIGNMENT);
        let precedence = Precedence::ASSIGNMENT;
        Self { text: format!("{left} {operator}= {right}"), precedence, is_exact }
    }

    /// `(first, second)`.
    pub fn comma(first: Self, second: Self) -> Self {
        let text = format!("({}, {})", first.text, second.text);
        Self { text, precedence: Precedence::POSTFIX, is_exact: first.is_exact && second.is_exact }
    }

    /// `!of`, `-of`, `(type)of`.
    pub fn prefix(prefix: &str, of: Self) -> Self {
        let is_exact = of.is_exact;
        let runs_together = of.text.starts_with(['-', '+', '&']) && prefix.ends_with(&of.text[..1]);
        let of = of.parenthesised_if(|own| own < Precedence::PREFIX || runs_together);
        Self { text: format!("{prefix}{of}"), precedence: Precedence::PREFIX, is_exact }
    }

    /// Whether it is what a person would write, with nothing left out.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The same, known to mislead as a source edit.
    pub fn made_inexact(self) -> Self {
        Self { is_exact: false, ..self }
    }

    /// The letters alone.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// As it has to be written in place of `site`.
    pub fn in_place_of(self, map: &ProgramMap, site: &Site) -> String {
        let Some(parent) = site.parent.map(|parent| &map.sites[parent.index()]) else { return self.text };
        let is_first = parent.extent.start == site.extent.start;
        let around = Precedence::of_site(parent);
        use ExpressionKind as Kind;
        let needs = |own: Precedence| match parent.kind {
            Kind::Binary | Kind::Logical => own < around || (own == around && !is_first),
            Kind::Unary | Kind::Cast | Kind::SizeOf | Kind::IncrementDecrement => own < Precedence::PREFIX,
            Kind::Member => own < Precedence::POSTFIX,
            Kind::Call if is_operator(parent) => own < Precedence::POSTFIX,
            Kind::Index | Kind::Call => is_first && own < Precedence::POSTFIX,
            Kind::Assign | Kind::CompoundAssign => own < Precedence::ASSIGNMENT,
            Kind::Conditional => own <= Precedence::CONDITIONAL,
            _ => false,
        };
        self.parenthesised_if(needs)
    }

    fn parenthesised_if(self, needs: impl Fn(Precedence) -> bool) -> String {
        if needs(self.precedence) && !self.text.starts_with(HIDDEN) {
            return format!("({})", self.text);
        }
        self.text
    }
}

/// Whether an operand at the edge of `around` may be only the end or start of a macro: in `DEC * 2` with
/// `#define DEC x - 1`, what is multiplied is 1.
fn hangs_over(map: &ProgramMap, site: &Site, around: &Site) -> bool {
    let Some(outside) = around.parent.map(|parent| &map.sites[parent.index()]) else { return false };
    let starts = [site, around, outside].map(|site| site.extent.start);
    let ends = [site, around, outside].map(|site| site.extent.end);
    let are_one = |places: [Place; 3]| places[0] == places[1] && places[1] == places[2];
    site.body_of().is_some() && (are_one(starts) || are_one(ends))
}
