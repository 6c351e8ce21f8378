//! The text of a file on its way through patches, and what a model is told when one does not fit.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::json;

use super::{check_no_nul, not_text};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::file_bytes::FileBytes;
use crate::model::path::WsPath;
use crate::text::counted::counted;
use crate::text::encoding::{self, Encoding};
use crate::text::find::{self, Eol};
use crate::text::hint::{self, Near};
use crate::text::{diff, lines, media, splice};
use crate::tool::view::{TextRules, View};

/// How many line numbers an error names in its message.
const LINES_NAMED: usize = 20;

/// How many line numbers an error carries in its details.
const LINES_LISTED: usize = 1_000;

/// How many places one patch may replace, and how many an error counts.
const MOST_MATCHES: usize = 1_000_000;

/// How many bytes of a diff a dry run shows.
const DIFF_SHOWN: usize = 64 * 1024;

/// One text that becomes another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch<'p> {
    pub(super) old: &'p str,
    pub(super) new: &'p str,
    /// Every occurrence, and not exactly one.
    pub(super) everywhere: bool,
}

impl Patch<'_> {
    /// Refuses what can be no patch of any file.
    pub(super) fn check(&self, view: &View) -> Result<(), ToolError> {
        if view.text_rules() == TextRules::Bridged {
            check_no_nul("new_str", self.new)?;
        }
        if self.old == self.new { Err(no_change("is the same as old_str")) } else { Ok(()) }
    }
}

/// A patch that changes nothing is never what was meant, and told as a change it would mislead (B034).
pub(super) fn no_change(why: &str) -> ToolError {
    ToolError::bad_argument(
        "new_str",
        format_args!("{why}, so nothing would change. Say what shall stand there instead."),
    )
}

/// The text that is patched, and how it becomes bytes again.
#[derive(Clone)]
pub(super) struct Subject<'a> {
    text: Cow<'a, str>,
    encoding: Encoding,
    eol: Eol,
}

impl<'a> Subject<'a> {
    pub(super) fn of(view: &View, path: &WsPath, file: &'a FileBytes) -> Result<Self, ToolError> {
        let refused = |fault| {
            let kind = media::kind(file).map(|media| media.name);
            not_text(path, file.len() as u64, kind, fault)
        };
        match view.text_rules() {
            TextRules::Bridged => {
                let decoded = encoding::decode(file).map_err(refused)?;
                Ok(Subject { text: decoded.text, encoding: decoded.encoding, eol: Eol::Bridged })
            }
            TextRules::Exact => match std::str::from_utf8(file) {
                Ok(text) => Ok(Subject { text: Cow::Borrowed(text), encoding: Encoding::Utf8, eol: Eol::Exact }),
                Err(error) => Err(refused(encoding::NotText::Unsupported { bad_at: error.valid_up_to() as u64 })),
            },
        }
    }

    /// Where the patch goes: exactly one place, or all of them but those that overlap one before them.
    fn places(&self, path: &WsPath, patch: Patch<'_>) -> Result<Places, ToolError> {
        let most = if self.eol == Eol::Exact { usize::MAX } else { MOST_MATCHES + 1 };
        let matches = find::find_up_to(most, self.text.as_bytes(), patch.old.as_bytes(), self.eol);
        match matches.len() {
            0 => Err(self.missing(path, patch.old)),
            1 => Ok(Places { spans: matches, overlapping: 0 }),
            count if patch.everywhere && count == most => Err(ToolError::new(
                ErrorCode::TooLarge,
                format!(
                    "old_str occurs more than {MOST_MATCHES} times in {path}, and no more can be replaced at once. Nothing was \
                     changed. Use a longer old_str."
                ),
            )
            .with("path", path.to_string())
            .with("limit", MOST_MATCHES)),
            count if patch.everywhere => {
                let spans = find::disjoint(&matches);
                Ok(Places { overlapping: count - spans.len(), spans })
            }
            _ => Err(self.ambiguous(path, &matches)),
        }
    }

    /// Replaces what `patch` says, and tells where that was.
    ///
    /// # Errors
    /// `old_str_not_found`, `ambiguous_match`, `too_large`, and `invalid_arguments` where nothing would change.
    pub(super) fn apply(&mut self, path: &WsPath, patch: Patch<'_>) -> Result<Applied, ToolError> {
        let Places { spans, overlapping } = self.places(path, patch)?;
        let lines = self.lines_of(&spans);
        let text = self.text.as_bytes();
        let edits: Vec<_> = spans
            .into_iter()
            .map(|span| {
                let new = splice::replacement_for(text, &span, patch.new.as_bytes(), self.eol);
                (span, new)
            })
            .collect();
        let patched = splice::splice(text, &edits);
        let lines_changed = splice::lines_changed(text, &edits);
        if patched == text {
            return Err(no_change("puts there what the file holds already"));
        }
        let moves = edits.iter().map(|(span, new)| Move { from: span.clone(), to: new.len() }).collect();
        // Spans of one text in another begin and end between characters.
        self.text = String::from_utf8(patched)
            .map_err(|_| ToolError::new(ErrorCode::IoError, format!("{path} could not be patched. It is as it was.")))?
            .into();
        Ok(Applied { lines, moves, lines_changed, overlapping })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn into_bytes(self) -> FileBytes {
        match self.encoding {
            Encoding::Utf8 => self.text.into_owned().into(),
            other => encoding::encode(&self.text, other).into(),
        }
    }

    /// On which lines these begin; they stand in order.
    fn lines_of(&self, spans: &[Range<usize>]) -> Vec<u64> {
        lines_at(&self.text, spans.iter().map(|span| span.start))
    }

    fn ambiguous(&self, path: &WsPath, matches: &[Range<usize>]) -> ToolError {
        let mut lines = self.lines_of(&matches[..matches.len().min(LINES_LISTED)]);
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

/// What a patch has done to a text.
#[derive(Debug)]
pub(super) struct Applied {
    /// On which line each place began, before.
    pub(super) lines: Vec<u64>,
    /// What went where, in order.
    pub(super) moves: Vec<Move>,
    /// How many lines came and went.
    pub(super) lines_changed: (usize, usize),
    /// How many matches overlap one that was replaced, and stay.
    pub(super) overlapping: usize,
}

/// Where a patch goes.
struct Places {
    spans: Vec<Range<usize>>,
    overlapping: usize,
}

impl Applied {
    /// How many places were replaced.
    pub(super) fn replaced(&self) -> usize {
        self.moves.len()
    }

    /// The lines that a result lists.
    pub(super) fn listed_lines(&self) -> Vec<u64> {
        self.lines[..self.lines.len().min(LINES_LISTED)].to_vec()
    }

    /// Where the bytes at `offsets`, which stand in order, came from. Those of a replacement came from where it begins.
    pub(super) fn origins(&self, offsets: &mut [usize]) {
        let mut moves = self.moves.iter().peekable();
        // The end of the last move that is wholly before, in both texts.
        let (mut old_end, mut new_end) = (0, 0);
        for offset in offsets {
            while let Some(next) = moves.peek() {
                let start = next.from.start - old_end + new_end;
                if *offset < start + next.to {
                    break;
                }
                (old_end, new_end) = (next.from.end, start + next.to);
                moves.next();
            }
            let there = *offset - new_end + old_end;
            *offset = moves.peek().map_or(there, |next| there.min(next.from.start));
        }
    }
}

/// On which lines of `text` these offsets lie; they stand in order.
pub(super) fn lines_at(text: &str, offsets: impl Iterator<Item = usize>) -> Vec<u64> {
    let (mut line, mut at) = (1, 0);
    let line_of = |offset: usize| {
        line += lines::line_of(&text.as_bytes()[at..], offset - at) - 1;
        at = offset;
        line
    };
    offsets.map(line_of).collect()
}

/// Bytes that were replaced, and how many took their place.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) from: Range<usize>,
    pub(super) to: usize,
}

/// What patches have done, for people: `3 matches, +2 -1 lines`.
pub(super) fn done(replaced: usize, (added, removed): (usize, usize)) -> String {
    format!("{}, +{added} -{removed} lines", counted(replaced, "match", "matches"))
}

/// The change from `old` to `new` as a unified diff that fits an answer.
pub(super) fn shown(path: &WsPath, old: &str, new: &str) -> String {
    shortened(diff::unified(path.as_str(), old, new, 3))
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

/// Says that replace_all left something that matches.
pub(super) fn overlaps(count: usize) -> Option<String> {
    let matches = counted(count, "more match is", "more matches are");
    (count > 0).then(|| format!("[{matches} left, overlapping those before: replacing goes from left to right.]"))
}

/// Line numbers for a message, the first of many; `total` counts those that are not in `lines` too.
pub(super) fn listed(lines: &[u64], total: usize) -> String {
    let named: Vec<_> = lines.iter().take(LINES_NAMED).map(u64::to_string).collect();
    let more = total.saturating_sub(named.len());
    let named = named.join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_moved_is_traced_back() {
        // "aXbXc" with X replaced by "yyy": "ayyybyyyc".
        let applied = Applied {
            lines: Vec::new(),
            moves: vec![Move { from: 1..2, to: 3 }, Move { from: 3..4, to: 3 }],
            lines_changed: (0, 0),
            overlapping: 0,
        };
        let mut offsets: Vec<usize> = (0..9).collect();
        applied.origins(&mut offsets);
        assert_eq!(offsets, [0, 1, 1, 1, 2, 3, 3, 3, 4]);
        // "abXcd" with X deleted: "abcd".
        let moves = vec![Move { from: 2..3, to: 0 }];
        let applied = Applied { lines: Vec::new(), moves, lines_changed: (0, 0), overlapping: 0 };
        let mut offsets = [0, 1, 2, 3];
        applied.origins(&mut offsets);
        assert_eq!(offsets, [0, 1, 3, 4]);
    }
}
