//! Pages of texts that come in any chunks.

use proptest::prelude::*;

use super::*;

const NO_LIMIT: PageLimits = PageLimits { lines: u64::MAX, bytes: usize::MAX };

fn range(start: u64, end: impl Into<Option<u64>>) -> LineRange {
    LineRange { start, end: end.into(), offset: 0 }
}

fn page_of(text: &[u8], range: LineRange, limits: PageLimits) -> Page {
    let mut pager = Pager::new(range, limits);
    pager.feed(text);
    pager.finish_at_end()
}

fn text(page: &Page) -> &str {
    str::from_utf8(&page.text).expect("whole characters")
}

#[test]
fn a_range_is_answered() {
    let cases: [(&str, LineRange, &str, u64, u64); 12] = [
        ("a\nb\n", range(1, None), "a\nb\n", 2, 2),
        ("a\nb", range(1, None), "a\nb", 2, 2),
        ("a\nb\n", range(2, None), "b\n", 2, 2),
        ("a\nb\nc\n", range(2, 2), "b\n", 2, 3),
        ("a\nb\n", range(3, None), "", 2, 2),
        ("a\nb\n", range(9, 12), "", 8, 2),
        ("a\nb\n", range(2, 1), "", 1, 2),
        ("a\nb\n", range(0, 1), "a\n", 1, 2),
        ("", range(1, None), "", 0, 0),
        ("\n", range(1, None), "\n", 1, 1),
        ("a\n\x0c\nb\nT\n", range(4, 4), "T\n", 4, 4),
        ("a\nb\rc\nT\n", range(3, 3), "T\n", 3, 3),
    ];
    for (input, range, expected, last_line, total) in cases {
        let page = page_of(input.as_bytes(), range, NO_LIMIT);
        assert_eq!(text(&page), expected, "{input:?} {range:?}");
        assert_eq!(page.first_line, range.start.max(1));
        assert_eq!(page.last_line, last_line, "{input:?} {range:?}");
        assert_eq!((page.next, page.clipped, page.total_lines), (None, false, Some(total)));
    }
}

/// The text, the limits of lines and bytes, the page, where it goes on, and whether that is inside a line.
type Cut = (&'static str, u64, usize, &'static str, Option<Resume>, bool);

#[test]
fn limits_cut_between_lines_where_they_can() {
    let cut = |line, offset| Some(Resume { line, offset });
    let cases: [Cut; 11] = [
        ("a\nb\nc\n", 2, 99, "a\nb\n", cut(3, 0), false),
        ("a\nb\n", 2, 99, "a\nb\n", None, false),
        ("a\nb\nc", 2, 99, "a\nb\n", cut(3, 0), false),
        ("abc\ndef\n", 9, 4, "abc\n", cut(2, 0), false),
        ("abc\ndef\n", 9, 7, "abc\n", cut(2, 0), false),
        ("abc\ndef\n", 9, 8, "abc\ndef\n", None, false),
        ("abc\ndef", 9, 7, "abc\ndef", None, false),
        ("abcdef\n", 9, 5, "abcde", cut(1, 5), true),
        ("日日日", 9, 8, "日日", cut(1, 6), true),
        ("日日日", 9, 7, "日日", cut(1, 6), true),
        ("日日", 0, 0, "日", cut(1, 3), true),
    ];
    for (input, lines, bytes, expected, next, clipped) in cases {
        let page = page_of(input.as_bytes(), range(1, None), PageLimits { lines, bytes });
        assert_eq!(text(&page), expected, "{input:?} {lines} {bytes}");
        assert_eq!((page.next, page.clipped), (next, clipped), "{input:?} {lines} {bytes}");
        assert_eq!(page.last_line, count_of(expected));
    }
}

fn count_of(text: &str) -> u64 {
    crate::text::lines::count(text.as_bytes())
}

#[test]
fn an_offset_stays_in_its_line_and_off_the_middle_of_a_character() {
    for (offset, expected, skipped) in
        [(0, "1日é\nz", 0), (1, "日é\nz", 1), (2, "日é\nz", 1), (3, "日é\nz", 1), (4, "é\nz", 4), (5, "é\nz", 4)]
    {
        for range in [LineRange { start: 1, end: None, offset }, LineRange { start: 2, end: None, offset }] {
            let input = if range.start == 1 { "1日é\nz".to_owned() } else { "x\n1日é\nz".to_owned() };
            let page = page_of(input.as_bytes(), range, NO_LIMIT);
            assert_eq!((text(&page), page.first_offset), (expected, skipped), "{range:?}");
        }
    }
    for offset in [6, 7, u64::MAX] {
        let page = page_of("1日é\nz".as_bytes(), LineRange { start: 1, end: None, offset }, NO_LIMIT);
        assert_eq!((text(&page), page.first_offset, page.first_line), ("\nz", 6, 1));
    }
    let past = page_of(b"abc", LineRange { start: 1, end: None, offset: 9 }, NO_LIMIT);
    assert_eq!((text(&past), past.last_line, past.total_lines), ("", 0, Some(1)));
}

#[test]
fn stopping_early_leaves_the_total_open() {
    let mut pager = Pager::new(range(1, 1), NO_LIMIT);
    assert_eq!(pager.feed(b"a\nb\nc"), Flow::Enough);
    let page = pager.finish();
    assert_eq!((text(&page), page.next, page.total_lines), ("a\n", None, None));

    // Before the page is complete, it is a page cut short.
    for (fed, expected, next) in [
        ("", "", Resume { line: 2, offset: 0 }),
        ("a\nb", "b", Resume { line: 2, offset: 1 }),
        ("a\nb\nc", "b\nc", Resume { line: 3, offset: 1 }),
        ("a\nb\n", "b\n", Resume { line: 3, offset: 0 }),
    ] {
        let mut pager = Pager::new(range(2, 9), NO_LIMIT);
        assert_eq!(pager.feed(fed.as_bytes()), Flow::More);
        let page = pager.finish();
        assert_eq!((text(&page), page.next), (expected, Some(next)), "{fed:?}");
    }
}

#[test]
fn enough_is_said_as_soon_as_it_is_known() {
    let mut pager = Pager::new(range(1, 2), NO_LIMIT);
    assert_eq!(pager.feed(b"a\nb"), Flow::More);
    assert_eq!(pager.feed(b"\n"), Flow::Enough);
    let mut pager = Pager::new(range(1, None), PageLimits { lines: 1, bytes: 99 });
    assert_eq!(pager.feed(b"a\n"), Flow::More);
    assert_eq!(pager.feed(b"b"), Flow::Enough);
    assert_eq!(Pager::new(range(5, 4), NO_LIMIT).feed(b"a"), Flow::Enough);
}

#[test]
fn deep_lines_are_found_across_blocks() {
    let long: Vec<u8> = (1..=50_000).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
    for line in [1, 2, 1_500, 1_501, 16_384, 49_999, 50_000] {
        let page = page_of(&long, range(line, line), NO_LIMIT);
        assert_eq!(text(&page), format!("line {line}\n"));
        assert_eq!(page.total_lines, Some(50_000));
    }
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "([ab日é𝄞\r]{0,9}\n?){0,20}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..80),
    ]
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        input in any_text(),
        cuts in proptest::collection::vec(0usize..200, 0..9),
        start in 0u64..9,
        len in proptest::option::of(0u64..6),
        offset in prop_oneof![Just(0), 0u64..30, Just(u64::MAX)],
        lines in prop_oneof![0u64..6, Just(u64::MAX)],
        bytes in prop_oneof![0usize..40, Just(usize::MAX)],
    ) {
        let range = LineRange { start, end: len.map(|len| start + len), offset };
        let limits = PageLimits { lines, bytes };
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
        cuts.sort_unstable();
        let mut pager = Pager::new(range, limits);
        let mut from = 0;
        for cut in cuts {
            pager.feed(&input[from..cut]);
            from = cut;
        }
        pager.feed(&input[from..]);
        let page = pager.finish_at_end();
        prop_assert!(page.text.len() <= bytes.max(4));
        prop_assert_eq!(page.total_lines, Some(crate::text::lines::count(&input)));
        prop_assert_eq!(page, page_of(&input, range, limits));
    }

    #[test]
    fn a_text_may_begin_at_any_line_before_the_range(
        input in any_text(),
        from in 0u64..9,
        start in 0u64..9,
        len in proptest::option::of(0u64..6),
        offset in prop_oneof![Just(0), 0u64..30],
    ) {
        let range = LineRange { start, end: len.map(|len| start + len), offset };
        let limits = PageLimits { lines: 3, bytes: 40 };
        let ends: Vec<_> = memchr_iter(b'\n', &input).map(|end| end + 1).collect();
        let from = from.min(ends.len() as u64).min(start.saturating_sub(1));
        let skipped = from.checked_sub(1).map_or(0, |last| ends[last as usize]);
        let mut pager = Pager::from_line(from + 1, range, limits);
        prop_assert_eq!(pager.line_ends(), from);
        pager.feed(&input[skipped..]);
        let page = page_of(&input, range, limits);
        // Where nothing is left to feed, nobody knows whether the last line has an end.
        if skipped < input.len() || input.is_empty() {
            prop_assert_eq!(pager.finish_at_end(), page);
        }
    }

    #[test]
    fn pages_joined_are_the_file(input in any_text(), lines in 1u64..5, bytes in 0usize..30) {
        let mut joined = Vec::new();
        let mut range = LineRange::ALL;
        loop {
            let page = page_of(&input, range, PageLimits { lines, bytes });
            prop_assert_eq!(page.first_offset, range.offset);
            if let Ok(whole) = str::from_utf8(&input) {
                prop_assert!(whole.is_char_boundary(joined.len()));
            }
            joined.extend_from_slice(&page.text);
            let Some(next) = page.next else { break };
            prop_assert!(!page.text.is_empty());
            range = LineRange { start: next.line, end: None, offset: next.offset };
        }
        prop_assert_eq!(joined, input);
    }

    #[test]
    fn a_range_is_the_lines_it_names(input in "([a日\r]{0,5}\n?){0,20}", start in 1u64..9, len in 0u64..9) {
        let page = page_of(input.as_bytes(), range(start, start + len), NO_LIMIT);
        let lines = input.split_inclusive('\n').skip(start as usize - 1).take(len as usize + 1);
        prop_assert_eq!(text(&page), lines.collect::<String>());
    }
}
