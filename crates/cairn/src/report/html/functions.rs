//! What was reached of each function, and what was not.

use super::page::Page;
use crate::{
    campaign::history::History,
    printable::grouped,
    report::{
        Share,
        functions::{FunctionShare, by_function},
    },
    screen::count,
};

/// Branches that are listed in all; `cairn cover --missing` knows no limit.
const LISTED: usize = 10_000;

/// A table of all functions with branches, those with the most to reach first.
pub fn render(page: &mut Page, history: &History<'_>) {
    let rows = by_function(history.map, &history.coverage);
    page.markup("<h2>Functions</h2>\n<p class=\"note\">");
    page.text(&format!(
        "{} with branches. A name opens to the branches that nobody took.",
        count(rows.len(), "function")
    ));
    page.markup("</p>\n<div class=\"table\"><table class=\"sortable\" id=\"functions\">\n<thead><tr>");
    for head in ["function", "place", "reached", "of", "left", "share"] {
        page.element("th", head);
    }
    page.markup("</tr></thead>\n<tbody>\n");
    let mut n_listed = 0;
    for row in &rows {
        self::row(page, history, row, &mut n_listed);
    }
    page.markup("</tbody>\n</table></div>\n");
    let n_missing: usize = rows.iter().map(n_listable).sum();
    if n_missing > n_listed {
        page.markup("<p class=\"note\">")
            .text(&grouped((n_missing - n_listed) as u64))
            .markup(" more branches are listed by <code>cairn cover --missing</code>.</p>\n");
    }
}

/// Of a function that was never entered, everything is missing and nothing need be listed.
fn n_listable(row: &FunctionShare<'_>) -> usize {
    if row.is_entered { row.missing.iter().map(|(_, directions)| directions.len()).sum() } else { 0 }
}

fn row(page: &mut Page, history: &History<'_>, row: &FunctionShare<'_>, n_listed: &mut usize) {
    let name = &row.function.name;
    page.markup("<tr><td data-v=\"").text(name).markup("\">");
    if row.missing.is_empty() {
        page.element("code", name);
    } else {
        page.markup("<details><summary>").element("code", name).markup("</summary>");
        missing(page, history, row, n_listed);
        page.markup("</details>");
    }
    page.markup("</td><td class=\"mono\">").text(&history.map.show(row.function.place)).markup("</td>");
    let Share { covered, total } = row.share;
    page.cell(covered, &grouped(covered as u64)).cell(total, &grouped(total as u64));
    page.cell(total - covered, &grouped((total - covered) as u64));
    let percent = format!("{:.1}", row.share.percent());
    page.markup("<td class=\"n bar\" data-v=\"").text(&percent).markup("\" style=\"--p:").text(&percent);
    page.markup("%\">").text(&percent).markup("%</td></tr>\n");
}

fn missing(page: &mut Page, history: &History<'_>, row: &FunctionShare<'_>, n_listed: &mut usize) {
    if !row.is_entered {
        page.markup("<p class=\"note\">It was never entered.</p>");
        return;
    }
    let room = LISTED.saturating_sub(*n_listed);
    page.markup("<ul class=\"mono\">");
    for (condition, directions) in row.missing.iter().take(room) {
        *n_listed += directions.len();
        let never: Vec<String> = directions.iter().map(bool::to_string).collect();
        page.markup("<li>").text(&history.map.show(condition.extent.start)).markup(" ");
        page.element("code", &condition.text).markup(" never ").text(&never.join(" nor ")).markup("</li>");
    }
    page.markup("</ul>");
}
