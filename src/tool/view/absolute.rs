//! Which file of the workspace an absolute path names.

use crate::model::path::WsPath;
use crate::workspace::Root;

/// The path in the workspace of what `text` names, where it ends in one of `roots`.
///
/// `..` is resolved in the text, as everywhere. Behind a link the system would take another way, so above a root it counts
/// only where no link can be: between the folders of a root's own path, as the system resolves it.
pub(super) fn inside(text: &str, roots: &[Root]) -> Option<WsPath> {
    inside_on(Names { windows: cfg!(windows) }, text, roots)
}

/// Whether `text` climbs.
pub(super) fn climbs(text: &str) -> bool {
    Names { windows: cfg!(windows) }.of(text).contains(&"..")
}

fn inside_on(names: Names, text: &str, roots: &[Root]) -> Option<WsPath> {
    let spellings: Vec<Vec<&str>> =
        roots.iter().flat_map(|root| &root.spellings).map(|spelling| names.of(spelling)).collect();
    let resolved: Vec<Vec<&str>> =
        roots.iter().filter_map(|root| root.spellings.last()).map(|spelling| names.of(spelling)).collect();
    let mut at = Vec::new();
    for name in names.of(text) {
        if name != ".." {
            at.push(name);
            continue;
        }
        let inside = spellings.iter().any(|root| at.len() > root.len() && names.begin(&at, root));
        let on_the_way = resolved.iter().any(|root| names.begin(root, &at));
        if !inside && !on_the_way {
            return None;
        }
        at.pop();
    }
    roots.iter().find_map(|root| {
        let spellings = root.spellings.iter().map(|spelling| names.of(spelling));
        let length = spellings.filter(|root| names.begin(&at, root)).map(|root| root.len()).max()?;
        let below = at.iter().skip(length).fold(WsPath::root(), |folder, name| folder.join(name));
        Some(below.under(&root.at))
    })
}

/// How a system reads the names in a path.
#[derive(Debug, Clone, Copy)]
struct Names {
    windows: bool,
}

impl Names {
    /// The names in an absolute path, the drive among them where there are drives.
    fn of(self, text: &str) -> Vec<&str> {
        let text = if self.windows { text.strip_prefix(r"\\?\").unwrap_or(text) } else { text };
        let separates = |c: char| c == '/' || (self.windows && c == '\\');
        text.split(separates).filter(|name| !matches!(*name, "" | ".")).collect()
    }

    /// Whether `folder` is `path` or one of the folders that it lies in.
    fn begin(self, path: &[&str], folder: &[&str]) -> bool {
        let same = |(one, other): (&&str, &&str)| match self.windows {
            true => one.to_lowercase() == other.to_lowercase(),
            false => one == other,
        };
        path.len() >= folder.len() && path.iter().zip(folder).all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(at: &str, spellings: &[&str]) -> Root {
        let at = WsPath::parse(at).expect("a path");
        Root { at, spellings: spellings.iter().map(|&spelling| spelling.to_owned()).collect() }
    }

    #[track_caller]
    fn check(windows: bool, roots: &[Root], cases: &[(&str, Option<&str>)]) {
        for (text, want) in cases {
            let found = inside_on(Names { windows }, text, roots).map(|path| path.to_string());
            assert_eq!(found.as_deref(), *want, "{text}");
        }
    }

    #[test]
    fn a_path_that_ends_inside_is_inside() {
        check(
            false,
            &[root(".", &["/the/link", "/the/ws"])],
            &[
                ("/the/ws", Some(".")),
                ("/the/ws/", Some(".")),
                ("/the/link/a/b", Some("a/b")),
                ("//the/./ws//a/.", Some("a")),
                ("/the/ws/d/../a", Some("a")),
                ("/the/link/d/../a", Some("a")),
                ("/the/ws/../ws/a", Some("a")),
                ("/the/ws/../../the/ws/a", Some("a")),
                ("/the/../the/ws/a", Some("a")),
                ("/../the/ws/a", Some("a")),
                ("/the/ws/d/../../ws/a", Some("a")),
                ("/the/ws/../link/a", Some("a")),
                // What is behind a link is not certain, and what lies beside the root may be one.
                ("/the/link/../ws/a", None),
                ("/the/other/../ws/a", None),
                ("/the/ws/../other/../ws/a", None),
                ("/the/ws/..", None),
                ("/the/ws/../x", None),
                ("/the/ws2/a", None),
                ("/the/WS/a", None),
                ("/the", None),
                ("/", None),
                ("/the\\ws\\a", None),
            ],
        );
    }

    #[test]
    fn one_of_several_folders_leads_to_the_next() {
        check(
            false,
            &[root("code", &["/w/code"]), root("docs", &["/w/docs"])],
            &[
                ("/w/code/../docs/a", Some("docs/a")),
                ("/w/docs/d/../../code", Some("code")),
                ("/w/code/..", None),
                ("/w/other/../code/a", None),
            ],
        );
        check(false, &[root(".", &["/"])], &[("/a/../b", Some("b")), ("/../b", Some("b"))]);
        check(false, &[], &[("/a", None), ("/a/../b", None)]);
    }

    #[test]
    fn windows_writes_one_path_in_many_ways() {
        check(
            true,
            &[root(".", &[r"G:\p\Ws"])],
            &[
                (r"g:\p\ws\a.txt", Some("a.txt")),
                (r"G:/p/Ws/d\a.txt", Some("d/a.txt")),
                (r"\\?\G:\p\ws\a.txt", Some("a.txt")),
                (r"G:\p\ws\..\WS\a.txt", Some("a.txt")),
                (r"H:\p\ws\a.txt", None),
                (r"G:\p\ws2\a.txt", None),
                (r"G:\p\ws\..\..\..", None),
            ],
        );
    }
}
