//! Bytes that read well: letters, digits, spaces, lines.

use super::{interview::Interview, region::Region};
use cairn_model::Input;

/// What bytes are replaced by, the simplest first. The rest is for bytes that cannot be printed, so that what compares
/// them finds small and large ones.
const SIMPLE: &[u8] = b"a0 \nz9AZ-!~";

/// How many of these are for any byte.
const N_SIMPLEST: usize = 4;

/// The smaller, the better a byte reads.
fn rank(byte: u8) -> usize {
    match SIMPLE[..N_SIMPLEST].iter().position(|simple| *simple == byte) {
        Some(position) => position,
        None if byte.is_ascii_lowercase() => 10,
        None if byte.is_ascii_digit() => 11,
        None if byte.is_ascii_uppercase() => 12,
        None if byte.is_ascii_graphic() => 13,
        None if byte == b'\t' => 14,
        None => 15,
    }
}

/// What a byte may become.
fn simpler(byte: u8) -> impl Iterator<Item = u8> {
    let n = if rank(byte) < 15 { N_SIMPLEST } else { SIMPLE.len() };
    SIMPLE[..n].iter().copied().filter(move |simple| rank(*simple) < rank(byte))
}

/// Replaces bytes of a region by simpler ones, many at once and then one by one.
pub(super) fn simplify<E>(
    interview: &mut Interview<'_, E>,
    current: &mut Input,
    region: Region,
) -> Result<(), E> {
    let length = region.bytes(current).len();
    let mut size = length.next_power_of_two();
    while size > 1 {
        let mut next = 0;
        while next < length {
            let candidates = (next..length).step_by(size).filter_map(|start| {
                let mut bytes = region.bytes(current).to_vec();
                let end = (start + size).min(length);
                // Spaces and lines are what makes a text.
                bytes[start..end]
                    .iter_mut()
                    .filter(|byte| rank(**byte) >= N_SIMPLEST)
                    .for_each(|byte| *byte = b'a');
                (bytes != region.bytes(current)).then(|| (end, region.with(current, bytes)))
            });
            let Some((end, input)) = interview.first(candidates)? else { break };
            *current = input;
            next = end;
        }
        size /= 2;
    }
    let mut next = 0;
    while next < length {
        let bytes = region.bytes(current);
        let candidates = (next..length).flat_map(|position| {
            simpler(bytes[position]).map(move |byte| {
                let mut bytes = bytes.to_vec();
                bytes[position] = byte;
                (position, bytes)
            })
        });
        let candidates = candidates.map(|(position, bytes)| (position, region.with(current, bytes)));
        let Some((position, input)) = interview.first(candidates)? else { break };
        *current = input;
        next = position + 1;
    }
    Ok(())
}
