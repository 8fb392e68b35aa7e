//! Which variables belong to an input.
//!
//! A suite has dozens of variables that no program under test asks for: those of its shell, of make, of its own
//! scripts. A program can only ask for a variable whose name it contains, so the names in the program decide, with the
//! few that the C library asks for by itself. Names with small letters are the suite's: POSIX leaves them to
//! applications.

use crate::{reasons::Note, settings::Settings};
use cairn_model::input::{Bytes, Setting};
use std::collections::BTreeSet;

/// Variables that say something about the suite even where a program knows them.
///
/// Those of shells, make and the dynamic linker; `PATH` because a run has one of its own. Locale and time zone are
/// treated apart.
const NOISE: [&str; 13] = [
    "PWD", "OLDPWD", "SHLVL", "_", "PATH", "SHELL", "MAKE*", "MFLAGS", "LD_*", "LANG", "LANGUAGE", "LC_*",
    "TZ",
];

/// Variables that the C library asks for on behalf of every program.
const OF_THE_LIBRARY: [&str; 3] = ["POSIXLY_CORRECT", "LOCPATH", "NLSPATH"];

/// The environment of an input.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Variables {
    /// What differs from the environment of `cairn record`, by name.
    pub environment: Vec<(String, Bytes)>,
    /// Locale and time zone.
    pub setting: Setting,
    /// What could not be said.
    pub notes: BTreeSet<Note>,
}

/// The words in a program that could be names of variables, one a line.
///
/// In an executable a name ends with a zero; it may be the end of a longer one, because linkers share endings.
pub fn names_in(program: &[u8]) -> String {
    let is_executable = program.starts_with(b"\x7fELF");
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let mut names = BTreeSet::new();
    let mut start = 0;
    for end in 0..=program.len() {
        let next = program.get(end).copied();
        if next.is_some_and(is_part) {
            continue;
        }
        if end - start > 1 && (!is_executable || next == Some(0)) {
            names.insert(&program[start..end]);
        }
        start = end + 1;
    }
    names.into_iter().flat_map(|name| name.iter().chain(b"\n")).map(|byte| char::from(*byte)).collect()
}

/// Chooses from the variables of a call.
pub(crate) fn choose(variables: &[(Vec<u8>, Vec<u8>)], settings: &Settings) -> Variables {
    let mut chosen = Variables::default();
    for (name, value) in variables {
        let is_usual = settings.baseline.iter().any(|(other, usual)| other.0 == *name && usual.0 == *value);
        // A name that is no text is none the program was asked to know.
        if let (false, Ok(name)) = (is_usual, std::str::from_utf8(name))
            && belongs(name, settings)
        {
            chosen.environment.push((name.to_string(), value.clone().into()));
        }
    }
    choose_setting(variables, &mut chosen);
    chosen.environment.sort();
    chosen.environment.dedup_by(|later, earlier| later.0 == earlier.0);
    chosen
}

fn belongs(name: &str, settings: &Settings) -> bool {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
    if any(&settings.ignored_variables) {
        return false;
    }
    if any(&settings.kept_variables) {
        return true;
    }
    let is_noise = NOISE.iter().any(|pattern| matches(pattern, name));
    let is_known =
        || OF_THE_LIBRARY.contains(&name) || settings.known_variables.contains(&format!("{name}\n"));
    !is_noise && !name.contains(|c: char| c.is_ascii_lowercase()) && is_known()
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// `LC_ALL` rules; single categories can only rule when it is empty; `LANG` alone is as good as `LC_ALL`.
fn choose_setting(variables: &[(Vec<u8>, Vec<u8>)], chosen: &mut Variables) {
    let text = |notes: &mut BTreeSet<Note>, wanted: &str| -> Option<String> {
        let (_, value) = variables.iter().find(|(name, _)| name == wanted.as_bytes())?;
        let text = String::from_utf8(value.clone()).ok();
        if text.is_none() {
            notes.insert(Note::VariableIsNoText);
        }
        text
    };
    let notes = &mut chosen.notes;
    if let Some(zone) = text(notes, "TZ") {
        chosen.setting.time_zone = zone;
    }
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let all = filled(text(notes, "LC_ALL"));
    let language = filled(text(notes, "LANG"));
    let categories: Vec<(String, Bytes)> = variables
        .iter()
        .filter(|(name, value)| name.starts_with(b"LC_") && name != b"LC_ALL" && !value.is_empty())
        .filter_map(|(name, value)| Some((String::from_utf8(name.clone()).ok()?, value.clone().into())))
        .collect();
    let preferred = filled(text(notes, "LANGUAGE"));
    match (all, language) {
        (Some(all), _) => chosen.setting.locale = all,
        (None, language) if !categories.is_empty() => {
            chosen.setting.locale = String::new();
            chosen.environment.extend(categories);
            chosen.environment.extend(language.map(|language| ("LANG".into(), language.into())));
        }
        (None, Some(language)) => chosen.setting.locale = language,
        (None, None) => {}
    }
    // Messages follow `LANGUAGE` only where the locale is not the plain one.
    if !["C", "POSIX"].contains(&chosen.setting.locale.as_str()) {
        chosen.environment.extend(preferred.map(|preferred| ("LANGUAGE".into(), preferred.into())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Limits;
    use expect_test::{Expect, expect};

    fn check(variables: &[&str], expected: Expect) {
        let split = |text: &str| {
            let (name, value) = text.split_once('=').unwrap();
            (name.as_bytes().to_vec(), value.as_bytes().to_vec())
        };
        let settings = Settings {
            program: "/p".into(),
            original: "/o".into(),
            into: "/i".into(),
            session: "/s".into(),
            started: 0,
            name: None,
            limits: Limits::default(),
            baseline: vec![("USER".into(), "me".into()), ("COLUMNS".into(), "80".into())],
            known_variables: "COLUMNS\nMAKEFLAGS\nMY_TEST\nTHE_USER\n".into(),
            kept_variables: vec!["http_*".into()],
            ignored_variables: vec!["MY_*".into()],
        };
        let variables: Vec<_> = variables.iter().map(|text| split(text)).collect();
        let chosen = choose(&variables, &settings);
        let setting = &chosen.setting;
        let text = format!("{:?} locale={} zone={}", chosen.environment, setting.locale, setting.time_zone);
        expected.assert_eq(&text);
    }

    #[test]
    fn only_what_differs_and_what_the_program_knows_is_chosen() {
        check(
            &[
                "USER=me",
                "COLUMNS=40",
                "SHLVL=3",
                "MAKEFLAGS=-j",
                "MY_TEST=1",
                "POSIXLY_CORRECT=",
                "srcdir=/x",
            ],
            expect![[r#"[("COLUMNS", "40"), ("POSIXLY_CORRECT", "")] locale=C zone=UTC"#]],
        );
        check(
            &["USER=you", "COLUMNS=80", "TEST_NAME=1", "http_proxy=p"],
            expect![[r#"[("USER", "you"), ("http_proxy", "p")] locale=C zone=UTC"#]],
        );
    }

    #[test]
    fn the_locale_is_the_one_the_program_would_use() {
        check(
            &["LC_ALL=C.UTF-8", "LANG=de_DE", "TZ=Asia/Tokyo"],
            expect!["[] locale=C.UTF-8 zone=Asia/Tokyo"],
        );
        check(
            &["LC_ALL=", "LANG=de_DE", "LANGUAGE=nl"],
            expect![[r#"[("LANGUAGE", "nl")] locale=de_DE zone=UTC"#]],
        );
        check(&["LC_ALL=C", "LANGUAGE=nl"], expect!["[] locale=C zone=UTC"]);
        check(
            &["LANG=de_DE", "LC_COLLATE=C"],
            expect![[r#"[("LANG", "de_DE"), ("LC_COLLATE", "C")] locale= zone=UTC"#]],
        );
    }

    #[test]
    fn names_are_found_in_executables_and_scripts() {
        assert_eq!(names_in(b"\x7fELF\x02TMPDIR\0ab\0CD!X_1\0"), "TMPDIR\nX_1\n");
        assert_eq!(names_in(b"echo $MOOD ${IT_2}\necho $LAST"), "IT_2\nLAST\nMOOD\n");
    }
}
