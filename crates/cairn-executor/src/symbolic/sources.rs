//! Tells a symbolic run which files are parts of its input.

use cairn_abi::symbolic::{
    RegionId, RegionKind,
    sources::{self, Source},
};
use cairn_model::{Input, input::FileKind};

/// How many bytes [`write`] needs.
pub(crate) fn size(input: &Input) -> usize {
    const END: usize = 12;
    list(input).iter().map(Source::encoded_size).sum::<usize>() + END
}

/// Writes the files of an input into the sources region; `false` if there is no room.
pub(crate) fn write(input: &Input, region: &mut [u8]) -> bool {
    sources::write(region, list(input))
}

/// Content is counted among regular files, metadata among files of all kinds. A hard link has the content of the file it
/// is another name of.
fn list(input: &Input) -> Vec<Source<'_>> {
    let mut n_regular = 0;
    let mut list: Vec<Source<'_>> = Vec::with_capacity(input.files.len());
    for (index, file) in input.files.iter().enumerate() {
        let content = match &file.kind {
            FileKind::Regular(_) => {
                n_regular += 1;
                Some(RegionId::new(RegionKind::File, n_regular - 1))
            }
            FileKind::Hardlink(other) => list
                .iter()
                .rfind(|earlier| earlier.path == other.as_bytes())
                .and_then(|earlier| earlier.content),
            FileKind::Folder | FileKind::Symlink(_) | FileKind::Fifo => None,
        };
        let metadata = Some(RegionId::new(RegionKind::FileMetadata, index as u32));
        list.push(Source { content, metadata, path: file.path.as_bytes() });
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::input::FileRegion;

    fn file(path: &str, kind: FileKind) -> FileRegion {
        FileRegion {
            path: path.into(),
            kind,
            mode: None,
            size: None,
            modified: None,
            accessed: None,
            owner: None,
        }
    }

    #[test]
    fn content_is_counted_among_regular_files_and_links_share_it() {
        let input = Input {
            files: vec![
                file("folder", FileKind::Folder),
                file("a", FileKind::Regular("x".into())),
                file("b", FileKind::Regular("y".into())),
                file("c", FileKind::Hardlink("a".into())),
            ],
            ..Input::default()
        };
        let mut region = vec![0xff; size(&input)];
        assert!(write(&input, &mut region));
        let content = |source: Source<'_>| source.content.map(|id| (id.kind().unwrap(), id.index()));
        let contents: Vec<_> = sources::read(&region).map(content).collect();
        let regular = |index| Some((RegionKind::File, index));
        assert_eq!(contents, [None, regular(0), regular(1), regular(0)]);
        let metadata: Vec<_> =
            sources::read(&region).map(|source| source.metadata.unwrap().index()).collect();
        assert_eq!(metadata, [0, 1, 2, 3]);
    }
}
