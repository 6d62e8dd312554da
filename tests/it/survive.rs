//! Does the history survive every way a program can end, and does cargo print the same as without us?

use qs_core::ring::{Flags, executed};
use xhist_tests::{
    Case, Counts, Done, Listing, Run, Tree, history_of, line_of, recorded, report, test_counts,
};

use crate::zoo::{place, program, program_of_each, zoo, zoo_cargo};

pub const CASES: &[Case] = &[
    Case::new("kill_9", || ends("killed", "", 128 + 9)),
    Case::new("abort", || ends("aborts", "", 128 + 6)),
    Case::new("write_to_nowhere", || ends("null_write", "", 128 + 11)),
    Case::new("exit_without_handlers", || ends("exits_at_once", "", 7)),
    Case::new("panic", || ends("panics", "", 101)),
    Case::new("panic_that_aborts", || ends("panics", "--profile aborting", 128 + 6)),
    Case::new("stack_overflow", || ends("stack_overflow", "", 128 + 6)),
    Case::new("out_of_memory", || ends("out_of_memory", "", 128 + 6)),
    Case::new("exec_of_itself", exec),
    Case::new("failing_test", failing_test),
    Case::new("settings_may_be_in_upper_case", large_words),
    Case::new("what_ever_ran_outlives_the_ring", ever),
];

/// Runs a program under plain cargo and under ours; its history ends with the marked statement.
fn ends(program: &str, options: &str, code: i32) {
    let plain = zoo_cargo(&format!("run --quiet --bin {program} {options}")).done().expect(code);
    let ours = zoo_cargo(&format!("xhist run --quiet --bin {program} {options}")).done().expect(code);
    ours.check(ours.stdout == plain.stdout && ours.stdout == "before\n", "stdout is the program's own");
    let last = place(program, "last");
    let found = last_statement(&ours);
    ours.check(found == last, &format!("the last statement found is {last}, not {found}"));
    assert_eq!(history_of(&ours, zoo().path()).last(), last);
}

/// The process id, and so the name of the ring file, is the same before and after.
fn exec() {
    let ours = zoo_cargo("xhist run --quiet --bin execs").succeed();
    ours.check(ours.stdout == "again\n" && !ours.stderr.contains("died"), "it ended well");
    for word in [("XHIST", "on"), ("XHIST_EVER", "on")] {
        let tree = Tree::empty("execs");
        let run = Run::new(program("execs"), tree.path()).env("XHIST_FILE", tree.join("ring.xhist"));
        let started = run.env(word.0, word.1).start();
        let aside = tree.join(&format!("ring.xhist.{}", started.pid()));
        started.done().expect(0);
        let last = |file| Listing::parse(&report(zoo().path()).arg(file).succeed().stdout).last();
        assert_eq!(last(aside), place("execs", "exec"));
        assert_eq!(last(tree.join("ring.xhist")), place("execs", "last"));
    }
}

fn large_words() {
    let tree = Tree::empty("large-words");
    let file = tree.join("ring.xhist");
    let run = || Run::new(program_of_each("churn"), tree.path()).env("XHIST_FILE", &file);
    run().env("XHIST", "OFF").succeed();
    assert!(!file.exists(), "nothing is recorded");
    run().env("XHIST_FRAMES", "Exact").env("XHIST_EVER", "ON").succeed();
    let image = std::fs::read(&file).expect("a ring file");
    assert!(recorded(&image)[0].header.flags.has(Flags::EXACT), "in one order");
    assert!(image.starts_with(&executed::MAGIC), "a bitmap comes first");
}

/// With the smallest ring, which forgets nearly all.
fn ever() {
    let tree = Tree::empty("ever");
    let file = tree.join("ring.xhist");
    let run = Run::new(program("churn"), tree.path()).env("XHIST_FILE", &file);
    run.env("XHIST_SIZE", "4k").env("XHIST_EVER", "on").succeed();
    let lcov = report(zoo().path()).args("coverage").arg(&file).succeed().stdout;
    let of_file =
        lcov.split("SF:").find(|part| part.lines().next().is_some_and(|path| path.ends_with("churn.rs")));
    let of_file = of_file.unwrap_or_else(|| panic!("churn.rs in {lcov}"));
    for mark in ["first step", "in the loop", "last step", "last"] {
        let line = place("churn", mark).rsplit(':').next().map(String::from).expect("a line");
        assert!(of_file.contains(&format!("DA:{line},1\n")), "{mark} in {of_file}");
    }
    let never =
        lcov.split("SF:").find(|part| part.contains("aborts.rs")).expect("other programs are in the map");
    assert!(never.contains(",0\n") && !never.contains(",1\n"), "{never}");
}

/// The place in the last line of the listing on stderr: two blanks, the place, the function, the text.
fn last_statement(done: &Done) -> String {
    let mut places = done.stderr.lines().filter_map(|line| {
        let place = line.strip_prefix("  ")?.split(' ').next()?;
        let (path, number) = place.rsplit_once(':')?;
        (path.ends_with(".rs") && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(place)
    });
    places.next_back().unwrap_or_default().to_owned()
}

fn failing_test() {
    let plain = zoo_cargo("test --quiet --lib").done().expect(101);
    let ours = zoo_cargo("xhist test --quiet --lib").done().expect(101);
    assert_eq!(test_counts(&plain), Counts { passed: 1, failed: 1, ignored: 0 });
    assert_eq!(test_counts(&ours), test_counts(&plain));
    let last = format!("src/lib.rs:{}", line_of(&zoo().join("src/lib.rs"), "// last"));
    assert_eq!(last_statement(&ours), last, "{}", ours.stderr);
    let places = history_of(&ours, zoo().path()).places();
    assert!(places.contains(&last), "{places:#?}");
}
