//! What code mode was asked to be, sentence by sentence: which test holds it, or what is different here and why.

use std::fs;
use std::path::{Path, PathBuf};

/// How a sentence stands.
enum Stands {
    /// These tests hold it.
    Held(&'static [&'static str]),
    /// It is different, for this reason; these tests hold what is there instead.
    Otherwise(&'static str, &'static [&'static str]),
}

use Stands::{Held, Otherwise};

const SENTENCES: &[(&str, Stands)] = &[
    (
        "mode: native | code | both",
        Held(&[
            "each_mode_lists_what_a_client_calls_itself",
            "the_configuration_names_a_mode_and_the_command_line_stands_over_it",
        ]),
    ),
    (
        "'code' contributes exactly one wire tool, run_code",
        Held(&["each_mode_lists_what_a_client_calls_itself", "a_model_behind_anthropics_api_writes_a_program"]),
    ),
    (
        "plus a lazy tools:sdk prompt section declaring every other tool as a generated TypeScript API",
        Otherwise(
            "MCP has no section of a system prompt that a server could fill, so the declarations are run_code's description as far \
             as 6 KB hold them; all of them are the resource toolgate://sdk.d.ts, the prompt tools_sdk and tools.describe(name)",
            &[
                "run_code_says_how_and_what_in_a_few_kilobytes",
                "a_resource_holds_all_declarations",
                "a_prompt_holds_them_with_how_programs_are_written",
                "a_name_is_looked_up_in_the_documentation",
            ],
        ),
    ),
    (
        "jsonSchemaToTs: total over the defineTool subset, unknown degradation",
        Otherwise(
            "total over all of JSON Schema, since tools of an embedder are declared too",
            &[
                "every_keyword_says_what_typescript_can_say",
                "what_refers_to_itself_gets_a_name",
                "types_of_random_schemas",
            ],
        ),
    ),
    ("lexicographic byte-identical rendering", Held(&["the_order_of_registration_does_not_matter"])),
    (
        "'both' ships both representations",
        Held(&["each_mode_lists_what_a_client_calls_itself", "a_scripted_model_works_in_both_modes"]),
    ),
    (
        "'native' is byte-for-byte the old behavior",
        Held(&["native_mode_is_byte_for_byte_what_it_is_without_one", "nothing_of_it_is_there_in_native_mode"]),
    ),
    (
        "non-native modes fail every assembly loudly without a runtime",
        Held(&["no_working_runtime_is_a_loud_failure_at_the_start"]),
    ),
    (
        "JSON-normalizes each binding argument before dispatch; BigInt/circulars reject that one call",
        Held(&["values_cross_without_loss_or_not_at_all"]),
    ),
    (
        "what dispatches is what the tool/code-dispatch event logs",
        Held(&["hooks_see_the_program_and_every_call_of_it", "a_scripted_model_works_in_both_modes"]),
    ),
    (
        "serializes all program tool calls through a per-run queue (even Promise.all)",
        Otherwise(
            "there is concurrency-safety metadata here: a tool says what it does to the world. All start in the order in which they \
             were made; those that only read overlap, those that change something run alone",
            &["calls_begin_in_order_and_changes_happen_alone", "many_calls_at_once_are_all_answered"],
        ),
    ),
    (
        "routes every sub-call through tools/pre-execute and tools/post-execute",
        Held(&["hooks_see_the_program_and_every_call_of_it", "rules_about_programs_hold_in_every_mode"]),
    ),
    ("a deny rejects the program-side promise", Held(&["a_denial_rejects_the_promise_and_the_tool_never_runs"])),
    (
        "drops sub-call additionalContext (no safe outlet mid-run; pinned)",
        Held(&["hooks_see_the_program_and_every_call_of_it"]),
    ),
    (
        "owns a run-scoped abort that follows the outer signal in and fires on settlement",
        Held(&["a_run_that_is_taken_back_ends", "nothing_happens_after_the_answer"]),
    ),
    (
        "in-flight sub-dispatch aborted, queued abandoned, queue drained before returning",
        Held(&["nothing_happens_after_the_answer", "nothing_is_left_over_of_a_run"]),
    ),
    (
        "converts a failed run into a structured isError carrying kind + captured logs",
        Held(&[
            "a_failure_names_its_kind_its_place_and_what_was_wrong",
            "what_was_printed_and_done_before_a_failure_is_told",
            "each_failure_names_the_limit_and_where_it_is_set",
        ]),
    ),
    (
        "tool/code-dispatch is log-only; what the model sees ignores it",
        Held(&["a_scripted_model_works_in_both_modes", "the_committed_schemas_are_what_the_code_generates"]),
    ),
    (
        "the composed surface: the tools config forwards through agent-core and both app packages",
        Otherwise(
            "there is one program: the mode is in toolgate.toml, on the command line and in the library",
            &[
                "the_configuration_names_a_mode_and_the_command_line_stands_over_it",
                "the_library_runs_programs_in_a_toolgate_that_it_is_told_of",
                "a_repository_that_nobody_trusts_cannot_turn_it_on",
            ],
        ),
    ),
    (
        "examples/code-agent: a keyless boot, and with a key the collapsed header, the dispatch events, and the file the program wrote",
        Otherwise(
            "no test has a key: a server that speaks as the model's does takes its place",
            &[
                "a_scripted_model_works_in_both_modes",
                "a_model_behind_anthropics_api_writes_a_program",
                "a_model_behind_openais_api_mends_its_program",
            ],
        ),
    ),
    (
        "snapshots record the SDK section, collapsed header, dispatch events, and result card, for each mode",
        Held(&["a_scripted_model_works_in_both_modes", "run_code_says_how_and_what_in_a_few_kilobytes"]),
    ),
    (
        "code mode rides the same pipeline twice: run_code is itself a registered tool, and each call of its program re-enters it",
        Held(&[
            "hooks_see_the_program_and_every_call_of_it",
            "a_rule_about_the_program_and_one_about_its_call_are_two_questions",
        ]),
    ),
    (
        "read-before-edit checks see file tools wherever they are called from",
        Held(&["a_program_has_to_read_before_it_overwrites_and_its_reads_count"]),
    ),
    ("catalogs and schemas are generated", Held(&["the_committed_schemas_are_what_the_code_generates"])),
];

fn read_all(folder: &Path, text: &mut String) {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_all(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).expect("a text"));
        }
    }
}

#[test]
fn every_sentence_is_held_by_tests_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    read_all(&root.join("tests/suite"), &mut text);
    read_all(&root.join("src/code"), &mut text);
    let missing: Vec<_> = SENTENCES
        .iter()
        .flat_map(|(sentence, stands)| {
            let tests = match stands {
                Held(tests) => tests,
                Otherwise(reason, tests) => {
                    assert!(!reason.is_empty(), "{sentence}");
                    tests
                }
            };
            assert!(!tests.is_empty(), "{sentence}");
            tests
                .iter()
                .filter(|test| !text.contains(&format!("#[test]\nfn {test}()")))
                .map(move |test| (sentence, test))
        })
        .collect();
    assert!(missing.is_empty(), "there are no such tests: {missing:#?}");
}
