//! `const fn` and rules of macros whose statements are recorded. In the shadow such a function loses the keyword, and the rules
//! get calls, when no const context of the build needs them.
//!
//! The sources show most const contexts. Where generated code has another one, the compiler refuses the call. Then the wrapper
//! writes the name down, that of a macro with a `!`, and the build is repeated with the original.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xhist_instrument::{Analysis, Constness, Options, Removable, removable};

use crate::error::Error;
use crate::keep::facts::Fact;
use crate::names::REFUSED;
use crate::plan::write_if_changed;
use crate::workspace::Workspace;
use crate::workspace::kept_analyses::KeptAnalyses;
use crate::workspace::module_graph::{ModuleFile, ModuleGraph};

/// Names of functions and macros that the compiler needs as they are, one in a line.
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

/// Analyses the files again in which something changes. Returns the functions that lose the keyword, and the macros whose rules have
/// calls, those with a `!`.
pub(crate) fn free(
    graph: &mut ModuleGraph,
    workspace: &Workspace,
    (needed, kept): (&Needed, &KeptAnalyses),
    options: &(impl Fn(&ModuleFile) -> Options + Sync),
) -> BTreeSet<String> {
    // Without `--deps` our wrapper compiles only members, so it cannot see what other crates are refused.
    if workspace.dependencies.is_empty() && workspace.has_outside {
        return BTreeSet::new();
    }
    let ModuleGraph { files, analyses, macros, .. } = graph;
    let unknown = Constness::default();
    let known = analyses.iter().map(|analysis| analysis.as_ref().map_or(&unknown, Analysis::constness));
    let known: Vec<&Constness> = known.collect();
    let Removable { keywords, kept_macros } = removable(&known, &needed.names);
    let mut freed = BTreeSet::new();
    for (known, keywords) in known.iter().zip(&keywords) {
        freed.extend(known.names_at(keywords).map(str::to_owned));
    }
    let changes = |analysis: &Analysis, keywords: &[usize]| !keywords.is_empty() || analysis.defines_macros();
    files.par_iter().zip(&mut *analyses).zip(&keywords).for_each(|((file, analysis), keywords)| {
        if analysis.as_ref().is_ok_and(|analysis| changes(analysis, keywords)) {
            *analysis = kept.of_freed(&file.text, (keywords, &kept_macros), &options(file), macros);
        }
    });
    let is_root = |path: &Path| workspace.targets.iter().any(|target| target.root == path);
    let has_rules = analyses.iter().flatten().any(Analysis::has_rules);
    for (file, analysis) in files.iter().zip(analyses) {
        let Ok(analysis) = analysis else { continue };
        freed.extend(analysis.recorded_macros().map(|name| format!("{name}!")));
        if has_rules && is_root(&file.path) {
            analysis.give_recorder();
        }
    }
    freed
}
