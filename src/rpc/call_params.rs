//! What a `tools/call` is asked with, cut out of the line it came on: read once, and not copied, since it may hold a whole
//! file.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use bytestring::ByteString;
use jsonrpsee::Extensions;
use jsonrpsee::types::Params;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::rpc::approval::Retry;
use crate::rpc::era::even_null;
use crate::rpc::error::RpcError;
use crate::rpc::params;
use crate::text::json::{members, unescape};

/// The members of a call's params that matter here. All texts are JSON as it stands on the line.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallParams {
    pub(crate) name: Option<String>,
    pub(crate) arguments: Option<ByteString>,
    pub(crate) meta: Option<ByteString>,
    pub(crate) state: Option<ByteString>,
    pub(crate) responses: Option<ByteString>,
}

impl CallParams {
    /// Reads `params`.
    ///
    /// # Errors
    /// They are not an object, or the name is no text.
    pub(crate) fn read(params: &ByteString) -> Result<Self, RpcError> {
        CallParams::plain(params).map_or_else(|| CallParams::parse(params), Ok)
    }

    /// The same for params as nearly all clients write them.
    fn plain(params: &ByteString) -> Option<Self> {
        let mut plain = CallParams::default();
        for (name, value) in members(params)? {
            let place = match name {
                "name" if plain.name.is_none() => {
                    plain.name = Some(unescape(value)?);
                    continue;
                }
                "name" => return None,
                "arguments" => &mut plain.arguments,
                "_meta" => &mut plain.meta,
                "requestState" => &mut plain.state,
                "inputResponses" => &mut plain.responses,
                _ => continue,
            };
            if value == "null" || place.replace(params.slice_ref(value)).is_some() {
                return None;
            }
        }
        Some(plain)
    }

    /// The name of the `what` that is asked for.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn name(&self, what: &str) -> Result<&str, RpcError> {
        let missing = || RpcError::invalid_params(format_args!("params must have the name of a {what}"));
        self.name.as_deref().ok_or_else(missing)
    }

    /// The arguments as they were sent.
    pub(crate) fn arguments(&self) -> &str {
        self.arguments.as_deref().unwrap_or("{}")
    }

    /// What comes along if it is asked for again.
    pub(crate) fn retry(&self) -> Retry<'_> {
        Retry { state: self.state.as_deref(), responses: self.responses.as_deref() }
    }

    fn parse(params: &ByteString) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow, default)]
            name: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            arguments: Option<&'a RawValue>,
            #[serde(borrow, default, rename = "_meta")]
            meta: Option<&'a RawValue>,
            #[serde(borrow, default, rename = "requestState", deserialize_with = "even_null")]
            state: Option<&'a RawValue>,
            #[serde(borrow, default, rename = "inputResponses", deserialize_with = "even_null")]
            responses: Option<&'a RawValue>,
        }
        let Members { name, arguments, meta, state, responses } = params::read(params)?;
        let cut = |raw: Option<&RawValue>| raw.map(|raw| params.slice_ref(raw.get()));
        Ok(CallParams {
            name: name.map(Cow::into_owned),
            arguments: cut(arguments),
            meta: cut(meta),
            state: cut(state),
            responses: cut(responses),
        })
    }
}

/// Carries them to the method past jsonrpsee, which would copy the text to hand it over. Whoever takes them out may let go
/// of the line.
#[derive(Clone)]
pub(crate) struct CallSlot(Arc<Mutex<Option<CallParams>>>);

impl CallSlot {
    pub(crate) fn new(params: CallParams) -> Self {
        CallSlot(Arc::new(Mutex::new(Some(params))))
    }

    /// `_meta`, where the params are still there.
    pub(crate) fn meta(&self) -> Option<ByteString> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|params| params.meta.clone())
    }

    /// The params of a request: from its slot, or as jsonrpsee hands them over.
    ///
    /// # Errors
    /// See [`CallParams::read`].
    pub(crate) fn take(extensions: &Extensions, params: &Params<'_>) -> Result<CallParams, RpcError> {
        let slot = extensions.get::<CallSlot>();
        match slot.and_then(|slot| slot.0.lock().unwrap_or_else(PoisonError::into_inner).take()) {
            Some(params) => Ok(params),
            None => CallParams::read(&ByteString::from(params.as_str().unwrap_or("{}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_however_they_are_written() {
        for (params, want) in [
            (r#"{"name":"t","arguments":{"a":1}}"#, Ok((Some("t"), Some(r#"{"a":1}"#)))),
            (r#"{"arguments": {"a": "}"}, "other": [], "name": "\u0074"}"#, Ok((Some("t"), Some(r#"{"a": "}"}"#)))),
            (r#"{"n\u0061me":"t"}"#, Ok((Some("t"), None))),
            (r#"{"name":"t","arguments":null,"_meta":null}"#, Ok((Some("t"), None))),
            (r#"{"name":null}"#, Ok((None, None))),
            ("{}", Ok((None, None))),
            (r#"{"name":"t","name":"u"}"#, Err(-32602)),
            (r#"{"name":"t","arguments":{},"arguments":{}}"#, Err(-32602)),
            (r#"{"name":7}"#, Err(-32602)),
        ] {
            let read = CallParams::read(&ByteString::from(params)).map_err(|error| error.code);
            let told =
                read.as_ref().map(|read| (read.name.as_deref(), read.arguments.as_deref())).map_err(|code| *code);
            assert_eq!(told, want, "{params}");
        }
        let retry = ByteString::from(r#"{"name":"t","requestState":null,"inputResponses":{"k":{}}}"#);
        let CallParams { state, responses, .. } = CallParams::read(&retry).expect("params");
        assert_eq!(
            (state.as_deref(), responses.as_deref()),
            (Some("null"), Some(r#"{"k":{}}"#)),
            "null is not nothing"
        );
    }
}
