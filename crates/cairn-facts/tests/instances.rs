//! Templates and what clang makes of them, as text.

mod support;

use cairn_model::facts::{InstanceFacts, UnitFacts};
use expect_test::{Expect, expect};
use support::{conditions, constants, expressions, extract, records};

/// The instances of a unit: symbols, expressions with their types, constants.
fn check(text: &str, expected: Expect) {
    let unit = extract("unit.cpp", text, &["-std=c++20"]);
    let shown: String = unit.instances.iter().map(show).collect();
    expected.assert_eq(&shown);
}

fn show(instance: &InstanceFacts) -> String {
    let function = &instance.function;
    let title = format!("{} {}:", function.name, instance.symbols.join(" "));
    let expressions = expressions(function);
    let expanded = function.expressions.iter().filter(|expression| expression.is_expanded).count();
    let note = if expanded > 0 { format!("{expanded} expanded\n") } else { String::new() };
    format!("{title}\n{expressions}{}{note}\n", constants(function))
}

fn names(unit: &UnitFacts) -> String {
    let written = unit.functions.iter().map(|function| {
        let is_template = if function.is_template { " template" } else { "" };
        format!("{} {}:{}{is_template}\n", function.name, function.place.line, function.place.column)
    });
    let instances = unit.instances.iter().map(|instance| {
        let place = instance.function.place;
        let symbols = instance.symbols.join(" ");
        format!("{} {}:{} {symbols}\n", instance.function.name, place.line, place.column)
    });
    written.chain(instances).collect()
}

fn check_names(text: &str, expected: Expect) {
    expected.assert_eq(&names(&extract("unit.cpp", text, &["-std=c++20"])));
}

#[test]
fn an_instance_has_types() {
    check(
        "template <class T> T largest(T a, T b) { return a > b ? a : b; }\n\
         int x = largest(1, 2) + (int)largest(1.5, 2.0);",
        expect![[r#"
            largest _Z7largestIiET_S0_S0_:
            Conditional ?: `a > b ? a : b` 1:49-1:62 at 1:49: int (Signed 32)
              Binary > `a > b` 1:49-1:54 at 1:51: bool (Bool 8)
                Reference a `a` 1:49-1:50 at 1:49: int (Signed 32)
                Reference b `b` 1:53-1:54 at 1:53: int (Signed 32)
              Reference a `a` 1:57-1:58 at 1:57: int (Signed 32)
              Reference b `b` 1:61-1:62 at 1:61: int (Signed 32)

            largest _Z7largestIdET_S0_S0_:
            Conditional ?: `a > b ? a : b` 1:49-1:62 at 1:49: double (Float 64)
              Binary > `a > b` 1:49-1:54 at 1:51: bool (Bool 8)
                Reference a `a` 1:49-1:50 at 1:49: double (Float 64)
                Reference b `b` 1:53-1:54 at 1:53: double (Float 64)
              Reference a `a` 1:57-1:58 at 1:57: double (Float 64)
              Reference b `b` 1:61-1:62 at 1:61: double (Float 64)

        "#]],
    );
}

#[test]
fn a_parameter_that_is_a_number_is_a_constant() {
    check(
        "template <int N> int f(int a) { return a * N + (N - 1); }\nint x = f<3>(1);",
        expect![[r#"
            f _Z1fILi3EEii:
            Binary + `a * N + (N - 1)` 1:40-1:55 at 1:46: int (Signed 32)
              Binary * `a * N` 1:40-1:45 at 1:42: int (Signed 32)
                Reference a `a` 1:40-1:41 at 1:40: int (Signed 32)
                Integer  `N` 1:44-1:45 at 1:44: int (Signed 32)
              Binary - `N - 1` 1:49-1:54 at 1:51: int (Signed 32)
                Integer  `N` 1:49-1:50 at 1:49: int (Signed 32)
                Integer  `1` 1:53-1:54 at 1:53: int (Signed 32)
            `N` 3
            `N - 1` 2

        "#]],
    );
}

#[test]
fn members_of_instances_have_distances() {
    let unit = extract(
        "unit.cpp",
        "template <class T> struct S { char c; T v; T w; T f() { return v - w; } };\nint x = S<int>{}.f() + (int)S<long>{}.f();",
        &["-std=c++20"],
    );
    expect![[r#"
        struct { char c@?; type-parameter-0-0 v@?; type-parameter-0-0 w@? }
        struct { char c@0; int v@32; int w@64 }
        struct { char c@0; long v@64; long w@128 }
    "#]]
    .assert_eq(&records(&unit));
}

#[test]
fn conditions_that_a_type_decides_are_constants_in_instances() {
    let unit = extract(
        "unit.cpp",
        "template <class T> int f(T a) { if constexpr (sizeof(T) > 4) return a ? 1 : 2; if (sizeof(T) == 4) a++; return a && 1; }\n\
         int x = f(1) + f(1L);",
        &["-std=c++20"],
    );
    let functions = unit.instances.iter().map(|instance| instance.function.clone()).collect();
    expect![[r#"
        f 1:24
          1:84-1:98 `sizeof(T) == 4`, If 1:84-1:98, Absent at 1:94, always true
          1:112-1:113 `a`, Value 1:112-1:118, Branch at 1:112
          1:117-1:118 `1`, Value 1:112-1:118, Absent at 1:117, always true, value
        f 1:24
          1:69-1:70 `a`, Conditional 1:69-1:70, Select at 1:69
          1:84-1:98 `sizeof(T) == 4`, If 1:84-1:98, Absent at 1:94, always false
          1:112-1:113 `a`, Value 1:112-1:118, Branch at 1:112
          1:117-1:118 `1`, Value 1:112-1:118, Absent at 1:117, always true, value
    "#]]
    .assert_eq(&conditions(&UnitFacts { functions, ..UnitFacts::default() }));
}

#[test]
fn everything_that_is_compiled_of_a_template_is_an_instance() {
    check_names(
        "template <class T> T later(T a);\n\
         template <class T> struct S {\n\
           T v;\n\
           S(T v) : v(v) { this->v++; }\n\
           virtual ~S() { v--; }\n\
           operator T() { return v; }\n\
           template <class U> U both(U u) { return u + (U)v; }\n\
           template <class U> U outside(U u);\n\
           friend bool operator<(S a, S b) { return a.v < b.v; }\n\
         };\n\
         template <class T> template <class U> U S<T>::outside(U u) { return u - (U)v; }\n\
         template <> template <> long S<long>::outside(long u) { return u; }\n\
         int use() {\n\
           S<int> a(1), b(2);\n\
           auto twice = [](auto x) { return x * 2; };\n\
           return later(1) + (a < b) + a.both(2.0) + a.outside(3L) + twice(int(b));\n\
         }\n\
         template <class T> T later(T a) { auto f = [&](int x) { return x + a; }; return f(1); }\n",
        expect![[r#"
            S 4:1 template
            ~S 5:9 template
            operator type-parameter-0-0 6:1 template
            both 7:22 template
            operator< 9:13 template
            outside 11:47 template
            outside 12:39
            use 13:5
            operator() 15:14 template
            later 18:22 template
            operator() 18:44 template
            operator() 15:14 _ZZ3usevENK3$_clIiEEDaT_
            S 4:1 _ZN1SIiEC2Ei _ZN1SIiEC1Ei
            ~S 5:9 _ZN1SIiED2Ev _ZN1SIiED1Ev _ZN1SIiED0Ev
            later 18:22 _Z5laterIiET_S0_
            operator() 18:44 _Z5laterIiET_S0_
            operator< 9:13 _Zlt1SIiES0_
            both 7:22 _ZN1SIiE4bothIdEET_S2_
            outside 11:47 _ZN1SIiE7outsideIlEET_S2_
            operator int 6:1 _ZN1SIiEcviEv
        "#]],
    );
}

#[test]
fn what_stands_in_the_expansion_of_a_pack_is_marked() {
    check(
        "template <class... T> int sum(int first, T... rest) { int all[] = {(int)(rest * 2)...}; return first + all[0] + (rest + ...); }\n\
         int x = sum(1, 2, 3) + sum(1, 2);",
        expect![[r#"
            sum _Z3sumIJiiEEiiDpT_:
            Other  `{(int)(rest * 2)...}` 1:67-1:87 at 1:67: int[2] (Pointer 64)
              Cast  `(int)(rest * 2)` 1:68-1:83 at 1:68: int (Signed 32)
                Binary * `rest * 2` 1:74-1:82 at 1:79: int (Signed 32)
                  Reference rest `rest` 1:74-1:78 at 1:74: int (Signed 32)
                  Integer  `2` 1:81-1:82 at 1:81: int (Signed 32)
              Cast  `(int)(rest * 2)` 1:68-1:83 at 1:68: int (Signed 32)
                Binary * `rest * 2` 1:74-1:82 at 1:79: int (Signed 32)
                  Reference rest `rest` 1:74-1:78 at 1:74: int (Signed 32)
                  Integer  `2` 1:81-1:82 at 1:81: int (Signed 32)
            Binary + `first + all[0] + (rest` 1:96-1:118 at 1:111: int (Signed 32)
              Binary + `first + all[0]` 1:96-1:110 at 1:102: int (Signed 32)
                Reference first `first` 1:96-1:101 at 1:96: int (Signed 32)
                Index [] `all[0]` 1:104-1:110 at 1:104: int (Signed 32)
                  Reference all `all` 1:104-1:107 at 1:104: int[2] (Pointer 64)
                  Integer  `0` 1:108-1:109 at 1:108: int (Signed 32)
              Binary + `rest` 1:114-1:118 at 1:119: int (Signed 32)
                Reference rest `rest` 1:114-1:118 at 1:114: int (Signed 32)
                Reference rest `rest` 1:114-1:118 at 1:114: int (Signed 32)
            `2` 2
            `2` 2
            `0` 0
            12 expanded

            sum _Z3sumIJiEEiiDpT_:
            Other  `{(int)(rest * 2)...}` 1:67-1:87 at 1:67: int[1] (Pointer 32)
              Cast  `(int)(rest * 2)` 1:68-1:83 at 1:68: int (Signed 32)
                Binary * `rest * 2` 1:74-1:82 at 1:79: int (Signed 32)
                  Reference rest `rest` 1:74-1:78 at 1:74: int (Signed 32)
                  Integer  `2` 1:81-1:82 at 1:81: int (Signed 32)
            Binary + `first + all[0] + (rest` 1:96-1:118 at 1:111: int (Signed 32)
              Binary + `first + all[0]` 1:96-1:110 at 1:102: int (Signed 32)
                Reference first `first` 1:96-1:101 at 1:96: int (Signed 32)
                Index [] `all[0]` 1:104-1:110 at 1:104: int (Signed 32)
                  Reference all `all` 1:104-1:107 at 1:104: int[1] (Pointer 32)
                  Integer  `0` 1:108-1:109 at 1:108: int (Signed 32)
              Reference rest `rest` 1:114-1:118 at 1:114: int (Signed 32)
            `2` 2
            `0` 0
            6 expanded

        "#]],
    );
}

#[test]
fn lambdas_are_told_apart_by_what_is_done_with_them() {
    let unit = extract(
        "unit.cpp",
        "template <class F> int apply(F f) { return f(1) + 1; }\n\
         int x(int n) { return apply([](int a) { return a; }) + apply([](int a) { return -a; }) + apply([](int a) { return a * 0.5; }); }",
        &["-std=c++20"],
    );
    let [one, other, of_floats] = &unit.instances[..] else { panic!("{}", names(&unit)) };
    assert!(one.has_symbol("_Z5applyIZ1xiE3$_1EiT_"));
    assert!(one.is_like(other));
    assert!(!one.is_like(of_floats));
}
