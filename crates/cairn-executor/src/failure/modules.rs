//! Which files a process had mapped, and where.

use super::image::Image;
use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Files a process can name before it is not listened to any more.
const MAX_FILES: usize = 256;

/// Larger files are not read.
const MAX_FILE_SIZE: u64 = 1 << 30;

/// Images by path; a program and its libraries are read once.
#[derive(Debug, Default)]
pub(super) struct Images {
    known: HashMap<PathBuf, Option<Arc<Image>>>,
}

impl Images {
    /// The image of a file, unless it is none.
    pub(super) fn get(&mut self, path: &Path) -> Option<Arc<Image>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        if self.known.len() >= MAX_FILES {
            return None;
        }
        let image = read(path).ok().and_then(|bytes| Image::parse(&bytes)).map(Arc::new);
        self.known.insert(path.to_path_buf(), image.clone());
        image
    }
}

/// The path may come from a process that is not trusted: it may name a device, or a pipe that never ends.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_SIZE {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, MAX_FILE_SIZE), &mut bytes)?;
    Ok(bytes)
}

/// How paths inside the sandbox lead to files outside.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    /// The program.
    pub(super) program: PathBuf,
    /// Where runs find it; empty if they have only a descriptor.
    pub(super) launched: PathBuf,
}

impl Paths {
    /// The file a process sees under this name, and whether it is the program.
    pub(super) fn outside(&self, seen: &str) -> (PathBuf, bool) {
        let path = Path::new(seen.strip_suffix(" (deleted)").unwrap_or(seen));
        if path == self.program || path == self.launched {
            return (self.program.clone(), true);
        }
        // Executed by a descriptor, it is shown by the name it was copied to.
        if self.launched.as_os_str().is_empty() && path.file_name() == self.program.file_name() {
            return (self.program.clone(), true);
        }
        let (inside, outside) = (self.launched.parent(), self.program.parent());
        match (inside.and_then(|inside| path.strip_prefix(inside).ok()), outside) {
            (Some(rest), Some(outside)) => (outside.join(rest), false),
            _ => (path.to_path_buf(), false),
        }
    }
}

/// Code of one file, mapped.
#[derive(Clone, Debug)]
pub(super) struct Module {
    start: u64,
    end: u64,
    /// What addresses in the file and addresses in the process differ by.
    pub(super) bias: u64,
    pub(super) image: Arc<Image>,
    /// Whether it is the program itself.
    pub(super) is_program: bool,
}

/// The modules of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Modules(Vec<Module>);

impl Modules {
    /// Reads the text of `/proc/self/maps`; lines that make no sense are left out.
    pub(super) fn read(maps: &str, paths: &Paths, images: &mut Images) -> Self {
        let lines = maps.lines().filter_map(Line::parse).filter(|line| line.is_code);
        let modules = lines.filter_map(|line| {
            let (path, is_program) = paths.outside(line.path);
            let image = images.get(&path)?;
            let bias = line.start.wrapping_sub(image.address_of(line.offset)?);
            Some(Module { start: line.start, end: line.end, bias, image, is_program })
        });
        Self(modules.collect())
    }

    /// The module that holds the code at an address.
    pub(super) fn at(&self, address: u64) -> Option<&Module> {
        self.0.iter().find(|module| (module.start..module.end).contains(&address))
    }
}

/// One mapping.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    start: u64,
    end: u64,
    offset: u64,
    is_code: bool,
    path: &'a str,
}

impl<'a> Line<'a> {
    /// `55d0c0-55d0c1 r-xp 00001000 fe:00 1234       /usr/bin/program`
    fn parse(line: &'a str) -> Option<Self> {
        let mut rest = line;
        let mut field = || {
            let (field, after) = rest.split_once(' ')?;
            rest = after.trim_start_matches(' ');
            Some(field)
        };
        let (range, rights, offset) = (field()?, field()?, field()?);
        let (_device, _inode) = (field()?, field()?);
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Self {
            start: number(start)?,
            end: number(end)?,
            offset: number(offset)?,
            is_code: rights.contains('x'),
            path: Some(rest).filter(|path| path.starts_with('/'))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_files_are_read() {
        let line = "7ffff7c00000-7ffff7c26000 r-xp 00001000 fe:00 1234                 /lib/x y.so";
        let parsed = Line::parse(line).unwrap();
        assert_eq!((parsed.start, parsed.offset, parsed.is_code), (0x7fff_f7c0_0000, 0x1000, true));
        assert_eq!(parsed.path, "/lib/x y.so");
        for nothing in ["7f-80 rw-p 0 0:0 0 [stack]", "7f-80 rw-p 0 0:0 0", "", "x-y z", "7f80 r-xp 0 0 0 /a"]
        {
            assert_eq!(Line::parse(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn the_program_is_known_by_where_it_was_launched() {
        let paths = Paths { program: "/home/me/bare".into(), launched: "/tmp/sandbox/program/bare".into() };
        assert_eq!(paths.outside("/tmp/sandbox/program/bare"), ("/home/me/bare".into(), true));
        assert_eq!(paths.outside("/tmp/sandbox/program/libx.so"), ("/home/me/libx.so".into(), false));
        assert_eq!(paths.outside("/lib/libc.so.6"), ("/lib/libc.so.6".into(), false));
        let paths = Paths { program: "/root/bare".into(), launched: "".into() };
        assert_eq!(paths.outside("/tmp/copy-1/bare (deleted)"), ("/root/bare".into(), true));
    }

    #[test]
    fn only_regular_files_are_read() {
        let mut images = Images::default();
        assert!(images.get(Path::new("/dev/zero")).is_none());
        assert!(images.get(Path::new("/proc/self/maps")).is_none());
        assert!(images.get(&std::env::current_exe().unwrap()).is_some());
    }
}
