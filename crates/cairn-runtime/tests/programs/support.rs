//! A channel as the host makes it, and programs that run with it.
#![allow(dead_code, reason = "each test binary uses its own part")]

use cairn_abi::{
    ABI_VERSION,
    channel::{CHANNEL_FD, CHANNEL_MAGIC, ChannelHeader, EndedBy, PAGE, Region, Stage},
    delivery::{self, Item},
    view::VIEW_MAGIC,
};
use cairn_testkit::{Ran, Workspace, dist};
use std::{
    fs::File,
    os::{
        fd::{AsRawFd as _, FromRawFd as _},
        unix::{fs::FileExt as _, process::CommandExt as _},
    },
    path::PathBuf,
    process::Command,
};

/// A memory file laid out as a channel: a page of counters, deliveries, a page of output.
pub struct Channel {
    file: File,
}

const COUNTERS: u64 = PAGE as u64;
const OUTPUT: u64 = 2 * PAGE as u64;
const DELIVERY: u64 = 3 * PAGE as u64;

impl Channel {
    pub fn new() -> Self {
        Self::delivering(&[])
    }

    pub fn delivering(items: &[Item<'_>]) -> Self {
        let mut region = vec![0; delivery::encoded_size(items.iter().copied()).next_multiple_of(PAGE)];
        let mut writer = delivery::Writer::new(&mut region);
        for item in items {
            writer.push(item).unwrap();
        }
        let delivery_length = writer.length() as u64;
        let page = PAGE as u64;
        let channel = Self { file: memory_file() };
        channel.file.set_len(DELIVERY + region.len() as u64).unwrap();
        channel.file.write_all_at(&region, DELIVERY).unwrap();
        channel.change(|header| {
            header.magic = CHANNEL_MAGIC;
            header.abi_version = ABI_VERSION;
            header.counters = Region { offset: COUNTERS, size: page };
            header.output = Region { offset: OUTPUT, size: page };
            header.delivery = Region { offset: DELIVERY, size: region.len() as u64 };
            header.delivery_length = delivery_length;
        });
        channel
    }

    /// Changes the header before a run.
    pub fn change(&self, change: impl FnOnce(&mut ChannelHeader)) {
        let mut header = self.header();
        change(&mut header);
        // SAFETY: the header is plain data without padding that matters.
        let bytes = unsafe {
            std::slice::from_raw_parts((&raw const header).cast::<u8>(), size_of::<ChannelHeader>())
        };
        self.file.write_all_at(bytes, 0).unwrap();
    }

    /// The header, as it is now.
    pub fn header(&self) -> ChannelHeader {
        let mut bytes = [0; size_of::<ChannelHeader>()];
        self.file.read_exact_at(&mut bytes, 0).unwrap();
        // SAFETY: the header is plain data for which every bit pattern is a value.
        unsafe { bytes.as_ptr().cast::<ChannelHeader>().read_unaligned() }
    }

    /// The counter region, head included.
    pub fn counters(&self) -> Vec<u8> {
        self.read(COUNTERS, PAGE)
    }

    pub fn output(&self) -> Vec<u8> {
        self.read(OUTPUT, PAGE)
    }

    pub fn stage(&self) -> Stage {
        Stage::from_target(self.header().stage.into_inner())
    }

    pub fn ended_by(&self) -> EndedBy {
        EndedBy::from_target(self.header().ended_by.into_inner())
    }

    fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset).unwrap();
        bytes
    }
}

fn memory_file() -> File {
    // SAFETY: the name is a string, and the descriptor is fresh and owned by the file.
    unsafe { File::from_raw_fd(libc::memfd_create(c"channel".as_ptr(), libc::MFD_CLOEXEC)) }
}

/// What a program is linked with.
pub enum Link {
    /// The archive of ordinary executables.
    Delivery,
    /// The archive of views, and what the instrumenter puts into a view.
    View,
}

/// A built program.
pub struct Program {
    pub workspace: Workspace,
    pub path: PathBuf,
}

impl Program {
    pub fn c(link: Link, source: &str) -> Self {
        Self::build("clang-19", "program.c", link, source, &[])
    }

    pub fn build(compiler: &str, file: &str, link: Link, source: &str, options: &[&str]) -> Self {
        let workspace = Workspace::new();
        let path = Self::build_in(&workspace, "program", compiler, file, link, source, options);
        Self { workspace, path }
    }

    pub fn build_in(
        workspace: &Workspace,
        output: &str,
        compiler: &str,
        file: &str,
        link: Link,
        source: &str,
        options: &[&str],
    ) -> PathBuf {
        let path = workspace.path(output);
        let mut command = workspace.command(compiler);
        command.args(["-O1", "-g0", "-fuse-ld=lld", "-o"]).arg(&path).arg("-I").arg(dist().include());
        command.args(options).arg(workspace.write(file, source));
        match link {
            Link::Delivery => command.arg(dist().delivery_archive()),
            Link::View => {
                command
                    .arg(format!("-DVIEW_MAGIC={VIEW_MAGIC}ull"))
                    .arg(format!("-DABI_VERSION={ABI_VERSION}"));
                if source.contains("LLVMFuzzerTestOneInput") {
                    command.arg("-DHARNESS");
                }
                if source.contains("MUTANTS(") {
                    command.arg("-include").arg(workspace.write("mutants.h", include_str!("mutants.h")));
                }
                command.arg("-include").arg(workspace.write("view.h", VIEW)).arg(dist().runtime_archive())
            }
        };
        Ran::of(&mut command, b"").success();
        path
    }

    /// Runs with a channel.
    pub fn run(&self, channel: &Channel) -> Ran {
        Ran::of(&mut self.command(Some(channel)), b"standard input")
    }

    /// Runs as a person would.
    pub fn run_alone(&self, arguments: &[&str], variables: &str) -> Ran {
        let mut command = self.command(None);
        command.args(arguments).env("CAIRN_VARIABLES", variables);
        Ran::of(&mut command, b"standard input")
    }

    /// A command with the channel on its descriptor.
    pub fn command(&self, channel: Option<&Channel>) -> Command {
        let mut command = self.workspace.command(&self.path);
        if let Some(channel) = channel {
            give_as_channel(&mut command, &channel.file);
        }
        command
    }
}

/// Puts `file` where a channel is looked for.
pub fn give_as_channel(command: &mut Command, file: &File) {
    let descriptor = file.as_raw_fd();
    // SAFETY: `dup2` may be called between fork and exec.
    unsafe {
        command.pre_exec(move || match libc::dup2(descriptor, CHANNEL_FD) {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        })
    };
}

/// Counts the first byte of standard input and exits with it; three letters are special.
pub const FIRST_BYTE: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  unsigned char byte = 0;
  if (read(0, &byte, 1) != 1) return 200;
  HIT(byte % 100);
  if (byte == 'A') abort();
  if (byte == 'S') raise(SIGSEGV);
  if (byte == 'H') for (;;) pause();
  return byte;
}
"#;

/// Counts the length of its input, and process-wide how many it had.
pub const HARNESS: &str = "
int n_inputs;
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
  HIT(size % 50);
  for (int i = 0; i < n_inputs; i++) HIT(99);
  n_inputs++;
  return 0;
}";

/// What the instrumenter adds to a view, written in C. `HIT(n)` is what it does at counter n.
const VIEW: &str = r#"
#pragma once
#ifndef MAP_HASH
#define MAP_HASH 7
#endif
#ifndef N_COUNTERS
#define N_COUNTERS 100
#endif
#ifndef VIEW_KIND
#define VIEW_KIND 1
#endif
#ifndef MUTANT_VIEW
#define MUTANT_VIEW 0
#endif
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((aligned(4096))) unsigned char __cairn_counters[(64 + N_COUNTERS + 4095) / 4096 * 4096];
#define HIT(n) (__cairn_counters[64 + (n)] += 1)
struct view {
  unsigned long magic;
  unsigned abi_version, kind;
  unsigned char map_hash[32];
  unsigned n_counters, n_probes;
  unsigned char *counters;
  unsigned long *fuel;
  const void *mutants, *tables, *sites;
};
__attribute__((aligned(4096))) unsigned long __cairn_fuel[512];
__attribute__((section(".cairn_view"), used)) extern struct view __cairn_view;
struct view __cairn_view = {VIEW_MAGIC, ABI_VERSION, VIEW_KIND, {MAP_HASH}, N_COUNTERS, 0, __cairn_counters, __cairn_fuel, MUTANT_VIEW, 0, 0};
extern const unsigned cairn_abi_v5;
__attribute__((used)) static const unsigned *abi = &cairn_abi_v5;
#ifdef __cplusplus
}
#elif !defined HARNESS
int cairn_run_main(int, char **, char **, int (*)());
int main() __asm__("program_main");
int view_main(int argc, char **argv, char **envp) __asm__("main");
int view_main(int argc, char **argv, char **envp) { return cairn_run_main(argc, argv, envp, main); }
#endif
"#;
