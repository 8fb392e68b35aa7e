//! Z3, search and plain counting on random queries: nobody may contradict another.
//!
//! Queries read one or two bytes, so that trying everything tells the truth.

use cairn_expr::{Dag, ExprId, ExprNode, MathFunction, Op, RegionId, Tape, is_comparison, print};
use cairn_solver::{Answer, Budget, InputToState, Query, Search, Smt, Solver};
use proptest::prelude::*;
use std::{cell::RefCell, collections::BTreeMap, time::Duration};

const STDIN: RegionId = RegionId(0);

const BUDGET: Budget = Budget { evaluations: 30_000, rlimit: 300_000, timeout: Duration::from_secs(20) };

thread_local! {
    static SMT: RefCell<Smt> = RefCell::new(Smt::open().expect("these tests need libz3-4"));
}

/// A recipe for one node: an operation and its operands, by numbers that are taken modulo what there is.
type Step = (u8, u8, u8, u8, u64);

const INTEGER_OPS: [Op; 24] = [
    Op::Not,
    Op::Neg,
    Op::PopCount,
    Op::LeadingZeros,
    Op::TrailingZeros,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::ZExt,
    Op::SExt,
    Op::Extract,
    Op::Concat,
    Op::Ite,
    Op::Table,
];

const INTEGER_COMPARISONS: [Op; 6] = [Op::Eq, Op::Ne, Op::ULt, Op::ULe, Op::SLt, Op::SLe];

const FLOAT_OPS: [Op; 11] = [
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FNeg,
    Op::FToSigned,
    Op::FToUnsigned,
    Op::SignedToF,
    Op::UnsignedToF,
    Op::FToF,
    Op::Math,
];

const FLOAT_COMPARISONS: [Op; 4] = [Op::FEq, Op::FLt, Op::FLe, Op::FUnordered];

/// What Z3 knows exactly, and one it does not.
const FUNCTIONS: [MathFunction; 11] = [
    MathFunction::Fabs,
    MathFunction::Sqrt,
    MathFunction::Floor,
    MathFunction::Ceil,
    MathFunction::Trunc,
    MathFunction::Round,
    MathFunction::RoundEven,
    MathFunction::Fmin,
    MathFunction::Fmax,
    MathFunction::CopySign,
    MathFunction::Exp,
];

struct Builder {
    dag: Dag,
    nodes: Vec<ExprId>,
    widths: &'static [u32],
}

impl Builder {
    fn new(n_bytes: u32, widths: &'static [u32]) -> Self {
        let mut dag = Dag::new();
        let mut nodes: Vec<ExprId> =
            (0..n_bytes).map(|offset| dag.raw(ExprNode::input(STDIN, offset, 8))).collect();
        if n_bytes > 1 {
            nodes.push(dag.raw(ExprNode::input(STDIN, 0, 8 * n_bytes)));
        }
        Self { dag, nodes, widths }
    }

    /// An earlier node, or a constant, in a width.
    fn operand(&mut self, choice: u8, value: u64, width: u32) -> ExprId {
        if choice % 4 == 3 {
            // Small numbers, large ones, and those in between.
            let value = u128::from(value >> (value % 64));
            return self.dag.constant(width, value);
        }
        // The latest are the likeliest, so that expressions get deep.
        let back = usize::from(choice / 4) % self.nodes.len().min(6);
        let id = self.nodes[self.nodes.len() - 1 - back];
        self.fit(id, width, value.is_multiple_of(2))
    }

    fn fit(&mut self, id: ExprId, width: u32, signed: bool) -> ExprId {
        let op = if signed { Op::SExt } else { Op::ZExt };
        match self.dag.width(id) {
            same if same == width => id,
            wider if wider > width => self.dag.raw(ExprNode::extract(id, 0, width)),
            _ => self.dag.raw(ExprNode::operation(op, width, &[id])),
        }
    }

    fn push(&mut self, op: Op, step: Step) -> ExprId {
        let (_, a, b, c, value) = step;
        let width = self.widths[usize::from(c) % self.widths.len()];
        let other = self.widths[usize::from(c / 16) % self.widths.len()];
        let float = |choice: u8| if choice.is_multiple_of(2) { 32 } else { 64 };
        let node = match op {
            Op::Not | Op::Neg | Op::PopCount | Op::LeadingZeros | Op::TrailingZeros => {
                ExprNode::operation(op, width, &[self.operand(a, value, width)])
            }
            Op::ZExt | Op::SExt => {
                let a = self.operand(a, value, width);
                ExprNode::operation(op, width + 8, &[a])
            }
            Op::Extract => {
                let a = self.operand(a, value, width + 8);
                ExprNode::extract(a, u32::from(b) % 9, width)
            }
            Op::Concat => {
                let operands = [self.operand(a, value, width), self.operand(b, value / 3, 8)];
                ExprNode::operation(op, width + 8, &operands)
            }
            Op::Ite => {
                let condition = self.operand(a, value, 1);
                let operands =
                    [condition, self.operand(b, value / 3, width), self.operand(c, value / 5, width)];
                ExprNode::operation(op, width, &operands)
            }
            Op::Table => {
                let bytes: Vec<u8> =
                    (0..=u64::from(c)).map(|n| (n.wrapping_mul(value) >> 7) as u8 ^ b).collect();
                let table = self.dag.add_table(&bytes);
                let offset = self.operand(a, value, 64);
                ExprNode::table(table, offset, if b % 2 == 0 { 8 } else { 16 })
            }
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv => {
                let width = float(c);
                ExprNode::operation(
                    op,
                    width,
                    &[self.number(a, value, width), self.number(b, value / 3, width)],
                )
            }
            Op::FNeg => {
                let width = float(c);
                ExprNode::operation(op, width, &[self.number(a, value, width)])
            }
            Op::FToSigned | Op::FToUnsigned => {
                let a = self.number(a, value, float(b));
                ExprNode::operation(op, other, &[a])
            }
            Op::SignedToF | Op::UnsignedToF => {
                let a = self.operand(a, value, width);
                ExprNode::operation(op, float(b), &[a])
            }
            Op::FToF => {
                let from = float(b);
                let a = self.number(a, value, from);
                ExprNode::operation(op, 96 - from, &[a])
            }
            Op::Math => {
                let function = FUNCTIONS[usize::from(b) % FUNCTIONS.len()];
                let width = float(c);
                let operands = [self.number(a, value, width), self.number(c, value / 3, width)];
                ExprNode::math(function, width, &operands[..function.arity()])
            }
            op if is_comparison(op) && FLOAT_COMPARISONS.contains(&op) => {
                let width = float(c);
                ExprNode::operation(op, 1, &[self.number(a, value, width), self.number(b, value / 3, width)])
            }
            op if is_comparison(op) => {
                let operands = [self.operand(a, value, width), self.operand(b, value / 3, width)];
                ExprNode::operation(op, 1, &operands)
            }
            op => {
                let operands = [self.operand(a, value, width), self.operand(b, value / 3, width)];
                ExprNode::operation(op, width, &operands)
            }
        };
        let id = self.dag.raw(node);
        self.nodes.push(id);
        id
    }

    /// A floating-point number: an earlier one, an integer converted, or a constant.
    fn number(&mut self, choice: u8, value: u64, width: u32) -> ExprId {
        if choice % 4 == 3 {
            let numbers = [0.0, -0.0, 1.0, 2.5, -3.0, 1e10, 1e300, f64::INFINITY, f64::NAN, 0.1];
            let number = numbers[value as usize % numbers.len()];
            let bits =
                if width == 32 { u128::from((number as f32).to_bits()) } else { number.to_bits().into() };
            return self.dag.constant(width, bits);
        }
        let back = usize::from(choice / 4) % self.nodes.len().min(6);
        let id = self.nodes[self.nodes.len() - 1 - back];
        let is_number = matches!(
            self.dag.op(id),
            Op::FAdd
                | Op::FSub
                | Op::FMul
                | Op::FDiv
                | Op::FNeg
                | Op::Math
                | Op::FToF
                | Op::SignedToF
                | Op::UnsignedToF
        );
        match is_number {
            true if self.dag.width(id) == width => id,
            true => self.dag.raw(ExprNode::operation(Op::FToF, width, &[id])),
            false => self.dag.raw(ExprNode::operation(Op::SignedToF, width, &[id])),
        }
    }
}

/// A query over one or two bytes.
struct Random {
    dag: Dag,
    constraints: Vec<ExprId>,
    goal: ExprId,
    n_bytes: u32,
}

impl Random {
    fn new(n_bytes: u32, widths: &'static [u32], steps: &[Step], with_floats: bool) -> Self {
        let mut builder = Builder::new(n_bytes, widths);
        for step in steps {
            let choice = usize::from(step.0);
            let op = match with_floats && choice % 3 != 0 {
                true => FLOAT_OPS[choice / 3 % FLOAT_OPS.len()],
                false => INTEGER_OPS[choice / 3 % INTEGER_OPS.len()],
            };
            builder.push(op, *step);
        }
        let mut conditions = Vec::new();
        for step in steps.iter().take(2) {
            let choice = usize::from(step.3);
            let op = match with_floats && choice % 3 != 0 {
                true => FLOAT_COMPARISONS[choice / 3 % FLOAT_COMPARISONS.len()],
                false => INTEGER_COMPARISONS[choice / 3 % INTEGER_COMPARISONS.len()],
            };
            conditions.push(builder.push(op, *step));
        }
        let goal = conditions.pop().expect("there is a step");
        Self { dag: builder.dag, constraints: conditions, goal, n_bytes }
    }

    /// Whether some input satisfies it, by trying all.
    fn is_sat(&self) -> bool {
        let conditions: Vec<ExprId> = self.constraints.iter().copied().chain([self.goal]).collect();
        let tape = Tape::compile(&self.dag, &conditions);
        let seed = BTreeMap::<RegionId, Vec<u8>>::new();
        let mut machine = tape.machine(&seed);
        (0..1u32 << (8 * self.n_bytes)).any(|input| {
            for (slot, byte) in tape.inputs().iter().enumerate() {
                machine.set(slot, (input >> (8 * byte.offset)) as u8);
            }
            machine.run();
            (0..conditions.len()).all(|root| machine.value(root) == 1)
        })
    }

    fn check(&self, name: &str, is_sat: bool, solver: &mut dyn Solver) -> Result<Answer, TestCaseError> {
        let seed = BTreeMap::<RegionId, Vec<u8>>::new();
        let query = Query {
            dag: &self.dag,
            constraints: &self.constraints,
            n_always: 0,
            goal: self.goal,
            seed: &seed,
        };
        let response = solver.solve(&query, BUDGET);
        let text = || {
            let conditions: Vec<String> =
                self.constraints.iter().chain([&self.goal]).map(|id| print(&self.dag, *id)).collect();
            format!("{name} says {:?} of\n{}", response.answer, conditions.join("\n"))
        };
        match &response.answer {
            Answer::Sat(model) => prop_assert!(query.holds(model), "{}", text()),
            Answer::Unsat => prop_assert!(!is_sat, "{}", text()),
            Answer::Unknown(_) => {}
        }
        Ok(response.answer)
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(any::<Step>(), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers_of_one_byte(steps in steps()) {
        let random = Random::new(1, &[1, 3, 8, 16, 32, 64, 100], &steps, false);
        let is_sat = random.is_sat();
        random.check("input-to-state", is_sat, &mut InputToState)?;
        let by_search = random.check("search", is_sat, &mut Search::new(0))?;
        // One byte is always tried completely.
        prop_assert!(!matches!(by_search, Answer::Unknown(_)), "{by_search:?}");
        SMT.with_borrow_mut(|smt| random.check("z3", is_sat, smt))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers_of_two_bytes(steps in steps()) {
        let random = Random::new(2, &[4, 8, 16, 32], &steps, false);
        let is_sat = random.is_sat();
        random.check("input-to-state", is_sat, &mut InputToState)?;
        random.check("search", is_sat, &mut Search::new(0))?;
        SMT.with_borrow_mut(|smt| random.check("z3", is_sat, smt))?;
    }

    #[test]
    fn floating_point(steps in steps()) {
        let random = Random::new(1, &[8, 16, 32, 64, 80], &steps, true);
        let is_sat = random.is_sat();
        random.check("input-to-state", is_sat, &mut InputToState)?;
        random.check("search", is_sat, &mut Search::new(0))?;
        SMT.with_borrow_mut(|smt| random.check("z3", is_sat, smt))?;
    }
}
