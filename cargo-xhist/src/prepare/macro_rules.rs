//! The rules of macros whose statements are recorded. In the shadow such rules get calls.
//!
//! Where the compiler refuses a call, the wrapper writes the name of the macro down, and the build is repeated without calls in
//! its rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xhist_instrument::Analysis;

use crate::error::Error;
use crate::facts::Fact;
use crate::names::REFUSED;
use crate::plan::write_if_changed;
use crate::workspace::Workspace;
use crate::workspace::module_graph::ModuleGraph;

/// Names of macros whose rules stay as they are, one in a line.
const FILE: &str = "refused-macros";

/// The macros that compilers of earlier builds have refused.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    pub(crate) names: BTreeSet<String>,
    file: PathBuf,
}

impl Refused {
    /// Reads them.
    pub(crate) fn load(home: &Path) -> Refused {
        let file = home.join(FILE);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        Refused { names: text.lines().map(str::to_owned).collect(), file }
    }

    /// The file, as something that a preparation depends on.
    pub(crate) fn fact(&self) -> Fact {
        Fact::text(&self.file).0
    }
}

/// Whether compilers refused macros in a build with these wrappers. The next preparation leaves them as they are.
pub(crate) fn was_refused(home: &Path, wrappers: &Path) -> Result<bool, Error> {
    let directory = wrappers.join(REFUSED);
    let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
    let mut new: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let Refused { mut names, file } = Refused::load(home);
    new.retain(|name| names.insert(name.clone()));
    if new.is_empty() {
        return Ok(false);
    }
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    write_if_changed(&file, lines.as_bytes())?;
    std::fs::remove_dir_all(&directory).map_err(Error::file("remove", &directory))?;
    Ok(true)
}

/// Lets the macros of each crate name the recorder, if rules have calls. Returns the macros that have such rules.
pub(crate) fn give_recorder(graph: &mut ModuleGraph, workspace: &Workspace) -> BTreeSet<String> {
    let analyses = &mut graph.analyses;
    let is_root = |path: &Path| workspace.targets.iter().any(|target| target.root == path);
    let has_rules = analyses.iter().flatten().any(Analysis::has_rules);
    let mut recorded = BTreeSet::new();
    for (file, analysis) in graph.files.iter().zip(analyses) {
        let Ok(analysis) = analysis else { continue };
        recorded.extend(analysis.recorded_macros().map(str::to_owned));
        if has_rules && is_root(&file.path) {
            analysis.give_recorder();
        }
    }
    recorded
}
