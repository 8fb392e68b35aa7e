//! The program gets back to its place, whatever happens.

use super::support::{inputs, is_as_before, record, suite};
use cairn_testkit::Workspace;
use std::{
    fs,
    io::Read,
    os::unix::fs::{MetadataExt, PermissionsExt},
    process::{Child, Stdio},
};

/// A recording whose suite calls the program, says so, and waits for a line on its standard input.
fn waiting(workspace: &Workspace) -> Child {
    let mut child = workspace
        .command("cairn")
        .args(["record", "./program", "--present-files=0", "--", "sh", "-c"])
        .arg("./program before </dev/null; echo ready; read line; ./program after </dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cairn starts");
    let mut seen = String::new();
    let stderr = child.stderr.as_mut().expect("it was piped");
    while !seen.contains("ready\n") {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).expect("a readable pipe"), 1, "the suite ended early: {seen}");
        seen.push(byte[0] as char);
    }
    child
}

#[test]
fn make_sees_no_reason_to_link_again_and_the_mode_stays() {
    let workspace = suite("");
    workspace.write(
        "Makefile",
        "program: program.c\n\tcc -o $@ $<\ncheck: program\n\t./program x\n\tstat -c %a program\n",
    );
    fs::set_permissions(workspace.path("program"), fs::Permissions::from_mode(0o751)).unwrap();
    let before = fs::metadata(workspace.path("program")).unwrap();
    let original = fs::read(workspace.path("program")).unwrap();
    let ran = workspace.run("cairn", ["record", "./program", "--", "make", "check"]).success();
    assert!(!ran.stderr.contains("cc -o") && ran.stderr.contains("751"), "{ran}");
    let after = fs::metadata(workspace.path("program")).unwrap();
    assert_eq!(
        (before.ino(), before.mode(), before.mtime_nsec()),
        (after.ino(), after.mode(), after.mtime_nsec())
    );
    is_as_before(&workspace, &original);
}

#[test]
fn after_a_signal_the_program_is_back_and_the_inputs_are_kept() {
    for signal in ["INT", "TERM"] {
        let workspace = suite("");
        let original = fs::read(workspace.path("program")).unwrap();
        let mut child = waiting(&workspace);
        // Without it the suite would go on by itself.
        let _suite = child.stdin.take();
        workspace.sh(&format!("kill -{signal} {}", child.id())).success();
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success());
        is_as_before(&workspace, &original);
        assert_eq!(inputs(&workspace), ["args: [\"before\"]\n"]);
    }
}

#[test]
fn a_killed_recording_is_put_right_by_the_next_one() {
    let workspace = suite("../program again\n");
    let original = fs::read(workspace.path("program")).unwrap();
    let mut child = waiting(&workspace);
    // The suite outlives its recording; it shall wait until the end of this test.
    let _suite = child.stdin.take();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(fs::read(workspace.path("program")).unwrap() != original, "the recorder is still there");
    // Until then the program works, and is even recorded.
    assert_eq!(workspace.run("./program", ["meanwhile"]).success().stdout, "<meanwhile>\n");
    let ran = record(&workspace, &["--present-files=0"]).success();
    assert!(
        ran.stderr.contains("an earlier recording was cut short; `./program` was put back in its place"),
        "{ran}"
    );
    is_as_before(&workspace, &original);
    assert_eq!(inputs(&workspace).concat(), "args: [\"again\"]\nargs: [\"before\"]\nargs: [\"meanwhile\"]\n");
}

#[test]
fn a_killed_recording_can_be_put_right_alone() {
    let workspace = suite("");
    let original = fs::read(workspace.path("program")).unwrap();
    let mut child = waiting(&workspace);
    let _suite = child.stdin.take();
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = workspace.run("cairn", ["record", "--restore", "./program"]).success();
    assert!(ran.stderr.contains("put back"), "{ran}");
    is_as_before(&workspace, &original);
    let ran = workspace.run("cairn", ["record", "--restore", "./program"]).success();
    assert_eq!(ran.stdout, "`./program` is in its place\n");
    is_as_before(&workspace, &original);
}

#[test]
fn two_recordings_of_one_program_do_not_mix() {
    let workspace = suite("../program x\n");
    let original = fs::read(workspace.path("program")).unwrap();
    let mut child = waiting(&workspace);
    let ran = record(&workspace, &[]).exits_with(2);
    let other = format!(
        "error: `{}` is already being replaced by process {}, `sh -c ",
        ran_program(&workspace),
        child.id()
    );
    assert!(ran.stderr.contains(&other), "{ran}");
    drop(child.stdin.take());
    assert!(child.wait_with_output().unwrap().status.success());
    is_as_before(&workspace, &original);
    assert_eq!(inputs(&workspace), ["args: [\"after\"]\n", "args: [\"before\"]\n"]);
}

fn ran_program(workspace: &Workspace) -> String {
    workspace.path("program").canonicalize().unwrap().display().to_string()
}

#[test]
fn a_suite_that_builds_the_program_anew_is_told() {
    let workspace = suite("../program a\ncp /bin/true new; mv new ../program\n../program b\n");
    let ran = record(&workspace, &[]).success();
    assert!(
        ran.stderr
            .contains("the suite put a new `./program` in the recorder's place; later calls are missing"),
        "{ran}"
    );
    let new = fs::read("/bin/true").unwrap();
    is_as_before(&workspace, &new);
    assert_eq!(inputs(&workspace).len(), 1);
}

#[test]
fn a_suite_that_removes_or_strips_the_program_does_not_lose_it() {
    let workspace = suite("../program a\nrm ../program\n");
    let original = fs::read(workspace.path("program")).unwrap();
    let ran = record(&workspace, &[]).success();
    assert!(ran.stderr.contains("the suite removed `./program`; it was put back in its place"), "{ran}");
    is_as_before(&workspace, &original);

    workspace.write("suite.sh", "cd work\n../program a\nllvm-strip-19 ../program\n../program b\n");
    let ran = record(&workspace, &[]).success();
    assert!(ran.stderr.contains("<a>\n<b>\n"), "{ran}");
    is_as_before(&workspace, &original);
}

#[test]
fn a_recorder_that_is_killed_is_counted() {
    // The pipe never ends, so the recorder waits for it and the suite kills it there.
    let workspace = suite(
        "mkfifo pipe\nexec 3<>pipe\n../program x <&3 &\n\
         until [ -s ../inputs/.recording-*/calls ]; do sleep 0.01; done\nkill -9 $!\n../program y\n",
    );
    let ran = record(&workspace, &["--patience=600000"]).success();
    assert!(ran.stdout.contains("calls      2"), "{ran}");
    assert!(ran.stdout.contains("1 call: the recorder was killed before it had finished"), "{ran}");
}
