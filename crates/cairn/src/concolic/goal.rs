//! Where a new input is to come, as users name it.

use crate::failure::Failure;
use cairn_model::{
    BlockId, ConditionId, Coverage, ProgramMap,
    distance::{CallGraph, Distances},
    map::{Branch, Condition},
};

/// Where a new input is to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// One of these conditions is to be decided, in this direction or in either.
    Branch {
        /// The conditions.
        conditions: Vec<ConditionId>,
        /// The direction, if only one will do.
        direction: Option<bool>,
    },
    /// A line is to be executed.
    Line {
        /// The number of its file in the map.
        file: u32,
        /// Its number.
        line: u32,
    },
}

impl Goal {
    /// Reads `ID[:true|false]` or `FILE:LINE[:COLUMN][:true|false]`.
    pub fn branch(map: &ProgramMap, text: &str) -> Result<Self, Failure> {
        let (name, direction) = match text.rsplit_once(':') {
            Some((name, "true")) => (name, Some(true)),
            Some((name, "false")) => (name, Some(false)),
            _ => (text, None),
        };
        let is_named = |condition: &Condition| {
            let place = map.show(condition.extent.start);
            let line = place.rsplit_once(':').map_or("", |(line, _)| line);
            condition.stable_id.to_string() == name || is_place(&place, name) || is_place(line, name)
        };
        let conditions: Vec<ConditionId> = map
            .conditions_with_ids()
            .filter(|(_, condition)| is_named(condition))
            .map(|(id, _)| id)
            .collect();
        if conditions.is_empty() {
            return Err(Failure::usage(format!("there is no condition `{name}`"))
                .hint("`cairn map` lists the conditions of a program with their ids and places"));
        }
        Ok(Self::Branch { conditions, direction })
    }

    /// Reads `FILE:LINE`.
    pub fn line(map: &ProgramMap, text: &str) -> Result<Self, Failure> {
        let wrong = || Failure::usage(format!("`{text}` is no line")).hint("write `file.c:12`");
        let (path, line) = text.rsplit_once(':').ok_or_else(wrong)?;
        let line: u32 = line.parse().map_err(|_| wrong())?;
        let file = map.files.iter().position(|file| is_place(&file.path, path));
        let file = file.ok_or_else(|| Failure::usage(format!("the program has no file `{path}`")))? as u32;
        let goal = Self::Line { file, line };
        if goal.blocks(map).is_empty() {
            return Err(Failure::usage(format!("there is no code in line {line} of `{path}`"))
                .hint("name a line with a statement; code that is never compiled has none"));
        }
        Ok(goal)
    }

    /// Whether runs have come there.
    pub fn is_met(&self, map: &ProgramMap, coverage: &Coverage) -> bool {
        match self {
            Self::Branch { conditions, direction } => {
                let wanted = direction.map_or(vec![true, false], |direction| vec![direction]);
                conditions.iter().any(|condition| {
                    let covers = |direction: &bool| {
                        coverage.covers(map, Branch { condition: *condition, direction: *direction })
                    };
                    wanted.iter().any(covers)
                })
            }
            Self::Line { file, line } => coverage.lines(map).get(&(*file, *line)).copied().unwrap_or(false),
        }
    }

    /// For people.
    pub fn show(&self, map: &ProgramMap) -> String {
        match self {
            Self::Branch { conditions, direction } => {
                let place = |id: &ConditionId| {
                    let condition = &map.conditions[id.index()];
                    format!("{} `{}`", map.show(condition.extent.start), condition.text)
                };
                let names: Vec<String> = conditions.iter().map(place).collect();
                let direction = direction.map_or(String::new(), |direction| format!(" {direction}"));
                format!("{}{direction}", names.join(", "))
            }
            Self::Line { file, line } => {
                format!("{}:{line}", map.files.get(*file as usize).map_or("?", |file| file.path.as_str()))
            }
        }
    }

    /// How far it is from every block of the program, one table for each place that would do.
    pub fn distances(&self, map: &ProgramMap) -> Vec<Distances> {
        let graph = CallGraph::of(map);
        self.blocks(map).into_iter().map(|block| graph.distances_to(map, block)).collect()
    }

    fn blocks(&self, map: &ProgramMap) -> Vec<BlockId> {
        match self {
            Self::Branch { conditions, .. } => {
                conditions.iter().map(|condition| map.conditions[condition.index()].block).collect()
            }
            Self::Line { file, line } => {
                let holds = |index: &usize| map.blocks[*index].lines.contains(&(*file, *line));
                (0..map.blocks.len()).filter(holds).map(|index| BlockId(index as u32)).collect()
            }
        }
    }
}

/// Whether a user who writes `name` means `path`: its whole, or what follows a slash.
fn is_place(path: &str, name: &str) -> bool {
    path == name || path.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
}
