//! Operations undone, one by one, from a wanted value to the bytes of the input.
//!
//! A [`Demand`] says which bits of an expression should have which value. [`ways`] turns it into demands on its operands,
//! in several alternative ways: where two operands depend on the input, one keeps the value it has. [`Inversion`] follows
//! all ways down to input bytes and returns assignments, likeliest first. They are candidates: an operand that keeps its
//! value in one place may change through a byte it shares with another, so every assignment has to be evaluated.
//!
//! This is what Redqueen calls input-to-state correspondence (<https://www.ndss-symposium.org/ndss-paper/redqueen-fuzzing-with-input-to-state-correspondence/>),
//! with the operations between input and state known instead of guessed.

mod floats;
mod integers;
mod truth;

use crate::terms::is_floating;
use cairn_expr::{Dag, ExprId, InputByte, Op, mask};

/// The bits of `node` in `mask` should be those of `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// What should have the value.
    pub node: ExprId,
    /// The value; bits outside the mask do not matter.
    pub value: u128,
    /// Which bits matter.
    pub mask: u128,
}

impl Demand {
    /// All bits of `node` should be those of `value`.
    pub fn whole(dag: &Dag, node: ExprId, value: u128) -> Self {
        let mask = mask(dag.width(node));
        Self { node, value: value & mask, mask }
    }
}

/// The values expressions have now.
pub type Values<'a> = dyn FnMut(ExprId) -> u128 + 'a;

/// Whether a byte may get a value.
pub type Allowed<'a> = dyn Fn(InputByte, u8) -> bool + 'a;

/// New values of some bytes.
pub type Assignment = Vec<(InputByte, u8)>;

/// A walk over all ways to meet a demand.
pub struct Inversion {
    open: Vec<State>,
    n_steps: usize,
    max_steps: usize,
    waypoints: Vec<Demand>,
    stops: fn(&Dag, ExprId) -> bool,
    stopped: Vec<Demand>,
}

#[derive(Clone, Default)]
struct State {
    demands: Vec<Demand>,
    bytes: Vec<AssignedByte>,
}

#[derive(Clone, Copy)]
struct AssignedByte {
    place: InputByte,
    value: u8,
    mask: u8,
}

impl Inversion {
    /// Will meet `demand`, in at most `max_steps` steps from one operation to the next.
    pub fn new(demand: Demand, max_steps: usize) -> Self {
        Self {
            open: vec![State { demands: vec![demand], bytes: Vec::new() }],
            n_steps: 0,
            max_steps,
            waypoints: Vec::new(),
            stops: |_, _| false,
            stopped: Vec::new(),
        }
    }

    /// Goes no further than expressions of which `stops` is true; what was asked of them is told by [`Inversion::stopped`].
    pub fn up_to(self, stops: fn(&Dag, ExprId) -> bool) -> Self {
        Self { stops, ..self }
    }

    /// The next assignment; bits nobody asked for keep their value. None when all ways, or all steps, are used up.
    pub fn next(&mut self, dag: &Dag, values: &mut Values<'_>, allowed: &Allowed<'_>) -> Option<Assignment> {
        while let Some(mut state) = self.open.pop() {
            if self.n_steps == self.max_steps {
                return None;
            }
            self.n_steps += 1;
            let Some(demand) = state.demands.pop() else {
                let assignment: Assignment =
                    state.bytes.iter().map(|byte| (byte.place, byte.value)).collect();
                if !assignment.is_empty() && assignment.iter().all(|(place, value)| allowed(*place, *value)) {
                    return Some(assignment);
                }
                continue;
            };
            if dag.op(demand.node) == Op::Input {
                if state.assign(dag, demand, values) {
                    self.open.push(state);
                }
                continue;
            }
            if (self.stops)(dag, demand.node) {
                if !self.stopped.contains(&demand) {
                    self.stopped.push(demand);
                }
                self.open.push(state);
                continue;
            }
            if is_mixture(dag, demand) && !self.waypoints.contains(&demand) {
                self.waypoints.push(demand);
            }
            // The last is followed first.
            for way in ways(dag, values, demand).into_iter().rev() {
                let mut next = state.clone();
                next.demands.extend(way);
                self.open.push(next);
            }
        }
        None
    }
}

impl Inversion {
    /// The demands met so far on values that mix several bytes. Where undoing them one byte at a time fails, they may be
    /// solved as equations.
    pub fn waypoints(&self) -> &[Demand] {
        &self.waypoints
    }

    /// The demands met so far on expressions where it goes no further.
    pub fn stopped(&self) -> &[Demand] {
        &self.stopped
    }
}

fn is_mixture(dag: &Dag, demand: Demand) -> bool {
    let width = dag.width(demand.node);
    matches!(dag.op(demand.node), Op::Add | Op::Sub | Op::Xor)
        && (8..=64).contains(&width)
        && demand.mask == mask(width)
        && !dag.is_fixed(demand.node)
        && dag.reads_together(demand.node).is_none_or(|range| range.end - range.start > 1)
}

impl State {
    /// Gives bytes of the input their values, unless others were given before.
    fn assign(&mut self, dag: &Dag, demand: Demand, values: &mut Values<'_>) -> bool {
        let node = dag.node(demand.node);
        let (region, offset) = node.place();
        let current = values(demand.node);
        for n in 0..node.width() / 8 {
            let shift = 8 * n;
            let (value, mask) = ((demand.value >> shift) as u8, (demand.mask >> shift) as u8);
            if mask == 0 {
                continue;
            }
            let place = InputByte { region, offset: offset + n };
            match self.bytes.iter_mut().find(|byte| byte.place == place) {
                Some(known) if (known.value ^ value) & known.mask & mask != 0 => return false,
                Some(known) => {
                    known.value = known.value & !mask | value & mask;
                    known.mask |= mask;
                }
                None => {
                    let value = (current >> shift) as u8 & !mask | value & mask;
                    self.bytes.push(AssignedByte { place, value, mask });
                }
            }
        }
        true
    }
}

/// The ways to meet a demand on anything but an input: each a list of demands on operands, likeliest first.
fn ways(dag: &Dag, values: &mut Values<'_>, demand: Demand) -> Vec<Vec<Demand>> {
    let current = values(demand.node);
    if (current ^ demand.value) & demand.mask == 0 {
        return vec![Vec::new()];
    }
    if dag.is_fixed(demand.node) {
        return Vec::new();
    }
    let node = dag.node(demand.node);
    match node.op() {
        op if cairn_expr::is_comparison(op) => truth::ways(dag, values, node, demand.value & 1 == 1),
        op if is_floating(op) => {
            let whole = current & !demand.mask | demand.value & demand.mask;
            floats::ways(dag, values, node, whole)
        }
        _ => integers::ways(dag, values, node, demand, current),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::{RegionId, evaluate, parse};
    use expect_test::{Expect, expect};

    /// The first assignments for a condition, on an input of zeros, and whether each makes it hold.
    fn check(text: &str, expected: Expect) {
        let mut dag = Dag::new();
        let id = parse(&mut dag, text).unwrap();
        let zeros = |_, _| 0u8;
        let mut inversion = Inversion::new(Demand::whole(&dag, id, 1), 500);
        let mut lines = Vec::new();
        for _ in 0..3 {
            let next = inversion.next(&dag, &mut |id| evaluate(&dag, id, &zeros), &|_, _| true);
            let Some(mut assignment) = next else { break };
            assignment.sort_unstable();
            let changed = |region: RegionId, offset: u32| {
                let wanted = InputByte { region, offset };
                assignment.iter().find(|(byte, _)| *byte == wanted).map_or(0, |(_, value)| *value)
            };
            let holds = evaluate(&dag, id, &changed) == 1;
            let bytes: Vec<String> =
                assignment.iter().map(|(byte, value)| format!("{}:{value:02x}", byte.offset)).collect();
            lines.push(format!("{} {}", bytes.join(" "), if holds { "holds" } else { "fails" }));
        }
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn arithmetic_is_undone() {
        check("(eq (add (input stdin 0 16) (const 16 1)) (const 16 0))", expect!["0:ff 1:ff holds"]);
        check("(eq (mul (input stdin 0 16) (const 16 33)) (const 16 5))", expect!["0:65 1:93 holds"]);
        check("(eq (neg (not (input stdin 0 8))) (const 8 7))", expect!["0:06 holds"]);
        check(
            "(eq (udiv (input stdin 0 16) (const 16 10)) (const 16 100))",
            expect![[r#"
                0:e8 1:03 holds
                0:e8 1:03 holds"#]],
        );
    }

    #[test]
    fn only_the_bits_asked_for_change() {
        check("(eq (extract 4 4 (input stdin 0 16)) (const 4 9))", expect!["0:90 holds"]);
        check(
            "(eq (and (input stdin 0 32) (const 32 0xff00)) (const 32 0x4200))",
            expect![[r#"
            1:42 holds
            1:42 holds"#]],
        );
        check("(eq (lshr (input stdin 0 16) (const 16 12)) (const 16 5))", expect!["1:50 holds"]);
    }

    #[test]
    fn parts_that_do_not_overlap_get_their_bits() {
        check(
            "(eq (or (shl (zext 16 (input stdin 0 8)) (const 16 8)) (zext 16 (input stdin 1 8))) (const 16 0x4142))",
            expect!["0:41 1:42 holds"],
        );
    }

    #[test]
    fn what_cannot_be_has_no_assignment() {
        check("(eq (zext 16 (input stdin 0 8)) (const 16 256))", expect![""]);
        check("(eq (shl (input stdin 0 8) (const 8 1)) (const 8 3))", expect![""]);
        check("(eq (and (input stdin 0 8) (const 8 4)) (const 8 3))", expect![""]);
    }

    #[test]
    fn a_byte_asked_for_twice_is_given_one_value() {
        check("(eq (concat (input stdin 0 8) (input stdin 0 8)) (const 16 0x4142))", expect![""]);
        check("(eq (concat (input stdin 0 8) (input stdin 0 8)) (const 16 0x4141))", expect!["0:41 holds"]);
    }

    #[test]
    fn conditions_choose_their_arm_and_tables_their_entry() {
        check(
            "(eq (ite (ult (input stdin 0 8) (const 8 10)) (const 8 1) (const 8 2)) (const 8 2))",
            expect![[r#"
                0:0a holds
                0:ff holds
                0:85 holds"#]],
        );
        check(
            "(let (($t (bytes 0a141e28))) (eq (table 8 $t (zext 64 (input stdin 0 8))) (const 8 30)))",
            expect!["0:02 holds"],
        );
    }

    #[test]
    fn conversions_are_undone() {
        check(
            "(feq (fmul (signedtof 64 (input stdin 0 16)) (const 64 0x3fe0000000000000)) (const 64 0xbff8000000000000))",
            expect![[r#"
                0:fd 1:ff holds
                0:fe 1:ff fails
                0:fd 1:ff holds"#]],
        );
        check("(eq (ftosigned 32 (input stdin 0 32)) (const 32 3))", expect!["0:00 1:00 2:40 3:40 holds"]);
    }
}
