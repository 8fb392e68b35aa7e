//! Branches that have to be found: each fixture `flip_*` has a line marked `// goal` that its first input does not come to.
//!
//! `cairn solve` is asked for an input that does, starting from constant bytes. What it finds is replayed on the bare build, and
//! by the shell command it prints, on the program as the user built it.

use cairn_testkit::{Workspace, fixture};
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

/// Builds a fixture, comes to its goal, and replays what was found.
#[track_caller]
fn found(name: &str) {
    let workspace = Workspace::of_fixture(name);
    let source = workspace.read("target.c");
    let goal = source.lines().position(|line| line.ends_with("// goal")).expect("a line is the goal") + 1;
    let is_harness = source.contains("LLVMFuzzerTestOneInput");
    let more: &[&str] = if is_harness { &["-fsanitize=fuzzer"] } else { &[] };
    workspace.run("cairn-cc", ["target.c", "-lm", "-o", "program"].iter().chain(more)).success();
    let start = if workspace.path("inputs/start").exists() { "inputs/start" } else { "inputs/start.json" };

    let goal = format!("target.c:{goal}");
    let solve =
        workspace.run("cairn", ["solve", "./program", start, "--line", &goal, "-o", "found", "--json"]);
    let report: Value =
        serde_json::from_str(&solve.stdout).unwrap_or_else(|error| panic!("{error}: {solve}"));
    assert!(solve.status.success(), "{solve}");
    assert_eq!(report["n_disagreements"], 0, "{solve}");
    let found = &report["found"][0];
    assert_eq!(found["reaches_goal"], true, "{solve}");

    let input = found["path"].as_str().expect("it was written");
    let replay = workspace.run("cairn", ["replay", "./program", input, "--json"]).success();
    let replay: Value = serde_json::from_str(&replay.stdout).expect("a report is JSON");
    assert_eq!(replay["outcome"]["stdout"]["bytes"], "found\n", "{replay}");
    let ordinary = workspace.sh(found["reproduce"].as_str().expect("a command"));
    assert!(ordinary.stdout.contains("found\n"), "{ordinary}");
}

macro_rules! fixtures {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            found(stringify!($name));
        })*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

fixtures! {
    flip_128_bit
    flip_64_bit
    flip_argument_count
    flip_argument_length
    flip_argv_option
    flip_atof
    flip_atoi
    flip_big_endian
    flip_bitfield
    flip_bsearch
    flip_checksum_additive
    flip_checksum_adler
    flip_checksum_crc32
    flip_checksum_table
    flip_ctype
    flip_cubic
    flip_decimal_range
    flip_division
    flip_dotted_numbers
    flip_double_compare
    flip_end_of_input
    flip_environment
    flip_feof
    flip_file_mode
    flip_file_size
    flip_file_time
    flip_float_compare
    flip_float_conversion
    flip_float_nan
    flip_float_pair
    flip_fmod
    flip_fscanf
    flip_fseek
    flip_function_pointer
    flip_getline
    flip_harness
    flip_harness_length
    flip_hash
    flip_integer_overflow
    flip_large_exponent
    flip_line_parser
    flip_little_endian
    flip_longjmp
    flip_loop_bound
    flip_magic_bytes
    flip_memcmp
    flip_memcpy
    flip_memmove
    flip_mmap
    flip_negative_number
    flip_nested
    flip_no_input
    flip_overflow_check
    flip_pread
    flip_prefixed_number
    flip_qsort
    flip_readv
    flip_realloc
    flip_recursion
    flip_scanf
    flip_second_line
    flip_seek_end
    flip_shifts
    flip_short_read
    flip_sign_extension
    flip_square_root
    flip_sscanf
    flip_sscanf_decimal
    flip_state_machine
    flip_strchr
    flip_strcmp
    flip_strncmp
    flip_strstr
    flip_strtod_equal
    flip_strtol
    flip_struct_by_value
    flip_sum_and_product
    flip_switch_byte
    flip_switch_word
    flip_symbolic_index
    flip_table_lookup
    flip_ten_digits
    flip_ternary
    flip_two_files
    flip_ungetc
    flip_union
    flip_varargs
    flip_variables
    flip_whole_file
    flip_wide_characters
}

#[test]
fn every_fixture_has_a_test() {
    let folder = fixture("flip_strcmp");
    let all: BTreeSet<String> = fs::read_dir(folder.parent().expect("fixtures lie in a folder"))
        .expect("the folder is readable")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("flip_"))
        .collect();
    let tested: BTreeSet<String> = NAMES.iter().map(|name| name.to_string()).collect();
    assert_eq!(all, tested);
    assert!(tested.len() >= 45, "{}", tested.len());
}

#[test]
fn raw_inputs_are_constant_bytes() {
    for name in NAMES {
        let inputs = fixture(name).join("inputs");
        match fs::read(inputs.join("start")) {
            Ok(bytes) => assert!(bytes.iter().all(|byte| *byte == bytes[0]), "{name}"),
            Err(_) => assert!(Path::new(&inputs.join("start.json")).exists(), "{name}"),
        }
    }
}
