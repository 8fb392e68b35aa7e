//! From addresses to the functions a person wrote.

use super::{
    image::{Image, Symbol},
    modules::Modules,
};
use cairn_model::Frame;
use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

/// Whose code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// The project's: its source lies below the project's folder.
    Project,
    /// Linked into the program, or inlined from elsewhere.
    Program,
    /// A library's.
    Library,
}

/// A frame and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) frame: Frame,
    pub(super) scope: Scope,
}

/// A stack with names; and, for a program that has none, where in the program it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stack {
    pub(super) places: Vec<Place>,
    pub(super) offsets: Vec<u64>,
}

/// Functions that lead to `main`.
const BEFORE_MAIN: [&str; 4] =
    ["__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl", "_start"];

impl Stack {
    /// Names what lies at `addresses`, innermost first.
    pub(super) fn at(addresses: &[u64], modules: &Modules, root: &Path) -> Self {
        let mut stack = Self::default();
        for address in addresses {
            let Some(module) = modules.at(*address) else { continue };
            stack.add(&module.image, address.wrapping_sub(module.bias), module.is_program, root);
        }
        stack
    }

    /// Adds what lies at an address of an image, with everything inlined there.
    pub(super) fn add(&mut self, image: &Image, address: u64, is_program: bool, root: &Path) {
        if is_program {
            self.offsets.push(address);
        }
        for symbol in image.symbols(address) {
            self.push(symbol, is_program, root);
        }
    }

    /// Adds a frame that has a name.
    pub(super) fn push(&mut self, symbol: Symbol, is_program: bool, root: &Path) {
        let Symbol { function, file, line } = symbol;
        let file = file.map(|file| normal(Path::new(&file)));
        let (file, is_inside) = match file.as_ref().map(|file| (file, file.strip_prefix(root))) {
            Some((_, Ok(inside))) => (Some(inside.display().to_string()), true),
            Some((file, Err(_))) => (Some(file.display().to_string()), file.is_relative()),
            None => (None, false),
        };
        let scope = match (is_program, is_inside) {
            (true, true) => Scope::Project,
            (true, false) => Scope::Program,
            (false, _) => Scope::Library,
        };
        self.places.push(Place { frame: Frame { function, file, line }, scope });
    }

    /// Takes out what tells nothing about the program: what calls `main`, what is ours, and, where the program ended
    /// itself or a sanitizer did, what did the ending.
    pub(super) fn trim(&mut self, has_ended_itself: bool) {
        let places = &mut self.places;
        // What is left of `main` if it ends with a call is nothing.
        let is_before_main = |place: &Place| BEFORE_MAIN.contains(&place.frame.function.as_str());
        if let Some(start) = places.iter().position(is_before_main) {
            places.truncate(start);
        }
        let is_start = |place: &Place| {
            place.scope != Scope::Library
                && ["main", "LLVMFuzzerTestOneInput"].contains(&place.frame.function.as_str())
        };
        // The innermost that starts an input: a harness is called by a `main` of ours.
        let harness = places.iter().rposition(|place| {
            place.scope != Scope::Library && place.frame.function == "LLVMFuzzerTestOneInput"
        });
        if let Some(start) = harness.or_else(|| places.iter().rposition(is_start)) {
            places.truncate(start + 1);
        }
        places.retain(|place| !place.frame.function.starts_with("cairn_"));
        let first = places.iter().position(|place| place.scope == Scope::Project);
        if let Some(first) = first.filter(|_| has_ended_itself) {
            places.drain(..first);
        }
    }

    /// The frames that tell failures apart: the project's own, or the nearest to that there are.
    pub(super) fn own(&self) -> impl Iterator<Item = &Frame> {
        let nearest = self.places.iter().map(|place| place.scope).min();
        self.places.iter().filter(move |place| Some(place.scope) == nearest).map(|place| &place.frame)
    }

    /// Where most of several stacks of one run are: from the outermost function on, as long as three quarters of them agree.
    ///
    /// A loop that never ends calls functions and comes back. If all stacks had to agree, chance would decide whether a
    /// function belongs to them that is left only now and then: one look in a hundred finds the loop outside of it.
    pub(super) fn common(stacks: &[Self]) -> Self {
        Self::agreed(stacks, (3 * stacks.len()).div_ceil(4))
    }

    /// Where a run with these stacks may be found another time: as more of them have to agree, or fewer, but more than half.
    pub(super) fn doubtful(stacks: &[Self]) -> Vec<Self> {
        let mut doubtful: Vec<Self> =
            (stacks.len() / 2 + 1..=stacks.len()).map(|quorum| Self::agreed(stacks, quorum)).collect();
        doubtful.dedup();
        doubtful
    }

    fn agreed(stacks: &[Self], quorum: usize) -> Self {
        let places: Vec<&[Place]> = stacks.iter().map(|stack| &stack.places[..]).collect();
        let offsets: Vec<&[u64]> = stacks.iter().map(|stack| &stack.offsets[..]).collect();
        Self {
            places: agreed(places, quorum, |place| (&place.frame.function, &place.frame.file)),
            offsets: agreed(offsets, quorum, |offset| offset),
        }
    }
}

/// The items at the end of lists on which at least `quorum` of them agree, at least one if there is any; `name` says what is the
/// same.
fn agreed<'a, T: Clone, K: Ord>(mut lists: Vec<&'a [T]>, quorum: usize, name: impl Fn(&'a T) -> K) -> Vec<T> {
    let mut agreed: Vec<T> = Vec::new();
    loop {
        let mut groups: BTreeMap<K, Vec<&'a [T]>> = BTreeMap::new();
        for list in &lists {
            if let Some(item) = list.iter().rev().nth(agreed.len()) {
                groups.entry(name(item)).or_default().push(list);
            }
        }
        let largest = groups.into_values().max_by_key(Vec::len).unwrap_or_default();
        let is_enough = largest.len() >= quorum || agreed.is_empty();
        let item = largest.first().and_then(|list| list.iter().rev().nth(agreed.len()));
        let Some(item) = item.filter(|_| is_enough) else { break };
        agreed.push(item.clone());
        lists = largest;
    }
    agreed.reverse();
    agreed
}

/// Takes `.` and `..` out of a path by its text, as compilers show paths.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A stack in text: one function a line, innermost first, as `function file:line`, `function` without a source, or
    /// `function @libc` in a library.
    pub(in super::super) fn stack(text: &str) -> Stack {
        let mut stack = Stack::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (function, place) = line.split_once(' ').unwrap_or((line, ""));
            let (file, line) = match place.split_once(':') {
                Some((file, line)) => (Some(format!("/p/{file}")), line.parse().ok()),
                None => (None, None),
            };
            let symbol = Symbol { function: function.into(), file, line };
            stack.push(symbol, !place.starts_with('@'), Path::new("/p"));
        }
        stack
    }

    fn names(stack: &Stack) -> String {
        stack.places.iter().map(|place| place.frame.function.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn who_ended_the_program_is_left_out_and_who_called_it() {
        let mut aborted =
            stack("raise @libc\nabort @libc\ndie a.c:3\nmain a.c:9\n__libc_start_main @libc\n_start");
        aborted.trim(true);
        assert_eq!(names(&aborted), "die main");
        let mut crashed = stack("strlen @libc\nname a.c:3\nmain a.c:9\n_start");
        crashed.trim(false);
        assert_eq!(names(&crashed), "strlen name main");
    }

    #[test]
    fn a_harness_is_the_outermost_function_of_its_program() {
        let mut harness = stack("parse a.c:3\nLLVMFuzzerTestOneInput h.c:2\ncairn_harness_main\nmain");
        harness.trim(false);
        assert_eq!(names(&harness), "parse LLVMFuzzerTestOneInput");
    }

    #[test]
    fn a_hang_is_where_all_its_samples_are() {
        let one = stack("read a.c:2\nstep a.c:5\nloop a.c:8\nmain a.c:11");
        let two = stack("step a.c:6\nloop a.c:9\nmain a.c:11");
        let three = stack("loop a.c:8\nmain a.c:11");
        assert_eq!(names(&Stack::common(&[one.clone(), two.clone()])), "step loop main");
        assert_eq!(names(&Stack::common(&[one, two, three])), "loop main");
        assert_eq!(names(&Stack::common(&[])), "");
    }

    #[test]
    fn a_rare_look_from_elsewhere_does_not_move_a_hang() {
        let inside = stack("step a.c:6\nloop a.c:9\nmain a.c:11");
        let outside = stack("loop a.c:8\nmain a.c:11");
        let seen = |n_inside: usize| {
            let stacks = [vec![inside.clone(); n_inside], vec![outside.clone(); 16 - n_inside]].concat();
            let doubtful: Vec<String> = Stack::doubtful(&stacks).iter().map(names).collect();
            (names(&Stack::common(&stacks)), doubtful.join(", "))
        };
        let (step, both, outer) = ("step loop main", "step loop main, loop main", "loop main");
        let is = |n_inside: usize, common: &str, doubtful: &str| {
            assert_eq!(seen(n_inside), (common.into(), doubtful.into()), "{n_inside} of 16");
        };
        is(16, step, step);
        is(15, step, both);
        is(12, step, both);
        is(11, outer, both);
        is(9, outer, both);
        is(8, outer, outer);
        is(0, outer, outer);
    }

    #[test]
    fn paths_are_relative_to_the_project() {
        let mut stack = Stack::default();
        for file in ["/p/src/./x/../a.c", "/usr/include/c++/12/vector"] {
            let symbol = Symbol { function: "f".into(), file: Some(file.into()), line: Some(1) };
            stack.push(symbol, true, Path::new("/p"));
        }
        let shown: Vec<_> = stack.places.iter().map(|place| place.frame.to_string()).collect();
        assert_eq!(shown, ["f at src/a.c:1", "f at /usr/include/c++/12/vector:1"]);
        assert_eq!(stack.own().count(), 1);
    }
}
