//! What a call answers with, whichever tool it came from.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::model::event::Event;
use crate::tool::content::Content;
use crate::tool::{Card, Facts, Sight, Tool};

/// The output of some tool, complete and typed inside. Cheap to clone.
#[derive(Clone)]
pub struct Output(Arc<dyn AnyOutput>);

impl Output {
    pub(crate) fn of<T: Tool>(output: T::Output) -> Self {
        Output(Arc::new(Typed::<T>(output)))
    }

    /// The text that a model reads.
    #[must_use]
    pub fn observation(&self) -> String {
        self.0.observation()
    }

    /// What else a model needs to know, each on a line of its own.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    /// Small facts for programs.
    #[must_use]
    pub fn facts(&self) -> Facts {
        self.0.facts()
    }

    /// Which parts of which files it shows.
    pub(crate) fn sights(&self) -> Vec<Sight> {
        self.0.sights()
    }

    /// What the tool itself has to record.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.events()
    }

    /// One line for people, if the tool has one.
    pub(crate) fn card(&self) -> Option<Card> {
        self.0.card()
    }

    /// What is shown after the observation.
    #[must_use]
    pub fn content(&self) -> Vec<Content> {
        self.0.content()
    }

    /// The output itself, if it is of that type.
    #[must_use]
    pub fn downcast<O: 'static>(&self) -> Option<&O> {
        self.0.typed().downcast_ref()
    }

    /// The output itself, as its schema describes it.
    ///
    /// # Errors
    /// The output's type cannot be written as JSON, which is a fault of the tool.
    pub fn structured(&self) -> serde_json::Result<Value> {
        self.0.structured()
    }

    /// Appends the output itself as JSON text, without building a [`Value`] first.
    ///
    /// # Errors
    /// As [`Output::structured`]; `text` may then end in half an output.
    pub fn write_json(&self, text: &mut Vec<u8>) -> serde_json::Result<()> {
        self.0.write_json(text)
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.observation()).finish()
    }
}

trait AnyOutput: Send + Sync {
    fn observation(&self) -> String;
    fn notes(&self) -> Vec<String>;
    fn facts(&self) -> Facts;
    fn sights(&self) -> Vec<Sight>;
    fn events(&self) -> Vec<Event>;
    fn card(&self) -> Option<Card>;
    fn content(&self) -> Vec<Content>;
    fn typed(&self) -> &dyn Any;
    fn structured(&self) -> serde_json::Result<Value>;
    fn write_json(&self, text: &mut Vec<u8>) -> serde_json::Result<()>;
}

struct Typed<T: Tool>(T::Output);

impl<T: Tool> AnyOutput for Typed<T> {
    fn observation(&self) -> String {
        T::observe(&self.0)
    }

    fn notes(&self) -> Vec<String> {
        T::notes(&self.0)
    }

    fn facts(&self) -> Facts {
        T::facts(&self.0)
    }

    fn sights(&self) -> Vec<Sight> {
        T::sights(&self.0)
    }

    fn events(&self) -> Vec<Event> {
        T::events(&self.0)
    }

    fn card(&self) -> Option<Card> {
        T::present_result(&self.0)
    }

    fn content(&self) -> Vec<Content> {
        T::content(&self.0)
    }

    fn typed(&self) -> &dyn Any {
        &self.0
    }

    fn structured(&self) -> serde_json::Result<Value> {
        serde_json::to_value(&self.0)
    }

    fn write_json(&self, text: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(text, &self.0)
    }
}
