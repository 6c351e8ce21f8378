//! Tools that show something: text, pictures, sounds, resources, errors, and arguments of all kinds.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate::{
    Card, Content, Contents, Effect, ErrorCode, Memory, Plan, RegisterError, Server, Spec, Tool, ToolError, View,
};

use crate::fixture::{Fixture, Nothing, Shown};
use crate::samples::{picture, sound};

pub fn register(server: Server<Memory>) -> Result<Server<Memory>, RegisterError> {
    server
        .tool(Fixture::<Nothing> {
            name: "test_simple_text",
            description: "Shows a text.",
            body: |_, _| Box::pin(async { Ok(Shown::text("This is a simple text response for testing.")) }),
        })?
        .tool(Fixture::<Nothing> {
            name: "test_image_content",
            description: "Shows a picture.",
            body: |_, _| Box::pin(async { Ok(Shown::text("").with(Content::Image(picture()))) }),
        })?
        .tool(Fixture::<Nothing> {
            name: "test_audio_content",
            description: "Shows a sound.",
            body: |_, _| Box::pin(async { Ok(Shown::text("").with(Content::Audio(sound()))) }),
        })?
        .tool(Fixture::<Nothing> {
            name: "test_embedded_resource",
            description: "Shows a resource.",
            body: |_, _| {
                let contents = Contents::text("text/plain", "This is an embedded resource content.");
                let resource = Content::Resource { uri: "test://embedded-resource".to_owned(), contents };
                Box::pin(async { Ok(Shown::text("").with(resource)) })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_multiple_content_types",
            description: "Shows a text, a picture and a resource.",
            body: |_, _| {
                let contents = Contents::text("application/json", r#"{"test":"data","value":123}"#);
                let resource = Content::Resource { uri: "test://mixed-content-resource".to_owned(), contents };
                let shown = Shown::text("Multiple content types test:").with(Content::Image(picture())).with(resource);
                Box::pin(async { Ok(shown) })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_error_handling",
            description: "Fails.",
            body: |_, _| {
                let error = ToolError::new(ErrorCode::IoError, "This tool intentionally returns an error for testing");
                Box::pin(async { Err(error) })
            },
        })?
        .tool(Fixture::<Region> {
            name: "test_region_header",
            description: "Takes an argument that a client repeats in a header of its request.",
            body: |_, Region { region }| Box::pin(async move { Ok(Shown::text(format!("Region: {region}"))) }),
        })?
        .tool(FullSchema)
}

#[derive(Deserialize, JsonSchema)]
struct Region {
    /// Where.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// A tool whose arguments are described with more of JSON Schema than a type could say.
struct FullSchema;

impl Tool for FullSchema {
    type Args = Map<String, Value>;
    type Output = Shown;

    fn spec(&self) -> Spec {
        Spec {
            name: "json_schema_2020_12_tool",
            title: "JSON Schema 2020-12",
            description: "Takes what a schema with references and conditions describes.",
            effect: Effect::Reads,
            paths: &[],
        }
    }

    fn arguments_schema(&self) -> Option<Value> {
        Some(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                },
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }))
    }

    async fn plan(&self, _: &View, args: Map<String, Value>) -> Result<Plan<Shown>, ToolError> {
        Ok(Plan::Answer(Shown::text(format!("JSON Schema 2020-12 tool called with: {}", Value::from(args)))))
    }

    fn observe(output: &Shown) -> String {
        <Fixture<Nothing> as Tool>::observe(output)
    }

    fn present(_: &Map<String, Value>) -> Card {
        Card::new("Test a schema")
    }
}
