//! One failing input, run once more and explained.

use super::{
    frames::Stack,
    image::Symbol,
    kind::kind,
    message::Message,
    modules::{Images, Modules, Paths},
    samples::{self, Sample},
    sanitizer::{ReportedFrame, SanitizerReport},
    signature::{Precision, signature},
    unwind,
};
use crate::{
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::Executor,
};
use cairn_abi::stack::SAMPLE_SIGNAL;
use cairn_model::{Ending, Frame, Input};
use std::path::PathBuf;

/// What an explainer has to know about the program.
#[derive(Clone, Debug, Default)]
pub struct FailureConfig {
    /// The project's folder: functions whose source lies below it are its own, and paths are shown relative to it.
    pub root: PathBuf,
    /// Whether the build has sanitizers: these tell by themselves where they are, and need no limit on memory. Default: no.
    pub has_sanitizers: bool,
}

/// What is known about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// What kind of failure it is: `null dereference`, `stack overflow`, `hang`, `AddressSanitizer: heap-buffer-overflow`.
    pub kind: String,
    /// Failures with equal signatures are one.
    pub signature: String,
    /// Signatures under which the same failure may appear another time: of a hang that is found in a function about as often
    /// as outside of it.
    pub also: Vec<String>,
    /// Where the program was, innermost first; empty if that is unknown. Of a hang, where it stays.
    pub stack: Vec<Frame>,
    /// What a sanitizer or the program itself said, cut.
    pub report: String,
}

impl Explained {
    /// Whether it is the failure with this signature.
    pub fn is_same(&self, signature: &str) -> bool {
        self.signature == signature || self.also.iter().any(|also| also == signature)
    }
}

/// Finds out what goes wrong in runs of one build.
#[derive(Debug)]
pub struct FailureExplainer {
    executor: Executor,
    config: FailureConfig,
    paths: Paths,
    images: Images,
}

// Like an executor, it can be moved between threads.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<FailureExplainer>()
};

/// The most frames that are kept: a recursion has thousands.
const MAX_STACK: usize = 64;

/// The most bytes of a report.
const MAX_REPORT: usize = 8 << 10;

impl FailureExplainer {
    /// Readies runs of `target`, the bare build or one with sanitizers.
    pub fn new(target: Target, run: RunConfig, config: FailureConfig) -> Result<Self, ExecutorError> {
        let executor = match config.has_sanitizers {
            // Handlers of ours would replace theirs.
            true => Executor::new(target, RunConfig { memory_limit: 0, ..run })?,
            false => Executor::telling_stacks(target, run)?,
        };
        let (program, launched) = executor.program();
        let paths = Paths { program: program.to_path_buf(), launched: launched.to_path_buf() };
        Ok(Self { executor, config, paths, images: Images::default() })
    }

    /// Runs `input` once more, which is known to end as `ending` says, and tells what that is.
    ///
    /// If it ends otherwise this time, nothing is known about where, and the stack is empty.
    pub fn explain(&mut self, input: &Input, ending: &Ending) -> Result<Explained, ExecutorError> {
        let execution = self.executor.run(input)?;
        let stderr = String::from_utf8_lossy(&execution.outcome.stderr.bytes.0).into_owned();
        if let Some(report) = SanitizerReport::find(&stderr) {
            return Ok(self.reported(report));
        }
        let (samples, maps) = samples::read(self.executor.channel().stack());
        let modules = Modules::read(&maps, &self.paths, &mut self.images);
        let death = samples.iter().rfind(|sample| is_death(sample, ending));
        let samples: Vec<&Sample> = match death {
            Some(death) => vec![death],
            None => samples.iter().filter(|sample| is_of_hang(sample, ending)).collect(),
        };
        let message = Message::find(&stderr);
        let kind = kind(ending, death, message.as_ref());
        // The functions with which a program ends itself, or writes too much, are not where the mistake is.
        let has_ended_itself =
            death.is_some_and(|death| [libc::SIGABRT, libc::SIGXFSZ].contains(&death.signal));
        let stacks = samples.iter().map(|sample| {
            let mut stack = Stack::at(&unwind::addresses(sample, &modules), &modules, &self.config.root);
            stack.trim(has_ended_itself);
            stack
        });
        let stacks: Vec<Stack> = stacks.filter(|stack| *stack != Stack::default()).collect();
        let stack = Stack::common(&stacks);
        let precision = match ending {
            _ if death.is_some_and(Sample::is_stack_overflow) => Precision::Cycle,
            Ending::Signalled { .. } => Precision::Line,
            _ => Precision::Function,
        };
        let report = match message {
            Some(message) if *ending == (Ending::Signalled { signal: libc::SIGABRT }) => message.text,
            _ => stderr,
        };
        let doubtful = Stack::doubtful(&stacks).into_iter().map(|stack| signature(&kind, &stack, precision));
        let also: Vec<String> = doubtful.collect();
        let mut explained = explained(kind, stack, precision, &report);
        explained.also = also.into_iter().filter(|signature| *signature != explained.signature).collect();
        Ok(explained)
    }

    /// What a sanitizer found.
    fn reported(&mut self, report: SanitizerReport) -> Explained {
        let mut stack = Stack::default();
        let root = &self.config.root;
        for frame in report.frames {
            match frame {
                ReportedFrame::Place { file, offset } => {
                    let (path, is_program) = self.paths.outside(&file);
                    if let Some(image) = self.images.get(&path) {
                        stack.add(&image, offset, is_program, root);
                    }
                }
                ReportedFrame::Named { function, source, line } => {
                    stack.push(Symbol { function, file: source, line }, true, root);
                }
            }
        }
        stack.trim(true);
        let is_overflow = report.kind.ends_with("stack-overflow");
        let precision = if is_overflow { Precision::Cycle } else { Precision::Line };
        explained(report.kind, stack, precision, &report.text)
    }
}

/// Whether the sample is of the moment the run died as `ending` says.
fn is_death(sample: &Sample, ending: &Ending) -> bool {
    match ending {
        Ending::Signalled { signal } => sample.signal == *signal,
        Ending::OutOfMemory => sample.signal != SAMPLE_SIGNAL,
        Ending::TooMuchOutput => sample.signal == libc::SIGXFSZ,
        _ => false,
    }
}

/// Whether the sample is of a run that went on too long.
fn is_of_hang(sample: &Sample, ending: &Ending) -> bool {
    let may_be_long = matches!(ending, Ending::TimedOut | Ending::OutOfFuel | Ending::OutOfMemory);
    may_be_long && sample.signal == SAMPLE_SIGNAL
}

fn explained(kind: String, stack: Stack, precision: Precision, report: &str) -> Explained {
    let signature = signature(&kind, &stack, precision);
    let stack = stack.places.into_iter().take(MAX_STACK).map(|place| place.frame).collect();
    Explained { kind, signature, also: Vec::new(), stack, report: cut(report).to_owned() }
}

/// As much of a text as a report has room for.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_REPORT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim_end()
}
