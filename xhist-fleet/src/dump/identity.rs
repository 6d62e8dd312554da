//! What identifies statements and files in every build.

use sha2::{Digest, Sha256};

/// Directory of cargo that holds the sources of dependencies.
const REGISTRY: &str = "/registry/src/";

/// A path that does not depend on the version of a dependency, nor on the directory of cargo: `semver/src/lib.rs`.
pub fn plain_path(path: &str) -> String {
    let Some((_, behind)) = path.rsplit_once(REGISTRY) else { return path.to_owned() };
    let Some((package, file)) = behind.split_once('/').and_then(|(_, in_index)| in_index.split_once('/'))
    else {
        return path.to_owned();
    };
    let is_version = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let name = package.match_indices('-').map(|(at, _)| at).find(|at| is_version(&package[at + 1..]));
    format!("{}/{file}", name.map_or(package, |at| &package[..at]))
}

/// A hash of texts, the same on each machine.
pub fn hash(parts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    u64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
}

/// What identifies a statement: its text within its function, or its line if no text is known.
pub fn statement(path: &str, function: &str, text: u32, line: u32) -> i64 {
    let own = if text == 0 { format!("line {line}") } else { text.to_string() };
    hash(&[&plain_path(path), function, &own]) as i64
}

/// The identity of a dump: the first half of the SHA-256 of its bytes.
pub fn content(bytes: &[u8]) -> u128 {
    let digest = Sha256::digest(bytes);
    u128::from_be_bytes(digest[..16].try_into().expect("a digest has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_dependencies_lose_their_version() {
        let path =
            "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/proc-macro2-1.0.1/src/lib.rs";
        assert_eq!(plain_path(path), "proc-macro2/src/lib.rs");
        assert_eq!(plain_path("src/main.rs"), "src/main.rs");
        assert_eq!(plain_path("/registry/src/x"), "/registry/src/x");
    }

    #[test]
    fn a_statement_keeps_its_identity_when_its_line_moves() {
        assert_eq!(statement("a.rs", "f", 7, 1), statement("a.rs", "f", 7, 2));
        assert_ne!(statement("a.rs", "f", 0, 1), statement("a.rs", "f", 0, 2));
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
    }
}
