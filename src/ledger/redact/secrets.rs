//! The secrets of one call, to be found again in whatever is told of it.

use std::borrow::Cow;

use serde_json::Value;

/// What stands in the place of a secret.
const STAND_IN: &str = "[secret]";

/// What is shorter is found in every other word, and is no secret.
const SHORTEST: usize = 3;

/// The same for a line of a longer secret.
const SHORTEST_LINE: usize = 6;

/// So many characters of a secret give it away: messages quote the beginning of what they are about.
const TELLING: usize = 8;

/// Texts that were kept out of the arguments of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    any: bool,
    /// The secrets and each line of them, sorted.
    pieces: Vec<String>,
}

impl Secrets {
    /// Whether anything was secret.
    #[must_use]
    pub fn any(&self) -> bool {
        self.any
    }

    /// Takes all texts in `value`.
    pub(super) fn add(&mut self, value: &Value) {
        self.any = true;
        self.gather(value);
        self.pieces.sort_unstable();
        self.pieces.dedup();
    }

    fn gather(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add_text(text),
            Value::Number(number) => self.add_text(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.gather(item)),
            Value::Object(members) => members.values().for_each(|member| self.gather(member)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        let whole = text.trim();
        if whole.chars().nth(SHORTEST - 1).is_some() {
            self.pieces.push(whole.to_owned());
        }
        let lines = whole.lines().map(str::trim).filter(|line| line.chars().nth(SHORTEST_LINE - 1).is_some());
        self.pieces.extend(lines.map(str::to_owned));
    }

    /// Takes those of another form of the same call.
    pub fn join(&mut self, other: Secrets) {
        self.any |= other.any;
        self.pieces.extend(other.pieces);
        self.pieces.sort_unstable();
        self.pieces.dedup();
    }

    /// `text` without them.
    #[must_use]
    pub fn hidden_in<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut hidden = String::new();
        let (mut told, mut at) = (0, 0);
        while let Some(first) = text[at..].chars().next() {
            match self.length_at(&text[at..]) {
                0 => at += first.len_utf8(),
                length => {
                    hidden.push_str(&text[told..at]);
                    hidden.push_str(STAND_IN);
                    at += length;
                    told = at;
                }
            }
        }
        if told == 0 {
            return Cow::Borrowed(text);
        }
        hidden.push_str(&text[told..]);
        Cow::Owned(hidden)
    }

    /// How many bytes at the beginning of `text` are a secret, or enough of one to give it away.
    fn length_at(&self, text: &str) -> usize {
        let Some(head) = text.char_indices().nth(SHORTEST).map(|(end, _)| end).or_else(|| {
            // The rest may be exactly as long as the shortest.
            (text.chars().count() == SHORTEST).then_some(text.len())
        }) else {
            return 0;
        };
        let begin = self.pieces.partition_point(|piece| piece.as_str() < &text[..head]);
        let alike = self.pieces[begin..].iter().take_while(|piece| piece.starts_with(&text[..head]));
        let lengths = alike.map(|piece| {
            let (characters, bytes) = common(piece, text);
            if bytes == piece.len() || characters >= TELLING { bytes } else { 0 }
        });
        lengths.max().unwrap_or(0)
    }
}

/// How long the common beginning of two texts is, in characters and in bytes.
fn common(one: &str, other: &str) -> (usize, usize) {
    let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    alike.fold((0, 0), |(characters, bytes), (one, _)| (characters + 1, bytes + one.len_utf8()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_found_wherever_they_are_quoted() {
        let mut secrets = Secrets::default();
        secrets.add(&json!(["hunter2", "first long line\n  second läng line\n}\n", 31337, "ab", "hunting for more"]));
        for (text, want) in [
            ("nothing of it", "nothing of it"),
            ("the password is hunter2.", "the password is [secret]."),
            ("hunter2hunter2", "[secret][secret]"),
            ("hunter", "hunter"),
            ("hunting for bears", "[secret]bears"),
            ("-second läng line\n+}", "-[secret]\n+}"),
            ("quoted: \"second lä...", "quoted: \"[secret]..."),
            ("a number 31337, ab", "a number [secret], ab"),
            ("ünd 31337", "ünd [secret]"),
        ] {
            assert_eq!(secrets.hidden_in(text), want, "{text}");
        }
        assert!(secrets.any() && !Secrets::default().any());
        assert_eq!(Secrets::default().hidden_in("text"), "text");
    }
}
