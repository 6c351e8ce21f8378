//! `find_files`: which files match a glob.

use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::walking::{First, LeftOut, Rank, glob};
use super::{PathKind, not_found, shown};
use crate::model::error::ToolError;
use crate::text::counted::counted;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Plan, Spec, Tool};
use crate::tools::walking::Ticker;
use crate::workspace::{Flow, Kind, Unreadable};

/// The tool `find_files`.
#[derive(Debug)]
pub struct FindFiles;

/// What to find.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// As in .gitignore: *.rs at any depth, src/**/*.{ts,tsx}, docs/ for folders, !*.md for all else.
    pub pattern: String,
    /// The folder that pattern is relative to. Left out: all.
    #[serde(default)]
    pub path: Option<String>,
    /// Ignored and hidden files too.
    #[serde(default)]
    pub include_ignored: Option<bool>,
    /// Paths to show. Left out: 500.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The folder that was looked in.
    pub path: String,
    /// The first paths.
    pub found: Vec<Hit>,
    /// How many there are in all.
    pub total: u64,
    /// What was not looked at.
    pub left_out: LeftOut,
}

/// Something that was found.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hit {
    /// Where.
    pub path: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: PathKind,
}

impl Tool for FindFiles {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "find_files",
            title: "Find files",
            description: "Find files by name: one path a line, sorted, node_modules and vendor last. As in ripgrep, ignored \
                          (.gitignore, .ignore) and hidden files are left out. Links are shown, not followed.",
            effect: Effect::Reads,
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.existing(args.path.as_deref().unwrap_or("."))?;
        let glob = glob("pattern", &args.pattern)?;
        let room = args.limit.map_or(view.limits().found_paths, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let ticker = Ticker::new(view, "finding");
        let found = Mutex::new((0_u64, First::new(room)));
        let strolled = view.walk(&path, args.include_ignored.unwrap_or(false), &|seen| {
            ticker.tick();
            let is_dir = seen.found.kind == Kind::Dir;
            if is_dir && glob.takes_out(seen.found.below) {
                return Flow::Past;
            }
            if is_dir == glob.is_about_folders() && glob.hits(seen.found.below, is_dir) {
                let rank = Rank::of(seen.path());
                let (total, first) = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
                *total += 1;
                if first.wants(&rank) {
                    first.add(rank, 1, seen.found.kind);
                }
            }
            Flow::On
        });
        let strolled = strolled.map_err(|error| not_found(view, &path, error))?;
        let (total, first) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = 0;
        let fits = |(path, _): &(String, Kind)| {
            bytes += path.len() + 1;
            bytes <= view.limits().found_bytes
        };
        let found = first.into_sorted().take_while(fits).map(|(path, kind)| Hit { path, kind: kind.into() }).collect();
        let left_out = LeftOut::new(strolled, Unreadable::default());
        Ok(Plan::Answer(Output { path: path.to_string(), found, total, left_out }))
    }

    fn observe(output: &Output) -> String {
        let mut text = String::with_capacity(output.found.len() * 32);
        for Hit { path, kind } in &output.found {
            text.push_str(&shown(path));
            text.push_str(if *kind == PathKind::Dir { "/\n" } else { "\n" });
        }
        text
    }

    fn notes(output: &Output) -> Vec<String> {
        let mut notes = Vec::new();
        let missing = output.total - output.found.len() as u64;
        if output.total == 0 {
            notes.push(
                "[Nothing matches. A glob without / matches names at any depth, one with / the path below path.]"
                    .to_owned(),
            );
        } else if missing > 0 {
            notes.push(format!(
                "[The first {} of {} are shown. Narrow pattern or path, or raise limit (at most 10000).]",
                output.found.len(),
                counted(output.total, "path", "paths")
            ));
        }
        notes.extend(output.left_out.notes());
        notes
    }

    fn facts(output: &Output) -> Facts {
        vec![("shown", json!(output.found.len())), ("total", json!(output.total))]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Find {} in {}", shown(&args.pattern), args.path.as_deref().unwrap_or(".")))
    }

    fn present_result(output: &Output) -> Option<Card> {
        Some(Card::new(format!("Found {} in {}", counted(output.total, "path", "paths"), output.path)))
    }
}
