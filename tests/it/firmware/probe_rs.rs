//! The program in place of probe-rs: does it take nothing that probe-rs does not have, by the `--help` of probe-rs itself?
//!
//! `tests/fixtures/probe-rs/help` has what `probe-rs run --help` and `probe-rs read --help` print by the declarations in
//! probe-rs-tools 0.32.0 from crates.io. To make them, these were compiled alone: the structures for clap of `main.rs`,
//! `cmd/run.rs`, `cmd/read.rs`, `util/common_options.rs` and `util/rtt.rs`, without the feature `remote`. Where a probe-rs is
//! installed, a case asks that one, too.

use std::collections::BTreeMap;
use std::path::Path;

use xhist_tests::{Run, repository};

const COMMANDS: [&str; 2] = ["run", "read"];
/// Options for the sake of libtest that the help leaves out.
const HIDDEN: [&str; 2] = ["--nocapture", "--show-output"];

fn fixture() -> std::path::PathBuf {
    repository().join("tests/fixtures/probe-rs")
}

fn help_of(command: &str) -> String {
    std::fs::read_to_string(fixture().join(format!("help/{command}.txt"))).expect("a help")
}

/// The options of a help, each with whether it has a value: `-o, --output <FILE>` of clap, `-o FILE, --output FILE` of argparse.
fn options(help: &str) -> BTreeMap<String, bool> {
    let option = |line: &str| {
        let line = line.trim();
        let at = line.starts_with('-').then(|| line.find("--"))??;
        let end = line[at..].find([' ', '[', '=', ',']).map_or(line.len(), |len| at + len);
        let has_value = line[end..].trim_start().starts_with(|c: char| c == '<' || c.is_uppercase());
        Some((line[at..end].to_owned(), has_value))
    };
    help.lines().filter_map(option).collect()
}

/// What `cargo xhist` passes on to `read`, and how the tests start `run`, goes through the program in place of probe-rs.
pub(super) fn options_are_those_of_its_help() {
    for command in COMMANDS {
        let real = options(&help_of(command));
        let run = Run::new(fixture().join("probe-rs"), Path::new(".")).args(command).arg("--help");
        let taken = options(&run.env("PROBE_STATE", "/").succeed().stdout);
        assert!(taken.len() > 10 && real.len() > 10, "{taken:?} of {real:?}");
        for (option, has_value) in taken {
            let is_right = real.get(&option) == Some(&has_value) || HIDDEN.contains(&&*option);
            assert!(is_right, "probe-rs {command} {option}, with a value: {has_value}");
        }
    }
    let read = help_of("read");
    assert!(read.contains("<WIDTH> <ADDRESS> <WORDS>"), "the order of what has no name");
    for value in ["- binary: ", "- b32: "] {
        assert!(read.contains(value), "{value}");
    }
}

/// The newest probe-rs that is installed has these options, too.
pub(super) fn options_are_those_of_the_installed_one() {
    for command in COMMANDS {
        let now = options(&Run::new("probe-rs", Path::new(".")).args(command).arg("--help").succeed().stdout);
        for (option, has_value) in options(&help_of(command)) {
            assert_eq!(now.get(&option), Some(&has_value), "probe-rs {command} {option}");
        }
    }
}
