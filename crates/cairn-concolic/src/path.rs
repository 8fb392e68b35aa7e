//! The way a run took, as conditions on its input.

use crate::{
    event::Event,
    fixed::{Fixed, Origin},
    guidepost,
    regions::Regions,
};
use cairn_abi::{
    mutants::Guidepost,
    record::{GuidepostState, Label, Record},
    symbolic::{
        Node, RegionKind, metadata,
        switch::{GIVEN, LIBRARY, is_unnamed},
    },
};
use cairn_expr::{
    BuildMix, Dag, ExprId, InputByte, InputRange, Op, RegionId, evaluate_all,
    import::{self, ImportError, Importer},
    simplify,
};
use cairn_model::{ConditionId, FunctionId, SiteId};
use std::collections::{HashMap, HashSet};

/// What a symbolic run leaves. Not trusted.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// Events in order.
    pub records: &'a [Record],
    /// What labels stand for.
    pub nodes: &'a [Node],
    /// Constant tables that nodes refer to.
    pub tables: &'a [u8],
}

/// The events of a run and what they demand of its input. The default is that of a run without events.
#[derive(Debug, Default)]
pub struct Path {
    dag: Dag,
    regions: Regions,
    steps: Vec<Step>,
    domain: Vec<ExprId>,
    disagreements: Vec<Disagreement>,
    wrong_nodes: Vec<import::Disagreement>,
    damage: Option<ImportError>,
}

/// One event, and what it takes to come past it as the run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happened.
    pub event: Event,
    /// What has to hold for that, if it depends on the input and can be said.
    pub constraint: Option<Constraint>,
    /// Who asks for it.
    pub origin: Origin,
}

/// A condition on the input and its opposite, both of width 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Holds on the run's own input.
    pub holds: ExprId,
    /// Does not.
    pub otherwise: ExprId,
}

/// An expression that has another value on the run's input than the run had: a mistake of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The number of the step.
    pub step: usize,
    /// The expression.
    pub expression: ExprId,
    /// What the run had.
    pub recorded: u64,
    /// What the expression gives.
    pub evaluated: u64,
}

impl Path {
    /// Reads a recording of a run on the input of `regions`.
    pub fn new(recording: Recording<'_>, regions: Regions) -> Self {
        Self::guided(recording, regions, None)
    }

    /// Likewise of a run with a guidepost armed: to come past it is to satisfy it.
    pub fn guided(recording: Recording<'_>, mut regions: Regions, armed: Option<&Guidepost>) -> Self {
        regions.observe(recording.nodes);
        let mut dag = Dag::new();
        let mut reader = Reader {
            importer: Importer::new(recording.nodes, recording.tables),
            dag: &mut dag,
            occurrences: HashMap::new(),
            site_occurrences: HashMap::new(),
        };
        let mut events = Vec::with_capacity(recording.records.len());
        let mut damage = None;
        for record in recording.records {
            match reader.event(record) {
                Ok(event) => events.push((event, record)),
                Err(error) => {
                    damage = Some(error);
                    break;
                }
            }
        }
        // A table that cannot be read has been told of already if an event refers to it.
        let mut wrong_nodes = reader.importer.disagreements(&regions).unwrap_or_default();
        wrong_nodes.retain(|node| node.is_first);
        let domain = regions.domain(&mut dag, recording.nodes);
        let mut disagreements = Vec::new();
        let values = values(&dag, &regions, &events);
        let mut steps = Vec::with_capacity(events.len());
        // A program looks at the same byte in the same way again and again.
        let mut conditions: HashMap<ExprId, Option<Constraint>, BuildMix> = HashMap::default();
        for (step, ((event, record), value)) in events.into_iter().zip(values).enumerate() {
            let recorded = recording.nodes.get(label(record) as usize).map_or(0, |node| node.value);
            let mut is_right = true;
            if let (Some(expression), Some(evaluated)) = (event.expression(), value)
                && recorded != evaluated
            {
                disagreements.push(Disagreement { step, expression, recorded, evaluated });
                is_right = false;
            }
            let value = value.filter(|_| is_right);
            let constraint = match (&event, value) {
                (Event::Conditional { expression: Some(expression), .. }, Some(value)) => *conditions
                    .entry(*expression)
                    .or_insert_with(|| constraint(&mut dag, &event, value, armed)),
                _ => value.and_then(|value| constraint(&mut dag, &event, value, armed)),
            };
            steps.push(Step { event, constraint, origin: origin(record) });
        }
        Self { dag, regions, steps, domain, disagreements, wrong_nodes, damage }
    }

    /// Where the expressions live.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// Likewise, to build more.
    pub(crate) fn dag_mut(&mut self) -> &mut Dag {
        &mut self.dag
    }

    /// An expression of another path, over the same bytes of this one's input.
    pub fn adopt(&mut self, other: &Path, expression: ExprId) -> ExprId {
        simplify(&other.dag, expression, &mut self.dag)
    }

    /// The input of the run.
    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    /// What happened, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Expressions that have another value than the run had.
    pub fn disagreements(&self) -> &[Disagreement] {
        &self.disagreements
    }

    /// Nodes of the run that we compute otherwise from operands that agree. Some may be part of no event.
    pub fn wrong_nodes(&self) -> &[import::Disagreement] {
        &self.wrong_nodes
    }

    /// How many mistakes of ours the run shows.
    pub fn n_mistakes(&self) -> usize {
        self.disagreements.len().max(self.wrong_nodes.len())
    }

    /// Why the path ends before the recording, if it does.
    pub fn damage(&self) -> Option<&ImportError> {
        self.damage.as_ref()
    }

    /// The steps whose conditions of the map can be decided otherwise, with their numbers.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = (usize, &Step)> {
        self.steps.iter().enumerate().filter(|(_, step)| {
            step.constraint.is_some() && matches!(step.event, Event::Conditional { condition: Some(_), .. })
        })
    }

    /// Everything that holds up to a step, each condition once: what an input can be at all, then the path.
    pub fn prefix(&self, step: usize) -> Vec<ExprId> {
        let mut seen: HashSet<ExprId, BuildMix> = HashSet::default();
        let path = self.steps[..step].iter().filter_map(|step| Some(step.constraint?.holds));
        self.domain.iter().copied().chain(path).filter(|holds| seen.insert(*holds)).collect()
    }

    /// How many of the first conditions of [`Path::prefix`] say what an input can be at all.
    pub fn n_always(&self) -> usize {
        self.domain.len()
    }

    /// The part of [`Path::prefix`] that is not ours: what an input can be at all, and what the program itself decided
    /// without values that were fixed.
    pub fn own_prefix(&self, step: usize) -> Vec<ExprId> {
        let has_opaque = self.opaque_parts();
        let is_own = |holds: &ExprId| !has_opaque[holds.index()];
        let mut seen: HashSet<ExprId, BuildMix> = HashSet::default();
        let own = self.steps[..step].iter().filter(|step| step.origin.is_of_the_way());
        let path = own.filter_map(|step| Some(step.constraint?.holds)).filter(is_own);
        self.domain.iter().copied().chain(path).filter(|holds| seen.insert(*holds)).collect()
    }

    /// Likewise, for files of any kind, and of how many the kind is left open: an input may hold what we do not make of a file
    /// that has another kind, as a link.
    pub fn prefix_of_any_kind(&self, step: usize) -> (Vec<ExprId>, usize) {
        let is_kind = |range: &InputRange| {
            let mode = InputByte { region: range.region, offset: metadata::MODE };
            range.region.kind() == Some(RegionKind::FileMetadata) && range.contains(mode)
        };
        let is_free = |holds: &&ExprId| self.dag.reads(**holds).iter().any(is_kind);
        let free: HashSet<ExprId, BuildMix> = self.domain.iter().filter(is_free).copied().collect();
        let mut prefix = self.prefix(step);
        prefix.retain(|holds| !free.contains(holds));
        (prefix, free.len())
    }

    /// What was fixed on the way to a step, where `goal` is asked for: only what [`Path::prefix`] and the goal rely on.
    pub fn fixed(&self, step: usize, goal: ExprId) -> Fixed {
        let has_opaque = self.opaque_parts();
        let mut fixed = Fixed::default();
        let mut seen: HashSet<ExprId, BuildMix> = HashSet::default();
        let is_about_count = self.reads_count(goal);
        for step in &self.steps[..step] {
            let Some(Constraint { holds, .. }) = step.constraint else { continue };
            if !seen.insert(holds) {
                continue;
            }
            // A library function has looked at all arguments: another number of them leads elsewhere, which is not impossible.
            let is_count = is_about_count && step.origin == Origin::Given && self.reads_count(holds);
            fixed.n_library += usize::from(is_count);
            match step.origin {
                Origin::Program | Origin::Given => fixed.n_opaque += usize::from(has_opaque[holds.index()]),
                Origin::Library => fixed.n_library += 1,
                Origin::Address => fixed.n_addresses += 1,
            }
        }
        fixed.n_opaque += usize::from(has_opaque[goal.index()]);
        fixed
    }

    /// Whether a condition depends on the number of arguments.
    fn reads_count(&self, condition: ExprId) -> bool {
        let is_count = |range: &InputRange| range.region.kind() == Some(RegionKind::ArgumentsMetadata);
        self.dag.reads(condition).iter().any(is_count)
    }

    /// Whether a part of an expression keeps the value it had, for every expression by its index.
    fn opaque_parts(&self) -> Vec<bool> {
        let mut parts: Vec<bool> = Vec::with_capacity(self.dag.len());
        for id in (0..self.dag.len()).filter_map(|index| self.dag.id(index)) {
            let node = self.dag.node(id);
            let is_opaque = node.op() == Op::Opaque;
            parts.push(is_opaque || node.operands().iter().any(|operand| parts[operand.index()]));
        }
        parts
    }

    /// The bytes of the input that an event depends on, also where it cannot be solved for.
    pub fn taint(&self, event: &Event) -> Vec<InputRange> {
        event.expression().map_or_else(Vec::new, |expression| self.dag.inputs(expression).into_owned())
    }
}

/// Turns records into events.
struct Reader<'a> {
    importer: Importer<'a>,
    dag: &'a mut Dag,
    occurrences: HashMap<u32, u32>,
    site_occurrences: HashMap<(u32, u16), u32>,
}

impl Reader<'_> {
    fn event(&mut self, record: &Record) -> Result<Event, ImportError> {
        Ok(match *record {
            Record::Conditional { condition, direction, label } => {
                let expression = self.import(label)?;
                let occurrence = expression.map_or(0, |_| next(&mut self.occurrences, condition));
                let condition = (!is_unnamed(condition)).then_some(ConditionId(condition));
                Event::Conditional { condition, direction, occurrence, expression }
            }
            Record::SymbolicAddress { site, access, address, length, label } => {
                let expression = self.importer.label(self.dag, label)?;
                Event::Address { site, access, address, length, expression }
            }
            Record::SiteValue { site, spot, evaluation, value, label, operands: [first, second] } => {
                let expression = self.import(label)?;
                let occurrence = expression.map_or(0, |_| next(&mut self.site_occurrences, (site, spot)));
                Event::SiteValue {
                    site: SiteId(site),
                    spot,
                    evaluation,
                    occurrence,
                    value,
                    expression,
                    operands: [self.import(first)?, self.import(second)?],
                }
            }
            Record::Guidepost { guidepost, state, evaluation, value, label } => {
                Event::Guidepost { guidepost, state, evaluation, value, expression: self.import(label)? }
            }
            Record::Enter { function } => Event::Enter { function: FunctionId(function) },
            Record::Leave { function, how } => Event::Leave { function: FunctionId(function), how },
            Record::InputRead { region, offset, length, .. } => {
                Event::InputRead { region: RegionId(region), offset, length }
            }
        })
    }

    fn import(&mut self, label: Label) -> Result<Option<ExprId>, ImportError> {
        if label == 0 { Ok(None) } else { self.importer.label(self.dag, label).map(Some) }
    }
}

/// Counts one more of its kind.
fn next<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u32>, kind: K) -> u32 {
    let count = counts.entry(kind).or_default();
    *count += 1;
    *count
}

/// Who asks for what a record is about.
fn origin(record: &Record) -> Origin {
    match record {
        Record::Conditional { condition: LIBRARY, .. } => Origin::Library,
        Record::Conditional { condition: GIVEN, .. } => Origin::Given,
        Record::SymbolicAddress { .. } => Origin::Address,
        _ => Origin::Program,
    }
}

/// The label of what a record is about.
fn label(record: &Record) -> Label {
    match record {
        Record::Conditional { label, .. }
        | Record::SymbolicAddress { label, .. }
        | Record::SiteValue { label, .. }
        | Record::Guidepost { label, .. } => *label,
        Record::Enter { .. } | Record::Leave { .. } | Record::InputRead { .. } => 0,
    }
}

/// The lowest 64 bits of what events are about, on the run's own input.
fn values(dag: &Dag, regions: &Regions, events: &[(Event, &Record)]) -> Vec<Option<u64>> {
    let values = evaluate_all(dag, regions);
    events.iter().map(|(event, _)| event.expression().map(|id| values[id.index()] as u64)).collect()
}

/// What has to hold to come past an event, whose expression has `value` on the run's own input.
fn constraint(dag: &mut Dag, event: &Event, value: u64, armed: Option<&Guidepost>) -> Option<Constraint> {
    let (holds, otherwise) = match *event {
        Event::Conditional { expression: Some(expression), .. } if dag.width(expression) == 1 => {
            let opposite = dag.unary(Op::Not, expression);
            if value == 1 { (expression, opposite) } else { (opposite, expression) }
        }
        Event::Address { address, expression, .. } if value == address => {
            let used = dag.constant(dag.width(expression), address.into());
            (dag.compare(Op::Eq, expression, used), dag.compare(Op::Ne, expression, used))
        }
        Event::Guidepost { state, expression: Some(expression), .. } => {
            let armed = armed?;
            // What the run says of itself has to be so.
            if armed.admits(value, value, value) != (state == GuidepostState::Satisfied) {
                return None;
            }
            let satisfied = guidepost::condition(dag, armed, expression)?;
            let broken = dag.unary(Op::Not, satisfied);
            match state {
                GuidepostState::Satisfied => (satisfied, broken),
                GuidepostState::Broken => (broken, satisfied),
                GuidepostState::Reached => return None,
            }
        }
        _ => return None,
    };
    (!dag.is_fixed(holds)).then_some(Constraint { holds, otherwise })
}
