//! Leaving parts out: half of them, a quarter, down to single ones.

use super::{interview::Interview, region::Region};
use cairn_model::{Input, input::Setting};
use std::ops::Range;

/// Leaves out as many of the parts as can be spared, from the end to the start, large ranges first.
///
/// `ends` says where the parts of an input end, and `without` leaves out what lies between two such places.
fn leave_out<E>(
    interview: &mut Interview<'_, E>,
    current: &mut Input,
    ends: impl Fn(&Input) -> Vec<usize>,
    without: impl Fn(&Input, Range<usize>) -> Input,
) -> Result<(), E> {
    let mut parts = ends(current);
    // All at once, then halves.
    let mut size = parts.len().next_power_of_two();
    while size > 0 {
        let mut end = parts.len();
        while end > 0 {
            let ranges = (0..end).rev().step_by(size).map(|last| (last + 1).saturating_sub(size)..last + 1);
            let candidates = ranges.map(|range| {
                let start = range.start.checked_sub(1).map_or(0, |before| parts[before]);
                (range.start, without(current, start..parts[range.end - 1]))
            });
            let Some((start, input)) = interview.first(candidates)? else { break };
            *current = input;
            parts = ends(current);
            // What was cut together may be cut otherwise now.
            end = start.min(parts.len());
        }
        size /= 2;
    }
    Ok(())
}

/// Whole files, arguments and variables of the environment.
pub(super) fn leave_out_whole<E>(interview: &mut Interview<'_, E>, current: &mut Input) -> Result<(), E> {
    let without = |input: &Input, change: &dyn Fn(&mut Input)| {
        let mut input = input.clone();
        change(&mut input);
        input
    };
    leave_out(
        interview,
        current,
        |input| (1..=input.files.len()).collect(),
        |input, range| without(input, &|input| drop(input.files.drain(range.clone()))),
    )?;
    leave_out(
        interview,
        current,
        |input| (1..=input.args.len()).collect(),
        |input, range| without(input, &|input| drop(input.args.drain(range.clone()))),
    )?;
    leave_out(
        interview,
        current,
        |input| (1..=input.environment.len()).collect(),
        |input, range| without(input, &|input| drop(input.environment.drain(range.clone()))),
    )
}

/// What is unusual about files, and the setting.
pub(super) fn make_usual<E>(interview: &mut Interview<'_, E>, current: &mut Input) -> Result<(), E> {
    let changes: [fn(&mut Input, usize); 5] = [
        |input, file| input.files[file].size = None,
        |input, file| input.files[file].mode = None,
        |input, file| input.files[file].owner = None,
        |input, file| input.files[file].modified = None,
        |input, file| input.files[file].accessed = None,
    ];
    for file in 0..current.files.len() {
        for change in changes {
            let mut candidate = current.clone();
            change(&mut candidate, file);
            try_one(interview, current, candidate)?;
        }
    }
    let usual = Input { setting: Setting::default(), ..current.clone() };
    try_one(interview, current, usual)
}

/// Takes a candidate that differs from what there is, if it is still good.
fn try_one<E>(interview: &mut Interview<'_, E>, current: &mut Input, candidate: Input) -> Result<(), E> {
    if candidate != *current
        && let Some((_, input)) = interview.first([((), candidate)])?
    {
        *current = input;
    }
    Ok(())
}

/// Where the pieces of some bytes end.
type Cut = fn(&[u8]) -> Vec<usize>;

/// Lines, words and bytes of a region.
pub(super) fn leave_out_bytes<E>(
    interview: &mut Interview<'_, E>,
    current: &mut Input,
    region: Region,
) -> Result<(), E> {
    let cuts: [Cut; 3] = [lines, words, |bytes| (1..=bytes.len()).collect()];
    for cut in cuts {
        let n_parts = cut(region.bytes(current)).len();
        // One piece would be asked about again as bytes.
        if n_parts > 1 || n_parts == region.bytes(current).len() {
            leave_out(
                interview,
                current,
                |input| cut(region.bytes(input)),
                |input, range| {
                    let bytes = region.bytes(input);
                    region.with(input, [&bytes[..range.start], &bytes[range.end..]].concat())
                },
            )?;
        }
    }
    Ok(())
}

/// A line ends after its newline.
fn lines(bytes: &[u8]) -> Vec<usize> {
    ends(bytes, |one, _| one == b'\n')
}

/// A word ends before what does not belong to it.
fn words(bytes: &[u8]) -> Vec<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    ends(bytes, |one, next| is_part(one) != is_part(next))
}

fn ends(bytes: &[u8], is_end: impl Fn(u8, u8) -> bool) -> Vec<usize> {
    let inner = bytes.windows(2).enumerate().filter(|(_, two)| is_end(two[0], two[1]));
    let mut ends: Vec<usize> = inner.map(|(index, _)| index + 1).collect();
    if !bytes.is_empty() {
        ends.push(bytes.len());
    }
    ends
}
