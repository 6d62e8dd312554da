//! Whether a package is firmware or runs on an operating system: the recorder needs different features for each.

use super::dependency::{DependencyEntry, entries, features};
use super::manifest::Package;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// On an operating system.
    Hosted,
    /// On bare metal. `masks`: there is one core, and the recorder can mask its interrupts.
    Bare { masks: bool },
}

/// Crates that start firmware.
const RUNTIMES: [&str; 16] = [
    "cortex-m-rt",
    "cortex-r-rt",
    "cortex-a-rt",
    "aarch32-rt",
    "aarch64-rt",
    "riscv-rt",
    "esp-riscv-rt",
    "esp-hal",
    "esp32-hal",
    "esp32c3-hal",
    "xtensa-lx-rt",
    "msp430-rt",
    "avr-device",
    "arduino-hal",
    "rp-pico",
    "hifive1",
];
/// Crates of chips with several cores.
const SEVERAL_CORES: [&str; 6] =
    ["rp2040-hal", "rp235x-hal", "rp-pico", "rp2040-pac", "embassy-rp", "rp235x-pac"];
/// Parts of features that name one core of several, as in `stm32h755zi-cm7`.
const ONE_OF_SEVERAL: [&str; 4] = ["cm7", "cm4", "cm0p", "esp32p4"];

impl Machine {
    /// The machine of a package; `None` for a library that may be part of either.
    pub fn of(package: &Package) -> Option<Self> {
        let entries = entries(&package.manifest);
        let targets = configured_targets(&package.dir);
        if is_bare(package, &entries, &targets)? {
            Some(Self::Bare { masks: masks(&entries, &targets) })
        } else {
            Some(Self::Hosted)
        }
    }
}

fn is_bare(package: &Package, entries: &[DependencyEntry<'_>], targets: &[ConfiguredTarget]) -> Option<bool> {
    let roots = roots(package);
    let programs: Vec<Root> =
        roots.iter().filter(|(_, is_program)| *is_program).map(|(root, _)| *root).collect();
    if programs.contains(&Root::Bare) {
        return Some(true);
    }
    if roots.iter().any(|(root, _)| *root == Root::Std) {
        return Some(false);
    }
    let starts = |only: fn(Option<&str>) -> bool| {
        entries.iter().any(|entry| only(entry.target) && !entry.is_dev && RUNTIMES.contains(&entry.package()))
    };
    if starts(|target| target.is_none()) {
        return Some(true);
    }
    if !targets.is_empty() {
        return Some(targets.iter().any(|target| target.is_bare));
    }
    if starts(|target| target.is_some()) || programs.is_empty() {
        return starts(|target| target.is_some()).then_some(true);
    }
    Some(false)
}

/// Whether the recorder has code that masks the interrupts of the only core.
fn masks(entries: &[DependencyEntry<'_>], targets: &[ConfiguredTarget]) -> bool {
    let bare: Vec<&ConfiguredTarget> = targets.iter().filter(|target| target.is_bare).collect();
    let known = |name: &str| name.starts_with("thumb") || name.starts_with("riscv32");
    let uses = |name: &str| entries.iter().any(|entry| entry.package() == name);
    let has_code = match bare.as_slice() {
        [] => ["cortex-m-rt", "cortex-m", "riscv-rt", "esp-riscv-rt"].iter().any(|name| uses(name)),
        bare => bare.iter().all(|target| known(&target.name)),
    };
    let names_one_of_several = |feature: String| ONE_OF_SEVERAL.iter().any(|part| feature.contains(part));
    let several = SEVERAL_CORES.iter().any(|name| uses(name))
        || entries.iter().any(|entry| features(entry.value).any(names_one_of_several));
    has_code && !several
}

/// What the attributes of a crate say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// It uses the standard library.
    Std,
    /// `#![no_std]`, perhaps under a condition.
    NoStd,
    /// `#![no_std]` and `#![no_main]`.
    Bare,
}

/// The crates of a package, and whether each is a program.
fn roots(package: &Package) -> Vec<(Root, bool)> {
    let path = |table: Option<&Value>| {
        table.and_then(|table| table.get("path")?.as_str()).map(|path| package.dir.join(path))
    };
    let bins = package.manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
    let mut programs: Vec<PathBuf> = bins.filter_map(|bin| path(Some(bin))).collect();
    programs.push(package.dir.join("src/main.rs"));
    for entry in std::fs::read_dir(package.dir.join("src/bin")).into_iter().flatten().flatten() {
        programs.extend([entry.path(), entry.path().join("main.rs")]);
    }
    let library = path(package.manifest.get("lib")).unwrap_or_else(|| package.dir.join("src/lib.rs"));
    let files = programs.into_iter().map(|path| (path, true)).chain([(library, false)]);
    files
        .filter(|(path, _)| path.is_file())
        .filter_map(|(path, is_program)| Some((root(&path)?, is_program)))
        .collect()
}

fn root(path: &Path) -> Option<Root> {
    let file = syn::parse_file(&std::fs::read_to_string(path).ok()?).ok()?;
    let plain = |name: &str| file.attrs.iter().any(|attribute| attribute.path().is_ident(name));
    let conditional = |name: &str| {
        let conditional = file.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg_attr"));
        conditional.filter_map(|attribute| attribute.meta.require_list().ok()).any(|list| {
            let tokens = list.tokens.clone().into_iter();
            tokens
                .into_iter()
                .any(|token| matches!(token, proc_macro2::TokenTree::Ident(ident) if ident == name))
        })
    };
    Some(match (plain("no_std"), plain("no_main") || conditional("no_main")) {
        (true, true) => Root::Bare,
        (true, false) => Root::NoStd,
        (false, _) if conditional("no_std") => Root::NoStd,
        (false, _) => Root::Std,
    })
}

/// A target that cargo's configuration sets.
#[derive(Debug, PartialEq, Eq)]
struct ConfiguredTarget {
    name: String,
    is_bare: bool,
}

/// `build.target` of the environment, else of the nearest configuration that has it.
fn configured_targets(dir: &Path) -> Vec<ConfiguredTarget> {
    if let Some(name) = std::env::var("CARGO_BUILD_TARGET").ok().filter(|name| !name.is_empty()) {
        return vec![target(&name, Path::new("."))];
    }
    let above = dir.ancestors().map(|dir| (dir.join(".cargo"), dir.to_path_buf()));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let home = home.map(|home| (home.clone(), home));
    let found = above
        .chain(home)
        .flat_map(|(config, base)| ["config.toml", "config"].map(|name| (config.join(name), base.clone())));
    let targets = found.filter_map(|(config, base)| {
        let table: Table = std::fs::read_to_string(config).ok()?.parse().ok()?;
        match table.get("build")?.get("target")? {
            Value::String(name) => Some(vec![target(name, &base)]),
            Value::Array(names) => {
                Some(names.iter().filter_map(Value::as_str).map(|name| target(name, &base)).collect())
            }
            _ => None,
        }
    });
    targets.into_iter().next().unwrap_or_default()
}

/// By its name, or by the file that describes it: `base` is where its path starts.
fn target(name: &str, base: &Path) -> ConfiguredTarget {
    let mut parts = name.split('-');
    let is_bare = if name.ends_with(".json") {
        let text = std::fs::read(base.join(name)).unwrap_or_default();
        let described: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        described.get("os").and_then(serde_json::Value::as_str).is_none_or(|os| os == "none")
    } else {
        parts.clone().any(|part| part == "none") || parts.next().is_some_and(|first| first.starts_with("avr"))
    };
    let file_name = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
    ConfiguredTarget { name: file_name.unwrap_or_default(), is_bare }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Packages;
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Option<Machine> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Machine::of(&Packages::default().around(&dir.path().canonicalize().unwrap()).unwrap())
    }

    const PLAIN: (&str, &str) = ("Cargo.toml", "[package]\nname = \"p\"\n");
    const BARE_MAIN: (&str, &str) = ("src/main.rs", "#![no_std]\n#![no_main]\nfn f() {}\n");
    const MAYBE_MAIN: (&str, &str) =
        ("src/main.rs", "#![cfg_attr(target_os = \"none\", no_std, no_main)]\nfn main() {}\n");
    const MASKED: Option<Machine> = Some(Machine::Bare { masks: true });
    const UNMASKED: Option<Machine> = Some(Machine::Bare { masks: false });

    #[test]
    fn hosted_programs_are_known() {
        assert_eq!(machine(&[PLAIN, ("src/main.rs", "fn main() {}")]), Some(Machine::Hosted));
        assert_eq!(machine(&[PLAIN, ("src/lib.rs", "pub fn f() {}")]), Some(Machine::Hosted));
        assert_eq!(machine(&[PLAIN, MAYBE_MAIN]), Some(Machine::Hosted));
        // A tool beside firmware: the configuration is for the others.
        let thumb = (".cargo/config.toml", "[build]\ntarget = \"thumbv7m-none-eabi\"\n");
        assert_eq!(machine(&[PLAIN, thumb, ("src/main.rs", "fn main() {}")]), Some(Machine::Hosted));
        let musl = (".cargo/config.toml", "[build]\ntarget = \"x86_64-unknown-linux-musl\"\n");
        assert_eq!(machine(&[PLAIN, musl, ("src/lib.rs", "#![no_std]")]), Some(Machine::Hosted));
    }

    #[test]
    fn firmware_is_known_by_its_root_its_target_or_its_runtime() {
        let with = |dependency: &'static str| ("Cargo.toml", dependency);
        let cortex = with("[package]\nname = \"p\"\n[dependencies]\ncortex-m-rt = \"0.7\"\n");
        assert_eq!(machine(&[cortex, BARE_MAIN]), MASKED);
        assert_eq!(machine(&[PLAIN, BARE_MAIN]), UNMASKED, "on what processor is not known");
        let target = |text: &'static str| (".cargo/config.toml", text);
        assert_eq!(machine(&[PLAIN, MAYBE_MAIN, target("[build]\ntarget = \"thumbv6m-none-eabi\"")]), MASKED);
        assert_eq!(
            machine(&[PLAIN, MAYBE_MAIN, target("build.target = [\"riscv32imac-unknown-none-elf\"]")]),
            MASKED
        );
        assert_eq!(
            machine(&[PLAIN, MAYBE_MAIN, target("[build]\ntarget = \"aarch64-unknown-none\"")]),
            UNMASKED
        );
        assert_eq!(machine(&[PLAIN, BARE_MAIN, target("[build]\ntarget = \"armv7r-none-eabi\"")]), UNMASKED);
        let json = ("thumb.json", "{\"arch\": \"arm\", \"os\": \"none\"}");
        assert_eq!(machine(&[PLAIN, MAYBE_MAIN, json, target("[build]\ntarget = \"thumb.json\"")]), MASKED);
    }

    #[test]
    fn one_of_several_cores_cannot_mask_by_itself() {
        let pico = "[package]\nname = \"p\"\n[dependencies]\ncortex-m-rt = \"0.7\"\nrp2040-hal = \"0.10\"\n";
        assert_eq!(machine(&[("Cargo.toml", pico), BARE_MAIN]), UNMASKED);
        let dual = "[package]\nname = \"p\"\n[dependencies]\ncortex-m = \"0.7\"\nembassy-stm32 = { version = \"0.4\", features = [\"stm32h755zi-cm7\"] }\n";
        assert_eq!(machine(&[("Cargo.toml", dual), BARE_MAIN]), UNMASKED);
    }

    #[test]
    fn a_library_that_fits_both_is_neither() {
        assert_eq!(machine(&[PLAIN, ("src/lib.rs", "#![cfg_attr(not(test), no_std)]")]), None);
        assert_eq!(machine(&[PLAIN, ("src/lib.rs", "#![no_std]\npub fn f() {}")]), None);
    }
}
