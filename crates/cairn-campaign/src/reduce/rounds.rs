//! One pass after the other, until nothing changes.

use super::{
    bytes,
    interview::{Interview, Keeps, ReduceConfig},
    numbers, parts,
    region::Region,
};
use cairn_model::Input;

/// An input that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The input.
    pub input: Input,
    /// Inputs the caller was asked about.
    pub n_questions: u64,
    /// Whether there was nothing left to ask. Otherwise the questions were used up, and more might make it smaller.
    pub is_finished: bool,
}

/// Makes `input`, which is good for something, smaller and easier to read.
///
/// `keeps` answers for each input of a list whether it is good for the same; the list is short, and the first that is good
/// is taken. The result is good, because it is `input` itself or was asked about.
pub fn reduce<'a, E>(
    input: &Input,
    config: ReduceConfig<'a>,
    keeps: &'a mut Keeps<'a, E>,
) -> Result<Reduced, E> {
    let mut interview = Interview::new(config, keeps);
    let mut current = input.clone();
    loop {
        let before = current.clone();
        parts::leave_out_whole(&mut interview, &mut current)?;
        parts::make_usual(&mut interview, &mut current)?;
        for region in Region::of(&current).into_iter().filter(|region| region.can_shrink()) {
            parts::leave_out_bytes(&mut interview, &mut current, region)?;
        }
        if !config.keeps_values {
            numbers::towards_zero(&mut interview, &mut current)?;
            for region in Region::of(&current) {
                bytes::simplify(&mut interview, &mut current, region)?;
            }
        }
        if current == before || interview.is_over {
            let Interview { n_questions, is_over, .. } = interview;
            return Ok(Reduced { input: current, n_questions, is_finished: !is_over });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::input::{FileKind, FileRegion, Variable, VariableValue};
    use expect_test::{Expect, expect};
    use proptest::{collection::vec, prelude::*};
    use std::{cell::Cell, convert::Infallible};

    fn reduced(input: &Input, config: ReduceConfig<'_>, is_good: impl Fn(&Input) -> bool) -> Reduced {
        assert!(is_good(input), "what is reduced is good");
        let mut keeps = |inputs: &[Input]| Ok::<_, Infallible>(inputs.iter().map(&is_good).collect());
        let Ok(reduced) = reduce(input, config, &mut keeps);
        assert!(is_good(&reduced.input), "what was reduced is good");
        reduced
    }

    #[track_caller]
    fn check(input: &Input, is_good: impl Fn(&Input) -> bool, expected: Expect) {
        expected.assert_eq(&reduced(input, ReduceConfig::default(), is_good).input.to_string());
    }

    fn stdin(bytes: &[u8]) -> Input {
        Input { stdin: bytes.to_vec().into(), ..Input::default() }
    }

    fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
        bytes.windows(wanted.len()).any(|window| window == wanted)
    }

    fn file(path: &str, kind: FileKind) -> FileRegion {
        FileRegion {
            path: path.into(),
            kind,
            mode: Some(0o600),
            size: None,
            modified: Some(7),
            accessed: None,
            owner: None,
        }
    }

    #[test]
    fn what_is_good_for_nothing_becomes_empty() {
        check(
            &stdin(b"many bytes\nand lines\n"),
            |_| true,
            expect![[r#"
            (empty input)
        "#]],
        );
    }

    #[test]
    fn what_matters_stays() {
        let text = b"int main(void) {\n  return magic + 1;\n}\n";
        check(
            &stdin(text),
            |input| contains(&input.stdin.0, b"magic"),
            expect![[r#"
            stdin: "magic"
        "#]],
        );
        // Two places that depend on each other, far apart.
        check(
            &stdin(b"begin one two three end four five"),
            |input| contains(&input.stdin.0, b"begin") && contains(&input.stdin.0, b"end"),
            expect![[r#"
                stdin: "beginend"
            "#]],
        );
    }

    #[test]
    fn bytes_that_do_not_matter_become_text() {
        let bytes: Vec<u8> = (0..20).map(|byte| 255 - byte * 3).collect();
        check(
            &stdin(&bytes),
            |input| input.stdin.0.len() >= 8 && input.stdin.0[3] > b'x',
            expect![[r#"
            stdin: "aaazaaaa"
        "#]],
        );
    }

    #[test]
    fn values_can_be_kept() {
        let config = ReduceConfig { keeps_values: true, ..ReduceConfig::default() };
        let variables = vec![Variable { name: "n".into(), value: VariableValue::Int(77) }];
        let input = Input { variables, ..stdin(b"(12-7)*9 and more") };
        let reduced = reduced(&input, config, |input| input.stdin.0.contains(&b'*'));
        assert_eq!(reduced.input, Input { stdin: "*".into(), ..input.clone() });
        let arithmetic =
            |input: &Input| input.stdin.0.iter().filter(|byte| byte.is_ascii_digit()).count() > 2;
        let reduced = self::reduced(&input, config, arithmetic);
        assert_eq!(reduced.input.stdin, "127".into());
    }

    #[test]
    fn arguments_go_whole_and_then_in_words() {
        let args = ["-v", "--color=always never", "x"].map(Into::into).to_vec();
        let input = Input { args, ..Input::default() };
        let is_good = |input: &Input| input.args.iter().any(|arg| contains(&arg.0, b"--color="));
        check(
            &input,
            is_good,
            expect![[r#"
            args: ["--color="]
        "#]],
        );
    }

    #[test]
    fn files_the_environment_and_metadata_go_too() {
        let input = Input {
            files: vec![
                file("one", FileKind::Regular("1\n2\n3\n".into())),
                file("two", FileKind::Hardlink("one".into())),
                file("three", FileKind::Folder),
            ],
            environment: vec![("A".into(), "b".into()), ("COLOR".into(), "red".into())],
            ..Input::default()
        };
        let is_good = |input: &Input| {
            // No layout has a hard link to nothing.
            let is_laid_out = input.files.iter().all(|file| match &file.kind {
                FileKind::Hardlink(other) => input.files.iter().any(|file| file.path == *other),
                _ => true,
            });
            assert!(is_laid_out, "{input}");
            input.files.iter().any(|file| file.path == "two")
                && input.environment.iter().any(|(name, _)| name == "COLOR")
        };
        check(
            &input,
            is_good,
            expect![[r#"
            file one: ""
            hard link two = one
            environment: COLOR=""
        "#]],
        );
    }

    #[test]
    fn numbers_go_towards_zero() {
        let variable = |name: &str, value| Variable { name: name.into(), value };
        let input = Input {
            variables: vec![
                variable("n", VariableValue::Int(-98_765)),
                variable("u", VariableValue::Uint(1 << 40)),
                variable("x", VariableValue::Double(1234.5f64.to_bits())),
                variable("free", VariableValue::Int(i64::MIN)),
                variable("memory", VariableValue::Bytes(vec![0xff, 7, b'q'].into())),
            ],
            ..Input::default()
        };
        let is_good = |input: &Input| {
            let values: Vec<_> = input.variables.iter().map(|variable| &variable.value).collect();
            let VariableValue::Bytes(memory) = values[4] else { panic!("memory stays memory") };
            matches!(values[0], VariableValue::Int(..-1000))
                && matches!(values[1], VariableValue::Uint(12_345..))
                && matches!(values[2], VariableValue::Double(bits) if f64::from_bits(*bits) > 99.25)
                && memory.0.len() == 3
        };
        check(
            &input,
            is_good,
            expect![[r#"
            n: -1001
            u: 12345
            x: 100.0
            free: 0
            memory: "aaa"
        "#]],
        );
    }

    #[test]
    fn questions_have_a_limit() {
        let input = stdin(&b"magic and much more\n".repeat(50));
        let is_good = |input: &Input| contains(&input.stdin.0, b"magic");
        for max_questions in [0, 1, 7, 20] {
            let config = ReduceConfig { max_questions, ..ReduceConfig::default() };
            let reduced = reduced(&input, config, is_good);
            assert!(reduced.n_questions <= max_questions && !reduced.is_finished, "{reduced:?}");
        }
    }

    #[test]
    fn nothing_is_made_after_it_is_enough() {
        let input = stdin(&b"magic and much more\n".repeat(50));
        let (n_asked, n_made) = (Cell::new(0), Cell::new(0u32));
        // Candidates are shown here before they are asked about.
        let allows = |_: &Input| {
            n_made.set(n_made.get() + 1);
            true
        };
        let is_enough = || n_asked.get() >= 5;
        let config =
            ReduceConfig { is_enough: &is_enough, allows: &allows, at_once: 1, ..ReduceConfig::default() };
        let reduced = reduced(&input, config, |input| {
            n_asked.set(n_asked.get() + 1);
            contains(&input.stdin.0, b"magic")
        });
        assert!(!reduced.is_finished && reduced.n_questions < 8, "{reduced:?}");
        // Some are alike, and not asked about.
        assert!(n_made.get() < 30, "{} candidates were made", n_made.get());
    }

    #[test]
    fn inputs_that_are_not_allowed_are_not_asked_about() {
        let input = Input { args: vec!["-x".into()], ..stdin(b"abc") };
        let allows = |input: &Input| input.args.len() == 1 && input.args[0].0 == b"-x";
        let config = ReduceConfig { allows: &allows, ..ReduceConfig::default() };
        let reduced = reduced(&input, config, |input| {
            assert!(allows(input), "{input}");
            true
        });
        assert_eq!(reduced.input.to_string(), "args: [\"-x\"]\n");
    }

    #[test]
    fn a_question_that_cannot_be_answered_ends_it() {
        let mut keeps = |_: &[Input]| Err("the target is gone");
        assert_eq!(reduce(&stdin(b"x"), ReduceConfig::default(), &mut keeps), Err("the target is gone"));
    }

    proptest! {
        #[test]
        fn no_byte_can_be_spared_and_every_time_the_same_comes_out(
            bytes in vec(any::<u8>(), 0..40),
            wanted in vec(0usize..40, 0..4),
            at_once in 1usize..9,
        ) {
            // Good is whatever has some of the bytes, in this order.
            let wanted: Vec<u8> = wanted.iter().filter_map(|index| bytes.get(*index).copied()).collect();
            let is_good = |input: &Input| {
                let mut rest = input.stdin.0.iter();
                wanted.iter().all(|byte| rest.any(|other| other == byte))
            };
            prop_assume!(is_good(&stdin(&bytes)));
            let config = ReduceConfig { at_once, ..ReduceConfig::default() };
            let one = reduced(&stdin(&bytes), config, is_good);
            prop_assert!(one.is_finished);
            prop_assert_eq!(&one.input.stdin.0, &wanted);
            prop_assert_eq!(reduced(&stdin(&bytes), config, is_good), one);
        }
    }
}
