//! The host's side of a channel.
//!
//! The layout is [`cairn_abi::channel`]'s. The target can write anything into it, so the host never reads back
//! what it wrote itself, cuts every length at the region it belongs to, and takes numbers it does not know for
//! harmless ones. The file is sealed: a target that could shrink it would make the host fault.

use cairn_abi::{
    ABI_VERSION,
    channel::{CHANNEL_MAGIC, ChannelHeader, EndedBy, PAGE, Refusal, Region, Stage, Task, TraceLevel},
    counters::{COUNTERS_START, counter_region_size},
    mutants::{control_size, infections_size, values_size},
    record::RECORD_SIZE,
    session::{ResultSlot, SessionBoard, Span},
    stack::STACK_REGION_SIZE,
    symbolic::{Cut, NODE_SIZE, Node, SymbolicHead, Unmodelled, sites::sites_size},
};
use cairn_model::{input::Bytes, outcome::Captured};
use memmap2::MmapMut;
use nix::{
    fcntl::{FallocateFlags, FcntlArg, SealFlag, fallocate, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
};
use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::atomic::Ordering,
};

/// How large the parts of a channel are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelLayout {
    /// Counters of the view; 0 for none.
    pub n_counters: usize,
    /// Bytes for what the input delivers.
    pub delivery: usize,
    /// Bytes for harness output.
    pub output: usize,
    /// Bytes for trace records.
    pub trace: usize,
    /// What a session needs beside; `None` for a process that serves one run.
    pub session: Option<SessionLayout>,
    /// What a mutant view needs beside; `None` where no mutants are wanted.
    pub mutants: Option<MutantLayout>,
    /// What a symbolic run needs beside; `None` where none is wanted.
    pub symbolic: Option<SymbolicLayout>,
    /// Whether the run tells where it fails.
    pub has_stack: bool,
}

/// How large the parts for mutants are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutantLayout {
    /// Mutated functions of the view.
    pub n_functions: usize,
    /// Its patches.
    pub n_patches: usize,
    /// One more than its largest selector.
    pub n_selectors: usize,
    /// Values that are kept of an observed patch.
    pub n_values: usize,
}

/// How large the parts for symbolic runs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolicLayout {
    /// Bytes for the names of files.
    pub sources: usize,
    /// The most nodes.
    pub n_nodes: usize,
    /// Bytes for constant tables.
    pub tables: usize,
    /// Probes of the view; 0 for a view without.
    pub n_probes: usize,
}

/// What a symbolic run says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolicNotes {
    pub(crate) n_nodes: u32,
    pub(crate) cut: Cut,
    pub(crate) tables_used: u64,
    pub(crate) n_stale: u64,
    pub(crate) n_concrete_addresses: u64,
    /// Functions that are not followed, and how often they were given data of the input.
    pub(crate) unmodelled: Vec<(String, u64)>,
}

impl Default for SymbolicNotes {
    fn default() -> Self {
        Self {
            n_nodes: 0,
            cut: Cut::None,
            tables_used: 0,
            n_stale: 0,
            n_concrete_addresses: 0,
            unmodelled: Vec::new(),
        }
    }
}

/// How large the parts of a session are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLayout {
    /// The most inputs of a batch.
    pub max_batch: usize,
    /// Bytes for inputs, their slots included.
    pub inputs: usize,
    /// Bytes for what runs leave: counters, standard output and error.
    pub captured: usize,
}

/// Memory shared with the target of one run after the other.
#[derive(Debug)]
pub struct Channel {
    layout: ChannelLayout,
    file: File,
    map: MmapMut,
    counters: Region,
    delivery: Region,
    output: Region,
    trace: Region,
    fuel: Region,
    board: Region,
    inputs: Region,
    baseline: Region,
    results: Region,
    captured: Region,
    control: Region,
    infections: Region,
    values: Region,
    symbolic: Region,
    sources: Region,
    nodes: Region,
    tables: Region,
    sites: Region,
    stack: Region,
}

impl Channel {
    /// Makes a channel, all zero but for its header.
    pub fn new(layout: ChannelLayout, trace_level: TraceLevel) -> io::Result<Self> {
        let mut end = PAGE as u64;
        let mut region = |size: usize| {
            let region =
                Region { offset: if size == 0 { 0 } else { end }, size: size.next_multiple_of(PAGE) as u64 };
            end += region.size;
            region
        };
        let counters =
            region(if layout.n_counters == 0 { 0 } else { counter_region_size(layout.n_counters) });
        let (delivery, output, trace) =
            (region(layout.delivery), region(layout.output), region(layout.trace));
        let fuel = region(if layout.n_counters == 0 { 0 } else { PAGE });
        let [board, inputs, baseline, results, captured] = match layout.session {
            Some(SessionLayout { max_batch, inputs, captured }) => {
                [PAGE, inputs, layout.n_counters, max_batch * size_of::<ResultSlot>(), captured]
                    .map(&mut region)
            }
            None => [Region::default(); 5],
        };
        let [control, infections, values] = match layout.mutants {
            Some(MutantLayout { n_functions, n_patches, n_selectors, n_values }) => {
                [control_size(n_functions), infections_size(n_patches, n_selectors), values_size(n_values)]
                    .map(&mut region)
            }
            None => [Region::default(); 3],
        };
        let [symbolic, sources, nodes, tables, sites] = match layout.symbolic {
            Some(SymbolicLayout { sources, n_nodes, tables, n_probes }) => {
                [PAGE, sources, n_nodes * NODE_SIZE, tables, sites_size(n_probes)].map(&mut region)
            }
            None => [Region::default(); 5],
        };
        let stack = region(if layout.has_stack { STACK_REGION_SIZE } else { 0 });

        let fd = memfd_create(c"cairn-channel", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
        let file = File::from(fd);
        file.set_len(end)?;
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        // SAFETY: the seals keep the size. What a target writes during a run is read only after all its
        // processes are gone.
        let map = unsafe { MmapMut::map_mut(&file)? };
        let mut channel = Self {
            layout,
            file,
            map,
            counters,
            delivery,
            output,
            trace,
            fuel,
            board,
            inputs,
            baseline,
            results,
            captured,
            control,
            infections,
            values,
            symbolic,
            sources,
            nodes,
            tables,
            sites,
            stack,
        };
        channel.write_header(trace_level, 0);
        Ok(channel)
    }

    /// How large its parts are.
    pub fn layout(&self) -> ChannelLayout {
        self.layout
    }

    /// Forgets the last run and lets `write` fill the delivery region; it returns how many bytes it used.
    pub fn reset<E: From<io::Error>>(
        &mut self,
        trace_level: TraceLevel,
        write: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        // Gives the pages back rather than zeroing them: most of a channel is never touched.
        let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        fallocate(&self.file, flags, 0, self.map.len() as i64).map_err(io::Error::from)?;
        let delivery_length = write(range(&mut self.map, self.delivery))?;
        self.write_header(trace_level, delivery_length as u64);
        Ok(())
    }

    /// Forgets an ended session; inputs and baseline stay.
    ///
    /// Counters too: what a new process counts before `main` is where all its runs start from.
    pub(crate) fn restart(&mut self, trace_level: TraceLevel) {
        for region in [self.board, self.counters, self.fuel, self.control, self.infections, self.symbolic] {
            range(&mut self.map, region).fill(0);
        }
        self.map[..PAGE].fill(0);
        self.write_header(trace_level, 0);
    }

    /// How large it is.
    pub(crate) fn size(&self) -> usize {
        self.map.len()
    }

    /// Sets what a run may use; 0 for no limit.
    pub(crate) fn set_fuel(&mut self, fuel: u64) {
        if self.fuel.size > 0 {
            range(&mut self.map, self.fuel)[..8].copy_from_slice(&fuel.to_ne_bytes());
        }
    }

    /// Sets what the next process is for.
    pub(crate) fn set_task(&mut self, task: Task) {
        // SAFETY: as in `header`, and no target is running.
        unsafe { (*self.map.as_mut_ptr().cast::<ChannelHeader>()).task = task as u32 };
    }

    /// The control pages: a [`cairn_abi::mutants::MutantControl`], then one byte a function. Empty without mutants.
    pub(crate) fn control(&mut self) -> &mut [u8] {
        range(&mut self.map, self.control)
    }

    /// What an examining run noted: one byte a patch, then one a selector. Empty without mutants.
    pub(crate) fn infections(&self) -> &[u8] {
        &self.map[self.infections.offset as usize..][..self.infections.size as usize]
    }

    /// What an observing run noted: a [`cairn_abi::mutants::ValuesHead`], then values. Empty without mutants.
    pub(crate) fn values(&self) -> &[u8] {
        &self.map[self.values.offset as usize..][..self.values.size as usize]
    }

    /// What a run used that was given `fuel`.
    pub(crate) fn fuel_used(&self, fuel: u64) -> u64 {
        if self.fuel.size == 0 {
            return 0;
        }
        let start = self.fuel.offset as usize;
        let left = u64::from_ne_bytes(self.map[start..start + 8].try_into().expect("eight bytes"));
        fuel.wrapping_sub(left)
    }

    /// Where host, template and runner meet. Only channels with a session have one.
    pub(crate) fn board(&self) -> &SessionBoard {
        assert!(self.board.size > 0, "a channel without a session has no board");
        // SAFETY: the region starts on a page and is one long; the board is made of atomics only.
        unsafe { &*self.map.as_ptr().add(self.board.offset as usize).cast::<SessionBoard>() }
    }

    /// The inputs of a batch.
    pub(crate) fn inputs(&mut self) -> &mut [u8] {
        range(&mut self.map, self.inputs)
    }

    /// The bytes of `span` in the inputs of a batch.
    pub(crate) fn input_bytes(&self, span: Span) -> &[u8] {
        &self.map[self.inputs.offset as usize..][..self.inputs.size as usize][span.offset as usize..]
            [..span.length as usize]
    }

    /// What was seen before, one byte a counter.
    pub(crate) fn baseline(&self) -> &[u8] {
        &self.map[self.baseline.offset as usize..][..self.layout.n_counters]
    }

    /// Likewise, to be changed between batches.
    pub(crate) fn baseline_mut(&mut self) -> &mut [u8] {
        let n_counters = self.layout.n_counters;
        &mut range(&mut self.map, self.baseline)[..n_counters]
    }

    /// The result at `index`, copied, because the target could change it while it is looked at.
    pub(crate) fn result(&self, index: usize) -> ResultSlot {
        let at = index * size_of::<ResultSlot>();
        assert!(at + size_of::<ResultSlot>() <= self.results.size as usize, "within the results");
        // SAFETY: within the region by the check, aligned as the region and the slot's size are; every bit pattern
        // is a slot.
        unsafe {
            self.map.as_ptr().add(self.results.offset as usize + at).cast::<ResultSlot>().read_volatile()
        }
    }

    /// What results refer to.
    pub(crate) fn captured(&self) -> &[u8] {
        &self.map[self.captured.offset as usize..][..self.captured.size as usize]
    }

    /// Where the files of the input are listed. Empty where the run is not symbolic.
    pub(crate) fn sources(&mut self) -> &mut [u8] {
        range(&mut self.map, self.sources)
    }

    /// What is asked about expressions: a [`cairn_abi::symbolic::sites::SiteControl`], then switches. Empty where the view has
    /// no probes.
    pub(crate) fn sites(&mut self) -> &mut [u8] {
        range(&mut self.map, self.sites)
    }

    /// What a symbolic run says about itself. All zero where the run is not symbolic.
    pub(crate) fn symbolic_head(&self) -> SymbolicNotes {
        if self.symbolic.size == 0 {
            return SymbolicNotes::default();
        }
        // SAFETY: the region starts on a page and is one long; the head is made of atomics only.
        let head = unsafe { &*self.map.as_ptr().add(self.symbolic.offset as usize).cast::<SymbolicHead>() };
        SymbolicNotes {
            n_nodes: head.n_nodes.load(Ordering::Relaxed),
            cut: Cut::from_target(head.cut.load(Ordering::Relaxed)),
            tables_used: head.tables_used.load(Ordering::Relaxed),
            n_stale: head.n_stale.load(Ordering::Relaxed),
            n_concrete_addresses: head.n_concrete_addresses.load(Ordering::Relaxed),
            unmodelled: head.unmodelled.iter().filter_map(unmodelled).collect(),
        }
    }

    /// A copy of the first nodes, `n_nodes` as the target says, or as many as there is room for.
    pub(crate) fn nodes(&self, n_nodes: u32) -> Vec<Node> {
        let n_nodes = (n_nodes as usize).min(self.nodes.size as usize / NODE_SIZE);
        // SAFETY: the region holds as many nodes, aligned as it starts on a page, and every bit pattern is a node; nobody
        // writes them now.
        unsafe {
            let start = self.map.as_ptr().add(self.nodes.offset as usize).cast::<Node>();
            std::slice::from_raw_parts(start, n_nodes).to_vec()
        }
    }

    /// Constant tables, `used` bytes as the target says, or all there is.
    pub(crate) fn tables(&self, used: u64) -> &[u8] {
        let used = used.min(self.tables.size) as usize;
        &self.map[self.tables.offset as usize..][..used]
    }

    /// What the run tells of where it failed. Empty where it was not asked.
    pub(crate) fn stack(&self) -> &[u8] {
        &self.map[self.stack.offset as usize..][..self.stack.size as usize]
    }

    /// Gives back what the last symbolic run of a session has used beyond `kept` bytes of each list, a multiple of [`PAGE`].
    pub(crate) fn give_back(&mut self, kept: u64) -> io::Result<()> {
        let head = self.symbolic_head();
        let lists = [
            (self.nodes, u64::from(head.n_nodes).saturating_mul(NODE_SIZE as u64)),
            (self.trace, self.trace().1.saturating_mul(RECORD_SIZE as u64)),
            (self.tables, head.tables_used),
        ];
        let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        for (region, used) in lists {
            let used = used.min(region.size);
            if used > kept {
                fallocate(&self.file, flags, (region.offset + kept) as i64, (used - kept) as i64)?;
            }
        }
        Ok(())
    }

    /// The descriptor to hand to the target.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// One byte per counter.
    pub fn counters(&self) -> &[u8] {
        let start = self.counters.offset as usize + COUNTERS_START;
        if self.layout.n_counters == 0 { &[] } else { &self.map[start..start + self.layout.n_counters] }
    }

    /// The path hash; 0 in views that keep none.
    pub fn path_hash(&self) -> u64 {
        if self.layout.n_counters == 0 {
            return 0;
        }
        let start = self.counters.offset as usize;
        u64::from_ne_bytes(self.map[start..start + 8].try_into().expect("eight bytes"))
    }

    /// How far the run came.
    pub fn stage(&self) -> Stage {
        Stage::from_target(self.header().stage.load(Ordering::Relaxed))
    }

    /// Why the runtime ended the run.
    pub fn ended_by(&self) -> EndedBy {
        EndedBy::from_target(self.header().ended_by.load(Ordering::Relaxed))
    }

    /// Why the runtime refused this channel.
    pub fn refusal(&self) -> Refusal {
        Refusal::from_target(self.header().refusal.load(Ordering::Relaxed))
    }

    /// What the harness returned, if it did.
    pub fn harness_return(&self) -> Option<i32> {
        (self.stage() == Stage::HarnessReturned).then(|| self.header().harness_return.load(Ordering::Relaxed))
    }

    /// What the harness passed to `cairn_output`.
    pub fn harness_output(&self) -> Captured {
        let total = self.header().output_total.load(Ordering::Relaxed);
        let kept = total.min(self.layout.output as u64) as usize;
        let start = self.output.offset as usize;
        Captured { bytes: Bytes(self.map[start..start + kept].to_vec()), total }
    }

    /// The trace region, how many records the target says it holds, and how many did not fit.
    pub fn trace(&self) -> (&[u8], u64, u64) {
        let start = self.trace.offset as usize;
        let header = self.header();
        (
            &self.map[start..start + self.trace.size as usize],
            header.trace_committed.load(Ordering::Relaxed),
            header.trace_dropped.load(Ordering::Relaxed),
        )
    }

    /// A variable that the program asked for and the input did not have, if there was one.
    pub fn missing_variable(&self) -> Option<String> {
        let bytes = self.header().missing.iter().map(|byte| byte.load(Ordering::Relaxed));
        let name: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        (!name.is_empty()).then(|| name.escape_ascii().to_string())
    }

    fn header(&self) -> &ChannelHeader {
        // SAFETY: the mapping begins with a whole page and is page-aligned; every bit pattern is a header.
        unsafe { &*self.map.as_ptr().cast::<ChannelHeader>() }
    }

    fn write_header(&mut self, trace_level: TraceLevel, delivery_length: u64) {
        // SAFETY: as in `header`, and no target is running.
        let header = unsafe { &mut *self.map.as_mut_ptr().cast::<ChannelHeader>() };
        header.magic = CHANNEL_MAGIC;
        header.abi_version = ABI_VERSION;
        header.trace_level = trace_level as u32;
        header.counters = self.counters;
        header.delivery = self.delivery;
        header.output = self.output;
        header.trace = self.trace;
        header.fuel = self.fuel;
        header.session = self.board;
        header.inputs = self.inputs;
        header.baseline = self.baseline;
        header.results = self.results;
        header.captured = self.captured;
        header.control = self.control;
        header.infections = self.infections;
        header.values = self.values;
        header.symbolic = self.symbolic;
        header.sources = self.sources;
        header.nodes = self.nodes;
        header.tables = self.tables;
        header.sites = self.sites;
        header.stack = self.stack;
        header.task = Task::Run as u32;
        header.delivery_length = delivery_length;
    }
}

/// An entry that is used.
fn unmodelled(entry: &Unmodelled) -> Option<(String, u64)> {
    let count = entry.count.load(Ordering::Relaxed);
    if count == 0 {
        return None;
    }
    let name: Vec<u8> =
        entry.name.iter().map(|byte| byte.load(Ordering::Relaxed)).take_while(|byte| *byte != 0).collect();
    Some((name.escape_ascii().to_string(), count))
}

fn range(map: &mut MmapMut, region: Region) -> &mut [u8] {
    &mut map[region.offset as usize..][..region.size as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        let layout = ChannelLayout {
            n_counters: 5000,
            delivery: 10,
            output: 100,
            trace: 0,
            ..ChannelLayout::default()
        };
        Channel::new(layout, TraceLevel::None).unwrap()
    }

    #[test]
    fn regions_follow_each_other_page_by_page() {
        let channel = channel();
        assert_eq!(channel.counters, Region { offset: 4096, size: 8192 });
        assert_eq!(channel.delivery, Region { offset: 12288, size: 4096 });
        assert_eq!(channel.output, Region { offset: 16384, size: 4096 });
        assert_eq!(channel.trace, Region { offset: 0, size: 0 });
    }

    #[test]
    fn a_target_cannot_change_the_size() {
        let channel = channel();
        assert!(channel.file.set_len(0).is_err());
        assert!(channel.file.set_len(1 << 20).is_err());
    }

    #[test]
    fn lengths_written_by_a_target_are_cut() {
        let channel = channel();
        channel.header().output_total.store(u64::MAX, Ordering::Relaxed);
        let output = channel.harness_output();
        assert_eq!((output.bytes.0.len(), output.total), (100, u64::MAX));
    }

    #[test]
    fn a_reset_channel_remembers_nothing_but_the_delivery() {
        let mut channel = channel();
        channel.header().stage.store(3, Ordering::Relaxed);
        channel.map[4096 + COUNTERS_START] = 1;
        channel
            .reset::<io::Error>(TraceLevel::All, |region| {
                region[..2].copy_from_slice(b"ab");
                Ok(2)
            })
            .unwrap();
        assert_eq!(channel.stage(), Stage::Nothing);
        assert!(channel.counters().iter().all(|counter| *counter == 0));
        assert_eq!(&channel.map[12288..12291], b"ab\0");
        assert_eq!((channel.header().delivery_length, channel.header().trace_level), (2, 2));
    }
}
