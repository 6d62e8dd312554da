//! What the user's cargo configuration says about programs to call. Cargo's own command for this
//! is unstable, so the files are read here, in cargo's order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::command::Command;

/// The wrapper that the user has around every compiler call.
pub(super) fn rustc_wrapper(command: &Command) -> Option<OsString> {
    let set = ["RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"].into_iter().find_map(std::env::var_os);
    let wrapper = set.or_else(|| {
        find(command, |config, base| {
            let name = config.get("build")?.get("rustc-wrapper")?.as_str()?;
            // A name with a slash starts at the directory that holds `.cargo`.
            Some(if name.contains('/') { base.join(name).into() } else { name.into() })
        })
    })?;
    (!wrapper.is_empty()).then_some(wrapper)
}

/// Whether the user has programs for this target run in a way of their own.
pub(super) fn has_runner(command: &Command, target: &str) -> bool {
    let name = format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase().replace(['-', '.'], "_"));
    let is_configured = |config: &Table, _: &Path| {
        let mut targets = config.get("target")?.as_table()?.iter();
        // Whether a `cfg(...)` holds is not known here; then the user's counts.
        let is_one = |(name, value): (&String, &Value)| {
            (name == target || name.starts_with("cfg(")) && value.get("runner").is_some()
        };
        targets.any(is_one).then_some(())
    };
    std::env::var_os(name).is_some() || find(command, is_configured).is_some()
}

/// The first answer: of the command line, of the nearest file above the working directory, of the user's own file.
/// `pick` gets a configuration, and the directory where relative paths in it start.
fn find<T>(command: &Command, pick: impl Fn(&Table, &Path) -> Option<T>) -> Option<T> {
    let here = std::env::current_dir().ok()?;
    let given = command.config_args().into_iter().rev().filter_map(|arg| {
        // A file, or the text of one line.
        let file = here.join(&arg);
        let from_file = || Some((read(&file)?, file.parent()?.to_path_buf()));
        from_file().or_else(|| Some((arg.to_str()?.parse().ok()?, here.clone())))
    });
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let directories = here.ancestors().map(|directory| directory.join(".cargo")).chain(home);
    let files = directories.filter_map(|directory| {
        let config = read(&directory.join("config")).or_else(|| read(&directory.join("config.toml")))?;
        Some((config, directory.parent()?.to_path_buf()))
    });
    given.chain(files).find_map(|(config, base)| pick(&config, &base))
}

fn read(file: &Path) -> Option<Table> {
    std::fs::read_to_string(file).ok()?.parse().ok()
}
