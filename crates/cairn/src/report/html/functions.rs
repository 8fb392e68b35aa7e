//! What was reached of each function, and what was not.

use super::page::Page;
use crate::{campaign::history::History, printable::grouped, report::Share, screen::count};
use cairn_model::{
    FunctionId,
    map::{Branch, Condition},
};

/// Branches that are listed in all; `cairn cover --missing` knows no limit.
const LISTED: usize = 10_000;

struct Row<'a> {
    name: &'a str,
    place: String,
    share: Share,
    is_entered: bool,
    /// Conditions with the directions nobody took.
    missing: Vec<(&'a Condition, Vec<bool>)>,
}

/// A table of all functions with branches, those with the most to reach first.
pub fn render(page: &mut Page, history: &History<'_>) {
    let mut rows = rows(history);
    rows.sort_by_key(|row| (std::cmp::Reverse(row.share.total - row.share.covered), row.place.clone()));
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
    let n_missing: usize = rows.iter().map(Row::n_listable).sum();
    if n_missing > n_listed {
        page.markup("<p class=\"note\">")
            .text(&grouped((n_missing - n_listed) as u64))
            .markup(" more branches are listed by <code>cairn cover --missing</code>.</p>\n");
    }
}

impl Row<'_> {
    /// Of a function that was never entered, everything is missing and nothing need be listed.
    fn n_listable(&self) -> usize {
        if self.is_entered { self.missing.iter().map(|(_, directions)| directions.len()).sum() } else { 0 }
    }
}

fn rows<'a>(history: &History<'a>) -> Vec<Row<'a>> {
    let (map, coverage) = (history.map, &history.coverage);
    let executed = coverage.executed_blocks(map);
    let mut rows: Vec<Row<'a>> = map
        .functions
        .iter()
        .map(|function| Row {
            name: &function.name,
            place: map.show(function.place),
            share: Share::default(),
            is_entered: executed.get(function.entry().index()).copied().unwrap_or(false),
            missing: Vec::new(),
        })
        .collect();
    for (id, condition) in map.conditions_with_ids() {
        let FunctionId(function) = condition.function;
        let row = &mut rows[function as usize];
        let mut missing = Vec::new();
        for direction in [true, false] {
            let is_covered = coverage.covers(map, Branch { condition: id, direction });
            row.share.add(is_covered);
            if !is_covered {
                missing.push(direction);
            }
        }
        if !missing.is_empty() {
            row.missing.push((condition, missing));
        }
    }
    rows.retain(|row| row.share.total > 0);
    rows
}

fn row(page: &mut Page, history: &History<'_>, row: &Row<'_>, n_listed: &mut usize) {
    page.markup("<tr><td data-v=\"").text(row.name).markup("\">");
    if row.missing.is_empty() {
        page.element("code", row.name);
    } else {
        page.markup("<details><summary>").element("code", row.name).markup("</summary>");
        missing(page, history, row, n_listed);
        page.markup("</details>");
    }
    page.markup("</td><td class=\"mono\">").text(&row.place).markup("</td>");
    let Share { covered, total } = row.share;
    page.cell(covered, &grouped(covered as u64)).cell(total, &grouped(total as u64));
    page.cell(total - covered, &grouped((total - covered) as u64));
    let percent = format!("{:.1}", row.share.percent());
    page.markup("<td class=\"n bar\" data-v=\"").text(&percent).markup("\" style=\"--p:").text(&percent);
    page.markup("%\">").text(&percent).markup("%</td></tr>\n");
}

fn missing(page: &mut Page, history: &History<'_>, row: &Row<'_>, n_listed: &mut usize) {
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
