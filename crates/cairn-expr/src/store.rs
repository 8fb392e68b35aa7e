//! Expressions as bytes that outlive a process.
//!
//! After a mark and a version come the tables, the nodes with operands first, and the roots. All numbers have as many bytes as
//! they need, seven bits in each. An operand is written as the distance back to it.

use cairn_abi::symbolic::{MathFunction, Op, RegionId};

use crate::{
    bits::{MAX_WIDTH, mask},
    check::Malformed,
    dag::Dag,
    node::{ExprId, ExprNode, TableId, arity},
};

const MARK: &[u8; 8] = b"cairnexp";

/// Raised whenever the bytes, or what they mean, change.
pub const VERSION: u32 = 1;

/// Why bytes are not stored expressions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// They begin with something else.
    #[error("these are not stored expressions")]
    Mark,
    /// Another version wrote them.
    #[error("expressions are stored in format {found}, this build reads {VERSION}")]
    Version {
        /// Theirs.
        found: u32,
    },
    /// They end too early.
    #[error("stored expressions end inside of a number or table")]
    Truncated,
    /// Bytes follow the last root.
    #[error("{0} bytes follow the stored expressions")]
    Trailing(usize),
    /// A number is larger than what it stands for.
    #[error("{what} {number} of a stored expression does not exist")]
    Number {
        /// What it stands for.
        what: &'static str,
        /// The number.
        number: u128,
    },
    /// Widths do not fit.
    #[error("node {index} of the stored expressions makes no sense")]
    Malformed {
        /// Which.
        index: usize,
        /// Why.
        source: Malformed,
    },
}

/// Writes some expressions and all they are made of.
pub fn write(dag: &Dag, roots: &[ExprId]) -> Vec<u8> {
    let reachable = dag.reachable(roots);
    let place = |id: ExprId| reachable.binary_search(&id).expect("operands are reachable");
    let mut tables: Vec<TableId> = Vec::new();
    for id in &reachable {
        if dag.op(*id) == Op::Table {
            tables.push(dag.node(*id).table_id());
        }
    }
    tables.sort_unstable();
    tables.dedup();

    let mut writer = Writer(MARK.to_vec());
    writer.number(VERSION);
    writer.number(tables.len() as u32);
    for table in &tables {
        let bytes = dag.table_bytes(*table);
        writer.large(bytes.len() as u128);
        writer.0.extend_from_slice(bytes);
    }
    writer.number(reachable.len() as u32);
    for (index, id) in reachable.iter().enumerate() {
        let node = dag.node(*id);
        writer.0.extend([node.op as u8, node.width]);
        match node.op {
            Op::Constant => writer.large(dag.constant_value(*id).expect("it is a constant")),
            Op::Opaque => {
                writer.large(dag.opaque_value(*id).expect("it is opaque"));
                writer.number(node.operands().len() as u32);
            }
            Op::Input => {
                let (region, offset) = node.place();
                writer.number(region.0);
                writer.number(offset);
            }
            Op::Extract => writer.number(node.low()),
            Op::Table => {
                let table = tables.binary_search(&node.table_id()).expect("all were collected");
                writer.number(table as u32);
            }
            Op::Math => writer.number(node.c),
            _ => {}
        }
        for operand in node.operands() {
            writer.number((index - place(operand)) as u32);
        }
    }
    writer.number(roots.len() as u32);
    for root in roots {
        writer.number(place(*root) as u32);
    }
    writer.0
}

/// Reads what [`write()`] wrote, and adds it to a graph, as it is: nothing is simplified. Returns the roots.
pub fn read(dag: &mut Dag, bytes: &[u8]) -> Result<Vec<ExprId>, StoreError> {
    let mut reader = Reader(bytes.strip_prefix(MARK).ok_or(StoreError::Mark)?);
    let found = reader.number()?;
    if found != VERSION {
        return Err(StoreError::Version { found });
    }
    // Counts are not trusted with memory: each element takes at least a byte, so reading ends when there are none.
    let mut tables = Vec::new();
    for _ in 0..reader.number()? {
        let size = reader.large()?;
        tables.push(dag.add_table(reader.bytes(size)?));
    }
    let mut nodes: Vec<ExprId> = Vec::new();
    for _ in 0..reader.number()? {
        let id = reader.node(dag, &tables, &nodes)?;
        nodes.push(id);
    }
    let mut roots = Vec::new();
    for _ in 0..reader.number()? {
        let number = reader.number()?;
        let root = nodes.get(number as usize);
        roots.push(*root.ok_or(StoreError::Number { what: "root", number: number.into() })?);
    }
    match reader.0.len() {
        0 => Ok(roots),
        n => Err(StoreError::Trailing(n)),
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, value: u32) {
        self.large(value.into());
    }

    fn large(&mut self, mut value: u128) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn byte(&mut self) -> Result<u8, StoreError> {
        let (first, rest) = self.0.split_first().ok_or(StoreError::Truncated)?;
        self.0 = rest;
        Ok(*first)
    }

    fn bytes(&mut self, size: u128) -> Result<&'b [u8], StoreError> {
        let size = usize::try_from(size).map_err(|_| StoreError::Truncated)?;
        let (bytes, rest) = self.0.split_at_checked(size).ok_or(StoreError::Truncated)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn large(&mut self) -> Result<u128, StoreError> {
        let mut value = 0u128;
        for n in 0..19 {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            if n == 18 && bits > 3 {
                break;
            }
            value |= bits << (7 * n);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(StoreError::Number { what: "value", number: value })
    }

    fn number(&mut self) -> Result<u32, StoreError> {
        let number = self.large()?;
        u32::try_from(number).map_err(|_| StoreError::Number { what: "number", number })
    }

    fn node(&mut self, dag: &mut Dag, tables: &[TableId], nodes: &[ExprId]) -> Result<ExprId, StoreError> {
        let number = self.byte()?;
        let op =
            Op::from_target(number).ok_or(StoreError::Number { what: "operation", number: number.into() })?;
        let width = u32::from(self.byte()?);
        let malformed = |source| StoreError::Malformed { index: nodes.len(), source };
        if width == 0 || width > MAX_WIDTH {
            return Err(malformed(Malformed::Width { op, width }));
        }
        let node = match op {
            Op::Constant => {
                let value = self.value(width)?;
                return Ok(dag.constant(width, value));
            }
            Op::Opaque => {
                let value = self.value(width)?;
                let n = self.number()?;
                if n > 2 {
                    return Err(StoreError::Number { what: "operand", number: n.into() });
                }
                let operands = self.operands(n as usize, nodes)?;
                return Ok(dag.opaque(width, value, &operands));
            }
            Op::Input => {
                let region = RegionId(self.number()?);
                ExprNode::input(region, self.number()?, width)
            }
            Op::Extract => {
                let low = self.number()?;
                ExprNode::extract(self.operands(1, nodes)?[0], low, width)
            }
            Op::Table => {
                let number = self.number()?;
                let table = tables.get(number as usize);
                let table = *table.ok_or(StoreError::Number { what: "table", number: number.into() })?;
                ExprNode::table(table, self.operands(1, nodes)?[0], width)
            }
            Op::Math => {
                let number = self.number()?;
                let function = MathFunction::from_target(number)
                    .ok_or(StoreError::Number { what: "function", number: number.into() })?;
                ExprNode::math(function, width, &self.operands(function.arity(), nodes)?)
            }
            op => {
                let n = arity(op).expect("all others have a fixed number of operands");
                ExprNode::operation(op, width, &self.operands(n, nodes)?)
            }
        };
        dag.check(&node).map_err(malformed)?;
        Ok(dag.raw(node))
    }

    fn value(&mut self, width: u32) -> Result<u128, StoreError> {
        let number = self.large()?;
        if number > mask(width) {
            return Err(StoreError::Number { what: "value", number });
        }
        Ok(number)
    }

    fn operands(&mut self, n: usize, nodes: &[ExprId]) -> Result<Vec<ExprId>, StoreError> {
        let mut operands = Vec::new();
        for _ in 0..n {
            let back = self.number()?;
            let place = nodes.len().checked_sub(back as usize).and_then(|place| nodes.get(place));
            operands.push(*place.ok_or(StoreError::Number { what: "operand", number: back.into() })?);
        }
        Ok(operands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse::parse, print::print};

    const TEXT: &str = "(let (($t0 (bytes 000102)) ($0 (opaque 64 7 (input stdin 0 8)))) (ite (eq $0 (input arg0 0 64)) \
                        (zext 128 (table 16 $t0 $0)) (const 128 0xffffffffffffffffffffffffffffffff)))";

    fn stored() -> Vec<u8> {
        let mut dag = Dag::new();
        let id = parse(&mut dag, TEXT).expect("it is well formed");
        write(&dag, &[id])
    }

    #[test]
    fn what_is_stored_is_read_into_any_graph() {
        let mut dag = Dag::new();
        parse(&mut dag, "(not (input stdin 5 8))").expect("it is well formed");
        let roots = read(&mut dag, &stored()).expect("it was just written");
        assert_eq!(print(&dag, roots[0]), TEXT);
    }

    #[test]
    fn damage_is_an_error_or_another_expression_but_never_a_panic() {
        let bytes = stored();
        for end in 0..bytes.len() {
            assert!(read(&mut Dag::new(), &bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            for value in 0..=255 {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                _ = read(&mut Dag::new(), &damaged);
            }
        }
    }

    #[test]
    fn other_versions_are_named() {
        let mut bytes = stored();
        bytes[MARK.len()] = 9;
        assert_eq!(read(&mut Dag::new(), &bytes), Err(StoreError::Version { found: 9 }));
        bytes[0] = b'X';
        assert_eq!(read(&mut Dag::new(), &bytes), Err(StoreError::Mark));
        let mut bytes = stored();
        bytes.push(0);
        assert_eq!(read(&mut Dag::new(), &bytes), Err(StoreError::Trailing(1)));
    }
}
