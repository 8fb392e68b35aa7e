//! `cairn-instrument`: whole-program bitcode in, program map and view objects out.
//!
//! A program of its own, so that neither `cairn` nor `cairn-cc` links LLVM.

use anyhow::{Context as _, Result, bail};
use cairn_abi::view::ViewKind;
use cairn_instrument::{
    anchors, basic_paths, emit,
    fuel::Fuel,
    ir::read_module,
    lower::lower,
    mapping::{self, Options},
    mutate::build::{Objects, Subject, build, build_alone, build_apart, build_gathered},
    plan::Plan,
    scope::Scope,
    symbolic,
};
use cairn_model::{
    FunctionId, ProgramMap, SiteTable, StableId, facts::UnitFacts, versioned, versioned::VersionedError,
};
use cairn_mutants::catalogue::OperatorSet;
use inkwell::{context::Context, module::Module};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Default)]
struct Arguments {
    bitcode: PathBuf,
    facts: Option<PathBuf>,
    root: PathBuf,
    scope: Option<PathBuf>,
    map: Option<PathBuf>,
    bare: Option<PathBuf>,
    plain: Option<PathBuf>,
    path: Option<PathBuf>,
    basic_paths: Option<PathBuf>,
    symbolic: Option<PathBuf>,
    models: Option<PathBuf>,
    /// The object and the site table of the detailed symbolic view.
    detailed: Option<PathBuf>,
    sites: Option<PathBuf>,
    /// Whether to count kinds of instructions instead of building anything.
    census: bool,
    mutants: Option<String>,
    mutant_table: Option<PathBuf>,
    mutant_main: Option<PathBuf>,
    mutant_bodies: Option<PathBuf>,
    mutant_examined: Option<PathBuf>,
    /// Mutants to compile alone, and where to.
    alone: Vec<(StableId, PathBuf)>,
    /// How.
    alone_effort: Option<emit::Effort>,
    /// Mutants of which only the function that each changes is compiled, and where to.
    apart: Vec<(StableId, PathBuf)>,
    /// Where the rest of the program goes for them.
    rest: Option<PathBuf>,
    /// Mutants that are compiled alone and gathered in one program, and where to.
    gathered: Vec<(StableId, PathBuf)>,
    /// Where the rest of the program goes for them.
    gathering: Option<PathBuf>,
}

fn parse_arguments() -> Result<Arguments> {
    let mut arguments = Arguments::default();
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        let name = word.to_string_lossy().into_owned();
        let mut value = || words.next().map(PathBuf::from).with_context(|| format!("`{name}` wants a value"));
        match name.as_str() {
            "--bitcode" => arguments.bitcode = value()?,
            "--facts" => arguments.facts = Some(value()?),
            "--root" => arguments.root = value()?,
            "--scope" => arguments.scope = Some(value()?),
            "--map" => arguments.map = Some(value()?),
            "--bare" => arguments.bare = Some(value()?),
            "--plain" => arguments.plain = Some(value()?),
            "--path" => arguments.path = Some(value()?),
            "--basic-paths" => arguments.basic_paths = Some(value()?),
            "--symbolic" => arguments.symbolic = Some(value()?),
            "--detailed" => arguments.detailed = Some(value()?),
            "--sites" => arguments.sites = Some(value()?),
            "--models" => arguments.models = Some(value()?),
            "--census" => arguments.census = true,
            "--mutants" => arguments.mutants = Some(value()?.to_string_lossy().into_owned()),
            "--mutant-table" => arguments.mutant_table = Some(value()?),
            "--mutant-main" => arguments.mutant_main = Some(value()?),
            "--mutant-bodies" => arguments.mutant_bodies = Some(value()?),
            "--mutant-examined" => arguments.mutant_examined = Some(value()?),
            "--alone" | "--apart" | "--gathered" => {
                let id = value()?.to_string_lossy().into_owned();
                let id = StableId::try_from(id)
                    .with_context(|| format!("`{name}` wants the stable id of a mutant"))?;
                let object = value()?;
                match name.as_str() {
                    "--alone" => arguments.alone.push((id, object)),
                    "--apart" => arguments.apart.push((id, object)),
                    _ => arguments.gathered.push((id, object)),
                }
            }
            "--rest" => arguments.rest = Some(value()?),
            "--gathering" => arguments.gathering = Some(value()?),
            "--unoptimised" => arguments.alone_effort = Some(emit::Effort::None),
            "--checked" => arguments.alone_effort = Some(emit::Effort::Checked),
            _ => bail!("unknown argument `{name}`"),
        }
    }
    if arguments.bitcode.as_os_str().is_empty() {
        bail!("`--bitcode` is missing");
    }
    Ok(arguments)
}

fn run() -> Result<()> {
    let arguments = parse_arguments()?;
    if arguments.census {
        return print_census(&arguments);
    }
    let bytes = fs::read(&arguments.bitcode)
        .with_context(|| format!("failed to read bitcode `{}`", arguments.bitcode.display()))?;
    let scope: Scope = match &arguments.scope {
        Some(path) => serde_json::from_slice(&fs::read(path)?)
            .with_context(|| format!("failed to read scope `{}`", path.display()))?,
        None => Scope::default(),
    };
    let units = match &arguments.facts {
        Some(folder) if folder.is_dir() => read_facts(folder)?,
        _ => BTreeMap::new(),
    };
    let context = Context::create();
    let module = emit::read(&context, &arguments.bitcode)?;
    let root = arguments.root.to_string_lossy();
    let options =
        Options { root: &root, scope: &scope, units: &units, bitcode_hash: *blake3::hash(&bytes).as_bytes() };
    let ir = read_module(&module);
    let (map, plan) = mapping::build(&ir, &options);
    let map_hash = map.hash();
    if let Some(path) = &arguments.map {
        fs::write(path, versioned::encode(&map))
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    if let Some(set) = &arguments.mutants {
        write_mutants(&arguments, set, &module, &map, &plan, &options)?;
    }
    let detailed = arguments.detailed.as_deref().map(|path| (path, Detailed::of(&module, &map, &options)));
    if let (Some(path), Some((_, detailed))) = (&arguments.sites, &detailed) {
        fs::write(path, versioned::encode(&detailed.table))
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    let path_plan =
        arguments.basic_paths.as_deref().map(|path| (path, basic_paths::build(&ir, &map, &plan, &options)));
    let views = [(&arguments.plain, ViewKind::Plain), (&arguments.path, ViewKind::Path)];
    // Code generation takes nearly all the time, and contexts are independent of each other.
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (path, kind) in views {
            let Some(path) = path else { continue };
            let (plan, bitcode) = (&plan, &arguments.bitcode);
            running.push(scope.spawn(move || {
                let fuel = Some(Fuel::WhereCallsAre);
                write_view(bitcode, path, fuel, |module| {
                    lower(module, plan, kind, &map_hash);
                    // Only now: positions of the plan count the debug intrinsics too.
                    module.strip_debug_info();
                })
            }));
        }
        if let Some((path, path_plan)) = &path_plan {
            let bitcode = &arguments.bitcode;
            running.push(scope.spawn(move || {
                write_view(bitcode, path, Some(Fuel::WhereCallsAre), |module| {
                    basic_paths::lower(module, path_plan, &map_hash);
                    module.strip_debug_info();
                })
            }));
        }
        let symbolic = arguments.symbolic.iter().map(|path| (path.as_path(), None));
        for (path, detailed) in symbolic.chain(detailed.iter().map(|(path, of)| (*path, Some(of)))) {
            let (plan, bitcode, models) = (&plan, &arguments.bitcode, arguments.models.as_deref());
            running.push(scope.spawn(move || {
                let detail = detailed.map(Detailed::detail);
                for name in symbolic::build(bitcode, plan, &map_hash, models, detail.as_ref(), path)? {
                    eprintln!("warning: what `{name}` computes is not followed");
                }
                Ok(())
            }));
        }
        if let Some(path) = &arguments.bare {
            let bitcode = &arguments.bitcode;
            // It keeps debug information: a failure is told by where the bare build was.
            running.push(scope.spawn(move || write_view(bitcode, path, None, |_| ())));
        }
        running.into_iter().try_for_each(|view| view.join().expect("writing a view does not panic"))
    })
}

/// What a detailed symbolic view is made of.
struct Detailed {
    anchors: anchors::Anchors,
    table: SiteTable,
    functions: Vec<Option<FunctionId>>,
}

impl Detailed {
    fn of(module: &Module, map: &ProgramMap, options: &Options) -> Self {
        let ir = read_module(module);
        let code = cairn_instrument::ir::read_code(module, &ir);
        let anchors = anchors::find(&ir, &code, map, options);
        let table = symbolic::sites::table(&anchors, map);
        let mut functions = vec![None; ir.functions.len()];
        for (id, source) in (0..).map(FunctionId).zip(mapping::sources(&ir, options)) {
            source.members.iter().for_each(|member| functions[*member] = Some(id));
        }
        Self { anchors, table, functions }
    }

    fn detail(&self) -> symbolic::Detail<'_> {
        symbolic::Detail { anchors: &self.anchors, table: &self.table, functions: &self.functions }
    }
}

/// A line each: how well it is followed, how many there are, and what it is.
fn print_census(arguments: &Arguments) -> Result<()> {
    for (name, (treatment, n)) in symbolic::census::census(&arguments.bitcode, arguments.models.as_deref())? {
        let treatment =
            treatment.map_or("unknown".into(), |treatment| format!("{treatment:?}").to_lowercase());
        println!("{treatment} {n} {name}");
    }
    Ok(())
}

fn write_mutants(
    arguments: &Arguments,
    set: &str,
    module: &Module,
    map: &ProgramMap,
    plan: &Plan,
    options: &Options,
) -> Result<()> {
    let operators: OperatorSet = set.parse()?;
    let ir = read_module(module);
    let code = cairn_instrument::ir::read_code(module, &ir);
    let anchors = anchors::find(&ir, &code, map, options);
    let bitcode = &arguments.bitcode;
    let subject = Subject { bitcode, map, plan, anchors: &anchors, operators: &operators };
    if let (Some(main), Some(mutated), Some(examined)) =
        (&arguments.mutant_main, &arguments.mutant_bodies, &arguments.mutant_examined)
    {
        let table = build(&subject, &Objects { main, mutated, examined })?;
        if let Some(path) = &arguments.mutant_table {
            fs::write(path, versioned::encode(&table))
                .with_context(|| format!("failed to write `{}`", path.display()))?;
        }
    }
    let effort = arguments.alone_effort.unwrap_or(emit::Effort::Full);
    let mut unknown = build_alone(&subject, &arguments.alone, effort)?;
    if !arguments.apart.is_empty() {
        unknown.extend(build_apart(&subject, &arguments.apart, arguments.rest.as_deref())?);
    }
    if let Some(gathering) = &arguments.gathering {
        unknown.extend(build_gathered(&subject, &arguments.gathered, gathering)?);
    }
    if let Some(mutant) = unknown.first() {
        bail!("there is no mutant `{mutant}` in the set `{set}`");
    }
    Ok(())
}

fn write_view(bitcode: &Path, object: &Path, fuel: Option<Fuel>, change: impl FnOnce(&Module)) -> Result<()> {
    let context = Context::create();
    let module = emit::read(&context, bitcode)?;
    change(&module);
    emit::write_object(&module, emit::Effort::Full, fuel, object)?;
    Ok(())
}

fn read_facts(folder: &Path) -> Result<BTreeMap<String, UnitFacts>> {
    let mut units = BTreeMap::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("failed to read facts in `{}`", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        match versioned::decode(&fs::read(entry.path())?) {
            Ok(facts) => {
                units.insert(entry.file_name().to_string_lossy().into_owned(), facts);
            }
            // Mapped from their bitcode alone, most of their branches would be missing.
            Err(error @ VersionedError::Version { .. }) => {
                bail!("{error}: the program was compiled by another version of `cairn-cc`, compile it anew")
            }
            // One object that cannot be told about does not keep the others from it; `doctor` counts what is joined.
            Err(_) => {}
        }
    }
    Ok(units)
}
