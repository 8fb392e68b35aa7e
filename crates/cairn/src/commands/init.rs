//! `cairn init`: writes a `cairn.toml` to start from.

use crate::{
    config::FILE_NAME, exit_code::Exit, failure::Failure, screen::Screen, surroundings, target::is_harness,
};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Write a cairn.toml for a program
#[derive(Debug, clap::Args)]
pub struct Init {
    /// The program, built with cairn-cc
    program: PathBuf,
    /// Arguments of the program; `@@` stands for the file that carries a raw input
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

impl Init {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let places = surroundings::places()?;
        cairn_cc::views::find(&places, &self.program)
            .map_err(|error| Failure::target(crate::failure::chain(&error)))?;
        let path = places.directory.join(FILE_NAME);
        let text = template(&self.program, &self.args, is_harness(&self.program));
        let mut options = fs::OpenOptions::new();
        match options.write(true).create_new(true).open(&path) {
            Ok(mut file) => std::io::Write::write_all(&mut file, text.as_bytes())?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(Failure::usage(format!("`{FILE_NAME}` is already here"))
                    .hint("change it by hand, or delete it first"));
            }
            Err(error) => return Err(Failure::usage(format!("failed to write `{FILE_NAME}`: {error}"))),
        }
        screen.result(&format!("wrote `{FILE_NAME}`; next: `cairn build`, then `cairn cover INPUTS`"));
        Ok(Exit::Done)
    }
}

fn template(program: &Path, args: &[String], is_harness: bool) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_string()).to_string();
    let words: Vec<String> = args.iter().map(|word| quoted(word)).collect();
    let where_bytes_go = match (args.iter().any(|word| word == "@@"), is_harness) {
        (true, _) => "raw inputs go into the file that `@@` names",
        (false, true) => "raw inputs go into the buffer of the harness",
        (false, false) => "raw inputs go to standard input",
    };
    format!(
        "# What Cairn tests and how. Every line may be left out.\n\
         \n\
         [target]\n\
         program = {}\n\
         \n\
         [input]\n\
         # {where_bytes_go}\n\
         args = [{}]\n\
         # locale = \"C\"\n\
         # environment = {{ POSIXLY_CORRECT = \"1\" }}\n\
         # [[input.files]]\n\
         # path = \"data.txt\"\n\
         # kind = {{ regular = \"text\" }}\n\
         # [[input.variables]]\n\
         # name = \"n\"\n\
         # type = \"int\"\n\
         # min = 0\n\
         # max = 9\n\
         \n\
         [scope]\n\
         # files = [\"src/*.c\"]\n\
         # functions = []\n\
         # exclude_files = []\n\
         \n\
         [run]\n\
         sandbox = \"full\"\n\
         # wall_limit_ms = 1000\n\
         # memory_limit_mb = 1024\n\
         # output_limit_kb = 1024\n\
         # allow_exec = false\n",
        quoted(&program.to_string_lossy()),
        words.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_init_writes_can_be_read() {
        let text = template(Path::new("./prog \"x\""), &["-n".into(), "@@".into()], false);
        let config: Config = toml::from_str(&text).unwrap();
        assert_eq!(config.target.program.as_deref(), Some("./prog \"x\""));
        assert_eq!(config.input.args, ["-n", "@@"]);
    }
}
