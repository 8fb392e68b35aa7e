//! Facts of small sources, as text.

mod support;

use expect_test::{Expect, expect};
use support::{
    conditions, constants, emission_order, expressions, extract, extract_in, records, traits, variables,
};

fn check_c(text: &str, expected: Expect) {
    expected.assert_eq(&conditions(&extract("unit.c", text, &["-std=gnu17"])));
}

fn check_cpp(text: &str, expected: Expect) {
    expected.assert_eq(&conditions(&extract("unit.cpp", text, &["-std=c++20"])));
}

fn check_expressions(name: &str, text: &str, expected: Expect) {
    let unit = extract(name, text, &[]);
    expected.assert_eq(&expressions(unit.functions.last().unwrap()));
}

#[test]
fn an_if_jumps_and_drops_negation() {
    check_c(
        "void f(int a, int b) { if (!(a && !b) || (b)) a = 1; }",
        expect![[r#"
        f 1:6
          1:30-1:31 `a`, If 1:28-1:45, Branch at 1:30
          1:35-1:37 `!b`, If 1:28-1:45, Branch at 1:36, negated, inverted
          1:42-1:45 `b`, If 1:28-1:45, Branch at 1:42
    "#]],
    );
}

#[test]
fn loops_compute_their_condition_and_test_it_whole() {
    check_c(
        "void f(int a, int b) {\n  while (a && b) a--;\n  for (; !a;) a++;\n  do a--; while (a > 0 || b);\n}",
        expect![[r#"
            f 1:6
              2:10-2:11 `a`, While 2:10-2:16, Branch at 2:10, tested whole
              2:15-2:16 `b`, While 2:10-2:16, Phi at 2:12, value, tested whole
              3:10-3:12 `!a`, For 3:10-3:12, Branch at 3:10, negated
              4:18-4:23 `a > 0`, Do 4:18-4:28, Branch at 4:20, tested whole
              4:27-4:28 `b`, Do 4:18-4:28, Phi at 4:24, value, tested whole
        "#]],
    );
}

#[test]
fn values_end_in_a_phi() {
    check_c(
        "int g(int); int f(int a, int b, int c) { return g(a && (b || !c)) + (1 && a); }",
        expect![[r#"
        f 1:17
          1:51-1:52 `a`, Value 1:51-1:65, Branch at 1:51
          1:57-1:58 `b`, Value 1:51-1:65, Branch at 1:57
          1:62-1:64 `!c`, Value 1:51-1:65, Phi at 1:62, negated, value
          1:70-1:71 `1`, Value 1:70-1:76, Absent at 1:70, always true
          1:75-1:76 `a`, Value 1:70-1:76, Plain at 1:72, value
    "#]],
    );
}

#[test]
fn the_right_side_of_an_assignment_comes_first() {
    check_c(
        "void f(int *p, int a, int b) { p[a && b] = a || b; p[a ? b : a] += a ?: b; }",
        expect![[r#"
        f 1:6
          1:44-1:45 `a`, Value 1:44-1:50, Branch at 1:44
          1:49-1:50 `b`, Value 1:44-1:50, Phi at 1:46, value
          1:34-1:35 `a`, Value 1:34-1:40, Branch at 1:34
          1:39-1:40 `b`, Value 1:34-1:40, Phi at 1:36, value
          1:68-1:69 `a`, Conditional 1:68-1:69, Branch at 1:68
          1:54-1:55 `a`, Conditional 1:54-1:55, Branch at 1:54
    "#]],
    );
}

#[test]
fn constant_arms_make_a_select() {
    check_c(
        "int g(void); const char *f(int a, int b) {\n  b = a ? 1 : 2;\n  b = a ? g() : 2;\n  b = a && b ? 1 : -1;\n  return b ? \"x\" : \"y\";\n}",
        expect![[r#"
            f 1:26
              2:7-2:8 `a`, Conditional 2:7-2:8, Select at 2:7
              3:7-3:8 `a`, Conditional 3:7-3:8, Branch at 3:7
              4:7-4:8 `a`, Conditional 4:7-4:13, Branch at 4:7, tested whole
              4:12-4:13 `b`, Conditional 4:7-4:13, Phi at 4:9, value, tested whole
              5:10-5:11 `b`, Conditional 5:10-5:11, Select at 5:10
        "#]],
    );
}

#[test]
fn a_conditional_as_condition_is_split() {
    check_c(
        "void f(int a, int b, int c) { if (a ? b && c : c) a = 1; }",
        expect![[r#"
        f 1:6
          1:35-1:36 `a`, Conditional 1:35-1:36, Branch at 1:35
          1:39-1:40 `b`, Value 1:39-1:45, Branch at 1:39
          1:44-1:45 `c`, Value 1:39-1:45, Branch at 1:44
          1:35-1:49 `a ? b && c : c`, If 1:35-1:49, Split at 1:35
    "#]],
    );
}

#[test]
fn statement_expressions_stand_where_they_are_used() {
    check_c(
        "int f(int a, int b) { return (a || b) + ({ int c = a && b; if (c) c = 2; c; }) + (b ? a : b); }",
        expect![[r#"
            f 1:5
              1:31-1:32 `a`, Value 1:31-1:37, Branch at 1:31
              1:36-1:37 `b`, Value 1:31-1:37, Phi at 1:33, value
              1:52-1:53 `a`, Value 1:52-1:58, Branch at 1:52
              1:57-1:58 `b`, Value 1:52-1:58, Phi at 1:54, value
              1:64-1:65 `c`, If 1:64-1:65, Branch at 1:64
              1:83-1:84 `b`, Conditional 1:83-1:84, Branch at 1:83
        "#]],
    );
}

#[test]
fn folded_conditions_have_no_code_nor_has_what_they_forbid() {
    check_c(
        "void f(int a) {\n  if (0) { if (a) a = 1; }\n  if (1 || a) a = 2;\n  if (sizeof a == 4 && a) a = 3;\n  while (1) if (a++) break;\n}",
        expect![[r#"
            f 1:6
              2:7-2:8 `0`, If 2:7-2:8, Absent at 2:7, always false
              2:16-2:17 `a`, If 2:16-2:17, Absent at 2:16
              3:7-3:8 `1`, If 3:7-3:13, Absent at 3:7, always true
              3:12-3:13 `a`, If 3:7-3:13, Absent at 3:12
              4:7-4:20 `sizeof a == 4`, If 4:7-4:25, Absent at 4:16, always true
              4:24-4:25 `a`, If 4:7-4:25, Branch at 4:24
              5:10-5:11 `1`, While 5:10-5:11, Absent at 5:3, always true
              5:17-5:20 `a++`, If 5:17-5:20, Branch at 5:18
        "#]],
    );
}

#[test]
fn what_is_not_evaluated_has_no_conditions() {
    check_c(
        "int f(int a, int b) {\n  a = sizeof(a && b) + _Alignof(int);\n  a = _Generic(a, int: (a && b), default: (a || b));\n  a = _Generic(b, long: (a && b), default: (a || b));\n  a = __builtin_choose_expr(0, a && b, a || b);\n  a = __builtin_types_compatible_p(int, long) && a;\n  return a;\n}",
        expect![[r#"
            f 1:5
              3:25-3:26 `a`, Value 3:25-3:31, Branch at 3:25
              3:30-3:31 `b`, Value 3:25-3:31, Phi at 3:27, value
              4:45-4:46 `a`, Value 4:45-4:51, Branch at 4:45
              4:50-4:51 `b`, Value 4:45-4:51, Phi at 4:47, value
              5:40-5:41 `a`, Value 5:40-5:46, Branch at 5:40
              5:45-5:46 `b`, Value 5:40-5:46, Phi at 5:42, value
              6:7-6:46 `__builtin_types_compatible_p(int, long)`, Value 6:7-6:51, Absent at 6:7, always false
              6:50-6:51 `a`, Value 6:7-6:51, Absent at 6:47, value
        "#]],
    );
}

#[test]
fn an_assertion_stands_where_it_is_used() {
    check_c(
        "#include <assert.h>\nvoid f(int a) {\n  assert(a > 1 && a < 5);\n}",
        expect![[r#"
        f 2:6
          3:3-3:25 `assert(a > 1 && a < 5)`, If 3:3-3:25, Branch at 3:3
          3:3-3:25 `assert(a > 1 && a < 5)`, If 3:3-3:25, Branch at 3:3
    "#]],
    );
}

#[test]
fn labels_have_values_as_the_switch_sees_them() {
    check_c(
        "#define TWO 2\nenum e { A = -3, B };\nvoid f(int a, unsigned long u) {\n  switch (a + 1) { case 'a': case A: case TWO: break; case 5 ... 7: switch (u) { case -1: case ~0x0fUL: break; } default: break; }\n}",
        expect![[r#"
            f 3:6
              switch `a + 1` 4:3: `case 'a'` 97, `case A` -3, `case TWO` 2, `case 5 ... 7` 5..7, default
              switch `u` 4:69: `case -1` -1, `case ~0x0fUL` -16
        "#]],
    );
}

#[test]
fn a_macro_may_hide_which_part_of_a_for_is_which() {
    check_c(
        "#define EACH(i, n) for (int i = 0; i < n; i++)\n#define FOREVER for (;;)\n#define UNTIL(c) for (; !(c);)\n\
         void f(int n) { EACH(i, n) n--; FOREVER if (n) break; UNTIL(n == 3) n++; }",
        expect![[r#"
            f 4:6
              4:17-4:27 `EACH(i, n)`, For 4:17-4:27, Branch at 4:17
              4:45-4:46 `n`, If 4:45-4:46, Branch at 4:45
              4:55-4:68 `UNTIL(n == 3)`, For 4:55-4:68, Branch at 4:55, negated
        "#]],
    );
}

#[test]
fn line_directives_move_places_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let unit = extract_in(
        folder.path(),
        "unit.c",
        "#line 70 \"./grammar.y\"\nvoid f(int a) { if (a == 2) a = 1; }\n",
        &[],
    );
    expect!["f 70:6\n  70:21-70:27 `a == 2`, If 70:21-70:27, Branch at 70:23\n"]
        .assert_eq(&conditions(&unit));
    assert_eq!(unit.files, [folder.path().join("grammar.y").display().to_string()]);
}

#[test]
fn functions_of_own_headers_count_and_those_of_system_headers_do_not() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("system")).unwrap();
    std::fs::write(folder.path().join("own.h"), "static inline int own(int a) { return a || 1; }").unwrap();
    std::fs::write(folder.path().join("system/far.h"), "static inline int far(int a) { return a && 1; }")
        .unwrap();
    let text = "#include \"own.h\"\n#include <far.h>\nint f(int a) { return own(a) + far(a); }";
    let unit = extract_in(folder.path(), "unit.c", text, &["-isystem", "system"]);
    let names: Vec<&str> = unit.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["own", "f"]);
}

#[test]
fn full_expressions_with_temporaries_are_conditions_of_their_own() {
    check_cpp(
        "struct T { T(int); ~T(); bool ok() const; };\nvoid f(int a) { if (T(a).ok() && a) a = 1; while (T(a).ok()) a = 2; }",
        expect![[r#"
            f 2:6
              2:21-2:30 `T(a).ok()`, Value 2:21-2:35, Branch at 2:26
              2:34-2:35 `a`, Value 2:21-2:35, Phi at 2:34, value
              2:21-2:35 `T(a).ok() && a`, If 2:21-2:35, Branch at 2:31
              2:51-2:60 `T(a).ok()`, While 2:51-2:60, Branch at 2:56
        "#]],
    );
}

#[test]
fn declarations_may_stand_for_conditions() {
    check_cpp(
        "int g(); void f(int a) {\n  while (int x = g()) a = x;\n  if (int y = g(); y > a) a = 1;\n  if (a++; a) a = 2; else a = 3;\n  for (; int z = g();) a = z;\n  switch (int s = g(); s) { case 1: a = 4; }\n}",
        expect![[r#"
            f 1:15
              2:14-2:15 `x`, While 2:14-2:15, Branch at 2:14
              3:20-3:25 `y > a`, If 3:20-3:25, Branch at 3:22
              4:12-4:13 `a`, If 4:12-4:13, Branch at 4:12
              5:14-5:15 `z`, For 5:14-5:15, Branch at 5:14
              switch `s` 6:3: `case 1` 1
        "#]],
    );
}

#[test]
fn ranges_are_compared_at_the_colon() {
    check_cpp(
        "void f() { int v[3] = {}; for (const int &e : v) if (e) return; }",
        expect![[r#"
        f 1:6
          1:45-1:46 `const int &e : v`, For 1:45-1:46, Branch at 1:45
          1:54-1:55 `e`, If 1:54-1:55, Branch at 1:54
    "#]],
    );
}

#[test]
fn lambdas_and_local_methods_are_functions() {
    check_cpp(
        "int f(int a) {\n  auto l = [a](int b) { return a && b; };\n  struct L { bool g(int c) { return c || true; } };\n  return l(a ? 1 : 2);\n}\nauto global = [](int d) { return d ? d : -1; };",
        expect![[r#"
            f 1:5
              4:12-4:13 `a`, Conditional 4:12-4:13, Select at 4:12
            operator() 2:12
              2:32-2:33 `a`, Value 2:32-2:38, Branch at 2:32
              2:37-2:38 `b`, Value 2:32-2:38, Phi at 2:37, value
            g 3:19
              3:37-3:38 `c`, Value 3:37-3:46, Branch at 3:37
              3:42-3:46 `true`, Value 3:37-3:46, Absent at 3:42, always true, value
            operator() 6:15
              6:34-6:35 `d`, Conditional 6:34-6:35, Branch at 6:34
        "#]],
    );
}

#[test]
fn initialisers_of_members_come_before_the_body() {
    check_cpp(
        "struct S { int x; bool y; S(int a, int b) : x(a && b), y(a ? b : a) { if (x) y = false; } ~S() { if (y) x = 0; } };",
        expect![[r#"
            S 1:27
              1:47-1:48 `a`, Value 1:47-1:53, Branch at 1:47
              1:52-1:53 `b`, Value 1:47-1:53, Phi at 1:52, value
              1:58-1:59 `a`, Conditional 1:58-1:59, Branch at 1:58
              1:75-1:76 `x`, If 1:75-1:76, Branch at 1:75
            ~S 1:91
              1:102-1:103 `y`, If 1:102-1:103, Branch at 1:102
        "#]],
    );
}

#[test]
fn templates_are_read_once_as_written() {
    check_cpp(
        "template <class T> T f(T a, T b) { if constexpr (sizeof(T) == 4) return a ? a : b; else return a && b; }\n\
         template <class T> struct S { bool g(T a) { return a < 1 || a == 5; } };\nint x = f(1, 2) + f(1L, 2L) + S<int>().g(3);\n\
         int g(int a) { if constexpr (sizeof(int) == 8) return a || 1; else return a && 1; }",
        expect![[r#"
            f 1:22
              1:73-1:74 `a`, Conditional 1:73-1:74, Branch at 1:73
              1:96-1:97 `a`, Value 1:96-1:102, Branch at 1:96
              1:101-1:102 `b`, Value 1:96-1:102, Phi at 1:101, value
            g 2:36
              2:52-2:57 `a < 1`, Value 2:52-2:67, Branch at 2:54
              2:61-2:67 `a == 5`, Value 2:52-2:67, Phi at 2:63, value
            g 4:5
              4:75-4:76 `a`, Value 4:75-4:81, Branch at 4:75
              4:80-4:81 `1`, Value 4:75-4:81, Absent at 4:80, always true, value
        "#]],
    );
}

#[test]
fn overloaded_operators_are_calls() {
    check_cpp(
        "struct B { bool v; bool operator&&(B o) const { return v; } explicit operator bool() const { return v; } };\n\
         void f(B a, B b) { if (a && b) a.v = true; if (a) b.v = !(b && a) || a.v; }",
        expect![[r#"
            operator&& 1:25
            operator bool 1:70
            f 2:6
              2:24-2:30 `a && b`, If 2:24-2:30, Branch at 2:26
              2:48-2:49 `a`, If 2:48-2:49, Branch at 2:48
              2:57-2:66 `!(b && a)`, Value 2:57-2:73, Branch at 2:61, negated, inverted
              2:70-2:73 `a.v`, Value 2:57-2:73, Phi at 2:72, value
        "#]],
    );
}

#[test]
fn expressions_nest_down_to_names_and_constants() {
    check_expressions(
        "unit.c",
        "#define LIMIT 10\n#define NEXT(p) ((p)->next)\nstruct s { int x[3]; struct s *next; };\nint g(int);\n\
         int f(struct s *p, unsigned char c, int (*h)(int)) {\n  p->x[c + 1] += -g(c) % LIMIT;\n  NEXT(p)->x[0]++;\n  \
         return (c & 'a') == sizeof(int) ? h((long) 1.5) : !p;\n}",
        expect![[r#"
            CompoundAssign += `p->x[c + 1] += -g(c) % LIMIT` 6:3-6:31 at 6:15: int (Signed 32)
              Index [] `p->x[c + 1]` 6:3-6:14 at 6:3: int (Signed 32)
                Member x `p->x` 6:3-6:7 at 6:6: int[3] (Pointer 96)
                  Reference p `p` 6:3-6:4 at 6:3: struct s * (Pointer 64)
                Binary + `c + 1` 6:8-6:13 at 6:10: int (Signed 32)
                  Reference c `c` 6:8-6:9 at 6:8: unsigned char (Unsigned 8)
                  Integer  `1` 6:12-6:13 at 6:12: int (Signed 32)
              Binary % `-g(c) % LIMIT` 6:18-6:31 at 6:24: int (Signed 32)
                Unary - `-g(c)` 6:18-6:23 at 6:18: int (Signed 32)
                  Call g `g(c)` 6:19-6:23 at 6:19: int (Signed 32)
                    Reference g `g` 6:19-6:20 at 6:19: int (int) (Pointer 0)
                    Reference c `c` 6:21-6:22 at 6:21: unsigned char (Unsigned 8)
                Integer  `LIMIT` 6:26-6:31 at 6:26: int (Signed 32) from LIMIT
            IncrementDecrement ++ `NEXT(p)->x[0]++` 7:3-7:18 at 7:16: int (Signed 32)
              Index [] `NEXT(p)->x[0]` 7:3-7:16 at 7:3: int (Signed 32)
                Member x `NEXT(p)->x` 7:3-7:13 at 7:12: int[3] (Pointer 96)
                  Member next `NEXT(p)` 7:3-7:10 at 7:3: struct s * (Pointer 64) from NEXT
                    Reference p `NEXT(p)` 7:3-7:10 at 7:3: struct s * (Pointer 64) from NEXT
                Integer  `0` 7:14-7:15 at 7:14: int (Signed 32)
            Conditional ?: `(c & 'a') == sizeof(int) ? h((long) 1.5) : !p` 8:10-8:55 at 8:10: int (Signed 32)
              Binary == `(c & 'a') == sizeof(int)` 8:10-8:34 at 8:20: int (Signed 32)
                Binary & `c & 'a'` 8:11-8:18 at 8:13: int (Signed 32)
                  Reference c `c` 8:11-8:12 at 8:11: unsigned char (Unsigned 8)
                  Character  `'a'` 8:15-8:18 at 8:15: int (Signed 32)
                SizeOf  `sizeof(int)` 8:23-8:34 at 8:23: unsigned long (Unsigned 64)
              Call  `h((long) 1.5)` 8:37-8:50 at 8:37: int (Signed 32)
                Reference h `h` 8:37-8:38 at 8:37: int (*)(int) (Pointer 64)
                Cast  `(long) 1.5` 8:39-8:49 at 8:39: long (Signed 64)
                  Float  `1.5` 8:46-8:49 at 8:46: double (Float 64)
              Unary ! `!p` 8:53-8:55 at 8:53: int (Signed 32)
                Reference p `p` 8:54-8:55 at 8:54: struct s * (Pointer 64)
        "#]],
    );
}

#[test]
fn expressions_of_cpp_have_their_places() {
    check_expressions(
        "unit.cpp",
        "struct V { int n; V operator+(const V &o) const; int get() const; };\nint f(V a, V *b) {\n  a = a + *b;\n  return a.get() + b->n + int(true) + (b == nullptr);\n}",
        expect![[r#"
            Call operator= `a = a + *b` 3:3-3:13 at 3:5: V (Record 32)
              Reference a `a` 3:3-3:4 at 3:3: V (Record 32)
              Reference operator= `=` 3:5-3:6 at 3:5: V &(V &&) noexcept (Pointer 0)
              Call operator+ `a + *b` 3:7-3:13 at 3:9: V (Record 32)
                Reference a `a` 3:7-3:8 at 3:7: V (Record 32)
                Reference operator+ `+` 3:9-3:10 at 3:9: V (const V &) const (Pointer 0)
                Unary * `*b` 3:11-3:13 at 3:11: V (Record 32)
                  Reference b `b` 3:12-3:13 at 3:12: V * (Pointer 64)
            Binary + `a.get() + b->n + int(true) + (b == nullptr)` 4:10-4:53 at 4:37: int (Signed 32)
              Binary + `a.get() + b->n + int(true)` 4:10-4:36 at 4:25: int (Signed 32)
                Binary + `a.get() + b->n` 4:10-4:24 at 4:18: int (Signed 32)
                  Call get `a.get()` 4:10-4:17 at 4:12: int (Signed 32)
                    Member get `a.get` 4:10-4:15 at 4:12: <bound member function type> (Other 0)
                      Reference a `a` 4:10-4:11 at 4:10: V (Record 32)
                  Member n `b->n` 4:20-4:24 at 4:23: int (Signed 32)
                    Reference b `b` 4:20-4:21 at 4:20: V * (Pointer 64)
                Cast  `int(true)` 4:27-4:36 at 4:27: int (Signed 32)
                  Integer  `true` 4:31-4:35 at 4:31: bool (Bool 8)
              Binary == `b == nullptr` 4:40-4:52 at 4:42: bool (Bool 8)
                Reference b `b` 4:40-4:41 at 4:40: V * (Pointer 64)
                Other  `nullptr` 4:45-4:52 at 4:45: std::nullptr_t (Pointer 64)
        "#]],
    );
}

#[test]
fn conditions_say_what_they_read_and_compare_with() {
    let text = "#include <string.h>\n#include <stdlib.h>\nenum e { RED };\nint here(int x) { return x; }\nint global;\n\
                struct s { char *name; struct s *next; double d; };\n\
                void f(struct s *p, int a, enum e e, struct s v) {\n\
                if (a == 5) a = 1; if (global) a = 1; if (*p->name == 'x') a = 1; if (p->next == NULL) a = 1;\n\
                if (p != 0) a = 1; if (e == RED) a = 1; if (v.d < 0.5) a = 1; if (!strcmp(v.name, \"on\")) a = 1;\n\
                if (strcmp(p->name, \"on\") == 0) a = 1; if (here(a) > -1) a = 1; if ((a = atoi(v.name)) < a) a = 1;\n\
                if (here(atoi(v.name))) a = 1; }";
    let unit = extract("unit.c", text, &[]);
    let function = unit.functions.last().unwrap();
    let lines: Vec<String> = function
        .conditions
        .iter()
        .map(|condition| {
            format!("{}: {}", function.expressions[condition.expression as usize].text, traits(condition))
        })
        .collect();
    expect![[r#"
        a == 5: compares with Integer, reads local
        global: 
        *p->name == 'x': compares with Character, reads pointer, reads local
        p->next == NULL: compares with Null, reads pointer, reads local
        p != 0: compares with Null, reads local
        e == RED: compares with Integer, reads local
        v.d < 0.5: compares with Float, reads local
        !strcmp(v.name, "on"): compares with String, reads local, uses external call
        strcmp(p->name, "on") == 0: compares with String, reads local, uses external call
        here(a) > -1: compares with Integer, reads local
        (a = atoi(v.name)) < a: reads local, uses external call
        here(atoi(v.name)): reads local"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn errors_in_the_source_are_told_as_clang_does() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("unit.c"), "int f( { return 1; }").unwrap();
    let error = cairn_facts::extract(&["unit.c".to_owned()], folder.path()).unwrap_err();
    expect!["unit.c:1:8: error: expected parameter declarator"].assert_eq(&error.to_string());
}

#[test]
fn a_missing_source_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = cairn_facts::extract(&["-O2".to_owned()], folder.path()).unwrap_err();
    assert!(error.to_string().starts_with("libclang could not parse the unit"), "{error}");
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let sum = vec!["a"; 5000].join("\n + ");
    let chain: String = (0..2000).map(|n| format!("if (a == {n}) return {n}; else\n")).collect();
    let unit =
        extract("unit.c", &format!("int f(int a) {{ {chain} return {sum}; }}"), &["-fbracket-depth=5000"]);
    assert_eq!(unit.functions[0].conditions.len(), 2000);
}

#[test]
fn variables_have_types_and_scopes() {
    let unit = extract(
        "unit.c",
        "typedef unsigned size;\nextern int shared; static const char text[4];\nvolatile long v;\n\
         void f(int a, size list[2]) {\n  char *const p = 0;\n  { static struct s { int m; } s; double d[3]; }\n}\n\
         int late;\n",
        &[],
    );
    expect![[r#"
        2:12 shared Scalar int (int) static external after 0 functions
        2:38 text Array char (char) const static after 0 functions
        3:15 v Scalar volatile long (long) volatile static external after 0 functions
        8:5 late Scalar int (int) static external after 1 functions
        4:12 a Scalar int (int) in 4:29-7:2
        4:20 list Scalar unsigned int * (unsigned int *) in 4:29-7:2
        5:15 p Scalar char *const (char *) const in 5:20-7:2
        6:32 s Other struct s (struct s) static in 6:33-6:49
        6:42 d Array double (double) in 6:46-6:49
    "#]]
    .assert_eq(&(variables(&unit.variables) + &variables(&unit.functions[0].variables)));
}

#[test]
fn members_have_offsets() {
    let unit = extract(
        "unit.c",
        "struct s { int a; char c; int b : 3, : 2, d : 1; long l[2]; union { int u; float w; } in; };\n\
         int f(struct s *s) { return s->a + s->b + s->in.u; }\n",
        &[],
    );
    expect![[r#"
        struct { int a@0; char c@32; int b:3@40; int :2@43; int d:1@45; long[2] l@64; union s::(unnamed at unit.c:1:61) in@192 }
        union { int u@0; float w@0 }
    "#]].assert_eq(&records(&unit));
}

#[test]
fn constants_have_values_as_a_whole() {
    let unit = extract(
        "unit.c",
        "enum e { RED = 3 };\n#define NONE (-1)\nint g(int, double);\n\
         int f(int a, float x) { x = 1.5f * 2; return a + RED * 2 + g(NONE, -2.5) + 'x' + (int)sizeof(a) - (0u - 1); }\n",
        &[],
    );
    expect![[r#"
        `1.5f * 2` 3.0
        `RED * 2` 6
        `NONE` -1
        `-2.5` -2.5
        `'x'` 120
        `(int)sizeof(a)` 4
        `0u - 1` 4294967295
    "#]]
    .assert_eq(&constants(&unit.functions[0]));
}

#[test]
fn code_is_emitted_right_side_first_and_increments_last() {
    let unit = extract(
        "unit.c",
        "void g(int);\nint f(int *p, int a, int b) { for (a = 1; a < 2; a += 3) p[b] = a; return b; }\n",
        &[],
    );
    expect![[r#"
        `1`
        `a`
        `a = 1`
        `a`
        `2`
        `a < 2`
        `a`
        `p`
        `b`
        `p[b]`
        `p[b] = a`
        `3`
        `a`
        `a += 3`
        `b` returned at 2:68
    "#]]
    .assert_eq(&emission_order(&unit.functions[0]));
}

#[test]
fn text_of_system_macros_is_foreign() {
    let unit = extract(
        "unit.c",
        "#include <stdio.h>\n#include <sys/param.h>\n#define OWN(a) ((a) + 1)\n\
         int f(int x, int y) { return MIN(x, y) + OWN(x) + EOF; }\n",
        &[],
    );
    let foreign = unit.functions[0].expressions.iter().filter(|expression| expression.is_foreign);
    let kinds: Vec<String> =
        foreign.map(|expression| format!("{:?} {}", expression.kind, expression.operator)).collect();
    assert_eq!(kinds, ["Binary <"]);
}

#[test]
fn the_whole_use_of_a_system_macro_is_the_programs_own_word() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("system")).unwrap();
    std::fs::write(
        folder.path().join("system/macros.h"),
        "#define EACH(i, list) for (i = list[0]; i; i = list[i])\n\
         #define TWO(a, b) a = 1; b = 0\n\
         #define ADD1(a) (a) + 1\n",
    )
    .unwrap();
    let unit = extract_in(
        folder.path(),
        "unit.c",
        "#include <ctype.h>\n#include <sys/select.h>\n#include <sys/wait.h>\n#include <macros.h>\n\
         int f(int x, fd_set *set, int list[]) {\n\
         if (isdigit(x) && !isspace(x + 1)) x = (WIFEXITED(x)) * 2;\n\
         FD_ZERO(set);\n\
         EACH(x, list) x++;\n\
         TWO(x, set);\n\
         x = ADD1(x) * 2;\n\
         x = 3 - (ADD1(x));\n\
         return WEXITSTATUS(x); }\n",
        &["-isystem", "system"],
    );
    let uses = unit.functions[0].expressions.iter().filter(|expression| expression.is_macro_use);
    let uses: Vec<String> =
        uses.map(|fact| format!("{:?} {} {}", fact.kind, fact.operator, fact.text)).collect();
    assert_eq!(
        uses,
        [
            "Binary & isdigit(x)",
            "Binary & isspace(x + 1)",
            "Binary == WIFEXITED(x)",
            "Binary + ADD1(x)",
            "Binary >> WEXITSTATUS(x)",
        ]
    );
}

#[test]
fn what_holds_a_part_of_a_macro_is_foreign() {
    let unit = extract(
        "unit.c",
        "#define ADD1(a) a + 1\n#define TWICE 2 *\n#define MINUS1 -1\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n\
         #define NEXT ADD1(x)\n#define IDENTITY(a) a\n#define MEMBER m.n\n\
         struct s { struct { int n; } m; };\n\
         int f(int x, int y, struct s *p) {\n\
         x = ADD1(y) * 2;\n\
         x = y * ADD1(x);\n\
         x = TWICE y + 5;\n\
         x = y MINUS1 * 2;\n\
         x = IDENTITY(x + y) * 3;\n\
         x = -NEXT;\n\
         x = p->MEMBER;\n\
         x = ADD1(y);\n\
         x = ADD1(y) + 4;\n\
         x = y == MINUS1;\n\
         x = MAX(x, y) * 2 - (long) MAX(x, 1);\n\
         x = SIZE * y + IDENTITY(y) * 2;\n\
         return x; }\n",
        &["-DSIZE=12"],
    );
    let function = &unit.functions[0];
    let mut text = String::new();
    for line in 10..=21 {
        let foreign: Vec<String> = function
            .expressions
            .iter()
            .filter(|expression| expression.is_foreign && expression.place.line == line)
            .map(|expression| format!("{:?} {}", expression.kind, expression.operator))
            .collect();
        text += &format!("{line}: {}\n", foreign.join(", "));
    }
    expect![[r#"
        10: Assign =, Binary +, Binary *
        11: Assign =, Binary +, Binary *
        12: Assign =, Binary +, Binary *
        13: Binary -, Binary *
        14: Assign =, Binary +, Binary *
        15: Assign =, Binary +, Unary -
        16: Assign =, Member n, Member m
        17: 
        18: 
        19: 
        20: 
        21: 
    "#]]
    .assert_eq(&text);
}
