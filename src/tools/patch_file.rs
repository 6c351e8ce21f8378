//! `patch_file`: one exact text in a file becomes another.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{check_expected, check_no_nul, not_found, not_text};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::text::encoding::{self, Encoding};
use crate::text::find::{self, Eol};
use crate::text::hint::{self, Near};
use crate::text::{diff, lines, media, splice};
use crate::tool::view::{FileBytes, TextRules, View};
use crate::tool::{Card, Effect, Facts, Intent, Plan, Spec, Tool};

/// How many line numbers an error names in its message.
const LINES_NAMED: usize = 20;

/// How many line numbers an error carries in its details.
const LINES_LISTED: usize = 1_000;

/// How many places one patch may replace, and how many an error counts.
const MOST_MATCHES: usize = 1_000_000;

/// How many bytes of a diff a dry run shows.
const DIFF_SHOWN: usize = 64 * 1024;

/// The tool `patch_file`.
#[derive(Debug)]
pub struct PatchFile;

/// What to replace where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, relative to the workspace's folder, such as src/main.rs.
    pub path: String,
    /// The text to replace, exactly as it stands in the file, with enough lines around it to occur only once.
    #[schemars(length(min = 1))]
    pub old_str: String,
    /// The text to put there, taken literally. Empty: old_str is deleted.
    pub new_str: String,
    /// Replace every occurrence, left to right. Left out: old_str must occur exactly once.
    #[serde(default)]
    pub replace_all: Option<bool>,
    /// Change nothing, answer with the diff.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// Patch only if the file is still at this version, as an earlier result told it.
    #[serde(default)]
    pub expected_version: Option<String>,
}

/// What was patched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file, as it was named.
    pub path: String,
    /// How many places were replaced.
    pub replaced: usize,
    /// The lines on which they began, before the patch; at most the first 1,000.
    pub lines: Vec<u64>,
    /// The version of the file after the patch.
    pub version: String,
    /// What would change, for a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl Tool for PatchFile {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "patch_file",
            title: "Patch file",
            description: "Replace old_str by new_str in a text file: the safe way to change a part of it. Read the file first \
                          and copy old_str from it exactly, with its indentation, without the `N: ` line numbers. old_str must \
                          occur exactly once: take in lines around it until it does, or set replace_all. Both are literal \
                          text, no regex and no escapes. Nothing is matched approximately: if old_str is not there the file \
                          stays as it is, and old_str_not_found shows the nearest place and what differs; ambiguous_match names \
                          the lines of all matches. A \\n in old_str also matches the file's \\r\\n, and new lines take the line \
                          ending of the place. Every byte outside the match stays. Use dry_run to see the diff first.",
            effect: Effect::Replaces { idempotent: false },
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.path(&args.path)?;
        check_arguments(view, &args)?;
        let old = view.read_whole(&path).map_err(|error| not_found(view, &path, error))?;
        check_expected(&path, args.expected_version.as_deref(), Some(old.version))?;
        let subject = Subject::of(view, &path, &old)?;
        let spans = subject.places(&path, &args)?;
        let text = subject.patched(&spans, &args.new_str);
        let lines = subject.first_lines(&spans);
        let dry = args.dry_run.unwrap_or(false);
        let diff =
            dry.then(|| shortened(diff::unified(path.as_str(), &subject.text, &String::from_utf8_lossy(&text), 3)));
        let content = subject.into_bytes(text);
        if content == old.bytes {
            return Err(no_change("puts there what the file holds already"));
        }
        let version = Version::of(&content).to_string();
        let output = Output { path: args.path, replaced: spans.len(), lines, version, diff };
        if dry {
            return Ok(Plan::Answer(output));
        }
        let change = Change::Write { path, expect: Expect::Exactly(old.version), content };
        let intent = Intent::Edit { lines: output.lines.clone() };
        Ok(Plan::Change { set: ChangeSet::new(vec![change]), intent, output })
    }

    fn observe(output: &Output) -> String {
        match &output.diff {
            None => format!("File patched: {}", output.path),
            Some(diff) => format!("Dry run, nothing was changed. The patch would do this:\n{diff}"),
        }
    }

    fn notes(output: &Output) -> Vec<String> {
        if output.replaced == 1 || output.diff.is_some() {
            return Vec::new();
        }
        vec![format!(
            "[{} places were replaced, on lines {}.]",
            output.replaced,
            listed(&output.lines, output.replaced)
        )]
    }

    fn facts(output: &Output) -> Facts {
        vec![
            ("version", json!(output.version)),
            ("replaced", json!(output.replaced)),
            ("lines", json!(output.lines)),
            ("dry_run", output.diff.is_some().then_some(true).into()),
        ]
    }

    fn present(args: &Args) -> Card {
        let all = if args.replace_all == Some(true) { " everywhere" } else { "" };
        Card::new(format!("Patch {}{all}", args.path))
    }
}

fn check_arguments(view: &View, args: &Args) -> Result<(), ToolError> {
    if view.text_rules() == TextRules::Bridged {
        check_no_nul("new_str", &args.new_str)?;
    }
    if args.old_str == args.new_str { Err(no_change("is the same as old_str")) } else { Ok(()) }
}

/// A patch that changes nothing is never what was meant, and told as a change it would mislead (B034).
fn no_change(why: &str) -> ToolError {
    ToolError::bad_argument(
        "new_str",
        format_args!("{why}, so nothing would change. Say what shall stand there instead."),
    )
}

/// The text that is patched, and how it becomes bytes again.
struct Subject<'a> {
    text: Cow<'a, str>,
    encoding: Encoding,
    eol: Eol,
}

impl<'a> Subject<'a> {
    fn of(view: &View, path: &WsPath, file: &'a FileBytes) -> Result<Self, ToolError> {
        let refused = |fault| {
            let kind = media::kind(&file.bytes).map(|media| media.name);
            not_text(path, file.bytes.len() as u64, kind, fault)
        };
        match view.text_rules() {
            TextRules::Bridged => {
                let decoded = encoding::decode(&file.bytes).map_err(refused)?;
                Ok(Subject { text: decoded.text, encoding: decoded.encoding, eol: Eol::Bridged })
            }
            TextRules::Exact => match std::str::from_utf8(&file.bytes) {
                Ok(text) => Ok(Subject { text: Cow::Borrowed(text), encoding: Encoding::Utf8, eol: Eol::Exact }),
                Err(error) => Err(refused(encoding::NotText::Unsupported { bad_at: error.valid_up_to() as u64 })),
            },
        }
    }

    /// Where the patch goes: exactly one place, or all of them.
    fn places(&self, path: &WsPath, args: &Args) -> Result<Vec<Range<usize>>, ToolError> {
        let most = if self.eol == Eol::Exact { usize::MAX } else { MOST_MATCHES + 1 };
        let matches = find::find_up_to(most, self.text.as_bytes(), args.old_str.as_bytes(), self.eol);
        match matches.len() {
            0 => Err(self.missing(path, &args.old_str)),
            1 => Ok(matches),
            count if args.replace_all == Some(true) && count == most => Err(ToolError::new(
                ErrorCode::TooLarge,
                format!(
                    "old_str occurs more than {MOST_MATCHES} times in {path}, and no more can be replaced at once. Nothing was \
                     changed. Use a longer old_str."
                ),
            )
            .with("path", path.to_string())
            .with("limit", MOST_MATCHES)),
            _ if args.replace_all == Some(true) => Ok(find::disjoint(&matches)),
            _ => Err(self.ambiguous(path, &matches)),
        }
    }

    fn patched(&self, spans: &[Range<usize>], new: &str) -> Vec<u8> {
        let text = self.text.as_bytes();
        let edits: Vec<_> = spans
            .iter()
            .map(|span| (span.clone(), splice::replacement_for(text, span, new.as_bytes(), self.eol)))
            .collect();
        splice::splice(text, &edits)
    }

    fn into_bytes(self, text: Vec<u8>) -> Bytes {
        match self.encoding {
            Encoding::Utf8 => text.into(),
            other => encoding::encode(&String::from_utf8_lossy(&text), other).into(),
        }
    }

    /// On which lines the first [`LINES_LISTED`] of these begin; they stand in order.
    fn first_lines(&self, spans: &[Range<usize>]) -> Vec<u64> {
        let (mut line, mut at) = (1, 0);
        let text = self.text.as_bytes();
        let line_of = |span: &Range<usize>| {
            line += lines::line_of(&text[at..], span.start - at) - 1;
            at = span.start;
            line
        };
        spans.iter().take(LINES_LISTED).map(line_of).collect()
    }

    fn ambiguous(&self, path: &WsPath, matches: &[Range<usize>]) -> ToolError {
        let mut lines = self.first_lines(matches);
        lines.dedup();
        ToolError::new(
            ErrorCode::AmbiguousMatch,
            format!(
                "old_str occurs {} times in {path}, on {}. Nothing was changed. Take in lines around the one you mean until \
                 it occurs once, or set replace_all to change all of them.",
                matches.len(),
                match &lines[..] {
                    [only] => format!("line {only}"),
                    // Of the matches that are not listed nobody has counted the lines.
                    many if matches.len() > LINES_LISTED => format!("lines {} and more", listed(&many[..many.len().min(LINES_NAMED)], 0)),
                    many => format!("lines {}", listed(many, many.len())),
                }
            ),
        )
        .with("path", path.to_string())
        .with("matches", matches.len())
        .with("lines", lines)
    }

    fn missing(&self, path: &WsPath, old: &str) -> ToolError {
        let error = |message: String| ToolError::new(ErrorCode::OldStrNotFound, message).with("path", path.to_string());
        if self.text.is_empty() {
            return error(format!("{path} is empty, so old_str is not in it. Use write_file to give it content."));
        }
        match hint::nearest_with_eol(&self.text, old, self.eol) {
            None => error(format!(
                "old_str is not in {path}, and nothing in it is similar. Nothing was changed. Read the file and copy \
                 old_str from what it says now."
            )),
            Some(near) => error(format!(
                "old_str is not in {path}. Nothing was changed. The nearest place is {}; it differs in {}.{}The place \
                 reads:\n{}\nCopy old_str from there exactly.",
                lines_of(&near),
                differs(&near).join(", "),
                first_difference(&near),
                near.text.trim_end_matches(['\r', '\n'])
            ))
            .with(
                "nearest",
                json!({
                    "first_line": near.first_line,
                    "last_line": near.last_line,
                    "text": near.text,
                    "differs": differs(&near),
                }),
            ),
        }
    }
}

/// A diff that fits an answer; one of a file that is a single line may be twice as long as the file.
fn shortened(mut diff: String) -> String {
    if diff.len() > DIFF_SHOWN {
        let whole = diff.len();
        diff.truncate(diff.floor_char_boundary(DIFF_SHOWN));
        diff.push_str(&format!("\n[The diff is {whole} bytes long and was cut here.]\n"));
    }
    diff
}

fn differs(near: &Near) -> Vec<&'static str> {
    near.differs.iter().map(hint::Difference::describe).collect()
}

/// The first line that differs, in both forms, with what cannot be seen made visible; between two sentences.
fn first_difference(near: &Near) -> String {
    near.first_difference.as_ref().map_or_else(
        || " ".to_owned(),
        |first| {
            let in_file = if first.actual.is_empty() { "(nothing)" } else { &first.actual };
            format!(" Line {} of old_str is\n    {}\nwhere the file has\n    {in_file}\n", first.line, first.old)
        },
    )
}

fn lines_of(near: &Near) -> String {
    if near.first_line == near.last_line {
        format!("line {}", near.first_line)
    } else {
        format!("lines {}-{}", near.first_line, near.last_line)
    }
}

/// Line numbers for a message, the first of many; `total` counts those that are not in `lines` too.
fn listed(lines: &[u64], total: usize) -> String {
    let named: Vec<_> = lines.iter().take(LINES_NAMED).map(u64::to_string).collect();
    let more = total.saturating_sub(named.len());
    let named = named.join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}
