//! How many evaluations per second a tape makes, on constraints as paths have them; and how many nodes per second are
//! imported from a run.
//!
//! ```text
//! cargo run --release -p cairn-expr --example speed
//! ```

use std::{fs, hint::black_box, time::Instant};

use cairn_abi::symbolic::Node;
use cairn_expr::{Dag, ExprId, Op, RegionId, Tape, import::Importer};

const STDIN: RegionId = RegionId(0);
const N: u32 = 2_000_000;

fn main() {
    println!(
        "{:<28} {:>12} {:>6} {:>12} {:>12}",
        "constraint", "instructions", "bytes", "whole/s", "slice/s"
    );
    measure("magic and length", |dag| {
        let magic = dag.input(STDIN, 0, 32);
        let value = dag.constant(32, 0x464c_457f);
        let is_magic = dag.compare(Op::Eq, magic, value);
        let length = dag.input(STDIN, 4, 16);
        let length = dag.zext(length, 32);
        let offset = dag.input(STDIN, 6, 8);
        let offset = dag.zext(offset, 32);
        let sum = dag.binary(Op::Add, length, offset);
        let limit = dag.constant(32, 4096);
        let fits = dag.compare(Op::ULt, sum, limit);
        let odd = dag.constant(32, 3);
        let rest = dag.binary(Op::URem, length, odd);
        let zero = dag.constant(32, 0);
        let divides = dag.compare(Op::Eq, rest, zero);
        vec![is_magic, fits, divides]
    });
    measure("atoi of 4 digits", |dag| {
        let mut value = dag.constant(32, 0);
        let mut roots = Vec::new();
        for offset in 0..4 {
            let byte = dag.input(STDIN, offset, 8);
            let byte = dag.zext(byte, 32);
            let base = dag.constant(32, u128::from(u32::MAX) + 1 - 48);
            let digit = dag.binary(Op::Add, byte, base);
            let ten = dag.constant(32, 10);
            roots.push(dag.compare(Op::ULt, digit, ten));
            let product = dag.binary(Op::Mul, value, ten);
            value = dag.binary(Op::Add, product, digit);
        }
        let wanted = dag.constant(32, 1234);
        roots.push(dag.compare(Op::Eq, value, wanted));
        roots
    });
    measure("djb2 of 8 characters", |dag| {
        let mut hash = dag.constant(32, 5381);
        for offset in 0..8 {
            let byte = dag.input(STDIN, offset, 8);
            let byte = dag.zext(byte, 32);
            let five = dag.constant(32, 5);
            let shifted = dag.binary(Op::Shl, hash, five);
            let sum = dag.binary(Op::Add, shifted, hash);
            hash = dag.binary(Op::Add, sum, byte);
        }
        let wanted = dag.constant(32, 0xdead_beef);
        vec![dag.compare(Op::Eq, hash, wanted)]
    });
    measure("crc32 by table, 8 bytes", |dag| {
        let entries: Vec<u8> = (0..256u32).flat_map(|n| crc_entry(n).to_le_bytes()).collect();
        let table = dag.add_table(&entries);
        let mut crc = dag.constant(32, 0xffff_ffff);
        for offset in 0..8 {
            let byte = dag.input(STDIN, offset, 8);
            let low = dag.extract(crc, 0, 8);
            let index = dag.binary(Op::Xor, low, byte);
            let index = dag.zext(index, 64);
            let two = dag.constant(64, 2);
            let index = dag.binary(Op::Shl, index, two);
            let entry = dag.table(table, index, 32);
            let eight = dag.constant(32, 8);
            let rest = dag.binary(Op::LShr, crc, eight);
            crc = dag.binary(Op::Xor, entry, rest);
        }
        let wanted = dag.constant(32, 0xdead_beef);
        vec![dag.compare(Op::Eq, crc, wanted)]
    });
    measure("cubic in double", |dag| {
        let x = dag.input(STDIN, 0, 64);
        let square = dag.binary(Op::FMul, x, x);
        let cube = dag.binary(Op::FMul, square, x);
        let two = dag.constant(64, 2f64.to_bits().into());
        let double = dag.binary(Op::FMul, two, x);
        let difference = dag.binary(Op::FSub, cube, double);
        let five = dag.constant(64, 5f64.to_bits().into());
        let difference = dag.binary(Op::FSub, difference, five);
        let difference = dag.math(cairn_expr::MathFunction::Fabs, &[difference]);
        let small = dag.constant(64, 1e-9f64.to_bits().into());
        vec![dag.compare(Op::FLt, difference, small)]
    });
    measure("product of 128 bits", |dag| {
        let (x, y) = (dag.input(STDIN, 0, 64), dag.input(STDIN, 8, 64));
        let (x, y) = (dag.zext(x, 128), dag.zext(y, 128));
        let product = dag.binary(Op::Mul, x, y);
        let high = dag.extract(product, 64, 64);
        let zero = dag.constant(64, 0);
        vec![dag.compare(Op::Ne, high, zero)]
    });
    measure_import();
}

/// A checksum `h = (h << 5) + h + byte` and a comparison for each byte, as a loop leaves them.
fn measure_import() {
    let node = |op: Op, width, a, b| Node { op: op as u8, width, a, b, ..Node::default() };
    let constant = |value| Node { value, ..node(Op::Constant, 32, 0, 0) };
    let mut nodes = vec![Node::default(), constant(5381), constant(5), constant(b'\n'.into())];
    let mut labels = Vec::new();
    let mut hash = 1;
    for offset in 0..200_000 {
        let byte = nodes.len() as u32;
        nodes.push(node(Op::Input, 8, STDIN.0, offset));
        nodes.push(node(Op::ZExt, 32, byte, 0));
        nodes.push(node(Op::Eq, 1, byte + 1, 3));
        nodes.push(node(Op::Shl, 32, hash, 2));
        nodes.push(node(Op::Add, 32, byte + 3, hash));
        nodes.push(node(Op::Add, 32, byte + 4, byte + 1));
        labels.extend([byte + 2, byte + 5]);
        hash = byte + 5;
    }
    let clock = Clock::start();
    let mut dag = Dag::new();
    let mut importer = Importer::new(&nodes, &[]);
    for label in labels {
        black_box(importer.label(&mut dag, label).expect("they are well formed"));
    }
    let imported = nodes.len() as f64 / clock.seconds();
    let clock = Clock::start();
    black_box(importer.disagreements(&|_, _| 0).expect("they are well formed").len());
    let checked = nodes.len() as f64 / clock.seconds();
    println!("\nnodes of a run: {:.1} M/s imported, {:.1} M/s checked", imported / 1e6, checked / 1e6);
}

fn crc_entry(n: u32) -> u32 {
    (0..8).fold(n, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
}

fn measure(name: &str, constraint: impl FnOnce(&mut Dag) -> Vec<ExprId>) {
    let mut dag = Dag::new();
    let roots = constraint(&mut dag);
    let tape = Tape::compile(&dag, &roots);
    let mut machine = tape.machine(&|_, _| b'0');
    let n_bytes = tape.inputs().len();

    let clock = Clock::start();
    for n in 0..N {
        machine.set(n as usize % n_bytes, n as u8);
        machine.run();
        black_box(machine.low_value(0));
    }
    let whole = f64::from(N) / clock.seconds();

    let slices: Vec<_> = (0..n_bytes).map(|slot| tape.slice(&[slot])).collect();
    let clock = Clock::start();
    for n in 0..N {
        // A search stays with one byte for a while.
        let slot = n as usize / 64 % n_bytes;
        machine.set(slot, n as u8);
        machine.run_slice(&slices[slot]);
        black_box(machine.low_value(0));
    }
    let slice = f64::from(N) / clock.seconds();
    println!("{name:<28} {:>12} {n_bytes:>6} {:>10.1} M {:>10.1} M", tape.len(), whole / 1e6, slice / 1e6);
}

/// The time this thread has run, so that a busy machine does not count; where the kernel does not tell, the time that passed.
struct Clock {
    started: Instant,
    ran: Option<f64>,
}

impl Clock {
    fn start() -> Self {
        Self { started: Instant::now(), ran: seconds_run() }
    }

    fn seconds(&self) -> f64 {
        match (self.ran, seconds_run()) {
            (Some(before), Some(now)) if now > before => now - before,
            _ => self.started.elapsed().as_secs_f64(),
        }
    }
}

fn seconds_run() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
