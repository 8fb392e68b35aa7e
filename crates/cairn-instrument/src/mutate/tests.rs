//! Woven functions, optimised with one mutant active: what is left is the mutant.

use super::{
    resolve::resolve,
    switched::{Weave, Weaver},
};
use crate::{
    anchors::{Anchor, AnchoredFunction, At, LogicalAt, LogicalResult, OperandAt},
    emit,
    ir::{Definition, walk_functions},
};
use cairn_model::{
    FunctionId, SiteId,
    mutants::{BinaryOperation, Change, Comparison, Formula, LogicalChange, Node, UnaryOperation, ValueType},
};
use cairn_mutants::site::{MutableFunction, Operand, Role, Spot};
use expect_test::{Expect, expect};
use inkwell::{context::Context, llvm_sys::core::*, memory_buffer::MemoryBuffer, values::AnyValue as _};

const INT: ValueType = ValueType::Int { bits: 32, is_signed: true };

fn at(block: usize, instruction: usize) -> Definition {
    Definition { block, instruction }
}

fn check(text: &str, anchor: Anchor, value_type: ValueType, change: Change, expected: Expect) {
    let context = Context::create();
    let text = format!("target triple = \"x86_64-unknown-linux-gnu\"\n{text}");
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "text");
    let module = context.create_module_from_ir(buffer).expect("the text is a module");
    let function = walk_functions(&module)[0];
    let operand = Operand { site: None, value_type: INT, constant: None, is_pure: true };
    let spot = Spot {
        site: SiteId(0),
        role: Role::Value,
        value_type,
        operands: vec![operand; anchor.operands.len()],
        visible: Vec::new(),
        siblings: Vec::new(),
    };
    let mutable = MutableFunction { function: FunctionId(0), spots: vec![spot], variables: Vec::new() };
    let anchored = AnchoredFunction {
        defined_at: Default::default(),
        members: vec![0],
        mutable,
        anchors: vec![anchor],
        variables: Vec::new(),
    };
    let weave = Weave { spot: 0, value_type, number: 0, first_selector: 7, changes: vec![&change] };
    // SAFETY: the anchor was written for this text.
    unsafe {
        let raw = module.as_mut_ptr();
        let context = LLVMGetModuleContext(raw);
        let builder = LLVMCreateBuilderInContext(context);
        let weaver = Weaver { module: raw, context, builder, observes: false, count_way: &|_| {} };
        let active = LLVMConstInt(LLVMInt32TypeInContext(context), 7, 0);
        let resolved = resolve(raw, function, &anchored);
        let misfits = weaver.weave(&resolved, &[weave], Some(active), active);
        LLVMDisposeBuilder(builder);
        assert!(misfits.is_empty(), "the change does not fit");
    }
    emit::optimise(&module).expect("the module is whole");
    let printed = module.get_first_function().expect("there is one").print_to_string().to_string();
    let body: Vec<&str> = printed.lines().skip(1).collect();
    expected.assert_eq(&body.join("\n"));
}

/// `if (left() && right()) return 1; return 0;`, with branches.
const AND: &str = r#"
    define i32 @f() {
    entry:
      %a = call i32 @left()
      %ta = icmp ne i32 %a, 0
      br i1 %ta, label %rhs, label %no
    rhs:
      %b = call i32 @right()
      %tb = icmp ne i32 %b, 0
      br i1 %tb, label %yes, label %no
    yes:
      ret i32 1
    no:
      ret i32 0
    }
    declare i32 @left()
    declare i32 @right()
"#;

fn and_with_branches() -> Anchor {
    Anchor {
        at: At::Logical(LogicalAt {
            is_and: true,
            left_true: vec![(0, 0)],
            left_false: vec![(0, 1)],
            right: 1,
            result: LogicalResult::Branches {
                right_true: vec![(1, 0)],
                right_false: vec![(1, 1)],
                when_true: 2,
                when_false: 3,
            },
        }),
        operands: vec![OperandAt::Operand(at(0, 1), 0), OperandAt::Operand(at(1, 1), 0)],
    }
}

fn check_and(change: LogicalChange, expected: Expect) {
    check(AND, and_with_branches(), ValueType::Bool, Change::Logical(change), expected);
}

#[test]
fn and_becomes_or() {
    check_and(
        LogicalChange::Swap,
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %ta.not = icmp eq i32 %a, 0
          br i1 %ta.not, label %rhs, label %common.ret

        rhs:                                              ; preds = %cairn.before
          %b = tail call i32 @right()
          %tb.not = icmp ne i32 %b, 0
          %spec.select = zext i1 %tb.not to i32
          br label %common.ret

        common.ret:                                       ; preds = %rhs, %cairn.before
          %common.ret.op = phi i32 [ 1, %cairn.before ], [ %spec.select, %rhs ]
          ret i32 %common.ret.op
        }"#]],
    );
}

#[test]
fn and_is_negated() {
    check_and(
        LogicalChange::Negate,
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %ta.not = icmp eq i32 %a, 0
          br i1 %ta.not, label %common.ret, label %cairn.before2

        cairn.before2:                                    ; preds = %cairn.before
          %b = tail call i32 @right()
          %tb.not = icmp eq i32 %b, 0
          %spec.select = zext i1 %tb.not to i32
          br label %common.ret

        common.ret:                                       ; preds = %cairn.before2, %cairn.before
          %common.ret.op = phi i32 [ 1, %cairn.before ], [ %spec.select, %cairn.before2 ]
          ret i32 %common.ret.op
        }"#]],
    );
}

#[test]
fn and_becomes_its_left_side() {
    check_and(
        LogicalChange::Left,
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %ta.not = icmp ne i32 %a, 0
          %common.ret.op = zext i1 %ta.not to i32
          ret i32 %common.ret.op
        }"#]],
    );
}

#[test]
fn and_becomes_its_right_side() {
    check_and(
        LogicalChange::Right,
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %b = tail call i32 @right()
          %tb.not = icmp ne i32 %b, 0
          %common.ret.op = zext i1 %tb.not to i32
          ret i32 %common.ret.op
        }"#]],
    );
}

#[test]
fn and_becomes_a_sum() {
    let sum = Formula {
        nodes: vec![
            Node::Operand(0),
            Node::Operand(1),
            Node::Binary(BinaryOperation::Add, 0, 1),
            Node::Integer(INT, 0),
            Node::Compare(Comparison::NotEqual, 2, 3),
        ],
    };
    check_and(
        LogicalChange::Both(sum),
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %b = tail call i32 @right()
          %0 = sub i32 0, %b
          %.not = icmp ne i32 %a, %0
          %common.ret.op = zext i1 %.not to i32
          ret i32 %common.ret.op
        }"#]],
    );
}

/// `return left() || right();`, with a phi.
const OR: &str = r#"
    define i32 @f() {
    entry:
      %a = call i32 @left()
      %ta = icmp ne i32 %a, 0
      br i1 %ta, label %end, label %rhs
    rhs:
      %b = call i32 @right()
      %tb = icmp ne i32 %b, 0
      br label %end
    end:
      %v = phi i1 [ true, %entry ], [ %tb, %rhs ]
      %e = zext i1 %v to i32
      ret i32 %e
    }
    declare i32 @left()
    declare i32 @right()
"#;

fn or_with_phi() -> Anchor {
    Anchor {
        at: At::Logical(LogicalAt {
            is_and: false,
            left_true: vec![(0, 0)],
            left_false: vec![(0, 1)],
            right: 1,
            result: LogicalResult::Phi { phi: at(2, 0), from: 1, extended: Some(at(2, 1)) },
        }),
        operands: vec![OperandAt::Operand(at(0, 1), 0), OperandAt::Operand(at(1, 1), 0)],
    }
}

fn check_or(change: LogicalChange, expected: Expect) {
    check(OR, or_with_phi(), INT, Change::Logical(change), expected);
}

#[test]
fn or_becomes_and() {
    check_or(
        LogicalChange::Swap,
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %ta.not = icmp eq i32 %a, 0
          br i1 %ta.not, label %end, label %rhs

        rhs:                                              ; preds = %cairn.before
          %b = tail call i32 @right()
          %tb = icmp ne i32 %b, 0
          br label %end

        end:                                              ; preds = %cairn.before, %rhs
          %v = phi i1 [ %tb, %rhs ], [ false, %cairn.before ]
          %e = zext i1 %v to i32
          ret i32 %e
        }"#]],
    );
}

#[test]
fn or_is_negated() {
    check_or(
        LogicalChange::Negate,
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %ta.not = icmp eq i32 %a, 0
          br i1 %ta.not, label %rhs, label %end

        rhs:                                              ; preds = %cairn.before
          %b = tail call i32 @right()
          %tb.not = icmp eq i32 %b, 0
          br label %end

        end:                                              ; preds = %cairn.before, %rhs
          %v = phi i1 [ %tb.not, %rhs ], [ false, %cairn.before ]
          %e = zext i1 %v to i32
          ret i32 %e
        }"#]],
    );
}

#[test]
fn or_becomes_its_left_side() {
    check_or(
        LogicalChange::Left,
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %ta = icmp ne i32 %a, 0
          %e = zext i1 %ta to i32
          ret i32 %e
        }"#]],
    );
}

#[test]
fn or_becomes_a_product() {
    let product = Formula {
        nodes: vec![Node::Operand(0), Node::Operand(1), Node::Binary(BinaryOperation::Multiply, 0, 1)],
    };
    check_or(
        LogicalChange::Both(product),
        expect![[r#"
        cairn.before:
          %a = tail call i32 @left()
          %b = tail call i32 @right()
          %0 = mul i32 %b, %a
          ret i32 %0
        }"#]],
    );
}

const DIVISION: &str = r#"
    define i32 @f(i32 %x, i32 %y) {
      %d = sdiv i32 %x, %y
      ret i32 %d
    }
"#;

fn division() -> Anchor {
    Anchor {
        at: At::Result(at(0, 0)),
        operands: vec![OperandAt::Operand(at(0, 0), 0), OperandAt::Operand(at(0, 0), 1)],
    }
}

#[test]
fn a_mutant_without_division_does_not_divide() {
    let sum =
        Formula { nodes: vec![Node::Operand(0), Node::Operand(1), Node::Binary(BinaryOperation::Add, 0, 1)] };
    check(
        DIVISION,
        division(),
        INT,
        Change::Value(sum),
        expect![[r#"
        define i32 @f(i32 %x, i32 %y) local_unnamed_addr #0 {
        cairn.before:
          %0 = add i32 %y, %x
          ret i32 %0
        }"#]],
    );
}

#[test]
fn a_mutant_that_divides_by_zero_raises_a_signal() {
    let remainder = Formula {
        nodes: vec![
            Node::Operand(0),
            Node::Operand(1),
            Node::Binary(BinaryOperation::UnsignedRemainder, 0, 1),
        ],
    };
    check(
        DIVISION,
        division(),
        INT,
        Change::Value(remainder),
        expect![[r#"
            cairn.before:
              %0 = icmp eq i32 %y, 0
              br i1 %0, label %cairn.bad, label %cairn.good

            cairn.bad:                                        ; preds = %cairn.before
              tail call void asm sideeffect "xorl %ecx, %ecx\0A\09divl %ecx", "~{eax},~{ecx},~{edx},~{dirflag},~{fpsr},~{flags}"() #0
              unreachable

            cairn.good:                                       ; preds = %cairn.before
              %1 = tail call i32 asm "", "=r,0"(i32 %y) #1
              %2 = urem i32 %x, %1
              ret i32 %2
            }"#]],
    );
}

#[test]
fn a_divisor_that_becomes_zero_is_divided_by() {
    let anchor = Anchor { at: At::Operand(at(0, 0), 1), operands: Vec::new() };
    let zero = Formula { nodes: vec![Node::Integer(INT, 0)] };
    check(
        DIVISION,
        anchor,
        INT,
        Change::Value(zero),
        expect![[r#"
        define i32 @f(i32 %x, i32 %y) local_unnamed_addr #0 {
        cairn.before:
          %0 = tail call i32 asm "", "=r,0"(i32 0) #1
          %d = sdiv i32 %x, %0
          ret i32 %d
        }"#]],
    );
}

#[test]
fn a_value_is_replaced_where_it_is_used() {
    let text = r#"
        define i32 @f(i32 %x) {
          %v = alloca i32
          store i32 %x, ptr %v
          %r = load i32, ptr %v
          %s = add nsw i32 %r, %r
          ret i32 %s
        }
    "#;
    let anchor = Anchor { at: At::Result(at(0, 2)), operands: Vec::new() };
    let negated = Formula { nodes: vec![Node::Original, Node::Unary(UnaryOperation::Negate, 0)] };
    check(
        text,
        anchor,
        INT,
        Change::Value(negated),
        expect![[r#"
        define i32 @f(i32 %x) local_unnamed_addr #0 {
        cairn.before:
          %.neg = mul i32 %x, -2
          ret i32 %.neg
        }"#]],
    );
}

#[test]
fn an_amount_that_becomes_too_large_is_taken_modulo_the_width() {
    let text = r#"
        define i32 @f(i32 %x) {
          %s = shl i32 %x, 1
          ret i32 %s
        }
    "#;
    let anchor = Anchor { at: At::Operand(at(0, 0), 1), operands: Vec::new() };
    let minus_one = Formula { nodes: vec![Node::Integer(INT, -1)] };
    check(
        text,
        anchor,
        INT,
        Change::Value(minus_one),
        expect![[r#"
            define range(i32 0, -2147483647) i32 @f(i32 %x) local_unnamed_addr #0 {
            cairn.before:
              %s = shl i32 %x, 31
              ret i32 %s
            }"#]],
    );
}

#[test]
fn only_the_anchored_operand_is_replaced() {
    let text = r#"
        define i32 @f(i32 %x) {
          %s = mul nsw i32 %x, 3
          %t = add nsw i32 %s, 3
          ret i32 %t
        }
    "#;
    let anchor = Anchor { at: At::Operand(at(0, 0), 1), operands: Vec::new() };
    let one = Formula { nodes: vec![Node::Integer(INT, 1)] };
    check(
        text,
        anchor,
        INT,
        Change::Value(one),
        expect![[r#"
        define i32 @f(i32 %x) local_unnamed_addr #0 {
        cairn.before:
          %t = add i32 %x, 3
          ret i32 %t
        }"#]],
    );
}

#[test]
fn arrays_of_variable_length_start_as_zero() {
    let text = r#"
        define i32 @f(i64 %n, i32 %m, i64 %at) {
        entry:
          %array = alloca i32, i64 %n, align 16
          %bytes = alloca i8, i32 %m, align 16
          %element = getelementptr inbounds i32, ptr %array, i64 %at
          %value = load i32, ptr %element, align 4
          %sum = add i32 %value, 1
          call void @use(ptr %array, ptr %bytes)
          ret i32 %sum
        }
        declare void @use(ptr, ptr)
    "#;
    let anchor = Anchor { at: At::Result(at(0, 4)), operands: vec![OperandAt::Operand(at(0, 4), 0)] };
    let change = Change::Value(Formula { nodes: vec![Node::Operand(0)] });
    check(
        text,
        anchor,
        INT,
        change,
        expect![[r#"
        cairn.before:
          %array = alloca i32, i64 %n, align 16
          %0 = zext i32 %m to i64
          %bytes = alloca i8, i64 %0, align 16
          %1 = shl i64 %n, 2
          call void @llvm.memset.p0.i64(ptr nonnull align 16 %array, i8 0, i64 %1, i1 false)
          call void @llvm.memset.p0.i64(ptr nonnull align 16 %bytes, i8 0, i64 %0, i1 false)
          %element = getelementptr i32, ptr %array, i64 %at
          %value = load i32, ptr %element, align 4
          call void @use(ptr nonnull %array, ptr nonnull %bytes)
          ret i32 %value
        }"#]],
    );
}

#[test]
fn a_loop_that_becomes_endless_stays() {
    let text = r#"
        define i32 @f(i32 %n) mustprogress {
        entry:
          br label %loop
        loop:
          %i = phi i32 [ 0, %entry ], [ %next, %loop ]
          %next = add nsw i32 %i, 1
          %goes_on = icmp slt i32 %next, %n
          br i1 %goes_on, label %loop, label %end, !llvm.loop !0
        end:
          ret i32 %next
        }
        !0 = distinct !{!0, !1}
        !1 = !{!"llvm.loop.mustprogress"}
    "#;
    let anchor = Anchor { at: At::Result(at(1, 2)), operands: vec![OperandAt::Operand(at(1, 2), 0)] };
    let always = Change::Value(Formula { nodes: vec![Node::Integer(ValueType::Bool, 1)] });
    check(
        text,
        anchor,
        ValueType::Bool,
        always,
        expect![[r#"
        define noundef i32 @f(i32 %n) local_unnamed_addr #0 {
        entry:
          br label %cairn.before

        cairn.before:                                     ; preds = %cairn.before, %entry
          br label %cairn.before
        }"#]],
    );
}
