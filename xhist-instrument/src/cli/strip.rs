//! `--strip`: everything inserted goes, in place.

use super::outcome::Failure;
use super::{Args, ExitCode, Fatal, console, find};
use rayon::prelude::*;
use std::path::Path;

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let found = find::find(args, false)?;
    let bar = console::progress(found.sources.len(), "stripping");
    let results: Vec<Result<bool, String>> = found
        .sources
        .par_iter()
        .map(|source| {
            bar.inc(1);
            strip_file(&source.real).map_err(|failure| failure.describe(&source.path))
        })
        .collect();
    bar.finish_and_clear();
    let failures = results.iter().filter_map(|result| result.as_ref().err()).chain(&found.errors);
    let failed = failures.inspect(|failure| eprintln!("{failure}")).count();
    let changed = results.iter().filter(|result| matches!(result, Ok(true))).count();
    eprintln!(
        "{} stripped, {} had nothing inserted",
        console::files(changed),
        results.len() - failed.min(results.len()) - changed
    );
    Ok(if failed == 0 { ExitCode::Done } else { ExitCode::SomeFailed })
}

/// True when there was something to take out.
fn strip_file(path: &Path) -> Result<bool, Failure> {
    let text = std::fs::read(path).map_err(|error| Failure::Io("read", error))?;
    let stripped = crate::strip(&text);
    if stripped == text {
        return Ok(false);
    }
    crate::atomic::replace(path, &stripped).map_err(|error| Failure::Io("write", error))?;
    Ok(true)
}
