//! What became of mutants.

use super::page::Page;
use crate::{campaign::history::History, duration, printable::grouped, screen::count};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 120.0;

/// Score, score over time, kills by reason, and survivors as changes of the source; nothing where no mutants were run.
pub fn render(page: &mut Page, history: &History<'_>) {
    let Some(mutants) = &history.mutants else { return };
    let (n_killed, n_mutants) = (mutants.n_killed(), mutants.n_mutants);
    let percent = n_killed as f64 * 100.0 / n_mutants.max(1) as f64;
    page.markup("<h2>Mutants</h2>\n<p id=\"score\">").text(&format!(
        "{} of {} killed, {percent:.1}%.",
        grouped(n_killed as u64),
        count(n_mutants, "mutant")
    ));
    page.markup("</p>\n");
    score_over_time(page, history, n_mutants);
    page.markup("<div class=\"table\"><table class=\"sortable\" id=\"kills\">\n<thead><tr>");
    page.element("th", "killed by").element("th", "mutants").markup("</tr></thead>\n<tbody>\n");
    for (reason, n) in &mutants.by_reason {
        page.markup("<tr>").element("td", reason).cell(n, &grouped(*n as u64)).markup("</tr>\n");
    }
    page.markup("</tbody>\n</table></div>\n");
    if mutants.survivors.is_empty() {
        return;
    }
    page.markup("<details id=\"survivors\"><summary>")
        .text(&format!("{} that no input kills", count(mutants.n_survivors, "mutant")));
    page.markup("</summary>\n<pre>");
    for survivor in &mutants.survivors {
        for line in survivor.lines() {
            page.text(line).markup("\n");
        }
    }
    page.markup("</pre>\n");
    let n_more = mutants.n_survivors - mutants.survivors.len().min(mutants.n_survivors);
    if n_more > 0 {
        page.markup("<p class=\"note\">").value(n_more).markup(" more are not shown.</p>\n");
    }
    page.markup("</details>\n");
}

fn score_over_time(page: &mut Page, history: &History<'_>, n_mutants: usize) {
    let Some(last) = history.moments.last() else { return };
    let end = last.after.as_secs_f64().max(1e-3);
    let x = |seconds: f64| seconds / end * WIDTH;
    let y = |n: f64| HEIGHT - n / n_mutants.max(1) as f64 * HEIGHT;
    page.markup("<svg id=\"killed\" role=\"img\" viewBox=\"0 0 ").value(WIDTH).markup(" ").value(HEIGHT);
    page.markup("\">\n<title>").text(&format!(
        "{} of {n_mutants} mutants killed after {}",
        last.n_killed,
        duration::show(last.after)
    ));
    page.markup("</title>\n<polyline class=\"curve\" fill=\"none\" stroke=\"currentColor\" points=\"");
    for moment in &history.moments {
        page.coordinate(x(moment.after.as_secs_f64())).markup(",");
        page.coordinate(y(f64::from(moment.n_killed))).markup(" ");
    }
    page.markup("\"/>\n</svg>\n");
}
