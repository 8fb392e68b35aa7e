//! Markup, with text in it that cannot become markup.

use crate::printable::printable;
use std::fmt::{Display, Write};

/// A page that grows. Markup is only what this program's source says; everything else is text.
#[derive(Debug, Default)]
pub struct Page {
    html: String,
}

impl Page {
    /// Markup of ours.
    pub fn markup(&mut self, html: &'static str) -> &mut Self {
        self.html.push_str(html);
        self
    }

    /// Text from anywhere, also inside a quoted attribute.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for character in printable(text).chars() {
            match character {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '"' => self.html.push_str("&quot;"),
                '\'' => self.html.push_str("&#39;"),
                character => self.html.push(character),
            }
        }
        self
    }

    /// What a value prints, as text.
    pub fn value(&mut self, value: impl Display) -> &mut Self {
        self.text(&value.to_string())
    }

    /// An element with nothing but text in it.
    pub fn element(&mut self, tag: &'static str, text: &str) -> &mut Self {
        self.markup("<").markup(tag).markup(">").text(text).markup("</").markup(tag).markup(">")
    }

    /// A cell that is sorted by `key`.
    pub fn cell(&mut self, key: impl Display, text: &str) -> &mut Self {
        self.markup("<td class=\"n\" data-v=\"").value(key).markup("\">").text(text).markup("</td>")
    }

    /// A coordinate.
    pub fn coordinate(&mut self, at: f64) -> &mut Self {
        write!(self.html, "{at:.1}").expect("writing to a string does not fail");
        self
    }

    /// The page.
    pub fn finish(self) -> String {
        self.html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let mut page = Page::default();
        page.markup("<p title=\"").text("\"><script>'&\x1b\u{202e}").markup("\">").element("b", "</b>&amp;");
        assert_eq!(
            page.finish(),
            "<p title=\"&quot;&gt;&lt;script&gt;&#39;&amp;\\u{1b}\\u{202e}\"><b>&lt;/b&gt;&amp;amp;</b>"
        );
    }
}
