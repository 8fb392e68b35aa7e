//! Ways in which the program fails.

use super::page::Page;
use crate::{
    campaign::history::{FailingInput, History},
    commands::cover::verb,
    duration,
    printable::Beginning,
    shell,
};
use cairn_executor::is_sanitizer_report;

/// Characters of an input, a report and a command that are shown.
const SHOWN: usize = 2000;

/// One box for each way, with everything needed to see it happen again.
pub fn render(page: &mut Page, history: &History<'_>) {
    page.markup("<h2>Ways to fail</h2>\n");
    if history.failures.is_empty() {
        page.markup("<p class=\"note\" id=\"no-failures\">None was found.</p>\n");
        return;
    }
    let directory = history.directory.display().to_string();
    page.markup("<p class=\"note\">Each was confirmed in a fresh process: of the bare build, or, where a sanitizer tells of it, of ")
        .markup("the build with sanitizers. Commands are to be given in ")
        .element("code", &directory)
        .markup(".</p>\n");
    for failing in &history.failures {
        one(page, history, failing);
    }
}

fn one(page: &mut Page, history: &History<'_>, failing: &FailingInput) {
    let failure = &failing.failure;
    let place = failure.stack.first().map_or(String::new(), |frame| format!(" in {frame}"));
    page.markup("<article class=\"failure\">\n<h3>")
        .text(&format!("{}{place}", failure.kind))
        .markup("</h3>\n");
    let provenance = &failure.provenance;
    let parent = provenance.parent.map_or(String::new(), |parent| format!(" from {parent}"));
    let is_reported = is_sanitizer_report(&failure.kind);
    let builds = if is_reported { "The build with sanitizers" } else { "The program" };
    page.markup("<p class=\"quiet\">").text(&format!(
        "{builds} {}. Found after {} by {} ({}{parent}).",
        verb(&failure.ending),
        duration::show(provenance.found_after),
        provenance.strategy,
        provenance.made_by,
    ));
    page.markup("</p>\n");
    if !failure.stack.is_empty() {
        page.markup("<ol class=\"mono\">\n");
        for frame in &failure.stack {
            page.element("li", &frame.to_string()).markup("\n");
        }
        page.markup("</ol>\n");
    }
    if !failure.report.is_empty() {
        page.markup("<details><summary>What was said</summary>");
        beginning(page, &Beginning::of(&failure.report, SHOWN));
        page.markup("</details>\n");
    }
    let (Some(file), Some(replay)) = (&failing.file, &failing.replay) else {
        page.markup("<p class=\"warn\">The file of its input is gone.</p>\n</article>\n");
        return;
    };
    page.markup("<p>").element("code", &history.folder.join(file).display().to_string()).markup("</p>\n");
    beginning(page, &Beginning::of(&failure.input, SHOWN));
    page.markup("<p>Run it again:</p>\n<pre class=\"replay\">").text(replay).markup("</pre>\n");
    let program = history.directory.join(&history.program);
    let without = shell::reproduce(&program.to_string_lossy(), &failure.input);
    // What a sanitizer tells of, the program itself may not show.
    if without.len() <= SHOWN && !is_reported {
        page.markup("<details><summary>Without Cairn</summary><pre>")
            .text(&without)
            .markup("</pre></details>\n");
    }
    page.markup("</article>\n");
}

fn beginning(page: &mut Page, beginning: &Beginning) {
    page.markup("<pre>").text(beginning.text.trim_end());
    if beginning.is_cut {
        page.markup("<span class=\"quiet\"> … cut here</span>");
    }
    page.markup("</pre>\n");
}
