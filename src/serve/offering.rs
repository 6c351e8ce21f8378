//! What adds tools, prompts and resources to a server that runs, and takes them back.

use crate::code;
use crate::dispatch::{Served, Shelf};
use crate::offer::OfferError;
use crate::offer::prompt::Prompt;
use crate::offer::resource::{Resource, Template};
use crate::rpc::news::News;
use crate::tool::Tool;
use crate::tool::registry::RegisterError;

/// Adds tools, prompts and resources to a server while it runs, and takes them back. Clients that listen are told that the
/// list is another one. A call that has begun goes on with the tools that there were. A clone offers at the same server.
///
/// ```
/// use toolgate::{Contents, Memory, Resource, ResourceSpec, Server, ToolError, View};
///
/// /// A meeting, as long as it lasts.
/// struct Minutes(u32);
///
/// impl Resource for Minutes {
///     fn spec(&self) -> ResourceSpec {
///         ResourceSpec::new(format!("meetings://{}", self.0), "minutes")
///     }
///
///     async fn read(&self, _: &View) -> Result<Contents, ToolError> {
///         Ok(Contents::text("text/plain", "Nothing was decided yet."))
///     }
/// }
///
/// let server = Server::new(Memory::new()).builtin_tools()?;
/// let offering = server.offering();
/// // Later, from whichever thread, while the server serves:
/// offering.resource(Minutes(1))?;
/// assert!(offering.resource(Minutes(1)).is_err(), "it is offered already");
/// assert!(offering.withdraw_resource("meetings://1"));
/// assert!(offering.withdraw_tool("delete_path"));
/// assert!(!offering.withdraw_tool("delete_path"), "there is none any more");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Offering {
    shelf: Shelf,
    news: News,
}

impl Offering {
    pub(super) fn new(shelf: Shelf, news: News) -> Self {
        Offering { shelf, news }
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// Its name is taken or not one, a schema is one that clients refuse, or `paths` names no argument.
    pub fn tool(&self, tool: impl Tool) -> Result<(), RegisterError> {
        let name = tool.spec().name;
        self.shelf.change(|served| {
            served.registry.register(tool)?;
            served.registry.verify_tool(name)?;
            document(served);
            Ok(())
        })?;
        self.tools_changed();
        Ok(())
    }

    /// Takes a tool back, a built-in one too. Says whether there was one of that name.
    pub fn withdraw_tool(&self, name: &str) -> bool {
        let found = self.found(|served| {
            let found = served.registry.withdraw(name);
            document(served);
            found
        });
        if found {
            self.tools_changed();
        }
        found
    }

    /// Offers a prompt.
    ///
    /// # Errors
    /// The name is taken, or its arguments are no plain struct.
    pub fn prompt(&self, prompt: impl Prompt) -> Result<(), OfferError> {
        self.shelf.change(|served| served.offers.prompt(prompt))?;
        self.news.prompts_changed();
        Ok(())
    }

    /// Takes a prompt back. Says whether there was one of that name.
    pub fn withdraw_prompt(&self, name: &str) -> bool {
        let found = self.found(|served| served.offers.withdraw_prompt(name));
        if found {
            self.news.prompts_changed();
        }
        found
    }

    /// Offers a resource at a fixed address.
    ///
    /// # Errors
    /// The address is taken or none.
    pub fn resource(&self, resource: impl Resource) -> Result<(), OfferError> {
        self.shelf.change(|served| served.offers.resource(resource))?;
        self.news.resources_changed();
        Ok(())
    }

    /// Takes the resource at that address back. Says whether there was one.
    pub fn withdraw_resource(&self, uri: &str) -> bool {
        let found = self.found(|served| served.offers.withdraw_resource(uri));
        if found {
            self.news.resources_changed();
        }
        found
    }

    /// Offers the resources whose addresses follow a template.
    ///
    /// # Errors
    /// The template is taken or none.
    pub fn template(&self, template: impl Template) -> Result<(), OfferError> {
        self.shelf.change(|served| served.offers.template(template))?;
        self.news.resources_changed();
        Ok(())
    }

    /// Takes the resources of that template back. Says whether it was offered.
    pub fn withdraw_template(&self, uri_template: &str) -> bool {
        let found = self.found(|served| served.offers.withdraw_template(uri_template));
        if found {
            self.news.resources_changed();
        }
        found
    }

    fn found(&self, withdraw: impl FnOnce(&mut Served) -> bool) -> bool {
        let mut found = false;
        self.shelf.put(|served| found = withdraw(served));
        found
    }

    /// Where programs call the tools, what is said about those has changed as well.
    fn tools_changed(&self) {
        self.news.tools_changed();
        if self.shelf.glance().registry.get(code::sdk::RUN_CODE).is_some() {
            self.news.prompts_changed();
            self.news.resources_changed();
        }
    }
}

/// In code mode what a model is told of the tools is made of them.
fn document(served: &mut Served) {
    code::document(&mut served.registry);
    code::sdk::renew(&mut served.offers, &served.registry);
}
