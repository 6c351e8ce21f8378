//! What `console` prints: values in a few words, as a person reads them.

use rquickjs::{Ctx, Filter, Object, Type, Value};

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
            _ if value.is_error() => self.error(value),
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

    fn error(&mut self, value: &Value<'js>) {
        let Some(object) = value.as_object() else { return };
        let part = |name| object.get::<_, String>(name).unwrap_or_default();
        let (name, message) = (part("name"), part("message"));
        let _ = self.ctx.catch();
        self.line.push_str(&if message.is_empty() { name } else { format!("{name}: {message}") });
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

    /// The name of an object's class, unless it is a plain one.
    fn class(&self, object: &Object<'js>) -> Option<String> {
        let prototype = prototype(object)?;
        self::prototype(&prototype)?;
        let constructor = prototype.get::<_, Object<'js>>("constructor").ok()?;
        let name = constructor.get::<_, String>("name").ok()?;
        let size = object.get::<_, i32>("size").ok().filter(|_| name == "Map" || name == "Set");
        let _ = self.ctx.catch();
        Some(size.map_or(name.clone(), |size| format!("{name}({size})")))
    }

    fn threw(&mut self) {
        let _ = self.ctx.catch();
        self.line.push_str("[threw]");
    }
}
