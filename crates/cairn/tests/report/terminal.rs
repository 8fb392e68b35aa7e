//! What is seen of a campaign on a terminal, and where there is none.

use cairn_testkit::{Ran, Workspace};

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
