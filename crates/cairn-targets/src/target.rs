//! One real program or library, and its builds.

use crate::{
    Cache, Flavour,
    error::{TargetsError, Tried},
    flavour::SPLITTER,
    needs::need,
    package::package,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A program, or a library under a harness of ours.
#[derive(Debug)]
pub struct Target {
    /// What it is called here.
    pub name: &'static str,
    /// The Debian source package; `None` for a harness that needs nothing else.
    pub package: Option<&'static str>,
    /// Program or harness.
    pub kind: Kind,
    /// How the whole package is built inside a copy of its source; `$CC`, `$CXX`, `$FLAGS`, `$LINK` (flags that link
    /// a harness), `$HARNESS` (its source), `$INCLUDE` (our headers) and `$SRC` (the copy) are given.
    pub build: &'static str,
    /// How only the program is built, where that is much quicker: for builds whose test suite is not run.
    pub build_program: Option<&'static str>,
    /// Where the executable lies in the build folder.
    pub executable: &'static str,
    /// What its first argument says; some programs are several.
    pub program_name: &'static str,
    /// The files in scope, relative to the source: those of this program, not of the libraries it shares with others.
    pub scope: &'static [&'static str],
    /// Where its inputs come from.
    pub input: Input,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole program.
    Program,
    /// A harness of ours over a library: a file in `bench/harnesses`.
    Harness(&'static str),
}

/// Where a target's inputs come from.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// Its package's own test suite, run in the build folder under `cairn record`.
    Suite {
        /// Debian packages the suite needs.
        needs: &'static [&'static str],
        /// Runs the part of the suite that concerns this program.
        command: &'static str,
        /// Whether the program is one of several in its executable and is also called by its name as a first word.
        is_applet: bool,
        /// How many inputs it gives at least; fewer means that the suite did not run as it should.
        least: usize,
    },
    /// Sample files in the source: shell patterns.
    Samples(&'static [&'static str]),
}

/// What [`Target::build`] leaves.
#[derive(Clone, Debug)]
pub struct Built {
    /// The folder with `cairn.toml`: commands of `cairn` run here.
    pub folder: PathBuf,
    /// The executable, called as the program is.
    pub program: PathBuf,
    /// The plain view.
    pub plain: PathBuf,
    /// The bare build.
    pub bare: PathBuf,
    /// How many counters the plain view has.
    pub n_counters: u32,
}

impl Target {
    /// Fetches the source, once.
    pub fn fetch(&self, cache: &Cache) -> Result<Option<PathBuf>, TargetsError> {
        self.package.map(|name| package(name)?.source(cache)).transpose()
    }

    /// Makes the next [`Target::fetch`] start from nothing.
    pub fn forget_source(&self, cache: &Cache) -> Result<(), TargetsError> {
        self.package.map(|name| package(name)?.forget_source(cache)).transpose().map(|_| ())
    }

    /// Builds it with `cairn-cc`, then its views; returns where they are.
    ///
    /// A build whose record the present tools no longer read is made again.
    pub fn build(&self, cache: &Cache) -> Result<Built, TargetsError> {
        let built = self.executable(cache, Flavour::Cairn).and_then(|program| self.views(cache, &program));
        match built {
            Err(TargetsError::Command { .. }) => {
                self.forget(cache)?;
                let program = self.executable(cache, Flavour::Cairn)?;
                self.views(cache, &program)
            }
            other => other,
        }
    }

    /// Makes the next build with `cairn-cc` start from nothing.
    pub fn forget(&self, cache: &Cache) -> Result<(), TargetsError> {
        cache.forget(&self.build_name(Flavour::Cairn))?;
        cache.forget(&format!("targets/{}", self.name))
    }

    /// The executable as one flavour builds it, built once.
    pub fn executable(&self, cache: &Cache, flavour: Flavour) -> Result<PathBuf, TargetsError> {
        self.check(flavour)?;
        need(cache, flavour.needs())?;
        let source = self.fetch(cache)?;
        let harness = self.harness(cache).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let script = self.script(flavour);
        let recipe = self.recipe(cache, flavour, source.as_deref())?;
        let include = cache.repository.join("include").to_string_lossy().into_owned();
        let folder = cache.step(&self.build_name(flavour), &recipe, |folder| {
            (cache.say)(&format!("building {} with {}", self.build_title(), flavour.cc()));
            if let Some(source) = &source {
                cache.shell(folder, &format!("cp -a '{}/.' .", source.display()), &[])?;
            }
            if let Some(companion) = self.companion(cache, flavour) {
                cache.shell(folder, &format!("cp '{}' .", companion.display()), &[])?;
            }
            let here = folder.to_string_lossy().into_owned();
            let mut variables =
                vec![("SRC", here.as_str()), ("HARNESS", harness.as_str()), ("INCLUDE", include.as_str())];
            variables.extend(flavour.variables());
            variables.extend(flavour.more_variables());
            // Not every build links with the flags it compiles with.
            let profile = if flavour == Flavour::Coverage { " -fprofile-instr-generate" } else { "" };
            let splitter = format!("-Wl,--wrap=main -Wl,{here}/split.o{profile}");
            if flavour.companion(self.kind) == Some(SPLITTER) {
                // Not instrumented: it is no part of the program.
                cache.shell(folder, &format!("clang-19 -O2 -c {SPLITTER}"), &[])?;
                variables.push(("LDFLAGS", &splitter));
            }
            cache.shell(folder, script, &variables).map(|_| ())
        })?;
        Ok(folder.join(self.executable))
    }

    /// The files in scope, in the build that made `executable`.
    pub fn scope_files(&self, executable: &Path) -> Result<Vec<PathBuf>, TargetsError> {
        let depth = Path::new(self.executable).components().count();
        let root = executable.ancestors().nth(depth).unwrap_or(Path::new("/"));
        let mut files = Vec::new();
        for pattern in self.scope {
            let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
            let folder = root.join(folder);
            match name.strip_prefix('*') {
                None => files.push(folder.join(name)),
                Some(end) => {
                    let entries = fs::read_dir(&folder).tried("read", &folder)?;
                    let paths = entries.flatten().map(|entry| entry.path());
                    files.extend(paths.filter(|path| path.to_string_lossy().ends_with(end)));
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// Everything that decides what a build becomes. Ours depends on the very `cairn-cc`; the views are made anew by
    /// `cairn build` where its own tools have changed.
    pub(crate) fn recipe(
        &self,
        cache: &Cache,
        flavour: Flavour,
        source: Option<&Path>,
    ) -> Result<String, TargetsError> {
        let code = self.harness(cache).map(|path| read(&path)).transpose()?.unwrap_or_default();
        let compiler = match flavour {
            Flavour::Cairn => cache.tool_hash("cairn-cc")?,
            _ => String::new(),
        };
        let companion =
            self.companion(cache, flavour).map(|path| read(&path)).transpose()?.unwrap_or_default();
        let (script, variables) = (self.script(flavour), flavour.variables());
        Ok(format!("{script}\n{variables:?}\n{source:?}\n{code}{companion}\n{compiler}"))
    }

    fn companion(&self, cache: &Cache, flavour: Flavour) -> Option<PathBuf> {
        Some(cache.repository.join("bench/harnesses").join(flavour.companion(self.kind)?))
    }

    fn script(&self, flavour: Flavour) -> &'static str {
        match (flavour, self.build_program) {
            (Flavour::Cairn, _) | (_, None) => self.build,
            (_, Some(quick)) => quick,
        }
    }

    fn harness(&self, cache: &Cache) -> Option<PathBuf> {
        match self.kind {
            Kind::Program => None,
            Kind::Harness(file) => Some(cache.repository.join("bench/harnesses").join(file)),
        }
    }

    fn check(&self, flavour: Flavour) -> Result<(), TargetsError> {
        let why = match (self.kind, flavour) {
            (Kind::Program, Flavour::LibFuzzer | Flavour::InTurn) => "it is a program, not a harness",
            (Kind::Harness(_), Flavour::Clang) => "a harness is no program by itself",
            _ => return Ok(()),
        };
        Err(TargetsError::NoSuchBuild { target: self.name.into(), flavour: flavour.name(), why })
    }

    /// Targets with the same recipe share a build.
    fn build_name(&self, flavour: Flavour) -> String {
        format!("builds/{}-{flavour}", self.build_title())
    }

    fn build_title(&self) -> &'static str {
        match self.kind {
            Kind::Program => self.package.unwrap_or(self.name),
            Kind::Harness(_) => self.name,
        }
    }

    /// Makes the views in a folder of this target, with its own scope.
    fn views(&self, cache: &Cache, executable: &Path) -> Result<Built, TargetsError> {
        let folder = cache.folder.join("targets").join(self.name);
        fs::create_dir_all(&folder).tried("create", &folder)?;
        let program = folder.join(self.program_name);
        // Records are found by build id, so a copy is as good as the original.
        replace(executable, &program)?;
        let config = folder.join("cairn.toml");
        fs::write(&config, self.config()).tried("write", &config)?;
        let answer = folder.join("views.json");
        (cache.say)(&format!("building the views of {}", self.name));
        cache.shell(&folder, &format!("cairn build ./{} --json > views.json", self.program_name), &[])?;
        let report: serde_json::Value = serde_json::from_str(&read(&answer)?)
            .map_err(|_| TargetsError::Answer { tool: "cairn build", path: answer.clone() })?;
        let views = report["folder"].as_str().map(PathBuf::from);
        let n_counters = report["counters"].as_u64().and_then(|number| u32::try_from(number).ok());
        let (Some(views), Some(n_counters)) = (views, n_counters) else {
            return Err(TargetsError::Answer { tool: "cairn build", path: answer });
        };
        Ok(Built { program, plain: views.join("plain"), bare: views.join("bare"), n_counters, folder })
    }

    fn config(&self) -> String {
        let files: Vec<String> = self.scope.iter().map(|pattern| format!("{pattern:?}")).collect();
        format!(
            "[target]\nprogram = {:?}\n\n[scope]\nfiles = [{}]\n",
            format!("./{}", self.program_name),
            files.join(", ")
        )
    }
}

/// Copies a program so that whoever runs the old one keeps it.
fn replace(from: &Path, to: &Path) -> Result<(), TargetsError> {
    let fresh = to.with_extension("new");
    fs::copy(from, &fresh).tried("copy", from)?;
    fs::rename(&fresh, to).tried("rename", fresh)
}

pub(crate) fn read(path: &Path) -> Result<String, TargetsError> {
    fs::read_to_string(path).tried("read", path)
}
