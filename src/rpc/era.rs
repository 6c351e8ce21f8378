//! Which revision of the protocol a request speaks: decided for each message by what it says of itself.
//!
//! MCP 2026-07-28, basic/versioning: a request that carries the revision in `_meta` is served statelessly by it;
//! `initialize` selects a legacy revision for the connection. Both may come in any order on one connection.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::rpc::error::RpcError;
use crate::rpc::params;
use crate::tool::log::LogLevel;

/// The stateless revision that is served.
pub(crate) const MODERN: &str = "2026-07-28";

/// A revision with an `initialize` handshake. Later ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum LegacyVersion {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
}

impl LegacyVersion {
    const ALL: [LegacyVersion; 4] = [
        LegacyVersion::V2024_11_05,
        LegacyVersion::V2025_03_26,
        LegacyVersion::V2025_06_18,
        LegacyVersion::V2025_11_25,
    ];

    /// What is offered to a client that asks for a revision we do not know.
    pub(crate) const LATEST: LegacyVersion = LegacyVersion::V2025_11_25;

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            LegacyVersion::V2024_11_05 => "2024-11-05",
            LegacyVersion::V2025_03_26 => "2025-03-26",
            LegacyVersion::V2025_06_18 => "2025-06-18",
            LegacyVersion::V2025_11_25 => "2025-11-25",
        }
    }

    /// The revision that `asked` names, or the latest.
    pub(crate) fn negotiate(asked: Option<&str>) -> Self {
        LegacyVersion::ALL.into_iter().find(|version| Some(version.as_str()) == asked).unwrap_or(LegacyVersion::LATEST)
    }

    /// Whether a revision of this name is served.
    pub(crate) fn knows(name: &str) -> bool {
        LegacyVersion::ALL.into_iter().any(|version| version.as_str() == name)
    }

    pub(crate) fn from_index(index: u8) -> Self {
        LegacyVersion::ALL.get(usize::from(index)).copied().unwrap_or(LegacyVersion::LATEST)
    }
}

/// The era of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: everything it needs to know is in the request.
    Modern,
    /// A revision with a handshake.
    Legacy(LegacyVersion),
}

/// What a request says of itself, in `params._meta`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion", deserialize_with = "even_null")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities", deserialize_with = "even_null")]
    pub(crate) capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel", deserialize_with = "even_null")]
    log_level: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
}

/// A member as it stands; `null` is not the same as nothing.
pub(crate) fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The one member of `params` that every method shares.
#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

impl<'a> Meta<'a> {
    /// Reads `_meta`; nothing where there is none.
    ///
    /// # Errors
    /// `params` is not an object, or `_meta` is not one.
    pub(crate) fn read(params: Option<&'a RawValue>) -> Result<Self, RpcError> {
        let Some(params) = params.map(RawValue::get).filter(|params| *params != "null") else {
            return Ok(Meta::default());
        };
        let Params { meta } = params::read(params)?;
        Meta::of(meta.map(RawValue::get))
    }

    /// Reads what stands as `_meta`.
    ///
    /// # Errors
    /// It is not an object.
    pub(crate) fn of(meta: Option<&'a str>) -> Result<Self, RpcError> {
        match meta {
            None => Ok(Meta::default()),
            Some(meta) if meta.starts_with('{') => params::read(meta),
            Some(_) => Err(RpcError::invalid_params("_meta must be an object")),
        }
    }

    /// Whether it says which revision it speaks, however badly.
    pub(crate) fn names_version(&self) -> bool {
        self.version.is_some()
    }

    /// The revision that it says it speaks.
    ///
    /// # Errors
    /// What stands there is not a string.
    pub(crate) fn version(&self) -> Result<Option<String>, RpcError> {
        self.version
            .map(|version| serde_json::from_str(version.get()))
            .transpose()
            .map_err(|_| RpcError::invalid_params("_meta: io.modelcontextprotocol/protocolVersion must be a string"))
    }

    /// What is wrong with a request that must say which revision it speaks and does not.
    pub(crate) fn missing_version(&self) -> RpcError {
        missing("io.modelcontextprotocol/protocolVersion")
    }

    /// The least that the client wants to hear of a log.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        serde_json::from_str(self.log_level?.get()).ok().and_then(LogLevel::named)
    }

    /// The era of a request for `method` with this `_meta`, on a connection that has negotiated `legacy`.
    ///
    /// # Errors
    /// The method is not part of that era, or `_meta` lacks what the era requires.
    pub(crate) fn era(&self, method: &str, legacy: LegacyVersion) -> Result<Era, RpcError> {
        let Some(version) = self.version()? else {
            return match method {
                "server/discover" => Err(self.missing_version()),
                method if MODERN_ONLY.contains(&method) => Err(RpcError::method_not_found(method)),
                _ => Ok(Era::Legacy(legacy)),
            };
        };
        if version != MODERN {
            return Err(RpcError::unsupported_version(&version));
        }
        match self.capabilities {
            None => return Err(missing("io.modelcontextprotocol/clientCapabilities")),
            Some(capabilities) if !capabilities.get().starts_with('{') => {
                return Err(RpcError::invalid_params(
                    "_meta: io.modelcontextprotocol/clientCapabilities must be an object",
                ));
            }
            Some(_) => {}
        }
        if self.log_level.is_some() && self.level().is_none() {
            return Err(RpcError::invalid_params("_meta: io.modelcontextprotocol/logLevel is not one of the levels"));
        }
        if LEGACY_ONLY.contains(&method) {
            return Err(RpcError::method_not_found(method));
        }
        Ok(Era::Modern)
    }
}

fn missing(key: &str) -> RpcError {
    RpcError::invalid_params(format_args!("_meta must have {key} (MCP {MODERN})"))
}

/// Methods that the stateless revision has removed.
const LEGACY_ONLY: [&str; 5] =
    ["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];

/// Methods that came with it.
const MODERN_ONLY: [&str; 1] = ["subscriptions/listen"];

#[cfg(test)]
mod tests {
    use super::*;

    fn era(method: &str, params: &str) -> Result<Era, i32> {
        let raw: &RawValue = serde_json::from_str(params).expect("JSON");
        Meta::read(Some(raw)).and_then(|meta| meta.era(method, LegacyVersion::V2025_06_18)).map_err(|error| error.code)
    }

    #[test]
    fn a_request_says_its_own_era() {
        let legacy = Ok(Era::Legacy(LegacyVersion::V2025_06_18));
        let meta =
            |rest: &str| format!(r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"{rest}}}}}"#);
        let capable = r#","io.modelcontextprotocol/clientCapabilities":{}"#;
        for (method, params, want) in [
            ("tools/list", "{}".to_owned(), legacy),
            ("tools/list", "null".to_owned(), legacy),
            ("tools/list", r#"{"_meta":{"progressToken":1}}"#.to_owned(), legacy),
            ("tools/list", meta(capable), Ok(Era::Modern)),
            ("tools/list", meta(""), Err(-32602)),
            ("tools/list", meta(r#","io.modelcontextprotocol/clientCapabilities":[]"#), Err(-32602)),
            ("tools/list", meta(&format!(r#"{capable},"io.modelcontextprotocol/logLevel":"loud""#)), Err(-32602)),
            ("tools/list", meta(&format!(r#"{capable},"io.modelcontextprotocol/logLevel":"info""#)), Ok(Era::Modern)),
            ("initialize", meta(capable), Err(-32601)),
            ("ping", meta(capable), Err(-32601)),
            ("logging/setLevel", meta(capable), Err(-32601)),
            ("resources/subscribe", meta(capable), Err(-32601)),
            ("subscriptions/listen", "{}".to_owned(), Err(-32601)),
            ("server/discover", "{}".to_owned(), Err(-32602)),
            (
                "tools/list",
                r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}"#.to_owned(),
                Err(-32022),
            ),
            ("tools/list", r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}"#.to_owned(), Err(-32602)),
            ("tools/list", r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}"#.to_owned(), Err(-32602)),
            ("tools/list", meta(&format!(r#"{capable},"io.modelcontextprotocol/logLevel":null"#)), Err(-32602)),
            ("tools/list", r#"{"_meta":[]}"#.to_owned(), Err(-32602)),
            ("tools/list", "[]".to_owned(), Err(-32602)),
        ] {
            assert_eq!(era(method, &params), want, "{method} {params}");
        }
    }

    #[test]
    fn negotiation_never_echoes_the_unknown() {
        for (asked, got) in [
            (Some("2024-11-05"), "2024-11-05"),
            (Some("2025-06-18"), "2025-06-18"),
            (Some("2099-01-01"), "2025-11-25"),
            (Some(MODERN), "2025-11-25"),
            (None, "2025-11-25"),
        ] {
            assert_eq!(LegacyVersion::negotiate(asked).as_str(), got);
        }
    }
}
