//! The catalogue itself.

use crate::catalogue::{Set, find, operators};
use std::collections::BTreeSet;

/// As the paper prints it, but for its misprint of `OAAN`.
const TABLE_I: &str = "\
CRCR VTWD VGAR VLAR VGSR VLSR VSCR OAAA OAAN OABA OABN OAEA OALN OARN OASA OASN OBAA OBAN OBBA OBBN OBEA OBLN OBNG \
OBRN OBSA OBSN OEAA OEBA OESA OLAN OLBN OLLN OLNG OLRN OLSN ORAN ORBN ORLN ORRN ORSN OSAA OSAN OSBA OSBN OSEA OSLN \
OSRN OSSA OSSN OIPM OCNG OCOR";

#[test]
fn the_deminer_set_is_table_i() {
    let table: BTreeSet<&str> = TABLE_I.split(' ').collect();
    let ours: BTreeSet<&str> =
        operators().filter(|operator| operator.is_in(Set::Deminer)).map(|operator| operator.code).collect();
    assert_eq!(table.len(), 52);
    assert_eq!(ours, table);
    let not_made: Vec<_> =
        operators().filter(|operator| !operator.is_made()).map(|operator| operator.code).collect();
    assert_eq!(not_made, ["OIPM"]);
}

#[test]
fn names_and_codes_are_unique_and_sayable() {
    let mut seen = BTreeSet::new();
    for operator in operators() {
        assert!(seen.insert(operator.name), "`{}` is there twice", operator.name);
        assert!(seen.insert(operator.code), "`{}` is there twice", operator.code);
        assert!(operator.name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'));
        assert_eq!(find(operator.code).map(|found| found.name), Some(operator.name));
        for text in [operator.meaning, operator.surviving, operator.kill] {
            assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{text:?} is no sentence");
        }
    }
}
