//! Mutants compiled alone: what the mutant view is compared with.

use super::{
    build::{ViewError, ViewRequest, build_views, file_part, io_error, work_folder},
    instrument::instrument,
    link::{Link, Linked},
    own_code,
};
use crate::{Settings, record::BuildRecord, store};
use cairn_model::StableId;
use std::{ffi::OsString, fs, path::PathBuf};

/// Mutants that one run of the instrumenter makes where each is an object of the whole program.
const AT_ONCE: usize = 32;

/// Likewise where each is an object of a function.
const SMALL_AT_ONCE: usize = 256;

/// The object with the rest of the program, beside the mutants that are compiled apart.
const REST: &str = "rest.o";

/// What makes mappings lie elsewhere.
const FENCE: &str = "fence";

/// Links that run at the same time.
const LINKS_AT_ONCE: usize = 4;

/// How a mutant is compiled alone.
///
/// One that does something else in one way than in another does what C leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// Optimised as the bare build is.
    Optimised,
    /// Likewise, but the function that it changes by itself, and the rest of the program once for all mutants: that is
    /// many times faster.
    Apart,
    /// Not at all, and with mappings that lie elsewhere.
    Unoptimised,
    /// Not optimised, with the checks of AddressSanitizer.
    Checked,
}

impl Alone {
    fn folder(self) -> &'static str {
        match self {
            Self::Optimised => "alone",
            Self::Apart => "apart",
            Self::Unoptimised => "unoptimised",
            Self::Checked => "checked",
        }
    }

    /// What the instrumenter is told.
    fn option(self) -> Option<&'static str> {
        match self {
            Self::Optimised | Self::Apart => None,
            Self::Unoptimised => Some("--unoptimised"),
            Self::Checked => Some("--checked"),
        }
    }
}

/// Builds the program once for each of `mutants`, with only this change and no instrumentation, except those that are
/// there already. Returns the executables in the order of the mutants.
///
/// `request` names the set of mutants they belong to.
pub fn build_alone(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
    mutants: &[StableId],
    alone: Alone,
) -> Result<Vec<PathBuf>, ViewError> {
    let set = request.mutants.as_deref().expect("mutants belong to a set");
    let views = build_views(settings, record, request)?;
    let folder = views.folder.join(format!("{}-{}", alone.folder(), file_part(set)));
    fs::create_dir_all(&folder).map_err(|source| io_error("make", &folder, source))?;
    let place = |mutant: &StableId| folder.join(mutant.to_string());
    let mut missing: Vec<StableId> =
        mutants.iter().copied().filter(|mutant| !place(mutant).is_file()).collect();
    missing.sort_unstable();
    missing.dedup();
    let at_once = if alone == Alone::Apart { SMALL_AT_ONCE } else { AT_ONCE };
    for part in missing.chunks(at_once) {
        let work = work_folder(&folder)?;
        let object = |mutant: &StableId| format!("{mutant}.o");
        let mut outputs: Vec<OsString> = vec!["--mutants".into(), set.into()];
        outputs.extend(alone.option().map(OsString::from));
        let option = if alone == Alone::Apart { "--apart" } else { "--alone" };
        for mutant in part {
            let path = work.path().join(object(mutant));
            outputs.extend([option.into(), mutant.to_string().into(), path.into_os_string()]);
        }
        let kept_rest = folder.join(REST);
        let has_rest = kept_rest.is_file();
        if alone == Alone::Apart {
            let rest = work.path().join(REST);
            match has_rest {
                true => {
                    fs::copy(&kept_rest, &rest).map_err(|source| io_error("copy", &kept_rest, source))?;
                }
                false => outputs.extend(["--rest".into(), rest.into_os_string()]),
            }
        }
        instrument(settings, record, request, &outputs, work.path())?;
        if alone == Alone::Unoptimised {
            own_code::compile(settings, FENCE, include_str!("alone/fence.c"), work.path())?;
        }
        for several in part.chunks(LINKS_AT_ONCE) {
            let links: Vec<Link> = several
                .iter()
                .map(|mutant| {
                    let linked = Linked {
                        name: mutant.to_string(),
                        objects: match alone {
                            Alone::Apart => vec![object(mutant), REST.to_owned()],
                            Alone::Unoptimised => vec![object(mutant), format!("{FENCE}.o")],
                            _ => vec![object(mutant)],
                        },
                        has_runtime: false,
                        sanitize: (alone == Alone::Checked).then(|| "-fsanitize=address".to_owned()),
                        tells_failures: false,
                    };
                    Link::start(settings, record, &linked, work.path())
                })
                .collect::<Result<_, _>>()?;
            for link in links {
                link.finish()?;
            }
        }
        if alone == Alone::Apart && !has_rest {
            store::move_into_place(&work.path().join(REST), &kept_rest)
                .map_err(|source| io_error("write", &kept_rest, source))?;
        }
        for mutant in part {
            store::move_into_place(&work.path().join(mutant.to_string()), &place(mutant))
                .map_err(|source| io_error("write", &place(mutant), source))?;
        }
    }
    Ok(mutants.iter().map(place).collect())
}
