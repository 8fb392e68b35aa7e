//! What a program, its library or its language said before it ended itself.

/// The words that go with an abort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// What kind of failure they tell of.
    pub(super) kind: &'static str,
    /// The words themselves.
    pub(super) text: String,
}

/// How the GNU C library starts a line about memory it manages.
const HEAP: [&str; 9] = [
    "double free or corruption",
    "free(): ",
    "malloc(): ",
    "realloc(): ",
    "munmap_chunk(): ",
    "malloc_consolidate(): ",
    "corrupted size vs. prev_size",
    "corrupted double-linked list",
    "Fatal glibc error: malloc",
];

impl Message {
    /// The last such words on standard error.
    pub(super) fn find(stderr: &str) -> Option<Self> {
        let lines: Vec<&str> = stderr.lines().collect();
        (0..lines.len()).rev().find_map(|index| {
            let line = lines[index].trim_end();
            let kind = Self::kind(line)?;
            let mut text = line.to_owned();
            // What an exception says about itself is on the next line.
            if let Some(more) = lines.get(index + 1).filter(|more| more.trim_start().starts_with("what():")) {
                text.push('\n');
                text.push_str(more.trim_end());
            }
            let kind = if text.contains("std::bad_alloc") { "out of memory" } else { kind };
            Some(Self { kind, text })
        })
    }

    fn kind(line: &str) -> Option<&'static str> {
        // `program: file.c:3: function: Assertion `x' failed.`
        if line.contains(": Assertion `") && line.ends_with("failed.")
            || line.contains(": Assertion '") && line.ends_with("failed.")
        {
            return Some("assertion failed");
        }
        if line.starts_with("terminate called") || line.starts_with("libc++abi: terminating") {
            return Some("uncaught exception");
        }
        if line.starts_with("*** stack smashing detected ***") {
            return Some("stack smashing");
        }
        if line.starts_with("*** buffer overflow detected ***") {
            return Some("buffer overflow");
        }
        HEAP.iter().any(|start| line.starts_with(start)).then_some("heap corruption")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(stderr: &str, expected: Expect) {
        let found = Message::find(stderr)
            .map_or("nothing".to_owned(), |message| format!("{}: {}", message.kind, message.text));
        expected.assert_eq(&found);
    }

    #[test]
    fn words_are_known_by_their_form() {
        check(
            "reading\nprog: a.c:3: main: Assertion `x > 0' failed.\n",
            expect!["assertion failed: prog: a.c:3: main: Assertion `x > 0' failed."],
        );
        check(
            "free(): double free detected in tcache 2\n",
            expect![["heap corruption: free(): double free detected in tcache 2"]],
        );
        check(
            "terminate called after throwing an instance of 'std::out_of_range'\n  what():  at 3\n",
            expect![[r#"
                uncaught exception: terminate called after throwing an instance of 'std::out_of_range'
                  what():  at 3"#]],
        );
        check(
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
            expect![[r#"
                out of memory: terminate called after throwing an instance of 'std::bad_alloc'
                  what():  std::bad_alloc"#]],
        );
        check(
            "*** stack smashing detected ***: terminated\n",
            expect![["stack smashing: *** stack smashing detected ***: terminated"]],
        );
        check("error: Assertion is a word\n", expect!["nothing"]);
    }
}
