//! Which crates print through the recorder: in the shadow of such a root, macros of the recorder take the place of `println!`
//! and its like of `std`, for every file of the crate. A macro of that name that the crate defines or imports is found first.

use std::path::Path;

use xhist_instrument::PrintedOutput;

use crate::prepare::shadow::program_sources::Choice;
use crate::workspace::module_graph::ModuleGraph;

/// Words of crates that `println!` may mean something else in, or nothing.
const OTHERS: [&str; 3] = ["no_std", "no_core", "no_implicit_prelude"];

/// Chooses the crates.
pub(super) fn record(graph: &mut ModuleGraph, choice: &Choice<'_>) {
    let workspace = choice.workspace;
    let is_root = |path: &Path| workspace.targets.iter().any(|target| target.root == path);
    for (file, analysis) in graph.files.iter().zip(&mut graph.analyses) {
        // Such an item in a module is an error, and a root may be a module of another crate.
        let is_meant = is_root(&file.path)
            && !graph.inner.contains(&file.path)
            && workspace.settings(choice.settings, &file.path).output == Some(PrintedOutput::On)
            && str::from_utf8(&file.text).is_ok_and(|text| !OTHERS.iter().any(|word| text.contains(word)));
        if let (true, Ok(analysis)) = (is_meant, analysis) {
            analysis.record_output();
        }
    }
}
