//! Is the tree that `calls` makes of statements that of the calls which the program really made?

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use serde_json::Value;
use xhist_tests::{Case, Run, Tree, cargo, line_of, report, repository, share_of_million};

pub const CASES: &[Case] = &[
    Case::new("the_tree_of_each_case_is_that_of_a_log_of_real_entries_and_exits", trees_agree_with_the_log),
    Case::new("the_text_of_a_tree_is_as_documented", text_is_golden),
    Case::new("polls_of_futures_are_segments_of_their_bodies", polls),
    Case::new("calls_are_chosen_by_their_functions", chosen_calls),
    Case::new("calls_through_derived_code_say_it", through_derived),
    Case::new("folded_stacks_have_every_statement", folded),
    Case::new("what_is_open_at_a_panic_is_listed", open_at_a_panic),
    Case::new("a_long_history_is_read_in_bounded_time", long_history),
    Case::new("a_map_without_calls_is_refused", an_earlier_map_is_refused),
    Case::new("a_recursion_that_the_recorder_folded_has_its_depth", deep_recursion),
    Case::new("a_recursion_that_the_recorder_folded_returns_from_its_calls", folded_returns),
    Case::new("loops_of_code_that_is_not_recorded_are_no_recursion", loops_outside),
    Case::new("rounds_of_a_property_and_of_a_documentation_test_are_a_loop", rounds_of_tests),
];

/// Cases of the program, and the functions whose callers statements leave open.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("expressions", &[]),
    ("loops", &[]),
    ("mutual", &[]),
    ("closures", &[]),
    ("generics", &[]),
    ("panics", &[]),
    ("drops", &["Fuse::drop"]),
    ("operators", &[]),
    ("derives", &[]),
    ("early", &[]),
    ("deep", &[]),
];

/// The program, instrumented.
pub fn program() -> &'static Tree {
    static PROGRAM: OnceLock<Tree> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/calls"));
        cargo(tree.path()).args("generate-lockfile --quiet").succeed();
        cargo(tree.path()).args("xhist build --quiet").succeed();
        tree
    })
}

/// Runs a case: what it printed, and the file of its rings.
pub fn run(case: &str) -> (String, std::path::PathBuf) {
    let tree = program();
    // Cases of the test may run the same case of the program at a time.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let file = tree.join(&format!("{case}-{}.xhist", RUNS.fetch_add(1, Relaxed)));
    let binary = tree.join("target/xhist/build/debug/calls");
    let run = Run::new(binary, tree.path()).args(case).env("XHIST_FILE", &file).env("XHIST_SIZE", "64m");
    (run.env("XHIST_TIME", "off").succeed().stdout, file)
}

/// A call with those inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    name: String,
    is_uncertain: bool,
    inside: Vec<Call>,
}

/// The tree of a log.
fn logged(log: &str) -> Vec<Call> {
    let mut open = vec![Vec::new()];
    for line in log.lines() {
        match line.split_once(' ') {
            Some((">", _)) => open.push(Vec::new()),
            Some(("<", name)) => {
                let inside = open.pop().expect("an entry for each exit");
                let call = Call { name: name.to_owned(), is_uncertain: false, inside };
                open.last_mut().expect("a caller").push(call);
            }
            _ => {}
        }
    }
    open.remove(0)
}

/// The lines of `calls --format json` of a kind.
pub fn rows(file: &std::path::Path, kind: &str) -> Vec<Value> {
    chosen_rows(file, kind, "")
}

/// [`rows`] with options that choose calls.
fn chosen_rows(file: &std::path::Path, kind: &str, options: &str) -> Vec<Value> {
    let done = report(program().path()).args("calls --format json").args(options).arg(file).succeed();
    let lines = done.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["kind"] == kind).collect()
}

/// The tree that statements imply. Equal calls are written out.
fn implied(rows: &[Value]) -> Vec<Call> {
    fn take(rows: &[Value], at: &mut usize, depth: u64) -> Vec<Call> {
        let mut calls = Vec::new();
        while let Some(row) = rows.get(*at).filter(|row| row["depth"] == depth) {
            *at += 1;
            if row["part"] == "end" {
                continue;
            }
            let name = row["function"].as_str().expect("a function").to_owned();
            let is_uncertain = row["uncertain"] == true;
            let call = Call { name, is_uncertain, inside: take(rows, at, depth + 1) };
            let times = row["times"].as_u64().unwrap_or(1);
            calls.extend((0..times).map(|_| call.clone()));
        }
        calls
    }
    take(rows, &mut 0, 0)
}

/// The names of a tree, without marks.
fn names(calls: &[Call]) -> String {
    let name = |call: &Call| match call.inside.as_slice() {
        [] => call.name.clone(),
        inside => format!("{}({})", call.name, names(inside)),
    };
    calls.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// The names of calls that are marked as uncertain.
fn uncertain(calls: &[Call], found: &mut Vec<String>) {
    for call in calls {
        if call.is_uncertain {
            found.push(call.name.clone());
        }
        uncertain(&call.inside, found);
    }
}

fn trees_agree_with_the_log() {
    let mut wrong = Vec::new();
    for (case, open) in PROGRAMS {
        let (log, file) = run(case);
        let calls = implied(&rows(&file, "call"));
        let (found, logged) = (names(&calls), names(&logged(&log)));
        let mut marked = Vec::new();
        uncertain(&calls, &mut marked);
        marked.retain(|name| !open.contains(&name.as_str()));
        if !marked.is_empty() {
            wrong.push(format!("{case}: uncertain: {marked:?}"));
        }
        if found != logged && open.is_empty() {
            wrong.push(format!("{case}:\n found  {found}\n logged {logged}"));
        }
        if found != logged {
            println!("{case} is another tree where it is uncertain:\n found  {found}\n logged {logged}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn through_derived() {
    let (_, file) = run("derives");
    let rows = rows(&file, "call");
    let of = |function: &str| -> Vec<&str> {
        let calls = rows.iter().filter(|row| row["function"] == function);
        calls.map(|row| row["through_derived"].as_str().unwrap_or("no")).collect()
    };
    assert_eq!(of("Name::eq"), ["possible", "possible", "no", "possible"]);
    assert_eq!(of("Name::clone"), ["possible"]);
    let text = report(program().path()).args("calls").arg(&file).succeed();
    text.check(text.stdout.contains(", perhaps through derived code"), "the text has it");
}

fn text_is_golden() {
    let (_, file) = run("expressions");
    let done = report(program().path()).args("calls").arg(&file).succeed();
    let path = repository().join("tests/fixtures/calls/expressions.txt");
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, &done.stdout).expect("the golden file");
    }
    let golden = std::fs::read_to_string(&path).expect("the golden file");
    assert_eq!(done.stdout, golden, "XHIST_BLESS=1 writes it again");
}

/// The tree without the calls that are not chosen: their callees have moved up.
fn chosen_calls() {
    fn without(calls: Vec<Call>, is_chosen: &dyn Fn(&str) -> bool) -> Vec<Call> {
        let mut left = Vec::new();
        for call in calls {
            let inside = without(call.inside, is_chosen);
            if is_chosen(&call.name) {
                left.push(Call { inside, ..call });
            } else {
                left.extend(inside);
            }
        }
        left
    }
    let (_, file) = run("expressions");
    let all = implied(&rows(&file, "call"));
    let is_fib = |name: &str| name == "fib";
    for (options, is_chosen) in [
        ("--not calls::fib", &(|name: &str| !is_fib(name)) as &dyn Fn(&str) -> bool),
        ("--only calls::fib", &is_fib),
        ("--only calls::expressions --only calls::fib --not calls::expressions", &is_fib),
    ] {
        let chosen = implied(&chosen_rows(&file, "call", options));
        let expected = without(all.clone(), is_chosen);
        assert!(!expected.is_empty() && names(&expected) != names(&all), "{options}");
        assert_eq!(names(&chosen), names(&expected), "{options}");
    }
    let nothing = report(program().path()).args("calls --not src/main.rs").arg(&file).succeed();
    assert!(nothing.stderr.contains("--not src/main.rs: nothing to show, all "), "{}", nothing.stderr);
}

/// Stacks are those of the tree, and their counts are its statements.
fn folded() {
    let (_, file) = run("expressions");
    let mut stack: Vec<String> = Vec::new();
    let mut expected = std::collections::BTreeMap::<String, u64>::new();
    for row in rows(&file, "call") {
        let (depth, own) =
            (row["depth"].as_u64().expect("a depth"), row["own"].as_u64().expect("statements"));
        stack.truncate(usize::try_from(depth).expect("a depth"));
        stack.push(row["function"].as_str().expect("a function").to_owned());
        *expected.entry(format!("main;{}", stack.join(";"))).or_default() += own;
    }
    let text = report(program().path()).args("export folded").arg(&file).succeed().stdout;
    let mut found = std::collections::BTreeMap::<String, u64>::new();
    for line in text.lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a count");
        *found.entry(stack.to_owned()).or_default() += count.parse::<u64>().expect("a count");
    }
    assert_eq!(found, expected);
    assert!(found["main;main;expressions;fib;fib"] > 0, "{text}");
}

/// The executor and both workers: who was polled by whom, where each was parked, and that it went on.
fn polls() {
    let (_, file) = run("async");
    let rows = rows(&file, "call");
    let of = |name: &str| -> Vec<(u64, String, bool)> {
        let own = rows.iter().filter(|row| row["function"] == name);
        own.map(|row| {
            let exit = row["exit"].as_str().unwrap_or_default().to_owned();
            (row["depth"].as_u64().expect("a depth"), exit, row["resumed"] == true)
        })
        .collect()
    };
    // Whether the block ended at its last `.await`, statements do not show.
    assert_eq!(of("polls::{async}"), [(3, "parked".into(), false), (3, "parked".into(), true)]);
    assert_eq!(of("Both::poll"), [(4, "returned".into(), false), (4, "returned".into(), false)]);
    let worker: Vec<_> = rows.iter().filter(|row| row["function"] == "worker").collect();
    let [parked, goes_on] = worker[..] else { panic!("{worker:#?}") };
    assert_eq!((&parked["exit"], &parked["depth"]), (&"parked".into(), &6.into()));
    // Two futures of one function that are polled by hand: which of them goes on is not certain.
    assert!(goes_on["resumed"] == true || goes_on["uncertain"] == true, "{goes_on}");
}

fn open_at_a_panic() {
    let tree = program();
    let file = tree.join("dies.xhist");
    let binary = tree.join("target/xhist/build/debug/calls");
    let run = Run::new(binary, tree.path()).args("unknown").env("XHIST_FILE", &file);
    run.done().expect(101);
    let open = rows(&file, "open");
    let line = line_of(&tree.join("src/main.rs"), "other => panic!");
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(
        (&open[0]["at"], &open[0]["function"], &open[0]["line"]),
        (&"panic".into(), &"main".into(), &line.into())
    );
    let text = report(tree.path()).args("calls").arg(&file).succeed().stdout;
    assert!(text.contains("*** ") && text.contains(&format!("  main  src/main.rs:{line}")), "{text}");
}

/// `docs/calls.md` has the time of a build with optimisation; the limit is for any build and a busy machine.
fn long_history() {
    let tree = program();
    let rounds = share_of_million(30_000);
    let file = tree.join("many.xhist");
    let binary = tree.join("target/xhist/build/debug/calls");
    let run = Run::new(binary, tree.path()).args("many").arg(rounds.to_string()).env("XHIST_FILE", &file);
    run.env("XHIST_SIZE", "64m").env("XHIST_TIME", "off").succeed();
    let start = std::time::Instant::now();
    let calls = rows(&file, "call");
    let took = start.elapsed();
    let main = calls.iter().rfind(|row| row["function"] == "main" && row["part"] != "begin").expect("main");
    let statements = main["statements"].as_u64().expect("a number");
    println!("{statements} statements, {} rows, {took:?}", calls.len());
    assert!(statements > 40 * rounds, "{statements}");
    assert!(took.as_secs() < 300, "{took:?}");
}

fn an_earlier_map_is_refused() {
    let (_, file) = run("early");
    let tree = Tree::empty("earlier");
    let map = std::fs::read_to_string(program().join("target/xhist/xhist.map")).expect("the map");
    std::fs::write(tree.join("xhist.map"), map.replacen("\"version\":3", "\"version\":2", 1)).expect("a map");
    let map = tree.join("xhist.map");
    let done = report(tree.path()).args("calls --map").arg(map).arg(&file).done().expect(1);
    assert!(
        done.stderr.contains("map version 2 (this tool reads 3 and 4)") && done.stdout.is_empty(),
        "{}",
        done.stderr
    );
}

/// Depths that a program knows: it aborts in the call with that number.
fn deep_recursion() {
    let tree = outside();
    for (kind, calls) in [("direct", 20_000u64), ("mutual", 20_001)] {
        let file = ended(tree, kind);
        let open = rows(&file, "open");
        // Below the recursion there is `main`.
        assert_eq!(open[0]["depth"].as_u64(), Some(calls), "{kind}: {}", open[0]);
        let answer = report(tree.path()).args("answer").arg(&file).succeed().stdout;
        let folded = answer.lines().filter_map(|line| line.split("... ").nth(1)?.split_once(" open calls"));
        let folded: u64 =
            folded.map(|(calls, _)| calls.replace(',', "").parse::<u64>().expect("a number")).sum();
        assert!(folded > calls - 10 && folded < calls, "{kind}: {answer}");
    }
}

/// A deep recursion whose calls all return: none of them has an end that was not seen, and the one that is last is not below them.
fn folded_returns() {
    let file = ended(outside(), "returns");
    let (calls, open) = (rows(&file, "call"), rows(&file, "open"));
    let exits = calls.iter().filter(|row| row["function"] == "down").map(|row| row["exit"].as_str());
    assert!(exits.clone().count() > 1 && exits.clone().all(|exit| exit == Some("returned")), "{calls:#?}");
    let last = calls.iter().rfind(|row| row["function"] == "score").expect("a call");
    assert_eq!((last["depth"].as_u64(), open.len()), (Some(1), 1), "{last} {open:?}");
    let text = report(outside().path()).args("calls").arg(&file).succeed().stdout;
    assert!(!text.contains("end not seen"), "{text}");
}

/// What is open at the end of loops in a crate that is not recorded, and of a visitor of that crate.
fn loops_outside() {
    let tree = outside();
    let open = |kind| {
        let rows = rows(&ended(tree, kind), "open");
        let name = |row: &Value| row["function"].as_str().unwrap_or_default().to_owned();
        rows.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(open("job"), ["main"]);
    assert_eq!(open("closure"), ["main"]);
    assert_eq!(open("pushes"), ["Stack::pop", "main"]);
    assert_eq!(open("visit"), [vec!["Tree::visit"; 9], vec!["main"]].concat());
}

/// Both call their body from code that is not recorded, and their bodies end in such code.
fn rounds_of_tests() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/props"));
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    for (tests, most, open) in
        [("--lib", 1, &["score", "tests::never_more"][..]), ("--doc", 0, &["Stack::pop"])]
    {
        let failed = cargo(tree.path()).args("xhist test --quiet").arg(tests).done().expect(101);
        failed.check(!failed.stderr.contains("for no test"), "a documentation test is its own process");
        let done = report(tree.path()).args("--format calls-json last").succeed();
        let rows: Vec<Value> =
            done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let of = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).collect::<Vec<_>>();
        let named: Vec<_> = of("open").iter().filter_map(|row| row["function"].as_str()).collect();
        assert_eq!(named, open, "{tests}: {}", done.stdout);
        let calls = of("call");
        let rounds: u64 = calls.iter().filter_map(|row| row["times"].as_u64()).sum();
        let deepest = calls.iter().filter_map(|row| row["depth"].as_u64()).max();
        assert!(deepest == Some(most) && rounds > 2, "{tests}: {rounds} calls, {deepest:?}");
    }
}

/// The program of `tests/fixtures/outside`, built once.
fn outside() -> &'static Tree {
    static PROGRAM: OnceLock<Tree> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/outside"));
        cargo(tree.path()).args("xhist build --quiet").succeed();
        tree
    })
}

/// The rings of a run that aborts.
fn ended(tree: &Tree, kind: &str) -> std::path::PathBuf {
    let file = tree.join(&format!("{kind}.xhist"));
    let binary = tree.join("target/xhist/build/debug/outside");
    Run::new(binary, tree.path()).args(kind).env("XHIST_FILE", &file).done().expect(134);
    file
}
