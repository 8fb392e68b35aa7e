//! What a link leaves behind: everything needed to make views of the executable later.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::PathBuf};

/// Raised whenever [`BuildRecord`] changes its meaning.
pub const RECORD_FORMAT: u32 = 1;

/// Stands for the view's object in [`BuildRecord::link_arguments`].
pub const VIEW_PLACEHOLDER: &str = "{view}";

/// Stands for the folder of the record at the start of a word of [`BuildRecord::link_arguments`].
pub const FOLDER_PLACEHOLDER: &str = "{folder}";

/// One executable, as it was linked. Stored as `record.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildRecord {
    /// [`RECORD_FORMAT`].
    pub format: u32,
    /// The version of Cairn that wrote it.
    pub cairn_version: String,
    /// The executable's build id.
    pub build_id: String,
    /// The executable's file name.
    pub name: String,
    /// Where the executable was written.
    pub executable: PathBuf,
    /// Whether views are linked with the C++ driver.
    pub is_cxx: bool,
    /// The folder paths are shown relative to.
    pub root: PathBuf,
    /// Where the link ran.
    pub directory: PathBuf,
    /// The words that link a view, with [`VIEW_PLACEHOLDER`] where its object goes. Native objects and archives of
    /// the project were copied to the record's folder.
    pub link_arguments: Vec<String>,
    /// Libraries named by `-l` that stay as they are.
    pub libraries: Vec<String>,
    /// Linker options lld did not know, left out.
    pub dropped_options: Vec<String>,
    /// The translation units in the executable, in link order.
    pub units: Vec<UnitInfo>,
    /// Code without bitcode.
    pub native: Vec<NativeInfo>,
    /// Bytes of native code made from units that have bitcode.
    pub instrumented_bytes: u64,
    /// The hash of `program.bc`, or why there is none.
    pub bitcode: Merged,
    /// The folder it was read from.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// What became of the second link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merged {
    /// `program.bc` holds the whole program; this is its BLAKE3 hash.
    Hash(String),
    /// There is no bitcode, and why.
    Failed(String),
}

/// One translation unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitInfo {
    /// Names the unit; `facts/<key>` holds its facts.
    pub key: String,
    /// Where it was compiled.
    pub directory: PathBuf,
    /// The source as given to the compiler.
    pub source: PathBuf,
    /// Whether the C++ driver compiled it.
    pub is_cxx: bool,
    /// The user's compile options and the source, without `-c` and `-o`.
    pub arguments: Vec<String>,
    /// Why it has no bitcode.
    pub bitcode_error: Option<String>,
    /// Why it has no facts.
    pub facts_error: Option<String>,
}

/// Code that no view instruments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeInfo {
    /// The object, `archive.a(member.o)` or shared object, as the link named it.
    pub name: String,
    /// What it is.
    pub kind: NativeKind,
    /// How many bytes of code it holds.
    pub bytes: u64,
    /// Why it is native, where we know.
    pub reason: Option<String>,
}

/// Kinds of native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeKind {
    /// An object or archive member, linked in.
    Object,
    /// A shared object of the project.
    SharedObject,
}

impl BuildRecord {
    /// The merged bitcode.
    pub fn bitcode_path(&self) -> PathBuf {
        self.folder.join("program.bc")
    }

    /// The folder with one file of facts per unit key.
    pub fn facts_dir(&self) -> PathBuf {
        self.folder.join("facts")
    }

    /// The share of the project's code that no view instruments, between 0 and 1.
    pub fn native_share(&self) -> f64 {
        let native: u64 = self.native.iter().map(|native| native.bytes).sum();
        let all = native + self.instrumented_bytes;
        if all == 0 { 0.0 } else { native as f64 / all as f64 }
    }

    /// The sanitizers units of the ordinary executable were compiled with; views have none.
    pub fn sanitizers(&self) -> Vec<String> {
        let mut found = BTreeSet::new();
        for unit in &self.units {
            found.extend(sanitizers(&unit.arguments));
        }
        found.into_iter().collect()
    }

    /// Whether the ordinary executable has sanitizers and may so end where its views go on.
    pub fn has_sanitizers(&self) -> bool {
        !self.sanitizers().is_empty()
    }

    /// What a person should know before comparing the ordinary executable with its views.
    pub fn sanitizer_warning(&self) -> Option<String> {
        let names = self.sanitizers().join(", ");
        let text = format!("the ordinary executable has sanitizers ({names}), the views do not");
        self.has_sanitizers().then_some(text)
    }

    /// What a person should know before trusting coverage of this build.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        warnings.extend(self.sanitizer_warning());
        if !self.native.is_empty() {
            let names: Vec<_> =
                self.native.iter().take(5).map(|native| format!("`{}`", native.name)).collect();
            let more = self.native.len().saturating_sub(5);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            warnings.push(format!(
                "{:.1}% of the code is not instrumented: {}{more}",
                self.native_share() * 100.0,
                names.join(", "),
            ));
        }
        for unit in &self.units {
            if let Some(reason) = &unit.bitcode_error {
                warnings.push(format!("`{}` has no bitcode: {reason}", unit.source.display()));
            } else if let Some(reason) = &unit.facts_error {
                warnings.push(format!("`{}` has no front-end facts: {reason}", unit.source.display()));
            }
        }
        warnings
    }
}

/// What `-fsanitize=` and `-fno-sanitize=` leave switched on.
fn sanitizers(arguments: &[String]) -> BTreeSet<String> {
    let mut on = BTreeSet::new();
    for word in arguments {
        if let Some(list) = word.strip_prefix("-fsanitize=") {
            on.extend(list.split(',').map(str::to_owned));
        } else if let Some(list) = word.strip_prefix("-fno-sanitize=") {
            on.retain(|name| list != "all" && !list.split(',').any(|off| off == name));
        }
    }
    on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitizers_switched_off_again_do_not_count() {
        let on = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            sanitizers(&words).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(on("-fsanitize=undefined,address -O2 -fno-sanitize-recover=all a.c"), "address undefined");
        assert_eq!(on("-fsanitize=address,undefined -fno-sanitize=undefined"), "address");
        assert_eq!(on("-fsanitize=address -fno-sanitize=all"), "");
    }
}
