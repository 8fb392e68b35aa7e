//! The report in the mutation-testing report schema, checked against the schema as it is published.

use super::support::{KINDS, score, workspace};
use serde_json::Value;
use std::{fs, process::Command};

/// The schema from the npm package of the same name, through whatever registry this machine uses.
fn schema() -> Value {
    let folder = tempfile::tempdir().expect("temporary folder");
    let fetched = Command::new("npm")
        .args(["pack", "--silent", "mutation-testing-report-schema"])
        .current_dir(folder.path())
        .output()
        .expect("`npm` fetches the schema; `scripts/setup` installs it");
    assert!(
        fetched.status.success(),
        "`npm pack mutation-testing-report-schema` failed, so there is no schema to compare with: {}",
        String::from_utf8_lossy(&fetched.stderr)
    );
    let unpacked = Command::new("sh")
        .args(["-ec", "tar -xzf *.tgz"])
        .current_dir(folder.path())
        .status()
        .expect("a shell");
    assert!(unpacked.success());
    let path = folder.path().join("package/dist/src/mutation-testing-report-schema.json");
    serde_json::from_slice(&fs::read(&path).expect("the package holds the schema")).expect("a schema is JSON")
}

fn validate(schema: &Value, report: &Value) -> Result<(), String> {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("schema.json", schema.clone()).expect("the schema can be added");
    let index = compiler.compile("schema.json", &mut schemas).expect("the schema is one");
    schemas.validate(report, index).map_err(|error| error.to_string())
}

#[test]
fn elements_follow_the_published_schema() {
    let workspace = workspace(KINDS, &[("five", "5"), ("thousand", "1000")]);
    let ran = score(&workspace, &["--format", "elements", "--output", "report.json"]).success();
    assert_eq!(ran.stdout, "");
    let report: Value = serde_json::from_str(&workspace.read("report.json")).unwrap();
    let schema = schema();
    validate(&schema, &report).unwrap();
    let file = &report["files"]["program.c"];
    assert_eq!(file["source"], KINDS);
    let mutants = file["mutants"].as_array().unwrap();
    let statuses: std::collections::BTreeSet<&str> =
        mutants.iter().map(|mutant| mutant["status"].as_str().unwrap()).collect();
    for status in ["Killed", "Survived", "NoCoverage"] {
        assert!(statuses.contains(status), "{statuses:?}");
    }
    // What a viewer shows is what the mutant replaces.
    let lines: Vec<&str> = KINDS.lines().collect();
    for mutant in mutants {
        let (start, end) = (&mutant["location"]["start"], &mutant["location"]["end"]);
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        if number(&start["line"]) == number(&end["line"]) {
            let text =
                &lines[number(&start["line"]) - 1][number(&start["column"]) - 1..number(&end["column"]) - 1];
            assert!(!text.trim().is_empty() && text == text.trim(), "`{text}`: {mutant:#}");
        }
    }
    // Also where there is no score.
    for function in ["unused", "nobody"] {
        let ran = score(&workspace, &["--format", "elements", "--function", function]).exits_with(6);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        validate(&schema, &report).unwrap();
        assert!(report["config"]["error"].is_string(), "{report:#}");
    }
    let mut wrong = report.clone();
    wrong["files"]["program.c"]["mutants"][0]["status"] = "Alive".into();
    assert!(validate(&schema, &wrong).is_err(), "the schema refuses what it does not know");
}
