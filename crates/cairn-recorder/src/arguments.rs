//! Finds the files that arguments name, and makes the arguments name them in the scratch folder.

use crate::{
    files::{Collector, Found, TooMuch},
    reasons::Note,
};

/// The arguments as an input gives them; what they name is in `collector` afterwards.
pub(crate) fn collect(arguments: &[Vec<u8>], collector: &mut Collector) -> Result<Vec<Vec<u8>>, TooMuch> {
    arguments.iter().map(|argument| rewritten(argument, collector)).collect()
}

fn rewritten(argument: &[u8], collector: &mut Collector) -> Result<Vec<u8>, TooMuch> {
    for start in places_of_a_path(argument) {
        let (before, path) = argument.split_at(start);
        match collector.named(path)? {
            Found::AsNamed => return Ok(argument.to_vec()),
            Found::At(place) => return Ok([before, &place].concat()),
            Found::NotTaken => {
                collector.note(Note::OutsideLeftOut);
                return Ok(argument.to_vec());
            }
            Found::Nothing => {}
        }
    }
    Ok(argument.to_vec())
}

/// Where a path may start in `file`, `--option=file`, `if=file` and `-ofile`.
fn places_of_a_path(argument: &[u8]) -> Vec<usize> {
    let mut places = vec![0];
    if let Some(at) = argument.iter().position(|byte| *byte == b'=') {
        places.push(at + 1);
    }
    if argument.len() > 2 && argument[0] == b'-' && argument[1] != b'-' {
        places.push(2);
    }
    places.retain(|start| *start < argument.len());
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_follow_an_option() {
        for (argument, expected) in [
            ("file", vec![0]),
            ("--in=f", vec![0, 5]),
            ("-ofile", vec![0, 2]),
            ("-o", vec![0]),
            ("a=", vec![0]),
        ] {
            assert_eq!(places_of_a_path(argument.as_bytes()), expected, "{argument}");
        }
        assert_eq!(places_of_a_path(b""), Vec::<usize>::new());
    }
}
