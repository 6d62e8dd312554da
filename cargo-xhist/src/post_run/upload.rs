//! Runs the user's own command on the rings of what crashed: `XHIST_UPLOAD`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xhist_instrument::shell::visible;

/// The variable with the command. A shell runs it, with the ring file as `$1` and the map as `$2`.
const VARIABLE: &str = "XHIST_UPLOAD";

/// Runs the command on each ring file, if there is one.
pub(super) fn upload(files: &[PathBuf], map: &Path) {
    let command = std::env::var_os(VARIABLE).filter(|command| !command.is_empty());
    for file in command.iter().flat_map(|_| files) {
        if let Some(why) = command.as_deref().and_then(|command| run(command, file, map)) {
            let (file, text) =
                (file.to_string_lossy(), command.as_deref().unwrap_or_default().to_string_lossy());
            eprintln!(
                "xhist: {VARIABLE}: `{}` {why}; the ring is still in {}",
                visible(&text),
                visible(&file)
            );
        }
    }
}

/// Runs the command on one file. Returns why it failed.
fn run(command: &OsStr, file: &Path, map: &Path) -> Option<String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).arg("sh").arg(file).arg(map).stdin(Stdio::null());
    match shell.status() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("ended with {status}")),
        Err(error) => Some(format!("cannot be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_gets_ring_and_map() {
        let directory = tempfile::tempdir().unwrap();
        let [ring, map, copy] = ["a ring", "map", "copy"].map(|name| directory.path().join(name));
        std::fs::write(&ring, "ring").unwrap();
        std::fs::write(&map, "map").unwrap();
        let command = format!("cat \"$1\" \"$2\" > '{}'", copy.display());
        assert_eq!(run(OsStr::new(&command), &ring, &map), None);
        assert_eq!(std::fs::read_to_string(copy).unwrap(), "ringmap");
        assert!(run(OsStr::new("exit 3"), &ring, &map).unwrap().contains('3'));
    }
}
