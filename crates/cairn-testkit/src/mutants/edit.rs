//! Mutants whose difference is plain text, compiled from the changed source.

use super::{MutantBuild, judge::Reference};
use crate::dist;
use cairn_model::{MutantId, map::Extent};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The sources of a program, to be changed and compiled with plain clang.
#[derive(Clone, Debug)]
pub struct EditedSources<'a> {
    /// The files that are compiled together.
    pub sources: &'a [PathBuf],
    /// Further arguments of the compiler: defines, libraries.
    pub arguments: &'a [String],
    /// Where changed files and programs go.
    pub work: &'a Path,
}

/// Arguments of clang by which what C leaves open is settled as views settle it.
pub fn settled() -> &'static [&'static str] {
    SETTLED
}

const SETTLED: &[&str] = &[
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-finite-loops",
    "-ftrivial-auto-var-init=zero",
    // As views are preprocessed.
    "-U__OPTIMIZE__",
];

/// Compiled so often: where they do not agree with each other, C leaves open what the mutant does.
const LEVELS: &[&str] = &["-O1", "-O0"];

impl EditedSources<'_> {
    /// Compiles the program with the text of `mutant`'s site replaced.
    pub fn compile(&self, build: &MutantBuild, mutant: MutantId) -> Reference {
        let entry = &build.table.mutants[mutant.index()];
        assert!(entry.is_plain_text, "{} is no change of text", build.describe(mutant));
        let extent = build.map.sites[build.table.patch_of(mutant).site.index()].extent;
        let changed_file = Path::new(&build.map.files[extent.start.file as usize].absolute);
        let text = fs::read(changed_file)
            .unwrap_or_else(|error| panic!("read `{}`: {error}", changed_file.display()));
        let folder = self.work.join(format!("edit-{}", entry.stable_id));
        // Headers are found beside the sources, so all of them move.
        copy_siblings(changed_file, &folder);
        let name = changed_file.file_name().expect("a source has a name");
        fs::write(folder.join(name), edited(&text, extent, &entry.replacement)).expect("write a source");
        let sources: Vec<PathBuf> = self
            .sources
            .iter()
            .map(|path| folder.join(path.file_name().expect("a source has a name")))
            .collect();
        let programs = LEVELS.iter().map(|level| self.build_one(build, mutant, level, &sources, &folder));
        Reference { mutant, is_text: true, programs: programs.collect() }
    }

    fn build_one(
        &self,
        build: &MutantBuild,
        mutant: MutantId,
        level: &str,
        sources: &[PathBuf],
        folder: &Path,
    ) -> PathBuf {
        let program = folder.join(format!("program{level}"));
        let is_cxx = sources.iter().any(|path| path.extension().is_some_and(|extension| extension == "cpp"));
        let output = Command::new(if is_cxx { "clang++-19" } else { "clang-19" })
            .args(["-w", level])
            .args(SETTLED)
            .arg("-I")
            .arg(dist().include())
            .args(sources)
            .args(self.arguments)
            .arg(dist().delivery_archive())
            .arg("-o")
            .arg(&program)
            .stdin(Stdio::null())
            .output()
            .expect("clang-19 is installed");
        assert!(
            output.status.success(),
            "{} does not compile as text:\n{}",
            build.describe(mutant),
            String::from_utf8_lossy(&output.stderr)
        );
        program
    }
}

fn copy_siblings(file: &Path, to: &Path) {
    fs::create_dir_all(to).expect("make a folder");
    let folder = file.parent().expect("a source lies in a folder");
    for entry in fs::read_dir(folder).expect("read a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().expect("a file has a name"))).expect("copy a source");
        }
    }
}

/// `text` with `replacement` in place of what stands at `extent`, and spaces around it: in `a-5` with -1 in place of 5,
/// signs would run together.
pub fn edited(text: &[u8], extent: Extent, replacement: &str) -> Vec<u8> {
    let offset = |line: u32, column: u32| {
        let before: usize =
            text.split_inclusive(|byte| *byte == b'\n').take(line as usize - 1).map(<[u8]>::len).sum();
        before + column as usize - 1
    };
    let start = offset(extent.start.line, extent.start.column);
    let end = offset(extent.end.line, extent.end.column);
    [&text[..start], b" ", replacement.as_bytes(), b" ", &text[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::facts::Place;

    #[test]
    fn a_site_over_lines_is_replaced_as_a_whole() {
        let place = |line, column| Place { file: 0, line, column };
        let extent = Extent { start: place(2, 3), end: place(3, 4) };
        assert_eq!(edited(b"one\n  a +\n  b;\nend\n", extent, "a - b"), b"one\n   a - b ;\nend\n");
    }

    #[test]
    fn signs_do_not_run_together() {
        let place = |column| Place { file: 0, line: 1, column };
        let extent = Extent { start: place(3), end: place(4) };
        assert_eq!(edited(b"a-5;", extent, "-1"), b"a- -1 ;");
    }
}
