//! Gives every input its stand-in: bitcode for the second link, a placeholder or a copy for links of views.
//!
//! Objects become the bitcode they carry. Archives are made anew with bitcode members in the same order, so that the
//! linker takes from them what it would take natively; what it took is read from its trace afterwards ([`When`]).
//! Native objects are copied, because views may be linked long after `make clean`.

use super::{
    contents::{Contents, contents},
    items::{Item, is_system},
    rebuild::Rebuilder,
    sources::Source,
};
use crate::{
    Settings, archive,
    elf::{self, FileKind},
    payload::{UnitMeta, UnitRecord},
    record::{FOLDER_PLACEHOLDER, NativeInfo, NativeKind, VIEW_PLACEHOLDER},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The two link lines, and what they are made of.
#[derive(Default)]
pub(super) struct Replaced {
    /// The second link's inputs and options.
    pub second: Vec<String>,
    /// The same for a view.
    pub view: Vec<String>,
    /// Libraries that stay as they are.
    pub libraries: Vec<String>,
    pub units: Vec<(When, LinkedUnit)>,
    pub native: Vec<(When, NativeInfo)>,
    /// Native sizes of what has bitcode.
    pub instrumented: Vec<(When, u64)>,
    /// Whether sources were compiled and linked in one command, so that no object tells their size.
    pub has_bitcode_sources: bool,
    /// Whether any bitcode takes part.
    pub has_view: bool,
    /// Hashes all of it.
    pub bitcode: blake3::Hasher,
}

/// Whether something is part of the executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// If the linker's trace names this archive member.
    Traced(String),
}

/// A unit with its facts.
pub(super) struct LinkedUnit {
    pub meta: UnitMeta,
    pub facts: Vec<u8>,
}

/// Works through the items of one link.
pub(super) struct Replacer<'a> {
    rebuilder: Rebuilder<'a>,
    root: &'a Path,
    work: &'a Path,
    n_files: usize,
    replaced: Replaced,
}

impl<'a> Replacer<'a> {
    /// Files go to `work`; those views need go to `work/objects`.
    pub fn new(settings: &'a Settings, root: &'a Path, cairn_dir: &'a Path, work: &'a Path) -> Self {
        let rebuilder = Rebuilder { toolchain: &settings.toolchain, cache: cairn_dir.join("cache"), work };
        Self { rebuilder, root, work, n_files: 0, replaced: Replaced::default() }
    }

    /// Replaces all items, in order.
    pub fn all(mut self, items: Vec<Item>, sources: Vec<Source>) -> io::Result<Replaced> {
        let mut sources: Vec<_> = sources.into_iter().map(Some).collect();
        for item in items {
            match item {
                Item::Words(words) => self.both(&words),
                Item::Library(name) => {
                    self.both(&[format!("-l{name}")]);
                    self.replaced.libraries.push(name);
                }
                Item::OptionFile { option, path } => self.option_file(&option, &path)?,
                Item::File { name, path } => self.file(&name, &path)?,
                Item::Source(index) => {
                    if let Some(source) = sources.get_mut(index).and_then(Option::take) {
                        self.source(source)?;
                    }
                }
            }
        }
        Ok(self.replaced)
    }

    fn both(&mut self, words: &[String]) {
        self.replaced.second.extend_from_slice(words);
        self.replaced.view.extend_from_slice(words);
    }

    fn option_file(&mut self, option: &str, path: &Path) -> io::Result<()> {
        let Ok(bytes) = fs::read(path) else { return Ok(()) };
        let copy = self.copy(path, &bytes)?;
        for (words, path) in
            [(&mut self.replaced.second, path.display().to_string()), (&mut self.replaced.view, copy)]
        {
            // The dash doubled: lld takes some of these only so, and `-T` only with one.
            let option = if option.len() == 2 { option.to_owned() } else { format!("-{option}") };
            words.extend(["-Xlinker".to_owned(), option, "-Xlinker".to_owned(), path]);
        }
        Ok(())
    }

    fn source(&mut self, source: Source) -> io::Result<()> {
        match source {
            Source::Bitcode(unit) => {
                self.bitcode(&unit.bitcode)?;
                self.replaced.has_bitcode_sources = true;
                let unit = LinkedUnit { meta: unit.meta, facts: unit.facts };
                self.replaced.units.push((When::Always, unit));
            }
            Source::Native { name, object, unit } => {
                let reason = unit.as_ref().and_then(|unit| unit.meta.bitcode_error.clone());
                if let Some(unit) = unit {
                    let unit = LinkedUnit { meta: unit.meta, facts: unit.facts };
                    self.replaced.units.push((When::Always, unit));
                }
                self.native_object(name, &object, reason)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let bytes =
            fs::read(path).map_err(|error| io::Error::other(format!("`{}`: {error}", path.display())))?;
        let absolute = path.display().to_string();
        match elf::file_kind(&bytes) {
            FileKind::Relocatable => self.object(name, &bytes),
            FileKind::Archive => self.archive(name, path, &bytes),
            FileKind::Bitcode => {
                self.replaced.second.push(absolute);
                self.view_here();
                Ok(())
            }
            FileKind::Shared | FileKind::Other => {
                self.both(&[absolute]);
                Ok(())
            }
        }
    }

    fn object(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match contents(bytes) {
            Contents::Native { records, reason } => {
                self.units(&When::Always, records);
                self.native_object(name.to_owned(), bytes, reason)
            }
            Contents::Bitcode(records) => {
                for record in &records {
                    self.bitcode(record.bitcode)?;
                }
                self.replaced.instrumented.push((When::Always, elf::code_size(bytes)));
                self.units(&When::Always, records);
                Ok(())
            }
            Contents::Mixed { records, covered } => {
                for record in records.iter().filter(|record| !record.bitcode.is_empty()) {
                    self.bitcode(record.bitcode)?;
                }
                let weakened = self.rebuilder.weakened(bytes, &covered)?;
                let weakened_bytes = fs::read(&weakened)?;
                let copy = self.copy(Path::new(name), &weakened_bytes)?;
                self.replaced.second.push(weakened.display().to_string());
                self.replaced.view.push(copy);
                self.mixed_sizes(When::Always, name.to_owned(), bytes, &covered);
                self.units(&When::Always, records);
                Ok(())
            }
        }
    }

    fn native_object(&mut self, name: String, bytes: &[u8], reason: Option<String>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let path = self.new_file("o");
        fs::write(&path, bytes)?;
        let copy = self.copy(Path::new(&name).with_extension("o").as_path(), bytes)?;
        self.replaced.second.push(path.display().to_string());
        self.replaced.view.push(copy);
        let info = NativeInfo { name, kind: NativeKind::Object, bytes: elf::code_size(bytes), reason };
        self.replaced.native.push((When::Always, info));
        Ok(())
    }

    fn archive(&mut self, name: &str, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let members = archive::read(path, bytes)?;
        if members.is_empty() {
            return Ok(());
        }
        if !members.iter().any(|member| elf::payload(&member.bytes).is_some()) {
            let absolute = path.display().to_string();
            if is_system(path, self.root) {
                self.both(&[absolute]);
                return Ok(());
            }
            self.replaced.view.push(if bytes.starts_with(b"!<thin>") {
                absolute.clone()
            } else {
                self.copy(path, bytes)?
            });
            for member in &members {
                let when = When::Traced(trace_name(&absolute, &member.name));
                self.native_member(when, name, &member.name, &member.bytes, None);
            }
            self.replaced.second.push(absolute);
            return Ok(());
        }
        let folder = self.rebuilder.archive(&members)?;
        // Its name is the hash of the members.
        self.replaced.bitcode.update(folder.file_name().unwrap_or_default().as_encoded_bytes());
        let second = folder.join("bitcode.a").display().to_string();
        for (index, member) in members.iter().enumerate() {
            let when = When::Traced(trace_name(&second, &format!("{index}.o")));
            match contents(&member.bytes) {
                Contents::Native { records, reason } => {
                    self.units(&when, records);
                    self.native_member(when, name, &member.name, &member.bytes, reason);
                }
                Contents::Bitcode(records) => {
                    self.replaced.instrumented.push((when.clone(), elf::code_size(&member.bytes)));
                    self.units(&when, records);
                }
                Contents::Mixed { records, covered } => {
                    let shown = format!("{name}({})", member.name);
                    self.mixed_sizes(when.clone(), shown, &member.bytes, &covered);
                    self.units(&when, records);
                }
            }
        }
        self.replaced.second.push(second);
        self.view_here();
        if let Ok(native) = fs::read(folder.join("native.a")) {
            let copy = self.copy(path, &native)?;
            self.replaced.view.push(copy);
        }
        Ok(())
    }

    fn bitcode(&mut self, bitcode: &[u8]) -> io::Result<()> {
        // The driver takes only names it knows for linker inputs.
        let path = self.new_file("o");
        fs::write(&path, bitcode)?;
        self.replaced.bitcode.update(bitcode);
        self.replaced.second.push(path.display().to_string());
        self.view_here();
        Ok(())
    }

    fn view_here(&mut self) {
        if !self.replaced.has_view {
            self.replaced.has_view = true;
            self.replaced.view.push(VIEW_PLACEHOLDER.to_owned());
        }
    }

    fn units(&mut self, when: &When, records: Vec<UnitRecord>) {
        let units = records
            .into_iter()
            .map(|record| (when.clone(), LinkedUnit { meta: record.meta, facts: record.facts.to_vec() }));
        self.replaced.units.extend(units);
    }

    fn native_member(
        &mut self,
        when: When,
        archive: &str,
        member: &str,
        bytes: &[u8],
        reason: Option<String>,
    ) {
        let name = format!("{archive}({member})");
        let info = NativeInfo { name, kind: NativeKind::Object, bytes: elf::code_size(bytes), reason };
        self.replaced.native.push((when, info));
    }

    fn mixed_sizes(&mut self, when: When, name: String, bytes: &[u8], covered: &[String]) {
        let native = elf::code_size_outside(bytes, covered);
        let reason = Some("native code linked with `ld -r` to units with bitcode".to_owned());
        self.replaced.instrumented.push((when.clone(), elf::code_size(bytes).saturating_sub(native)));
        let info = NativeInfo { name, kind: NativeKind::Object, bytes: native, reason };
        self.replaced.native.push((when, info));
    }

    /// Copies a file for views and returns its name in the record's folder.
    fn copy(&self, path: &Path, bytes: &[u8]) -> io::Result<String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("objects/{}-{name}", &blake3::hash(bytes).to_hex()[..16]);
        let copy = self.work.join(&name);
        fs::create_dir_all(copy.parent().expect("a copy lies in a folder"))?;
        fs::write(copy, bytes)?;
        Ok(format!("{FOLDER_PLACEHOLDER}/{name}"))
    }

    fn new_file(&mut self, extension: &str) -> PathBuf {
        self.n_files += 1;
        self.work.join(format!("{}.{extension}", self.n_files))
    }
}

/// How lld's trace names a member.
fn trace_name(archive: &str, member: &str) -> String {
    let member = member.rsplit('/').next().unwrap_or(member);
    format!("{archive}({member})")
}
