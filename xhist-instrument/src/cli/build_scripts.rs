//! The modules and includes of build scripts: they run in the build as well, without the recorder.

use super::folder::{FolderSource, FolderSources};
use crate::pipeline::Exemption;
use crate::{Analysis, IncludeKind, Options, analyze};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Leaves the modules and includes of build scripts alone.
pub fn spare(found: &mut FolderSources) {
    let by_path: HashMap<PathBuf, usize> =
        found.sources.iter().enumerate().map(|(index, source)| (source.real.clone(), index)).collect();
    let is_script = |source: &FolderSource| source.rule == Some(Exemption::BuildScript);
    let mut work: Vec<usize> =
        (0..found.sources.len()).filter(|&index| is_script(&found.sources[index])).collect();
    while let Some(index) = work.pop() {
        for path in leads_to(&found.sources[index].real) {
            let Some(&part) = path.canonicalize().ok().and_then(|path| by_path.get(&path)) else { continue };
            let source = &mut found.sources[part];
            if source.rule.is_none() {
                source.rule = Some(Exemption::BuildScript);
                work.push(part);
            }
        }
    }
}

/// Paths where the modules and includes of a source may be.
fn leads_to(path: &Path) -> Vec<PathBuf> {
    let analysis: Option<Analysis> =
        std::fs::read(path).ok().and_then(|text| analyze(&crate::strip(&text), &Options::default()).ok());
    let (Some(analysis), Some(dir)) = (analysis, path.parent()) else { return Vec::new() };
    let includes = analysis.includes.iter().filter(|include| include.kind == IncludeKind::Code);
    let mut paths: Vec<PathBuf> = includes.map(|include| dir.join(&include.path)).collect();
    for module in &analysis.modules {
        paths.extend(module.paths.iter().map(|path| dir.join(path)));
        for dir in [dir.to_path_buf(), path.with_extension("")] {
            paths.push(dir.join(&module.name).with_extension("rs"));
            paths.push(dir.join(&module.name).join("mod.rs"));
        }
    }
    paths
}
