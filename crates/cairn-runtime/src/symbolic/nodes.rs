//! The table of nodes: every node once.

use super::cut;
use crate::system;
use cairn_abi::symbolic::{Cut, MAX_LABELS, Node, Op, SymbolicHead};
use core::{ptr, sync::atomic::Ordering};

/// The most lists of nodes with the same hash.
const N_LISTS: usize = 1 << 20;

/// As many are used at first: lists of a small run stay in the cache, and its pages are few.
const FIRST_LISTS: u32 = 1 << 12;

struct Table {
    nodes: *mut Node,
    capacity: u32,
    used: u32,
    lists: *mut u32,
    /// How many of the lists are used, a power of two.
    n_lists: u32,
}

static mut TABLE: Table =
    Table { nodes: ptr::null_mut(), capacity: 0, used: 0, lists: ptr::null_mut(), n_lists: FIRST_LISTS };

fn table() -> &'static mut Table {
    let table = &raw mut TABLE;
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    unsafe { &mut *table }
}

/// Starts with an empty table of room for `capacity` nodes; false when there is no memory.
pub fn begin(nodes: *mut u8, capacity: usize) -> bool {
    let Some(lists) = system::map_private(N_LISTS * size_of::<u32>()) else { return false };
    let capacity = u32::try_from(capacity).unwrap_or(u32::MAX).min(MAX_LABELS);
    *table() = Table { nodes: nodes.cast(), capacity, used: 1, lists: lists.cast(), n_lists: FIRST_LISTS };
    true
}

/// Makes no more nodes.
pub fn stop() {
    table().capacity = 0;
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
    let [a, b, c] = operands;
    let salt = if matches!(op, Op::Constant) { value } else { 0 };
    let hash =
        hash(op as u64 | u64::from(width) << 8, u64::from(a) | u64::from(b) << 32, u64::from(c) ^ salt);
    if table.used > table.n_lists && (table.n_lists as usize) < N_LISTS {
        spread(table);
    }
    let list = list_of(table, op as u8, operands, hash);
    // SAFETY: the list is within the lists, labels in lists are within the table.
    unsafe {
        let first = table.lists.add(list);
        if !matches!(op, Op::Opaque) {
            let mut label = *first;
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
        let next = *first;
        table.nodes.add(label as usize).write(Node {
            op: op as u8,
            noted: 0,
            width: width as u16,
            a,
            b,
            c,
            value,
            hash,
            next,
        });
        *first = label;
        table.used += 1;
        if let Some(head) = super::head() {
            tell(head, table.used);
        }
        label
    }
}

/// Where to look for a node. What is made of nodes that were made together is looked for in neighbouring lists, because those
/// are in the cache together. It is the sum of operands that tells: many nodes have one in common.
fn list_of(table: &Table, op: u8, [a, b, c]: [u32; 3], hash: u32) -> usize {
    const NEIGHBOURS: u32 = 64;
    const CONSTANT: u8 = Op::Constant as u8;
    const INPUT: u8 = Op::Input as u8;
    let place = match op {
        CONSTANT => hash,
        INPUT => b.wrapping_add(hash % NEIGHBOURS),
        _ => a.wrapping_add(b).wrapping_add(c).wrapping_add(hash % NEIGHBOURS),
    };
    (place & (table.n_lists - 1)) as usize
}

/// Spreads the nodes over four times as many lists.
#[cold]
fn spread(table: &mut Table) {
    // SAFETY: lists and labels are within their tables.
    unsafe {
        ptr::write_bytes(table.lists, 0, table.n_lists as usize);
        table.n_lists *= 4;
        for label in 1..table.used {
            let node = &mut *table.nodes.add(label as usize);
            let first = table.lists.add(list_of(table, node.op, [node.a, node.b, node.c], node.hash));
            node.next = *first;
            *first = label;
        }
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
