//! Are errors of order found in programs as a user runs them, and nothing in correct programs? Are runs listed, read by name and
//! removed?

use xhist_tests::{Case, Done, Tree, cargo, line_of, report, repository};

pub const CASES: &[Case] = &[
    Case::new("the_tool_finds_the_error_of_the_paper", critical_section),
    Case::new("locks_in_two_orders_are_found", locks),
    Case::new("the_answer_to_a_deadlock_names_the_locks_in_both_orders", deadlock),
    Case::new("a_function_that_a_callback_enters_again_is_named", callback),
    Case::new("filters_runs_and_clean_work_on_a_project", filters_runs_and_clean),
];

fn run(tree: &Tree, words: &str) -> Done {
    cargo(tree.path()).args(&format!("xhist {words}")).done()
}

fn critical_section() {
    let tree = Tree::copy_of(&repository().join("samples/critical-section"));
    let path = "src/crit_section.rs";
    let marked = tree
        .read(path)
        .replace("pub fn add", "// xhist exclusive TRUE\npub fn add")
        .replace("\n// xhist instrument FALSE", "// xhist exclusive FALSE\n\n// xhist instrument FALSE");
    tree.write(path, &marked);
    run(&tree, "run -q").expect(134);
    let done = report(tree.path()).args("order").done();
    // In its first statement that is certain. In the second one, the handler may have come just behind it.
    let first = "add was entered again before it was left";
    let second = "add was perhaps entered again before it was left";
    let code = if done.stdout.contains(first) { 1 } else { 0 };
    let done = done.expect(code);
    done.check(done.stdout.contains(first) || done.stdout.contains(second), "the section");
    done.check(done.stdout.contains("on_timer  crit_section::add(1);"), "the handler between");
    done.check(done.stdout.matches("let waiting = read();").count() >= 2, "both entries");

    // With the lock that is missing in the sample, nothing is found.
    tree.write(path, include_str!("../fixtures/locked-section.txt"));
    let machine = tree.read("src/state_machine.rs");
    let ends = machine.replace(
        "    loop {\n        state = step(state);",
        "    for _ in 0..3000 {\n        state = step(state);",
    );
    tree.write("src/state_machine.rs", &ends);
    // The run that failed would be read.
    run(&tree, "clean").expect(0);
    run(&tree, "run -q").expect(0);
    let done = report(tree.path()).args("order --thread main").done().expect(0);
    done.check(done.stdout.is_empty(), "no finding");
    done.check(done.stderr.contains("checked 1 exclusive section"), "that it was checked");
}

const LOCKS: &str = r#"
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Bank {
    accounts: Mutex<Vec<u64>>,
    log: Mutex<Vec<u64>>,
}

impl Bank {
    fn pay(&self, sum: u64) {
        let mut accounts = self.accounts.lock().unwrap();
        accounts.push(sum);
        self.note(sum);
    }

    fn note(&self, sum: u64) {
        let mut log = self.log.lock().unwrap();
        log.push(sum);
    }

    fn audit(&self) -> u64 {
        let log = self.log.lock().unwrap();
        let all = self.total();
        assert!(log.len() < 10);
        all
    }

    fn total(&self) -> u64 {
        let accounts = self.accounts.lock().unwrap(); // total
        accounts.iter().sum()
    }

    fn careful(&self) -> u64 {
        let entries = self.log.lock().unwrap().len();
        let log = self.log.lock().unwrap();
        drop(log);
        self.total() + entries as u64
    }

    fn hang(&self) {
        let second = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
            let debit = || {
                let accounts = self.accounts.lock().unwrap(); // debit
                second.wait();
                self.note(accounts.len() as u64);
            };
            let credit = || {
                let log = self.log.lock().unwrap(); // credit
                second.wait();
                println!("{} {}", log.len(), self.total());
            };
            named("debit").spawn_scoped(scope, debit).unwrap();
            named("credit").spawn_scoped(scope, credit).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(300));
            let id = std::process::id().to_string();
            std::process::Command::new("kill").args(["-9", &id]).status().unwrap();
        });
    }
}

fn main() {
    let bank = Arc::new(Bank::default());
    let paying = Arc::clone(&bank);
    std::thread::spawn(move || (1..4).for_each(|sum| paying.pay(sum))).join().unwrap();
    println!("{}", bank.careful());
    match std::env::args().nth(1).as_deref() {
        Some("hang") => bank.hang(),
        Some(_) => println!("{}", bank.audit()),
        None => {}
    }
}
"#;

/// The program with two locks.
fn bank() -> Tree {
    let tree = Tree::package("bank");
    tree.write("src/main.rs", LOCKS);
    tree
}

fn locks() {
    let tree = bank();
    run(&tree, "run -q").expect(0);
    let done = report(tree.path()).args("order").done().expect(0);
    done.check(done.stdout.is_empty(), "no finding");
    done.check(done.stderr.contains("(1 pair of locks)"), "the order of one pair");
    run(&tree, "run -q -- audit").expect(0);
    let done = report(tree.path()).args("order").done().expect(1);
    done.check(done.stdout.starts_with("locks .accounts and .log: are taken in both orders\n"), "the locks");
    for line in [
        "Bank::pay    let mut accounts = self.accounts.lock().unwrap();",
        "Bank::note   let mut log = self.log.lock().unwrap();",
        "Bank::audit  let log = self.log.lock().unwrap();",
        "Bank::total  let accounts = self.accounts.lock().unwrap(); // total",
    ] {
        done.check(done.stdout.contains(line), line);
    }
}

/// The answer to a deadlock names the locks, without a rule and without another command.
fn deadlock() {
    let tree = bank();
    let at = |text: &str| format!("src/main.rs:{}", line_of(&tree.join("src/main.rs"), text));
    let (debit, credit) = (at("// debit"), at("// credit"));
    let (note, total) = (at("let mut log"), at("// total"));
    let done = run(&tree, "run -q -- hang").expect(137);
    let shown = format!(
        "threads wait for each other, by the names of their locks:\n  \
         credit holds .log ({credit}) and takes .accounts at {total}\n  \
         debit holds .accounts ({debit}) and takes .log at {note}\n"
    );
    done.check(done.stderr.contains(&shown), &shown);
    done.check(
        done.stderr.contains(", which has ended (newest last):"),
        "the thread that paid does not hang",
    );
    let again = report(tree.path()).args("answer --no-pager").done();
    again.check(again.stdout.contains(&shown), &shown);
}

/// A listener emits while its event is emitted, so one amount is lost. `sum` is a recursion through a closure of its own.
const BUS: &str = r#"
use std::cell::{Cell, RefCell};
use std::rc::Rc;

type Listener = Rc<dyn Fn(&Bus, u32)>;

#[derive(Default)]
struct Bus {
    listeners: RefCell<Vec<Listener>>,
    total: Cell<u32>,
}

impl Bus {
    fn on(&self, listener: Listener) {
        self.listeners.borrow_mut().push(listener);
    }

    fn emit(&self, amount: u32) {
        let before = self.total.get();
        for listener in self.listeners.borrow().iter() {
            listener(self, amount);
        }
        self.total.set(before + amount);
    }
}

fn sum(depth: u32) -> u32 {
    if depth == 0 { 0 } else { (0..2).map(|_| sum(depth - 1)).sum::<u32>() + 1 }
}

fn main() {
    let bus = Bus::default();
    bus.on(Rc::new(|bus, amount| {
        if amount > 1 {
            bus.emit(amount - 1);
        }
    }));
    println!("{}", sum(5));
    bus.emit(2);
    assert_eq!(bus.total.get(), 3);
}
"#;

/// The same bus, whose listeners are functions behind pointers.
fn with_pointers() -> String {
    BUS.replace("Rc<dyn Fn(&Bus, u32)>", "fn(&Bus, u32)")
        .replace("use std::rc::Rc;\n", "")
        .replace("Rc::new(|bus, amount| {", "alarm);")
        .replace("        if amount > 1 {\n            bus.emit(amount - 1);\n        }\n    }));\n", "")
        + "\nfn alarm(bus: &Bus, amount: u32) {\n    if amount > 1 {\n        bus.emit(amount - 1);\n    }\n}\n"
}

/// The same bus, whose listeners are objects.
fn with_objects() -> String {
    let alarm = "impl Listen for Alarm {\n    fn hear(&self, bus: &Bus, amount: u32) {\n        if amount > 1 {\n            \
                 bus.emit(amount - 1);\n        }\n    }\n}\n";
    let hear = "trait Listen {\n    fn hear(&self, bus: &Bus, amount: u32);\n}\n\nstruct Alarm;\n\n";
    BUS.replace("Rc<dyn Fn(&Bus, u32)>", "Rc<dyn Listen>")
        .replace("listener(self, amount);", "listener.hear(self, amount);")
        .replace("Rc::new(|bus, amount| {", "Rc::new(Alarm));")
        .replace("        if amount > 1 {\n            bus.emit(amount - 1);\n        }\n    }));\n", "")
        + &format!("\n{hear}{alarm}")
}

fn callback() {
    for (source, by, call) in [
        (BUS.to_owned(), "by the callback main::{closure}", "listener(self, amount);"),
        (with_pointers(), "by the callback alarm", "listener(self, amount);"),
        (with_objects(), "by way of Alarm::hear, a method of a trait,", "listener.hear(self, amount);"),
    ] {
        called_back(&source, by, call);
    }
}

fn called_back(source: &str, by: &str, call: &str) {
    let tree = Tree::package("bus");
    tree.write("src/main.rs", source);
    let done = run(&tree, "run -q").expect(101);
    let at = |text: &str| line_of(&tree.join("src/main.rs"), text);
    let (call, next) = (at(call), at("self.total.set"));
    let line = format!(
        "panic (newest last):\n  Bus::emit was entered again {by} at src/main.rs:{call}, before line {next}\n"
    );
    done.check(done.stderr.contains(&line), &line);
    done.check(done.stderr.matches("was entered again").count() == 1, "no recursion");
}

fn filters_runs_and_clean() {
    let tree = bank();
    run(&tree, "run -q").expect(0);
    run(&tree, "run -q -- audit").expect(0);

    let all = report(tree.path()).done().expect(0).stdout;
    let only = report(tree.path()).args("--only Bank::pay --not src/main.rs:13").done().expect(0);
    let line = |text: &str| xhist_tests::line_of(&tree.join("src/main.rs"), text);
    let (lock, push) = (line("let mut accounts = self.accounts"), line("accounts.push"));
    assert_eq!(push, 13);
    let places: Vec<&str> = only.stdout.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    let (first, third) = (format!("src/main.rs:{lock}"), format!("src/main.rs:{}", push + 1));
    assert_eq!(places, [&first[..], &third].repeat(3), "{}", only.summary());
    only.check(only.stderr.contains("entries left out"), "how many");
    assert_eq!(report(tree.path()).args("--only bank").done().expect(0).stdout, all, "the crate");
    let last = report(tree.path()).args("--last 1 --each").done().expect(0).stdout;
    assert_eq!(last.lines().count(), 2, "{last}");
    report(tree.path()).args("--thread absent").done().expect(2);

    let runs = report(tree.path()).args("runs").done().expect(0);
    let rows: Vec<&str> = runs.stdout.lines().skip(1).collect();
    runs.check(rows.len() == 2 && rows.iter().all(|row| row.contains("exit code 0")), "two runs");
    runs.check(rows[1].ends_with("cargo run -q -- audit"), "the newest last");
    let name = rows[0].split(' ').next().unwrap_or_default();
    let named = report(tree.path()).arg(name).done().expect(0);
    named.check(named.stderr.contains(&format!("{name}/bank-")), "the run that was named");

    run(&tree, "build -q").expect(0);
    tree.write("target/xhist/runs/mine/note", "x");
    let listed = run(&tree, "clean --dry-run").expect(0);
    listed.check(listed.stdout.lines().count() == 2 && listed.stdout.contains(name), "both runs");
    let cleaned = run(&tree, "clean").expect(0);
    cleaned.check(cleaned.stderr.starts_with("xhist: removed 2 runs from target/xhist: "), "how much");
    assert!(tree.join("target/xhist/runs/mine/note").exists() && tree.join("target/xhist/build").exists());
    run(&tree, "clean --all").expect(0);
    assert!(!tree.join("target/xhist/build").exists() && tree.join("target/xhist/runs/mine/note").exists());
    run(&tree, "clean --nonsense").expect(1);
    let help = run(&tree, "clean --help").expect(0);
    help.check(help.stdout.contains("--dry-run"), "its options");
    run(&tree, "run -q").expect(0);
}
