//! Addresses with places to fill in (RFC 6570): `{name}` for a part of one, `{+name}` for parts with `/` between them.

use crate::text::uri;

/// A template of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable { name: String, slashes: bool },
}

/// A text is not a template that is understood here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateFault {
    /// A brace without its other half.
    #[error("a brace has no other half")]
    Brace,
    /// Something else than `{name}` or `{+name}`.
    #[error("{{{0}}} is neither {{name}} nor {{+name}}")]
    Expression(String),
    /// One name twice.
    #[error("{0} is there twice")]
    Twice(String),
    /// Two variables with nothing between them: nobody could tell where one ends.
    #[error("{0} follows another variable without anything between them")]
    Adjacent(String),
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// See [`TemplateFault`].
    ///
    /// ```
    /// use toolgate::text::uri_template::UriTemplate;
    /// let template = UriTemplate::parse("notes://{book}/page/{page}")?;
    /// let found = template.match_uri("notes://red%20book/page/7").expect("it fits");
    /// assert_eq!(found, [("book".to_owned(), "red book".to_owned()), ("page".to_owned(), "7".to_owned())]);
    /// assert_eq!(template.match_uri("notes://red/blue/page/7"), None);
    /// # Ok::<(), toolgate::text::uri_template::TemplateFault>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, TemplateFault> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, after) = match rest.split_once('{') {
                Some((literal, after)) => (literal, Some(after)),
                None => (rest, None),
            };
            if literal.contains('}') {
                return Err(TemplateFault::Brace);
            }
            if !literal.is_empty() {
                pieces.push(Piece::Text(literal.to_owned()));
            }
            let Some(after) = after else { break };
            let (expression, tail) = after.split_once('}').ok_or(TemplateFault::Brace)?;
            let variable = variable(expression)?;
            if let Piece::Variable { name, .. } = &variable {
                if matches!(pieces.last(), Some(Piece::Variable { .. })) {
                    return Err(TemplateFault::Adjacent(name.clone()));
                }
                if names(&pieces).any(|other| other == name) {
                    return Err(TemplateFault::Twice(name.clone()));
                }
            }
            pieces.push(variable);
            rest = tail;
        }
        Ok(UriTemplate { pieces })
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        names(&self.pieces)
    }

    /// What the variables of `uri` are, decoded, if it is one of this template's.
    #[must_use]
    pub fn match_uri(&self, uri: &str) -> Option<Vec<(String, String)>> {
        let mut found = Vec::new();
        fits(&self.pieces, uri, &mut found).then_some(())?;
        found.into_iter().map(|(name, text)| Some((name.to_owned(), uri::decode(text)?))).collect()
    }
}

fn names(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Variable { name, .. } => Some(name.as_str()),
        Piece::Text(_) => None,
    })
}

fn variable(expression: &str) -> Result<Piece, TemplateFault> {
    let (name, slashes) = expression.strip_prefix('+').map_or((expression, false), |name| (name, true));
    let sound = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match sound {
        true => Ok(Piece::Variable { name: name.to_owned(), slashes }),
        false => Err(TemplateFault::Expression(expression.to_owned())),
    }
}

/// Whether `pieces` make `text`, each variable at least one character. A variable ends where the text after it first
/// stands, or, if that leads nowhere, where it next stands.
fn fits<'a>(pieces: &'a [Piece], text: &'a str, found: &mut Vec<(&'a str, &'a str)>) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
    match piece {
        Piece::Text(literal) => text.strip_prefix(literal.as_str()).is_some_and(|after| fits(rest, after, found)),
        Piece::Variable { name, slashes } => {
            let longest = if *slashes { text.len() } else { text.find('/').unwrap_or(text.len()) };
            let next = match rest.first() {
                Some(Piece::Text(literal)) => literal.as_str(),
                _ => "",
            };
            let count = found.len();
            let ends: Vec<usize> = match next {
                "" => vec![text.len()],
                next => text.match_indices(next).map(|(at, _)| at).collect(),
            };
            for end in ends.into_iter().filter(|end| (1..=longest).contains(end)) {
                found.push((name, &text[..end]));
                if fits(rest, &text[end..], found) {
                    return true;
                }
                found.truncate(count);
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_and_what_it_says() {
        for (template, uri, want) in [
            ("a://{id}/data", "a://123/data", Some(vec!["123"])),
            ("a://{id}/data", "a://12%2F3/data", Some(vec!["12/3"])),
            ("a://{id}/data", "a:///data", None),
            ("a://{id}/data", "a://1/2/data", None),
            ("a://{id}/data", "a://1/data/", None),
            ("w:///{+path}", "w:///src/main.rs", Some(vec!["src/main.rs"])),
            ("w:///{+path}", "w:///", None),
            ("w:///{+path}", "w:///%zz", None),
            ("a://{x}-{y}", "a://1-2-3", Some(vec!["1", "2-3"])),
            ("a://{x}-{y}.md", "a://1-2.md", Some(vec!["1", "2"])),
            ("a://b", "a://b", Some(vec![])),
            ("a://b", "a://c", None),
        ] {
            let template = UriTemplate::parse(template).expect("a template");
            let found =
                template.match_uri(uri).map(|found| found.into_iter().map(|(_, text)| text).collect::<Vec<_>>());
            assert_eq!(found, want.map(|want| want.into_iter().map(str::to_owned).collect()), "{template:?} {uri}");
        }
    }

    #[test]
    fn what_is_no_template() {
        for (text, want) in [
            ("a://{id", TemplateFault::Brace),
            ("a://id}", TemplateFault::Brace),
            ("a://{}", TemplateFault::Expression(String::new())),
            ("a://{?q}", TemplateFault::Expression("?q".to_owned())),
            ("a://{a}/{a}", TemplateFault::Twice("a".to_owned())),
            ("a://{a}{b}", TemplateFault::Adjacent("b".to_owned())),
        ] {
            assert_eq!(UriTemplate::parse(text), Err(want), "{text}");
        }
    }
}
