//! The graph that holds expressions.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use cairn_abi::symbolic::Op;

use crate::{
    bits::mask,
    hash::{BuildMix, mix},
    inputs::{InputRange, InputSets, SetId},
    node::{ExprId, ExprNode, TableId},
    simplify::Effort,
};

/// Expressions that share their parts. Equal expressions are the same node, except opaque ones.
///
/// The constructors ([`Dag::binary`], [`Dag::extract`], …) simplify what they build; [`Dag::raw`] takes a node as it is.
/// Nothing is ever removed, and operands come before what is made of them, so the order of ids is a topological one.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    nodes: Vec<ExprNode>,
    facts: Vec<Facts>,
    known: HashMap<ExprNode, ExprId, BuildMix>,
    wide_constants: Vec<u128>,
    known_wide: HashMap<u128, u32, BuildMix>,
    opaque_values: Vec<u128>,
    tables: Vec<Box<[u8]>>,
    /// Of each table.
    table_facts: Vec<TableFacts>,
    known_tables: HashMap<Box<[u8]>, TableId, BuildMix>,
    sets: InputSets,
    pub(crate) effort: Effort,
}

/// What is known about a table without looking at all of it, as every expression that reads it would have to.
#[derive(Clone, Copy, Debug)]
struct TableFacts {
    /// Bits that are one in some byte.
    ones: u8,
    fingerprint: u64,
}

/// What is known about a node without looking at its operands.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Bits that may be one; all others are zero whatever the input is.
    possible: u128,
    fingerprint: u64,
    inputs: SetId,
    reads: SetId,
}

impl Dag {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The expression with this place in the order of creation.
    pub fn id(&self, index: usize) -> Option<ExprId> {
        (index < self.len()).then_some(ExprId(index as u32))
    }

    /// The operation at the root of an expression.
    pub fn node(&self, id: ExprId) -> &ExprNode {
        &self.nodes[id.index()]
    }

    /// The operation at the root of an expression.
    pub fn op(&self, id: ExprId) -> Op {
        self.node(id).op
    }

    /// The width of an expression in bits.
    pub fn width(&self, id: ExprId) -> u32 {
        self.node(id).width()
    }

    /// The value of a constant.
    pub fn constant_value(&self, id: ExprId) -> Option<u128> {
        let node = self.node(id);
        match node.op {
            Op::Constant if node.width <= 64 => Some(u128::from(node.b) << 32 | u128::from(node.a)),
            Op::Constant => Some(self.wide_constants[node.a as usize]),
            _ => None,
        }
    }

    /// The value that an opaque expression had, which it keeps on every input.
    pub fn opaque_value(&self, id: ExprId) -> Option<u128> {
        let node = self.node(id);
        (node.op == Op::Opaque).then(|| self.opaque_values[node.c as usize])
    }

    /// The bytes of a table.
    pub fn table_bytes(&self, table: TableId) -> &[u8] {
        &self.tables[table.0 as usize]
    }

    /// The bits that are one in some byte of a table.
    pub(crate) fn table_ones(&self, table: TableId) -> u8 {
        self.table_facts[table.0 as usize].ones
    }

    /// All bytes of the input that an expression depends on, also through opaque values: sorted, joined where they touch.
    pub fn inputs(&self, id: ExprId) -> Cow<'_, [InputRange]> {
        self.sets.ranges(self.facts[id.index()].inputs)
    }

    /// The bytes of the input that evaluating an expression reads. Only these can change its value here.
    pub fn reads(&self, id: ExprId) -> Cow<'_, [InputRange]> {
        self.sets.ranges(self.facts[id.index()].reads)
    }

    /// The bytes that evaluating an expression reads, if they are few and lie together: this does not take the time of
    /// putting them together.
    pub fn reads_together(&self, id: ExprId) -> Option<InputRange> {
        self.sets.only_range(self.facts[id.index()].reads)
    }

    /// The bytes of the input that evaluating any of some expressions reads: sorted, joined where they touch. However many
    /// expressions read the same, it takes the room of once.
    pub fn reads_of(&self, ids: impl IntoIterator<Item = ExprId>) -> Vec<InputRange> {
        self.sets.ranges_of(ids.into_iter().map(|id| self.facts[id.index()].reads))
    }

    /// Which of some expressions read bytes that `other` reads, or that those read which do, and so on.
    pub fn connected(&self, ids: &[ExprId], other: ExprId) -> Vec<bool> {
        let sets: Vec<_> = ids.iter().map(|id| self.facts[id.index()].reads).collect();
        self.sets.connected(&sets, self.facts[other.index()].reads)
    }

    /// Whether an expression depends on bytes only through opaque values, or on none.
    pub fn is_fixed(&self, id: ExprId) -> bool {
        self.facts[id.index()].reads == InputSets::EMPTY
    }

    /// A hash of the structure, equal for equal expressions of different graphs. Opaque values count by their value.
    pub fn fingerprint(&self, id: ExprId) -> u64 {
        self.facts[id.index()].fingerprint
    }

    /// The bits that may be one. The value is never larger than this number.
    pub fn possible_ones(&self, id: ExprId) -> u128 {
        self.facts[id.index()].possible
    }

    /// Everything some expressions are made of, and themselves, operands first.
    pub fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        self.walk(roots, |_| true)
    }

    /// Everything that evaluating some expressions looks at, operands first: what opaque values depend on is left out.
    pub fn evaluated(&self, roots: &[ExprId]) -> Vec<ExprId> {
        self.walk(roots, |node| node.op != Op::Opaque)
    }

    fn walk(&self, roots: &[ExprId], enters: impl Fn(&ExprNode) -> bool) -> Vec<ExprId> {
        let mut seen: HashSet<ExprId, BuildMix> = HashSet::default();
        let mut open = roots.to_vec();
        let mut found = Vec::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                found.push(id);
                let node = self.node(id);
                if enters(node) {
                    open.extend(node.operands());
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Keeps a table. Equal tables are the same.
    pub fn add_table(&mut self, bytes: &[u8]) -> TableId {
        if let Some(known) = self.known_tables.get(bytes) {
            return *known;
        }
        let id = TableId(u32::try_from(self.tables.len()).expect("fewer tables than addresses"));
        self.tables.push(bytes.into());
        self.table_facts.push(TableFacts {
            ones: bytes.iter().fold(0, |ones, byte| ones | *byte),
            fingerprint: bytes.iter().fold(0, |hash, byte| mix(hash, (*byte).into())),
        });
        self.known_tables.insert(bytes.into(), id);
        id
    }

    /// A constant. Bits above the width are dropped.
    pub fn constant(&mut self, width: u32, value: u128) -> ExprId {
        let value = value & mask(width);
        let (a, b) = if width <= 64 {
            (value as u32, (value >> 32) as u32)
        } else {
            let next = self.wide_constants.len() as u32;
            let index = *self.known_wide.entry(value).or_insert(next);
            if index == next {
                self.wide_constants.push(value);
            }
            (index, 0)
        };
        let width = u8::try_from(width).expect("widths are at most 128 bits");
        self.raw(ExprNode { op: Op::Constant, width, a, b, c: 0 })
    }

    /// Something that is not followed: it depends on other expressions and had a value. Never equal to another.
    pub fn opaque(&mut self, width: u32, value: u128, dependencies: &[ExprId]) -> ExprId {
        assert!(dependencies.len() <= 2, "an opaque value names at most two others");
        let serial = u32::try_from(self.opaque_values.len()).expect("there are no more of them than nodes");
        self.opaque_values.push(value & mask(width));
        self.raw(ExprNode::opaque(width, serial, dependencies))
    }

    /// Adds a node as it is, or finds it. Panics if widths do not fit, which is a mistake of the caller.
    pub fn raw(&mut self, node: ExprNode) -> ExprId {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        if let Err(malformed) = self.check(&node) {
            panic!("{malformed}");
        }
        let id = ExprId(u32::try_from(self.nodes.len()).expect("labels have 29 bits"));
        self.nodes.push(node);
        let facts = self.facts_of(id);
        self.facts.push(facts);
        self.known.insert(node, id);
        id
    }

    fn facts_of(&mut self, id: ExprId) -> Facts {
        let node = *self.node(id);
        let (mut inputs, mut reads) = (InputSets::EMPTY, InputSets::EMPTY);
        let mut fingerprint = mix(node.op as u64, node.width.into());
        for operand in node.operands() {
            let facts = self.facts[operand.index()];
            inputs = self.sets.union(inputs, facts.inputs);
            reads = self.sets.union(reads, facts.reads);
            fingerprint = mix(fingerprint, facts.fingerprint);
        }
        match node.op {
            Op::Input => {
                let (region, start) = node.place();
                inputs = self.sets.one(InputRange { region, start, end: start + node.width() / 8 });
                reads = inputs;
                fingerprint = mix(mix(fingerprint, region.0.into()), start.into());
            }
            Op::Constant | Op::Opaque => {
                let value = self.constant_value(id).or(self.opaque_value(id)).unwrap_or_default();
                reads = InputSets::EMPTY;
                fingerprint = mix(mix(fingerprint, value as u64), (value >> 64) as u64);
            }
            Op::Extract => fingerprint = mix(fingerprint, node.b.into()),
            Op::Math => fingerprint = mix(fingerprint, node.c.into()),
            Op::Table => {
                fingerprint = mix(fingerprint, self.table_facts[node.b as usize].fingerprint);
            }
            _ => {}
        }
        Facts { possible: self.possible_of(id), fingerprint, inputs, reads }
    }
}
