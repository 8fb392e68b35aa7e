//! Builds and reads the references.

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Flags for the two references: gcov's, then source-based coverage's.
///
/// Preprocessing equals that of the bitcode: nothing optimised, nothing fortified.
pub fn reference_flags() -> [&'static str; 2] {
    [
        "-O0 -g -U_FORTIFY_SOURCE --coverage",
        "-O0 -g -U_FORTIFY_SOURCE -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation",
    ]
}

/// The source of the object that makes gcov counters survive crashes.
pub const FLUSH_GCOV: &str = include_str!("../../assets/flush_gcov.c");

/// Programs built for reference.
#[derive(Clone, Debug)]
pub struct ReferenceBuild {
    /// Built for gcov; counters go beside its objects.
    pub gcov_program: PathBuf,
    /// The folder below which its `.gcno` and `.gcda` files lie.
    pub gcov_folder: PathBuf,
    /// Built for source-based coverage.
    pub clang_program: PathBuf,
    /// Where its raw profiles go.
    pub profile_folder: PathBuf,
    /// Built with MC/DC regions, which are read and never run; absent, decisions are not compared.
    pub mcdc_program: Option<PathBuf>,
}

/// What the references saw. Files are absolute paths.
#[derive(Clone, Debug, Default)]
pub struct ReferenceCoverage {
    /// Lines gcov knows, and whether they were executed.
    pub gcov_lines: BTreeMap<(String, u32), bool>,
    /// Lines executed according to source-based coverage.
    pub clang_lines: BTreeSet<(String, u32)>,
    /// Branches by the place where they stand outside all macros: (true taken, false taken).
    pub branches: BTreeMap<(String, u32, u32), Vec<[bool; 2]>>,
    /// Decisions of two and more conditions: place of the first one outside macros, number of conditions.
    pub decisions: BTreeSet<(String, u32, u32, usize)>,
}

impl ReferenceBuild {
    /// Compiles the sources of a fixture.
    pub fn compile(folder: &Path, sources: &[PathBuf]) -> Self {
        let is_cxx = sources.iter().any(|source| source.extension().is_some_and(|e| e == "cpp"));
        let compiler = if is_cxx { "clang++-19" } else { "clang-19" };
        let [gcov_flags, clang_flags] = reference_flags();
        let build = |name: &str, flags: &str| {
            let folder = folder.join(name);
            fs::create_dir_all(&folder).expect("the workspace is writable");
            let program = folder.join("program");
            let mut command = Command::new(compiler);
            command.current_dir(&folder).args(flags.split(' ')).args(sources);
            if name == "gcov" {
                let flush = folder.join("flush_gcov.o");
                compile_flush(&flush);
                command.arg(flush);
            }
            run(command.arg("-o").arg(&program));
            program
        };
        let mcdc = format!("{clang_flags} -fcoverage-mcdc -Xclang -fmcdc-max-conditions=32767 -w");
        Self {
            gcov_program: build("gcov", gcov_flags),
            gcov_folder: folder.join("gcov"),
            clang_program: build("clang", clang_flags),
            profile_folder: folder.join("clang"),
            mcdc_program: Some(build("mcdc", &mcdc.replace(" -mllvm -runtime-counter-relocation", ""))),
        }
    }

    /// Runs both references on one stdin.
    pub fn run_with_stdin(&self, stdin: &[u8]) {
        for program in [&self.gcov_program, &self.clang_program] {
            // gcov's counters go to the folder the program runs in.
            let mut command = Command::new(program);
            crate::Ran::of(command.current_dir(&self.gcov_folder).envs(self.environment()), stdin);
        }
    }

    /// What the references need in their environment.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        let profiles = self.profile_folder.join("run%c-%p.profraw");
        [("LLVM_PROFILE_FILE", profiles.display().to_string()), ("LC_ALL", "C".to_string())]
    }

    /// Reads everything the runs left.
    pub fn collect(&self) -> ReferenceCoverage {
        let mut coverage = ReferenceCoverage::default();
        self.absorb_gcov(&mut coverage, &self.gcov_notes());
        self.finish(&mut coverage);
        coverage
    }

    /// The notes of all units.
    pub fn gcov_notes(&self) -> Vec<PathBuf> {
        files_below(&self.gcov_folder, "gcno")
    }

    /// Adds the lines of the runs since the last call. After a single run, the flow equations of one that left a
    /// function early do not spoil the others.
    pub fn absorb_gcov(&self, coverage: &mut ReferenceCoverage, notes: &[PathBuf]) {
        for notes in notes {
            absorb_unit(coverage, notes);
            // Counters of the next run start from nothing; there are none if no function of the unit was entered.
            let _ = fs::remove_file(notes.with_extension("gcda"));
        }
    }

    /// Reads branches, lines of source-based coverage, and decisions.
    pub fn finish(&self, coverage: &mut ReferenceCoverage) {
        self.collect_clang(coverage);
        if let Some(program) = &self.mcdc_program {
            collect_decisions(program, &self.profile_folder, coverage);
        }
    }

    fn collect_clang(&self, coverage: &mut ReferenceCoverage) {
        let profile = merge_profiles(&self.profile_folder);
        for function in functions(&self.clang_program, &profile) {
            for branch in function["branches"].as_array().expect("functions have branches") {
                let number = |index: usize| branch[index].as_u64().expect("branches are numbers");
                let place = outside_macros(&function, number(6), (number(0), number(1)));
                let taken = [number(4) > 0, number(5) > 0];
                coverage.branches.entry(place).or_default().push(taken);
            }
        }
        for branches in coverage.branches.values_mut() {
            branches.sort();
        }
        let lcov = run(Command::new("llvm-cov-19")
            .args(["export", "-format=lcov"])
            .arg(&self.clang_program)
            .arg(format!("-instr-profile={}", profile.display())));
        let mut file = String::new();
        for line in lcov.lines() {
            if let Some(path) = line.strip_prefix("SF:") {
                file = normal(Path::new(path));
            } else if let Some((line, count)) = line
                .strip_prefix("DA:")
                .and_then(|rest| rest.split_once(','))
                .filter(|(_, count)| *count != "0")
            {
                let line =
                    line.parse().unwrap_or_else(|_| panic!("`{line}` (executed {count} times) is no line"));
                coverage.clang_lines.insert((file.clone(), line));
            }
        }
    }
}

/// Adds the lines of one unit.
fn absorb_unit(coverage: &mut ReferenceCoverage, notes: &Path) {
    let folder = notes.parent().expect("a file lies in a folder");
    let output = run(Command::new("llvm-cov-19").current_dir(folder).args(["gcov", "-t"]).arg(notes));
    let mut file = String::new();
    for line in output.lines() {
        // `count:line:text`; line 0 holds remarks, `-` is a line without code.
        let mut parts = line.splitn(3, ':');
        let (Some(count), Some(number), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let (count, number) = (count.trim(), number.trim().parse::<u32>().unwrap_or(0));
        if let (0, Some(path)) = (number, text.strip_prefix("Source:")) {
            let path = if path.starts_with('/') { PathBuf::from(path) } else { folder.join(path) };
            file = normal(&path);
        } else if number > 0 && count != "-" {
            let executed = !count.starts_with('#') && !count.starts_with('=');
            *coverage.gcov_lines.entry((file.clone(), number)).or_default() |= executed;
        }
    }
}

/// Compiles the object that makes gcov counters survive crashes.
pub fn compile_flush(object: &Path) {
    let source = object.with_extension("c");
    fs::write(&source, FLUSH_GCOV).expect("the workspace is writable");
    run(Command::new("clang-19").args(["-O1", "-c"]).arg(&source).arg("-o").arg(object));
}

/// The functions of an export, copies of one source function merged.
fn functions(program: &Path, profile: &Path) -> Vec<Value> {
    let output = run(Command::new("llvm-cov-19")
        .arg("export")
        .arg(program)
        .arg(format!("-instr-profile={}", profile.display())));
    let mut export: Value = serde_json::from_str(&output).expect("llvm-cov writes JSON");
    let functions = export["data"][0]["functions"].take();
    let mut merged: BTreeMap<String, Value> = BTreeMap::new();
    for function in functions.as_array().cloned().unwrap_or_default() {
        let first_region = &function["regions"][0];
        let shape: Vec<Vec<u64>> = function["branches"]
            .as_array()
            .expect("functions have branches")
            .iter()
            .map(|branch| [0, 1, 2, 3, 6].iter().map(|index| branch[*index].as_u64().unwrap_or(0)).collect())
            .collect();
        let key = format!("{}:{}:{}:{shape:?}", function["filenames"][0], first_region[0], first_region[1]);
        match merged.get_mut(&key) {
            None => {
                merged.insert(key, function);
            }
            Some(known) => {
                let branches = known["branches"].as_array_mut().expect("functions have branches");
                for (sum, branch) in
                    branches.iter_mut().zip(function["branches"].as_array().into_iter().flatten())
                {
                    for index in [4, 5] {
                        sum[index] =
                            (sum[index].as_u64().unwrap_or(0) + branch[index].as_u64().unwrap_or(0)).into();
                    }
                }
            }
        }
    }
    merged.into_values().collect()
}

fn collect_decisions(program: &Path, folder: &Path, coverage: &mut ReferenceCoverage) {
    // An empty profile is enough: regions are static.
    let empty = folder.join("empty.proftext");
    fs::write(&empty, "").expect("the workspace is writable");
    let profile = folder.join("empty.profdata");
    run(Command::new("llvm-profdata-19").arg("merge").arg(&empty).arg("-o").arg(&profile));
    for function in functions(program, &profile) {
        let file = normal(Path::new(function["filenames"][0].as_str().unwrap_or_default()));
        for record in function["mcdc_records"].as_array().into_iter().flatten() {
            let number = |index: usize| record[index].as_u64().unwrap_or(0) as u32;
            let n_conditions = record[6].as_array().map_or(0, Vec::len);
            coverage.decisions.insert((file.clone(), number(0), number(1), n_conditions));
        }
    }
}

/// Follows expansion regions from a virtual file of a macro out to the file itself.
fn outside_macros(function: &Value, file: u64, place: (u64, u64)) -> (String, u32, u32) {
    let (mut file, mut place) = (file, place);
    let regions = function["regions"].as_array().expect("functions have regions");
    let is_expansion = |region: &&Value, file: u64| region[7] == 1 && region[6].as_u64() == Some(file);
    let mut n_steps = 0;
    while let Some(expansion) = regions.iter().find(|region| is_expansion(region, file)) {
        file = expansion[5].as_u64().expect("regions are numbers");
        place = (expansion[0].as_u64().unwrap_or(0), expansion[1].as_u64().unwrap_or(0));
        n_steps += 1;
        assert!(n_steps < 1000, "expansions of {} go in circles", function["name"]);
    }
    let path = function["filenames"][file as usize].as_str().unwrap_or_default();
    (normal(Path::new(path)), place.0 as u32, place.1 as u32)
}

fn merge_profiles(folder: &Path) -> PathBuf {
    let merged = folder.join("merged.profdata");
    let mut command = Command::new("llvm-profdata-19");
    command.args(["merge", "--failure-mode=all"]).args(files_below(folder, "profraw")).arg("-o").arg(&merged);
    run(&mut command);
    merged
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// One file has one name: `.` and `..` are resolved by text.
pub fn normal(path: &Path) -> String {
    let mut parts: Vec<_> = Vec::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                parts.pop();
            }
            std::path::Component::Normal(part) => parts.push(part.to_string_lossy()),
            _ => {}
        }
    }
    format!("/{}", parts.join("/"))
}

/// Runs a tool of the reference and returns its output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
