//! What `console` prints: values in a few words, as a person reads them.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::This;
use rquickjs::{Ctx, Filter, FromJs, Function, IntoAtom, Object, Type, Value};

use super::codec::{items, prototype, text};

/// Deeper values are shown as what they are.
const DEEPEST: usize = 4;
/// So many items of one value are shown.
const ITEMS: usize = 100;
/// Past so many bytes nothing more of one line is shown.
const LONGEST: usize = 64 * 1024;

/// One line of `console`.
pub(super) fn line<'js>(ctx: &Ctx<'js>, values: &[Value<'js>]) -> String {
    let mut printer = Printer { ctx, line: String::new() };
    for (count, value) in values.iter().enumerate() {
        if count > 0 {
            printer.line.push(' ');
        }
        match value.as_string().and_then(text) {
            Some(text) => printer.line.push_str(&text),
            None => printer.value(value, 0),
        }
    }
    printer.line
}

/// The name of what makes objects with this prototype.
pub(super) fn constructor<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Option<String> {
    let constructor = prototype.get::<_, Object<'js>>("constructor");
    let name = constructor.and_then(|constructor| constructor.get::<_, String>("name"));
    let _ = ctx.catch();
    name.ok().filter(|name| !name.is_empty())
}

/// A value on its own, such as one that was thrown.
pub(super) fn value<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    let mut printer = Printer { ctx, line: String::new() };
    printer.value(value, 0);
    printer.line
}

struct Printer<'a, 'js> {
    ctx: &'a Ctx<'js>,
    line: String,
}

impl<'js> Printer<'_, 'js> {
    fn value(&mut self, value: &Value<'js>, depth: usize) {
        if self.line.len() > LONGEST {
            return;
        }
        match value.type_of() {
            Type::Null => self.line.push_str("null"),
            Type::Undefined | Type::Uninitialized => self.line.push_str("undefined"),
            Type::Bool => self.line.push_str(if value.as_bool() == Some(true) { "true" } else { "false" }),
            Type::Int | Type::Float => self.number(value.as_number().unwrap_or(f64::NAN)),
            Type::String => match value.as_string().and_then(text) {
                Some(text) => self.line.push_str(&format!("{text:?}")),
                None => self.line.push_str("\"\u{fffd}\""),
            },
            Type::BigInt => {
                let digits = self.called("String", value);
                self.line.push_str(&digits);
                self.line.push('n');
            }
            Type::Symbol => {
                let name = self.called("String", value);
                self.line.push_str(&name);
            }
            Type::Function | Type::Constructor => self.line.push_str("[function]"),
            Type::Promise => self.line.push_str("[promise: not awaited]"),
            Type::Array => self.array(value, depth),
            _ if value.is_error() => self.error(value, depth),
            _ => self.object(value, depth),
        }
    }

    fn number(&mut self, number: f64) {
        if number.is_nan() {
            self.line.push_str("NaN");
        } else if number.is_infinite() {
            self.line.push_str(if number > 0.0 { "Infinity" } else { "-Infinity" });
        } else {
            self.line.push_str(&number.to_string());
        }
    }

    /// What a global function makes of a value; a program may have put another there.
    fn called(&self, function: &str, value: &Value<'js>) -> String {
        let function = self.ctx.globals().get::<_, rquickjs::Function<'js>>(function);
        let text = function.and_then(|function| function.call::<_, String>((value.clone(),)));
        let _ = self.ctx.catch();
        text.unwrap_or_else(|_| "?".to_owned())
    }

    /// What it says, and what it says of others: what has caused it, what it sums up.
    fn error(&mut self, value: &Value<'js>, depth: usize) {
        let Some(object) = value.as_object() else { return };
        match self.member(object, "name").and_then(|name| name.as_string().and_then(text)) {
            Some(name) => self.line.push_str(&name),
            None => self.line.push_str("Error"),
        }
        match self.member(object, "message") {
            None => self.line.push_str(": [threw]"),
            Some(message) if message.is_undefined() => {}
            Some(message) => match message.as_string().and_then(text) {
                Some(text) if text.is_empty() => {}
                Some(text) => self.line.push_str(&format!(": {text}")),
                None => {
                    self.line.push_str(": ");
                    self.value(&message, depth + 1);
                }
            },
        }
        for (name, called) in [("errors", "errors"), ("cause", "because of")] {
            if depth >= DEEPEST || !object.contains_key(name).unwrap_or(false) {
                continue;
            }
            self.line.push_str(&format!(" ({called} "));
            match self.member(object, name) {
                Some(other) => self.value(&other, depth + 1),
                None => self.line.push_str("[threw]"),
            }
            self.line.push(')');
        }
    }

    /// A member of an object; nothing where it cannot be had.
    fn member(&self, object: &Object<'js>, name: &str) -> Option<Value<'js>> {
        let member = object.get::<_, Value<'js>>(name);
        let _ = self.ctx.catch();
        member.ok()
    }

    fn array(&mut self, value: &Value<'js>, depth: usize) {
        let Some(array) = value.as_array() else { return };
        let length = items(array);
        if depth >= DEEPEST {
            self.line.push_str(&format!("[array of {length}]"));
            return;
        }
        self.line.push('[');
        for index in 0..length.min(ITEMS) {
            if index > 0 {
                self.line.push_str(", ");
            }
            match array.get::<Value<'js>>(index) {
                Ok(item) => self.value(&item, depth + 1),
                Err(_) => self.threw(),
            }
        }
        if length > ITEMS {
            self.line.push_str(&format!(", … {} more", length - ITEMS));
        }
        self.line.push(']');
    }

    fn object(&mut self, value: &Value<'js>, depth: usize) {
        let Some(object) = value.as_object() else { return };
        if let Some(name) = self.class(object) {
            let shown = match name.as_str() {
                "Map" | "Set" => self.collection(object, &name, depth),
                "Date" => self.method::<String>(object, "Date", "toISOString").map(|time| format!("Date {time}")),
                "RegExp" => self.method::<String>(object, "RegExp", "toString"),
                _ => None,
            };
            if let Some(shown) = shown {
                self.line.push_str(&shown);
                return;
            }
            self.line.push_str(&name);
            self.line.push(' ');
        }
        if depth >= DEEPEST {
            self.line.push_str("{…}");
            return;
        }
        self.line.push('{');
        for (count, key) in object.own_keys::<String>(Filter::new().string().enum_only()).enumerate() {
            self.line.push_str(if count == 0 { " " } else { ", " });
            if count >= ITEMS {
                self.line.push('…');
                break;
            }
            let Ok(key) = key else {
                self.threw();
                continue;
            };
            self.line.push_str(&key);
            self.line.push_str(": ");
            match object.get::<_, Value<'js>>(key) {
                Ok(member) => self.value(&member, depth + 1),
                Err(_) => self.threw(),
            }
        }
        self.line.push_str(" }");
    }

    /// What is in a `Map` or `Set`, which are no members of it.
    fn collection(&self, object: &Object<'js>, class: &str, depth: usize) -> Option<String> {
        let size = self.member(object, "size")?.as_number()?;
        let found = Rc::new(RefCell::new(Vec::new()));
        let taking = Rc::clone(&found);
        let take = Function::new(self.ctx.clone(), move |value: Value<'js>, key: Value<'js>| {
            let mut found = taking.borrow_mut();
            if found.len() < ITEMS {
                found.push((key, value));
            }
        });
        let each = self.prototype(class)?.get::<_, Function<'js>>("forEach");
        let called = each.and_then(|each| each.call::<_, ()>((This(object.clone()), take?)));
        let _ = self.ctx.catch();
        called.ok()?;
        let mut inner = Printer { ctx: self.ctx, line: format!("{class}({size}) {{") };
        for (count, (key, value)) in found.take().iter().enumerate() {
            inner.line.push_str(if count == 0 { " " } else { ", " });
            if depth >= DEEPEST {
                inner.line.push('…');
                break;
            }
            inner.value(key, depth + 1);
            if class == "Map" {
                inner.line.push_str(" => ");
                inner.value(value, depth + 1);
            }
        }
        if size > ITEMS as f64 && depth < DEEPEST {
            inner.line.push_str(&format!(", … {} more", size - ITEMS as f64));
        }
        inner.line.push_str(" }");
        Some(inner.line)
    }

    /// What a method of a class that the language has says of an object. A program may have put another there.
    fn method<T: FromJs<'js>>(&self, object: &Object<'js>, class: &str, name: impl IntoAtom<'js>) -> Option<T> {
        let method = self.prototype(class)?.get::<_, Function<'js>>(name);
        let said = method.and_then(|method| method.call::<_, T>((This(object.clone()),)));
        let _ = self.ctx.catch();
        said.ok()
    }

    fn prototype(&self, class: &str) -> Option<Object<'js>> {
        let class = self.ctx.globals().get::<_, Object<'js>>(class);
        let prototype = class.and_then(|class| class.get::<_, Object<'js>>("prototype"));
        let _ = self.ctx.catch();
        prototype.ok()
    }

    /// The name of an object's class, unless it is a plain one.
    fn class(&self, object: &Object<'js>) -> Option<String> {
        let prototype = prototype(object)?;
        self::prototype(&prototype)?;
        constructor(self.ctx, &prototype)
    }

    fn threw(&mut self) {
        let _ = self.ctx.catch();
        self.line.push_str("[threw]");
    }
}
