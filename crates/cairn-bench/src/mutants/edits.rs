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

/// How much the changed file is optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Usual,
    Unoptimised,
}

impl Level {
    /// What C leaves open is settled as in views.
    fn flags(self) -> String {
        let level = match self {
            Self::Usual => "-O1",
            Self::Unoptimised => "-O0",
        };
        format!("{level} -w {}", settled().join(" "))
    }
}

impl<'a> Edits<'a> {
    /// Builds the program once, as its authors say, with what C leaves open settled as in views.
    pub fn of(cache: &'a Cache, target: &'static Target) -> Result<Self> {
        let source = target.fetch(cache)?.context("a program has a source")?;
        let flags = Level::Usual.flags();
        let script = target.build_program.unwrap_or(target.build);
        let name = format!("edits/{}", target.name);
        let folder = cache.step(&name, &format!("{script}\n{flags}\n{}", source.display()), |folder| {
            (cache.say)(&format!("building {} for changes of its source", target.name));
            cache.shell(folder, &format!("cp -a '{}/.' .", source.display()), &[])?;
            let here = folder.to_string_lossy().into_owned();
            let variables = [("SRC", here.as_str()), ("CC", "clang-19"), ("FLAGS", flags.as_str())];
            cache.shell(folder, script, &variables).map(|_| ())
        })?;
        let edits = Self { cache, target, folder };
        edits.undo().context("an earlier change of a source cannot be undone")?;
        Ok(edits)
    }

    /// Builds the program with the text of a mutant in place of the original's. The program is there until the next one
    /// is built.
    pub fn compile(&self, build: &MutantBuild, mutant: MutantId) -> Result<Reference> {
        let programs = vec![self.compile_at(Level::Usual, build, mutant)?];
        Ok(Reference { mutant, is_text: true, programs })
    }

    /// Adds a program whose changed file was compiled without optimisation: where it does something else than the first,
    /// C leaves open what the mutant does, as it does for a division by zero.
    pub fn add_unoptimised(&self, reference: &mut Reference, build: &MutantBuild) -> Result<()> {
        reference.programs.push(self.compile_at(Level::Unoptimised, build, reference.mutant)?);
        Ok(())
    }

    fn compile_at(&self, level: Level, build: &MutantBuild, mutant: MutantId) -> Result<PathBuf> {
        let entry = &build.table.mutants[mutant.index()];
        let extent = build.map.sites[build.table.patch_of(mutant).site.index()].extent;
        let file = &build.map.files[extent.start.file as usize];
        let path = self.folder.join(&file.path);
        let original =
            fs::read(&file.absolute).with_context(|| format!("failed to read `{}`", file.absolute))?;
        // Somebody who stops us leaves a changed file, so what it was is written down first.
        fs::copy(&path, self.kept()).with_context(|| format!("failed to keep `{}`", path.display()))?;
        fs::write(self.kept_path(), &file.path)?;
        fs::write(&path, edited(&original, extent, &entry.replacement))?;
        let made = self.make(level);
        self.undo()?;
        made.with_context(|| format!("{} does not compile as text", build.describe(mutant)))
    }

    /// Puts the file that was changed last back as it was.
    fn undo(&self) -> Result<()> {
        let Ok(path) = fs::read_to_string(self.kept_path()) else { return Ok(()) };
        fs::write(self.folder.join(path), fs::read(self.kept())?)?;
        fs::remove_file(self.kept_path())?;
        Ok(())
    }

    fn kept(&self) -> PathBuf {
        self.folder.join("before-the-change")
    }

    fn kept_path(&self) -> PathBuf {
        self.folder.join("changed-file")
    }

    fn make(&self, level: Level) -> Result<PathBuf> {
        let executable = Path::new(self.target.executable);
        // Without documentation and tests, which are made at the top.
        let script = match self.target.name {
            "sort" => format!("make CFLAGS=\"$FLAGS\" {}", executable.display()),
            "grep" => "make -C lib CFLAGS=\"$FLAGS\" && make -C src CFLAGS=\"$FLAGS\" grep".to_owned(),
            _ => "make -j$(nproc) CFLAGS=\"$FLAGS\"".to_owned(),
        };
        self.cache.shell(&self.folder, &script, &[("FLAGS", &level.flags())])?;
        // Another place than the one `make` looks at, so that it never takes it for something newer.
        let program = self.folder.join(match level {
            Level::Usual => "changed-program",
            Level::Unoptimised => "changed-unoptimised",
        });
        // A process that still runs the last one keeps it.
        let _ = fs::remove_file(&program);
        fs::copy(self.folder.join(executable), &program)?;
        Ok(program)
    }
}
