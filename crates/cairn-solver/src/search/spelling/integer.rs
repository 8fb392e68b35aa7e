//! Integers, as `strtol` reads them.

use super::{
    Attempts, MAX_PLACES,
    digits::Reader,
    page::{End, Page},
};
use crate::{inversion::Demand, search::problem::Problem};
use cairn_expr::{mask, signed};
use std::ops::ControlFlow;

/// What ends a number where a digit would follow, the likeliest first.
const ENDS: [u8; 3] = [b' ', 0, b'\n'];

/// Writes the number that is wanted in all notations that are read there.
pub fn write(
    problem: &mut Problem<'_>,
    attempts: &mut Attempts,
    demand: Demand,
    reader: &Reader,
) -> ControlFlow<()> {
    let current = problem.value(demand.node);
    let integers = Integer::with_bits(demand, current, problem.dag.width(demand.node));
    let notations = Notation::of(&reader.radixes);
    for range in problem.dag.reads(reader.chain).into_owned() {
        let page = Page::new(problem, range, &attempts.start);
        for place in places(page.base()) {
            let room = page.base().len() - place;
            for (integer, notation) in integers.iter().flat_map(|i| notations.iter().map(move |n| (i, n))) {
                let shortest = integer.text(notation, 0);
                // Others may have settled how many bytes belong to the number: as many as now, all of them, or all but one
                // that ends it.
                let lengths = [0, notation.length(&page.base()[place..]), room - 1, room];
                for (nth, length) in lengths.into_iter().enumerate() {
                    let is_new = nth == 0
                        || length > shortest.len()
                            && notation.can_be_padded
                            && !lengths[..nth].contains(&length);
                    if !is_new || shortest.len() > room {
                        continue;
                    }
                    let mut text = integer.text(notation, length);
                    if !page.allows(problem, place, text.as_bytes()[0])
                        && !integer.is_negative
                        && text.len() < room
                    {
                        text.insert(0, '+');
                    }
                    for end in ends(problem, &page, place + text.len(), notation) {
                        attempts.write(problem, &page, place, &text, end)?;
                    }
                }
            }
        }
        page.restore(problem);
    }
    ControlFlow::Continue(())
}

/// Where a number may begin: at once, or after white space.
fn places(base: &[u8]) -> impl Iterator<Item = usize> {
    let n_spaces = base.iter().take_while(|byte| matches!(byte, b' ' | 9..=13)).count();
    0..(n_spaces + 1).min(base.len()).min(MAX_PLACES)
}

/// How a number can be ended before a byte.
fn ends(problem: &Problem<'_>, page: &Page, after: usize, notation: &Notation) -> Vec<End> {
    let follows = |byte: &u8| char::from(*byte).is_digit(notation.radix) || byte.eq_ignore_ascii_case(&b'x');
    if !page.base().get(after).is_some_and(follows) {
        return vec![End::Kept];
    }
    let some = ENDS.into_iter().filter(|byte| page.allows(problem, after, *byte));
    let mut ends: Vec<End> = some.map(End::Byte).collect();
    if ends.is_empty() {
        let other =
            (1..=u8::MAX).find(|byte| !byte.is_ascii_alphanumeric() && page.allows(problem, after, *byte));
        ends.extend(other.map(End::Byte));
    }
    ends
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Integer {
    is_negative: bool,
    magnitude: u128,
}

impl Integer {
    /// The integers that have the bits that are wanted. Where only the lowest matter, the type is a narrow one.
    fn with_bits(demand: Demand, current: u128, width: u32) -> Vec<Self> {
        let is_low = demand.mask & demand.mask.wrapping_add(1) == 0;
        let (bits, width) = match is_low {
            true => (demand.value & demand.mask, demand.mask.count_ones()),
            false => (current & !demand.mask | demand.value & demand.mask, width),
        };
        let bits = bits & mask(width);
        let below_zero = signed(bits, width);
        let negative = Self { is_negative: true, magnitude: below_zero.unsigned_abs() };
        let positive = Self { is_negative: false, magnitude: bits };
        if below_zero < 0 { vec![negative, positive] } else { vec![positive] }
    }

    /// As text of so many bytes, or as many as it takes.
    fn text(self, notation: &Notation, length: usize) -> String {
        let mut digits = Vec::new();
        let mut rest = self.magnitude;
        loop {
            let digit = (rest % u128::from(notation.radix)) as u32;
            digits.push(char::from_digit(digit, notation.radix).expect("it is below the radix"));
            rest /= u128::from(notation.radix);
            if rest == 0 {
                break;
            }
        }
        let head = format!("{}{}", if self.is_negative { "-" } else { "" }, notation.prefix);
        let digits: String = digits.iter().rev().collect();
        format!("{head}{digits:0>width$}", width = length.saturating_sub(head.len()))
    }
}

/// How an integer is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Notation {
    prefix: &'static str,
    radix: u32,
    /// Whether zeros before the first digit are digits like others.
    can_be_padded: bool,
}

impl Notation {
    /// The notations that are read where there are these radixes.
    fn of(radixes: &[u32]) -> Vec<Self> {
        let plain = |radix: u32| Self { prefix: "", radix, can_be_padded: radixes.len() == 1 };
        let prefixed = |prefix, radix| Self { prefix, radix, can_be_padded: true };
        match radixes {
            [16] => vec![plain(16), prefixed("0x", 16)],
            [radix] => vec![plain(*radix)],
            _ => {
                let all = [plain(10), prefixed("0x", 16), prefixed("0", 8), prefixed("0b", 2)];
                all.into_iter().filter(|notation| radixes.contains(&notation.radix)).collect()
            }
        }
    }

    /// How many bytes of a text are a number now.
    fn length(&self, text: &[u8]) -> usize {
        let n_head = usize::from(matches!(text.first(), Some(b'+' | b'-')));
        let prefix = self.prefix.as_bytes();
        let has_prefix =
            text[n_head..].get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        let n_head = if has_prefix { n_head + prefix.len() } else { n_head };
        n_head + text[n_head..].iter().take_while(|byte| char::from(**byte).is_digit(self.radix)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::{Dag, parse};
    use expect_test::{Expect, expect};

    /// All texts for what the lowest bits should be, where there are these radixes.
    fn check(value: i128, n_bits: u32, radixes: &[u32], length: usize, expected: Expect) {
        let mut dag = Dag::new();
        let node = parse(&mut dag, "(input stdin 0 64)").unwrap();
        let demand = Demand { node, value: value as u128 & mask(n_bits), mask: mask(n_bits) };
        let mut texts = Vec::new();
        for integer in Integer::with_bits(demand, 0, 64) {
            texts.extend(Notation::of(radixes).iter().map(|notation| integer.text(notation, length)));
        }
        expected.assert_eq(&texts.join(" "));
    }

    #[test]
    fn a_number_has_a_sign_and_the_digits_of_its_radix() {
        check(1_234_567_890, 64, &[10], 0, expect!["1234567890"]);
        check(123_456, 64, &[36], 0, expect!["2n9c"]);
        check(0, 32, &[8], 0, expect!["0"]);
    }

    #[test]
    fn what_may_be_negative_is_written_both_ways() {
        check(-12345, 32, &[10], 0, expect!["-12345 4294954951"]);
        check(i128::from(i64::MIN), 64, &[10], 0, expect!["-9223372036854775808 9223372036854775808"]);
    }

    #[test]
    fn a_prefix_chooses_the_radix() {
        check(255, 64, &[8, 10, 16], 0, expect!["255 0xff 0377"]);
        check(5, 64, &[2, 8, 10, 16], 0, expect!["5 0x5 05 0b101"]);
    }

    #[test]
    fn zeros_fill_the_length() {
        check(-42, 64, &[10], 6, expect!["-00042 18446744073709551574"]);
        check(255, 64, &[16], 6, expect!["0000ff 0x00ff"]);
    }

    #[test]
    fn the_length_of_a_number_is_what_belongs_to_it() {
        let [decimal, hexadecimal] = [Notation::of(&[10]).remove(0), Notation::of(&[16]).remove(1)];
        assert_eq!(decimal.length(b"-0123.5"), 5);
        assert_eq!(decimal.length(b"x"), 0);
        assert_eq!(hexadecimal.length(b"0xfFg"), 4);
        assert_eq!(hexadecimal.length(b""), 0);
    }
}
