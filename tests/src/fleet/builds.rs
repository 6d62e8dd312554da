//! The five builds of the program, instrumented, with their maps.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::fleet::bugs::BUILDS;
use crate::fleet::edits::text_in_build;
use crate::{Crate, Need, Tree, cargo, repository};

/// The crates that the program uses. The first is in the list of the corpus.
const CRATES: [&str; 2] = ["httparse@1.10.1", "humantime@2.4.0"];

/// A build of the program.
#[derive(Clone, Debug)]
pub struct FleetBuild {
    /// Its number, from 1.
    pub number: u8,
    /// The program.
    pub program: PathBuf,
    /// The hash of its map.
    pub map: String,
    /// Its sources that differ between builds.
    pub texts: BTreeMap<&'static str, String>,
}

/// Why the crates of the corpus are not there.
pub fn missing_crates() -> Option<String> {
    if Need::corpus().is_none() {
        return Some("there is no ../shared/corpus/crates.tsv beside the checkout".into());
    }
    Need::Registry.missing()
}

/// Makes the builds, and writes their maps to a directory. With crates, they are instrumented too.
pub fn make_builds(files: &[&'static str], maps: &Path, has_crates: bool) -> Vec<FleetBuild> {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/fleet"));
    let mut command = "xhist build --release".to_owned();
    if has_crates {
        add_crates(&tree);
        command += " --features corpus --deps httparse,humantime";
    }
    let originals: Vec<_> =
        files.iter().filter(|file| tree.join(file).is_file()).map(|file| (*file, tree.read(file))).collect();
    fs::create_dir_all(maps).expect("a directory");
    let build = |number| {
        let texts: BTreeMap<_, _> =
            originals.iter().map(|(file, text)| (*file, text_in_build(file, text, number))).collect();
        for (file, text) in &texts {
            tree.write(file, text);
        }
        let done = cargo(tree.path()).args(&command).succeed();
        // The command that the tool prints names the program.
        let word = done.stderr.split_whitespace().find(|word| word.ends_with("/release/gateway"));
        let built = tree.join(word.expect("the path of the program"));
        let program = tree.join(&format!("programs/gateway-{number}"));
        fs::create_dir_all(tree.join("programs")).expect("a directory");
        fs::copy(&built, &program).expect("a copy");
        let map = tree.read("target/xhist/xhist.map");
        let head: Value = serde_json::from_str(map.lines().next().unwrap_or_default()).expect("JSON");
        let hash = head["hash"].as_str().expect("the hash of the map").to_owned();
        fs::write(maps.join(format!("{hash}.map")), map).expect("a copy");
        FleetBuild { number, program, map: hash, texts }
    };
    (1..=BUILDS).map(build).collect()
}

/// Puts the crates beside the program, which uses these copies.
fn add_crates(tree: &Tree) {
    let mut manifest = tree.read("Cargo.toml") + "\n[dependencies]\n";
    for spec in CRATES {
        let released = Crate::named(spec);
        let sources = Tree::copy_of(&released.sources());
        let to = tree.join("vendor");
        fs::create_dir_all(&to).expect("a directory");
        fs::rename(sources.path(), to.join(&released.name)).expect("another place");
        manifest += &format!("{0} = {{ path = \"vendor/{0}\" }}\n", released.name);
    }
    tree.write("Cargo.toml", &manifest);
}
