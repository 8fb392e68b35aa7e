//! A mutant that is plain text does what its text says.

use crate::{
    catalogue::{OperatorSet, Set},
    diff::edited,
    formula::{Trap, Value, types},
    testing::{Outcome, Scene, Store, parse, run},
};
use proptest::prelude::*;

const DECLARATIONS: &str = "int a, b; unsigned u; long l; unsigned long w; char c; unsigned char d; short s; \
                            double x; float y; global int g; global unsigned v";

/// Hundreds of mutants each.
const CASES: u32 = 120;

fn names() -> Vec<&'static str> {
    vec!["a", "b", "u", "l", "w", "c", "d", "s", "x", "y", "g", "v"]
}

fn integer_names() -> Vec<&'static str> {
    vec!["a", "b", "u", "l", "w", "c", "d", "s", "g", "v"]
}

/// Expressions on integers; a few take part in floating-point arithmetic as well.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => prop::sample::select(integer_names()).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["0", "1", "2", "7", "3u", "40l", "5ul"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let operators = vec![
            "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||",
        ];
        let casts = vec!["(char)", "(unsigned char)", "(int)", "(unsigned int)", "(long)"];
        prop_oneof![
            // Without parentheses the parser decides what belongs together.
            8 => (inner.clone(), prop::sample::select(operators.clone()), inner.clone(), any::<[bool; 2]>())
                .prop_map(|(left, operator, right, close)| {
                    format!("{} {operator} {}", closed(left, close[0]), closed(right, close[1]))
                }),
            2 => (prop::sample::select(vec!["-", "~", "!"]), inner.clone())
                .prop_map(|(operator, of)| format!("{operator}({of})")),
            1 => (prop::sample::select(casts), inner.clone()).prop_map(|(cast, of)| format!("{cast}({of})")),
            1 => inner.clone().prop_map(|of| format!("f({of})")),
            1 => (prop::sample::select(integer_names()), inner.clone())
                .prop_map(|(target, of)| format!("({target}++ && ({of}))")),
            1 => (prop::sample::select(integer_names()), inner.clone())
                .prop_map(|(target, of)| format!("({target} = {of})")),
            1 => inner.clone().prop_map(|of| format!("((double)({of}) * x - y < 2.5)")),
        ]
    })
}

fn closed(text: String, close: bool) -> String {
    if close { format!("({text})") } else { text }
}

fn lines() -> impl Strategy<Value = String> {
    let assignments = vec!["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
    prop_oneof![
        3 => expressions().prop_map(|of| format!("if ({of})")),
        2 => expressions().prop_map(|of| format!("return {of}")),
        3 => (prop::sample::select(integer_names()), prop::sample::select(assignments), expressions())
            .prop_map(|(target, operator, of)| format!("{target} {operator} {of}")),
        1 => (prop::sample::select(names()), expressions()).prop_map(|(target, of)| format!("{target} = {of}")),
        1 => (prop::sample::select(names()), any::<bool>(), expressions())
            .prop_map(|(of, is_prefix, other)| {
                if is_prefix { format!("++{of} + ({other})") } else { format!("{of}-- - ({other})") }
            }),
    ]
}

fn stores() -> impl Strategy<Value = Vec<i64>> {
    let number = prop_oneof![-3i64..6, any::<i64>(), any::<i32>().prop_map(i64::from)];
    prop::collection::vec(number, names().len())
}

fn store(scene: &Scene, numbers: &[i64]) -> Store {
    names()
        .into_iter()
        .zip(numbers)
        .map(|(name, number)| {
            let value_type = types::of_fact(&scene.names[name]).expect("all are numbers");
            let value = match value_type {
                cairn_model::mutants::ValueType::Float { .. } => {
                    Value::float(value_type, *number as f64 / 2.0)
                }
                _ => Value::integer(value_type, (*number).into()),
            };
            (name.to_owned(), value)
        })
        .collect()
}

/// Traps are one outcome: what had happened before is not compared.
fn are_alike(left: &Outcome, right: &Outcome) -> bool {
    match (left, right) {
        (Ok((left_value, left_store, left_calls)), Ok((right_value, right_store, right_calls))) => {
            let is_same = |left: &Value, right: &Value| {
                let are_nan = left.as_float().is_nan() && right.as_float().is_nan();
                left == right || (left.value_type() == right.value_type() && are_nan)
            };
            let are_stores_alike = left_store.iter().all(|(name, value)| is_same(value, &right_store[name]));
            is_same(left_value, right_value) && are_stores_alike && left_calls == right_calls
        }
        (Err(Trap::Division), Err(Trap::Division)) => true,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn plain_text_means_what_the_change_does(line in lines(), numbers in prop::collection::vec(stores(), 4)) {
        let names = Scene::new(DECLARATIONS, "a").names;
        let (_, start, end) = crate::testing::Statement::split(&line);
        // Some drawn expressions are no C, such as bits of a float.
        if parse(&line[start..end], &names).is_none() {
            return Ok(());
        }
        let scene = Scene::new(DECLARATIONS, &line);
        for (spot, proposal) in scene.proposals(&OperatorSet::named(Set::All)) {
            let site = scene.site(spot);
            let changed = edited(&line, site.extent, &proposal.replacement).expect("the site is in the line");
            let (_, start, end) = crate::testing::Statement::split(&changed);
            let tree = parse(&changed[start..end], &scene.names);
            prop_assert!(tree.is_some() || !proposal.is_plain_text || proposal.code == "ABS",
                "`{}` is no C: {:?}", changed, proposal);
            for numbers in &numbers {
                let store = store(&scene, numbers);
                let changed_code = run(&scene, &scene.tree, &store, Some((spot, &proposal)));
                let Some(tree) = tree.as_ref().filter(|_| proposal.is_plain_text) else { continue };
                let changed_text = run(&scene, tree, &store, None);
                prop_assert!(
                    are_alike(&changed_code, &changed_text),
                    "{:?}\n`{}` gives {:?},\nthe mutant {:?}", proposal, changed, changed_text, changed_code
                );
            }
        }
    }
}
