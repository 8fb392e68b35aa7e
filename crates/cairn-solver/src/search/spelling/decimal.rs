//! Decimal numbers near a floating-point number, and how they are written.

/// Powers of ten that are exact, which is as far as readers of numbers agree without knowing more digits.
const LARGEST_POWER: i32 = 22;

/// Digits that any number may have and stay exact.
const MAX_DIGITS: usize = 15;

/// Some digits times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    digits: u64,
    exponent: i32,
}

/// The number with these bits in as few digits as tell it from others, then the numbers of 1 digit, of 2 digits and so on that
/// are nearest to it and beside those. None if it is not finite.
pub fn beside(bits: u64, width: u32) -> Vec<Decimal> {
    let (value, shortest) = match width {
        32 => {
            let value = f32::from_bits(bits as u32);
            (f64::from(value), format!("{value:e}"))
        }
        _ => (f64::from_bits(bits), format!("{:e}", f64::from_bits(bits))),
    };
    let mut numbers: Vec<Decimal> = Vec::new();
    let mut add = |number: Decimal| {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    };
    let Some(exact) = Decimal::read(&shortest) else { return Vec::new() };
    add(exact);
    if value == 0.0 {
        for exponent in 0..=LARGEST_POWER {
            for is_negative in [false, true] {
                add(Decimal { is_negative, digits: 1, exponent: -exponent });
            }
        }
        return numbers;
    }
    for n_digits in 1..=MAX_DIGITS {
        let Some(near) = Decimal::read_all(&format!("{value:.*e}", n_digits - 1)) else { continue };
        for digits in [near.digits, near.digits + 1, near.digits - 1] {
            add(Decimal { digits, ..near }.without_zeros());
        }
    }
    numbers
}

impl Decimal {
    /// Reads what `{:e}` writes.
    fn read(text: &str) -> Option<Self> {
        Some(Self::read_all(text)?.without_zeros())
    }

    fn read_all(text: &str) -> Option<Self> {
        let (number, exponent) = text.split_once('e')?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = whole.trim_start_matches('-').to_owned() + fraction;
        let exponent: i32 = exponent.parse().ok()?;
        Some(Self {
            is_negative: whole.starts_with('-'),
            digits: digits.parse().ok()?,
            exponent: exponent - fraction.len() as i32,
        })
    }

    fn without_zeros(mut self) -> Self {
        while self.digits != 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.exponent += 1;
        }
        if self.digits == 0 { Self { is_negative: false, digits: 0, exponent: 0 } } else { self }
    }

    /// As text of at most `room` bytes: with a point if that is short enough, else with an exponent, which may be too large for
    /// some readers where it need not be for others.
    pub fn texts(self, room: usize) -> Vec<String> {
        let plain = self.plain().filter(|text| text.len() <= room);
        let mut texts =
            plain.map_or_else(|| vec![self.with_small_exponent(), self.with_exponent()], |text| vec![text]);
        texts.dedup();
        texts.retain(|text| text.len() <= room);
        texts
    }

    fn sign(self) -> &'static str {
        if self.is_negative { "-" } else { "" }
    }

    fn plain(self) -> Option<String> {
        let (sign, digits) = (self.sign(), self.digits.to_string());
        if self.exponent >= 0 {
            let zeros = "0".repeat(self.exponent as usize);
            return (digits.len() + zeros.len() <= MAX_DIGITS).then(|| format!("{sign}{digits}{zeros}"));
        }
        let n_decimals = -self.exponent as usize;
        (n_decimals <= LARGEST_POWER as usize).then(|| {
            let digits = format!("{digits:0>width$}", width = n_decimals + 1);
            let (whole, fraction) = digits.split_at(digits.len() - n_decimals);
            format!("{sign}{whole}.{fraction}")
        })
    }

    fn with_small_exponent(mut self) -> String {
        while self.exponent > LARGEST_POWER && self.digits.to_string().len() < MAX_DIGITS {
            self.digits *= 10;
            self.exponent -= 1;
        }
        self.with_exponent()
    }

    fn with_exponent(self) -> String {
        format!("{}{}e{}", self.sign(), self.digits, self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// The first numbers beside one, as text.
    fn check(number: f64, n: usize, room: usize, expected: Expect) {
        let numbers = beside(number.to_bits(), 64);
        let texts: Vec<String> = numbers.into_iter().take(n).flat_map(|number| number.texts(room)).collect();
        expected.assert_eq(&texts.join(" "));
    }

    #[test]
    fn a_number_comes_first_and_then_those_of_few_digits() {
        check(3.75, 8, 24, expect!["3.75 4 5 3 3.8 3.9 3.7 3.76"]);
        check(-0.5, 6, 24, expect!["-0.5 -0.6 -0.4 -0.51 -0.49 -0.501"]);
        check(0.0, 7, 24, expect!["0 1 -1 0.1 -0.1 0.01 -0.01"]);
        check(f64::INFINITY, 9, 24, expect![""]);
    }

    #[test]
    fn every_range_has_one_of_them() {
        for (low, high) in [(2.5, 2.5001), (0.12344, 0.12345), (-1e-7, -0.99e-7), (1e15, 1.0000001e15)] {
            for end in [low, high] {
                let is_between = |number: &Decimal| {
                    let value: f64 = number.texts(40)[0].parse().expect("it is a number");
                    low < value && value < high
                };
                assert!(beside(f64::to_bits(end), 64).iter().any(is_between), "{low} {high} from {end}");
            }
        }
    }

    #[test]
    fn what_needs_a_long_text_has_an_exponent() {
        check(1e30, 1, 24, expect!["100000000e22 1e30"]);
        check(1e300, 1, 5, expect!["1e300"]);
        check(-2.5e-9, 1, 24, expect!["-0.0000000025"]);
        check(-2.5e-9, 1, 8, expect!["-25e-10"]);
        check(123456.0, 1, 4, expect![""]);
    }

    #[test]
    fn a_float_has_the_digits_that_tell_it_from_other_floats() {
        let number = beside(0.1f32.to_bits().into(), 32)[0];
        assert_eq!(number.texts(9), ["0.1"]);
    }
}
