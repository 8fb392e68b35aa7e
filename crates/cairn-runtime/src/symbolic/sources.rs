//! Where the input comes in.
//!
//! Files are known by device and inode, which are asked for before the program runs: it may open them by any name. What the
//! C library reads on the program's behalf is labelled by `sources.c` and `streams.c`, which call the functions here. A file that
//! the program has changed holds no input any more, and what is read there has no labels.

use super::{
    build::{self, binary, cairn_symbolic_ite, constant, extend, input},
    cairn_symbolic_state, cairn_symbolic_unmodelled, memory,
    nodes::{intern, is_first_note, is_on, node},
    path,
};
use crate::system::{self, status_of};
use cairn_abi::{
    record::Record,
    symbolic::{
        Op, RegionId, RegionKind, ShadowByte, metadata, sources,
        switch::{GIVEN, LIBRARY, NO_CONDITION},
    },
};
use core::{
    ffi::{CStr, c_char, c_int},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering},
};

/// The most files of an input that are followed.
const MAX_FILES: usize = 256;

#[derive(Clone, Copy)]
struct File {
    device: u64,
    inode: u64,
    content: Option<RegionId>,
    metadata: Option<RegionId>,
    size: u64,
    /// When it was changed last, before the program runs; standard input is the host's and has no such time.
    changed_at: Option<(i64, i64)>,
    /// The program has changed it.
    is_changed: bool,
    /// Where a read met its end, if one did. Whatever the size, that is where the next one begins and finds nothing.
    met_end: Option<u64>,
}

struct Files {
    known: [File; MAX_FILES],
    count: usize,
}

/// Only where labels are asked for: other views need not restore what they never use.
static FILES: AtomicPtr<Files> = AtomicPtr::new(ptr::null_mut());

fn files() -> Option<&'static mut Files> {
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    unsafe { FILES.load(Ordering::Relaxed).as_mut() }
}

/// Notes which files are parts of the input, as the host lists them. To be called where the input's files lie.
pub fn begin(list: &[u8]) {
    if files().is_none()
        && let Some(place) = system::map_private(size_of::<Files>())
    {
        // Zeros are a list of no files.
        FILES.store(place.cast(), Ordering::Relaxed);
    }
    let Some(files) = files() else { return };
    files.count = 0;
    let stdin = RegionId::new(RegionKind::Stdin, 0);
    if let Some(status) = status_of_descriptor(0) {
        files.add(&status, Some(stdin), Some(RegionId::new(RegionKind::StdinMetadata, 0)), None);
    }
    let mut name = [0; 4096];
    for source in sources::read(list) {
        let Some(place) = name.get_mut(..source.path.len()) else { continue };
        place.copy_from_slice(source.path);
        let Some(end) = name.get_mut(source.path.len()) else { continue };
        *end = 0;
        if let Ok(path) = CStr::from_bytes_until_nul(&name)
            && let Some(status) = status_of(libc::AT_FDCWD, path)
        {
            let changed_at = Some((status.st_ctime, status.st_ctime_nsec));
            files.add(&status, source.content, source.metadata, changed_at);
        }
    }
}

impl Files {
    fn add(
        &mut self,
        status: &libc::stat,
        content: Option<RegionId>,
        metadata: Option<RegionId>,
        changed_at: Option<(i64, i64)>,
    ) {
        let Some(slot) = self.known.get_mut(self.count) else {
            // SAFETY: a string.
            return unsafe {
                cairn_symbolic_unmodelled(c"(files of the input beyond the first 256)".as_ptr())
            };
        };
        *slot = File {
            device: status.st_dev,
            inode: status.st_ino,
            content,
            metadata,
            size: status.st_size as u64,
            changed_at,
            is_changed: false,
            met_end: None,
        };
        self.count += 1;
    }

    fn find(&mut self, status: &libc::stat) -> Option<&mut File> {
        let files = self.known.get_mut(..self.count)?;
        files.iter_mut().find(|file| (file.device, file.inode) == (status.st_dev, status.st_ino))
    }
}

impl File {
    /// Whether it may hold something else than the input. The C library may have written to it where we do not look.
    fn has_changed(&mut self, status: &libc::stat) -> bool {
        let changed_at = (status.st_ctime, status.st_ctime_nsec);
        self.is_changed |= self.changed_at.is_some_and(|known| known != changed_at);
        self.is_changed
    }
}

fn status_of_descriptor(descriptor: i32) -> Option<libc::stat> {
    // SAFETY: `stat` is plain data, for which zeros are a value.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    let place = (&raw mut status).expose_provenance();
    // SAFETY: the kernel writes one `stat`, for which there is room.
    let answer = unsafe { system::call(libc::SYS_fstat, [descriptor as usize, place, 0, 0, 0, 0]) };
    (answer == 0).then_some(status)
}

/// The file of the input that is open at a descriptor.
fn file_of(descriptor: i32) -> Option<(File, libc::stat)> {
    let status = status_of_descriptor(descriptor)?;
    let file = files()?.find(&status)?;
    if file.has_changed(&status) {
        // SAFETY: a string.
        unsafe { cairn_symbolic_unmodelled(c"(reading a file that it has changed)".as_ptr()) };
        return None;
    }
    if file.content == Some(RegionId::new(RegionKind::Stdin, 0)) {
        IS_STDIN_FOLLOWED.store(true, Ordering::Relaxed);
    }
    Some((*file, status))
}

/// Whether any function of ours was asked to read standard input.
static IS_STDIN_FOLLOWED: AtomicBool = AtomicBool::new(false);

/// Calls the function when the program exits.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = name_what_was_not_followed;

/// Input that came in another way, as through streams of C++, is named.
extern "C" fn name_what_was_not_followed() {
    if is_on() && !IS_STDIN_FOLLOWED.load(Ordering::Relaxed) && system::position(0) > 0 {
        // SAFETY: a string.
        unsafe {
            cairn_symbolic_unmodelled(c"(reading standard input in ways that are not followed)".as_ptr())
        };
    }
}

/// The program can change the file that is open at a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_changes(descriptor: c_int) {
    if let Some(status) = status_of_descriptor(descriptor)
        && let Some(file) = files().and_then(|files| files.find(&status))
    {
        file.is_changed = true;
    }
}

/// Gives bytes in memory the labels of a part of the input.
///
/// # Safety
/// The bytes are readable.
pub unsafe fn label(place: *const u8, length: usize, region: RegionId, offset: u64) {
    if !is_on() || length == 0 {
        return;
    }
    let shadow = memory::shadow_to_label(place.addr(), length);
    let mut first = 0;
    for index in 0..length {
        let Ok(at) = u32::try_from(offset + index as u64) else { break };
        // SAFETY: promised by the caller; every address has a shadow.
        unsafe {
            let label = input(region, at, 8, (*place.add(index)).into());
            first = if index == 0 { label } else { first };
            *shadow.add(index) = ShadowByte::new(label, 0).0;
        }
    }
    path::note(Record::InputRead {
        region: region.0,
        offset,
        length: u32::try_from(length).unwrap_or(u32::MAX),
        label: first,
        address: place.addr() as u64,
    });
}

/// Labels what the program finds in its arguments and its environment, and how many arguments there are, which is the first
/// of `main`, the function at this address.
///
/// # Safety
/// Both are lists of strings, ended by null.
pub unsafe fn label_strings(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char, main: usize) {
    if !is_on() {
        return;
    }
    IS_STDIN_FOLLOWED.store(false, Ordering::Relaxed);
    if argc > 0 {
        let (n_words, argc) = (argc as u64 - 1, argc as u64);
        let region = RegionId::new(RegionKind::ArgumentsMetadata, 0);
        let label = input(region, metadata::SIZE, 32, n_words);
        let label = binary(Op::Add, 32, [label, 0], [n_words, 1], argc);
        // SAFETY: the program does not run now.
        unsafe { give(main, &[label]) };
    }
    // SAFETY: promised by the caller.
    unsafe {
        if !argv.is_null() && !(*argv).is_null() {
            label_list(argv.add(1), RegionKind::Argument);
        }
        if !envp.is_null() {
            label_list(envp, RegionKind::Environment);
        }
    }
}

unsafe fn label_list(list: *mut *mut c_char, kind: RegionKind) {
    // SAFETY: promised by the caller.
    unsafe {
        for index in 0.. {
            let string = *list.add(index);
            if string.is_null() || index >= 1 << 16 {
                break;
            }
            let length = CStr::from_ptr(string).count_bytes() + 1;
            label(string.cast(), length, RegionId::new(kind, index as u32), 0);
        }
    }
}

/// Labels the buffer of a harness and its length, which is the harness's second argument.
///
/// # Safety
/// The bytes are readable.
pub unsafe fn label_buffer(start: *const u8, length: usize, harness: usize) {
    // SAFETY: promised by the caller.
    unsafe { label(start, length, RegionId::new(RegionKind::Buffer, 0), 0) };
    if is_on() {
        let region = RegionId::new(RegionKind::BufferMetadata, 0);
        let label = input(region, metadata::SIZE, 64, length as u64);
        // SAFETY: the program does not run now.
        unsafe { give(harness, &[0, label]) };
    }
}

/// Hands labels of arguments to the function that is called next.
///
/// # Safety
/// The program does not run.
unsafe fn give(function: usize, labels: &[u32]) {
    // SAFETY: promised by the caller; there are fewer labels than there is room for.
    unsafe {
        let state = &raw mut cairn_symbolic_state;
        for (index, label) in labels.iter().enumerate() {
            (*state).arguments[index] = *label;
        }
        (*state).n_arguments = labels.len() as _;
        (*state).callee = function as u64;
    }
}

/// What a function of ours returns has a label.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_return(function: usize, label: u32) {
    // SAFETY: a symbolic view has one thread.
    unsafe {
        let state = &raw mut cairn_symbolic_state;
        (*state).results[0] = label;
        (*state).returned = if label == 0 { 0 } else { function as u64 };
    }
}

/// The label of an argument that a function of ours was given.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_argument(function: usize, index: u32) -> u32 {
    // SAFETY: a symbolic view has one thread.
    unsafe {
        let state = &raw const cairn_symbolic_state;
        match (*state).callee == function as u64 {
            true => (*state).arguments.get(index as usize).copied().unwrap_or(0),
            false => 0,
        }
    }
}

/// Bytes were read from a file at an offset; those of other files lose their labels.
///
/// # Safety
/// The bytes were written by the C library or the kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_was_read(
    descriptor: c_int,
    place: *mut u8,
    length: usize,
    offset: i64,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let known = file_of(descriptor);
        if let Some((file, status)) = known.as_ref().filter(|_| length > 0) {
            demand_kind(file, status, Op::Eq, libc::S_IFREG);
        }
        match known.and_then(|(file, _)| file.content) {
            Some(region) if offset >= 0 => label(place, length, region, offset as u64),
            _ => memory::cairn_symbolic_set(place, 0, length as u64),
        }
    }
}

/// What kind of file it is has decided that something worked: `op` says how it compares with `kind`.
fn demand_kind(file: &File, status: &libc::stat, op: Op, kind: u32) {
    let Some(region) = file.metadata.filter(|region| region.kind() == Some(RegionKind::FileMetadata)) else {
        return;
    };
    let mode = status.st_mode;
    let holds = (mode & libc::S_IFMT == kind) == matches!(op, Op::Eq);
    if !is_on() || !holds {
        return;
    }
    let label = input(region, metadata::MODE, 32, mode.into());
    let mask = u64::from(libc::S_IFMT);
    let now = binary(Op::And, 32, [label, 0], [mode.into(), mask], u64::from(mode) & mask);
    let is_kind = binary(op, 32, [now, 0], [u64::from(mode) & mask, kind.into()], 1);
    path::cairn_symbolic_condition(GIVEN, is_kind, 1);
}

/// A file was opened by a call that waits for somebody to write into a pipe.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_opened(descriptor: c_int) {
    if let Some(status) = status_of_descriptor(descriptor)
        && let Some(file) = files().and_then(|files| files.find(&status))
        && !file.has_changed(&status)
    {
        demand_kind(file, &status, Op::Ne, libc::S_IFIFO);
    }
}

/// Stands in the unused operand of a byte as `getc` returns it: another byte that is widened is never `EOF`.
const FROM_STREAM: u32 = 1;

/// Stands in the unused operand of the condition that a file goes on, where a function that reads lines has told so.
pub const OF_LINE: u32 = 2;

/// What a function that reads lines returned: whether the file went on, the value if it does, and that if it does not.
pub struct LineResult {
    /// The label of the condition.
    pub goes_on: u32,
    /// The label of the value if it does, or 0 if only this one is followed.
    pub length: u32,
    /// Both values.
    pub values: [u64; 2],
}

/// The result of a function that reads lines, if this is the label of one.
///
/// A program asks whether a line came. What else it does with an address, or with a length that is not followed, is the same for
/// all lines of this length, so that only this question has a label.
pub fn line_result(label: u32) -> Option<LineResult> {
    let choice = node(label);
    if label == 0 || choice.op != Op::Ite as u8 || node(choice.a).c != OF_LINE {
        return None;
    }
    let [came, ended] = [choice.b, choice.c].map(node);
    let length = if came.op == Op::Constant as u8 { 0 } else { choice.b };
    let values = [came.value, ended.value];
    (ended.op == Op::Constant as u8).then_some(LineResult { goes_on: choice.a, length, values })
}

/// A result of a function that reads lines is used for more than the question whether a line came.
pub fn uses_line(result: &LineResult) {
    if is_first_note(result.goes_on) {
        demand(result.goes_on, node(result.goes_on).value == 1);
    }
}

/// The label of the next byte of a file as `getc` returns it, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_next_byte(descriptor: c_int, offset: i64, byte: c_int) -> u32 {
    if !is_on() || offset < 0 {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    let Some(region) = file.content else { return 0 };
    let Ok(at) = u32::try_from(offset) else { return 0 };
    if byte >= 0 {
        demand_kind(&file, &status, Op::Eq, libc::S_IFREG);
        let label = input(region, at, 8, byte as u64);
        return intern(Op::ZExt, 32, [label, 0, FROM_STREAM], byte as u64);
    }
    let Some(is_there) = has_more(&file, &status, offset) else { return 0 };
    let next = extend(input(region, at, 8, 0), 32, 0);
    cairn_symbolic_ite(32, is_there, next, 0, 0, 0, u32::MAX.into())
}

/// The label of a byte as an `int`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_widen(label: u32, byte: c_int) -> u32 {
    if label == 0 || !is_on() { 0 } else { extend(label, 32, u64::from(byte as u8)) }
}

/// The label of the lowest byte of an `int`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_low_byte(label: u32, value: c_int) -> u32 {
    if label == 0 || !is_on() { 0 } else { build::extract(label, 0, 8, u64::from(value as u8)) }
}

/// Whether a file has more than `offset` bytes.
fn has_more(file: &File, status: &libc::stat, offset: i64) -> Option<u32> {
    let (offset, size) = (offset as u64, status.st_size as u64);
    let label = length_of(file, size)?;
    Some(binary(Op::ULt, 64, [0, label], [offset, size], (offset < size).into()))
}

/// The label of a file's size.
fn length_of(file: &File, size: u64) -> Option<u32> {
    Some(input(file.metadata?, metadata::SIZE, 64, size))
}

/// Whether the byte of a label, which is one of a file's content as `getc` returns it, is there: no byte is negative, so who
/// compares one with `EOF` asks for the end of the file.
pub fn is_there(label: u32) -> Option<u32> {
    let wide = node(label);
    let byte = node(wide.a);
    let is_byte = wide.op == Op::ZExt as u8 && wide.c == FROM_STREAM && byte.op == Op::Input as u8;
    let region = RegionId(byte.a);
    if !is_byte || !matches!(region.kind(), Some(RegionKind::Stdin | RegionKind::File)) {
        return None;
    }
    let files = files()?;
    let file = files.known.get(..files.count)?.iter().find(|file| file.content == Some(region))?;
    let (offset, size) = (u64::from(byte.b), file.size);
    let label = length_of(file, size)?;
    (offset < size).then(|| binary(Op::ULt, 64, [0, label], [offset, size], 1))
}

/// The most bytes of a read that was given all it wanted, for its result to depend on the size of the file. Larger ones fill
/// buffers, whose ends would all depend on it.
const SMALL_READ: u64 = 512;

/// The label of how many items of `item` bytes a read returned that wanted `wanted` bytes and got `count`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_count(
    descriptor: c_int,
    offset: i64,
    wanted: u64,
    count: u64,
    item: u64,
) -> u32 {
    let is_full = count >= wanted;
    if !is_on() || offset < 0 || wanted == 0 {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    let (offset, size) = (offset as u64, status.st_size as u64);
    if is_full && wanted > SMALL_READ {
        demand_bytes(&file, size, offset + wanted);
        return 0;
    }
    if size < offset || (!is_full && size - offset >= count + item) {
        // There is more in the file: something else was in the way.
        return 0;
    }
    if file.met_end.is_some_and(|end| end <= offset) {
        // With more bytes, the read before would have had them.
        return 0;
    }
    if !is_full && let Some(known) = files().and_then(|files| files.find(&status)) {
        known.met_end = Some(size);
    }
    let Some(label) = length_of(&file, size) else { return 0 };
    let left = size - offset;
    let mut left_label = binary(Op::Sub, 64, [label, 0], [size, offset], left);
    if offset > 0 {
        let has_more = binary(Op::ULt, 64, [0, label], [offset, size], (offset < size).into());
        left_label = cairn_symbolic_ite(64, has_more, left_label, 0, (offset < size).into(), left, 0);
    }
    let is_less = binary(Op::ULt, 64, [left_label, 0], [left, wanted], (left < wanted).into());
    let bytes = cairn_symbolic_ite(64, is_less, left_label, 0, (left < wanted).into(), left, wanted);
    match item {
        1 => bytes,
        _ => binary(Op::UDiv, 64, [bytes, 0], [left.min(wanted), item], count / item),
    }
}

/// The label of how many bytes a read returned that wanted as many as `label` says, `wanted` in this run.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_count_of(
    descriptor: c_int,
    offset: i64,
    label: u32,
    wanted: u64,
    count: u64,
) -> u32 {
    if !is_on() || offset < 0 {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    let (offset, size) = (offset as u64, status.st_size as u64);
    if size < offset || count != wanted.min(size - offset) {
        // Something else was in the way.
        return 0;
    }
    if file.met_end.is_some_and(|end| end <= offset) {
        // With more bytes, the read before would have had them.
        return 0;
    }
    if count < wanted
        && let Some(known) = files().and_then(|files| files.find(&status))
    {
        known.met_end = Some(size);
    }
    let Some(size_label) = length_of(&file, size) else { return 0 };
    let left = size - offset;
    let left_label = binary(Op::Sub, 64, [size_label, 0], [size, offset], left);
    if offset > 0 {
        demand_bytes(&file, size, offset);
    }
    let is_less = binary(Op::ULt, 64, [left_label, label], [left, wanted], (left < wanted).into());
    cairn_symbolic_ite(64, is_less, left_label, label, (left < wanted).into(), left, wanted)
}

/// The label of the place that lies `offset` bytes behind the end of a file, if that is where somebody came to.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_from_end(descriptor: c_int, offset: i64, at: i64) -> u32 {
    if !is_on() || at < 0 {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    let Some(label) = length_of(&file, status.st_size as u64).filter(|_| status.st_size + offset == at)
    else {
        return 0;
    };
    match offset {
        0 => label,
        _ => binary(Op::Add, 64, [label, 0], [status.st_size as u64, offset as u64], at as u64),
    }
}

/// The label of whether there was no byte at an offset, as an `int`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_met_end(descriptor: c_int, offset: i64, is_met: c_int) -> u32 {
    if !is_on() || offset < 0 {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    let (offset, size) = (offset as u64, status.st_size as u64);
    // Somebody may have cleared the mark.
    let Some(label) = length_of(&file, size).filter(|_| (size <= offset) == (is_met != 0)) else { return 0 };
    let is_met = u64::from(size <= offset);
    extend(binary(Op::ULe, 64, [label, 0], [size, offset], is_met), 32, is_met)
}

/// A read was given all it wanted because the file has at least so many bytes.
fn demand_bytes(file: &File, size: u64, needed: u64) {
    let Some(label) = length_of(file, size).filter(|_| needed <= size) else { return };
    let has_them = binary(Op::ULe, 64, [0, label], [needed, size], 1);
    if is_first_note(has_them) {
        demand(has_them, true);
    }
}

/// What comes next in a file.
pub struct Ahead<'a> {
    /// The bytes, up to the end of the file if there is room for them.
    pub bytes: &'a [u8],
    /// Where they belong to.
    pub region: RegionId,
    /// The size of the file.
    pub size: u64,
    /// Its label.
    pub size_label: u32,
}

/// Looks at what a file of the input has from an offset on, without reading it.
pub fn read_ahead(descriptor: c_int, offset: u32, room: &mut [u8]) -> Option<Ahead<'_>> {
    let (file, status) = file_of(descriptor)?;
    let size = status.st_size as u64;
    let left = size.checked_sub(offset.into())?;
    let room = room.get_mut(..left.min(room.len() as u64) as usize)?;
    let place = room.as_mut_ptr().expose_provenance();
    let arguments = [descriptor as usize, place, room.len(), offset as usize, 0, 0];
    // SAFETY: the kernel writes at most as many bytes as there is room for.
    let count = unsafe { system::call(libc::SYS_pread64, arguments) };
    (count as usize == room.len()).then_some(())?;
    Some(Ahead { bytes: room, region: file.content?, size, size_label: length_of(&file, size)? })
}

/// A line was read: that it ends where it does, and not before, is a demand on its bytes, and on the size of a file that ends
/// without one. That it has begun at all is for the caller to say.
///
/// # Safety
/// The line was just read, and its bytes have their labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_line(
    descriptor: c_int,
    place: *const u8,
    length: usize,
    offset: i64,
    end: c_int,
) {
    if !is_on() || length == 0 {
        return;
    }
    let shadow = memory::shadow(place.addr());
    let end = u64::from(end as u8);
    let mut has_end = false;
    for index in 0..length {
        // SAFETY: promised by the caller; every address has a shadow.
        let (label, byte) = unsafe { (ShadowByte(*shadow.add(index)).label(), u64::from(*place.add(index))) };
        has_end = byte == end;
        if label != 0 {
            demand(binary(Op::Eq, 8, [label, 0], [byte, end], has_end.into()), has_end);
        }
    }
    let after = offset + length as i64;
    let Some((file, status)) = (if offset < 0 { None } else { file_of(descriptor) }) else { return };
    if !has_end
        && status.st_size == after
        && let Some(is_there) = has_more(&file, &status, after)
    {
        demand(is_there, false);
    }
}

/// Something was read that begins at an offset: that the file has not ended there is a demand on its size.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_begins(descriptor: c_int, offset: i64) {
    if !is_on() || offset < 0 {
        return;
    }
    if let Some((file, status)) = file_of(descriptor)
        && let Some(is_there) = has_more(&file, &status, offset)
    {
        demand(is_there, status.st_size > offset);
    }
}

/// Notes what has to hold because we follow only what happened.
pub fn demand(label: u32, direction: bool) {
    if label != 0 {
        path::note(Record::Conditional { condition: LIBRARY, direction, label });
    }
}

/// A byte is followed only as long as it is ASCII.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_ascii(label: u32, byte: c_int) {
    if label != 0 && is_on() {
        let is_ascii = binary(Op::ULt, 8, [label, 0], [u64::from(byte as u8), 0x80], 1);
        if is_first_note(is_ascii) {
            demand(is_ascii, true);
        }
    }
}

/// A value is followed only as it is in this run.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_pin(label: u32, value: u64) {
    if label == 0 || !is_on() {
        return;
    }
    let width = u32::from(node(label).width);
    let is_same = binary(Op::Eq, width, [label, 0], [value, value], 1);
    if is_first_note(is_same) {
        demand(is_same, true);
    }
}

/// The label of what a function returned because the file has ended, which would have been `otherwise` if it had not.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_at_end(descriptor: c_int, offset: i64, otherwise: u64, at_end: u64) -> u32 {
    choice_by_end(descriptor, offset, false, [otherwise, at_end])
}

/// The label of what a function returned because the file has not ended, which would have been `at_end` if it had.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_not_at_end(
    descriptor: c_int,
    offset: i64,
    otherwise: u64,
    at_end: u64,
) -> u32 {
    choice_by_end(descriptor, offset, true, [otherwise, at_end])
}

/// The first value if a file has more than `offset` bytes, else the second; none where something else has decided.
fn choice_by_end(descriptor: c_int, offset: i64, goes_on: bool, [otherwise, at_end]: [u64; 2]) -> u32 {
    if !is_on() || offset < 0 {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    if (status.st_size > offset) != goes_on {
        return 0;
    }
    let (offset, size) = (offset as u64, status.st_size as u64);
    let Some(length) = length_of(&file, size) else { return 0 };
    let is_there = intern(Op::ULt, 1, [constant(64, offset), length, OF_LINE], goes_on.into());
    cairn_symbolic_ite(64, is_there, 0, 0, goes_on.into(), otherwise, at_end)
}

/// Labels what `stat` told of a file of the input.
///
/// # Safety
/// `status` was filled by the kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_was_told(status: *mut libc::stat) {
    // SAFETY: promised by the caller.
    unsafe {
        memory::cairn_symbolic_set(status.cast(), 0, STATUS_SIZE);
        let file = files().and_then(|files| files.find(&*status));
        let Some(file) = file.filter(|_| is_on()) else { return };
        if file.has_changed(&*status) {
            return;
        }
        let Some(region) = file.metadata else { return };
        let field = |place: *mut u8, size: u64, offset: u32, value: u64| {
            let label = input(region, offset, size as u32 * 8, value);
            memory::cairn_symbolic_store(place, size, label);
        };
        field((&raw mut (*status).st_size).cast(), 8, metadata::SIZE, (*status).st_size as u64);
        if region.kind() == Some(RegionKind::FileMetadata) {
            field((&raw mut (*status).st_mode).cast(), 4, metadata::MODE, (*status).st_mode.into());
            field((&raw mut (*status).st_mtime).cast(), 8, metadata::MODIFIED, (*status).st_mtime as u64);
            field((&raw mut (*status).st_atime).cast(), 8, metadata::ACCESSED, (*status).st_atime as u64);
        }
    }
}

const STATUS_SIZE: u64 = core::mem::size_of::<libc::stat>() as u64;

/// The variable that was asked for last, if it was delivered; one more than its number.
static ASKED_FOR: AtomicU32 = AtomicU32::new(0);

/// Notes which variable the program asks for.
pub fn asked_for(index: Option<u32>) {
    ASKED_FOR.store(index.map_or(0, |index| index + 1), Ordering::Relaxed);
}

fn variable() -> Option<RegionId> {
    let index = ASKED_FOR.load(Ordering::Relaxed).checked_sub(1)?;
    is_on().then(|| RegionId::new(RegionKind::Variable, index))
}

/// The variable that was asked for last is returned by a function.
pub fn returned_variable(function: usize, size: usize, value: u64) {
    let label = variable().map_or(0, |region| input(region, 0, size as u32 * 8, value));
    cairn_symbolic_return(function, label);
}

/// The variable that was asked for last was written to memory.
///
/// # Safety
/// The bytes are readable.
pub unsafe fn written_variable(place: *const u8, length: usize) {
    if let Some(region) = variable() {
        // SAFETY: promised by the caller.
        unsafe { label(place, length, region, 0) };
    }
}

/// The program goes on only where a value is not 0.
pub fn assumed(function: usize, value: u64) {
    let label = cairn_symbolic_argument(function, 0);
    if label != 0 && is_on() {
        let width = node(label).width.into();
        let holds = binary(Op::Ne, width, [label, 0], [value, 0], (value != 0).into());
        path::cairn_symbolic_condition(NO_CONDITION, holds, (value != 0).into());
    }
}

/// A constant with a label, for models that join values.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_constant(width: u32, value: u64) -> u32 {
    if is_on() { constant(width, value) } else { 0 }
}
