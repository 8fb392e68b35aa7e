//! What a process does with signals.

use crate::system;

/// Standard signals; the filter stops changes of the others.
pub const N_SIGNALS: usize = 32;

/// As the kernel lays it out.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Action {
    pub handler: usize,
    pub flags: u64,
    pub restorer: usize,
    pub mask: u64,
}

/// What the kernel does by itself.
pub const NOTHING: Action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };

/// Everything that can be blocked, as the kernel keeps it.
pub const ALL: u64 = !(1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1));

/// Size of a set of signals, as the kernel wants to hear it.
pub const SET_SIZE: usize = 8;

/// Signals whose handling a run may change: all but those nobody can change, and the runner's own.
pub const CHANGEABLE: u32 =
    !(1 | 1 << libc::SIGKILL as u32 | 1 << libc::SIGSTOP as u32 | 1 << libc::SIGSYS as u32);

/// The handlers, the mask and the signal stack.
#[derive(Clone, Copy)]
pub struct Signals {
    actions: [Action; N_SIGNALS],
    mask: u64,
    /// A `stack_t`.
    stack: [usize; 3],
}

/// What is known of the mask and the signal stack a run has left; by default nothing.
#[derive(Clone, Copy, Default)]
pub struct SignalsLeft {
    /// The mask is the snapshot's, and no signal waits.
    pub has_same_mask: bool,
    /// The signal stack is the snapshot's.
    pub has_same_stack: bool,
}

impl Signals {
    /// What is in force now.
    pub fn read() -> Self {
        let mut signals = Self { actions: [NOTHING; N_SIGNALS], mask: 0, stack: [0; 3] };
        for (number, action) in signals.actions.iter_mut().enumerate() {
            let place = (&raw mut *action).expose_provenance();
            // SAFETY: the kernel writes one action; numbers that are no signals are refused.
            unsafe { system::call(libc::SYS_rt_sigaction, [number, 0, place, SET_SIZE, 0, 0]) };
        }
        let mask = (&raw mut signals.mask).expose_provenance();
        let stack = (&raw mut signals.stack).expose_provenance();
        // SAFETY: the kernel writes one set and one `stack_t`.
        unsafe {
            system::call(libc::SYS_rt_sigprocmask, [0, 0, mask, SET_SIZE, 0, 0]);
            system::call(libc::SYS_sigaltstack, [0, stack, 0, 0, 0, 0]);
        }
        signals
    }

    /// Whether the kernel does what it does by itself.
    pub fn is_default(&self, number: usize) -> bool {
        self.actions.get(number).is_some_and(|action| *action == NOTHING)
    }

    /// From now on `action` is what is put back for `caught`, one bit each.
    pub fn catch(&mut self, caught: u32, action: Action) {
        for (number, known) in self.actions.iter_mut().enumerate() {
            if caught & 1 << number != 0 {
                *known = action;
            }
        }
    }

    /// Compares the mask and the signal stack of a run with those of the snapshot.
    pub fn compare(&self, mask: u64, stack: &libc::stack_t) -> SignalsLeft {
        let [_, _, size] = self.stack;
        SignalsLeft {
            // What is not blocked does not wait.
            has_same_mask: mask == self.mask && mask == 0,
            has_same_stack: stack.ss_size == size && size == 0,
        }
    }

    /// Puts back the handlers of `changed`, one bit each, and what is not known to be the same.
    pub fn restore(&self, changed: u32, left: SignalsLeft) {
        let mut rest = changed;
        while rest != 0 {
            let number = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if let Some(action) = self.actions.get(number) {
                // SAFETY: the action was in force before.
                unsafe { set(number, action) };
            }
        }
        if !left.has_same_stack {
            let stack = (&raw const self.stack).expose_provenance();
            // SAFETY: it was in force before, and the runner is not on another.
            unsafe { system::call(libc::SYS_sigaltstack, [stack, 0, 0, 0, 0, 0]) };
        }
        if left.has_same_mask {
            return;
        }
        // What still waits belongs to the run that is over, and would end this process otherwise.
        let (all, at_once) = (u64::MAX, [0u64; 2]);
        let (all, at_once) = ((&raw const all).expose_provenance(), (&raw const at_once).expose_provenance());
        // SAFETY: the kernel reads a set and a time.
        while unsafe { system::call(libc::SYS_rt_sigtimedwait, [all, 0, at_once, SET_SIZE, 0, 0]) } > 0 {}
        let mask = (&raw const self.mask).expose_provenance();
        let arguments = [libc::SIG_SETMASK as usize, mask, 0, SET_SIZE, 0, 0];
        // SAFETY: it was in force before.
        unsafe { system::call(libc::SYS_rt_sigprocmask, arguments) };
    }
}

/// Sets the action of a signal.
///
/// # Safety
/// The action's handler may run from now on.
pub unsafe fn set(number: usize, action: &Action) -> bool {
    let place = (&raw const *action).expose_provenance();
    // SAFETY: the kernel reads one action; the caller vouches for its handler.
    unsafe { system::call(libc::SYS_rt_sigaction, [number, place, 0, SET_SIZE, 0, 0]) == 0 }
}
