//! Constant tables that are looked into at a place that depends on the input.

use super::{
    build::{binary, mask},
    head,
    nodes::{intern, is_first_note},
    path,
};
use cairn_abi::{
    record::Record,
    symbolic::{ConstantTable, Op, TableHead, switch::GIVEN},
};
use core::{
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// The largest table that is followed.
const MAX_TABLE: u64 = 64 << 10;
/// The most tables of a run.
const MAX_USED: usize = 256;
/// The most tables outside the view.
const MAX_FOREIGN: usize = 16;

/// A table that was looked into, and where the host finds it.
#[derive(Clone, Copy)]
struct Used {
    start: usize,
    size: u64,
    offset: u32,
}

struct Tables {
    region: *mut u8,
    size: usize,
    filled: usize,
    used: [Used; MAX_USED],
    n_used: usize,
    foreign: [(usize, u64); MAX_FOREIGN],
    n_foreign: usize,
}

/// Only where labels are asked for: other views need not restore what they never use.
static TABLES: AtomicPtr<Tables> = AtomicPtr::new(ptr::null_mut());

fn tables() -> Option<&'static mut Tables> {
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    unsafe { TABLES.load(Ordering::Relaxed).as_mut() }
}

/// Starts with no tables.
pub fn begin(region: Option<(*mut u8, usize)>) {
    if tables().is_none()
        && let Some(place) = crate::system::map_private(size_of::<Tables>())
    {
        // Zeros are no tables.
        TABLES.store(place.cast(), Ordering::Relaxed);
    }
    let Some(tables) = tables() else { return };
    (tables.region, tables.size) = region.unwrap_or((ptr::null_mut(), 0));
    (tables.filled, tables.n_used) = (0, 0);
}

/// Makes memory outside the view known as a constant table.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_table(start: *const u8, size: u64) {
    let Some(tables) = tables() else { return };
    let table = (start.addr(), size);
    let is_known = tables.foreign.get(..tables.n_foreign).is_some_and(|known| known.contains(&table));
    if !is_known && let Some(slot) = tables.foreign.get_mut(tables.n_foreign) {
        *slot = table;
        tables.n_foreign += 1;
    }
}

/// The label of a value in a constant table; `None` if it lies in none.
pub fn look_up(address: usize, size: u64, value: u64, pointer: u32) -> Option<u32> {
    let table = find(address, size)?;
    let at = (address - table.start) as u64;
    let offset = binary(Op::Sub, 64, [pointer, 0], [address as u64, table.start as u64], at);
    // Elsewhere there is something else. Nothing decides that, so it is no decision in which two runs could differ.
    let last = table.size - size;
    let is_within = binary(Op::ULe, 64, [offset, 0], [at, last], 1);
    if is_first_note(is_within) {
        path::note(Record::Conditional { condition: GIVEN, direction: true, label: is_within });
    }
    let width = size as u32 * 8;
    Some(intern(Op::Table, width, [offset, table.offset, 0], value & mask(width)))
}

/// The table an address lies in, copied to the host.
fn find(address: usize, size: u64) -> Option<Used> {
    let holds = |start: usize, length: u64| {
        start <= address && (address - start) as u64 + size <= length && length <= MAX_TABLE
    };
    let tables = tables()?;
    let known = tables.used.get(..tables.n_used)?;
    if let Some(used) = known.iter().find(|used| holds(used.start, used.size)) {
        return Some(*used);
    }
    let own = own_tables().find(|table| holds(table.start.addr(), table.size));
    let foreign = tables.foreign.get(..tables.n_foreign)?;
    let (start, length) = match own {
        Some(table) => (table.start.addr(), table.size),
        None => *foreign.iter().find(|(start, length)| holds(*start, *length))?,
    };
    tables.copy(start, length)
}

fn own_tables() -> impl Iterator<Item = ConstantTable> {
    let mut next = crate::counters::view().tables;
    core::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        // SAFETY: the view's list ends with a table of no size.
        unsafe {
            let table = *next;
            next = next.add(1);
            (table.size > 0).then_some(table)
        }
    })
}

impl Tables {
    fn copy(&mut self, start: usize, size: u64) -> Option<Used> {
        let needed = (size_of::<TableHead>() + size as usize).next_multiple_of(8);
        if self.filled + needed > self.size {
            return None;
        }
        let used = Used { start, size, offset: (self.filled / 8) as u32 };
        *self.used.get_mut(self.n_used)? = used;
        // SAFETY: there is room; the table is the program's constant.
        unsafe {
            let place = self.region.add(self.filled);
            place.cast::<TableHead>().write_unaligned(TableHead { address: start as u64, size });
            let from = ptr::with_exposed_provenance::<u8>(start);
            ptr::copy_nonoverlapping(from, place.add(size_of::<TableHead>()), size as usize);
        }
        self.n_used += 1;
        self.filled += needed;
        if let Some(head) = head() {
            head.tables_used.store(self.filled as u64, Ordering::Release);
        }
        Some(used)
    }
}
