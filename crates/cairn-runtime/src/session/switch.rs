//! Two stacks, the program's and the runner's, and the way from one to the other.

/// Where each side goes on.
#[repr(C)]
pub struct Switch {
    /// The runner's stack pointer while the program runs.
    runner_stack: usize,
    /// The program's stack pointer at the place where every run starts.
    program_stack: usize,
    /// How the program left, see [`Left`].
    left: u64,
    /// Control and status of floating point units when runs start.
    float_control: u32,
    float_word: u32,
}

/// How a run came back to the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The harness returned.
    Returned(i32),
    /// It ended the process.
    Exited(i32),
    /// The runtime ended the run.
    Runtime,
    /// It made this system call, which cannot be undone.
    Call(i32),
    /// It died of this signal.
    Signalled(i32),
    /// It waits for another thread, and there is none.
    Waiting,
}

impl Left {
    fn encode(self) -> u64 {
        let (kind, value) = match self {
            Self::Returned(value) => (1, value),
            Self::Exited(value) => (2, value),
            Self::Runtime => (3, 0),
            Self::Call(value) => (4, value),
            Self::Signalled(value) => (5, value),
            Self::Waiting => (6, 0),
        };
        (kind << 32) | u64::from(value as u32)
    }

    fn decode(code: u64) -> Self {
        let value = code as u32 as i32;
        match code >> 32 {
            1 => Self::Returned(value),
            2 => Self::Exited(value),
            3 => Self::Runtime,
            5 => Self::Signalled(value),
            6 => Self::Waiting,
            _ => Self::Call(value),
        }
    }
}

impl Switch {
    /// A switch that has not been used.
    pub const fn new() -> Self {
        Self { runner_stack: 0, program_stack: 0, left: 0, float_control: 0, float_word: 0 }
    }

    /// Notes the place every run starts at, and goes on with `runner` on a stack that ends at `top`.
    ///
    /// Comes back once per run of `main`, with the status the program ends with.
    ///
    /// # Safety
    /// `self` stays where it is; `runner` never returns; the stack is the runner's alone.
    pub unsafe fn begin(&mut self, top: usize, runner: extern "C" fn() -> !) -> i32 {
        // SAFETY: the caller vouches.
        unsafe { cairn_session_begin(self, top, runner) }
    }

    /// Calls `function` on the program's stack, from where it returns as `main` does.
    ///
    /// # Safety
    /// The program's memory is as it was at [`Switch::begin`].
    pub unsafe fn run(&mut self, function: usize, arguments: [usize; 3]) -> Left {
        let [a, b, c] = arguments;
        // SAFETY: the caller vouches.
        Left::decode(unsafe { cairn_session_run(self, function, a, b, c) })
    }

    /// Calls a function on the program's stack and comes back when it returns.
    ///
    /// # Safety
    /// The program's stack is as it was at [`Switch::begin`].
    pub unsafe fn call(&mut self, function: usize, arguments: [usize; 2]) -> Left {
        let [a, b] = arguments;
        // SAFETY: the caller vouches.
        Left::decode(unsafe { cairn_session_call(self, function, a, b) })
    }

    /// Notes how the program leaves.
    pub fn leave(&mut self, how: Left) {
        self.left = how.encode();
    }

    /// Goes back to the runner at once.
    ///
    /// # Safety
    /// The program runs, and [`Switch::leave`] was called.
    pub unsafe fn go_back(&mut self) -> ! {
        // SAFETY: the caller vouches.
        unsafe { cairn_session_back(self) }
    }
}

unsafe extern "C" {
    fn cairn_session_begin(switch: *mut Switch, top: usize, runner: extern "C" fn() -> !) -> i32;
    fn cairn_session_run(switch: *mut Switch, function: usize, a: usize, b: usize, c: usize) -> u64;
    fn cairn_session_call(switch: *mut Switch, function: usize, a: usize, b: usize) -> u64;
    fn cairn_session_back(switch: *mut Switch) -> !;
}

core::arch::global_asm!(
    ".pushsection .text.cairn_session,\"ax\",@progbits",
    ".hidden cairn_session_begin",
    ".globl cairn_session_begin",
    ".type cairn_session_begin,@function",
    "cairn_session_begin:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rdi + 24]",
    "fnstcw [rdi + 28]",
    "mov [rdi + 8], rsp",
    "mov rsp, rsi",
    "xor ebp, ebp",
    "call rdx",
    "ud2",
    ".hidden cairn_session_run",
    ".globl cairn_session_run",
    ".type cairn_session_run,@function",
    "cairn_session_run:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov [rdi], rsp",
    "mov rsp, [rdi + 8]",
    "ldmxcsr [rdi + 24]",
    "fninit",
    "fldcw [rdi + 28]",
    "mov rax, rsi",
    "mov rdi, rdx",
    "mov rsi, rcx",
    "mov rdx, r8",
    "call rax",
    // From here the program goes its own way: `begin` returns, the caller returns to the C library, which exits.
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    ".hidden cairn_session_call",
    ".globl cairn_session_call",
    ".type cairn_session_call,@function",
    "cairn_session_call:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov [rdi], rsp",
    "mov rsp, [rdi + 8]",
    "mov rbx, rdi",
    "mov rax, rsi",
    "mov rdi, rdx",
    "mov rsi, rcx",
    "call rax",
    "mov ecx, eax",
    "mov rax, 1",
    "shl rax, 32",
    "or rax, rcx",
    "mov rsp, [rbx]",
    "jmp 2f",
    ".hidden cairn_session_back",
    ".globl cairn_session_back",
    ".type cairn_session_back,@function",
    "cairn_session_back:",
    "mov rax, [rdi + 16]",
    "mov rsp, [rdi]",
    // Whatever the program has set of the processor's flags is its own.
    "push 2",
    "popfq",
    "2:",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    ".popsection",
);
