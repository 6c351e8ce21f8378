//! Schemas from types, and arguments held against them.

mod check;
mod fault;
mod full;
mod repair;
mod shape;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

pub use check::Validator;
pub use fault::{Fault, faults_error};

/// A type makes a schema that model providers refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaFault {
    /// The root is a choice between schemas.
    #[error(
        "{type_name} has {keyword} at the root of its schema, which model providers refuse; \
         use a struct, and put the enum into one of its fields"
    )]
    Combined {
        /// The type, as its schema is called.
        type_name: String,
        /// `oneOf`, `anyOf`, `allOf` or a relative of these.
        keyword: &'static str,
    },
    /// The root is something else than an object.
    #[error(
        "{type_name} is {found} in JSON, but must be an object; use a struct with named fields, `struct {type_name} {{}}` if there are none"
    )]
    NotAnObject {
        /// The type, as its schema is called.
        type_name: String,
        /// What its schema describes.
        found: String,
    },
}

/// The schema of a tool's arguments, as every client and provider takes it: an object at the root, nothing
/// referred to that can be written out, and no field that is not listed.
///
/// The same type gives the same bytes, always.
///
/// ```
/// use toolgate::tool::schema::arguments_schema;
///
/// #[derive(schemars::JsonSchema)]
/// struct Args {
///     /// Relative to the workspace.
///     path: String,
///     start_line: Option<u32>,
/// }
///
/// let schema = arguments_schema::<Args>()?;
/// assert_eq!(
///     schema.to_string(),
///     concat!(
///         r#"{"type":"object","properties":{"path":{"type":"string","description":"Relative to the workspace."},"#,
///         r#""start_line":{"type":"integer","minimum":0}},"required":["path"],"additionalProperties":false}"#
///     )
/// );
/// # Ok::<(), toolgate::tool::schema::SchemaFault>(())
/// ```
///
/// # Errors
/// The root is not a plain object; see [`SchemaFault`].
pub fn arguments_schema<T: JsonSchema>() -> Result<Value, SchemaFault> {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    shape::arguments(generate::<T>(settings)).map_err(|root| root.of(T::schema_name().into_owned()))
}

/// The schema of a tool's output, as it is serialised. It is left open, so that fields can be added.
///
/// # Errors
/// The root is not an object, which clients before 2026 refuse; see [`SchemaFault`].
pub fn output_schema<T: JsonSchema>() -> Result<Value, SchemaFault> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    shape::output(generate::<T>(settings)).map_err(|root| root.of(T::schema_name().into_owned()))
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> schemars::Schema {
    settings.with(|settings| settings.inline_subschemas = true).into_generator().into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests;
