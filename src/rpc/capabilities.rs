//! What a client says it can do: at the handshake (legacy) or with each request (modern).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::tool::ask::Capability;

/// What matters here of a client's capabilities.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Capabilities {
    #[serde(default)]
    elicitation: Value,
    #[serde(default)]
    sampling: Value,
    #[serde(default)]
    roots: Value,
}

/// What a client can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Abilities(u8);

impl Abilities {
    pub(crate) fn from_bits(bits: u8) -> Self {
        Abilities(bits)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn can(self, capability: Capability) -> bool {
        self.0 & Abilities::bit(capability) != 0
    }

    /// All but that one.
    pub(crate) fn without(self, capability: Capability) -> Self {
        Abilities(self.0 & !Abilities::bit(capability))
    }

    fn with(self, capability: Capability, declared: bool) -> Self {
        if declared { Abilities(self.0 | Abilities::bit(capability)) } else { self }
    }

    fn bit(capability: Capability) -> u8 {
        match capability {
            Capability::Elicitation => 1,
            Capability::Sampling => 2,
            Capability::Roots => 4,
        }
    }
}

impl Capabilities {
    /// Reads them; what cannot be read is not declared.
    pub(crate) fn read(declared: &RawValue) -> Self {
        Some(declared.get())
            .filter(|text| text.starts_with('{'))
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// All that it has declared.
    pub(crate) fn abilities(&self) -> Abilities {
        Abilities::default()
            .with(Capability::Elicitation, self.forms())
            .with(Capability::Sampling, self.sampling.is_object())
            .with(Capability::Roots, self.roots.is_object())
    }

    /// Whether the client can show a person a form. An elicitation without a mode means forms (MCP,
    /// client/elicitation).
    fn forms(&self) -> bool {
        match &self.elicitation {
            Value::Object(modes) => modes.get("form").map_or_else(|| !names_a_mode(modes), Value::is_object),
            _ => false,
        }
    }
}

fn names_a_mode(modes: &Map<String, Value>) -> bool {
    modes.contains_key("url")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_declared_or_not() {
        for (declared, forms) in [
            (r#"{"elicitation":{}}"#, true),
            (r#"{"elicitation":{"form":{}}}"#, true),
            (r#"{"elicitation":{"form":{"applyDefaults":true},"url":{}},"roots":{}}"#, true),
            (r#"{"elicitation":{"applyDefaults":true}}"#, true),
            (r#"{"elicitation":{"url":{}}}"#, false),
            (r#"{"elicitation":{"form":null}}"#, false),
            (r#"{"elicitation":{"form":true}}"#, false),
            (r#"{"elicitation":null}"#, false),
            (r#"{"elicitation":true}"#, false),
            (r#"{"elicitation":[]}"#, false),
            (r#"{"sampling":{}}"#, false),
            ("{}", false),
            ("[]", false),
            ("null", false),
        ] {
            let raw: &RawValue = serde_json::from_str(declared).expect("JSON");
            assert_eq!(Capabilities::read(raw).forms(), forms, "{declared}");
        }
    }
}
