//! The manual of the operators, as `docs/mutation-operators.md` has it.

use crate::catalogue::{MAX_ALTERNATIVES, Maker, Operator, Set, operators};
use std::fmt::Write;

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = String::new();
    page.push_str(INTRODUCTION);
    page.push_str("\n## Sets\n\n| set | operators | what it is |\n|---|---|---|\n");
    for set in Set::EACH {
        let n_made = operators().filter(|operator| operator.is_in(set) && operator.is_made()).count();
        line(&mut page, format_args!("| `{}` | {n_made} | {} |", set.name(), set.meaning()));
    }
    page.push_str(
        "\nA list may name sets, operators and codes, and `-` takes one out again: `compact,VTWD,-math`.\n",
    );
    page.push_str("\n## All operators\n\n| operator | code | sets |\n|---|---|---|\n");
    for operator in operators() {
        let name = format!("[`{0}`](#{0})", operator.name);
        line(&mut page, format_args!("| {name} | `{}` | {} |", operator.code, sets(operator)));
    }
    for operator in operators() {
        describe(&mut page, operator);
    }
    page
}

const INTRODUCTION: &str = "\
<!-- Written by the tests of cairn-mutants from the catalogue; do not edit. -->

# Mutation operators

A mutant is a small change of the program.
A test *kills* it if the changed program behaves differently; a mutant that *survives* all tests shows something that they do not check.

Codes are those of Agrawal et al. (*Design of Mutant Operators for the C Programming Language*, 1989), where an operator of that name exists, else those of PIT and other tools.

These rules hold for all operators:

- Only what C can compute is proposed: nothing on pointers but comparisons and other pointers, no `%`, bits or shifts on floating-point numbers, no division by a constant 0.
- What is the same at first sight is not proposed; what the optimiser shows to be the same is dropped and counted.
- Integers wrap around, amounts of shifts are taken modulo the width, and a division by zero raises SIGFPE, as the machine does.
- A mutant changes one value. What the original expression does besides (calls, assignments) still happens.
- What two operators propose alike is proposed once, by the first of them in the list below.
";

fn describe(page: &mut String, operator: &Operator) {
    line(page, format_args!("\n## `{}`\n", operator.name));
    line(page, format_args!("Code `{}`; in {}.\n", operator.code, sets(operator)));
    line(page, format_args!("**What it changes.** {}", operator.meaning));
    if operator.code.starts_with('V') && operator.code != "VTWD" {
        line(
            page,
            format_args!("At most {MAX_ALTERNATIVES} are tried at one place, those declared nearest."),
        );
    }
    if let Maker::NotMade(reason) = operator.maker {
        line(page, format_args!("\n**Not made**, because {reason}."));
    }
    line(page, format_args!("\n**What surviving means.** {}", operator.surviving));
    let example = operator.example;
    line(page, format_args!("\n```diff\n- {}\n+ {}\n```\n", example.before, example.after));
    line(page, format_args!("**How to kill it.** {}", operator.kill));
}

fn sets(operator: &Operator) -> String {
    let sets = Set::EACH.into_iter().filter(|set| operator.is_in(*set));
    sets.map(|set| format!("`{}`", set.name())).collect::<Vec<_>>().join(", ")
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    /// `UPDATE_EXPECT=1 cargo test -p cairn-mutants docs` writes the page anew.
    #[test]
    fn the_page_in_the_book_is_current() {
        expect_file!["../../../docs/mutation-operators.md"].assert_eq(&page());
    }
}
