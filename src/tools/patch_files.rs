//! `patch_files`: several patches of several files, all or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::edit::{Applied, Patch, Subject, done, lines_at, no_change, overlaps, shown};
use super::not_found;
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::file_bytes::FileBytes;
use crate::model::path::WsPath;
use crate::tool::view::View;
use crate::tool::{Card, Edited, Effect, Facts, Intent, Plan, Spec, Tool};

/// How many files a card names.
const FILES_NAMED: usize = 3;

/// The tool `patch_files`.
#[derive(Debug)]
pub struct PatchFiles;

/// What to replace where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// In order: one on the same file as an earlier one is made on what that leaves.
    #[schemars(length(min = 1, max = 1000))]
    pub patches: Vec<PatchArgs>,
    /// Change nothing, answer with the diff.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// One patch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchArgs {
    pub path: String,
    #[schemars(length(min = 1))]
    pub old_str: String,
    pub new_str: String,
    #[serde(default)]
    pub replace_all: Option<bool>,
}

/// What was patched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Each file that changes, in the order in which the patches first name it.
    pub files: Vec<Patched>,
    /// What would change, for a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// How many lines came and went.
    #[serde(skip)]
    lines_changed: (usize, usize),
    #[serde(skip)]
    overlapping: usize,
}

/// One file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Patched {
    /// The file, as it was first named.
    pub path: String,
    /// How many places were replaced, by all patches together.
    pub replaced: usize,
    /// Its version after the patches.
    pub version: String,
}

impl Tool for PatchFiles {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "patch_files",
            title: "Patch files",
            description: "Make several patches, in one or many files, all or none: each as patch_file would; if one \
                          does not fit nothing is changed and the error names it. For changes that belong together. Undone as one.",
            effect: Effect::Replaces { idempotent: false },
            paths: &["patches.*.path"],
        }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let (targets, files) = open(view, &args.patches)?;
        let work = patched(view, &args.patches, &targets, &files)?;
        let diff = (args.dry_run == Some(true)).then(String::new);
        let mut output = Output { files: Vec::new(), diff, lines_changed: (0, 0), overlapping: 0 };
        let (mut changes, mut places) = (Vec::new(), Vec::new());
        for Work { file, subject, before, applied } in work {
            let File { named, path, old } = file;
            places.push(edited(path, before.text(), &applied));
            if let Some(diff) = &mut output.diff {
                diff.push_str(&shown(path, before.text(), subject.text()));
            }
            for Applied { lines_changed: (added, removed), overlapping, .. } in &applied {
                output.overlapping += overlapping;
                output.lines_changed.0 += added;
                output.lines_changed.1 += removed;
            }
            let content = subject.into_bytes();
            output.files.push(Patched {
                path: (*named).to_owned(),
                replaced: applied.iter().map(Applied::replaced).sum(),
                version: content.version().to_string(),
            });
            changes.push(Change::Write { path: path.clone(), expect: Expect::Exactly(old.version()), content });
        }
        if output.diff.is_some() {
            return Ok(Plan::Answer(output));
        }
        Ok(Plan::Change { set: ChangeSet::new(changes), intent: Intent::Edit { places }, output })
    }

    fn observe(output: &Output) -> String {
        if let Some(diff) = &output.diff {
            return format!("Dry run, nothing was changed. The patches would do this:\n{diff}");
        }
        let lines: Vec<_> = output.files.iter().map(|file| format!("File patched: {}", file.path)).collect();
        lines.join("\n")
    }

    fn notes(output: &Output) -> Vec<String> {
        let places: usize = output.files.iter().map(|file| file.replaced).sum();
        let told = places != output.files.len() && output.diff.is_none();
        let places = told.then(|| format!("[{places} places were replaced.]"));
        places.into_iter().chain(overlaps(output.overlapping)).collect()
    }

    fn facts(output: &Output) -> Facts {
        vec![("files", json!(output.files)), ("dry_run", output.diff.is_some().then_some(true).into())]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Patch {}", named(args.patches.iter().map(|patch| patch.path.as_str()))))
    }

    fn present_result(output: &Output) -> Option<Card> {
        let files = named(output.files.iter().map(|file| file.path.as_str()));
        let done = done(output.files.iter().map(|file| file.replaced).sum(), output.lines_changed);
        Some(Card::new(match &output.diff {
            None => format!("Patched {files}: {done}"),
            Some(_) => format!("Showed what patches would change in {files}: {done}"),
        }))
    }
}

/// The first of these files, each once, and how many more there are.
fn named<'a>(files: impl Iterator<Item = &'a str>) -> String {
    let mut paths: Vec<&str> = Vec::new();
    for path in files {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let more = paths.len().saturating_sub(FILES_NAMED);
    paths.truncate(FILES_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", paths.join(", "))
}

/// A file that patches are about.
struct File<'a> {
    /// As the first of them names it.
    named: &'a str,
    path: WsPath,
    old: FileBytes,
}

/// A file and what becomes of it.
struct Work<'a> {
    file: &'a File<'a>,
    before: Subject<'a>,
    subject: Subject<'a>,
    applied: Vec<Applied>,
}

/// Reads each file once, whatever it is called, and says which of them each patch is about.
fn open<'a>(view: &View, patches: &'a [PatchArgs]) -> Result<(Vec<usize>, Vec<File<'a>>), ToolError> {
    let mut files: Vec<File<'_>> = Vec::new();
    let mut known: Vec<WsPath> = Vec::new();
    let mut targets = Vec::with_capacity(patches.len());
    let (mut total, limit) = (0, view.limits().edit_bytes);
    for (index, patch) in patches.iter().enumerate() {
        view.check_cancelled()?;
        let target = || -> Result<usize, ToolError> {
            Patch { old: &patch.old_str, new: &patch.new_str, everywhere: false }.check(view)?;
            let path = view.existing(&patch.path)?;
            let real = view.real(&path);
            if let Some(at) = known.iter().position(|known| *known == real) {
                return Ok(at);
            }
            let old = view.read_whole(&path).map_err(|error| not_found(view, &path, error))?;
            total += old.len() as u64;
            if total > limit {
                return Err(ToolError::new(
                    ErrorCode::TooLarge,
                    format!(
                        "The files of this call are together larger than the {limit} bytes that can be edited at once. \
                         Nothing was changed. Make the patches in several calls."
                    ),
                )
                .with("limit", limit));
            }
            files.push(File { named: &patch.path, path, old });
            known.push(real);
            Ok(known.len() - 1)
        };
        targets.push({ target }().map_err(|error| of_patch(error, index, patches, 0))?);
    }
    Ok((targets, files))
}

/// Makes all patches, one after the other.
fn patched<'a>(
    view: &View,
    patches: &[PatchArgs],
    targets: &[usize],
    files: &'a [File<'a>],
) -> Result<Vec<Work<'a>>, ToolError> {
    let mut work: Vec<Work<'a>> = Vec::with_capacity(files.len());
    let mut last = Vec::with_capacity(files.len());
    for (index, (patch, target)) in patches.iter().zip(targets).enumerate() {
        view.check_cancelled()?;
        // Files come in the order in which patches name them.
        if *target == work.len() {
            let file = &files[*target];
            let subject =
                Subject::of(view, &file.path, &file.old).map_err(|error| of_patch(error, index, patches, 0))?;
            work.push(Work { file, before: subject.clone(), subject, applied: Vec::new() });
            last.push(index);
        }
        last[*target] = index;
        let Work { file, subject, applied, .. } = &mut work[*target];
        let everywhere = patch.replace_all.unwrap_or(false);
        let done = subject.apply(&file.path, Patch { old: &patch.old_str, new: &patch.new_str, everywhere });
        applied.push(done.map_err(|error| of_patch(error, index, patches, applied.len()))?);
    }
    // Patches that take each other back are never what was meant.
    for (Work { before, subject, .. }, last) in work.iter().zip(last) {
        if before.text() == subject.text() {
            return Err(of_patch(no_change("takes back what the patches before it did"), last, patches, 0));
        }
    }
    Ok(work)
}

/// Where the patches meet the file as it was before all of them.
fn edited(path: &WsPath, before: &str, applied: &[Applied]) -> Edited {
    let mut unproven = Vec::new();
    // One exact match proves itself.
    for (number, one) in applied.iter().enumerate().filter(|(_, one)| one.moves.len() > 1) {
        let mut offsets: Vec<usize> = one.moves.iter().map(|place| place.from.start).collect();
        for earlier in applied[..number].iter().rev() {
            earlier.origins(&mut offsets);
        }
        unproven.extend(lines_at(before, offsets.into_iter()));
    }
    Edited { path: path.clone(), unproven }
}

/// The same failure, of one of many patches; `before` have been made on the same file in this call.
fn of_patch(mut error: ToolError, index: usize, patches: &[PatchArgs], before: usize) -> ToolError {
    let count = patches.len();
    let path = crate::model::error::glimpse(&patches[index].path);
    let mut message = format!("patches[{index}] ({path}), {} of {count}: {}", index + 1, error.message);
    if before > 0 {
        message.push_str(&format!(
            " This is what the file holds after the {} before it in this call; their changes are not made either.",
            if before == 1 { "patch".to_owned() } else { format!("{before} patches") }
        ));
    }
    error.message = message;
    let faults = error.details.get_mut("faults").and_then(Value::as_array_mut);
    for field in faults.into_iter().flatten().filter_map(|fault| fault.get_mut("field")) {
        if let Some(name) = field.as_str() {
            *field = Value::from(format!("patches[{index}].{name}"));
        }
    }
    error.with("patch", index).with("path", patches[index].path.as_str())
}
