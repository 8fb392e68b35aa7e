//! What an operator sees, and where it leaves its proposals.

use super::text::Text;
use crate::{
    formula::{BinaryOperator, Builder, Expression, types},
    site::{MutableFunction, Operand, Role, Spot},
};
use cairn_model::{
    facts::{ExpressionKind, TypeClass},
    map::{ProgramMap, Site},
    mutants::{Change, Formula, ValueType},
};

/// One spot and what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The program.
    pub map: &'a ProgramMap,
    /// The function.
    pub function: &'a MutableFunction,
    /// The spot.
    pub spot: &'a Spot,
    /// Its expression.
    pub site: &'a Site,
}

/// Proposals of one operator at one spot.
#[derive(Debug, Default)]
pub struct Drafts {
    drafts: Vec<Draft>,
}

/// A proposal before it has a name.
#[derive(Debug)]
pub struct Draft {
    /// What the site's text becomes.
    pub text: Text,
    /// Whether the text means the same as the change, where the text is exact.
    pub is_faithful: bool,
    /// What happens instead.
    pub change: Change,
}

impl Drafts {
    /// Proposes a change; nothing if there is none.
    pub fn add(&mut self, text: Text, is_faithful: bool, change: Option<Change>) {
        self.drafts.extend(change.map(|change| Draft { text, is_faithful, change }));
    }

    /// Proposes a value.
    pub fn value(&mut self, text: Text, is_faithful: bool, formula: Option<Formula>) {
        self.add(text, is_faithful, formula.map(Change::Value));
    }

    pub(super) fn into_inner(self) -> Vec<Draft> {
        self.drafts
    }
}

impl<'a> Context<'a> {
    /// The spot's operands, if there are exactly two.
    pub fn pair(&self) -> Option<[&'a Operand; 2]> {
        match &self.spot.operands[..] {
            [left, right] => Some([left, right]),
            _ => None,
        }
    }

    /// The operator of a binary expression, comparison, logical expression or `op=`.
    pub fn binary_operator(&self) -> Option<BinaryOperator> {
        use ExpressionKind as Kind;
        matches!(self.site.kind, Kind::Binary | Kind::Logical | Kind::CompoundAssign)
            .then(|| BinaryOperator::parse(&self.site.operator))
            .flatten()
    }

    /// Whether the value of an expression of this kind is found here.
    pub fn is_value_of(&self, kind: ExpressionKind) -> bool {
        self.spot.role == Role::Value && self.site.kind == kind
    }

    /// Whether `=` stores here.
    pub fn is_assignment(&self) -> bool {
        self.spot.role == Role::Stored && self.site.kind == ExpressionKind::Assign
    }

    /// Whether a variable, member or element is read here.
    pub fn is_read(&self) -> bool {
        use ExpressionKind as Kind;
        let is_place = match self.site.kind {
            Kind::Reference | Kind::Member | Kind::Index => true,
            Kind::Unary => self.site.operator == "*",
            _ => false,
        };
        self.spot.role == Role::Value && is_place
    }

    /// The text of an operand.
    pub fn operand_text(&self, number: usize) -> Text {
        Text::of_operand(self.map, &self.spot.operands[number], self.site)
    }

    /// The text of the site itself.
    pub fn text(&self) -> Text {
        Text::of_site(self.map, self.site, self.site)
    }

    /// The expression around the site.
    pub fn parent(&self) -> Option<&'a Site> {
        self.site.parent.map(|parent| &self.map.sites[parent.index()])
    }

    /// The operand as a node of a formula.
    pub fn operand(&self, builder: &mut Builder, number: usize) -> Expression {
        builder.operand(number as u8, self.spot.operands[number].value_type)
    }

    /// The operand with the promoted type of its own expression, from before it was converted to that of the other side.
    /// Shifts need it: their type is that of the left side alone.
    pub fn own_operand(&self, builder: &mut Builder, number: usize) -> Option<Expression> {
        let expression = self.operand(builder, number);
        let own = self.own_type(&self.spot.operands[number]).map(types::promoted);
        match (expression.value_type, own) {
            (ValueType::Int { bits, .. }, Some(own @ ValueType::Int { bits: own_bits, .. }))
                if own_bits <= bits =>
            {
                builder.convert(expression, own)
            }
            _ => Some(expression),
        }
    }

    /// The type an operand's expression has in the source.
    pub fn own_type(&self, operand: &Operand) -> Option<ValueType> {
        types::of_fact(&self.map.sites[operand.site?.index()].value_type)
    }

    /// The type the site has in the source.
    pub fn site_type(&self) -> Option<ValueType> {
        types::of_fact(&self.site.value_type)
    }

    /// Whether C sees a truth value here, however the code holds it.
    pub fn is_truth(&self) -> bool {
        self.spot.value_type == ValueType::Bool || self.site.value_type.class == TypeClass::Bool
    }

    /// Whether an expression of type `natural` may be written where the code has a value of the spot's type.
    ///
    /// A change of type is seen by what the expression is part of: `(u < v) - 1` is not computed as `(u + v) - 1`.
    /// It does no harm where the value is the same and is converted to a known type at once.
    pub fn fits_in_source(&self, natural: ValueType) -> bool {
        use ExpressionKind as Kind;
        // In C a comparison is an `int`.
        let is_0_or_1 = natural == ValueType::Bool;
        let natural = if is_0_or_1 { types::INT } else { natural };
        if self.spot.value_type == ValueType::Bool && self.spot.role != Role::Stored {
            return true;
        }
        if natural == self.spot.value_type {
            return true;
        }
        let keeps_value =
            types::preserves_value(if is_0_or_1 { ValueType::Bool } else { natural }, self.spot.value_type);
        let is_converted =
            self.parent().is_none_or(|parent| matches!(parent.kind, Kind::Assign | Kind::Logical));
        keeps_value && is_converted
    }

    /// A formula for the spot's value.
    pub fn formula(&self, build: impl FnOnce(&mut Builder) -> Option<Expression>) -> Option<Formula> {
        let mut builder = Builder::new();
        let result = build(&mut builder)?;
        builder.finish(result, self.spot.value_type)
    }

    /// Like [`Context::formula`], with the type the result had before it was converted.
    pub fn typed_formula(
        &self,
        build: impl FnOnce(&mut Builder) -> Option<Expression>,
    ) -> Option<(Formula, ValueType)> {
        let mut builder = Builder::new();
        let result = build(&mut builder)?;
        Some((builder.finish(result, self.spot.value_type)?, result.value_type))
    }
}
