//! Expressions for people.
//!
//! ```text
//! stdin[0..4] == 0x41424344
//! (stdin[0] - 48) < 10
//! ```
//!
//! Zero extensions are left out, because they change no value. A letter after an operator says how it sees its operands: `s`
//! as signed numbers, `f` as floating-point ones.

use cairn_abi::symbolic::Op;

use crate::{
    bits::{is_negative, signed},
    dag::Dag,
    names::{function_name, region_name},
    node::{ExprId, ExprNode},
};

/// How many operations are written by default.
pub const DEFAULT_OPERATIONS: usize = 60;

/// An expression as people write it, of at most `n_operations` operations; `…` stands for the rest.
pub fn infix(dag: &Dag, root: ExprId, n_operations: usize) -> String {
    let mut writer = Writer { dag, text: String::new(), left: n_operations };
    let mut open = vec![Task::Operand(root, View::Plain, false)];
    while let Some(task) = open.pop() {
        match task {
            Task::Text(text) => writer.text.push_str(&text),
            Task::Operand(id, view, is_inner) => {
                open.extend(writer.operand(id, view, is_inner).into_iter().rev())
            }
        }
    }
    writer.text
}

struct Writer<'a> {
    dag: &'a Dag,
    text: String,
    left: usize,
}

/// How an operand is seen by its operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Plain,
    Signed,
    Float,
}

enum Task {
    Text(String),
    /// An expression, and whether it stands inside of another.
    Operand(ExprId, View, bool),
}

impl Writer<'_> {
    /// What to write for an expression, first to last.
    fn operand(&mut self, id: ExprId, view: View, is_inner: bool) -> Vec<Task> {
        let node = *self.dag.node(id);
        let text = |text: &str| Task::Text(text.to_owned());
        match node.op() {
            Op::Constant => return vec![Task::Text(self.constant(id, view))],
            Op::Input => return vec![Task::Text(place(&node))],
            Op::Opaque => {
                let value = self.dag.opaque_value(id).unwrap_or_default();
                return vec![Task::Text(format!("opaque({value:#x})"))];
            }
            Op::ZExt => return vec![Task::Operand(node.operand(0), View::Plain, is_inner)],
            _ => {}
        }
        if self.left == 0 {
            return vec![text("…")];
        }
        self.left -= 1;
        let operands = node.operands();
        let inner = |n: usize, view| Task::Operand(operands[n], view, true);
        let outer = |n: usize, view| Task::Operand(operands[n], view, false);
        let (symbol, view) = match node.op() {
            Op::Math => {
                let mut tasks = vec![Task::Text(format!("{}(", function_name(node.function())))];
                tasks.push(outer(0, View::Float));
                if operands.len() == 2 {
                    tasks.extend([text(", "), outer(1, View::Float)]);
                }
                tasks.push(text(")"));
                return tasks;
            }
            Op::Not => return vec![text(if node.width() == 1 { "!" } else { "~" }), inner(0, View::Plain)],
            Op::Neg => return vec![text("-"), inner(0, View::Plain)],
            Op::FNeg => return vec![text("-f "), inner(0, View::Float)],
            Op::Extract => {
                let (low, end) = (node.low(), node.low() + node.width());
                let bits =
                    if node.width() == 1 { format!(".bit({low})") } else { format!(".bits({low}..{end})") };
                return vec![inner(0, View::Plain), Task::Text(bits)];
            }
            Op::Ite => {
                let (open, close) = if is_inner { ("(", ")") } else { ("", "") };
                return vec![
                    text(open),
                    inner(0, View::Plain),
                    text(" ? "),
                    inner(1, view),
                    text(" : "),
                    inner(2, view),
                    text(close),
                ];
            }
            Op::Table => {
                let n_bytes = self.dag.table_bytes(node.table_id()).len();
                let size = if node.width() == 8 { String::new() } else { format!(".u{}", node.width()) };
                let table = format!("table{n_bytes}{size}[");
                return vec![Task::Text(table), outer(0, View::Plain), text("]")];
            }
            op if operands.len() == 1 => {
                let view = if is_from_float(op) { View::Float } else { View::Plain };
                return vec![Task::Text(conversion(op, node.width())), outer(0, view), text(")")];
            }
            op => operator(op),
        };
        if let (Op::Add, Some(constant)) = (node.op(), self.dag.constant_value(operands[1]))
            && is_negative(constant, node.width())
            && node.width() > 1
        {
            let rest = signed(constant, node.width()).unsigned_abs();
            let rest = number(rest, node.width());
            return parenthesised(is_inner, vec![inner(0, view), Task::Text(format!(" - {rest}"))]);
        }
        let tasks = vec![inner(0, view), Task::Text(format!(" {symbol} ")), inner(1, view)];
        parenthesised(is_inner, tasks)
    }

    fn constant(&self, id: ExprId, view: View) -> String {
        let value = self.dag.constant_value(id).unwrap_or_default();
        let width = self.dag.width(id);
        match view {
            _ if width == 1 => (if value == 1 { "true" } else { "false" }).to_owned(),
            View::Float if width == 32 => format!("{:?}", f32::from_bits(value as u32)),
            View::Float => format!("{:?}", f64::from_bits(value as u64)),
            View::Signed if is_negative(value, width) => signed(value, width).to_string(),
            _ => number(value, width),
        }
    }
}

fn parenthesised(is_inner: bool, mut tasks: Vec<Task>) -> Vec<Task> {
    if is_inner {
        tasks.insert(0, Task::Text("(".to_owned()));
        tasks.push(Task::Text(")".to_owned()));
    }
    tasks
}

/// Bytes that can be seen as characters, small numbers in decimal, others in hexadecimal.
fn number(value: u128, width: u32) -> String {
    match u8::try_from(value) {
        Ok(byte) if width == 8 && (byte == b' ' || byte.is_ascii_graphic()) => format!("{:?}", byte as char),
        _ if value < 1000 => value.to_string(),
        _ => format!("{value:#x}"),
    }
}

fn place(node: &ExprNode) -> String {
    let (region, offset) = node.place();
    let region = region_name(region);
    match node.width() / 8 {
        1 => format!("{region}[{offset}]"),
        size => format!("{region}[{offset}..{}]", offset + size),
    }
}

fn is_from_float(op: Op) -> bool {
    matches!(op, Op::FToSigned | Op::FToUnsigned | Op::FToF)
}

fn conversion(op: Op, width: u32) -> String {
    let float = if width == 32 { "float" } else { "double" };
    match op {
        Op::SExt => format!("sext{width}("),
        Op::PopCount => "popcount(".to_owned(),
        Op::LeadingZeros => "clz(".to_owned(),
        Op::TrailingZeros => "ctz(".to_owned(),
        Op::FToSigned => format!("int{width}("),
        Op::FToUnsigned => format!("uint{width}("),
        Op::UnsignedToF => format!("{float}u("),
        Op::SignedToF => format!("{float}("),
        _ => format!("{float}("),
    }
}

fn operator(op: Op) -> (&'static str, View) {
    match op {
        Op::Add => ("+", View::Plain),
        Op::Sub => ("-", View::Plain),
        Op::Mul => ("*", View::Plain),
        Op::UDiv => ("/", View::Plain),
        Op::URem => ("%", View::Plain),
        Op::SDiv => ("/s", View::Signed),
        Op::SRem => ("%s", View::Signed),
        Op::And => ("&", View::Plain),
        Op::Or => ("|", View::Plain),
        Op::Xor => ("^", View::Plain),
        Op::Shl => ("<<", View::Plain),
        Op::LShr => (">>", View::Plain),
        Op::AShr => (">>s", View::Signed),
        Op::Eq => ("==", View::Plain),
        Op::Ne => ("!=", View::Plain),
        Op::ULt => ("<", View::Plain),
        Op::ULe => ("<=", View::Plain),
        Op::SLt => ("<s", View::Signed),
        Op::SLe => ("<=s", View::Signed),
        Op::Concat => ("++", View::Plain),
        Op::FAdd => ("+f", View::Float),
        Op::FSub => ("-f", View::Float),
        Op::FMul => ("*f", View::Float),
        Op::FDiv => ("/f", View::Float),
        Op::FRem => ("%f", View::Float),
        Op::FEq => ("==f", View::Float),
        Op::FLt => ("<f", View::Float),
        Op::FLe => ("<=f", View::Float),
        Op::FUnordered => ("unordered", View::Float),
        _ => ("?", View::Plain),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::parse::parse;

    fn check(text: &str, expected: Expect) {
        let mut dag = Dag::new();
        let id = parse(&mut dag, text).expect(text);
        expected.assert_eq(&infix(&dag, id, DEFAULT_OPERATIONS));
    }

    #[test]
    fn comparisons_read_as_in_c() {
        check("(eq (input stdin 0 32) (const 32 0x41424344))", expect!["stdin[0..4] == 0x41424344"]);
        check("(eq (input arg1 2 8) (const 8 65))", expect!["arg1[2] == 'A'"]);
        check(
            "(ult (add (zext 32 (input stdin 0 8)) (const 32 0xffffffd0)) (const 32 10))",
            expect!["(stdin[0] - 48) < 10"],
        );
        check("(slt (input stdin 0 32) (const 32 0xfffffffb))", expect!["stdin[0..4] <s -5"]);
        check(
            "(flt (sqrt (input variable0 0 64)) (const 64 0x3f847ae147ae147b))",
            expect!["sqrt(variable0[0..8]) <f 0.01"],
        );
        check(
            "(not (and (eq (input stdin 0 8) (const 8 0)) (const 1 1)))",
            expect!["!((stdin[0] == 0) & true)"],
        );
    }

    #[test]
    fn other_operations_have_a_form_too() {
        check(
            "(extract 3 1 (add (input stdin 0 8) (input stdin 1 8)))",
            expect!["(stdin[0] + stdin[1]).bit(3)"],
        );
        check(
            "(let (($t (bytes 0011))) (table 16 $t (input stdin 0 64)))",
            expect!["table2.u16[stdin[0..8]]"],
        );
        check(
            "(ite (ne (input stdin 0 8) (const 8 0)) (sext 32 (input stdin 1 8)) (const 32 7))",
            expect!["(stdin[0] != 0) ? sext32(stdin[1]) : 7"],
        );
        check("(ftosigned 32 (signedtof 64 (opaque 32 5)))", expect!["int32(double(opaque(0x5)))"]);
    }

    #[test]
    fn long_expressions_are_cut() {
        let mut dag = Dag::new();
        let mut id = parse(&mut dag, "(input stdin 0 8)").expect("it is well formed");
        let one = dag.constant(8, 1);
        for _ in 0..5 {
            id = dag.raw(ExprNode::operation(Op::Mul, 8, &[id, one]));
        }
        expect!["((… * 1) * 1) * 1"].assert_eq(&infix(&dag, id, 3));
    }
}
