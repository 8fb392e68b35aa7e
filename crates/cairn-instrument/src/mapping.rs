//! Assembles the program map and the plan of counters.

mod features;
mod files;
mod function;
pub(crate) mod switches;

use crate::{
    ir::{IrFunction, IrModule, IrSource, is_named},
    plan::Plan,
    returns::Returns,
    scope::Scope,
};
use cairn_model::{
    FunctionId, ProgramMap,
    facts::{FunctionFacts, InstanceFacts, Place, UnitFacts},
    map::{LeftOut, LeftOutReason},
};
use files::FileTable;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    rc::Rc,
};

/// What decides how a map is made, beside the bitcode.
pub struct Options<'a> {
    /// The project's root; paths below it are written relative to it.
    pub root: &'a str,
    /// What is counted.
    pub scope: &'a Scope,
    /// Front-end facts by unit key.
    pub units: &'a BTreeMap<String, UnitFacts>,
    /// Hash of the bitcode.
    pub bitcode_hash: [u8; 32],
}

/// Makes the map of a module and the plan that counts it.
pub fn build(module: &IrModule, options: &Options) -> (ProgramMap, Plan) {
    let mut map = ProgramMap { bitcode_hash: options.bitcode_hash, ..ProgramMap::default() };
    let mut plan = Plan {
        functions: vec![Vec::new(); module.functions.len()],
        n_counters: 0,
        marks: vec![Vec::new(); module.functions.len()],
    };
    let mut files = FileTable::new(options.root, &module.files);
    let groups = group(module, &files, &mut map);
    let mut id_of = vec![None; module.functions.len()];
    for (index, group) in groups.iter().enumerate() {
        for member in &group.members {
            id_of[*member] = Some(FunctionId(index as u32));
        }
    }
    let calls = function::CallTargets::of(module, &id_of);
    let facts_index = FactsIndex::of(options.units, module);
    let returns = Returns::of(module);
    for group in &groups {
        let ir = &module.functions[group.members[0]];
        let (facts, is_synthetic) = match facts_index.find(ir, module) {
            Found::Facts(facts) => (Some(facts), false),
            Found::Synthetic => (None, true),
            Found::NoUnit => (None, false),
        };
        let (inserts, marks) = function::add(
            &mut map,
            &mut plan.n_counters,
            &mut files,
            &function::Subject {
                ir,
                group,
                facts: facts.as_ref(),
                is_synthetic,
                returns: &returns,
                calls: &calls,
                scope: options.scope,
            },
        );
        for member in &group.members {
            plan.functions[*member] = inserts.clone();
            plan.marks[*member] = marks.clone();
        }
    }
    map.left_out.extend(comments_not_understood(options.units, &mut files));
    map.files = files.into_files();
    map.n_counters = plan.n_counters;
    forget_what_another_copy_has(&mut map);
    map.left_out.sort();
    (map, plan)
}

/// Comments that ask for nothing; a header's are in many units.
fn comments_not_understood(units: &BTreeMap<String, UnitFacts>, files: &mut FileTable) -> BTreeSet<LeftOut> {
    let mut comments = BTreeSet::new();
    for unit in units.values() {
        for comment in &unit.comments_not_understood {
            let file = files.intern(&unit.files[comment.place.file as usize]);
            let place = files.show(Place { file, ..comment.place });
            let what = comment.text.clone();
            comments.insert(LeftOut { reason: LeftOutReason::CommentNotUnderstood, what, place });
        }
    }
    comments
}

/// A function of the map: its copies in the module, and what the front end knows of it.
pub struct FunctionSource<'a> {
    /// The path of its file, relative to the root.
    pub path: String,
    /// Its copies, by index.
    pub members: Vec<usize>,
    /// The facts of each copy, if there are any.
    pub facts: Vec<Option<FactsRef<'a>>>,
}

/// The functions of the map that [`build`] makes, by function id.
pub fn sources<'a>(module: &IrModule, options: &Options<'a>) -> Vec<FunctionSource<'a>> {
    let files = FileTable::new(options.root, &module.files);
    let facts_index = FactsIndex::of(options.units, module);
    group(module, &files, &mut ProgramMap::default())
        .into_iter()
        .map(|group| {
            let facts = |member: &usize| match facts_index.find(&module.functions[*member], module) {
                Found::Facts(facts) => Some(facts),
                Found::Synthetic | Found::NoUnit => None,
            };
            let facts = group.members.iter().map(facts).collect();
            FunctionSource { path: group.path, members: group.members, facts }
        })
        .collect()
}

/// Constructors and templates have several copies; what one of them lacks is not left out if another has it.
fn forget_what_another_copy_has(map: &mut ProgramMap) {
    let present: HashSet<String> =
        map.conditions.iter().map(|condition| map.show(condition.extent.start)).collect();
    map.left_out
        .retain(|left_out| left_out.reason != LeftOutReason::Dead || !present.contains(&left_out.place));
}

/// Copies of one function that share ids and counters.
#[derive(Debug)]
pub struct Group {
    /// The path of its file, relative to the root.
    pub path: String,
    /// The name that tells it from others in the file.
    pub symbol: String,
    /// Counts functions with the same path and symbol but other code (a header compiled with other macros).
    pub variant: u32,
    /// The functions of the module.
    pub members: Vec<usize>,
}

/// Functions with the same fingerprint.
type Variant = (u64, Vec<usize>);

fn group(module: &IrModule, files: &FileTable, map: &mut ProgramMap) -> Vec<Group> {
    let mut groups: BTreeMap<(String, String), Vec<Variant>> = BTreeMap::new();
    for (index, function) in module.functions.iter().enumerate() {
        let Some(source) = &function.source else {
            map.left_out.push(LeftOut {
                reason: LeftOutReason::NoDebugInfo,
                what: function.symbol.clone(),
                place: String::new(),
            });
            continue;
        };
        let symbol = if source.linkage_name.is_empty() { &source.name } else { &source.linkage_name };
        let path = files.relative(source.file).to_string();
        let variants = groups.entry((path, symbol.clone())).or_default();
        let shape = fingerprint(function);
        match variants.iter_mut().find(|(other, _)| *other == shape) {
            Some((_, members)) => members.push(index),
            None => variants.push((shape, vec![index])),
        }
    }
    groups
        .into_iter()
        .flat_map(|((path, symbol), variants)| {
            variants.into_iter().enumerate().map(move |(variant, (_, members))| Group {
                path: path.clone(),
                symbol: symbol.clone(),
                variant: variant as u32,
                members,
            })
        })
        .collect()
}

/// Equal for copies that the same plan fits.
fn fingerprint(function: &IrFunction) -> u64 {
    let mut hasher = DefaultHasher::new();
    for block in &function.blocks {
        block.instructions.len().hash(&mut hasher);
        block.successors().hash(&mut hasher);
        for instruction in &block.instructions {
            std::mem::discriminant(&instruction.kind).hash(&mut hasher);
            instruction.place.map(|place| (place.line, place.column)).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Finds the facts of a function by unit, file, line and name, those of a template's instance by symbol.
struct FactsIndex<'a> {
    by_place: HashMap<(String, String, u32), Vec<Candidate<'a>>>,
    units: &'a BTreeMap<String, UnitFacts>,
}

/// Facts of a function at a line.
struct Candidate<'a> {
    facts: FactsRef<'a>,
    /// Set if they are those of one instance of a template only.
    instance: Option<&'a InstanceFacts>,
}

/// What is known of a function.
enum Found<'a> {
    /// Its facts.
    Facts(FactsRef<'a>),
    /// Its unit has facts, but none of it: the compiler made it up (coroutines, defaulted operators), or several
    /// functions of one line fit.
    Synthetic,
    /// Its unit has no facts.
    NoUnit,
}

/// Facts of a function with the files of their unit.
#[derive(Clone)]
pub struct FactsRef<'a> {
    /// The files that places in `function` refer to.
    pub files: &'a [String],
    /// The same files by their numbers in the bitcode, where it has them.
    pub ir_files: Rc<[Option<u32>]>,
    /// The facts.
    pub function: &'a FunctionFacts,
    /// Those of the whole unit.
    pub unit: &'a UnitFacts,
}

impl<'a> FactsIndex<'a> {
    fn of(units: &'a BTreeMap<String, UnitFacts>, module: &IrModule) -> Self {
        let numbers: HashMap<&str, u32> =
            module.files.iter().enumerate().map(|(index, file)| (file.as_str(), index as u32)).collect();
        let mut by_place: HashMap<_, Vec<_>> = HashMap::new();
        for (key, unit) in units {
            let paths: Vec<String> = unit.files.iter().map(|file| files::normal(file)).collect();
            let ir_files: Rc<[Option<u32>]> =
                paths.iter().map(|path| numbers.get(path.as_str()).copied()).collect();
            let written = unit.functions.iter().map(|function| (function, None));
            let instances = unit.instances.iter().map(|instance| (&instance.function, Some(instance)));
            for (function, instance) in written.chain(instances) {
                let file = paths[function.place.file as usize].clone();
                let facts = FactsRef { files: &unit.files, ir_files: ir_files.clone(), function, unit };
                by_place
                    .entry((key.clone(), file, function.place.line))
                    .or_default()
                    .push(Candidate { facts, instance });
            }
        }
        Self { by_place, units }
    }

    fn find(&self, function: &IrFunction, module: &IrModule) -> Found<'a> {
        let Some(source) = &function.source else { return Found::NoUnit };
        let Some(key) = source.unit_key.clone().filter(|key| self.units.contains_key(key)) else {
            return Found::NoUnit;
        };
        let file = module.files[source.file as usize].clone();
        let candidates = self.by_place.get(&(key, file, source.line)).map_or(&[][..], Vec::as_slice);
        let (instances, written): (Vec<_>, Vec<_>) = candidates
            .iter()
            .filter(|candidate| is_named(&source.name, &candidate.facts.function.name))
            .partition(|candidate| candidate.instance.is_some());
        match (instance_of(source, &instances), &written[..]) {
            (Some(instance), _) => Found::Facts(instance.facts.clone()),
            // Of a template that is what its instances have in common.
            (None, [written]) => Found::Facts(written.facts.clone()),
            (None, _) => Found::Synthetic,
        }
    }
}

/// The instance of a template that a function was compiled from, if that can be told.
fn instance_of<'c, 'a>(source: &IrSource, instances: &[&'c Candidate<'a>]) -> Option<&'c Candidate<'a>> {
    let of = |candidate: &Candidate<'a>| candidate.instance.expect("only instances are asked");
    let mut fitting: Vec<_> = instances
        .iter()
        .copied()
        .filter(|candidate| of(candidate).has_symbol(&source.linkage_name))
        .collect();
    // Symbols do not tell lambdas of one function apart; the places of lambdas do.
    if fitting.len() > 1 {
        fitting.retain(|candidate| of(candidate).lambdas().all(|lambda| source.name.contains(lambda)));
    }
    let first = *fitting.first()?;
    fitting.iter().all(|other| of(other).is_like(of(first))).then_some(first)
}
