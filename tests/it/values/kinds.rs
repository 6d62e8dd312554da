//! What values of each kind point to, in a program of tests, where no `main` calls the recorder.

use xhist_tests::{Done, Tree, cargo, report};

const LIB: &str = r#"use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

pub enum Kind { Food, Tool { weight: u32 } }
pub struct Price { pub cents: u64, pub currency: &'static str }
pub struct Store { prices: Vec<u64>, names: HashMap<String, u64>, open: bool }
pub struct Unit;
struct Guarded(Cell<u32>, std::sync::Mutex<u8>);

impl Store {
    fn add(&mut self, name: &str, cents: u64) {
        self.names.insert(name.to_owned(), cents);
        self.prices.push(cents);
    }
    fn count(&self) -> usize {
        let many = self.prices.len();
        many
    }
}
impl Unit {
    fn none(&self) -> u8 {
        let zero = 0;
        zero
    }
}
impl Drop for Price {
    fn drop(&mut self) {
        panic!("no code of the program runs");
    }
}
impl std::fmt::Debug for Kind {
    fn fmt(&self, _: &mut std::fmt::Formatter) -> std::fmt::Result {
        panic!("no code of the program runs")
    }
}
impl std::ops::Deref for Guarded {
    type Target = u8;
    fn deref(&self) -> &u8 {
        panic!("no code of the program runs")
    }
}

fn largest<T: Copy + PartialOrd>(items: &[T], first: &T) -> T {
    let mut best = *first;
    for item in items {
        if *item > best { best = *item; }
    }
    best
}

fn generic<T: AsRef<str>>(text: T, other: impl AsRef<str>) -> usize {
    let inner = text.as_ref();
    inner.len() + other.as_ref().len()
}

fn pointers(kind: &Kind, price: &Price, guarded: &Guarded, object: &dyn Fn(), array: &[u16; 3]) -> u64 {
    let cents = price.cents;
    let again = &kind;
    object();
    cents + u64::from(guarded.0.get()) + u64::from(array[0]) + u64::from(matches!(again, Kind::Food))
}

#[test]
fn all() {
    let text = "a \"text\"";
    let owned = String::from("owned");
    let to_owned = &owned;
    let twice = &to_owned.as_str();
    let boxed: Box<str> = "boxed".into();
    let counted: Rc<str> = "counted".into();
    let shared: Arc<String> = Arc::new("shared".into());
    let cow = Cow::Borrowed("cow");
    let path = Path::new("a/b");
    let buffer = PathBuf::from("c/d");
    let some = Some("some");
    let some_owned = Some(String::from("some owned"));
    let none = None::<&str>;
    let empty = String::new();
    let long = "x".repeat(100);
    let bytes = vec![1u8, 2, 255];
    let slice = &bytes[1..];
    let many = vec![7i64; 50];
    let array = [9u16; 40];
    let floats: Box<[f64]> = Box::new([0.5, -1.0]);
    let number = &42i32;
    let letter = &mut 'x';
    let heap = Box::new(8u64);
    let tree = BTreeMap::from([(1u8, 2u8), (3, 4)]);
    let mut store = Store { prices: Vec::new(), names: HashMap::new(), open: true };
    store.add("apple", 120);
    let size = store.count();
    let nothing = Unit.none();
    let best = largest(&[3u16, 9, 4], &3);
    let length = generic("generic", String::from("other"));
    let price = std::mem::ManuallyDrop::new(Price { cents: 5, currency: "EUR" });
    let guarded = Guarded(Cell::new(6), std::sync::Mutex::new(7));
    let sum = pointers(&Kind::Tool { weight: 3 }, &price, &guarded, &|| (), &[1, 2, 3]);
    let prices = vec![price];
    for each in &prices {
        let cents = each.cents;
        std::hint::black_box(cents);
    }
    let mut turn = 0;
    while turn < 3000 {
        let label = text;
        turn += label.len() / 8;
    }
    std::hint::black_box((twice, &boxed, &counted, &shared, &cow, path, &buffer, some, &some_owned, none, &empty));
    std::hint::black_box((&long, slice, &many, &array, &floats, number, letter, &heap, &tree, store.open, size));
    std::hint::black_box((nothing, best, length, sum));
    panic!("at the end");
}
"#;

/// What the history shows of them.
const SHOWN: &[&str] = &[
    r#"text = "a \"text\"""#,
    r#"owned = "owned""#,
    r#"to_owned = "owned""#,
    r#"twice = "owned""#,
    r#"boxed = "boxed""#,
    r#"counted = "counted""#,
    r#"shared = "shared""#,
    r#"cow = "cow""#,
    r#"path = "a/b""#,
    r#"buffer = "c/d""#,
    r#"some = Some("some")"#,
    r#"some_owned = Some("some owned")"#,
    "none = None",
    r#"empty = """#,
    r#"x".. (100 bytes)"#,
    "bytes = [1, 2, 255]",
    "slice = [2, 255]",
    "7, ..; 50]",
    "9, ..; 40]",
    "floats = [0.5, -1.0]",
    "number = 42",
    "letter = 'x'",
    "heap = 8",
    "tree = BTreeMap(len 2)",
    // `self` when the method begins.
    "self = Store { prices: [], names: HashMap(len 0), open: .. }",
    "names: HashMap(len 1), open: .. }",
    "self = Unit",
    "items = [3, 9, 4], first = 3, best = 3",
    "item = 9",
    "best = 9",
    r#"text = "generic", other = "other", inner = "generic""#,
    r#"kind = Tool { weight: 3 }, price = Price { cents: 5, currency: "EUR" }"#,
    "array = [1, 2, 3], cents = 5",
];

/// A test program that ran with values.
fn tested(name: &str, source: &str) -> (Tree, Done) {
    let tree = Tree::package(name);
    tree.write("src/lib.rs", source);
    let done = cargo(tree.path()).args("xhist test --quiet --values **").done().expect(101);
    (tree, done)
}

pub(super) fn what_they_point_to() {
    let (tree, done) = tested("values-pointees", LIB);
    done.check(!done.stderr.contains("no code of the program runs"), "no code of the program runs");
    // A loop of the same statements has the values of its last round.
    let answer = report(tree.path()).args("answer --lines 100").succeed();
    let loops = answer.stdout.lines().find(|line| line.contains("turn += label.len() / 8;"));
    answer.check(loops.is_some_and(|line| line.contains("x 3,000  turn = 3000")), "the last round is kept");
    let history = report(tree.path()).args("--all").succeed();
    for shown in SHOWN {
        history.check(history.stdout.contains(shown), shown);
    }
    let is_choice = |line: &str| line.contains("note: reading ");
    history.check(history.stderr.lines().all(is_choice), "nothing else to note");
    let addresses = history.stdout.lines().filter(|line| line.contains("0x"));
    // What a `Vec` of structs points to is not recorded.
    let known = ["object = ", "again = ", "to_owned: ", "prices: Vec(0x", "prices = Vec(0x"];
    let unknown: Vec<_> = addresses.filter(|line| !known.iter().any(|known| line.contains(known))).collect();
    history.check(unknown.is_empty(), &format!("no other addresses: {unknown:#?}"));
    let json = report(tree.path()).args("--format json").succeed();
    json.check(json.stdout.contains(r#""values":true"#), "the ring says that it has values");
}

/// Types whose names a program could take for those of the standard library. They own no memory.
const OTHERS: &str = r#"mod alloc {
    pub mod string {
        pub struct String(pub usize, pub usize, pub &'static u8);
    }
    pub mod vec {
        pub struct Vec<T: 'static>(pub [usize; 2], pub &'static T);
    }
}

#[test]
fn all() {
    let text = alloc::string::String(1, 64, &5);
    let to_text = &text;
    let numbers = alloc::vec::Vec([1, 64], &5u8);
    let words = (1usize, 64usize);
    panic!("{} {} {}", to_text.0, numbers.0[0], words.1);
}
"#;

pub(super) fn other_types() {
    let (tree, _) = tested("values-others", OTHERS);
    let history = report(tree.path()).args("--all").succeed();
    for shown in [
        "text = String(1, 64, 0x",
        "to_text = String(1, 64, 0x",
        "numbers = Vec([1, 64], 0x",
        "words = (1, 64)",
    ] {
        history.check(history.stdout.contains(shown), shown);
    }
}
