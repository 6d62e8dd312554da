//! The origin of a value: `cargo xhist origin`, and what `cargo xhist why` prints of it.

use xhist_tests::{Case, Done, Tree, cargo};

pub const CASES: &[Case] = &[
    Case::new("a_value_is_followed_to_where_it_was_made", followed),
    Case::new("what_is_not_recorded_ends_the_way_back", ends),
    Case::new("a_question_mark_that_was_passed_has_not_returned", passed),
    Case::new("a_branch_within_a_value_is_followed", within),
    Case::new("the_closure_of_a_library_method_made_its_value", closures),
    Case::new("calls_that_are_recorded_are_what_a_value_was_made_of", recorded_calls),
    Case::new("a_call_that_panicked_returned_nothing", panicked),
    Case::new("rounds_of_loops_are_distinguished", rounds),
    Case::new("a_later_round_of_a_while_loop_is_that_round", later_rounds),
    Case::new("without_values_each_hop_is_marked", marked),
    Case::new("what_has_no_origin_is_an_error", errors),
    Case::new("an_origin_fits_into_its_budget", budget),
];

const LIBRARY: &str = r#"#[derive(Debug)]
pub struct Counter {
    count: u32,
    step: u32,
    marks: Vec<u32>,
}

impl Counter {
    fn new(step: u32) -> Counter {
        Counter { count: 0, step, marks: Vec::new() }
    }

    fn set(&mut self, value: u32) {
        self.count = value;
    }

    fn slot(&mut self) -> &mut u32 {
        &mut self.step
    }

    fn total(&self) -> u32 {
        self.count
    }

    fn left(&self) -> u32 {
        self.step - self.total()
    }
}

fn parse(text: &str) -> Option<u32> {
    let number = text.trim().parse::<u32>().ok()?;
    if number > 9 { None } else { Some(number) }
}

fn pick(kind: &str) -> u32 {
    let step = match kind {
        "small" => 1,
        "big" => {
            let base = parse(" 7 ").unwrap();
            base
        }
        _ => 2,
    };
    step
}

fn run(kind: &str) -> Counter {
    let step = pick(kind);
    let mut counter = Counter::new(step);
    counter.set(step);
    counter.marks.push(3);
    counter
}

fn double(number: u32) -> u32 {
    number * 2
}

fn sum(numbers: &[u32]) -> u32 {
    let mut sum = 0;
    for number in numbers {
        sum += double(*number);
    }
    sum
}

fn width(word: &str) -> usize {
    word.len()
}

impl Counter {
    fn twice(self) -> Option<u32> {
        let total = self.count;
        Some(total)
    }
}

fn subtract(first: i32, second: i32) -> i32 {
    let mut left = first;
    left = if second > 0 { second - left } else { left };
    left
}

fn next_of(n: u32) -> Option<u32> {
    let more = n + 1;
    if more > 3 { None } else { Some(more) }
}

fn parsed(text: &str) -> Option<u32> { Counter::new(parse(text)?).twice() }

fn limit_of(kind: &str) -> Result<u32, String> {
    Ok(match kind {
        "low" => parse("3").ok_or_else(String::new)?,
        _ => 9,
    })
}

fn grown(number: Option<u32>) -> Option<u32> {
    number.map(|small| {
        let more = small + 1;
        more * 2
    })
}

fn square(above: u32) -> Option<u32> {
    let mut root = 0;
    return Some(loop {
        root += 1;
        if root * root > above {
            break root;
        }
    });
}

fn low_counter(kind: &str) -> Counter {
    Counter {
        count: if kind == "low" { 3 } else { 4 },
        step: match limit_of(kind) {
            Ok(limit) => limit,
            Err(_) => 0,
        },
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_counters_have_a_total() {
        let counter = run("big");
        let total = counter.total();
        assert_eq!(total, 8);
    }

    #[test]
    fn slots_are_set() {
        let mut counter = Counter::new(1);
        *counter.slot() = 2;
        let step = counter.step;
        assert_eq!(step, 3);
    }

    #[test]
    fn limits_are_lowered() {
        let mut limit = 3_u32;
        limit = limit.wrapping_sub(1);
        assert_eq!(limit, 3);
    }

    #[test]
    fn words_have_widths() {
        let words = ["one", "three"];
        let widths: Vec<usize> = words.iter().map(|word| super::width(word)).collect();
        assert_eq!(widths, [3, 4]);
    }

    #[test]
    fn parsed_numbers_are_doubled() {
        let left = parsed("7");
        assert_eq!(left, Some(14));
    }

    #[test]
    fn numbers_are_subtracted() {
        assert_eq!(subtract(7, 2), 5);
    }

    #[test]
    fn totals_are_near() {
        let counter = run("big");
        assert!((counter.total() as i32 - 9).abs() < 1);
    }

    #[test]
    fn something_is_left() {
        let counter = Counter { count: 2, step: 1, marks: Vec::new() };
        assert_eq!(counter.left(), 1);
    }

    #[test]
    fn loops_end() {
        let mut reached = 0;
        while let Some(next) = next_of(reached) {
            reached = next;
        }
        assert_eq!(reached, 4);
    }

    #[test]
    fn low_limits_are_four() {
        assert_eq!(limit_of("low"), Ok(4));
    }

    #[test]
    fn low_counters_have_big_steps() {
        let counter = low_counter("low");
        assert_eq!(counter.step, 4);
    }

    #[test]
    fn grown_numbers_are_big() {
        let number = grown(Some(3)).ok_or("none").unwrap();
        assert_eq!(number, 9);
    }

    #[test]
    fn squares_are_above() {
        let root = square(10);
        assert_eq!(root, Some(3));
    }

    #[test]
    fn sums_are_doubled() {
        assert_eq!(sum(&[1, 2]), 7);
    }
}
"#;

/// A failed run of the tests, or of one of them.
fn project() -> Tree {
    let tree = Tree::package("origin");
    tree.write("src/lib.rs", LIBRARY);
    tree
}

fn xhist(tree: &Tree, arguments: &str) -> Done {
    cargo(tree.path()).args(&format!("xhist {arguments}")).done()
}

/// The place, the text and what has the value of each line of a way back, and its last line.
fn lines(done: &Done) -> Vec<String> {
    let shown = done.stdout.lines().filter(|line| line.starts_with("  ") && !line.contains("go on: "));
    shown.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The first line of the library with this text.
fn line_of_text(text: &str) -> usize {
    LIBRARY.lines().position(|line| line.trim() == text).map_or(0, |index| index + 1)
}

/// Runs one test with all values; it fails.
fn with_values(tree: &Tree, test: &str) {
    xhist(tree, &format!("test --lib --values ** -- --exact tests::{test}")).expect(101);
}

fn followed() {
    let tree = project();
    with_values(&tree, "big_counters_have_a_total");
    let done = xhist(&tree, "origin total").expect(0);
    let expected = [
        ("let total = counter.total();", "total = 7"),
        ("self.count", "returned = 7"),
        ("let total = counter.total();", "passes self.count = 7"),
        ("let counter = run(\"big\");", "counter.count = 7"),
        ("counter", "returned = 7"),
        ("self.count = value;", "self.count = 7"),
        ("counter.set(step);", "passes value = 7"),
        ("let step = pick(kind);", "step = 7"),
        ("step", "returned = 7"),
        ("let step = match kind {", "step = 7"),
        ("base", "this branch ran = 7"),
        ("let base = parse(\" 7 \").unwrap();", "base = 7"),
        ("if number > 9 { None } else { Some(number) }", "returned Some(number)"),
        ("let number = text.trim().parse::<u32>().ok()?;", "number = 7"),
    ];
    let found = lines(&done);
    done.check(found.len() == expected.len() + 1, "a line for each statement, and the end");
    for (line_of, (source, what)) in found.iter().zip(expected) {
        let place = format!("src/lib.rs:{} ", line_of_text(source));
        done.check(line_of.contains(&place) && line_of.ends_with(&format!("{source} {what}")), source);
    }
    let end = format!(
        "made in src/lib.rs:{} by `.parse`, which is not recorded, of text = \" 7 \"",
        line_of_text("let number = text.trim().parse::<u32>().ok()?;")
    );
    done.check(found.last() == Some(&end), "where it was made");
    // Only what is known from the text has a mark: `unwrap` is not recorded.
    let marked = found.iter().filter(|line| line.starts_with('~')).count();
    done.check(marked == 1 && found[12].starts_with('~'), "one mark");
    // The command that is shown goes on.
    let next = done.stdout.lines().find_map(|line| line.trim().strip_prefix("go on: cargo xhist "));
    let next = xhist(&tree, next.unwrap_or_default()).expect(0);
    next.check(
        next.stdout.contains("passes text = \" 7 \"") && next.stdout.contains("by `\" 7 \"`"),
        "the text",
    );
    let json = xhist(&tree, "origin total --format json").expect(0);
    let rows: Vec<serde_json::Value> =
        json.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    json.check(rows.len() == expected.len() + 2 && rows[0]["kind"] == "origin", "the same");
    json.check(
        rows[1]["how"] == "bound" && rows[1]["value"] == "7" && rows[13]["known_by"] == "text",
        "a hop",
    );
    json.check(rows[15]["kind"] == "made" && rows[15]["of"][0]["value"] == "\" 7 \"", "the end");
}

fn ends() {
    let tree = project();
    with_values(&tree, "big_counters_have_a_total");
    let marks = xhist(&tree, "origin counter.marks").expect(0);
    let line = line_of_text("counter.marks.push(3);");
    let why = format!("`push` in src/lib.rs:{line} may have changed `counter`, and is not recorded");
    let end = format!("it is not known further back: {why}");
    marks.check(marks.stdout.contains(&end), "a method of another crate");
    with_values(&tree, "slots_are_set");
    let step = xhist(&tree, "origin step").expect(0);
    let why = format!("`slot` got `counter` in src/lib.rs:{}", line_of_text("*counter.slot() = 2;"));
    step.check(step.stdout.contains(&format!("it is not known further back: {why}")), "a reference");
    step.check(step.stdout.contains("step = 2"), "the value as it was recorded");
    step.check(!step.stdout.contains("made in"), "no guess");
    with_values(&tree, "limits_are_lowered");
    let limit = xhist(&tree, "origin limit").expect(0);
    let end = "by `.wrapping_sub`, which is not recorded, of limit = 3";
    limit.check(limit.stdout.contains(end), "the assignment is behind what is on its right");
    with_values(&tree, "words_have_widths");
    let widths = xhist(&tree, "origin widths").expect(0);
    let end =
        "by `.collect`, which is not recorded, and may have called `width`, of words = [\"one\", \"three\"]";
    widths.check(widths.stdout.contains(end), "a function that a closure called");
    with_values(&tree, "numbers_are_subtracted");
    let left = xhist(&tree, "origin left last").expect(0);
    let end = "by `second - left`, of second = 2, left = 7\n";
    left.check(left.stdout.contains(end), "what is assigned was made of the value before");
}

/// A call behind a `?` ran, so the `?` has not returned.
fn passed() {
    let tree = project();
    xhist(&tree, "test --lib parsed_numbers").expect(101);
    let done = xhist(&tree, "origin left").expect(0);
    done.check(
        done.stdout.contains(" returned Counter::new(parse(text)?).twice()\n"),
        "the value, not the error",
    );
    done.check(done.stdout.contains("  Some(total)  returned\n"), "the call behind the `?`");
    done.check(done.stdout.contains(" by `0`\n"), "what `Some` wraps is followed to its end");
}

/// The last statement of a function is an arm within its value. The `?` in it was passed.
fn within() {
    let tree = project();
    with_values(&tree, "low_limits_are_four");
    let unclear = xhist(&tree, "origin left").expect(0);
    unclear.check(unclear.stdout.contains("may have returned from `limit_of`, or not\n"), "no answer");
    with_values(&tree, "low_counters_have_big_steps");
    let done = xhist(&tree, "origin left").expect(0);
    for hop in [
        " Counter {  returned Counter { count: if kind == ",
        "  Ok(limit) => limit,  this branch ran: limit = 3\n",
        " Ok(match kind {  returned Ok(match kind { ",
        "  this branch ran: parse(\"3\").ok_or_else(String::new)? = 3\n",
        "  made in src/lib.rs:",
    ] {
        done.check(done.stdout.contains(hop), hop);
    }
    with_values(&tree, "squares_are_above");
    let done = xhist(&tree, "origin left").expect(0);
    for hop in [
        "  return Some(loop {  returned Some(loop { ",
        "  break root;  this branch ran: root = 4\n",
        " by `+=`, of root = 3\n",
    ] {
        done.check(done.stdout.contains(hop), hop);
    }
}

/// `map` of the standard library is not recorded, its closure is.
fn closures() {
    let tree = project();
    with_values(&tree, "grown_numbers_are_big");
    let done = xhist(&tree, "origin left").expect(0);
    done.check(done.stdout.contains(" grown::{closure} "), "the closure");
    done.check(done.stdout.contains("  more * 2  returned\n"), "what it returned");
    done.check(done.stdout.contains(" by `more * 2`, of more = 4\n"), "the end");
    let given = xhist(&tree, "origin small").expect(0);
    given.check(given.stdout.contains("  number.map(|small| {  passes small = 3\n"), "what the closure got");
    given.check(given.stdout.contains("  passes number.0 = 3\n"), "and the function around it");
    given.check(given.stdout.contains(" by `3`\n"), "the end");
}

/// The way ends at code that is not recorded, and goes on with what a call in the same statement returned.
fn recorded_calls() {
    let tree = project();
    with_values(&tree, "totals_are_near");
    let done = xhist(&tree, "origin left").expect(0);
    done.check(
        done.stdout.contains(" by `.abs`, which is not recorded, of counter.total()\n"),
        "not of `counter`",
    );
    let next = done.stdout.lines().find_map(|line| line.trim().strip_prefix("go on: cargo xhist origin "));
    let next = next.unwrap_or_default().trim_matches('\'');
    done.check(next.starts_with("counter.total()@"), "the command goes on with the call");
    let next = cargo(tree.path()).args("xhist origin").arg(next).done().expect(0);
    next.check(next.stdout.starts_with("origin of `counter.total()` at "), "the call");
    next.check(next.stdout.contains("  self.count  returned\n"), "what it returned");
    let none = xhist(&tree, "origin counter.none()").expect(2);
    none.check(none.stderr.contains("has no call `counter.none()`"), "a call that is not there");
}

/// The assertion compared nothing: the call in it panicked.
fn panicked() {
    let tree = project();
    xhist(&tree, "test --lib something_is_left").expect(101);
    let why = xhist(&tree, "why").expect(0);
    why.check(!why.stderr.contains("origin of left"), "it has no sides");
    let left = xhist(&tree, "origin left").expect(2);
    left.check(left.stderr.contains("has a variable `left`"), "nor by its name");
}

fn rounds() {
    let tree = project();
    with_values(&tree, "sums_are_doubled");
    let history = xhist(&tree, "history").expect(0);
    let place = format!(" src/lib.rs:{}", line_of_text("sum += double(*number);"));
    let behind = format!("{place} ");
    let entries: Vec<&str> =
        history.stdout.lines().filter(|line| line.ends_with(&place) || line.contains(&behind)).collect();
    let number = |index: usize| entries[index].split(' ').next().unwrap_or_default();
    history.check(entries.len() == 2, "two rounds");
    let first = xhist(&tree, &format!("origin number@{}", number(0))).expect(0);
    first.check(first.stdout.starts_with(&format!("origin of `number` at {} = 1 ", number(0))), "the first");
    let second = xhist(&tree, &format!("origin sum@{}", number(1))).expect(0);
    second.check(second.stdout.contains("by `+=`, of sum = 2, number = 2"), "the second");
    let why = xhist(&tree, "why").expect(0);
    why.check(why.stderr.contains("\norigin of left, `sum(&[1, 2])`:\n"), "the side of the assertion");
    why.check(why.stderr.contains("by `+=`, of sum = 2, number = 2"), "its end");
    let left = xhist(&tree, "origin left last").expect(0);
    left.check(left.stdout.starts_with("origin of `sum(&[1, 2])` at "), "the side by its name");
    why.check(!why.stderr.contains("origin of right"), "nothing is behind a number in the assertion");
}

/// The head of the loop is recorded once, and runs before each round.
fn later_rounds() {
    let tree = project();
    with_values(&tree, "loops_end");
    let reached = xhist(&tree, "origin reached").expect(0);
    let head = "while let Some(next) = next_of(reached) {";
    reached.check(reached.stdout.contains(&format!("{head}  next = 3\n")), "what the last round bound");
    reached.check(reached.stdout.contains("  let more = n + 1;  more = 3\n"), "the call of that round");
    reached.check(reached.stdout.contains(" by `n + 1`, of n = 2\n"), "and its parameter");
    let next = reached.stdout.lines().find_map(|line| line.trim().strip_prefix("go on: cargo xhist "));
    let next = xhist(&tree, next.unwrap_or_default()).expect(0);
    next.check(next.stdout.contains(&format!("{head}  passes n = 2\n")), "the head passed it");
    next.check(next.stdout.contains("  reached = next;  reached = 2\n"), "of the round before");
    let frame = xhist(&tree, "frame next_of").expect(0);
    frame.check(frame.stdout.contains(&format!("loops_end: {head} ")), "the call is from the head");
}

fn marked() {
    let tree = project();
    xhist(&tree, "test --lib big").expect(101);
    let done = xhist(&tree, "origin total").expect(0);
    let found = lines(&done);
    done.check(found.len() == 15 && found[..14].iter().all(|line| line.starts_with('~')), "the same way");
    done.check(done.stdout.contains("no values are recorded: `cargo xhist why` "), "what to type");
}

fn errors() {
    let tree = project();
    let none = xhist(&tree, "origin total").expect(2);
    none.check(none.stderr.contains("cargo xhist"), "there is no run");
    xhist(&tree, "test --lib big").expect(101);
    for (arguments, said) in [
        ("origin total@x", "`x` in `total@x` is not the number of an entry"),
        ("origin total@999", "there is no entry 999: the history ends with "),
        ("origin unheard_of", "has a variable `unheard_of`"),
        ("origin 1+2", "`1+2` is not a variable"),
    ] {
        let done = xhist(&tree, arguments).expect(2);
        done.check(done.stderr.contains(said) && done.stdout.is_empty(), said);
    }
}

/// Both ends of the way stay, and the last line has the command for all of it.
fn budget() {
    let tree = project();
    with_values(&tree, "big_counters_have_a_total");
    for format in ["text", "json"] {
        let command = format!("origin total --format {format}");
        let whole = xhist(&tree, &command).expect(0).stdout;
        let large = xhist(&tree, &format!("{command} --budget 100k")).expect(0);
        large.check(large.stdout == whole, "all of it fits");
        let done = xhist(&tree, &format!("{command} --budget 1024")).expect(0);
        done.check(done.stdout.len() <= 1024 && whole.len() > 1024, "it fits");
        let (rows, all): (Vec<&str>, Vec<&str>) = (done.stdout.lines().collect(), whole.lines().collect());
        done.check(rows[0] == all[0] && rows[1] == all[1], "the first lines");
        let last = rows.last().expect("a last line");
        if format == "json" {
            let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
            done.check(last["kind"] == "made" && last["left_out"]["entries"].as_u64() > Some(0), "the end");
            done.check(last["left_out"]["command"] == format!("cargo xhist {command}"), "the command");
        } else {
            done.check(done.stdout.contains("made in src/lib.rs:"), "the end");
            done.check(last.ends_with(&format!(" All: cargo xhist {command}")), "the command");
            let is_own = |row: &&str| all.contains(row) || row.starts_with("... ");
            done.check(rows[..rows.len() - 1].iter().all(is_own), "whole lines");
        }
    }
}
