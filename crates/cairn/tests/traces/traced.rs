//! The trace of a program that a test brings with it.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;

/// The trace of a program that was written for this test.
pub struct Traced {
    pub workspace: Workspace,
    pub report: Value,
}

impl Traced {
    /// Compiles a program and traces it on an input.
    #[track_caller]
    pub fn new(text: &str, input: impl AsRef<[u8]>) -> Self {
        Self::of(Workspace::new(), "target.c", text, input)
    }

    #[track_caller]
    pub fn of(workspace: Workspace, name: &str, text: &str, input: impl AsRef<[u8]>) -> Self {
        workspace.write(name, text.trim_start());
        let input_name = if input.as_ref().starts_with(b"{") { "start.json" } else { "start" };
        workspace.write(input_name, input);
        let compiler = if name.ends_with(".cc") { "cairn-c++" } else { "cairn-cc" };
        workspace.run(compiler, ["-O1", name, "-o", "program"]).success();
        let ran = workspace.run("cairn", ["trace", "./program", input_name, "--json"]);
        let report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
        assert_eq!(report["n_disagreements"], 0, "{ran}");
        Self { workspace, report }
    }

    /// What had to hold for each evaluation of a condition, by its text.
    pub fn conditions(&self) -> Vec<(String, String)> {
        let events = self.report["events"].as_array().expect("a list");
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or("-").to_owned();
        events.iter().map(|event| (text(event, "text"), text(event, "holds"))).collect()
    }

    /// Whether these are the texts of the conditions that depend on the input.
    #[track_caller]
    pub fn depend(&self, expected: &[&str]) {
        let conditions = self.conditions();
        let texts: Vec<&str> = conditions.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, expected, "{conditions:?}");
    }

    #[track_caller]
    pub fn is_cut(&self, reason: &str) {
        assert_eq!(self.report["whole"], false);
        assert_eq!(self.report["cut"], reason);
    }

    #[track_caller]
    pub fn is_whole(&self) {
        assert_eq!((&self.report["whole"], &self.report["cut"]), (&Value::Bool(true), &Value::Null));
    }

    /// The functions that are named as not followed.
    pub fn named(&self) -> Vec<&str> {
        let list = self.report["unmodelled"].as_array().expect("a list");
        list.iter().map(|entry| entry[0].as_str().expect("a name")).collect()
    }

    pub fn solve(&self, line: &str) -> Ran {
        self.workspace.run("cairn", ["solve", "./program", "start", "--branch", line])
    }
}
