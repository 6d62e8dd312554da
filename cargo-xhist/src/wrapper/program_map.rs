//! Puts the map into each program that is built, so that a dump and the program are enough.

use std::ffi::OsString;
use std::path::Path;

use xhist_instrument::map::attach::attach;

use crate::plan::WrapperPlan;
use crate::wrapper::rustc_args::{value_of, values_of};

/// Puts the map into the program of this call, if it makes one; `dep_info` is its dependency file. The programs of tests have none on an
/// operating system: they stay where they were built, and there may be many. Those of firmware run elsewhere.
pub(super) fn add(plan: &WrapperPlan, args: &[OsString], dep_info: &Path) {
    let mut kinds = values_of(args, "--crate-type");
    let is_program = match kinds.next() {
        // Cargo names no kind for tests.
        None => is_for_bare_metal(plan, args),
        Some(first) => first == "bin" || kinds.any(|kind| kind == "bin"),
    };
    let emits = value_of(args, "--emit").unwrap_or_default();
    if !is_program || !emits.to_string_lossy().split(',').any(|kind| kind == "link") {
        return;
    }
    // A program for Windows has an extension.
    let program = ["", "exe"].map(|extension| dep_info.with_extension(extension));
    let Some(program) = program.into_iter().find(|program| program.is_file()) else { return };
    if let Err(error) = attach(&program, &plan.map) {
        eprintln!("warning: the map is not in {}: {error}", program.display());
    }
}

fn is_for_bare_metal(plan: &WrapperPlan, args: &[OsString]) -> bool {
    let target = value_of(args, "--target").unwrap_or_default();
    target
        .to_str()
        .and_then(|target| plan.recorders.get(target))
        .is_some_and(|recorder| !recorder.is_hosted())
}
