//! Is the order right when there are many threads, processes and signal handlers?

use std::collections::BTreeMap;

use qs_core::ring::Status;
use rustix::process::{Pid, Signal, kill_process_group};
use xhist_tests::{Build, Case, Done, Listing, Run, Torture, Tree, cargo, recorded, report, rings_in};

use crate::zoo::{place, program, record, record_with, zoo};

pub const CASES: &[Case] = &[
    Case::new("many_threads_each_keep_their_own_order", churn),
    Case::new("statements_of_threads_without_a_ring_are_counted", crowd),
    Case::new("rings_that_the_file_has_no_room_for_are_counted", full_disk),
    Case::new("where_there_is_no_memory_for_a_ring_that_is_reported", no_memory),
    Case::new("the_first_ring_is_made_later_where_there_was_no_memory", refused_ring),
    Case::new("what_the_first_ring_counts_outlives_its_thread", first_ring_again),
    Case::new("a_link_takes_the_last_statements_of_a_thread", taken_from_ended),
    Case::new("long_thread_names_are_recorded_in_full", long_names),
    Case::new("a_signal_that_comes_first_leaves_a_thread_its_name", early_signal),
    Case::new("a_signal_at_the_end_of_a_thread_makes_no_ring", signal_at_end),
    Case::new("handlers_that_record_nothing_take_no_room_of_ended_threads", silent_handler),
    Case::new("a_caught_panic_is_not_the_end_of_its_thread", caught_panics),
    Case::new("a_forked_child_has_its_own_history", forks),
    Case::new("a_child_that_lives_on_leaves_the_file_to_the_next_run", orphans),
    Case::new("threads_are_merged_by_time", || ping_pong(("XHIST_TIME", "on"))),
    Case::new("threads_are_merged_by_one_count", || ping_pong(("XHIST_FRAMES", "exact"))),
    Case::new("threads_that_wait_for_each_other_are_in_order", in_turn),
    Case::new("what_runs_behind_a_wait_comes_last_also_in_an_aborted_program", wakes_and_aborts),
    Case::new("without_exact_times_each_thread_keeps_its_order", own_order),
    Case::new("a_storm_of_signals_loses_nothing", signal_storm),
];

fn churn() {
    let (_, listing) = record("churn", "", "--thread");
    let mut threads: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in listing.statements() {
        threads.entry(&entry.thread).or_default().push(format!("{}:{}", entry.path, entry.line));
    }
    let step = |mark| place("churn", mark);
    let mut work = vec![step("first step"), step("loop")];
    for _ in 0..3 {
        work.extend([step("in the loop"), step("then")]);
    }
    work.push(step("last step"));
    for number in 0..40 {
        let name = format!("crowd-{number}");
        let places =
            threads.get(name.as_str()).unwrap_or_else(|| panic!("thread {name} in {:?}", threads.keys()));
        assert!(places.windows(work.len()).any(|window| *window == work), "{name}: {places:#?}");
    }
    // Rings of ended threads are used again, oldest first: the newest short-lived threads are still there.
    assert!(threads.contains_key("short-299"), "{:?}", threads.keys());
    assert_eq!(threads["main"].last(), Some(&step("last")));
}

/// There are 64 rings, one of them for `main`, before those of ended threads are used again. Each handler takes one as well, as
/// long as its thread lives.
fn silent_handler() {
    let (_, listing) = record("silent_handler", "16k", "--thread");
    let (work, threads) = (place("silent_handler", "work"), listing.statements());
    let threads: Vec<&str> = threads
        .filter(|entry| format!("{}:{}", entry.path, entry.line) == work)
        .map(|entry| entry.thread.as_str())
        .collect();
    let expected: Vec<String> = (40..100).map(|number| format!("worker-{number}")).collect();
    assert!(expected.iter().all(|name| threads.contains(&name.as_str())), "{threads:?}");
}

/// More threads at once than there are rings.
fn crowd() {
    const THREADS: u32 = 1100;
    const RINGS: u32 = 1024;
    let tree = Tree::package("crowd");
    // A scope does not wait for the very end of its threads, where those without a ring count what they did.
    let thread = "scope.spawn(|| {\n                all.wait();\n                all.wait();\n            })";
    let threads = format!(
        "let threads = [(); {THREADS}].map(|()| {thread});\n        threads.map(|thread| thread.join().unwrap());"
    );
    let scope = format!("std::thread::scope(|scope| {{\n        {threads}\n    }});");
    let barrier = format!("let all = std::sync::Barrier::new({THREADS});");
    tree.write("src/main.rs", &format!("fn main() {{\n    {barrier}\n    {scope}\n}}\n"));
    let file = tree.join("ring.xhist");
    let run = cargo(tree.path()).args("xhist run --quiet").env("XHIST_FILE", &file);
    run.env("XHIST_SIZE", "4k").succeed();
    let rings = recorded(&std::fs::read(&file).expect("a ring file"));
    assert_eq!(rings.len() as u32, RINGS);
    // Two of each thread, the first thread is main; and an event about it, once.
    assert_eq!(rings[0].header.dropped, 2 * (THREADS + 1 - RINGS) + 1);
    report(tree.path()).arg(&file).done().expect(1);
}

/// The address space is too small for the ring, and large enough for the program. It stops recording half-way.
fn no_memory() {
    let torture = Torture::new(Build::Optimised, "no_memory", "2g", 1).env("XHIST_FILE", "");
    let shell = Run::new("sh", torture.tree.path()).arg("-c").arg("ulimit -v 1000000; exec \"$@\"").arg("sh");
    let done = torture.under(shell).succeed();
    done.check(done.stderr.matches("xhist: there is no memory for a ring").count() == 1, "one line says so");
    let export = torture.tree.join("export.bin");
    let rings = recorded(&std::fs::read(&export).expect("an export"));
    assert_eq!((rings.len(), rings[0].header.dropped), (1, 300));
    let reported = report(torture.tree.path()).arg(&export).done();
    reported.check(reported.stderr.contains("at least 300 statements not recorded"), "it is reported");
    assert!(reported.code() != 0, "it is not complete");
}

/// The thread without a ring is counted in the first one, which the last thread has.
fn refused_ring() {
    let torture = Torture::new(Build::Optimised, "refused_ring", "4k", 1);
    torture.run().succeed();
    let rings = torture.recorded();
    let numbers: Vec<_> = rings.iter().map(|ring| (ring.header.number, ring.header.dropped)).collect();
    assert_eq!(numbers, [(0, 10), (1, 0)]);
    let lines: Vec<_> = rings.iter().map(|ring| ring.whole("refused_ring").statements[0].line).collect();
    assert_eq!(lines, [3, 2]);
}

/// Neither thread panics, and the process is killed.
fn long_names() {
    let tree = Tree::empty("long-names");
    let file = tree.join("ring.xhist");
    let mut running = Run::new(program("long_names"), tree.path()).env("XHIST_FILE", &file).start();
    running.wait_for("ready");
    running.end_with(Signal::KILL);
    let rings = recorded(&std::fs::read(&file).expect("a ring file"));
    let mut names: Vec<_> = rings.iter().filter_map(|ring| ring.header.thread_name()).collect();
    names.sort_unstable();
    let module = "storage::index::tests::a_module_with_a_long_name";
    assert_eq!(
        names,
        [
            "main",
            "short",
            &format!("{module}::a_test_that_ends"),
            &format!("{module}::a_test_that_waits"),
            &format!("{module}::{}", "x".repeat(128 - module.len() - 2)),
        ]
    );
}

/// The handler of a signal that comes before a thread is named makes no ring unless it records. When the thread has
/// ended, a signal makes no further ring.
fn early_signal() {
    for (what, statements) in [("is_silent", vec![(84, 1)]), ("records", vec![(97, 2), (84, 1)])] {
        for build in Build::ALL {
            let torture = Torture::new(build, &format!("early_signal {what}"), "4k", 1);
            torture.run().succeed();
            let rings = torture.recorded();
            let names: Vec<_> = rings.iter().map(|ring| ring.header.thread_name()).collect();
            assert_eq!(names, [Some("main"), Some("a worker with a long name")], "{what}");
            let own = rings[1].whole(what).statements.iter().map(|one| (one.file, one.line));
            assert_eq!(own.collect::<Vec<_>>(), statements, "{what}");
        }
    }
}

/// A ring that a handler makes there would have the status of a living thread for good.
fn signal_at_end() {
    let torture = Torture::new(Build::Optimised, "signal_at_end", "4k", 1).env("XHIST_EVER", "threads");
    torture.run().succeed();
    let names: Vec<_> =
        torture.recorded().iter().map(|ring| ring.header.thread_name().map(str::to_owned)).collect();
    assert_eq!(names, [Some("main".to_owned()), Some("ends".to_owned())]);
}

/// Whether a thread has panicked is decided by what it did afterwards, not by the last panic.
fn caught_panics() {
    let expected = [
        ("main", Status::Exited),
        ("goes on", Status::Ended),
        ("ends soon", Status::Ended),
        ("panics", Status::Panicked),
        ("panics and drops", Status::Panicked),
        ("panics and drops late", Status::Panicked),
        ("panics again", Status::Panicked),
    ];
    for (build, frames) in [(Build::Optimised, ""), (Build::Plain, ""), (Build::Each, "single")] {
        let torture = Torture::new(build, "caught_panics", "4k", 1).env("XHIST_FRAMES", frames);
        torture.run().succeed();
        let rings = torture.recorded();
        let found = rings.iter().map(|ring| (ring.header.thread_name().unwrap_or(""), ring.header.status));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
    let torture = Torture::new(Build::Optimised, "panics", "4k", 1);
    torture.run().done().expect(101);
    assert_eq!(torture.recorded()[0].header.status, Status::Panicked);
}

/// A limit takes the place of a full disk: the file gets one ring or a few.
fn full_disk() {
    let tree = Tree::empty("full-disk");
    let file = tree.join("ring.xhist");
    let run = Run::new("sh", tree.path()).arg("-c").arg("ulimit -f 1000; exec \"$0\"").arg(program("churn"));
    run.env("XHIST_FILE", &file).env("XHIST_SIZE", "256k").succeed();
    let rings = recorded(&std::fs::read(&file).expect("a ring file"));
    assert!((1..4).contains(&rings.len()), "{} rings", rings.len());
    let missing = rings[0].header.dropped;
    assert!(missing > 30, "40 threads were there at once, {missing} of them without");
    report(zoo().path()).arg(&file).done().expect(1);
}

/// The thread that it is used by in the end knows nothing of the ring without room. That one moves into the file when
/// there is room again and another thread uses it.
fn first_ring_again() {
    let torture = Torture::new(Build::Optimised, "first_ring_again", "4k", 1);
    torture.run().succeed();
    let dropped: Vec<u32> = torture.recorded().iter().map(|ring| ring.header.dropped).collect();
    assert_eq!((dropped.len(), dropped[0], dropped.iter().sum()), (64, 1, 1));
}

/// What comes out of the link is a QS stream with the statement of the thread that has ended.
fn taken_from_ended() {
    let torture = Torture::new(Build::Optimised, "taken_from_ended", "4k", 1);
    let tree = Tree::empty("link");
    let mut command = torture.env("XHIST_TIME", "off").run().into_command();
    let stream = command.output().expect("it runs").stdout;
    std::fs::write(tree.join("stream.qs"), stream).expect("written");
    let done = report(tree.path()).args("stream.qs").done().expect(0);
    done.check(done.stdout == "1 file#44:1\n", "the statement of the thread");
}

fn forks() {
    let tree = Tree::empty("forks");
    let run = Run::new(program("forks"), tree.path()).env("XHIST_FILE", tree.join("%p.xhist"));
    let started = run.start();
    let parent = tree.join(&format!("{}.xhist", started.pid()));
    started.done().expect(0);
    let files = rings_in(tree.path());
    assert_eq!(files.len(), 2, "{files:?}");
    let places =
        |file: &std::path::Path| Listing::parse(&report(zoo().path()).arg(file).succeed().stdout).places();
    let (of_parent, of_child) =
        (places(&parent), places(files.iter().find(|file| **file != parent).expect("two")));
    let is = |mark| place("forks", mark);
    assert!(of_parent.contains(&is("parent before")), "{of_parent:#?}");
    assert_eq!(of_parent.last(), Some(&is("parent last")));
    assert!(!of_parent.contains(&is("child first")), "{of_parent:#?}");
    assert!(of_child.contains(&is("child first")), "{of_child:#?}");
    assert_eq!(of_child.last(), Some(&is("child last")));
    assert!(!of_child.contains(&is("parent before")), "{of_child:#?}");
}

/// The child forks as well, when its parent has ended: the name is not its child's to take.
fn orphans() {
    let tree = Tree::empty("orphans");
    let file = tree.join("ring.xhist");
    let start = || Run::new(program("leaves_a_child"), tree.path()).env("XHIST_FILE", &file).start();
    let owner = || recorded(&std::fs::read(&file).expect("a ring file"))[0].header.pid;
    let mut first = start();
    let parent = first.pid();
    first.wait_for("child");
    first.end_with(Signal::KILL);
    let mut second = Run::new("sh", tree.path()).args("-c").arg("sleep 60").start();
    let forked = |_: &mut _| std::fs::read_dir(tree.path()).expect("a directory").count() == 3;
    second.wait_until("the child has forked", forked);
    assert_eq!(owner(), parent);
    second = start();
    second.wait_for("child");
    let children = Pid::from_raw(parent as i32).expect("a process");
    kill_process_group(children, Signal::KILL).expect("they live");
    assert_eq!(owner(), second.pid());
}

fn ping_pong(word: (&str, &str)) {
    let (_, listing) = record_with("ping_pong", "1m", "--thread", word);
    check_ping_pong(&listing);
}

/// Both threads are there, in their true order.
pub fn check_ping_pong(listing: &Listing) {
    let steps = [place("ping_pong", "ping"), place("ping_pong", "pong"), place("ping_pong", "answered")];
    let places: Vec<String> = listing.places().into_iter().filter(|place| steps.contains(place)).collect();
    let pings = places.iter().filter(|place| **place == steps[0]).count();
    assert_eq!(pings, 1000, "every round is there");
    for (index, place) in places.iter().enumerate() {
        assert_eq!(
            *place,
            steps[index % 3],
            "entry {index}: {:#?}",
            &places[index.saturating_sub(5)..=index]
        );
    }
}

/// The history of a program that ends with this code, in its true order. A busy machine may leave the ticker without its turn for
/// a whole wait, and then the order is not certain, so one of five runs must show it.
fn in_certain_order(name: &str, code: i32) -> Done {
    let tree = Tree::empty(name);
    let file = tree.join("history.xhist");
    let record = || {
        Run::new(program(name), tree.path()).env("XHIST_FILE", &file).done().expect(code);
        report(zoo().path()).arg(&file).succeed()
    };
    let is_certain = |listing: &Done| !listing.stderr.contains("not certain");
    let mut listing = record();
    for _ in 0..4 {
        if !is_certain(&listing) {
            listing = record();
        }
    }
    listing.check(is_certain(&listing), "the order is certain");
    listing
}

/// All statements are in their true order, none of them with a mark.
fn in_turn() {
    let listing = in_certain_order("in_turn", 0);
    listing.check(listing.stderr.is_empty(), "no note");
    let steps = ["start", "spawn", "work", "rest", "joined", "pause", "end"];
    let steps = steps.map(|mark| (place("in_turn", mark), mark));
    let mark_of = |place: String| Some(steps.iter().find(|(step, _)| *step == place)?.1);
    let marks: Vec<_> = Listing::parse(&listing.stdout).places().into_iter().filter_map(mark_of).collect();
    let mut expected = vec!["start"];
    for _ in 0..3 {
        expected.extend(["spawn", "work", "rest", "joined", "pause"]);
    }
    expected.push("end");
    assert_eq!(marks, expected);
}

/// No check comes behind the wait, so only the header knows of it.
fn wakes_and_aborts() {
    let listing = in_certain_order("wakes_late", 128 + 6);
    let places = Listing::parse(&listing.stdout).places();
    let last = ["worked", "woken", "last"].map(|mark| place("wakes_late", mark));
    assert_eq!(places[places.len() - 3..], last, "{places:#?}");
}

fn own_order() {
    let (_, listing) = record("ping_pong", "1m", "--thread");
    let of = |thread: &str| -> Vec<String> {
        let own = listing.statements().filter(|entry| entry.thread == thread);
        own.map(|entry| format!("{}:{}", entry.path, entry.line)).collect()
    };
    let steps = [place("ping_pong", "ping"), place("ping_pong", "answered")];
    let main: Vec<String> = of("main").into_iter().filter(|place| steps.contains(place)).collect();
    assert!(main.iter().enumerate().all(|(index, place)| *place == steps[index % 2]), "{main:#?}");
    assert_eq!(main.len(), 2000, "every round is there");
    assert_eq!(of("pong").iter().filter(|at| **at == place("ping_pong", "pong")).count(), 1000);
}

fn signal_storm() {
    let (done, listing) = record("signal_storm", "256m", "");
    let steps = ["first", "second", "third"].map(|mark| place("signal_storm", mark));
    let places = listing.places();
    assert_eq!(places.last(), Some(&place("signal_storm", "last")));
    let handled = places.windows(3).filter(|window| window[0] == steps[0]);
    let in_order = handled.clone().filter(|window| **window == steps).count();
    assert_eq!(in_order, handled.count(), "the statements of a handler are together");
    let runs: usize = done.stdout.trim().parse().expect("how often the handler ran");
    // One run may still come between the last look at the count and the end of the timer.
    let recorded = places.iter().filter(|place| **place == steps[2]).count();
    assert!(runs >= 300 && recorded == runs && in_order == runs, "{recorded} of {runs}");
}
