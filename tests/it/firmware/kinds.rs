//! The recorder on kinds of cores that no emulator runs here: it compiles.

use xhist_tests::{Run, cargo_for_target, check_for_target, has_compiler, is_long, repository};

/// The kind of core that QEMU runs here.
const RUNS: &str = "thumbv7m-none-eabi";

/// The recorder with all that it can have on this kind of core; the other features are the same for all. The sample runs on
/// a Cortex-M3 only, and other cases build it for that.
pub(super) fn compiles(target: &str) {
    const EVERY: [&str; 2] = ["trace,single-core,keep,memory,qutest", "trace"];
    const OTHERS: [&str; 3] = ["", "trace,single-core,keep", "trace,memory,qutest"];
    // Nothing else is compiled for a Cortex-M0 in a short run.
    let is_checked = target.contains("v6") && !is_long();
    let finish = |cargo: Run| {
        let cargo = cargo.env("XHIST_CORE_REGISTER", "0xD0000000");
        cargo.arg("--target-dir").arg(repository().join("target/bare")).succeed();
    };
    let recorder = |features: &str| {
        let words = format!("--quiet -p xhist-rt --no-default-features --features={features}");
        finish(match is_checked {
            true => check_for_target(target, repository(), &words),
            false => cargo_for_target(target, "", repository(), &format!("build {words}")),
        });
    };
    if !has_compiler(target) {
        println!("no compiler for {target}");
        return;
    }
    let others = OTHERS.iter().filter(|_| is_long() && target == RUNS);
    // Of the chips with several cores of this kind, RP2040 and RP2350 are known to have this register.
    let cores = ["trace,multi-core,keep,each"].iter().filter(|_| !target.contains("v7"));
    for features in EVERY.iter().chain(others).chain(cores) {
        recorder(features);
    }
    if is_long() && target.starts_with("thumb") && target != RUNS {
        let sample = repository().join("samples/firmware-cortex-m");
        finish(cargo_for_target(target, "", &sample, "check --quiet"));
    }
}
