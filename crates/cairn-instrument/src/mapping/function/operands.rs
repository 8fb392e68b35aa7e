//! Operands of `&&` and `||` whose result is branched on at once.

use crate::ir::{Definition, IrFunction, IrKind};

/// A branch that follows an operand.
#[derive(Debug, PartialEq, Eq)]
pub struct Test {
    /// The block that ends with the branch.
    pub branch: usize,
    /// The way out, 0 for true, that is taken exactly when the operand was computed and is `when`.
    pub way: usize,
    /// A value of the operand.
    pub when: bool,
}

/// The branch on the phi that `block` hands its operand `value` to, if nothing lies between that could end the program:
///
/// ```text
/// block:
///   %value = …
///   br label %end
/// end:
///   %phi = phi i1 [ false, %elsewhere ], [ %value, %block ]
///   br i1 %phi, label %body, label %after        ; to the body exactly when %value is true
/// ```
pub fn test_of(function: &IrFunction, block: usize, value: Definition) -> Option<Test> {
    let IrKind::Jump(branch) = function.blocks[block].end() else { return None };
    let end = &function.blocks[*branch];
    let IrKind::Branch(Some(condition), _) = end.end() else { return None };
    let mut tested = *condition;
    let mut is_negated = false;
    while let IrKind::Not(Some(inner)) = kind(function, tested) {
        tested = *inner;
        is_negated = !is_negated;
    }
    let IrKind::BoolPhi { incoming, constant: Some(constant) } = kind(function, tested) else { return None };
    let mut computed = incoming.iter().filter(|(value, _)| value.is_some());
    if tested.block != *branch || computed.next() != Some(&(Some(value), block)) || computed.next().is_some()
    {
        return None;
    }
    let passes = |kind: &IrKind| {
        matches!(
            kind,
            IrKind::BoolPhi { .. } | IrKind::Not(_) | IrKind::Other { can_crash: false } | IrKind::Branch(..)
        )
    };
    let when = !constant;
    end.instructions.iter().all(|instruction| passes(&instruction.kind)).then_some(Test {
        branch: *branch,
        way: usize::from(when == is_negated),
        when,
    })
}

fn kind(function: &IrFunction, at: Definition) -> &IrKind {
    &function.blocks[at.block].instructions[at.instruction].kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Callee, IrBlock, IrInstruction};

    /// Block 0 jumps to 1 (operand) or 2; 1 jumps to 2; 2 has a phi and branches on it to 3 or 4.
    fn check(constant: Option<bool>, between: Option<IrKind>, is_negated: bool) -> Option<Test> {
        let operand = Definition { block: 1, instruction: 0 };
        let incoming = vec![(None, 0), (Some(operand), 1)];
        let mut end = vec![IrKind::BoolPhi { incoming, constant }];
        end.extend(between);
        if is_negated {
            end.push(IrKind::Not(Some(Definition { block: 2, instruction: 0 })));
        }
        let tested = if is_negated { end.len() - 1 } else { 0 };
        end.push(IrKind::Branch(Some(Definition { block: 2, instruction: tested }), [3, 4]));
        let blocks = vec![
            vec![IrKind::Branch(None, [1, 2])],
            vec![IrKind::Other { can_crash: false }, IrKind::Jump(2)],
            end,
        ];
        let block = |kinds: Vec<IrKind>| IrBlock {
            instructions: kinds.into_iter().map(|kind| IrInstruction { place: None, kind }).collect(),
        };
        let function = IrFunction {
            symbol: "f".into(),
            source: None,
            blocks: blocks.into_iter().map(block).collect(),
            is_naked: false,
            address_taken: false,
            signature: String::new(),
        };
        test_of(&function, 1, operand)
    }

    #[test]
    fn the_body_of_a_loop_on_both_is_entered_when_the_last_operand_is_true() {
        assert_eq!(check(Some(false), None, false), Some(Test { branch: 2, way: 0, when: true }));
    }

    #[test]
    fn a_loop_on_either_is_left_when_the_last_operand_is_false() {
        assert_eq!(check(Some(true), None, false), Some(Test { branch: 2, way: 1, when: false }));
    }

    #[test]
    fn a_negation_swaps_the_ways() {
        assert_eq!(check(Some(false), None, true), Some(Test { branch: 2, way: 1, when: true }));
    }

    #[test]
    fn mixed_constants_and_what_could_end_the_program_in_between_prove_nothing() {
        assert_eq!(check(None, None, false), None);
        assert_eq!(check(Some(false), Some(IrKind::Other { can_crash: true }), false), None);
        assert_eq!(check(Some(false), Some(IrKind::Call(Callee::Intrinsic)), false), None);
    }
}
