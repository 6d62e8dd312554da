//! The ring file of the newest run of a project. It must not know what is in it.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Newest `*.xhist` file under the nearest `target/xhist` of `dir` and the directories above.
///
/// # Errors
/// What is missing and what to do, in a sentence.
pub fn newest(dir: &Path) -> Result<PathBuf, String> {
    let Some(target) = dir.ancestors().map(|dir| dir.join("target/xhist")).find(|target| target.is_dir())
    else {
        return Err("no source named, and there is no target/xhist here or above; \
                    name a dump, or run `cargo xhist run` first"
            .to_owned());
    };
    WalkDir::new(&target)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| {
            entry.file_type().is_file() && entry.path().extension().is_some_and(|ext| ext == "xhist")
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.into_path())))
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| {
            format!("no *.xhist file under {}; name a dump, or run `cargo xhist run` first", target.display())
        })
}
