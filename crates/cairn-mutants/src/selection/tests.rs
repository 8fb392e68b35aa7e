use super::*;
use crate::testing::single_site;
use cairn_model::{
    FunctionId, SiteId,
    map::{Extent, Function, Place, SourceFile},
    mutants::{Change, LogicalChange, Patch, ValueType},
};
use expect_test::{Expect, expect};

/// Two files with a function each, two lines a function, three mutants a line.
fn program() -> (ProgramMap, MutantTable) {
    let (mut map, site) = single_site("src/sort.c", "x");
    map.files.push(SourceFile { path: "lib/heap.c".to_owned(), absolute: "/lib/heap.c".to_owned() });
    map.functions.push(Function {
        name: "push".to_owned(),
        symbol: "heap.push".to_owned(),
        ..map.functions[0].clone()
    });
    let mut table = MutantTable { set: "compact".to_owned(), ..MutantTable::default() };
    table.functions = vec![FunctionId(0), FunctionId(1)];
    for number in 0..4u32 {
        let (file, line) = (number / 2, 10 + number % 2);
        let place = |column| Place { file, line, column };
        map.sites.push(Site {
            function: FunctionId(file),
            extent: Extent { start: place(5), end: place(6) },
            ..site.clone()
        });
        let first = 3 * number;
        table.patches.push(Patch {
            site: SiteId(number),
            spot: 0,
            function: file,
            value_type: ValueType::Bool,
            is_observable: true,
            mutants: first..first + 3,
            first_selector: 4 * number + 1,
        });
        for (kind, operator) in ["math", "conditional-boundary", "value-twiddle"].into_iter().enumerate() {
            table.mutants.push(Mutant {
                stable_id: StableId::from_key(&[&number.to_string(), operator]),
                patch: PatchId(number),
                operator: operator.to_owned(),
                code: String::new(),
                replacement: kind.to_string(),
                is_plain_text: true,
                change: Change::Logical(LogicalChange::Swap),
            });
        }
    }
    (map, table)
}

fn check(selection: Selection, expected: Expect) {
    let (map, table) = program();
    let shown = match selection.select(&map, &table) {
        Ok(ids) => ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(" "),
        Err(problem) => problem.to_string(),
    };
    expected.assert_eq(&shown);
}

fn some() -> Selection {
    Selection::default()
}

#[test]
fn everything_is_selected_unless_asked() {
    check(some(), expect!["0 1 2 3 4 5 6 7 8 9 10 11"]);
}

#[test]
fn each_filter_keeps_what_it_names() {
    check(Selection { operators: Some("mu2".parse().unwrap()), ..some() }, expect!["0 1 3 4 6 7 9 10"]);
    check(Selection { files: vec!["sort.c".into()], ..some() }, expect!["0 1 2 3 4 5"]);
    check(Selection { files: vec!["lib/".into()], ..some() }, expect!["6 7 8 9 10 11"]);
    check(Selection { functions: vec!["heap.push".into()], ..some() }, expect!["6 7 8 9 10 11"]);
    check(
        Selection { lines: vec![Lines { path: "src/sort.c".into(), lines: 11..=20 }], ..some() },
        expect!["3 4 5"],
    );
    check(Selection { reached: Some([PatchId(2)].into()), ..some() }, expect!["6 7 8"]);
    let named = Selection { mutants: [MutantId(7)].into(), ..some() };
    check(Selection { total: Some(1), ..named }, expect!["7"]);
    let diff = "--- a/project/lib/heap.c\n+++ b/project/lib/heap.c\n@@ -9,0 +10 @@\n+x\n".parse().unwrap();
    check(Selection { diff: Some(diff), ..some() }, expect!["6 7 8"]);
}

#[test]
fn the_filter_that_leaves_nothing_is_named() {
    check(
        Selection { operators: Some("OAAN,OABN".parse().unwrap()), ..some() },
        expect!["none of 12 mutants is of the operators `OAAN,OABN`"],
    );
    check(
        Selection { files: vec!["ort.c".into(), "x.c".into()], ..some() },
        expect!["none of 12 mutants is in `ort.c` or `x.c`"],
    );
    check(
        Selection { files: vec!["sort.c".into()], functions: vec!["push".into()], ..some() },
        expect!["none of 6 mutants is in `push`"],
    );
    check(
        Selection { lines: vec![Lines { path: "sort.c".into(), lines: 1..=9 }], ..some() },
        expect!["none of 12 mutants is on `sort.c:1-9`"],
    );
    check(
        Selection { diff: Some(ChangedLines::default()), ..some() },
        expect!["none of 12 mutants is on a line that the diff adds"],
    );
    check(Selection { reached: Some(BTreeSet::new()), ..some() }, expect!["none of 12 mutants is reached"]);
    let (map, mut table) = program();
    table.mutants.clear();
    assert_eq!(
        some().select(&map, &table).unwrap_err().to_string(),
        "no mutants were built with the operators `compact`"
    );
}

#[test]
fn samples_depend_on_the_seed_alone() {
    let (map, table) = program();
    let sample = |seed| Selection { total: Some(5), seed, ..some() }.select(&map, &table).unwrap();
    assert_eq!(sample(1), sample(1));
    assert_eq!(sample(1).len(), 5);
    assert!((2..20).any(|seed| sample(seed) != sample(1)));
}

#[test]
fn each_line_has_its_share() {
    let (map, table) = program();
    let chosen = Selection { per_line: Some(1), ..some() }.select(&map, &table).unwrap();
    let lines: Vec<u32> = chosen.iter().map(|id| id.0 / 3).collect();
    assert_eq!(lines, [0, 1, 2, 3]);
}

#[test]
fn a_sample_keeps_its_members_when_others_leave() {
    let (map, table) = program();
    let reached: BTreeSet<PatchId> = [PatchId(0), PatchId(1), PatchId(2)].into();
    let of_all = Selection { total: Some(6), seed: 3, ..some() };
    let all = of_all.select(&map, &table).unwrap();
    let fewer = Selection { reached: Some(reached), ..of_all }.select(&map, &table).unwrap();
    let kept: Vec<_> = all.iter().filter(|id| id.0 < 9).collect();
    assert!(kept.iter().all(|id| fewer.contains(id)), "{all:?} and {fewer:?}");
}
