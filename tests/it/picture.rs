//! Is the picture in the README what its commands print?

use std::path::Path;

use xhist_tests::{Case, Run, Screen, Tree, cargo, repository, text_of_svg};

pub const CASES: &[Case] = &[
    Case::new("the_picture_shows_what_the_sample_prints", meter),
    Case::new("the_first_command_of_the_readme_is_that_of_the_picture", in_a_clone),
];

/// The picture, the sample in it and the commands that are typed there.
const PICTURE: &str = "docs/images/meter.svg";
const SAMPLE: &str = "samples/meter";
const COMMANDS: [&str; 1] = ["cargo xhist run -q"];

/// The command of the README that prints it in a clone.
fn in_a_clone() {
    let page = std::fs::read_to_string(repository().join("README.md")).expect("README.md");
    let block = page.split("```sh\n").nth(1).expect("a block of commands");
    let first = block.lines().next().expect("a command");
    assert_eq!(first, format!("{} --manifest-path {SAMPLE}/Cargo.toml", COMMANDS[0]));
}

/// `XHIST_BLESS=1` writes the picture.
fn meter() {
    let tree = Tree::copy_of(&repository().join(SAMPLE));
    // Builds the recorder first: otherwise cargo xhist would report that in the picture.
    cargo(tree.path()).args("xhist build -q").succeed();
    let mut screen = Screen::default();
    for command in COMMANDS {
        screen.type_command(command);
        screen.print(&on_a_terminal(command, tree.path()));
    }
    let now = screen.svg("cargo xhist run finds out why a mean divides by zero");
    let path = repository().join(PICTURE);
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, &now).expect("the picture is written");
    }
    let shown = std::fs::read_to_string(path).expect("the picture");
    let (shown, now) = (text_of_svg(&shown), text_of_svg(&now));
    assert!(now.contains("Err(_) => self.restart(),"), "the line that explains the panic is in it:\n{now}");
    assert_eq!(without_ids(&shown), without_ids(&now), "XHIST_BLESS=1 writes the picture again");
}

/// What a command prints on a terminal.
fn on_a_terminal(command: &str, directory: &Path) -> String {
    let cargo = cargo(directory).into_command();
    let path = cargo.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let cache = cargo.get_envs().find(|(name, _)| *name == "XHIST_CACHE").and_then(|(_, value)| value);
    let run = Run::new("script", directory).args("-qec").arg(command).arg("/dev/null").env("TERM", "xterm");
    let run = run.env("PATH", path.expect("a path")).env("XHIST_CACHE", cache.expect("a cache"));
    run.env("CARGO_TERM_COLOR", "auto").env("CARGO_NET_OFFLINE", "true").done().stdout
}

/// Process ids, run ids and ages differ from run to run. Numbers of lines have fewer digits.
/// Rows are joined, because longer ids wrap elsewhere.
fn without_ids(text: &str) -> String {
    let text = text.replace('\n', "");
    let mut kept = String::new();
    for part in text.split_inclusive(|char: char| !char.is_ascii_digit()) {
        let digits = part.len() - part.trim_start_matches(|char: char| char.is_ascii_digit()).len();
        kept.push_str(if digits >= 3 { &part[digits..] } else { part });
    }
    match (kept.find("which failed "), kept.find(" (exit code")) {
        (Some(from), Some(to)) if from < to => kept.replace_range(from..to, ""),
        _ => {}
    }
    kept
}
