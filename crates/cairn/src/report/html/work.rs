//! Who did what.

use super::page::Page;
use crate::{campaign::history::History, duration, printable::grouped};
use cairn_model::Spent;
use std::{collections::BTreeSet, time::Duration};

/// A row for each strategy: what it spent and what came of it.
pub fn render(page: &mut Page, history: &History<'_>) {
    page.markup("<h2>Work</h2>\n<div class=\"table\"><table class=\"sortable\" id=\"work\">\n<thead><tr>");
    for head in [
        "strategy",
        "inputs kept",
        "ways to fail",
        "inputs tried",
        "runs",
        "runs of mutants",
        "new paths",
        "time",
        "of it on mutants",
        "processor time",
    ] {
        page.element("th", head);
    }
    page.markup("</tr></thead>\n<tbody>\n");
    let kept_by = history.entries.iter().map(|kept| kept.entry.provenance.strategy.as_str());
    let failed_by = history.failures.iter().map(|failing| failing.failure.provenance.strategy.as_str());
    let named = history.work.keys().map(String::as_str);
    let strategies: BTreeSet<&str> = named.chain(kept_by.clone()).chain(failed_by.clone()).collect();
    for strategy in strategies {
        let n_kept = kept_by.clone().filter(|name| *name == strategy).count();
        let n_failures = failed_by.clone().filter(|name| *name == strategy).count();
        let spent = history.work.get(strategy).copied().unwrap_or_default();
        page.markup("<tr>").element("td", strategy);
        let Spent { wall, cpu, on_mutants, inputs, target_runs, mutant_runs, new_paths } = spent;
        for number in [n_kept as u64, n_failures as u64, inputs, target_runs, mutant_runs, new_paths] {
            page.cell(number, &grouped(number));
        }
        for time in [wall, on_mutants, cpu] {
            page.cell(time.as_millis(), &shown(time));
        }
        page.markup("</tr>\n");
    }
    page.markup("</tbody>\n</table></div>\n");
    page.markup("<p class=\"note\">Times of all workers together.</p>\n");
}

fn shown(time: Duration) -> String {
    if time.is_zero() { "–".into() } else { duration::show(time) }
}
