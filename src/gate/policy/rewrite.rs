//! What a hook may rewrite: all of the arguments, none of them lost by accident.

use crate::gate::hook::{Before, HookFailure};
use crate::gate::{CallFacts, Verdict};

/// What a hook said, with a rewrite that stands for the whole of the new arguments, or none if it changes nothing.
///
/// # Errors
/// The rewrite leaves out what the call has, or contradicts the verdict.
pub(super) fn checked(hook: &str, mut said: Before, call: &CallFacts) -> Result<Before, HookFailure> {
    let Some(mut arguments) = said.rewrite.take() else {
        return Ok(said);
    };
    let failed = |what: String, cure: &str| HookFailure { hook: hook.to_owned(), what, cure: cure.to_owned() };
    if matches!(said.verdict, Verdict::Deny(_)) {
        let cure = "Let it answer with one of the two.";
        return Err(failed("denied the call and rewrote it, which is a contradiction".to_owned(), cure));
    }
    let before = call.arguments.as_object();
    let lost = before.and_then(|before| before.keys().find(|key| !arguments.contains_key(*key)));
    if let Some(lost) = lost {
        let cure = "A rewrite holds all arguments, not only those it changes; null takes one away.";
        return Err(failed(format!("left {lost} out of the arguments it rewrote"), cure));
    }
    arguments.retain(|_, value| !value.is_null());
    said.rewrite = (Some(&arguments) != before).then_some(arguments);
    Ok(said)
}
