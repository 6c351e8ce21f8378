//! Who is behind a connection, and how much they may do.

use crate::tool::Effect;

/// Who a client is to the gate and the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The name under which they appear; whatever is remembered of a caller is remembered under it.
    pub name: String,
    /// How much they may do, before rules and hooks have their say.
    pub access: Access,
}

/// How much somebody may do. Each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Get to know the server, and nothing of its files.
    Nothing,
    /// Look at files.
    Read,
    /// Change files as well.
    Write,
}

impl Principal {
    /// The one person whose machine this is.
    #[must_use]
    pub fn local() -> Self {
        Principal { name: "local".to_owned(), access: Access::Write }
    }
}

impl Access {
    /// What somebody must have to call a tool with this effect.
    #[must_use]
    pub fn needed(effect: Effect) -> Self {
        match effect {
            Effect::Reads => Access::Read,
            // A program makes calls in the name of whoever runs it, and among them may be any.
            Effect::Adds | Effect::Replaces { .. } | Effect::Reaches | Effect::Calls => Access::Write,
        }
    }

    /// The OAuth scope that gives it.
    #[must_use]
    pub fn scope(self) -> &'static str {
        match self {
            Access::Nothing => "",
            Access::Read => "files:read",
            Access::Write => "files:write",
        }
    }

    /// What the scopes of a token give, which are separated by spaces. Writing includes reading: an edit shows what it
    /// meets.
    #[must_use]
    pub fn of_scopes(scopes: &str) -> Self {
        let gives = |access: &Access| scopes.split_ascii_whitespace().any(|scope| scope == access.scope());
        [Access::Write, Access::Read].into_iter().find(gives).unwrap_or(Access::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_give_access() {
        for (scopes, access) in [
            ("", Access::Nothing),
            ("openid profile", Access::Nothing),
            ("files:read", Access::Read),
            ("files:write", Access::Write),
            ("openid files:write files:read", Access::Write),
            ("files:readwrite xfiles:write", Access::Nothing),
        ] {
            assert_eq!(Access::of_scopes(scopes), access, "{scopes}");
        }
    }
}
