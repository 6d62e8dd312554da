//! Are reports short and whole enough for programs that read them: agents, editors, CI?

mod budget;
mod failures;
mod mcp;
mod questions;
mod skill;

use std::sync::OnceLock;

use xhist_tests::{Case, Need, Run, Tree, cargo, repository};

pub const CASES: &[Case] = &[
    Case::new("no_report_is_longer_than_its_budget", budget::every_report),
    Case::new("the_command_of_the_last_line_prints_what_was_left_out", budget::last_line),
    Case::new("a_long_history_fits_a_budget", budget::long_history),
    Case::new("a_budget_that_cannot_be_kept_is_refused", budget::refused),
    Case::new("all_runs_of_a_line_a_function_and_a_value_are_found", questions::find),
    Case::new("a_call_is_shown_from_its_caller_to_its_panic", questions::frame),
    Case::new("source_has_how_often_each_line_ran", questions::source),
    Case::new("what_is_not_there_is_answered_by_what_is", questions::not_there),
    Case::new("ten_failures_are_explained_in_three_short_answers", failures::hosted),
    Case::needing("the_tenth_is_a_core_that_hangs", &[Need::Firmware], failures::firmware),
    Case::new("each_tool_of_the_server_answers_as_its_command", mcp::tools),
    Case::new("every_command_of_the_skill_file_works", skill::commands),
    Case::new("a_skill_file_of_someone_else_is_left_alone", skill::install),
    Case::new("nothing_outside_of_the_project_is_read_or_run", mcp::outside),
    Case::new("a_hostile_program_stays_text", mcp::hostile),
    Case::needing("a_client_of_the_protocol_finds_the_cause", &[Need::McpClient], mcp::client),
    Case::needing(
        "a_second_client_of_the_protocol_finds_the_cause",
        &[Need::Long, Need::Registry],
        mcp::second_client,
    ),
];

/// A parser with a failed test, and its recorded run, with values.
fn fresh() -> Tree {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/readers"));
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    cargo(tree.path()).args("xhist test -q --values parser::**").done().expect(101);
    tree
}

/// The same, made once. A case that adds a run has its own.
fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(fresh)
}

/// A command of `cargo xhist` on that run.
fn xhist(arguments: &str) -> Run {
    cargo(tree().path()).args("xhist").args(arguments)
}

/// What is typed in a shell, in a project.
fn shell(tree: &Tree, command: &str) -> Run {
    let mut run = Run::new("sh", tree.path()).arg("-c").arg(command);
    for (name, value) in cargo(tree.path()).into_command().get_envs() {
        if let Some(value) = value {
            run = run.env(&name.to_string_lossy(), value);
        }
    }
    run
}
