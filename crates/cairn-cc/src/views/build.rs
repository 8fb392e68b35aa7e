//! Runs the instrumenter over the merged bitcode and links what it makes.

use super::{
    instrument::instrument,
    link::{Link, Linked},
};
use crate::{
    Settings, file_hash,
    record::{BuildRecord, Merged},
    store,
};
use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

/// Which views are wanted, and of what.
#[derive(Clone, Debug, Default)]
pub struct ViewRequest {
    /// The scope as JSON, handed to the instrumenter; none means the whole program.
    pub scope: Option<String>,
    /// Whether the view with a path hash is wanted too.
    pub with_path: bool,
    /// Whether the view whose counters are the basic paths is wanted too.
    pub with_basic_paths: bool,
    /// Whether the view that follows values is wanted too.
    pub with_symbolic: bool,
    /// Whether the view is wanted too that follows values, and can be asked about expressions and functions.
    pub with_detailed: bool,
    /// The folder source paths are shown relative to, if not the record's own.
    pub root: Option<PathBuf>,
    /// The set of operators whose mutants are built into a view, if one is wanted.
    pub mutants: Option<String>,
}

impl ViewRequest {
    /// The folder source paths are shown relative to.
    pub(super) fn root_of<'a>(&'a self, record: &'a BuildRecord) -> &'a Path {
        self.root.as_deref().unwrap_or(&record.root)
    }
}

/// Linked views.
#[derive(Clone, Debug)]
pub struct Views {
    /// The folder that holds them.
    pub folder: PathBuf,
    /// No instrumentation at all.
    pub bare: PathBuf,
    /// Branch counters.
    pub plain: PathBuf,
    /// Branch counters and a path hash, if asked for.
    pub path: Option<PathBuf>,
    /// One counter for each basic path, if asked for.
    pub basic_paths: Option<PathBuf>,
    /// What values are made of, if asked for.
    pub symbolic: Option<PathBuf>,
    /// Likewise, with more to tell, if asked for.
    pub detailed: Option<DetailedView>,
    /// The view with mutants, if asked for.
    pub mutants: Option<MutantView>,
    /// The program map.
    pub map: PathBuf,
    /// What a person should know before trusting them.
    pub warnings: Vec<String>,
    /// Whether they were there already.
    pub was_cached: bool,
}

/// A symbolic view that can be asked about expressions and functions, and the table that tells which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetailedView {
    /// The executable.
    pub program: PathBuf,
    /// Its expressions.
    pub sites: PathBuf,
}

/// A view that holds all mutants, and the table that tells of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantView {
    /// The executable.
    pub program: PathBuf,
    /// Its mutants.
    pub table: PathBuf,
}

/// Why views could not be built.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// A file of ours is missing.
    #[error("`{path}` is missing\n\nhint: install Cairn again, with `bin`, `lib` and `include` side by side")]
    Incomplete {
        /// The file.
        path: PathBuf,
    },
    /// The instrumenter failed.
    #[error("the instrumenter failed on `{bitcode}`: {message}")]
    Instrument {
        /// What it was given.
        bitcode: PathBuf,
        /// What it said.
        message: String,
    },
    /// A view does not link.
    #[error("failed to link the {view} view: {message}")]
    Link {
        /// Which.
        view: String,
        /// What the linker said.
        message: String,
    },
    /// A source is gone that a build with sanitizers needs.
    #[error(
        "`{unit}` is gone, and a build with sanitizers compiles it again\n\nhint: restore it, or build the program again with `cairn-cc`"
    )]
    SourceGone {
        /// The source.
        unit: PathBuf,
    },
    /// A source is not the one the program was built from.
    #[error(
        "`{unit}` has changed since the program was built from it\n\nhint: build the program again with `cairn-cc`"
    )]
    SourceChanged {
        /// The source.
        unit: PathBuf,
    },
    /// A source does not compile with sanitizers.
    #[error("failed to compile `{unit}` with sanitizers: {message}")]
    Sanitize {
        /// The source.
        unit: PathBuf,
        /// What the compiler said.
        message: String,
    },
    /// Reading or writing failed.
    #[error("failed to {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// Builds the views of a recorded executable, except those that are there already.
pub fn build_views(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
) -> Result<Views, ViewError> {
    let folder = record.folder.join("views").join(content_hash(settings, record, request)?);
    let missing: Vec<Product> = Product::wanted(settings, request)
        .into_iter()
        .filter(|product| product.files().iter().any(|name| !folder.join(name).is_file()))
        .collect();
    if !missing.is_empty() {
        build(settings, record, request, &folder, &missing)?;
    }
    let mutants = request.mutants.as_ref().map(|set| MutantView {
        program: folder.join(mutant_program(set)),
        table: folder.join(mutant_table(set)),
    });
    Ok(Views {
        bare: folder.join("bare"),
        plain: folder.join("plain"),
        path: request.with_path.then(|| folder.join("path")),
        basic_paths: request.with_basic_paths.then(|| folder.join(BASIC_PATHS)),
        symbolic: request.with_symbolic.then(|| folder.join(SYMBOLIC)),
        detailed: request
            .with_detailed
            .then(|| DetailedView { program: folder.join(DETAILED), sites: folder.join(SITES) }),
        mutants,
        map: folder.join(MAP),
        warnings: record.warnings(),
        was_cached: missing.is_empty(),
        folder,
    })
}

const MAP: &str = "program.map";

const BASIC_PATHS: &str = "basic-paths";

const SYMBOLIC: &str = "symbolic";

const DETAILED: &str = "symbolic-detailed";

const SITES: &str = "sites.table";

fn mutant_program(set: &str) -> String {
    format!("mutant-{}", file_part(set))
}

fn mutant_table(set: &str) -> String {
    format!("mutants-{}.table", file_part(set))
}

/// A set of operators in the name of a file: as it is called, or the hash of a long list.
pub(super) fn file_part(set: &str) -> String {
    const LONGEST: usize = 100;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_,".contains(&byte);
    match set.len() <= LONGEST && set.bytes().all(is_plain) {
        true => set.to_owned(),
        false => blake3::hash(set.as_bytes()).to_hex()[..16].to_owned(),
    }
}

/// Something the instrumenter makes.
enum Product {
    Map,
    /// A view made of one object: its name, which is also that of the instrumenter's option.
    Plain {
        name: &'static str,
        has_runtime: bool,
    },
    /// The view that follows values, with the models of library functions in this folder.
    Symbolic {
        models: PathBuf,
    },
    /// Likewise, with more to tell.
    Detailed {
        models: PathBuf,
    },
    /// The view of a set of mutants.
    Mutants(String),
}

impl Product {
    fn wanted(settings: &Settings, request: &ViewRequest) -> Vec<Self> {
        let mut wanted = vec![
            Self::Map,
            Self::Plain { name: "bare", has_runtime: false },
            Self::Plain { name: "plain", has_runtime: true },
        ];
        if request.with_path {
            wanted.push(Self::Plain { name: "path", has_runtime: true });
        }
        if request.with_basic_paths {
            wanted.push(Self::Plain { name: BASIC_PATHS, has_runtime: true });
        }
        if request.with_symbolic {
            wanted.push(Self::Symbolic { models: settings.distribution.models_dir.clone() });
        }
        if request.with_detailed {
            wanted.push(Self::Detailed { models: settings.distribution.models_dir.clone() });
        }
        wanted.extend(request.mutants.clone().map(Self::Mutants));
        wanted
    }

    /// What it consists of in the end.
    fn files(&self) -> Vec<String> {
        match self {
            Self::Map => vec![MAP.to_owned()],
            Self::Plain { name, .. } => vec![(*name).to_owned()],
            Self::Symbolic { .. } => vec![SYMBOLIC.to_owned()],
            Self::Detailed { .. } => vec![SITES.to_owned(), DETAILED.to_owned()],
            // The table first: a program without one would be of no use.
            Self::Mutants(set) => vec![mutant_table(set), mutant_program(set)],
        }
    }

    /// How the instrumenter is asked for it.
    fn arguments(&self, work: &Path) -> Vec<OsString> {
        let mut words = Vec::new();
        let mut add = |option: String, value: &str| {
            words.push(option.into());
            words.push(work.join(value).into_os_string());
        };
        match self {
            Self::Map => add("--map".into(), MAP),
            Self::Plain { name, .. } => add(format!("--{name}"), &format!("{name}.o")),
            Self::Symbolic { models } => {
                add(format!("--{SYMBOLIC}"), &format!("{SYMBOLIC}.o"));
                words.extend(["--models".into(), models.into()]);
            }
            Self::Detailed { models } => {
                add("--detailed".into(), &format!("{DETAILED}.o"));
                add("--sites".into(), SITES);
                words.extend(["--models".into(), models.into()]);
            }
            Self::Mutants(set) => {
                add("--mutant-table".into(), &mutant_table(set));
                add("--mutant-main".into(), "mutant-main.o");
                add("--mutant-bodies".into(), "mutant-bodies.o");
                add("--mutant-examined".into(), "mutant-examined.o");
                words.extend(["--mutants".into(), set.into()]);
            }
        }
        words
    }

    /// What is linked for it.
    fn linked(&self) -> Option<Linked> {
        match self {
            Self::Map => None,
            Self::Plain { name, has_runtime } => Some(Linked {
                name: (*name).to_owned(),
                objects: vec![format!("{name}.o")],
                has_runtime: *has_runtime,
                sanitize: None,
                tells_failures: !has_runtime,
            }),
            Self::Symbolic { .. } => Some(Linked {
                name: SYMBOLIC.to_owned(),
                objects: vec![format!("{SYMBOLIC}.o")],
                has_runtime: true,
                sanitize: None,
                tells_failures: false,
            }),
            Self::Detailed { .. } => Some(Linked {
                name: DETAILED.to_owned(),
                objects: vec![format!("{DETAILED}.o")],
                has_runtime: true,
                sanitize: None,
                tells_failures: false,
            }),
            Self::Mutants(set) => Some(Linked {
                name: mutant_program(set),
                objects: ["mutant-main.o", "mutant-bodies.o", "mutant-examined.o"].map(str::to_owned).into(),
                has_runtime: true,
                sanitize: None,
                tells_failures: false,
            }),
        }
    }
}

/// Hashes everything the views are made of.
fn content_hash(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
) -> Result<String, ViewError> {
    let ours = &settings.distribution;
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    let models = ours.models();
    let needed = [&ours.instrument, &ours.runtime_archive, &ours.deliver_archive];
    for path in needed.into_iter().chain(&models) {
        if !path.is_file() {
            if models.contains(path) && !request.with_symbolic && !request.with_detailed {
                continue;
            }
            return Err(ViewError::Incomplete { path: path.clone() });
        }
        let hash = file_hash::of(path, settings.places.cache_dir.as_deref());
        add(hash.map_err(|source| io_error("read", path, source))?.as_bytes());
    }
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(match &record.bitcode {
        Merged::Hash(hash) => hash.as_bytes(),
        Merged::Failed(_) => b"",
    });
    for unit in &record.units {
        add(unit.key.as_bytes());
        add(&fs::read(record.facts_dir().join(&unit.key)).unwrap_or_default());
    }
    for word in &record.link_arguments {
        add(word.as_bytes());
    }
    add(origin(record).as_os_str().as_encoded_bytes());
    add(record.directory.as_os_str().as_encoded_bytes());
    add(request.scope.as_deref().unwrap_or("").as_bytes());
    add(request.root_of(record).as_os_str().as_encoded_bytes());
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

fn build(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
    folder: &Path,
    missing: &[Product],
) -> Result<(), ViewError> {
    let work = work_folder(folder)?;
    let outputs: Vec<OsString> = missing.iter().flat_map(|product| product.arguments(work.path())).collect();
    instrument(settings, record, request, &outputs, work.path())?;
    let links: Vec<_> = missing
        .iter()
        .filter_map(Product::linked)
        .map(|linked| Link::start(settings, record, &linked, work.path()))
        .collect::<Result<_, _>>()?;
    for link in links {
        link.finish()?;
    }
    for name in missing.iter().flat_map(Product::files) {
        store::move_into_place(&work.path().join(&name), &folder.join(&name))
            .map_err(|source| io_error("write", &folder.join(&name), source))?;
    }
    Ok(())
}

/// A folder beside `folder`, so that what is finished only needs to be moved there.
pub(super) fn work_folder(folder: &Path) -> Result<tempfile::TempDir, ViewError> {
    let beside = folder.parent().expect("views lie in a folder");
    fs::create_dir_all(beside).map_err(|source| io_error("make", beside, source))?;
    tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(beside)
        .map_err(|source| io_error("make a folder in", beside, source))
}

/// The folder the executable was written to.
pub(super) fn origin(record: &BuildRecord) -> &Path {
    record.executable.parent().unwrap_or(Path::new("/"))
}

pub(super) fn io_error(action: &'static str, path: &Path, source: io::Error) -> ViewError {
    ViewError::Io { action, path: path.to_owned(), source }
}
