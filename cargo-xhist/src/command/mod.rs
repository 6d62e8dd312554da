//! What the user wants: the command line of `cargo xhist`, and the configuration of cargo.
//!
//! The command line says which cargo command it is. Of cargo's options it reads the few that the other steps need. Cargo gets
//! all its options as they were typed.

pub(crate) mod again_options;
pub(crate) mod clean_options;
pub(crate) mod config;
pub(crate) mod own_options;

use std::ffi::{OsStr, OsString};

use self::again_options::Again;
use self::clean_options::Clean;
use self::own_options::OwnOptions;
use crate::error::{Error, UsageError};

/// What `--help` prints.
pub(crate) fn help() -> String {
    format!(
        "{HELP_HEAD}{}\nReports and views of what was recorded:\n{}{HELP_TAIL}",
        own_options::help(),
        xhist_report::cli::command_list()
    )
}

const HELP_HEAD: &str = "\
Runs a cargo command on instrumented sources; the sources themselves are not touched.

Usage: cargo xhist [options] <run|test|build|check|bench|nextest run> [any options of that cargo command]
       cargo xhist <answer|history|calls|view|page|suspects|diff|runs|...> [its options]
       cargo xhist why [TEST]
       cargo xhist diff --rerun N [TEST]
       cargo xhist clean [--builds] [--all] [--dry-run]

Options of its own, anywhere before `--` and before the program's arguments:
";

const HELP_TAIL: &str = "
After a crash, a panic or a failing test the last statements that ran are printed; the
whole history is what `cargo xhist history` prints, and `cargo xhist answer` prints the same
again. Everything lies under
target/xhist, and the recorder, which is built once for a compiler, in ~/.cache/xhist (or
in $XHIST_CACHE).
XHIST_KEEP=SIZE keeps that much of all runs (1g); runs that failed are kept longest.
`cargo xhist runs` lists them, `cargo xhist clean` removes them; clean --help has more.

--message-format json, which is cargo's, also prints what failed as one JSON line behind
cargo's, in place of the text; with nextest it is only that. `cargo xhist answer
--format json-schema` prints its schema.
--message-format github also annotates the failing statements and the suspects in a GitHub
workflow, and lists all of them in the summary of the step.

All other options are those of the cargo command: `cargo help run`, `cargo help test`, ...

Environment of the traced program:
  XHIST_FILE=PATH    keep the rings in this file (%p: process id, %e: program name)
  XHIST_SIZE=BYTES   size of each thread's ring (suffixes k, m, g)
  XHIST_TIME=...     time stamps: on (every statement; set when it is built, too), off; by default on chunks of
                     statements
  XHIST_FRAMES=...   packed (default), single (a frame for each statement; set when it is built, too), exact (the
                     same, with the exact order among threads instead of the time)
  XHIST_EVER=on      remember which statements ever ran (or the number of pages of 96 lines)
  XHIST=off, wait    record nothing; nothing until a trigger starts it
";

/// The commands by their long names.
pub(crate) const COMMANDS: [(&str, &str); 8] = [
    ("run", "Run a program, recorded; after a crash, what ran just before"),
    ("test", "Run the tests, recorded; after a failure, what ran just before, and suspects"),
    ("build", "Build instrumented programs"),
    ("check", "Check instrumented sources"),
    ("bench", "Run the benchmarks, recorded"),
    ("nextest", "Run the tests with cargo-nextest, recorded"),
    ("why", "Run a failed test again, with values, and print the answer with them"),
    ("clean", "Remove runs that are kept"),
];

/// Which cargo command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Run,
    Test,
    Build,
    Check,
    Bench,
    /// `cargo nextest run`.
    Nextest,
}

impl Verb {
    fn parse(word: &OsStr) -> Option<Verb> {
        Some(match word.to_str()? {
            "run" | "r" => Verb::Run,
            "test" | "t" => Verb::Test,
            "build" | "b" => Verb::Build,
            "check" | "c" => Verb::Check,
            "bench" => Verb::Bench,
            "nextest" => Verb::Nextest,
            _ => return None,
        })
    }

    /// What cargo calls it.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Verb::Run => &["run"],
            Verb::Test => &["test"],
            Verb::Build => &["build"],
            Verb::Check => &["check"],
            Verb::Bench => &["bench"],
            Verb::Nextest => &["nextest", "run"],
        }
    }

    /// Whether it runs what it built.
    pub(crate) fn runs(self) -> bool {
        matches!(self, Verb::Run | Verb::Test | Verb::Bench | Verb::Nextest)
    }
}

/// A parsed command line.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) verb: Verb,
    /// Cargo's options, without `--target-dir`.
    pub(crate) cargo_args: Vec<OsString>,
    /// `--` and the words behind it, or the words that cargo takes for arguments of the program without `--`.
    pub(crate) program_args: Vec<OsString>,
    pub(crate) own: OwnOptions,
    /// The words that it was typed with.
    pub(crate) words: Vec<OsString>,
    /// It repeats a run: the caller prints what it found.
    pub(crate) is_again: bool,
}

/// A command line: a command, or a request for help or the version.
#[derive(Clone, Debug)]
pub(crate) enum Parsed {
    Command(Box<Command>),
    /// Remove what is kept.
    Clean(Box<Clean>),
    /// Run a recorded test again.
    Again(Again),
    /// A command of `xhist-report`, with its words.
    Report(Vec<OsString>),
    /// What to print instead of running a command.
    Text(String),
    Help,
    Version,
}

/// Options with a value that the steps before cargo need too.
const SHARED_WITH_VALUE: [&str; 4] = ["--manifest-path", "--config", "--lockfile-path", "-Z"];
/// Options without a value that the steps before cargo need too.
const SHARED: [&str; 3] = ["--offline", "--locked", "--frozen"];
/// The other long options of `cargo run` whose value may be the next word.
const RUN_WITH_VALUE: [&str; 9] = [
    "--message-format",
    "--color",
    "--package",
    "--bin",
    "--example",
    "--features",
    "--jobs",
    "--profile",
    "--target",
];
/// Short options of cargo with a value.
const WITH_VALUE_LETTERS: &[u8] = b"pFjZ";

impl Command {
    /// Takes the arguments behind the program's name; cargo puts `xhist` first.
    pub(crate) fn parse(args: &[OsString]) -> Result<Parsed, Error> {
        let args = args.strip_prefix(&[OsString::from("xhist")]).unwrap_or(args);
        // As with cargo, options may come before the command.
        let (before, args) = args.split_at(words_at(args));
        let has = |names: [&str; 2]| before.iter().any(|arg| names.iter().any(|name| arg == name));
        if has(["-h", "--help"]) {
            return Ok(Parsed::Help);
        }
        if has(["-V", "--version"]) {
            return Ok(Parsed::Version);
        }
        let Some(word) = args.first().or(before.first()) else { return Ok(Parsed::Help) };
        if word == "help" {
            return Ok(Parsed::Help);
        }
        if word == "clean" {
            return match Clean::parse(&[before, &args[1..]].concat()) {
                Ok(clean) => Ok(Parsed::Clean(Box::new(clean))),
                Err(error) if !error.use_stderr() => Ok(Parsed::Text(error.to_string())),
                Err(error) => Err(own_options::usage(&error)),
            };
        }
        if again_options::is_again(args) {
            return match Again::parse(args) {
                Ok(again) => Ok(Parsed::Again(again)),
                Err(error) if !error.use_stderr() => Ok(Parsed::Text(error.to_string())),
                Err(error) => Err(own_options::usage(&error)),
            };
        }
        let Some(verb) = Verb::parse(word) else {
            if xhist_report::cli::is_command(word) {
                return Ok(Parsed::Report(args.to_vec()));
            }
            let reports = xhist_report::cli::command_names();
            let names = COMMANDS.into_iter().map(|(name, _)| name).chain(reports.iter().map(String::as_str));
            let meant = xhist_report::cli::meant(&word.to_string_lossy(), names).map(str::to_owned);
            return Err(UsageError::Command { word: word.clone(), meant }.into());
        };
        let mut rest = args.get(1..).unwrap_or_default();
        if rest[..program_args_at(verb, rest)].iter().any(|arg| arg == "--help" || arg == "-h") {
            return Ok(Parsed::Help);
        }
        for word in &verb.words()[1..] {
            rest = rest
                .split_first()
                .filter(|(first, _)| first == word)
                .map(|(_, rest)| rest)
                .ok_or_else(|| Error::from(UsageError::Nextest(word)))?;
        }
        let (behind, program_args) = rest.split_at(program_args_at(verb, rest));
        let (own, cargo_args) = own_options::split(&[before, behind].concat())?;
        if own.github && !verb.runs() {
            let what = verb.words().join(" ");
            let why = format!("--message-format github annotates what runs, and `cargo {what}` runs nothing");
            return Err(UsageError::Option(why).into());
        }
        let cargo_args = match verb {
            Verb::Nextest => own_options::without_json(cargo_args),
            _ => cargo_args,
        };
        let (program_args, words) = (program_args.to_vec(), [before, args].concat());
        Ok(Parsed::Command(Box::new(Command { verb, cargo_args, program_args, own, words, is_again: false })))
    }

    /// The options that find the project and the registry: for `cargo metadata`.
    pub(crate) fn project_args(&self) -> Vec<OsString> {
        self.pick(&SHARED_WITH_VALUE, &SHARED)
    }

    /// The options that decide which dependencies there are.
    pub(crate) fn feature_args(&self) -> Vec<OsString> {
        self.pick(&["--features", "-F"], &["--all-features", "--no-default-features"])
    }

    /// Whether cargo is to print nothing of its own.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_again || self.has("--quiet", b'q')
    }

    /// Whether programs run: some options let cargo stop before.
    pub(crate) fn runs(&self) -> bool {
        self.verb.runs() && !self.has("--no-run", 0)
    }

    /// Whether this option without a value is there, by its long name or its letter.
    pub(crate) fn has(&self, long: &str, letter: u8) -> bool {
        let is_letter = |arg: &OsString| match arg.as_encoded_bytes() {
            [b'-', letters @ ..] if !letters.starts_with(b"-") => {
                // Behind one with a value comes the value.
                let end = letters.iter().position(|letter| WITH_VALUE_LETTERS.contains(letter));
                letters[..end.unwrap_or(letters.len())].contains(&letter)
            }
            _ => false,
        };
        self.cargo_args.iter().any(|arg| arg == long || is_letter(arg))
    }

    /// Values of an option.
    pub(crate) fn values(&self, long: &str, letter: Option<&str>) -> Vec<String> {
        let names: Vec<&str> = [long].into_iter().chain(letter).collect();
        let mut words = self.pick(&names, &[]).into_iter();
        let mut values = Vec::new();
        while let Some(word) = words.next() {
            let word = word.to_string_lossy();
            if names.contains(&&*word) {
                values.extend(words.next().map(|value| value.to_string_lossy().into_owned()));
            } else if let Some(value) = names.iter().find_map(|name| word.strip_prefix(name)) {
                values.push(value.trim_start_matches('=').to_owned());
            }
        }
        values
    }

    /// The directory that cargo names after the profile.
    pub(crate) fn profile_directory(&self) -> String {
        let option = if self.verb == Verb::Nextest { "--cargo-profile" } else { "--profile" };
        let is_release = self.has("--release", b'r') || self.verb == Verb::Bench;
        match self.values(option, None).pop().as_deref() {
            None if is_release => "release".into(),
            None | Some("dev" | "test") => "debug".into(),
            Some("bench") => "release".into(),
            Some(name) => name.into(),
        }
    }

    /// Values of `--config`: what the command line adds to cargo's configuration.
    pub(crate) fn config_args(&self) -> Vec<OsString> {
        let args = self.pick(&["--config"], &[]);
        args.iter()
            .filter(|arg| *arg != "--config")
            .map(|arg| value_after(arg, "--config=").unwrap_or(arg.clone()))
            .collect()
    }

    /// The options that decide which machine code is made for a target: for building the recorder.
    pub(crate) fn build_args(&self) -> Vec<OsString> {
        let mut args = self.pick(&["--config", "-Z"], &["--offline"]);
        // A recorder for a locked build may still fetch itself, but not when the network is barred.
        if self.cargo_args.iter().any(|arg| arg == "--frozen") {
            args.push("--offline".into());
        }
        args
    }

    /// Cargo's unstable options.
    pub(crate) fn unstable_args(&self) -> Vec<OsString> {
        self.pick(&["-Z"], &[])
    }

    fn pick(&self, with_value: &[&str], alone: &[&str]) -> Vec<OsString> {
        let mut picked = Vec::new();
        let mut words = self.cargo_args.iter();
        while let Some(arg) = words.next() {
            if alone.iter().any(|name| arg == name) {
                picked.push(arg.clone());
            } else if with_value.iter().any(|name| arg == name) {
                picked.push(arg.clone());
                picked.extend(words.next().cloned());
            } else if with_value.iter().any(|name| joined_value(arg, name)) {
                picked.push(arg.clone());
            }
        }
        picked
    }
}

/// Where the arguments for the program start: at `--`; for `cargo run` at the first word that is neither an option nor
/// a value of one, and from there on all is the program's, options that cargo or we have too among it.
fn program_args_at(verb: Verb, args: &[OsString]) -> usize {
    match verb {
        Verb::Run => words_at(args),
        _ => args.iter().position(|arg| arg == "--").unwrap_or(args.len()),
    }
}

/// The index of the first argument that is neither an option nor a value of one.
fn words_at(args: &[OsString]) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let is_option = arg != "-" && arg.as_encoded_bytes().starts_with(b"-");
        if arg == "--" || !is_option {
            break;
        }
        at += if wants_value(arg) { 2 } else { 1 };
    }
    at.min(args.len())
}

/// Whether the value of this option of `cargo run` is the next word.
fn wants_value(option: &OsStr) -> bool {
    match option.as_encoded_bytes() {
        [b'-', b'-', ..] => {
            own_options::wants_value(option)
                || SHARED_WITH_VALUE.iter().chain(&RUN_WITH_VALUE).any(|known| option == *known)
        }
        // Several short options may share a hyphen; the rest behind one that takes a value is the value.
        [b'-', letters @ ..] => {
            letters.iter().position(|letter| WITH_VALUE_LETTERS.contains(letter))
                == letters.len().checked_sub(1)
        }
        _ => false,
    }
}

/// `--name=value`, or `-Zvalue`.
fn joined_value(arg: &OsStr, name: &str) -> bool {
    let separator = if name.starts_with("--") { "=" } else { "" };
    value_after(arg, &format!("{name}{separator}")).is_some_and(|value| !value.is_empty())
}

fn value_after(arg: &OsStr, prefix: &str) -> Option<OsString> {
    arg.to_str()?.strip_prefix(prefix).map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_instrument::When;

    fn parse(line: &str) -> Command {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        match Command::parse(&args) {
            Ok(Parsed::Command(command)) => *command,
            other => panic!("{other:?}"),
        }
    }

    fn words(args: &[OsString]) -> String {
        args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_are_handed_on_as_typed() {
        let command = parse("xhist run --release -p a --target-dir t --bin=b -- --target-dir x");
        assert_eq!(command.verb, Verb::Run);
        assert_eq!(words(&command.cargo_args), "--release -p a --bin=b");
        assert_eq!(words(&command.program_args), "-- --target-dir x");
        assert_eq!(command.own.target_dir, Some("t".into()));
    }

    #[test]
    fn the_steps_before_cargo_see_what_finds_the_project() {
        let command =
            parse("t --manifest-path=a/Cargo.toml --locked --config k=1 --target thumbv7m-none-eabi -Zx");
        assert_eq!(words(&command.project_args()), "--manifest-path=a/Cargo.toml --locked --config k=1 -Zx");
        assert_eq!(words(&command.build_args()), "--config k=1 -Zx");
    }

    #[test]
    fn own_options_are_taken_out() {
        let command = parse("xhist nextest run --deps a,b --release --when=after --deps=c -- --deps d");
        assert_eq!(command.verb.words(), ["nextest", "run"]);
        assert_eq!(command.own.deps, ["a", "b", "c"]);
        assert_eq!(command.own.settings.when, Some(When::After));
        assert_eq!(words(&command.cargo_args), "--release");
        assert_eq!(words(&command.program_args), "-- --deps d");
        let command =
            parse("xhist run --stop-at a.rs:1#2+3 -q --stop-at=b.rs:4 --start-at c.rs:5 -- --stop-at d");
        assert_eq!(command.own.settings.stop_at, ["a.rs:1#2+3", "b.rs:4"]);
        assert_eq!(command.own.settings.start_at, ["c.rs:5"]);
        assert_eq!(words(&command.cargo_args), "-q");
    }

    #[test]
    fn arguments_of_the_program_are_its_own_also_without_two_hyphens() {
        let command = parse("xhist run --bin b -qp a --when after serve --config c --when 5 --deps");
        assert_eq!(words(&command.cargo_args), "--bin b -qp a");
        assert_eq!(words(&command.program_args), "serve --config c --when 5 --deps");
        assert_eq!((command.own.settings.when, command.own.deps.len()), (Some(When::After), 0));
        assert_eq!(words(&parse("r -pa -j2 x --offline").program_args), "x --offline");
        // Elsewhere such a word is a filter, and cargo's options may follow.
        let command = parse("test some_name --target-dir t -- --when 5");
        assert_eq!(words(&command.cargo_args), "some_name");
        assert_eq!(command.own.target_dir, Some("t".into()));
        assert_eq!(words(&command.program_args), "-- --when 5");
    }

    #[test]
    fn options_may_come_before_the_command_as_with_cargo() {
        let command = parse("xhist -q --color never --config k=1 run --bin b serve -v");
        assert_eq!((command.verb, command.is_quiet()), (Verb::Run, true));
        assert_eq!(words(&command.cargo_args), "-q --color never --config k=1 --bin b");
        assert_eq!(words(&command.program_args), "serve -v");
        let command = parse("--offline --deps all nextest run name");
        assert_eq!((command.verb, words(&command.cargo_args)), (Verb::Nextest, "--offline name".into()));
        assert_eq!(command.own.deps, ["all"]);
        let refused = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            Command::parse(&args).expect_err("no command").to_string()
        };
        assert!(refused("-q rnu").contains("did you mean `cargo xhist run`?"));
        assert!(refused("xhist -q").contains("`-q`") && refused("-- run").contains("`--`"));
    }

    #[test]
    fn other_commands_are_refused() {
        for line in ["nextest list", "nextest", "run --when never", "run --deps", "run --stop-at"] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(matches!(Command::parse(&args), Err(Error::Usage(_))), "{line}");
        }
        assert!(matches!(Command::parse(&["xhist".into(), "doc".into()]), Err(Error::Usage(_))));
    }

    #[test]
    fn a_typo_in_the_command_gets_the_command_to_type() {
        let message = |word: &str| Command::parse(&[word.into()]).expect_err("no command").to_string();
        assert!(message("rnu").contains("did you mean `cargo xhist run`?"), "{}", message("rnu"));
        assert!(message("claen").contains("did you mean `cargo xhist clean`?"));
        assert!(message("doc").contains("`cargo xhist` has run, test, build"));
    }

    #[test]
    fn help_is_there_for_each_command_and_none_of_the_programs() {
        for line in [
            "xhist",
            "xhist -h",
            "help",
            "xhist run --help",
            "test -h",
            "nextest --help",
            "b -q --help",
            "-q -h run",
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(matches!(Command::parse(&args), Ok(Parsed::Help)), "{line}");
        }
        assert_eq!(words(&parse("run serve --help").program_args), "serve --help");
        assert_eq!(words(&parse("test -- -h").program_args), "-- -h");
    }

    #[test]
    fn options_of_cargo_are_understood_where_they_matter() {
        let command = parse("build -vr --bin=a --bin b -pc -p d --profile dev");
        assert_eq!(command.values("--bin", None), ["a", "b"]);
        assert_eq!(command.values("--package", Some("-p")), ["c", "d"]);
        assert_eq!((command.has("--release", b'r'), command.is_quiet()), (true, false));
        assert_eq!(command.profile_directory(), "debug");
        assert_eq!(parse("build -qr").profile_directory(), "release");
        assert_eq!(parse("build --profile=small").profile_directory(), "small");
        assert!(parse("build -qp r").is_quiet() && !parse("build -pq").is_quiet());
        assert!(!parse("build -pr").has("--release", b'r'));
        assert!(parse("test").runs() && !parse("test --no-run").runs() && !parse("build").runs());
    }

    #[test]
    fn an_unknown_command_is_answered_with_all_that_there_are() {
        let args = ["xhist", "clippy"].map(OsString::from);
        let text = Command::parse(&args).expect_err("unknown").to_string();
        let missing: Vec<_> = COMMANDS.iter().filter(|(name, _)| !text.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}: {text}");
    }
}
