//! Mutants in the mutant view do what the same mutants do in builds of their own.
//!
//! For each fixture, on all its inputs:
//!
//! - no two mutants make the same change of the source;
//! - with no mutant active the mutant view does what the bare build does, and counts what the plain view counts;
//! - a mutant that an input does not infect does what the original does;
//! - every mutant does in a session what it does compiled alone;
//! - mutants of a sample do the same in a fresh process of the view, and where the whole program was compiled with them;
//! - mutants of a sample whose difference is plain text do what the changed source does.
//!
//! Mutants are of the set `all`. There are thousands of them, and a link for each would take an hour. So the functions that
//! each changes are compiled alone, and all of them are linked into one program, which is one mutant in each process
//! ([`Gathered`](cairn_testkit::mutants::Gathered)). It shares with the view only what weaves a change into a function.
//! What does not agree is judged by a build of the mutant's own.
//!
//! In the samples each operator has its turn; `CAIRN_TRUTH=all` takes everything.
//!
//! [`figure4`] makes guideposts of what mutants show; [`wrong_mutants`] shows that these comparisons can fail.

#[path = "mutant_truth/comparison.rs"]
mod comparison;
#[path = "mutant_truth/figure4.rs"]
mod figure4;
#[path = "mutant_truth/fixture.rs"]
mod fixture;
#[path = "mutant_truth/truths.rs"]
mod truths;
#[path = "mutant_truth/wrong_mutants.rs"]
mod wrong_mutants;

use cairn_testkit::fixture as folder_of;
use std::{collections::BTreeSet, fs};
use truths::Amount;

/// Fixtures made for mutants.
const OWN: Amount = Amount { alone: 12, edited: 18 };

/// Fixtures made for something else.
const OTHERS: Amount = Amount { alone: 4, edited: 0 };

macro_rules! truths {
    ($module:ident $amount:ident $($fixture:ident)*) => {
        mod $module {
            pub const NAMES: &[&str] = &[$(stringify!($fixture)),*];

            $(
                #[test]
                fn $fixture() {
                    super::truths::hold(stringify!($fixture), super::$amount);
                }
            )*
        }
    };
}

truths! { own OWN
    mu2_insertion_sort
    mu2_saturated
    mutant_arithmetic
    mutant_assignments
    mutant_calls
    mutant_early
    mutant_figure4
    mutant_files
    mutant_floats
    mutant_harness
    mutant_instances
    mutant_logic
    mutant_loops
    mutant_macros
    mutant_memory
    mutant_skipped
    mutant_spots
    mutant_stack
    mutant_system_macros
    mutant_templates
}

truths! { others OTHERS
    condition_break
    condition_crash
    condition_cxx
    condition_exit
    condition_gnu
    condition_if
    condition_inline
    condition_large_range
    condition_loops
    condition_macro
    condition_split
    condition_switch
    condition_ternary
    condition_types
    condition_unevaluated
    condition_value
    leftover_advice
    leftover_child
    leftover_crashes
    leftover_descriptors
    leftover_exits
    leftover_files
    leftover_folder
    leftover_harness
    leftover_heap
    leftover_large_memory
    leftover_limits
    leftover_locale
    leftover_mappings
    leftover_memory
    leftover_own_memory
    leftover_pending
    leftover_rounding
    leftover_signals
    leftover_stack
    leftover_stream_flags
    leftover_thread
    leftover_timer
    overflow_without_branch
}

/// Fixtures whose runs differ from each other, and in what. `hostile_*` are about the sandbox, not about what a program
/// computes.
const LEFT_OUT: &[(&str, &str)] = &[
    ("leftover_before_main", "opens files before `main`: every run is one in a fresh process"),
    ("leftover_clocks", "prints times"),
    ("leftover_overwrites", "overwrites what Cairn keeps in its memory"),
    ("leftover_process", "prints the process id"),
    ("leftover_thread_before_main", "starts a thread before `main`: every run is one in a fresh process"),
];

#[test]
fn every_fixture_is_compared_here() {
    let listed: BTreeSet<String> = own::NAMES
        .iter()
        .chain(others::NAMES)
        .copied()
        .chain(LEFT_OUT.iter().map(|(name, _)| *name))
        .map(str::to_owned)
        .collect();
    let names: BTreeSet<String> = fs::read_dir(folder_of("."))
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        // Those of `flips.rs`, `events.rs`, `harness_mutators.rs`, `seeds.rs` and of searches are ordinary programs, of which there are
        // enough here.
        .filter(|name| {
            !["hostile_", "flip_", "event_", "harness_", "search_", "seeds_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        })
        .collect();
    assert_eq!(names, listed, "each fixture is listed above, or in `LEFT_OUT` with a reason");
}
