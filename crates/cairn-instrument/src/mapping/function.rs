//! Adds one function to the map and plans its counters.

mod blocks;
mod conditions;
mod labels;
mod operands;

use super::{FactsRef, Group, features, files::FileTable};
use crate::{
    ir::{Callee, IrFunction, IrModule, IrPlace},
    plan::{Insert, Mark},
    returns::Returns,
    scope::Scope,
    structure::Structure,
};
use cairn_model::{
    BlockId, CounterId, FunctionId, ProgramMap, StableId,
    map::{Call, Extent, LeftOut, LeftOutReason, Place},
};
use std::collections::HashMap;

/// What a function is added from.
pub struct Subject<'a> {
    /// The function, first of its group.
    pub ir: &'a IrFunction,
    /// Its copies.
    pub group: &'a Group,
    /// What the front end knows of it.
    pub facts: Option<&'a FactsRef<'a>>,
    /// Whether the compiler made it up: its branches have no source.
    pub is_synthetic: bool,
    /// Which calls come back.
    pub returns: &'a Returns,
    /// Whom calls reach.
    pub calls: &'a CallTargets,
    /// What is counted.
    pub scope: &'a Scope,
}

/// Whom calls may reach.
pub struct CallTargets {
    id_of: Vec<Option<FunctionId>>,
    by_signature: HashMap<String, Vec<FunctionId>>,
}

impl CallTargets {
    /// Collects the functions whose address is taken, by type.
    pub fn of(module: &IrModule, id_of: &[Option<FunctionId>]) -> Self {
        let mut by_signature: HashMap<String, Vec<FunctionId>> = HashMap::new();
        for (function, id) in module.functions.iter().zip(id_of) {
            if let (true, Some(id)) = (function.address_taken, id) {
                by_signature.entry(function.signature.clone()).or_default().push(*id);
            }
        }
        for ids in by_signature.values_mut() {
            ids.sort();
            ids.dedup();
        }
        Self { id_of: id_of.to_vec(), by_signature }
    }

    fn call(&self, callee: &Callee, place: Option<Place>) -> Option<Call> {
        let (callees, external, is_indirect) = match callee {
            Callee::Intrinsic => return None,
            Callee::Defined(index) => (self.id_of[*index].into_iter().collect(), None, false),
            Callee::External { name, .. } => (Vec::new(), Some(name.clone()), false),
            Callee::Indirect(signature) => {
                (self.by_signature.get(signature).cloned().unwrap_or_default(), None, true)
            }
        };
        Some(Call { callees, external, is_indirect, place })
    }
}

/// Adds the function to the map; returns what to insert into each of its copies, and where its conditions are.
pub fn add(
    map: &mut ProgramMap,
    n_counters: &mut u32,
    files: &mut FileTable,
    subject: &Subject,
) -> (Vec<Insert>, Vec<Mark>) {
    let source = subject.ir.source.as_ref().expect("groups hold functions with debug information");
    let in_scope = subject.scope.includes(&subject.group.path, &source.name) && !subject.ir.is_naked;
    if subject.ir.is_naked {
        map.left_out.push(LeftOut {
            reason: LeftOutReason::Naked,
            what: source.name.clone(),
            place: format!("{}:{}", subject.group.path, source.line),
        });
    }
    let structure = Structure::of(subject.ir, subject.returns);
    let mut builder = Builder {
        function: FunctionId(map.functions.len() as u32),
        first_block: map.blocks.len() as u32,
        first_condition: map.conditions.len(),
        first_site: map.sites.len() as u32,
        in_scope,
        n_counters,
        structure: &structure,
        inserts: Vec::new(),
        marks: Vec::new(),
        branch_counters: HashMap::new(),
        range_checks: HashMap::new(),
        ordinals: HashMap::new(),
        map,
        files,
        subject,
    };
    builder.add_function();
    builder.add_blocks();
    if in_scope {
        builder.find_range_checks();
        builder.add_sites();
        builder.add_conditions();
        builder.add_switches();
        let blocks = builder.map.functions.last().expect("just added").blocks.clone();
        let conditions = builder.first_condition..builder.map.conditions.len();
        features::fill(builder.map, blocks, conditions);
    } else {
        builder.add_switches();
    }
    (builder.inserts, builder.marks)
}

struct Builder<'a> {
    function: FunctionId,
    first_block: u32,
    first_condition: usize,
    first_site: u32,
    in_scope: bool,
    n_counters: &'a mut u32,
    structure: &'a Structure,
    inserts: Vec<Insert>,
    marks: Vec<Mark>,
    /// The counters of the true and the false way out of a block that ends with a conditional branch.
    branch_counters: HashMap<usize, [CounterId; 2]>,
    /// The blocks that compare with large case ranges, by the block of their switch.
    range_checks: HashMap<usize, Vec<usize>>,
    /// How many things of one kind and text were met, so that equals get different stable ids.
    ordinals: HashMap<(&'static str, String), u32>,
    map: &'a mut ProgramMap,
    files: &'a mut FileTable,
    subject: &'a Subject<'a>,
}

impl Builder<'_> {
    fn stable_id(&mut self, kind: &'static str, text: &str) -> StableId {
        // White space and comments are no part of what a thing is.
        let text: String = text.chars().filter(|character| !character.is_whitespace()).collect();
        let ordinal = self.ordinals.entry((kind, text.clone())).or_default();
        let group = self.subject.group;
        let variant = group.variant.to_string();
        let id =
            StableId::from_key(&[&group.path, &group.symbol, &variant, kind, &text, &ordinal.to_string()]);
        *ordinal += 1;
        id
    }

    fn new_counter(&mut self) -> CounterId {
        *self.n_counters += 1;
        CounterId(*self.n_counters - 1)
    }

    /// A counter, unless the function is out of scope.
    fn counter(&mut self, insert: impl FnOnce(CounterId) -> Insert) -> Option<CounterId> {
        if !self.in_scope {
            return None;
        }
        let counter = self.new_counter();
        self.inserts.push(insert(counter));
        Some(counter)
    }

    fn place(&self, place: IrPlace) -> Place {
        // Files of the bitcode have the same numbers in the map.
        Place { file: place.file, line: place.line, column: place.column }
    }

    fn fact_place(&mut self, place: Place) -> Place {
        let facts = self.subject.facts.expect("only asked about facts that exist");
        Place { file: self.files.intern(&facts.files[place.file as usize]), ..place }
    }

    fn fact_extent(&mut self, extent: Extent) -> Extent {
        Extent { start: self.fact_place(extent.start), end: self.fact_place(extent.end) }
    }

    fn block_id(&self, ir_block: usize) -> BlockId {
        BlockId(self.first_block + self.structure.first_piece[ir_block] as u32)
    }

    /// The piece that holds an instruction.
    fn piece_id(&self, ir_block: usize, instruction: usize) -> BlockId {
        let first = self.structure.first_piece[ir_block];
        let offset = self.structure.pieces[first..]
            .iter()
            .take_while(|piece| piece.block == ir_block)
            .position(|piece| piece.instructions.contains(&instruction))
            .unwrap_or(0);
        BlockId(self.first_block + (first + offset) as u32)
    }

    fn last_piece_id(&self, ir_block: usize) -> BlockId {
        self.piece_id(ir_block, self.subject.ir.blocks[ir_block].instructions.len() - 1)
    }
}
