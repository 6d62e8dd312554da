//! The command line of `skill`: a file that says to agents when to use which command.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::UsageError;
use xhist_history::ExitCode;
use xhist_history::notes::{Notes, outcome};

/// The file.
const SKILL: &str = include_str!("skill.md");
/// The line that makes a file ours, also one of another version.
const NAME: &str = "name: xhist";
/// Where agents look, below the project.
const PLACES: [&str; 2] = [".claude/skills/xhist/SKILL.md", ".agents/skills/xhist/SKILL.md"];

/// Print the skill file for agents: when to use which command.
#[derive(Clone, Copy, Debug, Args)]
pub struct SkillArgs {
    /// Write it where agents look: .claude/skills/xhist and .agents/skills/xhist of this directory
    #[arg(long)]
    install: bool,
}

impl SkillArgs {
    /// Carries out the command. A file that is not ours is left alone.
    ///
    /// # Errors
    /// There is no working directory.
    pub(super) fn run(self, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        if !self.install {
            return Ok(outcome(out.write_all(SKILL.as_bytes()).and_then(|()| out.flush()), notes));
        }
        let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
        let mut code = ExitCode::Complete;
        for place in PLACES.map(|place| dir.join(place)) {
            let shown = place.strip_prefix(&dir).unwrap_or(&place).display();
            match install(&place, &dir) {
                Ok(what) => notes.note(format_args!("{shown}: {what}")),
                Err(why) => {
                    notes.error(format_args!("{shown}: {why}"));
                    code = ExitCode::Usage;
                }
            }
        }
        Ok(code)
    }
}

/// Writes the file, unless another one is there. Says what was done.
fn install(place: &Path, project: &Path) -> Result<&'static str, String> {
    let failed = |error: io::Error| format!("cannot be written: {error}");
    let existing = match fs::read_to_string(place) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("is there, and cannot be read: {error}")),
    };
    match existing {
        Some(text) if text == SKILL => return Ok("is up to date"),
        Some(text) if !text.lines().take(3).any(|line| line == NAME) => {
            return Err(
                "is there and not of xhist, so it is left alone; move it away and try again".to_owned()
            );
        }
        _ => {}
    }
    let folder: PathBuf = place.parent().unwrap_or(project).to_owned();
    // A symbolic link may lead elsewhere: the part of the path that is there decides.
    let found = folder.ancestors().find_map(|part| fs::canonicalize(part).ok());
    if !found.zip(fs::canonicalize(project).ok()).is_some_and(|(found, project)| found.starts_with(project)) {
        return Err("leads out of this directory, so nothing is written there".to_owned());
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(failed)?;
    file.write_all(SKILL.as_bytes()).map_err(failed)?;
    file.persist(place).map_err(|error| failed(error.error))?;
    Ok(if existing.is_some() { "is brought up to date" } else { "is written" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_someone_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join(PLACES[0]);
        assert_eq!(install(&place, dir.path()), Ok("is written"));
        assert_eq!(install(&place, dir.path()), Ok("is up to date"));
        fs::write(&place, "---\nname: xhist\n---\nold").unwrap();
        assert_eq!(install(&place, dir.path()), Ok("is brought up to date"));
        assert_eq!(fs::read_to_string(&place).unwrap(), SKILL);
        fs::write(&place, "mine").unwrap();
        assert!(install(&place, dir.path()).unwrap_err().contains("left alone"));
        assert_eq!(fs::read_to_string(&place).unwrap(), "mine");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_behind_a_link_that_leads_out() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(other.path(), dir.path().join(".claude")).unwrap();
        assert!(install(&dir.path().join(PLACES[0]), dir.path()).unwrap_err().contains("leads out"));
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_file_is_short() {
        assert!(SKILL.lines().count() <= 60 && SKILL.lines().nth(1) == Some(NAME));
    }
}
