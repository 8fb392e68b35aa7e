//! What is kept of a call.

use super::support::{inputs, record, report, suite};
use expect_test::{Expect, expect};

/// Records a suite and shows its output and the inputs.
fn check(script: &str, options: &[&str], expected: Expect) {
    let workspace = suite(script);
    let ran = record(&workspace, options).success();
    let alone = workspace.run("sh", ["-e", "suite.sh"]);
    assert_eq!(ran.stderr, alone.stdout, "the suite sees what it sees without a recorder");
    let root = workspace.root().canonicalize().expect("the folder");
    expected.assert_eq(&inputs(&workspace).join("---\n").replace(&root.display().to_string(), "ROOT"));
}

#[test]
fn arguments_standard_input_files_and_variables_are_kept() {
    check(
        r"
        printf 'b\na\n' > in.txt
        ../program -x in.txt
        echo piped | ../program -
        ../program - < in.txt
        MOOD=good ../program plain
        ../program --file=in.txt
        env LC_ALL=C.UTF-8 TZ=Asia/Tokyo ../program zone
        rm in.txt
        ",
        &["--present-files=0"],
        expect![[r#"
            args: ["-"]
            stdin: "b\na\n"
            ---
            args: ["-"]
            stdin: "piped\n"
            ---
            args: ["--file=in.txt"]
            file in.txt: "b\na\n"
            ---
            args: ["-x", "in.txt"]
            file in.txt: "b\na\n"
            ---
            args: ["plain"]
            environment: MOOD="good"
            ---
            args: ["zone"]
            setting: LC_ALL=C.UTF-8 TZ=Asia/Tokyo
        "#]],
    );
}

#[test]
fn the_program_is_found_by_every_way_of_calling_it() {
    let workspace = suite(
        r#"
        ../program relative
        "$(cd .. && pwd)/program" absolute
        (PATH="$(cd .. && pwd):$PATH"; program by-path)
        ln -s ../program link; ./link by-link; rm link
        cp ../program copy; ./copy by-copy; rm copy
        env -i ../program no-environment
        exec ../program instead-of-the-suite
        "#,
    );
    record(&workspace, &["--present-files=0"]).success();
    let args: Vec<_> =
        inputs(&workspace).iter().map(|text| text.lines().next().unwrap().to_string()).collect();
    expect![[r#"
        args: ["absolute"]
        args: ["by-copy"]
        args: ["by-link"]
        args: ["by-path"]
        args: ["instead-of-the-suite"]
        args: ["no-environment"]
        args: ["relative"]"#]]
    .assert_eq(&args.join("\n"));
}

#[test]
fn absolute_paths_become_paths_in_the_input() {
    check(
        r#"
        echo here > in.txt
        echo there > ../data.txt
        ../program "$PWD/in.txt" --out="$PWD/new" | sed "s,$PWD/,,"
        ../program ../data.txt
        rm in.txt
        "#,
        &["--present-files=0"],
        expect![[r#"
            args: ["in.txt", "--out=new"]
            file in.txt: "here\n"
            ---
            args: ["outside/data.txt"]
            file outside/data.txt: "there\n"
        "#]],
    );
}

#[test]
fn files_nobody_named_are_kept_when_they_are_few() {
    check(
        r"
        mkdir d; echo deep > d/config; chmod 600 d/config; ln -s d/config link
        ../program x > out 2> err
        touch 1 2 3
        ../program y
        rm -r d link out err 1 2 3
        ",
        &["--present-files=6"],
        expect![[r#"
            args: ["x"]
            folder d
            file d/config: "deep\n" mode=0600
            link link -> "d/config"
            ---
            args: ["y"]
        "#]],
    );
}

#[test]
fn nothing_is_taken_from_a_pipe_that_others_read_too() {
    check(
        r"
        printf '1\n2\n' | while read n; do echo read $n; ../program $n; done
        (echo one; sleep 0.2; echo two) | ../program -
        ",
        &["--present-files=0"],
        expect![[r#"
            args: ["-"]
            stdin: "one\ntwo\n"
            ---
            args: ["1"]
            stdin: "2\n"
            ---
            args: ["2"]
        "#]],
    );
}

#[test]
fn a_pipe_that_stays_open_holds_nobody_up() {
    let workspace = suite(
        r"
        mkfifo pipe dialogue
        exec 3<>pipe
        ../program a b <&3; ../program c <&3
        exec 4<>dialogue
        echo hello >&4; ../program d <&4
        ",
    );
    let ran = record(&workspace, &["--present-files=0", "--patience=50", "--json"]).success();
    let notes = &report(&ran)["notes"];
    assert_eq!(notes["standard input was still open and empty; recorded as empty"], 2, "{notes:#}");
    assert_eq!(notes["standard input was still open; only its beginning is recorded"], 1, "{notes:#}");
    expect![[r#"
        args: ["a", "b"]
        args: ["c"]
        args: ["d"]
        stdin: "hello\n"
    "#]]
    .assert_eq(&inputs(&workspace).concat());
}

#[test]
fn more_than_a_pipe_holds_is_kept_up_to_the_limit() {
    let workspace = suite(
        r"
        head -c 300000 /dev/zero | tr '\0' x | ../program - | wc -c
        head -c 3000000 /dev/zero | tr '\0' y | ../program - | wc -c
        ",
    );
    let ran = record(&workspace, &["--present-files=0", "--json"]).success();
    assert_eq!(ran.stderr, "300000\n3000000\n");
    let report = report(&ran);
    assert_eq!(report["kept"], 1, "{report:#}");
    assert_eq!(
        report["left_out"]["standard input and named files have more than 1048576 bytes"], 1,
        "{report:#}"
    );
    let text = inputs(&workspace).concat();
    assert_eq!(text.matches('x').count(), 300_000);
}

#[test]
fn strange_standard_inputs_do_no_harm() {
    let workspace = suite(
        r"
        ../program closed <&-
        ../program null < /dev/null
        ../program folder < .
        ../program zeros < /dev/zero
        ../program written 0> out
        ",
    );
    let ran = record(&workspace, &["--present-files=0", "--json"]).success();
    let report = report(&ran);
    assert_eq!(report["calls"], 5, "{report:#}");
    assert_eq!(report["kept"], 3, "{report:#}");
    let left_out = &report["left_out"];
    assert_eq!(
        left_out["standard input is neither a file, a pipe, a terminal nor `/dev/null`"], 2,
        "{report:#}"
    );
}

#[test]
fn a_program_with_many_names_is_recorded_by_one() {
    let workspace = suite("ln -s ../program ls\n./ls a\n../program ls b\n../program cat c\n./ls ls\n");
    let ran = record(&workspace, &["--present-files=0", "--name=ls", "--json"]).success();
    expect![[r#"
        args: ["a"]
        args: ["b"]
        args: ["ls"]
        link ls -> "../program"
    "#]]
    .assert_eq(&inputs(&workspace).concat());
    assert_eq!(report(&ran)["left_out"]["called by another name than `ls`"], 1, "{ran}");
}
