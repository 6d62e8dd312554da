//! The product as a user runs it: one table of cases, each module one question.
//!
//! `cargo test -p xhist-tests` runs all; a part of a name picks some. A case whose needs are not there is ignored
//! and says what is missing; the last lines list what was ignored. Expensive cases need a filter, `XHIST_TESTS_ALL=1` or
//! `XHIST_LONG=1`. `XHIST_TESTS_KEEP=1` keeps the directories that the cases worked in.

mod after_run;
mod again;
mod answer;
mod bugs;
mod build_scripts;
mod builds;
mod calls;
mod checks;
mod children;
mod clock;
mod commands;
mod const_fns;
mod crates;
mod crowds;
mod cuts;
mod damage;
mod dap;
mod debugger;
mod deps;
mod detail;
mod diff;
mod docs;
mod english;
mod events;
mod exports;
mod firmware;
mod fleet;
mod fuzz;
mod generated;
mod handlers;
mod holes;
mod html;
mod in_place;
mod interrupted;
mod kept_runs;
mod kills;
mod layering;
mod links;
mod logs;
mod long_ago;
mod macro_rules;
mod macros;
mod message_format;
mod nested;
mod nextest;
mod origin;
mod output;
mod pack;
mod panics;
mod picture;
mod places;
mod post_mortem;
mod program;
mod qs;
mod qspy;
mod readers;
mod recorder;
mod rtos;
mod samples;
mod select;
mod send;
mod shapes;
mod stepped;
mod storm;
mod surroundings;
mod survive;
mod suspects;
mod target;
mod tasks;
mod threads;
mod tidy;
mod trace_events;
mod triggers;
mod untouched;
mod values;
mod view;
mod why;
mod windows;
mod zoo;

use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use xhist_tests::{Case, append_times, clean_up, is_long, processor_seconds, set_deadline};

/// A case that takes longer has failed. In a long run each may take three times this.
const CASE_LIMIT: Duration = Duration::from_secs(600);

/// Groups and cases that try one thing again and again or compile much, and cost more than all others together. A plain
/// `cargo test` leaves them to `.ci/run`.
const EXPENSIVE: &[&str] = &[
    "after_run::a_large_ring",
    "after_run::every_failed_test",
    "answer::a_crowd",
    "calls::a_long_history",
    "calls::rounds_of_a_property",
    "commands::a_path_with_braces",
    "const_fns::of_a_registry",
    "crates::",
    "crowds::",
    "cuts::a_ring_file_that_is_cut_loses",
    "damage::a_damaged_header",
    "dap::a_long_history",
    "deps::statements_of_dependencies",
    "diff::long_histories",
    "exports::github_takes_ten",
    "firmware::",
    "fleet::",
    "generated::",
    "html::five_million",
    "html::motions",
    "in_place::the_page",
    "in_place::the_printed_advice_works_for_firmware",
    "in_place::without_the_trace_feature",
    "interrupted::",
    "logs::lines",
    "nested::",
    "output::libraries",
    "qs::widths",
    "qspy::damaged_streams",
    "readers::a_client",
    "readers::a_long_history",
    "readers::no_report",
    "readers::the_tenth",
    "recorder::",
    "rtos::",
    "shapes::",
    "stepped::",
    "surroundings::a_ring_file_that_was_asked_for_late",
    "surroundings::a_sandbox",
    "threads::a_storm",
    "trace::three_readers",
    "untouched::",
    "view::keys",
];

/// Groups and cases that try the recorder alone: at each instruction, at each byte of its files, on each kind of core. The
/// rest of the product comes into them only as what reads the history.
const OF_THE_RECORDER: &[&str] = &[
    "cuts::a_ring_file_that_is_cut_loses",
    "firmware::a_dump_at_any",
    "firmware::a_hung_risc_v",
    "firmware::a_race_of_two_cores",
    "firmware::each_of_",
    "firmware::on_risc_v",
    "firmware::recorder_compiles",
    "firmware::the_recorder_",
    "firmware::two_cores",
    "handlers::",
    "in_place::without_the_trace_feature",
    "interrupted::",
    "kills::",
    "nested::",
    "places::",
    "qs::widths",
    "rtos::statements_have",
    "stepped::",
    "storm::",
    "surroundings::a_ring_file_that_was_asked_for_late",
    "surroundings::a_sandbox",
    "threads::a_caught_panic",
    "threads::a_link_takes",
    "threads::a_signal",
    "threads::a_storm",
    "threads::the_first_ring",
    "threads::what_the_first_ring",
    "threads::where_there_is_no_memory",
    "triggers::a_record_stops",
    "triggers::records_wait",
    "triggers::the_very_first_record",
];

/// Groups and cases that take longest. They run first: then all processors have work until the end.
const LONGEST: &[&str] = &[
    "firmware::a_hung_core",
    "firmware::each_failed_test_of_a_target_with_a_probe",
    "firmware::lines_of_defmt",
    "after_run::a_large_ring",
    "interrupted::by_a_handler_that_forks",
    "shapes::a_target",
    "cuts::a_ring_file_that_is_cut_loses",
    "firmware::",
    "crates::",
    "generated::",
    "fleet::",
];

/// The reason of an expensive case that is not run.
const TAKES_LONG: &str = "it takes long: .ci/run has it, as has XHIST_TESTS_ALL=1, or name it";

/// The reason of a case of the recorder that is not run.
const UNCHANGED: &str = "it passed with this recorder: .ci/long has it, or name it";

/// At most this number of failed cases run once more. More of them are no accident.
const UNSTEADY: usize = 3;

/// Entries that no case is run of, and the reason.
type Omission = (&'static [&'static str], &'static str);

/// The cases that failed.
static FAILED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Each ignored case, or the entry that it is left out with, and its reason.
static LEFT_OUT: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Every question and its cases.
const QUESTIONS: &[(&str, &[Case])] = &[
    ("samples", samples::CASES),
    ("in_place", in_place::CASES),
    ("survive", survive::CASES),
    ("suspects", suspects::CASES),
    ("children", children::CASES),
    ("surroundings", surroundings::CASES),
    ("cuts", cuts::CASES),
    ("threads", threads::CASES),
    ("origin", origin::CASES),
    ("pack", pack::CASES),
    ("panics", panics::CASES),
    ("tasks", tasks::CASES),
    ("clock", clock::CASES),
    ("stepped", stepped::CASES),
    ("interrupted", interrupted::CASES),
    ("nested", nested::CASES),
    ("kills", kills::CASES),
    ("long_ago", long_ago::CASES),
    ("storm", storm::CASES),
    ("handlers", handlers::CASES),
    ("holes", holes::CASES),
    ("places", places::CASES),
    ("post_mortem", post_mortem::CASES),
    ("damage", damage::CASES),
    ("debugger", debugger::CASES),
    ("after_run", after_run::CASES),
    ("again", again::CASES),
    ("const_fns", const_fns::CASES),
    ("macro_rules", macro_rules::CASES),
    ("dap", dap::CASES),
    ("diff", diff::CASES),
    ("answer", answer::CASES),
    ("readers", readers::CASES),
    ("kept_runs", kept_runs::CASES),
    ("checks", checks::CASES),
    ("bugs", bugs::CASES),
    ("builds", builds::CASES),
    ("build_scripts", build_scripts::CASES),
    ("calls", calls::CASES),
    ("html", html::CASES),
    ("generated", generated::CASES),
    ("crates", crates::CASES),
    ("program", program::CASES),
    ("macros", macros::CASES),
    ("untouched", untouched::CASES),
    ("commands", commands::CASES),
    ("recorder", recorder::CASES),
    ("shapes", shapes::CASES),
    ("select", select::CASES),
    ("target", target::CASES),
    ("qs", qs::CASES),
    ("events", events::CASES),
    ("exports", exports::CASES),
    ("links", links::CASES),
    ("crowds", crowds::CASES),
    ("send", send::CASES),
    ("triggers", triggers::CASES),
    ("deps", deps::CASES),
    ("detail", detail::CASES),
    ("nextest", nextest::CASES),
    ("logs", logs::CASES),
    ("output", output::CASES),
    ("message_format", message_format::CASES),
    ("trace", trace_events::CASES),
    ("qspy", qspy::CASES),
    ("firmware", firmware::CASES),
    ("rtos", rtos::CASES),
    ("fleet", fleet::CASES),
    ("fuzz", fuzz::CASES),
    ("docs", docs::CASES),
    ("values", values::CASES),
    ("view", view::CASES),
    ("why", why::CASES),
    ("windows", windows::CASES),
    ("picture", picture::CASES),
    ("layering", layering::CASES),
    ("tidy", tidy::CASES),
    ("english", english::CASES),
];

fn main() -> ExitCode {
    // Programs that crash on purpose leave no core files, unless a case asks for one.
    let cores = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    setrlimit(Resource::Core, cores).expect("a lower limit");
    let mut args = Arguments::from_args();
    // Many cases wait: for a program, for a clock, for a linker's only thread.
    args.test_threads.get_or_insert(1 + std::thread::available_parallelism().map_or(1, usize::from));
    let is_chosen = args.filter.is_some() || is_long();
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let unchanged =
        (!is_chosen && is_set("XHIST_TESTS_SAME_RECORDER")).then_some((OF_THE_RECORDER, UNCHANGED));
    let expensive = (!is_chosen && !is_set("XHIST_TESTS_ALL")).then_some((EXPENSIVE, TAKES_LONG));
    let left_out: &[Omission] = unchanged.into_iter().chain(expensive).collect::<Vec<_>>().leak();
    let cases = QUESTIONS.iter().flat_map(|(question, cases)| cases.iter().map(move |case| (question, case)));
    let mut cases: Vec<(String, &Case)> =
        cases.map(|(question, case)| (format!("{question}::{}", case.name), case)).collect();
    let place = |name: &str| LONGEST.iter().position(|longest| name.starts_with(longest));
    cases.sort_by_key(|(name, _)| place(name).unwrap_or(LONGEST.len()));
    let mut cases = spread_out(cases);
    let trials = |cases: &[(String, &'static Case)]| {
        let trial = |(name, case): &(String, &'static Case)| {
            let (name, case) = (name.clone(), *case);
            Trial::ignorable_test(name.clone(), move || run(&name, case, left_out))
        };
        cases.iter().map(trial).collect()
    };
    let mut conclusion = libtest_mimic::run(&args, trials(&cases));
    if let Some(failed) = to_repeat() {
        println!("{} failed beside others and run once more, alone: {}", failed.len(), failed.join(", "));
        cases.retain(|(name, _)| failed.contains(name));
        args.test_threads = Some(1);
        conclusion = libtest_mimic::run(&args, trials(&cases));
        let failed = FAILED.lock().expect("no case panics here");
        for (name, _) in cases.iter().filter(|(name, _)| !failed.contains(name)) {
            println!("unsteady: {name}: the first failure is above");
        }
    }
    clean_up();
    print_left_out();
    conclusion.exit_code()
}

/// Firmware between all others, in equal distances: its cases build and run one after the other, so that each of them would
/// keep a thread waiting while another one has its turn. The last part is without them: at the end none should be alone.
fn spread_out<T>(cases: Vec<(String, T)>) -> Vec<(String, T)> {
    let (firmware, others): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|(name, _)| name.starts_with("firmware::"));
    let placed = [(firmware, 3 << 14), (others, 4 << 14)].map(|(cases, end)| {
        let len = cases.len();
        cases.into_iter().enumerate().map(move |(at, case)| (at * end / len, case))
    });
    let mut placed: Vec<_> = placed.into_iter().flatten().collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, case)| case).collect()
}

/// The cases that failed, if `XHIST_TESTS_REPEAT` asks for a second run and they are at most [`UNSTEADY`]. From here on
/// [`FAILED`] has those of the second run.
fn to_repeat() -> Option<Vec<String>> {
    let failed = std::mem::take(&mut *FAILED.lock().expect("no case panics here"));
    let asked = std::env::var_os("XHIST_TESTS_REPEAT").is_some() && !is_long();
    (asked && (1..=UNSTEADY).contains(&failed.len())).then_some(failed)
}

/// Prints which cases were ignored, one line for each reason.
fn print_left_out() {
    let mut by_reason = BTreeMap::<String, Vec<String>>::new();
    for (name, reason) in std::mem::take(&mut *LEFT_OUT.lock().expect("no case panics here")) {
        by_reason.entry(reason).or_default().push(name);
    }
    for (reason, mut names) in by_reason {
        names.sort();
        names.dedup();
        println!("left out: {}\n    {reason}", names.join(", "));
    }
}

fn run(name: &str, case: &Case, omissions: &[Omission]) -> Result<Completion, Failed> {
    let omitted = omissions.iter().find_map(|(entries, reason)| {
        let entry = entries.iter().find(|entry| name.starts_with(**entry))?;
        Some(((*entry).to_owned(), (*reason).to_owned()))
    });
    let missing = || Some((name.to_owned(), case.needs.iter().find_map(|need| need.missing())?));
    if let Some((entry, reason)) = omitted.or_else(missing) {
        // Of a group that is left out there are many: its entry is the name of all.
        LEFT_OUT.lock().expect("no case panics here").push((entry, reason.clone()));
        return Ok(Completion::ignored_with(reason));
    }
    set_deadline(if is_long() { 3 * CASE_LIMIT } else { CASE_LIMIT });
    let (start, before) = (Instant::now(), processor_seconds());
    if let Err(panic) = catch_unwind(case.run) {
        FAILED.lock().expect("no case panics here").push(name.to_owned());
        resume_unwind(panic);
    }
    append_times("XHIST_CASE_TIMES", || {
        let (seconds, of_processor) = (start.elapsed().as_secs_f32(), processor_seconds() - before);
        format!("{seconds:7.1} {of_processor:7.1} {name}")
    });
    Ok(Completion::Completed)
}
