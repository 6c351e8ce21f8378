//! What is offered besides tools, as clients of both eras meet it: resources, prompts, completion, news, logging, and
//! questions that a tool asks.

mod asking;
mod changing;
pub mod kit;
mod news;
mod prompts;
mod resources;
