//! Which expressions have text of their own where macros are involved.
//!
//! The text of a macro's use is all there is to see of what it becomes. With `#define ADD1(a) a + 1`, the product in
//! `ADD1(x) * 2` is `1 * 2`, which is written nowhere: it begins in the middle of the macro and ends behind it. An
//! expression that holds a use as a whole has a text, and whether it does is a matter of how tightly operators bind:
//! those outside the macro against those that stand open in what it becomes.

mod binding;
mod expansion;

pub use self::binding::Operator;

use self::{binding::binding, expansion::Definition};
use crate::{
    clang::{Cursor, File},
    source::{Scanner, Sources},
};
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    rc::Rc,
};

/// The macros of a unit.
pub struct Macros<'u> {
    cursors: HashMap<String, Vec<Cursor<'u>>>,
    own: HashSet<String>,
    definitions: RefCell<HashMap<String, Option<Rc<Definition>>>>,
    bindings: RefCell<HashMap<(File, usize), u8>>,
}

impl<'u> Macros<'u> {
    /// Of the definitions of a unit.
    pub fn of(definitions: Vec<Cursor<'u>>) -> Self {
        let mut macros = Self {
            cursors: HashMap::new(),
            own: HashSet::new(),
            definitions: RefCell::default(),
            bindings: RefCell::default(),
        };
        for cursor in definitions {
            let name = cursor.spelling();
            if !cursor.location().is_in_system_header() {
                macros.own.insert(name.clone());
            }
            macros.cursors.entry(name).or_default().push(cursor);
        }
        macros
    }

    /// Whether a macro is defined outside system headers.
    pub fn is_own(&self, name: &str) -> bool {
        self.own.contains(name)
    }

    /// Whether an operand of `operator` that begins with the use of a macro at `offset` begins where that begins.
    pub fn holds_on_the_left(&self, sources: &Sources<'u>, at: (File, usize), operator: Operator) -> bool {
        operator.leaves_left_whole(self.binding(sources, at))
    }

    /// Whether an operand of `operator` that ends in the use of a macro at `offset` ends where that ends.
    pub fn holds_on_the_right(&self, sources: &Sources<'u>, at: (File, usize), operator: Operator) -> bool {
        operator.leaves_right_whole(self.binding(sources, at))
    }

    fn binding(&self, sources: &Sources<'u>, (file, offset): (File, usize)) -> u8 {
        if let Some(known) = self.bindings.borrow().get(&(file, offset)) {
            return *known;
        }
        let text = sources.text(file);
        let end = Scanner::at(text, offset).end_of_macro_use();
        let used = sources.tokens_between(file, offset, end);
        let expanded = expansion::expand(used, &|name| self.definition(name));
        let found = expanded.map_or(0, |tokens| binding(&tokens, binding::ends_operand(&text[..offset])));
        self.bindings.borrow_mut().insert((file, offset), found);
        found
    }

    /// What a name stands for, if it stands for the same everywhere; `None` for what is no macro.
    fn definition(&self, name: &str) -> Option<Rc<Definition>> {
        if let Some(known) = self.definitions.borrow().get(name) {
            return known.clone();
        }
        let found = self.cursors.get(name).map(|cursors| {
            let mut read = cursors
                .iter()
                .map(|cursor| Definition::read(cursor.tokens(), cursor.is_function_like_macro()));
            let first = read.next().unwrap_or(Definition::Unknown);
            Rc::new(if read.all(|other| other == first) { first } else { Definition::Unknown })
        });
        self.definitions.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }
}
