use super::*;
use crate::region::Scope;
use cairn_model::{
    Template,
    input::{FileRegion, Variable},
};
use std::collections::BTreeSet;

fn sample() -> Input {
    let file = |path: &str, kind| FileRegion {
        path: path.into(),
        kind,
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    };
    Input {
        args: vec!["-n".into(), "in.txt".into()],
        stdin: "some text\n".into(),
        files: vec![file("folder", FileKind::Folder), file("in.txt", FileKind::Regular("7 lines".into()))],
        environment: vec![("MODE".into(), "quick".into())],
        variables: vec![
            Variable { name: "n".into(), value: VariableValue::Int(3) },
            Variable { name: "key".into(), value: VariableValue::Bytes(vec![0; 4].into()) },
        ],
        buffer: Some("buffer".into()),
        ..Input::default()
    }
}

fn material(dictionary: &Dictionary) -> Material<'_> {
    Material { dictionary, donor: None, max_size: 100 }
}

/// Which kinds of regions differ.
fn differing(one: &Input, other: &Input) -> BTreeSet<RegionKind> {
    let is_same = |kind: &RegionKind| {
        let others: Vec<_> = RegionKind::ALL.into_iter().filter(|other| other != kind).collect();
        region::differ_only_in(&others, one, other)
    };
    RegionKind::ALL.into_iter().filter(|kind| !is_same(kind)).collect()
}

#[test]
fn only_what_may_change_changes() {
    let dictionary = Dictionary::default();
    for kind in RegionKind::ALL {
        let mut mutations = Mutations::new(&FuzzConfig::new(vec![kind], Input::default()));
        let mut random = Random::new(1);
        let mut changed = BTreeSet::new();
        for _ in 0..200 {
            let mut input = sample();
            mutations.change(&mut input, &mut random, &material(&dictionary));
            changed.extend(differing(&sample(), &input));
        }
        assert_eq!(changed, BTreeSet::from([kind]));
    }
}

#[test]
fn changed_inputs_can_be_given_to_a_program() {
    let mut dictionary = Dictionary::default();
    dictionary.add(b"a\0token".to_vec());
    let config = FuzzConfig::new(RegionKind::ALL.to_vec(), Input::default());
    let mut mutations = Mutations::new(&config);
    let mut random = Random::new(1);
    let mut input = sample();
    for round in 0..20_000 {
        let before = input.clone();
        let donor = sample();
        let material = Material { dictionary: &dictionary, donor: Some(&donor), max_size: 100 };
        let recipe = mutations.change(&mut input, &mut random, &material);
        assert!(region::size(&input) <= 100, "{input}");
        let words = input.args.iter().chain(input.environment.iter().map(|(_, value)| value));
        assert!(words.into_iter().all(|word| !word.0.contains(&0)), "{input}");
        let names = |input: &Input| -> Vec<String> {
            let files = input.files.iter().map(|file| file.path.clone());
            files.chain(input.variables.iter().map(|variable| variable.name.clone())).collect()
        };
        assert!(input.environment.iter().all(|(name, _)| name == "MODE"), "{input}");
        assert_eq!(names(&input), names(&before));
        let VariableValue::Bytes(memory) = &input.variables[1].value else { panic!("the type stays") };
        assert_eq!(memory.0.len(), 4);
        let told: BTreeSet<_> = recipe.steps().map(|(kind, _)| kind).collect();
        assert!(differing(&before, &input).is_subset(&told), "{recipe}");
        if round % 50 == 0 {
            input = sample();
        }
    }
}

#[test]
fn an_environment_variable_may_be_left_out() {
    let dictionary = Dictionary::default();
    let mut mutations = Mutations::new(&FuzzConfig::new(vec![RegionKind::Environment], Input::default()));
    let mut random = Random::new(1);
    let left_out = (0..200).filter(|_| {
        let mut input = sample();
        mutations.change(&mut input, &mut random, &material(&dictionary));
        input.environment.is_empty()
    });
    let n_left_out = left_out.count();
    assert!((20..180).contains(&n_left_out), "{n_left_out} of 200 times");
}

#[test]
fn what_pays_is_done_more_often() {
    let dictionary = Dictionary::default();
    let config = FuzzConfig::new(vec![RegionKind::Arguments, RegionKind::Stdin], Input::default());
    let mut mutations = Mutations::new(&config);
    let mut random = Random::new(1);
    let mut n_last = 0;
    for round in 0..60_000 {
        let mut input = sample();
        let recipe = mutations.change(&mut input, &mut random, &material(&dictionary));
        if differing(&sample(), &input) == BTreeSet::from([RegionKind::Arguments]) {
            n_last += usize::from(round >= 50_000);
            if random.once_in(100) {
                mutations.reward(&recipe);
            }
        }
    }
    assert!(n_last > 6000, "{n_last} of 10 000 changed arguments");
}

#[test]
fn only_a_bare_buffer_is_run_as_one() {
    let changes_only_buffer =
        |kinds: &[RegionKind], input: &Input| Scope::Regions(kinds).is_only_buffer(input);
    let bare = Input { buffer: Some("x".into()), ..Input::default() };
    assert!(changes_only_buffer(&[RegionKind::Buffer, RegionKind::Variables], &bare));
    assert!(!changes_only_buffer(&[RegionKind::Buffer, RegionKind::Arguments], &bare));
    assert!(!changes_only_buffer(&[RegionKind::Buffer], &sample()));
    assert!(!changes_only_buffer(&[RegionKind::Buffer], &Input::default()));
    assert!(Scope::Raw(RegionKind::Buffer).is_only_buffer(&bare));
    assert!(!Scope::Raw(RegionKind::Stdin).is_only_buffer(&bare));
}

#[test]
fn raw_bytes_stay_raw() {
    let dictionary = Dictionary::default();
    let other = FileRegion { path: "other".into(), ..sample().files.remove(1) };
    for (words, is_harness) in [(&["-x", "@@"][..], false), (&[], false), (&["-y"], true)] {
        let base = Input {
            args: words.iter().map(|word| (*word).into()).collect(),
            files: vec![other.clone()],
            environment: sample().environment,
            ..Input::default()
        };
        let template = Template { base, is_harness, max_size: 100 };
        let config = FuzzConfig { regions: RegionKind::ALL.to_vec(), ..FuzzConfig::of_template(&template) };
        let mut mutations = Mutations::new(&config);
        let mut random = Random::new(1);
        let (start, donor) = (template.fill(b"raw bytes".to_vec()), template.fill(b"others".to_vec()));
        let Scope::Raw(carrier) = config.scope(&start) else { panic!("{start} is raw") };
        let mut seen = BTreeSet::new();
        for _ in 0..2000 {
            let mut input = start.clone();
            let material = Material { dictionary: &dictionary, donor: Some(&donor), max_size: 100 };
            let recipe = mutations.change_raw(carrier, &mut input, &mut random, &material);
            mutations.reward(&recipe);
            assert!(region::size(&input) <= 100);
            seen.insert(template.raw(&input).unwrap_or_else(|| panic!("{recipe} makes {input}")).to_vec());
        }
        assert!(seen.len() > 500, "{}", seen.len());
        assert!(seen.iter().any(|bytes| bytes.windows(5).any(|part| part == b"other")));
        // What is more than bytes is no longer raw, and all of it may change.
        let more = Input { variables: sample().variables, ..start };
        assert_eq!(config.scope(&more), Scope::Regions(&RegionKind::ALL));
    }
}
