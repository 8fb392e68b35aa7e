//! Which files are parts of the input.
//!
//! The host writes one entry after another into the sources region before the run:
//!
//! ```text
//!   u32 number of the content's region, u32 number of the metadata's region, u32 length of the path, path, zeros up to 4
//! ```
//! Numbers are [`super::RegionId`]s, [`NONE`] where there is none; paths are relative to the scratch folder. An entry without a
//! path ends the list.

use super::RegionId;

/// Stands for no region.
pub const NONE: u32 = u32::MAX;

const HEAD: usize = 12;

/// A file of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// What it holds, if it is a regular file.
    pub content: Option<RegionId>,
    /// What `stat` tells of it.
    pub metadata: Option<RegionId>,
    /// Where it lies.
    pub path: &'a [u8],
}

impl Source<'_> {
    /// How many bytes [`write`] uses for it.
    pub fn encoded_size(&self) -> usize {
        (HEAD + self.path.len()).next_multiple_of(4)
    }
}

/// Writes sources at the front of `region` and ends the list; `false` if there is no room.
pub fn write<'a>(region: &mut [u8], sources: impl IntoIterator<Item = Source<'a>>) -> bool {
    let mut rest = region;
    for source in sources {
        if source.path.is_empty() || source.path.len() > u32::MAX as usize {
            continue;
        }
        let size = source.encoded_size();
        if rest.len() < size {
            return false;
        }
        let (entry, after) = rest.split_at_mut(size);
        entry.fill(0);
        let number = |id: Option<RegionId>| id.map_or(NONE, |id| id.0).to_le_bytes();
        entry[0..4].copy_from_slice(&number(source.content));
        entry[4..8].copy_from_slice(&number(source.metadata));
        entry[8..12].copy_from_slice(&(source.path.len() as u32).to_le_bytes());
        entry[HEAD..HEAD + source.path.len()].copy_from_slice(source.path);
        rest = after;
    }
    match rest.get_mut(..HEAD) {
        Some(end) => {
            end.fill(0);
            true
        }
        None => false,
    }
}

/// The sources in a region.
pub fn read(region: &[u8]) -> impl Iterator<Item = Source<'_>> {
    let mut rest = region;
    core::iter::from_fn(move || {
        let number = |at: usize| Some(u32::from_le_bytes(*rest.get(at..)?.first_chunk()?));
        let (content, metadata, length) = (number(0)?, number(4)?, number(8)? as usize);
        let path = rest.get(HEAD..)?.get(..length).filter(|path| !path.is_empty())?;
        rest = rest.get((HEAD + length).next_multiple_of(4)..).unwrap_or(&[]);
        let id = |number: u32| (number != NONE).then_some(RegionId(number));
        Some(Source { content: id(content), metadata: id(metadata), path })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbolic::RegionKind;

    #[test]
    fn what_is_written_is_read() {
        let sources = [
            Source { content: Some(RegionId::new(RegionKind::File, 0)), metadata: None, path: b"a.txt" },
            Source {
                content: None,
                metadata: Some(RegionId::new(RegionKind::FileMetadata, 1)),
                path: b"folder",
            },
        ];
        let mut region = [0xff; 100];
        assert!(write(&mut region, sources));
        assert_eq!(read(&region).collect::<Vec<_>>(), sources);
        assert!(!write(&mut region[..20], sources));
    }
}
