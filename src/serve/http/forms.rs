//! The forms of messages: which ones a client takes as an answer, and in which one it has sent a request.

use hyper::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, TRANSFER_ENCODING};

/// In which forms a client takes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// Who says nothing takes both. How much a form is liked does not matter, but for not at all (`q=0`): which one it is
    /// depends on what there is to say.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let values = headers.get_all(ACCEPT);
        if values.iter().next().is_none() {
            return Accepts { json: true, events: true };
        }
        let (mut json, mut events) = (Choice::default(), Choice::default());
        let ranges = values.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        for range in ranges {
            let mut parts = range.split(';');
            let kind = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
            let wanted = !parts.any(is_unwanted);
            json.hear(&kind, ["application/json", "application/*", "*/*"], wanted);
            events.hear(&kind, ["text/event-stream", "text/*", "*/*"], wanted);
        }
        Accepts { json: json.wanted, events: events.wanted }
    }
}

/// What is said about one form; the closest range counts.
#[derive(Default)]
struct Choice {
    /// How close the range was, in thirds.
    close: usize,
    wanted: bool,
}

impl Choice {
    fn hear(&mut self, kind: &str, ranges: [&str; 3], wanted: bool) {
        let Some(at) = ranges.iter().position(|range| *range == kind) else { return };
        let close = ranges.len() - at;
        if close > self.close {
            *self = Choice { close, wanted };
        } else if close == self.close {
            self.wanted |= wanted;
        }
    }
}

/// Whether a parameter says that a form is not taken: `q=0`, `q=0.000`.
fn is_unwanted(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, value)| {
        let value = value.trim();
        name.trim().eq_ignore_ascii_case("q")
            && value.strip_prefix('0').is_some_and(|rest| rest.trim_start_matches('.').bytes().all(|byte| byte == b'0'))
    })
}

/// Why the body of a request is of no form that is read.
pub(super) fn unreadable(headers: &HeaderMap) -> Option<&'static str> {
    let kind = one(headers, CONTENT_TYPE).and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        return Some("the body must be application/json");
    }
    let plain = !headers.contains_key(CONTENT_ENCODING)
        || one(headers, CONTENT_ENCODING).is_some_and(|coding| coding.trim().eq_ignore_ascii_case("identity"));
    (!plain).then_some("the body must not be packed")
}

/// Whether a body is sent in a way that something on the way here may have taken for another one: then nobody can tell
/// where the next request begins.
pub(super) fn is_ambiguous(headers: &HeaderMap) -> bool {
    let is_plain = |coding: &str| coding.trim().eq_ignore_ascii_case("chunked");
    headers.contains_key(TRANSFER_ENCODING) && !one(headers, TRANSFER_ENCODING).is_some_and(is_plain)
}

/// A header that is there once, and is text.
fn one(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &HeaderName, values: &[&str]) -> HeaderMap {
        let values = values.iter().map(|value| value.parse().expect("a value"));
        values.fold(HeaderMap::new(), |mut headers, value| {
            headers.append(name.clone(), value);
            headers
        })
    }

    #[test]
    fn forms_that_a_client_takes() {
        for (accept, json, events) in [
            (&[][..], true, true),
            (&["application/json, text/event-stream"], true, true),
            (&["application/json", "text/event-stream"], true, true),
            (&["*/*"], true, true),
            (&["application/*"], true, false),
            (&["Text/Event-Stream; Q=0.5"], false, true),
            (&["application/json;q=0, text/event-stream"], false, true),
            (&["application/json; q=0.000, */*"], false, true),
            (&["*/*, text/event-stream;q=0"], true, false),
            (&["text/*;q=0, text/event-stream;q=0.1, */*;q=0"], false, true),
            (&["application/json;q=0.001"], true, false),
            (&["application/json;profile=\"x\";q=1.0"], true, false),
            (&["*/*;q=0"], false, false),
            (&["text/html", "image/*"], false, false),
            (&["application/jsonx, xtext/event-stream, text/event-streams"], false, false),
            (&[""], false, false),
        ] {
            assert_eq!(Accepts::read(&headers(&ACCEPT, accept)), Accepts { json, events }, "{accept:?}");
        }
    }

    #[test]
    fn bodies_that_are_read() {
        for (kinds, good) in [
            (&["application/json"][..], true),
            (&["Application/JSON; charset=utf-8"], true),
            (&[" application/json ;a=b"], true),
            (&[], false),
            (&["text/plain"], false),
            (&["application/json, text/plain"], false),
            (&["application/json", "text/plain"], false),
            (&["text/plain; application/json"], false),
            (&["application/jsonp"], false),
        ] {
            assert_eq!(unreadable(&headers(&CONTENT_TYPE, kinds)).is_none(), good, "{kinds:?}");
        }
        for (coding, good) in [("identity", true), ("gzip", false), ("", false)] {
            let mut packed = headers(&CONTENT_TYPE, &["application/json"]);
            packed.insert(CONTENT_ENCODING, coding.parse().expect("a value"));
            assert_eq!(unreadable(&packed).is_none(), good, "{coding:?}");
        }
    }

    #[test]
    fn bodies_whose_end_is_beyond_doubt() {
        for (codings, good) in [
            (&[][..], true),
            (&["chunked"], true),
            (&["Chunked "], true),
            (&["gzip, chunked"], false),
            (&["chunked", "chunked"], false),
            (&["chunked, identity"], false),
            (&["xchunked"], false),
        ] {
            assert_eq!(!is_ambiguous(&headers(&TRANSFER_ENCODING, codings)), good, "{codings:?}");
        }
    }
}
