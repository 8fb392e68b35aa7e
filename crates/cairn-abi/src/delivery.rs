//! What an input delivers by name: typed variables and the harness buffer.
//!
//! The host writes items one after another into the delivery region before the run; the runtime looks them up.
//!
//! ```text
//!   u32 kind, u32 length of the name, u64 length of the value, name, value, zeros up to a multiple of 8
//! ```
//! Numbers are little-endian. An integer carries no width: it is delivered as 64 bits, and the request in the
//! target says how wide it wants it, so one input serves a program whose variable changed from `int` to `long`.

/// One thing an input delivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// A typed variable.
    Variable {
        /// The name the program asks by; see [`is_request`] for repeated requests.
        name: &'a [u8],
        /// Its value.
        value: Value<'a>,
    },
    /// The buffer of a `LLVMFuzzerTestOneInput` harness or of an AFL loop.
    Buffer(&'a [u8]),
}

/// The value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A signed integer of any width up to 64 bits.
    Int(i64),
    /// An unsigned integer of any width up to 64 bits.
    Uint(u64),
    /// The bits of a `float`.
    Float(u32),
    /// The bits of a `double`.
    Double(u64),
    /// Memory.
    Bytes(&'a [u8]),
}

const HEAD: usize = 16;
const ALIGN: usize = 8;

const KIND_BUFFER: u32 = 1;
const KIND_INT: u32 = 2;
const KIND_UINT: u32 = 3;
const KIND_FLOAT: u32 = 4;
const KIND_DOUBLE: u32 = 5;
const KIND_BYTES: u32 = 6;

impl<'a> Item<'a> {
    /// How many bytes [`Writer::push`] uses for this item.
    pub fn encoded_size(&self) -> usize {
        let (name, value) = match self {
            Self::Buffer(bytes) => (0, bytes.len()),
            Self::Variable { name, value } => (name.len(), value.len()),
        };
        (HEAD + name + value).next_multiple_of(ALIGN)
    }
}

impl Value<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Float(_) => 4,
            Self::Int(_) | Self::Uint(_) | Self::Double(_) => 8,
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// The size a delivery region needs for `items`.
pub fn encoded_size<'a>(items: impl IntoIterator<Item = Item<'a>>) -> usize {
    items.into_iter().map(|item| item.encoded_size()).sum()
}

/// Why an item could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The region is full.
    Full,
    /// The name is longer than `u32::MAX` bytes.
    Name,
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Full => "the delivery region is too small for the input's variables and buffer",
            Self::Name => "a variable's name is longer than 4 GiB",
        })
    }
}

impl core::error::Error for WriteError {}

/// Writes items into a delivery region.
#[derive(Debug)]
pub struct Writer<'a> {
    region: &'a mut [u8],
    length: usize,
}

impl<'a> Writer<'a> {
    /// Starts at the front of `region`.
    pub fn new(region: &'a mut [u8]) -> Self {
        Self { region, length: 0 }
    }

    /// Appends `item`. After an error nothing of it was written.
    pub fn push(&mut self, item: &Item<'_>) -> Result<(), WriteError> {
        let number;
        let (kind, name, value): (u32, &[u8], &[u8]) = match item {
            Item::Buffer(bytes) => (KIND_BUFFER, &[], bytes),
            Item::Variable { name, value } => {
                let (kind, bits) = match value {
                    Value::Int(value) => (KIND_INT, *value as u64),
                    Value::Uint(value) => (KIND_UINT, *value),
                    Value::Float(bits) => (KIND_FLOAT, u64::from(*bits)),
                    Value::Double(bits) => (KIND_DOUBLE, *bits),
                    Value::Bytes(_) => (KIND_BYTES, 0),
                };
                number = bits.to_le_bytes();
                match value {
                    Value::Bytes(bytes) => (kind, name, bytes),
                    _ => (kind, name, &number[..value.len()]),
                }
            }
        };
        let name_length = u32::try_from(name.len()).map_err(|_| WriteError::Name)?;
        let slot = self.region[self.length..].get_mut(..item.encoded_size()).ok_or(WriteError::Full)?;
        let (head, rest) = slot.split_at_mut(HEAD);
        let (name_slot, rest) = rest.split_at_mut(name.len());
        let (value_slot, padding) = rest.split_at_mut(value.len());
        head[0..4].copy_from_slice(&kind.to_le_bytes());
        head[4..8].copy_from_slice(&name_length.to_le_bytes());
        head[8..16].copy_from_slice(&(value.len() as u64).to_le_bytes());
        name_slot.copy_from_slice(name);
        value_slot.copy_from_slice(value);
        padding.fill(0);
        self.length += item.encoded_size();
        Ok(())
    }

    /// The bytes used so far, which belong into `ChannelHeader::delivery_length`.
    pub fn length(&self) -> usize {
        self.length
    }
}

/// What follows an item that cannot be read. Nothing after it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Iterates over the items of a delivery region; ends after the first malformed one.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads `used`, the first `delivery_length` bytes of the region.
    pub fn new(used: &'a [u8]) -> Self {
        Self { rest: used }
    }

    /// The value delivered for the `occurrence`-th request (from 1) of `name`.
    pub fn variable(&self, name: &[u8], occurrence: u32) -> Option<Value<'a>> {
        self.clone().find_map(|item| match item {
            Ok(Item::Variable { name: delivered, value }) if is_request(delivered, name, occurrence) => {
                Some(value)
            }
            _ => None,
        })
    }

    /// Which of the delivered variables, counted from 0, answers the `occurrence`-th request of `name`.
    pub fn variable_index(&self, name: &[u8], occurrence: u32) -> Option<u32> {
        let variables = self.clone().filter_map(|item| match item {
            Ok(Item::Variable { name, .. }) => Some(name),
            _ => None,
        });
        variables
            .zip(0..)
            .find(|(delivered, _)| is_request(delivered, name, occurrence))
            .map(|(_, index)| index)
    }

    /// The harness buffer.
    pub fn buffer(&self) -> Option<&'a [u8]> {
        self.clone().find_map(|item| match item {
            Ok(Item::Buffer(bytes)) => Some(bytes),
            _ => None,
        })
    }

    fn read(&mut self) -> Option<Item<'a>> {
        let kind = u32::from_le_bytes(*self.rest.first_chunk()?);
        let name_length = u32::from_le_bytes(*self.rest.get(4..)?.first_chunk()?);
        let value_length = u64::from_le_bytes(*self.rest.get(8..)?.first_chunk()?);
        let name_end = HEAD.checked_add(usize::try_from(name_length).ok()?)?;
        let value_end = name_end.checked_add(usize::try_from(value_length).ok()?)?;
        let name = self.rest.get(HEAD..name_end)?;
        let value = self.rest.get(name_end..value_end)?;
        let item_end = value_end.checked_next_multiple_of(ALIGN)?;
        let value = match kind {
            KIND_BUFFER => {
                self.rest = self.rest.get(item_end..)?;
                return Some(Item::Buffer(value));
            }
            KIND_INT => Value::Int(i64::from_le_bytes(value.try_into().ok()?)),
            KIND_UINT => Value::Uint(u64::from_le_bytes(value.try_into().ok()?)),
            KIND_FLOAT => Value::Float(u32::from_le_bytes(value.try_into().ok()?)),
            KIND_DOUBLE => Value::Double(u64::from_le_bytes(value.try_into().ok()?)),
            KIND_BYTES => Value::Bytes(value),
            _ => return None,
        };
        self.rest = self.rest.get(item_end..)?;
        Some(Item::Variable { name, value })
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Item<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let item = self.read();
        if item.is_none() {
            self.rest = &[];
        }
        Some(item.ok_or(Malformed))
    }
}

/// Whether a variable delivered as `delivered` answers the `occurrence`-th request (from 1) of `name`.
///
/// A program may ask for the same name again and again, in a loop for instance. The first request of `n` gets
/// `n`, the second `n#2`, the third `n#3`.
pub fn is_request(delivered: &[u8], name: &[u8], occurrence: u32) -> bool {
    let Some(suffix) = delivered.strip_prefix(name) else { return false };
    match suffix {
        [] => occurrence == 1,
        [b'#', digits @ ..] => occurrence > 1 && is_decimal(digits, occurrence),
        _ => false,
    }
}

fn is_decimal(digits: &[u8], mut number: u32) -> bool {
    for digit in digits.iter().rev() {
        if number == 0 || u32::from(digit.wrapping_sub(b'0')) != number % 10 {
            return false;
        }
        number /= 10;
    }
    number == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(items: &[Item<'_>]) -> Vec<u8> {
        let mut region = vec![0xaa; encoded_size(items.iter().copied())];
        let mut writer = Writer::new(&mut region);
        for item in items {
            writer.push(item).unwrap();
        }
        assert_eq!(writer.length(), region.len());
        region
    }

    #[test]
    fn variables_are_found_by_name_and_occurrence() {
        let region = write(&[
            Item::Variable { name: b"n", value: Value::Int(-5) },
            Item::Buffer(b"abc"),
            Item::Variable { name: b"n#2", value: Value::Uint(7) },
            Item::Variable { name: b"x", value: Value::Double(0.5f64.to_bits()) },
        ]);
        let reader = Reader::new(&region);
        assert_eq!(reader.variable(b"n", 1), Some(Value::Int(-5)));
        assert_eq!(reader.variable(b"n", 2), Some(Value::Uint(7)));
        assert_eq!(reader.variable(b"n", 3), None);
        assert_eq!(reader.variable(b"x", 1), Some(Value::Double(0.5f64.to_bits())));
        assert_eq!(reader.buffer(), Some(&b"abc"[..]));
    }

    #[test]
    fn a_request_is_answered_only_by_its_own_name() {
        assert!(is_request(b"n", b"n", 1));
        assert!(is_request(b"n#12", b"n", 12));
        for (delivered, occurrence) in
            [("n", 2), ("n#1", 1), ("n#2", 3), ("n#02", 2), ("n#", 2), ("n#2x", 2), ("nn", 1), ("", 1)]
        {
            assert!(!is_request(delivered.as_bytes(), b"n", occurrence), "{delivered} {occurrence}");
        }
    }

    #[test]
    fn a_full_region_is_said_and_left_as_it_was() {
        let mut region = [0xaa; 16];
        let mut writer = Writer::new(&mut region);
        let item = Item::Variable { name: b"n", value: Value::Int(1) };
        assert_eq!(writer.push(&item), Err(WriteError::Full));
        assert_eq!(writer.length(), 0);
        assert_eq!(region, [0xaa; 16]);
    }

    fn owned_item() -> impl Strategy<Value = (Vec<u8>, u8, u64, Vec<u8>)> {
        (
            proptest::collection::vec(any::<u8>(), 0..20),
            0..6u8,
            any::<u64>(),
            proptest::collection::vec(any::<u8>(), 0..40),
        )
    }

    fn item<'a>((name, kind, bits, bytes): &'a (Vec<u8>, u8, u64, Vec<u8>)) -> Item<'a> {
        let value = match kind {
            0 => return Item::Buffer(bytes),
            1 => Value::Int(*bits as i64),
            2 => Value::Uint(*bits),
            3 => Value::Float(*bits as u32),
            4 => Value::Double(*bits),
            _ => Value::Bytes(bytes),
        };
        Item::Variable { name, value }
    }

    proptest! {
        #[test]
        fn writing_then_reading_gives_the_items_back(owned in proptest::collection::vec(owned_item(), 0..8)) {
            let items: Vec<_> = owned.iter().map(item).collect();
            let region = write(&items);
            let read: Result<Vec<_>, _> = Reader::new(&region).collect();
            prop_assert_eq!(read, Ok(items));
        }

        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let n_items = Reader::new(&bytes).count();
            prop_assert!(n_items <= bytes.len() / HEAD + 1);
        }

        #[test]
        fn a_damaged_region_never_reads_beyond_itself(
            owned in proptest::collection::vec(owned_item(), 1..5),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            keep in any::<prop::sample::Index>(),
        ) {
            let items: Vec<_> = owned.iter().map(item).collect();
            let mut region = write(&items);
            let position = at.index(region.len());
            region[position] = byte;
            region.truncate(keep.index(region.len() + 1));
            let total: usize = Reader::new(&region).flatten().map(|item| item.encoded_size()).sum();
            prop_assert!(total <= region.len());
        }
    }
}
