//! The bytes of an input, region by region.

use cairn_abi::symbolic::{RegionId, RegionKind};
use cairn_model::{Input, input::FileKind};

/// The regions of an input that are bytes of any number: standard input, the buffer of a harness, arguments, files.
pub fn contents(input: &Input) -> impl Iterator<Item = (RegionId, &[u8])> {
    let region = |kind| RegionId::new(kind, 0);
    let stdin = (region(RegionKind::Stdin), input.stdin.0.as_slice());
    let buffer = input.buffer.iter().map(move |buffer| (region(RegionKind::Buffer), buffer.0.as_slice()));
    let args = numbered(RegionKind::Argument, input.args.iter().map(|word| word.0.as_slice()));
    let files = input.files.iter().filter_map(|file| match &file.kind {
        FileKind::Regular(content) => Some(content.0.as_slice()),
        _ => None,
    });
    std::iter::once(stdin).chain(buffer).chain(args).chain(numbered(RegionKind::File, files))
}

/// Likewise, to be changed.
pub fn contents_mut(input: &mut Input) -> impl Iterator<Item = (RegionId, &mut Vec<u8>)> {
    let region = |kind| RegionId::new(kind, 0);
    let stdin = (region(RegionKind::Stdin), &mut input.stdin.0);
    let buffer = input.buffer.iter_mut().map(move |buffer| (region(RegionKind::Buffer), &mut buffer.0));
    let args = numbered(RegionKind::Argument, input.args.iter_mut().map(|word| &mut word.0));
    let files = input.files.iter_mut().filter_map(|file| match &mut file.kind {
        FileKind::Regular(content) => Some(&mut content.0),
        _ => None,
    });
    std::iter::once(stdin).chain(buffer).chain(args).chain(numbered(RegionKind::File, files))
}

fn numbered<T>(kind: RegionKind, regions: impl Iterator<Item = T>) -> impl Iterator<Item = (RegionId, T)> {
    (0..).zip(regions).map(move |(index, region)| (RegionId::new(kind, index), region))
}
