//! Do real crates, unmodified, pass their own tests under `cargo xhist test`, with the same counts?
//! A small one usually, five with `XHIST_LONG=1`; `cargo run -p xhist-tests --bin corpus` tries all, or others.

use std::time::Duration;

use xhist_tests::{Case, CorpusOptions, Crate, Need, Tree, online_cargo, repository};

const REGISTRY: &[Need] = &[Need::Registry];
const LONG: &[Need] = &[Need::Long, Need::Registry];

pub const CASES: &[Case] = &[
    Case::needing("smallvec", LONG, || one("smallvec@1.16.5")),
    Case::needing("bytes", LONG, || one("bytes@1.12.1")),
    Case::needing("walkdir", LONG, || one("walkdir@2.5.0")),
    Case::needing("semver", REGISTRY, || one("semver@1.0.27")),
    Case::needing("httparse", LONG, || one("httparse@1.10.1")),
    Case::needing("popular_crates_are_recorded_as_a_whole", LONG, popular),
];

fn one(spec: &str) {
    let comparison = Crate::named(spec).compare(&CorpusOptions::default());
    assert!(comparison.difference.is_empty(), "{}", comparison.difference);
    assert!(comparison.ours.passed > 0 && comparison.reach.statements > 0, "{comparison:?}");
}

/// 80 crates and what they depend on. The page on what is recorded says what the compiler refuses.
fn popular() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/popular"));
    let run =
        online_cargo(tree.path()).args("xhist run --locked --deps all").limit(Duration::from_secs(1800));
    let run = run.done().expect(101);
    run.check(run.stderr.contains("src/main.rs:6  main"), "the answer");
    assert_eq!(tree.read("target/xhist/const-fns"), "_MM_SHUFFLE\n");
}
