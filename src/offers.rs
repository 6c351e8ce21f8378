//! The built-in offers: the files of the workspace as resources, and the prompts.

pub mod explain_denial;
pub mod files;
pub mod review_changes;

use crate::ledger::Ledger;
use crate::offer::{OfferError, Offers};

/// Offers the files of the workspace, and the prompts about what was recorded in `ledger`.
///
/// # Errors
/// Something of the same address or name is offered already.
pub fn register(offers: &mut Offers, ledger: &Ledger) -> Result<(), OfferError> {
    offers.template(files::Files)?;
    offers.prompt(explain_denial::ExplainDenial::new(ledger.clone()))?;
    offers.prompt(review_changes::ReviewChanges::new(ledger.clone()))
}
