//! The arguments of a compile, made fit for parsing alone.

use std::path::Path;

/// Options that write files, print, or choose another stage, and have no argument.
const FLAGS: [&str; 18] = [
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-MD",
    "-MMD",
    "-MP",
    "-MG",
    "-MV",
    "-v",
    "-###",
    "-H",
    "-emit-llvm",
    "-fsyntax-only",
    "-ftime-report",
    "-ftime-trace",
    "--verbose",
];
/// The same with an argument that follows.
const WITH_ARGUMENT: [&str; 8] =
    ["-o", "-MF", "-MT", "-MQ", "-MJ", "--serialize-diagnostics", "-serialize-diagnostics", "--output"];
/// The same with an argument in the same word.
const PREFIXES: [&str; 10] = [
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Wp,-M",
    "-save-temps",
    "--save-temps",
    "-fplugin=",
    "-ftime-trace=",
    "--output=",
];

/// `args` without what a parse should not do, and with what makes it start in `directory` and be silent.
pub fn for_parsing(args: &[String], directory: &Path) -> Vec<String> {
    // libclang takes the options before the first file as its own too, so ours come first.
    let mut kept = vec![format!("-working-directory={}", directory.display())];
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if WITH_ARGUMENT.contains(&word.as_str()) {
            words.next();
        } else if word == "-Xclang" || word == "-Xpreprocessor" || word == "-include" || word == "-x" {
            kept.push(word.clone());
            kept.extend(words.next().cloned());
        } else if !is_dropped(word) {
            kept.push(word.clone());
        }
    }
    // Last, so that no `-W…` turns a warning on again.
    kept.push("-w".to_owned());
    kept
}

fn is_dropped(word: &str) -> bool {
    FLAGS.contains(&word)
        || PREFIXES.iter().any(|prefix| word.starts_with(prefix))
        || (word.starts_with("-o") && !word.starts_with("-objc"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_parse_writes_nothing_and_prints_nothing() {
        let args = "-O2 -c -I include -MD -MF deps/a.d -MTa.o -Wp,-MD,x.d -save-temps=obj -Wall a.c -o a.o -v -ob.o \
                    -Xclang -emit-llvm -x c";
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        expect!["-working-directory=/src -O2 -I include -Wall a.c -Xclang -emit-llvm -x c -w"]
            .assert_eq(&for_parsing(&args, Path::new("/src")).join(" "));
    }
}
