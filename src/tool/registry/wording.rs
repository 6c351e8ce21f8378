//! Other wordings of tools' descriptions, so that it can be seen which one models do better with.

use super::{Entry, Registry};

/// Another wording of a tool's description.
pub(super) struct Wording {
    variant: String,
    text: String,
}

impl Registry {
    /// Offers a tool with another wording of its description, which is called `variant` in the log. Says whether there is
    /// such a tool.
    pub fn describe(&mut self, name: &str, variant: &str, text: &str) -> bool {
        let Some(entry) = self.tools.get_mut(name) else { return false };
        entry.wording = Some(Wording { variant: variant.to_owned(), text: text.to_owned() });
        true
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
        self.wording.as_ref().map(|wording| wording.variant.as_str())
    }
}
