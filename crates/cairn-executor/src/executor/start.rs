//! Reaches the sandbox level: plans a keeper, starts it, and falls back where the level allows it.

use super::scratch_folder::ScratchFolder;
use crate::{
    config::{RunConfig, SandboxLevel},
    error::ExecutorError,
    keeper::{Keeper, NamespacePlan, Plan, ProgramMounts, SetupFailure, Shared},
    program::{Access, Program},
    sandbox::{
        Layers, UNPRIVILEGED, landlock, landlock_needed,
        seccomp::{self, FilterConfig},
        wants_namespaces,
    },
    scratch::Scratch,
};
use std::{
    ffi::{CString, OsStr},
    fs, io,
    os::{
        fd::AsRawFd,
        unix::{ffi::OsStrExt, fs::PermissionsExt},
    },
    path::{Path, PathBuf},
};
/// A keeper ready to run targets, and what goes with it.
pub(crate) struct Started {
    pub(crate) keeper: Keeper,
    pub(crate) layers: Layers,
    pub(crate) program: Program,
    pub(crate) launch_path: PathBuf,
    pub(crate) scratch: Scratch,
    /// The scratch folder, when it is an ordinary one.
    pub(crate) folder: Option<ScratchFolder>,
}

/// Starts a keeper for `program` at the level `config` asks for.
pub(crate) fn start(program: &Path, config: &RunConfig) -> Result<Started, ExecutorError> {
    let level = config.level;
    let landlock_abi = if level == SandboxLevel::Off { 0 } else { landlock::abi() };
    let layers =
        |has_namespaces| Layers { has_namespaces, landlock_abi, has_filter: level != SandboxLevel::Off };
    let mut reasons = Vec::new();
    if wants_namespaces(level, landlock_abi) {
        for has_user in user_namespace_choices() {
            match attempt(program, config, layers(true), *has_user)? {
                Ok(started) => return Ok(started),
                Err(failure) => reasons.push(format!("namespaces: {}", text(&failure))),
            }
        }
    }
    let needed = landlock_needed(level);
    if landlock_abi < needed {
        reasons.push(format!("Landlock has version {landlock_abi}, {needed} could stand in for namespaces"));
        return Err(ExecutorError::SandboxUnavailable { level, missing: reasons.join("; ") });
    }
    attempt(program, config, layers(false), false)?.map_err(|failure| match level {
        SandboxLevel::Off => failure.into(),
        _ => {
            reasons.push(text(&failure));
            ExecutorError::SandboxUnavailable { level, missing: reasons.join("; ") }
        }
    })
}

/// Enters namespaces once and leaves them; says what was possible.
pub(crate) fn try_namespaces(config: &RunConfig) -> Result<String, String> {
    let mut reasons = Vec::new();
    for has_user in user_namespace_choices() {
        let result = (|| {
            let failed = |source| SetupFailure { step: "making shared memory", source };
            let shared = Shared::new().map_err(failed)?;
            let place = Place::Mount { point: mount_point(config)?, has_user: *has_user };
            Keeper::start(&plan(config, None, &place, Vec::new()), shared)
        })();
        match result {
            Ok(mut keeper) => {
                let board = keeper.shared().read_board();
                let mut remark = String::from(if *has_user {
                    "user, mount, pid, net, ipc"
                } else {
                    "mount, pid, net, ipc"
                });
                if board.proc_hidden != 0 {
                    remark.push_str("; /proc is hidden");
                }
                if board.has_fixed_pids == 0 {
                    remark.push_str("; process ids differ between runs");
                }
                return Ok(remark);
            }
            Err(failure) => reasons.push(text(&failure)),
        }
    }
    Err(reasons.join("; "))
}

/// Root can do without a user namespace where it is switched off; others cannot.
fn user_namespace_choices() -> &'static [bool] {
    if nix::unistd::geteuid().is_root() { &[true, false] } else { &[true] }
}

fn text(failure: &SetupFailure) -> String {
    format!("{} failed: {}", failure.step, failure.source)
}

/// The outer error is the user's (no such program), the inner one means that this combination is not to be had.
fn attempt(
    given: &Path,
    config: &RunConfig,
    layers: Layers,
    has_user: bool,
) -> Result<Result<Started, SetupFailure>, ExecutorError> {
    let credentials = credentials(config);
    let mut program =
        Program::find(given, credentials.is_some(), layers.has_namespaces, &config.base_folder)?;
    if let Some(name) = &config.program_name {
        program.name = name.clone().into_bytes();
    }
    let shared = Shared::new().map_err(ExecutorError::system("make shared memory"))?;
    let filter = if layers.has_filter {
        seccomp::filter(&FilterConfig {
            launch_address: shared.launch_address(),
            allow_exec: config.allow_exec,
            has_namespaces: layers.has_namespaces,
            landlock_abi: layers.landlock_abi,
        })
    } else {
        Vec::new()
    };
    let folder = if layers.has_namespaces {
        None
    } else {
        Some(ScratchFolder::new(config).map_err(ExecutorError::system("make a scratch folder"))?)
    };
    let place = match &folder {
        Some(folder) => Place::Folder(folder.path().to_path_buf()),
        None => match mount_point(config) {
            Ok(point) => Place::Mount { point, has_user },
            Err(failure) => return Ok(Err(failure)),
        },
    };
    let plan = plan(config, Some(&program), &place, filter);
    let launch_path = program.launch_path(&place.path().join("program"));
    let mut keeper = match Keeper::start(&plan, shared) {
        Ok(keeper) => keeper,
        Err(failure) => return Ok(Err(failure)),
    };
    let ruleset = if layers.landlock_abi > 0 {
        match landlock::rules(keeper.scratch_fd()) {
            Ok(ruleset) => ruleset,
            Err(error) => {
                let source = io::Error::other(error.to_string());
                return Ok(Err(SetupFailure { step: "making Landlock rules", source }));
            }
        }
    } else {
        None
    };
    if let Err(failure) = keeper.give_rules(ruleset) {
        return Ok(Err(failure));
    }
    let root =
        keeper.scratch_fd().try_clone_to_owned().map_err(ExecutorError::system("open the scratch folder"))?;
    let scratch = Scratch::new(root, credentials)?;
    Ok(Ok(Started { keeper, layers, program, launch_path, scratch, folder }))
}

/// Where the scratch folder lies.
enum Place {
    /// It is this ordinary folder.
    Folder(PathBuf),
    /// It is mounted below this one.
    Mount { point: PathBuf, has_user: bool },
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::Mount { point: path, .. } => path,
        }
    }
}

/// Works out everything a keeper needs.
fn plan(
    config: &RunConfig,
    program: Option<&Program>,
    place: &Place,
    filter: Vec<libc::sock_filter>,
) -> Plan {
    let credentials = credentials(config);
    let (namespaces, scratch, left_folder) = match place {
        Place::Folder(path) => (None, path.clone(), Some(c_string(path))),
        Place::Mount { point, has_user } => {
            (Some(namespace_plan(config, program, point, *has_user)), point.join("scratch"), None)
        }
    };
    let user = credentials.map_or_else(|| nix::unistd::getuid().as_raw(), |(user, _)| user);
    let has_user = matches!(place, Place::Mount { has_user: true, .. });
    let others = if has_user { 0 } else { tasks_of(user) };
    // Frames of symbolic views hold labels beside values.
    let stack = if config.trace_level == cairn_abi::channel::TraceLevel::None { 8 << 20 } else { 64 << 20 };
    let mut limits = vec![
        // Not 0: with 0 the kernel still starts the program a piped `core_pattern` names; with 1 it does not.
        (libc::RLIMIT_CORE, 1),
        (libc::RLIMIT_FSIZE, config.file_limit),
        (libc::RLIMIT_NPROC, others + config.max_processes),
        (libc::RLIMIT_NOFILE, 1024),
        (libc::RLIMIT_STACK, stack),
    ];
    if config.memory_limit > 0 {
        limits.push((libc::RLIMIT_AS, config.memory_limit));
    }
    Plan {
        namespaces,
        scratch: c_string(&scratch),
        left_folder,
        drops_privileges: config.level != SandboxLevel::Off,
        credentials,
        filter,
        limits,
        program_fd: program.and_then(|program| match &program.access {
            Access::Descriptor(fd) => Some(fd.as_raw_fd()),
            _ => None,
        }),
    }
}

/// The user targets change to: none if this process is not root, or is root of a user namespace without that user.
fn credentials(config: &RunConfig) -> Option<(u32, u32)> {
    let (user, group) = UNPRIVILEGED;
    let can_change = config.level != SandboxLevel::Off
        && nix::unistd::geteuid().is_root()
        && is_mapped("/proc/self/uid_map", user)
        && is_mapped("/proc/self/gid_map", group);
    can_change.then_some(UNPRIVILEGED)
}

fn is_mapped(map: &str, id: u32) -> bool {
    fs::read_to_string(map).is_ok_and(|text| {
        text.lines().any(|line| {
            let numbers: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
            matches!(numbers[..], [start, _, count] if (start..start + count).contains(&u64::from(id)))
        })
    })
}

fn namespace_plan(
    config: &RunConfig,
    program: Option<&Program>,
    point: &Path,
    has_user: bool,
) -> NamespacePlan {
    let dev = point.join("dev");
    let devices = ["null", "zero", "full", "random", "urandom"]
        .into_iter()
        .map(|name| (Path::new("/dev").join(name), dev.join(name)))
        .filter(|(from, _)| from.exists())
        .map(|(from, to)| (c_string(&from), c_string(&to)))
        .collect();
    let links = [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")]
        .into_iter()
        .map(|(name, content)| (c_string(Path::new(content)), c_string(&dev.join(name))))
        .collect();
    let program = program
        .filter(|program| matches!(program.access, Access::BoundFolder))
        .map(|program| program_mounts(program, &point.join("program")));
    let options = format!("mode=0755,size={},nr_inodes=65536", config.scratch_limit);
    NamespacePlan {
        has_user,
        mount_point: c_string(point),
        mount_options: c_string(Path::new(&options)),
        shm: c_string(&dev.join("shm")),
        dev: c_string(&dev),
        devices,
        links,
        proc: c_string(&point.join("proc")),
        last_pid: c_string(&point.join("proc/sys/kernel/ns_last_pid")),
        program,
    }
}

fn program_mounts(program: &Program, shown: &Path) -> ProgramMounts {
    let folder = program.path.parent().unwrap_or(Path::new("/"));
    let is_open = folder.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0);
    let is_library = |name: &OsStr| name.to_string_lossy().contains(".so");
    let names = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| Some(name.as_os_str()) == program.path.file_name() || is_library(name))
        .filter(|name| folder.join(name).is_file());
    ProgramMounts {
        folder: c_string(shown),
        whole: is_open.then(|| c_string(folder)),
        files: names.map(|name| (c_string(&folder.join(&name)), c_string(&shown.join(&name)))).collect(),
    }
}

/// An empty folder all executors share: each mounts its own over it, so that every run sees the same path.
///
/// What lies below it is hidden from targets, which may be the program itself or what it reads: one that holds
/// anything is left alone and the next name is taken.
fn mount_point(config: &RunConfig) -> Result<PathBuf, SetupFailure> {
    let failed = |source| SetupFailure { step: "making the mount point", source };
    for number in 1..=MAX_MOUNT_POINTS {
        let name = if number == 1 { MOUNT_POINT.to_string() } else { format!("{MOUNT_POINT}-{number}") };
        let point = config.base_folder.join(name);
        match fs::create_dir(&point) {
            Ok(()) => return Ok(point),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        // What another user's folder holds behind closed doors is closed to a target as well.
        let is_empty = fs::read_dir(&point).map_or(true, |mut entries| entries.next().is_none());
        if point.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) && is_empty {
            return Ok(point);
        }
    }
    let folder = config.base_folder.display();
    Err(failed(io::Error::other(format!(
        "all {MAX_MOUNT_POINTS} folders `{folder}/{MOUNT_POINT}…` are in use"
    ))))
}

/// The name of the folder to mount over.
const MOUNT_POINT: &str = "cairn-sandbox";

/// How many names are tried.
const MAX_MOUNT_POINTS: u32 = 32;

/// How many processes and threads `user` has: without a user namespace the limit counts all of them.
fn tasks_of(user: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    processes
        .flatten()
        .filter(|entry| entry.file_name().as_bytes().first().is_some_and(u8::is_ascii_digit))
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == user))
        .map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64))
        .sum()
}

fn c_string(path: &Path) -> CString {
    // Paths with zero bytes do not exist, so the empty string fails in the same way.
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}
