//! The user's cargo configuration: which programs cargo calls, and how it compiles crates.
//!
//! Cargo's own command for this (`cargo config get`) is unstable. The crate cargo-config2 gives typed values: it drops keys
//! that it does not know, but [`deciding`] must keep those, because each may change how the recorder is compiled. So the files
//! are read here, in cargo's order, with `include`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::command::Command;
use crate::names::PROFILE;

/// A program that the user sets for cargo, by its key: `rustc`, `rustc-wrapper`, `rustc-workspace-wrapper`.
pub(crate) fn tool(command: &Command, key: &str) -> Option<OsString> {
    let name = key.to_uppercase().replace('-', "_");
    let variable = |name: &str| {
        let value = std::env::var_os(name)?;
        Some(located(value, &std::env::current_dir().ok()?))
    };
    let pick = |layer: &Layer| {
        let value = layer.config.get("build")?.get(key)?.as_str()?;
        Some(located(value.into(), &layer.base))
    };
    let (given, files) = layers(command);
    let tool = variable(&name)
        .or_else(|| given.iter().find_map(pick))
        .or_else(|| variable(&format!("CARGO_BUILD_{name}")))
        .or_else(|| files.iter().find_map(pick))?;
    // An empty name turns a wrapper off.
    (!tool.is_empty()).then_some(tool)
}

/// A name with a separator is relative to this directory; any other is searched in PATH.
fn located(name: OsString, base: &Path) -> OsString {
    let is_path = name.to_string_lossy().contains(std::path::is_separator);
    if is_path { base.join(name).into() } else { name }
}

/// Whether the user sets the directory of intermediate results (`build.build-dir`).
pub(crate) fn has_build_dir(command: &Command) -> bool {
    let is_set = |layer: &Layer| Some(layer.config.get("build")?.get("build-dir")?.is_str());
    let (given, files) = layers(command);
    std::env::var_os("CARGO_BUILD_BUILD_DIR").is_some()
        || given.iter().chain(&files).find_map(is_set).is_some()
}

/// Everything that decides how a crate outside the workspace is compiled for a target, as one text: that part of cargo's
/// configuration and of the environment. `read_by_sources`: variables that the crate itself reads.
pub(crate) fn deciding(command: &Command, read_by_sources: &[&str]) -> String {
    let (given, files) = layers(command);
    let mut text = String::new();
    for layer in given.iter().chain(&files) {
        let config = deciding_part(layer.config.clone(), read_by_sources);
        if !config.is_empty() {
            text += &format!("{config}\n");
        }
    }
    let mut variables: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(|name| decides(name, read_by_sources)))
        .collect();
    variables.sort();
    text + &format!("{variables:?}")
}

/// The part of the configuration files that [`deciding`] has, as a text for each file, the strongest last.
pub(crate) fn deciding_files(command: &Command, read_by_sources: &[&str]) -> Vec<String> {
    let files = layers(command).1.into_iter().rev();
    files.map(|layer| deciding_part(layer.config, read_by_sources).to_string()).collect()
}

fn decides(variable: &str, read_by_sources: &[&str]) -> bool {
    const WHOLE: [&str; 5] =
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_BOOTSTRAP", "RUSTUP_TOOLCHAIN", "SOURCE_DATE_EPOCH"];
    const BEGINS: [&str; 5] = [
        "CARGO_BUILD_",
        "CARGO_TARGET_",
        "CARGO_UNSTABLE_",
        "CARGO_PROFILE_RELEASE_",
        "CARGO_PROFILE_RECORDER_",
    ];
    const BESIDE: [&str; 6] = ["_DIR", "_RUNNER", "_LINKER", "_JOBS", "_WRAPPER", "_RUSTDOCFLAGS"];
    // How build scripts and macros are compiled changes nothing in a library.
    let is_of_cargo = BEGINS.iter().any(|begin| variable.starts_with(begin))
        && !BESIDE.iter().any(|end| variable.ends_with(end))
        && !variable.contains("_BUILD_OVERRIDE_");
    WHOLE.contains(&variable)
        || read_by_sources.contains(&variable)
        || is_of_cargo && variable != "CARGO_BUILD_TARGET"
}

/// A configuration without the keys that are known not to matter. Unknown keys stay.
fn deciding_part(mut config: Table, read_by_sources: &[&str]) -> Table {
    const BESIDE: [&str; 16] = [
        "alias",
        "cache",
        "cargo-new",
        "credential-alias",
        "doc",
        "future-incompat-report",
        "http",
        "include",
        "install",
        "net",
        "registries",
        "registry",
        "source",
        "term",
        "update",
        "xhist",
    ];
    const BESIDE_BUILD: [&str; 13] = [
        "artifact-dir",
        "build-dir",
        "dep-info-basedir",
        "incremental",
        "jobs",
        "rustc",
        "rustc-workspace-wrapper",
        "rustc-wrapper",
        "rustdoc",
        "rustdocflags",
        "target",
        "target-dir",
        "warnings",
    ];
    const BESIDE_TARGET: [&str; 4] = ["ar", "linker", "runner", "rustdocflags"];
    config.retain(|key, _| !BESIDE.contains(&key));
    let mut sift = |table: &str, keep: &dyn Fn(&str) -> bool| {
        if let Some(Value::Table(table)) = config.get_mut(table) {
            table.retain(|key, _| keep(key));
        }
    };
    sift("build", &|key| !BESIDE_BUILD.contains(&key));
    sift("env", &|key| decides(key, read_by_sources));
    sift("profile", &|key| ["release", PROFILE].contains(&key));
    if let Some(Value::Table(targets)) = config.get_mut("target") {
        for value in targets.iter_mut().filter_map(|(_, value)| value.as_table_mut()) {
            value.retain(|key, _| !BESIDE_TARGET.contains(&key));
        }
        targets.retain(|_, value| !value.as_table().is_some_and(Table::is_empty));
    }
    config.retain(|_, value| !value.as_table().is_some_and(Table::is_empty));
    config
}

/// Whether the environment asks the recorder for stamps. The recorder of programs on an operating system accepts the same values.
pub(crate) fn wants_time(variable: impl Fn(&str) -> Option<String>) -> bool {
    is_set(variable("XHIST_TIME"), &["on", "1"])
}

/// Whether it asks for a frame of each statement.
pub(crate) fn wants_frames(variable: impl Fn(&str) -> Option<String>) -> bool {
    is_set(variable("XHIST_FRAMES"), &["single", "exact"])
}

fn is_set(value: Option<String>, words: &[&str]) -> bool {
    value.is_some_and(|text| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word)))
}

/// Whether the user has a runner for programs of this target. Whether a `cfg(...)` holds is not asked: it counts.
pub(crate) fn has_runner(command: &Command, target: &str) -> bool {
    runner(command, target, |_| true).is_some()
}

/// A runner of the user's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UserRunner {
    pub(crate) words: Vec<String>,
    pub(crate) form: RunnerForm,
}

/// How a runner is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunnerForm {
    /// A text on the command line, under the target's own name.
    Text,
    /// A list there. Also any runner under another name, as `cfg(...)`.
    List,
    /// In the environment or a file, under the target's own name.
    Weaker,
}

/// The variable of cargo with the runner of a target.
pub(crate) fn runner_variable(target: &str) -> String {
    format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase().replace(['-', '.'], "_"))
}

/// The user's runner for programs of this target. `holds`: whether a `cfg(...)` does.
pub(crate) fn runner(command: &Command, target: &str, holds: impl Fn(&str) -> bool) -> Option<UserRunner> {
    let name = runner_variable(target);
    let (given, files) = layers(command);
    let of_target = |layer: &Layer| runner_in(layer, |name| name == target);
    let variable = || user_runner(&Value::String(std::env::var(name).ok()?), &std::env::current_dir().ok()?);
    let weaker = variable().or_else(|| files.iter().find_map(of_target));
    let weaker = weaker.map(|found| UserRunner { form: RunnerForm::Weaker, ..found });
    let own = given.iter().find_map(of_target).or(weaker);
    // Cargo asks these only if the target itself has none. Ours has another name, so it may be a list.
    let of_cfg = |layer: &Layer| {
        let found = runner_in(layer, |name| name.starts_with("cfg(") && holds(name))?;
        Some(UserRunner { form: RunnerForm::List, ..found })
    };
    own.or_else(|| given.iter().chain(&files).find_map(of_cfg))
}

/// The runner in a table of targets that is wanted.
fn runner_in(layer: &Layer, is_wanted: impl Fn(&str) -> bool) -> Option<UserRunner> {
    let targets = layer.config.get("target")?.as_table()?.iter();
    let mut wanted = targets.filter(|(name, _)| is_wanted(name));
    wanted.find_map(|(_, table)| user_runner(table.get("runner")?, &layer.base))
}

/// A program with arguments: one text, or a list.
fn user_runner(value: &Value, base: &Path) -> Option<UserRunner> {
    let text = value.as_str();
    let mut words: Vec<String> = match text {
        Some(text) => text.split_whitespace().map(String::from).collect(),
        None => strings(value),
    };
    let program = words.first_mut()?;
    *program = located(program.as_str().into(), base).into_string().ok()?;
    let form = if text.is_some() { RunnerForm::Text } else { RunnerForm::List };
    Some(UserRunner { words, form })
}

/// The targets that the user names: on the command line, in the environment, or in a file. None of them: the host. One that a
/// file describes has its path.
pub(crate) fn targets(command: &Command) -> Vec<String> {
    let typed = command.values("--target", None);
    if !typed.is_empty() {
        return typed;
    }
    let named = |layer: &Layer| {
        let mut names = strings(layer.config.get("build")?.get("target")?);
        for name in names.iter_mut().filter(|name| name.ends_with(".json")) {
            *name = layer.base.join(&*name).display().to_string();
        }
        Some(names)
    };
    let (given, files) = layers(command);
    let variable = || Some(vec![std::env::var("CARGO_BUILD_TARGET").ok().filter(|name| !name.is_empty())?]);
    let named = given.iter().find_map(named).or_else(variable).or_else(|| files.iter().find_map(named));
    named.unwrap_or_default()
}

/// One configuration of several: the first that has a key wins.
struct Layer {
    config: Table,
    /// The directory that its relative paths start from.
    base: PathBuf,
}

/// The configurations of the command line, and those of files, from the one nearest to the working directory to the user's
/// own. In cargo's order the environment comes between them.
fn layers(command: &Command) -> (Vec<Layer>, Vec<Layer>) {
    let Ok(here) = std::env::current_dir() else { return (Vec::new(), Vec::new()) };
    let (mut given, mut files) = (Vec::new(), Vec::new());
    for arg in command.config_args().into_iter().rev() {
        // A file, or the text of one line.
        if !add_file(&here.join(&arg), &mut given, 0)
            && let Some(config) = arg.to_str().and_then(|text| text.parse().ok())
        {
            given.push(Layer { config, base: here.clone() });
        }
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut directories: Vec<_> = here.ancestors().map(|directory| directory.join(".cargo")).collect();
    directories.extend(home.filter(|home| !directories.contains(home)));
    for directory in directories {
        if !add_file(&directory.join("config"), &mut files, 0) {
            add_file(&directory.join("config.toml"), &mut files, 0);
        }
    }
    (given, files)
}

/// Adds this file, and behind it the files that it includes, the last included first. Returns whether the file exists.
fn add_file(file: &Path, layers: &mut Vec<Layer>, depth: usize) -> bool {
    const DEEPEST: usize = 8;
    let Some(config) = std::fs::read_to_string(file).ok().and_then(|text| text.parse::<Table>().ok()) else {
        return false;
    };
    let directory = file.parent().unwrap_or(Path::new("/")).to_path_buf();
    let included: Vec<PathBuf> =
        config.get("include").into_iter().flat_map(strings).map(|name| directory.join(name)).collect();
    let base = directory.parent().unwrap_or(&directory).to_path_buf();
    layers.push(Layer { config, base });
    if depth < DEEPEST {
        for file in included.iter().rev() {
            add_file(file, layers, depth + 1);
        }
    }
    true
}

/// The strings of a value: a string, a list of strings, or a list of tables with a `path`.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Table(table) => table.get("path").into_iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_decide_about_a_recorder_are_kept() {
        let config = "build = { target = \"t\", jobs = 3, rustc-wrapper = \"w\" }\nalias.x = \"y\"\n\
                      target.t = { runner = \"r\", rustflags = [\"-Ca\"] }\ntarget.u.linker = \"l\"\n\
                      env = { HOME_PAGE = \"x\", XHIST_RING_SIZE = \"4096\" }\nprofile.dev.debug = 1\n\
                      unstable.build-std = [\"core\"]\n";
        let kept = "target.t.rustflags = [\"-Ca\"]\nenv.XHIST_RING_SIZE = \"4096\"\n\
                    unstable.build-std = [\"core\"]\n";
        let config: Table = config.parse().expect("TOML");
        let kept: Table = kept.parse().expect("TOML");
        assert_eq!(deciding_part(config, &["XHIST_RING_SIZE"]), kept);
        for name in ["RUSTFLAGS", "CARGO_TARGET_A_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "XHIST_A"] {
            assert!(decides(name, &["XHIST_A"]), "{name}");
        }
        for name in [
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET",
            "CARGO_BUILD_RUSTC_WRAPPER",
            "CARGO_TARGET_A_LINKER",
            "CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_DEBUG",
            "XHIST_FILE",
        ] {
            assert!(!decides(name, &["XHIST_A"]), "{name}");
        }
    }

    #[test]
    fn a_file_wins_over_its_includes_and_the_last_include_over_others() {
        let tree = tempfile::tempdir().expect("a directory");
        let directory = tree.path().join(".cargo");
        std::fs::create_dir(&directory).expect("a new directory");
        let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("a file");
        write("config.toml", "include = [\"a.toml\", { path = \"b.toml\" }]\nbuild.rustc = \"0\"\n");
        write("a.toml", "build.rustc = \"a\"\n");
        write("b.toml", "build.rustc = \"b\"\ninclude = \"config.toml\"\n");
        let mut layers = Vec::new();
        assert!(add_file(&directory.join("config.toml"), &mut layers, 0));
        let said = |layer: &Layer| layer.config["build"]["rustc"].as_str().map(String::from);
        let first: Vec<_> = layers.iter().take(2).filter_map(said).collect();
        assert_eq!(first, ["0", "b"]);
        assert_eq!(layers[0].base, tree.path());
    }
}
