//! Labels of what is computed.
//!
//! Called by instrumented code with the labels of operands, their values and the result. Simple things are simplified at once,
//! because that saves nodes; the host simplifies the rest.

use super::{
    nodes::{intern, is_on, node},
    sources,
};
use cairn_abi::symbolic::{MathFunction, Op, RegionId, intrinsic::Intrinsic};

/// The lowest `width` bits.
pub fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The label of a constant.
pub fn constant(width: u32, value: u64) -> u32 {
    intern(Op::Constant, width, [0; 3], value & mask(width))
}

/// The label of a byte of the input.
pub fn input(region: RegionId, offset: u32, width: u32, value: u64) -> u32 {
    intern(Op::Input, width, [region.0, offset, 0], value & mask(width))
}

fn or_constant(label: u32, width: u32, value: u64) -> u32 {
    if label == 0 { constant(width, value) } else { label }
}

/// A number of bits that may be more than 64, of which the runtime knows the lowest.
fn or_wide_constant(label: u32, width: u32, low: u64, high: u64) -> u32 {
    if label != 0 {
        return label;
    }
    let (high, low_label) = (constant(width - 64, high), constant(64, low));
    intern(Op::Concat, width, [high, low_label, 0], low)
}

fn is_comparison(op: Op) -> bool {
    matches!(op as u8, 32..=37 | 70..=73)
}

fn op_of(code: u32) -> Op {
    // The instrumenter writes constants; anything else would be a bug of ours.
    Op::from_target(code as u8).unwrap_or(Op::Opaque)
}

/// An operation on two values.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_binary(code: u32, a: u32, b: u32, left: u64, right: u64, value: u64) -> u32 {
    if a | b == 0 || !is_on() {
        return 0;
    }
    binary(op_of(code), code >> 8, [a, b], [left, right], value)
}

/// The label of an operation on two values of `width` bits; `Concat` is given its own width.
pub fn binary(op: Op, width: u32, labels: [u32; 2], values: [u64; 2], value: u64) -> u32 {
    if let Op::Concat = op {
        // The width of the upper part is what is left.
        let low = if labels[1] == 0 { 64 } else { u32::from(node(labels[1]).width) };
        let parts = [or_constant(labels[0], width - low, values[0]), or_constant(labels[1], low, values[1])];
        return concat(parts[0], parts[1], width, value);
    }
    let labels = match without_line(op, width, labels, values) {
        Ok(labels) => labels,
        Err(answer) => return answer,
    };
    let [a, b] = [or_constant(labels[0], width, values[0]), or_constant(labels[1], width, values[1])];
    let result_width = if is_comparison(op) { 1 } else { width };
    if width == 32
        && let Some(label) = compare_with_end(op, labels, values)
    {
        return label;
    }
    // `x == 1` and `x != 0` of a truth value are that value.
    if width == 1 && labels[1] == 0 && labels[0] != 0 {
        match (op, values[1] & 1) {
            (Op::Eq, 1) | (Op::Ne, 0) => return a,
            (Op::Eq, 0) | (Op::Ne, 1) | (Op::Xor, 1) => return not(a),
            _ => {}
        }
    }
    intern(op, result_width, [a, b, 0], value & mask(result_width))
}

/// A comparison that is about whether a byte is there at all: see [`sources::is_there`].
fn compare_with_end(op: Op, labels: [u32; 2], values: [u64; 2]) -> Option<u32> {
    const END: u64 = u32::MAX as u64;
    let (label, is_there) = match (op, labels, values.map(|value| value & END)) {
        (Op::Eq, [label, 0] | [0, label], [_, END] | [END, _]) => (label, false),
        (Op::Ne, [label, 0] | [0, label], [_, END] | [END, _]) => (label, true),
        (Op::SLt, [label, 0], [_, 0]) | (Op::SLe, [label, 0], [_, END]) => (label, false),
        (Op::SLt, [0, label], [END, _]) | (Op::SLe, [0, label], [0, _]) => (label, true),
        _ => return None,
    };
    let there = sources::is_there(label)?;
    Some(if is_there { there } else { not(there) })
}

/// The labels of operands without those of functions that read lines: see [`sources::line_result`]. Or the label of the whole
/// operation, if it asks whether a line came or nothing else has a label.
fn without_line(op: Op, width: u32, mut labels: [u32; 2], values: [u64; 2]) -> Result<[u32; 2], u32> {
    for (at, other) in [(0, 1), (1, 0)] {
        let Some(line) = sources::line_result(labels[at]) else { continue };
        let limit = values[other] & mask(width);
        let answer = |value: u64| match at {
            0 => holds(op, width, value, limit),
            _ => holds(op, width, limit, value),
        };
        let is_limit = match line.length {
            // No line has less than one byte, and no address is null.
            0 => limit <= 1 || limit == mask(width),
            // All lengths have the same answer.
            _ => [1, limit, mask(width - 1)]
                .into_iter()
                .filter(|length| is_length(width, *length))
                .all(|length| answer(length) == answer(1)),
        };
        if is_limit && labels[other] == 0 && is_integer_comparison(op) {
            let [came, ended] = line.values.map(answer);
            return Err(match (came, ended) {
                (true, false) => line.goes_on,
                (false, true) => not(line.goes_on),
                _ => 0,
            });
        }
        if line.length != 0 {
            continue;
        }
        sources::uses_line(&line);
        labels[at] = 0;
        if labels[other] == 0 {
            return Err(0);
        }
    }
    Ok(labels)
}

/// Whether a line may be so long.
fn is_length(width: u32, value: u64) -> bool {
    (1..=mask(width - 1)).contains(&value)
}

fn is_integer_comparison(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::ULt | Op::ULe | Op::SLt | Op::SLe)
}

/// Whether a comparison of integers holds.
fn holds(op: Op, width: u32, a: u64, b: u64) -> bool {
    let [low, high] = [a, b].map(|value| value & mask(width));
    let [small, large] = [low, high].map(|value| sign_extend(width, value));
    match op {
        Op::Eq => low == high,
        Op::Ne => low != high,
        Op::ULt => low < high,
        Op::ULe => low <= high,
        Op::SLt => small < large,
        _ => small <= large,
    }
}

fn sign_extend(width: u32, value: u64) -> i64 {
    (value << (64 - width)).cast_signed() >> (64 - width)
}

/// The opposite of a truth value.
pub fn not(label: u32) -> u32 {
    let known = node(label);
    if known.op == Op::Not as u8 {
        return known.a;
    }
    intern(Op::Not, 1, [label, 0, 0], (known.value ^ 1) & 1)
}

/// An operation on two values of 65 to 128 bits.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_binary_wide(
    code: u32,
    a: u32,
    b: u32,
    left: u64,
    left_high: u64,
    right: u64,
    right_high: u64,
    value: u64,
) -> u32 {
    if a | b == 0 || !is_on() {
        return 0;
    }
    let (op, width) = (op_of(code), code >> 8);
    let operands =
        [or_wide_constant(a, width, left, left_high), or_wide_constant(b, width, right, right_high), 0];
    let width = if is_comparison(op) { 1 } else { width };
    intern(op, width, operands, value & mask(width))
}

/// An operation on one value; the code's upper half is what the operation says.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_unary(code: u32, a: u32, value: u64) -> u32 {
    if a == 0 || !is_on() {
        return 0;
    }
    let (op, width, extra) = (op_of(code), code >> 8 & 0xff, code >> 16);
    let value = value & mask(width);
    if let Some(line) = sources::line_result(a) {
        return convert_line(&line, a, op, width, extra, value);
    }
    converted(op, width, extra, a, value)
}

fn converted(op: Op, width: u32, extra: u32, label: u32, value: u64) -> u32 {
    match op {
        Op::Extract => extract(label, extra, width, value),
        Op::ZExt => extend(label, width, value),
        _ => intern(op, width, [label, extra, 0], value),
    }
}

/// The result of a function that reads lines in another width. If more is done to it, it is without a label, unless its length
/// is followed.
fn convert_line(line: &sources::LineResult, label: u32, op: Op, width: u32, extra: u32, value: u64) -> u32 {
    let from = u32::from(node(label).width);
    let values = match (op, extra) {
        (Op::Extract, 0) | (Op::ZExt, _) => line.values,
        (Op::SExt, _) => line.values.map(|value| sign_extend(from, value).cast_unsigned()),
        _ if line.length != 0 => return converted(op, width, extra, label, value),
        _ => {
            sources::uses_line(line);
            return 0;
        }
    };
    let length = match line.length {
        0 => 0,
        length => converted(op, width, extra, length, values[0] & mask(width)),
    };
    ite(width, line.goes_on, [length, 0], node(line.goes_on).value, values)
}

/// `label` with zeros above.
pub fn extend(label: u32, width: u32, value: u64) -> u32 {
    let known = node(label);
    if u32::from(known.width) == width {
        return label;
    }
    let inner = if known.op == Op::ZExt as u8 { known.a } else { label };
    intern(Op::ZExt, width, [inner, 0, 0], value)
}

/// `width` bits of `label`, from bit `low` on.
pub fn extract(label: u32, low: u32, width: u32, value: u64) -> u32 {
    let known = node(label);
    if low == 0 && u32::from(known.width) == width {
        return label;
    }
    if known.op == Op::Input as u8 && low.is_multiple_of(8) && width.is_multiple_of(8) {
        return intern(Op::Input, width, [known.a, known.b + low / 8, 0], value);
    }
    if known.op == Op::Extract as u8 {
        return intern(Op::Extract, width, [known.a, known.b + low, 0], value);
    }
    if known.op == Op::ZExt as u8 {
        let inner = u32::from(node(known.a).width);
        if low + width <= inner {
            return extract(known.a, low, width, value);
        }
        if low >= inner {
            return constant(width, 0);
        }
        if low == 0 {
            return extend(known.a, width, value);
        }
    }
    if known.op == Op::Concat as u8 {
        let split = u32::from(node(known.b).width);
        if low + width <= split {
            return extract(known.b, low, width, value);
        }
        if low >= split {
            return extract(known.a, low - split, width, value);
        }
    }
    intern(Op::Extract, width, [label, low, 0], value)
}

/// `high` above `low`.
pub fn concat(high: u32, low: u32, width: u32, value: u64) -> u32 {
    let (above, below) = (node(high), node(low));
    let is_next = above.op == Op::Input as u8
        && below.op == Op::Input as u8
        && above.a == below.a
        && above.b == below.b + u32::from(below.width) / 8;
    if is_next && width <= 64 {
        return intern(Op::Input, width, [below.a, below.b, 0], value);
    }
    let is_same = above.op == Op::Extract as u8
        && below.op == Op::Extract as u8
        && above.a == below.a
        && above.b == below.b + u32::from(below.width);
    if is_same {
        return extract(below.a, below.b, width, value);
    }
    intern(Op::Concat, width, [high, low, 0], value)
}

/// A choice between two values.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_ite(
    width: u32,
    condition: u32,
    a: u32,
    b: u32,
    truth: u64,
    yes: u64,
    no: u64,
) -> u32 {
    if condition == 0 || !is_on() {
        return if truth & 1 == 1 { a } else { b };
    }
    ite(width, condition, [a, b], truth, [yes, no])
}

fn ite(width: u32, condition: u32, labels: [u32; 2], truth: u64, values: [u64; 2]) -> u32 {
    let [yes, no] = values.map(|value| value & mask(width));
    if labels == [0, 0] && width == 1 && yes != no {
        return if yes == 1 { condition } else { not(condition) };
    }
    let [a, b] = [or_constant(labels[0], width, yes), or_constant(labels[1], width, no)];
    if a == b {
        return a;
    }
    intern(Op::Ite, width, [condition, a, b], if truth & 1 == 1 { yes } else { no })
}

/// Something that depends on others.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_opaque(width: u32, value: u64, a: u32, b: u32) -> u32 {
    if a | b == 0 || !is_on() {
        return 0;
    }
    intern(Op::Opaque, width, [a, b, 0], value & mask(width))
}

/// A floating-point comparison, numbered as LLVM does: bits for equal, greater, less, unordered.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_float_compare(
    code: u32,
    a: u32,
    b: u32,
    left: u64,
    right: u64,
    value: u64,
) -> u32 {
    if a | b == 0 || !is_on() {
        return 0;
    }
    let width = code >> 8;
    let [a, b] = [or_constant(a, width, left), or_constant(b, width, right)];
    let number =
        |bits: u64| if width == 32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
    let (left, right) = (number(left), number(right));
    let compare = |op: Op, a: u32, b: u32, holds: bool| intern(op, 1, [a, b, 0], holds.into());
    let either = |left: u32, right: u32| {
        let value = node(left).value | node(right).value;
        intern(Op::Or, 1, [left, right, 0], value)
    };
    let equal = || compare(Op::FEq, a, b, left == right);
    let greater = || compare(Op::FLt, b, a, right < left);
    let greater_equal = || compare(Op::FLe, b, a, right <= left);
    let less = || compare(Op::FLt, a, b, left < right);
    let less_equal = || compare(Op::FLe, a, b, left <= right);
    let unordered = || compare(Op::FUnordered, a, b, left.is_nan() || right.is_nan());
    let label = match code & 0xff {
        1 => equal(),
        2 => greater(),
        3 => greater_equal(),
        4 => less(),
        5 => less_equal(),
        6 => either(less(), greater()),
        7 => not(unordered()),
        8 => unordered(),
        9 => not(either(less(), greater())),
        10 => not(less_equal()),
        11 => not(less()),
        12 => not(greater_equal()),
        13 => not(greater()),
        14 => not(equal()),
        _ => return 0,
    };
    debug_assert_eq!(node(label).value, value & 1);
    label
}

/// A function of the mathematical library.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_math(code: u32, a: u32, b: u32, left: u64, right: u64, value: u64) -> u32 {
    if a | b == 0 || !is_on() {
        return 0;
    }
    let (number, width) = (code & 0xff, code >> 8);
    let Some(function) = MathFunction::from_target(number) else { return 0 };
    let a = or_constant(a, width, left);
    let b = if function.arity() == 2 { or_constant(b, width, right) } else { 0 };
    intern(Op::Math, width, [a, b, number], value & mask(width))
}

/// What takes several operations: see [`Intrinsic`].
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_intrinsic(
    code: u32,
    a: u32,
    b: u32,
    left: u64,
    right: u64,
    value: u64,
) -> u32 {
    if a | b == 0 || !is_on() {
        return 0;
    }
    let width = code >> 8;
    let labels = [a, b];
    let values = [left & mask(width), right & mask(width)];
    let signed = |value: u64| (value << (64 - width)) as i64 >> (64 - width);
    let [l, r] = values;
    let (ls, rs) = (signed(l), signed(r));
    let choose = |op: Op, holds: bool| {
        let condition = binary(op, width, labels, values, holds.into());
        ite(width, condition, labels, holds.into(), values)
    };
    let is = |number: Intrinsic| code & 0xff == number as u32;
    if is(Intrinsic::UMin) {
        choose(Op::ULt, l < r)
    } else if is(Intrinsic::UMax) {
        let condition = binary(Op::ULt, width, [b, a], [r, l], (r < l).into());
        ite(width, condition, labels, (r < l).into(), values)
    } else if is(Intrinsic::SMin) {
        choose(Op::SLt, ls < rs)
    } else if is(Intrinsic::SMax) {
        let condition = binary(Op::SLt, width, [b, a], [r, l], (rs < ls).into());
        ite(width, condition, labels, (rs < ls).into(), values)
    } else if is(Intrinsic::Abs) {
        let negative = binary(Op::SLt, width, [a, 0], [l, 0], (ls < 0).into());
        let negated = intern(Op::Neg, width, [a, 0, 0], l.wrapping_neg() & mask(width));
        ite(width, negative, [negated, a], (ls < 0).into(), [l.wrapping_neg(), l])
    } else if is(Intrinsic::SwapBytes) {
        let byte = |index: u32| extract(a, index * 8, 8, l >> (index * 8) & 0xff);
        let mut label = byte(0);
        let mut known = l & 0xff;
        for index in 1..width / 8 {
            let below = byte(index);
            known = known << 8 | l >> (index * 8) & 0xff;
            label = concat(label, below, (index + 1) * 8, known);
        }
        label
    } else if is(Intrinsic::UAddSaturating) {
        let sum = l.wrapping_add(r) & mask(width);
        let label = binary(Op::Add, width, labels, values, sum);
        let wraps = binary(Op::ULt, width, [label, a], [sum, l], (sum < l).into());
        ite(width, wraps, [0, label], (sum < l).into(), [mask(width), sum])
    } else if is(Intrinsic::USubSaturating) {
        let difference = l.wrapping_sub(r) & mask(width);
        let label = binary(Op::Sub, width, labels, values, difference);
        let wraps = binary(Op::ULt, width, labels, values, (l < r).into());
        ite(width, wraps, [0, label], (l < r).into(), [0, difference])
    } else if is(Intrinsic::UAddOverflows) {
        let sum = l.wrapping_add(r) & mask(width);
        let label = binary(Op::Add, width, labels, values, sum);
        binary(Op::ULt, width, [label, a], [sum, l], value)
    } else if is(Intrinsic::USubOverflows) {
        binary(Op::ULt, width, labels, values, value)
    } else {
        overflow_of_wide(code & 0xff, width, labels, values, value)
    }
}

/// Whether an operation overflows, computed in twice the width.
fn overflow_of_wide(which: u32, width: u32, labels: [u32; 2], values: [u64; 2], value: u64) -> u32 {
    let is_signed = which != Intrinsic::UMulOverflows as u32;
    let double = width * 2;
    let extended = |index: usize| {
        let label = or_constant(labels[index], width, values[index]);
        let low = match is_signed {
            true => ((values[index] << (64 - width)) as i64 >> (64 - width)) as u64,
            false => values[index],
        };
        intern(if is_signed { Op::SExt } else { Op::ZExt }, double, [label, 0, 0], low & mask(double))
    };
    let (a, b) = (extended(0), extended(1));
    let (x, y) = (node(a).value, node(b).value);
    let (op, low) = match which {
        number if number == Intrinsic::SAddOverflows as u32 => (Op::Add, x.wrapping_add(y)),
        number if number == Intrinsic::SSubOverflows as u32 => (Op::Sub, x.wrapping_sub(y)),
        _ => (Op::Mul, x.wrapping_mul(y)),
    };
    let exact = intern(op, double, [a, b, 0], low & mask(double));
    let cut = extract(exact, 0, width, low & mask(width));
    let again = match is_signed {
        true => ((low << (64 - width)) as i64 >> (64 - width)) as u64,
        false => low & mask(width),
    };
    let again =
        intern(if is_signed { Op::SExt } else { Op::ZExt }, double, [cut, 0, 0], again & mask(double));
    intern(Op::Ne, 1, [exact, again, 0], value & 1)
}

/// A shift over two values, `a` above `b`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_funnel(
    code: u32,
    a: u32,
    b: u32,
    by: u32,
    high: u64,
    low: u64,
    amount: u64,
) -> u32 {
    if a | b | by == 0 || !is_on() {
        return 0;
    }
    let (is_left, width) = (code & 1 == 1, code >> 8);
    let amount = amount % u64::from(width);
    let (up, down) =
        if is_left { (amount, u64::from(width) - amount) } else { (u64::from(width) - amount, amount) };
    let shift_left = |value: u64, by: u64| if by >= 64 { 0 } else { value << by & mask(width) };
    let shift_right = |value: u64, by: u64| if by >= 64 { 0 } else { (value & mask(width)) >> by };
    let (above, below) = (shift_left(high, up), shift_right(low, down));
    let (up_label, down_label) = match by {
        0 => (0, 0),
        by => {
            let size = constant(width, u64::from(width));
            let within = intern(Op::URem, width, [by, size, 0], amount);
            let rest = intern(Op::Sub, width, [size, within, 0], u64::from(width) - amount);
            if is_left { (within, rest) } else { (rest, within) }
        }
    };
    let left = match a | up_label {
        0 => 0,
        _ => binary(Op::Shl, width, [a, up_label], [high, up], above),
    };
    let right = match b | down_label {
        0 => 0,
        _ => binary(Op::LShr, width, [b, down_label], [low, down], below),
    };
    if left | right == 0 {
        return 0;
    }
    binary(Op::Or, width, [left, right], [above, below], above | below)
}
