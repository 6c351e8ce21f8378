//! The declarations where a client finds them: a resource, and a prompt.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{MIME_TYPE, Sdk, URI};
use crate::model::error::ToolError;
use crate::offer::prompt::{Message, Prompt, PromptSpec};
use crate::offer::resource::{Resource, ResourceSpec};
use crate::offer::{OfferError, Offers};
use crate::tool::content::Contents;
use crate::tool::registry::Registry;
use crate::tool::view::View;

/// The prompt.
const TOOLS_SDK: &str = "tools_sdk";

/// Offers the declarations of `registry`'s tools as the resource `toolgate://sdk.d.ts` and, with how programs are written, as
/// the prompt `tools_sdk`.
///
/// # Errors
/// Something of the same address or name is offered already.
pub fn register(offers: &mut Offers, registry: &Registry) -> Result<(), OfferError> {
    let sdk = Sdk::of(registry);
    offers.resource(Declarations(sdk.clone()))?;
    offers.prompt(ToolsSdk(sdk))
}

/// Offers them anew, if they are offered, where the tools have changed.
pub fn renew(offers: &mut Offers, registry: &Registry) {
    if offers.withdraw_resource(URI) && offers.withdraw_prompt(TOOLS_SDK) {
        let fault = register(offers, registry).err();
        debug_assert_eq!(fault, None, "there is room where they have been");
    }
}

/// `toolgate://sdk.d.ts`.
struct Declarations(Sdk);

impl Resource for Declarations {
    fn spec(&self) -> ResourceSpec {
        ResourceSpec {
            title: Some("Tools for programs".to_owned()),
            description: Some("What programs in code mode can call, declared in TypeScript.".to_owned()),
            mime_type: Some(MIME_TYPE.to_owned()),
            ..ResourceSpec::new(URI, "sdk.d.ts")
        }
    }

    async fn read(&self, _: &View) -> Result<Contents, ToolError> {
        Ok(Contents::text(MIME_TYPE, self.0.declarations()))
    }
}

/// The prompt `tools_sdk`.
struct ToolsSdk(Sdk);

/// There is nothing to fill in.
#[derive(Debug, Deserialize, JsonSchema)]
struct NoArgs {}

impl Prompt for ToolsSdk {
    type Args = NoArgs;

    fn spec(&self) -> PromptSpec {
        PromptSpec {
            name: TOOLS_SDK,
            title: "Tools for programs",
            description: "How programs in code mode are written, and everything that they can call.",
        }
    }

    async fn get(&self, _: &View, NoArgs {}: NoArgs) -> Result<Vec<Message>, ToolError> {
        Ok(vec![Message::user(self.0.prompt())])
    }
}
