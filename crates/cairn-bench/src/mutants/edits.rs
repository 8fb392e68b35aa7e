//! Builds of a real program from changed sources.

use anyhow::{Context, Result};
use cairn_model::MutantId;
use cairn_targets::{Cache, Target};
use cairn_testkit::mutants::{MutantBuild, Reference, edited, settled};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A build by plain clang in which one file after the other is changed.
pub struct Edits<'a> {
    cache: &'a Cache,
    target: &'static Target,
    folder: PathBuf,
}

impl<'a> Edits<'a> {
    /// Builds the program once, as its authors say, with what C leaves open settled as in views.
    pub fn of(cache: &'a Cache, target: &'static Target) -> Result<Self> {
        let source = target.fetch(cache)?.context("a program has a source")?;
        let flags = format!("-O1 -w {}", settled().join(" "));
        let script = target.build_program.unwrap_or(target.build);
        let name = format!("edits/{}", target.name);
        let folder = cache.step(&name, &format!("{script}\n{flags}\n{}", source.display()), |folder| {
            (cache.say)(&format!("building {} for changes of its source", target.name));
            cache.shell(folder, &format!("cp -a '{}/.' .", source.display()), &[])?;
            let here = folder.to_string_lossy().into_owned();
            let variables = [("SRC", here.as_str()), ("CC", "clang-19"), ("FLAGS", flags.as_str())];
            cache.shell(folder, script, &variables).map(|_| ())
        })?;
        Ok(Self { cache, target, folder })
    }

    /// Builds the program with the text of a mutant in place of the original's.
    pub fn compile(&self, build: &MutantBuild, mutant: MutantId) -> Result<Reference> {
        let entry = &build.table.mutants[mutant.index()];
        let extent = build.map.sites[build.table.patch_of(mutant).site.index()].extent;
        let file = &build.map.files[extent.start.file as usize];
        let path = self.folder.join(&file.path);
        let original =
            fs::read(&file.absolute).with_context(|| format!("failed to read `{}`", file.absolute))?;
        let before = fs::read(&path).with_context(|| format!("failed to read `{}`", path.display()))?;
        fs::write(&path, edited(&original, extent, &entry.replacement))?;
        let made = self.make(&entry.stable_id.to_string());
        // Whatever came of it: the next change starts from the original.
        fs::write(&path, before)?;
        let program = made.with_context(|| format!("{} does not compile as text", build.describe(mutant)))?;
        Ok(Reference { mutant, is_text: true, programs: vec![program] })
    }

    fn make(&self, name: &str) -> Result<PathBuf> {
        let executable = Path::new(self.target.executable);
        let program = self.folder.join(format!("changed-{name}"));
        let script = match self.target.name {
            "sort" => format!("make {}", executable.display()),
            _ => "make -j$(nproc)".to_owned(),
        };
        self.cache.shell(&self.folder, &script, &[])?;
        fs::copy(self.folder.join(executable), &program)?;
        Ok(program)
    }
}
