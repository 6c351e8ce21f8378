//! The prompt `review-changes`: what was changed in this session, as a diff, for a second look.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ledger::{Filter, Ledger, Status};
use crate::model::error::ToolError;
use crate::model::event::{FsAction, FsStep};
use crate::model::path::WsPath;
use crate::model::version::Version;
use crate::offer::prompt::{Message, Prompt, PromptSpec};
use crate::offer::resource::Typing;
use crate::text::{diff, encoding};
use crate::tool::view::View;
use crate::workspace::FileErrorKind;

/// Unchanged lines around each part.
const CONTEXT: usize = 3;

/// So many bytes of diff are shown.
const MOST: usize = 128 * 1024;

/// Larger files are named only.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The prompt `review-changes`.
#[derive(Debug)]
pub struct ReviewChanges {
    ledger: Ledger,
}

/// What to review.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// A file or folder, to look at what was changed there only.
    #[serde(default)]
    path: Option<String>,
}

/// A file that was changed: what it was before the first change of the session, and what the last one made of it.
struct Touched {
    before: Option<String>,
    after: Option<String>,
}

/// What a session has done to files.
#[derive(Default)]
struct Done {
    touched: BTreeMap<WsPath, Touched>,
    /// What was moved or deleted as it was and still is, a line each, with the paths that it is about.
    whole: Vec<(Vec<WsPath>, String)>,
    /// Files that were changed and then deleted whole, by the name under which they are kept.
    deleted: HashMap<String, Vec<(WsPath, Touched)>>,
}

/// What a file was or is.
enum Side {
    Absent,
    Bytes(Bytes),
    /// Why that cannot be shown.
    Unknown(&'static str),
}

impl ReviewChanges {
    /// About what `ledger` has recorded.
    #[must_use]
    pub fn new(ledger: Ledger) -> Self {
        ReviewChanges { ledger }
    }

    /// What the caller has done in this session at `below`, or anywhere.
    fn done(&self, view: &View, below: Option<&WsPath>) -> Result<Done, ToolError> {
        let filter = Filter {
            caller: Some(view.caller().to_owned()),
            session: self.ledger.session().cloned(),
            ..Filter::default()
        };
        let mut records = self.ledger.changes(&filter).map_err(ToolError::from)?;
        records.reverse();
        // What was done and taken back again leaves the file as it was.
        records.retain(|record| record.status == Status::Done);
        let mut done = Done::default();
        for record in records {
            let stands = record.stands() && record.undoes().is_none();
            record.steps.into_iter().for_each(|step| done.take(step.step, stands));
        }
        let wanted = |path: &WsPath| below.is_none_or(|below| path.is_within(below) || below.is_within(path));
        done.touched.retain(|path, touched| wanted(path) && touched.before != touched.after);
        done.whole.retain(|(paths, _)| paths.iter().any(wanted));
        Ok(done)
    }

    /// What a file was, from the bytes that were kept when it was changed.
    fn was(&self, version: Option<&str>) -> Side {
        let Some(version) = version else { return Side::Absent };
        let kept = version.parse::<Version>().ok().and_then(|version| self.ledger.blob(version).ok().flatten());
        kept.map_or(Side::Unknown("what it was before is not kept any more"), Side::Bytes)
    }

    /// What has become of one file, in a few lines.
    fn shown(&self, view: &View, path: &WsPath, touched: &Touched) -> String {
        let (was, is) = (self.was(touched.before.as_deref()), now(view, path));
        let version = match &is {
            Side::Bytes(bytes) => Some(Version::of(bytes).to_string()),
            _ => None,
        };
        let others = if version == touched.after || matches!(is, Side::Unknown(_)) {
            String::new()
        } else {
            format!("{path} was changed by others as well since; what follows shows all of it together.\n")
        };
        let bytes = |side: &Side| match side {
            Side::Bytes(bytes) => bytes.clone(),
            _ => Bytes::new(),
        };
        let (old, new) = (bytes(&was), bytes(&is));
        let what = match (&was, &is) {
            (Side::Unknown(why), _) | (_, Side::Unknown(why)) => format!("{path}: {why}.\n"),
            (Side::Absent, Side::Absent) => return String::new(),
            _ => match (encoding::decode(&old), encoding::decode(&new)) {
                (Ok(old), Ok(new)) => {
                    let made = match (&was, &is) {
                        (Side::Absent, _) => format!("{path} is new.\n"),
                        (_, Side::Absent) => format!("{path} is gone.\n"),
                        _ => String::new(),
                    };
                    made + &diff::unified(path.as_str(), &old.text, &new.text, CONTEXT)
                }
                _ => format!("{path} is no text: {} bytes before, {} bytes now.\n", old.len(), new.len()),
            },
        };
        others + &what
    }
}

impl Done {
    /// Takes the next step; `stands` says that nobody has taken it back.
    fn take(&mut self, step: FsStep, stands: bool) {
        let Ok(path) = WsPath::parse(&step.path) else { return };
        let mut told = None;
        match step.action {
            FsAction::Write | FsAction::Delete => {
                let FsStep { before, after, .. } = step;
                let touched = self.touched.entry(path).or_insert(Touched { before, after: None });
                touched.after = after;
                return;
            }
            FsAction::Move => {
                let Some(from) = step.from.and_then(|from| WsPath::parse(&from).ok()) else { return };
                for (file, touched) in self.take_out(&from) {
                    let file = file.below(&from).map_or(file, |below| below.under(&path));
                    self.touched.insert(file, touched);
                }
                told = Some((format!("{from} was moved to {path}.\n"), vec![from, path]));
            }
            FsAction::Remove => {
                let gone = self.take_out(&path);
                self.deleted.insert(step.kept.unwrap_or_default(), gone);
                told = Some((format!("{path} was deleted, with all that was in it.\n"), vec![path]));
            }
            FsAction::Restore => {
                let back = self.deleted.remove(&step.kept.unwrap_or_default());
                self.touched.extend(back.into_iter().flatten());
            }
            FsAction::MakeDir | FsAction::RemoveDir => {}
        }
        self.whole.extend(told.filter(|_| stands).map(|(line, paths)| (paths, line)));
    }

    /// The files at `path` and below.
    fn take_out(&mut self, path: &WsPath) -> Vec<(WsPath, Touched)> {
        self.touched.extract_if(.., |file, _| file.is_within(path)).collect()
    }
}

fn now(view: &View, path: &WsPath) -> Side {
    let file = match view.open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind, FileErrorKind::NotFound) => return Side::Absent,
        Err(_) => return Side::Unknown("it cannot be read"),
    };
    let mut bytes = Vec::new();
    match file.content.take(LARGEST + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > LARGEST => Side::Unknown("it is too large to be shown"),
        Ok(_) => Side::Bytes(bytes.into()),
        Err(_) => Side::Unknown("it cannot be read"),
    }
}

/// What stands around `text`, such that nothing in it can end it.
fn fence(text: &str) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

impl Prompt for ReviewChanges {
    type Args = Args;

    fn spec(&self) -> PromptSpec {
        PromptSpec {
            name: "review-changes",
            title: "Review changes",
            description: "Have a second look at everything that was changed in this session, as a diff.",
        }
    }

    async fn get(&self, view: &View, args: Args) -> Result<Vec<Message>, ToolError> {
        let below = args.path.as_deref().filter(|path| !path.is_empty()).map(|path| view.path(path)).transpose()?;
        let Done { touched, whole, .. } = self.done(view, below.as_ref())?;
        let mut diffs: String = whole.into_iter().map(|(_, line)| line).collect();
        let mut left_out = 0;
        for (path, touched) in touched {
            view.check_cancelled()?;
            let shown = self.shown(view, &path, &touched);
            if diffs.len() + shown.len() > MOST {
                left_out += 1;
                diffs.push_str(&format!("{path}: its diff is too long to be shown here.\n"));
            } else {
                diffs.push_str(&shown);
            }
        }
        if diffs.is_empty() {
            let place = below.map_or_else(String::new, |below| format!(" below {below}"));
            return Ok(vec![Message::user(format!(
                "Nothing was changed in this session{place} that still stands. Say so, and nothing else."
            ))]);
        }
        let rest = if left_out == 0 { "" } else { " Read the files whose diffs are too long." };
        let fence = fence(&diffs);
        Ok(vec![Message::user(format!(
            "Review what was changed in this session, as if somebody else had written it. Look for mistakes, for what was \
             forgotten and for what nobody asked for. List what you find, the worst first, each with its file and line; \
             say so if you find nothing. Change nothing yet.{rest}\n\n{fence}diff\n{diffs}{fence}"
        ))])
    }

    async fn complete(&self, view: &View, typing: &Typing) -> Result<Vec<String>, ToolError> {
        let paths = self.done(view, None)?.touched.into_keys().map(|path| path.as_str().to_owned());
        Ok(paths.filter(|path| path.starts_with(&typing.text)).collect())
    }
}
