//! The recorder for firmware: which of its features fit what the program is made of.
//!
//! A member may name the recorder with its features. Else they are chosen from the packages that cargo resolves for the target.

use std::collections::HashSet;

use cargo_metadata::{Metadata, PackageId};
use xhist_instrument::select::requests;
use xhist_instrument::select::trigger::Request;

use crate::command::Command;
use crate::command::config;
use crate::error::Error;
use crate::workspace::defmt::{self, Defmt};
use crate::workspace::{BareRecorder, Workspace, deps, kept_memory};

/// A critical section for one core, by masking interrupts: package and feature. A statement may then mask them by itself.
const ONE_CORE: [(&str, &str); 2] =
    [("cortex-m", "critical-section-single-core"), ("riscv", "critical-section-single-hart")];
/// Ends of the names of features with which other packages have one of their own: a lock between cores, or what a radio stack
/// allows.
const OWN: [&str; 3] =
    ["critical-section-impl", "critical-section-single-core", "critical-section-single-hart"];
/// Packages that always have one.
const ALWAYS_OWN: [&str; 2] = ["esp-hal", "esp-sync"];
/// Begins of the names of targets for which a statement can mask interrupts by itself.
const MASKING: [&str; 2] = ["thumb", "riscv32"];

/// The feature with which events of a program that names the recorder are recorded, as on a host.
const TO_RING: &str = "to-ring";
/// The feature with which nothing is recorded before a start.
const WAIT: &str = "wait";
/// The feature with which history is kept across a reset.
const KEEP: &str = "keep";
/// The features with which frames have the core's count of cycles, and each statement has a frame.
const CYCLES: &str = "cycles";
const EACH: &str = "each";
/// The feature for cores whose counters differ.
const MULTI_CORE: &str = "multi-core";
/// The architecture without a counter of cycles.
const NO_COUNTER: &str = "thumbv6m";

/// Completes what is known of the recorder, if there is a target without an operating system.
pub(crate) fn choose(workspace: &mut Workspace, command: &Command) -> Result<(), Error> {
    let targets: Vec<String> =
        config::targets(command).into_iter().filter(|target| is_bare(target)).collect();
    if targets.is_empty() {
        return Ok(());
    }
    let triggers = requests(&command.own.settings, workspace.manifests())?;
    triggers.iter().try_for_each(Request::check_bare)?;
    let metadata = deps::resolved(command, &targets)?;
    let programs = deps::in_programs(&metadata);
    let packages = packages(&metadata, &programs);
    let of_sections = packages.iter().filter(|(name, _)| *name == "critical-section");
    let states = of_sections.flat_map(|(_, features)| features);
    let bare = &mut workspace.bare;
    bare.restore_state = states.filter(|feature| feature.starts_with("restore-state-")).max().cloned();
    bare.defmt = defmt::find(&metadata, &programs);
    if let Some(Defmt::Recorded(..)) = bare.defmt {
        bare.features.insert("defmt".to_owned());
    }
    // Firmware has no environment that could say so.
    if triggers.iter().any(Request::starts) {
        bare.features.insert(WAIT.to_owned());
    }
    if bare.is_named {
        bare.features.insert(TO_RING.to_owned());
    } else {
        let (feature, note) = chosen(&packages, &targets);
        bare.features.extend(feature.map(String::from));
        bare.notes.extend(note);
    }
    match kept_memory::note(&metadata, &programs) {
        None if !bare.is_named => _ = bare.features.insert(KEEP.to_owned()),
        Some(note) if !bare.is_named || bare.features.contains(KEEP) => bare.notes.push(note),
        _ => {}
    }
    add_time(bare, &targets, |name| std::env::var(name).ok());
    Ok(())
}

/// Time is chosen by the variables that choose it on an operating system: firmware has no environment.
fn add_time(bare: &mut BareRecorder, targets: &[String], variable: impl Fn(&str) -> Option<String>) {
    if config::wants_frames(&variable) {
        bare.features.insert(EACH.to_owned());
    }
    if !config::wants_time(&variable) {
        return;
    }
    let problem = if bare.features.contains(MULTI_CORE) {
        "the counters of several cores differ: give the cores a common clock by `qs::Info::time`"
    } else if targets.iter().any(|target| target.starts_with(NO_COUNTER)) {
        "this core does not count cycles: name a clock by `qs::Info::time`"
    } else {
        bare.features.insert(CYCLES.to_owned());
        return;
    };
    bare.notes.push(format!("XHIST_TIME has no effect, because {problem}"));
}

/// Whether all that is built is for targets without an operating system.
pub(crate) fn is_only_bare(command: &Command) -> bool {
    let targets = config::targets(command);
    !targets.is_empty() && targets.iter().all(|target| is_bare(target))
}

/// Whether a target has no operating system, by its name. One that a file describes has none: others are built in.
fn is_bare(target: &str) -> bool {
    target.contains("-none") || target.ends_with(".json")
}

/// The packages in programs, with their active features.
fn packages<'m>(metadata: &'m Metadata, programs: &HashSet<PackageId>) -> Vec<(&'m str, Vec<String>)> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes = nodes.filter(|node| programs.contains(&node.id));
    nodes
        .map(|node| {
            let features = node.features.iter().map(ToString::to_string).collect();
            (metadata[&node.id].name.as_str(), features)
        })
        .collect()
}

/// How a statement excludes others, by these packages: a feature of the recorder, and a line about what is not known.
fn chosen(packages: &[(&str, Vec<String>)], targets: &[String]) -> (Option<&'static str>, Option<String>) {
    let has = |name: &str, feature: &str| {
        packages
            .iter()
            .any(|(package, features)| *package == name && features.iter().any(|has| has == feature))
    };
    let has_own = packages.iter().any(|(name, features)| {
        let is_own = |feature: &String| {
            OWN.contains(&feature.as_str()) && !ONE_CORE.contains(&(*name, feature.as_str()))
        };
        ALWAYS_OWN.contains(name) || features.iter().any(is_own)
    });
    let is_one_core = ONE_CORE.iter().any(|(name, feature)| has(name, feature));
    let can_mask = targets.iter().all(|target| MASKING.iter().any(|begin| target.starts_with(begin)));
    match (has_own, is_one_core, can_mask) {
        (true, ..) => (None, None),
        (false, true, true) => (Some("single-core"), None),
        (false, false, true) => {
            let note = "no dependency has a critical section, so the recorder masks the interrupts of one core; for several cores, add a package with one (its feature critical-section-impl)";
            (Some("single-core"), Some(note.to_owned()))
        }
        (false, _, false) => {
            let note = "no dependency has a critical section, which the recorder needs on this target: add a package with one (its feature critical-section-impl)";
            (None, Some(note.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_follow_from_the_packages() {
        let one_core = ("cortex-m", "critical-section-single-core");
        let runtime = ("cortex-m-rt", "device");
        let masks = Some("single-core");
        for (packages, target, feature, has_note) in [
            (vec![one_core, runtime], "thumbv7m-none-eabi", masks, false),
            (vec![("riscv", "critical-section-single-hart")], "riscv32imc-unknown-none-elf", masks, false),
            // Two cores, and the lock between them is the HAL's.
            (vec![("embassy-rp", "critical-section-impl"), runtime], "thumbv6m-none-eabi", None, false),
            // A radio stack that no statement may mask.
            (
                vec![one_core, ("nrf-softdevice", "critical-section-impl")],
                "thumbv7em-none-eabihf",
                None,
                false,
            ),
            (vec![("esp-hal", "esp32c3")], "riscv32imc-unknown-none-elf", None, false),
            (vec![("cortex-m", "inline-asm"), runtime], "thumbv7m-none-eabi", masks, true),
            (vec![("xtensa-lx", "default")], "xtensa-esp32-none-elf", None, true),
        ] {
            let rows: Vec<(&str, Vec<String>)> =
                packages.iter().map(|(name, feature)| (*name, vec![(*feature).to_owned()])).collect();
            let (found, note) = chosen(&rows, &[target.to_owned()]);
            assert_eq!((found, note.is_some()), (feature, has_note), "{packages:?}");
        }
        assert!(
            is_bare("thumbv6m-none-eabi") && is_bare("board.json") && !is_bare("x86_64-unknown-linux-gnu")
        );
    }
    #[test]
    fn time_is_chosen_by_a_variable() {
        let chosen = |target: &str, named: &[&str], variables: &[(&str, &str)]| {
            let features = named.iter().map(|name| (*name).to_owned()).collect();
            let mut bare = BareRecorder { features, ..BareRecorder::default() };
            let variable = |name: &str| {
                variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
            };
            add_time(&mut bare, &[target.to_owned()], variable);
            (bare.features.into_iter().collect::<Vec<_>>().join(","), bare.notes.len())
        };
        let (on, single) = (("XHIST_TIME", "on"), ("XHIST_FRAMES", "single"));
        for (target, named, variables, features, notes) in [
            ("thumbv7m-none-eabi", &[][..], &[][..], "", 0),
            ("thumbv7m-none-eabi", &[], &[on], "cycles", 0),
            ("riscv32imac-unknown-none-elf", &[], &[on, single], "cycles,each", 0),
            ("thumbv7m-none-eabi", &[], &[("XHIST_TIME", "off")], "", 0),
            ("thumbv6m-none-eabi", &[], &[on], "", 1),
            ("thumbv8m.main-none-eabi", &["multi-core"], &[on], "multi-core", 1),
        ] {
            assert_eq!(chosen(target, named, variables), (features.to_owned(), notes), "{target}");
        }
    }
}
