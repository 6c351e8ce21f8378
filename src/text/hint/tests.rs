//! Which place is shown for a text that was not found, and what is said to differ.

use proptest::prelude::*;

use super::Difference::*;
use super::*;

/// What is tried, the haystack, the text that is not in it, the lines of the place, and in what it differs.
type Case = (&'static str, &'static str, &'static str, u64, u64, &'static [Difference]);

#[test]
fn each_difference_is_told_alone() {
    let cases: [Case; 38] = [
        ("trailing space in the file", "let a = 1;  \nlet b = 2;\n", "let a = 1;\nlet b = 2;", 1, 2, &[TrailingSpace]),
        ("trailing space in old", "let a = 1;\nlet b = 2;\n", "let a = 1; \nlet b = 2;", 1, 2, &[TrailingSpace]),
        ("trailing tab at the very end", "let a = 1;\nlet b = 2;\n", "let b = 2;\t", 2, 2, &[TrailingSpace]),
        ("trailing space before CRLF", "let a;  \r\nlet b;\r\n", "let a;\r\nlet b;", 1, 2, &[TrailingSpace]),
        ("a blank line that holds blanks", "one;\n    \ntwo;\n", "one;\n\ntwo;", 1, 3, &[TrailingSpace]),
        ("deeper", "if x {\n    go();\n}\n", "if x {\n  go();\n}", 1, 3, &[Indentation]),
        ("deeper in old", "if x {\n  go();\n}\n", "    go();", 2, 2, &[Indentation]),
        ("only the second line", "    if x {\n        go();\n", "    if x {\n      go();\n", 1, 2, &[Indentation]),
        ("tab for spaces", "if x {\n\tgo();\n}\n", "if x {\n    go();\n}", 1, 3, &[TabsAndSpaces]),
        ("tab between words", "name\tvalue\n", "name value", 1, 1, &[TabsAndSpaces]),
        ("number of spaces between words", "x   = 1;\n", "x = 1;", 1, 1, &[TabsAndSpaces]),
        ("CRLF in the file", "one\r\ntwo\r\n", "one\ntwo\n", 1, 2, &[CarriageReturn]),
        ("CRLF in old", "one\ntwo\n", "one\r\ntwo", 1, 2, &[CarriageReturn]),
        ("decomposed in the file", "cafe\u{301}\nx\n", "caf\u{e9}", 1, 1, &[UnicodeForm]),
        ("decomposed in old", "x\ncaf\u{e9}\n", "cafe\u{301}", 2, 2, &[UnicodeForm]),
        ("full width", "call\u{ff08}x\u{ff09}\n", "call(x)", 1, 1, &[UnicodeForm]),
        ("ligature", "\u{fb01}nd me\n", "find me", 1, 1, &[UnicodeForm]),
        ("curly quotes in the file", "say \u{201c}hi\u{201d} now\n", "say \"hi\" now", 1, 1, &[Quotes]),
        ("curly quotes in old", "it's fine\n", "it\u{2019}s fine", 1, 1, &[Quotes]),
        ("dash", "from 1\u{2013}2\n", "from 1-2", 1, 1, &[Quotes]),
        ("no-break space", "a\u{a0}word here\n", "a word here", 1, 1, &[InvisibleSpace]),
        ("zero width", "fo\u{200b}obar\n", "foobar", 1, 1, &[InvisibleSpace]),
        ("mark inside the file", "one\n\u{feff}two;\nx\n", "one\ntwo;", 1, 2, &[InvisibleSpace]),
        ("case", "Let X = 1;\n", "let x = 1;", 1, 1, &[Case]),
        ("case beyond ASCII", "ÉCOLE\n", "école", 1, 1, &[Case]),
        ("line number", "a\nlet x = 1;\n", "2: let x = 1;", 2, 2, &[LineNumbers]),
        ("line numbers", "if x {\n  go();\n}\n", "1: if x {\n2:   go();\n3: }", 1, 3, &[LineNumbers]),
        (
            "line numbers of another view",
            "if x {\n  go();\n}\n",
            "     1→if x {\n     2→  go();\n",
            1,
            2,
            &[LineNumbers],
        ),
        ("line numbers of cat -n", "if x {\n  go();\n}\n", "     1\tif x {\n     2\t  go();\n", 1, 2, &[LineNumbers]),
        ("line number before a blank line", "one();\n\ntwo();\n", "1: one();\n2: \n3: two();", 1, 3, &[LineNumbers]),
        ("blank line more in the file", "one();\n\ntwo();\n", "one();\ntwo();", 1, 3, &[BlankLines]),
        ("blank line more in old", "one();\ntwo();\n", "one();\n\n\ntwo();", 1, 2, &[BlankLines]),
        ("line end at the end of the file", "one();\ntwo();", "two();\n", 2, 2, &[BlankLines]),
        ("broken elsewhere", "call(one,\n     two)\n", "call(one, two)", 1, 2, &[LineBreaks]),
        ("escaped line end in old", "one();\ntwo();\n", "one();\\ntwo();", 1, 2, &[Escapes]),
        ("escaped quote in old", "say(\"hi\");\n", "say(\\\"hi\\\");", 1, 1, &[Escapes]),
        ("escapes in the file", "s = \"a\\nb\";\n", "s = \"a\nb\";", 1, 1, &[Escapes]),
        ("entity in old", "if a < b && c {\n", "if a &lt; b &amp;&amp; c {", 1, 1, &[Escapes]),
    ];
    for (what, haystack, old, first, last, differs) in cases {
        let near = nearest(haystack, old).unwrap_or_else(|| panic!("{what}: nothing near"));
        assert_eq!((near.first_line, near.last_line, &near.differs[..]), (first, last, differs), "{what}");
        let lines = haystack.split_inclusive('\n').skip(first as usize - 1).take((last - first + 1) as usize);
        assert_eq!(near.text, lines.collect::<String>(), "{what}");
    }
}

#[test]
fn differences_add_up() {
    let cases: [(&str, &str, &[Difference]); 8] = [
        ("\tgo( x );\r\n\tend;\r\n", "    go( x );\n    end;\n", &[TabsAndSpaces, CarriageReturn]),
        ("if x { \n\tgo();\n}\n", "if x {\n    go();\n}", &[TrailingSpace, TabsAndSpaces]),
        ("say \u{201c}Hi\u{201d}  \nx\n", "say \"hi\"\nx", &[TrailingSpace, Quotes, Case]),
        ("a\u{a0}b c\u{2019}d\n", "a b c'd", &[Quotes, InvisibleSpace]),
        ("    go();\n    end();\n", "1:   go();\n2:   end();", &[Indentation, LineNumbers]),
        ("one();\r\n\r\ntwo();\r\n", "one();\ntwo();", &[CarriageReturn, BlankLines]),
        ("if x {\n\n    go();\n}\n", "if x {\n  go();\n}", &[Indentation, BlankLines]),
        ("cafe\u{301} \u{ab}x\u{bb}\n", "caf\u{e9} \"x\"", &[UnicodeForm, Quotes]),
    ];
    for (haystack, old, differs) in cases {
        let near = nearest(haystack, old).unwrap_or_else(|| panic!("{old:?}: nothing near"));
        assert_eq!(near.differs, differs, "{haystack:?} {old:?}");
    }
}

#[test]
fn the_place_with_the_fewest_differences_is_shown() {
    let near = nearest("\tLET X = 1;\n\tlet x = 1;\n", "    let x = 1;").expect("a near place");
    assert_eq!((near.first_line, near.differs), (2, vec![TabsAndSpaces]));
}

#[test]
fn other_words_are_found_by_their_likeness() {
    let haystack = "\
fn alpha(input: &str) -> usize {
    let total = input.len();
    total + 1
}

fn beta(input: &str) -> usize {
    let total = input.chars().count();
    total + 2
}
";
    let cases = [
        // One line of several is other.
        ("fn beta(input: &str) -> usize {\n    let total = input.bytes().count();\n    total + 2\n}", 6, 9),
        // One line, a word misspelt.
        ("    let total = inptu.chars().count();", 7, 7),
        // Lines are missing, or too many.
        ("fn alpha(input: &str) -> usize {\n    total + 1\n}", 1, 4),
        ("fn alpha(input: &str) -> usize {\n    let total = input.len();\n    check(total);\n    total + 1\n}", 1, 4),
        // A part of a line.
        ("total = input.char_indices().count()", 7, 7),
    ];
    for (old, first, last) in cases {
        let near = nearest(haystack, old).unwrap_or_else(|| panic!("{old:?}: nothing near"));
        assert_eq!((near.first_line, near.last_line), (first, last), "{old:?}");
        assert_eq!(near.differs, [Words], "{old:?}");
    }
}

#[test]
fn beside_other_words_the_rest_is_told_too() {
    let haystack = "fn go() {\r\n\tfirst_step();\r\n\tsecond_step();\r\n}\r\n";
    let near = nearest(haystack, "fn go() {\n    first_step();\n    third_step();\n}\n").expect("a near place");
    assert_eq!(near.differs, [TabsAndSpaces, CarriageReturn, Words]);
    let near = nearest(haystack, "1: fn go() {\r\n2: \tfirst_step();\r\n3: \tlast_step();\r\n").expect("a near place");
    assert_eq!((near.first_line, near.last_line, near.differs), (1, 3, vec![LineNumbers, Words]));
}

#[test]
fn bridged_line_endings_are_no_difference() {
    let haystack = "\tgo();\r\n\tend();\r\n";
    let differs = |old, eol| nearest_with_eol(haystack, old, eol).map(|near| near.differs);
    assert_eq!(differs("  go();\n  end();\n", Eol::Exact), Some(vec![TabsAndSpaces, CarriageReturn]));
    assert_eq!(differs("  go();\n  end();\n", Eol::Bridged), Some(vec![TabsAndSpaces]));
    assert_eq!(differs("  go();\r\r\n  end();\n", Eol::Bridged), Some(vec![TabsAndSpaces, CarriageReturn]));
    assert_eq!(differs("\tgo();\n\tstop_it();\n", Eol::Bridged), Some(vec![Words]));
}

#[test]
fn what_is_not_near_is_not_shown() {
    let cases = [
        ("x\n", "zzz"),
        ("", "abc"),
        ("abc\n", ""),
        ("abc\n", " \n\t"),
        ("fn main() {\n    println!(\"hello\");\n}\n", "class Account(Base):\n    balance = 0\n"),
        ("import os\nimport sys\n\nprint(os.getcwd())\n", "SELECT name FROM users WHERE id = 1;"),
        ("}\n}\n}\n}\n", "} }"),
        ("let a = compute(b);\n", "return Err(NotFound);"),
        // It is there: no near miss.
        ("abc\n", "abc"),
    ];
    for (haystack, old) in cases {
        assert_eq!(nearest(haystack, old), None, "{haystack:?} {old:?}");
    }
}

#[test]
fn a_long_place_is_cut_between_characters() {
    let haystack = format!("a{}\n", "日".repeat(5000));
    let near = nearest(&haystack, &format!("A{}", "日".repeat(5000))).expect("a near place");
    assert_eq!((near.text.len(), near.differs), (2047, vec![Case]));
}

#[test]
fn every_difference_reads_well() {
    let all = [
        TrailingSpace,
        Indentation,
        TabsAndSpaces,
        CarriageReturn,
        UnicodeForm,
        Quotes,
        InvisibleSpace,
        Case,
        LineNumbers,
        BlankLines,
        LineBreaks,
        Escapes,
        Words,
    ];
    let told: std::collections::HashSet<&str> = all.iter().map(Difference::describe).collect();
    assert_eq!(told.len(), all.len());
}

proptest! {
    #[test]
    fn any_texts_are_compared_without_fault(
        haystack in "[aB\\\\n&l;t \t\r\n\u{301}é\u{a0}“\u{200b}\u{fb01}日0-3:]{0,60}",
        old in "[aB\\\\n&l;t \t\r\n\u{301}é\u{a0}“\u{200b}\u{fb01}日0-3:]{0,20}",
    ) {
        if let Some(near) = nearest(&haystack, &old) {
            prop_assert!(near.first_line >= 1 && near.first_line <= near.last_line);
            prop_assert!(near.last_line <= crate::text::lines::count(haystack.as_bytes()).max(1));
            prop_assert!(!near.differs.is_empty());
            prop_assert!(haystack.contains(&near.text));
        }
    }

    #[test]
    fn blanks_that_were_changed_are_seen_as_blanks(
        lines in proptest::collection::vec("( {0,4}|\t)[a-z]{4,8}\\(\\);", 1..6),
        at in 0usize..6,
        blank in prop_oneof![Just("  "), Just("\t")],
    ) {
        let at = at % lines.len();
        let haystack = lines.join("\n");
        let mut changed = lines.clone();
        changed[at].push_str(blank);
        let near = nearest(&haystack, &changed.join("\n"));
        prop_assert_eq!(near.map(|near| near.differs), Some(vec![TrailingSpace]));
    }
}
