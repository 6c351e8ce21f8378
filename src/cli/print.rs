//! What every command prints with: colours for people only, and nothing said where nobody listens any more.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fail;

/// Standard output, written in few pieces.
pub(super) type Out = BufWriter<StdoutLock<'static>>;

/// Lets `print` write to standard output. Its error is the exit code 1, but that nobody reads any more is none.
pub(super) fn printed<E>(print: impl FnOnce(&mut Out) -> Result<ExitCode, E>) -> ExitCode
where
    E: Into<Box<dyn std::error::Error>>,
{
    let mut out = BufWriter::new(io::stdout().lock());
    let code = match print(&mut out) {
        Ok(code) => code,
        Err(error) => {
            let error = error.into();
            // What was already found out is of use without the rest.
            let _ = out.flush();
            return if is_broken_pipe(&*error) { ExitCode::SUCCESS } else { fail(1, error) };
        }
    };
    match out.flush() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            fail(1, format_args!("standard output cannot be written: {error}"))
        }
        _ => code,
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Whether standard output is coloured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint(bool);

/// A colour by what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Dim,
    Strong,
    Good,
    Bad,
    Careful,
    Place,
}

impl Paint {
    /// Colours for a terminal, unless its user wants none.
    pub(super) fn for_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint(io::stdout().is_terminal() && !unwanted && !dumb)
    }

    #[cfg(test)]
    pub(super) fn none() -> Self {
        Paint(false)
    }

    /// Whether it is a terminal that will show this.
    pub(super) fn is_for_people(self) -> bool {
        io::stdout().is_terminal()
    }

    pub(super) fn text(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Dim => "2",
            Tone::Strong => "1",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Careful => "33",
            Tone::Place => "36",
        };
        if self.0 && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A time as this place's clocks show it.
pub(super) fn local(time: Timestamp, format: &str) -> String {
    time.to_zoned_datetime(TimeZone::system()).strftime(format).to_string()
}

/// A span of time in two or three digits.
pub(super) fn span(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        10_000..1_000_000 => format!("{} ms", micros / 1_000),
        1_000_000..60_000_000 => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
        _ => format!("{} min", micros / 60_000_000),
    }
}

/// A number of bytes in two or three digits.
pub(super) fn size(bytes: u64) -> String {
    let mut unit = 1_u64;
    let mut name = "bytes";
    for (bigger, named) in [(1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB")] {
        if bytes >= bigger {
            (unit, name) = (bigger, named);
        }
    }
    match (unit, bytes / unit) {
        (1, 1) => "1 byte".to_owned(),
        (1, whole) => format!("{whole} {name}"),
        (_, whole @ 0..10) => format!("{whole}.{} {name}", bytes % unit * 10 / unit),
        (_, whole) => format!("{whole} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_sizes_are_short() {
        let spans: Vec<_> = [7, 1_234, 45_678, 2_340_000, 61_000_000].map(span).into();
        assert_eq!(spans, ["7 µs", "1.2 ms", "45 ms", "2.3 s", "1 min"]);
        let sizes: Vec<_> = [1, 1023, 1536, 12 << 20].map(size).into();
        assert_eq!(sizes, ["1 byte", "1023 bytes", "1.5 KiB", "12 MiB"]);
        assert_eq!(Paint(true).text(Tone::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(Paint::none().text(Tone::Bad, "x"), "x");
    }
}
