//! `patch_file`: one exact text in a file becomes another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::edit::{self, Patch, Subject, listed, overlaps};
use super::{check_expected, not_found};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::ToolError;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Facts, Intent, Plan, Spec, Tool};

/// The tool `patch_file`.
#[derive(Debug)]
pub struct PatchFile;

/// What to replace where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, such as src/main.rs.
    pub path: String,
    /// The text to replace.
    #[schemars(length(min = 1))]
    pub old_str: String,
    /// What to put there. Empty: old_str is deleted.
    pub new_str: String,
    /// Replace every occurrence.
    #[serde(default)]
    pub replace_all: Option<bool>,
    /// Change nothing, answer with the diff.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// Only if the file is still at this version.
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
    /// How many lines came and went.
    #[serde(skip)]
    lines_changed: (usize, usize),
    #[serde(skip)]
    overlapping: usize,
}

impl Tool for PatchFile {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "patch_file",
            title: "Patch file",
            description: "Replace old_str by new_str in a text file: the safe way to change a part of it. Read the file \
                          first and copy old_str exactly, without the `N: ` line numbers. It must occur exactly once: take in \
                          lines around it until it does, or set replace_all. Both are literal, and nothing is matched \
                          approximately: an error shows the nearest place and what differs. A \\n also matches the file's \
                          \\r\\n, and new lines end like those they replace.",
            effect: Effect::Replaces { idempotent: false },
            paths: &["path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let path = view.existing(&args.path)?;
        let everywhere = args.replace_all.unwrap_or(false);
        let patch = Patch { old: &args.old_str, new: &args.new_str, everywhere };
        patch.check(view)?;
        let old = view.read_whole(&path).map_err(|error| not_found(view, &path, error))?;
        check_expected(&path, args.expected_version.as_deref(), Some(old.version()))?;
        let mut subject = Subject::of(view, &path, &old)?;
        let before = (args.dry_run == Some(true)).then(|| subject.clone());
        let applied = subject.apply(&path, patch)?;
        let diff = before.map(|before| edit::shown(&path, before.text(), subject.text()));
        let content = subject.into_bytes();
        let version = content.version().to_string();
        let (replaced, lines) = (applied.replaced(), applied.listed_lines());
        let (lines_changed, overlapping) = (applied.lines_changed, applied.overlapping);
        let output = Output { path: args.path, replaced, lines, version, diff, lines_changed, overlapping };
        if output.diff.is_some() {
            return Ok(Plan::Answer(output));
        }
        let intent = Intent::edit(path.clone(), applied.lines);
        let change = Change::Write { path, expect: Expect::Exactly(old.version()), content };
        Ok(Plan::Change { set: ChangeSet::new(vec![change]), intent, output })
    }

    fn observe(output: &Output) -> String {
        match &output.diff {
            None => format!("File patched: {}", output.path),
            Some(diff) => format!("Dry run, nothing was changed. The patch would do this:\n{diff}"),
        }
    }

    fn notes(output: &Output) -> Vec<String> {
        let Output { replaced, lines, .. } = output;
        let places = (*replaced > 1 && output.diff.is_none()).then(|| match &lines[..] {
            [first, .., last] if first == last && lines.len() == *replaced => {
                format!("[{replaced} places were replaced, all on line {first}.]")
            }
            lines => format!("[{replaced} places were replaced, on lines {}.]", listed(lines, *replaced)),
        });
        places.into_iter().chain(overlaps(output.overlapping)).collect()
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

    fn present_result(output: &Output) -> Option<Card> {
        let done = edit::done(output.replaced, output.lines_changed);
        Some(Card::new(match &output.diff {
            None => format!("Patched {}: {done}", output.path),
            Some(_) => format!("Showed what a patch would change in {}: {done}", output.path),
        }))
    }
}
