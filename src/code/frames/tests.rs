//! What a process that does not keep to the rules can say: all of it is found out, nothing of it is kept.

use super::*;

fn limits() -> Limits {
    Limits { log_bytes: 100, result_bytes: 100, call_bytes: 1000, ..Limits::default() }
}

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, kind, payload);
    bytes
}

fn heard(bytes: &[u8]) -> Result<Option<FromWorker>, Hostile> {
    let mut frames = Frames::new(limits());
    frames.add(bytes);
    frames.next()
}

#[test]
fn frames_are_cut_where_they_end_however_they_arrive() {
    let mut bytes = frame(LOG, b"one");
    bytes.extend(frame(CALL, br#"{"id":1,"tool":"read_file","arguments":{"path":"a"}}"#));
    bytes.extend(frame(VALUE, b""));
    let mut frames = Frames::new(limits());
    let mut heard = Vec::new();
    for byte in bytes {
        frames.add(&[byte]);
        while let Some(frame) = frames.next().expect("a frame") {
            heard.push(frame);
        }
    }
    let [FromWorker::Log(log), FromWorker::Call(call), FromWorker::Value(None)] = &heard[..] else {
        panic!("{heard:?}")
    };
    assert_eq!((log.as_str(), call.id, call.tool.as_str()), ("one", 1, "read_file"));
    assert_eq!(call.arguments["path"], "a");
}

#[test]
fn what_is_no_frame_is_found_out() {
    let deep = format!(r#"{{"id":1,"tool":"t","arguments":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    for (what, bytes) in [
        ("no kind", frame(b'X', b"")),
        ("what only the server says", frame(BEGIN, b"{}")),
        ("a result", frame(RESULT, b"{}")),
        ("too long a line", frame(LOG, &[b'a'; 101])),
        ("too long a value", frame(VALUE, &[b'1'; 101])),
        ("four gigabytes to come", [&[CALL][..], &u32::MAX.to_le_bytes()].concat()),
        ("no text", frame(LOG, b"\xff")),
        ("no JSON", frame(CALL, b"{")),
        ("half a call", frame(CALL, br#"{"id":1,"tool":"t"}"#)),
        ("more than a call", frame(CALL, br#"{"id":1,"tool":"t","arguments":{},"caller":"cli"}"#)),
        ("a negative id", frame(CALL, br#"{"id":-1,"tool":"t","arguments":{}}"#)),
        ("a key twice", frame(CALL, br#"{"id":1,"tool":"t","arguments":{"path":"a","path":"b"}}"#)),
        ("an id twice", frame(CALL, br#"{"id":1,"id":2,"tool":"t","arguments":{}}"#)),
        ("half a pair", frame(CALL, br#"{"id":1,"tool":"t","arguments":{"path":"\ud800"}}"#)),
        ("too deep", frame(CALL, deep.as_bytes())),
        (
            "too long a name",
            frame(
                CALL,
                format!(r#"{{"id":1,"tool":"{DESCRIBE}{}","arguments":{{}}}}"#, "a".repeat(LONGEST_NAME + 1))
                    .as_bytes(),
            ),
        ),
        (
            "too long a call",
            frame(CALL, format!(r#"{{"id":1,"tool":"t","arguments":["{}"]}}"#, "a".repeat(1000)).as_bytes()),
        ),
        (
            "too many values",
            frame(CALL, format!(r#"{{"id":1,"tool":"t","arguments":[0{}]}}"#, ",0".repeat(15)).as_bytes()),
        ),
        ("a value that is two", frame(VALUE, b"1 2")),
        ("a failure of no kind", frame(FAILED, br#"{"kind":"fun","message":""}"#)),
        ("a greeting with more", frame(HELLO, br#"{"version":"1","sandbox":{},"root":true}"#)),
    ] {
        assert!(heard(&bytes).is_err(), "{what}");
    }
}

#[test]
fn a_frame_that_is_not_whole_yet_is_waited_for() {
    for bytes in [&b""[..], b"L", b"L\x03\0\0\0ab"] {
        assert!(heard(bytes).expect("no fault").is_none());
    }
}

/// However its frames lie in what is read at a time, nothing is kept of those that were taken.
#[test]
fn what_was_taken_is_let_go_of() {
    let mut frames = Frames::new(limits());
    let call = frame(CALL, br#"{"id":1,"tool":"read_file","arguments":{"path":"a"}}"#);
    let stream: Vec<u8> = call.iter().copied().cycle().take(call.len() * 500).collect();
    // Never at the end of a frame.
    for (count, part) in stream.chunks(call.len()).enumerate() {
        let (first, second) = part.split_at(1);
        frames.add(first);
        while frames.next().expect("a frame").is_some() {}
        frames.add(second);
        if count % 2 == 0 {
            while frames.next().expect("a frame").is_some() {}
        }
        assert!(frames.buffer.len() <= call.len() * 6, "{} bytes are kept", frames.buffer.len());
    }
}
