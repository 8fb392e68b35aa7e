//! Runs the instrumenter over the merged bitcode and links what it makes.

use super::search_path::resolved;
use crate::{
    Settings,
    record::{BuildRecord, FOLDER_PLACEHOLDER, Merged, VIEW_PLACEHOLDER},
    store,
    unit::command,
};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Which views are wanted, and of what.
#[derive(Clone, Debug, Default)]
pub struct ViewRequest {
    /// The scope as JSON, handed to the instrumenter; none means the whole program.
    pub scope: Option<String>,
    /// Whether the view with a path hash is wanted too.
    pub with_path: bool,
    /// The folder source paths are shown relative to, if not the record's own.
    pub root: Option<PathBuf>,
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
    /// The program map.
    pub map: PathBuf,
    /// What a person should know before trusting them.
    pub warnings: Vec<String>,
    /// Whether they were there already.
    pub was_cached: bool,
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
        view: &'static str,
        /// What the linker said.
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

/// Builds the views of a recorded executable, unless they are there already.
pub fn build_views(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
) -> Result<Views, ViewError> {
    let root = request.root.as_deref().unwrap_or(&record.root);
    let folder = record.folder.join("views").join(content_hash(settings, record, request, root)?);
    let wanted = |view: View| view != View::Path || request.with_path;
    let missing: Vec<View> =
        View::ALL.into_iter().filter(|&view| wanted(view) && !folder.join(view.name()).is_file()).collect();
    let was_cached = missing.is_empty() && folder.join(MAP).is_file();
    if !was_cached {
        build(settings, record, request, root, &folder, &missing)?;
    }
    Ok(Views {
        bare: folder.join(View::Bare.name()),
        plain: folder.join(View::Plain.name()),
        path: request.with_path.then(|| folder.join(View::Path.name())),
        map: folder.join(MAP),
        warnings: record.warnings(),
        was_cached,
        folder,
    })
}

const MAP: &str = "program.map";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Bare,
    Plain,
    Path,
}

impl View {
    const ALL: [Self; 3] = [Self::Bare, Self::Plain, Self::Path];

    fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Plain => "plain",
            Self::Path => "path",
        }
    }
}

/// Hashes everything the views are made of.
fn content_hash(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
    root: &Path,
) -> Result<String, ViewError> {
    let ours = &settings.distribution;
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    for path in [&ours.instrument, &ours.runtime_archive, &ours.deliver_archive] {
        if !path.is_file() {
            return Err(ViewError::Incomplete { path: path.clone() });
        }
        add(&fs::read(path).map_err(|source| io_error("read", path, source))?);
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
    add(root.as_os_str().as_encoded_bytes());
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

fn build(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
    root: &Path,
    folder: &Path,
    missing: &[View],
) -> Result<(), ViewError> {
    // Beside the views, so that what is finished only needs to be moved.
    let beside = folder.parent().expect("views lie in a folder");
    fs::create_dir_all(beside).map_err(|source| io_error("make", beside, source))?;
    let work = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(beside)
        .map_err(|source| io_error("make a folder in", beside, source))?;
    instrument(settings, record, request, root, work.path())?;
    let links: Vec<_> = missing
        .iter()
        .map(|&view| Link::start(settings, record, view, work.path()))
        .collect::<Result<_, _>>()?;
    for link in links {
        link.finish()?;
    }
    let names = missing.iter().map(|view| view.name()).chain([MAP]);
    for name in names {
        store::move_into_place(&work.path().join(name), &folder.join(name))
            .map_err(|source| io_error("write", &folder.join(name), source))?;
    }
    Ok(())
}

fn instrument(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
    root: &Path,
    work: &Path,
) -> Result<(), ViewError> {
    let program = &settings.distribution.instrument;
    let facts = record.facts_dir();
    fs::create_dir_all(&facts).map_err(|source| io_error("make", &facts, source))?;
    let mut command = Command::new(program);
    command.arg("--bitcode").arg(record.bitcode_path()).arg("--facts").arg(&facts);
    command.arg("--map").arg(work.join(MAP)).arg("--root").arg(root);
    command.arg("--bare").arg(work.join("bare.o")).arg("--plain").arg(work.join("plain.o"));
    if request.with_path {
        command.arg("--path").arg(work.join("path.o"));
    }
    if let Some(scope) = &request.scope {
        let path = work.join("scope.json");
        fs::write(&path, scope).map_err(|source| io_error("write", &path, source))?;
        command.arg("--scope").arg(path);
    }
    let output =
        command.stdin(Stdio::null()).output().map_err(|source| io_error("start", program, source))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("error: ");
    let message = if said.is_empty() { output.status.to_string() } else { said.to_owned() };
    Err(ViewError::Instrument { bitcode: record.bitcode_path(), message })
}

/// Makes the runtime the first to run, before anything of the program closes descriptors; as the first input of a
/// link, because linkers keep the order of these entries.
const START: &str = ".section .preinit_array,\"aw\",@preinit_array\n.p2align 3\n.quad cairn_start\n\
                     .section .note.GNU-stack,\"\",@progbits\n";

/// A running link; all views link at the same time.
struct Link {
    view: View,
    child: Child,
    messages: PathBuf,
}

impl Link {
    fn start(settings: &Settings, record: &BuildRecord, view: View, work: &Path) -> Result<Self, ViewError> {
        let ours = &settings.distribution;
        let object = work.join(format!("{}.o", view.name())).display().to_string();
        let folder = record.folder.display().to_string();
        // Views lie elsewhere than the executable.
        let arguments = resolved(&record.link_arguments, origin(record), &record.directory);
        let mut words: Vec<String> = arguments
            .iter()
            .map(|word| match word.strip_prefix(FOLDER_PLACEHOLDER) {
                Some(rest) => format!("{folder}{rest}"),
                None if word == VIEW_PLACEHOLDER => object.clone(),
                None => word.clone(),
            })
            .collect();
        if view != View::Bare {
            let start = work.join(format!("{}-start.s", view.name()));
            fs::write(&start, START).map_err(|source| io_error("write", &start, source))?;
            words.insert(0, start.display().to_string());
        }
        let archive = if view == View::Bare { &ours.deliver_archive } else { &ours.runtime_archive };
        words.push(archive.display().to_string());
        words.push("-fuse-ld=lld".to_owned());
        words.push(format!("--ld-path={}", settings.toolchain.lld.display()));
        words.extend(["-Qunused-arguments", "-Wl,--undefined-version", "-o"].map(str::to_owned));
        words.push(work.join(view.name()).display().to_string());
        let messages = work.join(format!("{}.messages", view.name()));
        let output = File::create(&messages).map_err(|source| io_error("write", &messages, source))?;
        let driver = settings.toolchain.driver(record.is_cxx);
        // Relative paths the user hid in options are relative to where the link ran.
        let directory = if record.directory.is_dir() { &record.directory } else { &record.folder };
        let child = command(driver, &words, work)
            .and_then(|mut command| {
                command
                    .current_dir(directory)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(output)
                    .spawn()
            })
            .map_err(|source| io_error("start", driver, source))?;
        Ok(Self { view, child, messages })
    }

    fn finish(mut self) -> Result<(), ViewError> {
        let status = self.child.wait().map_err(|source| io_error("wait for", &self.messages, source))?;
        if status.success() {
            return Ok(());
        }
        let messages = fs::read(&self.messages).unwrap_or_default();
        let text = String::from_utf8_lossy(&messages);
        let message = text.lines().take(8).collect::<Vec<_>>().join("\n");
        Err(ViewError::Link { view: self.view.name(), message })
    }
}

/// The folder the executable was written to.
fn origin(record: &BuildRecord) -> &Path {
    record.executable.parent().unwrap_or(Path::new("/"))
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> ViewError {
    ViewError::Io { action, path: path.to_owned(), source }
}
