//! Lays out what a program is started with: path, arguments, environment.

use crate::{
    error::ExecutorError,
    keeper::{LAUNCH_SIZE, Shared},
};
use cairn_model::Input;

/// Where programs are looked for by a target that may execute them.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A home that does not exist: what a run finds there must not depend on the machine's user.
const HOME: &str = "/nonexistent";

/// Writes path, arguments and environment into `shared`; returns the addresses of the two pointer arrays.
pub(crate) fn lay_out(
    shared: &mut Shared,
    launch_path: &[u8],
    name: &[u8],
    input: &Input,
) -> Result<(usize, usize), ExecutorError> {
    let environment = environment(input)?;
    check_arguments(input)?;
    let arguments: Vec<&[u8]> =
        std::iter::once(name).chain(input.args.iter().map(|argument| argument.0.as_slice())).collect();
    let variables: Vec<&[u8]> = environment.iter().map(Vec::as_slice).collect();

    let pointers = 8 * (arguments.len() + variables.len() + 2);
    let strings: usize = arguments.iter().chain(&variables).map(|string| string.len() + 1).sum();
    let first_pointer = (launch_path.len() + 1).next_multiple_of(8);
    let size = first_pointer + pointers + strings;
    if size > LAUNCH_SIZE {
        return Err(ExecutorError::ArgumentsTooLarge { size: strings, limit: LAUNCH_SIZE });
    }

    let base = shared.launch_address();
    let bytes = shared.launch_bytes();
    put(bytes, 0, launch_path);
    let argv = first_pointer;
    let envp = argv + 8 * (arguments.len() + 1);
    let mut end = first_pointer + pointers;
    for (array, strings) in [(argv, arguments), (envp, variables)] {
        let n = strings.len();
        for (index, string) in strings.into_iter().enumerate() {
            bytes[array + 8 * index..][..8].copy_from_slice(&(base + end).to_ne_bytes());
            put(bytes, end, string);
            end += string.len() + 1;
        }
        bytes[array + 8 * n..][..8].fill(0);
    }
    Ok((base + argv, base + envp))
}

fn put(bytes: &mut [u8], at: usize, string: &[u8]) {
    bytes[at..][..string.len()].copy_from_slice(string);
    bytes[at + string.len()] = 0;
}

/// Arguments end at zero bytes, so none can hold one.
pub(crate) fn check_arguments(input: &Input) -> Result<(), ExecutorError> {
    match input.args.iter().position(|argument| argument.0.contains(&0)) {
        Some(index) => {
            let what = format!("argument {}", index + 1);
            Err(ExecutorError::BadArgument { what, reason: "contains a zero byte" })
        }
        None => Ok(()),
    }
}

/// The environment of a run, as the program finds it: entries `NAME=value`, the setting's own, then the input's. A later one
/// replaces an earlier one of the same name.
pub fn environment(input: &Input) -> Result<Vec<Vec<u8>>, ExecutorError> {
    let mut variables: Vec<(&str, &[u8])> = vec![
        ("LC_ALL", input.setting.locale.as_bytes()),
        ("TZ", input.setting.time_zone.as_bytes()),
        ("PATH", PATH.as_bytes()),
        ("HOME", HOME.as_bytes()),
    ];
    for (name, value) in &input.environment {
        variables.retain(|(other, _)| other != name);
        variables.push((name, &value.0));
    }
    variables
        .into_iter()
        .map(|(name, value)| {
            let wrong = |reason| ExecutorError::BadArgument { what: format!("variable `{name}`"), reason };
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(wrong("has a name no variable can have"));
            }
            if value.contains(&0) {
                return Err(wrong("contains a zero byte"));
            }
            Ok([name.as_bytes(), b"=", value].concat())
        })
        .collect()
}
