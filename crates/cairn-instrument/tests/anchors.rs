//! Which expressions of small sources are found in their bitcode.

#[path = "anchors/support.rs"]
mod support;

use cairn_testkit::{Workspace, fixture};
use expect_test::{Expect, expect};
use std::{fs, path::Path};
use support::{Found, find, find_in_workspace};

fn program(text: &str) -> Found {
    let found = find(&[("target.c", &format!("{text}\nint main(void) {{ return 0; }}\n"))]);
    found.verify();
    found
}

/// All spots of `f`.
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&program(text).show("f"));
}

/// The spots of `f` with this role.
fn check_role(role: &str, text: &str, expected: Expect) {
    expected.assert_eq(&program(text).show_role("f", role));
}

#[test]
fn arithmetic_has_the_types_c_computes_in() {
    check(
        r#"long f(char c, unsigned u, long l, double d) { return (c + u) * l - (int)d % 3; }"#,
        expect![[r#"
            1:55 `(c + u) * l - (int)d % 3` Value i64 at sub of `(c + u) * l` i64 sub.0, `(int)d % 3` i64 sub.1
            1:55 `(c + u) * l - (int)d % 3` Returned i64 at return.0
            1:55 `(c + u) * l` Value i64 at mul of `c + u` i64 mul.0, `l` i64 mul.1
            1:56 `c + u` Value u32 at add of `c` u32 add.0, `u` u32 add.1
            1:56 `c` Value i8 at load
            1:60 `u` Value u32 at load
            1:65 `l` Value i64 at load
            1:69 `(int)d % 3` Value i32 at srem of `(int)d` i32 srem.0, `3`=3 i32 srem.1
            1:69 `(int)d` Value i32 at sconvert of `d` f64 sconvert.0
            1:74 `d` Value f64 at load
            1:78 `3` Constant 3 i32 at srem.1
        "#]],
    );
}

#[test]
fn operators_of_numbers_are_values() {
    check_role(
        "Value",
        r#"unsigned f(unsigned a, unsigned b, int c, float x) {
  a = a / b % 7 & b | a ^ ~b;
  c = c / 3 >> 2;
  x = -x * 2 + c;
  return x;
}"#,
        expect![[r#"
            2:7 `a / b % 7 & b | a ^ ~b` Value u32 at or of `a / b % 7 & b` u32 or.0, `a ^ ~b` u32 or.1
            2:7 `a / b % 7 & b` Value u32 at and of `a / b % 7` u32 and.0, `b` u32 and.1
            2:7 `a / b % 7` Value u32 at urem of `a / b` u32 urem.0, `7`=7 u32 urem.1
            2:7 `a / b` Value u32 at udiv of `a` u32 udiv.0, `b` u32 udiv.1
            2:7 `a` Value u32 at load
            2:11 `b` Value u32 at load
            2:19 `b` Value u32 at load
            2:23 `a ^ ~b` Value u32 at xor of `a` u32 xor.0, `~b` u32 xor.1
            2:23 `a` Value u32 at load
            2:27 `~b` Value u32 at xor of `b` u32 xor.0
            2:28 `b` Value u32 at load
            3:7 `c / 3 >> 2` Value i32 at ashr of `c / 3` i32 ashr.0, `2`=2 i32 ashr.1
            3:7 `c / 3` Value i32 at sdiv of `c` i32 sdiv.0, `3`=3 i32 sdiv.1
            3:7 `c` Value i32 at load
            4:7 `-x * 2 + c` Value f32 at fadd of `-x * 2` f32 fadd.0, `c` f32 fadd.1
            4:7 `-x * 2` Value f32 at fmul of `-x` f32 fmul.0, `2` f32 fmul.1
            4:7 `-x` Value f32 at fneg of `x` f32 fneg.0
            4:8 `x` Value f32 at load
            4:16 `c` Value i32 at load
            5:10 `x` Value f32 at load
        "#]],
    );
}

#[test]
fn shifts_keep_the_type_of_each_side() {
    check_role(
        "Value",
        r#"long f(long l, int n, char c) {
  l = l << n;
  l = l >> 3;
  l <<= c;
  return c << l;
}"#,
        expect![[r#"
            2:7 `l << n` Value i64 at shl of `l` i64 shl.0, `n` i32 convert.0
            2:7 `l` Value i64 at load
            2:12 `n` Value i32 at load
            3:7 `l >> 3` Value i64 at ashr of `l` i64 ashr.0, `3`=3 i64 ashr.1
            3:7 `l` Value i64 at load
            4:3 `l <<= c` Value i64 at shl of `l` i64 shl.0, `c` i32 convert.0
            4:9 `c` Value i8 at load
            5:10 `c << l` Value i32 at shl of `c` i32 shl.0, `l` i64 convert.0
            5:10 `c` Value i8 at load
            5:15 `l` Value i64 at load
        "#]],
    );
}

#[test]
fn comparisons_are_truth_or_number() {
    check_role(
        "Value",
        r#"int f(int a, unsigned b, double d) {
  int n = a < 3;
  if (a >= b) n = (d == 1) + (a != n);
  return a > n;
}"#,
        expect![[r#"
            2:11 `a < 3` Value i32 at convert of `a` i32 slt.0, `3`=3 i32 slt.1
            2:11 `a` Value i32 at load
            3:7 `a >= b` Value bool at uge of `a` u32 uge.0, `b` u32 uge.1
            3:7 `a` Value i32 at load
            3:12 `b` Value u32 at load
            3:19 `(d == 1) + (a != n)` Value i32 at add of `d == 1` i32 add.0, `a != n` i32 add.1
            3:20 `d == 1` Value i32 at convert of `d` f64 oeq.0, `1` f64 oeq.1
            3:20 `d` Value f64 at load
            3:31 `a != n` Value i32 at convert of `a` i32 ne.0, `n` i32 ne.1
            3:31 `a` Value i32 at load
            3:36 `n` Value i32 at load
            4:10 `a > n` Value i32 at convert of `a` i32 sgt.0, `n` i32 sgt.1
            4:10 `a` Value i32 at load
            4:14 `n` Value i32 at load
        "#]],
    );
}

#[test]
fn not_is_a_value_only_where_it_is_computed() {
    check_role(
        "Value",
        r#"int f(int a, char *p) {
  if (!a) a = !p;
  while (!a) a++;
  return !(a < 3);
}"#,
        expect![[r#"
            2:8 `a` Value i32 at load
            2:15 `!p` Value i32 at convert of `p` ptr ne.0
            2:16 `p` Value ptr at load
            3:10 `!a` Value bool at xor of `a` i32 ne.0
            3:11 `a` Value i32 at load
            3:14 `a++` Value i32 at add of `a` i32 add.0
            4:10 `!(a < 3)` Value i32 at convert of `a < 3` bool xor.0
            4:12 `a < 3` Value bool at slt of `a` i32 slt.0, `3`=3 i32 slt.1
            4:12 `a` Value i32 at load
        "#]],
    );
}

#[test]
fn changes_in_place_have_an_old_value() {
    check_role(
        "Value",
        r#"struct s { short h; };
int g(void) { return 1; }
void f(int *a, int i, char c, struct s *s, int *p, _Bool b, double d) {
  a[i] += g();
  c -= i;
  s->h++;
  --*a;
  p += i;
  p--;
  b |= i;
  d++;
}"#,
        expect![[r#"
            4:3 `a[i] += g()` Value i32 at add of `a[i]` i32 add.0, `g()` i32 add.1 impure
            4:3 `a` Value ptr at load
            4:5 `i` Value i32 at load
            5:3 `c -= i` Value i32 at sub of `c` i32 sub.0, `i` i32 sub.1
            5:8 `i` Value i32 at load
            6:3 `s->h++` Value i16 at add of `s->h` i16 add.0
            6:3 `s` Value ptr at load
            7:3 `--*a` Value i32 at add of `*a` i32 add.0
            7:6 `a` Value ptr at load
            8:3 `p += i` Value ptr at gep of `p` ptr gep.0, `i` i64 gep.1
            8:8 `i` Value i32 at load
            9:3 `p--` Value ptr at gep@-4 of `p` ptr gep@-4.0
            10:3 `b |= i` Value i32 at or of `b` i32 or.0, `i` i32 or.1
            10:8 `i` Value i32 at load
            11:3 `d++` Value f64 at fadd of `d` f64 fadd.0
        "#]],
    );
}

#[test]
fn pointers_move_and_compare() {
    check_role(
        "Value",
        r#"long f(int *p, int *q, int i) {
  p = p + i;
  p = i + q;
  p = q - i;
  p = q - 1;
  if (p < q && q != 0) return p - q;
  return i[p] + *q;
}"#,
        expect![[r#"
            2:7 `p + i` Value ptr at gep of `p` ptr gep.0, `i` i64 gep.1
            2:7 `p` Value ptr at load
            2:11 `i` Value i32 at load
            3:7 `i + q` Value ptr at gep of `i` i64 gep.1, `q` ptr gep.0
            3:7 `i` Value i32 at load
            3:11 `q` Value ptr at load
            4:7 `q - i` Value ptr at gep of `q` ptr gep.0, `i` i64 sub.1
            4:7 `q` Value ptr at load
            4:11 `i` Value i32 at load
            5:7 `q - 1` Value ptr at gep@-4 of `q` ptr gep@-4.0, `1`=1 i64 -gep@-4.1
            5:7 `q` Value ptr at load
            6:7 `p < q` Value bool at ult of `p` ptr ult.0, `q` ptr ult.1
            6:7 `p` Value ptr at load
            6:11 `q` Value ptr at load
            6:16 `q != 0` Value bool at ne of `q` ptr ne.0, `0` ptr ne.1
            6:16 `q` Value ptr at load
            6:31 `p - q` Value i64 at sdiv of `p` ptr convert.0, `q` ptr convert.0
            6:31 `p` Value ptr at load
            6:35 `q` Value ptr at load
            7:10 `i[p] + *q` Value i32 at add of `i[p]` i32 add.0, `*q` i32 add.1
            7:10 `i` Value i32 at load
            7:12 `p` Value ptr at load
            7:17 `*q` Value i32 at load
            7:18 `q` Value ptr at load
        "#]],
    );
}

#[test]
fn casts_that_compute_are_values() {
    check_role(
        "Value",
        r#"long f(int i, double d, void *p) {
  char c = (char)i;
  unsigned u = (unsigned)i;
  return (long)c + (int)d + (long)p + u;
}"#,
        expect![[r#"
            2:12 `(char)i` Value i8 at convert of `i` i32 convert.0
            2:18 `i` Value i32 at load
            3:26 `i` Value i32 at load
            4:10 `(long)c + (int)d + (long)p + u` Value i64 at add of `(long)c + (int)d + (long)p` i64 add.0, `u` i64 add.1
            4:10 `(long)c + (int)d + (long)p` Value i64 at add of `(long)c + (int)d` i64 add.0, `(long)p` i64 add.1
            4:10 `(long)c + (int)d` Value i64 at add of `(long)c` i64 add.0, `(int)d` i64 add.1
            4:10 `(long)c` Value i64 at sconvert of `c` i8 sconvert.0
            4:16 `c` Value i8 at load
            4:20 `(int)d` Value i32 at sconvert of `d` f64 sconvert.0
            4:25 `d` Value f64 at load
            4:29 `(long)p` Value i64 at convert of `p` ptr convert.0
            4:35 `p` Value ptr at load
            4:39 `u` Value u32 at load
        "#]],
    );
}

#[test]
fn members_know_their_siblings() {
    check_role(
        "Member",
        r#"struct in { int x, y; };
struct s { int a; char c; int b; struct in n; int list[3]; int other[3]; unsigned bits : 3, more : 3; union { int u; int v; } w; };
struct s g;
int f(struct s *p) {
  struct s l;
  p->a = g.b;
  g.b = 3;
  l.n.x = p->n.y;
  p->list[1] = p->bits;
  return l.a + p->w.u + p->c;
}"#,
        expect![[r#"
            6:3 `p->a` Member @0 or [b@8] ptr at gep@0
            6:10 `g.b` Member @8 or [a@0] ptr at load.0
            7:3 `g.b` Member @8 or [a@0] ptr at store.1
            8:3 `l.n.x` Member @0 or [y@4] ptr at gep@0
            8:3 `l.n` Member @12 or [] ptr at gep@12
            8:11 `p->n.y` Member @4 or [x@0] ptr at gep@4
            8:11 `p->n` Member @12 or [] ptr at gep@12
            9:3 `p->list` Member @20 or [other@32] ptr at gep@20
            10:10 `l.a` Member @0 or [b@8] ptr at gep@0
            10:16 `p->w` Member @48 or [] ptr at gep@48
            10:25 `p->c` Member @4 or [] ptr at gep@4
        "#]],
    );
}

#[test]
fn constants_are_operands() {
    check_role(
        "Constant",
        r#"enum e { RED = 3, GREEN };
#define LIMIT 10
#define NONE (-1)
int g(int i, long l, double d) { return i + l + d; }
int array[4];
int f(int a, unsigned char c, unsigned long u) {
  int local[4];
  long l = 5;
  float x = 1.5f;
  a = LIMIT * 2;
  if (a == NONE || c == 'x' || u > 0xffffffffffffffff - 1) return RED;
  a += g(GREEN, 7, 2);
  local[2] = sizeof(a);
  array[3] = 0;
  a = c ? 1 : 2;
  x = x * 2 + .25;
  a = (c && l) - 4;
  return -1;
}"#,
        expect![[r#"
            8:12 `5` Constant 5 i64 at store.0
            9:13 `1.5f` Constant 1.5 f32 at store.0
            10:7 `LIMIT * 2` Constant 20 i32 at store.0
            11:12 `NONE` Constant -1 i32 at eq.1
            11:25 `'x'` Constant 120 i32 at eq.1
            11:36 `0xffffffffffffffff - 1` Constant -2 u64 at ugt.1
            11:67 `RED` Constant 3 i32 at store.0
            12:10 `GREEN` Constant 4 i32 at call.0
            12:17 `7` Constant 7 i64 at call.1
            12:20 `2` Constant 2.0 f64 at call.2
            13:9 `2` Constant 2 i64 at gep@8.2
            13:14 `sizeof(a)` Constant 4 i32 at store.0
            14:14 `0` Constant 0 i32 at store.0
            15:11 `1` Constant 1 i32 at select.1
            15:15 `2` Constant 2 i32 at select.2
            16:11 `2` Constant 2.0 f32 at fmul.1
            16:15 `.25` Constant 0.25 f64 at fadd.1
            17:18 `4` Constant 4 i32 at sub.1
            18:10 `-1` Constant -1 i32 at store.0
        "#]],
    );
}

#[test]
fn assignments_write_somewhere() {
    check_role(
        "Assigned",
        r#"int g;
void f(int a, int *p, _Bool b) { static int s; a = 1; g = a; *p = a; s = 2; p = &a; b = a; a += 1; }"#,
        expect![[r#"
            2:48 `a` Assigned ptr at store.1
            2:55 `g` Assigned ptr at store.1
            2:70 `s` Assigned ptr at store.1
            2:77 `p` Assigned ptr at store.1
            2:85 `b` Assigned ptr at store.1
        "#]],
    );
}

#[test]
fn assignments_store_a_value() {
    check_role(
        "Stored",
        r#"struct s { int bits : 3; int m; };
struct s t;
void f(char c, long l, _Bool b, int *p, struct s s, const char *text, double d) {
  c = l;
  l = c = 3;
  b = l;
  b = c < 3;
  b = b;
  p[c] = l < 3;
  s.bits = 1;
  s = t;
  text = "x";
  p = 0;
  d = c;
  t.m = d;
}"#,
        expect![[r#"
            4:3 `c = l` Stored i8 at store.0 of `c` i8 *store, `l` i64 convert.0
            6:3 `b = l` Stored u8 at store.0 of `b` bool *store, `l` i64 ne.0
            7:3 `b = c < 3` Stored u8 at store.0 of `b` bool *store, `c < 3` bool convert.0
            8:3 `b = b` Stored u8 at store.0 of `b` bool *store, `b` bool convert.0
            9:3 `p[c] = l < 3` Stored i32 at store.0 of `p[c]` i32 *store, `l < 3` i32 store.0
            12:3 `text = "x"` Stored ptr at store.0 of `text` ptr *store, `"x"` ptr store.0
            13:3 `p = 0` Stored ptr at store.0 of `p` ptr *store, `0` ptr store.0
            14:3 `d = c` Stored f64 at store.0 of `d` f64 *store, `c` i8 sconvert.0
            15:3 `t.m = d` Stored i32 at store.0 of `t.m` i32 *store, `d` f64 sconvert.0
        "#]],
    );
}

#[test]
fn arrays_have_a_base() {
    check_role(
        "ArrayBase",
        r#"int array[4], other[4];
int f(int i, int *p) { int local[4][2]; array[i] = p[i]; local[i][1] = other[2]; return local[i][i] + array[i]; }"#,
        expect![[r#"
            2:41 `array` ArrayBase ptr at gep.0
            2:58 `local` ArrayBase ptr at gep.0
            2:89 `local` ArrayBase ptr at gep.0
            2:103 `array` ArrayBase ptr at gep.0
        "#]],
    );
}

#[test]
fn returned_values_have_the_type_of_the_function() {
    check_role(
        "Returned",
        r#"char f(int a) { if (a) return a + 1; if (a > 3) return 'x'; return a; }"#,
        expect![[r#"
            1:31 `a + 1` Returned i8 at store.0
            1:56 `'x'` Returned i8 at store.0
            1:68 `a` Returned i8 at store.0
        "#]],
    );
}

#[test]
fn logical_operators_branch_or_meet_in_a_phi() {
    check_role(
        "Logical",
        r#"int f(int a, int b, char *p) {
  if (a && b) a++;
  if ((a || b) && !(p && *p)) a--;
  while (a < b || !p) a = a && (b || p);
  return a || b;
}"#,
        expect![[r#"
            2:7 `a && b` Logical bool at and: left true [0.0] false [0.1], right 1: true [1.0] to 2, false [1.1] to 3 of `a` i32 ne.0, `b` i32 ne.0
            3:7 `(a || b) && !(p && *p)` Logical bool at and: left true [3.0 4.0] false [4.1], right 5: true [5.1 6.1] to 7, false [6.0] to 8
            3:8 `a || b` Logical bool at or: left true [3.0] false [3.1], right 4: true [4.0] to 5, false [4.1] to 8 of `a` i32 ne.0, `b` i32 ne.0
            3:21 `p && *p` Logical bool at and: left true [5.0] false [5.1], right 6: true [6.0] to 8, false [6.1] to 7
            4:10 `a < b || !p` Logical bool at or: left true [9.0] false [9.1], right 10: phi from 10 of `a < b` bool slt, `!p` bool xor
            4:27 `a && (b || p)` Logical i32 at and: left true [12.0] false [12.1], right 13: phi from 15 as number
            4:33 `b || p` Logical bool at or: left true [13.0] false [13.1], right 14: phi from 14
            5:10 `a || b` Logical i32 at or: left true [17.0] false [17.1], right 18: phi from 18 as number of `a` i32 ne.0, `b` i32 ne.0
        "#]],
    );
}

#[test]
fn whole_decisions_are_tested_once() {
    check_role(
        "Decision",
        r#"int f(int a, int b) {
  if (a) b++;
  if (!a) b++;
  if (a && b) b++;
  while (a < b) a++;
  for (; a && b; ) a--;
  do a++; while (!(a && b));
  b = a ? 1 : 2;
  return a > 3 ? a : b;
}"#,
        expect![[r#"
            2:7 `a` Decision bool at branch.0
            3:8 `a` Decision bool at branch.0
            5:10 `a < b` Decision bool at branch.0
            6:10 `a && b` Decision bool at branch.0
            7:18 `!(a && b)` Decision bool at branch.0
            8:7 `a` Decision bool at select.0
            9:10 `a > 3` Decision bool at branch.0
        "#]],
    );
}

#[test]
fn expressions_of_a_macro_are_told_apart_by_order() {
    check(
        r#"#define MAX(a, b) ((a) > (b) ? (a) : (b))
int f(int x, int y) { return MAX(x, y + 1); }"#,
        expect![[r#"
            2:30 `MAX(x, y + 1)` Returned i32 at return.0
            2:30 `MAX(x, y + 1)` Value bool at sgt of `MAX(x, y + 1)` i32 sgt.0, `MAX(x, y + 1)` i32 sgt.1
            2:30 `MAX(x, y + 1)` Decision bool at branch.0
            2:30 `MAX(x, y + 1)` Value i32 at load
            2:30 `MAX(x, y + 1)` Value i32 at add of `MAX(x, y + 1)` i32 add.0, `MAX(x, y + 1)`=1 i32 add.1
            2:30 `MAX(x, y + 1)` Value i32 at load
            2:30 `MAX(x, y + 1)` Constant 1 i32 at add.1
            2:30 `MAX(x, y + 1)` Value i32 at load
            2:30 `MAX(x, y + 1)` Value i32 at add of `MAX(x, y + 1)` i32 add.0, `MAX(x, y + 1)`=1 i32 add.1
            2:30 `MAX(x, y + 1)` Value i32 at load
            2:30 `MAX(x, y + 1)` Constant 1 i32 at add.1
        "#]],
    );
}

#[test]
fn truth_values_are_bits() {
    check(
        r#"_Bool g;
_Bool f(_Bool a, int i) { g = a; if (a && g) return i; return 1; }"#,
        expect![[r#"
            2:27 `g = a` Stored u8 at store.0 of `g` bool *store, `a` bool convert.0
            2:27 `g` Assigned ptr at store.1
            2:31 `a` Value bool at convert
            2:38 `a && g` Logical bool at and: left true [0.0] false [0.1], right 1: true [1.0] to 2, false [1.1] to 3 of `a` bool convert, `g` bool convert
            2:38 `a` Value bool at convert
            2:43 `g` Value bool at convert
            2:53 `i` Value i32 at load
            2:53 `i` Returned bool at store.0
            2:63 `1` Constant 1 bool at store.0
            2:63 `1` Returned bool at store.0
        "#]],
    );
}

#[test]
fn what_cannot_be_computed_with_is_left_out() {
    check(
        r#"struct s { int bits : 3; };
long double f(volatile int v, long double l, _Complex double z, struct s *s) { v = v + 1; z = z + 1; s->bits += 2; return l * 2; }"#,
        expect![[r#"
            2:84 `v + 1` Value i32 at add of `v` i32 add.0 impure, `1`=1 i32 add.1
            2:88 `1` Constant 1 i32 at add.1
            2:102 `s` Value ptr at load
        "#]],
    );
}

#[test]
fn what_cannot_be_told_apart_is_counted() {
    // The compiler drops the first test, so there is one load too few.
    let found = program(
        r#"
#define PICK(c, a) ((c) ? (a) : (a) + 1)
int f(int x) { return PICK(1, x) + PICK(x, x); }"#,
    );
    expect![[r#"
        3:36 `PICK(x, x)` Value i32 at load
        3:36 `PICK(x, x)` Value i32 at load
        3:36 `PICK(x, x)` Value i32 at add of `PICK(x, x)` i32 add.0, `PICK(x, x)`=1 i32 add.1
        3:36 `PICK(x, x)` Value i32 at load
        2 ambiguous
    "#]]
    .assert_eq(&format!("{}{} ambiguous\n", found.show_role("f", "Value"), found.anchors.n_ambiguous));
}

#[test]
fn comments_ask_to_skip() {
    let found = program(
        r#"
int f(int a) {
  a = a + 1; // cairn: skip
  /* cairn: skip: only a message */
  a = a + 2;
  return a + 3;
}
// cairn: skip
int g(int a) { return a + 4; }"#,
    );
    expect![[r#"
        6:14 `3` Constant 3 i32 at add.1
    "#]]
    .assert_eq(&found.show_role("f", "Constant"));
    expect![[r#"
        g is skipped, as its comments ask
    "#]]
    .assert_eq(&found.show_unmutated());
}

#[test]
fn code_of_system_macros_is_left_out() {
    check(
        r#"
#include <stdio.h>
#include <sys/param.h>
#define OWN(a) ((a) + 1)
int f(int x, int y) { return MIN(x, y) == EOF ? OWN(x) : 0; }"#,
        expect![[r#"
            5:30 `MIN(x, y) == EOF ? OWN(x) : 0` Returned i32 at return.0
            5:30 `MIN(x, y) == EOF` Value bool at eq of `MIN(x, y)` i32 eq.0, `EOF`=-1 i32 eq.1
            5:30 `MIN(x, y) == EOF` Decision bool at branch.0
            5:30 `MIN(x, y)` Value i32 at load
            5:30 `MIN(x, y)` Value i32 at load
            5:30 `MIN(x, y)` Value i32 at load
            5:30 `MIN(x, y)` Value i32 at load
            5:43 `EOF` Constant -1 i32 at eq.1
            5:49 `OWN(x)` Value i32 at add of `OWN(x)` i32 add.0, `OWN(x)`=1 i32 add.1
            5:49 `OWN(x)` Value i32 at load
            5:49 `OWN(x)` Constant 1 i32 at add.1
            5:58 `0` Constant 0 i32 at phi.1
        "#]],
    );
}

#[test]
fn functions_that_cannot_be_mutated_are_named() {
    let found = program(
        r#"
int f(int x) { static void *to[] = { &&a, &&b }; goto *to[x]; a: return 1; b: return 2; }
__attribute__((naked)) void g(void) { __asm__("ret"); }
void h(void) {}"#,
    );
    expect![[r#"
        f uses computed goto
        g is `naked`
        h has nothing that the chosen operators change
    "#]]
    .assert_eq(&found.show_unmutated());
}

#[test]
fn variables_are_visible_where_they_are_declared() {
    let found = program(
        r#"
extern int optind;
static int hidden;
int table[3];
struct s { int m; } record;
void f(int a, int list[2], volatile int v) {
  int hidden = 1;
  { long a = 2; static char c; a = a + 10; }
  int late = a + 20;
  late = a + 30;
}
int after;"#,
    );
    expect![[r#"
        a + 10: list, hidden, a, table[] @table
        a + 20: a, list, hidden, table[] @table
        a + 30: a, list, hidden, late, table[] @table
    "#]]
    .assert_eq(
        &["a + 10", "a + 20", "a + 30"].map(|text| format!("{text}: {}\n", found.visible(text))).concat(),
    );
}

#[test]
fn a_function_compiled_with_other_constants_has_a_body_for_each() {
    let header = "static inline int over(int n) { return n > LIMIT; }\n";
    let found = find(&[
        ("over.h", header),
        ("one.c", "#define LIMIT 10\n#include \"over.h\"\nint one(void) { return over(1); }\n"),
        ("two.c", "#define LIMIT 10\n#include \"over.h\"\nint two(void) { return over(2); }\n"),
        (
            "main.c",
            "#define LIMIT 20\n#include \"over.h\"\nint one(void), two(void);\n\
             int main(void) { return over(3) + one() + two(); }\n",
        ),
    ]);
    found.verify();
    assert_eq!(found.show_unmutated(), "");
    let (constants, copies) = (found.show_role("over", "Constant"), found.show_copies("over"));
    assert_eq!(constants.lines().count(), 2, "{constants}");
    assert!(constants.contains("`LIMIT` Constant 10 ") && constants.contains("`LIMIT` Constant 20 "));
    assert!(copies.contains("1 copies\n") && copies.contains("2 copies\n"), "{copies}");
}

#[test]
fn copies_of_a_function_are_one() {
    let header =
        "static int counter;\nstatic inline int next(int by) { counter = counter + by; return counter; }\n";
    let found = find(&[
        ("next.h", header),
        ("one.c", "#include \"next.h\"\nint one(void) { return next(1); }\n"),
        ("main.c", "#include \"next.h\"\nint one(void);\nint main(void) { return next(2) + one(); }\n"),
    ]);
    found.verify();
    expect![[r#"
        2:34 `counter = counter + by` Stored i32 at store.0 of `counter` i32 *store, `counter + by` i32 store.0
        2:34 `counter` Assigned ptr at store.1
        2:44 `counter + by` Value i32 at add of `counter` i32 add.0, `by` i32 add.1
        2:44 `counter` Value i32 at load
        2:54 `by` Value i32 at load
        2:65 `counter` Value i32 at load
        2:65 `counter` Returned i32 at return.0
        2 copies
    "#]].assert_eq(&format!("{}{}", found.show("next"), found.show_copies("next")));
}

#[test]
fn variables_of_other_units_are_found() {
    let found = find(&[
        ("limit.h", "extern int limit;\n"),
        (
            "limit.c",
            "#include \"limit.h\"\nstatic int own = 1;\nint limit = 1;\nint get(void) { return own; }\n",
        ),
        (
            "main.c",
            "#include \"limit.h\"\nint get(void);\nstatic int own;\nint main(void) { return limit < own + get(); }\n",
        ),
    ]);
    found.verify();
    expect![[r#"
        4:25 `limit < own + get()` Value i32 at convert of `limit` i32 slt.0, `own + get()` i32 slt.1 impure
        4:25 `limit` Value i32 at load
        4:33 `own + get()` Value i32 at add of `own` i32 add.0, `get()` i32 add.1 impure
        4:33 `own` Value i32 at load
        limit @limit, own @own.1
    "#]]
    .assert_eq(&format!("{}{}\n", found.show_role("main", "Value"), found.visible("limit")));
}

#[test]
fn methods_and_references_are_found_where_they_are_plain() {
    let found = find(&[(
        "target.cpp",
        r#"
struct Box {
  int size;
  bool fits(int other) const { return other < size; }
  void grow(int &by) { size += by; by = size + 1; }
};
int main(int argc, char **) { Box box{argc}; int by = argc * 2; box.grow(by); return box.fits(by) && by > 3; }
"#,
    )]);
    found.verify();
    expect![[r#"
        4:39 `other < size` Value bool at slt of `other` i32 slt.0, `size` i32 slt.1
        4:39 `other < size` Returned bool at return.0
        4:39 `other` Value i32 at load
        4:47 `size` Value i32 at load
        4:47 `size` Member @0 or [] ptr at gep@0
        5:24 `size += by` Value i32 at add of `size` i32 add.0, `by` i32 add.1
        5:24 `size` Member @0 or [] ptr at gep@0
        5:32 `by` Value i32 at load
        5:36 `by = size + 1` Stored i32 at store.0 of `by` i32 *store, `size + 1` i32 store.0
        5:41 `size + 1` Value i32 at add of `size` i32 add.0, `1`=1 i32 add.1
        5:41 `size` Value i32 at load
        5:41 `size` Member @0 or [] ptr at gep@0
        5:48 `1` Constant 1 i32 at add.1
        7:39 `argc` Value i32 at load
        7:55 `argc * 2` Value i32 at mul of `argc` i32 mul.0, `2`=2 i32 mul.1
        7:55 `argc` Value i32 at load
        7:62 `2` Constant 2 i32 at mul.1
        7:86 `box.fits(by) && by > 3` Logical bool at and: left true [0.0] false [0.1], right 1: phi from 1 as number of `box.fits(by)` bool call impure, `by > 3` bool sgt
        7:86 `box.fits(by) && by > 3` Returned i32 at return.0
        7:95 `by` Value i32 at load
        7:102 `by > 3` Value bool at sgt of `by` i32 sgt.0, `3`=3 i32 sgt.1
        7:102 `by` Value i32 at load
        7:107 `3` Constant 3 i32 at sgt.1
    "#]].assert_eq(&["fits", "grow", "main"].map(|name| found.show(name)).concat());
}

#[test]
fn anchors_of_all_fixtures_are_what_they_say() {
    let mut n_spots = 0;
    for name in names_in(&fixture("condition_if").join("..")) {
        let is_wanted = name.starts_with("condition_") || name.starts_with("mutant_");
        let sources: Vec<String> =
            names_in(&fixture(&name)).into_iter().filter(|source| source.ends_with(".c")).collect();
        // Harnesses get their `main` only in views.
        let has_main = |source: &String| {
            let text = fs::read_to_string(fixture(&name).join(source)).expect("a fixture is readable");
            text.contains("int main(")
        };
        if !is_wanted || !sources.iter().any(has_main) {
            continue;
        }
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let found = find_in_workspace(&Workspace::of_fixture(&name), &sources);
        found.verify();
        n_spots += found.anchors.functions.iter().map(|function| function.anchors.len()).sum::<usize>();
    }
    assert!(n_spots > 1000, "only {n_spots} spots");
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the fixtures are readable");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("entry of a readable folder").file_name().to_string_lossy().into_owned()
    };
    entries.map(name).collect()
}

#[test]
fn assignments_that_are_used_change_with_their_uses() {
    check_role(
        "Stored",
        r#"int get(int n) { return n; } char f(int a, int b, char c) {
  if ((a = get(b)) == 0)
    return c = a + b;
  while ((b = a - 1))
    a = b = c = get(a);
  a = b = 3;
  return b;
}"#,
        expect![[r#"
            2:8 `a = get(b)` Stored i32 at store.0 and its uses of `a` i32 *store, `get(b)` i32 store.0 impure
            4:11 `b = a - 1` Stored i32 at store.0 and its uses of `b` i32 *store, `a - 1` i32 store.0
            5:5 `a = b = c = get(a)` Stored i32 at store.0 of `a` i32 *store, `b = c = get(a)` i32 store.0 impure
            5:9 `b = c = get(a)` Stored i32 at store.0 and its uses of `b` i32 *store, `c = get(a)` i8 sconvert.0 impure
            5:13 `c = get(a)` Stored i8 at store.0 and its uses of `c` i8 *store, `get(a)` i32 convert.0 impure
            6:3 `a = b = 3` Stored i32 at store.0 of `a` i32 *store, `b = 3` i32 store.0 impure
        "#]],
    );
}

#[test]
fn a_constant_that_is_assigned_twice_is_one() {
    check_role(
        "Constant",
        r#"#include <stdbool.h>
int f(int a, int b, char c, bool d) {
  a = b = 3;
  a = c = 300;
  if ((a = 5) > b)
    d = true;
  bool e = false;
  return a ? 7 : b + d + e;
}"#,
        expect![[r#"
            3:11 `3` Constant 3 i32 at store.0 and store.0
            6:9 `true` Constant 1 bool at store.0
            7:12 `false` Constant 0 bool at store.0
            8:14 `7` Constant 7 i32 at phi.0
        "#]],
    );
}

#[test]
fn bit_fields_are_read_out_of_what_is_around_them() {
    check_role(
        "Value",
        r#"struct s { unsigned a : 3; int b : 5; unsigned c : 7; _Bool d : 1; int e; } g;
int f(struct s *p) {
  return p->a + p->b * g.c + (p->d ? g.b : p->e);
}"#,
        expect![[r#"
            3:10 `p->a + p->b * g.c + (p->d ? g.b : p->e)` Value i32 at add of `p->a + p->b * g.c` i32 add.0, `p->d ? g.b : p->e` i32 add.1
            3:10 `p->a + p->b * g.c` Value i32 at add of `p->a` i32 add.0, `p->b * g.c` i32 add.1
            3:10 `p->a` Value i32 at convert
            3:10 `p` Value ptr at load
            3:17 `p->b * g.c` Value i32 at mul of `p->b` i32 mul.0, `g.c` i32 mul.1
            3:17 `p->b` Value i32 at sconvert
            3:17 `p` Value ptr at load
            3:24 `g.c` Value i32 at convert
            3:31 `p->d` Value bool at convert
            3:31 `p` Value ptr at load
            3:38 `g.b` Value i32 at sconvert
            3:44 `p->e` Value i32 at load
            3:44 `p` Value ptr at load
        "#]],
    );
}

#[test]
fn the_first_member_of_an_array_is_no_start_of_an_array() {
    check_role(
        "Value",
        r#"struct st { long dev; int mode; }; struct entry { int level; struct st stat[1]; };
long f(struct entry *p) {
  return p->stat->dev + p->stat[0].mode;
}"#,
        expect![[r#"
            3:10 `p->stat->dev + p->stat[0].mode` Value i64 at add of `p->stat->dev` i64 add.0, `p->stat[0].mode` i64 add.1
            3:10 `p->stat->dev` Value i64 at load
            3:10 `p` Value ptr at load
            3:25 `p->stat[0].mode` Value i32 at load
            3:25 `p` Value ptr at load
        "#]],
    );
}

#[test]
fn what_a_pointer_is_moved_back_by_is_negated_in_the_code() {
    check_role(
        "Constant",
        r#"int f(int *p) {
  p -= 2;
  return *(p - 1);
}"#,
        expect![[r#"
            2:8 `2` Constant 2 i64 at -gep@-8.1
            3:16 `1` Constant 1 i64 at -gep@-4.1
        "#]],
    );
}
