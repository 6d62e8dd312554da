//! A wrong state that was made long before the failure: is it in reach, though a small ring has overwritten most of what ran
//! between?

use std::sync::OnceLock;

use xhist_tests::{Case, Listing, Run, Tree, cargo, line_of, report};

pub const CASES: &[Case] = &[
    Case::new("the_answer_names_the_statement_that_set_the_wrong_state_long_ago", answer),
    Case::new("a_history_has_what_ran_first_and_says_how_much_is_overwritten_behind_it", history),
    Case::new("no_call_before_what_is_overwritten_is_open_behind_it", calls),
    Case::new("runs_without_a_common_point_at_their_ends_are_compared_by_what_ran_first", beginnings),
];

/// The scale of the first test is wrong from its first statements on. 580,000 statements later an assertion fails. The rounds of
/// the loop differ, so they do not fold.
const METER: &str = r#"
struct Meter {
    scale: u32,
    sum: u64,
    seed: u32,
}

impl Meter {
    fn new(text: &str) -> Meter {
        let mut meter = Meter { scale: 10, sum: 0, seed: 1 };
        meter.configure(text);
        meter
    }

    fn configure(&mut self, text: &str) {
        for line in text.lines() {
            let Some((key, value)) = line.split_once('=') else { continue };
            if key == "scale" {
                self.set_scale(value);
            }
        }
    }

    fn set_scale(&mut self, value: &str) {
        let digits = value.trim_end_matches('0');
        self.scale = digits.parse().unwrap_or(1); // wrong
    }

    fn read(&mut self) {
        self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = self.seed >> 20;
        if value & 1 == 1 {
            self.add(value);
        }
        if value & 2 == 2 {
            self.add(value / 2);
        }
        if value & 4 == 4 {
            self.sum += 1;
        }
    }

    fn add(&mut self, value: u32) {
        let scaled = value * self.scale;
        self.sum += u64::from(scaled);
    }
}

fn main() {}

#[test]
fn a_scale_of_ten() {
    let mut meter = Meter::new("name=a\nscale=10\n");
    for _ in 0..60_000 {
        meter.read();
    }
    assert!(meter.sum > 500_000_000, "sum {}", meter.sum); // fails
}

#[test]
fn the_usual_scale() {
    let mut meter = Meter::new("name=a");
    for _ in 0..60_000 {
        meter.read();
    }
    assert!(meter.sum > 500_000_000, "sum {}", meter.sum);
}
"#;

/// The tests, and what running them in small rings printed.
fn tree() -> &'static (Tree, String) {
    static TREE: OnceLock<(Tree, String)> = OnceLock::new();
    TREE.get_or_init(|| {
        let tree = Tree::program("long-ago", METER);
        let run = cargo(tree.path()).args("xhist test -q").env("XHIST_SIZE", "64k");
        let printed = run.done().expect(101).stderr;
        (tree, printed)
    })
}

fn place(mark: &str) -> String {
    format!("src/main.rs:{}", line_of(&tree().0.join("src/main.rs"), mark))
}

fn xhist(arguments: &str) -> Run {
    cargo(tree().0.path()).args(&format!("xhist {arguments}"))
}

fn answer() {
    let printed = &tree().1;
    let start = printed.find("xhist: test a_scale_of_ten failed").expect("the answer");
    let wrong = printed[start..].find(&place("// wrong")).expect("the wrong statement");
    let rest = &printed[start + wrong..];
    assert!(rest.lines().next().is_some_and(|line| line.contains("  <- suspect ")), "{printed}");
    let overwritten = rest.find("... what ran here is overwritten in the ring\n");
    let failed = rest.find(&place("// fails"));
    assert!(overwritten.is_some() && overwritten < failed, "{printed}");
}

fn history() {
    // All of it is a complete report: a ring forgets what is old.
    let done = xhist("history --thread a_scale_of_ten").succeed();
    let before = " bytes of statements are overwritten, before entry ";
    let (bytes, entry) = done.stderr.split_once(before).expect("how much is overwritten");
    let bytes: u64 = bytes.rsplit(' ').next().and_then(|bytes| bytes.parse().ok()).expect("bytes");
    let entry: usize = entry.lines().next().and_then(|entry| entry.parse().ok()).expect("an entry");
    let listing = Listing::parse(&done.stdout);
    let places = listing.places();
    let wrong = places.iter().position(|at| *at == place("// wrong")).expect("the wrong statement");
    done.check(wrong < 20 && entry > 20_000 && entry < places.len(), "it is among the first");
    // A word of this program has two bytes.
    done.check(places.len() - wrong + bytes as usize / 2 > 400_000, "it was long ago");
    done.check(listing.last() == place("// fails"), "the last one");
    let last = xhist("history --thread a_scale_of_ten --last 5").succeed();
    last.check(!last.stderr.contains("overwritten"), "what is not asked for has no note");
    last.check(Listing::parse(&last.stdout).places()[..] == places[places.len() - 5..], "the last five");
}

fn calls() {
    let done = xhist("calls --thread a_scale_of_ten").succeed();
    let (before, behind) = done.stdout.split_once(" bytes of statements are overwritten\n").expect("the gap");
    let begins = |line: &&str| line.starts_with("a_scale_of_ten  ");
    // A call with more rows than the report keeps back ends at a line of its own.
    let ends = |line: &&str| begins(line) || line.starts_with("} a_scale_of_ten, ");
    done.check(before.lines().filter(begins).count() == 1, "one call before the gap");
    done.check(before.lines().filter(ends).any(|line| line.ends_with(", end not seen")), "it is left there");
    done.check(before.contains("Meter::set_scale  "), "the statement long ago");
    // What is behind it may be any other call of the same function.
    done.check(
        behind.contains("\na_scale_of_ten  ") || behind.starts_with("a_scale_of_ten  "),
        "another one behind it",
    );
}

/// Two ways that have nothing in common but what decides between them.
const WAYS: &str = r#"
fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    let is_left = chosen(&way);
    if is_left {
        left();
    } else {
        right();
    }
}

fn chosen(way: &str) -> bool {
    if way.len() > 4 {
        return false; // too long
    }
    way == "left"
}

fn left() {
    let mut seed = 1_u32;
    loop {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if seed >> 31 == 1 {
            std::hint::black_box(seed);
        }
        assert!(seed != 3_783_823_169, "the end");
    }
}

fn right() {
    let mut seed = 2_u32;
    loop {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if seed >> 31 == 1 {
            std::hint::black_box(seed);
        }
        assert!(seed != 3_080_844_354, "the end");
    }
}
"#;

fn beginnings() {
    let tree = Tree::program("beginnings", WAYS);
    for way in ["left", "right"] {
        let run = cargo(tree.path()).args("xhist run -q --").arg(way).env("XHIST_SIZE", "64k");
        run.env("XHIST_FILE", tree.join(&format!("{way}.xhist"))).done().expect(101);
    }
    let done = report(tree.path()).args("diff left.xhist right.xhist").done();
    let at = |mark: &str| format!("src/main.rs:{}", line_of(&tree.join("src/main.rs"), mark));
    done.check(done.stdout.contains(&at("// too long")), "the first place where they part");
    done.check(!done.stdout.contains("no common point"), "it is found");
    done.check(done.stderr.contains("only what ran first is aligned"), "what is compared");
    done.check(!done.stderr.contains("only what is behind"), "what is not");
}
