//! The headline figures.

use super::page::Page;
use crate::{
    campaign::history::History,
    duration,
    printable::{grouped, one_line},
    screen::count,
};
use cairn_campaign::Why;

/// Warnings that are shown; the journal has all.
const SHOWN_WARNINGS: usize = 20;

/// Title, figures, what the campaign was and what there is to know about it.
pub fn render(page: &mut Page, history: &History<'_>) {
    page.markup("<header>\n<h1><small>cairn</small> ").text(&history.command).markup("</h1>\n");
    page.markup("<p class=\"quiet\">").text(&circumstances(history)).markup("</p>\n");
    figures(page, history);
    page.markup("</header>\n");
    let n_only_failing = history.n_reached().saturating_sub(history.coverage.n_branches(history.map));
    if n_only_failing > 0 {
        let branches = count(n_only_failing, "branch");
        page.element(
            "p",
            &format!(
                "{branches} of these were reached by runs that failed and by no input that is kept; the tables \
                 below are about inputs that are kept."
            ),
        );
    }
    warnings(page, history);
}

fn circumstances(history: &History<'_>) -> String {
    let config = &history.plan.config;
    let ended = match history.ended {
        Some(Why::Budget) => "it ended with its budget",
        Some(Why::Asked) => "it was asked to end",
        Some(Why::NothingLeft) => "it ended when no strategy had anything left to propose",
        Some(Why::Error) => "it was ended by an error",
        None => "it is still at work, or was killed",
    };
    format!(
        "Begun in {}, kept in {}; {}, seed {}, strategies: {}; {ended}.",
        history.directory.display(),
        history.folder.display(),
        count(config.workers, "worker"),
        config.seed,
        if history.plan.strategies.is_empty() { "none".into() } else { history.plan.strategies.join(", ") },
    )
}

fn figures(page: &mut Page, history: &History<'_>) {
    let (reached, all) = (history.n_reached(), 2 * history.map.conditions.len());
    let spent = history.spent();
    let percent = if all == 0 { 100.0 } else { reached as f64 * 100.0 / all as f64 };
    let rate = spent.inputs as f64 / spent.wall.as_secs_f64().max(1e-3);
    page.markup("<dl class=\"cards\" id=\"figures\">\n");
    let mut card = |name: &str, figure: &str, beside: &str| {
        page.markup("<div><dt>").text(name).markup("</dt><dd>").text(figure);
        if !beside.is_empty() {
            page.markup(" <small>").text(beside).markup("</small>");
        }
        page.markup("</dd></div>\n");
    };
    card(
        "branches reached",
        &grouped(reached as u64),
        &format!("of {} · {percent:.1}%", grouped(all as u64)),
    );
    card("inputs kept", &grouped(history.entries.len() as u64), "");
    card("inputs tried", &grouped(spent.inputs), &format!("{} a second", grouped(rate.round() as u64)));
    card("runs", &grouped(spent.target_runs), "");
    card("time", &duration::show(spent.wall), "");
    let n_failures = history.failures.len();
    page.markup(if n_failures > 0 { "<div class=\"fails\">" } else { "<div>" });
    page.markup("<dt>ways to fail</dt><dd>").value(n_failures).markup("</dd></div>\n</dl>\n");
}

fn warnings(page: &mut Page, history: &History<'_>) {
    if history.warnings.is_empty() {
        return;
    }
    // Every start of a campaign may say the same.
    let mut told: Vec<(&str, usize)> = Vec::new();
    for text in history.warnings.iter().rev() {
        match told.iter_mut().find(|(known, _)| known == text) {
            Some((_, n_times)) => *n_times += 1,
            None => told.push((text, 1)),
        }
    }
    page.markup("<h2>Warnings</h2>\n<ul id=\"warnings\" class=\"warn\">\n");
    for (text, n_times) in told.iter().take(SHOWN_WARNINGS) {
        let again = if *n_times > 1 { format!(" ({n_times} times)") } else { String::new() };
        page.element("li", &format!("{}{again}", one_line(text))).markup("\n");
    }
    page.markup("</ul>\n");
    let n_more = told.len().saturating_sub(SHOWN_WARNINGS);
    if n_more > 0 {
        page.markup("<p class=\"note\">")
            .value(n_more)
            .markup(" earlier ones are in <code>events.jsonl</code>.</p>\n");
    }
}
