//! `const fn` whose statements are recorded: in the shadow they lose the keyword, when no const context of the build calls
//! them.
//!
//! The sources show most const contexts. Where generated code calls such a function as a constant, the compiler refuses it.
//! Then the wrapper writes the function's name down, and the build is repeated with the keyword.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xhist_instrument::{Analysis, Constness, Options, analyze_without_const, removable};

use crate::error::Error;
use crate::facts::Fact;
use crate::names::REFUSED;
use crate::plan::write_if_changed;
use crate::workspace::Workspace;
use crate::workspace::module_graph::{ModuleFile, ModuleGraph};

/// Names of functions that the compiler needs as constants, one in a line.
const FILE: &str = "const-fns";

/// The names that compilers of earlier builds have asked for.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    names: HashSet<String>,
    file: PathBuf,
}

impl Needed {
    /// Reads them.
    pub(crate) fn load(home: &Path) -> Needed {
        let file = home.join(FILE);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        Needed { names: text.lines().map(str::to_owned).collect(), file }
    }

    /// The file, as something that a preparation depends on.
    pub(crate) fn fact(&self) -> Fact {
        Fact::text(&self.file).0
    }
}

/// Whether compilers refused functions in a build with these wrappers. The next preparation leaves them as they are.
pub(crate) fn was_refused(home: &Path, wrappers: &Path) -> Result<bool, Error> {
    let directory = wrappers.join(REFUSED);
    let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let mut needed = Needed::load(home);
    names.retain(|name| needed.names.insert(name.clone()));
    if names.is_empty() {
        return Ok(false);
    }
    let mut all: Vec<&str> = needed.names.iter().map(String::as_str).collect();
    all.sort_unstable();
    write_if_changed(&needed.file, (all.join("\n") + "\n").as_bytes())?;
    std::fs::remove_dir_all(&directory).map_err(Error::file("remove", &directory))?;
    Ok(true)
}

/// The functions that lose the keyword.
#[derive(Debug, Default)]
pub(crate) struct Freed {
    pub(crate) names: BTreeSet<String>,
    /// The files of dependencies among theirs, with the offsets.
    pub(crate) in_dependencies: Vec<(PathBuf, Vec<usize>)>,
}

/// Analyses the files again whose functions lose the keyword.
pub(crate) fn free(
    graph: &mut ModuleGraph,
    workspace: &Workspace,
    needed: &Needed,
    options: &(impl Fn(&ModuleFile) -> Options + Sync),
) -> Freed {
    // Without `--deps` our wrapper compiles only members, so it cannot see what other crates are refused.
    if workspace.dependencies.is_empty() && workspace.has_outside {
        return Freed::default();
    }
    let ModuleGraph { files, analyses, macros, .. } = graph;
    let unknown = Constness::default();
    let known = analyses.iter().map(|analysis| analysis.as_ref().map_or(&unknown, Analysis::constness));
    let known: Vec<&Constness> = known.collect();
    let keywords = removable(&known, &needed.names);
    let mut freed = Freed::default();
    for (index, keywords) in keywords.iter().enumerate().filter(|(_, keywords)| !keywords.is_empty()) {
        freed.names.extend(known[index].names_at(keywords).map(str::to_owned));
        let path = &files[index].path;
        if workspace.dependencies.iter().any(|directory| path.starts_with(directory)) {
            freed.in_dependencies.push((path.clone(), keywords.clone()));
        }
    }
    let pairs = files.par_iter().zip(analyses).zip(keywords).filter(|(_, keywords)| !keywords.is_empty());
    pairs.for_each(|((file, analysis), keywords)| {
        *analysis = analyze_without_const(&file.text, &keywords, &options(file), macros);
    });
    freed
}
