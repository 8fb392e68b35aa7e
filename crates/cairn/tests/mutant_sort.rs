//! Mutants of a real program do what they do compiled alone: 50 of `sort`.
//!
//! Needs the source of coreutils, which is fetched once, and a build of it, which takes a minute and is kept. Where
//! neither is there nor can be had the test says so and ends; `bench/run mutants-truth` compares more.

use cairn_executor::RunConfig;
use cairn_model::{Input, MutantId};
use cairn_targets::{Cache, find};
use cairn_testkit::{
    dist,
    mutants::{Behaviour, Judge, MutantBuild, Tally, sample},
};
use std::{collections::BTreeSet, path::PathBuf, time::Duration};

const N_MUTANTS: usize = 50;
const SEED: u64 = 50;

/// Where lines are read, cut into keys, compared and merged. All of `sort` has so many mutants that building them takes
/// minutes.
const SCOPE: &str = r#"{
    "files": ["src/sort.c"],
    "functions": ["fillbuf", "begfield", "limfield", "keycompare", "compare", "*numcompare", "getmonth",
        "find_unit_order", "traverse_raw_number", "sequential_sort", "mergelines*", "write_line", "check"]
}"#;

/// Steps a mutant may take.
const FUEL: u64 = 20_000_000;

const TEXT: &str = "pear 3\napple 12\n\nApple -1\nbanana 3\nbanana 3\n10K x\n2.5e1 y\nJan 7\nv1.10 a\nv1.9 b";

const OPTIONS: &[&str] = &[
    "",
    "-r",
    "-n -k2",
    "-u -f",
    "-g",
    "-h",
    "-M",
    "-V",
    "-k1.2,1.4b -s",
    "-t: -k2,2nr",
    "-c",
    "-z",
    "-d -i",
    "--debug -n",
    "-o out",
    "--parallel=1 -S 1M",
];

#[test]
fn fifty_mutants_of_sort_agree_with_the_same_compiled_alone() {
    let Some(program) = program() else { return };
    let build = MutantBuild::of(&program, "compact", Some(SCOPE.to_owned()));
    let judge = Judge::new(&RunConfig {
        wall_limit: Duration::from_secs(5),
        program_name: Some("sort".into()),
        ..RunConfig::default()
    });
    let mut session = build.session(judge.config().clone());
    session.set_fuel(FUEL);
    let inputs: Vec<Input> = OPTIONS.iter().map(|options| input(options)).collect();
    let mut infected: BTreeSet<MutantId> = BTreeSet::new();
    for input in &inputs {
        let bare = judge.run(&build.views.bare, input);
        let examined = session.examine(input).expect("an examining run");
        assert_eq!(Behaviour::from(examined.run.execution.outcome), bare, "{input}");
        infected.extend(examined.infected);
    }
    let infected: Vec<MutantId> = infected.into_iter().collect();
    let chosen = sample(&build.table, &infected, N_MUTANTS, SEED);
    assert_eq!(chosen.len(), N_MUTANTS);
    let runs: Vec<Vec<Behaviour>> = inputs
        .iter()
        .map(|input| {
            let runs = session.run(input, &chosen).expect("runs of mutants");
            runs.into_iter().map(|run| run.run.execution.outcome.into()).collect()
        })
        .collect();
    let mut tally = Tally::default();
    for (number, reference) in build.alone(&chosen).iter().enumerate() {
        for (input, runs) in inputs.iter().zip(&runs) {
            let agreement = judge.compare(reference, input, &runs[number], &build);
            if agreement != cairn_testkit::mutants::Agreement::Same {
                eprintln!(
                    "{} on {input}: {} but {agreement:?}",
                    build.describe(reference.mutant),
                    runs[number]
                );
            }
            tally.add(&format!("{} on {input}", build.describe(reference.mutant)), &runs[number], agreement);
        }
    }
    println!("{tally}");
    assert!(tally.different.is_empty(), "{tally}");
}

fn input(options: &str) -> Input {
    Input {
        args: options.split_whitespace().map(Into::into).collect(),
        stdin: TEXT.into(),
        ..Input::default()
    }
}

/// `sort` built with `cairn-cc`, unless its source cannot be had.
fn program() -> Option<PathBuf> {
    let repository = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it"))
        .join("../..")
        .canonicalize()
        .expect("the repository");
    let folder = Cache::default_folder(|name| std::env::var_os(name))?;
    let cache = Cache::open(&folder, &dist().bin(), &repository, |_| ()).expect("the targets' cache");
    let sort = find("sort").expect("`sort` is a target");
    let source = match sort.fetch(&cache) {
        Ok(source) => source.expect("`sort` comes from a package"),
        Err(error) => {
            eprintln!("skipped, because the source of coreutils cannot be fetched: {error}");
            return None;
        }
    };
    let script = sort.build_program.expect("`sort` can be built without the others");
    let compiler = cache.tool_hash("cairn-cc").expect("`cairn-cc` is in the distribution");
    let recipe = format!("{script}\n{}\n{compiler}", source.display());
    let folder = cache
        .step("builds/sort-for-tests", &recipe, |folder| {
            cache.shell(folder, &format!("cp -a '{}/.' .", source.display()), &[])?;
            let here = folder.to_string_lossy().into_owned();
            let variables = [("SRC", here.as_str()), ("CC", "cairn-cc"), ("FLAGS", "-O2")];
            cache.shell(folder, script, &variables).map(|_| ())
        })
        .unwrap_or_else(|error| panic!("`sort` does not build: {error}"));
    Some(folder.join(sort.executable))
}
