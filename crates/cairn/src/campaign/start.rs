//! Begins a campaign, or goes on with one.

use super::{
    face::Face, history::History, live::Title, plan::Plan, strategies::Strategies, trouble,
    views::CampaignViews,
};
use crate::{
    duration,
    exit_code::Exit,
    failure::Failure,
    inputs,
    screen::{Screen, count},
    shell,
    signals::Signals,
    target::{Subject, Wanted},
};
use cairn_campaign::{CampaignConfig, CampaignFolder, Event, Parts, SanitizedRunner, Summary, Why};
use cairn_model::Input;
use cairn_strategy::Stop;
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
    let subject = open(&target_args, screen)?;
    if subject.map.conditions.is_empty() {
        return Err(Failure::target("the program has no branches in scope, so there is nothing to reach")
            .hint("check `[scope]` in `cairn.toml`; `cairn map` shows what is there"));
    }
    let seeds = seeds(&subject, folder, screen)?;
    let stop = Stop::default();
    let views = CampaignViews::new(&subject, subject.views.symbolic.clone());
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
    let parts = Parts {
        target: &views,
        sanitized: sanitized.as_ref().map(|make| make as &SanitizedRunner<'_>),
        strategies: &|worker| strategies.of_worker(worker),
        seeds: &seeds,
        stop: &stop,
        plan: serde_json::to_string(plan).expect("a plan is always JSON"),
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
    let history = History::read(folder, plan, &subject).and_then(|history| {
        history.write_report(folder)?;
        Ok(history)
    });
    if let Err(error) = &history {
        screen.warn(&format!("there is no report: {}", error.message));
    }
    if told == Told::Lines {
        let mut text = summarise(&summary, why, folder, history.ok().as_ref());
        if given_in != plan.directory && !summary.failures.is_empty() {
            text.push_str(&format!("\ncommands are to be given in `{}`", plan.directory.display()));
        }
        screen.result(&text);
    }
    Ok(if summary.failures.is_empty() { Exit::Done } else { Exit::Findings })
}

/// With the symbolic view where it can be built.
fn open(target: &crate::target::TargetArgs, screen: &Screen) -> Result<Subject, Failure> {
    let wanted = Wanted { symbolic: true, path: true, ..Wanted::USUAL };
    let progress = |text: &str| screen.progress(text);
    Subject::open(target, &wanted, &progress).or_else(|failure| {
        // If something else is wrong, it is wrong without it too.
        let subject = Subject::open(target, &Wanted { symbolic: false, ..wanted }, &progress)?;
        screen.warn(&format!(
            "there is no symbolic view, so comparisons are not looked into: {}",
            failure.message
        ));
        Ok(subject)
    })
}

/// What can be read of what was named. A campaign that goes on has inputs of its own, and can do without.
fn seeds(subject: &Subject, folder: &Path, screen: &Screen) -> Result<Vec<Input>, Failure> {
    let goes_on = folder.join("campaign.db").exists();
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
            "  {} failed only in the plain view, not on the bare build\n",
            count(summary.n_unconfirmed as usize, "input")
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
