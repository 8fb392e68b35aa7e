//! A function with one statement, as an instrumenter would tell of it.

use super::parser::{Kind, Tree, parse, type_named};
use crate::{
    Proposal,
    catalogue::{OperatorSet, generate},
    formula::{Family, types},
    site::{MutableFunction, Operand, Role, Spot, Variable},
};
use cairn_model::{
    FunctionId, SiteId, StableId,
    facts::{TypeClass, TypeFact},
    map::{Extent, Function, Place, ProgramMap, Site, SourceFile},
    mutants::ValueType,
};
use std::collections::BTreeMap;

/// A statement: `if (EXPRESSION)`, `return EXPRESSION` or `EXPRESSION`.
pub struct Scene {
    pub source: String,
    pub map: ProgramMap,
    pub function: MutableFunction,
    pub tree: Tree,
    pub names: BTreeMap<String, TypeFact>,
    pub statement: Statement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    If,
    Return,
    Expression,
}

impl Statement {
    /// The statement that a line is, and its expression.
    pub fn split(line: &str) -> (Self, usize, usize) {
        match (line.strip_prefix("if ("), line.strip_prefix("return ")) {
            (Some(_), _) => (Self::If, 4, line.len() - 1),
            (_, Some(_)) => (Self::Return, 7, line.len()),
            _ => (Self::Expression, 0, line.len()),
        }
    }
}

impl Scene {
    /// Declarations such as `int a, b[4]; global char c`, and a line.
    pub fn new(declarations: &str, line: &str) -> Self {
        let variables = declare(declarations);
        let names = names(&variables);
        let (statement, start, end) = Statement::split(line);
        let tree = parse(&line[start..end], &names).unwrap_or_else(|| panic!("`{line}` does not parse"));
        let function = MutableFunction { function: FunctionId(0), spots: Vec::new(), variables };
        let map = map("scene.c");
        let source = line.to_owned();
        let mut scene = Self { source, map, function, tree: tree.clone(), names, statement };
        let visible = (0..scene.function.variables.len() as u32).collect();
        let mut teller = Teller { scene: &mut scene, shift: start, visible };
        teller.visit(&tree, None, Use::of(statement), tree.value_type());
        scene
    }

    /// What a set proposes, spot by spot.
    pub fn proposals(&self, set: &OperatorSet) -> Vec<(&Spot, Proposal)> {
        let lists = generate(&self.map, &self.function, set);
        assert_eq!(lists.len(), self.function.spots.len());
        self.function
            .spots
            .iter()
            .zip(lists)
            .flat_map(|(spot, list)| list.into_iter().map(move |p| (spot, p)))
            .collect()
    }

    pub fn site(&self, spot: &Spot) -> &Site {
        &self.map.sites[spot.site.index()]
    }
}

/// A map of one function with no sites.
fn map(path: &str) -> ProgramMap {
    let place = Place { file: 0, line: 1, column: 1 };
    ProgramMap {
        files: vec![SourceFile { path: path.to_owned(), absolute: format!("/{path}") }],
        functions: vec![Function {
            stable_id: StableId::from_key(&[path]),
            name: "main".to_owned(),
            symbol: "main".to_owned(),
            place,
            end_line: 1,
            blocks: 0..0,
            in_scope: true,
            n_copies: 1,
        }],
        ..ProgramMap::default()
    }
}

/// A map with a single expression, a reference.
pub fn single_site(path: &str, text: &str) -> (ProgramMap, Site) {
    let place = Place { file: 0, line: 1, column: 1 };
    let site = Site {
        stable_id: StableId::from_key(&[path, text]),
        function: FunctionId(0),
        parent: None,
        kind: Kind::Reference,
        operator: text.to_owned(),
        value_type: type_named("int").expect("it is a type"),
        text: text.to_owned(),
        extent: Extent { start: place, end: place },
        macro_name: None,
    };
    (map(path), site)
}

fn declare(declarations: &str) -> Vec<Variable> {
    let mut variables = Vec::new();
    for declaration in declarations.split(';').map(str::trim).filter(|text| !text.is_empty()) {
        let (is_local, declaration) = match declaration.strip_prefix("global ") {
            Some(rest) => (false, rest),
            None => (true, declaration),
        };
        let (is_const, declaration) = match declaration.strip_prefix("const ") {
            Some(rest) => (true, rest),
            None => (false, declaration),
        };
        let first = declaration.split(',').next().expect("there is a first");
        let space = first.rfind(' ').expect("a type and a name");
        let value_type = type_named(&declaration[..space]).expect("a known type");
        for name in declaration[space..].split(',').map(str::trim) {
            let is_array = name.contains('[');
            variables.push(Variable {
                name: name.split('[').next().expect("there is a first").to_owned(),
                value_type: value_type.clone(),
                scalar: types::of_fact(&value_type).filter(|_| !is_array),
                is_array,
                is_local,
                is_const,
            });
        }
    }
    variables
}

fn names(variables: &[Variable]) -> BTreeMap<String, TypeFact> {
    let mut names: BTreeMap<_, _> = variables
        .iter()
        .map(|variable| {
            let mut fact = variable.value_type.clone();
            if variable.is_array {
                fact = TypeFact {
                    spelling: format!("{}[4]", fact.spelling),
                    class: TypeClass::Pointer,
                    bits: 64,
                };
            }
            (variable.name.clone(), fact)
        })
        .collect();
    names.insert(
        "f".to_owned(),
        TypeFact { spelling: "int (int)".to_owned(), class: TypeClass::Pointer, bits: 0 },
    );
    names
}

/// How the value of an expression is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Truth,
    Number,
    Decision,
    Returned,
    /// It is written, not read.
    Target,
    /// It is written and read, or called: there is no spot.
    Hidden,
    /// An array whose element is accessed.
    Base,
}

impl Use {
    fn of(statement: Statement) -> Self {
        match statement {
            Statement::If => Self::Decision,
            Statement::Return => Self::Returned,
            Statement::Expression => Self::Number,
        }
    }
}

struct Teller<'a> {
    scene: &'a mut Scene,
    /// Where the expression begins in the source.
    shift: usize,
    visible: Vec<u32>,
}

impl Teller<'_> {
    /// `converted` is the type that the value is used in.
    fn visit(&mut self, tree: &Tree, parent: Option<SiteId>, used: Use, converted: ValueType) {
        let id = self.add_site(tree, parent);
        let first_child = SiteId(id.0 + 1);
        let child_types = operand_types(tree);
        // Children come right behind, so the sites of operands are known once they are visited.
        let mut child_ids = Vec::new();
        for (number, child) in tree.children.iter().enumerate() {
            let child_id = SiteId(self.scene.map.sites.len() as u32);
            debug_assert!(number > 0 || child_id == first_child);
            child_ids.push(child_id);
            self.visit(child, Some(id), child_use(tree, number), child_types[number]);
        }
        let operand = |number: usize| Operand {
            site: Some(child_ids[number]),
            value_type: child_types[number],
            constant: Some(tree.children[number].number)
                .filter(|_| tree.children[number].kind == Kind::Integer),
            is_pure: tree.children[number].is_pure(),
        };
        let is_truth = matches!(used, Use::Truth | Use::Decision);
        let test_type = if is_truth { ValueType::Bool } else { types::INT };
        match tree.kind {
            Kind::Binary => {
                let value_type = if tree.is_test() { test_type } else { tree.value_type() };
                self.spot(id, Role::Value, value_type, vec![operand(0), operand(1)]);
            }
            Kind::Logical => {
                let sides_known = tree
                    .children
                    .iter()
                    .all(|child| child.kind != Kind::Logical && types::is_integer(child.value_type()));
                let operands = if sides_known { vec![operand(0), operand(1)] } else { vec![] };
                self.spot(id, Role::Logical, test_type, operands);
            }
            Kind::CompoundAssign => {
                self.spot(id, Role::Value, child_types[0], vec![operand(0), operand(1)]);
            }
            Kind::Assign => self.spot(id, Role::Stored, tree.value_type(), vec![operand(0), operand(1)]),
            Kind::IncrementDecrement => self.spot(id, Role::Value, tree.value_type(), vec![operand(0)]),
            Kind::Unary if tree.operator == "!" => self.spot(id, Role::Value, test_type, vec![operand(0)]),
            Kind::Unary | Kind::Cast => self.spot(id, Role::Value, tree.value_type(), vec![operand(0)]),
            Kind::Integer => {
                self.spot(id, Role::Constant { value: tree.number, float: None }, converted, vec![]);
            }
            Kind::Float => {
                let role = Role::Constant { value: 0, float: Some(tree.float.to_bits()) };
                self.spot(id, role, converted, vec![]);
            }
            Kind::Reference | Kind::Index => match used {
                Use::Target if tree.kind == Kind::Reference => {
                    self.spot(id, Role::Assigned, ValueType::Pointer, vec![]);
                }
                Use::Base => self.spot(id, Role::ArrayBase, ValueType::Pointer, vec![]),
                Use::Target | Use::Hidden => {}
                _ => self.spot(id, Role::Value, tree.value_type(), vec![]),
            },
            _ => {}
        }
        match used {
            Use::Decision => self.spot(id, Role::Decision, ValueType::Bool, vec![]),
            Use::Returned => self.spot(id, Role::Returned, tree.value_type(), vec![]),
            _ => {}
        }
    }

    fn add_site(&mut self, tree: &Tree, parent: Option<SiteId>) -> SiteId {
        let id = SiteId(self.scene.map.sites.len() as u32);
        let place = |at: usize| Place { file: 0, line: 1, column: (self.shift + at + 1) as u32 };
        let text = self.scene.source[self.shift + tree.span.start..self.shift + tree.span.end].to_owned();
        self.scene.map.sites.push(Site {
            stable_id: StableId::from_key(&[&id.0.to_string(), &text]),
            function: FunctionId(0),
            parent,
            kind: tree.kind,
            operator: tree.operator.clone(),
            value_type: tree.fact.clone(),
            text,
            extent: Extent { start: place(tree.span.start), end: place(tree.span.end) },
            macro_name: None,
        });
        id
    }

    fn spot(&mut self, site: SiteId, role: Role, value_type: ValueType, operands: Vec<Operand>) {
        let visible = self.visible.clone();
        self.scene.function.spots.push(Spot { site, role, value_type, operands, visible, siblings: vec![] });
    }
}

fn child_use(tree: &Tree, number: usize) -> Use {
    match tree.kind {
        Kind::Logical => Use::Truth,
        Kind::Unary if tree.operator == "!" => Use::Truth,
        Kind::Assign if number == 0 => Use::Target,
        Kind::CompoundAssign if number == 0 => Use::Hidden,
        Kind::IncrementDecrement => Use::Hidden,
        Kind::Index if number == 0 => Use::Base,
        Kind::Call if number == 0 => Use::Hidden,
        _ => Use::Number,
    }
}

/// The types in which an expression uses its operands.
pub fn operand_types(tree: &Tree) -> Vec<ValueType> {
    let own: Vec<ValueType> = tree.children.iter().map(Tree::value_type).collect();
    match (tree.kind, tree.binary_operator().map(|operator| operator.family())) {
        (Kind::Logical, _) => tree
            .children
            .iter()
            .map(|child| if child.is_test() { ValueType::Bool } else { child.value_type() })
            .collect(),
        (_, Some(Family::Shift)) => own.into_iter().map(types::promoted).collect(),
        (Kind::Binary | Kind::CompoundAssign, _) => match types::common(own[0], own[1]) {
            Some(common) => vec![common; 2],
            None => own,
        },
        (Kind::Unary, _) if tree.operator != "!" => own.into_iter().map(types::promoted).collect(),
        (Kind::Unary, _) if tree.children[0].is_test() => vec![ValueType::Bool],
        _ => own,
    }
}
