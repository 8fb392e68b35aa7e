//! The real programs: fetched, built and recorded.
//!
//! ```console
//! $ cargo xtask targets list
//! $ cargo xtask targets build sort grep     # with cairn-cc, then their views; quick the second time
//! $ cargo xtask targets record all          # inputs from their own test suites
//! $ cargo xtask targets build sort --fresh  # from nothing
//! ```
//!
//! `--fresh` repeats the named step, not those before it.

use crate::{dist, workspace::Workspace};
use anyhow::{Context, bail, ensure};
use cairn_targets::{Cache, Kind, Target, find, targets};

const HELP: &str = "\
usage: cargo xtask targets list
       cargo xtask targets fetch|build|record NAME…|all [--fresh]";

/// What is done to each target.
#[derive(Clone, Copy)]
enum Step {
    Fetch,
    Build,
    Record,
}

/// Carries a step out for the named targets; one that fails does not keep the others from it.
pub fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<()> {
    let (flags, words): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with('-'));
    let is_fresh = flags.iter().any(|flag| *flag == "--fresh");
    ensure!(flags.iter().all(|flag| *flag == "--fresh"), "`targets` knows only `--fresh`\n\n{HELP}");
    let Some((step, names)) = words.split_first() else { bail!("no step was named\n\n{HELP}") };
    let step = match step.as_str() {
        "list" => return list(),
        "fetch" => Step::Fetch,
        "build" => Step::Build,
        "record" => Step::Record,
        unknown => bail!("there is no step `{unknown}`\n\n{HELP}"),
    };
    let chosen = choose(names)?;
    let cache = open(workspace, step)?;
    let mut failed = Vec::new();
    for target in chosen {
        match carry_out(&cache, target, step, is_fresh) {
            Ok(line) => println!("{line}"),
            Err(error) => failed.push(format!("{}: {error:#}", target.name)),
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

fn choose(names: &[&String]) -> anyhow::Result<Vec<&'static Target>> {
    ensure!(!names.is_empty(), "no target was named\n\n{HELP}");
    if names.iter().any(|name| *name == "all") {
        return Ok(targets().iter().collect());
    }
    Ok(names.iter().map(|name| find(name)).collect::<Result<_, _>>()?)
}

/// Only fetching does without our own tools.
fn open(workspace: &Workspace, step: Step) -> anyhow::Result<Cache> {
    let folder = Cache::default_folder(|name| std::env::var_os(name))
        .context("neither `CAIRN_TARGETS_DIR` nor `HOME` is set")?;
    let tools = match (step, std::env::var_os("CAIRN_DIST")) {
        (Step::Fetch, _) => workspace.target.join("dist"),
        (_, Some(dist)) => dist.into(),
        // As `bench/run` does: builds depend on the very `cairn-cc`, and two kinds of it would keep undoing each other's.
        (_, None) => dist::assemble(workspace, dist::Profile::Release)?,
    };
    Ok(Cache::open(&folder, &tools.join("bin"), &workspace.root, |text| eprintln!("{text}"))?)
}

fn carry_out(cache: &Cache, target: &Target, step: Step, is_fresh: bool) -> anyhow::Result<String> {
    let name = target.name;
    Ok(match step {
        Step::Fetch => {
            if is_fresh {
                target.forget_source(cache)?;
            }
            match target.fetch(cache)? {
                Some(source) => format!("{name}  {}", source.display()),
                None => format!("{name}  nothing to fetch"),
            }
        }
        Step::Build => {
            if is_fresh {
                target.forget(cache)?;
            }
            let built = target.build(cache)?;
            format!("{name}  {} ({} counters)", built.program.display(), built.n_counters)
        }
        Step::Record => {
            if is_fresh {
                target.forget_inputs(cache)?;
            }
            let recorded = target.record(cache)?;
            format!("{name}  {} inputs in {}", recorded.n_inputs, recorded.folder.display())
        }
    })
}

fn list() -> anyhow::Result<()> {
    for target in targets() {
        let kind = match target.kind {
            Kind::Program => "program",
            Kind::Harness(_) => "harness",
        };
        println!(
            "{:<15} {kind}  {:<10} {}",
            target.name,
            target.package.unwrap_or("–"),
            target.scope.join(" ")
        );
    }
    Ok(())
}
