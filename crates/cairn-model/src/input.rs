//! What a run consumes, as named regions.

use crate::versioned::{self, Versioned};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Everything one run is given.
///
/// Two inputs with equal regions have the same [`Input::address`], whatever they are called on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Arguments after the program's name.
    pub args: Vec<Bytes>,
    /// Standard input; empty when the program is given none.
    pub stdin: Bytes,
    /// Files, folders and links laid out in the scratch folder before the run, in order.
    pub files: Vec<FileRegion>,
    /// Environment variables beyond the setting's own.
    pub environment: Vec<(String, Bytes)>,
    /// Typed variables the program asks for by name.
    pub variables: Vec<Variable>,
    /// The buffer of a `LLVMFuzzerTestOneInput` harness.
    pub buffer: Option<Bytes>,
    /// What surrounds the run.
    pub setting: Setting,
}

impl Input {
    /// What its fields are called in JSON.
    pub const FIELDS: [&str; 7] = ["args", "stdin", "files", "environment", "variables", "buffer", "setting"];
}

impl Versioned for Input {
    const MAGIC: [u8; 8] = *b"cairninp";
    const VERSION: u32 = 1;
    const NAME: &'static str = "input";
}

/// What surrounds a run and changes what a program does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// The value of `LC_ALL`.
    pub locale: String,
    /// The time zone, `TZ`.
    pub time_zone: String,
}

impl Default for Setting {
    fn default() -> Self {
        Self { locale: "C".into(), time_zone: "UTC".into() }
    }
}

/// One entry of the scratch folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRegion {
    /// Relative to the scratch folder, no `..`; parents are made as needed.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// Permission bits; the usual ones when absent.
    #[serde(default)]
    pub mode: Option<u32>,
    /// A length beyond the content, as a hole; shorter than the content cuts it.
    #[serde(default)]
    pub size: Option<u64>,
    /// Modification time in seconds since the epoch.
    #[serde(default)]
    pub modified: Option<i64>,
    /// Access time in seconds since the epoch.
    #[serde(default)]
    pub accessed: Option<i64>,
    /// Owner and group, set when privileged, otherwise left and reported.
    #[serde(default)]
    pub owner: Option<(u32, u32)>,
}

/// Kinds of entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file.
    Regular(Bytes),
    /// A folder.
    Folder,
    /// A symbolic link to this path, taken as it is.
    Symlink(Bytes),
    /// Another name for an earlier entry's file.
    Hardlink(String),
    /// A named pipe.
    Fifo,
}

/// A typed variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// The name the program asks by.
    pub name: String,
    /// Its value.
    pub value: VariableValue,
}

/// Values of typed variables. Floats are kept as bits, so that equal inputs are equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VariableValue {
    /// A signed integer of any width up to 64 bits.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// The bits of a `float`; in JSON a number, or its bits as `{"bits": …}`.
    #[serde(with = "float_bits")]
    Float(u32),
    /// The bits of a `double`; likewise.
    #[serde(with = "double_bits")]
    Double(u64),
    /// Memory filled by `klee_make_symbolic` or `cairn_bytes`.
    Bytes(Bytes),
}

/// Floats as people write them, where a number says all: bits keep NaNs and infinities apart.
macro_rules! bits_as_number {
    ($module:ident, $float:ty, $bits:ty) => {
        mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            #[derive(Serialize, Deserialize)]
            #[serde(untagged)]
            enum Readable {
                Bits { bits: $bits },
                Number($float),
            }

            pub fn serialize<S: Serializer>(bits: &$bits, serializer: S) -> Result<S::Ok, S::Error> {
                let number = <$float>::from_bits(*bits);
                match serializer.is_human_readable() {
                    false => bits.serialize(serializer),
                    true if number.is_finite() => Readable::Number(number).serialize(serializer),
                    true => Readable::Bits { bits: *bits }.serialize(serializer),
                }
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$bits, D::Error> {
                if !deserializer.is_human_readable() {
                    return <$bits>::deserialize(deserializer);
                }
                Ok(match Readable::deserialize(deserializer)? {
                    Readable::Bits { bits } => bits,
                    Readable::Number(number) => number.to_bits(),
                })
            }
        }
    };
}

bits_as_number!(float_bits, f32, u32);
bits_as_number!(double_bits, f64, u64);

/// Bytes that read as text where they are text.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// The text, if it is printable UTF-8 (newlines and tabs allowed).
    pub fn as_text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.0).ok()?;
        text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')).then_some(text)
    }
}

impl<T: Into<Vec<u8>>> From<T> for Bytes {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

/// Prints as a quoted string with C escapes: `"a\x00b"`.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

#[derive(Serialize, Deserialize)]
struct Hex {
    hex: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Readable {
    Text(String),
    Hex(Hex),
}

/// Text where it is text, else `{"hex": "00ff"}`; plain bytes in binary formats.
impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(&self.0);
        }
        match self.as_text() {
            Some(text) => serializer.serialize_str(text),
            None => Hex { hex: self.0.iter().map(|b| format!("{b:02x}")).collect() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Vec::<u8>::deserialize(deserializer).map(Self);
        }
        match Readable::deserialize(deserializer)? {
            Readable::Text(text) => Ok(Self(text.into_bytes())),
            Readable::Hex(Hex { hex }) => decode_hex(&hex).map(Self).map_err(serde::de::Error::custom),
        }
    }
}

fn decode_hex(hex: &str) -> Result<Vec<u8>, String> {
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(format!("`{hex}` is not a string of hexadecimal pairs"));
    }
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).map_err(|e| e.to_string()))
        .collect()
}

impl Input {
    /// The name of this content: equal inputs have equal addresses.
    pub fn address(&self) -> String {
        blake3::hash(&versioned::encode(self)).to_hex()[..32].to_string()
    }
}

/// One region a line, as a person would write it: `args: ["-r", "a"]`.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut empty = true;
        let mut line = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            empty = false;
            writeln!(f, "{text}")
        };
        if !self.args.is_empty() {
            line(f, format_args!("args: {:?}", self.args))?;
        }
        if !self.stdin.0.is_empty() {
            line(f, format_args!("stdin: {:?}", self.stdin))?;
        }
        for file in &self.files {
            line(f, format_args!("{file}"))?;
        }
        for (name, value) in &self.environment {
            line(f, format_args!("environment: {name}={value:?}"))?;
        }
        for variable in &self.variables {
            line(f, format_args!("{}: {}", variable.name, variable.value))?;
        }
        if let Some(buffer) = &self.buffer {
            line(f, format_args!("buffer: {buffer:?}"))?;
        }
        if self.setting != Setting::default() {
            line(f, format_args!("setting: LC_ALL={} TZ={}", self.setting.locale, self.setting.time_zone))?;
        }
        if empty {
            writeln!(f, "(empty input)")?;
        }
        Ok(())
    }
}

impl fmt::Display for FileRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FileKind::Regular(content) => write!(f, "file {}: {content:?}", self.path)?,
            FileKind::Folder => write!(f, "folder {}", self.path)?,
            FileKind::Symlink(target) => write!(f, "link {} -> {target:?}", self.path)?,
            FileKind::Hardlink(other) => write!(f, "hard link {} = {other}", self.path)?,
            FileKind::Fifo => write!(f, "pipe {}", self.path)?,
        }
        if let Some(mode) = self.mode {
            write!(f, " mode={mode:04o}")?;
        }
        if let Some(size) = self.size {
            write!(f, " size={size}")?;
        }
        if let Some(modified) = self.modified {
            write!(f, " modified={modified}")?;
        }
        if let Some(accessed) = self.accessed {
            write!(f, " accessed={accessed}")?;
        }
        if let Some((user, group)) = self.owner {
            write!(f, " owner={user}:{group}")?;
        }
        Ok(())
    }
}

impl fmt::Display for VariableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Float(bits) => write!(f, "{:?}", f32::from_bits(*bits)),
            Self::Double(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Self::Bytes(bytes) => write!(f, "{bytes:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Input {
        Input {
            args: vec!["-r".into(), vec![0xff, 0].into()],
            files: vec![FileRegion {
                path: "in.txt".into(),
                kind: FileKind::Regular("b\na\n".into()),
                mode: Some(0o600),
                size: None,
                modified: Some(7),
                accessed: None,
                owner: None,
            }],
            variables: vec![Variable { name: "x".into(), value: VariableValue::Double(0.5f64.to_bits()) }],
            ..Input::default()
        }
    }

    #[test]
    fn all_fields_are_known_by_name() {
        let json = serde_json::to_value(sample()).unwrap();
        let names: std::collections::BTreeSet<&str> =
            json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, Input::FIELDS.into());
    }

    #[test]
    fn an_input_reads_like_a_sentence() {
        expect_test::expect![[r#"
            args: ["-r", "\xff\x00"]
            file in.txt: "b\na\n" mode=0600 modified=7
            x: 0.5
        "#]]
        .assert_eq(&sample().to_string());
    }

    #[test]
    fn json_and_binary_give_the_input_back() {
        let input = sample();
        let json = serde_json::to_string(&input).unwrap();
        assert_eq!(serde_json::from_str::<Input>(&json).unwrap(), input);
        assert_eq!(versioned::decode::<Input>(&versioned::encode(&input)).unwrap(), input);
    }

    #[test]
    fn doubles_read_as_numbers_and_keep_their_bits() {
        for value in [0.25, -0.0, f64::NAN, f64::INFINITY, 1e300] {
            let value = VariableValue::Double(value.to_bits());
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<VariableValue>(&json).unwrap(), value, "{json}");
        }
        assert_eq!(
            serde_json::to_string(&VariableValue::Double(0.25f64.to_bits())).unwrap(),
            r#"{"double":0.25}"#
        );
    }

    #[test]
    fn equal_content_has_one_address() {
        assert_eq!(sample().address(), sample().address());
        assert_ne!(sample().address(), Input::default().address());
    }
}
