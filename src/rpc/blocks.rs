//! Content blocks, as results of calls and messages of prompts carry them, in the revision that the client speaks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::rpc::era::{Era, LegacyVersion};
use crate::text::json::push_string;
use crate::tool::content::{Body, Content, Contents, Link, Media};

/// Writes blocks one after the other.
pub(super) struct Blocks<'a> {
    result: &'a mut String,
    era: Era,
    count: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(result: &'a mut String, era: Era) -> Self {
        Blocks { result, era, count: 0 }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.begin("text");
        self.member("text", text);
        self.result.push('}');
    }

    /// A block of any kind; where the client's revision does not know it, words in its place.
    pub(super) fn content(&mut self, content: &Content) {
        match content {
            Content::Text(text) => self.text(text),
            Content::Image(media) => self.media("image", media),
            Content::Audio(media) if self.knows(LegacyVersion::V2025_03_26) => self.media("audio", media),
            Content::Audio(Media { mime_type, bytes }) => {
                self.text(&format!("[A sound ({mime_type}, {} bytes), which this client cannot play.]", bytes.len()));
            }
            Content::Resource { uri, contents } => {
                self.begin("resource");
                self.result.push_str(",\"resource\":");
                push_contents(self.result, uri, contents);
                self.result.push('}');
            }
            Content::Link(link) if self.knows(LegacyVersion::V2025_06_18) => self.link(link),
            Content::Link(Link { uri, name, description, .. }) => {
                let more = description.as_ref().map_or_else(String::new, |description| format!(": {description}"));
                self.text(&format!("[{name} is at {uri}{more}]"));
            }
        }
    }

    fn knows(&self, since: LegacyVersion) -> bool {
        match self.era {
            Era::Modern => true,
            Era::Legacy(version) => version >= since,
        }
    }

    fn media(&mut self, kind: &str, Media { mime_type, bytes }: &Media) {
        self.begin(kind);
        self.member("data", &BASE64.encode(bytes));
        self.member("mimeType", mime_type);
        self.result.push('}');
    }

    fn link(&mut self, Link { uri, name, description, mime_type }: &Link) {
        self.begin("resource_link");
        self.member("uri", uri);
        self.member("name", name);
        for (member, value) in [("description", description), ("mimeType", mime_type)] {
            if let Some(value) = value {
                self.member(member, value);
            }
        }
        self.result.push('}');
    }

    fn begin(&mut self, kind: &str) {
        self.result.push_str(if self.count == 0 { "{\"type\":\"" } else { ",{\"type\":\"" });
        self.result.push_str(kind);
        self.result.push('"');
        self.count += 1;
    }

    fn member(&mut self, name: &str, value: &str) {
        self.result.push_str(",\"");
        self.result.push_str(name);
        self.result.push_str("\":");
        push_string(self.result, value);
    }
}

/// Appends what a resource holds: `TextResourceContents` or `BlobResourceContents`.
pub(super) fn push_contents(result: &mut String, uri: &str, Contents { mime_type, body }: &Contents) {
    result.push_str("{\"uri\":");
    push_string(result, uri);
    if let Some(mime_type) = mime_type {
        result.push_str(",\"mimeType\":");
        push_string(result, mime_type);
    }
    match body {
        Body::Text(text) => {
            result.push_str(",\"text\":");
            push_string(result, text);
        }
        Body::Blob(bytes) => {
            result.push_str(",\"blob\":\"");
            BASE64.encode_string(bytes, result);
            result.push('"');
        }
    }
    result.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_sent_only_blocks_that_its_revision_knows() {
        let sound = Content::Audio(Media::new("audio/wav", "RIFF"));
        let link = Content::Link(Link { uri: "a://b".to_owned(), name: "b".to_owned(), ..Link::default() });
        let kinds = |era| {
            let mut text = String::from("[");
            let mut blocks = Blocks::new(&mut text, era);
            [&sound, &link].into_iter().for_each(|content| blocks.content(content));
            text.push(']');
            let blocks: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
            blocks.iter().map(|block| block["type"].as_str().expect("a type").to_owned()).collect::<Vec<_>>()
        };
        for (era, want) in [
            (Era::Modern, ["audio", "resource_link"]),
            (Era::Legacy(LegacyVersion::V2025_06_18), ["audio", "resource_link"]),
            (Era::Legacy(LegacyVersion::V2025_03_26), ["audio", "text"]),
            (Era::Legacy(LegacyVersion::V2024_11_05), ["text", "text"]),
        ] {
            assert_eq!(kinds(era), want, "{era:?}");
        }
    }
}
