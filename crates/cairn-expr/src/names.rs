//! The words for operations, functions and regions in text.

use cairn_abi::symbolic::{MathFunction, Op, RegionId, RegionKind};

/// The word for an operation.
pub(crate) fn op_name(op: Op) -> &'static str {
    match op {
        Op::Constant => "const",
        Op::Input => "input",
        Op::Opaque => "opaque",
        Op::Not => "not",
        Op::Neg => "neg",
        Op::PopCount => "popcount",
        Op::LeadingZeros => "clz",
        Op::TrailingZeros => "ctz",
        Op::Add => "add",
        Op::Sub => "sub",
        Op::Mul => "mul",
        Op::UDiv => "udiv",
        Op::SDiv => "sdiv",
        Op::URem => "urem",
        Op::SRem => "srem",
        Op::And => "and",
        Op::Or => "or",
        Op::Xor => "xor",
        Op::Shl => "shl",
        Op::LShr => "lshr",
        Op::AShr => "ashr",
        Op::Eq => "eq",
        Op::Ne => "ne",
        Op::ULt => "ult",
        Op::ULe => "ule",
        Op::SLt => "slt",
        Op::SLe => "sle",
        Op::ZExt => "zext",
        Op::SExt => "sext",
        Op::Extract => "extract",
        Op::Concat => "concat",
        Op::Ite => "ite",
        Op::Table => "table",
        Op::FAdd => "fadd",
        Op::FSub => "fsub",
        Op::FMul => "fmul",
        Op::FDiv => "fdiv",
        Op::FRem => "frem",
        Op::FNeg => "fneg",
        Op::FEq => "feq",
        Op::FLt => "flt",
        Op::FLe => "fle",
        Op::FUnordered => "funordered",
        Op::FToSigned => "ftosigned",
        Op::FToUnsigned => "ftounsigned",
        Op::SignedToF => "signedtof",
        Op::UnsignedToF => "unsignedtof",
        Op::FToF => "ftof",
        Op::Math => "math",
    }
}

/// The operation with a name.
pub(crate) fn op_named(name: &str) -> Option<Op> {
    Op::ALL.into_iter().find(|op| op_name(*op) == name)
}

/// What C calls a function of `double`.
pub(crate) fn function_name(function: MathFunction) -> &'static str {
    match function {
        MathFunction::Fabs => "fabs",
        MathFunction::Sqrt => "sqrt",
        MathFunction::Floor => "floor",
        MathFunction::Ceil => "ceil",
        MathFunction::Trunc => "trunc",
        MathFunction::Round => "round",
        MathFunction::RoundEven => "roundeven",
        MathFunction::Exp => "exp",
        MathFunction::Exp2 => "exp2",
        MathFunction::Log => "log",
        MathFunction::Log2 => "log2",
        MathFunction::Log10 => "log10",
        MathFunction::Sin => "sin",
        MathFunction::Cos => "cos",
        MathFunction::Tan => "tan",
        MathFunction::Asin => "asin",
        MathFunction::Acos => "acos",
        MathFunction::Atan => "atan",
        MathFunction::Sinh => "sinh",
        MathFunction::Cosh => "cosh",
        MathFunction::Tanh => "tanh",
        MathFunction::Cbrt => "cbrt",
        MathFunction::Pow => "pow",
        MathFunction::Atan2 => "atan2",
        MathFunction::Hypot => "hypot",
        MathFunction::Fmin => "fmin",
        MathFunction::Fmax => "fmax",
        MathFunction::CopySign => "copysign",
    }
}

/// The function with a name.
pub(crate) fn function_named(name: &str) -> Option<MathFunction> {
    MathFunction::ALL.into_iter().find(|function| function_name(*function) == name)
}

const KINDS: [(RegionKind, &str); 10] = [
    (RegionKind::Stdin, "stdin"),
    (RegionKind::Buffer, "buffer"),
    (RegionKind::Argument, "arg"),
    (RegionKind::Environment, "env"),
    (RegionKind::File, "file"),
    (RegionKind::Variable, "variable"),
    (RegionKind::FileMetadata, "file-stat"),
    (RegionKind::StdinMetadata, "stdin-stat"),
    (RegionKind::BufferMetadata, "buffer-stat"),
    (RegionKind::ArgumentsMetadata, "args-stat"),
];

/// A region as a word: its kind and, where there may be several, its number; `arg0`, `stdin`.
pub fn region_name(region: RegionId) -> String {
    let Some(kind) = region.kind() else { return format!("region{:#x}", region.0) };
    let (_, name) = KINDS.into_iter().find(|(other, _)| *other == kind).expect("all kinds have names");
    match region.index() {
        0 if is_single(kind) => name.to_owned(),
        index => format!("{name}{index}"),
    }
}

/// The region with a name.
pub fn region_named(name: &str) -> Option<RegionId> {
    if let Some(number) = name.strip_prefix("region0x") {
        let region = RegionId(u32::from_str_radix(number, 16).ok()?);
        return region.kind().is_none().then_some(region);
    }
    let digits = name.find(|character: char| character.is_ascii_digit()).unwrap_or(name.len());
    let (word, number) = name.split_at(digits);
    let (kind, _) = KINDS.into_iter().find(|(_, other)| *other == word)?;
    let index = match number {
        "" if is_single(kind) => 0,
        _ => number.parse().ok().filter(|index| *index < 1 << 24)?,
    };
    Some(RegionId::new(kind, index))
}

fn is_single(kind: RegionKind) -> bool {
    use RegionKind::{ArgumentsMetadata, Buffer, BufferMetadata, Stdin, StdinMetadata};
    matches!(kind, Stdin | Buffer | StdinMetadata | BufferMetadata | ArgumentsMetadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for op in Op::ALL {
            assert_eq!(op_named(op_name(op)), Some(op));
            assert_eq!(function_named(op_name(op)), None);
        }
        for function in MathFunction::ALL {
            assert_eq!(function_named(function_name(function)), Some(function));
        }
        for (kind, _) in KINDS {
            for index in [0, 1, (1 << 24) - 1] {
                let region = RegionId::new(kind, index);
                assert_eq!(region_named(&region_name(region)), Some(region));
            }
        }
        assert_eq!(region_named(&region_name(RegionId(u32::MAX))), Some(RegionId(u32::MAX)));
    }

    #[test]
    fn words_that_are_not_regions_are_refused() {
        for word in ["", "arg", "arg16777216", "stdin x", "region0x0", "file-1", "99"] {
            assert_eq!(region_named(word), None, "{word}");
        }
    }
}
