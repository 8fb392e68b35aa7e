//! Begins a campaign, or goes on with one.

use super::{
    face::Face,
    history::History,
    live::Title,
    minimal::{self, Minimal},
    mutant_plan::MutantPlan,
    plan::Plan,
    presence::holds_campaign,
    seeds_plan::SeedsPlan,
    strategies::Strategies,
    trouble,
    views::{CampaignMutants, CampaignViews},
};
use crate::{
    commands::score::Setup,
    duration,
    exit_code::Exit,
    failure::Failure,
    inputs,
    mutants::Mutants,
    screen::{Screen, count},
    shell,
    signals::Signals,
    target::{Subject, Wanted},
};
use cairn_campaign::{
    CampaignConfig, CampaignFolder, Event, KillSummary, Parts, SanitizedRunner, Summary, Why,
};
use cairn_model::Input;
use cairn_seeds::Criterion;
use cairn_strategy::{CountedMutants, Stop, TargetViews};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    thread,
};

/// How campaigns are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// For people.
    Lines,
    /// One event a line, as in `events.jsonl`.
    Json,
}

/// Carries a plan out in a folder; the current folder is the plan's. The command was given in `given_in`.
pub fn start(
    plan: &Plan,
    folder: &Path,
    given_in: &Path,
    told: Told,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let target_args = plan.target()?;
    let set = plan.mutants.as_ref().map(|mutants| mutants.set.clone());
    let criterion = plan.seeds.as_ref().map(SeedsPlan::criterion).transpose()?;
    let subject = open(&target_args, set, criterion == Some(Criterion::Path), screen)?;
    if subject.map.conditions.is_empty() {
        return Err(Failure::target("the program has no branches in scope, so there is nothing to reach")
            .hint("check `[scope]` in `cairn.toml`; `cairn map` shows what is there"));
    }
    let seeds = seeds(&subject, folder, screen)?;
    let stop = Stop::default();
    let mutants = plan.mutants.as_ref().map(|_| Mutants::of(&subject)).transpose()?;
    let counted = match (&plan.mutants, &mutants) {
        (Some(mutant_plan), Some(mutants)) => Some(campaign_mutants(mutant_plan, mutants, &subject)?),
        _ => None,
    };
    let views = CampaignViews::new(&subject, subject.views.symbolic.clone(), counted);
    let strategies = Strategies::new(plan, &subject, &seeds)?;
    let sanitizers = plan.sanitizers()?;
    let sanitized = match sanitizers.is_empty() {
        true => None,
        false => Some(subject.build_sanitized(&sanitizers, &|text| screen.progress(text))?),
    };
    let sanitized = sanitized.map(|program| {
        let subject = &subject;
        move || subject.sanitized(&program)
    });
    let text = |plan: &Plan| serde_json::to_string(plan).expect("a plan is always JSON");
    let parts = Parts {
        target: &views,
        sanitized: sanitized.as_ref().map(|make| make as &SanitizedRunner<'_>),
        strategies: &|worker| strategies.of_worker(worker),
        seeds: &seeds,
        stop: &stop,
        plan: text(plan),
        plan_after_looks: plan.after_looks().as_ref().map(text),
    };
    let failure = |error| trouble::failure(&error, folder);
    let campaign = CampaignFolder::open(folder, subject.template.clone()).map_err(failure)?;
    // What was larger could not be read again.
    let config = CampaignConfig { max_size: subject.template.max_size, ..plan.config.clone() };
    let signals = Signals::catch()?;
    let title = Title {
        target: shell::command(&subject.program, &plan.args),
        folder: folder.display().to_string(),
        budget: plan.config.budget.clone(),
    };
    let face = Face::new(told, screen, title);
    let result = thread::scope(|scope| -> Result<_, Failure> {
        let _attendance = face.attend(scope, &stop, &signals)?;
        cairn_campaign::run(campaign, &config, &parts, |event: &Event| face.tell(event)).map_err(failure)
    });
    face.leave();
    let (summary, why) = result?;
    // What was found is stored; a report can be written again.
    let history = History::read(folder, plan, &subject, mutants.as_ref()).and_then(|history| {
        history.write_report(folder)?;
        Ok(history)
    });
    if let Err(error) = &history {
        screen.warn(&format!("there is no report: {}", error.message));
    }
    let rechecks = plan.mutants.as_ref().is_some_and(|plan| plan.rechecks);
    let counted = views.mutants().zip(mutants.as_ref()).filter(|_| rechecks);
    let minimal = match (counted, &history, why) {
        // Whoever asked to end does not wait for this.
        (Some((counted, mutants)), Ok(history), Why::Budget | Why::NothingLeft) => {
            let selected = &counted.selected;
            let written = minimal::write(folder, &subject, mutants, selected, history, &signals, screen);
            written
                .inspect_err(|error| {
                    screen.warn(&format!("mutants were not run once more: {}", error.message));
                })
                .ok()
        }
        _ => None,
    };
    if told == Told::Lines {
        let mut text = summarise(&summary, why, folder, history.ok().as_ref());
        if let Some(kills) = &summary.kills {
            text.push_str(&format!("\n{}", killed(kills, minimal.as_ref(), plan)));
        }
        if given_in != plan.directory && !summary.failures.is_empty() {
            text.push_str(&format!("\ncommands are to be given in `{}`", plan.directory.display()));
        }
        screen.result(&text);
    }
    Ok(if summary.failures.is_empty() { Exit::Done } else { Exit::Findings })
}

/// With the symbolic view where it can be built.
fn open(
    target: &crate::target::TargetArgs,
    mutants: Option<String>,
    basic_paths: bool,
    screen: &Screen,
) -> Result<Subject, Failure> {
    let wanted = Wanted { symbolic: true, path: true, basic_paths, mutants, ..Wanted::USUAL };
    let progress = |text: &str| screen.progress(text);
    Subject::open(target, &wanted, &progress).or_else(|failure| {
        // If something else is wrong, it is wrong without it too.
        let subject = Subject::open(target, &Wanted { symbolic: false, ..wanted.clone() }, &progress)?;
        screen.warn(&format!(
            "there is no symbolic view, so comparisons are not looked into: {}",
            failure.message
        ));
        Ok(subject)
    })
}

fn campaign_mutants(
    plan: &MutantPlan,
    mutants: &Mutants,
    subject: &Subject,
) -> Result<CampaignMutants, Failure> {
    Ok(CampaignMutants {
        counted: CountedMutants { table: mutants.table.clone(), selected: plan.select(mutants)? },
        view: mutants.view.program.clone(),
        setup: Setup::new(&subject.config, subject.run_config.clone())?,
    })
}

/// What can be read of what was named. A campaign that goes on has inputs of its own, and can do without.
fn seeds(subject: &Subject, folder: &Path, screen: &Screen) -> Result<Vec<Input>, Failure> {
    let goes_on = holds_campaign(folder).map_err(|error| trouble::store_failure(&error, folder))?;
    if subject.inputs.is_empty() {
        if !goes_on {
            screen.warn("no seeds were given: starting from an empty input");
        }
        return Ok(vec![subject.template.fill(Vec::new())]);
    }
    let mut leave_out = |why: &str| screen.warn(&format!("a seed is left out: {why}"));
    let mut load = |paths: &[PathBuf]| inputs::load_readable(paths, &subject.template, &mut leave_out);
    let loaded = match load(&subject.inputs) {
        Err(failure) if goes_on => {
            screen.warn(&format!("going on with the corpus, without seeds: {}", failure.message));
            load(&[folder.join("corpus")])?
        }
        loaded => loaded?,
    };
    if loaded.is_empty() {
        return Err(Failure::usage("none of the seeds can be read")
            .hint("the warnings say why; without seeds `cairn run` starts from an empty input"));
    }
    let mut known = BTreeSet::new();
    Ok(loaded.into_iter().map(|named| named.input).filter(|input| known.insert(input.address())).collect())
}

/// What became of mutants, and which inputs are enough.
fn killed(kills: &KillSummary, minimal: Option<&Minimal>, plan: &Plan) -> String {
    let KillSummary { n_mutants, n_killed, by_reason } = kills;
    let percent = *n_killed as f64 * 100.0 / (*n_mutants).max(1) as f64;
    let reasons: Vec<String> = by_reason.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
    let mut text = format!(
        "{n_killed} of {} killed ({percent:.1}%): {}",
        count(*n_mutants, "mutant"),
        if reasons.is_empty() { "none".into() } else { reasons.join(", ") },
    );
    let differential = kills.n_by_difference();
    if *n_killed > 0 {
        let percent = differential as f64 * 100.0 / *n_killed as f64;
        text.push_str(&format!("; {percent:.0}% by comparing what it does, the others by how it ends"));
    }
    if let Some(minimal) = minimal {
        let smallest = if minimal.is_smallest { ", and no fewer are" } else { "" };
        text.push_str(&format!(
            "\nrun once more with more time, they kill {}; {} in `minimal` are as good as all{smallest}",
            count(minimal.n_killed, "mutant"),
            count(minimal.n_inputs, "input"),
        ));
    } else if plan.mutants.as_ref().is_some_and(MutantPlan::is_unsound) {
        text.push_str("\na filter left out mutants that might be killed, and they were not run once more");
    }
    text
}

fn summarise(summary: &Summary, why: Why, folder: &Path, history: Option<&History<'_>>) -> String {
    let (reached, all) = summary.n_branches;
    let n_inputs: u64 = summary.work.values().map(|spent| spent.inputs).sum();
    let n_runs: u64 = summary.work.values().map(|spent| spent.target_runs).sum();
    let mut text = format!(
        "{} of {} reached by {} in {} ({n_inputs} inputs tried, {n_runs} runs)\n",
        reached,
        count(all, "branch"),
        count(summary.n_entries, "input"),
        duration::show(summary.worked),
    );
    for failure in &summary.failures {
        let place = failure.stack.first().map_or(String::new(), |frame| format!(" in {frame}"));
        text.push_str(&format!("  {}{place}: input {}\n", failure.kind, failure.input.address()));
        if let Some(replay) = history.and_then(|history| history.replay(&failure.signature)) {
            text.push_str(&format!("    {replay}\n"));
        }
    }
    if summary.n_unconfirmed > 0 {
        text.push_str(&format!(
            "  {} failed in the plain view, and in no run of the bare build: they are in `unconfirmed`\n",
            count(summary.n_unconfirmed, "input")
        ));
    }
    if summary.n_unstable > 0 {
        text.push_str(&format!(
            "  {} of the program differed between two runs of one input, and told nothing\n",
            count(summary.n_unstable, "place")
        ));
    }
    text.push_str(&format!("everything is in `{}`", folder.display()));
    if history.is_some() {
        text.push_str(", for people in its `report.html`");
    }
    if why == Why::Asked {
        text.push_str(&format!("; `cairn resume {}` goes on", folder.display()));
    }
    text
}
