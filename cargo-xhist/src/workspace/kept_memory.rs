//! Memory that outlives a reset: does a linker script of the program place the section for it?

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, PackageId, Target};

/// How names of linker scripts end. Build scripts write `link.x` from `link.x.in`.
const ENDINGS: [&str; 4] = [".x", ".x.in", ".ld", ".lds"];
/// How deep they lie in a package: esp-hal has `ld/sections/rwdata.x`.
const DEPTH: usize = 3;
/// The section that start-up code does not clear, as cortex-m-rt and riscv-rt name it, among those that a script places.
const PLACED: &str = "(.uninit";

/// A linker script.
struct Script {
    path: PathBuf,
    text: String,
}

impl Script {
    /// Whether it places a whole program. Others, such as `memory.x`, add to one that does.
    fn is_whole(&self) -> bool {
        let mut lines = self.text.lines().map(str::trim_start);
        lines.any(|line| line.starts_with(".text") && line.contains(':'))
    }
}

/// A line about the section if no script places it. A whole script of a member replaces that of the start-up code.
pub(super) fn note(metadata: &Metadata, programs: &HashSet<PackageId>) -> Option<String> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for package in metadata.packages.iter().filter(|package| programs.contains(&package.id)) {
        let into = match metadata.workspace_members.contains(&package.id) {
            true => &mut own,
            // What has a linker script gives it to the linker by a build script.
            false if package.targets.iter().any(Target::is_custom_build) => &mut others,
            false => continue,
        };
        let directory = package.manifest_path.parent();
        directory.iter().for_each(|directory| add_scripts(directory.as_std_path(), DEPTH, into));
    }
    note_of(&own, &others, metadata.workspace_root.as_std_path())
}

fn note_of(own: &[Script], others: &[Script], root: &Path) -> Option<String> {
    let is_placed = |scripts: &[Script]| scripts.iter().any(|script| script.text.contains(PLACED));
    let whole = own.iter().find(|script| script.is_whole());
    if is_placed(own) || whole.is_none() && is_placed(others) {
        return None;
    }
    let (script, place) = match whole {
        Some(Script { path, .. }) => {
            let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
            (path.clone(), path)
        }
        None => ("no linker script".to_owned(), "a linker script".to_owned()),
    };
    let verb = if whole.is_some() { "does not place" } else { "places" };
    Some(format!(
        "the history from before a reset is not kept, because {script} {verb} the section .uninit; to keep it, add to SECTIONS in {place}, behind .bss: .uninit (NOLOAD) : {{ *(.uninit .uninit.*) }} > RAM"
    ))
}

fn add_scripts(directory: &Path, depth: usize, into: &mut Vec<Script>) {
    let mut entries: Vec<_> = std::fs::read_dir(directory).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // A package in a folder of another one has scripts of its own.
        let is_beside = name.starts_with('.') || name == "target" || path.join("Cargo.toml").exists();
        if is_directory && depth > 1 && !is_beside {
            add_scripts(&path, depth - 1, into);
        } else if !is_directory && ENDINGS.iter().any(|end| name.ends_with(end)) {
            into.extend(std::fs::read_to_string(&path).ok().map(|text| Script { path, text }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(texts: &[(&str, &str)]) -> Vec<Script> {
        texts.iter().map(|(path, text)| Script { path: path.into(), text: (*text).to_owned() }).collect()
    }

    #[test]
    fn a_line_names_the_script_that_lacks_the_section() {
        const WHOLE: &str =
            "SECTIONS {\n  .text : { *(.text .text.*) } > FLASH\n  .bss : { *(.bss) } > RAM\n";
        const PLACE: &str = "  .uninit (NOLOAD) : { *(.uninit .uninit.*) } > RAM\n}";
        const MEMORY: &str = "MEMORY { RAM : ORIGIN = 0, LENGTH = 1K }\n_stext = ORIGIN(FLASH);";
        let with_place = format!("{WHOLE}{PLACE}");
        let (memory, own) = (("memory.x", MEMORY), ("/p/link.ld", WHOLE));
        let note = |own: &[(&str, &str)], others: &[(&str, &str)]| {
            note_of(&scripts(own), &scripts(others), Path::new("/p"))
        };
        let runtime = ("link.x.in", &*with_place);
        assert_eq!(note(&[memory], &[runtime]), None);
        assert_eq!(note(&[("link.ld", &with_place)], &[]), None);
        // What the line asks for, in a script that adds to one of a package.
        assert_eq!(note(&[("xhist.x", &format!("SECTIONS {{{PLACE}"))], &[own]), None);
        let found = note(&[memory, own], &[runtime]).expect("its own script has no place");
        assert!(found.contains("because link.ld does not place the section .uninit; "), "{found}");
        assert!(
            found.ends_with("in link.ld, behind .bss: .uninit (NOLOAD) : { *(.uninit .uninit.*) } > RAM")
        );
        let found = note(&[memory], &[]).expect("there is no script");
        assert!(found.contains("because no linker script places the section .uninit; "), "{found}");
    }

    #[test]
    fn scripts_are_found_in_folders_of_a_package() {
        let directory = tempfile::tempdir().expect("a directory");
        for path in [
            "link.x.in",
            "ld/sections/rwdata.x",
            "target/link.x",
            "a/b/c/deep.x",
            "boot/Cargo.toml",
            "boot/link.ld",
            "build.rs",
        ] {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(path, "").expect("a file");
        }
        let mut found = Vec::new();
        add_scripts(directory.path(), DEPTH, &mut found);
        let names = found.iter().map(|script| script.path.strip_prefix(directory.path()).expect("inside"));
        assert_eq!(names.collect::<Vec<_>>(), [Path::new("ld/sections/rwdata.x"), Path::new("link.x.in")]);
    }
}
