//! Ways to change numbers, as values and in text.

use super::bytes::{insert, overwrite};
use crate::{dictionary::Dictionary, random::Random};
use cairn_model::input::VariableValue;

/// Ways to change a value. A way is known by its place here.
pub(super) const NAMES: [&str; 7] = [
    "boundary value",
    "small difference",
    "flip a bit",
    "other sign",
    "random value",
    "number of the program",
    "value of another",
];

/// Whole numbers at which something tends to change, beside powers of two and what is next to them.
const REMARKABLE: [i64; 8] = [10, 100, 1000, 1024, 60, 24, 365, 1_000_000];

/// Likewise with fractions.
const REMARKABLE_FLOATS: [f64; 18] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    10.0,
    100.0,
    0.1,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    9_007_199_254_740_992.0,
    f64::from_bits(1),
];

/// Changes a value that is no memory; its type stays. `donor` is the same variable of another input.
pub(super) fn change(
    value: &mut VariableValue,
    way: usize,
    random: &mut Random,
    dictionary: &Dictionary,
    donor: Option<&VariableValue>,
) -> bool {
    if way == 6 {
        let same = donor.filter(|donor| std::mem::discriminant(*donor) == std::mem::discriminant(value));
        let is_changed = same.is_some();
        if let Some(donor) = same {
            *value = donor.clone();
        }
        return is_changed;
    }
    match value {
        VariableValue::Int(number) => *number = whole(*number, way, random, dictionary),
        VariableValue::Uint(number) => {
            *number = whole(number.cast_signed(), way, random, dictionary).cast_unsigned();
            // Most are narrower than they could be.
            if !random.once_in(8) {
                *number &= u64::from(u32::MAX);
            }
        }
        VariableValue::Double(bits) => {
            *bits = float(f64::from_bits(*bits), way, random, dictionary).to_bits();
        }
        VariableValue::Float(bits) => {
            let wide = f64::from(f32::from_bits(*bits));
            *bits = match way {
                // Steps of the narrow type.
                1 if random.once_in(2) => bits.wrapping_add_signed(random.below(9) as i32 - 4),
                2 => *bits ^ 1 << random.below(32),
                _ => (float(wide, way, random, dictionary) as f32).to_bits(),
            };
        }
        VariableValue::Bytes(_) => return false,
    }
    true
}

fn whole(number: i64, way: usize, random: &mut Random, dictionary: &Dictionary) -> i64 {
    match way {
        0 => boundary(random),
        1 => number.wrapping_add(difference(random)),
        2 => {
            let bits = width(random);
            number ^ 1 << random.below(bits)
        }
        3 => number.wrapping_neg(),
        5 if !dictionary.numbers().is_empty() => {
            let known = random.one_of(dictionary.numbers()).copied().unwrap_or(0).cast_signed();
            match random.below(4) {
                0 => known.wrapping_add(1),
                1 => known.wrapping_sub(1),
                2 => known.wrapping_neg(),
                _ => known,
            }
        }
        _ => {
            let unused = 64 - width(random);
            (random.bits().cast_signed() << unused) >> unused
        }
    }
}

fn float(number: f64, way: usize, random: &mut Random, dictionary: &Dictionary) -> f64 {
    match way {
        0 => random.one_of(&REMARKABLE_FLOATS).copied().unwrap_or(0.0),
        1 => match random.below(6) {
            0 => number + difference(random) as f64,
            1 => number * 2.0,
            2 => number / 2.0,
            3 => number.round(),
            // To the next number there is, and a bit beyond.
            4 => f64::from_bits(number.to_bits().wrapping_add_signed(random.below(9) as i64 - 4)),
            _ => number * (1.0 + (random.below(2001) as f64 - 1000.0) / 1000.0),
        },
        2 => f64::from_bits(number.to_bits() ^ 1 << random.below(64)),
        3 => -number,
        5 => {
            let (floats, numbers) = (dictionary.floats(), dictionary.numbers());
            let index = random.below(floats.len() + numbers.len());
            let whole = |at: usize| numbers.get(at).map(|number| number.cast_signed() as f64);
            let known = floats.get(index).copied().or_else(|| whole(index - floats.len()));
            let known = known.unwrap_or(0.0);
            match random.below(4) {
                0 => known.next_up(),
                1 => known.next_down(),
                2 => known / 2.0,
                _ => known,
            }
        }
        _ => match random.below(3) {
            0 => f64::from_bits(random.bits()),
            1 => (random.bits() >> 11) as f64 / (1u64 << 53) as f64,
            _ => boundary(random) as f64,
        },
    }
}

/// How many bits a value may have: most variables are ints.
fn width(random: &mut Random) -> usize {
    match random.below(8) {
        0 => 64,
        1 => 16,
        2 | 3 => 8,
        _ => 32,
    }
}

fn boundary(random: &mut Random) -> i64 {
    if random.once_in(4) {
        return random.one_of(&REMARKABLE).copied().unwrap_or(0);
    }
    let bits = width(random);
    let power = match random.below(3) {
        0 => 0,
        // The ends of the type.
        1 => bits - 1,
        _ => random.below(bits),
    };
    let near = (1i64.wrapping_shl(power as u32)).wrapping_add(random.below(3) as i64 - 1);
    if random.once_in(3) { near.wrapping_neg() } else { near }
}

fn difference(random: &mut Random) -> i64 {
    let size = 1i64 << random.below(6);
    let amount = 1 + random.below(size as usize) as i64;
    if random.once_in(2) { amount } else { -amount }
}

/// How far a number is looked for.
const REACH: usize = 256;

/// Changes a decimal number in text near some place, or puts one there if there is none.
pub(super) fn change_text(
    bytes: &mut Vec<u8>,
    random: &mut Random,
    dictionary: &Dictionary,
    max_size: usize,
) -> bool {
    let from = random.below(bytes.len());
    let digit = bytes[from..].iter().take(REACH).position(u8::is_ascii_digit);
    let Some(digit) = digit.map(|at| from + at) else { return false };
    let mut start = digit;
    while start > 0 && digit - start < REACH && bytes[start - 1].is_ascii_digit() {
        start -= 1;
    }
    let end = bytes[digit..].iter().take(REACH).position(|byte| !byte.is_ascii_digit());
    let end = end.map_or(bytes.len().min(digit + REACH), |n| digit + n);
    let is_negative = start > 0 && bytes[start - 1] == b'-';
    let mut number = 0i64;
    for byte in &bytes[start..end] {
        number = number.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
    }
    if is_negative {
        number = number.wrapping_neg();
        start -= 1;
    }
    let number = match random.below(8) {
        0..=3 => number.wrapping_add(difference(random)),
        4 | 5 => boundary(random),
        6 => whole(number, 5, random, dictionary),
        _ => number.wrapping_mul(10),
    };
    let mut text = [0; 20];
    let text = decimal(number, &mut text);
    replace(bytes, start, end, text, max_size)
}

/// Puts `text` in place of a part.
fn replace(bytes: &mut Vec<u8>, start: usize, end: usize, text: &[u8], max_size: usize) -> bool {
    let n_over = text.len().min(end - start);
    if text.len() >= end - start {
        overwrite(bytes, start, &text[..n_over], max_size) | insert(bytes, end, &text[n_over..], max_size)
    } else {
        bytes[start..start + n_over].copy_from_slice(text);
        bytes.drain(start + n_over..end);
        true
    }
}

/// A number as text, at the end of `room`.
fn decimal(number: i64, room: &mut [u8; 20]) -> &[u8] {
    let mut at = room.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        room[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        room[at] = b'-';
    }
    &room[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_text() {
        let shown = |number: i64| String::from_utf8(decimal(number, &mut [0; 20]).to_vec()).unwrap();
        for number in [0, 7, -7, i64::MAX, i64::MIN] {
            assert_eq!(shown(number), number.to_string());
        }
    }

    #[test]
    fn a_number_in_text_stays_one_and_the_text_around_it_stays() {
        let mut random = Random::new(2);
        let dictionary = Dictionary::default();
        for _ in 0..1000 {
            let mut bytes = b"<width=-120>".to_vec();
            change_text(&mut bytes, &mut random, &dictionary, 100);
            let text = String::from_utf8(bytes).unwrap();
            let number = text.strip_prefix("<width=").and_then(|rest| rest.strip_suffix('>'));
            assert!(number.is_some_and(|number| number.parse::<i64>().is_ok()), "{text}");
        }
        let mut none = b"no digits".to_vec();
        assert!(!change_text(&mut none, &mut random, &dictionary, 100));
    }

    #[test]
    fn values_keep_their_type_and_reach_what_matters() {
        let mut dictionary = Dictionary::default();
        dictionary.add_number((-17i64).cast_unsigned());
        dictionary.add_float(0.25);
        let mut random = Random::new(3);
        let mut seen_ints = std::collections::BTreeSet::new();
        let mut seen_doubles = std::collections::BTreeSet::new();
        for round in 0..20_000 {
            let way = round % NAMES.len();
            let mut value = VariableValue::Int(0);
            change(&mut value, way, &mut random, &dictionary, None);
            if let VariableValue::Int(value) = value {
                seen_ints.insert(value);
            }
            let mut value = VariableValue::Double(1f64.to_bits());
            change(&mut value, way, &mut random, &dictionary, None);
            if let VariableValue::Double(bits) = value {
                seen_doubles.insert(bits);
            }
        }
        for wanted in [0, 1, -1, 127, 128, 255, -128, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX] {
            assert!(seen_ints.contains(&wanted), "{wanted}");
        }
        for wanted in [0.0, -1.0, 0.5, 0.25, 0.25f64.next_up(), 1f64.next_up(), f64::INFINITY, f64::NAN] {
            assert!(seen_doubles.contains(&wanted.to_bits()), "{wanted}");
        }
    }
}
