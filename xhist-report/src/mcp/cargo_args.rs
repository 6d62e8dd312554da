//! Which arguments of `cargo test` a request may have. What is not known is refused: it might name a configuration, a target
//! directory or a manifest elsewhere, or a program to run.

use std::path::Path;

use super::places;

/// Options without a value.
const ALONE: &[&str] = &[
    "--lib",
    "--bins",
    "--tests",
    "--examples",
    "--benches",
    "--all-targets",
    "--doc",
    "--workspace",
    "--all-features",
    "--no-default-features",
    "--release",
    "-r",
    "--no-fail-fast",
    "--offline",
    "--locked",
    "--frozen",
    "--quiet",
    "-q",
];
/// Options with a value.
const WITH_VALUE: &[&str] = &[
    "--bin",
    "--test",
    "--example",
    "--bench",
    "--package",
    "-p",
    "--exclude",
    "--features",
    "-F",
    "--profile",
    "--values",
    "--detail",
    "--deps",
    "--manifest-path",
];
/// Options of the test program, behind `--`.
const OF_TESTS: &[&str] =
    &["--exact", "--ignored", "--include-ignored", "--nocapture", "--show-output", "-q", "--quiet"];
/// The same with a value.
const OF_TESTS_WITH_VALUE: &[&str] = &["--skip", "--test-threads"];

/// Arguments at most.
const MOST: usize = 64;

/// The arguments, each of which is known.
///
/// # Errors
/// The first that is not, and those that are.
pub(super) fn checked(args: &[String], project: &Path) -> Result<Vec<String>, String> {
    if args.len() > MOST {
        return Err(format!("at most {MOST} arguments"));
    }
    let (cargo, of_tests) = args.split_at(args.iter().position(|arg| arg == "--").unwrap_or(args.len()));
    check(cargo, ALONE, WITH_VALUE, project)?;
    check(of_tests.get(1..).unwrap_or_default(), OF_TESTS, OF_TESTS_WITH_VALUE, project)?;
    Ok(args.to_vec())
}

fn check(args: &[String], alone: &[&str], with_value: &[&str], project: &Path) -> Result<(), String> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg.contains('\0') || arg.len() > 4096 {
            return Err("an argument has at most 4096 bytes and no zero byte".to_owned());
        }
        let is_name = !arg.starts_with(['-', '+']);
        if is_name || alone.contains(&arg.as_str()) {
            continue;
        }
        let (name, value) =
            arg.split_once('=').map_or((arg.as_str(), None), |(name, value)| (name, Some(value)));
        if !with_value.contains(&name) {
            let shown: String = name.chars().take(64).collect();
            let known = [alone, with_value].concat().join(" ");
            return Err(format!("`{shown}` is refused; names of tests and these are not: {known}"));
        }
        let value = match value {
            Some(value) => value,
            None => args.next().map(String::as_str).ok_or_else(|| format!("`{name}` needs a value"))?,
        };
        places::plain(value)?;
        if name == "--manifest-path" {
            places::inside(value, project)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_might_escape_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let project = std::fs::canonicalize(dir.path()).unwrap();
        let check = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            checked(&args, &project).map(drop)
        };
        for line in [
            "",
            "--lib parses_list",
            "-p a --features x -- --exact --test-threads 1",
            "--manifest-path sub/Cargo.toml",
            "--test=it",
        ] {
            assert_eq!(check(line), Ok(()), "{line}");
        }
        for line in [
            "--config build.rustc='x'",
            "--config=a",
            "--target-dir /tmp",
            "--target-dir=.",
            "-Zunstable-options",
            "-Z x",
            "+nightly",
            "--manifest-path /etc/Cargo.toml",
            "--manifest-path=../Cargo.toml",
            "--lib --bin",
            "-- --logfile x",
            "--features --config",
            "-C /",
            "--target=x.json",
            "-qZx",
            "--values --config",
        ] {
            assert!(check(line).is_err(), "{line}");
        }
    }
}
