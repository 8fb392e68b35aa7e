//! `report.html` in a browser.

use super::browser::Browser;
use cairn_testkit::Workspace;
use std::fs;

/// A program with something to miss, and a way to fail.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static int check(const char *text, size_t length) {
  if (length > 3 && text[0] == '<') {
    if (text[1] == '!')
      return 2;
    return 1;
  }
  return 0;
}

static void never(int x) {
  if (x > 100)
    puts("never");
}

int main(int argc, char **argv) {
  char text[4096];
  size_t length = fread(text, 1, sizeof text, stdin);
  if (length == 4 && text[0] == 'b')
    abort();
  if (argc > 7)
    never(argc);
  return check(text, length);
}
"#;

pub const SCRIPT: &str =
    "<script>document.title='taken over'</script><img src=x onerror=\"document.title='taken over'\">";

/// A campaign over seeds, one of which fails and one of which would be a script.
pub fn campaign() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("prog.c", PROGRAM);
    workspace.write("seeds/plain", "plain");
    workspace.write("seeds/fails", "boom");
    workspace.write("seeds/script", SCRIPT);
    workspace.run("cairn-cc", ["-O1", "prog.c", "-o", "prog"]).success();
    let run = ["run", "./prog", "seeds", "-o", "campaign", "--workers=1", "--inputs=3"];
    let ran = workspace.run("cairn", run).exits_with(3);
    assert!(ran.stdout.contains("report.html"), "{ran}");
    workspace
}

#[test]
fn a_browser_shows_the_report_and_inputs_stay_text() {
    let workspace = campaign();
    let mut browser = Browser::start();
    browser.open(&workspace.path("campaign/report.html"));
    assert_eq!(browser.complaints(), [""; 0], "nothing is blocked, nothing is fetched, nothing fails");

    let figure = |name: &str| {
        let find = format!(
            "[...document.querySelectorAll('#figures div')].find((card) => card.firstChild.innerText === '{name}')"
        );
        format!("{find}.lastChild.innerText.replace(/\\s+/g, ' ')")
    };
    assert_eq!(browser.value(&figure("branches reached")), "8 of 14 · 57.1%");
    assert_eq!(browser.value(&figure("inputs kept")), "2");
    assert_eq!(browser.value(&figure("ways to fail")), "1");
    assert_eq!(browser.value("document.title"), "./prog · cairn", "no script of an input ran");
    assert_eq!(browser.value("document.scripts.length"), 1);
    assert_eq!(browser.value("document.images.length"), 0);
    let corpus = browser.value("document.querySelector('#corpus').innerText").to_string();
    assert!(corpus.contains("<script>document.title"), "{corpus}");
    let replay = browser.value("document.querySelector('.failure .replay').innerText");
    assert!(replay.as_str().unwrap().starts_with("cairn replay ./prog campaign/crashes/"), "{replay}");
    assert!(browser.value("document.querySelector('#curve .curve').getTotalLength()").as_f64() > Some(100.0));
    let functions = browser.value("document.querySelector('#functions').textContent").to_string();
    for text in ["prog.c:5:12", "text[1] == '!'", "never true", "It was never entered."] {
        assert!(functions.contains(text), "`{text}` is missing in: {functions}");
    }

    // The command that the report gives runs as it stands there.
    let again = workspace.run("sh", ["-c", replay.as_str().unwrap()]).exits_with(3);
    assert!(again.stdout.contains("SIGABRT"), "{again}");
}

#[test]
fn tables_are_sorted_by_the_column_that_is_clicked() {
    let workspace = campaign();
    let mut browser = Browser::start();
    browser.open(&workspace.path("campaign/report.html"));
    let names = "[...document.querySelectorAll('#functions tbody tr')].map((row) => row.cells[0].dataset.v)";
    let click = |column: u32| format!("document.querySelectorAll('#functions th')[{column}].click()");
    let most_left_first = browser.value(names);
    browser.value(&click(0));
    assert_eq!(browser.value(names), serde_json::json!(["check", "main", "never"]));
    browser.value(&click(0));
    assert_eq!(browser.value(names), serde_json::json!(["never", "main", "check"]));
    browser.value(&click(4));
    browser.value(&click(4));
    let left = "[...document.querySelectorAll('#functions tbody tr')].map((row) => +row.cells[4].dataset.v)";
    let left: Vec<u64> = serde_json::from_value(browser.value(left)).unwrap();
    assert!(left.is_sorted_by(|a, b| a >= b), "{left:?}, at first {most_left_first}");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_report_of_a_campaign_that_was_killed_can_be_written() {
    let workspace = campaign();
    // As if it had been killed after its last moment, in the middle of a line, and an input had been tidied away.
    let events = workspace.read("campaign/events.jsonl");
    let ended = events.rfind("{").unwrap();
    fs::write(workspace.path("campaign/events.jsonl"), &events[..ended + 9]).unwrap();
    fs::remove_file(workspace.path("campaign/report.html")).unwrap();
    let crash = fs::read_dir(workspace.path("campaign/crashes")).unwrap().next().unwrap().unwrap();
    fs::remove_file(crash.path()).unwrap();

    let ran = workspace.run("cairn", ["report", "campaign"]).success();
    assert!(ran.stdout.contains("branches reached by 2 inputs"), "{ran}");
    let page = workspace.read("campaign/report.html");
    for text in ["it is still at work, or was killed", "The file of its input is gone."] {
        assert!(page.contains(text), "`{text}` is missing in the report");
    }
    let ran = workspace.run("cairn", ["report", "campaign", "--json"]).success();
    let figures: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&figures["n_entries"], &figures["n_branches"]), (&2.into(), &14.into()), "{figures}");
    assert_eq!(figures["failures"][0]["replay"], serde_json::Value::Null);
}

#[test]
fn a_folder_without_a_campaign_has_no_report() {
    let workspace = Workspace::new();
    let ran = workspace.run("cairn", ["report", "nowhere"]).exits_with(2);
    assert!(ran.stderr.contains("`nowhere` holds no campaign") && ran.stderr.contains("hint: "), "{ran}");
}

#[test]
fn a_program_that_was_built_anew_has_another_report() {
    let workspace = campaign();
    workspace.write("prog.c", PROGRAM.replace("length > 3", "length > 5"));
    workspace.run("cairn-cc", ["-O1", "prog.c", "-o", "prog"]).success();
    let ran = workspace.run("cairn", ["report", "campaign"]).exits_with(2);
    assert!(ran.stderr.contains("the program is not the one"), "{ran}");
}
