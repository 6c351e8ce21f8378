//! The rows of the table: what is measured, on which files, and what is asked of us.

use std::fs;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::bench::{Bench, Program, fresh, millis, names_all, perform, pipelined, sequential};
use crate::data::{self, HITS, NEEDLE, Words};
use crate::peers::{FLOOR, OURS, RELAXED, Work};
use crate::score::{Row, Score, Unit, short};
use crate::server::{Server, run};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Who takes part where the settings of our own do not matter.
fn all_but_relaxed(who: &str) -> bool {
    who != RELAXED
}

fn peers(who: &str) -> bool {
    who != RELAXED && who != FLOOR && who != OURS
}

/// The best peer of a row, by the middle of its samples.
fn best_peer(row: &Row) -> Option<&Score> {
    let known = ["rg", "sed -n", "find", "ls -l", "dd conv=fsync", "a bare program"];
    let peers = row.scores.iter().filter(|score| peers(&score.who) && !known.contains(&score.who.as_str()));
    let measured = peers.filter(|score| score.median().is_some());
    let by = |a: &&Score, b: &&Score| a.median().unwrap_or(f64::MAX).total_cmp(&b.median().unwrap_or(f64::MAX));
    if row.unit == Unit::PerSecond { measured.max_by(by) } else { measured.min_by(by) }
}

fn median_of(row: &Row, who: &str) -> Option<f64> {
    row.of(who)?.median()
}

fn ready(server: &mut Server) -> Result<usize, String> {
    server.request("tools/list", &json!({})).map(<[u8]>::len).map_err(|error| error.to_string())
}

pub fn cold_start(bench: &Bench) -> Row {
    let scores = bench.anew(bench.rounds * 2, &all_but_relaxed, &|contestant| {
        let began = Instant::now();
        let mut server = Server::start(&contestant.command).map_err(|error| format!("does not start: {error}"))?;
        ready(&mut server)?;
        Ok(millis(began.elapsed()))
    });
    let mut row = Row::new("Cold start, to the list of tools", Unit::Millis, scores);
    let ours = median_of(&row, OURS);
    row.judge("under 4 ms", ours, " ms", |ms| ms < 4.0);
    let ratio = best_peer(&row).map(|peer| peer.who.clone()).and_then(|peer| row.ratio(OURS, &peer));
    row.judge("under every peer", ratio, " of the fastest peer", |ratio| ratio < 1.0);
    row
}

pub fn idle_memory(bench: &Bench) -> Row {
    let scores = bench.anew(2, &all_but_relaxed, &|contestant| {
        let mut server = Server::start(&contestant.command).map_err(|error| format!("does not start: {error}"))?;
        ready(&mut server)?;
        std::thread::sleep(Duration::from_millis(300));
        Ok(server.memory().0 as f64)
    });
    let mut row = Row::new("Memory when idle", Unit::Kib, scores);
    let ours = median_of(&row, OURS).map(|kib| kib / 1024.0);
    row.judge("under 7 MB", ours, " MiB", |mib| mib < 7.0);
    if let Some(contestant) = bench.contestants.iter().find(|contestant| contestant.name == OURS)
        && let Ok(mut server) = Server::start(&contestant.command)
        && ready(&mut server).is_ok()
    {
        let private = short(server.private() as f64 / 1024.0);
        row.remark(format!("Memory when idle: {private} MiB are the process's own; the rest is the program and the C library as they lie in the system's cache, shared by all that run them."));
    }
    row
}

pub fn list_size(bench: &Bench) -> Row {
    let scores = bench.anew(1, &|who| who != RELAXED && who != FLOOR, &|contestant| {
        let mut server = Server::start(&contestant.command).map_err(|error| format!("does not start: {error}"))?;
        ready(&mut server).map(|bytes| bytes as f64)
    });
    let mut row = Row::new("Answer to tools/list", Unit::Bytes, scores);
    let ours = median_of(&row, OURS).map(|bytes| bytes / 1000.0);
    row.judge("under 10 KB", ours, " KB", |kb| kb < 10.0);
    row
}

/// Reads one file over and over, with one call in flight and with many.
pub fn reads(bench: &Bench, bytes: u64, rounds: usize, only: &dyn Fn(&str) -> bool) -> io::Result<(Row, Row)> {
    let folder = bench.root.join(format!("read-{bytes}"));
    data::once(&folder, |folder| fs::write(folder.join("file.rs"), Words::new(3).text(bytes as usize)))?;
    let path = folder.join("file.rs").to_string_lossy().into_owned();
    let taking_part: Vec<_> = bench.contestants.iter().filter(|contestant| only(contestant.name)).collect();
    let (mut one, mut many) = (Vec::new(), Vec::new());
    let mut servers = Vec::new();
    for contestant in &taking_part {
        one.push(Score::new(contestant.name));
        many.push(Score::new(contestant.name));
        servers.push(Server::start(&contestant.command).ok());
    }
    for round in 0..=rounds {
        for (n, contestant) in taking_part.iter().enumerate() {
            let Some(call) = (contestant.ask)(&Work::Read { path: path.clone() }) else {
                continue;
            };
            let Some(server) = &mut servers[n] else {
                one[n].trouble = Some("does not start".to_owned());
                continue;
            };
            if round == 1 {
                server.reset_peak();
            }
            for (score, sample) in [(&mut one[n], sequential(server, &call)), (&mut many[n], pipelined(server, &call))]
            {
                match sample {
                    Ok(sample) if round > 0 => score.samples.push(sample),
                    Ok(_) => {}
                    Err(error) => score.trouble = Some(error.to_string()),
                }
                score.peak_kib = Some(server.memory().1);
            }
        }
    }
    let size = size(bytes);
    let mut one = Row::new(format!("Read of {size}, one at a time"), Unit::Millis, one);
    let ratio = best_peer(&one).map(|peer| peer.who.clone()).and_then(|peer| one.ratio(OURS, &peer));
    one.judge("not slower than any peer", ratio, " of the fastest peer", |ratio| ratio <= 1.0);
    let ratio = one.ratio(OURS, FLOOR);
    one.judge("within 1.3 times the floor", ratio, " times", |ratio| ratio <= 1.3);
    let mut many = Row::new(format!("Reads of {size}, 64 in flight"), Unit::PerSecond, many);
    let ratio = best_peer(&many).map(|peer| peer.who.clone()).and_then(|peer| many.ratio(OURS, &peer));
    many.judge("at least 8 times the fastest peer", ratio, " times", |ratio| ratio >= 8.0);
    Ok((one, many))
}

pub fn patch(bench: &Bench, bytes: u64, rounds: usize, only: &dyn Fn(&str) -> bool) -> io::Result<Row> {
    let folder = bench.root.join("patch");
    fresh(&folder)?;
    let half = Words::new(5).text(bytes as usize / 2);
    for contestant in &bench.contestants {
        fs::write(folder.join(file_of(contestant.name)), format!("{half}let mark = 0;\n{half}"))?;
    }
    let work = |who: &str, round: usize| Work::Patch {
        path: folder.join(file_of(who)).to_string_lossy().into_owned(),
        old: format!("let mark = {round};"),
        new: format!("let mark = {};", round + 1),
    };
    let check = |work: &Work, _: &[u8]| {
        let Work::Patch { path, new, .. } = work else { return Ok(()) };
        let there = fs::read(path).map_err(|error| error.to_string())?;
        let found = memchr::memmem::find(&there, new.as_bytes()).is_some();
        if found { Ok(()) } else { Err("wrong: the file is not patched".to_owned()) }
    };
    let mut row =
        Row::new(format!("Patch in {}", size(bytes)), Unit::Millis, bench.served(rounds, only, &work, &check, &[]));
    let ours = median_of(&row, RELAXED);
    row.judge("under 5 ms (durability process)", ours, " ms", |ms| ms < 5.0);
    Ok(row)
}

/// The first visit of a large file, and later ones.
pub fn deep_range(bench: &Bench, bytes: u64, rounds: usize, only: &dyn Fn(&str) -> bool) -> io::Result<(Row, Row)> {
    let folder = bench.root.join(format!("long-{bytes}"));
    data::long(&folder, bytes)?;
    let path = folder.join("long.txt").to_string_lossy().into_owned();
    let lines = bytes / 101;
    let check = |work: &Work, answer: &[u8]| {
        let Work::Lines { first, .. } = work else { return Ok(()) };
        let number = |line: u64| format!("{line:08} ");
        let there = |line: u64| memchr::memmem::find(answer, number(line).as_bytes()).is_some();
        match (there(*first) && there(first + 9), there(first - 1)) {
            (true, false) => Ok(()),
            (true, true) => Err("wrong: more lines than asked for".to_owned()),
            _ => Err("wrong: other lines, or none".to_owned()),
        }
    };
    let mut first_visits = Vec::new();
    let mut later_visits = Vec::new();
    for contestant in bench.contestants.iter().filter(|contestant| only(contestant.name)) {
        first_visits.push(Score::new(contestant.name));
        later_visits.push(Score::new(contestant.name));
    }
    let mut sed = Score::new("sed -n");
    let mut sed_later = Score::new("sed -n");
    for round in 0..=rounds {
        let at = lines * 9 / 10 + 1000 * round as u64;
        let mut n = 0;
        for contestant in bench.contestants.iter().filter(|contestant| only(contestant.name)) {
            let (one, later) = (&mut first_visits[n], &mut later_visits[n]);
            n += 1;
            if one.trouble.is_some() {
                continue;
            }
            let go = || -> Result<(f64, f64, u64), String> {
                let work = |first| Work::Lines { path: path.clone(), first };
                if (contestant.ask)(&work(at)).is_none() {
                    return Err("has no tool for it".to_owned());
                }
                let mut server = Server::start(&contestant.command).map_err(|error| error.to_string())?;
                ready(&mut server)?;
                server.reset_peak();
                let once = perform(&mut server, contestant, &work(at), &check)?;
                let again = perform(&mut server, contestant, &work(at - 3000), &check)?;
                Ok((millis(once), millis(again), server.memory().1))
            };
            match go() {
                Ok((once, again, peak)) => {
                    if round > 0 {
                        one.samples.push(once);
                        later.samples.push(again);
                        one.peak_kib = Some(peak.max(one.peak_kib.unwrap_or(0)));
                        later.peak_kib = one.peak_kib;
                    }
                }
                Err(trouble) => {
                    one.trouble = Some(trouble.clone());
                    later.trouble = Some(trouble);
                }
            }
        }
        for (score, at) in [(&mut sed, at), (&mut sed_later, at - 3000)] {
            let command = ["sed".to_owned(), "-n".to_owned(), format!("{at},{}p;{}q", at + 9, at + 9), path.clone()];
            if let (Ok((took, _)), true) = (run(&command, None), round > 0) {
                score.samples.push(millis(took));
            }
        }
    }
    first_visits.push(sed);
    later_visits.push(sed_later);
    let size = size(bytes);
    let mut one = Row::new(format!("Ten lines deep in {size}, first visit"), Unit::Millis, first_visits);
    let ratio = one.ratio(OURS, "sed -n");
    one.judge("faster than sed -n", ratio, " times", |ratio| ratio < 1.0);
    let peak = one.of(OURS).and_then(|score| score.peak_kib).map(|kib| kib as f64 / 1024.0);
    one.judge("in under 16 MB", peak, " MiB", |mib| mib < 16.0);
    let mut later = Row::new(format!("Ten lines deep in {size}, later visits"), Unit::Millis, later_visits);
    let ratio = median_of(&later, OURS).zip(median_of(&one, OURS)).map(|(later, first)| later / first);
    later.judge("faster than the first visit", ratio, " of it", |ratio| ratio < 1.0);
    Ok((one, later))
}

pub fn write(bench: &Bench, bytes: u64, rounds: usize, only: &dyn Fn(&str) -> bool) -> io::Result<Row> {
    let folder = bench.root.join("write");
    fresh(&folder)?;
    let content = Words::new(11).text(bytes as usize);
    let source = folder.join("source");
    fs::File::create(&source)?.write_all(content.as_bytes())?;
    // Each round writes other bytes: what is kept once is not written twice.
    let work = |who: &str, round: usize| Work::Write {
        path: folder.join(format!("{round}-{}", file_of(who))).to_string_lossy().into_owned(),
        content: format!("{round:08}{who:.8}{}", &content[16..]),
    };
    let check = |work: &Work, _: &[u8]| {
        let Work::Write { path, content } = work else { return Ok(()) };
        let there = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let _ = fs::remove_file(path);
        if there == content.len() as u64 { Ok(()) } else { Err(format!("wrong: {there} bytes are there")) }
    };
    let of = format!("of={}", folder.join("dd").display());
    let from = format!("if={}", source.display());
    let dd = Program::new("dd conv=fsync", &["dd", &from, &of, "bs=1M", "conv=fsync", "status=none"]);
    let mut row =
        Row::new(format!("Write of {}", size(bytes)), Unit::Millis, bench.served(rounds, only, &work, &check, &[dd]));
    row.remark(
        "Write: where dd flushes one file, a change flushes the file, the log of calls, the record of what takes it back, and \
         their folders, one after the other; the text is also kept with the log. That is what makes it outlive a loss of power \
         and be undone.",
    );
    let ratio = row.ratio(OURS, "dd conv=fsync");
    row.judge("within 2 times dd conv=fsync", ratio, " times", |ratio| ratio <= 2.0);
    let lives = row.of(OURS).is_some_and(|score| score.trouble.is_none());
    row.judge("no cap ends the process", Some(f64::from(u8::from(!lives))), " ends", |ends| ends == 0.0);
    Ok(row)
}

pub fn list(bench: &Bench, count: usize, rounds: usize, only: &dyn Fn(&str) -> bool) -> io::Result<Row> {
    let folder = bench.root.join(format!("flat-{count}"));
    data::flat(&folder, count)?;
    let path = folder.to_string_lossy().into_owned();
    let work = |_: &str, _: usize| Work::List { path: path.clone() };
    // An answer may stop at ten thousand entries if it says so.
    let last = format!("entry{:06}.txt", count.min(10_000) - 1);
    let check = |_: &Work, answer: &[u8]| names_all(answer, ["entry000000.txt", last.as_str()]);
    let ls = Program::new("ls -l", &["ls", "-l", &path]);
    let mut row = Row::new(
        format!("List {} entries", thousands(count)),
        Unit::Millis,
        bench.served(rounds, only, &work, &check, &[ls]),
    );
    let ratio = row.ratio(OURS, "ls -l");
    row.judge("within 1.5 times ls -l", ratio, " times", |ratio| ratio <= 1.5);
    Ok(row)
}

fn hits(count: usize) -> Vec<String> {
    let every = (count / HITS).max(1);
    (0..HITS).map(|n| format!("file{}target.rs", n * every + every / 2)).collect()
}

pub fn search(bench: &Bench, count: usize, rounds: usize, only: &dyn Fn(&str) -> bool) -> io::Result<Row> {
    let folder = bench.root.join(format!("tree-{count}"));
    data::tree(&folder, count)?;
    let path = folder.to_string_lossy().into_owned();
    let work = |_: &str, _: usize| Work::Search { path: path.clone(), text: NEEDLE.to_owned() };
    let names = hits(count);
    let check = |_: &Work, answer: &[u8]| names_all(answer, names.iter().map(String::as_str));
    let rg = bench.ripgrep.as_ref().map(|rg| Program::new("rg", &[rg, "-n", "-F", NEEDLE, &path]));
    let floors: Vec<_> = rg.into_iter().collect();
    let mut row = Row::new(
        format!("Search {} files", thousands(count)),
        Unit::Millis,
        bench.served(rounds, only, &work, &check, &floors),
    );
    let ratio = row.ratio(OURS, "rg");
    row.judge("within 1.1 times rg", ratio, " times", |ratio| ratio <= 1.1);
    Ok(row)
}

pub fn find(bench: &Bench, count: usize, rounds: usize, only: &dyn Fn(&str) -> bool) -> io::Result<Row> {
    let folder = bench.root.join(format!("tree-{count}"));
    data::tree(&folder, count)?;
    let path = folder.to_string_lossy().into_owned();
    let work = |_: &str, _: usize| Work::Find { path: path.clone(), part: "target".to_owned() };
    let names = hits(count);
    let check = |_: &Work, answer: &[u8]| names_all(answer, names.iter().map(String::as_str));
    let find = Program::new("find", &["find", &path, "-name", "*target*"]);
    let mut row = Row::new(
        format!("Find in {} files", thousands(count)),
        Unit::Millis,
        bench.served(rounds, only, &work, &check, &[find]),
    );
    let ratio = row.ratio(OURS, "find");
    row.judge("within 1.2 times find", ratio, " times", |ratio| ratio <= 1.2);
    Ok(row)
}

/// A process for one call, on a workspace of so many bytes.
pub fn one_shot(bench: &Bench, bytes: u64, rounds: usize) -> io::Result<Row> {
    let text = Words::new(13).text(bytes as usize);
    let document =
        json!({"op": "dispatch", "workspace": {"a.rs": text}, "call": {"tool": "read_file", "args": {"path": "a.rs"}}})
            .to_string();
    let commands = [
        (OURS, [bench.toolgate.to_string_lossy().into_owned(), "dispatch".to_owned()]),
        ("a bare program", [bench.floor.to_string_lossy().into_owned(), "dispatch".to_owned()]),
    ];
    let mut scores: Vec<_> = commands.iter().map(|(who, _)| Score::new(who)).collect();
    for round in 0..=rounds * 4 {
        for ((_, command), score) in commands.iter().zip(&mut scores) {
            let (took, output) = run(command, Some(document.as_bytes()))?;
            if memchr::memmem::find(&output, b"\"status\":\"ok\"").is_none() {
                score.trouble = Some("wrong: no answer".to_owned());
            } else if round > 0 {
                score.samples.push(millis(took));
            }
        }
    }
    let mut row = Row::new(format!("One-shot dispatch, {} of files", size(bytes)), Unit::Millis, scores);
    let ratio = row.ratio(OURS, "a bare program");
    row.judge("within 2 times a bare program", ratio, " times", |ratio| ratio <= 2.0);
    Ok(row)
}

fn file_of(who: &str) -> String {
    let name: String = who.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{name}.rs")
}

pub fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1000 * MIB => format!("{} GB", short(b as f64 / (1000 * MIB) as f64).trim_end_matches(".00")),
        b if b >= MIB => format!("{} MB", b / MIB),
        b if b >= KIB => format!("{} KB", b / KIB),
        b => format!("{b} B"),
    }
}

pub fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
