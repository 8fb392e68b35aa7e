//! What takes several operations to write down, by number.

/// Something LLVM has one function for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "they are named as in LLVM")]
pub enum Intrinsic {
    UMin = 0,
    UMax = 1,
    SMin = 2,
    SMax = 3,
    Abs = 4,
    SwapBytes = 5,
    UAddSaturating = 6,
    USubSaturating = 7,
    UAddOverflows = 8,
    SAddOverflows = 9,
    USubOverflows = 10,
    SSubOverflows = 11,
    UMulOverflows = 12,
    SMulOverflows = 13,
}
