//! Do real crates, unmodified, pass their own tests under `cargo xhist test`, with the same counts?

use std::time::Instant;

use xhist_tests::{Case, Counts, Need, newest_version, online_cargo, test_counts, unpack};

const REGISTRY: &[Need] = &[Need::Registry];

pub const CASES: &[Case] = &[
    Case::needing("smallvec", REGISTRY, || one("smallvec", "1.16.5")),
    Case::needing("bytes", REGISTRY, || one("bytes", "1.12.1")),
    Case::needing("walkdir", REGISTRY, || one("walkdir", "2.5.0")),
    Case::needing("semver", REGISTRY, || one("semver", "1.0.27")),
    Case::needing("httparse", REGISTRY, || one("httparse", "1.10.1")),
    Case::needing("every_crate_of_the_corpus", &[Need::WholeCorpus, Need::Registry], whole_corpus),
];

/// A crate's tests run as they are, then under ours. What both ran, and the seconds it took.
struct Outcome {
    plain: Counts,
    ours: Counts,
    plain_seconds: f32,
    our_seconds: f32,
}

fn try_crate(name: &str, version: &str, targets: &str) -> Outcome {
    let tree = unpack(name, version);
    let before = tree.fingerprint();
    let lock = if before.has("Cargo.lock") { "--locked" } else { "" };
    let test = |command: &str| {
        let start = Instant::now();
        let done =
            online_cargo(tree.path()).args(&format!("{command} {lock} --no-fail-fast {targets}")).done();
        (test_counts(&done), done, start.elapsed().as_secs_f32())
    };
    let (plain, plain_done, plain_seconds) = test("test");
    let (ours, our_done, our_seconds) = test("xhist test");
    our_done
        .check(plain == ours && plain_done.code() == our_done.code(), &format!("{plain:?} as without xhist"));
    before.assert_same(&tree.fingerprint());
    Outcome { plain, ours, plain_seconds, our_seconds }
}

fn one(name: &str, otherwise: &str) {
    let outcome = try_crate(name, &newest_version(name, otherwise), "--lib --bins --tests");
    assert!(outcome.plain.passed > 0 && outcome.plain == outcome.ours);
}

/// Every row of the list, with a table of what came out.
fn whole_corpus() {
    let list = Need::corpus().map(|corpus| corpus.join("crates.tsv")).expect("needed");
    let list = std::fs::read_to_string(list).expect("a list");
    let mut differing = Vec::new();
    println!(
        "{:16} {:10} {:>7} {:>7} {:>7} {:>8} {:>8}",
        "crate", "version", "passed", "failed", "ignored", "plain", "ours"
    );
    for line in list.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let row: Vec<&str> = line.split('\t').collect();
        let [name, version, _, targets, ..] = row[..] else { panic!("no row: {line}") };
        // Each crate has the time of a case to itself.
        xhist_tests::set_deadline(crate::CASE_LIMIT);
        match std::panic::catch_unwind(|| try_crate(name, version, targets)) {
            Ok(Outcome { plain, ours, plain_seconds, our_seconds }) => {
                let Counts { passed, failed, ignored } = ours;
                println!(
                    "{name:16} {version:10} {passed:7} {failed:7} {ignored:7} {plain_seconds:7.1}s {our_seconds:7.1}s"
                );
                assert_eq!(plain, ours);
            }
            Err(_) => {
                println!("{name:16} {version:10} differs");
                differing.push(name);
            }
        }
    }
    assert!(differing.is_empty(), "different under xhist: {differing:?}");
}
