//! Does `xhist-report suspects` find the wrong line, from one run of the tests?

use std::path::PathBuf;

use qs_core::ring::spectrum;
use serde_json::Value;
use xhist_tests::{Case, Crate, Done, Fault, Need, Tree, cargo, is_long, line_of, report};

use crate::message_format::validate;

pub const CASES: &[Case] = &[
    Case::new("the_wrong_line_is_the_first_suspect", first),
    Case::new("tests_that_fail_in_two_ways_have_a_list_for_each", clusters),
    Case::new("initializers_of_statics_are_no_suspects", initializers),
    Case::new("threads_count_for_the_test_that_started_them", threads),
    Case::new("one_thread_at_a_time_gives_the_same_suspects", one_thread),
    Case::new("a_failed_test_alone_is_ranked_by_order", alone),
    Case::new("suspects_of_a_crash_that_find_no_line_are_named", crash),
    Case::new("suspects_of_a_crash_with_long_paths_are_named", crash_in_long_paths),
    Case::new("json_and_sarif_have_the_suspects_of_the_text", formats),
    Case::needing("sarif_is_valid_by_the_official_schema", &[Need::Registry, Need::JsonSchema], sarif_schema),
    Case::new("what_cannot_be_ranked_is_an_error", errors),
    Case::needing("wrong_lines_of_real_crates_are_among_the_first", &[Need::Registry, Need::Long], crates),
];

const LIBRARY: &str = r#"//! Prices.

/// The price of some pieces, in cents.
pub fn price(pieces: u32, cents: u32) -> u32 {
    let mut price = pieces * cents;
    if is_many(pieces) {
        price -= discount(price);
    }
    price
}

fn is_many(pieces: u32) -> bool {
    pieces >= 10
}

fn discount(price: u32) -> u32 {
    let percent = if price > 5000 { // wrong
        20
    } else {
        10
    };
    price * percent / 100
}

/// The sum of some prices, each computed by a thread of its own.
pub fn sum(orders: &[(u32, u32)]) -> u32 {
    std::thread::scope(|scope| {
        let threads: Vec<_> = orders.iter().map(|(pieces, cents)| scope.spawn(|| price(*pieces, *cents))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_has_its_price() {
        assert_eq!(price(1, 250), 250);
    }

    #[test]
    fn ten_pieces_are_cheaper() {
        assert_eq!(price(10, 250), 2250);
    }

    #[test]
    fn some_orders_have_their_sum() {
        assert_eq!(sum(&[(1, 100), (2, 100)]), 300);
    }
}
"#;
const FAILING: &str = r#"
#[cfg(test)]
mod more_tests {
    use super::*;

    #[test]
    fn large_orders_are_cheaper() {
        assert_eq!(CALL);
    }
}
"#;

/// The library with a failing test that compares these.
fn project(call: &str) -> Tree {
    let tree = Tree::package("prices");
    tree.write("src/lib.rs", &format!("{LIBRARY}{}", FAILING.replace("CALL", call)));
    tree
}

fn tests(tree: &Tree, arguments: &str) -> Done {
    cargo(tree.path()).args(&format!("xhist test --lib {arguments}")).done().expect(101)
}

fn json(tree: &Tree) -> Value {
    let done = report(tree.path()).args("suspects --format json").succeed();
    serde_json::from_str(&done.stdout).expect("JSON")
}

fn wrong(tree: &Tree) -> String {
    format!("src/lib.rs:{}", line_of(&tree.join("src/lib.rs"), "// wrong"))
}

/// The first suspect of a text.
fn first_of(text: &str) -> &str {
    text.lines().find_map(|line| line.trim_start().strip_prefix("1. ")).unwrap_or_default()
}

fn first() {
    let tree = project("price(30, 250), 6750");
    let done = tests(&tree, "");
    let at = done
        .stderr
        .find("\nsuspects of 1 failed test and 3 passed tests")
        .map_or("", |at| &done.stderr[at..]);
    let expected = format!("{} (0.71) discount [1/1 1/3", wrong(&tree));
    let last = at.trim_end().lines().last().unwrap_or_default();
    done.check(
        last.trim_start().strip_prefix("1. ").is_some_and(|last| last.starts_with(&expected)),
        &expected,
    );
    done.check(
        at.trim_end().lines().count() <= 17,
        "a dozen lines or so, so that a screen has the failure as well",
    );
    let way = line_of(&tree.join("src/lib.rs"), "        10");
    let not_run = format!(
        "\nran in the most similar passed test, tests::ten_pieces_are_cheaper, and not in more_tests::large_orders_are_cheaper:\n     src/lib.rs:{way} discount    10\n"
    );
    done.check(at.contains(&not_run), &not_run);
    let found = &json(&tree)["not_run"];
    assert_eq!(
        found[0]["lines"],
        serde_json::json!([{ "file": "src/lib.rs", "line": way, "function": "discount" }])
    );
    let done = report(tree.path()).args("suspects").succeed();
    done.check(done.stdout.ends_with(&not_run[1..]), &not_run);
    done.check(first_of(&done.stdout).starts_with(&expected), &expected);
    done.check(
        first_of(&done.stdout).ends_with("let percent = if price > 5000 { // wrong"),
        "the source text",
    );
    let lines = done.stdout.lines().skip(1).take_while(|line| !line.starts_with("left out: "));
    let ranks: Vec<u32> =
        lines.filter_map(|line| line.trim_start().split_once(". ")?.0.parse().ok()).collect();
    assert!(
        ranks.len() > 2 && ranks.iter().copied().eq(1..=ranks.len() as u32),
        "a line for each rank: {ranks:?}"
    );
    done.check(!done.stdout.contains("[1/1 3/3]"), "what every test ran is no suspect");
}

/// A second mistake, in code that the first one has nothing to do with.
const OTHER: &str = r#"
pub fn label(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        text += &word[..1]; // other
        text += ".";
    }
    text
}

#[cfg(test)]
mod label_tests {
    #[test]
    fn words_are_abbreviated() {
        assert_eq!(super::label(&["some", "words"]), "s.w.");
    }

    #[test]
    fn letters_may_be_of_any_script() {
        assert_eq!(super::label(&["\u{e9}t\u{e9}"]), "\u{e9}.");
    }
}
"#;

fn clusters() {
    let tree = project("price(30, 250), 6750");
    tree.write("src/lib.rs", &format!("{}{OTHER}", tree.read("src/lib.rs")));
    let done = tests(&tree, "");
    let ways = done.stderr.matches("they failed in 2 ways; this is way ").count();
    done.check(ways == 2, "a list for each way");
    let (way, diff) = (done.stderr.find("this is way 1: "), done.stderr.find("cargo xhist diff "));
    done.check(way.is_some() && way < diff, "the test to compare is below the way in which it failed");
    let suspects = json(&tree);
    let first_of = |cluster: u64| {
        let rows = suspects["suspects"].as_array().expect("suspects").iter();
        let mut rows = rows.filter(|row| row["cluster"] == cluster);
        rows.next().map(|row| (row["line"].as_u64().unwrap() as u32, row["failed"].as_u64().unwrap()))
    };
    let line = |mark: &str| line_of(&tree.join("src/lib.rs"), mark);
    let mut found = [first_of(1), first_of(2)];
    found.sort();
    // Not halved: of one failed test in each.
    assert_eq!(found, [Some((line("// wrong"), 1)), Some((line("// other"), 1))], "{suspects:#}");
    // A test that is repeated has the suspects of its own way.
    for (test, mark, other) in
        [("letters_may", "// other", "// wrong"), ("large_orders", "// wrong", "// other")]
    {
        let why = cargo(tree.path()).args(&format!("xhist why {test}")).succeed();
        let listed = |mark: &str| why.stderr.contains(&format!("1. src/lib.rs:{} ", line(mark)));
        why.check(listed(mark) && !listed(other), "the suspects of this test only");
    }
}

/// A table that is made by the test that comes first, which is the failed one.
const INITIALIZER: &str = r#"
static RATES: std::sync::LazyLock<Vec<u32>> = std::sync::LazyLock::new(|| {
    let mut rates = Vec::new(); // initializer
    for rate in 1..4 {
        rates.push(rate * 10); // initializer
    }
    rates // initializer
});

fn rate(index: usize) -> u32 {
    RATES[index]
}

#[test]
fn a_first_rate() {
    let wanted = rate(0) + 1;
    assert_eq!(rate(0), wanted);
}

#[test]
fn b_other_rate() {
    assert_eq!(rate(1), 20);
}
"#;

fn initializers() {
    let tree = project("price(1, 250), 250");
    tree.write("src/lib.rs", &format!("{LIBRARY}{INITIALIZER}"));
    tests(&tree, "-- --test-threads=1");
    let suspects = json(&tree);
    let rows = suspects["suspects"].as_array().expect("suspects");
    let is_initializer =
        |row: &&Value| row["source"].as_str().is_some_and(|text| text.contains("// initializer"));
    assert!(!rows.is_empty() && !rows.iter().any(|row| is_initializer(&row)), "{suspects:#}");
}

fn threads() {
    let tree = project("sum(&[(1, 100), (30, 250)]), 6850");
    tests(&tree, "");
    let suspects = json(&tree);
    let counts = |function: &str| {
        let suspects = suspects["suspects"].as_array().expect("suspects");
        let own = suspects.iter().find(|suspect| suspect["function"] == function);
        own.map(|own| (own["failed"].as_u64(), own["passed"].as_u64()))
    };
    // Only threads that a test started ran `discount`, except in one passed test.
    assert_eq!(counts("discount"), Some((Some(1), Some(1))), "{suspects:#}");
    assert_eq!(counts("sum"), Some((Some(1), Some(1))), "{suspects:#}");
}

fn one_thread() {
    let tree = project("price(30, 250), 6750");
    tests(&tree, "-- --test-threads=1");
    let suspects = json(&tree);
    assert_eq!(suspects["tests"]["passed"], 3, "{suspects:#}");
    let line = line_of(&tree.join("src/lib.rs"), "// wrong");
    assert_eq!(suspects["suspects"][0]["line"], line, "{suspects:#}");
}

/// 40 functions of three lines, one after the other, and a check of what they made.
fn crash() {
    let function = |number: usize| {
        format!(
            "fn f{number}(x: u64) -> u64 {{\n    let y = x + {number};\n    let z = y % 1000;\n    z * 2\n}}\n"
        )
    };
    let call = |number: usize| format!("    x = f{number}(x);\n");
    let (functions, calls): (String, String) = (0..40).map(|number| (function(number), call(number))).unzip();
    let main = format!("{functions}fn main() {{\n    let mut x = 1;\n{calls}    assert_eq!(x, 0);\n}}\n");
    let tree = Tree::program("crash", &main);
    let done = cargo(tree.path()).args("xhist run --quiet").done().expect(101);
    let (listing, more) = done.stderr.split_once("\nmore suspects: src/main.rs:").expect("more suspects");
    let (lines, rest) = more.split_once(';').expect("a list of lines");
    done.check(rest.starts_with(" why: cargo xhist suspects\n"), "the command that says why");
    let listing = &listing[listing.find("last statements").expect("a listing")..];
    let ranked = cargo(tree.path()).args("xhist suspects").succeed();
    for line in lines.split(", ") {
        done.check(!listing.contains(&format!("src/main.rs:{line} ")), "it has no line in the listing");
        ranked.check(ranked.stdout.contains(&format!(". src/main.rs:{line} ")), "it is a suspect");
    }
}

/// The functions have a module each, so each suspect that is named takes a hundred bytes.
fn crash_in_long_paths() {
    let module = |number: usize| format!("{}_{number:02}", "a_module_with_a_long_name".repeat(4));
    let modules: String = (0..40).map(|number| format!("mod {};\n", module(number))).collect();
    let calls: String = (0..40).map(|number| format!("    x = {}::f(x);\n", module(number))).collect();
    let main = format!("{modules}fn main() {{\n    let mut x = 1;\n{calls}    assert_eq!(x, 0);\n}}\n");
    let tree = Tree::program("crash", &main);
    for number in 0..40 {
        let function = format!("pub fn f(x: u64) -> u64 {{\n    (x + {number}) % 1000\n}}\n");
        tree.write(&format!("src/{}.rs", module(number)), &function);
    }
    let done = cargo(tree.path()).args("xhist run --quiet").done().expect(101);
    let answer = &done.stderr[done.stderr.find("\nxhist: ").expect("an answer")..];
    done.check(answer.len() <= 4096, "4 KiB at most");
    let (listing, more) = answer.split_once("\nmore suspects: ").expect("more suspects");
    let more = more.lines().next().unwrap_or_default();
    let suspects = json(&tree);
    for suspect in suspects["suspects"].as_array().expect("suspects").iter().take(16) {
        let (file, line) = (suspect["file"].as_str().expect("a file"), suspect["line"].to_string());
        let is_listed = listing.contains(&format!("  {file}:{line} "));
        let mut named = more.split("; ").filter_map(|list| list.strip_prefix(file)?.strip_prefix(':'));
        let is_named = named.any(|lines| lines.split(", ").any(|of| of == line));
        done.check(is_listed || is_named, &format!("{file}:{line} has a line, or is named"));
    }
}

fn alone() {
    let tree = project("price(30, 250), 6750");
    tests(&tree, "large_orders");
    let done = report(tree.path()).args("suspects").succeed();
    let title =
        "suspects of 1 failed test; no passed test is recorded: ranked by the order of the history alone\n";
    done.check(done.stdout.starts_with(title), title);
    assert_eq!(json(&tree)["order_only"], true);
    done.check(done.stdout.contains(&wrong(&tree)), "the wrong line ran");
}

fn formats() {
    let tree = project("price(30, 250), 6750");
    tests(&tree, "");
    let suspects = json(&tree);
    assert_eq!((&suspects["xhist"], &suspects["formula"]), (&"suspects".into(), &"ochiai".into()));
    let ranks: Vec<u64> = suspects["suspects"]
        .as_array()
        .expect("suspects")
        .iter()
        .map(|one| one["rank"].as_u64().unwrap())
        .collect();
    assert!(ranks.iter().copied().eq(1..=ranks.len() as u64), "{ranks:?}");
    assert_eq!(suspects["functions"][0]["function"], "discount");
    let of_functions = suspects["functions"].as_array().expect("functions").iter();
    let mut of_functions: Vec<u64> = of_functions
        .flat_map(|function| function["suspects"].as_array().expect("ranks"))
        .map(|rank| rank.as_u64().unwrap())
        .collect();
    of_functions.sort_unstable();
    assert_eq!(of_functions, ranks, "each suspect is in one function");
    let done = report(tree.path()).args("suspects --format sarif").succeed();
    let sarif: Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), ranks.len());
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/lib.rs");
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0), "{result:#}");
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result:#}");
        assert_eq!(result["ruleId"], sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"]);
    }
    let flow = &results[0]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert!(flow.as_array().is_some_and(|steps| !steps.is_empty()), "{:#}", results[0]);
}

/// The package serde-sarif contains the schema of OASIS.
fn sarif_schema() {
    let (package, _) = Crate::named("serde-sarif@0.8.0").unpack();
    let schema = package.read("src/schema.json");
    assert!(schema.contains("Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"));
    let tree = project("sum(&[(1, 100), (30, 250)]), 6850");
    tests(&tree, "");
    let sarif = report(tree.path()).args("suspects --format sarif").succeed().stdout.replace('\n', " ");
    tree.write("schema.json", &schema);
    validate(&tree, &sarif).expect(0);
    // The schema is in force: it refuses another name of a key.
    validate(&tree, &sarif.replacen("\"ruleId\"", "\"rule\"", 1)).expect(1);
}

fn errors() {
    let tree = project("price(30, 250), 6000");
    cargo(tree.path()).args("xhist test --lib --quiet").succeed();
    let done = report(tree.path()).args("suspects").done().expect(1);
    done.check(
        done.stderr.contains("no test failed and no program crashed in this run"),
        "a run that succeeded",
    );
    report(tree.path()).args("suspects nowhere").done().expect(2);
    let done = report(tree.path()).args("suspects src").done().expect(1);
    done.check(done.stderr.contains("no run.json there"), "a directory without a run");
    tree.replace("src/lib.rs", "6000", "6750");
    tests(&tree, "");
    let run = newest_run(&tree);
    let spectra = spectra_in(&run);
    let mut bytes = std::fs::read(&spectra).expect("spectra");
    // The hash of the map in the first spectrum.
    let first = bytes.windows(8).position(|bytes| bytes == spectrum::MAGIC).expect("a spectrum");
    bytes[first + 24] ^= 1;
    std::fs::write(&spectra, &bytes).expect("a changed file");
    let done = report(tree.path()).arg("suspects").arg(&run).done().expect(1);
    done.check(done.stderr.contains("of different builds"), "a program of another build");
    std::fs::write(&spectra, &bytes[..first + 100]).expect("a cut file");
    report(tree.path()).arg("suspects").arg(&run).done().expect(1);
}

fn newest_run(tree: &Tree) -> PathBuf {
    let runs = std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs").flatten();
    runs.map(|run| run.path()).max().expect("a run")
}

fn spectra_in(run: &std::path::Path) -> PathBuf {
    let files = std::fs::read_dir(run).expect("files").flatten().map(|file| file.path());
    let is_spectra = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "spectra");
    files.into_iter().find(is_spectra).expect("a file of spectra")
}

/// Small crates usually; all with `XHIST_LONG=1`, of which three quarters are named, and half are among the first five.
fn crates() {
    const SMALL: [&str; 3] = ["heck", "shlex", "strsim"];
    let mut faults = Fault::list();
    faults.retain(|fault| !fault.is_real() && (is_long() || SMALL.contains(&fault.name.as_str())));
    let (mut named, mut among_five) = (0, 0);
    for of_crate in faults.chunk_by(|one, other| one.name == other.name) {
        let (released, tree) = of_crate[0].unpack();
        for fault in of_crate {
            let verdict = fault.examine(&released, &tree, false);
            println!("{} {}:{} {:?}", fault.name, fault.edits[0].file, verdict.line, verdict.rank);
            named += usize::from(verdict.is_named);
            among_five += usize::from(verdict.rank.is_some_and(|rank| rank <= 5));
        }
    }
    let all = faults.len();
    assert!(named * 4 >= all * 3, "{named} of {all} are named");
    assert!(among_five * 2 >= all, "{among_five} of {all} are among the first five");
}
