//! Inputs made from recorded ones by small changes to arguments, standard input and files.
//!
//! Nothing here knows a program: words and bytes are moved between inputs, repeated, cut and flipped. Many of the
//! results are nonsense, and that is what they are for.

use crate::random::Random;
use cairn_model::{
    Input,
    input::{Bytes, FileKind},
};
use std::collections::BTreeSet;

/// Makes up to `n` inputs, all different from each other and from the recorded ones. The same seed and inputs give the
/// same.
///
/// Fewer come out only where small changes lead to few inputs.
pub fn generate(recorded: &[Input], n: usize, seed: u64) -> Vec<Input> {
    const MAX_TRIES: usize = 100;
    let mut random = Random(seed);
    let mut known: BTreeSet<String> = recorded.iter().map(Input::address).collect();
    let mut inputs = Vec::new();
    // A change may do nothing, such as one to a file where there is none, and two may do the same.
    for _ in 0..n.saturating_mul(MAX_TRIES) {
        if inputs.len() == n {
            break;
        }
        let input = changed(recorded, &mut random);
        if known.insert(input.address()) {
            inputs.push(input);
        }
    }
    inputs
}

fn changed(recorded: &[Input], random: &mut Random) -> Input {
    let mut input = random.pick(recorded).clone();
    for _ in 0..1 + random.below(4) {
        let other = random.pick(recorded);
        match random.below(8) {
            0 | 1 => change_words(&mut input.args, &other.args, random),
            2 | 3 => change_one_word(&mut input.args, random),
            4 => change_bytes(&mut input.stdin.0, &other.stdin.0, random),
            5 => change_file(&mut input, other, random),
            6 => input.stdin = other.stdin.clone(),
            _ => join_files(&mut input, other),
        }
    }
    input
}

/// Adds, removes, repeats or swaps words.
fn change_words(words: &mut Vec<Bytes>, others: &[Bytes], random: &mut Random) {
    let at = random.below(words.len() + 1);
    match random.below(4) {
        0 if !others.is_empty() => words.insert(at, random.pick(others).clone()),
        1 if at < words.len() => drop(words.remove(at)),
        2 if at < words.len() => words.insert(at, words[at].clone()),
        _ if words.len() > 1 => {
            let (one, other) = (random.below(words.len()), random.below(words.len()));
            words.swap(one, other);
        }
        _ => {}
    }
}

/// Changes inside a word; an argument never holds a zero byte.
fn change_one_word(words: &mut [Bytes], random: &mut Random) {
    if words.is_empty() {
        return;
    }
    let at = random.below(words.len());
    change_bytes(&mut words[at].0, b"-", random);
    words[at].0.retain(|byte| *byte != 0);
}

/// Flips, inserts, removes, repeats or borrows bytes.
fn change_bytes(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(6) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 => bytes.insert(at, random.next() as u8),
        2 if at < bytes.len() => drop(bytes.remove(at)),
        3 if at < bytes.len() => {
            let end = (at + 1 + random.below(16)).min(bytes.len());
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        4 if !other.is_empty() => {
            let from = random.below(other.len());
            let end = (from + 1 + random.below(64)).min(other.len());
            bytes.splice(at..at, other[from..end].iter().copied());
        }
        _ => bytes.truncate(at),
    }
}

fn change_file(input: &mut Input, other: &Input, random: &mut Random) {
    let contents = |input: &Input| {
        input.files.iter().find_map(|file| match &file.kind {
            FileKind::Regular(bytes) => Some(bytes.0.clone()),
            _ => None,
        })
    };
    let borrowed = contents(other).unwrap_or_default();
    let mut regular: Vec<_> = input
        .files
        .iter_mut()
        .filter_map(|file| match &mut file.kind {
            FileKind::Regular(bytes) => Some(bytes),
            _ => None,
        })
        .collect();
    if regular.is_empty() {
        return;
    }
    let at = random.below(regular.len());
    change_bytes(&mut regular[at].0, &borrowed, random);
}

/// The other's files too, where the names are free.
fn join_files(input: &mut Input, other: &Input) {
    // A link to another entry makes no sense without it, and a folder may be in the way of a file.
    for file in &other.files {
        let is_plain = matches!(file.kind, FileKind::Regular(_)) && !file.path.contains('/');
        let is_free = input
            .files
            .iter()
            .all(|own| own.path != file.path && !own.path.starts_with(&format!("{}/", file.path)));
        if is_plain && is_free && input.files.len() < 16 {
            input.files.push(file.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Vec<Input> {
        let input = |args: &[&str], stdin: &str| Input {
            args: args.iter().map(|word| (*word).into()).collect(),
            stdin: stdin.into(),
            ..Input::default()
        };
        vec![input(&["-n", "-k2"], "b 2\na 1\n"), input(&[], ""), input(&["-r", "x"], "1\n2\n3\n")]
    }

    #[test]
    fn the_same_seed_gives_the_same_inputs_and_another_others() {
        let inputs = generate(&recorded(), 200, 1);
        assert_eq!(inputs, generate(&recorded(), 200, 1));
        assert_ne!(inputs, generate(&recorded(), 200, 2));
    }

    #[test]
    fn generated_inputs_are_all_different_and_can_be_passed_on() {
        let recorded = recorded();
        let inputs = generate(&recorded, 1000, 1);
        assert_eq!(inputs.len(), 1000);
        let addresses: BTreeSet<String> = recorded.iter().chain(&inputs).map(Input::address).collect();
        assert_eq!(addresses.len(), recorded.len() + inputs.len());
        assert!(inputs.iter().flat_map(|input| &input.args).all(|word| !word.0.contains(&0)));
    }
}
