//! Does `--detail function` record each entry, and nothing else, and do reports say so?

use xhist_tests::{Case, Listing, Run, Tree, cargo, instrument, manifest, report};

pub const CASES: &[Case] = &[
    Case::new("every_entry_is_recorded_and_nothing_else", entries),
    Case::new("the_detail_is_changed_by_option_and_manifest", changed),
    Case::new("reports_do_not_say_that_other_statements_never_ran", reported),
    Case::new("sources_in_place_come_back", in_place),
];

/// Prints the line of each entry, which it keeps itself.
const LOGS: &str = r#"use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

thread_local! {
    static LOG: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

// xhist instrument FALSE
fn log(line: u32) {
    LOG.with(|log| log.borrow_mut().push(line));
}
// xhist instrument TRUE

struct Noisy(u32);

impl Drop for Noisy {
    fn drop(&mut self) {
        log(line!());
        self.0 += 1;
    }
}

trait Shape {
    fn area(&self) -> u32;
    fn twice(&self) -> u32 {
        log(line!());
        self.area() * 2
    }
}

impl Shape for u32 {
    fn area(&self) -> u32 { log(line!()); let side = *self; side * side }
}

fn fib(n: u32) -> u32 {
    log(line!());
    if n < 2 {
        return n;
    }
    fib(n - 1) + fib(n - 2)
}

fn generic<T: Shape>(shapes: &[T]) -> u32 {
    log(line!());
    let mut sum = 0;
    for shape in shapes {
        sum += shape.twice();
    }
    shapes.iter().map(|shape| shape.area()).for_each(|area| {
        log(line!());
        sum += area;
    });
    sum
}

async fn waits(n: u32) -> u32 {
    log(line!());
    let mut polls = 0;
    std::future::poll_fn(|context| {
        log(line!());
        polls += 1;
        context.waker().wake_by_ref();
        if polls < n { Poll::Pending } else { Poll::Ready(polls) }
    })
    .await
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    log(line!());
    let mut context = Context::from_waker(Waker::noop());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

fn panics(n: u32) {
    log(line!());
    let _noisy = Noisy(n);
    if n == 0 {
        panic!("as meant");
    }
    panics(n - 1);
}

fn empty() {}

fn main() {
    log(line!());
    std::panic::set_hook(Box::new(|_| {
        log(line!());
    }));
    for n in 0..5 {
        fib(n);
        empty();
    }
    let sum = generic(&[1, 2, 3]);
    let polls = block_on(async {
        log(line!());
        waits(3).await + waits(sum % 3).await
    });
    let caught = std::panic::catch_unwind(|| { log(line!()); panics(polls) });
    assert!(caught.is_err());
    let _ = std::panic::take_hook();
    let many: u32 = (0..3000).map(|n| { log(line!()); n % 7 }).sum();
    assert!(many > 0);
    LOG.with(|log| log.borrow().iter().for_each(|line| println!("{line}")));
}
"#;

fn project(main: &str) -> Tree {
    let tree = Tree::package("app");
    tree.write("src/main.rs", main);
    tree
}

/// What a run with these arguments prints, and its history.
fn run(tree: &Tree, args: &str) -> (String, Listing) {
    let file = tree.join("history.xhist");
    let _ = std::fs::remove_file(&file);
    let run = cargo(tree.path()).args("xhist run --quiet").args(args).env("XHIST_FILE", &file).succeed();
    (run.stdout, Listing::parse(&report(tree.path()).arg(&file).succeed().stdout))
}

fn entries() {
    let tree = project(LOGS);
    for profile in ["", " --release"] {
        let (log, history) = run(&tree, &format!("--detail function{profile}"));
        let log: Vec<String> = log.lines().map(|line| format!("src/main.rs:{line}")).collect();
        assert!(log.len() > 3000);
        assert_eq!(history.places(), log);
    }
}

/// Two functions with two statements each.
const TWO: &str = "fn main() {\n    let x = 1;\n    f(x);\n}\n\nfn f(x: u8) {\n    let y = x;\n    println!(\"{y}\");\n}\n\n#[allow(dead_code)]\nfn never() {\n    let z = 2;\n    f(z);\n}\n";

fn changed() {
    let tree = project(TWO);
    let places = |args: &str| run(&tree, args).1.places();
    let [a, b, c, d] = ["src/main.rs:2", "src/main.rs:3", "src/main.rs:7", "src/main.rs:8"];
    assert_eq!(places(""), [a, b, c, d]);
    assert_eq!(places("--detail function"), [a, c]);
    assert_eq!(places("--detail=statement"), [a, b, c, d]);
    tree.write(
        "Cargo.toml",
        &format!("{}[package.metadata.xhist]\ndetail = \"function\"\n", manifest("app")),
    );
    assert_eq!(places(""), [a, c]);
    assert_eq!(places("--detail statement"), [a, b, c, d]);
    let wrong = cargo(tree.path()).args("xhist run --detail line").done();
    let named = wrong.stderr.contains("possible values: statement, function");
    wrong.check(wrong.code() == 1 && named, "a wrong word is refused");
}

fn reported() {
    let tree = project(TWO);
    let file = tree.join("history.xhist");
    let run = |run: Run| run.env("XHIST_FILE", &file).env("XHIST_EVER", "on").succeed();
    run(cargo(tree.path()).args("xhist run --quiet --detail function"));
    let lcov = report(tree.path()).args("coverage").arg(&file).succeed();
    let lines: Vec<&str> = lcov.stdout.lines().filter(|line| !line.starts_with("SF:")).collect();
    let expected = "TN: FN:7,f FN:2,main FN:13,never FNDA:1,f FNDA:1,main FNDA:0,never FNF:3 FNH:2 DA:2,1 DA:7,1 \
                    DA:13,0 LF:3 LH:2 end_of_record";
    assert_eq!(lines, expected.split(' ').collect::<Vec<_>>());
    lcov.check(
        lcov.stderr.contains("detail: function, so only 3 of 6 statements"),
        "the others are left out",
    );
    let build = report(tree.path()).arg("builds").arg(&file).succeed();
    build.check(build.stdout.contains("  detail:   function;"), "the detail is a fact of the build");
    // The rings say it without a map.
    let alone = Tree::empty("alone");
    std::fs::copy(&file, alone.join("history.xhist")).expect("a copy");
    let says = |expected: bool| {
        let build = report(alone.path()).args("builds history.xhist").done();
        let text = "  detail:   function: the program records only entries";
        build.check(build.stdout.contains(text) == expected, "the detail is in the rings");
        build.check(build.stdout.contains("  ring 1:   thread main"), "the ring is found");
    };
    says(true);
    run(cargo(tree.path()).args("xhist run --quiet"));
    std::fs::copy(&file, alone.join("history.xhist")).expect("a copy");
    says(false);
}

fn in_place() {
    let tree = project(LOGS);
    let run = instrument(tree.path()).args("--detail function src").succeed();
    run.check(run.stderr.contains("no entry (detail: function)"), "what is left alone is counted");
    let text = tree.read("src/main.rs");
    let calls = text.matches("::xhist_rt::").count();
    assert_eq!(calls, LOGS.matches("log(line!())").count() + 1, "the hash, and a call for each entry");
    // Updated to another detail, and back.
    instrument(tree.path()).args("src").succeed();
    assert!(tree.read("src/main.rs").matches("::xhist_rt::").count() > 2 * calls);
    instrument(tree.path()).args("--detail function src").succeed();
    assert_eq!(tree.read("src/main.rs"), text);
    instrument(tree.path()).args("--strip src").succeed();
    assert_eq!(tree.read("src/main.rs"), LOGS);
}
