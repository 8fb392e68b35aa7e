//! What is seen of a campaign on a terminal, and where there is none.

use cairn_testkit::{Ran, Workspace};
use std::{
    io::{Read, Write},
    process::Stdio,
};

/// A campaign over two seeds, in a terminal of its own that understands what `kind` says.
fn on_a_terminal(kind: &str) -> Ran {
    let workspace = Workspace::new();
    workspace.write(
        "prog.c",
        "#include <stdio.h>\nint main(void) { if (getchar() == 'a') puts(\"a\"); return 0; }\n",
    );
    workspace.write("seeds/a", "a");
    workspace.write("seeds/b", "b");
    workspace.run("cairn-cc", ["-O1", "prog.c", "-o", "prog"]).success();
    let command =
        format!("stty cols 100 rows 30; TERM={kind} cairn run ./prog seeds --workers=1 --inputs=2; stty -a");
    workspace.run("script", ["-qec", &command, "/dev/null"]).success()
}

#[test]
fn the_screen_is_drawn_and_given_back() {
    let ran = on_a_terminal("xterm-256color");
    let at = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("`{text}` is missing in:\n{ran}"));
    let (taken, given_back) = (at("\x1b[?1049h"), at("\x1b[?1049l"));
    let summary = at("everything is in `cairn-campaign`");
    assert!(taken < given_back && given_back < summary, "{ran}");
    assert!(!ran.stdout[..summary].contains("kept #"), "a screen has no lines: {ran}");
    let modes = &ran.stdout[summary..];
    assert!(modes.contains(" icanon") && modes.contains(" echo "), "{ran}");
}

#[test]
fn a_terminal_that_only_knows_lines_gets_lines() {
    let ran = on_a_terminal("dumb");
    assert!(!ran.stdout.contains("\x1b[?1049h"), "{ran}");
    assert!(ran.stdout.contains("kept #0") && ran.stdout.contains("ended: "), "{ran}");
}

/// Sends bytes to a campaign as soon as its screen is there, and returns everything it wrote.
///
/// The seeds alone keep it busy for seconds, so that it ends because it was asked to.
fn asked_to_end(keys: &[u8]) -> (Workspace, String) {
    let workspace = Workspace::new();
    let program = "#include <stdio.h>\n#include <unistd.h>\n\
                   int main(void) { int c = getchar(); usleep(100000); if (c > 'j') puts(\"late\"); return c & 1; }\n";
    workspace.write("prog.c", program);
    for letter in 'a'..='t' {
        workspace.write(format!("seeds/{letter}"), letter.to_string());
    }
    workspace.run("cairn-cc", ["-O1", "prog.c", "-o", "prog"]).success();
    let command = "stty cols 80 rows 24; TERM=xterm cairn run ./prog seeds --workers=1; stty -a";
    let mut script = workspace
        .command("script")
        .args(["-qec", command, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` is part of every Debian");
    let mut terminal = script.stdout.take().expect("piped");
    let mut written = Vec::new();
    let mut is_sent = false;
    let mut some = [0; 4096];
    loop {
        let n = terminal.read(&mut some).expect("a pipe can be read");
        if n == 0 {
            break;
        }
        written.extend(&some[..n]);
        if !is_sent && String::from_utf8_lossy(&written).contains("\x1b[?1049h") {
            script.stdin.as_mut().expect("piped").write_all(keys).expect("a terminal takes keys");
            is_sent = true;
        }
    }
    script.wait().expect("it ended");
    (workspace, String::from_utf8_lossy(&written).into_owned())
}

#[test]
fn q_and_control_c_end_a_campaign_with_its_summary() {
    for keys in [&b"q"[..], b"\x03"] {
        let (workspace, written) = asked_to_end(keys);
        let (_, after) = written.split_once("\x1b[?1049l").unwrap_or_else(|| panic!("{written}"));
        assert!(after.contains("`cairn resume cairn-campaign` goes on"), "{written}");
        assert!(after.contains(" icanon"), "{written}");
        let events = workspace.read("cairn-campaign/events.jsonl");
        assert!(events.trim_end().ends_with("\"event\":\"ended\",\"why\":\"asked\"}"), "{events}");
        assert!(workspace.path("cairn-campaign/report.html").exists());
    }
}
