//! Expressions as Z3's terms.

use super::{
    check::Theory,
    context::{Binary, Context, Fault, Term},
    floats, tables,
};
use crate::{Query, terms::bytes_read_by};
use cairn_expr::{ExprId, ExprNode, InputByte, Op, mask};
use std::collections::{BTreeMap, HashMap};

/// A query in Z3's terms.
pub struct Translated {
    /// What has to hold.
    pub assertions: Vec<Term>,
    /// The bytes of the input, and their variables.
    pub bytes: Vec<(InputByte, Term)>,
    /// Which solver understands it.
    pub theory: Theory,
    /// Whether every operation has its meaning. Otherwise some have any value: a refutation holds, a model may not.
    pub is_exact: bool,
}

/// Translates a query into terms that live until the context releases them. `roots` are its conditions, `parts` all their
/// changeable parts, operands first.
pub fn translate(
    context: &mut Context,
    query: &Query<'_>,
    roots: &[ExprId],
    parts: &[ExprId],
) -> Result<Translated, Fault> {
    let mut bytes: BTreeMap<InputByte, Term> = BTreeMap::new();
    for (index, byte) in bytes_read_by(query.dag, roots.iter().copied()).enumerate() {
        bytes.insert(byte, context.variable(index as u32, 8)?);
    }
    let mut translator = Translator {
        context,
        query,
        bytes,
        forms: HashMap::new(),
        theory: Theory::Integers,
        is_exact: true,
        n_free: 0,
    };
    for id in parts {
        translator.node(*id)?;
    }
    let assertions = roots.iter().map(|root| translator.truth(*root)).collect::<Result<_, _>>()?;
    Ok(Translated {
        assertions,
        bytes: translator.bytes.into_iter().collect(),
        theory: translator.theory,
        is_exact: translator.is_exact,
    })
}

/// One value in the ways Z3 knows it, made when asked for.
#[derive(Clone, Copy, Default)]
struct Forms {
    truth: Option<Term>,
    bits: Option<Term>,
    float: Option<Term>,
}

pub(super) struct Translator<'a, 'q> {
    pub context: &'a mut Context,
    query: &'a Query<'q>,
    bytes: BTreeMap<InputByte, Term>,
    forms: HashMap<ExprId, Forms>,
    theory: Theory,
    is_exact: bool,
    n_free: u32,
}

/// Where the numbers of variables begin that are not bytes of the input.
const FREE: u32 = 1 << 30;

impl Translator<'_, '_> {
    /// Translates one node, whose operands are known.
    fn node(&mut self, id: ExprId) -> Result<(), Fault> {
        let dag = self.query.dag;
        let node = *dag.node(id);
        let forms = match node.op() {
            Op::Constant | Op::Opaque => unreachable!("they read nothing"),
            Op::Input => bits(self.input(&node)?),
            Op::Not if node.width() == 1 => {
                let a = self.truth(node.operand(0))?;
                truth(self.context.unary(self.context.z3.Z3_mk_not, a)?)
            }
            Op::And | Op::Or | Op::Xor if node.width() == 1 => {
                let (a, b) = (self.truth(node.operand(0))?, self.truth(node.operand(1))?);
                truth(match node.op() {
                    Op::And => self.context.and(a, b)?,
                    Op::Or => self.context.or(a, b)?,
                    _ => self.context.binary(self.context.z3.Z3_mk_xor, a, b)?,
                })
            }
            Op::Eq | Op::Ne if dag.width(node.operand(0)) == 1 => {
                let (a, b) = (self.truth(node.operand(0))?, self.truth(node.operand(1))?);
                let equal = self.context.binary(self.context.z3.Z3_mk_eq, a, b)?;
                truth(self.negate_if(node.op() == Op::Ne, equal)?)
            }
            Op::Eq | Op::Ne | Op::ULt | Op::ULe | Op::SLt | Op::SLe => truth(self.comparison(&node)?),
            Op::Not => bits(self.unary_bits(&node, self.context.z3.Z3_mk_bvnot)?),
            Op::Neg => bits(self.unary_bits(&node, self.context.z3.Z3_mk_bvneg)?),
            Op::PopCount => bits(self.pop_count(&node)?),
            Op::LeadingZeros => bits(self.first_one(&node, true)?),
            Op::TrailingZeros => bits(self.first_one(&node, false)?),
            Op::ZExt | Op::SExt => {
                let a = self.bits(node.operand(0))?;
                let more = node.width() - dag.width(node.operand(0));
                bits(match node.op() {
                    Op::ZExt => self.context.zero_extend(more, a)?,
                    _ => self.context.sign_extend(more, a)?,
                })
            }
            Op::Extract => {
                let a = self.bits(node.operand(0))?;
                bits(self.context.extract(node.low() + node.width() - 1, node.low(), a)?)
            }
            Op::Ite if node.width() == 1 => {
                let [condition, then, otherwise] = [0, 1, 2].map(|n| self.truth(node.operand(n)));
                truth(self.context.ite(condition?, then?, otherwise?)?)
            }
            Op::Ite => {
                let condition = self.truth(node.operand(0))?;
                let (then, otherwise) = (self.bits(node.operand(1))?, self.bits(node.operand(2))?);
                bits(self.context.ite(condition, then, otherwise)?)
            }
            Op::Table => {
                let offset = self.bits(node.operand(0))?;
                let table = dag.table_bytes(node.table_id());
                let possible = dag.possible_ones(node.operand(0));
                match tables::lookup(self.context, table, offset, possible, node.width())? {
                    Some(value) => bits(value),
                    None => bits(self.anything(node.width())?),
                }
            }
            Op::SDiv => bits(self.signed_division(&node)?),
            op => match integer_operation(self.context, op) {
                Some(make) => {
                    let (a, b) = (self.bits(node.operand(0))?, self.bits(node.operand(1))?);
                    bits(self.context.binary(make, a, b)?)
                }
                None => {
                    self.theory = Theory::Floats;
                    match floats::operation(self, &node)? {
                        Some(floats::Result::Float(term)) => Forms { float: Some(term), ..Forms::default() },
                        Some(floats::Result::Bits(term)) => bits(term),
                        Some(floats::Result::Truth(term)) => truth(term),
                        None => bits(self.anything(node.width())?),
                    }
                }
            },
        };
        self.forms.insert(id, forms);
        Ok(())
    }

    pub(super) fn width(&self, id: ExprId) -> u32 {
        self.query.dag.width(id)
    }

    /// A value of width 1 as a truth value.
    pub(super) fn truth(&mut self, id: ExprId) -> Result<Term, Fault> {
        if let Some(term) = self.form(id).truth {
            return Ok(term);
        }
        let bits = self.bits(id)?;
        let one = self.context.number(1, 1)?;
        let term = self.context.binary(self.context.z3.Z3_mk_eq, bits, one)?;
        self.forms.entry(id).or_default().truth = Some(term);
        Ok(term)
    }

    /// A value as bits.
    pub(super) fn bits(&mut self, id: ExprId) -> Result<Term, Fault> {
        let form = self.form(id);
        if let Some(term) = form.bits {
            return Ok(term);
        }
        let term = match (form.truth, form.float) {
            (Some(truth), _) => {
                let (one, zero) = (self.context.number(1, 1)?, self.context.number(1, 0)?);
                self.context.ite(truth, one, zero)?
            }
            (_, Some(float)) => {
                // Z3 has one that is not a number, we have many, and which it is depends on the operands.
                let any = self.anything(self.width(id))?;
                let is_nan = self.context.unary(self.context.z3.Z3_mk_fpa_is_nan, float)?;
                let bits = self.context.unary(self.context.z3.Z3_mk_fpa_to_ieee_bv, float)?;
                self.context.ite(is_nan, any, bits)?
            }
            (None, None) => {
                let value = self.fixed_value(id);
                self.context.number(self.width(id), value)?
            }
        };
        self.forms.entry(id).or_default().bits = Some(term);
        Ok(term)
    }

    /// A value as a floating-point number.
    pub(super) fn float(&mut self, id: ExprId) -> Result<Term, Fault> {
        if let Some(term) = self.form(id).float {
            return Ok(term);
        }
        let bits = self.bits(id)?;
        let term = self.context.float_from(self.context.z3.Z3_mk_fpa_to_fp_bv, bits, self.width(id))?;
        self.forms.entry(id).or_default().float = Some(term);
        Ok(term)
    }

    /// Whether a value was made as a floating-point number, so that its bits would be a detour.
    pub(super) fn is_float(&self, id: ExprId) -> bool {
        let form = self.form(id);
        form.float.is_some() && form.bits.is_none()
    }

    fn form(&self, id: ExprId) -> Forms {
        self.forms.get(&id).copied().unwrap_or_default()
    }

    /// The value of what reads no input.
    fn fixed_value(&self, id: ExprId) -> u128 {
        debug_assert!(self.query.dag.is_fixed(id));
        cairn_expr::evaluate(self.query.dag, id, self.query.seed)
    }

    /// A value nothing is known about.
    fn anything(&mut self, width: u32) -> Result<Term, Fault> {
        self.is_exact = false;
        self.n_free += 1;
        self.context.variable(FREE + self.n_free, width)
    }

    fn input(&mut self, node: &ExprNode) -> Result<Term, Fault> {
        let (region, offset) = node.place();
        let mut value = self.bytes[&InputByte { region, offset }];
        for n in 1..node.width() / 8 {
            let above = self.bytes[&InputByte { region, offset: offset + n }];
            value = self.context.binary(self.context.z3.Z3_mk_concat, above, value)?;
        }
        Ok(value)
    }

    fn comparison(&mut self, node: &ExprNode) -> Result<Term, Fault> {
        let (a, b) = (self.bits(node.operand(0))?, self.bits(node.operand(1))?);
        let z3 = self.context.z3;
        let make = match node.op() {
            Op::Eq | Op::Ne => z3.Z3_mk_eq,
            Op::ULt => z3.Z3_mk_bvult,
            Op::ULe => z3.Z3_mk_bvule,
            Op::SLt => z3.Z3_mk_bvslt,
            _ => z3.Z3_mk_bvsle,
        };
        let term = self.context.binary(make, a, b)?;
        self.negate_if(node.op() == Op::Ne, term)
    }

    fn negate_if(&mut self, negate: bool, term: Term) -> Result<Term, Fault> {
        if negate { self.context.unary(self.context.z3.Z3_mk_not, term) } else { Ok(term) }
    }

    fn unary_bits(&mut self, node: &ExprNode, make: super::context::Unary) -> Result<Term, Fault> {
        let a = self.bits(node.operand(0))?;
        self.context.unary(make, a)
    }

    /// All ones where the divisor is zero; SMT-LIB has 1 for negative dividends.
    fn signed_division(&mut self, node: &ExprNode) -> Result<Term, Fault> {
        let z3 = self.context.z3;
        let (a, b) = (self.bits(node.operand(0))?, self.bits(node.operand(1))?);
        let quotient = self.context.binary(z3.Z3_mk_bvsdiv, a, b)?;
        if self.query.dag.constant_value(node.operand(1)).is_some_and(|divisor| divisor != 0) {
            return Ok(quotient);
        }
        let zero = self.context.number(node.width(), 0)?;
        let ones = self.context.number(node.width(), mask(node.width()))?;
        let is_zero = self.context.binary(z3.Z3_mk_eq, b, zero)?;
        self.context.ite(is_zero, ones, quotient)
    }

    /// The sum of all bits, as a balanced tree.
    fn pop_count(&mut self, node: &ExprNode) -> Result<Term, Fault> {
        let a = self.bits(node.operand(0))?;
        let width = node.width();
        let mut counts = Vec::new();
        for bit in 0..width {
            let one = self.context.extract(bit, bit, a)?;
            counts.push(if width > 1 { self.context.zero_extend(width - 1, one)? } else { one });
        }
        while counts.len() > 1 {
            let mut sums = Vec::with_capacity(counts.len().div_ceil(2));
            for pair in counts.chunks(2) {
                sums.push(match pair {
                    [a, b] => self.context.binary(self.context.z3.Z3_mk_bvadd, *a, *b)?,
                    _ => pair[0],
                });
            }
            counts = sums;
        }
        Ok(counts[0])
    }

    /// How many zeros come before the first one, from above or from below.
    fn first_one(&mut self, node: &ExprNode, from_above: bool) -> Result<Term, Fault> {
        let a = self.bits(node.operand(0))?;
        let width = node.width();
        let one = self.context.number(1, 1)?;
        let mut count = self.context.number(width, width.into())?;
        for n_zeros in (0..width).rev() {
            let bit = if from_above { width - 1 - n_zeros } else { n_zeros };
            let bit = self.context.extract(bit, bit, a)?;
            let is_one = self.context.binary(self.context.z3.Z3_mk_eq, bit, one)?;
            let here = self.context.number(width, n_zeros.into())?;
            count = self.context.ite(is_one, here, count)?;
        }
        Ok(count)
    }
}

fn bits(term: Term) -> Forms {
    Forms { bits: Some(term), ..Forms::default() }
}

fn truth(term: Term) -> Forms {
    Forms { truth: Some(term), ..Forms::default() }
}

/// The constructor of an operation on integers of one width.
fn integer_operation(context: &Context, op: Op) -> Option<Binary> {
    let z3 = context.z3;
    Some(match op {
        Op::Add => z3.Z3_mk_bvadd,
        Op::Sub => z3.Z3_mk_bvsub,
        Op::Mul => z3.Z3_mk_bvmul,
        Op::UDiv => z3.Z3_mk_bvudiv,
        Op::URem => z3.Z3_mk_bvurem,
        Op::SRem => z3.Z3_mk_bvsrem,
        Op::And => z3.Z3_mk_bvand,
        Op::Or => z3.Z3_mk_bvor,
        Op::Xor => z3.Z3_mk_bvxor,
        Op::Shl => z3.Z3_mk_bvshl,
        Op::LShr => z3.Z3_mk_bvlshr,
        Op::AShr => z3.Z3_mk_bvashr,
        Op::Concat => z3.Z3_mk_concat,
        _ => return None,
    })
}
