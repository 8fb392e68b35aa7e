//! The inputs that are kept.

use super::page::Page;
use crate::{
    campaign::history::{History, KeptInput},
    duration,
    screen::count,
};

/// Characters of all inputs together, so that a page with thousands of them still opens.
const ROOM: usize = 500_000;

/// Each input with where it came from and why it is kept, in the order they were found.
pub fn render(page: &mut Page, history: &History<'_>) {
    page.markup("<h2>Corpus</h2>\n<p class=\"note\">");
    page.text(&format!("{} in ", count(history.entries.len(), "input")));
    page.element("code", &history.folder.join("corpus").display().to_string());
    page.markup(", named by their content; long ones are cut here.</p>\n");
    page.markup("<div class=\"table\"><table class=\"sortable\" id=\"corpus\">\n<thead><tr>");
    for head in ["#", "after", "by", "from", "made by", "kept for", "input"] {
        page.element("th", head);
    }
    page.markup("</tr></thead>\n<tbody>\n");
    let room = (ROOM / history.entries.len().max(1)).clamp(100, 2000);
    for kept in &history.entries {
        row(page, kept, room);
    }
    page.markup("</tbody>\n</table></div>\n");
}

fn row(page: &mut Page, kept: &KeptInput, room: usize) {
    let id = kept.entry.id;
    let provenance = &kept.entry.provenance;
    page.markup("<tr id=\"e").value(id.0).markup("\">").cell(id.0, &id.0.to_string());
    page.cell(provenance.found_after.as_millis(), &duration::show(provenance.found_after));
    page.element("td", &provenance.strategy);
    match provenance.parent {
        Some(parent) => {
            page.markup("<td class=\"n\" data-v=\"")
                .value(parent.0)
                .markup("\"><a href=\"#e")
                .value(parent.0);
            page.markup("\">").value(parent).markup("</a></td>")
        }
        None => page.cell(-1, "–"),
    };
    page.element("td", &provenance.made_by).element("td", &provenance.kept_for).markup("<td>");
    match kept.shown.as_ref().map(|shown| shown.cut(room)) {
        Some(shown) => {
            page.markup("<pre>").text(shown.text.trim_end());
            if shown.is_cut {
                page.markup("<span class=\"quiet\"> … cut, all in ").text(&kept.address).markup("</span>");
            }
            page.markup("</pre>")
        }
        None => page.markup("<span class=\"warn\">its file is gone</span>"),
    };
    page.markup("</td></tr>\n");
}
