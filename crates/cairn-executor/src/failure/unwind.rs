//! From registers and a copy of the stack to the addresses of all callers.

use super::{
    image::Reader,
    modules::{Module, Modules},
    samples::{Memory, Sample},
};
use cairn_abi::stack::{INSTRUCTION_POINTER, N_REGISTERS, STACK_POINTER};
use gimli::{
    CfaRule, EhFrame, Encoding, EvaluationResult, Format, Location, Register, RegisterRule, UnwindContext,
    UnwindExpression, UnwindSection, Value,
};

/// Callers beyond these are not looked for.
const MAX_FRAMES: usize = 2048;

type Registers = [Option<u64>; N_REGISTERS];

/// The addresses of the code that was being executed, innermost first: callers by their call, not by where it returns to.
///
/// It ends where the tables do, or where the stack does not make sense.
pub(super) fn addresses(sample: &Sample, modules: &Modules) -> Vec<u64> {
    let mut registers: Registers = sample.registers.map(Some);
    let mut found = Vec::new();
    let mut next = sample.instruction_pointer();
    // A call to nowhere: the caller is what it would have returned to.
    if modules.at(next).is_none() {
        let Some(caller) = sample.memory.word(sample.stack_pointer()) else { return found };
        registers[STACK_POINTER] = sample.stack_pointer().checked_add(8);
        next = caller.wrapping_sub(1);
    }
    while found.len() < MAX_FRAMES {
        let Some(module) = modules.at(next) else { break };
        found.push(next);
        let Some((caller, is_interrupted)) = step(module, next, &mut registers, &sample.memory) else {
            break;
        };
        // What a signal interrupted was not calling.
        next = if is_interrupted { caller } else { caller.wrapping_sub(1) };
    }
    found
}

/// Changes the registers to those of the caller; where it goes on, and whether it was interrupted there by a signal.
fn step(module: &Module, address: u64, registers: &mut Registers, memory: &Memory) -> Option<(u64, bool)> {
    let image = &module.image;
    let own = address.wrapping_sub(module.bias);
    let mut context = UnwindContext::new();
    let fde = image.eh_frame.fde_for_address(&image.bases, own, EhFrame::cie_from_offset).ok()?;
    let encoding = fde.cie().encoding();
    let is_interrupted = fde.is_signal_trampoline();
    let row = fde.unwind_info_for_address(&image.eh_frame, &image.bases, &mut context, own).ok()?;
    let before = *registers;
    let register = |register: Register| before.get(usize::from(register.0)).copied().flatten();
    let evaluate = |expression: UnwindExpression<usize>, initial: Option<u64>| {
        evaluate(&image.eh_frame, expression, encoding, initial, &register, memory)
    };
    let frame = match row.cfa() {
        CfaRule::RegisterAndOffset { register: base, offset } => {
            register(*base)?.wrapping_add_signed(*offset)
        }
        CfaRule::Expression(expression) => evaluate(*expression, None)?,
    };
    for (number, slot) in registers.iter_mut().enumerate() {
        let rule = row.register(Register(number as u16));
        *slot = match rule {
            None | Some(RegisterRule::SameValue) if number == STACK_POINTER => Some(frame),
            None | Some(RegisterRule::SameValue) if number == INSTRUCTION_POINTER => None,
            None | Some(RegisterRule::SameValue) => *slot,
            Some(RegisterRule::Undefined | RegisterRule::Architectural) => None,
            Some(RegisterRule::Offset(offset)) => memory.word(frame.wrapping_add_signed(offset)),
            Some(RegisterRule::ValOffset(offset)) => Some(frame.wrapping_add_signed(offset)),
            Some(RegisterRule::Register(other)) => register(other),
            Some(RegisterRule::Expression(expression)) => {
                evaluate(expression, Some(frame)).and_then(|place| memory.word(place))
            }
            Some(RegisterRule::ValExpression(expression)) => evaluate(expression, Some(frame)),
            Some(RegisterRule::Constant(value)) => Some(value),
        };
    }
    // A stack that does not grow would be walked for ever. A handler may have had another one.
    if !is_interrupted && frame <= before[STACK_POINTER]? {
        return None;
    }
    let caller = registers[INSTRUCTION_POINTER].filter(|caller| *caller != 0)?;
    Some((caller, is_interrupted))
}

/// The value of an expression of the tables.
fn evaluate(
    section: &EhFrame<Reader>,
    expression: UnwindExpression<usize>,
    encoding: Encoding,
    initial: Option<u64>,
    register: &dyn Fn(Register) -> Option<u64>,
    memory: &Memory,
) -> Option<u64> {
    const MAX_STEPS: u32 = 1000;
    let encoding = Encoding { address_size: 8, format: Format::Dwarf32, ..encoding };
    let mut evaluation = expression.get(section).ok()?.evaluation(encoding);
    evaluation.set_max_iterations(MAX_STEPS);
    if let Some(initial) = initial {
        evaluation.set_initial_value(initial);
    }
    let mut result = evaluation.evaluate().ok()?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register: wanted, .. } => {
                evaluation.resume_with_register(Value::Generic(register(wanted)?)).ok()?
            }
            EvaluationResult::RequiresMemory { address, .. } => {
                evaluation.resume_with_memory(Value::Generic(memory.word(address)?)).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result().first()?.location {
        Location::Address { address } => Some(address),
        _ => None,
    }
}
