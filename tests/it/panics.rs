//! Does an answer end where the program ended: behind a panic that was caught, and at the thread that panicked first?

use std::sync::OnceLock;

use xhist_tests::{Case, Done, Tree, cargo, line_of, report, run_of};

use super::after_run::fixture;

pub const CASES: &[Case] = &[
    Case::new("a_caught_panic_is_not_the_end_of_a_program", caught_in_program),
    Case::new("a_caught_panic_is_not_the_end_of_a_test", caught_in_test),
    Case::new("a_panic_that_a_worker_caught_is_named_after_the_worker_has_ended", caught_in_worker),
    Case::new("an_allocator_that_runs_behind_a_panic_does_not_hide_it", allocator),
    Case::new("the_panic_of_a_named_worker_comes_before_the_join_that_passes_it_on", named_worker),
    Case::new("threads_that_start_before_the_first_statement_of_a_test_are_its_own", early_pool),
    Case::new("a_panic_behind_calls_that_returned_is_at_its_own_line", behind_calls),
    Case::new("an_open_statement_has_its_lines_and_that_of_a_frame_further_down", lines),
];

fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| fixture("panics"))
}

fn run(how: &str) -> Done {
    cargo(tree().path()).args(&format!("xhist run --quiet -- {how}")).done()
}

fn test(name: &str) -> Done {
    cargo(tree().path()).args(&format!("xhist test --quiet --lib -- {name}")).done().expect(101)
}

fn place(file: &str, mark: &str) -> String {
    format!("{file}:{}", line_of(&tree().join(file), mark))
}

/// What `cargo xhist` printed of the histories of threads, without the suspects.
fn listing(done: &Done) -> &str {
    let start = done.stderr.find("\nxhist: ").unwrap_or(0);
    let text = &done.stderr[start..];
    text.split("\nsuspects of ").next().unwrap_or_default()
}

/// The places of a listing's statements.
fn places(listing: &str) -> Vec<&str> {
    let lines = listing.lines().filter(|line| line.starts_with("  src/"));
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

/// The annotations that GitHub gets, the errors first.
fn annotations(done: &Done) -> Vec<String> {
    let run = run_of(tree(), done);
    let printed = report(tree().path()).args("answer --format github").arg(run).succeed();
    printed.stdout.lines().map(str::to_owned).collect()
}

fn at(place: &str) -> String {
    let (file, line) = place.rsplit_once(':').unwrap_or_default();
    format!(" file={file},line={line},")
}

const ENDS: &str = "-- the thread panicked here --";

fn caught_in_program() {
    let risky = place("src/lib.rs", "// risky");
    let done = run("abort").expect(134);
    let text = listing(&done);
    done.check(
        places(text).last() == Some(&place("src/main.rs", "// abort").as_str()),
        "it ends at the abort",
    );
    done.check(text.contains(&format!("... a panic at {risky} was caught\n")), "the panic is named");
    done.check(!text.contains(ENDS) && !text.contains("destructors"), "and is not the end");
    let errors = annotations(&done);
    done.check(errors[0].contains(&at(&place("src/main.rs", "// abort"))), "GitHub gets the abort");

    let done = run("resume").expect(101);
    let text = listing(&done);
    // `resume_unwind` calls no panic hook, so the recorder took the status back before. The last statement says how it ended.
    done.check(
        places(text).last() == Some(&place("src/main.rs", "// resume").as_str()),
        "it ends where the panic is passed on",
    );
    done.check(text.contains(&format!("... a panic at {risky} was caught\n")), "the panic is named");
    done.check(!text.contains("destructors"), "what ran in between is no destructor");

    let done = run("drop").expect(101);
    let text = listing(&done);
    done.check(places(text).last() == Some(&risky.as_str()), "a destructor catches nothing");
    done.check(text.contains(" ran after the panic (destructors, hooks);"), "it is a destructor");

    let done = run("nested").expect(101);
    let text = listing(&done);
    let parse = place("src/lib.rs", "// parse");
    done.check(
        places(text).last() == Some(&parse.as_str()),
        "a panic that a destructor catches is not the end",
    );
    done.check(!text.contains("caught\n"), "and the first one was not caught");

    let done = run("twice").expect(134);
    let text = listing(&done);
    let first = place("src/main.rs", "// first");
    done.check(places(text).last() == Some(&risky.as_str()), "it ends at the second panic");
    let sentence = format!("the thread panicked first at {first}, and again in a destructor\n");
    done.check(text.contains(&sentence), "the first panic is named");

    let done = run("again").expect(101);
    let again = place("src/main.rs", "// again");
    let text = listing(&done);
    done.check(text.contains(&format!("... a panic at {risky} was caught\n")), "the first panic is named");
    done.check(!text.contains("destructor"), "one right behind it is not in a destructor");
    done.check(
        text.contains(&format!("panicked at {again}: the calls below that line had returned")),
        "its line",
    );

    let done = run("foreign").expect(134);
    let first = place("src/main.rs", "// foreign");
    let text = listing(&done);
    let sentence =
        format!("the thread panicked first at {first}, and unwound to a function that may not, such as an `");
    done.check(text.contains(&sentence) && !text.contains("again in a destructor"), "no destructor panicked");
    let within = format!("panicked at {}, in foreign --", place("src/main.rs", "extern \"C\" fn foreign"));
    done.check(text.contains(&within), "no statement is where it may not unwind");

    for how in ["careful", "counted"] {
        let done = run(how).expect(134);
        let text = listing(&done);
        let first = place("src/main.rs", "// unwinds");
        let sentence =
            format!("the thread panicked first at {first}, and unwound to a function that may not,");
        done.check(text.contains(&sentence), "a panic that a destructor caught is not why");
    }

    let done = run("other").expect(101);
    let text = listing(&done);
    done.check(
        text.contains("thread main before its panic") && text.matches("before its panic").count() == 1,
        "only the thread that died",
    );
    done.check(places(text).contains(&place("src/main.rs", "// unwrap").as_str()), "at its panic");
}

fn caught_in_test() {
    let done = test("an_error_after");
    let text = listing(&done);
    let parse = place("src/lib.rs", "// parse");
    done.check(places(text).last() == Some(&parse.as_str()), "it ends in what failed");
    done.check(!text.contains(ENDS) && !text.contains("destructors"), "the panic is not the end");
    let suspects = done.stderr.split("\nsuspects of ").nth(1).unwrap_or_default();
    let mut first = suspects.lines().filter(|line| line.starts_with("  1. "));
    done.check(first.any(|line| line.contains(&format!("{parse} "))), "nor the first suspect");
    done.check(annotations(&done)[0].contains(&at(&parse)), "GitHub gets what failed");
}

/// The test harness allocates behind the panic of a test.
fn allocator() {
    let tree = fixture("allocator");
    let place = |mark| format!("src/lib.rs:{}", line_of(&tree.join("src/lib.rs"), mark));
    let (check, count, error) = (place("// check"), place("// count"), place("// error"));
    let done = cargo(tree.path()).args("xhist test --quiet").env("RUST_BACKTRACE", "0").done().expect(101);
    let text = listing(&done);
    let tests: Vec<&str> = text.split("\nxhist: test ").skip(1).collect();
    let (panicked, failed) = match tests[0].starts_with("tests::panics ") {
        true => (tests[0], tests[1]),
        false => (tests[1], tests[0]),
    };
    // The allocator ran for the message, and had returned.
    let ends = format!("-- the thread panicked at {check}: the calls below that line had returned --");
    let (before, behind) = panicked.split_once(&ends).unwrap_or_default();
    let last = places(before).into_iter().rfind(|place| *place != count);
    done.check(last == Some(&check), "the history of the test ends at its panic");
    done.check(places(behind).iter().all(|place| *place == count), "only the allocator ran behind it");
    done.check(!text.contains("open calls"), "the allocator does not call itself");
    done.check(failed.contains(&format!("... a panic at {check} was caught\n")), "the place of the panic");
    let last = places(failed).into_iter().rfind(|place| *place != count);
    done.check(last == Some(&error), "a test that caught its panic goes on");
}

fn named_worker() {
    let done = test("a_named_worker_fails");
    let text = listing(&done);
    let threads: Vec<&str> = text.split("last statements of thread ").skip(1).collect();
    done.check(threads.len() == 2 && threads[0].starts_with("worker before its panic"), "the worker first");
    done.check(threads[1].starts_with("tests::a_named_worker_fails before its panic"), "then its test");
    let half = place("src/lib.rs", "// half");
    done.check(places(threads[0]).contains(&half.as_str()), "what it ran");
    let suspects = done.stderr.split("\nsuspects of ").nth(1).unwrap_or_default();
    let mut first = suspects.lines().filter(|line| line.starts_with("  1. "));
    done.check(first.any(|line| line.contains(&format!("{half} "))), "it is a first suspect");
    done.check(
        annotations(&done)[0].contains(&at(&place("src/lib.rs", "// worker"))),
        "GitHub gets its assertion",
    );

    let done = test("as_it_should");
    let own = place("src/lib.rs", "// not the worker");
    done.check(annotations(&done)[0].contains(&at(&own)), "a panic that the test expects is no cause");
}

/// As in an async runtime that a macro starts around the body of a test.
const POOL: &str = r#"
pub fn share(parts: i32) -> i32 {
    let left = parts - 4;
    100 / left // divides
}

// xhist instrument FALSE
#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::mpsc::{Sender, channel};
    use std::task::{Context, Waker};
    use std::thread::Builder;

    fn poll<F: Future>(task: &mut Pin<Box<F>>) {
        let _ = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }

    fn on_a_pool(body: fn(Sender<i32>)) {
        let (jobs, received) = channel();
        let pool = Builder::new().name("pool".into());
        let pool = pool.spawn(move || {
            let mut task = Box::pin(crate::pause());
            poll(&mut task);
            std::thread::spawn(move || poll(&mut task)).join().unwrap();
            received.into_iter().map(crate::share).sum::<i32>()
        });
        let pool = pool.unwrap();
        body(jobs);
        pool.join().unwrap();
    }

    #[test]
    fn some_share() {
        on_a_pool(|jobs| crate::send(jobs, 5));
    }

    #[test]
    fn none_share() {
        on_a_pool(|jobs| crate::send(jobs, 4));
    }
}
// xhist instrument TRUE

#[cfg(test)]
fn send(jobs: std::sync::mpsc::Sender<i32>, parts: i32) {
    jobs.send(parts).unwrap();
}

#[cfg(test)]
async fn pause() {
    let mut has_paused = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut has_paused, true) {
        true => std::task::Poll::Ready(()),
        false => std::task::Poll::Pending,
    }).await
}
"#;

fn early_pool() {
    let tree = Tree::package("pool");
    tree.write("src/lib.rs", POOL);
    let divides = format!("src/lib.rs:{}", line_of(&tree.join("src/lib.rs"), "// divides"));
    let done = cargo(tree.path()).args("xhist test --quiet --lib").done().expect(101);
    let text = listing(&done);
    let threads: Vec<&str> = text.split("last statements of thread ").skip(1).collect();
    done.check(threads.len() == 2 && threads[0].starts_with("pool"), "the pool first");
    done.check(places(threads[0]).last() == Some(&divides.as_str()), "at its panic");
    done.check(!text.contains("async task"), "the task ended in a thread that is not listed");
    let suspects =
        done.stderr.split("\nsuspects of 1 failed test and 1 passed test").nth(1).unwrap_or_default();
    done.check(suspects.contains(&format!("{divides} ")), "what the pool ran counts for the tests");
}

const LINES: &str = r#"
fn main() {
    let text = std::env::args().nth(1).unwrap_or_default();
    let sum = add(
        1,
        parsed(&text),
    ); // end of the call
    let part = text.split(',').map(|part| {
        part.trim()
    }).find(|part| part.len() > 9).expect("one"); // further down
    println!("{part} {sum}");
}

fn add(one: u32, other: u32) -> u32 {
    one + other
}

fn parsed(text: &str) -> u32 {
    text.parse()
        .unwrap() // end of the value
}
"#;

fn lines() {
    let tree = Tree::program("lines", LINES);
    let line = |mark: &str| line_of(&tree.join("src/main.rs"), mark);
    let run = |text: &str| cargo(tree.path()).args("xhist run -q --").arg(text).done().expect(101);
    let done = run("x");
    for (first, last) in [("let sum", "// end of the call"), ("text.parse()", "// end of the value")] {
        done.check(done.stderr.contains(&format!("src/main.rs:{}-{} ", line(first), line(last))), first);
    }
    let done = run("7");
    for mark in ["let part", "// further down"] {
        done.check(listing(&done).contains(&format!("  src/main.rs:{} ", line(mark))), mark);
    }
}

const BEHIND_CALLS: &str = r#"
fn digits(text: &str) -> Result<u32, String> {
    text.parse().map_err(|error| format!("{error}")) // closure
}

fn parse(text: &str) -> Result<u32, String> {
    let number = digits(text)?;
    Ok(number + 1)
}

fn half(number: u32) -> u32 {
    number / 2 // half
}

#[track_caller]
fn check(number: u32) {
    assert_eq!(number, 3); // check
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("unwrap") => drop(parse("x1").unwrap()), // unwrap
        Some("compare") => assert_eq!(half(8), 3), // compare
        _ => check(4), // caller
    }
}
"#;

fn behind_calls() {
    let tree = Tree::program("behind-calls", BEHIND_CALLS);
    let place = |mark: &str| format!("src/main.rs:{}", line_of(&tree.join("src/main.rs"), mark));
    let run = |args: &str| cargo(tree.path()).args(&format!("xhist run -q {args}")).done().expect(101);
    let calls = || report(tree.path()).args("calls last").succeed().stdout;
    for (how, last) in [("unwrap", "// closure"), ("compare", "// half")] {
        let done = run(&format!("-- {how}"));
        let (at, last) = (place(&format!("// {how}")), place(last));
        let text = listing(&done);
        done.check(places(text).last() == Some(&last.as_str()), "the call is the last that ran");
        let end = format!("  -- the thread panicked at {at}: the calls below that line had returned --\n");
        done.check(text.contains(&end) && !text.contains(ENDS), how);
        let calls = calls();
        assert!(calls.contains(&format!("*** panicked; its message names {at}\n")), "{calls}");
        assert!(
            calls.contains(&format!("{last}, uncertain\n")) && calls.contains(&format!("{at}\n")),
            "{calls}"
        );
        let answer = report(tree.path()).args("answer --format json last").succeed().stdout;
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        let panic = &answer["failures"][0]["threads"][0]["panic"];
        assert_eq!(format!("{}:{}", panic["file"].as_str().unwrap_or_default(), panic["line"]), at);
        assert_eq!(panic["below"], "returned");
    }
    // It names its caller, and is still open.
    let done = run("-- check");
    let text = listing(&done);
    done.check(places(text).last() == Some(&place("// check").as_str()) && text.contains(ENDS), "check");
    assert!(calls().contains(&format!("{}\n", place("// check"))), "certain");
    // A pack with the program has the frames on any machine.
    let at = place("// compare");
    run("-- compare");
    let pack = tree.join("run.tar.gz");
    cargo(tree.path()).args("xhist pack --programs -o").arg(&pack).succeed();
    std::fs::rename(tree.join("target"), tree.join("gone")).expect("it is moved");
    let answer =
        report(tree.path()).env("XHIST_CACHE", tree.join("cache")).arg("answer").arg(&pack).succeed();
    answer
        .check(answer.stdout.contains(&format!("-- the thread panicked at {at}: the calls below")), "frames");
    std::fs::rename(tree.join("gone"), tree.join("target")).expect("it is moved back");
    // Without debug information there are no frames.
    let done = run("--release -- compare");
    let end = format!("  -- the thread panicked; its message names {at} --\n");
    done.check(listing(&done).contains(&end), "the line of the message");
}

/// Three workers, one after the other. The last one catches a panic, goes on and ends.
const WORKERS: &str = r#"
use std::panic::catch_unwind;

fn work(job: usize) -> u32 {
    let table = [3, 5, 7];
    table[job] // caught
}

fn worker(job: usize) -> Option<u32> {
    let done = catch_unwind(|| work(job));
    let done = done.ok();
    done
}

fn main() {
    let mut failed = 0;
    for job in 1..4 {
        let worker = std::thread::spawn(move || worker(job));
        failed += usize::from(worker.join().unwrap().is_none());
    }
    if std::env::args().len() > 1 {
        std::process::exit(7);
    }
    assert_eq!(failed, 0);
}
"#;

fn caught_in_worker() {
    let tree = Tree::program("workers", WORKERS);
    let caught =
        format!("a panic at src/main.rs:{} was caught\n", line_of(&tree.join("src/main.rs"), "// caught"));
    let done = cargo(tree.path()).args("xhist run --quiet").done().expect(101);
    let text = listing(&done);
    done.check(
        text.contains(&format!("not printed: in thread workers#3, {caught}")),
        "named without a listing",
    );
    let json = report(tree.path()).args("answer --format json last").succeed();
    let caught = caught.trim_end();
    let note = format!("\"notes\":[\"not printed: in thread workers#3, {caught}\"");
    json.check(json.stdout.contains(&note), "for programs, too");
    let done = cargo(tree.path()).args("xhist run --quiet -- exit").done().expect(7);
    let text = listing(&done);
    let (_, behind_main) = text.split_once("\nlast statements of thread worker").expect("a worker");
    let first = behind_main.lines().nth(1).unwrap_or_default();
    done.check(first == format!("  ... {caught}"), "the worker that caught it comes first");
    let json = report(tree.path()).args("answer --format json last").succeed();
    json.check(json.stdout.contains(&format!("\"notes\":[\"{caught}\"]")), "so it has for programs");
}
