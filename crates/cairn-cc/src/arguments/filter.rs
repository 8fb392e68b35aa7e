//! Which of the user's options each of our commands may see.
//!
//! *Native* is the user's own command: only link-time optimisation (`-flto…`; the objects must hold native code) and
//! `-fsanitize=fuzzer` (we supply `main`) are taken out. *Bitcode* also loses whatever writes a second file or puts
//! code of its own between source and bitcode. *Second link* loses whatever would write a file, choose another
//! linker, or turn its warnings into errors.

use super::{
    CommandLine, LinkerWord, Word,
    command_line::{language_option, output_option},
    precompiled,
};
use std::path::Path;

/// The user's words for the native command.
pub fn native(line: &CommandLine) -> Vec<String> {
    let drops_lto = line.options().any(|option| is_lto(&option[0]));
    let mut words = Vec::new();
    for word in &line.words {
        match word {
            Word::Input(input) => words.push(input.path.clone()),
            Word::Option(option) => words.extend(native_option(option, drops_lto)),
        }
    }
    words
}

/// The user's options for a native compile of one source on the side.
pub fn native_unit(line: &CommandLine) -> Vec<String> {
    let drops_lto = line.options().any(|option| is_lto(&option[0]));
    let options =
        line.options().filter(|option| !is_output_or_language(option) && !writes_on_the_side(option));
    options.flat_map(|option| native_option(option, drops_lto)).collect()
}

/// The user's options for the bitcode compile and for libclang; no inputs, no `-o`, no `-x`.
///
/// Precompiled headers were made with other options, so their headers are read instead.
pub fn bitcode(line: &CommandLine, directory: &Path) -> Vec<String> {
    let mut words = Vec::new();
    let mut options = line.options().peekable();
    while let Some(option) = options.next() {
        if option[0] == "-Xclang" && option.get(1).is_some_and(|value| value == "-include-pch") {
            let file = options.next().and_then(|option| option.get(1));
            // CMake names the header itself as well.
            if let Some(file) = file.filter(|_| !precompiled::names_header_itself(line)) {
                words.extend(precompiled::textual(&precompiled::header_of(file, directory)));
            }
            continue;
        }
        if let Some(header) = precompiled::included(option, directory) {
            words.extend(precompiled::textual(&header));
            continue;
        }
        if option[0] == "-Xclang" && option.get(1).is_some_and(|value| value == "-fdebug-compilation-dir") {
            options.next();
            continue;
        }
        if is_output_or_language(option) || writes_on_the_side(option) || changes_bitcode(option) {
            continue;
        }
        if let Some(list) = option[0].strip_prefix("-Wp,") {
            words.extend(preprocessor_list(list));
        } else if let Some(map) = option[0].strip_prefix("-ffile-prefix-map=") {
            words.push(format!("-fmacro-prefix-map={map}"));
        } else {
            words.extend(option.iter().cloned());
        }
    }
    words
}

/// Whether the second link and the links of views may see a driver option.
pub fn second_link_keeps(option: &[String]) -> bool {
    let name = option[0].as_str();
    !(is_output_or_language(option)
        || writes_on_the_side(option)
        || changes_bitcode(option)
        || name.starts_with("-fuse-ld")
        || name.starts_with("--ld-path")
        || name.starts_with("-O")
        || name == "-fuse-linker-plugin"
        || name == "-fno-use-linker-plugin"
        || name == "-s"
        || name == "-t"
        || name == "-v"
        // Meant for compilers; the second link compiles nothing.
        || ["-W", "-D", "-U", "-I"].iter().any(|prefix| name.starts_with(prefix))
        || name == "-g"
        || name == "--verbose")
}

/// Whether the second link and the links of views may see a linker option.
pub fn second_link_keeps_linker(word: &LinkerWord) -> bool {
    let name = word.name();
    let drops = [
        "-Map",
        "-print-map",
        "-M",
        "-cref",
        "-dependency-file",
        "-trace",
        "-t",
        "-verbose",
        "-stats",
        "-y",
        "-print-gc-sections",
        "-trace-symbol",
        "-out-implib",
        "-plugin",
        "-plugin-opt",
        "-build-id",
        "-emit-relocs",
        "-q",
        "-reproduce",
        "-s",
        "-S",
        "-strip-all",
        "-strip-debug",
        "-fatal-warnings",
        "-no-undefined-version",
        "-icf",
        "-print-archive-stats",
        "-print-icf-sections",
        "-print-symbol-order",
        "-time-trace",
        "-time-trace-file",
        "-save-temps",
        "-why-extract",
        "-write-dep",
        "-gdb-index",
        "-print-memory-usage",
        "-print-symbol-counts",
        "-print-sysroot",
        "-print-output-format",
        "-o",
        "-output",
        "-v",
        "-V",
        "-version",
        "-fuse-ld",
    ];
    !(drops.contains(&name)
        || name.starts_with("-lto-")
        || name.starts_with("-thinlto-")
        || name.starts_with("-warn-")
        || name.starts_with("-plugin-opt"))
}

fn native_option(option: &[String], drops_lto: bool) -> Vec<String> {
    if is_lto(&option[0]) {
        return Vec::new();
    }
    let Some(list) = option[0].strip_prefix("-fsanitize=") else { return option.to_vec() };
    let kept: Vec<_> = list
        .split(',')
        // Control-flow integrity exists only together with link-time optimisation.
        .filter(|name| !(name.starts_with("fuzzer") || drops_lto && name.starts_with("cfi")))
        .collect();
    if kept.is_empty() { Vec::new() } else { vec![format!("-fsanitize={}", kept.join(","))] }
}

fn is_lto(name: &str) -> bool {
    name.starts_with("-flto")
        || name.starts_with("-fthinlto")
        || matches!(
            name,
            "-ffat-lto-objects"
                | "-fwhole-program-vtables"
                | "-fsplit-lto-unit"
                | "-fvirtual-function-elimination"
                | "-funified-lto"
                | "-fembed-bitcode"
        )
}

fn is_output_or_language(option: &[String]) -> bool {
    output_option(option).is_some()
        || language_option(option).is_some()
        || matches!(option[0].as_str(), "-c" | "--compile")
}

/// Dependencies, temporaries, diagnostics: the user's command writes them, ours must not.
fn writes_on_the_side(option: &[String]) -> bool {
    let name = option[0].as_str();
    let dependencies = ["-MD", "-MMD", "-MP", "-MG", "-MV", "-MF", "-MT", "-MQ", "-MJ", "--dependencies"];
    dependencies.contains(&name)
        || ["-MF", "-MT", "-MQ", "-MJ"].iter().any(|prefix| name.starts_with(prefix))
        || name.starts_with("-save-temps")
        || name.starts_with("--save-temps")
        || name.starts_with("-ftime-trace")
        || name.starts_with("-ftime-report")
        || name.starts_with("-fsave-optimization-record")
        || name.starts_with("-foptimization-record-file")
        || name.starts_with("-fcrash-diagnostics")
        || name.starts_with("-gsplit-dwarf")
        || name.starts_with("-index-store-path")
        || matches!(
            name,
            "-serialize-diagnostics" | "--serialize-diagnostics" | "-dependency-file" | "-dependency-dot"
        )
        || name.starts_with("-fdiagnostics-format")
        || name == "-H"
}

/// Instrumentation of others, and whatever moves debug positions.
fn changes_bitcode(option: &[String]) -> bool {
    let name = option[0].as_str();
    is_lto(name)
        || name.starts_with("-fsanitize")
        || name.starts_with("-fno-sanitize")
        || name.starts_with("-fprofile")
        || name.starts_with("-fcs-profile")
        || name.starts_with("-finstrument-functions")
        || name.starts_with("-fxray")
        || name.starts_with("-fdebug-prefix-map")
        || name.starts_with("-fdebug-compilation-dir")
        || name.starts_with("-ffile-compilation-dir")
        || name.starts_with("-fcoverage")
        || name.starts_with("-fpatchable-function-entry")
        || name.starts_with("-grecord")
        || name == "-Werror"
        || matches!(
            name,
            "--coverage" | "-coverage" | "-ftest-coverage" | "-pg" | "-mfentry" | "-gmodules" | "-###"
        )
}

/// Takes dependency output and fortification out of `-Wp,…`.
///
/// clang hands these to the preprocessor after everything else, so a later `-U_FORTIFY_SOURCE` would not help.
fn preprocessor_list(list: &str) -> Option<String> {
    let mut kept = Vec::new();
    let mut words = list.split(',');
    while let Some(word) = words.next() {
        match word {
            "-MD" | "-MMD" | "-MF" | "-MT" | "-MQ" => {
                words.next();
            }
            "-MP" | "-MG" | "-M" | "-MM" => {}
            _ if word.starts_with("-MF") || word.starts_with("-MT") || word.starts_with("-MQ") => {}
            _ if word.starts_with("-D_FORTIFY_SOURCE") => {}
            _ => kept.push(word),
        }
    }
    (!kept.is_empty()).then(|| format!("-Wp,{}", kept.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn parse(text: &str) -> CommandLine {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        CommandLine::parse(&words, false)
    }

    fn check_bitcode(text: &str, expected: Expect) {
        expected.assert_eq(&bitcode(&parse(text), Path::new("/nowhere")).join(" "));
    }

    #[test]
    fn the_second_compile_writes_nothing_on_the_side() {
        check_bitcode(
            "-O2 -MD -MP -MF a.d -MTa.o -Wp,-MD,b.d,-DX -save-temps=obj -c a.c -o a.o -gsplit-dwarf -Iinc",
            expect!["-O2 -Wp,-DX -Iinc"],
        );
    }

    #[test]
    fn foreign_instrumentation_stays_out_of_bitcode() {
        check_bitcode(
            "-fsanitize=address,undefined -fno-sanitize-recover=all --coverage -fprofile-instr-generate -pg -DA a.c",
            expect!["-DA"],
        );
    }

    #[test]
    fn a_precompiled_header_gives_way_to_the_header() {
        check_bitcode(
            "-Xclang -include-pch -Xclang x.pch -Xclang -include -Xclang x.hxx -c a.cc",
            expect!["-Xclang -include -Xclang x.hxx"],
        );
    }

    #[test]
    fn fortification_cannot_hide_behind_wp() {
        check_bitcode("-Wp,-D_FORTIFY_SOURCE=2 a.c", expect![""]);
    }

    #[test]
    fn native_loses_only_lto_and_the_fuzzer() {
        let line = parse(
            "-O3 -flto=thin -ffat-lto-objects -fsanitize=fuzzer,address -fsanitize=fuzzer -MD a.c -o a",
        );
        expect!["-O3 -fsanitize=address -MD a.c -o a"].assert_eq(&native(&line).join(" "));
    }
}
