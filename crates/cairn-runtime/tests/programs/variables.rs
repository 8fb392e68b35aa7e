//! Typed variables in their three spellings.

use crate::support::{Channel, Link, Program};
use cairn_abi::{
    channel::{EndedBy, RUNTIME_EXIT_CODE},
    delivery::{Item, Value},
};

fn variable<'a>(name: &'a str, value: Value<'a>) -> Item<'a> {
    Item::Variable { name: name.as_bytes(), value }
}

fn print_all() -> Program {
    Program::c(
        Link::Delivery,
        r#"
        #include <cairn.h>
        #include <stdio.h>
        int main(void) {
          printf("%d %d %u\n", cairn_int("n"), cairn_int("n"), cairn_uint("u"));
          printf("%ld %lu\n", cairn_long("l"), cairn_ulong("ul"));
          printf("%d %d %d\n", cairn_char("c"), cairn_uchar("uc"), cairn_bool("b"));
          printf("%g %g %g\n", cairn_float("f"), cairn_double("d"), cairn_double_range("r", 1.5, 2));
          printf("%d\n", cairn_int_range("i", -9, -3));
          char bytes[3] = "??";
          cairn_bytes("m", bytes, 3);
          printf("%d %d %d\n", bytes[0], bytes[1], bytes[2]);
        }"#,
    )
}

#[test]
fn variables_are_what_the_input_delivers() {
    let channel = Channel::delivering(&[
        variable("n", Value::Int(-5)),
        variable("n#2", Value::Int(6)),
        variable("u", Value::Uint(4_000_000_000)),
        variable("l", Value::Int(i64::MIN)),
        variable("ul", Value::Uint(u64::MAX)),
        variable("c", Value::Int(-1)),
        variable("uc", Value::Int(255)),
        variable("b", Value::Int(1)),
        variable("f", Value::Float(0.5f32.to_bits())),
        variable("d", Value::Double(0.1f64.to_bits())),
        variable("r", Value::Double(2f64.to_bits())),
        variable("i", Value::Int(-9)),
        variable("m", Value::Bytes(b"abc")),
    ]);
    expect_test::expect![[r#"
        -5 6 4000000000
        -9223372036854775808 18446744073709551615
        -1 255 1
        0.5 0.1 2
        -9
        97 98 99
    "#]]
    .assert_eq(&print_all().run(&channel).success().stdout);
    assert_eq!(channel.ended_by(), EndedBy::Program);
}

#[test]
fn what_nobody_gives_is_zero_or_nearest_to_it() {
    let nothing = "0 0 0\n0 0\n0 0 0\n0 0 1.5\n-3\n0 0 0\n";
    let program = print_all();
    assert_eq!(program.run(&Channel::new()).success().stdout, nothing);
    assert_eq!(program.run_alone(&[], "").success().stdout, nothing);
}

#[test]
fn alone_variables_come_from_the_environment() {
    let variables = "n=1 n#2=-0x10 u=3\tl=-4 ul=5 c=6 uc=7 b=1 f=0.1 d=1e3 r=1.75 i=-4 m=hex:414243";
    expect_test::expect![[r#"
        1 -16 3
        -4 5
        6 7 1
        0.1 1000 1.75
        -4
        65 66 67
    "#]]
    .assert_eq(&print_all().run_alone(&[], variables).success().stdout);
}

#[test]
fn with_a_host_the_environment_does_not_count() {
    let program =
        Program::c(Link::Delivery, "#include <cairn.h>\nint main(void) { return cairn_int(\"n\"); }");
    let channel = Channel::new();
    let mut command = program.command(Some(&channel));
    command.env("CAIRN_VARIABLES", "n=5");
    cairn_testkit::Ran::of(&mut command, b"").success();
}

#[test]
fn a_false_assumption_ends_the_run() {
    let program = Program::c(
        Link::Delivery,
        "#include <cairn.h>\nint main(void) { cairn_assume(cairn_int(\"n\") > 3); return 7; }",
    );
    let channel = Channel::new();
    program.run(&channel).exits_with(RUNTIME_EXIT_CODE);
    assert_eq!(channel.ended_by(), EndedBy::Assumption);

    let channel = Channel::delivering(&[variable("n", Value::Int(4))]);
    program.run(&channel).exits_with(7);
    assert_eq!(channel.ended_by(), EndedBy::Program);

    let alone = program.run_alone(&[], "n=3").exits_with(RUNTIME_EXIT_CODE);
    assert_eq!(alone.stderr, "assumption failed\n");
}

#[test]
fn a_value_out_of_bounds_is_a_false_assumption() {
    let program = Program::c(
        Link::Delivery,
        "#include <cairn.h>\nint main(void) { return cairn_int_range(\"n\", 1, 5) + cairn_double_range(\"x\", 0, 1); }",
    );
    for item in [
        variable("n", Value::Int(0)),
        variable("n", Value::Int(6)),
        variable("x", Value::Double(1.5f64.to_bits())),
        variable("x", Value::Double(f64::NAN.to_bits())),
    ] {
        let channel = Channel::delivering(&[item]);
        program.run(&channel).exits_with(RUNTIME_EXIT_CODE);
        assert_eq!(channel.ended_by(), EndedBy::Assumption, "{item:?}");
    }
    let alone = program.run_alone(&[], "n=9").exits_with(RUNTIME_EXIT_CODE);
    assert_eq!(alone.stderr, "assumption failed: `n` is out of its bounds\n");
}

#[test]
fn a_value_of_another_type_ends_the_run() {
    let program = Program::c(
        Link::Delivery,
        "#include <cairn.h>\nint main(void) { char b[4]; cairn_bytes(\"b\", b, 4); return cairn_char(\"c\"); }",
    );
    for item in [variable("c", Value::Int(300)), variable("b", Value::Bytes(b"12345"))] {
        let channel = Channel::delivering(&[item]);
        program.run(&channel).exits_with(RUNTIME_EXIT_CODE);
        assert_eq!(channel.ended_by(), EndedBy::Delivery, "{item:?}");
    }
    let alone = program.run_alone(&[], "c=x").exits_with(RUNTIME_EXIT_CODE);
    expect_test::expect![[r#"
        error: CAIRN_VARIABLES gives `c` a value of another type or size than the program asks for
    "#]]
    .assert_eq(&alone.stderr);
}

#[test]
fn klee_programs_build_and_run_unchanged() {
    let program = Program::c(
        Link::Delivery,
        r#"
        #include <klee/klee.h>
        #include <stdio.h>
        int main(void) {
          int x, buffer[2];
          klee_make_symbolic(&x, sizeof x, "x");
          klee_make_symbolic(buffer, sizeof buffer, "buffer");
          klee_assume(x != 1);
          klee_prefer_cex(&x, x < 10);
          printf("%d %d %d\n", x, buffer[1], klee_range(3, 5, "r") + klee_int("i"));
          klee_assert(x != 2);
          if (klee_is_symbolic(x)) return 1;
          fflush(stdout);
          klee_silent_exit(9);
        }"#,
    );
    let channel = Channel::delivering(&[
        variable("x", Value::Int(-1)),
        variable("buffer", Value::Bytes(&[0, 0, 0, 0, 1, 1, 0, 0])),
        variable("r", Value::Int(4)),
        variable("i", Value::Int(100)),
    ]);
    assert_eq!(program.run(&channel).exits_with(9).stdout, "-1 257 104\n");

    let channel = Channel::delivering(&[variable("x", Value::Int(1))]);
    program.run(&channel).exits_with(RUNTIME_EXIT_CODE);
    assert_eq!(channel.ended_by(), EndedBy::Assumption);

    let channel = Channel::delivering(&[variable("r", Value::Int(5))]);
    program.run(&channel).exits_with(RUNTIME_EXIT_CODE);
    assert_eq!(channel.ended_by(), EndedBy::Assumption);

    let failed = program.run_alone(&[], "x=2").dies_of(libc::SIGABRT);
    assert!(failed.stderr.contains("Assertion `x != 2' failed"), "{failed}");
}

#[test]
fn crest_variables_are_called_as_they_are_written() {
    let program = Program::c(
        Link::Delivery,
        r#"
        #include <crest.h>
        #include <stdio.h>
        int main(void) {
          int a[3];
          unsigned char c;
          for (int i = 0; i < 3; i++) CREST_int(a[i]);
          CREST_unsigned_char(c);
          printf("%d %d %d %d\n", a[0], a[1], a[2], c);
        }"#,
    );
    let channel = Channel::delivering(&[
        variable("a[i]", Value::Int(1)),
        variable("a[i]#2", Value::Int(2)),
        variable("a[i]#3", Value::Int(3)),
        variable("c", Value::Int(200)),
    ]);
    assert_eq!(program.run(&channel).success().stdout, "1 2 3 200\n");
    assert_eq!(program.run_alone(&[], "a[i]#2=5 c=1").success().stdout, "0 5 0 1\n");
}
