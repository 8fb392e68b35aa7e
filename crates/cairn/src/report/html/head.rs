//! What surrounds the page.

use super::page::Page;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// Nothing is loaded from anywhere, and of scripts only ours runs, known by its hash. A browser that blocks it says so, and
/// the test that looks at the page fails.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'sha256-/MPc/Iy/W3YTudzcq7iNe5JBbgVVIwMAmt9j/Vp/fHE='; base-uri 'none'; form-action 'none'";

/// Up to the first section.
pub fn open(page: &mut Page, command: &str) {
    page.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .markup("<meta http-equiv=\"Content-Security-Policy\" content=\"")
        .text(POLICY)
        .markup("\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>")
        .text(command)
        .markup(" · cairn</title>\n<style>\n")
        .markup(STYLE)
        .markup("</style>\n</head>\n<body>\n<main>\n");
}

/// Behind the last one.
pub fn close(page: &mut Page) {
    page.markup("</main>\n<script>").markup(SCRIPT).markup("</script>\n</body>\n</html>\n");
}
