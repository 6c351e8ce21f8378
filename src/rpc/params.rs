//! The params of a method as its type, and what does not fit in words that name no type of ours.

use jsonrpsee::types::Params;
use serde::Deserialize;

use crate::rpc::error::RpcError;

/// Reads what jsonrpsee hands over.
///
/// # Errors
/// See [`read`].
pub(super) fn of<'a, T: Deserialize<'a>>(params: &'a Params<'_>) -> Result<T, RpcError> {
    read(params.as_str().unwrap_or("{}"))
}

/// Reads params as they stand; `null` is as good as none.
///
/// # Errors
/// They are not an object, or a member is missing or not what it must be.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, RpcError> {
    let text = if text == "null" { "{}" } else { text };
    if !text.starts_with('{') {
        return Err(RpcError::invalid_params("params must be an object"));
    }
    // Keeping track of the path costs more than the reading, so it is done only to tell where a fault lies.
    serde_json::from_str(text).or_else(|_| {
        let mut reader = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            RpcError::invalid_params(said(&path, &error.into_inner()))
        })
    })
}

/// What `error` says, of the member at `path`. Where in the text that is tells a client nothing: it has not seen it.
fn said(path: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    let text = match text.split_once("expected ") {
        Some((found, wanted)) if wanted.starts_with("struct ") || wanted.contains("tagged enum ") => {
            format!("{found}expected an object")
        }
        _ => text.to_owned(),
    };
    // What cannot be named is a dot or a question mark.
    match path.trim_end_matches(['.', '?']) {
        "" => text,
        path => format!("{path}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Wanted {
        name: String,
        inner: Option<Inner>,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Inner {
        uri: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "type")]
    enum Kind {
        #[serde(rename = "ref/prompt")]
        Prompt {},
    }

    #[test]
    fn what_does_not_fit_is_said_plainly() {
        for (params, want) in [
            ("null", "missing field `name`"),
            ("{}", "missing field `name`"),
            ("[]", "params must be an object"),
            ("7", "params must be an object"),
            (r#""name""#, "params must be an object"),
            (r#"{"name":7}"#, "name: invalid type: integer `7`, expected a string"),
            (r#"{"name":null}"#, "name: invalid type: null, expected a string"),
            (r#"{"name":"a","name":"b"}"#, "duplicate field `name`"),
            (r#"{"name":"a","inner":7}"#, "inner: invalid type: integer `7`, expected an object"),
            (r#"{"name":"a","inner":{"uri":[]}}"#, "inner.uri: invalid type: sequence, expected a string"),
            (r#"{"name":"a","inner":{}}"#, "inner: missing field `uri`"),
            (r#"{"name":"a","kind":7}"#, "kind: invalid type: integer `7`, expected an object"),
            (r#"{"name":"a","kind":{}}"#, "kind: missing field `type`"),
            (r#"{"name":"a","kind":{"type":"x"}}"#, "kind.type: unknown variant `x`, expected `ref/prompt`"),
        ] {
            let error = read::<Wanted>(params).expect_err(params);
            assert_eq!((error.code, error.message), (-32602, format!("Invalid params: {want}")), "{params}");
        }
        read::<Wanted>(r#"{"name":"a","inner":{"uri":"x"},"kind":{"type":"ref/prompt"},"more":[]}"#).expect("params");
    }
}
