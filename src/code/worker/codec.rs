//! Values of a program as JSON, without loss: what JSON cannot say is refused with its place, never dropped or changed.

use std::fmt::Write as _;

use rquickjs::{Array, Ctx, Filter, Object, String as JsString, Type, Value};

use crate::code::frames::weight;

/// Deeper values are refused. The strict reader at the other end takes 127 levels, and the frame has some of its own.
const DEEPEST: usize = 100;

/// Why a value is not JSON.
#[derive(Debug)]
pub(super) enum Refusal {
    /// What lies at which place.
    NotJson { place: String, what: String },
    /// More bytes than are allowed.
    TooLong,
    /// The program's own code has thrown while the value was read.
    Threw,
}

impl Refusal {
    /// In words; `whole` is what the value is to the program.
    pub(super) fn message(&self, whole: &str) -> String {
        match self {
            Refusal::NotJson { place, what } => {
                let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
                format!("{whole} cannot be passed on as JSON: {what}{place}")
            }
            Refusal::TooLong => format!("{whole} is too long"),
            Refusal::Threw => format!("{whole} threw while it was read"),
        }
    }
}

/// The text of a string, unless it has half a surrogate pair.
pub(super) fn text(string: &JsString<'_>) -> Option<String> {
    // The engine writes half a pair as three bytes that are no UTF-8.
    string.to_string().ok()
}

/// How many items an array has. The engine's binding takes no number for it that is no `i32`.
pub(super) fn items(array: &Array<'_>) -> usize {
    // It is the array's own, and a number up to 2^32 - 1.
    array.as_object().get::<_, f64>("length").map_or(0, |length| length as usize)
}

/// What an object has its members from. A Proxy is not asked: it may throw instead, which the engine's binding takes for an object.
pub(super) fn prototype<'js>(object: &Object<'js>) -> Option<Object<'js>> {
    if object.as_value().is_proxy() { None } else { object.get_prototype() }
}

/// Writes `value` as JSON, at most `most` bytes.
pub(super) fn encode<'js>(ctx: &Ctx<'js>, value: &Value<'js>, most: usize) -> Result<Vec<u8>, Refusal> {
    let mut encoder = Encoder::new(ctx, most, false);
    encoder.value(value)?;
    Ok(encoder.json)
}

/// Writes the arguments of a call as JSON, which may weigh `most`, and says what they weigh.
pub(super) fn encode_arguments<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    most: usize,
) -> Result<(Vec<u8>, usize), Refusal> {
    let mut encoder = Encoder::new(ctx, most, true);
    encoder.value(value)?;
    let weight = encoder.size();
    Ok((encoder.json, weight))
}

struct Encoder<'a, 'js> {
    ctx: &'a Ctx<'js>,
    json: Vec<u8>,
    /// How many values there are in it so far.
    values: usize,
    /// Whether it is their number, too, that counts.
    weighs: bool,
    most: usize,
    /// Such as `files[0].path`.
    place: String,
    /// The objects around the value, to find a circle.
    above: Vec<Value<'js>>,
}

impl<'a, 'js> Encoder<'a, 'js> {
    fn new(ctx: &'a Ctx<'js>, most: usize, weighs: bool) -> Self {
        Encoder { ctx, json: Vec::new(), values: 0, weighs, most, place: String::new(), above: Vec::new() }
    }

    fn size(&self) -> usize {
        if self.weighs { weight(self.json.len(), self.values) } else { self.json.len() }
    }

    fn value(&mut self, value: &Value<'js>) -> Result<(), Refusal> {
        self.values += 1;
        if self.size() > self.most {
            return Err(Refusal::TooLong);
        }
        match value.type_of() {
            Type::Null => self.put(b"null"),
            Type::Bool => self.put(if value.as_bool() == Some(true) { b"true" } else { b"false" }),
            Type::Int | Type::Float => self.number(value.as_number().unwrap_or(f64::NAN))?,
            Type::String => self.string(value)?,
            Type::Array => self.within(value, Self::array)?,
            Type::Object | Type::Exception | Type::Proxy => self.within(value, Self::object)?,
            Type::Undefined | Type::Uninitialized => {
                return self.refuse("undefined; leave it out or use null");
            }
            Type::Promise => return self.refuse("a promise; await it first, many of them with await Promise.all(...)"),
            Type::BigInt => return self.refuse("a BigInt; use a number or String(...)"),
            Type::Symbol => return self.refuse("a symbol"),
            Type::Function | Type::Constructor => return self.refuse("a function"),
            _ => return self.refuse("something that is no value"),
        }
        if self.size() > self.most { Err(Refusal::TooLong) } else { Ok(()) }
    }

    fn put(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
    }

    fn refuse<T>(&self, what: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal::NotJson { place: self.place.clone(), what: what.into() })
    }

    fn number(&mut self, number: f64) -> Result<(), Refusal> {
        const WHOLE: f64 = 9_007_199_254_740_992.0;
        if !number.is_finite() {
            return self.refuse(if number.is_nan() { "NaN" } else { "Infinity" });
        }
        if number.trunc() == number && number.abs() <= WHOLE {
            self.put(format!("{}", number as i64).as_bytes());
        } else if let Ok(text) = serde_json::to_vec(&number) {
            self.put(&text);
        }
        Ok(())
    }

    fn string(&mut self, value: &Value<'js>) -> Result<(), Refusal> {
        let Some(text) = value.as_string().and_then(text) else {
            return self.refuse("a text with half of a surrogate pair, which is no character");
        };
        self.text(&text);
        Ok(())
    }

    fn text(&mut self, text: &str) {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut self.json, text);
    }

    /// Writes an array or object, unless it holds itself or is too deep.
    fn within(
        &mut self,
        value: &Value<'js>,
        write: impl FnOnce(&mut Self, &Object<'js>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        if self.above.contains(value) {
            return self.refuse("a circle; it holds itself");
        }
        if self.above.len() >= DEEPEST {
            return self.refuse(format!("more than {DEEPEST} levels"));
        }
        let Some(object) = value.as_object() else { return self.refuse("something that is no value") };
        self.above.push(value.clone());
        write(self, object)?;
        self.above.pop();
        Ok(())
    }

    fn array(&mut self, object: &Object<'js>) -> Result<(), Refusal> {
        let Some(array) = object.as_array() else { return self.refuse("something that is no value") };
        self.put(b"[");
        let length = self.place.len();
        for index in 0..items(array) {
            if index > 0 {
                self.put(b",");
            }
            let _ = write!(self.place, "[{index}]");
            let item: Value<'js> = array.get(index).or_else(|_| self.threw())?;
            if item.is_undefined() && !object.contains_key(index as u32).unwrap_or(false) {
                return self.refuse("a hole; fill the array");
            }
            self.value(&item)?;
            self.place.truncate(length);
        }
        self.put(b"]");
        Ok(())
    }

    fn object(&mut self, object: &Object<'js>) -> Result<(), Refusal> {
        if let Some(class) = self.class(object) {
            return self.refuse(class);
        }
        self.put(b"{");
        let length = self.place.len();
        let filter = Filter::new().string().enum_only();
        for (count, key) in object.own_keys::<Value<'js>>(filter).enumerate() {
            let key = key.or_else(|_| self.threw())?;
            let Some(name) = key.as_string().and_then(text) else {
                return self.refuse("a name with half of a surrogate pair, which is no character");
            };
            if count > 0 {
                self.put(b",");
            }
            self.text(&name);
            self.put(b":");
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
            let _ = match (plain, length) {
                (true, 0) => write!(self.place, "{name}"),
                (true, _) => write!(self.place, ".{name}"),
                (false, _) => write!(self.place, "[{name:?}]"),
            };
            let member: Value<'js> = object.get(key).or_else(|_| self.threw())?;
            self.value(&member)?;
            self.place.truncate(length);
        }
        self.put(b"}");
        Ok(())
    }

    /// What an object is, unless it is a plain one.
    fn class(&self, object: &Object<'js>) -> Option<String> {
        let value = object.as_value();
        if value.is_proxy() {
            return Some("a Proxy; make it a plain object".to_owned());
        }
        let prototype = prototype(object)?;
        let is_class = prototype.as_value().is_proxy() || self::prototype(&prototype).is_some();
        if !value.is_error() && !is_class {
            return None;
        }
        let name = prototype
            .get::<_, Object<'js>>("constructor")
            .and_then(|constructor| constructor.get::<_, String>("name"))
            .ok()
            .filter(|name| !name.is_empty());
        let _ = self.ctx.catch();
        let hint = match name.as_deref() {
            Some("Map") => "; use Object.fromEntries(...)",
            Some("Set") => "; use [...set]",
            Some("Date") => "; use its toISOString()",
            _ if value.is_error() => "; use its message",
            _ => "; make it a plain object, such as {...it}",
        };
        let name = name.unwrap_or_else(|| "class".to_owned());
        Some(format!("an instance of {name}{hint}"))
    }

    fn threw<T>(&self) -> Result<T, Refusal> {
        let _ = self.ctx.catch();
        Err(Refusal::Threw)
    }
}
