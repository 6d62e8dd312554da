//! The sources of the recorder, embedded in this program: they always have the same version, and no checkout is needed.

use std::path::Path;

use crate::error::Error;
use crate::plan::write_if_changed;

mod packed {
    include!(concat!(env!("OUT_DIR"), "/recorder_sources.rs"));
}

/// Hash of the sources.
pub(crate) const HASH: u64 = packed::HASH;

/// Variables that the sources read when they are compiled.
pub(crate) const VARIABLES: &[&str] = packed::VARIABLES;

/// Writes the sources into this directory. Returns how a manifest names the recorder: by a path, or by a version when
/// this program came from a registry, without sources.
pub(crate) fn write(directory: &Path) -> Result<String, Error> {
    if packed::FILES.is_empty() {
        return Ok(format!(r#"version = "={}""#, env!("CARGO_PKG_VERSION")));
    }
    for (name, text) in packed::FILES {
        match *name {
            "Cargo.toml" => {
                let text = String::from_utf8_lossy(text);
                write_if_changed(&directory.join(name), workspace(&text)?.as_bytes())?;
            }
            name => write_if_changed(&directory.join(name), text)?,
        }
    }
    Ok(format!("path = {}", toml::Value::String(directory.join("xhist-rt").display().to_string())))
}

const UNPACKING: &str = "unpacking the recorder";

/// The manifest of our workspace with the recorder as its only member. Our lints are left out: a newer compiler may warn of
/// more.
fn workspace(manifest: &str) -> Result<String, Error> {
    let manifest: toml::Table =
        manifest.parse().map_err(|error: toml::de::Error| Error::step(UNPACKING, error))?;
    let ours = manifest.get("workspace").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let kept = ["package", "dependencies", "resolver"];
    let mut workspace: toml::Table = ours.into_iter().filter(|(key, _)| kept.contains(&&**key)).collect();
    workspace.insert("members".into(), vec!["qs-core", "xhist-rt"].into());
    workspace.insert("lints".into(), toml::Table::new().into());
    let whole: toml::Table = [("workspace".into(), workspace.into())].into_iter().collect();
    toml::to_string(&whole).map_err(|error| Error::step(UNPACKING, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sources_of_the_recorder_are_embedded() {
        let has = |wanted: &str| packed::FILES.iter().any(|(name, _)| *name == wanted);
        for name in ["Cargo.toml", "xhist-rt/src/hosted/auto.rs", "qs-core/src/lib.rs", "xhist-rt/README.md"]
        {
            assert!(has(name), "{name}");
        }
        for name in [
            "XHIST_RING_SIZE",
            "XHIST_CORES",
            "XHIST_CORE_REGISTER",
            "XHIST_QS_SIZES",
            "XHIST_QS_OFF",
            "XHIST_QS_BUILD",
        ] {
            assert!(VARIABLES.contains(&name), "{name}");
        }
    }

    #[test]
    fn the_workspace_has_no_other_members() {
        let text = "[workspace]\nmembers = [\"a\"]\nexclude = [\"b\"]\n[workspace.package]\nedition = \"2024\"\n\
                    [workspace.lints.rust]\nunused = \"deny\"\n[profile.dev]\ndebug = 1\n";
        let whole: toml::Table = workspace(text).expect("a manifest").parse().expect("a manifest");
        let workspace = whole["workspace"].as_table().expect("a table");
        assert_eq!(workspace["package"]["edition"].as_str(), Some("2024"));
        assert_eq!(workspace["members"].as_array().map(Vec::len), Some(2));
        assert!(!workspace.contains_key("exclude") && !whole.contains_key("profile"));
        assert!(workspace["lints"].as_table().is_some_and(toml::Table::is_empty));
    }
}
