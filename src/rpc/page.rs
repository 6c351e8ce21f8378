//! Pages of lists: where one begins, as clients say it.

use jsonrpsee::types::Params;
use serde::Deserialize;

use crate::model::error::glimpse;
use crate::rpc::error::RpcError;
use crate::rpc::params;

/// The cursor of the page that is asked for; nothing for the first one.
///
/// # Errors
/// The params are not those of a list.
pub(super) fn cursor(params: &Params<'_>) -> Result<Option<String>, RpcError> {
    #[derive(Deserialize)]
    struct List {
        cursor: Option<String>,
    }
    let List { cursor } = params::of(params)?;
    Ok(cursor.filter(|cursor| !cursor.is_empty()))
}

/// What is wrong with a cursor that leads nowhere.
pub(super) fn unknown(cursor: &str) -> RpcError {
    RpcError::invalid_params(format_args!(
        "cursor {} is not one that this server gave out; leave it out to begin with the first page",
        glimpse(cursor)
    ))
}
