//! The plain shell command that reproduces a run without Cairn.

use cairn_model::{
    Input,
    input::{Bytes, FileKind, VariableValue},
};
use std::{fmt::Write, path::Path};

/// Commands for a POSIX shell that lay out the input in a fresh folder and run `program` there.
pub fn reproduce(program: &str, input: &Input) -> String {
    let mut script = String::from("(cd \"$(mktemp -d)\"");
    for file in &input.files {
        let path = quote(file.path.as_bytes());
        if let Some((parent, _)) = file.path.rsplit_once('/') {
            write_to(&mut script, format_args!(" && mkdir -p {}", quote(parent.as_bytes())));
        }
        match &file.kind {
            FileKind::Regular(content) => {
                write_to(&mut script, format_args!(" && {} > {path}", printf(content)));
            }
            FileKind::Folder => write_to(&mut script, format_args!(" && mkdir -p {path}")),
            FileKind::Symlink(target) => {
                write_to(&mut script, format_args!(" && ln -s {} {path}", quote(&target.0)));
            }
            FileKind::Hardlink(other) => {
                write_to(&mut script, format_args!(" && ln {} {path}", quote(other.as_bytes())));
            }
            FileKind::Fifo => write_to(&mut script, format_args!(" && mkfifo {path}")),
        }
        if let Some(size) = file.size {
            write_to(&mut script, format_args!(" && truncate -s {size} {path}"));
        }
        if let Some((user, group)) = file.owner {
            write_to(&mut script, format_args!(" && chown -h {user}:{group} {path}"));
        }
        if let Some(mode) = file.mode {
            write_to(&mut script, format_args!(" && chmod {mode:04o} {path}"));
        }
        if let Some(accessed) = file.accessed {
            write_to(&mut script, format_args!(" && touch -a -h -d @{accessed} {path}"));
        }
        if let Some(modified) = file.modified {
            write_to(&mut script, format_args!(" && touch -m -h -d @{modified} {path}"));
        }
    }
    script.push_str(" && ");
    // Without a channel a harness reads its buffer from stdin.
    let input_bytes = input.buffer.as_ref().unwrap_or(&input.stdin);
    write_to(&mut script, format_args!("{} | ", printf(input_bytes)));
    // Exactly the environment of our runs.
    let setting = &input.setting;
    let (locale, zone) = (quote(setting.locale.as_bytes()), quote(setting.time_zone.as_bytes()));
    write_to(
        &mut script,
        format_args!("env -i LC_ALL={locale} TZ={zone} PATH=/usr/local/bin:/usr/bin:/bin HOME=/nonexistent"),
    );
    for (name, value) in &input.environment {
        write_to(&mut script, format_args!(" {}={}", quote(name.as_bytes()), quote(&value.0)));
    }
    if !input.variables.is_empty() {
        let words: Vec<String> = input
            .variables
            .iter()
            .map(|variable| format!("{}={}", escape_name(&variable.name), variable_text(&variable.value)))
            .collect();
        write_to(&mut script, format_args!(" CAIRN_VARIABLES={}", quote(words.join(" ").as_bytes())));
    }
    // `env` takes a word with `=` for a variable.
    if program.contains('=') {
        script.push_str(" sh -c 'exec \"$0\" \"$@\"'");
    }
    write_to(&mut script, format_args!(" {}", quote(program.as_bytes())));
    for arg in &input.args {
        write_to(&mut script, format_args!(" {}", quote(&arg.0)));
    }
    script.push(')');
    script
}

/// A program with its arguments, as they are typed.
pub fn command(program: &Path, args: &[String]) -> String {
    let program = program.to_string_lossy().into_owned();
    words(&std::iter::once(program).chain(args.iter().cloned()).collect::<Vec<_>>())
}

/// Words as they are typed.
pub fn words(words: &[String]) -> String {
    words.iter().map(|word| quote(word.as_bytes())).collect::<Vec<_>>().join(" ")
}

fn write_to(script: &mut String, text: std::fmt::Arguments<'_>) {
    script.write_fmt(text).expect("writing to a string does not fail");
}

/// Names in `CAIRN_VARIABLES` have white space, `=` and `%` as `%xx`.
fn escape_name(name: &str) -> String {
    let mut escaped = String::new();
    for character in name.chars() {
        match character {
            '%' | '=' => write_to(&mut escaped, format_args!("%{:02x}", character as u32)),
            c if c.is_ascii_whitespace() => write_to(&mut escaped, format_args!("%{:02x}", c as u32)),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The form the delivery archive reads from `CAIRN_VARIABLES`.
fn variable_text(value: &VariableValue) -> String {
    match value {
        VariableValue::Int(value) => value.to_string(),
        VariableValue::Uint(value) => value.to_string(),
        VariableValue::Float(bits) => format!("{:?}", f32::from_bits(*bits)),
        VariableValue::Double(bits) => format!("{:?}", f64::from_bits(*bits)),
        VariableValue::Bytes(bytes) => {
            format!("hex:{}", bytes.0.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
    }
}

/// Quotes a word for a POSIX shell. Bytes no text can show go through `printf`, but for final newlines, which every command
/// substitution loses.
fn quote(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,@+%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c.is_control() && c != '\n') => {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
        _ => {
            let end = bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
            let newlines = "\n".repeat(bytes.len() - end);
            let newlines = if newlines.is_empty() { newlines } else { format!("'{newlines}'") };
            format!("\"$({})\"{newlines}", printf(&Bytes(bytes[..end].to_vec())))
        }
    }
}

/// A `printf` that writes exactly these bytes.
fn printf(bytes: &Bytes) -> String {
    let mut format = String::new();
    for byte in &bytes.0 {
        match byte {
            b'\n' => format.push_str("\\n"),
            b'\\' => format.push_str("\\\\"),
            b'%' => format.push_str("%%"),
            b'\'' => format.push_str("'\\''"),
            b' '..=b'~' => format.push(*byte as char),
            byte => write_to(&mut format, format_args!("\\{byte:03o}")),
        }
    }
    format!("printf -- '{format}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::input::FileRegion;
    use std::process::Command;

    /// Runs the script in a real shell with `cat` standing in for the program.
    fn run(program: &str, input: &Input) -> Vec<u8> {
        let script = reproduce(program, input);
        let output = Command::new("sh").arg("-c").arg(&script).output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        output.stdout
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        let args = ["-x".to_string(), "two words".into(), "@@".into()];
        assert_eq!(command(Path::new("./my prog"), &args), "'./my prog' -x 'two words' @@");
    }

    #[test]
    fn every_byte_of_stdin_survives_the_shell() {
        let bytes: Vec<u8> = (0..=255).collect();
        let input = Input { stdin: bytes.clone().into(), ..Input::default() };
        assert_eq!(run("/bin/cat", &input), bytes);
    }

    #[test]
    fn arguments_and_files_survive_the_shell() {
        let file = FileRegion {
            path: "d/it's".into(),
            kind: FileKind::Regular("-n 100%\n".into()),
            mode: Some(0o640),
            size: None,
            modified: Some(5),
            accessed: None,
            owner: None,
        };
        let input = Input {
            args: vec!["d/it's".into(), vec![b'-'].into()],
            stdin: "end".into(),
            files: vec![file],
            ..Input::default()
        };
        assert_eq!(run("/bin/cat", &input), b"-n 100%\nend");
    }

    #[test]
    fn unprintable_arguments_survive_the_shell() {
        let input = Input { args: vec![vec![0xff, b'\t', b'x'].into()], ..Input::default() };
        assert_eq!(run("/bin/echo", &input), b"\xff\tx\n");
        let input = Input { args: vec![b"\x01'\n\n".to_vec().into()], ..Input::default() };
        assert_eq!(run("/bin/echo", &input), b"\x01'\n\n\n");
    }
}
