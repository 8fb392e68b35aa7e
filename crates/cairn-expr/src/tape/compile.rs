//! From expressions to instructions.

use std::collections::HashMap;

use cairn_abi::symbolic::Op;

use crate::{
    dag::Dag,
    hash::BuildMix,
    inputs::InputByte,
    node::{ExprId, TableId},
    tape::{
        Tape,
        instruction::{Instruction, Place},
    },
};

impl Tape {
    /// Compiles some expressions. Their values are found by their place in `roots`.
    pub fn compile(dag: &Dag, roots: &[ExprId]) -> Self {
        let evaluated = dag.evaluated(roots);
        let mut compiler = Compiler {
            tape: Self {
                code: Vec::new(),
                registers: Vec::new(),
                roots: Vec::new(),
                inputs: inputs(dag, &evaluated),
                tables: Vec::new(),
                dependents: std::sync::OnceLock::new(),
            },
            places: HashMap::default(),
            tables: HashMap::default(),
        };
        for id in evaluated {
            let place = compiler.place(dag, id);
            compiler.places.insert(id, place);
        }
        compiler.tape.roots = roots.iter().map(|root| compiler.places[root]).collect();
        compiler.tape
    }
}

/// All bytes that leaves read.
fn inputs(dag: &Dag, evaluated: &[ExprId]) -> Vec<InputByte> {
    let leaves = evaluated.iter().filter(|id| dag.op(**id) == Op::Input);
    let mut bytes: Vec<InputByte> = leaves
        .flat_map(|id| {
            let (region, offset) = dag.node(*id).place();
            (0..dag.width(*id) / 8).map(move |n| InputByte { region, offset: offset + n })
        })
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

struct Compiler {
    tape: Tape,
    places: HashMap<ExprId, Place, BuildMix>,
    tables: HashMap<TableId, u32, BuildMix>,
}

impl Compiler {
    /// Where the value of an expression will be, after the instruction that puts it there.
    fn place(&mut self, dag: &Dag, id: ExprId) -> Place {
        let node = *dag.node(id);
        if let Some(value) = dag.constant_value(id).or_else(|| dag.opaque_value(id)) {
            return self.reserve(node.width, value);
        }
        let operands = node.operands();
        let operand = |n: usize| operands.get(n).map_or(Place::default(), |id| self.places[id]);
        let (mut a, mut b, c) = (operand(0), operand(1), operand(2));
        // Registers hold zeros above the width.
        if node.op == Op::ZExt && node.width <= 64 {
            return Place { width: node.width, ..a };
        }
        match node.op {
            Op::Input => {
                let (region, offset) = node.place();
                let slot = self.tape.slot(InputByte { region, offset });
                a.register = slot.expect("all inputs were collected") as u32;
            }
            Op::Extract => b.register = node.low(),
            Op::Table => b.register = self.table(dag, node.table_id()),
            _ => {}
        }
        let target = self.reserve(node.width, 0);
        let function = if node.op == Op::Math { node.c } else { c.register };
        let c = Place { register: function, ..c };
        self.tape.code.push(Instruction::new(node.op, target, a, b, c));
        target
    }

    fn reserve(&mut self, width: u8, value: u128) -> Place {
        let register =
            u32::try_from(self.tape.registers.len()).expect("a tape has no more registers than nodes");
        self.tape.registers.push(value as u64);
        if width > 64 {
            self.tape.registers.push((value >> 64) as u64);
        }
        Place { register, width }
    }

    fn table(&mut self, dag: &Dag, id: TableId) -> u32 {
        let next = self.tape.tables.len() as u32;
        let index = *self.tables.entry(id).or_insert(next);
        if index == next {
            self.tape.tables.push(dag.table_bytes(id).into());
        }
        index
    }
}
