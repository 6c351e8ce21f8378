//! What an answer shows of a file, for those who keep it.

use crate::ledger::seen::{self as ledger, Position};
use crate::model::event::Event;
use crate::tool::Sight;

/// For the ledger.
pub(super) fn seen(sight: &Sight) -> ledger::Sight {
    let position = |(line, offset)| Position { line, offset };
    ledger::Sight {
        identity: sight.identity,
        version: sight.version,
        from: position(sight.from),
        to: sight.to.map(position),
    }
}

/// For the log.
pub(super) fn observed(sight: &Sight) -> Event {
    Event::FsObserved {
        path: sight.path.to_string(),
        version: sight.version.map(|version| version.to_string()),
        from: sight.from.0,
        to: sight.to.map(|(line, offset)| if offset == 0 { line - 1 } else { line }),
    }
}
