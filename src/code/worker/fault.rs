//! What a program has thrown, as a failure with its place in the program.

use rquickjs::{Ctx, Object, Value};

use super::codec::prototype;
use super::print;
use crate::code::failure::{Failure, Kind};
use crate::code::limits::Limits;
use crate::code::strip::Script;

/// What the engine calls the program.
pub(super) const FILE: &str = "program.ts";

const THREW: &str = "the program threw ";
const REJECTED: &str = "a promise was rejected and nothing handled it: ";

/// More of a message is not shown.
const LONGEST: usize = 16 * 1024;

/// How something came to be a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It was thrown, and nothing caught it.
    Thrown,
    /// A promise was rejected with it, and nothing handled that.
    Rejected,
}

/// The failure that `thrown` stands for.
pub(super) fn of<'js>(
    ctx: &Ctx<'js>,
    how: How,
    thrown: &Value<'js>,
    limits: &Limits,
    script: Option<&Script>,
) -> Failure {
    let Some(error) = thrown.as_object().filter(|_| thrown.is_error()) else {
        return value(ctx, how, thrown, limits, script);
    };
    let part = |name| {
        let text = error.get::<_, String>(name);
        let _ = ctx.catch();
        text.unwrap_or_default()
    };
    let (name, message) = (part("name"), part("message"));
    let stack = part("stack");
    let place = place(&own(ctx, error, &stack), script).or_else(|| place(&stack, script));
    if message.contains("out of memory") && name == "InternalError" {
        return out_of_memory(limits).at(place);
    }
    if message.contains("call stack") || message == "stack overflow" {
        let what = format!(
            "{name}: {message}: the program needed more than {} bytes for calls within calls",
            limits.stack_bytes
        );
        return Failure::limit(Kind::Memory, what, "code.stack_bytes").at(place);
    }
    let kind = if how == How::Thrown && is_syntax(error, &name, place) { Kind::Syntax } else { Kind::Exception };
    let before = if how == How::Thrown { "" } else { REJECTED };
    Failure::new(kind, cut(format!("{before}{}", print::value(ctx, thrown)))).at(place)
}

/// What is thrown and no error.
fn value<'js>(ctx: &Ctx<'js>, how: How, thrown: &Value<'js>, limits: &Limits, script: Option<&Script>) -> Failure {
    let before = if how == How::Thrown { THREW } else { REJECTED };
    let mut words = format!("{before}{}", print::value(ctx, thrown));
    if thrown.is_null() {
        // So does the engine, where it has no room left for an error.
        if !script.is_some_and(Script::may_throw_null) {
            return out_of_memory(limits);
        }
        words.push_str(&format!(
            ", as also happens where it needs more than {} bytes of memory for its values (setting code.heap_bytes)",
            limits.heap_bytes
        ));
    }
    Failure::new(Kind::Exception, cut(words))
}

fn out_of_memory(limits: &Limits) -> Failure {
    let what = format!("the program needed more than {} bytes of memory for its values", limits.heap_bytes);
    Failure::limit(Kind::Memory, what, "code.heap_bytes")
}

/// The part of an error's stack that is not the constructors of its own classes: where it was made, and not where it is
/// written how.
fn own<'js>(ctx: &Ctx<'js>, error: &Object<'js>, stack: &str) -> String {
    /// Classes are seldom that far from `Error`.
    const DEEPEST: usize = 8;
    let mut classes = Vec::new();
    let mut next = prototype(error);
    while let Some(class) = next.filter(|_| classes.len() < DEEPEST) {
        classes.extend(print::constructor(ctx, &class));
        next = prototype(&class);
    }
    let made = |line: &&str| !classes.iter().any(|class| line.trim_start().starts_with(&format!("at {class} (")));
    let kept: Vec<&str> = stack.lines().skip_while(|line| !made(line)).collect();
    kept.join("\n")
}

/// Whether the program itself cannot be read; one that reads others, with `JSON.parse` or `eval`, has an exception.
fn is_syntax(error: &Object<'_>, name: &str, place: Option<(u32, u32)>) -> bool {
    let stack = error.get::<_, String>("stack").unwrap_or_default();
    name == "SyntaxError" && place.is_some() && stack.trim_start().starts_with(&format!("at {FILE}:"))
}

fn cut(mut message: String) -> String {
    if message.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&end| message.is_char_boundary(end)).unwrap_or(0);
        message.truncate(end);
        message.push_str("… (cut)");
    }
    message
}

/// The first place in the program that a stack names: line and column from 1, in the program as it was given to `script`.
pub(super) fn place(stack: &str, script: Option<&Script>) -> Option<(u32, u32)> {
    stack.lines().find_map(|line| {
        let (_, place) = line.split_once(&format!("{FILE}:"))?;
        let mut numbers = place.split(|c: char| !c.is_ascii_digit());
        let line: u32 = numbers.next()?.parse().ok()?;
        let column: u32 = numbers.next().and_then(|column| column.parse().ok()).unwrap_or(1);
        Some(script.map_or((line, column), |script| script.place(line, column)))
    })
}

#[cfg(test)]
mod tests {
    use super::place;
    use crate::code::strip::erase;

    #[test]
    fn a_place_is_told_in_the_program_as_it_was_given() {
        let script = erase("return 1;\n2;\n3;\n4;        // long enough\n5\n6\n7\n8;    //").expect("a program");
        for (stack, right) in [
            ("    at inner (program.ts:4:13)\n    at program.ts:8:3\n", Some((4, 13))),
            ("    at <anonymous> (program.ts:2:1)\n", Some((2, 1))),
            ("    at program.ts:1:3\n", Some((1, 1))),
            ("    at program.ts:2\n", Some((2, 1))),
            ("    at forged (program.ts:x)\n    at (program.ts:99999999999:1)", None),
            ("    at JSON.parse (native)\n", None),
            ("", None),
        ] {
            assert_eq!(place(stack, Some(&script)), right, "{stack}");
        }
    }
}
