//! The functions compilers take for granted.
//!
//! Compiled Rust calls `memcpy`, `memset`, `bcmp` and `strlen`. In a target these may be the target's own, instrumented
//! ones, and a call from the runtime would be counted as the program's. So `cargo xtask dist` renames the calls to the
//! functions here. They are assembly because a compiler would recognise a loop and call the function it is in.

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .text.cairn_memory,\"ax\",@progbits",
    ".hidden cairn_memcpy",
    ".globl cairn_memcpy",
    ".type cairn_memcpy,@function",
    "cairn_memcpy:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "rep movsb",
    "ret",
    ".hidden cairn_memset",
    ".globl cairn_memset",
    ".type cairn_memset,@function",
    "cairn_memset:",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret",
    ".hidden cairn_bcmp",
    ".globl cairn_bcmp",
    ".type cairn_bcmp,@function",
    "cairn_bcmp:",
    "mov rcx, rdx",
    // Nothing to compare is equal: `cmp` sets the flag that `repe` leaves alone when the count is 0.
    "cmp rcx, rcx",
    "repe cmpsb",
    "setne al",
    "movzx eax, al",
    "ret",
    ".hidden cairn_strlen",
    ".globl cairn_strlen",
    ".type cairn_strlen,@function",
    "cairn_strlen:",
    "xor eax, eax",
    "2:",
    "cmp byte ptr [rdi + rax], 0",
    "je 3f",
    "inc rax",
    "jmp 2b",
    "3:",
    "ret",
    ".popsection",
);
