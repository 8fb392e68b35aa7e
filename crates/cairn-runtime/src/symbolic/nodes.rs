//! The table of nodes: every node once.

use super::{cut, threads};
use crate::system;
use cairn_abi::symbolic::{Cut, MAX_LABELS, Node, Op, SymbolicHead};
use core::{ptr, sync::atomic::Ordering};

/// Lists of nodes with the same hash, at first and at most. Few lists stay in the processor's caches, where most runs have no
/// need of more.
const LEAST_LISTS: u32 = 1 << 12;
const MOST_LISTS: u32 = 1 << 20;

/// Bytes of all lists.
const LISTS_SIZE: usize = MOST_LISTS as usize * size_of::<List>();

/// A list of nodes with the same hash. It is empty in all times but its own, so that nothing has to be cleared between two
/// runs of a session. Zeros are an empty list.
#[derive(Clone, Copy)]
struct List {
    time: u32,
    first: u32,
}

struct Table {
    nodes: *mut Node,
    capacity: u32,
    used: u32,
    lists: *mut List,
    /// How many are in use, a power of two.
    n_lists: u32,
    /// Another one in every run, and whenever there are more lists.
    time: u32,
}

/// Times of one run: there are no more numbers of lists than this.
const TIMES: u32 = 16;
const _: () = assert!(LEAST_LISTS << TIMES > MOST_LISTS);

static mut TABLE: Table = Table {
    nodes: ptr::null_mut(),
    capacity: 0,
    used: 0,
    lists: ptr::null_mut(),
    n_lists: LEAST_LISTS,
    time: 0,
};

fn table() -> &'static mut Table {
    let table = &raw mut TABLE;
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    unsafe { &mut *table }
}

/// Starts with an empty table of room for `capacity` nodes; false when there is no memory.
pub fn begin(nodes: *mut u8, capacity: usize) -> bool {
    let Some(lists) = system::map_apart(LISTS_SIZE) else { return false };
    let lists = lists.cast();
    let capacity = u32::try_from(capacity).unwrap_or(u32::MAX).min(MAX_LABELS);
    *table() = Table { nodes: nodes.cast(), capacity, used: 1, lists, n_lists: LEAST_LISTS, time: 0 };
    true
}

/// Whether lists lie between these addresses.
pub fn hold(start: usize, end: usize) -> bool {
    let lists = table().lists.addr();
    lists != 0 && lists < end && start < lists + LISTS_SIZE
}

/// Whether a node was made.
pub fn is_empty() -> bool {
    table().used <= 1
}

/// Starts over with an empty table. No two runs of a process have the same number.
pub fn begin_run(run: u32) {
    let table = table();
    table.used = 1;
    table.n_lists = LEAST_LISTS;
    table.time = run.wrapping_mul(TIMES);
}

/// Makes no more nodes.
pub fn stop() {
    table().capacity = 0;
}

/// Makes no nodes until [`resume`]; returns what it takes.
pub fn pause() -> u32 {
    core::mem::take(&mut table().capacity)
}

/// Goes on where [`pause`] interrupted.
pub fn resume(capacity: u32) {
    table().capacity = capacity;
}

/// Whether nodes are made.
pub fn is_on() -> bool {
    table().capacity != 0
}

/// The node of a label the runtime has handed out.
pub fn node(label: u32) -> Node {
    let table = table();
    if label >= table.used {
        // A wild target has written over the shadow.
        return Node::default();
    }
    // SAFETY: within the table.
    unsafe { *table.nodes.add(label as usize) }
}

/// Whether this is the first time that something is noted about a label. The same label has the same value, so that once is
/// enough.
pub fn is_first_note(label: u32) -> bool {
    let table = table();
    if label >= table.used {
        return false;
    }
    // SAFETY: within the table.
    unsafe {
        let node = &mut *table.nodes.add(label as usize);
        core::mem::replace(&mut node.noted, 1) == 0
    }
}

/// The label of a node, made if it is new; 0 when the table is full.
pub fn intern(op: Op, width: u32, operands: [u32; 3], value: u64) -> u32 {
    let table = table();
    if table.capacity == 0 {
        return 0;
    }
    if threads::have_started() {
        cut(Cut::Thread);
        return 0;
    }
    let [a, b, c] = operands;
    let salt = if matches!(op, Op::Constant) { value } else { 0 };
    let hash =
        hash(op as u64 | u64::from(width) << 8, u64::from(a) | u64::from(b) << 32, u64::from(c) ^ salt);
    if table.used > table.n_lists && table.n_lists < MOST_LISTS {
        table.add_lists();
    }
    // SAFETY: labels in lists of this time are within the table.
    unsafe {
        let list = table.list(place_of(op as u8, operands, hash));
        let first = if list.time == table.time { list.first } else { 0 };
        if !matches!(op, Op::Opaque) {
            let mut label = first;
            while label != 0 {
                let known = &*table.nodes.add(label as usize);
                let is_same = known.hash == hash
                    && known.op == op as u8
                    && u32::from(known.width) == width
                    && [known.a, known.b, known.c] == operands
                    && (!matches!(op, Op::Constant) || known.value == value);
                if is_same {
                    return label;
                }
                label = known.next;
            }
        }
        if table.used >= table.capacity {
            cut(Cut::Nodes);
            return 0;
        }
        let label = table.used;
        table.nodes.add(label as usize).write(Node {
            op: op as u8,
            noted: 0,
            width: width as u16,
            a,
            b,
            c,
            value,
            hash,
            next: first,
        });
        *list = List { time: table.time, first: label };
        table.used += 1;
        if let Some(head) = super::head() {
            tell(head, table.used);
        }
        label
    }
}

impl Table {
    /// The list at a place, see [`place_of`].
    fn list(&self, place: u32) -> &'static mut List {
        // SAFETY: there are so many lists, and nobody has another reference to one.
        unsafe { &mut *self.lists.add((place & (self.n_lists - 1)) as usize) }
    }

    /// Doubles the lists and puts all nodes into their new ones.
    #[cold]
    fn add_lists(&mut self) {
        self.n_lists *= 2;
        self.time = self.time.wrapping_add(1);
        for label in 1..self.used {
            // SAFETY: within the table.
            let node = unsafe { &mut *self.nodes.add(label as usize) };
            let list = self.list(place_of(node.op, [node.a, node.b, node.c], node.hash));
            node.next = if list.time == self.time { list.first } else { 0 };
            *list = List { time: self.time, first: label };
        }
    }
}

/// Where to look for a node. What is made of nodes that were made together is looked for in neighbouring lists, because those
/// are in the cache together. It is the sum of operands that tells: many nodes have one in common.
fn place_of(op: u8, [a, b, c]: [u32; 3], hash: u32) -> u32 {
    const NEIGHBOURS: u32 = 64;
    const CONSTANT: u8 = Op::Constant as u8;
    const INPUT: u8 = Op::Input as u8;
    match op {
        CONSTANT => hash,
        INPUT => b.wrapping_add(hash % NEIGHBOURS),
        _ => a.wrapping_add(b).wrapping_add(c).wrapping_add(hash % NEIGHBOURS),
    }
}

fn tell(head: &SymbolicHead, used: u32) {
    head.n_nodes.store(used, Ordering::Release);
}

fn hash(a: u64, b: u64, c: u64) -> u32 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (a ^ b.rotate_left(17) ^ c.rotate_left(41)).wrapping_mul(MULTIPLIER);
    let mixed = (mixed ^ mixed >> 29 ^ b).wrapping_mul(MULTIPLIER);
    (mixed >> 32) as u32
}
