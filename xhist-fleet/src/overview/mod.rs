//! The groups of a data set as a page, over builds and days; a link leads to the history of an example.

mod collect;
mod history;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use crate::engine::Engine;
use crate::error::FleetError;

/// What to write.
#[derive(Clone, Debug)]
pub struct OverviewOptions {
    /// The page. Histories lie in a directory beside it.
    pub output: PathBuf,
    /// Most groups.
    pub limit: usize,
    /// Directories that hold maps.
    pub maps: Vec<PathBuf>,
}

/// Writes the page and a history for each group. Returns what to type next.
///
/// # Errors
/// The data set cannot be read, or a file cannot be written.
pub fn write(engine: &Engine, options: &OverviewOptions) -> Result<String, FleetError> {
    let overview = collect::collect(engine, options.limit)?;
    let output = &options.output;
    let name = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let files = format!("{name}.files");
    let dir = output.parent().unwrap_or(Path::new("")).join(&files);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| FleetError::Write(path, error)
    };
    fs::create_dir_all(&dir).map_err(at(&dir))?;
    for group in &overview.groups {
        let path = dir.join(format!("{}.html", group.example));
        let text = history::page(engine, group, &options.maps)?;
        fs::write(&path, text).map_err(at(&path))?;
    }
    fs::write(output, page::page(&overview, &files)).map_err(at(output))?;
    Ok(format!("{} groups in {}; a browser opens it", overview.groups.len(), output.display()))
}
