//! Who a request is from: nobody has to say where only this machine can connect; else a bearer token says it.

mod tokens;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap};

use crate::rpc::principal::{Access, Principal};
pub use tokens::{TokenError, Tokens};

/// How it is found out who a request is from.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Auth {
    /// Whoever can connect is the person whose machine this is.
    #[default]
    Local,
    /// One of these tokens must come with each request.
    Tokens(Tokens),
}

/// A request is not let in, or not this far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) status: StatusCode,
    /// The value of `WWW-Authenticate`.
    pub(crate) header: String,
    pub(crate) why: &'static str,
}

impl Auth {
    /// Whether a request has to say who it is from.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !matches!(self, Auth::Local)
    }

    /// Who a request is from.
    pub(crate) async fn principal(&self, headers: &HeaderMap) -> Result<Principal, Challenge> {
        let tokens = match self {
            Auth::Local => return Ok(Principal::local()),
            Auth::Tokens(tokens) => tokens,
        };
        let token = bearer(headers).map_err(|why| self.unauthorized(why))?;
        tokens.principal(token).ok_or_else(|| self.unauthorized(Why::Invalid))
    }

    /// What a principal is told who must be allowed more.
    pub(crate) fn lacks(&self, needed: Access) -> Challenge {
        let scope = match needed {
            Access::Nothing => String::new(),
            // All that is needed, so that whoever asks for more does not lose what they had.
            Access::Read => Access::Read.scope().to_owned(),
            Access::Write => format!("{} {}", Access::Read.scope(), Access::Write.scope()),
        };
        Challenge {
            status: StatusCode::FORBIDDEN,
            header: format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""),
            why: "the token does not allow this",
        }
    }

    fn unauthorized(&self, why: Why) -> Challenge {
        let (error, why) = match why {
            Why::Missing => ("", "a bearer token is needed"),
            Why::Malformed => (" error=\"invalid_request\"", "the header authorization must be: Bearer TOKEN"),
            Why::Invalid => (" error=\"invalid_token\"", "the token is not one that is accepted"),
        };
        Challenge { status: StatusCode::UNAUTHORIZED, header: format!("Bearer{error}"), why }
    }
}

/// Why nobody is known by a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Missing,
    Malformed,
    Invalid,
}

fn bearer(headers: &HeaderMap) -> Result<&str, Why> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Err(Why::Missing),
        (Some(value), None) => value.to_str().map_err(|_| Why::Malformed)?,
        (Some(_), Some(_)) => return Err(Why::Malformed),
    };
    let (scheme, token) = value.trim().split_once(' ').ok_or(Why::Malformed)?;
    let token = token.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && !token.contains(' ') {
        Ok(token)
    } else {
        Err(Why::Malformed)
    }
}
