//! Does what reads histories print on Windows what it prints here? Wine runs it.

use std::path::Path;

use xhist_tests::{Case, Need, Run, Tree, repository, with_cache};

use crate::zoo::{program, zoo};

mod console;
mod exceptions;
mod front_end;
mod recorder;

pub const CASES: &[Case] = &[
    Case::needing("histories_are_read_as_on_linux", &[Need::Long, Need::Wine], same_text),
    Case::needing("cargo_xhist_does_what_it_does_on_linux", &[Need::Long, Need::Wine], front_end::commands),
    Case::needing("cargo_xhist_names_the_exception_of_a_test", &[Need::Long, Need::Wine], front_end::runner),
    Case::needing(
        "cargo_xhist_clean_goes_on_where_a_program_runs",
        &[Need::Long, Need::Wine],
        front_end::clean,
    ),
    Case::needing("cargo_xhist_goes_on_at_ctrl_c", &[Need::Long, Need::Wine], front_end::ctrl_c),
    Case::needing("cargo_xhist_records_dependencies", &[Need::Long, Need::Wine], front_end::deps),
    Case::needing(
        "cargo_xhist_answers_for_a_test_of_nextest",
        &[Need::Long, Need::Wine, Need::Nextest],
        front_end::nextest,
    ),
    Case::needing("the_view_has_keys_in_a_console", &[Need::Long, Need::Wine], console::keys),
    Case::needing("a_pager_shows_a_long_report", &[Need::Long, Need::Wine], console::pager),
    Case::needing("a_browser_shows_a_page", &[Need::Long, Need::Wine], console::page),
    Case::needing("a_port_that_is_not_there_is_waited_for", &[Need::Long, Need::Wine], console::port),
    Case::needing("a_runner_passes_each_word_on", &[Need::Long, Need::Wine], console::words),
    Case::needing("values_have_the_texts_of_linux", &[Need::Long, Need::Wine], recorder::values),
    Case::needing("a_panic_has_the_answer_of_linux", &[Need::Long, Need::Wine], recorder::same_answer),
    Case::needing("a_failed_test_has_the_suspects_of_linux", &[Need::Long, Need::Wine], recorder::suspects),
    Case::needing("a_program_has_its_map", &[Need::Long, Need::Wine], recorder::own_map),
    Case::needing("each_end_of_a_program_is_in_the_history", &[Need::Long, Need::Wine], recorder::ends),
    Case::needing("ctrl_c_leaves_every_statement", &[Need::Long, Need::Wine], recorder::interrupted),
    Case::needing("a_handler_of_ctrl_c_has_a_ring", &[Need::Long, Need::Wine], recorder::ctrl_handler),
    Case::needing("structured_handlers_are_left_alone", &[Need::Long, Need::Wine], exceptions::structured),
    Case::needing("a_vectored_handler_has_a_lane", &[Need::Long, Need::Wine], exceptions::vectored),
    Case::needing("a_handler_in_front_sees_its_own_exceptions", &[Need::Long, Need::Wine], exceptions::first),
    Case::needing("a_filter_may_let_a_program_go_on", &[Need::Long, Need::Wine], exceptions::filter),
    Case::needing("a_filter_that_gives_up_is_in_the_history", &[Need::Long, Need::Wine], exceptions::dies),
    Case::needing("a_debugger_sees_what_it_sees_without", &[Need::Long, Need::Wine], exceptions::debugger),
    Case::needing("a_library_may_be_freed", &[Need::Long, Need::Wine], exceptions::freed_library),
    Case::needing("a_terminated_program_leaves_every_statement", &[Need::Long, Need::Wine], recorder::kills),
    Case::needing("a_statement_costs_what_it_costs_on_linux", &[Need::Long, Need::Wine], recorder::cost),
    Case::needing("tests_end_as_without_the_recorder", &[Need::Long, Need::Wine], recorder::suites),
];

const TARGET: &str = "x86_64-pc-windows-gnu";

/// What wine 8 lacks of the libraries that std uses.
const RANDOM: &str = "int SystemFunction036(void *, unsigned long);
__declspec(dllexport) int ProcessPrng(unsigned char *bytes, unsigned long long len) {
    return SystemFunction036(bytes, (unsigned long)len);
}
";

/// The text of each report, with the names from the program and without the project.
fn same_text() {
    let tree = Tree::empty("windows");
    build(&tree);
    let ring = tree.join("ring.xhist");
    Run::new(program("in_turn"), zoo().path()).env("XHIST_FILE", &ring).succeed();
    std::fs::copy(program("in_turn"), tree.join("in_turn")).expect("copied");
    for report in ["", "answer", "calls", "hot", "--lanes"] {
        let words = format!("{report} ring.xhist --program in_turn");
        let here = xhist_tests::report(tree.path()).args(&words).succeed();
        for reader in ["xhist-report.exe", "cargo-xhist.exe xhist history"] {
            if reader.starts_with("cargo") && !report.is_empty() {
                continue;
            }
            let there = wine(&tree).args(&format!("{reader} {words}")).succeed();
            there.check(there.stdout.replace("\r\n", "\n") == here.stdout, &here.stdout);
        }
    }
}

fn wine(tree: &Tree) -> Run {
    let run = Run::new(Need::wine().expect("wine"), tree.path());
    run.env("WINEPREFIX", tree.join("prefix")).env("WINEDEBUG", "-all")
}

/// Builds the readers and the library into the directory.
fn build(tree: &Tree) {
    let target = repository().join("target/windows");
    let cargo =
        Run::new("/usr/bin/cargo", repository()).args("build --quiet --locked -Zbuild-std=std,panic_unwind");
    let cargo =
        cargo.args("-p xhist-report -p cargo-xhist --target").arg(TARGET).arg("--target-dir").arg(&target);
    let cargo =
        cargo.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1").env("CARGO_PROFILE_DEV_DEBUG", "0");
    with_cache(cargo)
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", "x86_64-w64-mingw32-gcc-posix")
        .succeed();
    let built: &Path = &target.join(TARGET).join("debug");
    for name in ["xhist-report.exe", "cargo-xhist.exe"] {
        std::fs::copy(built.join(name), tree.join(name)).expect("copied");
    }
    add_library(tree);
}

/// What wine lacks, beside the programs.
fn add_library(tree: &Tree) {
    tree.write("random.c", RANDOM);
    let compiler = Run::new("x86_64-w64-mingw32-gcc-posix", tree.path());
    compiler.args("-shared -o bcryptprimitives.dll random.c -ladvapi32").succeed();
}
