//! Which compiler makes a build.

use crate::target::Kind;
use std::fmt;

/// A way of building a target, for us or for one of those we are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flavour {
    /// `cairn-cc`: what views are made from.
    Cairn,
    /// Plain clang at `-O2`.
    Clang,
    /// AFL++'s own compiler with its own defaults; programs are linked with `bench/harnesses/split.c`.
    Afl,
    /// The same with its log of comparisons.
    AflCmplog,
    /// clang's libFuzzer.
    LibFuzzer,
    /// clang's libFuzzer, running given buffers in turn: see `bench/harnesses/in_turn.c`.
    InTurn,
    /// clang with source-based coverage; harnesses read standard input, programs are linked with
    /// `bench/harnesses/split.c`.
    Coverage,
}

impl Flavour {
    /// The name in folders and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cairn => "cairn",
            Self::Clang => "clang",
            Self::Afl => "afl",
            Self::AflCmplog => "afl-cmplog",
            Self::LibFuzzer => "libfuzzer",
            Self::InTurn => "in-turn",
            Self::Coverage => "coverage",
        }
    }

    /// Its C compiler.
    pub fn cc(self) -> &'static str {
        self.variables()[0].1
    }

    /// A file of `bench/harnesses` that its builds are linked with, copied to the build folder.
    pub(crate) fn companion(self, kind: Kind) -> Option<&'static str> {
        match (self, kind) {
            (Self::InTurn, Kind::Harness(_)) => Some("in_turn.c"),
            (Self::Coverage, Kind::Harness(_)) => Some("standalone.c"),
            (Self::Afl | Self::AflCmplog | Self::Coverage, Kind::Program) => Some(SPLITTER),
            _ => None,
        }
    }

    /// Debian packages it needs. `scripts/setup` installs them too; this is for machines where it ran before it did.
    pub(crate) fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Afl | Self::AflCmplog => &["afl++"],
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
            Self::Afl | Self::AflCmplog => ["afl-clang-fast", "afl-clang-fast++", "-O2", "-fsanitize=fuzzer"],
            Self::LibFuzzer => {
                ["clang-19", "clang++-19", "-O2 -fsanitize=fuzzer-no-link", "-fsanitize=fuzzer"]
            }
            Self::InTurn => {
                ["clang-19", "clang++-19", "-O2 -fsanitize=fuzzer-no-link", "-fsanitize=fuzzer in_turn.c"]
            }
            Self::Coverage => [
                "clang-19",
                "clang++-19",
                "-O1 -fprofile-instr-generate -fcoverage-mapping",
                "-Wno-unused-command-line-argument standalone.c",
            ],
        };
        [("CC", cc), ("CXX", cxx), ("FLAGS", flags), ("LINK", link)]
    }

    /// What else its compiler finds in its environment.
    pub(crate) fn more_variables(self) -> &'static [(&'static str, &'static str)] {
        // Its messages go to a terminal's screen that is not there.
        match self {
            Self::AflCmplog => &[("AFL_QUIET", "1"), ("AFL_LLVM_CMPLOG", "1")],
            _ => &[("AFL_QUIET", "1")],
        }
    }
}

/// What makes arguments out of standard input.
pub(crate) const SPLITTER: &str = "split.c";

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
