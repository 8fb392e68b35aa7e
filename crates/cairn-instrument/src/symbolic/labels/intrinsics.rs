//! Labels of what LLVM's own functions compute.

use super::{
    emit::Labelled,
    name_of,
    region::{Body, Item, Labels},
    runtime::{self, Signature},
    shape::LeafKind,
    table::Treatment,
    values::operands,
    vectors::is_vector,
};
use cairn_abi::{
    record::Access,
    symbolic::{MathFunction, Op, intrinsic::Intrinsic},
};
use inkwell::llvm_sys::{core::*, prelude::*};

/// How an intrinsic function is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It has no value that depends on the input.
    Nothing,
    /// It copies memory.
    Copy,
    /// It fills memory.
    Set,
    /// It begins the variable arguments.
    StartVariable,
    /// It copies a list of variable arguments.
    CopyVariable,
    /// Its value is its first operand's.
    Same,
    /// One operation on two operands.
    Binary(Op),
    /// One operation on the first operand.
    Unary(Op),
    /// Several operations, which the runtime knows by number.
    Composed(Intrinsic),
    /// An operation and whether it overflows.
    Overflow(Op, Intrinsic),
    /// A function of the mathematical library.
    Math(MathFunction),
    /// `a * b + c`, rounded twice.
    MultiplyAdd,
    /// A shift over two operands; whether to the left.
    Funnel(bool),
    /// Something that depends on its operands.
    Opaque,
}

/// The names LLVM gives them, without types.
const WAYS: &[(&str, Way)] = {
    use Intrinsic::*;
    use MathFunction as Function;
    &[
        ("memcpy", Way::Copy),
        ("memcpy.inline", Way::Copy),
        ("memmove", Way::Copy),
        ("memset", Way::Set),
        ("memset.inline", Way::Set),
        ("va_start", Way::StartVariable),
        ("va_copy", Way::CopyVariable),
        ("va_end", Way::Nothing),
        ("expect", Way::Same),
        ("expect.with.probability", Way::Same),
        ("launder.invariant.group", Way::Same),
        ("strip.invariant.group", Way::Same),
        ("ssa.copy", Way::Same),
        ("arithmetic.fence", Way::Same),
        ("canonicalize", Way::Same),
        ("annotation", Way::Same),
        ("ptr.annotation", Way::Same),
        ("ptrmask", Way::Binary(Op::And)),
        ("ctpop", Way::Unary(Op::PopCount)),
        ("ctlz", Way::Unary(Op::LeadingZeros)),
        ("cttz", Way::Unary(Op::TrailingZeros)),
        ("umin", Way::Composed(UMin)),
        ("umax", Way::Composed(UMax)),
        ("smin", Way::Composed(SMin)),
        ("smax", Way::Composed(SMax)),
        ("abs", Way::Composed(Abs)),
        ("bswap", Way::Composed(SwapBytes)),
        ("uadd.sat", Way::Composed(UAddSaturating)),
        ("usub.sat", Way::Composed(USubSaturating)),
        ("sadd.sat", Way::Opaque),
        ("ssub.sat", Way::Opaque),
        ("ushl.sat", Way::Opaque),
        ("sshl.sat", Way::Opaque),
        ("ucmp", Way::Opaque),
        ("scmp", Way::Opaque),
        ("bitreverse", Way::Opaque),
        ("load.relative", Way::Opaque),
        ("uadd.with.overflow", Way::Overflow(Op::Add, UAddOverflows)),
        ("sadd.with.overflow", Way::Overflow(Op::Add, SAddOverflows)),
        ("usub.with.overflow", Way::Overflow(Op::Sub, USubOverflows)),
        ("ssub.with.overflow", Way::Overflow(Op::Sub, SSubOverflows)),
        ("umul.with.overflow", Way::Overflow(Op::Mul, UMulOverflows)),
        ("smul.with.overflow", Way::Overflow(Op::Mul, SMulOverflows)),
        ("fshl", Way::Funnel(true)),
        ("fshr", Way::Funnel(false)),
        ("fabs", Way::Math(Function::Fabs)),
        ("sqrt", Way::Math(Function::Sqrt)),
        ("floor", Way::Math(Function::Floor)),
        ("ceil", Way::Math(Function::Ceil)),
        ("trunc", Way::Math(Function::Trunc)),
        ("round", Way::Math(Function::Round)),
        ("roundeven", Way::Math(Function::RoundEven)),
        ("rint", Way::Math(Function::RoundEven)),
        ("nearbyint", Way::Math(Function::RoundEven)),
        ("exp", Way::Math(Function::Exp)),
        ("exp2", Way::Math(Function::Exp2)),
        ("log", Way::Math(Function::Log)),
        ("log2", Way::Math(Function::Log2)),
        ("log10", Way::Math(Function::Log10)),
        ("sin", Way::Math(Function::Sin)),
        ("cos", Way::Math(Function::Cos)),
        ("tan", Way::Math(Function::Tan)),
        ("pow", Way::Math(Function::Pow)),
        ("minnum", Way::Math(Function::Fmin)),
        ("maxnum", Way::Math(Function::Fmax)),
        ("copysign", Way::Math(Function::CopySign)),
        ("fmuladd", Way::MultiplyAdd),
        ("fma", Way::Opaque),
        ("is.fpclass", Way::Opaque),
        ("powi", Way::Opaque),
        ("ldexp", Way::Opaque),
        ("frexp", Way::Opaque),
        ("minimum", Way::Opaque),
        ("maximum", Way::Opaque),
        ("lrint", Way::Opaque),
        ("llrint", Way::Opaque),
        ("lround", Way::Opaque),
        ("llround", Way::Opaque),
        ("fptosi.sat", Way::Opaque),
        ("fptoui.sat", Way::Opaque),
    ]
};

/// Names of those that compute nothing from the input.
const NOTHING: &[&str] = &[
    "lifetime.",
    "dbg.",
    "assume",
    "invariant.",
    "prefetch",
    "stacksave",
    "stackrestore",
    "donothing",
    "experimental.noalias",
    "eh.",
    "trap",
    "debugtrap",
    "ubsantrap",
    "sideeffect",
    "threadlocal.address",
    "frameaddress",
    "returnaddress",
    "pseudoprobe",
    "var.annotation",
    "read_register",
    "write_register",
    "clear_cache",
    "objectsize",
    "is.constant",
    "seh.",
    "get.dynamic.area.offset",
    "allow.",
    "type.test",
    "readcyclecounter",
    "thread.pointer",
];

/// Families of those that compute something from their operands, whatever comes behind.
const OPAQUE: &[&str] = &["x86.", "vector.", "experimental.constrained.", "experimental.vector.", "masked."];

/// How well an intrinsic function is followed; others are opaque without having been looked at.
pub(super) fn treatment(name: &str) -> Option<Treatment> {
    if super::calls::MEMORY.contains(&name) {
        return Some(Treatment::Exact);
    }
    let name = name.strip_prefix("llvm.")?;
    let begins = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
    match WAYS.iter().find(|(known, _)| fits(name, known)) {
        Some((_, Way::Opaque)) => Some(Treatment::Opaque),
        Some(_) => Some(Treatment::Exact),
        None if begins(NOTHING) => Some(Treatment::Exact),
        None if begins(OPAQUE) => Some(Treatment::Opaque),
        None => None,
    }
}

/// Whether a name is `known`, perhaps with types behind it.
fn fits(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('.').is_some_and(|types| types.split('.').all(is_type))
    })
}

fn is_type(word: &str) -> bool {
    let digits =
        word.trim_start_matches(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    digits.is_empty() && word.starts_with(['i', 'f', 'p', 'v', 'b'])
}

fn way_of(name: &str) -> Way {
    match name {
        "memcpy" | "memmove" => return Way::Copy,
        "memset" => return Way::Set,
        _ => {}
    }
    let Some(name) = name.strip_prefix("llvm.") else { return Way::Opaque };
    if NOTHING.iter().any(|prefix| name.starts_with(prefix)) {
        return Way::Nothing;
    }
    WAYS.iter().find(|(known, _)| fits(name, known)).map_or(Way::Opaque, |(_, way)| *way)
}

impl Body<'_> {
    pub(super) unsafe fn visit_intrinsic(&mut self, call: LLVMValueRef) {
        // SAFETY: the call follows what was visited before in its block.
        unsafe {
            let name = name_of(LLVMGetCalledValue(call));
            let way = way_of(&name);
            if treatment(&name).is_none() {
                self.pass.unknown.borrow_mut().insert(name);
            }
            match way {
                Way::Nothing => {}
                Way::Copy | Way::Set | Way::StartVariable | Way::CopyVariable => {
                    // The shadow is changed at once, after everything before.
                    let behind = LLVMGetNextInstruction(call);
                    self.end_region_if_open(call);
                    LLVMPositionBuilderBefore(self.pass.builder, behind);
                    self.change_memory(call, way);
                }
                _ if self.may_be_symbolic(call) => self.add(Item::Value(call)),
                _ => {}
            }
        }
    }

    unsafe fn change_memory(&self, call: LLVMValueRef, way: Way) {
        // SAFETY: the builder stands behind the call.
        unsafe {
            let operands = operands(call);
            let length = |index: usize| self.as_word(operands[index]);
            match way {
                Way::Copy => {
                    self.pin_memory(&operands, &[(0, Access::Store), (1, Access::Load)]);
                    self.call(&runtime::COPY, &mut [operands[0], operands[1], length(2)]);
                }
                Way::Set => {
                    self.pin_memory(&operands, &[(0, Access::Store)]);
                    let label = self.label_of(operands[1]);
                    self.call(&runtime::SET, &mut [operands[0], label, length(2)]);
                }
                Way::CopyVariable => {
                    self.call(&runtime::COPY, &mut [operands[0], operands[1], self.word(24)]);
                }
                _ => {
                    let Some(kept) = self.variable_arguments else { return };
                    let (integers, floats) = self.fixed_registers();
                    let (integers, floats) = (self.number(integers), self.number(floats));
                    self.call(&runtime::START_VARIABLE, &mut [operands[0], kept, integers, floats]);
                }
            }
        }
    }

    /// Labels move as bytes do in this run: where to, where from and how many become conditions.
    unsafe fn pin_memory(&self, operands: &[LLVMValueRef], pointers: &[(usize, Access)]) {
        // SAFETY: the builder stands behind the call.
        unsafe {
            let length = self.as_word(operands[2]);
            let label = self.label_of(operands[2]);
            if !self.is_zero(label) {
                self.call(&runtime::PIN, &mut [label, length]);
            }
            for (index, access) in pointers {
                let label = self.label_of(operands[*index]);
                if !self.is_zero(label) {
                    let access = self.number(*access as u64);
                    self.call(&runtime::ADDRESS, &mut [operands[*index], length, label, access]);
                }
            }
        }
    }

    /// How many registers for integers and for floating-point numbers the named parameters take.
    unsafe fn fixed_registers(&self) -> (u64, u64) {
        let (mut integers, mut floats) = (0, 0);
        // SAFETY: the function belongs to the live module.
        unsafe {
            for index in 0..LLVMCountParams(self.function) {
                let parameter = LLVMGetParam(self.function, index);
                if is_vector(parameter) {
                    floats += 1;
                    continue;
                }
                for leaf in self.leaves_of(parameter) {
                    match leaf.kind {
                        LeafKind::Integer => integers += 1,
                        LeafKind::Float => floats += 1,
                        LeafKind::Other => {}
                    }
                }
            }
        }
        (integers, floats)
    }

    /// The labels of what an intrinsic function computes.
    pub(super) unsafe fn intrinsic(&self, call: LLVMValueRef) -> Labels {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let way = way_of(&name_of(LLVMGetCalledValue(call)));
            let operands = operands(call);
            let leaves = self.leaves_of(call);
            let all: Vec<_> = operands.iter().flat_map(|operand| self.labels_of(*operand)).collect();
            let is_plain = operands.iter().all(|operand| {
                let leaves = self.leaves_of(*operand);
                !is_vector(*operand) && leaves.iter().all(|leaf| leaf.is_narrow())
            }) && leaves.iter().all(|leaf| leaf.is_narrow())
                && !is_vector(call);
            if !is_plain {
                return self.opaque_parts(call, &all);
            }
            let labelled =
                |index: usize| Labelled { label: self.label_of(operands[index]), value: operands[index] };
            let width = leaves[0].width;
            match way {
                Way::Same => self.labels_of(operands[0]),
                Way::Binary(op) => vec![self.binary(op, width, labelled(0), labelled(1), call)],
                Way::Unary(op) => vec![self.unary(op, width, 0, labelled(0).label, call)],
                Way::Composed(which) => {
                    let second = if operands.len() > 1 { labelled(1) } else { labelled(0) };
                    vec![self.numbered(&runtime::INTRINSIC, which as u64, width, [labelled(0), second], call)]
                }
                Way::Overflow(op, which) => {
                    let part =
                        |index: u32| LLVMBuildExtractValue(self.pass.builder, call, index, c"".as_ptr());
                    vec![
                        self.binary(op, width, labelled(0), labelled(1), part(0)),
                        self.numbered(
                            &runtime::INTRINSIC,
                            which as u64,
                            width,
                            [labelled(0), labelled(1)],
                            part(1),
                        ),
                    ]
                }
                Way::Math(function) => {
                    let second = if function.arity() == 2 { labelled(1) } else { labelled(0) };
                    vec![self.numbered(&runtime::MATH, function as u64, width, [labelled(0), second], call)]
                }
                Way::MultiplyAdd => {
                    let builder = self.pass.builder;
                    let product = LLVMBuildFMul(builder, operands[0], operands[1], c"".as_ptr());
                    let label = self.binary(Op::FMul, width, labelled(0), labelled(1), product);
                    vec![self.binary(Op::FAdd, width, Labelled { label, value: product }, labelled(2), call)]
                }
                Way::Funnel(is_left) => {
                    let code = self.number(u64::from(is_left) | u64::from(width) << 8);
                    let words =
                        [self.as_word(operands[0]), self.as_word(operands[1]), self.as_word(operands[2])];
                    let mut arguments = vec![code, all[0], all[1], all[2]];
                    arguments.extend(words);
                    vec![self.call(&runtime::FUNNEL, &mut arguments)]
                }
                _ => self.opaque_parts(call, &all),
            }
        }
    }

    /// The label of what the runtime knows by number.
    unsafe fn numbered(
        &self,
        signature: &Signature,
        number: u64,
        width: u32,
        operands: [Labelled; 2],
        result: LLVMValueRef,
    ) -> LLVMValueRef {
        let [left, right] = operands;
        if self.is_zero(left.label) && self.is_zero(right.label) {
            return self.pass.zero;
        }
        let code = self.number(number | u64::from(width) << 8);
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let (a, b, result) = (self.as_word(left.value), self.as_word(right.value), self.as_word(result));
            self.call(signature, &mut [code, left.label, right.label, a, b, result])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_with_any_types() {
        assert_eq!(way_of("llvm.umin.i32"), Way::Composed(Intrinsic::UMin));
        assert_eq!(way_of("llvm.memcpy.p0.p0.i64"), Way::Copy);
        assert_eq!(way_of("llvm.memcpy.inline.p0.p0.i64"), Way::Copy);
        assert_eq!(way_of("llvm.lifetime.start.p0"), Way::Nothing);
        assert_eq!(way_of("llvm.fabs.f64"), Way::Math(MathFunction::Fabs));
    }

    #[test]
    fn a_name_that_only_begins_like_one_is_another() {
        assert_eq!(way_of("llvm.fmul.special.f64"), Way::Opaque);
        assert_eq!(treatment("llvm.exp.special"), None);
        assert_eq!(treatment("llvm.umin.something.i32"), None);
    }

    #[test]
    fn what_depends_on_its_operands_is_not_nothing() {
        assert_eq!(treatment("llvm.x86.sse2.pause"), Some(Treatment::Opaque));
        assert_eq!(way_of("llvm.ptr.annotation.p0"), Way::Same);
        assert_eq!(way_of("llvm.var.annotation.p0.p0"), Way::Nothing);
    }
}
