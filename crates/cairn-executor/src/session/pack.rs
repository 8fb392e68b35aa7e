//! Writes inputs into the inputs region.
//!
//! ```text
//!   one InputSlot for each input a batch may have, then what they refer to, one input after the other
//! ```

use super::{config::SessionConfig, job::Activation, why::WhyFresh};
use crate::{error::ExecutorError, executor::value, request, scratch::DEFAULT_TIME, symbolic};
use cairn_abi::{
    changes::{ChangeSlot, word_head},
    delivery::{Item, Writer},
    session::{FileSlot, InputSlot, RunnerMode, Span},
};
use cairn_model::{
    Input,
    input::{FileKind, FileRegion},
};

/// Beyond so many bytes of arguments and environment the kernel has limits that a session does not know.
const MAX_STRINGS: usize = 64 << 10;

/// Variables with these prefixes are read by the loader or the C library before `main`.
const EARLY_VARIABLES: [&str; 3] = ["LD_", "MALLOC_", "GLIBC_"];

/// Why `input` cannot be given to a session; `None` if it can, or if no run can be given it.
pub(super) fn why_fresh(input: &Input, mode: RunnerMode) -> Option<WhyFresh> {
    if mode == RunnerMode::Persistent && !is_buffer(input) {
        return Some(WhyFresh::NotABuffer);
    }
    let is_early = |name: &str| EARLY_VARIABLES.iter().any(|prefix| name.starts_with(prefix));
    if let Some((name, _)) = input.environment.iter().find(|(name, _)| is_early(name)) {
        return Some(WhyFresh::Variable { name: name.clone() });
    }
    let arguments: usize = input.args.iter().map(|argument| argument.0.len() + 9).sum();
    let variables: usize =
        input.environment.iter().map(|(name, value)| name.len() + value.0.len() + 10).sum();
    (arguments + variables > MAX_STRINGS).then_some(WhyFresh::TooLarge)
}

fn is_buffer(input: &Input) -> bool {
    let Input { args, stdin, files, environment, variables: _, buffer: _, setting } = input;
    args.is_empty()
        && stdin.0.is_empty()
        && files.is_empty()
        && environment.is_empty()
        && *setting == Default::default()
}

/// How far the inputs region is filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack {
    max_batch: usize,
    /// Whether runs are told their files, as symbolic ones are.
    lists_files: bool,
    n_inputs: usize,
    end: usize,
}

impl Pack {
    pub(super) fn new(config: &SessionConfig, lists_files: bool) -> Self {
        let max_batch = config.max_batch;
        Self { max_batch, lists_files, n_inputs: 0, end: max_batch * size_of::<InputSlot>() }
    }

    pub(super) fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    pub(super) fn clear(&mut self) {
        self.n_inputs = 0;
        self.end = self.max_batch * size_of::<InputSlot>();
    }

    /// Adds a buffer of `length` bytes and lets `write` fill it. `false` if there is no room.
    pub(super) fn push_buffer(
        &mut self,
        region: &mut [u8],
        length: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> bool {
        if self.n_inputs == self.max_batch {
            return false;
        }
        let Some(buffer) = self.reserve(region, length, 1) else { return false };
        write(bytes_mut(region, buffer));
        self.finish(region, &InputSlot { buffer, ..InputSlot::default() });
        true
    }

    /// Writes a list of words that changes may refer to, as many as there is room for in a quarter of the region.
    pub(super) fn add_words<'a>(
        &mut self,
        region: &mut [u8],
        words: impl IntoIterator<Item = &'a [u8]>,
    ) -> Span {
        let start = self.end;
        let most = region.len() / 4;
        for word in words {
            let Some(head) = word_head(word.len()) else { continue };
            if self.end - start + word.len() >= most {
                break;
            }
            let Some(span) = self.reserve(region, 1 + word.len(), 1) else { break };
            let bytes = bytes_mut(region, span);
            bytes[0] = head;
            bytes[1..].copy_from_slice(word);
        }
        Span { offset: start as u32, length: (self.end - start) as u32 }
    }

    /// Adds a change of `data`, for which the harness may use `other`. `false` if there is no room.
    pub(super) fn push_change(
        &mut self,
        region: &mut [u8],
        slot: ChangeSlot,
        data: &[u8],
        other: &[u8],
    ) -> bool {
        if self.n_inputs == self.max_batch {
            return false;
        }
        let before = *self;
        let parts = self.copy(region, data).zip(self.copy(region, other));
        match parts {
            Some((data, other)) => self.finish(region, &ChangeSlot { data, other, ..slot }),
            None => *self = before,
        }
        parts.is_some()
    }

    /// Adds a whole input; of its files only the contents of those at the positions `rewritten`. `false` if there is
    /// no room.
    pub(super) fn push(
        &mut self,
        region: &mut [u8],
        input: &Input,
        rewritten: &[usize],
        activation: Activation,
    ) -> Result<bool, ExecutorError> {
        let before = *self;
        let slot = if self.n_inputs == self.max_batch { None } else { self.write(region, input, rewritten)? };
        match slot {
            Some(slot) => self.finish(region, &activation.of(slot)),
            None => *self = before,
        }
        Ok(slot.is_some())
    }

    /// Adds the input that was added last once more. `false` if there is none, or no room.
    pub(super) fn push_again(&mut self, region: &mut [u8], activation: Activation) -> bool {
        if self.n_inputs == 0 || self.n_inputs == self.max_batch {
            return false;
        }
        let size = size_of::<InputSlot>();
        // SAFETY: the slot was written by `finish`, and every bit pattern is one.
        let slot = unsafe {
            region[(self.n_inputs - 1) * size..][..size].as_ptr().cast::<InputSlot>().read_unaligned()
        };
        self.finish(region, &activation.of(slot));
        true
    }

    /// Drops the first `n` inputs; the others stay where they are, under new numbers.
    pub(super) fn drop_first(&mut self, region: &mut [u8], n: usize) {
        let size = size_of::<InputSlot>();
        region.copy_within(n * size..self.n_inputs * size, 0);
        self.n_inputs -= n;
    }

    fn finish<T: Copy>(&mut self, region: &mut [u8], slot: &T) {
        const { assert!(size_of::<T>() == size_of::<InputSlot>()) };
        let size = size_of::<T>();
        region[self.n_inputs * size..][..size].copy_from_slice(bytes_of(slot));
        self.n_inputs += 1;
    }

    fn write(
        &mut self,
        region: &mut [u8],
        input: &Input,
        rewritten: &[usize],
    ) -> Result<Option<InputSlot>, ExecutorError> {
        let environment = request::environment(input)?;
        request::check_arguments(input)?;
        Ok((|| {
            let buffer = match &input.buffer {
                Some(buffer) => self.copy(region, &buffer.0)?,
                None => Span::default(),
            };
            let stdin = self.copy(region, &input.stdin.0)?;
            let delivery = self.deliver(region, input)?;
            let files = self.write_files(region, &input.files, rewritten)?;
            let sources = self.list_files(region, input)?;
            let first = self.end;
            let strings = input.args.iter().map(|argument| argument.0.as_slice());
            for string in strings.chain(environment.iter().map(Vec::as_slice)) {
                let span = self.reserve(region, string.len() + 1, 1)?;
                let (last, text) = bytes_mut(region, span).split_last_mut()?;
                text.copy_from_slice(string);
                *last = 0;
            }
            Some(InputSlot {
                buffer,
                stdin,
                strings: Span { offset: first as u32, length: (self.end - first) as u32 },
                n_arguments: input.args.len() as u32,
                n_variables: environment.len() as u32,
                delivery,
                files,
                selector: 0,
                examines: 0,
                sources,
            })
        })())
    }

    fn deliver(&mut self, region: &mut [u8], input: &Input) -> Option<Span> {
        if input.variables.is_empty() {
            return Some(Span::default());
        }
        let items = input
            .variables
            .iter()
            .map(|variable| Item::Variable { name: variable.name.as_bytes(), value: value(variable) });
        let size = items.clone().map(|item| item.encoded_size()).sum();
        let span = self.reserve(region, size, 8)?;
        let mut writer = Writer::new(bytes_mut(region, span));
        items.into_iter().try_for_each(|item| writer.push(&item)).ok()?;
        Some(span)
    }

    fn write_files(&mut self, region: &mut [u8], files: &[FileRegion], rewritten: &[usize]) -> Option<Span> {
        if rewritten.is_empty() {
            return Some(Span::default());
        }
        let size = size_of::<FileSlot>();
        let slots = self.reserve(region, rewritten.len() * size, 8)?;
        for (number, index) in rewritten.iter().enumerate() {
            let file = &files[*index];
            let FileKind::Regular(content) = &file.kind else { return None };
            let path = self.reserve(region, file.path.len() + 1, 1)?;
            let (last, text) = bytes_mut(region, path).split_last_mut()?;
            text.copy_from_slice(file.path.as_bytes());
            *last = 0;
            let times = [file.accessed, file.modified].map(|time| time.unwrap_or(DEFAULT_TIME));
            let slot = FileSlot { path, content: self.copy(region, &content.0)?, times };
            bytes_mut(region, slots)[number * size..][..size].copy_from_slice(bytes_of(&slot));
        }
        Some(slots)
    }

    fn list_files(&mut self, region: &mut [u8], input: &Input) -> Option<Span> {
        if !self.lists_files {
            return Some(Span::default());
        }
        let span = self.reserve(region, symbolic::sources_size(input), 1)?;
        symbolic::write_sources(input, bytes_mut(region, span)).then_some(span)
    }

    fn copy(&mut self, region: &mut [u8], bytes: &[u8]) -> Option<Span> {
        let span = self.reserve(region, bytes.len(), 1)?;
        bytes_mut(region, span).copy_from_slice(bytes);
        Some(span)
    }

    fn reserve(&mut self, region: &[u8], length: usize, align: usize) -> Option<Span> {
        let start = self.end.next_multiple_of(align);
        let end = start.checked_add(length)?;
        if end > region.len() {
            return None;
        }
        self.end = end;
        Some(Span { offset: u32::try_from(start).ok()?, length: u32::try_from(length).ok()? })
    }
}

fn bytes_mut(region: &mut [u8], span: Span) -> &mut [u8] {
    &mut region[span.offset as usize..][..span.length as usize]
}

/// The bytes of a slot.
fn bytes_of<T: Copy>(slot: &T) -> &[u8] {
    // SAFETY: called with slots of `cairn_abi`, which are numbers without gaps between them.
    unsafe { std::slice::from_raw_parts((&raw const *slot).cast::<u8>(), size_of::<T>()) }
}

/// Where the buffer of the input at `index` lies.
pub(super) fn buffer_at(region: &[u8], index: usize) -> Span {
    let size = size_of::<InputSlot>();
    let number = |at: usize| u32::from_ne_bytes(*region[index * size + at..].first_chunk().expect("a slot"));
    Span { offset: number(0), length: number(4) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::delivery::{Reader, Value};
    use cairn_model::input::{Bytes, Variable, VariableValue};

    fn pack(region_size: usize) -> (Pack, Vec<u8>) {
        let config = SessionConfig { max_batch: 2, ..SessionConfig::default() };
        (Pack::new(&config, false), vec![0xaa; region_size])
    }

    fn slot(region: &[u8], index: usize) -> InputSlot {
        let bytes = &region[index * size_of::<InputSlot>()..][..size_of::<InputSlot>()];
        // SAFETY: every bit pattern is a slot.
        unsafe { bytes.as_ptr().cast::<InputSlot>().read_unaligned() }
    }

    fn text(region: &[u8], span: Span) -> &[u8] {
        &region[span.offset as usize..][..span.length as usize]
    }

    #[test]
    fn a_whole_input_is_found_again() {
        let (mut pack, mut region) = pack(4096);
        let file = |content: &[u8]| FileRegion {
            path: "d/f".into(),
            kind: FileKind::Regular(Bytes(content.to_vec())),
            mode: None,
            size: None,
            modified: Some(7),
            accessed: None,
            owner: None,
        };
        let input = Input {
            args: vec!["-x".into(), "".into()],
            stdin: "in".into(),
            files: vec![file(b"old"), file(b"new")],
            environment: vec![("A".into(), "b".into())],
            variables: vec![Variable { name: "n".into(), value: VariableValue::Int(-3) }],
            buffer: Some("buf".into()),
            ..Input::default()
        };
        assert!(pack.push(&mut region, &input, &[1], Activation::default()).unwrap());
        let slot = slot(&region, 0);
        assert_eq!(text(&region, slot.buffer), b"buf");
        assert_eq!(buffer_at(&region, 0), slot.buffer);
        assert_eq!(text(&region, slot.stdin), b"in");
        assert_eq!((slot.n_arguments, slot.n_variables), (2, 5));
        let strings = text(&region, slot.strings);
        assert!(strings.starts_with(b"-x\0\0LC_ALL=C\0") && strings.ends_with(b"A=b\0"));
        assert_eq!(slot.delivery.offset % 8, 0);
        let delivered = Reader::new(text(&region, slot.delivery)).variable(b"n", 1);
        assert_eq!(delivered, Some(Value::Int(-3)));
        assert_eq!((slot.files.offset % 8, slot.files.length), (0, size_of::<FileSlot>() as u32));
        // SAFETY: every bit pattern is a slot.
        let file = unsafe { text(&region, slot.files).as_ptr().cast::<FileSlot>().read_unaligned() };
        assert_eq!(text(&region, file.path), b"d/f\0");
        assert_eq!(text(&region, file.content), b"new");
        assert_eq!(file.times, [DEFAULT_TIME, 7]);
    }

    #[test]
    fn what_does_not_fit_is_said_and_leaves_nothing() {
        let (mut pack, mut region) = pack(512);
        let large = Input { stdin: Bytes(vec![b'x'; 400]), ..Input::default() };
        assert!(!pack.push(&mut region, &large, &[], Activation::default()).unwrap());
        assert_eq!(pack.n_inputs(), 0);
        assert!(pack.push(&mut region, &Input::default(), &[], Activation::default()).unwrap());
        assert!(pack.push(&mut region, &Input::default(), &[], Activation::default()).unwrap());
        assert!(
            !pack.push(&mut region, &Input::default(), &[], Activation::default()).unwrap(),
            "a batch has two inputs here"
        );
    }

    #[test]
    fn the_same_input_again_takes_no_more_room() {
        let (mut pack, mut region) = pack(4096);
        let input = Input { stdin: "in".into(), ..Input::default() };
        assert!(!pack.push_again(&mut region, Activation::default()), "there is none yet");
        assert!(pack.push(&mut region, &input, &[], Activation { selector: 3, examines: false }).unwrap());
        let end = pack.end;
        assert!(pack.push_again(&mut region, Activation { selector: 4, examines: true }));
        assert!(!pack.push_again(&mut region, Activation::default()), "a batch has two inputs here");
        let (first, second) = (slot(&region, 0), slot(&region, 1));
        assert_eq!((pack.end, first.stdin), (end, second.stdin));
        assert_eq!((first.selector, first.examines), (3, 0));
        assert_eq!((second.selector, second.examines), (4, 1));
    }

    #[test]
    fn buffers_left_over_move_to_the_front() {
        let (mut pack, mut region) = pack(512);
        assert!(pack.push_buffer(&mut region, 3, |bytes| bytes.copy_from_slice(b"abc")));
        assert!(pack.push_buffer(&mut region, 2, |bytes| bytes.copy_from_slice(b"de")));
        assert!(!pack.push_buffer(&mut region, 1, |_| {}));
        pack.drop_first(&mut region, 1);
        assert_eq!(pack.n_inputs(), 1);
        assert_eq!(text(&region, buffer_at(&region, 0)), b"de");
    }

    #[test]
    fn variables_that_act_before_main_need_a_fresh_process() {
        let with = |name: &str| Input { environment: vec![(name.into(), "1".into())], ..Input::default() };
        let why = |name: &str| why_fresh(&with(name), RunnerMode::Snapshot);
        assert_eq!(why("LD_PRELOAD"), Some(WhyFresh::Variable { name: "LD_PRELOAD".into() }));
        assert_eq!(why("OLD_THING"), None);
        assert_eq!(why_fresh(&with("A"), RunnerMode::Persistent), Some(WhyFresh::NotABuffer));
        let many = Input { args: vec!["x".into(); 10_000], ..Input::default() };
        assert_eq!(why_fresh(&many, RunnerMode::Snapshot), Some(WhyFresh::TooLarge));
    }
}
