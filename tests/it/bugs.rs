//! Does each view show the answer to four bugs at once, to a user who has read no documentation?

use std::path::Path;
use std::sync::OnceLock;

use xhist_tests::{Case, Done, Need, Tree, cargo, line_of, report, repository};

use super::{dap, exports, html};

pub const CASES: &[Case] = &[
    Case::new("the_view_shows_them_on_its_first_screen", in_the_view),
    Case::needing("the_page_shows_them_as_it_opens", &[Need::Browser], in_the_page),
    Case::needing("editors_show_them_at_the_first_stop", &[Need::DapClient], in_editors),
    Case::needing("perfetto_shows_them_where_slices_do_not_end", &[Need::Perfetto], in_perfetto),
    Case::needing("codetracer_shows_them_in_its_last_steps", exports::VIEWERS, in_codetracer),
    Case::new("folded_stacks_have_their_functions", in_folded_stacks),
];

/// A program with a bug. It ran once under `cargo xhist`, and every view finds that run by itself.
pub struct Bug {
    name: &'static str,
    make: fn() -> Tree,
    made: OnceLock<Tree>,
    /// Where the program was when it failed: a file, and a text of the line.
    failed: Mark,
    /// What explains it.
    cause: Mark,
    /// The thread and the function of the failure.
    thread: &'static str,
    function: &'static str,
}

/// A line, by its file and a text that only it has.
struct Mark(&'static str, &'static str);

static BUGS: [Bug; 4] = [
    Bug {
        name: "the paper's bug",
        make: || {
            failed(
                Tree::copy_of(&repository().join("samples/meter")),
                "xhist run -q --values ** --value-bytes 8",
                101,
            )
        },
        made: OnceLock::new(),
        failed: Mark("src/meter.rs", "self.sum / self.count"),
        cause: Mark("src/meter.rs", "self.count = 0;"),
        thread: "main",
        function: "Meter::mean",
    },
    Bug {
        name: "a lost wake-up",
        make: || failed(Tree::program("wake", WAKE), "xhist run -q", 134),
        made: OnceLock::new(),
        failed: Mark("src/main.rs", "wake.wait(guard)"),
        cause: Mark("src/main.rs", "pair.1.notify_one(); // too early"),
        thread: "waiter",
        function: "main::{closure}",
    },
    Bug {
        name: "a hanging async task",
        make: || {
            failed(Tree::copy_of(&repository().join("tests/fixtures/tasks")), "xhist run -q -- parked", 134)
        },
        made: OnceLock::new(),
        failed: Mark("src/main.rs", "// stuck"),
        cause: Mark("src/main.rs", "// outer"),
        thread: "main",
        function: "fetch",
    },
    Bug {
        name: "a failing test",
        make: || {
            let tree = Tree::copy_of(&repository().join("tests/fixtures/many"));
            failed(tree, "xhist test -q --lib the_first_one", 101)
        },
        made: OnceLock::new(),
        failed: Mark("src/lib.rs", "// first"),
        cause: Mark("src/lib.rs", "// last"),
        thread: "a_module_with_a_name_that_is_rather_long::the_first_one",
        function: "a_module_with_a_name_that_is_rather_long::the_first_one",
    },
];

const WAKE: &str = "use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

fn main() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let waiter = move || {
        let (ready, wake) = &*other;
        std::thread::sleep(Duration::from_millis(200));
        let guard = ready.lock().unwrap();
        let guard = wake.wait(guard).unwrap(); // waits
        assert!(*guard);
    };
    std::thread::Builder::new().name(\"waiter\".to_owned()).spawn(waiter).unwrap();
    *pair.0.lock().unwrap() = true;
    pair.1.notify_one(); // too early
    std::thread::sleep(Duration::from_millis(2000));
    std::process::abort();
}
";

/// The paper's bug with values, for other tests as well.
pub fn paper() -> &'static Tree {
    BUGS[0].tree()
}

/// The program with async tasks that hang.
pub fn hanging() -> &'static Tree {
    BUGS[2].tree()
}

fn failed(tree: Tree, command: &str, code: i32) -> Tree {
    if !tree.join("Cargo.lock").exists() {
        cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    }
    cargo(tree.path()).args(command).done().expect(code);
    tree
}

impl Bug {
    fn tree(&self) -> &Tree {
        self.made.get_or_init(self.make)
    }

    /// Fails unless these lines are in sight, as a place or as their text.
    fn check(&self, marks: &[&Mark], shown: &str) {
        for Mark(file, text) in marks {
            let path = self.tree().join(file);
            let number = line_of(&path, text);
            let source = self.tree().read(file);
            let line = source.lines().nth(number as usize - 1).expect("the line").trim();
            let name = Path::new(file).file_name().and_then(|name| name.to_str()).expect("a name");
            let place = format!("{name}:{number}");
            let has_place = shown.match_indices(&place).any(|(at, place)| {
                !shown[at + place.len()..].starts_with(|char: char| char.is_ascii_digit())
            });
            assert!(has_place || shown.contains(line), "{}: no {place} {line:?} in\n{shown}", self.name);
        }
    }

    fn report(&self, args: &str) -> Done {
        report(self.tree().path()).args(args).done().expect(0)
    }
}

fn in_the_view() {
    for bug in &BUGS {
        bug.check(&[&bug.failed, &bug.cause], &bug.report("view --print").stdout);
    }
}

fn in_the_page() {
    for bug in &BUGS {
        bug.report("page --output bug.html");
        let seen = html::browse("seen", &bug.tree().join("bug.html"), &[]);
        bug.check(&[&bug.failed, &bug.cause], seen.as_str().expect("a text"));
    }
}

/// Buttons of the toolbar lead from the first stop to the cause.
fn in_editors() {
    let trees: Vec<&str> = BUGS.iter().map(|bug| dap::text(bug.tree().path())).collect();
    let found = dap::play("bugs", &trees);
    for (bug, found) in BUGS.iter().zip(found.split("the next bug").skip(1)) {
        let (first, _) = found.split_once("steps back").expect("both parts");
        bug.check(&[&bug.failed], first);
        bug.check(&[&bug.cause], found);
    }
}

fn in_perfetto() {
    for bug in &BUGS {
        bug.report("export perfetto --output bug.pftrace");
        let trace = exports::decoded(bug.tree().path(), &bug.tree().join("bug.pftrace"));
        bug.check(&[&bug.failed], &format!("{} {}", trace["open"], trace["tracks"]));
    }
}

fn in_codetracer() {
    for bug in &BUGS {
        let folder = bug.tree().join("bug.ct");
        bug.report("export codetracer --output bug.ct");
        let trace = exports::read_by_viewers(bug.tree().path(), "codetracer", &folder);
        bug.check(&[&bug.failed], &trace);
    }
}

fn in_folded_stacks() {
    for bug in &BUGS {
        let folded = bug.report("export folded");
        let is_there =
            |line: &str| line.starts_with(bug.thread) && line.contains(&format!(";{} ", bug.function));
        folded.check(folded.stdout.lines().any(is_there), bug.name);
    }
}
