//! Which compiler makes a build.

use std::fmt;

/// A way of building a target, for us or for one of those we are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flavour {
    /// `cairn-cc`: what views are made from.
    Cairn,
    /// Plain clang at `-O2`.
    Clang,
    /// AFL++'s own compiler with its own defaults.
    Afl,
    /// clang's libFuzzer, running given buffers in turn: see `bench/harnesses/in_turn.c`.
    LibFuzzer,
}

impl Flavour {
    /// The name in folders and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cairn => "cairn",
            Self::Clang => "clang",
            Self::Afl => "afl",
            Self::LibFuzzer => "libfuzzer",
        }
    }

    /// Its C compiler.
    pub fn cc(self) -> &'static str {
        self.variables()[0].1
    }

    /// A file of `bench/harnesses` that its harnesses are linked with, copied to the build folder.
    pub(crate) fn companion(self) -> Option<&'static str> {
        (self == Self::LibFuzzer).then_some("in_turn.c")
    }

    /// Debian packages it needs. `scripts/setup` installs them too; this is for machines where it ran before it did.
    pub(crate) fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Afl => &["afl++"],
            _ => &[],
        }
    }

    /// What recipes find in their environment: compilers, flags for objects, and flags for linking a harness.
    ///
    /// The compilers come first: [`Flavour::cc`] and builds of whole packages count on it.
    pub(crate) fn variables(self) -> [(&'static str, &'static str); 4] {
        let [cc, cxx, flags, link] = match self {
            Self::Cairn => ["cairn-cc", "cairn-c++", "-O2", ""],
            Self::Clang => ["clang-19", "clang++-19", "-O2", ""],
            Self::Afl => ["afl-clang-fast", "afl-clang-fast++", "-O2", "-fsanitize=fuzzer"],
            Self::LibFuzzer => {
                ["clang-19", "clang++-19", "-O2 -fsanitize=fuzzer-no-link", "-fsanitize=fuzzer in_turn.c"]
            }
        };
        [("CC", cc), ("CXX", cxx), ("FLAGS", flags), ("LINK", link)]
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
