//! A program or library on disk: its unwind tables, its symbols, its lines.

use addr2line::Context;
use gimli::{BaseAddresses, EhFrame, EndianArcSlice, LittleEndian, SectionId};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind, elf::PF_X};
use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, Mutex},
};

/// What tables are read through.
pub(super) type Reader = EndianArcSlice<LittleEndian>;

/// An ELF file as far as it explains addresses.
pub(super) struct Image {
    /// Those with code.
    segments: Vec<Segment>,
    pub(super) eh_frame: EhFrame<Reader>,
    pub(super) bases: BaseAddresses,
    /// Functions by address: start, size, name.
    functions: Vec<(u64, u64, String)>,
    /// Lines and inlined functions are read where they are asked for, which is why it is locked.
    debug: Option<Mutex<Context<Reader>>>,
}

#[derive(Clone, Copy)]
struct Segment {
    address: u64,
    offset: u64,
    size: u64,
}

/// A function an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) function: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("functions", &self.functions.len()).finish_non_exhaustive()
    }
}

impl Image {
    /// Reads a file; `None` if it is no ELF file of this kind of machine.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        if !file.is_64() || !file.is_little_endian() {
            return None;
        }
        let section = |name: &str| -> Option<(u64, Reader)> {
            let section = file.section_by_name(name)?;
            Some((section.address(), reader(section.data().ok()?)))
        };
        let empty = || (0, reader(&[]));
        let (eh_frame_address, eh_frame) = section(".eh_frame").unwrap_or_else(empty);
        let bases = BaseAddresses::default()
            .set_eh_frame(eh_frame_address)
            .set_text(section(".text").unwrap_or_else(empty).0)
            .set_got(section(".got").unwrap_or_else(empty).0);
        let mut functions: Vec<(u64, u64, String)> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?.to_owned())))
            .collect();
        functions.sort_unstable();
        functions.dedup_by_key(|(start, ..)| *start);
        // Neighbours share pages of the file, so that only code is looked for where code is mapped.
        let is_code = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.0 & PF_X.0 != 0);
        let segments = file
            .segments()
            .filter(|segment| is_code(segment.flags()))
            .map(|segment| {
                let (offset, size) = segment.file_range();
                Segment { address: segment.address(), offset, size }
            })
            .collect();
        let debug = section(".debug_info").and_then(|_| {
            let load = |id: SectionId| -> Result<Reader, gimli::Error> {
                Ok(section(id.name()).unwrap_or_else(empty).1)
            };
            Context::from_dwarf(gimli::Dwarf::load(load).ok()?).ok()
        });
        Some(Self {
            segments,
            eh_frame: EhFrame::from(eh_frame),
            bases,
            functions,
            debug: debug.map(Mutex::new),
        })
    }

    /// The address in the file's own terms of the code at this offset of it.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        const PAGE: u64 = 4096;
        let segment = self.segments.iter().find(|segment| {
            // Whole pages are mapped.
            let start = segment.offset & !(PAGE - 1);
            (start..segment.offset.saturating_add(segment.size)).contains(&offset)
        })?;
        Some(segment.address.wrapping_add(offset).wrapping_sub(segment.offset))
    }

    /// The functions the code at an address belongs to, innermost first; empty if nothing is known.
    pub(super) fn symbols(&self, address: u64) -> Vec<Symbol> {
        let symbols = self.by_lines(address).unwrap_or_default();
        if !symbols.is_empty() {
            return symbols;
        }
        self.by_name(address)
            .map(|name| Symbol { function: demangled(name), file: None, line: None })
            .into_iter()
            .collect()
    }

    fn by_lines(&self, address: u64) -> Option<Vec<Symbol>> {
        /// Deeper than any inlining.
        const MAX_INLINED: usize = 256;
        let context = self.debug.as_ref()?.lock().ok()?;
        let mut frames = context.find_frames(address).skip_all_loads().ok()?;
        let mut symbols = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let function = match &frame.function {
                Some(function) => function.demangle().ok().map(Cow::into_owned),
                None => None,
            };
            let location = frame.location.as_ref();
            symbols.push(Symbol {
                function: function.or_else(|| self.by_name(address).map(demangled))?,
                file: location.and_then(|location| location.file).map(str::to_owned),
                line: location.and_then(|location| location.line).filter(|line| *line > 0),
            });
            if symbols.len() >= MAX_INLINED {
                break;
            }
        }
        Some(symbols)
    }

    fn by_name(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.functions.get(after.checked_sub(1)?)?;
        (address - start < *size).then_some(name)
    }
}

fn reader(bytes: &[u8]) -> Reader {
    EndianArcSlice::new(Arc::from(bytes), LittleEndian)
}

fn demangled(name: &str) -> String {
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}
