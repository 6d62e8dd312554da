//! The recorder on kinds of cores that no emulator runs here: it compiles.

use xhist_tests::{cargo_for_target, has_compiler, is_long, repository};

/// The kind of core that QEMU runs here.
const RUNS: &str = "thumbv7m-none-eabi";

/// The recorder with all that it can have on this kind of core; the other features are the same for all. The sample runs on
/// a Cortex-M3 only, and other cases build it for that.
pub(super) fn compiles(target: &str) {
    const EVERY: [&str; 2] = ["trace,single-core,keep,memory,qutest", "trace"];
    const OTHERS: [&str; 3] = ["", "trace,single-core,keep", "trace,memory,qutest"];
    let compile = |directory: &str, command: &str| {
        let cargo = cargo_for_target(target, "", &repository().join(directory), command);
        let cargo = cargo.env("XHIST_CORE_REGISTER", "0xD0000000");
        cargo.arg("--target-dir").arg(repository().join("target/bare")).succeed();
    };
    if !has_compiler(target) {
        println!("no compiler for {target}");
        return;
    }
    let others = OTHERS.iter().filter(|_| is_long() && target == RUNS);
    // Of the chips with several cores of this kind, RP2040 and RP2350 are known to have this register.
    let cores = ["trace,multi-core,keep,each"].iter().filter(|_| !target.contains("v7"));
    for features in EVERY.iter().chain(others).chain(cores) {
        let features = format!("--no-default-features --features={features}");
        compile(".", &format!("build --quiet -p xhist-rt {features}"));
    }
    if is_long() && target.starts_with("thumb") && target != RUNS {
        compile("samples/firmware-cortex-m", "check --quiet");
    }
}
