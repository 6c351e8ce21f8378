//! The waterfalls.

use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::gate::hook::{After, HookFuture};
use crate::gate::rules::{Decision, Rule};
use crate::model::error::ErrorCode;

type Judge = Box<dyn Fn(&CallFacts) -> Result<Before, HookFailure> + Send + Sync>;

/// A hook made of a function.
struct Says {
    name: &'static str,
    judge: Judge,
    after: Result<After, HookFailure>,
    on_failure: OnFailure,
    asked: Mutex<Vec<String>>,
}

impl Hook for Says {
    fn name(&self) -> &str {
        self.name
    }

    fn wants(&self, _: Phase, tool: &str) -> bool {
        tool != "ignored"
    }

    fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    fn before<'a>(&'a self, call: &'a CallFacts) -> HookFuture<'a, Before> {
        self.asked.lock().expect("a lock").push(call.arguments.to_string());
        Box::pin(async { (self.judge)(call) })
    }

    fn after<'a>(&'a self, _: &'a CallFacts, outcome: &'a OutcomeFacts) -> HookFuture<'a, After> {
        self.asked.lock().expect("a lock").push(outcome.text.clone());
        Box::pin(std::future::ready(self.after.clone()))
    }
}

fn hook(
    name: &'static str,
    judge: impl Fn(&CallFacts) -> Result<Before, HookFailure> + Send + Sync + 'static,
) -> Arc<Says> {
    let (after, on_failure) = (Ok(After::default()), OnFailure::Deny);
    Arc::new(Says { name, judge: Box::new(judge), after, on_failure, asked: Mutex::default() })
}

fn afterwards(name: &'static str, after: Result<After, HookFailure>, on_failure: OnFailure) -> Arc<Says> {
    let judge: Judge = Box::new(|_| Ok(Verdict::Allow.into()));
    Arc::new(Says { name, judge, after, on_failure, asked: Mutex::default() })
}

fn ground(by: &str) -> Ground {
    Ground { by: by.to_owned(), reason: "so it is".to_owned() }
}

fn failure() -> HookFailure {
    HookFailure { hook: "broken".into(), what: "crashed".into(), cure: "Mend it.".into() }
}

fn facts(arguments: Value) -> CallFacts {
    let paths = arguments["path"].as_str().map(str::to_owned).into_iter().collect();
    CallFacts {
        tool: "write_file".into(),
        arguments: arguments.into(),
        paths,
        changes: true,
        caller: "mcp:local".into(),
    }
}

/// Stands for the dispatcher: validates, and says which paths are opened.
fn prepare(arguments: Map<String, Value>) -> Result<CallFacts, ToolError> {
    let Some(path) = arguments.get("path").and_then(Value::as_str) else {
        return Err(ToolError::bad_argument("path", "must be a string"));
    };
    if path.starts_with("..") {
        return Err(ToolError::new(ErrorCode::OutsideWorkspace, "outside"));
    }
    Ok(facts(arguments.into()))
}

fn policy(rule: Option<Rule>, hooks: &[&Arc<Says>]) -> Policy {
    let mut rules = Rules::open();
    if let Some(rule) = rule {
        rules.add(&rule, "line 1", None).expect("a rule");
    }
    Policy { rules, hooks: hooks.iter().map(|hook| Arc::clone(hook) as Arc<dyn Hook>).collect() }
}

fn rule(decision: Decision, path: Option<&str>) -> Rule {
    let paths = path.map(|path| vec![path.to_owned()]);
    Rule { decision, tools: None, paths, callers: None, reason: None, matches: vec![], spares: vec![] }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    futures_util::FutureExt::now_or_never(future).expect("these hooks answer at once")
}

fn settle(policy: &Policy, arguments: Value) -> (Settled, Vec<Event>) {
    let mut events = Vec::new();
    let settled = block_on(policy.settle(facts(arguments), prepare, &mut |event| events.push(event)));
    (settled, events)
}

fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow => "allow".to_owned(),
        Verdict::Ask(ground) => format!("ask: {}", ground.by),
        Verdict::Deny(ground) => format!("deny: {}", ground.by),
    }
}

/// `hook decision` of every result, once each has been invoked.
fn said(events: &[Event]) -> Vec<String> {
    let mut open = None;
    let mut said = Vec::new();
    for event in events {
        match event {
            Event::HookInvoked { hook, .. } => assert_eq!(open.replace(hook.clone()), None),
            Event::HookResult { hook, decision, .. } => {
                assert_eq!(open.take().as_ref(), Some(hook));
                said.push(format!("{hook} {decision}"));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(open, None);
    said
}

#[test]
fn b187_b188_the_strictest_stands_and_no_hook_softens_a_rule() {
    let asks = || hook("asks", |_| Ok(Verdict::Ask(ground("asks")).into()));
    let allows = || hook("allows", |_| Ok(Verdict::Allow.into()));
    let denies = || hook("denies", |_| Ok(Verdict::Deny(ground("denies")).into()));
    for (decision, hooks, want, want_said) in [
        (Decision::Deny, [asks(), allows()], "deny: the rule at line 1", &[][..]),
        (Decision::Ask, [allows(), allows()], "ask: the rule at line 1", &["allows allow", "allows allow"]),
        (Decision::Ask, [asks(), denies()], "deny: denies", &["asks ask", "denies deny"]),
        (Decision::Allow, [denies(), asks()], "deny: denies", &["denies deny"]),
        (Decision::Allow, [allows(), asks()], "ask: asks", &["allows allow", "asks ask"]),
        (Decision::Allow, [allows(), allows()], "allow", &["allows allow", "allows allow"]),
    ] {
        let policy = policy(Some(rule(decision, None)), &[&hooks[0], &hooks[1]]);
        let (settled, events) = settle(&policy, json!({"path": "k"}));
        assert_eq!(words(&settled.verdict), want);
        assert_eq!(said(&events), want_said, "{want}");
    }
}

#[test]
fn a_hook_that_fails_or_panics_denies_unless_it_only_advises() {
    let broken = |on_failure| {
        let mut broken = hook("broken", |_| Err(failure()));
        Arc::get_mut(&mut broken).expect("mine alone").on_failure = on_failure;
        broken
    };
    let (settled, events) = settle(&policy(None, &[&broken(OnFailure::Deny)]), json!({}));
    let refusal = settled.verdict.or_refuse().expect_err("denied");
    assert!(
        refusal.message.starts_with("denied: the gate says: the hook broken crashed. Mend it. Do not"),
        "{refusal}"
    );
    assert_eq!(said(&events), ["broken failed"]);
    let (settled, events) = settle(&policy(None, &[&broken(OnFailure::Allow)]), json!({}));
    assert_eq!((settled.verdict, said(&events)), (Verdict::Allow, vec!["broken failed".to_owned()]));
    let panics = hook("panics", |_| panic!("a fault in the hook"));
    let (settled, _) = settle(&policy(None, &[&panics]), json!({}));
    assert_eq!(words(&settled.verdict), "deny: the gate");
}

/// A hook that rewrites `path`, and keeps all else.
fn rewrites(name: &'static str, to: Value) -> Arc<Says> {
    hook(name, move |call| {
        let mut arguments = call.arguments.as_object().cloned().unwrap_or_default();
        arguments.insert("path".into(), to.clone());
        Ok(Before { rewrite: Some(arguments), ..Verdict::Allow.into() })
    })
}

#[test]
fn b190_a_rewrite_is_validated_and_judged_again() {
    let secret = || Some(rule(Decision::Deny, Some("secrets")));
    let invalid = "the hook rewriting rewrote this call into one that cannot run: ";
    for (to, want, reason) in [
        ("b.txt".into(), "allow", String::new()),
        ("secrets/k".into(), "deny: the rule at line 1", "write_file on secrets/k is not allowed".to_owned()),
        ("../x".into(), "deny: the gate", format!("{invalid}outside")),
        (json!(7), "deny: the gate", format!("{invalid}path: must be a string")),
    ] {
        let rewriting = rewrites("rewriting", to.clone());
        let (settled, _) = settle(&policy(secret(), &[&rewriting]), json!({"path": "a.txt", "content": "x"}));
        assert_eq!(words(&settled.verdict), want);
        match settled.verdict {
            Verdict::Deny(ground) => assert_eq!(ground.reason, reason),
            _ => {
                assert_eq!((&*settled.call.arguments, settled.rewritten), (&json!({"path": to, "content": "x"}), true))
            }
        }
    }
    // The first form is judged too: a hook does not lead out of what is denied.
    let away = rewrites("away", json!("open"));
    let (settled, events) = settle(&policy(secret(), &[&away]), json!({"path": "secrets/k"}));
    assert_eq!((words(&settled.verdict), events.len()), ("deny: the rule at line 1".into(), 0));
}

#[test]
fn b190_a_rewrite_that_leaves_arguments_out_is_a_contradiction() {
    let partial = |with: Value| {
        hook("partial", move |_| Ok(Before { rewrite: with.as_object().cloned(), ..Verdict::Allow.into() }))
    };
    let (settled, _) = settle(&policy(None, &[&partial(json!({"path": "b"}))]), json!({"path": "a", "content": "x"}));
    let Verdict::Deny(why) = settled.verdict else { panic!("not denied") };
    assert_eq!(
        why.reason,
        "the hook partial left content out of the arguments it rewrote. A rewrite holds all arguments, not only those \
         it changes; null takes one away."
    );
    let null = partial(json!({"path": "b", "content": "x", "create_dirs": null}));
    let before = json!({"path": "a", "content": "x", "create_dirs": true});
    let (settled, events) = settle(&policy(None, &[&null]), before);
    let settled = settled;
    assert_eq!((&*settled.call.arguments, settled.verdict), (&json!({"path": "b", "content": "x"}), Verdict::Allow));
    assert_eq!(said(&events), ["partial rewrite", "partial allow"]);
    let torn = hook("torn", |_| Ok(Before { rewrite: Some(Map::new()), ..Verdict::Deny(ground("torn")).into() }));
    let (settled, _) = settle(&policy(None, &[&torn]), json!({}));
    assert_eq!(words(&settled.verdict), "deny: the gate");
}

#[test]
fn every_hook_sees_every_form_and_the_first_rewrite_of_a_round_stands() {
    let (first, second) = (rewrites("first", json!("b")), hook("second", |_| Ok(Verdict::Allow.into())));
    let (settled, events) = settle(&policy(None, &[&first, &second]), json!({"path": "a"}));
    assert_eq!(*settled.call.arguments, json!({"path": "b"}));
    assert_eq!(said(&events), ["first rewrite", "second allow", "first allow", "second allow"]);
    assert_eq!(*second.asked.lock().expect("a lock"), [r#"{"path":"a"}"#, r#"{"path":"b"}"#]);
    // An objection to the first form holds for the last one.
    let picky = hook("picky", |call| {
        Ok(if call.arguments["path"] == "a" { Verdict::Ask(ground("picky")) } else { Verdict::Allow }.into())
    });
    let (settled, _) = settle(&policy(None, &[&first, &picky]), json!({"path": "a"}));
    assert_eq!(words(&settled.verdict), "ask: picky");
}

#[test]
fn hooks_that_rewrite_each_other_for_ever_contradict_each_other() {
    let (one, other) = (rewrites("one", json!("b")), rewrites("other", json!("c")));
    let (settled, events) = settle(&policy(None, &[&one, &other]), json!({"path": "a"}));
    assert_eq!(words(&settled.verdict), "deny: the gate");
    assert_eq!(events.len(), 4 * ROUNDS);
}

#[test]
fn context_is_told_once_with_who_says_it() {
    let tells = hook("tells", |_| Ok(Before { context: Some("mind the gap".into()), ..Verdict::Allow.into() }));
    let (settled, _) = settle(&policy(None, &[&tells, &rewrites("r", json!("b"))]), json!({"path": "a"}));
    assert_eq!(settled.context, [("tells".to_owned(), "mind the gap".to_owned())]);
}

#[test]
fn afterwards_block_beats_replace_and_texts_go_down_the_waterfall() {
    let after = |block: Option<&str>, replace: Option<&str>, context: Option<&str>| {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Ok(After { block: own(block), replace: own(replace), context: own(context) })
    };
    let hooks = [
        afterwards("a", after(None, Some("text 1"), Some("from a")), OnFailure::Deny),
        afterwards("b", after(Some("no"), None, None), OnFailure::Deny),
        afterwards("c", after(None, Some("text 2"), Some("from c")), OnFailure::Deny),
        afterwards("d", Err(failure()), OnFailure::Allow),
        afterwards("e", Err(failure()), OnFailure::Deny),
    ];
    let policy = policy(None, &hooks.iter().collect::<Vec<_>>());
    let outcome = OutcomeFacts { error: None, text: "text 0".into(), change: None };
    let mut events = Vec::new();
    let aftermath = block_on(policy.after(&facts(json!({})), &outcome, &mut |event| events.push(event)));
    assert_eq!(
        aftermath,
        Aftermath {
            block: Some(Ground { by: "the hook b".into(), reason: "no".into() }),
            replace: Some(("c".into(), "text 2".into())),
            context: vec![("a".into(), "from a".into()), ("c".into(), "from c".into())],
        }
    );
    let refusal = aftermath.refusal(Some("c1")).expect("blocked");
    assert!(
        refusal
            .message
            .ends_with("for. The change c1 has been made all the same; it stands until undo_change takes it back.")
    );
    assert_eq!(said(&events), ["a replace", "b block", "c replace", "d failed", "e failed"]);
    assert_eq!(*hooks[1].asked.lock().expect("a lock"), ["text 1"]);
    let ignored = CallFacts { tool: "ignored".into(), ..facts(json!({})) };
    assert_eq!(block_on(policy.after(&ignored, &outcome, &mut |_| panic!("asked"))), Aftermath::default());
}

#[test]
fn judging_may_move_between_threads() {
    fn is_send(_: impl Send) {}
    let (policy, outcome) = (Policy::open(), OutcomeFacts { error: None, text: String::new(), change: None });
    let (mut one, mut other) = (|_| (), |_| ());
    let call = facts(json!({}));
    is_send(policy.settle(call.clone(), prepare, &mut one));
    is_send(policy.after(&call, &outcome, &mut other));
}
