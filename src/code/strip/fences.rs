//! What models put around a program: a fence, or nothing but a function.

/// The program with a fence around it blanked: the lines stay where they were.
pub(super) fn blanked(program: &str) -> String {
    let lines: Vec<&str> = program.split_inclusive('\n').collect();
    let Some(first) = lines.iter().position(|line| !line.trim().is_empty()) else { return program.to_owned() };
    let Some(fence) = lines.get(first).and_then(|line| opening(line)) else { return program.to_owned() };
    let closing = lines.iter().rposition(|line| !line.trim().is_empty() && line.trim() == fence);
    let last = closing.filter(|last| *last > first);
    let mut text = String::with_capacity(program.len());
    for (at, line) in lines.iter().enumerate() {
        if at == first || Some(at) == last {
            text.extend(line.chars().map(|char| if matches!(char, '\n' | '\r') { char } else { ' ' }));
        } else {
            text.push_str(line);
        }
    }
    text
}

/// The marks that a line opens a fence with: three or more, and at most a language behind them.
fn opening(line: &str) -> Option<&str> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks = line.len() - line.trim_start_matches(mark).len();
    let (fence, language) = line.split_at(marks);
    let plain = language.chars().all(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_' | '.' | '+'));
    (marks >= 3 && plain).then_some(fence)
}

/// A program that begins with a function without a name, in parentheses, and where the first of them is. The function is an
/// expression then.
pub(super) fn as_expression(program: &str) -> Option<(String, usize)> {
    let start = program.len() - program.trim_start().len();
    let words = program.get(start..)?;
    let rest = words.strip_prefix("async").map_or(words, str::trim_start);
    let rest = rest.strip_prefix("function")?.trim_start();
    if !rest.starts_with(['(', '<']) {
        return None;
    }
    let end = program.trim_end().trim_end_matches(';').len();
    let (before, inner) = program.split_at_checked(start)?;
    let (inner, behind) = inner.split_at_checked(end.checked_sub(start)?)?;
    Some((format!("{before}({inner}\n){behind}"), start))
}
