//! Rules: allow, deny or ask, by tool and path.
