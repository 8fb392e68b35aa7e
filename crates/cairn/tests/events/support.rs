//! Fixtures, built, and what is asked about them.

use cairn_abi::mutants::Guidepost;
use cairn_concolic::{Limits, Path, Recording, Regions};
use cairn_executor::{Asked, RunConfig, SymbolicConfig, SymbolicExecutor, SymbolicRun, environment};
use cairn_model::{Input, SiteTable};
use cairn_testkit::{Ran, Workspace, fixture, mutants::MutantBuild};
use serde_json::Value;
use std::fs;

/// A fixture that was compiled to `program`.
#[track_caller]
pub fn built(name: &str) -> Workspace {
    let workspace = Workspace::of_fixture(name);
    let names = fs::read_dir(fixture(name)).expect("a fixture");
    let names = names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut words: Vec<String> =
        names.filter(|name| name.ends_with(".c") || name.ends_with(".cpp")).collect();
    words.sort();
    let compiler = if words.iter().any(|name| name.ends_with(".cpp")) { "cairn-c++" } else { "cairn-cc" };
    words.extend(["-w", "-lm", "-pthread", "-o", "program"].map(String::from));
    workspace.run(compiler, words).success();
    workspace
}

pub fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// The id of the site with this text that stands at `number` among them.
pub fn site(workspace: &Workspace, text: &str, number: usize) -> String {
    let map = json(&workspace.run("cairn", ["map", "./program", "--json"]).success());
    let mut sites: Vec<&Value> =
        map["sites"].as_array().expect("a list").iter().filter(|site| site["text"] == text).collect();
    let place = |site: &&Value| {
        let start = &site["extent"]["start"];
        (start["line"].as_u64(), start["column"].as_u64())
    };
    sites.sort_by_key(place);
    sites[number]["stable_id"].as_str().expect("an id").to_owned()
}

/// A fixture in its mutant view and its detailed symbolic view.
pub struct Views {
    pub build: MutantBuild,
    pub sites: SiteTable,
    pub inputs: Vec<(String, Input)>,
    symbolic: SymbolicExecutor,
    _workspace: Workspace,
}

impl Views {
    pub fn of(name: &str) -> Self {
        let workspace = built(name);
        let build = MutantBuild::of(&workspace.path("program"), "all", None);
        let (view, sites) = build.detailed_view();
        let config = SymbolicConfig { n_probes: sites.probes.len(), ..SymbolicConfig::default() };
        let symbolic = SymbolicExecutor::new(view, RunConfig::default(), config).expect("the detailed view");
        let is_harness = fs::read_to_string(fixture(name).join("target.c"))
            .is_ok_and(|text| text.contains("LLVMFuzzerTestOneInput"));
        let mut files: Vec<_> = fs::read_dir(fixture(name).join("inputs"))
            .into_iter()
            .flatten()
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        let mut inputs: Vec<(String, Input)> = files
            .iter()
            .map(|path| {
                let bytes = fs::read(path).expect("an input");
                let input = match is_harness {
                    true => Input { buffer: Some(bytes.into()), ..Input::default() },
                    false => Input { stdin: bytes.into(), ..Input::default() },
                };
                (path.file_name().expect("a name").to_string_lossy().into_owned(), input)
            })
            .collect();
        if inputs.is_empty() {
            inputs.push(("nothing".into(), Input::default()));
        }
        Self { build, sites, inputs, symbolic, _workspace: workspace }
    }

    /// A run that is asked.
    pub fn run(&mut self, input: &Input, asked: Asked) -> SymbolicRun {
        self.symbolic.ask(asked).expect("the view has these probes");
        self.symbolic.run(input).expect("a symbolic run")
    }
}

/// The path of a run with a guidepost armed.
pub fn path(input: &Input, run: &SymbolicRun, armed: &Guidepost) -> Path {
    let environment = environment(input).expect("an environment");
    let regions = Regions::new(input.clone(), environment, Limits::default());
    let recording = Recording { records: &run.records, nodes: &run.nodes, tables: &run.tables };
    Path::guided(recording, regions, Some(armed))
}
