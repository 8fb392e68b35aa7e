//! What the use of a macro becomes.

use std::rc::Rc;

/// What a macro stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// These tokens.
    Object(Vec<String>),
    /// These tokens, with arguments in place of parameters.
    Function {
        /// The parameters.
        parameters: Vec<String>,
        /// The tokens.
        body: Vec<String>,
    },
    /// Something we cannot tell: it is defined several times, pastes tokens, or takes any number of arguments.
    Unknown,
}

/// More tokens than any expression has that is worth looking at.
const MOST_TOKENS: usize = 4000;

impl Definition {
    /// Of the tokens of `NAME body` or `NAME(a, b) body`.
    pub fn read(tokens: Vec<String>, has_parameters: bool) -> Self {
        let body = tokens.get(1..).unwrap_or_default();
        if body.iter().any(|token| token.starts_with('#')) {
            return Self::Unknown;
        }
        if !has_parameters {
            return Self::Object(body.to_vec());
        }
        let Some(end) = body.iter().position(|token| token == ")") else { return Self::Unknown };
        let parameters: Vec<String> = body[1..end].iter().filter(|token| *token != ",").cloned().collect();
        if parameters.iter().any(|parameter| parameter == "...") {
            return Self::Unknown;
        }
        Self::Function { parameters, body: body[end + 1..].to_vec() }
    }
}

/// What `tokens` become when the macros in them are expanded; `None` if that cannot be told.
pub fn expand(
    tokens: Vec<String>,
    definition_of: &dyn Fn(&str) -> Option<Rc<Definition>>,
) -> Option<Vec<String>> {
    let mut expansion = Expansion { definition_of, expanded: Vec::new(), n_seen: 0 };
    expansion.expand(tokens, &mut Vec::new())?;
    Some(expansion.expanded)
}

struct Expansion<'d> {
    definition_of: &'d dyn Fn(&str) -> Option<Rc<Definition>>,
    expanded: Vec<String>,
    n_seen: usize,
}

impl Expansion<'_> {
    /// `active` are the macros being expanded: inside themselves they are names.
    fn expand(&mut self, tokens: Vec<String>, active: &mut Vec<String>) -> Option<()> {
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            self.n_seen += 1;
            if self.n_seen > MOST_TOKENS {
                return None;
            }
            let definition =
                if active.contains(&token) { None } else { (self.definition_of)(token.as_str()) };
            let replacement = match definition.as_deref() {
                None => {
                    self.expanded.push(token);
                    continue;
                }
                Some(Definition::Unknown) => return None,
                Some(Definition::Object(body)) => body.clone(),
                Some(Definition::Function { parameters, body }) => {
                    if rest.peek().is_none_or(|next| next != "(") {
                        self.expanded.push(token);
                        continue;
                    }
                    substitute(parameters, body, &arguments(&mut rest)?)?
                }
            };
            active.push(token);
            self.expand(replacement, active)?;
            active.pop();
        }
        Some(())
    }
}

/// The arguments of a use, from its `(` to its `)`.
fn arguments(tokens: &mut impl Iterator<Item = String>) -> Option<Vec<Vec<String>>> {
    tokens.next();
    let mut arguments = vec![Vec::new()];
    let mut depth = 0usize;
    loop {
        let token = tokens.next()?;
        match token.as_str() {
            ")" if depth == 0 => return Some(arguments),
            "," if depth == 0 => {
                arguments.push(Vec::new());
                continue;
            }
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        arguments.last_mut().expect("there is one from the start").push(token);
    }
}

fn substitute(parameters: &[String], body: &[String], arguments: &[Vec<String>]) -> Option<Vec<String>> {
    let fits =
        arguments.len() == parameters.len() || parameters.is_empty() && arguments == [Vec::<String>::new()];
    fits.then(|| {
        let argument = |token: &String| match parameters.iter().position(|parameter| parameter == token) {
            Some(number) => arguments[number].clone(),
            None => vec![token.clone()],
        };
        body.iter().flat_map(argument).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn expanded(definitions: &[(&str, bool)], text: &str) -> Option<String> {
        let definition_of = |name: &str| {
            let found = definitions.iter().find(|(text, _)| text.split(' ').next() == Some(name));
            found.map(|(text, has_parameters)| Rc::new(Definition::read(words(text), *has_parameters)))
        };
        expand(words(text), &definition_of).map(|tokens| tokens.join(" "))
    }

    #[test]
    fn arguments_take_the_place_of_parameters() {
        let add = ("ADD ( a , b ) a + b", true);
        assert_eq!(expanded(&[add], "ADD ( x , f ( y , z ) )").unwrap(), "x + f ( y , z )");
        assert_eq!(expanded(&[add], "ADD").unwrap(), "ADD");
        assert_eq!(expanded(&[add], "ADD ( x )"), None);
    }

    #[test]
    fn macros_in_macros_are_expanded_and_none_in_itself() {
        let two = [("TWO ONE + ONE", false), ("ONE 1", false), ("me me + 1", false)];
        assert_eq!(expanded(&two, "TWO").unwrap(), "1 + 1");
        assert_eq!(expanded(&two, "me").unwrap(), "me + 1");
    }

    #[test]
    fn what_pastes_tokens_is_not_told() {
        assert_eq!(expanded(&[("JOIN ( a , b ) a ## b", true)], "JOIN ( x , y )"), None);
    }
}
