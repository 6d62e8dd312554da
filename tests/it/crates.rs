//! Do real crates, unmodified, pass their own tests under `cargo xhist test`, with the same counts?
//! Two small ones usually, five with `XHIST_LONG=1`; `cargo run -p xhist-tests --bin corpus` tries all, or others.

use xhist_tests::{Case, CorpusOptions, Crate, Need};

const REGISTRY: &[Need] = &[Need::Registry];
const LONG: &[Need] = &[Need::Long, Need::Registry];

pub const CASES: &[Case] = &[
    Case::needing("smallvec", REGISTRY, || one("smallvec@1.16.5")),
    Case::needing("bytes", LONG, || one("bytes@1.12.1")),
    Case::needing("walkdir", LONG, || one("walkdir@2.5.0")),
    Case::needing("semver", REGISTRY, || one("semver@1.0.27")),
    Case::needing("httparse", LONG, || one("httparse@1.10.1")),
];

fn one(spec: &str) {
    let comparison = Crate::named(spec).compare(&CorpusOptions::default());
    assert!(comparison.difference.is_empty(), "{}", comparison.difference);
    assert!(comparison.ours.passed > 0 && comparison.reach.statements > 0, "{comparison:?}");
}
