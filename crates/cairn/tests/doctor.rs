//! What `cairn doctor` says of a target's runs: live or not, and how much fuel.

use cairn_testkit::Workspace;
use expect_test::{Expect, expect};
use std::time::Duration;

/// Builds `target.c`, gives doctor the named inputs, and compares its lines on sessions.
#[track_caller]
fn check(workspace: &Workspace, wall_limit: Duration, inputs: &[&str], expected: Expect) {
    workspace.write("cairn.toml", format!("[run]\nwall_limit_ms = {}\n", wall_limit.as_millis()));
    workspace.run("cairn-cc", ["target.c", "-w", "-o", "program"]).success();
    let words = ["doctor", "./program"].into_iter().chain(inputs.iter().copied());
    let said = workspace.run("cairn", words).stdout;
    let is_ours = |line: &&str| line.contains("  snapshot  ") || line.contains("  fuel  ");
    let lines: String = said.lines().filter(is_ours).map(|line| format!("{}\n", line.trim_start())).collect();
    expected.assert_eq(&lines);
}

/// A fixture whose runs end by themselves, however busy the machine.
#[track_caller]
fn check_fixture(name: &str, inputs: &[&str], expected: Expect) {
    check(&Workspace::of_fixture(name), Duration::from_secs(10), inputs, expected);
}

#[test]
fn live_runs_are_counted() {
    check_fixture(
        "leftover_memory",
        &["inputs"],
        expect![[r#"
        ok       snapshot         live on 2 of 2 inputs, equal to fresh processes
        ok       fuel             limit 1000000, of which the inputs use at most 101
    "#]],
    );
}

#[test]
fn a_program_that_reads_its_own_mappings_finds_those_of_a_fresh_process() {
    let workspace = Workspace::new();
    // Where mappings begin and end, and what they are; the number of a memory file is another one in every process.
    workspace.write(
        "target.c",
        r#"#include <fcntl.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        int main(void) {
          static char text[1 << 16];
          int file = open("/proc/self/maps", O_RDONLY), n_digits = 0;
          long length = 0, n;
          while ((n = read(file, text + length, sizeof text - 1 - length)) > 0)
            length += n;
          for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            for (char *at = line; *at != ' '; at++)
              if (*at >= '0' && *at <= '9')
                n_digits++;
            printf("%.31s\n", line);
          }
          return n_digits == 0;
        }"#,
    );
    workspace.write("input", "");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    // The bare build lacks what every view maps, so doctor is not content.
    let ran = workspace.run("cairn", ["doctor", "./program", "input"]);
    assert!(ran.stdout.contains("live on 1 of 1 input, equal to fresh processes"), "{ran}");
}

#[test]
fn inputs_that_need_a_process_are_told_with_the_reason() {
    check_fixture(
        "leftover_timer",
        &["inputs"],
        expect![[r#"
        ok       snapshot         live on 1 of 2 inputs, equal to fresh processes; fresh on 1: it makes the system call `alarm`
        ok       fuel             limit 1000000, of which the inputs use at most 1
    "#]],
    );
}

#[test]
fn a_target_none_of_whose_inputs_runs_live_is_warned_about() {
    check_fixture(
        "leftover_timer",
        &["inputs/b"],
        expect![[r#"
        warning  snapshot         live on 0 of 1 input; fresh on 1: it makes the system call `alarm`
        ok       fuel             limit 1000000, of which the inputs use at most 1
    "#]],
    );
}

#[test]
fn a_target_that_dies_before_main_is_warned_about() {
    check_fixture(
        "hostile_crashes_before_main",
        &[],
        expect![[r#"
        warning  snapshot         a fresh process for every run: it died of signal 6 before it was ready
        ok       fuel             limit 1000000, of which the inputs use at most 1
    "#]],
    );
}

#[test]
fn inputs_that_never_end_say_nothing_about_fuel() {
    let workspace = Workspace::of_fixture("hostile_hangs");
    check(
        &workspace,
        Duration::from_millis(500),
        &[],
        expect![[r#"
        ok       snapshot         live on 1 of 1 input, equal to fresh processes
        warning  fuel             limit 1000000 is a guess, because every input ran out of time
    "#]],
    );
}

#[test]
fn the_limit_is_ten_times_what_the_inputs_use() {
    let workspace = Workspace::new();
    let source = r#"
        #include <stdio.h>
        int main(void) {
          for (int i = 0; i < 300000; i++) if (getchar() == 'x') return 1;
          return 0;
        }"#;
    workspace.write("target.c", source);
    check(
        &workspace,
        Duration::from_secs(10),
        &[],
        expect![[r#"
        ok       snapshot         live on 1 of 1 input, equal to fresh processes
        ok       fuel             limit 3000010, of which the inputs use at most 300001
    "#]],
    );
}
