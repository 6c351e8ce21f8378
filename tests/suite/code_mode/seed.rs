//! What code mode and the way of a call were asked to be, sentence by sentence: which test holds it, or what is different here and
//! why.

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

type Sentences = &'static [(&'static str, Stands)];

/// Code mode in a few words.
const OUTLINE: Sentences = &[
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

/// The way of every call, and so of those of a program.
const WAY: Sentences = &[
    (
        "tool/call is logged before execution, and tool/result is the single outcome that the model sees",
        Held(&["a_call_is_in_the_log_before_all_that_comes_of_it_and_its_result_is_the_last"]),
    ),
    (
        "pre-execute: hooks, permission, sandbox",
        Held(&[
            "hooks_and_questions_stand_between_a_call_and_its_result",
            "the_strictest_word_stands_whatever_the_order",
            "what_a_hook_makes_of_a_call_is_judged_as_if_it_had_been_called_so",
        ]),
    ),
    (
        "deny or ask: the tool body is skipped",
        Otherwise(
            "a person who is asked sees what would happen, so the tool has planned by then; it has changed nothing, since tools never do",
            &[
                "a_no_is_told_with_its_reason",
                "a_person_behind_a_stream_sees_what_would_happen_and_decides",
                "a_call_that_fails_tells_nothing_that_a_person_must_allow",
            ],
        ),
    ),
    (
        "what was denied passes the steps after a call too",
        Otherwise(
            "one that was not let in stays refused in the words of who refused it, which a hook afterwards could only cover up; what a \
             person denied, and what failed, passes them",
            &["what_failed_is_told_to_the_hooks_after_it_and_what_was_not_let_in_is_not"],
        ),
    ),
    (
        "write-intent and edit-intent stand before changes of files only",
        Held(&["what_was_never_read_is_not_overwritten", "what_git_runs_is_not_written"]),
    ),
    (
        "events of a tool's own: todo/write, fs/observed, hook/invoked, hook/result, tool/code-dispatch",
        Held(&[
            "a_call_is_in_the_log_before_all_that_comes_of_it_and_its_result_is_the_last",
            "hooks_and_questions_stand_between_a_call_and_its_result",
            "a_denial_rejects_the_promise_and_the_tool_never_runs",
        ]),
    ),
    (
        "post-execute: accept, block, replace, add context",
        Held(&[
            "a_block_after_a_change_says_that_it_was_made",
            "what_the_model_sees_can_be_replaced_wholly",
            "what_hooks_add_stands_by_itself",
            "what_hooks_do_after_a_call_of_a_program_is_told_to_the_program",
        ]),
    ),
    (
        "buffered additional context comes after all tool results",
        Otherwise(
            "MCP answers each call by itself, so what is added stands behind the result of its own call; within a program it has no \
             place at all",
            &[
                "in_a_batch_context_stands_behind_the_result_of_its_own_call",
                "hooks_see_the_program_and_every_call_of_it",
            ],
        ),
    ),
    (
        "a card while it is pending, and one when it is done",
        Held(&["the_result_says_in_one_line_what_was_done", "the_log_shows_calls_and_what_came_of_them"]),
    ),
    (
        "the same hooks observe all tools without coupling those to one policy service",
        Held(&[
            "hooks_see_the_program_and_every_call_of_it",
            "the_gate_stands_before_resources_too_and_the_log_knows_of_them",
        ]),
    ),
];

/// Code mode in all its parts.
const PARTS: Sentences = &[
    (
        "run_code is documented in full while that is short, else by an index, and the rest on demand",
        Held(&[
            "documentation_says_as_much_as_there_is_room_for",
            "programs_are_told_of_the_tools_that_there_are",
            "every_format_has_every_tool_and_is_the_same_at_each_run",
        ]),
    ),
    ("nothing in a description ends its comment or the fence around it", Held(&["nothing_that_is_said_breaks_out"])),
    (
        "a program is the body of an async function; fences and a bare function are understood",
        Held(&[
            "a_program_is_the_body_of_an_async_function",
            "fences_are_no_part_of_a_program_and_keep_their_lines",
            "a_function_is_called",
        ]),
    ),
    (
        "types are erased with positions kept, in the parent",
        Otherwise(
            "in the child: a parser goes as deep as what it reads, and there it costs the run and nothing else",
            &[
                "types_letters_and_fences_move_nothing",
                "types_become_blanks_and_everything_else_stays",
                "programs_before_and_after",
            ],
        ),
    ),
    (
        "enum, namespace and the like are refused with line and column before anything runs",
        Held(&[
            "what_is_code_and_no_type_is_refused_with_its_place",
            "a_failure_names_its_kind_its_place_and_what_was_wrong",
        ]),
    ),
    (
        "console is captured",
        Held(&["a_program_is_the_body_of_an_async_function", "everything_that_console_has_prints"]),
    ),
    (
        "a child process, the same binary, an empty environment, pipes only, rlimits, Landlock, seccomp",
        Held(&["the_process_is_confined_and_that_is_told", "nothing_is_left_over_of_a_run"]),
    ),
    ("killed at the deadline", Held(&["a_native_loop_ends_with_the_time_and_what_it_printed_is_kept"])),
    ("require_sandbox fails closed", Held(&["what_has_to_be_confined_and_is_not_does_not_run"])),
    (
        "each limit can be set, and a failure names it with its setting",
        Held(&["each_failure_names_the_limit_and_where_it_is_set"]),
    ),
    (
        "what a call is given is lossless JSON, or that one call is rejected",
        Held(&["values_cross_without_loss_or_not_at_all", "a_value_that_misleads_is_refused_with_its_reason"]),
    ),
    (
        "a deny rejects with ToolCallError {code, tool, message, details}",
        Held(&["a_tool_error_is_an_object_that_a_program_can_tell_apart"]),
    ),
    (
        "calls start in the order of submission; up to ten that read overlap, one that changes something runs alone",
        Held(&[
            "up_to_ten_that_look_overlap_and_one_that_changes_something_is_alone",
            "calls_begin_in_order_and_changes_happen_alone",
            "promises_combine_as_the_language_says",
        ]),
    ),
    (
        "who has to be asked is asked: over the stream while the run waits, or by parking the run",
        Held(&[
            "behind_a_stream_the_run_waits_for_the_person",
            "a_modern_request_is_answered_with_the_question_and_goes_on_when_it_comes_again",
            "a_tool_asks_in_the_middle_of_a_program_in_both_eras",
        ]),
    ),
    (
        "expired or lost is denied, and said so",
        Held(&[
            "a_run_whose_answer_does_not_come_ends_without_it",
            "a_run_does_not_outlive_its_server",
            "only_so_many_runs_are_parked",
            "one_caller_cannot_take_all_the_room",
        ]),
    ),
    ("waiting for a person does not count as run time", Held(&["waiting_for_a_person_is_no_run_time"])),
    (
        "a run answers only when nothing of it can happen any more",
        Held(&[
            "a_run_is_over_only_when_nothing_of_it_can_happen",
            "nothing_happens_after_the_answer",
            "a_run_that_is_taken_back_ends",
        ]),
    ),
    (
        "a call nobody awaited, a promise that never settles and an unhandled rejection are failures that say so",
        Held(&["nothing_is_left_unfinished_in_silence"]),
    ),
    (
        "the result: logs, the value, a line for each call that changed something; the same facts typed",
        Held(&["facts_stand_beside_the_text_and_in_structured_content", "a_scripted_model_works_in_both_modes"]),
    ),
    (
        "a failure: kind, place, logs, and which calls had been made",
        Held(&["what_was_printed_and_done_before_a_failure_is_told", "a_process_that_is_killed_is_told_as_a_crash"]),
    ),
    (
        "all changes of one run undo as one",
        Held(&[
            "a_run_is_undone_and_redone_as_one",
            "the_command_line_takes_a_run_back_too",
            "what_moved_or_went_and_changed_besides_is_undone_and_redone_as_one",
        ]),
    ),
    (
        "constructor and prototype tricks, memory and regex bombs, native loops, deep nesting, 100 MB of logs",
        Held(&[
            "nothing_of_the_host_is_within_reach",
            "a_program_that_bends_its_world_bends_only_that",
            "bombs_hurt_nobody_else",
            "a_program_stays_the_body_of_its_function",
        ]),
    ),
    (
        "forged frames from a hostile child",
        Held(&[
            "a_process_that_forges_frames_is_killed_and_nothing_of_it_is_done",
            "a_process_that_makes_calls_of_its_own_makes_calls_like_any_other",
            "what_is_no_frame_is_found_out",
            "what_is_unanswered_is_bounded_in_number_and_in_weight",
            "nothing_begins_while_too_much_is_unread",
        ]),
    ),
    (
        "the server's memory and latency for other clients stay as they were",
        Held(&["a_program_cannot_make_the_server_large", "other_requests_are_answered_while_a_program_computes"]),
    ),
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
    read_all(&root.join("src"), &mut text);
    let missing: Vec<_> = [OUTLINE, WAY, PARTS]
        .into_iter()
        .flatten()
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
