//! Trace records: what a run did, in order.
//!
//! The trace region is an array of [`RECORD_SIZE`]-byte records. The target appends with a [`Writer`], which raises
//! `trace_committed` only after a record is complete; what does not fit is counted in `trace_dropped`. The host reads
//! with [`read`], which believes neither the count nor the bytes.
//!
//! All kinds share one shape, so that any record can be skipped and a golden trace has one line per record:
//!
//! ```text
//!   u16 kind, u16 detail, u32 id, u64 a, u32 b, u32 label, u32 c, u32 d        (little-endian)
//! ```

use core::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// The size of every record.
pub const RECORD_SIZE: usize = 32;

const _: () = assert!(crate::channel::PAGE.is_multiple_of(RECORD_SIZE));

/// A label of the symbolic view; 0 is concrete.
pub type Label = u32;

/// One event of a run. Ids are those of the program map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A condition was evaluated.
    Conditional {
        /// Which condition.
        condition: u32,
        /// Its truth.
        direction: bool,
        /// The label of its value, or 0.
        label: Label,
    },
    /// A function was entered.
    Enter {
        /// Which function.
        function: u32,
    },
    /// A function was left.
    Leave {
        /// Which function.
        function: u32,
        /// How it was left.
        how: Leaving,
    },
    /// A site's expression was evaluated.
    SiteValue {
        /// Which site.
        site: u32,
        /// Which of the spots in the code where the site's value was found.
        spot: u16,
        /// How often it was evaluated there before, in this run.
        evaluation: u32,
        /// The value's bits, zero-extended.
        value: u64,
        /// The label of the value, or 0.
        label: Label,
        /// The labels of the first two operands; 0 for one that is not there, is an address, or would have to be read. Where
        /// anything has a label, constants have one too.
        operands: [Label; 2],
    },
    /// An armed guidepost had its say.
    Guidepost {
        /// Which guidepost, as the host numbered it.
        guidepost: u32,
        /// What became of it.
        state: GuidepostState,
        /// How often its site was evaluated before, in this run.
        evaluation: u32,
        /// The value's bits, zero-extended.
        value: u64,
        /// The label of the value, or 0.
        label: Label,
    },
    /// Memory was accessed at an address that depends on the input.
    SymbolicAddress {
        /// The site of the access.
        site: u32,
        /// Whether it was a load or a store.
        access: Access,
        /// The address used.
        address: u64,
        /// How many bytes were accessed.
        length: u32,
        /// The label of the address.
        label: Label,
    },
    /// The program read a part of its input.
    InputRead {
        /// Which region of the input, as the host numbered it.
        region: u32,
        /// Where in the region the part starts.
        offset: u64,
        /// How many bytes were read.
        length: u32,
        /// The label of the first byte; the others follow it. 0 when the run is not symbolic.
        label: Label,
        /// Where the bytes were put.
        address: u64,
    },
}

/// How a function was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Leaving {
    /// It returned.
    Return = 0,
    /// A `longjmp` went past it.
    Longjmp = 1,
    /// An exception went past it.
    Unwind = 2,
}

/// What became of a guidepost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum GuidepostState {
    /// Its site was reached and the evaluation was not the one asked about.
    Reached = 0,
    /// Its predicate held.
    Satisfied = 1,
    /// Its predicate did not hold; the run ends here.
    Broken = 2,
}

/// What was done at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Access {
    /// Memory was read.
    Load = 0,
    /// Memory was written.
    Store = 1,
}

const CONDITIONAL: u16 = 1;
const ENTER: u16 = 2;
const LEAVE: u16 = 3;
const SITE_VALUE: u16 = 4;
const GUIDEPOST: u16 = 5;
const SYMBOLIC_ADDRESS: u16 = 6;
const INPUT_READ: u16 = 7;

/// The shape all kinds share.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Fields {
    kind: u16,
    detail: u16,
    id: u32,
    a: u64,
    b: u32,
    label: Label,
    c: u32,
    d: u32,
}

const _: () = assert!(size_of::<Fields>() == RECORD_SIZE);

impl Fields {
    fn to_bytes(self) -> [u8; RECORD_SIZE] {
        let mut bytes = [0; RECORD_SIZE];
        bytes[0..2].copy_from_slice(&self.kind.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.detail.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.a.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.b.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.label.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.c.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.d.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; RECORD_SIZE]) -> Self {
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        Self {
            kind: u16_at(0),
            detail: u16_at(2),
            id: u32_at(4),
            a: u64_at(8),
            b: u32_at(16),
            label: u32_at(20),
            c: u32_at(24),
            d: u32_at(28),
        }
    }
}

impl Record {
    /// The record as it lies in the trace region.
    pub fn to_bytes(self) -> [u8; RECORD_SIZE] {
        let fields = match self {
            Self::Conditional { condition, direction, label } => Fields {
                kind: CONDITIONAL,
                detail: direction.into(),
                id: condition,
                label,
                ..Fields::default()
            },
            Self::Enter { function } => Fields { kind: ENTER, id: function, ..Fields::default() },
            Self::Leave { function, how } => {
                Fields { kind: LEAVE, detail: how as u16, id: function, ..Fields::default() }
            }
            Self::SiteValue { site, spot, evaluation, value, label, operands: [c, d] } => {
                Fields { kind: SITE_VALUE, detail: spot, id: site, a: value, b: evaluation, label, c, d }
            }
            Self::Guidepost { guidepost, state, evaluation, value, label } => Fields {
                kind: GUIDEPOST,
                detail: state as u16,
                id: guidepost,
                a: value,
                b: evaluation,
                label,
                ..Fields::default()
            },
            Self::SymbolicAddress { site, access, address, length, label } => Fields {
                kind: SYMBOLIC_ADDRESS,
                detail: access as u16,
                id: site,
                a: address,
                b: length,
                label,
                ..Fields::default()
            },
            Self::InputRead { region, offset, length, label, address } => Fields {
                kind: INPUT_READ,
                detail: 0,
                id: region,
                a: offset,
                b: length,
                label,
                c: address as u32,
                d: (address >> 32) as u32,
            },
        };
        fields.to_bytes()
    }

    /// Reads a record the target wrote. Unused fields must be 0, so equal records are equal bytes.
    pub fn from_bytes(bytes: &[u8; RECORD_SIZE]) -> Result<Self, BadRecord> {
        let fields = Fields::from_bytes(bytes);
        let Fields { kind, detail, id, a, b, label, c, d } = fields;
        let bad = BadRecord { kind, detail };
        let record = match kind {
            CONDITIONAL => Self::Conditional { condition: id, direction: detail == 1, label },
            ENTER => Self::Enter { function: id },
            LEAVE => Self::Leave {
                function: id,
                how: match detail {
                    0 => Leaving::Return,
                    1 => Leaving::Longjmp,
                    2 => Leaving::Unwind,
                    _ => return Err(bad),
                },
            },
            SITE_VALUE => {
                Self::SiteValue { site: id, spot: detail, evaluation: b, value: a, label, operands: [c, d] }
            }
            GUIDEPOST => Self::Guidepost {
                guidepost: id,
                state: match detail {
                    0 => GuidepostState::Reached,
                    1 => GuidepostState::Satisfied,
                    2 => GuidepostState::Broken,
                    _ => return Err(bad),
                },
                evaluation: b,
                value: a,
                label,
            },
            SYMBOLIC_ADDRESS => Self::SymbolicAddress {
                site: id,
                access: match detail {
                    0 => Access::Load,
                    1 => Access::Store,
                    _ => return Err(bad),
                },
                address: a,
                length: b,
                label,
            },
            INPUT_READ => Self::InputRead {
                region: id,
                offset: a,
                length: b,
                label,
                address: u64::from(c) | u64::from(d) << 32,
            },
            _ => return Err(bad),
        };
        if record.to_bytes() == *bytes { Ok(record) } else { Err(bad) }
    }
}

/// Bytes in the trace region that are no record of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The kind they claim.
    pub kind: u16,
    /// The detail they claim.
    pub detail: u16,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no trace record has kind {} with detail {}", self.kind, self.detail)
    }
}

impl core::error::Error for BadRecord {}

/// Appends records to a trace region. There is one per run: the runtime holds it, and only one thread writes.
pub struct Writer<'a> {
    region: &'a mut [u8],
    committed: &'a AtomicU64,
    dropped: &'a AtomicU64,
}

impl<'a> Writer<'a> {
    /// Writes after the `committed` records that are already in `region`.
    pub fn new(region: &'a mut [u8], committed: &'a AtomicU64, dropped: &'a AtomicU64) -> Self {
        Self { region, committed, dropped }
    }

    /// Appends `record`, or counts it as dropped when the region is full.
    pub fn push(&mut self, record: Record) {
        // The count lies in memory a wild target can write, so it is checked like any other index.
        let committed = self.committed.load(Ordering::Relaxed);
        let slot = usize::try_from(committed)
            .ok()
            .and_then(|index| index.checked_mul(RECORD_SIZE))
            .and_then(|start| self.region.get_mut(start..)?.first_chunk_mut::<RECORD_SIZE>());
        match slot {
            Some(slot) => {
                *slot = record.to_bytes();
                // Released after the bytes: whoever sees the count sees the record.
                self.committed.store(committed + 1, Ordering::Release);
            }
            None => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// The records of a run, in order. `committed` is the target's claim and is bounded by the region itself.
pub fn read(region: &[u8], committed: u64) -> impl ExactSizeIterator<Item = Result<Record, BadRecord>> + '_ {
    let (records, _) = region.as_chunks::<RECORD_SIZE>();
    let n_records = usize::try_from(committed).unwrap_or(usize::MAX).min(records.len());
    records[..n_records].iter().map(Record::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(capacity: usize, records: &[Record]) -> (Vec<u8>, u64, u64) {
        let mut region = vec![0; capacity * RECORD_SIZE];
        let (committed, dropped) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut writer = Writer::new(&mut region, &committed, &dropped);
        for record in records {
            writer.push(*record);
        }
        (region, committed.into_inner(), dropped.into_inner())
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let records = [Record::Enter { function: 1 }, Record::Leave { function: 1, how: Leaving::Longjmp }];
        let (region, committed, dropped) = write(1, &records);
        assert_eq!((committed, dropped), (1, 1));
        assert_eq!(read(&region, committed).collect::<Vec<_>>(), [Ok(records[0])]);
    }

    #[test]
    fn a_claim_beyond_the_region_is_cut() {
        let (region, _, _) = write(2, &[Record::Enter { function: 1 }]);
        assert_eq!(read(&region, u64::MAX).len(), 2);
        assert_eq!(read(&region, u64::MAX).nth(1), Some(Err(BadRecord { kind: 0, detail: 0 })));
    }

    #[test]
    fn a_wild_count_does_not_lead_the_writer_astray() {
        let mut region = vec![0; RECORD_SIZE];
        let (committed, dropped) = (AtomicU64::new(u64::MAX / 2), AtomicU64::new(0));
        Writer::new(&mut region, &committed, &dropped).push(Record::Enter { function: 1 });
        assert_eq!(dropped.into_inner(), 1);
        assert_eq!(region, [0; RECORD_SIZE]);
    }

    #[test]
    fn stray_bits_make_a_bad_record() {
        let mut bytes = Record::Enter { function: 7 }.to_bytes();
        bytes[31] = 1;
        assert_eq!(Record::from_bytes(&bytes), Err(BadRecord { kind: ENTER, detail: 0 }));
    }

    fn any_record() -> impl Strategy<Value = Record> {
        let leaving = prop_oneof![Just(Leaving::Return), Just(Leaving::Longjmp), Just(Leaving::Unwind)];
        let state = prop_oneof![
            Just(GuidepostState::Reached),
            Just(GuidepostState::Satisfied),
            Just(GuidepostState::Broken)
        ];
        let access = prop_oneof![Just(Access::Load), Just(Access::Store)];
        prop_oneof![
            any::<(u32, bool, u32)>().prop_map(|(condition, direction, label)| Record::Conditional {
                condition,
                direction,
                label
            }),
            any::<u32>().prop_map(|function| Record::Enter { function }),
            (any::<u32>(), leaving).prop_map(|(function, how)| Record::Leave { function, how }),
            any::<(u32, u16, u32, u64, u32, [u32; 2])>().prop_map(
                |(site, spot, evaluation, value, label, operands)| Record::SiteValue {
                    site,
                    spot,
                    evaluation,
                    value,
                    label,
                    operands
                }
            ),
            (any::<(u32, u32, u64, u32)>(), state).prop_map(
                |((guidepost, evaluation, value, label), state)| Record::Guidepost {
                    guidepost,
                    state,
                    evaluation,
                    value,
                    label
                }
            ),
            (any::<(u32, u64, u32, u32)>(), access).prop_map(|((site, address, length, label), access)| {
                Record::SymbolicAddress { site, access, address, length, label }
            }),
            any::<(u32, u64, u32, u32, u64)>().prop_map(|(region, offset, length, label, address)| {
                Record::InputRead { region, offset, length, label, address }
            }),
        ]
    }

    proptest! {
        #[test]
        fn writing_then_reading_gives_the_records_back(
            records in proptest::collection::vec(any_record(), 0..20)
        ) {
            let (region, committed, dropped) = write(records.len(), &records);
            prop_assert_eq!(dropped, 0);
            let read: Result<Vec<_>, _> = read(&region, committed).collect();
            prop_assert_eq!(read, Ok(records));
        }

        #[test]
        fn a_record_is_exactly_its_bytes(bytes in any::<[u8; RECORD_SIZE]>(), kind in 0..9u16, detail in 0..4u16) {
            let mut bytes = bytes;
            bytes[0..2].copy_from_slice(&kind.to_le_bytes());
            bytes[2..4].copy_from_slice(&detail.to_le_bytes());
            if let Ok(record) = Record::from_bytes(&bytes) {
                prop_assert_eq!(record.to_bytes(), bytes);
            }
        }
    }
}
