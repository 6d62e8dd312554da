//! Advice after a run: what a project still needs so that inserted calls record, with commands to copy.

use super::console;
use super::dependency::{Dependency, RECORDER};
use super::folder::FolderSource;
use super::machine::Machine;
use super::manifest::Package;
use crate::origin::Origin;
use crate::shell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Value;

/// Prints what the packages of these sources need.
pub fn print<'a>(sources: impl Iterator<Item = &'a FolderSource>) {
    let mut by_dir: BTreeMap<&Path, (&Package, bool)> = BTreeMap::new();
    let mut outside = false;
    for source in sources {
        match source.package.as_deref().filter(|package| !package.name.is_empty()) {
            Some(package) => {
                by_dir.entry(&package.dir).or_insert((package, true)).1 &= is_test(package, &source.real);
            }
            None => outside = true,
        }
    }
    let origin = Origin::find();
    if outside {
        console::say(without_manifest(&origin));
    }
    let current = std::env::current_dir().and_then(|dir| dir.canonicalize()).unwrap_or_default();
    let needs = needs(by_dir.into_values());
    for need in &needs {
        let place = place(need.package, &current);
        if let Some(advice) = need.advice(&built_with(&needs, need), &origin, &place) {
            console::say(advice);
        }
    }
}

/// Tests, examples and benchmarks are built with dependencies of their own.
fn is_test(package: &Package, file: &Path) -> bool {
    ["tests", "examples", "benches"].iter().any(|dir| file.starts_with(package.dir.join(dir)))
}

/// A package whose sources call the recorder.
struct Need<'a> {
    package: &'a Package,
    dependency: Dependency,
    machine: Machine,
    /// Only tests, examples and benchmarks do.
    only_tests: bool,
}

fn needs<'a>(packages: impl Iterator<Item = (&'a Package, bool)>) -> Vec<Need<'a>> {
    let found: Vec<_> =
        packages.map(|(package, only_tests)| (package, only_tests, Machine::of(package))).collect();
    // A library that fits both is part of the program beside it.
    let firmware =
        found.iter().find_map(|(_, _, machine)| machine.filter(|machine| *machine != Machine::Hosted));
    let of_library = firmware.unwrap_or(Machine::Hosted);
    let need = |(package, only_tests, machine): (&'a Package, bool, Option<Machine>)| {
        let workspace = package.workspace.as_ref().map(|(_, manifest)| manifest);
        let dependency = Dependency::of(&package.manifest, workspace);
        Need { package, dependency, machine: machine.unwrap_or(of_library), only_tests }
    };
    found.into_iter().map(need).collect()
}

/// The features in a build with this package: cargo unites the features of all packages.
fn built_with(needs: &[Need<'_>], this: &Need<'_>) -> BTreeSet<String> {
    let is_hosted = |need: &Need<'_>| need.machine == Machine::Hosted;
    let together = needs.iter().filter(|need| is_hosted(need) == is_hosted(this));
    together.flat_map(|need| need.dependency.features.iter().cloned()).collect()
}

impl Need<'_> {
    /// The problem and the command that fixes it; `place`: the option that names the package to cargo.
    fn advice(&self, features: &BTreeSet<String>, origin: &Origin, place: &str) -> Option<String> {
        let Dependency { renamed, is_normal, is_dev, target, behind, recorded_by, in_workspace, .. } =
            &self.dependency;
        let manifest = console::shown(&self.package.dir.join("Cargo.toml"));
        let has = |feature: &str| features.contains(feature);
        let (wanted, remark) = self.wanted();
        let new = if *in_workspace { String::new() } else { arguments(origin) };
        let version = if matches!(origin, Origin::Registry) && !in_workspace {
            registry_version()
        } else {
            String::new()
        };
        let add_new = format!("cargo add {RECORDER}{version}{new} --features {wanted}{place}");
        let of_target = target.as_ref().map(|target| format!(" --target {}", shell::quoted(target)));
        let add_features =
            format!("cargo add {RECORDER} --features {wanted}{}{place}", of_target.unwrap_or_default());
        let is_there = *is_normal || *is_dev && self.only_tests;
        if let (false, Some(name)) = (is_there, renamed) {
            return Some(format!(
                "note: {manifest} names {RECORDER} as `{name}`, but the calls name it `xhist_rt`: rename that entry to \
                 {RECORDER}, or add to the root file of each crate: extern crate {} as xhist_rt;",
                name.replace('-', "_")
            ));
        }
        if !is_there {
            let names = if *is_dev { "names xhist-rt for tests only" } else { "does not name xhist-rt" };
            return Some(format!("note: {manifest} {names}; the calls need it: {add_new}{remark}"));
        }
        if let Some(feature) = behind {
            let feature = shell::quoted(feature);
            return Some(format!(
                "note: {RECORDER} is optional in {manifest}; the calls need it: cargo build --features {feature}{place}"
            ));
        }
        if !has("trace") {
            return Some(match recorded_by {
                Some(feature) => format!(
                    "recording is off unless the feature is on that {manifest} has for it: cargo build --features \
                     {}{place}",
                    shell::quoted(feature)
                ),
                None => format!(
                    "recording is off: {manifest} names {RECORDER} without `trace`, so the calls compile to nothing; to \
                     record: {add_features}{remark}"
                ),
            });
        }
        match self.machine {
            Machine::Hosted if !has("std") && !self.has_critical_section() => Some(format!(
                "note: {manifest} names {RECORDER} without `std`; a program on an operating system does not link so: \
                 {add_features}"
            )),
            Machine::Bare { .. } if has("std") => Some(format!(
                "note: {manifest} names {RECORDER} with `std`, which needs an operating system; for firmware: \
                 cargo remove {RECORDER}{place} && {add_new}{remark}"
            )),
            _ => None,
        }
    }

    /// The features that record, and what to know about them.
    fn wanted(&self) -> (&'static str, &'static str) {
        match self.machine {
            Machine::Hosted => ("std,trace", ""),
            Machine::Bare { masks: true } => (
                "trace,single-core",
                "\n  (single-core: one core, in privileged mode; leave it out otherwise. Firmware also needs an \
                 implementation of critical-section: docs/firmware-topics.md)",
            ),
            Machine::Bare { masks: false } => (
                "trace",
                "\n  (the program also needs an implementation of critical-section, mostly a feature of its HAL)",
            ),
        }
    }

    /// A hosted program can have one as firmware does.
    fn has_critical_section(&self) -> bool {
        let entries = super::dependency::entries(&self.package.manifest);
        entries.iter().any(|entry| {
            entry.package() == "critical-section"
                && super::dependency::features(entry.value).any(|feature| feature == "std")
        })
    }
}

/// The option that names the origin to `cargo add`.
fn arguments(origin: &Origin) -> String {
    match origin {
        Origin::Path(path) => format!(" --path {}", shell::quoted(path)),
        Origin::Git { url, rev } => format!(" --git {} --rev {}", shell::quoted(url), shell::quoted(rev)),
        Origin::Registry => String::new(),
    }
}

fn registry_version() -> String {
    concat!("@=", env!("CARGO_PKG_VERSION")).to_owned()
}

/// The option that names the package to cargo, from this directory.
fn place(package: &Package, current: &Path) -> String {
    let has_manifest = |dir: &&Path| dir.join("Cargo.toml").is_file();
    let nearest = current.ancestors().find(has_manifest);
    if nearest == Some(&package.dir) {
        return String::new();
    }
    let shared = package.workspace.as_ref().filter(|(root, manifest)| {
        let is_member = |dir: &Path| dir.starts_with(root) && !is_excluded(dir, root, manifest);
        is_member(&package.dir) && nearest.is_some_and(is_member)
    });
    match shared {
        Some(_) => format!(" -p {}", shell::quoted(&package.name)),
        None => {
            format!(" --manifest-path {}", shell::quoted(package.dir.join("Cargo.toml")))
        }
    }
}

fn is_excluded(dir: &Path, root: &Path, manifest: &toml::Table) -> bool {
    let excluded = manifest.get("workspace").and_then(|workspace| workspace.get("exclude"));
    let mut excluded = excluded.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    excluded.any(|path| dir.starts_with(normal(&root.join(path))))
}

/// The path without `.` and without a slash at its end.
fn normal(path: &Path) -> PathBuf {
    path.components().collect()
}

/// For build systems other than cargo.
fn without_manifest(origin: &Origin) -> String {
    let from = match origin {
        Origin::Path(path) => console::shown(path),
        Origin::Git { url, rev } => format!("{url}, commit {rev}"),
        Origin::Registry => concat!("version ", env!("CARGO_PKG_VERSION"), " on crates.io").to_owned(),
    };
    format!(
        "note: no package is around some of these sources; the calls need the crate xhist_rt, with its features std and \
         trace (firmware: trace): {from}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Packages;
    use super::*;

    /// The advice for a project of these files, in its directory.
    fn advice(files: &[(&str, &str)], packages: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (path, text) in files {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
        let mut found = Packages::default();
        let packages: Vec<_> = packages.iter().map(|dir| found.around(&root.join(dir)).unwrap()).collect();
        let needs = needs(packages.iter().map(|package| (&**package, false)));
        let origin = Origin::Path("/x y".into());
        let advice = needs
            .iter()
            .filter_map(|need| need.advice(&built_with(&needs, need), &origin, &place(need.package, &root)));
        advice.map(|advice| advice.replace(&*root.to_string_lossy(), "ROOT")).collect()
    }

    const MAIN: (&str, &str) = ("src/main.rs", "fn main() {}");

    fn of(dependencies: &str) -> String {
        let manifest = format!("[package]\nname = \"p\"\nedition = \"2021\"\n{dependencies}");
        advice(&[("Cargo.toml", &manifest), MAIN], &[""]).concat()
    }

    #[test]
    fn a_hosted_program_needs_std_and_trace() {
        assert_eq!(
            of(""),
            "note: ROOT/Cargo.toml does not name xhist-rt; the calls need it: \
             cargo add xhist-rt --path '/x y' --features std,trace"
        );
        let entry = |features: &str| {
            of(&format!("[dependencies]\nxhist-rt = {{ version = \"1\", features = [{features}] }}"))
        };
        assert_eq!(entry("\"std\", \"trace\""), "");
        assert_eq!(entry("\"auto\""), "");
        assert!(entry("").starts_with("recording is off: "), "{}", entry(""));
        assert!(entry("").ends_with(": cargo add xhist-rt --features std,trace"), "{}", entry(""));
        assert!(entry("\"trace\"").ends_with("does not link so: cargo add xhist-rt --features std,trace"));
        let own = "[dependencies]\nxhist-rt = { version = \"1\", features = [\"trace\"] }\ncritical-section = { version = \"1\", features = [\"std\"] }";
        assert_eq!(of(own), "");
    }

    #[test]
    fn every_kind_of_entry_has_its_advice() {
        let target = of("[target.'cfg(unix)'.dependencies]\nxhist-rt = { version = \"1\" }");
        assert!(target.ends_with("cargo add xhist-rt --features std,trace --target 'cfg(unix)'"), "{target}");
        let optional = of(
            "[dependencies]\nxhist-rt = { version = \"1\", optional = true, features = [\"std\", \"trace\"] }",
        );
        assert!(optional.ends_with("cargo build --features xhist-rt"), "{optional}");
        let forwarded = of(
            "[dependencies]\nxhist-rt = \"1\"\n[features]\nhistory = [\"xhist-rt/trace\", \"xhist-rt/std\"]",
        );
        assert!(forwarded.ends_with("cargo build --features history"), "{forwarded}");
        let renamed = of("[dependencies]\nmy-rt = { package = \"xhist-rt\", version = \"1\" }");
        assert!(renamed.ends_with("extern crate my_rt as xhist_rt;"), "{renamed}");
        let dev = of("[dev-dependencies]\nxhist-rt = { version = \"1\", features = [\"std\", \"trace\"] }");
        assert!(dev.contains("for tests only; the calls need it: cargo add xhist-rt --path '/x y'"), "{dev}");
    }

    #[test]
    fn members_of_a_workspace_are_named() {
        let member = "[package]\nname = \"m\"\nedition = \"2021\"\n[dependencies]\n";
        let files = |root: &'static str, member: &'static str| {
            vec![("Cargo.toml", root), ("m/Cargo.toml", member), ("m/src/main.rs", "fn main() {}")]
        };
        let plain = advice(&files("[workspace]\nmembers = [\"m\"]", member), &["m"]).concat();
        assert!(plain.ends_with("cargo add xhist-rt --path '/x y' --features std,trace -p m"), "{plain}");
        let inherited = "[workspace]\nmembers = [\"m\"]\n[workspace.dependencies]\nxhist-rt = { path = \"/r\", features = [\"std\"] }\n";
        let missing = advice(&files(inherited, member), &["m"]).concat();
        assert!(missing.ends_with("need it: cargo add xhist-rt --features std,trace -p m"), "{missing}");
        let using = "[package]\nname = \"m\"\n[dependencies]\nxhist-rt = { workspace = true, features = [\"trace\"] }";
        assert_eq!(advice(&files(inherited, using), &["m"]).concat(), "");
        let excluded = advice(&files("[workspace]\nexclude = [\"m\"]", member), &["m"]).concat();
        assert!(excluded.ends_with("--features std,trace --manifest-path ROOT/m/Cargo.toml"), "{excluded}");
    }

    #[test]
    fn what_one_member_asks_for_all_get() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\nxhist-rt = \"1\""),
            ("a/src/lib.rs", "#![no_std]"),
            (
                "b/Cargo.toml",
                "[package]\nname = \"b\"\n[dependencies]\nxhist-rt = { version = \"1\", features = [\"std\", \"trace\"] }",
            ),
            ("b/src/main.rs", "fn main() {}"),
        ];
        assert_eq!(advice(&files, &["a", "b"]), Vec::<String>::new());
        assert_eq!(advice(&files, &["a"]).len(), 1);
    }

    #[test]
    fn firmware_gets_no_std() {
        let main = ("src/main.rs", "#![no_std]\n#![no_main]\n");
        let manifest =
            |dependencies: &str| format!("[package]\nname = \"p\"\n[dependencies]\n{dependencies}");
        let cortex = advice(&[("Cargo.toml", &manifest("cortex-m-rt = \"0.7\"")), main], &[""]).concat();
        let command = "cargo add xhist-rt --path '/x y' --features trace,single-core\n";
        assert!(cortex.contains(command), "{cortex}");
        let pico = manifest("cortex-m-rt = \"0.7\"\nrp2040-hal = \"0.10\"");
        let pico = advice(&[("Cargo.toml", &pico), main], &[""]).concat();
        assert!(
            pico.contains(
                "--features trace\n  (the program also needs an implementation of critical-section"
            ),
            "{pico}"
        );
        let right = manifest("cortex-m-rt = \"0.7\"\nxhist-rt = { version = \"1\", features = [\"trace\"] }");
        assert_eq!(advice(&[("Cargo.toml", &right), main], &[""]).concat(), "");
        let wrong = right.replace("\"trace\"", "\"std\", \"trace\"");
        let wrong = advice(&[("Cargo.toml", &wrong), main], &[""]).concat();
        assert!(wrong.contains("cargo remove xhist-rt && cargo add xhist-rt --path"), "{wrong}");
    }
}
