//! `--include` and `--exclude`.

use super::Fatal;
use globset::{Glob, GlobSet, GlobSetBuilder};
use std::path::Path;

/// Which files are wanted.
pub struct Selection {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Selection {
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, Fatal> {
        let included = globs(include)?;
        Ok(Self { include: (!include.is_empty()).then_some(included), exclude: globs(exclude)? })
    }

    /// `path` as found below the PATH given; directories above it count too.
    pub fn wants(&self, path: &Path) -> bool {
        let hits = |globs: &GlobSet| path.ancestors().any(|path| globs.is_match(path));
        self.include.as_ref().is_none_or(hits) && !hits(&self.exclude)
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, Fatal> {
    let usage = |error: globset::Error| Fatal::Usage(error.to_string());
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        builder.add(Glob::new(pattern).map_err(usage)?);
    }
    builder.build().map_err(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let owned =
            |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>();
        Selection::new(&owned(include), &owned(exclude)).ok().unwrap().wants(Path::new(path))
    }

    #[test]
    fn exclude_wins_and_covers_directories() {
        assert!(wants(&[], &[], "src/a.rs"));
        assert!(!wants(&[], &["src/gen"], "src/gen/a.rs"));
        assert!(!wants(&["**/*.rs"], &["*/a.rs"], "src/a.rs"));
        assert!(!wants(&["tests/*"], &[], "src/a.rs"));
    }
}
