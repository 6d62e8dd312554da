//! Recorded runs that are kept: what is printed of them can be made again, without the run.

use crate::{Run, Tree, online_cargo};

/// Where a tree has what the recorded run printed on standard error.
const PRINTED: &str = "target/xhist/printed.txt";

/// What this command prints on standard error, which records a run of the tree. With `keep` the run stays there, and if it is
/// there already, only what `cargo xhist` itself prints is made again.
pub fn printed(tree: &Tree, keep: bool, run: impl FnOnce() -> Run) -> String {
    if keep && tree.join(PRINTED).is_file() {
        let (before, _) = split(&tree.read(PRINTED));
        return before + &online_cargo(tree.path()).args("xhist answer --suspects").done().stdout;
    }
    let printed = run().done().stderr;
    if keep {
        tree.write(PRINTED, &printed);
        tree.remove_builds();
    }
    printed
}

/// What cargo and the program printed, and what `cargo xhist` printed about the failure.
pub fn split(printed: &str) -> (String, String) {
    let failed = printed.find("\nerror: ").unwrap_or(0);
    let behind = printed[failed..].find("\nxhist: ").map(|at| failed + at);
    let own = behind.or_else(|| printed.find("\nxhist: ")).unwrap_or(printed.len());
    let (before, own) = printed.split_at(own);
    (before.to_owned(), own.to_owned())
}
