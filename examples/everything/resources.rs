//! Resources: a text, a picture, one that is watched, and a template.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate::{
    Contents, LIST_RESOURCES, Memory, OfferError, READ_RESOURCE, Resource, ResourceSpec, Server, Template,
    TemplateSpec, ToolError, View,
};

use crate::samples::PNG;

pub fn register(server: Server<Memory>) -> Result<Server<Memory>, OfferError> {
    server
        .resource(Fixed {
            uri: "test://static-text",
            name: "Static text",
            contents: || Contents::text("text/plain", "This is the content of the static text resource."),
        })?
        .resource(Fixed {
            uri: "test://static-binary",
            name: "Static picture",
            contents: || Contents::blob("image/png", PNG),
        })?
        .resource(Fixed {
            uri: "test://watched-resource",
            name: "Watched",
            contents: || Contents::text("text/plain", "Watched resource content"),
        })?
        .template(Data)
}

/// A resource that always holds the same.
struct Fixed {
    uri: &'static str,
    name: &'static str,
    contents: fn() -> Contents,
}

impl Resource for Fixed {
    fn spec(&self) -> ResourceSpec {
        ResourceSpec {
            description: Some("For tests.".to_owned()),
            mime_type: (self.contents)().mime_type.map(Into::into),
            ..ResourceSpec::new(self.uri, self.name)
        }
    }

    async fn read(&self, _: &View) -> Result<Contents, ToolError> {
        Ok((self.contents)())
    }
}

/// Made from the address.
struct Data;

#[derive(Deserialize, JsonSchema)]
struct DataArgs {
    id: String,
}

impl Template for Data {
    type Args = DataArgs;

    fn spec(&self) -> TemplateSpec {
        TemplateSpec {
            uri_template: "test://template/{id}/data",
            name: "Template",
            title: "Data by id",
            description: "Data that is made from the id in its address.",
            mime_type: Some("application/json"),
            reads_as: READ_RESOURCE,
            lists_as: LIST_RESOURCES,
            paths: &[],
        }
    }

    async fn read(&self, _: &View, DataArgs { id }: DataArgs) -> Result<Contents, ToolError> {
        let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
        Ok(Contents::text("application/json", data.to_string()))
    }
}
