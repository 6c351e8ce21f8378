//! A file of tokens, one a line: who each is for, the token, and how much it allows.

use std::path::Path;

use subtle::{Choice, ConstantTimeEq};

use crate::rpc::principal::{Access, Principal};

/// Whoever can guess a token is in; shorter ones can be.
const SHORTEST: usize = 16;

/// The tokens that are accepted. Only their hashes are kept.
pub struct Tokens {
    known: Vec<([u8; 32], Principal)>,
}

/// A file of tokens is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It cannot be read.
    #[error("the token file {path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not one.
    #[error("line {line} of the token file: {what}")]
    Fault {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// There is nothing in it.
    #[error("the token file holds no token; a line is `NAME TOKEN`, such as `alice {}`", "d5fd0e26c0a34a3f")]
    Empty,
}

impl Tokens {
    /// Reads a file.
    ///
    /// # Errors
    /// See [`TokenError`].
    #[expect(clippy::disallowed_methods, reason = "tokens lie outside of workspaces")]
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| TokenError::Unreadable { path: path.display().to_string(), source })?;
        Tokens::parse(&text)
    }

    /// Reads `NAME TOKEN`, or `NAME TOKEN read`, a line; empty lines and those that begin with `#` say nothing. A line
    /// with a token alone is for `token`.
    ///
    /// # Errors
    /// A line is none of that, or a token can be guessed.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut known: Vec<([u8; 32], Principal)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let fault = |what| Err(TokenError::Fault { line: number + 1, what });
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let (name, token, access) = match words.as_slice() {
                [token] => ("token", *token, Access::Write),
                [name, token] => (*name, *token, Access::Write),
                [name, token, "read"] => (*name, *token, Access::Read),
                [name, token, "write"] => (*name, *token, Access::Write),
                _ => return fault("it must be `NAME TOKEN`, with `read` behind it for who may only look"),
            };
            if token.len() < SHORTEST {
                return fault("the token has fewer than 16 characters; make one with: openssl rand -hex 32");
            }
            let hash = *blake3::hash(token.as_bytes()).as_bytes();
            if known.iter().any(|(other, _)| *other == hash) {
                return fault("the token is there already");
            }
            known.push((hash, Principal { name: name.to_owned(), access }));
        }
        if known.is_empty() { Err(TokenError::Empty) } else { Ok(Tokens { known }) }
    }

    /// Who a token is for. How long that takes says nothing about the tokens.
    pub(super) fn principal(&self, token: &str) -> Option<Principal> {
        let hash = *blake3::hash(token.as_bytes()).as_bytes();
        let mut found = None;
        for (known, principal) in &self.known {
            let same: Choice = known.ct_eq(&hash);
            if bool::from(same) {
                found = Some(principal);
            }
        }
        found.cloned()
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_token_file() {
        let tokens =
            Tokens::parse("# who\n\nalice 0123456789abcdef\r\nbob  fedcba9876543210 read\naaaaaaaaaaaaaaaaaaaa\n");
        let tokens = tokens.expect("a file");
        for (token, who) in [
            ("0123456789abcdef", Some(("alice", Access::Write))),
            ("fedcba9876543210", Some(("bob", Access::Read))),
            ("aaaaaaaaaaaaaaaaaaaa", Some(("token", Access::Write))),
            ("0123456789abcdeF", None),
            ("", None),
        ] {
            let who = who.map(|(name, access)| Principal { name: name.to_owned(), access });
            assert_eq!(tokens.principal(token), who, "{token}");
        }
        for bad in
            ["", "# nothing\n", "short", "a b c d", "a 0123456789abcdef\nb 0123456789abcdef", "a 0123456789abcdef x"]
        {
            assert!(Tokens::parse(bad).is_err(), "{bad}");
        }
    }
}
