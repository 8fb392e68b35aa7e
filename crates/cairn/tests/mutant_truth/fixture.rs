//! A fixture with all its views.

use cairn_model::{
    Input, MutantId,
    input::{FileKind, FileRegion},
};
use cairn_testkit::{Workspace, fixture, mutants::MutantBuild};
use std::{fs, path::PathBuf};

/// A fixture that was built with the mutants of a set.
pub struct Fixture {
    /// Its folder while the test runs.
    pub workspace: Workspace,
    /// Its views.
    pub build: MutantBuild,
    /// Its sources.
    pub sources: Vec<PathBuf>,
    /// Its inputs by name.
    pub inputs: Vec<(String, Input)>,
}

/// What every fixture is compiled with.
pub const ARGUMENTS: &[&str] = &["-pthread", "-lm"];

impl Fixture {
    /// Builds a fixture.
    pub fn build(name: &str, set: &str) -> Self {
        let workspace = Workspace::new();
        let folder = fixture(name);
        let mut sources = files(&folder);
        sources
            .retain(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"));
        let is_cxx = sources.iter().any(|path| path.extension().is_some_and(|extension| extension == "cpp"));
        let words = sources.iter().map(|path| path.as_os_str().to_owned());
        let words = words.chain(["-w", "-o", "program"].iter().chain(ARGUMENTS).map(Into::into));
        workspace.run(if is_cxx { "cairn-c++" } else { "cairn-cc" }, words).success();
        let build = MutantBuild::of(&workspace.path("program"), set, None);
        let text = |path: &PathBuf| fs::read_to_string(path).expect("a source is text");
        let is_harness = sources.iter().any(|path| text(path).contains("LLVMFuzzerTestOneInput"));
        let mut inputs: Vec<(String, Input)> = files(&folder.join("inputs"))
            .iter()
            .map(|path| {
                let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
                (name, input(fs::read(path).expect("an input"), is_harness))
            })
            .collect();
        if inputs.is_empty() {
            inputs.push(("nothing".into(), input(Vec::new(), is_harness)));
        }
        Self { workspace, build, sources, inputs }
    }

    /// Whether a mutant is a change of the source's text.
    pub fn is_plain_text(&self, mutant: MutantId) -> bool {
        self.build.table.mutants[mutant.index()].is_plain_text
    }
}

/// The files in a folder, by name; none if there is no such folder.
fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The bytes on standard input and in the file `given`, or in the buffer of a harness.
fn input(bytes: Vec<u8>, is_harness: bool) -> Input {
    if is_harness {
        return Input { buffer: Some(bytes.into()), ..Input::default() };
    }
    let given = FileRegion {
        path: "given".into(),
        kind: FileKind::Regular(bytes.clone().into()),
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    };
    Input { stdin: bytes.into(), args: vec!["argument".into()], files: vec![given], ..Input::default() }
}
