//! Whom a browser may lead here: the names under which the server is asked for, and the pages that ask.
//!
//! A page of a stranger can make a browser send requests to this machine, under the name of that page (then `Origin`
//! tells) or under a name of its own that leads here (then `Host` does). Both are checked for every path, before
//! anything else (MCP 2026-07-28, basic/transports/streamable-http).

use std::net::IpAddr;

use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};

/// Whom to let in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    /// Names, beside those of this machine, under which the server may be asked for. Without a port any port will do.
    hosts: Vec<String>,
    /// Pages, beside those of this machine, that may ask, such as `https://example.com`.
    origins: Vec<String>,
}

/// A request is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("the header {0} is missing, or there more than once, or malformed")]
    Malformed(&'static str),
    #[error("this server is not called {0:?}; if it should be, start it with --allow-host {0}")]
    Host(String),
    #[error("pages of {0:?} may not ask this server; if they should, start it with --allow-origin {0}")]
    Origin(String),
}

impl Refused {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Refused::Malformed(_) => StatusCode::BAD_REQUEST,
            Refused::Host(_) | Refused::Origin(_) => StatusCode::FORBIDDEN,
        }
    }
}

impl Guard {
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Self {
        let lower =
            |texts: &[String]| texts.iter().map(|text| text.trim_end_matches('/').to_ascii_lowercase()).collect();
        Guard { hosts: lower(hosts), origins: lower(origins) }
    }

    /// Lets in a request that came to the address `local`, or not. What comes back is the origin that may see the answer.
    pub(crate) fn admit<'a>(
        &self,
        uri: &Uri,
        headers: &'a HeaderMap,
        local: IpAddr,
    ) -> Result<Option<&'a str>, Refused> {
        let host = one(headers, HOST)?;
        // A request may name its host in its first line too; then that is what counts elsewhere.
        let named = [host, uri.authority().map(Authority::as_str)];
        if named.iter().all(Option::is_none) {
            return Err(Refused::Malformed("host"));
        }
        for authority in named.into_iter().flatten() {
            self.admit_host(authority, local)?;
        }
        let origin = one(headers, ORIGIN)?;
        match origin {
            Some(origin) if !self.is_origin(origin) => Err(Refused::Origin(origin.to_owned())),
            origin => Ok(origin),
        }
    }

    fn admit_host(&self, text: &str, local: IpAddr) -> Result<(), Refused> {
        let authority: Authority = text.parse().map_err(|_| Refused::Malformed("host"))?;
        let (whole, name) = (text.to_ascii_lowercase(), authority.host().to_ascii_lowercase());
        // An address is not a name that somebody else could have led here.
        let is_address = address(&name).is_some_and(|address| address == local.to_canonical());
        if is_loopback(&name) || is_address || self.hosts.iter().any(|host| *host == whole || *host == name) {
            Ok(())
        } else {
            Err(Refused::Host(text.to_owned()))
        }
    }

    fn is_origin(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let authority = rest.and_then(|rest| rest.parse::<Authority>().ok());
        authority.is_some_and(|authority| !authority.as_str().contains('@') && is_loopback(authority.host()))
    }
}

/// Whether a name always means this machine.
fn is_loopback(name: &str) -> bool {
    name == "localhost" || address(name).is_some_and(|address| address.is_loopback())
}

fn address(name: &str) -> Option<IpAddr> {
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// A header that may be there once.
fn one(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Refused> {
    let what = if name == HOST { "host" } else { "origin" };
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Refused::Malformed(what)),
        (Some(_), Some(_)) => Err(Refused::Malformed(what)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

    fn status(uri: &str, headers: &[(HeaderName, &str)]) -> u16 {
        let guard = Guard::new(
            &["Files.Example".to_owned(), "other.example:81".to_owned()],
            &["https://app.example/".to_owned()],
        );
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.clone(), value.parse().expect("a value")))
            .fold(HeaderMap::new(), |mut all, (name, value)| {
                all.append(name, value);
                all
            });
        match guard.admit(&uri.parse().expect("a URI"), &headers, LOCAL) {
            Ok(_) => 200,
            Err(refused) => refused.status().as_u16(),
        }
    }

    #[test]
    fn names_of_the_server() {
        for (host, want) in [
            ("127.0.0.1", 200),
            ("127.0.0.1:8765", 200),
            ("localhost:1", 200),
            ("LOCALHOST", 200),
            ("[::1]:8765", 200),
            ("192.0.2.7:80", 200),
            ("192.0.2.8", 403),
            ("files.example", 200),
            ("files.example:8443", 200),
            ("other.example:81", 200),
            ("other.example:82", 403),
            ("evil.example", 403),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example", 403),
            ("a b", 400),
        ] {
            assert_eq!(status("/mcp", &[(HOST, host)]), want, "{host}");
        }
        assert_eq!(status("/mcp", &[]), 400);
        assert_eq!(status("/mcp", &[(HOST, "localhost"), (HOST, "evil.example")]), 400);
        assert_eq!(status("http://evil.example/mcp", &[(HOST, "localhost")]), 403);
        assert_eq!(status("http://localhost/mcp", &[(HOST, "evil.example")]), 403);
    }

    #[test]
    fn pages_that_may_ask() {
        for (origin, want) in [
            ("http://localhost:6274", 200),
            ("https://127.0.0.1", 200),
            ("http://[::1]:3000", 200),
            ("https://app.example", 200),
            ("http://app.example", 403),
            ("https://app.example:8443", 403),
            ("http://evil.example", 403),
            ("http://localhost.evil.example", 403),
            ("http://localhost@evil.example", 403),
            ("http://evil.example@localhost", 403),
            ("file://localhost", 403),
            ("null", 403),
            ("", 403),
        ] {
            assert_eq!(status("/mcp", &[(HOST, "localhost"), (ORIGIN, origin)]), want, "{origin}");
        }
        let twice = [(HOST, "localhost"), (ORIGIN, "http://localhost"), (ORIGIN, "http://evil.example")];
        assert_eq!(status("/mcp", &twice), 400);
    }
}
