//! What `cargo xhist` tells its compiler wrapper: a file beside the wrapper.
//!
//! Not the environment: that would reach the traced program, and cargo does not see it change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::Error;

/// The name under which this program is the wrapper.
pub(super) const WRAPPER_NAME: &str = "xhist-rustc";
const FILE_NAME: &str = "plan.json";

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Below it lies the shadow of `/`.
    pub(super) shadow: PathBuf,
    /// Root files that have a shadow.
    pub(super) roots: BTreeSet<PathBuf>,
    /// The recorder.
    pub(super) recorder: PathBuf,
    /// The directory of what the recorder depends on.
    pub(super) recorder_deps: PathBuf,
    /// Hash of the map, for `fn main`.
    pub(super) map_hash: String,
}

impl Plan {
    /// Reads the plan that lies beside the wrapper.
    pub(super) fn beside(wrapper: &Path) -> Option<Plan> {
        let text = std::fs::read(wrapper.with_file_name(FILE_NAME)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes the plan into `directory`, and the wrapper beside it. Returns the wrapper.
    pub(super) fn install(&self, directory: &Path) -> Result<PathBuf, Error> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| Error::step("writing the plan", error))?;
        write_if_changed(&directory.join(FILE_NAME), &text)?;
        let wrapper = directory.join(WRAPPER_NAME);
        let program = std::env::current_exe().map_err(|error| Error::step("finding this program", error))?;
        if std::fs::read_link(&wrapper).ok().as_ref() != Some(&program) {
            let _ = std::fs::remove_file(&wrapper);
            std::os::unix::fs::symlink(&program, &wrapper).map_err(Error::file("create", &wrapper))?;
        }
        Ok(wrapper)
    }

    /// The shadow of a file.
    pub(super) fn shadow_of(&self, path: &Path) -> PathBuf {
        shadow_of(&self.shadow, path)
    }
}

/// The place of `path` below `shadow`.
pub(super) fn shadow_of(shadow: &Path, path: &Path) -> PathBuf {
    shadow.join(path.strip_prefix("/").unwrap_or(path))
}

/// Writes a file whole or not at all, and leaves it alone when it is as it should be.
pub(super) fn write_if_changed(path: &Path, text: &[u8]) -> Result<(), Error> {
    let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    if !is_link && std::fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(Error::file("create", directory))?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let mut file = tempfile::Builder::new()
        .permissions(mode)
        .tempfile_in(directory)
        .map_err(Error::file("write in", directory))?;
    std::io::Write::write_all(&mut file, text).map_err(Error::file("write", path))?;
    file.persist(path).map_err(|error| Error::file("write", path)(error.error))?;
    Ok(())
}
