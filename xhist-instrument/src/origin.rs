//! Where a project can get the recorder, the crate xhist-rt, from.

use std::path::{Path, PathBuf};

/// A source of the recorder for cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A directory: the checkout that this program was built from.
    Path(PathBuf),
    /// A commit of a repository that this program was installed from.
    Git {
        /// Its URL.
        url: String,
        /// The commit.
        rev: String,
    },
    /// The registry, at the version of this program.
    Registry,
}

impl Origin {
    /// The origin to write into a manifest. A repository takes precedence over a directory, which cargo may clean.
    pub fn find() -> Self {
        installed().or_else(checkout).unwrap_or(Self::Registry)
    }
}

/// The checkout that this program was built from, if it still exists.
fn checkout() -> Option<Origin> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("xhist-rt");
    sources.join("Cargo.toml").is_file().then_some(Origin::Path(sources))
}

/// The repository that cargo installed this program from, according to cargo's `.crates.toml`.
fn installed() -> Option<Origin> {
    let program = std::env::current_exe().ok()?;
    let notes = program.parent()?.parent()?.join(".crates.toml");
    git_source(&std::fs::read_to_string(notes).ok()?)
}

/// Parses `"xhist-instrument 0.1.0 (git+https://host/xhist?branch=main#0123abcd)" = ["cargo-xhist", ..]`.
fn git_source(notes: &str) -> Option<Origin> {
    let notes: toml::Table = notes.parse().ok()?;
    let packages = notes.get("v1")?.as_table()?.keys();
    let own = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"), " (git+");
    let source = packages.filter_map(|package| package.strip_prefix(own)?.strip_suffix(')')).next()?;
    let (url, rev) = source.split_once('#')?;
    let url = url.split('?').next().unwrap_or(url);
    Some(Origin::Git { url: url.to_owned(), rev: rev.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_installed_from_a_repository_names_its_commit() {
        let version = env!("CARGO_PKG_VERSION");
        let notes = |source: &str| {
            format!(
                "[v1]\n\"other 1.0.0 (registry+https://x)\" = [\"o\"]\n\"xhist-instrument {version} ({source})\" = [\"cargo-xhist\"]\n"
            )
        };
        let git = |url: &str, rev: &str| Some(Origin::Git { url: url.to_owned(), rev: rev.to_owned() });
        assert_eq!(git_source(&notes("git+https://h/x#0a1b")), git("https://h/x", "0a1b"));
        assert_eq!(git_source(&notes("git+ssh://git@h/x?branch=a#0a1b")), git("ssh://git@h/x", "0a1b"));
        assert_eq!(git_source(&notes("path+file:///x")), None);
        assert_eq!(git_source(&notes("registry+https://x")), None);
        assert_eq!(git_source("nonsense"), None);
    }
}
