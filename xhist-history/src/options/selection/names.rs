//! The names under which users know a source file: its path, its crate, its module.

use std::path::Path;

/// The names of a source file of a map.
#[derive(Clone, Debug)]
pub struct SourceNames {
    /// The path as reports print it.
    path: Vec<String>,
    /// The absolute path, if it is known.
    absolute: Option<Vec<String>>,
    /// The crate's package, by its manifest and by its directory, and the name of the crate if that is another one.
    crates: Vec<String>,
    modules: Vec<String>,
}

/// The directory of the package that a file belongs to, and the rest of its path.
fn package(parts: &[String]) -> (&[String], &[String]) {
    let is_root = |part: &String| matches!(part.as_str(), "src" | "tests" | "examples" | "benches");
    match parts.iter().rposition(|part| part == "src").or_else(|| parts.iter().position(is_root)) {
        Some(at) => parts.split_at(at),
        None => parts.split_at(parts.len().saturating_sub(1)),
    }
}

/// The directory of the package of a file, relative to the root of its map if the path is.
pub fn package_dir(path: &str) -> String {
    let parts = split(path);
    let dir = package(&parts).0.join("/");
    if path.starts_with('/') { format!("/{dir}") } else { dir }
}

fn split(path: &str) -> Vec<String> {
    path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect()
}

impl SourceNames {
    /// Of a file with this path in a map with this root. `package` is the name in the manifest, if that is known.
    pub fn new(root: &str, path: &str, package_name: Option<&str>) -> SourceNames {
        let parts = split(path);
        let absolute = match Path::new(path).has_root() {
            true => Some(parts.clone()),
            false => {
                Path::new(root).has_root().then(|| split(root).into_iter().chain(parts.clone()).collect())
            }
        };
        let (dir, inside) = package(&parts);
        let dir_name = dir.last().cloned().or_else(|| split(root).pop());
        let dir_name = dir_name.map(|name| without_version(&name).replace('-', "_"));
        let manifest_name = package_name.map(|name| name.replace('-', "_"));
        let mut crates: Vec<String> = manifest_name.into_iter().chain(dir_name).collect();
        let mut modules: Vec<String> = inside.to_vec();
        if let Some(file) = modules.last_mut() {
            *file = file.strip_suffix(".rs").unwrap_or(file).to_owned();
        }
        // Each file of these directories, or directory with a `main.rs`, is a crate of its own.
        let own = match inside.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["src", "bin", _, ..] => 2,
            ["tests" | "examples" | "benches", _, ..] => 1,
            ["src", ..] => {
                modules.remove(0);
                0
            }
            _ => 0,
        };
        if own > 0 {
            crates.insert(0, modules[own].replace('-', "_"));
            modules.drain(..=own);
        }
        if matches!(modules.last().map(String::as_str), Some("main" | "lib" | "mod")) {
            modules.pop();
        }
        crates.dedup();
        SourceNames { path: parts, absolute, crates, modules }
    }

    /// The path as reports print it.
    pub fn path(&self) -> Vec<Vec<&str>> {
        self.path.iter().map(|part| vec![part.as_str()]).collect()
    }

    /// The absolute path, if it is known.
    pub fn absolute(&self) -> Option<Vec<Vec<&str>>> {
        Some(self.absolute.as_ref()?.iter().map(|part| vec![part.as_str()]).collect())
    }

    /// The names of its crate, with `_`.
    pub fn crates(&self) -> &[String] {
        &self.crates
    }

    /// The Rust path behind the crate, each part with all its spellings.
    pub fn rust_path<'n>(&'n self, function: Option<&'n str>) -> Vec<Vec<&'n str>> {
        let modules = self.modules.iter().map(|module| vec![module.as_str()]);
        let function = function.filter(|function| !function.is_empty());
        modules.chain(function.into_iter().flat_map(split_path).map(spellings)).collect()
    }
}

/// A part of a path as it is; of `<A<T> as b::C>` also `A` and `C`.
fn spellings(part: &str) -> Vec<&str> {
    let mut all = vec![part];
    match part.strip_prefix('<').and_then(|inside| inside.strip_suffix('>')) {
        Some(inside) => all.extend(inside.split(" as ").map(base)),
        None if part.contains('<') => all.push(base(part)),
        None => {}
    }
    all
}

/// `C` of `&mut b::C<T>`.
fn base(text: &str) -> &str {
    let text = text.split('<').next().unwrap_or(text).trim_end_matches(':');
    let text = text.rsplit([' ', ':', '&']).next().unwrap_or(text);
    text.trim()
}

/// `tokio` of `tokio-1.54.1`.
fn without_version(name: &str) -> &str {
    let is_version =
        |text: &str| text.starts_with(|first: char| first.is_ascii_digit()) && text.contains('.');
    let dash = name.match_indices('-').find(|(at, _)| is_version(&name[at + 1..]));
    dash.map_or(name, |(at, _)| &name[..at])
}

/// The parts of a Rust path. `::` within `<...>` does not part.
pub(super) fn split_path(path: &str) -> impl Iterator<Item = &str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let bytes = path.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'<' => depth += 1,
            // The arrow of a function type closes nothing.
            b'>' if at == 0 || bytes[at - 1] != b'-' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                parts.push(&path[start..at]);
                at += 1;
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(&path[start..]);
    parts.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_and_modules_follow_from_paths() {
        for (path, crates, modules) in [
            ("src/main.rs", "my_app", ""),
            ("src/a/mod.rs", "my_app", "a"),
            ("src/a/b.rs", "my_app", "a b"),
            ("src/bin/tool.rs", "tool my_app", ""),
            ("src/bin/tool/main.rs", "tool my_app", ""),
            ("tests/it/main.rs", "it my_app", ""),
            ("tests/it/part.rs", "it my_app", "part"),
            ("tests/one.rs", "one my_app", ""),
            ("crates/net-core/src/lib.rs", "net_core", ""),
            ("crates/net/tests/all.rs", "all net", ""),
            ("/r/registry/src/index.io-6f/tokio-util-0.7.1+x/src/net/mod.rs", "tokio_util", "net"),
            ("main.rs", "my_app", ""),
            ("lib/x.rs", "lib", "x"),
        ] {
            let names = SourceNames::new("/home/me/my-app", path, None);
            let found = names.rust_path(None).iter().map(|part| part[0]).collect::<Vec<_>>().join(" ");
            assert_eq!((names.crates().join(" ").as_str(), found.as_str()), (crates, modules), "{path}");
        }
        let names = SourceNames::new("/p/dir", "src/lib.rs", Some("real-name"));
        assert_eq!(names.crates(), ["real_name", "dir"]);
    }

    #[test]
    fn the_package_of_a_file_has_a_directory() {
        for (path, dir) in [
            ("src/main.rs", ""),
            ("crates/a/src/x.rs", "crates/a"),
            ("crates/a/tests/x.rs", "crates/a"),
            ("/r/a-1.0.0/src/x.rs", "/r/a-1.0.0"),
            ("build.rs", ""),
        ] {
            assert_eq!(package_dir(path), dir, "{path}");
        }
    }

    #[test]
    fn types_are_also_known_without_their_arguments() {
        assert_eq!(spellings("<&mut Vec<T> as a::B<C>>")[1..], ["Vec", "B"]);
        assert_eq!(spellings("Vec<T>")[1..], ["Vec"]);
        assert_eq!(spellings("f"), ["f"]);
    }

    #[test]
    fn paths_are_parted_outside_of_angle_brackets() {
        let parts = |path| split_path(path).collect::<Vec<_>>();
        assert_eq!(parts("a::<B as c::D>::e"), ["a", "<B as c::D>", "e"]);
        assert_eq!(parts("<F as Fn() -> a::B>::c"), ["<F as Fn() -> a::B>", "c"]);
        assert_eq!(parts(""), [""]);
    }
}
