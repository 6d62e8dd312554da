//! Annotations of failures for GitHub: workflow commands on standard output, and a summary of the step.

mod command;
mod failure;
mod run_failures;
mod summary;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use failure::AnnotatedFailure;
pub use run_failures::RunFailures;

use self::command::{AnnotationLevel, WorkflowCommand};
use self::summary::StepSummary;

/// Annotations of a kind that GitHub takes from a step; it drops more without a word.
const MOST: usize = 10;
/// Ranks of suspects that are annotated.
pub const RANKS: usize = 3;

/// Where GitHub looks for files, and where it takes a summary.
#[derive(Clone, Debug, Default)]
pub struct GitHubPlaces {
    /// The checkout: paths in annotations are relative to it.
    pub workspace: Option<PathBuf>,
    /// The file of the step's summary.
    pub summary: Option<PathBuf>,
}

impl GitHubPlaces {
    /// As the environment of a workflow says.
    pub fn of_environment() -> GitHubPlaces {
        let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        GitHubPlaces { workspace: path("GITHUB_WORKSPACE"), summary: path("GITHUB_STEP_SUMMARY") }
    }

    /// A path of the project at `root`, as annotations need it.
    fn path(&self, root: &Path, path: &str) -> String {
        let whole = root.join(path);
        let known = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let relative = self.workspace.as_deref().and_then(|workspace| {
            Some(known(&whole).strip_prefix(known(workspace)).ok()?.display().to_string())
        });
        relative.unwrap_or_else(|| path.to_owned())
    }
}

impl RunFailures {
    /// Writes annotations, and appends to the summary. `root` is the directory that paths start from.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(&self, root: &Path, places: &GitHubPlaces, out: &mut dyn Write) -> io::Result<()> {
        for failure in self.failures.iter().take(MOST) {
            let file = failure.place.as_ref().map(|place| (places.path(root, &place.path), place.line));
            let (title, message) = (failure.title(), failure.message());
            WorkflowCommand { level: AnnotationLevel::Error, file, title, message }.write(out)?;
        }
        for row in self.suspects.iter().filter(|row| row.rank <= RANKS).take(MOST) {
            let file = Some((places.path(root, &row.path), row.line));
            let title = format!("suspect {} in {}", row.rank, row.function);
            let message = format!(
                "Failing tests run this more than passing ones (score {:.2}): {}",
                row.score, row.text
            );
            WorkflowCommand { level: AnnotationLevel::Warning, file, title, message }.write(out)?;
        }
        let hidden = self.failures.len().saturating_sub(MOST);
        if hidden > 0 {
            writeln!(
                out,
                "xhist: GitHub takes {MOST} annotations from a step; {hidden} failures have no annotation"
            )?;
        }
        out.flush()?;
        places.summary.as_ref().map_or(Ok(()), |file| {
            StepSummary(self).append(file).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot write {}: {error}", file.display()))
            })
        })
    }
}
