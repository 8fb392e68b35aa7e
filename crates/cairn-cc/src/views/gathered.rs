//! Many mutants in one program, each compiled alone: what the mutant view is compared with where one link for each mutant
//! would take too long.

use super::{
    build::{ViewError, ViewRequest, build_views, file_part, io_error, work_folder},
    instrument::instrument,
    link::{Link, Linked},
    own_code,
};
use crate::{Settings, record::BuildRecord, store};
use cairn_model::StableId;
use std::{ffi::OsString, path::PathBuf};

/// The variable by which a run of a gathered program says which mutant it is, by its stable id. The program does not see
/// it, and is the original without it.
pub const CHOICE: &str = "CAIRN_GATHERED";

const CHOOSE: &str = include_str!("gathered/choose.c");

/// The object with the rest of the program.
const GATHERING: &str = "gathering.o";

/// What chooses the mutant.
const CHOOSING: &str = "choose";

/// Builds a program that does what each of `mutants` does if it is [chosen](CHOICE), without instrumentation, unless it is
/// there already.
///
/// `request` names the set of mutants they belong to.
pub fn build_gathered(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
    mutants: &[StableId],
) -> Result<PathBuf, ViewError> {
    let set = request.mutants.as_deref().expect("mutants belong to a set");
    let folder = build_views(settings, record, request)?.folder;
    let mut hasher = blake3::Hasher::new();
    mutants.iter().for_each(|mutant| {
        hasher.update(&mutant.0.to_le_bytes());
    });
    let name = format!("gathered-{}-{}", file_part(set), &hasher.finalize().to_hex()[..16]);
    let program = folder.join(&name);
    if program.is_file() {
        return Ok(program);
    }
    let work = work_folder(&folder)?;
    let object = |mutant: &StableId| format!("{mutant}.o");
    let mut outputs: Vec<OsString> = vec!["--mutants".into(), set.into()];
    outputs.extend(["--gathering".into(), work.path().join(GATHERING).into_os_string()]);
    for mutant in mutants {
        let path = work.path().join(object(mutant));
        outputs.extend(["--gathered".into(), mutant.to_string().into(), path.into_os_string()]);
    }
    instrument(settings, record, request, &outputs, work.path())?;
    own_code::compile(settings, CHOOSING, CHOOSE, work.path())?;
    let ours = [GATHERING.to_owned(), format!("{CHOOSING}.o")];
    let linked = Linked {
        name: name.clone(),
        objects: ours.into_iter().chain(mutants.iter().map(object)).collect(),
        has_runtime: false,
        sanitize: None,
        tells_failures: false,
    };
    Link::start(settings, record, &linked, work.path())?.finish()?;
    store::move_into_place(&work.path().join(name), &program)
        .map_err(|source| io_error("write", &program, source))?;
    Ok(program)
}
