//! `search_files`: which lines of which files match a pattern. ripgrep's engine, in parallel.
//!
//! What an answer shows does not count as seen: a line may be cut, and a few lines are not the file. Whoever wants to
//! overwrite a file reads it; a patch needs no more than its exact text.

mod file;
mod pattern;
mod row;
mod run;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::walking::LeftOut;
use super::{not_found, shown};
use crate::model::error::ToolError;
use crate::model::path::WsPath;
use crate::text::counted::counted;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Plan, Spec, Tool};
pub use row::{Row, RowKind};
use run::{Asked, Tally};

/// The tool `search_files`.
#[derive(Debug)]
pub struct SearchFiles;

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// A regular expression (Rust's), for one line.
    pub pattern: String,
    /// The folder or file. Left out: all.
    #[serde(default)]
    pub path: Option<String>,
    /// Only these files, as in .gitignore: *.{ts,tsx}, src/**, !tests/.
    #[serde(default)]
    pub glob: Option<String>,
    /// pattern is plain text.
    #[serde(default)]
    pub literal: Option<bool>,
    /// Case does not count.
    #[serde(default)]
    pub ignore_case: Option<bool>,
    /// Lines around each match.
    #[serde(default)]
    #[schemars(range(max = 50))]
    pub context_lines: Option<u32>,
    /// Left out: lines.
    #[serde(default)]
    pub output: Option<Show>,
    /// Ignored and hidden files too.
    #[serde(default)]
    pub include_ignored: Option<bool>,
    /// Left out: 200 lines or 500 files.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
}

/// What to show of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    #[default]
    Lines,
    Files,
    Count,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The folder or file that was searched.
    pub path: String,
    /// What is shown of each file.
    pub output: Show,
    /// The first files with matches.
    pub files: Vec<FileMatches>,
    /// How many lines match in all; not counted where only names are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// How many files have a match.
    pub total_files: u64,
    /// How many files were searched.
    pub searched: u64,
    /// How many matching lines are shown.
    pub shown_lines: u64,
    /// Whether not all matches are shown.
    pub truncated: bool,
    /// How many files are binary and were skipped.
    pub binary: u64,
    /// How many files have a line that is too long to be searched, and were searched up to it.
    pub overlong: u64,
    /// Where nothing matches: how many lines hold the pattern as plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_literal: Option<u64>,
    /// What was not looked at.
    pub left_out: LeftOut,
}

/// The matches in a file.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileMatches {
    /// The file.
    pub path: String,
    /// How many of its lines match, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The lines, if lines were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Row>,
}

impl Args {
    fn show(&self) -> Show {
        self.output.unwrap_or_default()
    }
}

impl Tool for SearchFiles {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "search_files",
            title: "Search in files",
            description: "Search the text of files: each file with a match, then its lines as `N: text`, context as `N- text`. USE \
                          THIS to find where something is, instead of reading file after file. As in ripgrep, binary, ignored \
                          (.gitignore, .ignore) and hidden files are left out and links are not followed; it says so.",
            effect: Effect::Reads,
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.existing(args.path.as_deref().unwrap_or("."))?;
        let asked = Asked::new(view, &args)?;
        let tally = asked.run(view, &path).map_err(|error| not_found(view, &path, error))?;
        let as_literal = match tally.files_matched {
            0 => literally(view, &path, &args)?,
            _ => None,
        };
        Ok(Plan::Answer(answer(view, path.to_string(), &args, tally, as_literal)))
    }

    fn observe(output: &Output) -> String {
        let mut text = String::new();
        for (n, file) in output.files.iter().enumerate() {
            let path = shown(&file.path);
            // Writing to a string cannot fail.
            let _ = match (output.output, file.count) {
                (Show::Count, Some(count)) => writeln!(text, "{count} {path}"),
                (Show::Lines, _) if n > 0 => writeln!(text, "\n{path}"),
                _ => writeln!(text, "{path}"),
            };
            row::write_rows(&mut text, &file.lines);
        }
        text
    }

    fn notes(output: &Output) -> Vec<String> {
        let mut notes = vec![summary(output)];
        if output.files.iter().flat_map(|file| &file.lines).any(|row| row.cut) {
            notes.push("[Lines with \u{2026} are cut around the match; read_file shows all of them.]".to_owned());
        }
        if output.binary > 0 {
            notes.push(format!("[Skipped: {}.]", counted(output.binary, "binary file", "binary files")));
        }
        if output.overlong > 0 {
            notes.push(format!(
                "[{} searched only up to a line of more than {} MiB.]",
                counted(output.overlong, "file was", "files were"),
                file::MOST_LINE_BYTES / (1024 * 1024)
            ));
        }
        notes.extend(output.left_out.notes());
        notes
    }

    fn facts(output: &Output) -> Facts {
        vec![
            ("total_lines", json!(output.total_lines)),
            ("total_files", json!(output.total_files)),
            ("shown_lines", json!(output.shown_lines)),
            ("truncated", json!(output.truncated)),
        ]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Search {} for {}", args.path.as_deref().unwrap_or("."), shown(&args.pattern)))
    }

    fn present_result(output: &Output) -> Option<Card> {
        Some(Card::new(format!("Searched {}: {}", output.path, totals(output))))
    }
}

/// How many lines hold a pattern as plain text that matches none as an expression (B080).
fn literally(view: &View, path: &WsPath, args: &Args) -> Result<Option<u64>, ToolError> {
    if args.literal == Some(true) || !pattern::has_meaning(&args.pattern) {
        return Ok(None);
    }
    let Ok(asked) = Asked::counting_literally(view, args) else { return Ok(None) };
    let lines = asked.run(view, path)?.lines_matched;
    Ok(Some(lines).filter(|lines| *lines > 0))
}

fn totals(output: &Output) -> String {
    let files = counted(output.total_files, "file", "files");
    match output.total_lines {
        Some(lines) => format!("{} in {files}", counted(lines, "line", "lines")),
        None => files,
    }
}

fn summary(output: &Output) -> String {
    let searched = counted(output.searched, "file", "files");
    if output.total_files == 0 {
        let literal = output.as_literal.map_or_else(String::new, |lines| {
            format!(
                " as a regular expression, but {} it as plain text: set literal",
                counted(lines, "line holds", "lines hold")
            )
        });
        return format!("[No line matches in {searched}{literal}.]");
    }
    let all = totals(output);
    match (output.truncated, output.output) {
        (false, _) => format!("[Matches: {all}. Searched: {searched}.]"),
        (true, Show::Lines) => format!(
            "[Matches: {all}; only the first {} shown. Narrow pattern, path or glob, or ask for output files or count.]",
            counted(output.shown_lines, "line is", "lines are")
        ),
        (true, _) => format!(
            "[Matches: {all}; only the first {} shown. Narrow pattern, path or glob, or raise limit (at most 10000).]",
            counted(output.files.len() as u64, "file is", "files are")
        ),
    }
}

/// As much of what was kept as an answer holds.
fn answer(view: &View, path: String, args: &Args, tally: Tally, as_literal: Option<u64>) -> Output {
    let limits = view.limits();
    let default = if args.show() == Show::Lines { limits.found_lines } else { limits.found_paths };
    let room = args.limit.map_or(default, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut files = Vec::new();
    let (mut bytes, mut things, mut shown_lines) = (0, 0, 0);
    for (path, mut hits) in tally.kept.into_sorted() {
        bytes += path.len() + 8;
        let lines = match args.show() {
            Show::Lines => row::first(&mut hits.rows, room - things, limits.found_bytes.saturating_sub(bytes)),
            Show::Files | Show::Count => 1,
        };
        if lines == 0 || bytes > limits.found_bytes {
            break;
        }
        bytes += hits.rows.iter().map(row::Row::size).sum::<usize>();
        things += lines;
        if args.show() == Show::Lines {
            shown_lines += lines as u64;
        }
        let count = (args.show() != Show::Files).then_some(hits.matched);
        files.push(FileMatches { path, count, lines: hits.rows });
        if things >= room {
            break;
        }
    }
    let truncated = match args.show() {
        Show::Lines => shown_lines < tally.lines_matched,
        Show::Files | Show::Count => (files.len() as u64) < tally.files_matched,
    };
    Output {
        path,
        output: args.show(),
        files,
        total_lines: (args.show() != Show::Files).then_some(tally.lines_matched),
        total_files: tally.files_matched,
        searched: tally.searched,
        shown_lines,
        truncated,
        binary: tally.binary,
        overlong: tally.overlong,
        as_literal,
        left_out: LeftOut::new(tally.strolled, tally.unreadable),
    }
}
