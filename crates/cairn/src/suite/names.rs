//! Names of tests: what the user called an input, or what it says.

use crate::inputs::NamedInput;
use cairn_model::{Input, input::FileKind};
use std::collections::BTreeSet;

/// The longest part of a name that tells what the input is.
const LONGEST: usize = 40;

/// A name for each input, all different, fit for a file.
pub fn names(inputs: &[NamedInput]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for named in inputs {
        let address = named.input.address();
        let file = named.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let candidates = [
            (!is_made(&file)).then(|| words(file.as_bytes())).filter(|words| !words.is_empty()),
            Some(format!("{}-{}", described(&named.input), &address[..8])),
            Some(address),
        ];
        let name = candidates.into_iter().flatten().find(|name| taken.insert(name.clone()));
        names.push(name.expect("addresses are all different"));
    }
    names
}

/// Whether a program made up this name: an address, or a name as fuzzers give them.
fn is_made(name: &str) -> bool {
    let is_hash = name.len() >= 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_fuzzers = ["id:", "id_", "crash-", "leak-", "timeout-", "slow-unit-", "oom-"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    is_hash || is_fuzzers
}

/// What an input says, in a few words.
fn described(input: &Input) -> String {
    let args: Vec<u8> = input.args.iter().map(|arg| arg.0.as_slice()).collect::<Vec<_>>().join(&b' ');
    let file = input.files.iter().find_map(|file| match &file.kind {
        FileKind::Regular(content) => Some(&content.0),
        _ => None,
    });
    let variables: Vec<String> =
        input.variables.iter().map(|variable| format!("{} {}", variable.name, variable.value)).collect();
    let texts = [
        Some(args.as_slice()),
        input.buffer.as_ref().map(|buffer| buffer.0.as_slice()),
        Some(input.stdin.0.as_slice()),
        file.map(Vec::as_slice),
        Some(variables.join(" ").as_bytes()).filter(|text| !text.is_empty()),
    ]
    .map(|text| text.map(words).unwrap_or_default());
    let described =
        texts.iter().filter(|text| !text.is_empty()).take(2).cloned().collect::<Vec<_>>().join("-");
    match described.char_indices().nth(LONGEST) {
        _ if described.is_empty() => "input".into(),
        Some((cut, _)) => described[..cut].trim_end_matches('-').into(),
        None => described,
    }
}

/// Letters and digits of the start of a text, with `-` between words.
fn words(text: &[u8]) -> String {
    let start = &text[..text.len().min(4 * LONGEST)];
    let words = start.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'.');
    let words = words.filter(|word| word.iter().any(u8::is_ascii_alphanumeric));
    let words: Vec<String> = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let joined = words.join("-");
    let joined = joined.trim_matches('.');
    joined[..joined.len().min(LONGEST)].trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &str, args: &[&str], stdin: &str) -> NamedInput {
        let args = args.iter().map(|arg| (*arg).into()).collect();
        NamedInput { path: path.into(), input: Input { args, stdin: stdin.into(), ..Input::default() } }
    }

    #[test]
    fn a_users_own_name_is_best() {
        let made = "0123456789abcdef0123456789abcdef";
        let inputs = [
            named("in/negative number.json", &[], "-5"),
            named(&format!("in/{made}"), &["-r", "--key=2"], "b\na\n"),
            named("out/queue/id:000001,src:000000", &[], "\u{0}\u{1}"),
            named("other/negative number", &[], "-6"),
        ];
        let names = names(&inputs);
        assert_eq!(names[0], "negative-number");
        assert_eq!(names[1], format!("r-key-2-b-a-{}", &inputs[1].input.address()[..8]));
        assert_eq!(names[2], format!("input-{}", &inputs[2].input.address()[..8]));
        assert_eq!(names[3], format!("6-{}", &inputs[3].input.address()[..8]));
    }
}
