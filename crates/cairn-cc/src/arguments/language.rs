//! The language of an input, as the driver would guess it.

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C, still to be preprocessed.
    C,
    /// C++, still to be preprocessed.
    Cxx,
    /// Preprocessed C.
    PreprocessedC,
    /// Preprocessed C++.
    PreprocessedCxx,
    /// A source we leave native: assembly, Objective-C, IR, Fortran, ….
    Other,
    /// A header to precompile.
    Header,
    /// Something for the linker.
    LinkerInput,
}

impl Language {
    /// Guesses from the file name; the C++ driver takes C files for C++.
    pub fn of_file(path: &str, is_cxx_driver: bool) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "c" if is_cxx_driver => Self::Cxx,
            "c" => Self::C,
            "C" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "CC" | "CPP" | "CXX" | "C++" => Self::Cxx,
            "i" if is_cxx_driver => Self::PreprocessedCxx,
            "i" => Self::PreprocessedC,
            "ii" => Self::PreprocessedCxx,
            "h" | "H" | "hh" | "hpp" | "hxx" | "hp" | "h++" => Self::Header,
            "s" | "S" | "sx" | "asm" | "m" | "M" | "mm" | "mi" | "mii" | "ll" | "bc" | "cl" | "cu"
            | "cui" | "hip" | "f" | "F" | "f90" | "F90" | "for" | "pcm" | "cppm" | "ixx" | "ast" | "rs" => {
                Self::Other
            }
            _ => Self::LinkerInput,
        }
    }

    /// What `-x name` forces; `none` goes back to guessing.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "none" => None,
            "c" => Some(Self::C),
            "c++" => Some(Self::Cxx),
            "cpp-output" => Some(Self::PreprocessedC),
            "c++-cpp-output" => Some(Self::PreprocessedCxx),
            "c-header" | "c++-header" => Some(Self::Header),
            _ => Some(Self::Other),
        }
    }

    /// The name to give to `-x`; only for what we compile ourselves.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::C => Some("c"),
            Self::Cxx => Some("c++"),
            Self::PreprocessedC => Some("cpp-output"),
            Self::PreprocessedCxx => Some("c++-cpp-output"),
            Self::Other | Self::Header | Self::LinkerInput => None,
        }
    }

    /// Whether there will be bitcode for it.
    pub fn has_bitcode(self) -> bool {
        self.name().is_some()
    }

    /// Whether predefined macros and include paths mean anything to it.
    pub fn is_preprocessed_by_us(self) -> bool {
        matches!(self, Self::C | Self::Cxx | Self::Header)
    }

    /// Whether a compiler, not the linker, reads it.
    pub fn is_source(self) -> bool {
        self != Self::LinkerInput
    }
}
