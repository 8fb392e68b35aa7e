//! Expressions as text that can be read back.
//!
//! ```text
//! (eq (add (zext 32 (input stdin 0 8)) (const 32 1)) (const 32 65))
//! ```
//!
//! Constants, extensions and conversions say their width, inputs their region, offset and width, extracts the lowest bit and
//! the width. What is used more than once gets a name, and so do tables:
//!
//! ```text
//! (let (($t0 (bytes 000102)) ($0 (input stdin 0 64))) (add (table 64 $t0 $0) $0))
//! ```

use std::{collections::BTreeMap, fmt::Write};

use cairn_abi::symbolic::Op;

use crate::{
    dag::Dag,
    names::{function_name, op_name, region_name},
    node::{ExprId, TableId},
};

/// An expression as text, which [`parse`](crate::parse()) turns into the same expression.
pub fn print(dag: &Dag, root: ExprId) -> String {
    let reachable = dag.reachable(&[root]);
    let mut uses: BTreeMap<ExprId, u32> = BTreeMap::new();
    let mut tables: Vec<TableId> = Vec::new();
    for id in &reachable {
        let node = dag.node(*id);
        for operand in node.operands() {
            *uses.entry(operand).or_default() += 1;
        }
        if node.op() == Op::Table {
            tables.push(node.table_id());
        }
    }
    // Leaves are short; but two opaque values are never the same, so one that is shared has to stay one.
    let is_named = |id: &ExprId| {
        uses.get(id).is_some_and(|n| *n > 1) && !matches!(dag.op(*id), Op::Constant | Op::Input)
    };
    let names = reachable.iter().copied().filter(is_named).enumerate().map(|(n, id)| (id, n)).collect();
    // In an order that does not depend on the graph, so that what is read back is written the same.
    tables.sort_unstable_by_key(|table| dag.table_bytes(*table));
    tables.dedup();
    let mut printer = Printer { dag, names, tables, text: String::new() };
    printer.print(root);
    printer.text
}

struct Printer<'a> {
    dag: &'a Dag,
    names: BTreeMap<ExprId, usize>,
    tables: Vec<TableId>,
    text: String,
}

enum Task {
    Text(&'static str),
    Operand(ExprId),
}

impl Printer<'_> {
    fn print(&mut self, root: ExprId) {
        if self.names.is_empty() && self.tables.is_empty() {
            return self.tree(root);
        }
        self.text.push_str("(let (");
        for (n, table) in self.tables.iter().enumerate() {
            _ = write!(self.text, "($t{n} (bytes");
            for (n, byte) in self.dag.table_bytes(*table).iter().enumerate() {
                _ = write!(self.text, "{}{byte:02x}", if n == 0 { " " } else { "" });
            }
            self.text.push_str(")) ");
        }
        for (id, n) in self.names.clone() {
            _ = write!(self.text, "(${n} ");
            self.tree(id);
            self.text.push_str(") ");
        }
        self.text.pop();
        self.text.push_str(") ");
        if self.names.contains_key(&root) {
            self.operand(root)
        } else {
            self.tree(root)
        }
        self.text.push(')');
    }

    /// Writes an expression down to leaves and names.
    fn tree(&mut self, root: ExprId) {
        let mut open = self.node(root);
        while let Some(task) = open.pop() {
            match task {
                Task::Text(text) => self.text.push_str(text),
                Task::Operand(id) if self.names.contains_key(&id) => self.operand(id),
                Task::Operand(id) => open.extend(self.node(id)),
            }
        }
    }

    fn operand(&mut self, id: ExprId) {
        _ = write!(self.text, "${}", self.names[&id]);
    }

    /// Writes the head of a node. Returns what follows, last first.
    fn node(&mut self, id: ExprId) -> Vec<Task> {
        let node = self.dag.node(id);
        let width = node.width();
        self.text.push('(');
        match node.op() {
            Op::Math => self.text.push_str(function_name(node.function())),
            op => self.text.push_str(op_name(op)),
        }
        _ = match node.op() {
            Op::Constant => {
                write!(self.text, " {width} {}", number(self.dag.constant_value(id).unwrap_or_default()))
            }
            Op::Opaque => {
                write!(self.text, " {width} {}", number(self.dag.opaque_value(id).unwrap_or_default()))
            }
            Op::Input => {
                let (region, offset) = node.place();
                write!(self.text, " {} {offset} {width}", region_name(region))
            }
            Op::Extract => write!(self.text, " {} {width}", node.low()),
            Op::Table => {
                let table = self.tables.iter().position(|table| *table == node.table_id());
                write!(self.text, " {width} $t{}", table.expect("all were collected"))
            }
            op if has_width(op) => write!(self.text, " {width}"),
            _ => Ok(()),
        };
        let mut tasks = vec![Task::Text(")")];
        for operand in node.operands().iter().rev() {
            tasks.extend([Task::Operand(*operand), Task::Text(" ")]);
        }
        tasks
    }
}

/// Whether the width of an operation does not follow from its operands.
pub(crate) fn has_width(op: Op) -> bool {
    matches!(
        op,
        Op::ZExt | Op::SExt | Op::FToSigned | Op::FToUnsigned | Op::SignedToF | Op::UnsignedToF | Op::FToF
    )
}

fn number(value: u128) -> String {
    if value < 1000 { value.to_string() } else { format!("{value:#x}") }
}
