//! Programs written down as all their paths, and searches through them.
//!
//! ```text
//!   a+ (f-) b+     the start; what is in parentheses does not depend on the input
//!   a+ (f-) b-     `*` is a branch of a library function
//!   a-
//! ```
#![allow(dead_code, reason = "each test binary uses its own part")]

use cairn_model::{
    BlockId, ConditionId, CounterId, DecisionId, FunctionId, ProgramMap, StableId,
    facts::{Extent, Place},
    map::{Block, Branch, Condition, ConditionFeatures, ConditionKind, Edge, Function},
};
use cairn_search::{Question, Run, Search, Selector, Settled, Turn, TurnKind};

const PLACE: Place = Place { file: 0, line: 1, column: 1 };

/// A program of conditions `a` to `z`, all in `main`.
pub struct Program {
    pub map: ProgramMap,
    /// All its paths, the start first.
    paths: Vec<Vec<Turn>>,
}

impl Program {
    /// As written; the way from one condition to the next is the map's.
    pub fn new(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let paths: Vec<Vec<Turn>> =
            lines.iter().map(|line| line.split_whitespace().map(turn).collect()).collect();
        let map = map(&paths);
        Self { map, paths }
    }

    pub fn path(&self, index: usize) -> &[Turn] {
        &self.paths[index]
    }

    /// The path on which a turn is decided otherwise, if there is one.
    pub fn flipped(&self, turns: &[Turn], index: usize) -> Option<usize> {
        let symbolic =
            |path: &[Turn]| -> Vec<Turn> { path.iter().copied().filter(Turn::is_symbolic).collect() };
        let mut wanted = symbolic(turns)[..=index].to_vec();
        wanted[index].direction = !wanted[index].direction;
        self.paths.iter().position(|path| symbolic(path).starts_with(&wanted))
    }

    /// The counters that a path leaves.
    pub fn counters(&self, path: &[Turn]) -> Vec<u8> {
        let mut counters = vec![0; self.map.n_counters as usize];
        for branch in path.iter().filter_map(Turn::branch) {
            counters[counter(branch).index()] = 1;
        }
        counters
    }
}

/// Searches a program from its first path until nothing is left or `most` questions were asked; one line for each.
pub fn order(program: &Program, selector: Box<dyn Selector>, most: usize) -> String {
    let mut searched = Searched::new(program, selector, 1);
    let mut text = String::new();
    for _ in 0..most {
        let Some(line) = searched.step() else { break };
        text.push_str(&line);
        text.push('\n');
    }
    if searched.search.view(&program.map).tree.is_exhausted() {
        text.push_str("exhausted\n");
    }
    text
}

/// A search under way.
pub struct Searched<'a> {
    pub program: &'a Program,
    pub search: Search,
    /// Which path of the program each path of the tree is.
    pub known: Vec<usize>,
}

impl<'a> Searched<'a> {
    pub fn new(program: &'a Program, selector: Box<dyn Selector>, seed: u64) -> Self {
        let mut search = Search::new(&program.map, selector, usize::MAX, seed);
        let counters = program.counters(program.path(0));
        search.begin(&program.map, Run { turns: program.path(0), counters: &counters });
        Self { program, search, known: vec![0] }
    }

    /// The question that would be asked next.
    pub fn choose(&mut self) -> Option<Question> {
        self.search.choose(&self.program.map)
    }

    /// One question and what came of it.
    pub fn step(&mut self) -> Option<String> {
        let question = self.choose()?;
        Some(self.ask(question))
    }

    pub fn ask(&mut self, question: Question) -> String {
        let turns = self.program.path(self.known[question.path.0 as usize]);
        let turn = turns.iter().filter(|turn| turn.is_symbolic()).nth(question.index).unwrap();
        let asked = format!("{} of {}:", name(turn), question.path.0);
        let Some(found) = self.program.flipped(turns, question.index) else {
            self.search.settle(&self.program.map, question, Settled::Unsat);
            return format!("{asked} unsat");
        };
        let path = self.program.path(found);
        let counters = self.program.counters(path);
        let run = Run { turns: path, counters: &counters };
        self.search.settle(&self.program.map, question, Settled::Flipped(run));
        self.known.push(found);
        format!("{asked} {}", path.iter().map(show).collect::<Vec<_>>().join(" "))
    }
}

fn turn(word: &str) -> Turn {
    let inner = word.trim_matches(['(', ')']);
    let (name, sign) = inner.split_at(inner.len() - 1);
    let condition = (name != "*").then(|| ConditionId(u32::from(name.as_bytes()[0] - b'a')));
    let kind = match (word.starts_with('('), condition) {
        (true, _) => TurnKind::Fixed,
        (false, None) => TurnKind::Library,
        (false, Some(_)) => TurnKind::Program,
    };
    Turn { condition, direction: sign == "+", kind }
}

fn name(turn: &Turn) -> String {
    turn.condition.map_or("*".into(), |condition| char::from(b'a' + condition.0 as u8).to_string())
}

fn show(turn: &Turn) -> String {
    let text = format!("{}{}", name(turn), if turn.direction { '+' } else { '-' });
    if turn.is_symbolic() { text } else { format!("({text})") }
}

fn counter(branch: Branch) -> CounterId {
    CounterId(2 * branch.condition.0 + u32::from(branch.direction))
}

/// A block for each condition, from which ways lead as paths go; the last block returns.
fn map(paths: &[Vec<Turn>]) -> ProgramMap {
    let named: Vec<Vec<Branch>> =
        paths.iter().map(|path| path.iter().filter_map(Turn::branch).collect()).collect();
    let n = named.iter().flatten().map(|branch| branch.condition.0 + 1).max().unwrap_or(0);
    let next = |branch: Branch| {
        let after = named.iter().flat_map(|path| path.windows(2)).find(|pair| pair[0] == branch);
        after.map_or(BlockId(n), |pair| BlockId(pair[1].condition.0))
    };
    let edge = |branch: Branch| Edge {
        to: next(branch),
        counter: Some(counter(branch)),
        shows: Some(branch),
        is_sure: false,
    };
    let branches =
        |condition| [true, false].map(|direction| Branch { condition: ConditionId(condition), direction });
    let mut blocks: Vec<Block> = (0..n)
        .map(|condition| Block { successors: branches(condition).map(edge).to_vec(), ..Block::default() })
        .collect();
    blocks.push(Block { returns: true, ..Block::default() });
    let condition = |id: u32| {
        let [when_true, when_false] = branches(id).map(|branch| vec![counter(branch)]);
        Condition {
            stable_id: StableId(id.into()),
            function: FunctionId(0),
            decision: DecisionId(id),
            kind: ConditionKind::Branch,
            text: char::from(b'a' + id as u8).to_string(),
            extent: Extent { start: PLACE, end: PLACE },
            macro_name: None,
            block: BlockId(id),
            when_true,
            when_false,
            features: ConditionFeatures::default(),
            site: None,
            is_joined: true,
        }
    };
    ProgramMap {
        functions: vec![function("main", 0..n + 1)],
        blocks,
        conditions: (0..n).map(condition).collect(),
        n_counters: 2 * n,
        ..ProgramMap::default()
    }
}

/// A function with these blocks.
pub fn function(name: &str, blocks: std::ops::Range<u32>) -> Function {
    Function {
        stable_id: StableId(blocks.start.into()),
        name: name.into(),
        symbol: name.into(),
        place: PLACE,
        end_line: 1,
        blocks,
        in_scope: true,
        n_copies: 1,
    }
}
