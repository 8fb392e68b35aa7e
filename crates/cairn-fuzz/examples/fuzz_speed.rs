//! How quickly a harness is fuzzed: `speed PLAIN-VIEW MAP INPUTS [SEED-FILE…]`, with what `cairn build` made.
//!
//! Prints inputs a second, and what was found. Under `perf stat -e instructions:u` or callgrind it tells what the host
//! spends on an input beside running it.

use cairn_abi::session::RunnerMode;
use cairn_executor::{ExecutorError, RunConfig, Session, SessionConfig, Target, pin_to_core};
use cairn_fuzz::{Done, FuzzConfig, FuzzLoop, RegionKind, Seed, Surroundings};
use cairn_model::{Input, ProgramMap, versioned};
use std::{env, fs, time::Instant};

struct Alone {
    map: ProgramMap,
    session: Session,
    n_inputs: u64,
}

impl Surroundings for Alone {
    fn map(&self) -> &ProgramMap {
        &self.map
    }

    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn max_size(&self) -> usize {
        4096
    }

    fn allowance(&mut self, done: &Done) -> u64 {
        self.n_inputs.saturating_sub(done.inputs)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = env::args().skip(1);
    let (Some(view), Some(map), Some(n_inputs)) = (words.next(), words.next(), words.next()) else {
        return Err("name the plain view, the program map and a number of inputs".into());
    };
    let map: ProgramMap = versioned::decode(&fs::read(map)?)?;
    pin_to_core(0)?;
    let target = Target { program: view.into(), n_counters: map.n_counters };
    let config =
        SessionConfig { mode: RunnerMode::Persistent, run: RunConfig::default(), ..SessionConfig::default() };
    let session = Session::new(target, config)?;
    let empty = Input { buffer: Some(Vec::new().into()), ..Input::default() };
    let mut config = FuzzConfig::new(vec![RegionKind::Buffer], empty);
    config.comparisons = false;
    config.most_candidates = usize::MAX;
    let mut fuzzing = FuzzLoop::new(config, &map, 1);
    for path in words {
        let input = Input { buffer: Some(fs::read(path)?.into()), ..Input::default() };
        fuzzing.add_seed(Seed::new(input, Vec::new(), 0, None));
    }
    let mut alone = Alone { map, session, n_inputs: n_inputs.parse()? };
    let start = Instant::now();
    let candidates = fuzzing.run(&mut alone).map_err(|error: ExecutorError| error)?;
    let seconds = start.elapsed().as_secs_f64();
    let counts = fuzzing.counts();
    println!(
        "{} inputs in {seconds:.2} s: {:.0} inputs/s",
        counts.n_inputs,
        counts.n_inputs as f64 / seconds
    );
    println!("{} candidates; the session {:?}", candidates.len(), alone.session.counts());
    Ok(())
}
