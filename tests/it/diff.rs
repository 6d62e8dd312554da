//! Does `xhist-report diff` find where two runs part, and does it refuse what cannot be compared?

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use xhist_tests::{Case, Done, Tree, cargo, manifest, report, share_of_million};

pub const CASES: &[Case] = &[
    Case::new("another_input_parts_where_it_is_read_otherwise", inputs),
    Case::new("branches_of_one_line_have_their_own_text", one_line),
    Case::new("tests_of_a_run_are_compared_by_name", tests),
    Case::new("tests_without_a_common_point_are_compared_by_what_they_ran", apart),
    Case::new("other_builds_and_programs_are_refused", others),
    Case::new("a_ring_that_lost_its_beginning_is_aligned_and_counted_as_a_loss", cut),
    Case::new("without_a_map_nothing_is_compared", no_map),
    Case::new("what_a_handler_ran_is_listed_and_nothing_parts_where_it_came", handler),
    Case::new("long_histories_take_seconds", large),
];

const MAIN: &str = "mod parse;

fn main() {
    let text = std::env::args().nth(1).unwrap_or_default();
    let items = parse::parse(&text);
    let sum: i64 = items.iter().map(|item| weight(*item)).sum();
    println!(\"{sum}\");
}

fn weight(item: i64) -> i64 {
    if item > 100 {
        return item / 2;
    }
    item * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        let items = parse::parse(\"1,2,3\");
        assert_eq!(items.into_iter().map(weight).sum::<i64>(), 12);
    }

    #[test]
    fn large() {
        let items = parse::parse(\"1,200,3\");
        assert_eq!(items.into_iter().map(weight).sum::<i64>(), 408);
    }
}
";

const ONE_LINE: &str = "fn main() {
    let number: i32 = std::env::args().nth(1).unwrap().parse().unwrap();
    println!(\"{}\", if number < 0 { let low = -number; low } else { let high = number + 1; high });
}
";

const PARSE: &str = "pub fn parse(text: &str) -> Vec<i64> {
    let mut items = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        match part.parse() {
            Ok(number) => items.push(number),
            Err(_) => complain(part),
        }
    }
    items
}

fn complain(part: &str) {
    if part == \"!\" {
        panic!(\"bad {part}\");
    }
    eprintln!(\"{part}?\");
}
";

fn project() -> Tree {
    let tree = Tree::package("diffed");
    tree.write("src/main.rs", MAIN);
    tree.write("src/parse.rs", PARSE);
    tree
}

fn one_line() {
    let tree = Tree::program("one-line", ONE_LINE);
    record(&tree, "good", "1", "").expect(0);
    record(&tree, "bad", "-1", "").expect(0);
    let done = diff(tree.path(), "good.xhist bad.xhist").expect(0);
    for (side, text) in [("GOOD", "let high = number + 1;"), ("BAD", "let low = -number;")] {
        let row = done.stdout.lines().find(|line| line.trim_start().starts_with(side)).unwrap_or_default();
        let words: Vec<&str> = row.split_whitespace().collect();
        done.check(words.join(" ") == format!("{side} src/main.rs:3 {text} main"), text);
    }
}

/// Records a run in `NAME.xhist`.
fn record(tree: &Tree, name: &str, args: &str, size: &str) -> Done {
    let run = cargo(tree.path()).args("xhist run --quiet --").arg(args).env("XHIST_SIZE", size);
    run.env("XHIST_FILE", tree.join(&format!("{name}.xhist"))).limit(Duration::from_secs(300)).done()
}

fn diff(directory: &Path, args: &str) -> Done {
    report(directory).args("diff").args(args).done()
}

/// The lines of a kind.
fn lines(done: &Done, kind: &str) -> Vec<Value> {
    let lines = done.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    lines.filter(|line| line["kind"] == kind).collect()
}

/// `file:line` of the last common statement, and of the first statement of each side.
fn parting(done: &Done) -> (String, String, String) {
    let parting = &lines(done, "parting")[0];
    let place = |of: &Value| format!("{}:{}", of["file"].as_str().unwrap_or("-"), of["line"]);
    let last = parting["stack"].as_array().and_then(|stack| stack.last()).map(|level| place(&level["at"]));
    (
        last.unwrap_or_default(),
        place(&parting["good"]["statements"][0]),
        place(&parting["bad"]["statements"][0]),
    )
}

fn inputs() {
    let tree = project();
    for (name, input) in [
        ("good", "1,2,3"),
        ("longer", "1,2,3,4"),
        ("empty", "1,2,,3"),
        ("word", "1,x,3"),
        ("large", "1,200,3"),
    ] {
        record(&tree, name, input, "").expect(0);
    }
    record(&tree, "bad", "1,!,3", "").expect(101);
    let compare = |bad: &str| diff(tree.path(), &format!("--format json good.xhist {bad}.xhist")).expect(0);

    // The number of iterations is no difference, also from the other side.
    for same in ["good", "longer"] {
        let done = compare(same);
        done.check(lines(&done, "end")[0]["same"] == true, "no difference");
        done.check(lines(&done, "only").is_empty(), "nothing that one side only ran");
    }
    let text = diff(tree.path(), "good.xhist longer.xhist").expect(0);
    text.check(text.stdout.starts_with("no difference"), "that nothing differs");
    text.check(text.stdout.contains("not as often in both"), "counts");

    for (bad, last, good_next, bad_next) in [
        ("empty", "src/parse.rs:5", "src/parse.rs:8", "src/parse.rs:6"),
        ("word", "src/parse.rs:8", "src/parse.rs:9", "src/parse.rs:10"),
        ("bad", "src/parse.rs:8", "src/parse.rs:9", "src/parse.rs:10"),
        ("large", "src/main.rs:11", "src/main.rs:14", "src/main.rs:12"),
    ] {
        let done = compare(bad);
        assert_eq!(parting(&done), (last.into(), good_next.into(), bad_next.into()), "{bad}");
        let mirrored = diff(tree.path(), &format!("--format json {bad}.xhist good.xhist")).expect(0);
        assert_eq!(parting(&mirrored), (last.into(), bad_next.into(), good_next.into()), "{bad} mirrored");
    }
    let done = compare("bad");
    assert_eq!(lines(&done, "parting")[0]["bad"]["then"], "panic");
    let only: Vec<Value> = lines(&done, "only").into_iter().filter(|only| only["side"] == "bad").collect();
    let only: Vec<&str> = only.iter().filter_map(|only| only["function"].as_str()).collect();
    // The nearest to the panic first.
    assert_eq!(only, ["complain", "parse"]);
    let text = diff(tree.path(), "good.xhist bad.xhist").expect(0);
    text.check(text.stdout.contains("Err(_) => complain(part),"), "the source text");
}

/// The signal of the argument is handled (10) or ignored by the system (28).
const HANDLER: &str = "use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

unsafe extern \"C\" {
    fn signal(number: i32, handler: extern \"C\" fn(i32)) -> usize;
    fn raise(number: i32) -> i32;
}

extern \"C\" fn on_signal(_: i32) {
    count(1);
}

fn count(step: u32) {
    COUNT.fetch_add(step, Ordering::Relaxed);
}

fn main() {
    let number = std::env::args().nth(1).unwrap().parse().unwrap();
    unsafe { signal(10, on_signal) };
    count(2);
    unsafe { raise(number) };
    count(3);
    println!(\"{}\", COUNT.load(Ordering::Relaxed));
}
";

fn handler() {
    let tree = Tree::package("handled");
    tree.write("src/main.rs", HANDLER);
    record(&tree, "plain", "28", "").expect(0);
    record(&tree, "handled", "10", "").expect(0);
    let done = diff(tree.path(), "--format json plain.xhist handled.xhist").expect(0);
    let parts = lines(&done, "parting");
    done.check(parts.is_empty(), "nothing that parts");
    let only = lines(&done, "only");
    done.check(
        only.len() == 1 && only[0]["side"] == "bad" && only[0]["function"] == "on_signal",
        "the handler",
    );
}

fn tests() {
    let tree = project();
    let done =
        cargo(tree.path()).args("xhist test --quiet").limit(Duration::from_secs(300)).done().expect(101);
    let runs = std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs");
    let run = runs.flatten().next().expect("a run").file_name().into_string().expect("a name");
    for (good, bad) in [("tests::small", "tests::large"), ("small", "large")] {
        let done = diff(tree.path(), &format!("--format json {run}::{good} {run}::{bad}")).expect(0);
        let pair = &lines(&done, "pair")[0];
        assert_eq!(
            (&pair["good"]["thread"], &pair["bad"]["thread"]),
            (&"tests::small".into(), &"tests::large".into())
        );
    }
    // The command that the end of the run shows, and what it prints.
    let command = format!("cargo xhist diff target/xhist/runs/{run}::tests::large");
    done.check(done.stderr.contains(&command), "the command that compares");
    let nearest =
        diff(tree.path(), &format!("--format json target/xhist/runs/{run}::tests::large")).expect(0);
    nearest.check(
        nearest.stderr.contains("GOOD is tests::small, the passed test most like"),
        "the test it chose",
    );
    let place = |line: u32| format!("src/main.rs:{line}");
    assert_eq!(parting(&nearest), (place(11), place(14), place(12)));
    assert_eq!(lines(&nearest, "parting")[0]["other_callers"], true);
    diff(tree.path(), &format!("{run}::tests::small")).expect(2);
    diff(tree.path(), &run).expect(2);

    let none = diff(tree.path(), &format!("{run}::small {run}::huge")).expect(2);
    none.check(none.stderr.contains("has no ring file with this thread"), "what is missing");
}

const APART: &str = "pub fn one(x: u32) -> u32 {
    x + 1
}

pub fn two(x: u32) -> u32 {
    x * 3 // wrong
}

#[cfg(test)]
mod tests {
    #[test]
    fn one() {
        assert_eq!(super::one(1), 2);
    }

    #[test]
    fn two() {
        assert_eq!(super::two(1), 2);
    }
}
";

fn apart() {
    let tree = Tree::package("apart");
    tree.write("src/lib.rs", APART);
    cargo(tree.path()).args("xhist test --quiet").limit(Duration::from_secs(300)).done().expect(101);
    let runs = std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs");
    let run = runs.flatten().next().expect("a run").file_name().into_string().expect("a name");
    let done = diff(tree.path(), &format!("{run}::two")).expect(1);
    done.check(done.stderr.contains("have no point in common"), "why it has no parting");
    let only = "only BAD ran: 2 lines
  src/lib.rs:6                   two
  src/lib.rs:18                  tests::two
only GOOD ran: 2 lines
  src/lib.rs:2                   one
  src/lib.rs:13                  tests::one
";
    assert_eq!(done.stdout, only);
    let done = diff(tree.path(), &format!("--format json {run}::two")).expect(1);
    let of_bad = lines(&done, "only").into_iter().find(|only| only["function"] == "two");
    done.check(of_bad.is_some_and(|only| only["side"] == "bad"), "the same");
    // Chosen by hand they are of no common program.
    diff(tree.path(), &format!("{run}::one {run}::two")).expect(1);
}

fn others() {
    let tree = project();
    record(&tree, "good", "1,2", "").expect(0);
    tree.write("src/main.rs", &MAIN.replace("item / 2", "item / 3 + 0"));
    tree.write("src/parse.rs", &PARSE.replace("    items\n", "    items.sort();\n    items\n"));
    record(&tree, "later", "1,2", "").expect(0);
    let done = diff(tree.path(), "good.xhist later.xhist").expect(1);
    done.check(done.stdout.is_empty() && done.stderr.contains("different builds"), "no answer, but why");

    // Another program of the same build.
    tree.write("src/bin/other.rs", "fn main() {\n    println!(\"other\");\n}\n");
    let run = |bin: &str| {
        let run = cargo(tree.path()).args(&format!("xhist run --quiet --bin {bin}"));
        let run = run.env("XHIST_FILE", tree.join(&format!("bin-{bin}.xhist")));
        run.limit(Duration::from_secs(300)).done().expect(0);
    };
    run("diffed");
    run("other");
    let done = diff(tree.path(), "bin-diffed.xhist bin-other.xhist").expect(1);
    done.check(done.stdout.is_empty() && done.stderr.contains("different"), "no answer, but why");

    // Another program in another place.
    let far = Tree::empty("diff-far");
    far.write("Cargo.toml", &manifest("far"));
    far.write("src/main.rs", "mod away;\n\nfn main() {\n    away::go();\n}\n");
    far.write("src/away.rs", "pub fn go() {\n    println!(\"far\");\n}\n");
    record(&far, "far", "1", "").expect(0);
    let done = diff(tree.path(), &format!("good.xhist {}", far.join("far.xhist").display())).expect(1);
    done.check(done.stdout.is_empty() && done.stderr.contains("different"), "no answer, but why");

    // Not histories at all.
    diff(tree.path(), "good.xhist Cargo.toml").expect(3);
    diff(tree.path(), "good.xhist none.xhist").expect(2);
    diff(tree.path(), "good.xhist good.xhist#9").expect(2);
    diff(tree.path(), "good.xhist").expect(2);
}

/// Rounds that do not fold, so that the ring overwrites its beginning.
const LONG: &str = "fn main() {
    let rounds: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut state = 7;
    for round in 0..rounds {
        state = step(state, round);
    }
    if state == rounds {
        println!(\"as many\");
    }
    println!(\"{state}\");
}

fn step(state: u64, round: u64) -> u64 {
    let next = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    match (next >> 60) & 3 {
        0 => zero(next),
        1 => one(next, round),
        _ => next ^ round,
    }
}

fn zero(next: u64) -> u64 {
    let mut next = next;
    for _ in 0..(next >> 61) {
        next = next.rotate_left(3);
        if next & 1 == 0 {
            next ^= 0x55;
        }
    }
    next
}

fn one(next: u64, round: u64) -> u64 {
    if round == 19_990 {
        return rare(next);
    }
    if next & 0x100 == 0 {
        return zero(next);
    }
    next ^ round
}

fn rare(next: u64) -> u64 {
    next.rotate_left(1)
}
";

fn long_project() -> Tree {
    let tree = Tree::package("long");
    tree.write("src/main.rs", LONG);
    tree
}

fn cut() {
    let tree = long_project();
    record(&tree, "whole", "20000", "8m").expect(0);
    record(&tree, "cut", "20000", "64k").expect(0);
    for (good, bad) in [("whole", "cut"), ("cut", "whole"), ("cut", "cut")] {
        let done = diff(tree.path(), &format!("{good}.xhist {bad}.xhist")).expect(1);
        done.check(done.stderr.contains("overwritten; only what is behind is aligned"), "what is lost");
        done.check(done.stdout.starts_with("no difference"), "the same run as far as it can be compared");
    }
    // A whole history has nothing to report.
    diff(tree.path(), "whole.xhist whole.xhist").expect(0);
}

fn no_map() {
    let tree = project();
    record(&tree, "good", "1,2", "").expect(0);
    let alone = Tree::empty("diff-alone");
    for name in ["a.xhist", "b.xhist"] {
        std::fs::copy(tree.join("good.xhist"), alone.join(name)).expect("a copy");
    }
    let done = diff(alone.path(), "a.xhist b.xhist").expect(1);
    done.check(done.stdout.is_empty() && done.stderr.contains("--map FILE"), "what is needed");
    alone.write("wrong.map", "not a map\n");
    let done = diff(alone.path(), "--map wrong.map a.xhist b.xhist").expect(1);
    done.check(done.stdout.is_empty(), "no answer");
    // Half of a file.
    let bytes = std::fs::read(tree.join("good.xhist")).expect("a ring file");
    let ring = (0..bytes.len() - 8).find(|at| &bytes[*at..*at + 4] == b"XHIS").unwrap_or(4096);
    for len in [0, 100, ring + 100, ring + 600, bytes.len() / 2] {
        std::fs::write(tree.join("half.xhist"), &bytes[..len]).expect("a file");
        let done = diff(tree.path(), "good.xhist half.xhist");
        done.check((0..=3).contains(&done.code()), "no panic");
        done.check(
            done.code() != 0 || done.stdout.starts_with("no difference"),
            "the same history or a reason",
        );
    }
}

fn large() {
    let tree = long_project();
    let rounds = share_of_million(140_000);
    record(&tree, "one", &rounds.to_string(), "32m").expect(0);
    record(&tree, "other", &(rounds + 1).to_string(), "32m").expect(0);
    let started = Instant::now();
    let done = diff(tree.path(), "--format json one.xhist other.xhist").expect(0);
    let taken = started.elapsed();
    let pair = &lines(&done, "pair")[0];
    let statements = pair["good"]["statements"].as_u64().expect("a number");
    assert!(statements > 7 * rounds, "{statements} statements");
    // Five seconds in release; the tests may run a build without optimisation on a busy machine.
    let limit = if cfg!(debug_assertions) { 60 } else { 5 };
    assert!(taken < Duration::from_secs(limit), "{taken:?}");
}
