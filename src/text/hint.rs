//! Why a text was not found: the nearest place, and in what it differs. A near miss is shown, never applied.

mod compare;
mod similarity;
mod skeleton;
mod visible;
mod window;

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::text::find::Eol;
use crate::text::lines::line_of;
use skeleton::Skeleton;

pub use visible::{LineDifference, first_difference, visible};

/// How much of the place is shown, in bytes.
const SHOWN: usize = 2048;

/// The place that is nearest to a text which was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Near {
    /// The first line of the place, counted from 1.
    pub first_line: u64,
    /// The last line of the place.
    pub last_line: u64,
    /// The lines that stand there, about 2 KB of them at most.
    pub text: String,
    /// What differs, without doubles, in the order of [`Difference`].
    pub differs: Vec<Difference>,
}

/// A way in which a text can be near another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Difference {
    /// Blanks at the ends of lines.
    TrailingSpace,
    /// Blanks at the starts of lines, of the same sort but not as many.
    Indentation,
    /// Tabs on one side, spaces on the other; between words also their number.
    TabsAndSpaces,
    /// `\r\n` on one side, `\n` on the other.
    CarriageReturn,
    /// The same characters in another Unicode form.
    UnicodeForm,
    /// Typographic quotes and dashes on one side, plain ones on the other.
    Quotes,
    /// A no-break space or a character without width.
    InvisibleSpace,
    /// Upper and lower case.
    Case,
    /// The text that was looked for carries the line numbers of a view.
    LineNumbers,
    /// Blank lines, more or fewer.
    BlankLines,
    /// The same words, broken into lines at other places.
    LineBreaks,
    /// An escape on one side, what it stands for on the other.
    Escapes,
    /// Other words.
    Words,
}

impl Difference {
    /// The difference as a model is told of it, to follow "it differs in ".
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Difference::TrailingSpace => "spaces or tabs at the end of a line",
            Difference::Indentation => "the indentation",
            Difference::TabsAndSpaces => "tabs and spaces",
            Difference::CarriageReturn => "the line endings (CRLF or LF)",
            Difference::UnicodeForm => "the Unicode form of characters that look alike",
            Difference::Quotes => "typographic or plain quotes and dashes",
            Difference::InvisibleSpace => "no-break or zero-width spaces, which cannot be seen",
            Difference::Case => "upper and lower case",
            Difference::LineNumbers => "the line numbers, which read_file shows but the file does not hold",
            Difference::BlankLines => "the number of blank lines",
            Difference::LineBreaks => "where lines are broken",
            Difference::Escapes => "escapes (such as \\n, \\\" or &lt;) in place of the characters themselves",
            Difference::Words => "the words",
        }
    }
}

/// The place of `haystack` that is nearest to `old`, which was not found in it; nothing if no place is near.
///
/// First a place that is the same but for blanks, case, look-alikes and the like is sought, then the most similar lines.
/// The work is bounded: a few tens of milliseconds for a haystack of 5 MB.
///
/// ```
/// use toolgate::text::hint::{Difference, nearest};
/// let near = nearest("fn main() {\n\tgo();\n}\n", "    go();").expect("a near place");
/// assert_eq!((near.first_line, near.differs), (2, vec![Difference::TabsAndSpaces]));
/// ```
#[must_use]
pub fn nearest(haystack: &str, old: &str) -> Option<Near> {
    nearest_with_eol(haystack, old, Eol::Exact)
}

/// [`nearest`] for a search that took line ends as `eol` says: those that are bridged are no difference.
#[must_use]
pub fn nearest_with_eol(haystack: &str, old: &str, eol: Eol) -> Option<Near> {
    if old.trim().is_empty() || haystack.is_empty() {
        return None;
    }
    let ignored = (eol == Eol::Bridged && !old.contains('\r')).then_some(Difference::CarriageReturn);
    let search = Search { haystack, skeleton: Skeleton::new(haystack), ignored };
    let bare = without_line_numbers(old);
    let (place, mut differs, numbered) = search
        .same_but_for(old)
        .map(|(place, differs)| (place, differs, false))
        .or_else(|| {
            let bare = bare.as_deref()?;
            let verbatim = memmem::find(haystack.as_bytes(), bare.as_bytes()).map(|at| (at..at + bare.len(), vec![]));
            let (place, differs) = verbatim.or_else(|| search.same_but_for(bare))?;
            Some((place, differs, true))
        })
        .or_else(|| {
            let (place, mut differs) =
                window::most_similar(haystack, &search.skeleton, bare.as_deref().unwrap_or(old))?;
            search.ignore(&mut differs);
            Some((place, differs, bare.is_some()))
        })?;
    if numbered {
        differs.push(Difference::LineNumbers);
    }
    near(haystack, place, differs)
}

/// A haystack, ready to be searched for what is near.
struct Search<'h> {
    haystack: &'h str,
    skeleton: Skeleton,
    /// What did not keep the text from being found.
    ignored: Option<Difference>,
}

impl Search<'_> {
    /// The place whose skeleton is that of `old`, the one with the fewest differences where there are several.
    fn same_but_for(&self, old: &str) -> Option<(Range<usize>, Vec<Difference>)> {
        /// Further places are not looked at.
        const PLACES: usize = 16;
        /// A shorter skeleton stands about everywhere.
        const TELLING: usize = 4;
        let wanted = skeleton::fold(old);
        if wanted.is_empty() {
            return None;
        }
        let places: Vec<Range<usize>> = self.skeleton.places(self.haystack, &wanted).take(PLACES).collect();
        if places.len() > 1 && wanted.len() < TELLING {
            return None;
        }
        let compared = places.into_iter().filter_map(|place| {
            let place = compare::with_blanks(self.haystack, place, old);
            let actual = &self.haystack[place.clone()];
            let mut differs = compare::differences(old, actual, starts_line(self.haystack, place.start))?;
            self.ignore(&mut differs);
            (!differs.is_empty()).then_some((place, differs))
        });
        compared.min_by_key(|(_, differs)| differs.len())
    }

    /// Leaves out what is ignored, unless there is nothing else.
    fn ignore(&self, differs: &mut Vec<Difference>) {
        if differs.len() > 1 {
            differs.retain(|difference| Some(*difference) != self.ignored);
        }
    }
}

fn starts_line(haystack: &str, at: usize) -> bool {
    haystack[..at].chars().next_back().is_none_or(|before| before == '\n')
}

/// `old` without the numbers that a view puts before lines (`12: `, `12→`, `12` and a tab), if each line has one.
fn without_line_numbers(old: &str) -> Option<String> {
    let mut bare = String::with_capacity(old.len());
    for line in old.split_inclusive('\n') {
        if line.trim().is_empty() {
            bare.push_str(line);
            continue;
        }
        let rest = line.trim_start_matches([' ', '\t']).trim_start_matches(|char: char| char.is_ascii_digit());
        let digits = line.len() - rest.len();
        if digits == 0 || !line[..digits].ends_with(|char: char| char.is_ascii_digit()) {
            return None;
        }
        let content = ["→", "\t", ": ", ":", "|"].into_iter().find_map(|mark| rest.strip_prefix(mark))?;
        bare.push_str(content);
    }
    (!bare.trim().is_empty()).then_some(bare)
}

fn near(haystack: &str, place: Range<usize>, mut differs: Vec<Difference>) -> Option<Near> {
    differs.sort_unstable();
    differs.dedup();
    let bytes = haystack.as_bytes();
    let start = memrchr(b'\n', &bytes[..place.start]).map_or(0, |at| at + 1);
    let last = place.end.max(place.start + 1) - 1;
    let end = memchr(b'\n', bytes.get(last..)?).map_or(bytes.len(), |at| last + at + 1);
    let lines = &haystack[start..end];
    Some(Near {
        first_line: line_of(bytes, start),
        last_line: line_of(bytes, last),
        text: visible::head(lines, SHOWN).to_owned(),
        differs,
    })
}

#[cfg(test)]
mod tests;
