//! From a call to an input on disk.

use crate::{
    arguments,
    environment::{self, Variables},
    files::Collector,
    reasons::{LeftOut, Note},
    settings::Settings,
    standard_input::{self, StandardInput},
};
use cairn_model::Input;
use nix::sys::stat::fstat;
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    os::fd::AsFd,
    path::{Path, PathBuf},
};

/// What a program is called with. Standard input, the working folder and the files are those of this process.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Name and arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Variables in their order.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
}

/// An input, and what it lacks of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The input.
    pub input: Input,
    /// What it lacks.
    pub notes: BTreeSet<Note>,
}

/// Looks at everything `call` is about to consume and takes nothing away.
pub fn capture(call: &Call, settings: &Settings) -> Result<Captured, LeftOut> {
    let arguments = arguments_by_name(call, settings)?;
    let StandardInput { content: stdin, note, identity } = standard_input::look(settings)?;
    let Variables { mut environment, setting, notes } = environment::choose(&call.environment, settings);
    let mut notes: BTreeSet<Note> = notes.into_iter().chain(note).collect();

    let mut input = Input { stdin: stdin.into(), setting, ..Input::default() };
    let logical = variable(call, b"PWD");
    match Collector::new(settings, logical, input.stdin.0.len() as u64) {
        Some(mut collector) => {
            // Where the program's own output goes is no input, and standard input is one already.
            let outputs = [fstat(io::stdout().as_fd()), fstat(io::stderr().as_fd())];
            let outputs = outputs.into_iter().flatten().map(|status| (status.st_dev, status.st_ino));
            let args = arguments::collect(arguments, &mut collector)
                .map_err(|_| LeftOut::TooLarge { limit: settings.limits.bytes })?;
            input.args = args.into_iter().map(Into::into).collect();
            for (_, value) in &mut environment {
                if let Some(relative) = collector.relative(&value.0) {
                    *value = relative.into();
                }
            }
            collector.present(&outputs.chain(identity).collect::<Vec<_>>());
            input.files = collector.files;
            notes.extend(collector.notes);
        }
        // The working folder is gone; so is everything in it.
        None => input.args = arguments.iter().map(|argument| argument.clone().into()).collect(),
    }
    // A folder for temporary files that a run will not find is worse than the usual one.
    environment.retain(|(name, value)| name != "TMPDIR" || !value.0.starts_with(b"/"));
    input.environment = environment;
    Ok(Captured { input, notes })
}

fn variable<'a>(call: &'a Call, wanted: &[u8]) -> Option<&'a [u8]> {
    call.environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_slice())
}

/// The arguments, if the call is by the name asked for: as `NAME …`, or as `PROGRAM NAME …` for a program with many.
fn arguments_by_name<'a>(call: &'a Call, settings: &Settings) -> Result<&'a [Vec<u8>], LeftOut> {
    let (called, arguments) = match call.arguments.split_first() {
        Some((called, arguments)) => (last_name(called), arguments),
        None => (&b""[..], &[][..]),
    };
    let Some(wanted) = &settings.name else { return Ok(arguments) };
    if called == wanted.as_bytes() {
        return Ok(arguments);
    }
    let own_name = settings.program.file_name().unwrap_or_default();
    match arguments.split_first() {
        Some((first, rest)) if called == own_name.as_encoded_bytes() && first == wanted.as_bytes() => {
            Ok(rest)
        }
        _ => Err(LeftOut::OtherName { wanted: wanted.clone() }),
    }
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Writes `input` under its address, unless it is there already; returns the address.
///
/// The file appears whole or not at all, whoever else writes the same.
pub fn keep(input: &Input, settings: &Settings) -> Result<String, LeftOut> {
    let address = input.address();
    let path = settings.into.join(format!("{address}.json"));
    if !path.exists() {
        let half = settings.session.join(format!("{address}.{}", std::process::id()));
        write_whole(input, &half, &path).map_err(|error| LeftOut::Unwritable(error.kind().to_string()))?;
    }
    Ok(address)
}

fn write_whole(input: &Input, half: &PathBuf, path: &Path) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(input)?;
    text.push(b'\n');
    fs::File::create(half)?.write_all(&text)?;
    fs::rename(half, path)
}
