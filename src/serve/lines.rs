//! Splits a stream of bytes into lines, however they come in pieces.

use std::io::{self, ErrorKind, Read};

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// A buffer that one long line has blown up is given back when it is empty and larger than this.
const KEPT: usize = 1024 * 1024;

/// What the stream gives next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its line end. The last one need not have any (B146).
    Whole(Vec<u8>),
    /// A line that was longer than is read; all of it has been skipped.
    TooLong,
    /// The end.
    End,
}

/// Reads lines of up to `limit` bytes.
pub(super) struct Lines<R> {
    source: R,
    /// Room for what is read. It is filled with zeros once, when it grows, not for every read.
    buffer: Vec<u8>,
    /// Up to where something has been read into it.
    filled: usize,
    /// Where the line begins that is being looked for.
    start: usize,
    /// Up to where there is no line end.
    searched: usize,
    limit: usize,
    skipping: bool,
    at_start: bool,
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R, limit: usize) -> Self {
        Lines {
            source,
            buffer: Vec::new(),
            filled: 0,
            start: 0,
            searched: 0,
            limit,
            skipping: false,
            at_start: true,
            ended: false,
        }
    }

    /// The next line; waits for it.
    pub(super) fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(line);
            }
            if self.ended {
                return Ok(self.take_rest());
            }
            if self.filled - self.start > self.limit {
                self.skipping = true;
                self.forget();
            }
            self.fill()?;
        }
    }

    /// The next line, if it is there already.
    pub(super) fn waiting(&mut self) -> Option<Line> {
        self.take_line()
    }

    /// Whether another line can be taken without waiting.
    pub(super) fn has_line(&mut self) -> bool {
        self.line_end().is_some()
    }

    /// Where the line ends that is being looked for, if that is there already.
    fn line_end(&mut self) -> Option<usize> {
        let found = memchr::memchr(b'\n', &self.buffer[self.searched..self.filled]);
        self.searched = found.map_or(self.filled, |at| self.searched + at);
        found.map(|_| self.searched)
    }

    fn take_line(&mut self) -> Option<Line> {
        let end = self.line_end()?;
        let line = self.cut(end);
        // A line that filled all there was has taken the room with it.
        self.start = (end + 1).min(self.filled);
        self.searched = self.start;
        if self.start == self.filled {
            self.forget();
        }
        Some(line)
    }

    /// What stands behind the last line end, once there is nothing more to come.
    fn take_rest(&mut self) -> Line {
        if self.start == self.filled && !self.skipping {
            return Line::End;
        }
        let line = self.cut(self.filled);
        self.forget();
        line
    }

    fn cut(&mut self, end: usize) -> Line {
        let at_start = std::mem::take(&mut self.at_start);
        if std::mem::take(&mut self.skipping) || end - self.start > self.limit {
            return Line::TooLong;
        }
        let line = &self.buffer[self.start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Some Windows programs put a byte order mark before what they write (B009).
        let line = if at_start { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        let alone = self.start == 0 && end + 1 >= self.filled && line.as_ptr() == self.buffer.as_ptr();
        if alone && line.len() > KEPT {
            // A long line that came alone is not copied.
            let length = line.len();
            let mut whole = std::mem::take(&mut self.buffer);
            whole.truncate(length);
            self.filled = 0;
            return Line::Whole(whole);
        }
        Line::Whole(line.to_vec())
    }

    fn forget(&mut self) {
        if self.buffer.len() > KEPT {
            self.buffer.truncate(PIECE);
            self.buffer.shrink_to_fit();
        }
        self.filled = 0;
        self.start = 0;
        self.searched = 0;
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.filled < PIECE {
            // The room grows by half, so that a long line is moved a few times only.
            let room = self.filled + PIECE.max(self.filled / 2);
            self.buffer.resize(room, 0);
        }
        let read = loop {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.filled += read;
        self.ended = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(bytes: &[u8], piece: usize, limit: usize) -> Vec<String> {
        let mut lines = Lines::new(Pieces(bytes, piece), limit);
        let mut all = Vec::new();
        loop {
            match lines.next().expect("no I/O error") {
                Line::Whole(line) => all.push(String::from_utf8(line).expect("UTF-8")),
                Line::TooLong => all.push("(too long)".to_owned()),
                Line::End => return all,
            }
        }
    }

    #[test]
    fn lines_whatever_the_pieces() {
        for piece in [1, 2, 3, 7, 1000] {
            for (bytes, want) in [
                ("a\nb\n", vec!["a", "b"]),
                ("a\r\nb", vec!["a", "b"]),
                ("\u{feff}a\n\u{feff}b\n", vec!["a", "\u{feff}b"]),
                ("\n\na\n", vec!["", "", "a"]),
                ("", vec![]),
                ("123456789\nok\n", vec!["(too long)", "ok"]),
                ("123456789", vec!["(too long)"]),
                ("12345678\nok", vec!["12345678", "ok"]),
                ("\u{5f20}\n", vec!["\u{5f20}"]),
            ] {
                assert_eq!(lines(bytes.as_bytes(), piece, 8), want, "{bytes:?} by {piece}");
            }
        }
    }

    #[test]
    fn long_lines_alone_and_among_others() {
        let long = "x".repeat(3 * KEPT + 7);
        for (text, want) in [
            (format!("{long}\n"), vec![long.len()]),
            (format!("{long}\r\n"), vec![long.len()]),
            (long.clone(), vec![long.len()]),
            (format!("a\n{long}\nb\n{long}\n{long}\nc"), vec![1, long.len(), 1, long.len(), long.len(), 1]),
            (format!("\u{feff}{long}\nb"), vec![long.len(), 1]),
        ] {
            for piece in [1 << 16, 100_003, usize::MAX] {
                let told = lines(text.as_bytes(), piece, 8 * KEPT);
                assert_eq!(told.iter().map(String::len).collect::<Vec<_>>(), want, "by {piece}");
                assert!(told.iter().filter(|line| line.len() > 1).all(|line| *line == long), "by {piece}");
            }
        }
    }
}
