//! Does the view in a terminal find bugs with few keys, keep up with a large history, and leave the terminal as it was?

pub mod terminal;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use terminal::{Typing, has_colour, printed};
use xhist_tests::{
    Case, Done, Run, Screen, Tree, cargo, is_long, line_of, report, repository, share_of_million, text_of_svg,
};

pub const CASES: &[Case] = &[
    Case::new("keys_move_and_quitting_restores_the_screen", keys),
    Case::new("the_screen_follows_the_size_of_the_window", resized),
    Case::new("the_editor_opens_at_the_line", editor),
    Case::new("signals_restore_the_terminal", signals),
    Case::new("without_colour_there_is_none", no_colour),
    Case::new("without_a_terminal_the_message_names_what_works", no_terminal),
    Case::new("the_screen_is_printed_at_a_number", printed_screen),
    Case::new("a_running_program_is_followed", followed),
    Case::new("keys_are_answered_at_once_in_a_long_history", large),
    Case::new("the_page_has_the_table_of_keys", page),
    Case::new("the_picture_shows_the_view", picture),
];

/// The sample of the paper after its failure.
fn meter() -> &'static Tree {
    static METER: OnceLock<Tree> = OnceLock::new();
    METER.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("samples/meter"));
        cargo(tree.path()).args("xhist run -q").done().expect(101);
        tree
    })
}

/// `xhist-report view` on a terminal.
fn view(tree: &Tree, args: &str, size: (u16, u16)) -> Typing {
    Typing::start(command(tree, args), size)
}

fn command(tree: &Tree, args: &str) -> Run {
    // The terminal has to be that of the session: the system sends its signals there.
    let run = Run::new("setsid", tree.path())
        .args("--ctty --wait")
        .arg(report(tree.path()).into_command().get_program());
    let run = run.arg("view").env("TERM", "xterm-256color").env("EDITOR", "false").env("VISUAL", "");
    args.split_whitespace().fold(run.env("NO_COLOR", ""), Run::arg)
}

fn screen(tree: &Tree, args: &str) -> Done {
    report(tree.path()).args("view --print").args(args).done()
}

fn shows(done: &Done, texts: &[&str]) {
    texts.iter().for_each(|text| done.check(done.stdout.contains(text), text));
}

fn keys() {
    let mut view = view(meter(), "", (80, 24));
    view.wait_for("the thread panicked here: S steps back");
    assert!(view.screen().alternate_screen() && view.screen().hide_cursor());
    view.press("S");
    view.wait_for("step 57 of 58");
    view.press("/restart\r");
    view.wait_for("step 55 of 58");
    view.press("?");
    view.wait_for("any key leaves the help");
    view.press("x\u{1b}[A");
    view.wait_for("step 54 of 58");
    view.press("q");
    let (status, parser) = view.end();
    let text = parser.screen().contents();
    assert!(status.success(), "{status}");
    assert!(!parser.screen().alternate_screen() && !parser.screen().hide_cursor());
    assert!(text.contains("xhist-report: note: reading target/xhist/runs/"), "{text}");
}

fn resized() {
    let mut view = view(meter(), "", (80, 24));
    view.wait_for("[Source] src/meter.rs");
    view.resize((140, 40));
    view.wait_until("four panes", |screen| {
        let text = screen.contents();
        text.contains("[Calls] Findings") && text.contains("[Threads] Values")
    });
    view.resize((30, 8));
    view.wait_until("one pane", |screen| {
        let text = screen.contents();
        text.contains("[History]") && !text.contains("[Source]")
    });
    view.resize((80, 24));
    view.wait_for("[Source] src/meter.rs");
    view.press("q");
    assert!(view.end().0.success());
}

fn editor() {
    let tree = meter();
    tree.write("editor.sh", "#!/bin/sh\necho \"$@\" > edited\necho edits; read line\n");
    let run = command(tree, "").env("VISUAL", "sh editor.sh");
    let mut view = Typing::start(run, (80, 24));
    view.wait_for("the thread panicked here");
    view.press("e");
    view.wait_until("the editor on the screen as it was", |screen| {
        !screen.alternate_screen() && screen.contents().contains("edits")
    });
    view.press("done\n");
    view.wait_until("the view again", vt100::Screen::alternate_screen);
    view.wait_for("step 58 of 58");
    view.press("q");
    assert!(view.end().0.success());
    let line = line_of(&tree.join("src/meter.rs"), "self.sum / self.count");
    assert_eq!(tree.read("edited").trim(), format!("+{line} {}", tree.join("src/meter.rs").display()));
}

fn signals() {
    for key in ["\u{3}", ""] {
        let mut view = view(meter(), "", (80, 24));
        view.wait_for("the thread panicked here");
        view.press(key);
        if key.is_empty() {
            // The only child of setsid.
            let children = format!("/proc/{0}/task/{0}/children", view.pid());
            let child = std::fs::read_to_string(children).expect("a list");
            let pid = child.split_whitespace().next().and_then(|pid| pid.parse().ok());
            let pid = pid.unwrap_or_else(|| view.pid().cast_signed());
            kill_process(Pid::from_raw(pid).expect("an id"), Signal::TERM).expect("a process");
        }
        let (status, parser) = view.end();
        assert!(!parser.screen().alternate_screen() && !parser.screen().hide_cursor(), "{status}");
    }
}

fn no_colour() {
    for (value, expected) in [("", true), ("1", false)] {
        let mut view = Typing::start(command(meter(), "").env("NO_COLOR", value), (80, 24));
        view.wait_for("the thread panicked here");
        view.wait_for("[History]");
        assert_eq!(has_colour(view.screen()), expected);
        view.press("q");
        view.end();
    }
}

fn no_terminal() {
    let done = report(meter().path()).arg("view").done().expect(2);
    let instead = "`xhist-report view --print` prints one screen, `xhist-report --all` lists every entry";
    done.check(done.stderr.contains(instead) && done.stdout.is_empty(), instead);
    let view = Typing::start(command(meter(), "").env("TERM", "dumb"), (80, 24));
    let (status, parser) = view.end();
    let text = parser.screen().contents();
    assert_eq!(status.code(), Some(2), "{text}");
    assert!(text.contains("TERM=dumb") && text.contains("view --print"), "{text}");
}

fn printed_screen() {
    let done = screen(meter(), "--at 53").expect(0);
    shows(&done, &["step 53 of 58", ">#53 meter.rs:13"]);
    done.check(done.stdout.lines().count() == 24, "24 rows");
    done.check(done.stdout.lines().all(|line| line.chars().count() <= 80), "80 columns");
    let listing = report(meter().path()).args("--all --no-pager").succeed().stdout;
    let entry = listing.lines().filter(|line| line.contains(".rs:")).nth(52).expect("entry 53").to_owned();
    done.check(entry.contains("meter.rs:13"), &format!("the entry with this number in the listing: {entry}"));
    let done = screen(meter(), "--at 53 --width 130 --height 30 --keys L<Tab>z").expect(0);
    done.check(done.stdout.lines().count() == 30, "30 rows");
    shows(&done, &["History [Calls]", "Meter::take"]);
}

const GROWS: &str = "fn main() {
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).unwrap() > 0 {
        step(&line);
        line.clear();
    }
    done();
}

fn step(line: &str) {
    print!(\"{line}\");
}

fn done() {
    println!(\"done\");
}
";

fn followed() {
    let tree = Tree::program("grows", GROWS);
    cargo(tree.path()).args("xhist build -q").succeed();
    let file = tree.join("grows.xhist");
    let mut running = Run::new(tree.join("target/xhist/build/debug/grows"), tree.path())
        .env("XHIST_FILE", &file)
        .with_input()
        .start();
    running.write("one\n");
    running.wait_for("one");
    let mut view = view(&tree, "--follow grows.xhist", (80, 24));
    view.wait_for("step 5 of 5");
    running.write("two\n");
    view.wait_for("step 8 of 8");
    // A cursor that is elsewhere stays there.
    view.press("L");
    view.wait_for("step 5 of 8");
    running.close_input();
    running.done().expect(0);
    view.wait_for("step 5 of 10");
    view.press("G");
    view.wait_for("println!(\"done\")");
    view.press("q");
    assert!(view.end().0.success());
}

/// Statements in an order that does not repeat, because the recorder counts repetitions.
const LOOP: &str = "fn main() {
    let mut sum = 1;
    for number in 0..ROUNDS {
        sum = add(sum, number);
    }
    assert_eq!(sum, 0); // fails
}

fn add(sum: u64, number: u64) -> u64 {
    let next = sum.wrapping_mul(6364136223846793005).wrapping_add(number);
    if next >> 63 == 1 {
        return high(next);
    }
    next ^ number
}

fn high(next: u64) -> u64 {
    let half = next >> 1;
    half + 1
}
";

/// The time from a key to the screen that answers it. Five million statements with `XHIST_LONG=1`.
fn large() {
    const LIMIT: Duration = Duration::from_millis(50);
    let rounds: u64 = if is_long() { 1_500_000 } else { share_of_million(310_000) };
    let tree = Tree::program("large", &LOOP.replace("ROUNDS", &format!("{rounds}u64")));
    cargo(tree.path()).args("xhist run -q").env("XHIST_SIZE", "64m").done().expect(101);
    let mut view = view(&tree, "", (120, 40));
    view.wait_for("the thread panicked here");
    let header = view.screen().contents();
    let words: Vec<&str> = header.split_whitespace().collect();
    let last: u64 = words[3].parse().expect("step N of N");
    assert!(last > 3 * rounds, "{header}");
    let (end, before) = (format!("step {last} of"), format!("step {} of", last - 1));
    let to = |step: u64| (format!("{step}g"), format!("step {step} of"));
    let (late, middle) = (to(last / 5 * 4), to(last / 2));
    let answers = [
        ("S", before.as_str()),
        ("g", "step 1 of"),
        (late.0.as_str(), late.1.as_str()),
        ("/fails\r", before.as_str()),
        (middle.0.as_str(), middle.1.as_str()),
        ("\t\t\t++", "[Threads]"),
        ("\u{1b}[Z", "[Values]"),
        ("\u{1b}[Z", "[Calls]"),
        ("1g", "step 1 of"),
        ("o", "step 2 of"),
        ("!", end.as_str()),
        ("U", "step"),
    ];
    let slowest = answers.iter().map(|(keys, expected)| {
        view.press(keys);
        (view.wait_for(expected), *keys)
    });
    let (slowest, keys) = slowest.max().expect("keys");
    println!("{last} steps; the slowest answer took {slowest:?}: {keys:?}");
    // Other cases use the processors, too: one pause is no rule.
    assert!(slowest < 4 * LIMIT, "{keys:?} took {slowest:?}");
    view.press("q");
    view.end();
}

/// The keys of the program, as its help shows them.
fn page() {
    let text = std::fs::read_to_string(repository().join("docs/view.md")).expect("the page");
    let help = screen(meter(), "--keys ? --height 60").expect(0).stdout;
    let rows: Vec<&str> =
        help.lines().skip(1).filter(|line| line.starts_with(' ') && !line.trim().is_empty()).collect();
    assert!(rows.len() > 20, "{help}");
    let missing: Vec<&&str> = rows.iter().filter(|row| !text.contains(row.trim())).collect();
    assert!(missing.is_empty(), "docs/view.md has no such lines: {missing:#?}");
}

const PICTURE: &str = "docs/images/view.svg";

/// `XHIST_BLESS=1` writes the picture.
fn picture() {
    let mut view = view(meter(), "", (96, 28));
    view.wait_for("the thread panicked here: S");
    let mut picture = Screen::default();
    picture.print(&printed(view.screen()));
    view.press("q");
    view.end();
    let now = picture.svg("xhist-report view at the division by zero");
    let path: PathBuf = repository().join(PICTURE);
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, &now).expect("the picture is written");
    }
    let shown = read(&path);
    // Times differ.
    let text = |svg: &str| text_of_svg(svg).lines().skip(1).collect::<Vec<_>>().join("\n");
    assert_eq!(text(&shown), text(&now), "XHIST_BLESS=1 writes the picture again");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
