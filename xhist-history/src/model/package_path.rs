//! Paths of packages' files in cargo's directories, as listings name them.

/// The package of a file among cargo's sources of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryPackage<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its version, if the directory has one.
    pub version: Option<&'p str>,
    /// The path of the file from the package's directory on.
    file: &'p str,
}

impl<'p> RegistryPackage<'p> {
    /// `None` for a file that is elsewhere.
    pub fn of(path: &'p str) -> Option<RegistryPackage<'p>> {
        let (_, file) = path.split_once("/registry/src/")?.1.split_once('/')?;
        let (directory, _) = file.split_once('/')?;
        let is_version = |at: &usize| directory[at + 1..].starts_with(|char: char| char.is_ascii_digit());
        let at = directory.match_indices('-').map(|(at, _)| at).find(is_version);
        let (name, version) =
            at.map_or((directory, None), |at| (&directory[..at], Some(&directory[at + 1..])));
        Some(RegistryPackage { name, version, file })
    }
}

/// A path in cargo's directories or of the standard library, without those: `tokio-1.54.1/src/sync.rs`; and the package of cargo:
/// `tokio 1.54.1`.
pub fn short_path(path: &str) -> (String, Option<String>) {
    let own = || (path.to_owned(), None);
    if let Some(package) = RegistryPackage::of(path) {
        let name = match package.version {
            Some(version) => format!("{} {version}", package.name),
            None => package.name.to_owned(),
        };
        return (package.file.to_owned(), Some(name));
    }
    let of_std = path.strip_prefix("/rustc/").and_then(|path| path.split_once("/library/"));
    if let Some((_, file)) = of_std {
        return (file.to_owned(), None);
    }
    let Some((_, rest)) = path.split_once("/git/checkouts/") else { return own() };
    let mut parts = rest.splitn(3, '/');
    let (Some(checkout), Some(revision), Some(inside)) = (parts.next(), parts.next(), parts.next()) else {
        return own();
    };
    // The name of a checkout ends in a hash.
    let name = checkout.rsplit_once('-').map_or(checkout, |(name, _)| name);
    (format!("{name}-{revision}/{inside}"), Some(format!("{name} {revision}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_packages_are_shortened() {
        let registry = "/home/a/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        let short = |path: &str| {
            let (path, package) = short_path(path);
            format!("{path} of {}", package.unwrap_or_default())
        };
        assert_eq!(
            short(&format!("{registry}/tokio-1.54.1/src/a.rs")),
            "tokio-1.54.1/src/a.rs of tokio 1.54.1"
        );
        assert_eq!(
            short(&format!("{registry}/rand-core-0.9.0-rc-1/src/a.rs")),
            "rand-core-0.9.0-rc-1/src/a.rs of rand-core 0.9.0-rc-1"
        );
        assert_eq!(
            short("/c/git/checkouts/a-b-0f1e2d/9c8b7a6/b/src/l.rs"),
            "a-b-9c8b7a6/b/src/l.rs of a-b 9c8b7a6"
        );
        assert_eq!(short("/rustc/0f1e/library/core/src/a.rs"), "core/src/a.rs of ");
        assert_eq!(short("src/registry.rs"), "src/registry.rs of ");
    }
}
