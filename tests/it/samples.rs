//! Do the first commands of the README end in the listing of the Xhist paper?

use xhist_tests::{Case, Done, Listing, Run, Tree, history_of, line_of, report, repository, with_cache};

pub const CASES: &[Case] = &[
    Case::new("critical_section_ends_in_the_listing_of_figure_4", critical_section),
    Case::new("thread_pool_shows_the_history_under_the_panic", thread_pool),
];

/// From the root of the repository, through the alias, as the README has it; on a copy of the sample.
fn run_sample(name: &str) -> (Tree, Done) {
    let tree = Tree::copy_of(&repository().join("samples").join(name));
    let mut cargo = with_cache(Run::new("cargo", repository()));
    if std::env::var_os("CLIPPY_ARGS").is_some() {
        // `.ci/run` compiled the tool by Clippy: it is not compiled again.
        cargo = cargo.arg("--config").arg("build.rustc-workspace-wrapper='clippy-driver'");
    }
    let mut cargo = cargo.args("xhist run --manifest-path").arg(tree.join("Cargo.toml"));
    if let Some(target) = std::env::var_os("CARGO_TARGET_DIR") {
        // Ours is where the alias builds the tool; the sample's own goes into the copy.
        cargo = cargo.env("CARGO_TARGET_DIR", target).arg("--target-dir").arg(tree.join("target"));
    }
    let done = cargo.done();
    (tree, done)
}

fn critical_section() {
    let (tree, done) = run_sample("critical-section");
    done.check(done.code() == 134, "the watchdog aborts the program");
    done.check(done.stdout == "handling events ...\n", "stdout is the program's own");
    let waits = line_of(&tree.join("src/state_machine.rs"), "event_handlers::wait_for_event()");
    // Below the listing are suspects that have no line in it, if the signal came so that there are some, and the command.
    let mut below = done.stderr.lines().rev().skip(1).skip_while(|line| line.starts_with("more suspects: "));
    let last = below.next().unwrap_or_default().trim_start();
    done.check(last.starts_with(&format!("src/state_machine.rs:{waits} ")), "the listing comes last");

    assert_shows_the_interruption(&done.stderr, &tree);
    assert_each_run_shows_it(&tree);

    let listing = history_of(&done, tree.path()).only_statements();
    let entered = line_of(&tree.join("src/crit_section.rs"), "let waiting = read()");
    let handler = line_of(&tree.join("src/event_handlers.rs"), "crit_section::add(1)");
    assert_interrupted(&listing, entered, handler);
    assert_eq!(listing.last(), format!("src/state_machine.rs:{waits}"), "where it waits for ever");
}

/// Runs of the built program.
const RUNS: usize = 8;

/// The signal comes at another place in each run.
fn assert_each_run_shows_it(tree: &Tree) {
    for number in 0..RUNS {
        let file = tree.join(&format!("run-{number}.xhist"));
        let program = tree.join("target/xhist/build/debug/critical-section");
        Run::new(program, tree.path()).env("XHIST_FILE", &file).done().expect(134);
        let answer = report(tree.path()).args("answer").arg(&file).done().expect(0).stdout;
        assert_shows_the_interruption(&answer, tree);
    }
}

/// The answer names the function that was entered again, and has the statements of the handler where they came.
fn assert_shows_the_interruption(answer: &str, tree: &Tree) {
    let section = "add was entered again by the handler on_timer at src/crit_section.rs:";
    assert!(answer.contains(section), "{answer}");
    let handler = line_of(&tree.join("src/event_handlers.rs"), "crit_section::add(1)");
    let statements: Vec<&str> = answer.lines().filter(|line| line.contains(".rs:")).collect();
    let came = format!("src/event_handlers.rs:{handler} ");
    let at = statements.iter().position(|line| line.contains(&came));
    let at = at.unwrap_or_else(|| panic!("the handler is shown:\n{answer}"));
    for inside in [at - 1, at + 1] {
        assert!(statements[inside].contains("crit_section.rs:"), "within `add`, and in it again:\n{answer}");
    }
}

/// Entered, interrupted by the event handler, and entered again before it was left.
fn assert_interrupted(listing: &Listing, entered: u32, handler: u32) {
    let places = listing.places();
    let first = format!("src/crit_section.rs:{entered}");
    let second = format!("src/crit_section.rs:{}", entered + 1);
    let event = format!("src/event_handlers.rs:{handler}");
    let figure_4 = [&first, &event, &first, &second];
    let shown = places.windows(4).any(|window| window.iter().eq(figure_4));
    // As often as not the signal comes within the second line, after it was recorded.
    let second_line = [&first, &second, &event, &first, &second];
    let shown_later = places.windows(5).any(|window| window.iter().eq(second_line));
    assert!(shown || shown_later, "entered, interrupted, entered again: {places:#?}");
}

fn thread_pool() {
    let (tree, done) = run_sample("thread-pool");
    done.check(done.code() == 0, "the program itself succeeds");
    done.check(done.stdout.ends_with("1 of 3 workers failed\n"), "stdout is the program's own");
    let panics = line_of(&tree.join("src/pool.rs"), "let sender = words[1];");
    let message = done.stderr.find(&format!("panicked at src/pool.rs:{panics}:"));
    let history = done.stderr.find("last statements of thread worker-");
    done.check(message.is_some() && message < history, "the history is under the panic message");
    done.check(done.stderr.matches("last statements").count() == 1, "and nowhere else");
    let mut under = done.stderr[history.unwrap_or(0)..].lines();
    // `before` is the default: the statement that panicked is the last one.
    let last = under.find(|line| line.contains("sender = words[1];"));
    done.check(
        last.is_some_and(|line| line.contains(&format!("src/pool.rs:{panics} "))),
        "the panicking line",
    );
    done.check(under.any(|line| line.contains("the thread panicked here")), "is the last");
    let listing = history_of(&done, tree.path());
    assert!(listing.places().contains(&format!("src/pool.rs:{panics}")), "{:#?}", listing.places());
}
