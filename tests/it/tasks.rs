//! Does the report name the async tasks that have not ended, their `.await`, and who awaits them?

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use xhist_tests::{Case, Need, Run, Tree, cargo, line_of, online_cargo, report, repository, rings_in};

pub const CASES: &[Case] = &[
    Case::new("parked_tasks_are_named_with_their_await_and_who_awaits_them", parked),
    Case::new("a_task_is_followed_from_thread_to_thread", moved),
    Case::new("finished_cancelled_and_panicked_tasks_are_not_listed", ended),
    Case::new("a_parked_task_is_found_behind_thousands_that_ended", many),
    Case::new("tasks_without_a_statement_in_the_history_are_counted", lost),
    Case::new("a_task_that_blocks_its_thread_is_shown_as_running", blocks),
    Case::new("a_loop_that_waits_in_its_head_is_no_task_at_work", served),
    Case::new("a_task_waits_until_its_process_is_read_or_dies", waits),
    Case::new("a_server_that_ends_well_at_ctrl_c_has_its_tasks_named", asked),
    Case::new("marks_of_tasks_are_no_entries_and_can_be_switched_off", off),
    Case::needing("tasks_of_tokio_are_named", &[Need::Registry], tokio),
];

/// The program with its tasks recorded, built once.
fn program() -> &'static Tree {
    static PROGRAM: OnceLock<Tree> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/tasks"));
        cargo(tree.path()).args("xhist build --quiet").succeed();
        tree
    })
}

/// Runs a scene; the ring file.
fn scene(tree: &Tree, name: &str) -> PathBuf {
    scene_of_size(tree, name, "1m")
}

/// Runs a scene with rings of this size; the ring file.
fn scene_of_size(tree: &Tree, name: &str, size: &str) -> PathBuf {
    let file = tree.join(&format!("{name}.xhist"));
    let program = tree.join("target/xhist/build/debug/tasks");
    let run = Run::new(program, tree.path()).arg(name).env("XHIST_FILE", &file).env("XHIST_SIZE", size);
    run.done().expect(134);
    file
}

/// The tasks of a report as JSON.
fn tasks(tree: &Tree, file: &PathBuf) -> Vec<Value> {
    let done = report(tree.path()).args("tasks --format json").arg(file).done().expect(0);
    let lines = done.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["kind"] == "task").collect()
}

/// State and line of a task, with the links and lines of those around it.
type TaskLines = (String, u64, Vec<(String, u64)>);

fn places(tasks: &[Value]) -> Vec<TaskLines> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |value: &Value| value["line"].as_u64().unwrap_or_default();
    let around = |task: &Value| {
        let all = task["around"].as_array().expect("a list").iter();
        all.map(|outer| (text(&outer["link"]), line(outer))).collect()
    };
    tasks.iter().map(|task| (text(&task["state"]), line(task), around(task))).collect()
}

fn mark(name: &str) -> u64 {
    let file = repository().join("tests/fixtures/tasks/src/main.rs");
    u64::from(line_of(&file, &format!("// {name}")))
}

fn expected(state: &str, at: &str, around: &[(&str, &str)]) -> (String, u64, Vec<(String, u64)>) {
    let around = around.iter().map(|(link, at)| ((*link).to_owned(), mark(at))).collect();
    (state.to_owned(), mark(at), around)
}

fn parked() {
    let tree = program();
    let file = scene(tree, "parked");
    let found = tasks(tree, &file);
    let outer = expected("parked", "outer", &[]);
    let inner = expected("parked", "stuck", &[("awaited", "outer")]);
    let mut places = places(&found);
    places.sort();
    let mut wanted = [outer.clone(), outer, inner.clone(), inner];
    wanted.sort();
    assert_eq!(places, wanted, "{found:#?}");
    let done = report(tree.path()).arg("tasks").arg(&file).done().expect(0);
    let (stuck, outer) = (mark("stuck"), mark("outer"));
    let wanted = format!(
        "-- 4 async tasks have not ended, 4 parked at an .await --\n2 tasks (2, 4) parked at src/main.rs:{stuck} in fetch\n      \
         Pause::forever().await; // stuck\n  awaited at src/main.rs:{outer} in handler\n      \
         let got = fetch(number).await; // outer\n  it came by "
    );
    // Times depend on the machine.
    let text: Vec<&str> = done.stdout.lines().map(|line| line.split(", for ").next().unwrap_or("")).collect();
    done.check(text.join("\n").starts_with(&wanted), &wanted);
}

/// The sleep is longer than all that was recorded.
fn waits() {
    let tree = program();
    let seconds = |text: &str, until: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with("task 2 parked at ")).unwrap_or(text);
        let wait = line
            .split_once(", for ")
            .and_then(|(_, wait)| wait.strip_suffix(until)?.strip_suffix(" s up to "));
        wait.unwrap_or_else(|| panic!("up to {until}: {text}")).parse().expect("seconds")
    };
    let file = tree.join("killed.xhist");
    let scene = Run::new(tree.join("target/xhist/build/debug/tasks"), tree.path()).arg("killed");
    let mut started = scene.env("XHIST_FILE", &file).start();
    started.wait_for("ready\n");
    std::thread::sleep(Duration::from_millis(1000));
    let alive = report(tree.path()).arg("tasks").arg(&file).succeed();
    let alive = seconds(&alive.stdout, "now");
    started.done().expect(137);
    let copy = tree.join("copy.bin");
    std::fs::copy(&file, &copy).expect("a copy");
    let copied = report(tree.path()).arg("tasks").arg(&copy).done();
    let copied = seconds(&copied.stdout, "the time of the file");
    let died = cargo(tree.path()).args("xhist run --quiet -- killed").done().expect(137);
    let died = seconds(&died.stderr, "the end of the run");
    let all = [(alive, 0.9), (copied, 1.4), (died, 1.4)];
    assert!(all.iter().all(|(found, least)| found >= least && *found < 60.0), "{all:?}");
}

/// The command that shows them is printed, and only after a signal.
fn asked() {
    let tree = program();
    let start = || {
        let mut started = cargo(tree.path()).args("xhist run --quiet -- asked").start();
        started.wait_for("ready\n");
        started
    };
    let done = start().done().expect(0);
    done.check(done.stderr.is_empty(), "nothing was asked");
    let started = start();
    let group = Pid::from_raw(started.pid().cast_signed()).expect("a process");
    kill_process_group(group, Signal::INT).expect("a group");
    let done = started.done().expect(0);
    let line =
        "xhist: ended well after SIGINT; its async tasks, also those that were cancelled: cargo xhist ";
    let command = done.stderr.lines().find_map(|printed| printed.strip_prefix(line));
    done.check(command.is_some(), line);
    let shown = report(tree.path()).args(command.unwrap_or_default()).succeed();
    let parked = format!("parked at src/main.rs:{} in fetch", mark("stuck"));
    shown.check(shown.stdout.contains(&parked), &parked);
}

fn moved() {
    let tree = program();
    let found = tasks(tree, &scene(tree, "moved"));
    let wanted = [expected("parked", "outer", &[]), expected("parked", "stuck", &[("awaited", "outer")])];
    let mut places = places(&found);
    places.sort_by_key(|(_, line, _)| *line);
    assert_eq!(places, wanted, "{found:#?}");
    let inner = found.iter().find(|task| task["line"] == mark("stuck")).expect("the inner task");
    assert_eq!(inner["thread"], "other");
}

fn ended() {
    let tree = program();
    let found = tasks(tree, &scene(tree, "ended"));
    assert_eq!(places(&found), [expected("parked", "survivor", &[])], "{found:#?}");
    // One task and what it awaits were dropped, and the slower of two. The others returned.
    let text = |arguments: &str| {
        let file = tree.join("ended.xhist");
        report(tree.path()).args(arguments).arg(file).done().expect(0).stdout
    };
    let (once, outer) = (mark("once"), mark("outer"));
    let list = text("tasks");
    let cancelled = list.split("-- 3 async tasks were cancelled: dropped while parked --\n").nth(1);
    assert_eq!(
        cancelled,
        Some(&*format!(
            "2 cancelled at src/main.rs:{once} in fetch\n      Pause::once().await; // once\n1 cancelled at \
             src/main.rs:{outer} in handler\n      let got = fetch(number).await; // outer\n"
        )),
        "{list}"
    );
    let lanes = text("--lanes=tasks");
    assert_eq!(lanes.matches("-- cancelled here --").count(), 3, "{lanes}");
    let json = text("tasks --format json");
    let line = format!(r#""kind":"cancelled","tasks":2,"file":"src/main.rs","line":{once}"#);
    assert!(json.contains(&line), "{json}");
}

fn many() {
    let tree = program();
    let found = tasks(tree, &scene(tree, "many"));
    let mut places = places(&found);
    places.sort_by_key(|(_, line, _)| *line);
    let wanted = [expected("parked", "outer", &[]), expected("parked", "stuck", &[("awaited", "outer")])];
    assert_eq!(places, wanted, "{found:#?}");
    // Tasks that begin and end in each round of a loop do not keep it from folding.
    let history = report(tree.path()).arg(tree.join("many.xhist")).done().expect(0).stdout;
    assert!(history.contains("... lines "), "{history}");
}

fn lost() {
    let tree = program();
    let file = scene_of_size(tree, "lost", "64k");
    let text = |arguments: &str| report(tree.path()).args(arguments).arg(&file).done().expect(0).stdout;
    assert_eq!(
        text("tasks"),
        "2 async tasks have not ended: the history holds none of their statements (XHIST_SIZE makes rings larger)\n"
    );
    let json = text("tasks --format json");
    assert!(json.contains(r#"{"kind":"task_count","unlisted":2,"ended":0}"#), "{json}");
    // Whether the tasks began in another ring is not known then.
    assert!(!text("tasks --ring 1").contains("2 async tasks"), "of one ring");
    // A ring that holds all has nothing to add.
    let whole = scene(tree, "parked");
    let all = report(tree.path()).arg("tasks").arg(&whole).done().expect(0);
    assert!(!all.stdout.contains(" more async "), "{}", all.stdout);
}

fn blocks() {
    let tree = program();
    let found = tasks(tree, &scene(tree, "blocks"));
    let [(state, _, around)] = &places(&found)[..] else { panic!("{found:#?}") };
    assert_eq!((state.as_str(), around.len()), ("running", 0));
    let before = found[0]["before"].as_array().expect("a list");
    assert!(before.iter().any(|place| place["line"] == mark("running")), "{found:#?}");
}

fn served() {
    let tree = program();
    let found = tasks(tree, &scene(tree, "served"));
    let abort = line_of(&repository().join("tests/fixtures/tasks/src/executor.rs"), "std::process::abort");
    let mut places = places(&found);
    places.sort();
    let wanted = [
        expected("parked", "head", &[]),
        expected("parked", "client", &[]),
        expected("parked", "answered", &[("awaited", "client")]),
        ("running".to_owned(), u64::from(abort), Vec::new()),
    ];
    assert_eq!(places, wanted, "{found:#?}");
    let text = report(tree.path()).arg("tasks").arg(tree.join("served.xhist")).done().expect(0);
    let head = mark("head");
    let or = format!(
        "\n  or parked at src/main.rs:{head} in serve, where its loop goes on\n      while go_on(wait(left).await) {{ // head\n"
    );
    text.check(text.stdout.contains(&or), &or);
}

fn off() {
    let with = program();
    let without = Tree::copy_of(&repository().join("tests/fixtures/tasks"));
    cargo(without.path()).args("xhist build --quiet --tasks off").succeed();
    let [with, without] = [with, &without].map(|tree| {
        let file = scene(tree, "parked");
        let history = report(tree.path()).arg(&file).done().expect(0).stdout;
        (history, tasks(tree, &file).len())
    });
    assert_eq!((with.1, without.1), (4, 0));
    assert_eq!(with.0, without.0, "the paper's listing is the same");
}

/// A server whose two tasks wait for each other's lock, in a runtime of several threads.
fn tokio() {
    let tree = Tree::empty("tokio-tasks");
    tree.write(
        "Cargo.toml",
        "[package]\nname = \"stuck\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ntokio = { version = \"1\", \
         features = [\"rt-multi-thread\", \"macros\", \"sync\", \"time\"] }\n\n[workspace]\n",
    );
    tree.write("src/main.rs", TOKIO);
    online_cargo(tree.path()).args("xhist build --quiet").succeed();
    let file = tree.join("stuck.xhist");
    let run = Run::new(tree.join("target/xhist/build/debug/stuck"), tree.path());
    run.env("XHIST_FILE", &file).done().expect(134);
    assert_eq!(rings_in(&tree.join("target/xhist")), Vec::<PathBuf>::new());
    let done = report(tree.path()).arg("tasks").arg(&file).done().expect(0);
    let second = line_of(&tree.join("src/main.rs"), "// second");
    let screen: String = done.stdout.lines().take(20).collect::<Vec<_>>().join("\n");
    for wanted in [
        format!("parked at src/main.rs:{second} in transfer"),
        "let mut to = to.lock().await; // second".to_owned(),
        "parked at src/main.rs:".to_owned(),
    ] {
        done.check(screen.contains(&wanted), &wanted);
    }
    let found = tasks(&tree, &file);
    let stuck = found.iter().filter(|task| task["line"] == second).count();
    assert_eq!(stuck, 2, "{found:#?}");
    // The timer, the branch that lost and the tasks that ended are not among them.
    assert!(found.len() <= 5, "{found:#?}");
}

const TOKIO: &str = r#"use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

#[tokio::main(worker_threads = 2)]
async fn main() {
    let (from, to) = (Arc::new(Mutex::new(100)), Arc::new(Mutex::new(0)));
    for number in 0..200 {
        let sum = tokio::spawn(async move { quick(number).await + 1 }).await.unwrap();
        assert_eq!(sum, number + 1);
    }
    let lost = tokio::select! {
        _ = never() => 1,
        number = quick(2) => number,
    };
    assert_eq!(lost, 2);
    assert!(tokio::time::timeout(Duration::from_millis(5), never()).await.is_err());
    let one = tokio::spawn(pay(from.clone(), to.clone()));
    let two = tokio::spawn(pay(to, from));
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(1500));
        std::process::abort();
    });
    let _ = tokio::join!(one, two);
}

async fn quick(number: u32) -> u32 {
    tokio::task::yield_now().await;
    number
}

async fn never() -> u32 {
    std::future::pending().await
}

async fn pay(from: Arc<Mutex<i32>>, to: Arc<Mutex<i32>>) {
    let both = (&*from, &*to);
    transfer(both.0, both.1).await;
}

async fn transfer(from: &Mutex<i32>, to: &Mutex<i32>) {
    let mut from = from.lock().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut to = to.lock().await; // second
    *from -= 1;
    *to += 1;
}
"#;
