//! What `stat` is to tell of a file.

use super::{ApplyError, Regions, apply::Changes};
use cairn_abi::symbolic::{RegionId, metadata};
use cairn_model::input::{FileKind, FileRegion};

pub(crate) const TYPE: u64 = 0o170_000;
pub(crate) const REGULAR: u64 = 0o100_000;
pub(crate) const FOLDER: u64 = 0o040_000;
pub(crate) const FIFO: u64 = 0o010_000;

/// Gives a file the metadata that `changes` make.
pub(super) fn change(
    regions: &Regions,
    region: RegionId,
    file: &mut FileRegion,
    changes: &Changes,
) -> Result<(), ApplyError> {
    let impossible = |reason| ApplyError::Impossible { region: regions.name(region), reason };
    let touches = |field: u32, n_bytes: u32| changes.range(field..field + n_bytes).next().is_some();
    if touches(metadata::LINKS, 8) {
        return Err(impossible("the number of links follows from the other files"));
    }
    if touches(metadata::MODE, 4) {
        set_mode(file, regions.number(region, metadata::MODE, 4, changes)).map_err(impossible)?;
    }
    if touches(metadata::USER, 8) {
        let id = |field| regions.number(region, field, 4, changes) as u32;
        file.owner = Some((id(metadata::USER), id(metadata::GROUP)));
    }
    if touches(metadata::MODIFIED, 8) {
        file.modified = Some(regions.number(region, metadata::MODIFIED, 8, changes).cast_signed());
    }
    if touches(metadata::ACCESSED, 8) {
        file.accessed = Some(regions.number(region, metadata::ACCESSED, 8, changes).cast_signed());
    }
    if touches(metadata::SIZE, 8) {
        let size = regions.number(region, metadata::SIZE, 8, changes);
        let FileKind::Regular(content) = &mut file.kind else {
            return Err(impossible("only regular files have a size of their own"));
        };
        let limits = regions.limits();
        regions.check(region, size, limits.max_hole)?;
        if size <= limits.max_size {
            regions.resize(region, &mut content.0, size)?;
            file.size = None;
        } else {
            file.size = Some(size);
        }
    }
    Ok(())
}

fn set_mode(file: &mut FileRegion, mode: u64) -> Result<(), &'static str> {
    let is_same_kind = match file.kind {
        FileKind::Regular(_) | FileKind::Hardlink(_) => mode & TYPE == REGULAR,
        FileKind::Folder => mode & TYPE == FOLDER,
        FileKind::Fifo => mode & TYPE == FIFO,
        FileKind::Symlink(_) => return Err("the mode of a link is fixed"),
    };
    if !is_same_kind {
        file.kind = match mode & TYPE {
            REGULAR => FileKind::Regular(Vec::new().into()),
            FOLDER => FileKind::Folder,
            FIFO => FileKind::Fifo,
            _ => return Err("inputs have regular files, folders, links and pipes only"),
        };
        file.size = None;
    }
    file.mode = Some((mode & 0o7777) as u32);
    Ok(())
}
