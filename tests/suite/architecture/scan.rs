//! Just enough of Rust's grammar to tell imports and calls from text that only looks like them.

/// The tokens of a source: names, `::`, and single characters. Comments are left out; a literal is `""`.
pub fn tokens(source: &str) -> Vec<&str> {
    let mut rest = source;
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => (None, block_comment(rest)),
            '"' => (Some("\"\""), string(rest)),
            '\'' => character_or_lifetime(rest),
            _ if rest.starts_with("::") => (Some("::"), 2),
            _ if is_name(first) => name_or_prefixed_string(rest),
            _ => (Some(&rest[..first.len_utf8()]), first.len_utf8()),
        };
        found.extend(token);
        rest = &rest[length..];
    }
    found
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn name_length(text: &str) -> usize {
    text.find(|character| !is_name(character)).unwrap_or(text.len())
}

/// Block comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of a literal that begins with its quote, whose backslashes escape.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        if character == quote && !escaped {
            return at + 1;
        }
        escaped = character == '\\' && !escaped;
    }
    text.len()
}

fn string(text: &str) -> usize {
    quoted(text, '"')
}

/// `'a'` and `'\n'` are characters, `'a` is a lifetime, which nobody here asks about.
fn character_or_lifetime(text: &str) -> (Option<&'static str>, usize) {
    let mut after = text.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) | (_, Some('\'')) => (Some("\"\""), quoted(text, '\'')),
        _ => (None, 1 + name_length(&text[1..])),
    }
}

/// A name, or a string that begins with letters: `b"…"`, `r#"…"#`.
fn name_or_prefixed_string(text: &str) -> (Option<&str>, usize) {
    let length = name_length(text);
    let (name, rest) = text.split_at(length);
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let literal = rest[hashes..].starts_with('"');
    match name {
        "r" | "br" | "cr" if literal => {
            let open = length + hashes + 1;
            let close = format!("\"{}", "#".repeat(hashes));
            let end = text[open..].find(&close).map_or(text.len(), |at| open + at + close.len());
            (Some("\"\""), end)
        }
        "b" | "c" if rest.starts_with('"') => (Some("\"\""), length + string(rest)),
        "b" if rest.starts_with('\'') => (Some("\"\""), length + quoted(rest, '\'')),
        _ => (Some(name), length),
    }
}

/// Something that a file imports from its crate.
#[derive(Debug, PartialEq, Eq)]
pub struct Import<'a> {
    /// The first name below the crate's root.
    pub module: &'a str,
}

/// What a file takes from its crate, in `use` lines and in paths, the file being `depth` modules below the root.
///
/// `super` is followed only outside of braces, since inside of them it may stand in a module within the file.
pub fn imports<'a>(tokens: &[&'a str], depth: usize) -> Vec<Import<'a>> {
    let mut found = Vec::new();
    let mut braces = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let begins_a_path = at == 0 || tokens[at - 1] != "::";
        match *token {
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            "crate" | "toolgate" if begins_a_path && tokens.get(at + 1) == Some(&"::") => {
                found.extend(heads(&tokens[at + 2..]));
            }
            "super" if begins_a_path && braces == 0 => {
                let climbs = tokens[at..].chunks(2).take_while(|pair| *pair == ["super", "::"]).count();
                if climbs >= depth {
                    found.extend(heads(&tokens[at + 2 * climbs..]));
                }
            }
            _ => {}
        }
    }
    found.into_iter().map(|module| Import { module }).collect()
}

/// The first names of the paths in a use tree: `a::b` has `a`, `{a::b, c::{d}}` has `a` and `c`.
fn heads<'a>(tree: &[&'a str]) -> Vec<&'a str> {
    if tree.first() != Some(&"{") {
        let is_macro = tree.get(1) == Some(&"!");
        return tree.first().copied().filter(|_| !is_macro).into_iter().collect();
    }
    let end = closing(tree, 0);
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for pair in tree[..end].windows(2) {
        match pair[0] {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        let begins = depth == 1 && matches!(pair[0], "{" | ",");
        if begins && !matches!(pair[1], "}" | "self") {
            found.push(pair[1]);
        }
    }
    found
}

/// The tokens without the items that only tests are built with.
pub fn shipped<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match attribute(tokens, at) {
            Some((content, _)) if is_test_only(content) && tokens[at + 1] == "!" => return Vec::new(),
            Some((content, end)) if is_test_only(content) => at = item_end(tokens, end),
            _ => {
                kept.push(tokens[at]);
                at += 1;
            }
        }
    }
    kept
}

/// The modules in files of their own that only tests are built with.
pub fn test_modules<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if let Some((content, end)) = attribute(tokens, at)
            && is_test_only(content)
        {
            let item = &tokens[end..item_end(tokens, end)];
            let name = item.iter().position(|token| *token == "mod").and_then(|at| item.get(at + 1));
            found.extend(name.filter(|_| item.last() == Some(&";")));
        }
    }
    found
}

/// The inside of the attribute that begins at `at`, and where it ends.
fn attribute<'a, 'b>(tokens: &'b [&'a str], at: usize) -> Option<(&'b [&'a str], usize)> {
    let open = match tokens[at..] {
        ["#", "[", ..] => at + 1,
        ["#", "!", "[", ..] => at + 2,
        _ => return None,
    };
    let close = closing(tokens, open);
    Some((&tokens[open + 1..close], close + 1))
}

fn is_test_only(attribute: &[&str]) -> bool {
    attribute.first() == Some(&"cfg") && attribute.contains(&"test") && !attribute.contains(&"not")
}

/// Where the item ends that begins at `at`: after its block, or after its semicolon.
fn item_end(tokens: &[&str], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at] {
            "{" => return closing(tokens, at) + 1,
            ";" => return at + 1,
            "(" | "[" => at = closing(tokens, at) + 1,
            _ => at += 1,
        }
    }
    at
}

/// The place of the bracket that closes the one at `open`.
fn closing(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}
