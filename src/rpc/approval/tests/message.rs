//! What a person sees, and what counts as their word.

use super::question;
use crate::gate::approval::{Answer, Question};
use crate::rpc::approval::message::{Malformed, params, read_answer};

fn shown(question: &Question) -> String {
    params(question)["message"].as_str().expect("a text").to_owned()
}

#[test]
fn a_question_says_what_why_and_who_wants_to_know() {
    assert_eq!(
        shown(&question("--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+\ttwo\n")),
        "Allow write_file?\n\nWrite a.txt\nAsked by rule 2: writes are asked about\n\n\
         --- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+\ttwo"
    );
    assert_eq!(shown(&question("")), "Allow write_file?\n\nWrite a.txt\nAsked by rule 2: writes are asked about");
}

#[test]
fn what_is_long_is_cut_and_says_so() {
    let shown = shown(&Question { card: "x".repeat(600), ..question(&"+line\n".repeat(40)) });
    assert_eq!(shown.matches("+line\n").count(), 30);
    assert!(shown.ends_with("… and 10 more lines, which are not shown here."), "{shown}");
    assert!(shown.contains(&format!("{}… (100 more characters)\n", "x".repeat(500))), "{shown}");
    let shown = super::message::shown(&question(&format!("+{}\n", "y".repeat(1_000))));
    assert!(shown.ends_with("y… (801 more characters)"), "{shown}");
    let shown = super::message::shown(&question(&"+line\n".repeat(31)));
    assert!(shown.ends_with("… and 1 more line, which is not shown here."), "{shown}");
}

#[test]
fn nothing_in_a_question_hides_or_looks_like_another_part_of_it() {
    let card = "Write a.txt\nAsked by nobody\u{202e}\u{1b}[2J\u{200b}\r".to_owned();
    let shown = shown(&Question { card, ..question("+a\u{2066}b\u{7}\rc\u{2028}d\u{e0041}\n") });
    assert!(
        shown.contains("Write a.txt<U+000A>Asked by nobody<U+202E><U+001B>[2J<U+200B><U+000D>\nAsked by rule 2:"),
        "{shown}"
    );
    assert!(shown.ends_with("+a<U+2066>b<U+0007><U+000D>c<U+2028>d<U+E0041>"), "{shown}");
}

#[test]
fn only_a_ticked_box_in_an_accepted_form_is_a_yes() {
    for (result, want) in [
        (r#"{"action":"accept","content":{"approve":true}}"#, Ok(Answer::Approved)),
        (r#"{"action":"accept","content":{"approve":true,"other":1},"_meta":{}}"#, Ok(Answer::Approved)),
        (r#"{"action":"accept","content":{"approve":false}}"#, Ok(Answer::Declined)),
        (r#"{"action":"accept","content":{"approve":"true"}}"#, Ok(Answer::Declined)),
        (r#"{"action":"accept","content":{"approve":1}}"#, Ok(Answer::Declined)),
        (r#"{"action":"accept","content":{}}"#, Ok(Answer::Declined)),
        (r#"{"action":"accept","content":null}"#, Ok(Answer::Declined)),
        (r#"{"action":"accept"}"#, Ok(Answer::Declined)),
        (r#"{"action":"decline","content":{"approve":true}}"#, Ok(Answer::Declined)),
        (r#"{"action":"cancel"}"#, Ok(Answer::Cancelled)),
        (r#"{"action":"accept","content":true}"#, Err(Malformed)),
        (r#"{"action":"accept","content":{"approve":false,"approve":true}}"#, Err(Malformed)),
        (r#"{"action":"Accept","content":{"approve":true}}"#, Err(Malformed)),
        (r#"{"content":{"approve":true}}"#, Err(Malformed)),
        ("{}", Err(Malformed)),
        ("[]", Err(Malformed)),
        ("true", Err(Malformed)),
        ("null", Err(Malformed)),
    ] {
        assert_eq!(read_answer(result), want, "{result}");
    }
}
