//! What can stand in a result besides the observation: texts, pictures, sounds, resources and links to them.

use std::borrow::Cow;

use bytes::Bytes;

/// One block of a result, or of a message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// More text.
    Text(String),
    /// A picture.
    Image(Media),
    /// A sound. Clients before 2025-03-26 know none and are told so in words.
    Audio(Media),
    /// A resource, all of it.
    Resource {
        /// Its address.
        uri: String,
        /// What it holds.
        contents: Contents,
    },
    /// Where a resource is that the client may read. Clients before 2025-06-18 are told in words.
    Link(Link),
}

/// A picture or a sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Such as `image/png`.
    pub mime_type: Cow<'static, str>,
    /// The bytes of the file.
    pub bytes: Bytes,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Such as `text/markdown`, where it is known.
    pub mime_type: Option<Cow<'static, str>>,
    /// The text or the bytes.
    pub body: Body,
}

/// A text, or bytes that are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A text.
    Text(String),
    /// Bytes; they go out in base64.
    Blob(Bytes),
}

/// Where a resource is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// Its address.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// What it is, for a model.
    pub description: Option<String>,
    /// Such as `text/markdown`, where it is known.
    pub mime_type: Option<String>,
}

impl Media {
    /// Bytes of that type.
    pub fn new(mime_type: impl Into<Cow<'static, str>>, bytes: impl Into<Bytes>) -> Self {
        Media { mime_type: mime_type.into(), bytes: bytes.into() }
    }
}

impl Contents {
    /// A text of that type.
    pub fn text(mime_type: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Contents { mime_type: Some(mime_type.into()), body: Body::Text(text.into()) }
    }

    /// Bytes of that type.
    pub fn blob(mime_type: impl Into<Cow<'static, str>>, bytes: impl Into<Bytes>) -> Self {
        Contents { mime_type: Some(mime_type.into()), body: Body::Blob(bytes.into()) }
    }
}
