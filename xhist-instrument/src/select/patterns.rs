//! Compiled patterns over files and over Rust paths.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::Path;

/// Patterns of one option.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    files: GlobSet,
    paths: GlobSet,
}

impl Patterns {
    pub fn new(patterns: &[String]) -> Result<Self, globset::Error> {
        let (mut files, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            if pattern.contains("::") {
                paths.add(GlobBuilder::new(&pattern.replace("::", "/")).literal_separator(true).build()?);
            } else {
                files.add(Glob::new(pattern)?);
            }
        }
        Ok(Self { files: files.build()?, paths: paths.build()? })
    }

    /// Whether some pattern is over files.
    pub fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether some pattern is over Rust paths.
    pub fn has_paths(&self) -> bool {
        !self.paths.is_empty()
    }

    /// Whether a pattern matches this file, or a directory around it.
    pub fn hit_file(&self, path: &Path) -> bool {
        path.ancestors().any(|path| self.files.is_match(path))
    }

    /// Whether a pattern matches this Rust path, or one around it.
    pub fn hit_path(&self, path: &str) -> bool {
        let path = path.replace("::", "/");
        Path::new(&path).ancestors().any(|path| self.paths.is_match(path))
    }
}
