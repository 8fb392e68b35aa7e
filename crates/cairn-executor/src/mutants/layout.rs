//! The same input where memory is laid out otherwise.

use cairn_model::{Input, input::Bytes};

/// Filled into memory that is allocated or freed.
const PERTURB: &str = "glibc.malloc.perturb=165";

/// Moves the stack.
const PADDING: usize = 1000;

/// The same input for a process whose stack lies elsewhere, and whose allocator leaves other bytes behind. Programs that look at
/// their whole environment see the difference, so the original has to be asked first whether it minds.
pub(super) fn elsewhere(input: &Input) -> Input {
    let mut input = input.clone();
    let more = [("GLIBC_TUNABLES", PERTURB.to_owned()), ("PADDING", "x".repeat(PADDING))];
    for (name, value) in more {
        if input.environment.iter().all(|(known, _)| known != name) {
            input.environment.push((name.into(), Bytes(value.into_bytes())));
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_input_stay_as_they_are() {
        let environment = vec![("PADDING".to_owned(), Bytes(b"own".to_vec()))];
        let moved = elsewhere(&Input { environment, ..Input::default() });
        let names: Vec<&str> = moved.environment.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["PADDING", "GLIBC_TUNABLES"]);
        assert_eq!(moved.environment[0].1.0, b"own");
    }
}
