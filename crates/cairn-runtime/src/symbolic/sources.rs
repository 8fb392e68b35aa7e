//! Where the input comes in.
//!
//! Files are known by device and inode, which are asked for before the program runs: it may open them by any name. What the
//! C library reads on the program's behalf is labelled by `sources.c`, which calls the functions here.

use super::{
    build::{self, binary, cairn_symbolic_ite, constant, extend, input},
    cairn_symbolic_state, memory,
    nodes::is_on,
    path,
};
use crate::system::{self, status_of};
use cairn_abi::{
    record::Record,
    symbolic::{Op, RegionId, RegionKind, ShadowByte, metadata, sources, switch::NO_CONDITION},
};
use core::{
    ffi::{CStr, c_char, c_int},
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
};

/// The most files of an input that are followed.
const MAX_FILES: usize = 256;

#[derive(Clone, Copy)]
struct File {
    device: u64,
    inode: u64,
    content: Option<RegionId>,
    metadata: Option<RegionId>,
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
        files.add(&status, Some(stdin), Some(RegionId::new(RegionKind::StdinMetadata, 0)));
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
            files.add(&status, source.content, source.metadata);
        }
    }
}

impl Files {
    fn add(&mut self, status: &libc::stat, content: Option<RegionId>, metadata: Option<RegionId>) {
        if let Some(slot) = self.known.get_mut(self.count) {
            *slot = File { device: status.st_dev, inode: status.st_ino, content, metadata };
            self.count += 1;
        }
    }

    fn find(&self, device: u64, inode: u64) -> Option<&File> {
        self.known.get(..self.count)?.iter().find(|file| (file.device, file.inode) == (device, inode))
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

fn file_of(descriptor: i32) -> Option<(File, libc::stat)> {
    let status = status_of_descriptor(descriptor)?;
    files()?.find(status.st_dev, status.st_ino).map(|file| (*file, status))
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

/// Labels what the program finds in its arguments and its environment.
///
/// # Safety
/// Both are lists of strings, ended by null.
pub unsafe fn label_strings(argv: *mut *mut c_char, envp: *mut *mut c_char) {
    if !is_on() {
        return;
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
        // SAFETY: the program does not run now.
        unsafe {
            let state = &raw mut cairn_symbolic_state;
            (*state).arguments[0] = 0;
            (*state).arguments[1] = input(region, metadata::SIZE, 64, length as u64);
            (*state).n_arguments = 2;
            (*state).callee = harness as u64;
        }
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
        match file_of(descriptor).and_then(|(file, _)| file.content) {
            Some(region) if offset >= 0 => label(place, length, region, offset as u64),
            _ => memory::cairn_symbolic_set(place, 0, length as u64),
        }
    }
}

/// The label of the next byte of a file as `getc` returns it, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_next_byte(descriptor: c_int, offset: i64, byte: c_int) -> u32 {
    if !is_on() || offset < 0 {
        return 0;
    }
    let Some((file, _)) = file_of(descriptor) else { return 0 };
    let Some(region) = file.content else { return 0 };
    let Ok(at) = u32::try_from(offset) else { return 0 };
    if byte >= 0 {
        return extend(input(region, at, 8, byte as u64), 32, byte as u64);
    }
    let Some(is_there) = has_more(&file, offset) else { return 0 };
    let next = extend(input(region, at, 8, 0), 32, 0);
    cairn_symbolic_ite(32, is_there, next, 0, 0, 0, u32::MAX.into())
}

/// Whether a file has more than `offset` bytes, which it has not.
fn has_more(file: &File, offset: i64) -> Option<u32> {
    let size = length_of(file, offset as u64)?;
    Some(binary(Op::ULt, 64, [0, size], [offset as u64, offset as u64], 0))
}

/// The size of a file, as far as its end was seen.
fn length_of(file: &File, size: u64) -> Option<u32> {
    Some(input(file.metadata?, metadata::SIZE, 64, size))
}

/// The label of how much a read returned that wanted more and met the end of the file.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_count(descriptor: c_int, offset: i64, wanted: u64, count: u64) -> u32 {
    if !is_on() || offset < 0 || count >= wanted {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    let end = offset as u64 + count;
    if status.st_size as u64 != end {
        return 0;
    }
    let Some(size) = length_of(&file, end) else { return 0 };
    let left = binary(Op::Sub, 64, [size, 0], [end, offset as u64], count);
    let is_less = binary(Op::ULt, 64, [left, 0], [count, wanted], 1);
    build::cairn_symbolic_ite(64, is_less, left, 0, 1, count, wanted)
}

/// A line was read: that it ends where it does, and not before, is a demand on its bytes, and on the size of a file that ends
/// without one.
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
    let demand = |label: u32, direction: bool| {
        path::note(Record::Conditional { condition: NO_CONDITION, direction, label });
    };
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
    if !has_end
        && let Some((file, status)) = file_of(descriptor)
        && status.st_size == after
        && let Some(is_there) = has_more(&file, after)
    {
        demand(is_there, false);
    }
}

/// The label of a pointer that is null because the file has ended.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_null_at_end(descriptor: c_int, offset: i64, otherwise: usize) -> u32 {
    if !is_on() || offset < 0 {
        return 0;
    }
    let Some((file, status)) = file_of(descriptor) else { return 0 };
    if status.st_size > offset {
        return 0;
    }
    has_more(&file, offset)
        .map_or(0, |is_there| cairn_symbolic_ite(64, is_there, 0, 0, 0, otherwise as u64, 0))
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
        let file = files().and_then(|files| files.find((*status).st_dev, (*status).st_ino));
        let Some(region) = file.and_then(|file| file.metadata) else {
            return;
        };
        if !is_on() {
            return;
        }
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
        let width = super::nodes::node(label).width.into();
        let holds = binary(Op::Ne, width, [label, 0], [value, 0], (value != 0).into());
        path::cairn_symbolic_condition(NO_CONDITION, holds, (value != 0).into());
    }
}

/// A constant with a label, for models that join values.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_constant(width: u32, value: u64) -> u32 {
    if is_on() { constant(width, value) } else { 0 }
}
