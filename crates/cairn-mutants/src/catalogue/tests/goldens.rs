//! What the operators propose, one line a mutant: code, the site, what becomes of it, `~` if that is not plain text.

use crate::{catalogue::OperatorSet, testing::Scene};
use expect_test::{Expect, expect};

fn proposed(scene: &Scene, operators: &str) -> String {
    let set: OperatorSet = operators.parse().unwrap();
    let proposals = scene.proposals(&set);
    proposals
        .iter()
        .map(|(spot, proposal)| {
            let plain = if proposal.is_plain_text { "" } else { "  ~" };
            format!("{}: {} → {}{plain}\n", proposal.code, scene.site(spot).text, proposal.replacement)
        })
        .collect()
}

fn check(operators: &str, declarations: &str, line: &str, expected: Expect) {
    expected.assert_eq(&proposed(&Scene::new(declarations, line), operators));
}

#[test]
fn arithmetic() {
    check(
        "OAAN",
        "int a, b",
        "a + b",
        expect![[r#"
        OAAN: a + b → a - b
        OAAN: a + b → a * b
        OAAN: a + b → a / b
        OAAN: a + b → a % b
    "#]],
    );
    check(
        "OABN,OASN",
        "int a, b, c",
        "c - a * b",
        expect![[r#"
        OABN: a * b → (a & b)
        OABN: a * b → (a | b)
        OABN: a * b → (a ^ b)
        OASN: a * b → (a << b)
        OASN: a * b → (a >> b)
        OABN: c - a * b → c & a * b
        OABN: c - a * b → c | a * b
        OABN: c - a * b → c ^ a * b
        OASN: c - a * b → c << a * b
        OASN: c - a * b → c >> a * b
    "#]],
    );
    check(
        "OARN,OALN",
        "int a, b",
        "a + b",
        expect![[r#"
        OARN: a + b → a < b
        OARN: a + b → a <= b
        OARN: a + b → a > b
        OARN: a + b → a >= b
        OARN: a + b → a == b
        OARN: a + b → a != b
        OALN: a + b → a && b
        OALN: a + b → a || b
    "#]],
    );
    check(
        "OAAN,OABN,OASN",
        "double d; int i",
        "d * i",
        expect![[r#"
        OAAN: d * i → d + i
        OAAN: d * i → d - i
        OAAN: d * i → d / i
    "#]],
    );
}

#[test]
fn what_is_the_same_is_left_out() {
    check(
        "OAAN,OABN,OASN",
        "int a",
        "a + 0",
        expect![[r#"
        OAAN: a + 0 → a * 0
        OABN: a + 0 → a & 0
    "#]],
    );
    check(
        "OAAN",
        "int a",
        "a * 1",
        expect![[r#"
        OAAN: a * 1 → a + 1
        OAAN: a * 1 → a - 1
        OAAN: a * 1 → a % 1
    "#]],
    );
    check(
        "ORRN",
        "unsigned u",
        "if (u > 0)",
        expect![[r#"
        ORRN: u > 0 → u < 0
        ORRN: u > 0 → u <= 0
        ORRN: u > 0 → u >= 0
        ORRN: u > 0 → u == 0
    "#]],
    );
}

#[test]
fn bitwise_and_shifts() {
    check(
        "OBBN,OBAN,OBSN,OBNG",
        "unsigned a, b",
        "a & b",
        expect![[r#"
        OBBN: a & b → a | b
        OBBN: a & b → a ^ b
        OBAN: a & b → a + b
        OBAN: a & b → a - b
        OBAN: a & b → a * b
        OBAN: a & b → a / b
        OBAN: a & b → a % b
        OBSN: a & b → a << b
        OBSN: a & b → a >> b
        OBNG: a & b → a & ~b
        OBNG: a & b → ~a & b
        OBNG: a & b → ~(a & b)
    "#]],
    );
    check(
        "OBLN,OBRN",
        "int a, b",
        "if (a & b)",
        expect![[r#"
        OBRN: a & b → a < b
        OBRN: a & b → a <= b
        OBRN: a & b → a > b
        OBRN: a & b → a >= b
        OBRN: a & b → a == b
        OBRN: a & b → a != b
        OBLN: a & b → a && b
        OBLN: a & b → a || b
    "#]],
    );
    check(
        "OSSN,OSAN,OSBN,OSLN,OSRN",
        "long a; int n",
        "a << n",
        expect![[r#"
        OSSN: a << n → a >> n
        OSAN: a << n → a + n
        OSAN: a << n → a - n
        OSAN: a << n → a * n
        OSAN: a << n → a / n
        OSAN: a << n → a % n
        OSBN: a << n → a & n
        OSBN: a << n → a | n
        OSBN: a << n → a ^ n
        OSRN: a << n → a < n
        OSRN: a << n → a <= n
        OSRN: a << n → a > n
        OSRN: a << n → a >= n
        OSRN: a << n → a == n
        OSRN: a << n → a != n
        OSLN: a << n → a && n
        OSLN: a << n → a || n
    "#]],
    );
}

#[test]
fn comparisons() {
    check(
        "ORRN",
        "int i, n",
        "if (i < n)",
        expect![[r#"
        ORRN: i < n → i <= n
        ORRN: i < n → i > n
        ORRN: i < n → i >= n
        ORRN: i < n → i == n
        ORRN: i < n → i != n
    "#]],
    );
    check(
        "ORAN,ORBN,ORSN,ORLN",
        "int i, n",
        "if (i < n + 1)",
        expect![[r#"
        ORAN: i < n + 1 → i + (n + 1)
        ORAN: i < n + 1 → i - (n + 1)
        ORAN: i < n + 1 → i * (n + 1)
        ORAN: i < n + 1 → i / (n + 1)
        ORAN: i < n + 1 → i % (n + 1)
        ORBN: i < n + 1 → i & n + 1
        ORBN: i < n + 1 → i | n + 1
        ORBN: i < n + 1 → i ^ n + 1
        ORSN: i < n + 1 → i << n + 1
        ORSN: i < n + 1 → i >> n + 1
        ORLN: i < n + 1 → i && n + 1
        ORLN: i < n + 1 → i || n + 1
    "#]],
    );
    check(
        "ORRN,ORAN",
        "char * p, q",
        "if (p != q)",
        expect![[r#"
        ORRN: p != q → p < q
        ORRN: p != q → p <= q
        ORRN: p != q → p > q
        ORRN: p != q → p >= q
        ORRN: p != q → p == q
    "#]],
    );
    check("ORLN", "int i", "if (i < f(i))", expect![""]);
}

#[test]
fn assignments() {
    check(
        "OAAA,OABA,OASA,OAEA",
        "int a, b",
        "a += b",
        expect![[r#"
        OAAA: a += b → a -= b
        OAAA: a += b → a *= b
        OAAA: a += b → a /= b
        OAAA: a += b → a %= b
        OABA: a += b → a &= b
        OABA: a += b → a |= b
        OABA: a += b → a ^= b
        OASA: a += b → a <<= b
        OASA: a += b → a >>= b
        OAEA: a += b → a = b
    "#]],
    );
    check(
        "OBBA,OBAA,OBSA,OBEA",
        "int a, b",
        "a |= b",
        expect![[r#"
        OBBA: a |= b → a &= b
        OBBA: a |= b → a ^= b
        OBAA: a |= b → a += b
        OBAA: a |= b → a -= b
        OBAA: a |= b → a *= b
        OBAA: a |= b → a /= b
        OBAA: a |= b → a %= b
        OBSA: a |= b → a <<= b
        OBSA: a |= b → a >>= b
        OBEA: a |= b → a = b
    "#]],
    );
    check(
        "OSSA,OSAA,OSBA,OSEA",
        "int a, b",
        "a <<= b",
        expect![[r#"
        OSSA: a <<= b → a >>= b
        OSAA: a <<= b → a += b
        OSAA: a <<= b → a -= b
        OSAA: a <<= b → a *= b
        OSAA: a <<= b → a /= b
        OSAA: a <<= b → a %= b
        OSBA: a <<= b → a &= b
        OSBA: a <<= b → a |= b
        OSBA: a <<= b → a ^= b
        OSEA: a <<= b → a = b
    "#]],
    );
    check(
        "OEAA,OEBA,OESA",
        "int a, b",
        "a = b - 1",
        expect![[r#"
        OEAA: a = b - 1 → a += b - 1
        OEAA: a = b - 1 → a -= b - 1
        OEAA: a = b - 1 → a *= b - 1
        OEAA: a = b - 1 → a /= b - 1
        OEAA: a = b - 1 → a %= b - 1
        OEBA: a = b - 1 → a &= b - 1
        OEBA: a = b - 1 → a |= b - 1
        OEBA: a = b - 1 → a ^= b - 1
        OESA: a = b - 1 → a <<= b - 1
        OESA: a = b - 1 → a >>= b - 1
    "#]],
    );
    check(
        "OEAA,OEBA,OESA,OAEA",
        "double d; int a",
        "d = a",
        expect![[r#"
        OEAA: d = a → d += a
        OEAA: d = a → d -= a
        OEAA: d = a → d *= a
        OEAA: d = a → d /= a
    "#]],
    );
}

#[test]
fn logic() {
    check(
        "OLLN,OLNG,OCNG",
        "int a, b, c",
        "if (a && b > c)",
        expect![[r#"
        OLNG: a → !a
        OLNG: b > c → !(b > c)
        OLNG: a && b > c → !(a && b > c)
        OLLN: a && b > c → a || b > c
    "#]],
    );
    check(
        "OLLN",
        "int a, b, c",
        "if (a && b && c || a)",
        expect![[r#"
            OLLN: a && b → (a || b)
            OLLN: a && b && c → a && b || c
            OLLN: a && b && c || a → a && b && c && a
        "#]],
    );
    check(
        "OLAN,OLBN,OLRN,OLSN",
        "int a, b",
        "if (a || !b)",
        expect![[r#"
        OLAN: a || !b → a + !b
        OLAN: a || !b → a - !b
        OLAN: a || !b → a * !b
        OLAN: a || !b → a / !b
        OLAN: a || !b → a % !b
        OLBN: a || !b → a & !b
        OLBN: a || !b → a | !b
        OLBN: a || !b → a ^ !b
        OLRN: a || !b → a < !b
        OLRN: a || !b → a <= !b
        OLRN: a || !b → a > !b
        OLRN: a || !b → a >= !b
        OLRN: a || !b → a == !b
        OLRN: a || !b → a != !b
        OLSN: a || !b → a << !b
        OLSN: a || !b → a >> !b
    "#]],
    );
    check(
        "OCNG,OLNG",
        "int a",
        "if (!a)",
        expect![[r#"
        OCNG: !a → a
    "#]],
    );
    check(
        "COD",
        "int a, b, c",
        "c = a && b",
        expect![[r#"
        COD: a && b → !!a
        COD: a && b → !!b
    "#]],
    );
}

#[test]
fn constants_and_twiddles() {
    check(
        "CRCR",
        "int a; unsigned u; unsigned char c",
        "a = u + c",
        expect![[r#"
        CRCR: u → 0u
        CRCR: u → 1u
        CRCR: u → -1u
        CRCR: c → 0
        CRCR: c → 1
        CRCR: c → 255
    "#]],
    );
    check(
        "CRCR",
        "long n; double d",
        "n = d * 2 + 1",
        expect![[r#"
        CRCR: d → 0.0
        CRCR: d → 1.0
        CRCR: d → -1.0
        CRCR: 2 → 0
        CRCR: 2 → 1
        CRCR: 2 → -1
        CRCR: 1 → 0
        CRCR: 1 → -1
    "#]],
    );
    check(
        "CRCR",
        "int xs[4]; int i",
        "xs[i] - 1",
        expect![[r#"
        CRCR: i → 0
        CRCR: i → 1
        CRCR: i → -1
        CRCR: xs[i] → 0  ~
        CRCR: xs[i] → 1  ~
        CRCR: xs[i] → -1  ~
        CRCR: 1 → 0
        CRCR: 1 → -1
    "#]],
    );
    check(
        "VTWD",
        "int i, n; char c",
        "i - n * c",
        expect![[r#"
        VTWD: i → i + 1
        VTWD: i → i - 1
        VTWD: n → (n + 1)
        VTWD: n → (n - 1)
        VTWD: c → (c + 1)  ~
        VTWD: c → (c - 1)  ~
    "#]],
    );
    check(
        "INLINE_CONSTS",
        "int a",
        "if (a + 16 < 10 && a != 0)",
        expect![[r#"
        INLINE_CONSTS: 16 → 17
        INLINE_CONSTS: 0 → 1
    "#]],
    );
}

#[test]
fn variables() {
    check(
        "VLSR,VGSR",
        "int a, b; long c; global int g; int d, e, h",
        "if (b < a)",
        expect![[r#"
        VLSR: b → a
        VLSR: b → d
        VLSR: b → e
        VLSR: b → h
        VGSR: b → g
        VLSR: a → b
        VLSR: a → d
        VLSR: a → e
        VLSR: a → h
        VGSR: a → g
    "#]],
    );
    check(
        "VLSR",
        "int a, b; const int c; int d",
        "a = b",
        expect![[r#"
        VLSR: a → b
        VLSR: a → d
        VLSR: b → a
        VLSR: b → c
        VLSR: b → d
    "#]],
    );
    check(
        "VLSR",
        "int a, b",
        "a += b",
        expect![[r#"
        VLSR: b → a
    "#]],
    );
    check(
        "VLAR,VGAR",
        "int xs[4], ys[4]; char s[4]; global int zs[4]; int i",
        "xs[i]",
        expect![[r#"
        VLAR: xs → ys
        VGAR: xs → zs
    "#]],
    );
}

#[test]
fn casts() {
    check(
        "OCOR",
        "int i",
        "(unsigned char)i",
        expect![[r#"
        OCOR: (unsigned char)i → (float)i  ~
    "#]],
    );
    check(
        "OCOR",
        "double d",
        "(int)d",
        expect![[r#"
        OCOR: (int)d → (signed char)d
        OCOR: (int)d → (unsigned char)d
        OCOR: (int)d → (short)d
        OCOR: (int)d → (unsigned short)d
        OCOR: (int)d → (unsigned int)d  ~
        OCOR: (int)d → (long)d  ~
        OCOR: (int)d → (unsigned long)d  ~
        OCOR: (int)d → (float)d  ~
    "#]],
    );
    check(
        "OCOR",
        "int i",
        "(double)(i + 1)",
        expect![[r#"
        OCOR: (double)(i + 1) → (signed char)(i + 1)
        OCOR: (double)(i + 1) → (unsigned char)(i + 1)
        OCOR: (double)(i + 1) → (short)(i + 1)
        OCOR: (double)(i + 1) → (unsigned short)(i + 1)
        OCOR: (double)(i + 1) → (unsigned int)(i + 1)
        OCOR: (double)(i + 1) → (unsigned long)(i + 1)  ~
        OCOR: (double)(i + 1) → (float)(i + 1)
    "#]],
    );
}

#[test]
fn the_set_of_mu2() {
    check(
        "mu2",
        "int i, n",
        "if (i <= n && !i)",
        expect![[r#"
            CONDITIONALS_BOUNDARY: i <= n → i < n
            NEGATE_CONDITIONALS: i <= n → i > n
            NEGATE_CONDITIONALS: !i → i
        "#]],
    );
    check(
        "mu2",
        "int i, n",
        "i++ + -n * 2 % 3",
        expect![[r#"
            INCREMENTS: i++ → i--
            INVERT_NEGS: -n → n
            MATH: -n * 2 → -n / 2
            MATH: -n * 2 % 3 → -n * 2 * 3
            MATH: i++ + -n * 2 % 3 → i++ - -n * 2 % 3
        "#]],
    );
    check(
        "mu2",
        "int i",
        "i <<= 2",
        expect![[r#"
        MATH: i <<= 2 → i >>= 2
    "#]],
    );
    check(
        "mu2",
        "int n",
        "return n + 1",
        expect![[r#"
        MATH: n + 1 → n - 1
        RETURN_VALS: n + 1 → 0
    "#]],
    );
    check(
        "mu2",
        "int n",
        "return f(n)",
        expect![[r#"
        RETURN_VALS: f(n) → (f(n), 0)
    "#]],
    );
    check(
        "mu2",
        "char * p",
        "return p",
        expect![[r#"
        RETURN_VALS: p → 0
    "#]],
    );
    check(
        "mu2",
        "_Bool b",
        "return b",
        expect![[r#"
        RETURN_VALS: b → 0
        RETURN_VALS: b → 1
    "#]],
    );
    check(
        "mu2",
        "int n",
        "return 0",
        expect![[r#"
        RETURN_VALS: 0 → 1
    "#]],
    );
}

#[test]
fn the_compact_set_is_small() {
    check(
        "compact",
        "int i, n, total",
        "if (i < n)",
        expect![[r#"
        CONDITIONALS_BOUNDARY: i < n → i <= n
        NEGATE_CONDITIONALS: i < n → i >= n
    "#]],
    );
    check(
        "compact",
        "int i, n, total",
        "total = total + i * 16",
        expect![[r#"
            INLINE_CONSTS: 16 → 17
            MATH: i * 16 → i / 16
            MATH: total + i * 16 → total - i * 16
            SSDL: total = total + i * 16 → total = total
        "#]],
    );
    check(
        "compact",
        "int i, n, total",
        "total += f(i)",
        expect![[r#"
        MATH: total += f(i) → total -= f(i)
        SSDL: total += f(i) → total = (f(i), total)
    "#]],
    );
    check(
        "compact",
        "int i, n, total",
        "total = f(i)",
        expect![[r#"
        SSDL: total = f(i) → total = (f(i), total)
    "#]],
    );
    check(
        "compact",
        "char * p; int n",
        "if (p && n)",
        expect![[r#"
        NEGATE_CONDITIONALS: n → !n
        OLLN: p && n → p || n
    "#]],
    );
    check(
        "compact",
        "int n",
        "return 0",
        expect![[r#"
        INLINE_CONSTS: 0 → 1
    "#]],
    );
    check(
        "compact",
        "int n",
        "n++",
        expect![[r#"
        INCREMENTS: n++ → n--
    "#]],
    );
}

#[test]
fn the_rest() {
    check(
        "UOD,UOI,ABS,REMOVE_CONDITIONALS",
        "int a; unsigned u",
        "if (!a + ~u)",
        expect![[r#"
            UOI: a → -a
            ABS: a → (a < 0 ? -a : a)
            UOD: !a → a
            UOI: u → -u
            UOD: ~u → u
            REMOVE_CONDITIONALS: !a + ~u → 1
            REMOVE_CONDITIONALS: !a + ~u → 0
        "#]],
    );
}

#[test]
fn members_are_replaced_by_their_nearest_siblings() {
    use crate::site::{Role, Sibling};
    use cairn_model::mutants::ValueType;
    let mut scene = Scene::new("int start", "start");
    let site = &mut scene.map.sites[0];
    site.kind = cairn_model::facts::ExpressionKind::Member;
    site.text = "line->start".to_owned();
    let spot = &mut scene.function.spots[0];
    spot.role = Role::Member { offset: 8 };
    spot.value_type = ValueType::Pointer;
    spot.siblings = [("far", 80), ("end", 16), ("before", 0), ("start", 8), ("a", 24), ("b", 32)]
        .map(|(name, offset)| Sibling { name: name.to_owned(), offset })
        .to_vec();
    expect![[r#"
        VSCR: line->start → line->before
        VSCR: line->start → line->end
        VSCR: line->start → line->a
        VSCR: line->start → line->b
    "#]]
    .assert_eq(&proposed(&scene, "VSCR"));
}

#[test]
fn expressions_in_macros_are_told_without_their_text() {
    let mut scene = Scene::new("int a, b", "if (a < b)");
    let extent = scene.map.sites[0].extent;
    for site in &mut scene.map.sites {
        site.macro_name = Some("LESS".to_owned());
        site.text = "LESS(a, b)".to_owned();
        site.extent = extent;
    }
    expect![[r#"
        VTWD: LESS(a, b) → a + 1  ~
        VTWD: LESS(a, b) → a - 1  ~
        VTWD: LESS(a, b) → b + 1  ~
        VTWD: LESS(a, b) → b - 1  ~
        CONDITIONALS_BOUNDARY: LESS(a, b) → a <= b  ~
        NEGATE_CONDITIONALS: LESS(a, b) → a >= b  ~
    "#]]
    .assert_eq(&proposed(&scene, "compact,VTWD"));
}

#[test]
fn text_that_is_not_all_of_the_source_is_not_plain() {
    // `DEC * 2` with `#define DEC x - 1`: what is multiplied is only the end of the macro, and it is part of both sides of
    // the subtraction.
    let mut scene = Scene::new("int x", "x - 1 * 2");
    let start = scene.map.sites[0].extent.start;
    for (site, text) in [(1, "DEC"), (2, "DEC * 2"), (3, "DEC")] {
        scene.map.sites[site].text = text.to_owned();
        scene.map.sites[site].macro_name = Some("DEC".to_owned()).filter(|name| name == text);
    }
    for site in &mut scene.map.sites[..4] {
        site.extent.start = start;
    }
    expect![[r#"
        MATH: DEC * 2 → DEC / 2  ~
        MATH: x - 1 * 2 → DEC + DEC * 2  ~
    "#]]
    .assert_eq(&proposed(&scene, "math"));
    // White space in strings was collapsed, and long texts were cut.
    for text in [String::from("f(\"a b\")"), "x".repeat(200)] {
        let mut scene = Scene::new("int x, y", "x + y");
        scene.map.sites[1].text = text;
        assert!(
            scene.proposals(&"OAAN".parse().unwrap()).iter().all(|(_, proposal)| !proposal.is_plain_text)
        );
    }
}

#[test]
fn ids_are_stable_and_tell_mutants_apart() {
    let ids = |declarations, line| {
        let scene = Scene::new(declarations, line);
        let proposals = scene.proposals(&"all".parse().unwrap());
        proposals.into_iter().map(|(_, proposal)| proposal.stable_id).collect::<Vec<_>>()
    };
    let first = ids("int a, b, c", "if (a < b && c)");
    let mut unique = first.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), first.len());
    assert_eq!(first, ids("int a, b, c", "if (a < b && c)"));
    // Another variable in the function changes only what uses it.
    let more = ids("int a, b, c; int d", "if (a < b && c)");
    assert!(first.iter().all(|id| more.contains(id)));
}
