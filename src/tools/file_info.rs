//! `file_info`: what a file or folder is, without its content.

use std::io::Read;

use memchr::memchr_iter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::not_found;
use crate::model::error::ToolError;
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::text::encoding::{self, Encoding, NotText};
use crate::text::{lines, media};
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Plan, Spec, Tool};
use crate::workspace::{About, FileErrorKind, Kind};

/// Files up to this size are read as a whole, to count their lines and tell their version.
const WHOLE: u64 = 16 * 1024 * 1024;

/// So much of a larger one is looked at.
const START: u64 = 256 * 1024;

/// The tool `file_info`.
#[derive(Debug)]
pub struct FileInfo;

/// What to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file or folder.
    pub path: String,
}

/// What is known of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file or folder, as it was named.
    pub path: String,
    /// What it is, a link followed.
    #[serde(rename = "type")]
    pub kind: InfoKind,
    /// What a link points to, as it is written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Its size in bytes, for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How many entries a folder has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
    /// What the text is like, for a text file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextFacts>,
    /// What a file that is not text is, such as PNG image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The permission bits in octal, such as 0644.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// When its content was last changed, such as 2026-11-30T16:55:25Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The version of its content, which stands for all of its bytes; only told of a file that is read as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether only the start was looked at, since the file is large.
    pub partial: bool,
}

/// What is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InfoKind {
    File,
    Dir,
    /// A link that is broken or leads outside.
    Link,
    Other,
}

/// What a text is like.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TextFacts {
    /// How its characters stand as bytes.
    pub encoding: &'static str,
    /// Whether it begins with a byte order mark.
    pub bom: bool,
    /// How its lines end: LF, CRLF, mixed or none.
    pub line_ends: &'static str,
    /// Whether there are carriage returns that end no line.
    pub lone_cr: bool,
    /// How many lines it has, if all of it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// Whether the last line has a line end, if all of it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_in_newline: Option<bool>,
}

impl Tool for FileInfo {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "file_info",
            title: "File info",
            description: "Tell what a file or folder is without reading its content: type, size, lines, encoding, line ends, \
                          mode, time of change, version, where a link points.",
            effect: Effect::Reads,
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.existing(&args.path)?;
        let about = view.about(&path).map_err(|error| not_found(view, &path, error.into()))?;
        let mut output = outside(args.path, &about);
        match about.stat.map(|stat| stat.kind) {
            Some(Kind::Dir) => output.entries = view.list(&path, 0).ok().map(|listing| listing.total),
            Some(Kind::File) => look_inside(view, &path, &mut output)?,
            Some(Kind::Link | Kind::Other) | None => {}
        }
        Ok(Plan::Answer(output))
    }

    fn observe(output: &Output) -> String {
        let mut rows = vec![format!("path: {}", output.path), format!("type: {}", what(output))];
        if let Some(target) = &output.target {
            let broken = if output.kind == InfoKind::Link { " (broken, or leads outside)" } else { "" };
            rows.push(format!("link to: {target}{broken}"));
        }
        rows.extend(output.size.map(|size| format!("size: {size} bytes")));
        rows.extend(output.entries.map(|entries| format!("entries: {entries}")));
        if let Some(text) = &output.text {
            rows.extend(text.rows());
        }
        rows.extend(output.mode.as_ref().map(|mode| format!("mode: {mode}")));
        rows.extend(output.modified.as_ref().map(|modified| format!("modified: {modified}")));
        rows.extend(output.version.as_ref().map(|version| format!("version: {version}")));
        rows.join("\n")
    }

    fn notes(output: &Output) -> Vec<String> {
        if output.partial {
            vec![format!("[Only the first {START} bytes were looked at, so lines and version are not told.]")]
        } else {
            Vec::new()
        }
    }

    fn facts(output: &Output) -> Facts {
        vec![("version", json!(output.version)), ("size", json!(output.size))]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Look at {}", args.path))
    }

    fn present_result(output: &Output) -> Option<Card> {
        Some(Card::new(format!("Looked at {}: {}", output.path, what(output))))
    }
}

impl TextFacts {
    fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        rows.extend(self.lines.map(|lines| format!("lines: {lines}")));
        rows.push(format!("encoding: {}", self.encoding));
        let open = if self.ends_in_newline == Some(false) && self.lines != Some(0) {
            ", none after the last line"
        } else {
            ""
        };
        let lone = if self.lone_cr { ", and carriage returns that end no line" } else { "" };
        rows.push(format!("line ends: {}{open}{lone}", self.line_ends));
        rows
    }
}

/// What it is, in words.
fn what(output: &Output) -> String {
    match (output.kind, &output.text, &output.format) {
        (InfoKind::File, Some(_), _) => "file, text".to_owned(),
        (InfoKind::File, None, Some(format)) => format!("file, not text ({format})"),
        (InfoKind::File, None, None) => "file, not text".to_owned(),
        (InfoKind::Dir, ..) => "dir".to_owned(),
        (InfoKind::Link, ..) => "link".to_owned(),
        (InfoKind::Other, ..) => "other (a device, FIFO or socket)".to_owned(),
    }
}

/// What can be told without opening it.
fn outside(path: String, about: &About) -> Output {
    let kind = match about.stat.map(|stat| stat.kind) {
        Some(Kind::File) => InfoKind::File,
        Some(Kind::Dir) => InfoKind::Dir,
        Some(Kind::Other) => InfoKind::Other,
        Some(Kind::Link) | None => InfoKind::Link,
    };
    Output {
        path,
        kind,
        target: about.target.clone(),
        size: about.stat.filter(|stat| stat.kind == Kind::File).map(|stat| stat.size),
        entries: None,
        text: None,
        format: None,
        mode: about.mode.map(|mode| format!("{mode:04o}")),
        modified: about.modified.map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        version: None,
        partial: false,
    }
}

/// What the content says: all of it, or the start of a large one.
fn look_inside(view: &View, path: &WsPath, output: &mut Output) -> Result<(), ToolError> {
    let file = view.open(path)?;
    let most = if file.stat.size > WHOLE { START } else { WHOLE + 1 };
    let mut bytes = Vec::new();
    file.content.take(most).read_to_end(&mut bytes).map_err(|error| FileErrorKind::Io(error).at(path))?;
    // Some files hold more than the system tells.
    output.partial = file.stat.size > WHOLE || bytes.len() as u64 > WHOLE;
    if !output.partial {
        output.size = Some(bytes.len() as u64);
        output.version = Some(Version::of(&bytes).to_string());
    }
    match text_facts(&bytes, output.partial) {
        Ok(text) => output.text = Some(text),
        Err(fault) => output.format = format_of(&bytes, fault),
    }
    Ok(())
}

fn format_of(bytes: &[u8], fault: NotText) -> Option<String> {
    match (media::kind(bytes), fault) {
        (Some(media), _) => Some(media.name.to_owned()),
        (None, NotText::Unsupported { .. }) => Some("perhaps text in another encoding than UTF-8 or UTF-16".to_owned()),
        (None, NotText::Utf32) => Some("text in UTF-32".to_owned()),
        (None, NotText::Binary { .. }) => None,
    }
}

fn text_facts(bytes: &[u8], partial: bool) -> Result<TextFacts, NotText> {
    let decoded = match encoding::decode(bytes) {
        // The start of a file may end inside of a character.
        Err(NotText::Unsupported { bad_at }) if partial && bytes.len() as u64 - bad_at < 4 => {
            encoding::decode(&bytes[..usize::try_from(bad_at).unwrap_or(0)])?
        }
        decoded => decoded?,
    };
    let text = decoded.text.as_bytes();
    let feeds = memchr_iter(b'\n', text).count();
    let pairs = memchr_iter(b'\n', text).filter(|at| *at > 0 && text[at - 1] == b'\r').count();
    let returns = memchr_iter(b'\r', text).count();
    let line_ends = match (pairs, feeds) {
        (_, 0) => "none",
        (0, _) => "LF",
        (pairs, feeds) if pairs == feeds => "CRLF",
        _ => "mixed",
    };
    Ok(TextFacts {
        encoding: decoded.encoding.name(),
        bom: decoded.encoding != Encoding::Utf8,
        line_ends,
        // The last byte of a start may belong to a pair.
        lone_cr: returns > pairs + usize::from(partial && text.ends_with(b"\r")),
        lines: (!partial).then(|| lines::count(text)),
        ends_in_newline: (!partial).then(|| text.ends_with(b"\n")),
    })
}
