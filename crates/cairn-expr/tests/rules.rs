//! What simplifying does, as text.

use cairn_expr::{Dag, parse, print, simplify};
use expect_test::{Expect, expect};

/// Shorter names for what most of these tests are about: `x`, `y` are bytes of the input, `X`, `Y` are 32 bits.
fn expand(text: &str) -> String {
    let words = [
        ("x", "(input stdin 0 8)"),
        ("y", "(input stdin 1 8)"),
        ("z", "(input stdin 2 8)"),
        ("X", "(input arg0 0 32)"),
        ("Y", "(input arg1 0 32)"),
        ("zx", "(zext 32 (input stdin 0 8))"),
        ("zy", "(zext 32 (input stdin 1 8))"),
        ("zz", "(zext 32 (input stdin 2 8))"),
        ("sx", "(sext 32 (input stdin 0 8))"),
    ];
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let expand = |word: &str| {
        if let Some(number) = word.strip_prefix('#') {
            return format!("(const 32 {number})");
        }
        words.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long).to_owned()
    };
    spaced.split_whitespace().map(expand).collect::<Vec<_>>().join(" ")
}

fn shorten(text: &str) -> String {
    text.replace("(zext 32 (input stdin 0 8))", "zx")
        .replace("(zext 32 (input stdin 1 8))", "zy")
        .replace("(sext 32 (input stdin 0 8))", "sx")
        .replace("(input stdin 0 8)", "x")
        .replace("(input stdin 1 8)", "y")
        .replace("(input stdin 2 8)", "z")
        .replace("(input arg0 0 32)", "X")
        .replace("(input arg1 0 32)", "Y")
}

fn check(text: &str, expected: Expect) {
    let mut raw = Dag::new();
    let root = parse(&mut raw, &expand(text)).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut simple = Dag::new();
    let id = simplify(&raw, root, &mut simple);
    expected.assert_eq(&shorten(&print(&simple, id)));
}

#[test]
fn constants_are_folded() {
    check("(add #2 (mul #3 #4))", expect!["(const 32 14)"]);
    check("(sqrt (const 64 0x4010000000000000))", expect!["(const 64 0x4000000000000000)"]);
    check("(let (($t (bytes 0a0b0c))) (table 8 $t (const 64 1)))", expect!["(const 8 11)"]);
}

#[test]
fn sums_gather_their_constants() {
    check("(add X #0)", expect!["X"]);
    check("(sub X #1)", expect!["(add X (const 32 0xffffffff))"]);
    check("(add (add X #5) #7)", expect!["(add X (const 32 12))"]);
    check("(sub (add X #5) #5)", expect!["X"]);
    check("(add (add X #5) (add Y #7))", expect!["(add (add X Y) (const 32 12))"]);
    check("(sub (add X #5) (add Y #7))", expect!["(add (sub X Y) (const 32 0xfffffffe))"]);
    check("(add (sub #9 X) #1)", expect!["(sub (const 32 10) X)"]);
    check("(sub (add X Y) X)", expect!["Y"]);
    check("(add X (neg Y))", expect!["(sub X Y)"]);
    check("(sub X X)", expect!["(const 32 0)"]);
    check("(neg (sub X Y))", expect!["(sub Y X)"]);
}

#[test]
fn powers_of_two_are_shifts_and_masks() {
    check("(mul X #8)", expect!["(shl X (const 32 3))"]);
    check("(mul (mul X #3) #5)", expect!["(mul X (const 32 15))"]);
    check("(mul (shl X #2) #3)", expect!["(mul X (const 32 12))"]);
    check("(udiv X #16)", expect!["(zext 32 (extract 4 28 X))"]);
    check("(urem X #256)", expect!["(zext 32 (input arg0 0 8))"]);
    check("(urem X #8)", expect!["(zext 32 (extract 0 3 X))"]);
    check("(sdiv zx #4)", expect!["(zext 32 (extract 2 6 x))"]);
    check("(srem zx #10)", expect!["(zext 32 (urem x (const 8 10)))"]);
    check("(udiv X #0)", expect!["(const 32 0xffffffff)"]);
    check("(shl (shl X #3) #30)", expect!["(const 32 0)"]);
}

#[test]
fn masks_go_where_the_bits_are() {
    check("(and zx #0xff)", expect!["zx"]);
    check("(and X #0xff)", expect!["(zext 32 (input arg0 0 8))"]);
    check("(and zx #0xff00)", expect!["(const 32 0)"]);
    check("(and (and X #0xf0) #0x3c)", expect!["(and X (const 32 48))"]);
    check("(or (or X #1) #2)", expect!["(or X (const 32 3))"]);
    check("(xor (xor X #1) #3)", expect!["(xor X (const 32 2))"]);
    check("(xor (xor X Y) X)", expect!["Y"]);
    check("(xor X #0xffffffff)", expect!["(not X)"]);
    check("(xor zx #32)", expect!["(zext 32 (xor x (const 8 32)))"]);
    check("(and sx #32)", expect!["(zext 32 (and x (const 8 32)))"]);
}

#[test]
fn bytes_put_together_are_one_input() {
    check("(concat y x)", expect!["(input stdin 0 16)"]);
    check("(concat x y)", expect!["(concat x y)"]);
    check("(or (shl zy #8) zx)", expect!["(zext 32 (input stdin 0 16))"]);
    check("(add (shl zx #8) zy)", expect!["(zext 32 (concat x y))"]);
    check("(or (or (shl zz #16) (shl zy #8)) zx)", expect!["(zext 32 (input stdin 0 24))"]);
    check("(or zx #0x81e73300)", expect!["(concat (const 24 0x81e733) x)"]);
    check("(or (shl zx #8) #0x4100)", expect!["(or (shl zx (const 32 8)) (const 32 0x4100))"]);
    check("(concat (extract 8 24 X) (extract 0 8 X))", expect!["X"]);
    check("(concat (extract 5 5 (mul X Y)) (extract 0 5 (mul X Y)))", expect!["(extract 0 10 (mul X Y))"]);
    check(
        "(or (shl (mul X Y) #5) (lshr (mul X Y) #27))",
        expect!["(let (($0 (mul X Y))) (concat (extract 0 27 $0) (extract 27 5 $0)))"],
    );
    check(
        "(concat (concat (concat (extract 0 8 X) (extract 8 8 X)) (extract 16 8 X)) (extract 24 8 X))",
        expect![
            "(concat (input arg0 0 8) (concat (input arg0 1 8) (concat (input arg0 2 8) (input arg0 3 8))))"
        ],
    );
}

#[test]
fn extracts_look_inside() {
    check("(extract 8 8 X)", expect!["(input arg0 1 8)"]);
    check("(extract 4 8 X)", expect!["(extract 4 8 X)"]);
    check("(extract 0 8 zx)", expect!["x"]);
    check("(extract 8 24 zx)", expect!["(const 24 0)"]);
    check("(extract 0 16 zx)", expect!["(zext 16 x)"]);
    check("(extract 0 16 sx)", expect!["(sext 16 x)"]);
    check("(extract 16 8 sx)", expect!["(sext 8 (extract 7 1 x))"]);
    check("(extract 8 8 (shl zx #8))", expect!["x"]);
    check("(extract 4 8 (shl zx #8))", expect!["(concat (extract 0 4 x) (const 4 0))"]);
    check("(extract 8 8 (lshr X #8))", expect!["(input arg0 2 8)"]);
    check("(extract 0 8 (and X #0xfff0))", expect!["(and (input arg0 0 8) (const 8 240))"]);
    check("(extract 0 8 (add zx zy))", expect!["(add x y)"]);
    check("(extract 4 4 (extract 8 8 (mul X Y)))", expect!["(extract 12 4 (mul X Y))"]);
    check("(extract 4 8 (concat x y))", expect!["(concat (extract 0 4 x) (extract 4 4 y))"]);
}

#[test]
fn extensions_are_few() {
    check("(zext 64 zx)", expect!["(zext 64 x)"]);
    check("(sext 64 sx)", expect!["(sext 64 x)"]);
    check("(sext 64 zx)", expect!["(zext 64 x)"]);
    check("(ashr X #24)", expect!["(sext 32 (input arg0 3 8))"]);
    check("(ashr (shl zx #24) #24)", expect!["sx"]);
    check("(lshr (shl X #24) #24)", expect!["(zext 32 (input arg0 0 8))"]);
}

#[test]
fn equations_are_solved_as_far_as_they_go() {
    check("(eq (add X #5) #7)", expect!["(eq X (const 32 2))"]);
    check("(eq (sub #5 X) #7)", expect!["(eq X (const 32 0xfffffffe))"]);
    check("(eq (xor X #5) #7)", expect!["(eq X (const 32 2))"]);
    check("(eq (not X) #7)", expect!["(eq X (const 32 0xfffffff8))"]);
    check("(eq (mul X #3) #9)", expect!["(eq X (const 32 3))"]);
    check("(eq (shl X #8) #0x1200)", expect!["(eq (input arg0 0 24) (const 24 18))"]);
    check("(eq (shl X #8) #0x1201)", expect!["(const 1 0)"]);
    check("(eq (sub zx zy) #0)", expect!["(eq x y)"]);
    check("(eq (xor X Y) #0)", expect!["(eq X Y)"]);
    check("(ne (add zx #0xffffffd0) #5)", expect!["(ne x (const 8 53))"]);
    check("(eq (or (shl zx #8) zy) #0x4142)", expect!["(and (eq x (const 8 65)) (eq y (const 8 66)))"]);
    check("(ne (or (shl zx #8) zy) #0x4142)", expect!["(or (ne x (const 8 65)) (ne y (const 8 66)))"]);
    check("(eq (concat x z) (concat z y))", expect!["(and (eq x z) (eq z y))"]);
    check("(eq (or X Y) #0)", expect!["(and (eq X (const 32 0)) (eq Y (const 32 0)))"]);
    check("(eq (and X #0xf0) #0x30)", expect!["(eq (extract 4 4 X) (const 4 3))"]);
    check("(eq (and X #0xf0) #0x31)", expect!["(const 1 0)"]);
    check("(eq (add X Y) (add X zx))", expect!["(eq Y zx)"]);
}

#[test]
fn comparisons_are_made_before_extending() {
    check("(eq zx #65)", expect!["(eq x (const 8 65))"]);
    check("(eq zx #256)", expect!["(const 1 0)"]);
    check("(eq sx #0xffffffff)", expect!["(eq x (const 8 255))"]);
    check("(eq sx #200)", expect!["(const 1 0)"]);
    check("(ult zx #10)", expect!["(ult x (const 8 10))"]);
    check("(ult zx #256)", expect!["(const 1 1)"]);
    check("(ule zx #255)", expect!["(const 1 1)"]);
    check("(slt zx #10)", expect!["(ult x (const 8 10))"]);
    check("(slt zx #0xffffffff)", expect!["(const 1 0)"]);
    check("(slt #0xffffffff zx)", expect!["(const 1 1)"]);
    check("(slt sx #0xffffffff)", expect!["(slt x (const 8 255))"]);
    check("(slt sx #128)", expect!["(const 1 1)"]);
    check("(sle #0xffffff7f sx)", expect!["(const 1 1)"]);
    check("(slt zx zy)", expect!["(ult x y)"]);
    check("(ult X #1)", expect!["(eq X (const 32 0))"]);
    check("(ult #0 X)", expect!["(ne X (const 32 0))"]);
    check("(ule #1 X)", expect!["(ne X (const 32 0))"]);
    check("(sle #0x80000000 X)", expect!["(const 1 1)"]);
    check("(slt (add zx #0xffffffd0) #0)", expect!["(ult x (const 8 48))"]);
    check("(ult (add zx #0xffffffd0) #10)", expect!["(ult (add zx (const 32 0xffffffd0)) (const 32 10))"]);
    check("(ult (add zx #16) #48)", expect!["(ult x (const 8 32))"]);
}

#[test]
fn results_of_models_are_decided_by_their_conditions() {
    check("(slt (sub zx zy) #0)", expect!["(ult x y)"]);
    check("(sle #1 (sub zx zy))", expect!["(ult y x)"]);
    check("(slt #0xffffffff (sub zx zy))", expect!["(ule y x)"]);
    check("(slt (sub zx zy) #1)", expect!["(ule x y)"]);
    check("(eq (ite (eq x y) #0 #1) #0)", expect!["(eq x y)"]);
    check("(ne (ite (ult x y) #0xffffffff #1) #0)", expect!["(const 1 1)"]);
    check("(slt (ite (ult x y) #0xffffffff #1) #0)", expect!["(ult x y)"]);
    check("(eq (ite (eq x y) (ite (eq x z) #0 #5) #7) #0)", expect!["(and (eq x y) (eq x z))"]);
    check("(eq (and (ite (ult x y) #2048 #0) #2048) #0)", expect!["(ule y x)"]);
    check("(eq (zext 32 (eq x y)) #0)", expect!["(ne x y)"]);
}

#[test]
fn choices_are_logic_where_they_can_be() {
    check("(ite (const 1 1) X Y)", expect!["X"]);
    check("(ite (eq x y) X X)", expect!["X"]);
    check("(ite (not (ult x y)) X Y)", expect!["(ite (ule y x) X Y)"]);
    check("(ite (ne x y) X Y)", expect!["(ite (eq x y) Y X)"]);
    check("(ite (ult x y) #1 #0)", expect!["(zext 32 (ult x y))"]);
    check("(ite (ult x y) #0 #0xffffffff)", expect!["(sext 32 (ule y x))"]);
    check("(ite (ult x y) (eq x z) (const 1 0))", expect!["(and (ult x y) (eq x z))"]);
    check("(ite (ult x y) (const 1 1) (eq x z))", expect!["(or (ult x y) (eq x z))"]);
    check("(ite (eq X Y) X Y)", expect!["Y"]);
    check("(ite (ult x y) (ite (ult x y) X #5) Y)", expect!["(ite (ult x y) X Y)"]);
    check("(ite (ult x y) zx #32)", expect!["(zext 32 (ite (ult x y) x (const 8 32)))"]);
}

#[test]
fn logic_is_simple() {
    check("(not (not X))", expect!["X"]);
    check("(not (eq x y))", expect!["(ne x y)"]);
    check("(not (ult x y))", expect!["(ule y x)"]);
    check("(not (sle x y))", expect!["(slt y x)"]);
    check("(not (and (eq x y) (ult x z)))", expect!["(or (ne x y) (ule z x))"]);
    check("(and (eq x y) (ne x y))", expect!["(const 1 0)"]);
    check("(or (ult x y) (ule y x))", expect!["(const 1 1)"]);
    check("(and (eq x y) (or (eq x y) (eq x z)))", expect!["(eq x y)"]);
    check("(eq (ult x y) (const 1 0))", expect!["(ule y x)"]);
    check("(xor (eq x y) (const 1 1))", expect!["(ne x y)"]);
    check("(not (flt X Y))", expect!["(not (flt X Y))"]);
}

#[test]
fn floating_point_keeps_its_shape() {
    check("(fneg (fneg X))", expect!["X"]);
    check("(fadd X #0)", expect!["(fadd X (const 32 0))"]);
    check("(funordered (signedtof 32 X) (const 32 0x3f800000))", expect!["(const 1 0)"]);
    check("(funordered X (const 32 0x3f800000))", expect!["(funordered X X)"]);
}

#[test]
fn what_is_not_followed_is_never_folded_away() {
    check("(eq (opaque 32 98 zx) #6)", expect!["(eq (opaque 32 98 zx) (const 32 6))"]);
    check("(ult (opaque 32 5 zx) #6)", expect!["(ult (opaque 32 5 zx) (const 32 6))"]);
    check("(and (opaque 32 8 zx) #7)", expect!["(zext 32 (extract 0 3 (opaque 32 8 zx)))"]);
}
