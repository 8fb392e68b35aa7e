//! Inputs for real programs: many different options over a few texts, the same every time.

use anyhow::Result;
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};

/// One input.
pub struct Case {
    args: Vec<String>,
    stdin: String,
    files: Vec<(String, String)>,
}

impl Case {
    fn new(args: &str, stdin: &str) -> Self {
        let args = args.split_whitespace().map(|word| word.replace('_', " ")).collect();
        Self { args, stdin: stdin.into(), files: Vec::new() }
    }

    fn with_file(mut self, name: &str, content: &str) -> Self {
        self.files.push((name.into(), content.into()));
        self
    }

    /// As `cairn cover` reads it.
    pub fn to_json(&self) -> String {
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|(path, content)| json!({ "path": path, "kind": { "regular": content } }))
            .collect();
        json!({ "args": self.args, "stdin": self.stdin, "files": files }).to_string()
    }

    /// Runs a reference on it in a folder of its own.
    pub fn run(&self, program: &Path, environment: &[(&str, String)]) -> Result<()> {
        let folder = std::env::temp_dir().join(format!("cairn-bench-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        for (path, content) in &self.files {
            fs::write(folder.join(path), content)?;
        }
        // Programs look at what their standard streams are: files here, as in our runs.
        let streams = std::env::temp_dir().join(format!("cairn-bench-streams-{}", std::process::id()));
        fs::create_dir_all(&streams)?;
        fs::write(streams.join("stdin"), &self.stdin)?;
        // The same name, environment and limits as in our runs, because programs ask for all of them.
        let name = program.file_name().unwrap_or_default();
        let script = "ulimit -v 1048576 -f 65536; program=$1; shift; exec -a \"$0\" \"$program\" \"$@\"";
        Command::new("bash")
            .args(["-c", script])
            .arg(name)
            .arg(program)
            .args(&self.args)
            .current_dir(&folder)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (*name, value)))
            .envs([("TZ", "UTC"), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/nonexistent")])
            .stdin(fs::File::open(streams.join("stdin"))?)
            .stdout(fs::File::create(streams.join("stdout"))?)
            .stderr(fs::File::create(streams.join("stderr"))?)
            .status()?;
        fs::remove_dir_all(&streams)?;
        fs::remove_dir_all(&folder)?;
        Ok(())
    }
}

const TEXTS: [&str; 4] = [
    "pear\napple\n\nApple pie\nbanana\nbanana\ncherry 12\ncherry 3\n",
    "10\n9\n-3\n2.5\n1e3\n1K\n 7\n0x1f\n2M\nnan\n",
    "b:2:x\na:10:y\nc:1:z\na:10:w\n:3:\n",
    "hello world\nfoo(bar)*[baz]\nabcabcabc\nJan\nfeb\nMAR\na.b.c\nversion-1.10\nversion-1.9\n\ttab\n",
];

/// For GNU grep.
pub fn grep() -> Vec<Case> {
    let options = [
        "-n",
        "-i",
        "-v",
        "-c",
        "-l",
        "-L",
        "-o -b",
        "-w",
        "-x",
        "-H -n",
        "-h",
        "-A1",
        "-B1 -n",
        "-C1",
        "-m2",
        "-q",
        "-s",
        "-Z -l",
        "-z",
        "--color=always",
        "-T -n",
        "-y",
        "--line-buffered",
        "-a",
        "-U",
        "--binary-files=without-match",
    ];
    let patterns = [
        "a",
        "an*a",
        "-E (an)+a",
        "-E ^(pear|apple)$",
        "-F a.b",
        "-e foo -e bar",
        "-E [a-c]{2,3}",
        "-w version",
        "\\(a\\)\\1",
        "-P b(?=c)",
        "[[:upper:]]",
        "-E x*",
        "^$",
        "-F -x apple",
        "-E (a|b)*c|(a|ab)*c",
        "-G a\\|b",
    ];
    let mut cases = Vec::new();
    for (index, option) in options.iter().enumerate() {
        for shift in 0..4 {
            let pattern = patterns[(index * 5 + shift * 3) % patterns.len()];
            cases.push(Case::new(&format!("{option} {pattern}"), TEXTS[(index + shift) % TEXTS.len()]));
        }
    }
    for (index, pattern) in patterns.iter().enumerate() {
        let case = Case::new(&format!("{pattern} one two missing"), "");
        cases.push(case.with_file("one", TEXTS[index % 4]).with_file("two", TEXTS[(index + 1) % 4]));
    }
    cases.push(Case::new("-f list", TEXTS[0]).with_file("list", "apple\nbanana\n"));
    cases.push(Case::new("-r a .", "").with_file("one", TEXTS[0]).with_file("two", "a\0b\n"));
    for args in [
        "",
        "--help",
        "--version",
        "-E (",
        "-E [",
        "-P (",
        "-E a{1",
        "\\",
        "--nonsense",
        "-m x a",
        "-A -1 a",
        "-E )",
    ] {
        cases.push(Case::new(args, TEXTS[3]));
    }
    cases
}

/// For GNU sort.
pub fn sort() -> Vec<Case> {
    let options = [
        "",
        "-n",
        "-r",
        "-u",
        "-f",
        "-b",
        "-d",
        "-i",
        "-g",
        "-h",
        "-M",
        "-V",
        "-s",
        "-z",
        "-c",
        "-C",
        "-k2",
        "-k1,1",
        "-k2n",
        "-t: -k2,2n",
        "-t: -k3r -k1",
        "-nr",
        "-fu",
        "-t: -k2.1,2.2",
        "--debug",
        "-k1.2b,1.3",
        "-R --random-source=seed",
        "-S 1k",
        "--parallel=1",
        "-o out",
        "-gr -k1",
        "-M -u",
        "-h -r",
        "-V -r",
        "--sort=numeric",
        "-k 1,1 -k 2,2n -s",
    ];
    let mut cases = Vec::new();
    for (index, option) in options.iter().enumerate() {
        for shift in 0..3 {
            let case = Case::new(option, TEXTS[(index + shift) % TEXTS.len()]);
            cases.push(case.with_file("seed", "0123456789abcdef0123456789abcdef"));
        }
    }
    for option in ["-m", "-m -u", "-m -n", "", "-c", "-u"] {
        let case = Case::new(&format!("{option} one two"), "");
        cases.push(case.with_file("one", "a\nb\nd\n").with_file("two", "b\nc\n"));
    }
    cases.push(
        Case::new("--files0-from=list", "")
            .with_file("list", "one\0two\0")
            .with_file("one", "2\n")
            .with_file("two", "1\n"),
    );
    for args in [
        "--help",
        "--version",
        "missing",
        "-k0",
        "-k",
        "-t ab",
        "--nonsense",
        "-S x",
        "-n -M",
        "-c one two",
        "-k1x",
    ] {
        cases.push(Case::new(args, TEXTS[0]));
    }
    let many: String = (0..3000u32).map(|n| format!("{}\n", n.wrapping_mul(2654435761) % 10007)).collect();
    cases.push(Case::new("-n", &many));
    cases.push(Case::new("-S 20k -n", &many));
    cases
}

/// Reads a document, prints it in several ways, changes it, compares it; crashes on one word, on purpose.
pub const JSON_READER: &str = r#"
#include "cJSON.h"
#include "cJSON_Utils.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static char text[1 << 16];
  size_t length = fread(text, 1, sizeof text - 1, stdin);
  cJSON *json = cJSON_ParseWithLength(text, length);
  if (!json) {
    const char *error = cJSON_GetErrorPtr();
    printf("error at %ld\n", error ? (long)(error - text) : -1L);
    return 1;
  }
  char *printed = cJSON_Print(json);
  char *compact = cJSON_PrintUnformatted(json);
  printf("%s\n%s\n", printed, compact);
  cJSON *copy = cJSON_Duplicate(json, 1);
  printf("%d %d\n", cJSON_Compare(json, copy, 1), cJSON_GetArraySize(json));
  if (cJSON_IsObject(json)) {
    cJSONUtils_SortObject(copy);
    cJSON_AddNumberToObject(copy, "added", 1.5);
    cJSON *patch = cJSONUtils_GeneratePatches(json, copy);
    char *text = cJSON_Print(patch);
    printf("%s\n", text);
    free(text);
    printf("%d\n", cJSONUtils_ApplyPatches(json, patch));
    cJSON_Delete(patch);
    cJSON *crash = cJSON_GetObjectItemCaseSensitive(json, "crash");
    if (crash && cJSON_IsTrue(crash))
      *(volatile int *)0 = 1;
  }
  cJSON_Minify(text);
  free(printed);
  free(compact);
  cJSON_Delete(copy);
  cJSON_Delete(json);
  return 0;
}
"#;

/// Documents for cJSON, most of them good.
pub fn json() -> Vec<Case> {
    let atoms = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.5e300",
        "1e-7",
        "123456789012",
        "\"\"",
        "\"text\"",
        "\"\\u00e9\\n\\\"\"",
        "\"\\ud83d\\ude00\"",
        "[]",
        "{}",
        "1e999",
        "-0.0",
    ];
    let mut cases = Vec::new();
    for (index, atom) in atoms.iter().enumerate() {
        let other = atoms[(index * 7 + 3) % atoms.len()];
        for text in [
            atom.to_string(),
            format!("[{atom}, {other}]"),
            format!("{{\"a\": {atom}, \"b\": [{other}, {{\"c\": {atom}}}]}}"),
            format!("  {{ \"z\" : {other} , \"a\" : {atom} }} "),
            format!("[{atom} {other}]"),
            format!("{{\"a\" {atom}}}"),
            format!("[[[{atom}]], {other}"),
        ] {
            cases.push(Case::new("", &text));
        }
    }
    for text in [
        "",
        " ",
        "\"open",
        "\"\\x\"",
        "\"\\ud83d\"",
        "\"\\u12\"",
        "nul",
        "tru",
        "-",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "\u{feff}[1]",
        "{\"crash\": true}",
    ] {
        cases.push(Case::new("", text));
    }
    cases.push(Case::new("", &"[".repeat(1200)));
    cases
}
