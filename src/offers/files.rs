//! The files of the workspace as resources: `workspace:///src/main.rs`.
//!
//! The scheme is our own. `file:` would have to be an absolute path, which tells a client elsewhere nothing, shows it how
//! the server's disk is laid out, and does not exist for a workspace in memory. Behind the three slashes stands a path as
//! the tools take it.

mod walk;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::offer::resource::{Item, Page, ResourceSpec, Template, TemplateSpec, Typing};
use crate::offers::files::walk::Walk;
use crate::text::encoding;
use crate::text::{media, uri};
use crate::tool::content::{Body, Contents};
use crate::tool::view::View;
use crate::workspace::{FileErrorKind, Kind};

/// So many entries of a folder are looked at to complete a path.
const ENTRIES: usize = 10_000;

/// The files of the workspace.
#[derive(Debug)]
pub struct Files;

/// The address of a file.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file, relative to the workspace's folder.
    path: String,
}

impl Template for Files {
    type Args = Args;

    fn spec(&self) -> TemplateSpec {
        TemplateSpec {
            uri_template: "workspace:///{+path}",
            name: "file",
            title: "File",
            description: "A file of the workspace, by its path relative to the workspace's folder.",
            mime_type: None,
            // A rule about reading and listing holds here too.
            reads_as: "read_file",
            lists_as: "list_dir",
            paths: &["path"],
        }
    }

    async fn read(&self, view: &View, args: Args) -> Result<Contents, ToolError> {
        let path = view.path(&args.path)?;
        let limit = view.limits().resource_bytes;
        let mut file = view.open(&path)?;
        let mut bytes = Vec::with_capacity(usize::try_from(file.stat.size.min(limit)).unwrap_or(0) + 1);
        (&mut file.content)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| FileErrorKind::Io(error).at(&path))?;
        if bytes.len() as u64 > limit {
            return Err(ToolError::new(
                ErrorCode::TooLarge,
                format!(
                    "{path} is larger than the {limit} bytes that a resource may have here. Read it in parts with the tool \
                     read_file."
                ),
            )
            .with("limit", limit));
        }
        Ok(contents(&path, bytes))
    }

    async fn list(&self, view: &View, after: Option<&str>, limit: usize) -> Result<Page, ToolError> {
        let after = after.map(|after| view.path(after)).transpose()?;
        let walk = Walk::after(view, after, limit)?;
        let resources = walk.files.into_iter().map(|(path, size)| item(&path, size)).collect();
        Ok(Page { resources, next: walk.next.map(|path| path.as_str().to_owned()) })
    }

    async fn complete(&self, view: &View, typing: &Typing) -> Result<Vec<String>, ToolError> {
        let (folder, begun) = typing.text.rsplit_once('/').map_or((".", typing.text.as_str()), |(folder, begun)| {
            (if folder.is_empty() { "." } else { folder }, begun)
        });
        let folder = view.path(folder)?;
        let Ok(listing) = view.list(&folder, ENTRIES) else { return Ok(Vec::new()) };
        let names = listing.entries.into_iter().filter(|entry| entry.addressable && entry.name.starts_with(begun));
        // What begins with a dot is meant only by who types the dot.
        let names = names.filter(|entry| begun.starts_with('.') || !entry.name.starts_with('.'));
        Ok(names
            .filter_map(|entry| {
                let path = folder.join(&entry.name).as_str().to_owned();
                match entry.kind? {
                    Kind::Dir => Some(format!("{path}/")),
                    Kind::File => Some(path),
                    Kind::Link if entry.leads_to == Some(Kind::Dir) => Some(format!("{path}/")),
                    Kind::Link if entry.leads_to == Some(Kind::File) => Some(path),
                    _ => None,
                }
            })
            .collect())
    }
}

/// The address of a file.
#[must_use]
pub fn uri_of(path: &WsPath) -> String {
    format!("workspace:///{}", uri::encode_path(path.as_str()))
}

fn item(path: &WsPath, size: Option<u64>) -> Item {
    let spec = ResourceSpec {
        mime_type: type_by_name(path.name()).map(str::to_owned),
        size,
        ..ResourceSpec::new(uri_of(path), path.as_str())
    };
    Item { spec, variables: BTreeMap::from([("path".to_owned(), path.as_str().to_owned())]) }
}

/// Text if it is text that the tools can read too, else bytes.
fn contents(path: &WsPath, bytes: Vec<u8>) -> Contents {
    let named = type_by_name(path.name());
    let text = match memchr::memchr(0, &bytes) {
        Some(_) if encoding::detect(&bytes).bom().is_empty() => None,
        _ => encoding::decode(&bytes).ok().map(|decoded| decoded.text.into_owned()),
    };
    match text.filter(|text| !text.contains('\0')) {
        Some(text) => {
            let mime_type =
                named.filter(|named| named.starts_with("text/") || named.contains('+') || named.ends_with("json"));
            Contents { mime_type: Some(Cow::Borrowed(mime_type.unwrap_or("text/plain"))), body: Body::Text(text) }
        }
        None => {
            let seen = media::kind(&bytes).and_then(|media| media.image);
            let mime_type = seen.or(named).unwrap_or("application/octet-stream");
            Contents { mime_type: Some(Cow::Borrowed(mime_type)), body: Body::Blob(Bytes::from(bytes)) }
        }
    }
}

/// What files of that name usually are; nothing where that is only guessed.
fn type_by_name(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "css" => "text/css",
        "csv" => "text/csv",
        "gif" => "image/gif",
        "htm" | "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "md" => "text/markdown",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "webp" => "image/webp",
        "xml" => "application/xml",
        "zip" => "application/zip",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text_and_what_is_not_goes_as_bytes() {
        for (name, bytes, mime_type, text) in [
            ("a.rs", &b"fn main() {}\n"[..], "text/plain", Some("fn main() {}\n")),
            ("a.md", b"# A\n", "text/markdown", Some("# A\n")),
            ("a.json", b"{}", "application/json", Some("{}")),
            ("a.svg", b"<svg/>", "image/svg+xml", Some("<svg/>")),
            ("a.txt", b"\xFF\xFEh\0i\0", "text/plain", Some("hi")),
            ("a.txt", b"\xEF\xBB\xBFhi", "text/plain", Some("hi")),
            ("a.png", b"hello", "text/plain", Some("hello")),
            ("a.txt", b"a\0b", "text/plain", None),
            ("a", b"\xFF\xFFx", "application/octet-stream", None),
            ("a.bin", b"\x89PNG\r\n\x1a\n\0", "image/png", None),
            ("a.txt", b"", "text/plain", Some("")),
        ] {
            let contents = contents(&WsPath::parse(name).expect("a path"), bytes.to_vec());
            let got = match &contents.body {
                Body::Text(text) => Some(text.as_str()),
                Body::Blob(_) => None,
            };
            assert_eq!((contents.mime_type.as_deref(), got), (Some(mime_type), text), "{name} {bytes:?}");
        }
    }
}
