//! What a request is answered with.
//!
//! With a host, a variable is what the input delivers. Without one, it is what `CAIRN_VARIABLES` says. A variable nobody
//! gives is 0, or the bound nearest to 0. A value converts to the requested type when nothing is lost by it; otherwise
//! the run ends, because going on with another value would test something nobody asked for.

use crate::{channel, environment, occurrences};
use cairn_abi::{
    channel::{EndedBy, MISSING_NAME},
    delivery::{Value, is_request},
};
use core::sync::atomic::{AtomicU8, Ordering};

/// Where the answer comes from.
#[derive(Clone, Copy, Debug)]
pub enum Given {
    /// Nobody gives this variable.
    Nothing,
    /// The host delivers it.
    Value(Value<'static>),
    /// The environment has it.
    Text(&'static [u8]),
}

/// The value given cannot be what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

/// Looks up the next value of `name`.
pub fn given(name: &[u8]) -> Given {
    let occurrence = occurrences::next(name);
    match channel::find() {
        Some(channel) => {
            #[cfg(all(feature = "view", target_arch = "x86_64"))]
            crate::symbolic::sources::asked_for(channel.delivery().variable_index(name, occurrence));
            let found = channel.delivery().variable(name, occurrence);
            // Programs that ask in a loop ask until there are no more.
            if found.is_none() && occurrence == 1 {
                note_missing(&channel.header().missing, name);
            }
            found.map_or(Given::Nothing, Given::Value)
        }
        None => environment::value(environment::variables(), |given| is_request(given, name, occurrence))
            .map_or(Given::Nothing, Given::Text),
    }
}

/// Notes the first variable that an input does not have. The last byte stays zero.
fn note_missing(missing: &[AtomicU8], name: &[u8]) {
    if missing[0].load(Ordering::Relaxed) == 0 {
        missing
            .iter()
            .zip(name)
            .take(MISSING_NAME - 1)
            .for_each(|(to, byte)| to.store(*byte, Ordering::Relaxed));
    }
}

/// An integer type of C.
#[derive(Clone, Copy, Debug)]
pub struct IntegerType {
    /// As in `sizeof`.
    pub size: usize,
    /// Whether it has negative values.
    pub is_signed: bool,
}

impl IntegerType {
    fn holds(self, value: i128) -> bool {
        let bits = self.size as u32 * 8;
        let (least, end) =
            if self.is_signed { (-(1i128 << (bits - 1)), 1i128 << (bits - 1)) } else { (0, 1i128 << bits) };
        least <= value && value < end
    }
}

/// What `given` is as an integer, if anything is given.
pub fn integer(given: Given, wanted: IntegerType) -> Result<Option<i128>, Mismatch> {
    let value = match given {
        Given::Nothing => return Ok(None),
        Given::Value(Value::Int(value)) => i128::from(value),
        Given::Value(Value::Uint(value)) => i128::from(value),
        Given::Value(Value::Bytes(bytes)) if bytes.len() == wanted.size => from_memory(bytes, wanted),
        Given::Value(_) => return Err(Mismatch),
        Given::Text(text) => parse_integer(text).ok_or(Mismatch)?,
    };
    if wanted.holds(value) { Ok(Some(value)) } else { Err(Mismatch) }
}

fn from_memory(bytes: &[u8], wanted: IntegerType) -> i128 {
    let value = bytes.iter().rev().fold(0i128, |value, byte| value << 8 | i128::from(*byte));
    if wanted.holds(value) { value } else { value - (1i128 << (wanted.size * 8)) }
}

fn parse_integer(text: &[u8]) -> Option<i128> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        digits => (10, digits),
    };
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    let magnitude = digits.iter().try_fold(0i128, |value, digit| {
        Some(value * i128::from(base) + i128::from(char::from(*digit).to_digit(base)?))
    })?;
    Some(if is_negative { -magnitude } else { magnitude })
}

/// What `given` is as a `double`, if anything is given.
pub fn double(given: Given) -> Result<Option<f64>, Mismatch> {
    Ok(Some(match given {
        Given::Nothing => return Ok(None),
        Given::Value(Value::Double(bits)) => f64::from_bits(bits),
        Given::Value(Value::Float(bits)) => f64::from(f32::from_bits(bits)),
        Given::Value(Value::Int(value)) => exact_double(i128::from(value))?,
        Given::Value(Value::Uint(value)) => exact_double(i128::from(value))?,
        Given::Value(Value::Bytes(bytes)) => {
            f64::from_bits(u64::from_le_bytes(bytes.try_into().map_err(|_| Mismatch)?))
        }
        Given::Text(text) => parse_double(text)?,
    }))
}

/// What `given` is as a `float`, if anything is given.
pub fn float(given: Given) -> Result<Option<f32>, Mismatch> {
    let value = match given {
        Given::Value(Value::Float(bits)) => return Ok(Some(f32::from_bits(bits))),
        Given::Value(Value::Bytes(bytes)) => {
            return Ok(Some(f32::from_bits(u32::from_le_bytes(bytes.try_into().map_err(|_| Mismatch)?))));
        }
        // A person writes 0.1 and means the nearest float.
        Given::Text(text) => return parse_double(text).map(|value| Some(value as f32)),
        _ => double(given)?,
    };
    let Some(value) = value else { return Ok(None) };
    let narrow = value as f32;
    if f64::from(narrow) == value || value.is_nan() { Ok(Some(narrow)) } else { Err(Mismatch) }
}

fn exact_double(value: i128) -> Result<f64, Mismatch> {
    const EXACT: i128 = 1 << f64::MANTISSA_DIGITS;
    let is_exact = (-EXACT..=EXACT).contains(&value);
    if is_exact { Ok(value as i64 as f64) } else { Err(Mismatch) }
}

fn parse_double(text: &[u8]) -> Result<f64, Mismatch> {
    core::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Mismatch)
}

/// Fills `memory` with what is given, or with zeros.
pub fn memory(given: Given, memory: &mut [u8]) -> Result<(), Mismatch> {
    match given {
        Given::Nothing => {
            memory.fill(0);
            Ok(())
        }
        Given::Value(Value::Bytes(bytes)) if bytes.len() == memory.len() => {
            memory.copy_from_slice(bytes);
            Ok(())
        }
        Given::Value(Value::Float(bits)) => exact_copy(&bits.to_le_bytes(), memory),
        Given::Value(Value::Double(bits)) => exact_copy(&bits.to_le_bytes(), memory),
        Given::Text([b'h', b'e', b'x', b':', digits @ ..]) => decode_hex(digits, memory),
        _ => integer_as_memory(given, memory),
    }
}

/// `klee_make_symbolic(&x, sizeof x, "x")` with `x = 5`.
fn integer_as_memory(given: Given, memory: &mut [u8]) -> Result<(), Mismatch> {
    let size = memory.len();
    if !matches!(size, 1 | 2 | 4 | 8) {
        return Err(Mismatch);
    }
    let value = match integer(given, IntegerType { size, is_signed: true }) {
        Err(Mismatch) => integer(given, IntegerType { size, is_signed: false })?,
        found => found?,
    };
    let (bytes, _) = memory.split_at_mut(size);
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = (value.unwrap_or(0) >> (index * 8)) as u8;
    }
    Ok(())
}

fn exact_copy(bytes: &[u8], memory: &mut [u8]) -> Result<(), Mismatch> {
    if bytes.len() != memory.len() {
        return Err(Mismatch);
    }
    memory.copy_from_slice(bytes);
    Ok(())
}

fn decode_hex(digits: &[u8], memory: &mut [u8]) -> Result<(), Mismatch> {
    let (pairs, odd) = digits.as_chunks::<2>();
    if pairs.len() != memory.len() || !odd.is_empty() {
        return Err(Mismatch);
    }
    for (byte, [high, low]) in memory.iter_mut().zip(pairs) {
        let digit = |digit: &u8| environment::hex_digit(*digit).ok_or(Mismatch);
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Ok(())
}

/// Ends the run because `name` was given a value it cannot have.
pub fn end_by_mismatch(name: &[u8]) -> ! {
    channel::end(
        EndedBy::Delivery,
        &[
            b"error: CAIRN_VARIABLES gives `",
            name,
            b"` a value of another type or size than the program asks for\n",
        ],
    )
}

/// Ends the run because `name` lies outside the bounds the program states.
pub fn end_by_bounds(name: &[u8]) -> ! {
    channel::end(EndedBy::Assumption, &[b"assumption failed: `", name, b"` is out of its bounds\n"])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAR: IntegerType = IntegerType { size: 1, is_signed: true };
    const UINT: IntegerType = IntegerType { size: 4, is_signed: false };
    const LONG: IntegerType = IntegerType { size: 8, is_signed: true };
    const ULONG: IntegerType = IntegerType { size: 8, is_signed: false };

    #[test]
    fn integers_convert_when_they_fit() {
        let int = |value| Given::Value(Value::Int(value));
        assert_eq!(integer(int(-128), CHAR), Ok(Some(-128)));
        assert_eq!(integer(int(128), CHAR), Err(Mismatch));
        assert_eq!(integer(int(-1), UINT), Err(Mismatch));
        assert_eq!(integer(int(i64::MIN), LONG), Ok(Some(i64::MIN.into())));
        assert_eq!(integer(Given::Value(Value::Uint(u64::MAX)), ULONG), Ok(Some(u64::MAX.into())));
        assert_eq!(integer(Given::Value(Value::Uint(u64::MAX)), LONG), Err(Mismatch));
        assert_eq!(integer(Given::Value(Value::Bytes(&[0xfe])), CHAR), Ok(Some(-2)));
        assert_eq!(integer(Given::Value(Value::Bytes(&[1, 0])), CHAR), Err(Mismatch));
        assert_eq!(integer(Given::Value(Value::Float(0)), LONG), Err(Mismatch));
    }

    #[test]
    fn integers_are_written_as_people_write_them() {
        let text = |text: &'static str| integer(Given::Text(text.as_bytes()), ULONG);
        assert_eq!(text("18446744073709551615"), Ok(Some(u64::MAX.into())));
        assert_eq!(text("0xff"), Ok(Some(255)));
        assert_eq!(text("+7"), Ok(Some(7)));
        for bad in ["", "-", "0x", "1.5", "-1", "12a", "99999999999999999999999"] {
            assert_eq!(text(bad), Err(Mismatch), "{bad}");
        }
    }

    #[test]
    fn floats_convert_when_they_are_exact() {
        let given = |value: f64| Given::Value(Value::Double(value.to_bits()));
        assert_eq!(float(given(0.5)), Ok(Some(0.5)));
        assert_eq!(float(given(0.1)), Err(Mismatch));
        assert_eq!(float(Given::Text(b"0.1")), Ok(Some(0.1)));
        assert_eq!(float(given(f64::INFINITY)), Ok(Some(f32::INFINITY)));
        assert!(float(given(f64::NAN)).unwrap().unwrap().is_nan());
        assert_eq!(double(Given::Value(Value::Int(3))), Ok(Some(3.0)));
        assert_eq!(double(Given::Value(Value::Int(i64::MAX))), Err(Mismatch));
        assert_eq!(double(Given::Text(b"inf")), Ok(Some(f64::INFINITY)));
        assert_eq!(double(Given::Text(b"half")), Err(Mismatch));
    }

    #[test]
    fn memory_takes_bytes_of_its_size_or_a_number() {
        fn fill<const N: usize>(given: Given) -> Result<[u8; N], Mismatch> {
            let mut bytes = [0xaa; N];
            memory(given, &mut bytes).map(|()| bytes)
        }
        assert_eq!(fill(Given::Value(Value::Bytes(b"abc"))), Ok(*b"abc"));
        assert_eq!(fill::<2>(Given::Value(Value::Bytes(b"abc"))), Err(Mismatch));
        assert_eq!(fill(Given::Value(Value::Int(-2))), Ok([0xfe, 0xff, 0xff, 0xff]));
        assert_eq!(fill(Given::Value(Value::Uint(0xffff_ffff))), Ok([0xff; 4]));
        assert_eq!(fill::<3>(Given::Value(Value::Int(1))), Err(Mismatch));
        assert_eq!(fill(Given::Text(b"hex:00fF")), Ok([0, 0xff]));
        assert_eq!(fill::<2>(Given::Text(b"hex:00f")), Err(Mismatch));
        assert_eq!(fill::<1>(Given::Text(b"hex:+1")), Err(Mismatch));
        assert_eq!(fill(Given::Text(b"5")), Ok([5, 0]));
        assert_eq!(fill(Given::Nothing), Ok([0; 9]));
    }
}
