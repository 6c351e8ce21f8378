//! The files that are worked on: the same bytes each time, made once.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A text that is in so few files that all of them fit into any answer.
pub const NEEDLE: &str = "needle_in_the_hay";

/// How many files hold it, and how many have `target` in their names.
pub const HITS: usize = 10;

/// Words, always the same, chosen by a simple generator.
pub struct Words(u64);

const VOCABULARY: [&str; 24] = [
    "let", "value", "=", "match", "fn", "return", "self", "index", "buffer", "path", "error", "=>", "Some", "None",
    "result", "of", "a", "folder", "and", "the", "next", "line", "(x)", "};",
];

impl Words {
    pub fn new(seed: u64) -> Self {
        Words(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// About so many bytes of lines.
    pub fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 100);
        while text.len() < bytes {
            for _ in 0..4 + self.next() % 10 {
                text.push_str(VOCABULARY[(self.next() % VOCABULARY.len() as u64) as usize]);
                text.push(' ');
            }
            text.push('\n');
        }
        text.truncate(bytes.saturating_sub(1));
        text.push('\n');
        text
    }
}

/// Makes what is not there yet: done once a folder.
pub fn once(folder: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mark = folder.with_extension("made");
    if mark.exists() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    make(folder)?;
    fs::write(mark, "")
}

/// A tree of `count` source files, 10 in a folder, as a project has them.
pub fn tree(folder: &Path, count: usize) -> io::Result<()> {
    once(folder, |folder| {
        let every = (count / HITS).max(1);
        for n in 0..count {
            let place = folder.join(format!("part{}/mod{}", n / 500, n / 10 % 50));
            if n % 10 == 0 {
                fs::create_dir_all(&place)?;
            }
            let mut words = Words::new(n as u64 + 1);
            let size = 400 + (words.next() % 1800) as usize;
            let mut text = words.text(size);
            let hit = n % every == every / 2 && n / every < HITS;
            if hit {
                text.push_str(NEEDLE);
                text.push('\n');
            }
            fs::write(place.join(format!("file{n}{}.rs", if hit { "target" } else { "" })), text)?;
        }
        Ok(())
    })
}

/// A flat folder of `count` small files.
pub fn flat(folder: &Path, count: usize) -> io::Result<()> {
    once(folder, |folder| (0..count).try_for_each(|n| fs::write(folder.join(format!("entry{n:06}.txt")), "x\n")))
}

/// A text of numbered lines of about 100 bytes, as many as fit.
pub fn long(folder: &Path, bytes: u64) -> io::Result<()> {
    once(folder, |folder| {
        let mut file = BufWriter::with_capacity(1 << 20, fs::File::create(folder.join("long.txt"))?);
        let mut words = Words::new(7);
        let pool: Vec<String> = (0..1000).map(|_| words.text(91).trim_end().replace('\n', " ")).collect();
        let (mut written, mut n) = (0, 0_u64);
        while written < bytes {
            n += 1;
            let line = format!("{n:08} {}\n", pool[(n % 1000) as usize]);
            written += line.len() as u64;
            file.write_all(line.as_bytes())?;
        }
        file.flush()
    })
}
