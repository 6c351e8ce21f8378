//! The prompt `review-changes`: what was changed in this session, as a diff, for a second look.

use std::collections::BTreeMap;
use std::io::Read;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ledger::{ChangedStep, Filter, Ledger, Status};
use crate::model::error::ToolError;
use crate::model::event::FsAction;
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

    /// The files that the caller has changed in this session, oldest change first.
    fn touched(&self, view: &View, below: Option<&WsPath>) -> Result<BTreeMap<WsPath, Touched>, ToolError> {
        let filter = Filter {
            caller: Some(view.caller().to_owned()),
            session: self.ledger.session().cloned(),
            ..Filter::default()
        };
        let mut records = self.ledger.changes(&filter).map_err(ToolError::from)?;
        records.reverse();
        // What was done and taken back again leaves the file as it was.
        records.retain(|record| record.status == Status::Done);
        let mut touched = BTreeMap::new();
        for ChangedStep { step, .. } in records.into_iter().flat_map(|record| record.steps) {
            let Ok(path) = WsPath::parse(&step.path) else { continue };
            if !matches!(step.action, FsAction::Write | FsAction::Delete)
                || below.is_some_and(|below| !path.is_within(below))
            {
                continue;
            }
            touched
                .entry(path)
                .and_modify(|touched: &mut Touched| touched.after.clone_from(&step.after))
                .or_insert(Touched { before: step.before, after: step.after });
        }
        touched.retain(|_, touched| touched.before != touched.after);
        Ok(touched)
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
        let mut diffs = String::new();
        let mut left_out = 0;
        for (path, touched) in self.touched(view, below.as_ref())? {
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
        let rest = match left_out {
            0 => "",
            _ => " Read the files whose diffs are too long.",
        };
        Ok(vec![Message::user(format!(
            "Review what was changed in this session, as if somebody else had written it. Look for mistakes, for what was \
             forgotten and for what nobody asked for. List what you find, the worst first, each with its file and line; \
             say so if you find nothing. Change nothing yet.{rest}\n\n```diff\n{diffs}```"
        ))])
    }

    async fn complete(&self, view: &View, typing: &Typing) -> Result<Vec<String>, ToolError> {
        let touched = self.touched(view, None)?;
        let paths = touched.into_keys().map(|path| path.as_str().to_owned());
        Ok(paths.filter(|path| path.starts_with(&typing.text)).collect())
    }
}
