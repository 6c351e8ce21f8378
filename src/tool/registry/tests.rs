//! Tools by name, with their types put away.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{ErasedPlan, RegisterError, Registry};
use crate::model::change::ChangeSet;
use crate::model::error::{ErrorCode, ToolError};
use crate::model::id::{CallId, ChangeId};
use crate::tool::ask::NobodyToAsk;
use crate::tool::calls::{Calls, InnerCall, Made};
use crate::tool::content::{Content, Media};
use crate::tool::view::{Door, Settings, View};
use crate::tool::{Act, Card, Effect, Plan, Spec, Tool};
use crate::workspace::memory::Memory;

/// A tool that does what it is told.
struct Sample {
    name: &'static str,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// What to answer.
    text: String,
    plan: Option<Kind>,
    #[serde(default)]
    rows: Vec<Row>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Change,
    Act,
    Fail,
}

#[derive(Deserialize, JsonSchema)]
struct Row {
    /// Its schema says less than its type.
    size: u8,
    port: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    text: String,
}

impl Tool for Sample {
    type Args = Args;
    type Output = Answer;

    fn spec(&self) -> Spec {
        Spec { name: self.name, title: "A sample", description: "Answers.", effect: Effect::Reads, paths: &[] }
    }

    async fn plan(&self, _: &View, args: Args) -> Result<Plan<Answer>, ToolError> {
        let output = Answer { text: args.text };
        Ok(match args.plan {
            None => Plan::Answer(output),
            Some(Kind::Change) => {
                Plan::Change { set: ChangeSet::default(), intent: crate::tool::Intent::Write, output }
            }
            Some(Kind::Act) => Plan::Act(Act::new(async { Ok(output) })),
            Some(Kind::Fail) => return Err(ToolError::new(ErrorCode::IoError, "as told")),
        })
    }

    fn observe(output: &Answer) -> String {
        format!("said {}", output.text)
    }

    fn notes(_: &Answer) -> Vec<String> {
        vec!["a note".to_owned()]
    }

    fn facts(output: &Answer) -> crate::tool::Facts {
        vec![("length", output.text.len().into())]
    }

    fn content(_: &Answer) -> Vec<Content> {
        vec![Content::Image(Media::new("image/png", "png"))]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!(
            "Say {} with {} rows, {:?}",
            args.text,
            args.rows.len(),
            args.rows.first().map(|r| (r.size, r.port))
        ))
    }
}

/// A tool whose arguments no provider takes.
struct Unfit;

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "it is here for its schema")]
enum Choice {
    Line { number: u32 },
    Text { text: String },
}

impl Tool for Unfit {
    type Args = Choice;
    type Output = Answer;

    fn spec(&self) -> Spec {
        Spec { name: "unfit", title: "", description: "", effect: Effect::Reaches, paths: &[] }
    }

    async fn plan(&self, _: &View, _: Choice) -> Result<Plan<Answer>, ToolError> {
        Err(ToolError::new(ErrorCode::IoError, "never asked"))
    }

    fn observe(_: &Answer) -> String {
        String::new()
    }

    fn present(_: &Choice) -> Card {
        Card::new("")
    }
}

fn registry(names: &[&'static str]) -> Registry {
    let mut registry = Registry::new();
    for name in names {
        registry.register(Sample { name }).expect("a fit tool");
    }
    registry
}

fn view() -> View {
    let door = Door { caller: "test".into(), asker: Arc::new(NobodyToAsk), log: None };
    View::new(Arc::new(Memory::new()), Settings::served(), CancellationToken::new(), None, None, door)
}

/// What a tool called `sample` plans, none of which waits for anything.
fn plan(arguments: Value) -> Result<ErasedPlan, ToolError> {
    let registry = registry(&["sample"]);
    let entry = registry.get("sample").expect("a tool");
    entry.plan(&view(), &arguments).now_or_never().expect("nothing to wait for")
}

#[test]
fn names_are_checked() {
    let long: &'static str = "x".repeat(129).leak();
    for bad in ["", "a b", "a/b", "ä", "a\n", long] {
        assert_eq!(Registry::new().register(Sample { name: bad }), Err(RegisterError::BadName(bad)), "{bad:?}");
    }
    for good in ["a", "read_file", "A.b-9", &long[1..]] {
        assert_eq!(Registry::new().register(Sample { name: good }), Ok(()), "{good:?}");
    }
    assert_eq!(registry(&["a"]).register(Sample { name: "a" }), Err(RegisterError::Duplicate("a")));
}

#[test]
fn tools_are_found_by_name_and_listed_in_its_order() {
    let registry = registry(&["write_file", "read_file", "list_dir"]);
    let names: Vec<&str> = registry.iter().map(|entry| entry.spec().name).collect();
    assert_eq!(names, ["list_dir", "read_file", "write_file"]);
    assert_eq!(registry.get("read_file").map(|entry| entry.spec().title), Some("A sample"));
    assert!(registry.get("readfile").is_none());
    assert_eq!(registry.nearest("readfile"), Some("read_file"));
    assert_eq!(registry.nearest("shell"), None);
    assert_eq!((registry.len(), registry.is_empty(), Registry::new().is_empty()), (3, false, true));
    assert_eq!(registry.verify(), Ok(()));
}

#[test]
fn an_unfit_schema_is_refused_when_it_is_registered() {
    let error = Registry::new().register(Unfit).expect_err("unfit").to_string();
    assert_eq!(
        error,
        "the tool unfit cannot be offered: Choice has oneOf at the root of its schema, which model providers refuse; \
         use a struct, and put the enum into one of its fields"
    );
}

#[test]
fn an_unfit_tool_that_got_in_is_never_run() {
    let entry = super::Entry::new(Unfit);
    assert_eq!(entry.input_schema(), &json!({"type": "object", "properties": {}}));
    let error = entry.validate(json!({"kind": "Line", "number": 1})).expect_err("refused");
    assert_eq!(error.code, ErrorCode::InvalidArguments);
    assert!(error.message.starts_with("args: cannot be checked, since the tool's own schema is faulty"), "{error}");
}

#[test]
fn arguments_are_mended_or_refused() {
    let registry = registry(&["sample"]);
    let entry = registry.get("sample").expect("a tool");
    let mended = entry.validate(json!({"text": "hi", "plan": null, "rows": "[{\"size\": \"3\"}]"})).expect("fit");
    assert_eq!(mended, json!({"text": "hi", "rows": [{"size": 3}]}));
    assert_eq!(entry.present(&mended).line, "Say hi with 1 rows, Some((3, None))");
    assert_eq!(entry.present(&json!({})).line, "A sample", "no card from arguments that are not the tool's");
    assert_eq!(entry.validate(json!({})).expect_err("unfit").code, ErrorCode::InvalidArguments);
}

#[test]
fn what_a_type_refuses_is_the_callers_to_mend() {
    let too_much = json!({"text": "hi", "rows": [{"size": 1}, {"size": 2, "port": 5_000_000_000_u64}]});
    let registry = registry(&["sample"]);
    let entry = registry.get("sample").expect("a tool");
    let passed = entry.validate(too_much).expect("the schema knows no more than that it is no less than 0");
    let Err(error) = plan(passed) else { panic!("a u32 holds no 5000000000") };
    assert_eq!(error.code, ErrorCode::InvalidArguments);
    assert_eq!(error.details["faults"][0]["field"], "rows[1].port");
    assert!(error.message.starts_with("rows[1].port: invalid value: integer `5000000000`, expected u32"), "{error}");
}

#[test]
fn plans_keep_their_kind_and_outputs_their_words() {
    let Ok(ErasedPlan::Answer(output)) = plan(json!({"text": "hi"})) else { panic!("an answer") };
    assert_eq!(output.observation(), "said hi");
    assert_eq!(output.notes(), ["a note"]);
    assert_eq!(output.facts(), [("length", json!(2))]);
    assert_eq!(output.content(), [Content::Image(Media::new("image/png", "png"))]);
    assert_eq!(output.downcast::<Answer>().map(|answer| answer.text.as_str()), Some("hi"));
    assert_eq!(output.structured().expect("JSON"), json!({"text": "hi"}));
    let mut text = b"> ".to_vec();
    output.write_json(&mut text).expect("JSON");
    assert_eq!(text, br#"> {"text":"hi"}"#);

    let Ok(ErasedPlan::Change { set, output, .. }) = plan(json!({"text": "x", "plan": "change"})) else {
        panic!("a change")
    };
    assert_eq!((set, output.observation()), (ChangeSet::default(), "said x".to_owned()));

    let Ok(ErasedPlan::Act(act)) = plan(json!({"text": "y", "plan": "act"})) else { panic!("an act") };
    let output = act.begin(&NoCalls).now_or_never().expect("nothing to wait for").expect("done");
    assert_eq!(output.observation(), "said y");

    let Err(error) = plan(json!({"text": "z", "plan": "fail"})) else { panic!("a failure") };
    assert_eq!(error.code, ErrorCode::IoError);
}

/// For acts that make no calls.
struct NoCalls;

impl Calls for NoCalls {
    fn tools(&self) -> &Registry {
        unreachable!()
    }

    fn outer(&self) -> CallId {
        CallId(1)
    }

    fn group(&self) -> Option<ChangeId> {
        None
    }

    fn cancelled(&self) -> &CancellationToken {
        unreachable!()
    }

    fn call(&self, _: InnerCall) -> BoxFuture<'_, Made> {
        unreachable!()
    }
}
