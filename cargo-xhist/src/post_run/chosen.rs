//! Ring files that the user named with `XHIST_FILE`: the recorder fills in `%p`, the process id, and `%e`, the program's name.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use walkdir::WalkDir;

/// The file of this name; of a name with `%p` or `%e`, the files that programs of this run wrote, oldest first.
pub(super) fn files(chosen: &Path, started_ms: u64) -> Vec<PathBuf> {
    let pattern = chosen.as_os_str().as_encoded_bytes();
    if !is_pattern(pattern) {
        return vec![chosen.to_path_buf()];
    }
    // A directory may be part of the pattern.
    let fixed = chosen.ancestors().skip(1).find(|path| !is_pattern(path.as_os_str().as_encoded_bytes()));
    let fixed = fixed.unwrap_or(Path::new(""));
    let depth = chosen.components().count() - fixed.components().count();
    let start = if fixed.as_os_str().is_empty() { Path::new(".") } else { fixed };
    let entries = WalkDir::new(start).min_depth(depth).max_depth(depth).into_iter().flatten();
    let started = UNIX_EPOCH + Duration::from_millis(started_ms);
    let mut files: Vec<_> = entries
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.into_path())))
        .map(|(modified, path)| (modified, path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path)))
        .filter(|(modified, path)| *modified >= started && fits(path.as_os_str().as_encoded_bytes(), pattern))
        .collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

fn is_pattern(name: &[u8]) -> bool {
    name.windows(2).any(|pair| pair == b"%p" || pair == b"%e")
}

/// Whether the recorder can have made this name from the pattern.
fn fits(name: &[u8], pattern: &[u8]) -> bool {
    match (pattern, name) {
        ([b'%', b'p', rest @ ..], _) => {
            let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (1..=digits).any(|len| fits(&name[len..], rest))
        }
        ([b'%', b'e', rest @ ..], _) => {
            let own = name.iter().take_while(|byte| **byte != b'/').count();
            (1..=own).any(|len| fits(&name[len..], rest))
        }
        ([byte, rest @ ..], [first, behind @ ..]) => byte == first && fits(behind, rest),
        ([], name) => name.is_empty(),
        (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_what_it_was_made_from() {
        for (name, pattern, is_fit) in [
            ("demo-12.xhist", "%e-%p.xhist", true),
            ("my-tool-7-12.xhist", "%e-%p.xhist", true),
            ("demo-.xhist", "%e-%p.xhist", false),
            ("-12.xhist", "%e-%p.xhist", false),
            ("demo/12", "%e/%p", true),
            ("a/b-12.xhist", "%e-%p.xhist", false),
            ("100%-3", "100%-%p", true),
            ("demo-12.xhist.old", "%e-%p.xhist", false),
        ] {
            assert_eq!(fits(name.as_bytes(), pattern.as_bytes()), is_fit, "{name} {pattern}");
        }
    }

    #[test]
    fn older_files_are_of_other_runs() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, age: u64| {
            let file = std::fs::File::create(directory.path().join(name)).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(1000 - age)).unwrap();
        };
        write("a-1.xhist", 50);
        write("a-2.xhist", 10);
        write("b-3.xhist", 20);
        let found = files(&directory.path().join("%e-%p.xhist"), 970_000);
        assert_eq!(found, ["b-3.xhist", "a-2.xhist"].map(|name| directory.path().join(name)));
        let plain = directory.path().join("none");
        assert_eq!(files(&plain, 0), [plain]);
    }
}
