//! Anchors of small sources, as text.

use cairn_instrument::{
    anchors::{
        self, Anchor, AnchoredFunction, Anchors, At, LogicalResult, OperandAt, Unanchored, VariableAt,
    },
    emit,
    ir::{Code, CodeOperand, CodeType, Definition, FunctionCode, ModuleCode, Opcode, read_code, read_module},
    mapping::{self, Options},
    scope::Scope,
};
use cairn_model::{ProgramMap, facts::UnitFacts, mutants::ValueType, versioned};
use cairn_mutants::site::{Operand, Role, Spot};
use cairn_testkit::{Workspace, dist};
use inkwell::context::Context;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// A program with its anchors.
pub struct Found {
    pub map: ProgramMap,
    pub code: ModuleCode,
    pub anchors: Anchors,
}

/// Compiles sources, each a name and a text, and finds the anchors.
pub fn find(sources: &[(&str, &str)]) -> Found {
    let workspace = Workspace::new();
    for (name, text) in sources {
        workspace.write(name, text);
    }
    let names: Vec<&str> =
        sources.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(".h")).collect();
    find_in_workspace(&workspace, &names)
}

/// Compiles files of a folder, likewise.
pub fn find_in_workspace(workspace: &Workspace, names: &[&str]) -> Found {
    let mut words: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let is_cxx = words.iter().any(|name| name.ends_with(".cpp"));
    let compiler = if is_cxx { dist().cairn_cxx() } else { dist().cairn_cc() };
    words.extend(["-o", "program", "-lm"].map(str::to_owned));
    workspace.run(compiler, words).success();
    find_in(&kept_build(workspace.root()), &workspace.root().display().to_string(), &Scope::default())
}

/// Finds the anchors of a kept build.
pub fn find_in(kept: &Path, root: &str, scope: &Scope) -> Found {
    let units = read_facts(&kept.join("facts"));
    let context = Context::create();
    let module = emit::read(&context, &kept.join("program.bc")).expect("the build kept its bitcode");
    let options = Options { root, scope, units: &units, bitcode_hash: [0; 32] };
    let ir = read_module(&module);
    let code = read_code(&module, &ir);
    let (map, _) = mapping::build(&ir, &options);
    let anchors = anchors::find(&ir, &code, &map, &options);
    Found { map, code, anchors }
}

fn kept_build(root: &Path) -> PathBuf {
    let entries = fs::read_dir(root.join(".cairn")).expect("the build was kept");
    let mut folders = entries.map(|entry| entry.expect("entry of a readable folder").path());
    folders.find(|folder| folder.join("program.bc").exists()).expect("the build kept its bitcode")
}

fn read_facts(folder: &Path) -> BTreeMap<String, UnitFacts> {
    let entries = fs::read_dir(folder).expect("the build kept its facts");
    entries
        .map(|entry| {
            let entry = entry.expect("entry of a readable folder");
            let bytes = fs::read(entry.path()).expect("facts are readable");
            let facts = versioned::decode(&bytes).expect("facts are of this version");
            (entry.file_name().to_string_lossy().into_owned(), facts)
        })
        .collect()
}

impl Found {
    /// One line a spot of the functions with this name.
    pub fn show(&self, function: &str) -> String {
        let mut text = String::new();
        for found in &self.anchors.functions {
            if self.map.functions[found.mutable.function.index()].name != function {
                continue;
            }
            let code = &self.code.functions[found.members[0]];
            for (spot, anchor) in found.mutable.spots.iter().zip(&found.anchors) {
                writeln!(text, "{}", self.show_spot(code, spot, anchor)).unwrap();
            }
        }
        text
    }

    /// The spots with this role, likewise.
    pub fn show_role(&self, function: &str, role: &str) -> String {
        let is_wanted =
            |line: &&str| line.split('`').nth(2).is_some_and(|rest| rest.trim_start().starts_with(role));
        self.show(function).lines().filter(is_wanted).map(|line| format!("{line}\n")).collect()
    }

    /// The functions without mutants, and why.
    pub fn show_unmutated(&self) -> String {
        let show = |Unanchored { function, reason, .. }: &Unanchored| {
            format!("{} {reason}\n", self.map.functions[function.index()].name)
        };
        self.anchors.unmutated.iter().map(show).collect()
    }

    /// How often functions with this name are in the module.
    pub fn show_copies(&self, function: &str) -> String {
        let is_wanted =
            |found: &&AnchoredFunction| self.map.functions[found.mutable.function.index()].name == function;
        let show = |found: &AnchoredFunction| format!("{} copies\n", found.members.len());
        self.anchors.functions.iter().filter(is_wanted).map(show).collect()
    }

    fn show_spot(&self, code: &FunctionCode, spot: &Spot, anchor: &Anchor) -> String {
        let site = &self.map.sites[spot.site.index()];
        let place = site.extent.start;
        let role = match spot.role {
            Role::Constant { value, float: None } => format!("Constant {value}"),
            Role::Constant { float: Some(bits), .. } => format!("Constant {:?}", f64::from_bits(bits)),
            Role::Member { offset } => {
                let siblings: Vec<String> = spot
                    .siblings
                    .iter()
                    .map(|sibling| format!("{}@{}", sibling.name, sibling.offset))
                    .collect();
                format!("Member @{offset} or [{}]", siblings.join(" "))
            }
            role => format!("{role:?}"),
        };
        let operands: Vec<String> = spot
            .operands
            .iter()
            .zip(&anchor.operands)
            .map(|(operand, at)| self.show_operand(code, operand, at))
            .collect();
        let of = if operands.is_empty() { String::new() } else { format!(" of {}", operands.join(", ")) };
        format!(
            "{}:{} `{}` {role} {} at {}{of}",
            place.line,
            place.column,
            site.text,
            show_type(spot.value_type),
            show_at(code, &anchor.at)
        )
    }

    fn show_operand(&self, code: &FunctionCode, operand: &Operand, at: &OperandAt) -> String {
        let text = operand.site.map_or("?", |site| self.map.sites[site.index()].text.as_str());
        let constant = operand.constant.map(|value| format!("={value}")).unwrap_or_default();
        let impure = if operand.is_pure { "" } else { " impure" };
        let at = match at {
            OperandAt::Operand(at, number) => format!("{}.{number}", opcode(code.at(*at))),
            OperandAt::Negated(at, number) => format!("-{}.{number}", opcode(code.at(*at))),
            OperandAt::Result(at) => opcode(code.at(*at)),
            OperandAt::Target(at) => format!("*{}", opcode(code.at(*at))),
        };
        format!("`{text}`{constant} {} {at}{impure}", show_type(operand.value_type))
    }

    /// The names that can be used at the first spot of a site with this text.
    pub fn visible(&self, text: &str) -> String {
        for found in &self.anchors.functions {
            for spot in &found.mutable.spots {
                if self.map.sites[spot.site.index()].text == text {
                    let names = spot.visible.iter().map(|index| {
                        let variable = &found.mutable.variables[*index as usize];
                        let kind = if variable.is_array { "[]" } else { "" };
                        let storage = match &found.variables[*index as usize] {
                            VariableAt::Local(_) => String::new(),
                            VariableAt::Global(symbol) => format!(" @{symbol}"),
                        };
                        format!("{}{kind}{storage}", variable.name)
                    });
                    return names.collect::<Vec<_>>().join(", ");
                }
            }
        }
        panic!("no spot of `{text}`")
    }

    /// Checks what every anchor claims of the code.
    pub fn verify(&self) {
        for found in &self.anchors.functions {
            let code = &self.code.functions[found.members[0]];
            assert_eq!(found.mutable.spots.len(), found.anchors.len());
            assert_eq!(found.mutable.variables.len(), found.variables.len());
            for (spot, anchor) in found.mutable.spots.iter().zip(&found.anchors) {
                let line = self.show_spot(code, spot, anchor);
                assert_eq!(spot.operands.len(), anchor.operands.len(), "{line}");
                match &anchor.at {
                    At::Result(at) => assert_eq!(code.at(*at).result, code_type(spot.value_type), "{line}"),
                    At::Operand(at, number) => check_operand(code, spot, (*at, *number), &line),
                    At::Operands(operands) => {
                        operands.iter().for_each(|operand| check_operand(code, spot, *operand, &line));
                    }
                    At::Negated(at, number) => {
                        let operand = code.at(*at).operands[*number as usize];
                        let Role::Constant { value, .. } = spot.role else { panic!("no constant: {line}") };
                        check_constant(operand, -value, None, &line);
                    }
                    At::Stored(store) => check_operand(code, spot, (*store, 0), &line),
                    At::Logical(_) => {}
                }
                for (operand, at) in spot.operands.iter().zip(&anchor.operands) {
                    match at {
                        OperandAt::Operand(at, number) => {
                            let found = code.at(*at).operands[*number as usize];
                            check_type(code, found, operand.value_type, &line);
                            if let (Some(value), CodeOperand::Integer { .. }) = (operand.constant, found) {
                                check_constant(found, value, None, &line);
                            }
                        }
                        OperandAt::Negated(at, number) => {
                            let found = code.at(*at).operands[*number as usize];
                            check_type(code, found, operand.value_type, &line);
                            if let Some(value) = operand.constant {
                                check_constant(found, -value, None, &line);
                            }
                        }
                        OperandAt::Result(at) => {
                            assert_eq!(code.at(*at).result, code_type(operand.value_type), "{line}");
                        }
                        OperandAt::Target(at) => {
                            assert!(
                                matches!(code.at(*at).opcode, Opcode::Store { is_volatile: false }),
                                "{line}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Checks the operand of an instruction that a spot is found at. A truth value in memory is a byte.
fn check_operand(code: &FunctionCode, spot: &Spot, (at, number): (Definition, u32), line: &str) {
    let operand = code.at(at).operands[number as usize];
    let is_byte = matches!(operand, CodeOperand::Integer { bits: 8, .. });
    if spot.value_type != ValueType::Bool || !is_byte {
        check_type(code, operand, spot.value_type, line);
    }
    if let Role::Constant { value, float } = spot.role {
        check_constant(operand, value, float, line);
    }
}

fn check_type(code: &FunctionCode, operand: CodeOperand, value_type: ValueType, line: &str) {
    let found = match operand {
        CodeOperand::Result(at) => code.at(at).result,
        CodeOperand::Integer { bits, .. } => CodeType::Int(bits),
        CodeOperand::Float { bits, .. } => CodeType::Float(bits),
        CodeOperand::Null | CodeOperand::Global { .. } => CodeType::Pointer,
        CodeOperand::Argument(_) | CodeOperand::Other => return,
    };
    assert_eq!(found, code_type(value_type), "{line}");
}

fn check_constant(operand: CodeOperand, value: i64, float: Option<u64>, line: &str) {
    match operand {
        CodeOperand::Integer { bits, value: found } => {
            let unused = 64 - bits;
            assert_eq!(found << unused, value << unused, "{line}");
        }
        CodeOperand::Float { value: found, .. } => assert_eq!(Some(found), float, "{line}"),
        other => panic!("{other:?} is no constant: {line}"),
    }
}

fn code_type(value_type: ValueType) -> CodeType {
    match value_type {
        ValueType::Bool => CodeType::Int(1),
        ValueType::Int { bits, .. } => CodeType::Int(bits.into()),
        ValueType::Float { bits } => CodeType::Float(bits.into()),
        ValueType::Pointer => CodeType::Pointer,
    }
}

fn show_type(value_type: ValueType) -> String {
    match value_type {
        ValueType::Bool => "bool".into(),
        ValueType::Int { bits, is_signed } => format!("{}{bits}", if is_signed { "i" } else { "u" }),
        ValueType::Float { bits } => format!("f{bits}"),
        ValueType::Pointer => "ptr".into(),
    }
}

fn show_at(code: &FunctionCode, at: &At) -> String {
    match at {
        At::Result(at) => opcode(code.at(*at)),
        At::Operand(at, number) => format!("{}.{number}", opcode(code.at(*at))),
        At::Operands(operands) => {
            let show = |(at, number): &(Definition, u32)| format!("{}.{number}", opcode(code.at(*at)));
            operands.iter().map(show).collect::<Vec<_>>().join(" and ")
        }
        At::Negated(at, number) => format!("-{}.{number}", opcode(code.at(*at))),
        At::Stored(at) => format!("{}.0 and its uses", opcode(code.at(*at))),
        At::Logical(at) => {
            let edges = |edges: &[(usize, u32)]| {
                edges.iter().map(|(block, way)| format!("{block}.{way}")).collect::<Vec<_>>().join(" ")
            };
            let result = match &at.result {
                LogicalResult::Branches { right_true, right_false, when_true, when_false } => format!(
                    "true [{}] to {when_true}, false [{}] to {when_false}",
                    edges(right_true),
                    edges(right_false)
                ),
                LogicalResult::Phi { from, extended, .. } => {
                    format!("phi from {from}{}", if extended.is_some() { " as number" } else { "" })
                }
            };
            let name = if at.is_and { "and" } else { "or" };
            let left = format!("true [{}] false [{}]", edges(&at.left_true), edges(&at.left_false));
            format!("{name}: left {left}, right {}: {result}", at.right)
        }
    }
}

fn opcode(code: &Code) -> String {
    match &code.opcode {
        Opcode::Arithmetic(arithmetic) => format!("{arithmetic:?}").to_lowercase(),
        Opcode::Compare(predicate) => format!("{predicate:?}").to_lowercase(),
        Opcode::Load { .. } => "load".into(),
        Opcode::Store { .. } => "store".into(),
        Opcode::ElementPointer { offset: Some(offset) } => format!("gep@{offset}"),
        Opcode::ElementPointer { offset: None } => "gep".into(),
        Opcode::Convert { is_signed: true } => "sconvert".into(),
        Opcode::Convert { is_signed: false } => "convert".into(),
        Opcode::Phi(_) => "phi".into(),
        other => format!("{other:?}").to_lowercase(),
    }
}
