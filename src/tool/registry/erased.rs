//! A tool whose types are known only inside.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;

use super::ErasedPlan;
use crate::model::error::ToolError;
use crate::tool::output::Output;
use crate::tool::schema::{Fault, SchemaFault, arguments_schema, faults_error, output_schema};
use crate::tool::view::View;
use crate::tool::{Act, Card, Plan, Tool};

/// [`Tool`] without its types.
pub(super) trait AnyTool: Send + Sync {
    fn arguments_schema(&self) -> Result<Value, SchemaFault>;
    fn output_schema(&self) -> Result<Value, SchemaFault>;
    fn takes_links(&self) -> bool;
    /// Nothing, if the arguments are not the tool's.
    fn present(&self, arguments: &Value) -> Option<Card>;
    fn plan<'a>(&'a self, view: &'a View, arguments: &Value) -> BoxFuture<'a, Result<ErasedPlan, ToolError>>;
}

impl<T: Tool> AnyTool for T {
    fn arguments_schema(&self) -> Result<Value, SchemaFault> {
        match Tool::arguments_schema(self) {
            Some(schema) if schema["type"] == "object" => Ok(schema),
            Some(schema) => Err(SchemaFault::NotAnObject {
                type_name: self.spec().name.to_owned(),
                found: schema.get("type").map_or_else(|| "anything".to_owned(), Value::to_string),
            }),
            None => arguments_schema::<T::Args>(),
        }
    }

    fn output_schema(&self) -> Result<Value, SchemaFault> {
        output_schema::<T::Output>()
    }

    fn takes_links(&self) -> bool {
        Tool::takes_links(self)
    }

    fn present(&self, arguments: &Value) -> Option<Card> {
        T::Args::deserialize(arguments).ok().map(|arguments| T::present(&arguments))
    }

    fn plan<'a>(&'a self, view: &'a View, arguments: &Value) -> BoxFuture<'a, Result<ErasedPlan, ToolError>> {
        let arguments = match typed::<T::Args>(arguments) {
            Ok(arguments) => arguments,
            Err(error) => return std::future::ready(Err(error)).boxed(),
        };
        Box::pin(async move { Tool::plan(self, view, arguments).await.map(erase::<T>) })
    }
}

/// A type may take less than its schema says; that too is the caller's to mend.
fn typed<A: serde::de::DeserializeOwned>(arguments: &Value) -> Result<A, ToolError> {
    // Keeping track of the path costs more than the reading, so it is done only to tell where a fault lies.
    A::deserialize(arguments).or_else(|_| serde_path_to_error::deserialize(arguments)).map_err(|error| {
        let path = error.path().to_string();
        // What cannot be named is a dot or a question mark.
        let field = path.trim_end_matches(['.', '?']).to_owned();
        faults_error(&[Fault::wrong(field, "type", error.inner().to_string())])
    })
}

fn erase<T: Tool>(plan: Plan<T::Output>) -> ErasedPlan {
    match plan {
        Plan::Answer(output) => ErasedPlan::Answer(Output::of::<T>(output)),
        Plan::Change { set, intent, output } => ErasedPlan::Change { set, intent, output: Output::of::<T>(output) },
        Plan::Act(act) => ErasedPlan::Act(Act::calling(move |calls| {
            async move { act.begin(calls).await.map(Output::of::<T>) }.boxed()
        })),
    }
}
