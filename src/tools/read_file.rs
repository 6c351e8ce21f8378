//! `read_file`: text with line numbers, a page at a time, or an image.

mod index;
mod pieces;

use std::io::Read;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{not_found, not_text};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::text::counted::counted;
use crate::text::encoding::{self, NotText};
use crate::text::lines::{self, LineRange, Page, Resume};
use crate::text::media;
use crate::tool::content::{Content, Media};
use crate::tool::view::{TextRules, View};
use crate::tool::{Card, Effect, Facts, Plan, Sight, Spec, Tool};
use crate::workspace::{FileErrorKind, Identity, OpenFile};
use index::LineIndex;
use pieces::{read_page, read_piece};

/// The tool `read_file`. It remembers where lines begin in large files.
#[derive(Debug, Default)]
pub struct ReadFile {
    index: LineIndex,
}

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, such as src/main.rs.
    pub path: String,
    /// First line to read, counted from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub start_line: Option<u64>,
    /// Last line to read, included.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub end_line: Option<u64>,
    /// Bytes of start_line to skip, if it was cut.
    #[serde(default)]
    pub line_offset: Option<u64>,
}

/// What was read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// The text as it is in the file, without line numbers.
    pub content: String,
    /// The number of the first line in `content`.
    pub start_line: u64,
    /// The number of the last line in `content`; one less than `start_line` if there is none.
    pub end_line: u64,
    /// How many lines the file has, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Where to go on, if this is not all that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
    /// The version of the file, if all of it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the image is, if the file is one; it is shown beside this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageFacts>,
    #[serde(skip)]
    picture: Option<Media>,
    #[serde(skip)]
    sight: Sight,
}

/// Where to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Next {
    /// The next `start_line`.
    pub start_line: u64,
    /// The next `line_offset`.
    pub line_offset: u64,
}

/// What is known of an image.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImageFacts {
    /// Such as image/png.
    pub mime_type: &'static str,
    /// Its size in bytes.
    pub size: u64,
}

impl Tool for ReadFile {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "read_file",
            title: "Read file",
            description: "Read a text file, or look at an image. USE THIS BEFORE CHANGING A \
                          FILE. Every line comes as `N: text`; never put the `N: ` into old_str or content. An answer holds up to 2000 lines or 256 KiB and says with \
                          which start_line to go on.",
            effect: Effect::Reads,
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.existing(&args.path)?;
        let range = range(&args)?;
        let mut file = view.open(&path).map_err(|error| not_found(view, &path, error.into()))?;
        let head = read_piece(&mut file, &path)?;
        let bridged = view.text_rules() == TextRules::Bridged;
        if bridged
            && let Some(mime_type) = media::kind(&head.bytes).and_then(|media| media.image)
            && !is_text(&head.bytes)
        {
            return Ok(Plan::Answer(read_image(view, &path, file, head.bytes, mime_type)?));
        }
        if bridged {
            refuse_binary(&path, &file, &head.bytes)?;
        }
        let identity = file.stat.identity;
        let (page, version) = read_page(view, &path, file, head, range, &self.index)?;
        check_offset(range, &page)?;
        let sight = sight(&path, identity, version, &page);
        Ok(Plan::Answer(answer(sight, page, bridged)?))
    }

    fn observe(output: &Output) -> String {
        match &output.image {
            Some(image) => format!("{} is an image ({}, {} bytes).", output.path, image.mime_type, image.size),
            None => lines::number(&output.content, output.start_line),
        }
    }

    fn notes(output: &Output) -> Vec<String> {
        if output.image.is_some() {
            return Vec::new();
        }
        let total = output.total_lines.map_or_else(String::new, |total| format!(" of {total}"));
        let note = match (output.next, output.total_lines) {
            (Some(Next { start_line, line_offset: 0 }), _) => {
                format!("[Lines {}-{}{total}. Go on with start_line {start_line}.]", output.start_line, output.end_line)
            }
            (Some(Next { start_line, line_offset }), _) => {
                format!(
                    "[Line {start_line}{total} is long and was cut here. Go on inside it with start_line {start_line} and \
                     line_offset {line_offset}.]"
                )
            }
            (None, Some(0)) => "[The file is empty: 0 lines.]".to_owned(),
            (None, Some(total)) if output.content.is_empty() => {
                format!(
                    "[Nothing to show: line {} is past the end. The file has {}.]",
                    output.start_line,
                    counted(total, "line", "lines")
                )
            }
            _ => return Vec::new(),
        };
        vec![note]
    }

    fn facts(output: &Output) -> Facts {
        vec![
            ("version", json!(output.version)),
            ("start_line", json!(output.start_line)),
            ("end_line", json!(output.end_line)),
            ("total_lines", json!(output.total_lines)),
            ("next", json!(output.next)),
        ]
    }

    fn sights(output: &Output) -> Vec<Sight> {
        vec![output.sight.clone()]
    }

    fn content(output: &Output) -> Vec<Content> {
        output.picture.iter().cloned().map(Content::Image).collect()
    }

    fn present(args: &Args) -> Card {
        Card::new(match (args.start_line, args.end_line) {
            (None, None) => format!("Read {}", args.path),
            (start, None) => format!("Read {} from line {}", args.path, start.unwrap_or(1)),
            (start, Some(end)) => format!("Read {}, lines {}-{end}", args.path, start.unwrap_or(1)),
        })
    }

    fn present_result(output: &Output) -> Option<Card> {
        let Output { path, start_line, end_line, total_lines, .. } = output;
        let of = total_lines.map_or_else(String::new, |total| format!(" of {total}"));
        Some(Card::new(match (&output.image, *total_lines) {
            (Some(image), _) => format!("Read {path}, an image ({}, {} bytes)", image.mime_type, image.size),
            (None, Some(0)) => format!("Read {path}, which is empty"),
            (None, _) if output.content.is_empty() => {
                format!("Read nothing of {path}: line {start_line} is past the end")
            }
            (None, _) if start_line == end_line => format!("Read {path}, line {start_line}{of}"),
            (None, _) => format!("Read {path}, lines {start_line}-{end_line}{of}"),
        }))
    }
}

fn range(args: &Args) -> Result<LineRange, ToolError> {
    let start = args.start_line.unwrap_or(1);
    match args.end_line {
        Some(end) if end < start => Err(ToolError::bad_argument(
            "end_line",
            format_args!("{end} lies before start_line {start}. Lines are counted from 1 and both ends are included."),
        )),
        end => Ok(LineRange { start, end, offset: args.line_offset.unwrap_or(0) }),
    }
}

/// Refuses an offset that lies behind the end of its line: what follows would look like the line's text (B128).
fn check_offset(range: LineRange, page: &Page) -> Result<(), ToolError> {
    // Inside a character the page begins with that character, so only line ends and nothing at all are behind it.
    let behind = range.offset > page.first_offset && matches!(page.text.first(), None | Some(b'\n' | b'\r'));
    let there = page.total_lines.is_none_or(|total| range.start <= total);
    if !(behind && there) {
        return Ok(());
    }
    Err(ToolError::bad_argument(
        "line_offset",
        format_args!(
            "{} lies behind the end of line {}, which has {} bytes. Leave it out to read the line from its start.",
            range.offset, range.start, page.first_offset
        ),
    ))
}

/// Whether a file that begins like an image is text all the same, such as an article about `GIF89a`.
fn is_text(head: &[u8]) -> bool {
    let whole = match std::str::from_utf8(head) {
        Ok(_) => true,
        // A character may be cut off where the piece ends.
        Err(error) => error.error_len().is_none(),
    };
    whole && memchr::memchr(0, head).is_none()
}

fn refuse_binary(path: &WsPath, file: &OpenFile, head: &[u8]) -> Result<(), ToolError> {
    if encoding::is_utf32(head) {
        return Err(not_text(path, size_of(file, head), None, NotText::Utf32));
    }
    let utf16 = matches!(encoding::detect(head), encoding::Encoding::Utf16Le | encoding::Encoding::Utf16Be);
    match memchr::memchr(0, head) {
        Some(at) if !utf16 => {
            let kind = media::kind(head).map(|media| media.name);
            Err(not_text(path, size_of(file, head), kind, NotText::Binary { nul_at: at as u64 }))
        }
        _ => Ok(()),
    }
}

fn size_of(file: &OpenFile, head: &[u8]) -> u64 {
    file.stat.size.max(head.len() as u64)
}

fn read_image(
    view: &View,
    path: &WsPath,
    mut file: OpenFile,
    head: Vec<u8>,
    mime_type: &'static str,
) -> Result<Output, ToolError> {
    let limit = view.limits().image_bytes;
    let mut bytes = head;
    (&mut file.content)
        .take(limit.saturating_add(1).saturating_sub(bytes.len() as u64))
        .read_to_end(&mut bytes)
        .map_err(|error| FileErrorKind::Io(error).at(path))?;
    let size = bytes.len() as u64;
    if size > limit {
        let size = size.max(file.stat.size);
        return Err(ToolError::new(
            ErrorCode::TooLarge,
            format!(
                "{path} is an image of {size} bytes; up to {limit} can be shown. Ask the user for a smaller version."
            ),
        )
        .with("path", path.to_string())
        .with("size", size)
        .with("limit", limit));
    }
    let version = Version::of(&bytes);
    let sight =
        Sight { path: path.clone(), identity: file.stat.identity, version: Some(version), from: (1, 0), to: None };
    Ok(Output {
        path: path.to_string(),
        content: String::new(),
        start_line: 1,
        end_line: 0,
        total_lines: None,
        next: None,
        version: Some(version.to_string()),
        image: Some(ImageFacts { mime_type, size }),
        picture: Some(Media::new(mime_type, bytes)),
        sight,
    })
}

/// What of the file the page shows.
fn sight(path: &WsPath, identity: Option<Identity>, version: Option<Version>, page: &Page) -> Sight {
    let ends = page.next.is_none() && page.total_lines.is_some_and(|total| page.last_line >= total);
    let after = page.next.map_or((page.last_line + 1, 0), |Resume { line, offset }| (line, offset));
    Sight {
        path: path.clone(),
        identity,
        version,
        from: (page.first_line, page.first_offset),
        to: (!ends).then_some(after),
    }
}

fn answer(sight: Sight, page: Page, bridged: bool) -> Result<Output, ToolError> {
    let path = &sight.path;
    let content = String::from_utf8(page.text).map_err(|error| {
        let bad_at = error.utf8_error().valid_up_to() as u64;
        not_text(path, error.as_bytes().len() as u64, None, NotText::Unsupported { bad_at })
    })?;
    if bridged && let Some(at) = memchr::memchr(0, content.as_bytes()) {
        return Err(not_text(path, content.len() as u64, None, NotText::Binary { nul_at: at as u64 }));
    }
    Ok(Output {
        path: path.to_string(),
        content,
        start_line: page.first_line,
        end_line: page.last_line,
        total_lines: page.total_lines,
        next: page.next.map(|Resume { line, offset }| Next { start_line: line, line_offset: offset }),
        version: sight.version.map(|version| version.to_string()),
        image: None,
        picture: None,
        sight,
    })
}
