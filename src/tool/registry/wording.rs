//! Other wordings of tools' descriptions, so that it can be seen which one models do better with.

use super::{Entry, Registry};

/// Another wording of a tool's description.
#[derive(Clone)]
pub(super) struct Wording {
    /// Nothing for the only wording that there is.
    variant: Option<String>,
    text: String,
}

impl Registry {
    /// Offers a tool with another wording of its description, which is called `variant` in the log. Says whether there is
    /// such a tool.
    pub fn describe(&mut self, name: &str, variant: &str, text: &str) -> bool {
        let Some(entry) = self.tools.get_mut(name) else { return false };
        entry.wording = Some(Wording { variant: Some(variant.to_owned()), text: text.to_owned() });
        true
    }

    /// Puts a text that is made when it is known which tools there are in the place of a tool's description, unless that is
    /// another wording.
    pub(crate) fn document(&mut self, name: &str, text: String) {
        if let Some(entry) = self.tools.get_mut(name).filter(|entry| entry.variant().is_none()) {
            entry.wording = Some(Wording { variant: None, text });
        }
    }
}

impl Entry {
    /// What a model is told about it.
    #[must_use]
    pub fn description(&self) -> &str {
        self.wording.as_ref().map_or(self.spec.description, |wording| &wording.text)
    }

    /// What the wording of its description is called, if it is not the built-in one.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.wording.as_ref().and_then(|wording| wording.variant.as_deref())
    }
}
