//! Begins a campaign, or goes on with one.

use super::{
    face::Face, history::History, live::Title, plan::Plan, strategies::Strategies, views::CampaignViews,
};
use crate::{
    duration,
    exit_code::Exit,
    failure::{Failure, chain},
    inputs,
    screen::{Screen, count},
    shell,
    signals::Signals,
    target::{Subject, Wanted},
};
use cairn_campaign::{CampaignConfig, CampaignError, CampaignFolder, Event, Parts, Summary, Why};
use cairn_model::Input;
use cairn_strategy::Stop;
use std::{path::Path, thread};

/// How campaigns are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// For people.
    Lines,
    /// One event a line, as in `events.jsonl`.
    Json,
}

/// Carries a plan out in a folder; the current folder is the plan's.
pub fn start(plan: &Plan, folder: &Path, told: Told, screen: &Screen) -> Result<Exit, Failure> {
    let target_args = plan.target()?;
    let subject = open(&target_args, screen)?;
    if subject.map.conditions.is_empty() {
        return Err(Failure::target("the program has no branches in scope, so there is nothing to reach")
            .hint("check `[scope]` in `cairn.toml`; `cairn map` shows what is there"));
    }
    let seeds = seeds(&subject, screen)?;
    let stop = Stop::default();
    let views = CampaignViews::new(&subject, subject.views.symbolic.clone());
    let strategies = Strategies::new(plan, &subject, &seeds)?;
    let parts = Parts {
        target: &views,
        strategies: &|worker| strategies.of_worker(worker),
        seeds: &seeds,
        stop: &stop,
        plan: serde_json::to_string(plan).expect("a plan is always JSON"),
    };
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
    let report = History::read(folder, plan, &subject).and_then(|history| history.write_report(folder));
    if let Err(error) = &report {
        screen.warn(&format!("there is no report: {}", error.message));
    }
    if told == Told::Lines {
        screen.result(&summarise(&summary, why, folder, report.is_ok()));
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

fn seeds(subject: &Subject, screen: &Screen) -> Result<Vec<Input>, Failure> {
    let mut seeds = Vec::new();
    for named in inputs::load(&subject.inputs, &subject.template)? {
        if !seeds.contains(&named.input) {
            seeds.push(named.input);
        }
    }
    if seeds.is_empty() {
        screen.warn("no seeds were given: starting from an empty input");
        seeds.push(subject.template.fill(Vec::new()));
    }
    Ok(seeds)
}

fn summarise(summary: &Summary, why: Why, folder: &Path, has_report: bool) -> String {
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
    }
    if summary.n_unconfirmed > 0 {
        text.push_str(&format!(
            "  {} failed only in the plain view, not on the bare build\n",
            count(summary.n_unconfirmed as usize, "input")
        ));
    }
    text.push_str(&format!("everything is in `{}`", folder.display()));
    if has_report {
        text.push_str(", for people in its `report.html`");
    }
    if why == Why::Asked {
        text.push_str(&format!("; `cairn resume {}` goes on", folder.display()));
    }
    text
}

fn failure(error: CampaignError) -> Failure {
    Failure::target(chain(&error))
}
