//! What happens to a program whose ring file another process cuts, empties or overwrites?

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use xhist_tests::{Case, Listing, Run, Started, Tree, report, tries};

use crate::surroundings::{Deed, said};
use crate::zoo::{place, program, program_of_each, zoo};

pub const CASES: &[Case] = &[
    Case::new("a_ring_file_that_is_cut_loses_history_and_not_the_program", cut),
    Case::new("a_thread_that_begins_after_a_cut_reports_the_loss", cut_before_a_thread),
    Case::new("a_ring_file_that_is_emptied_has_all_that_comes_after", emptied),
    Case::new("a_ring_file_that_is_cut_in_a_storm_of_signals_ends_nothing", cut_in_a_storm),
    Case::new("handlers_have_their_place_after_a_cut", handlers_after_a_cut),
    Case::new("a_reader_follows_a_ring_file_that_is_emptied", followed),
    Case::new("a_handler_of_bus_errors_may_find_the_ring_file_cut", cut_before_a_handler),
];

/// What happens to the ring file of a program that waits for a line.
const CUTS: &[(&str, Deed)] = &[
    ("emptied", |file| drop(File::create(file).expect("a file"))),
    ("cut", |file| set_len(file, 10_000)),
    ("emptied and made longer", |file| {
        set_len(file, 0);
        set_len(file, 3 << 20);
    }),
    ("another in its place", |file| {
        fs::write(file, [b"other".as_slice(); 100_000].concat()).expect("a file");
    }),
    ("zeros over it", |file| {
        use std::os::unix::fs::FileExt as _;
        let file = File::options().write(true).open(file).expect("a file");
        file.write_all_at(&vec![0; 3 << 20], 0).expect("room");
    }),
];

fn set_len(file: &Path, len: u64) {
    File::options().write(true).open(file).expect("a file").set_len(len).expect("room");
}

const LOST: &str = "xhist: the ring file was cut while in use: what it held is lost, recording goes on";

/// The new thread makes the file longer, so no access of another thread raises a signal.
fn cut_before_a_thread() {
    let tree = Tree::empty("cut-before-a-thread");
    let file = tree.join("ring.xhist");
    let mut running =
        Run::new(program("late_thread"), tree.path()).env("XHIST_FILE", &file).with_input().start();
    running.wait_for("ready\n");
    drop(File::create(&file).expect("a file"));
    running.write("go on\n");
    let done = running.done().expect(0);
    assert_eq!(said(&done), [LOST]);
    let listing = report(zoo().path()).arg(&file).succeed();
    listing.check(listing.stderr.contains("was emptied while the program ran"), "it is reported");
    let places = Listing::parse(&listing.stdout).places();
    assert!(
        places.contains(&place("late_thread", "first")) && places.contains(&place("late_thread", "last"))
    );
}

fn cut() {
    for (what, cut) in CUTS {
        for setting in
            [("XHIST_SIZE", "4k"), ("XHIST_SIZE", "1m"), ("XHIST_FRAMES", "exact"), ("XHIST_EVER", "on")]
        {
            let tree = Tree::empty("cut");
            let file = tree.join("ring.xhist");
            let program = if setting.1 == "exact" { program_of_each } else { program };
            let run =
                Run::new(program("goes_on"), tree.path()).env("XHIST_FILE", &file).env(setting.0, setting.1);
            let mut running = run.with_input().start();
            running.wait_for("ready\n");
            cut(&file);
            running.write("go on\n");
            let done = running.done().expect(42);
            done.check(done.stdout == "ready\ndone\n", what);
            if *what == "emptied" {
                assert_eq!(said(&done), [LOST]);
                let listing = report(zoo().path()).args("--thread main").arg(&file).succeed();
                listing.check(listing.stderr.contains("was emptied while the program ran"), "it is reported");
                let places = Listing::parse(&listing.stdout).places();
                assert!(places.contains(&place("goes_on", "last")), "{setting:?}");
            }
        }
    }
}

/// As QNX clears a buffer. The file grows again for a thread that finds it too short, also if nothing else does.
fn emptied() {
    for (what, cut) in [CUTS[0], CUTS[2]] {
        for setting in [
            ("XHIST_SIZE", "4k"),
            ("XHIST_SIZE", "1m"),
            ("XHIST_FRAMES", "single"),
            ("XHIST_FRAMES", "exact"),
            ("XHIST_EVER", "on"),
        ] {
            let tree = Tree::empty("emptied");
            let file = tree.join("ring.xhist");
            let program = if setting.0 == "XHIST_FRAMES" { program_of_each } else { program };
            let run = Run::new(program("emptied"), tree.path()).env("XHIST_FILE", &file);
            let mut running = run.env(setting.0, setting.1).with_input().start();
            running.wait_for("ready\n");
            cut(&file);
            running.write("go on\n");
            running.done().expect(0);
            for thread in ["main", "waiting", "busy"] {
                let listing = report(zoo().path()).args("--thread").arg(thread).arg(&file).succeed();
                listing.check(
                    listing.stderr.contains("was emptied while the program ran"),
                    &format!("{what} {setting:?}"),
                );
                let places = Listing::parse(&listing.stdout).places();
                let count = |mark| places.iter().filter(|found| **found == place("emptied", mark)).count();
                let counted = [count("late"), count("third"), count("over")];
                assert_eq!(counted, [20, 7, 1], "{what} {setting:?} {thread}: {}", listing.stdout);
                assert!(
                    thread == "busy" || count("early") == 0,
                    "{what} {setting:?} {thread}: nothing older"
                );
            }
        }
    }
}

/// Each cut is met by the program and by a handler that came at the same moment: handlers on top of each other need more room
/// than a signal stack has. `XHIST_CUTS` is the number of cuts for each size.
fn cut_in_a_storm() {
    for size in ["4k", "64k", "1m"] {
        let tree = Tree::empty("cut-storm");
        let (mut running, file) = cut_storm(&tree, "storm", size);
        for number in 0..tries("XHIST_CUTS", 100, 3000) {
            CUTS[[0, 0, 0, 2][number % 4]].1(&file);
            std::thread::sleep(Duration::from_millis(1));
        }
        running.write("go on\n");
        running.done().expect(0);
        assert_eq!(last_places(&file, 6), end_of_cut_storm(), "{size}");
    }
}

fn handlers_after_a_cut() {
    for (what, cut) in [CUTS[0], CUTS[1], CUTS[2]] {
        for size in ["4k", "1m"] {
            let tree = Tree::empty("cut-handlers");
            let (mut running, file) = cut_storm(&tree, "", size);
            cut(&file);
            running.write("go on\n");
            running.done().expect(0);
            let listing = report(zoo().path()).arg("--thread=main").arg(&file).done();
            let places = Listing::parse(&listing.stdout).places();
            let end = &places[places.len().saturating_sub(6)..];
            assert_eq!(end, end_of_cut_storm(), "{what} {size}: {}", listing.stderr);
            // The whole first ring of 4 KiB is in the part that is left.
            let has_early = places.contains(&place("cut_storm", "early"));
            assert_eq!(has_early, *what == *"cut" && *size == *"4k", "{what} {size}: nothing older");
        }
    }
}

fn followed() {
    let tree = Tree::empty("followed");
    let (mut running, file) = cut_storm(&tree, "", "8m");
    let mut reader = report(zoo().path()).arg("--follow").arg(&file).start();
    reader.wait_for(&place("cut_storm", "ready"));
    CUTS[0].1(&file);
    running.write("go on\n");
    running.done().expect(0);
    let listing = reader.done();
    listing.check(listing.stderr.contains("was emptied while the program ran"), "it is reported");
    let mut places = Listing::parse(&listing.stdout).places();
    let of_the_other_thread = place("cut_storm", "read");
    assert!(places.contains(&of_the_other_thread));
    // Each look lists what every thread has done since the last one, so this may come late.
    places.retain(|found| *found != of_the_other_thread);
    assert!(places.ends_with(&end_of_cut_storm()), "{:?}", places.last_chunk::<9>());
}

/// Starts the program of that name, which is ready when this returns.
fn cut_storm(tree: &Tree, argument: &str, size: &str) -> (Started, PathBuf) {
    let file = tree.join("ring.xhist");
    let run = Run::new(program("cut_storm"), tree.path()).args(argument).env("XHIST_FILE", &file);
    let mut running = run.env("XHIST_SIZE", size).with_input().start();
    running.wait_for("ready\n");
    (running, file)
}

/// The last places of a history, those of a handler among those of the code that it interrupted.
fn last_places(file: &Path, count: usize) -> Vec<String> {
    let listing = report(zoo().path()).arg("--thread=main").arg(file).done();
    Listing::parse(&listing.stdout).places().into_iter().rev().take(count).rev().collect()
}

fn end_of_cut_storm() -> Vec<String> {
    ["raised", "first", "second", "back", "over", "last"].map(|mark| place("cut_storm", mark)).to_vec()
}

/// The handler's statements come before any other access to the file. The signal is blocked then.
fn cut_before_a_handler() {
    for size in ["4k", "1m"] {
        let tree = Tree::empty("cut-before-a-handler");
        let run = Run::new(program("cuts_itself"), tree.path()).env("XHIST_FILE", "ring.xhist");
        let done = run.env("XHIST_SIZE", size).succeed();
        done.check(
            done.stdout == "(0, 0) 2\n" && said(&done).len() == 1,
            "it goes on, and the cut is reported",
        );
        let places = ["first", "second", "back", "again", "again", "first", "second", "last"];
        let places = places.map(|mark| place("cuts_itself", mark));
        let listing = report(zoo().path()).args("--thread main").arg(tree.join("ring.xhist")).succeed();
        assert!(Listing::parse(&listing.stdout).places().ends_with(&places), "{}", listing.stdout);
    }
}
