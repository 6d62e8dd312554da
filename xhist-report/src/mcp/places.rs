//! Texts of a request that name something: none may lead out of the project, and none is an option.

use std::path::{Component, Path};

/// A run, a file in the project, or a thread of either.
///
/// # Errors
/// Why it is refused, and what to give instead.
pub(super) fn history(text: &str, project: &Path) -> Result<String, String> {
    let is_run = text
        .strip_prefix('-')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_run {
        return Ok(text.to_owned());
    }
    if text.contains("://") {
        return Err(
            "links are not read here: name a run (`last`, `prev`) or a ring file of the project".to_owned()
        );
    }
    plain(text)?;
    let path = text.split_once("::").map_or(text, |(path, _)| path);
    let path = path.rsplit_once('#').map_or(path, |(path, _)| path);
    inside(path, project)?;
    inside(text, project)?;
    Ok(text.to_owned())
}

/// A source file of the project, perhaps with lines.
///
/// # Errors
/// Why it is refused.
pub(super) fn file(text: &str, project: &Path) -> Result<String, String> {
    plain(text)?;
    inside(text, project)?;
    inside(text.split_once(':').map_or(text, |(path, _)| path), project)?;
    Ok(text.to_owned())
}

/// A text that is no option.
///
/// # Errors
/// Why it is refused.
pub(super) fn plain(text: &str) -> Result<String, String> {
    match (text.starts_with('-'), text.is_empty() || text.len() > 4096 || text.contains('\0')) {
        (true, _) => Err("a name does not begin with `-`".to_owned()),
        (_, true) => Err("a name has 1 to 4096 bytes".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Checks that a path does not lead out of the project, also through a link.
///
/// # Errors
/// It does.
pub(super) fn inside(path: &str, project: &Path) -> Result<(), String> {
    let outside =
        || Err("a path outside of the project is not read: give one inside, relative to it".to_owned());
    let path = Path::new(path);
    if path.components().any(|part| part == Component::ParentDir) {
        return outside();
    }
    let whole = project.join(path);
    // The longest part that is there: what is below it is not.
    let found = whole.ancestors().find_map(|part| std::fs::canonicalize(part).ok());
    match found.is_some_and(|found| found.starts_with(project)) {
        true => Ok(()),
        false => outside(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_of_the_project_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let project = std::fs::canonicalize(dir.path()).unwrap().join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(dir.path().join("secret"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), project.join("out")).unwrap();
        for text in ["last", "-2", "prev::tests::a", "target/xhist/a.xhist#2", "1795714216869-4294"] {
            assert_eq!(history(text, &project), Ok(text.to_owned()));
        }
        let inside = project.join("src").display().to_string();
        assert!(history(&inside, &project).is_ok());
        for text in [
            "/etc/passwd",
            "../secret",
            "tcp://a:1",
            "-",
            "--config",
            "src/../../secret",
            "../secret::a",
            "",
            "/etc/x#1",
        ] {
            assert!(history(text, &project).is_err(), "{text}");
        }
        #[cfg(unix)]
        for text in ["out/secret", "out/secret::a", "out/new"] {
            assert!(history(text, &project).is_err(), "{text}");
        }
        assert!(file("src/lib.rs:3-9", &project).is_ok() && file("/etc/passwd:1", &project).is_err());
        assert!(file("--program=x", &project).is_err());
    }
}
