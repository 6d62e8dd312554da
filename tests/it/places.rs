//! Is everything recorded in unusual places: before main, in allocators and destructors, in handlers, after a fork?

use qs_core::record::Statement;
use xhist_tests::{Build, Case, Recorded, Torture, recorded, rings_in};

pub const CASES: &[Case] = &[
    Case::new("before_main_and_after_it", || complete("before_and_after", 1)),
    Case::new("inside_the_allocator", || complete("allocator", 1)),
    Case::new("in_destructors_of_a_thread", || complete("destructors", 2)),
    Case::new("both_after_a_fork", || complete("forks", 2)),
    Case::new("up_to_another_program", || complete("exec", 1)),
    Case::new("while_another_thread_sets_up_the_recorder", || complete("at_once", 3)),
    Case::new("while_the_page_for_forked_children_is_slow", || complete("slow_fork_mark", 4)),
    Case::new("beside_a_bitmap_on_a_disk_that_reserves_nothing", || {
        complete_with("plain_disk", 2, ("XHIST_EVER", "on"));
    }),
    Case::new("from_a_start_on_that_comes_first", || complete_with("started_first", 1, ("XHIST", "wait"))),
    Case::new("in_a_handler_while_a_call_sets_up_the_recorder", || complete("interrupted_set_up", 1)),
    Case::new("in_a_child_of_a_thread_without_a_ring", || {
        complete_with("crowded_fork", 2, ("XHIST_SIZE", "4k"));
    }),
    Case::new("both_after_a_fork_in_a_handler_without_a_lane", || complete("deep_fork", 2)),
    Case::new("behind_handlers_that_unwind", || {
        for build in Build::ALL {
            complete_in(build, "unwinding_handler", 1, ("XHIST", "on"));
        }
    }),
    Case::new("in_a_file_that_is_set_up_again", same_file),
    Case::new("stopped_while_its_ring_is_made", || complete("stopped_while_reserving", 1)),
    Case::new("both_after_a_fork_that_the_C_library_does_not_see", raw_forks),
    Case::new("in_a_child_of_a_thread_without_a_ring_that_the_C_library_does_not_see", || {
        complete("raw_fork_without_ring", 2);
    }),
    Case::new("without_allocating_where_keys_of_threads_are_scarce", many_keys),
    Case::new("on_stacks_of_16_KiB", || {
        for build in Build::ALL {
            complete_in(build, "small_stacks", 3, ("XHIST", "on"));
        }
    }),
];

fn same_file() {
    let torture = Torture::new(Build::Optimised, "same_file", "64k", 400).env("XHIST_FILE", "");
    torture.run().succeed();
    assert_eq!(rings_in(torture.tree.path()), [torture.tree.join("own.xhist")]);
    let begun: Vec<Statement> = torture.reference(0).statements().collect();
    let rings = recorded(&std::fs::read(torture.tree.join("own.xhist")).expect("a ring"));
    assert!(begun.len() == 300 && rings[0].whole("same_file").statements == begun);
}

/// Parent and child have rings of their own from the fork on, and lose nothing.
fn raw_forks() {
    for build in Build::ALL {
        let rings = complete_in(build, "raw_forks", 2, ("XHIST", "on"));
        let dropped: Vec<u32> = rings.iter().map(|ring| ring.header.dropped).collect();
        assert_eq!(dropped, [0, 0]);
    }
}

/// Threads that cannot report their end leave their rings too.
fn many_keys() {
    let torture = Torture::new(Build::Optimised, "many_keys", "4k", 1);
    torture.run().succeed();
    let rings = torture.recorded();
    assert!((64..80).contains(&rings.len()), "{} rings of 200 threads", rings.len());
    assert!(
        rings.iter().all(|ring| ring.header.dropped == 0 && !ring.whole("many_keys").statements.is_empty())
    );
}

/// What each thread did is in its rings; it has more than one when its own ended before it.
fn complete(kind: &str, threads: usize) {
    complete_with(kind, threads, ("XHIST", "on"));
}

/// The same with one more word for the recorder.
fn complete_with(kind: &str, threads: usize, word: (&str, &str)) {
    complete_in(Build::Optimised, kind, threads, word);
}

/// The same in either build.
fn complete_in(build: Build, kind: &str, threads: usize, word: (&str, &str)) -> Vec<Recorded> {
    let torture = Torture::new(build, kind, "64k", 8000).env(word.0, word.1);
    let pattern = torture.tree.join("%p.xhist");
    let torture = torture.env("XHIST_FILE", pattern.to_str().expect("UTF-8"));
    torture.run().succeed();
    let files = rings_in(torture.tree.path());
    let rings: Vec<_> =
        files.iter().flat_map(|file| recorded(&std::fs::read(file).expect("a ring"))).collect();
    let logs = torture.references();
    assert_eq!(logs.len(), threads);
    for log in logs {
        let begun: Vec<Statement> = log.statements().collect();
        let own = rings.iter().filter(|ring| ring.header.tid == log.thread);
        let recorded: Vec<Statement> = own.flat_map(|ring| ring.whole(kind).statements.clone()).collect();
        assert!(begun.len() > 200 || kind == "destructors" && log.thread != 0, "{kind}: {}", begun.len());
        let parts = begun.iter().zip(&recorded).position(|(begun, recorded)| begun != recorded);
        let newest = parts.map(|at| (&begun[at], &recorded[at]));
        let lens = (begun.len(), recorded.len());
        assert!(
            begun == recorded,
            "{kind}: of {lens:?} that began and are recorded, they part at {parts:?}: {newest:?}"
        );
    }
    rings
}
