//! A program in C sends records through the header and the static library: on this machine, and on a Cortex-M.

use xhist_tests::{Done, Run, Tree, cargo_for_target, other_cargo, report};

const FLAGS: &str = "-Wall -Wextra -Werror -std=c99";
/// QSPY's name for it is `230714_092653`.
const BUILT: (&str, &str) = ("SOURCE_DATE_EPOCH", "1689326813");

pub fn program() {
    let tree = Tree::with_recorder("samples/qs-c");
    other_cargo("cargo", tree.path()).args("build --quiet").succeed();
    let compile =
        format!("{FLAGS} example.c hosted.c target/debug/libxhist_qs.a -lpthread -ldl -lm -o hosted");
    Run::new("cc", tree.path()).args(&compile).env(BUILT.0, BUILT.1).succeed();
    Run::new("sh", tree.path()).args("-c").arg("./hosted > stream.qs").succeed();
    assert_stream(&report(tree.path()).args("qspy stream.qs").succeed());
}

/// The stream of QEMU's board comes by semihosting.
pub fn firmware() {
    const TARGET: &str = "thumbv7m-none-eabi";
    let tree = Tree::with_recorder("samples/qs-c");
    cargo_for_target(TARGET, "", tree.path(), "build --quiet --no-default-features").succeed();
    let compile = format!(
        "{FLAGS} -Os -mcpu=cortex-m3 -mthumb -ffreestanding -nostdlib -Wl,--gc-sections -T bare.ld bare.c example.c \
         target/{TARGET}/release/libxhist_qs.a -lgcc -o bare.elf"
    );
    Run::new("arm-none-eabi-gcc", tree.path()).args(&compile).env(BUILT.0, BUILT.1).succeed();
    let emulate = "-cpu cortex-m3 -machine lm3s6965evb -display none -serial null -monitor none \
                   -semihosting-config enable=on,target=native -kernel bare.elf";
    Run::new("qemu-system-arm", tree.path()).args(emulate).succeed();
    assert_stream(&report(tree.path()).args("qspy stream.qs").succeed());
}

/// The records of `example.c`, as QSPY prints them.
#[track_caller]
fn assert_stream(printed: &Done) {
    let text = |line: &str| line.split_once(' ').map_or(String::new(), |(_, rest)| rest.trim().to_owned());
    let lines: Vec<String> = printed.stdout.lines().map(text).collect();
    let at = lines.iter().position(|line| line.starts_with("PHILO_STAT"));
    let behind: Vec<&str> = lines.iter().skip(at.unwrap_or(lines.len())).map(String::as_str).collect();
    // The first record was off; the host's command came before the second one that is here.
    let expected = [
        "PHILO_STAT PHILO EATING     -2   2.50e-01 -1.0e+100 serving EAT,Obj=PHILO  01 AB 0xBEEF",
        "Trg-Ack  QS_RX_COMMAND",
        "Trg-Done QS_RX_COMMAND",
        "PHILO_STAT PHILO EATING      3   2.50e-01 -1.0e+100 paused EAT,Obj=PHILO  01 AB 0xBEEF",
        "Disp===> Obj=PHILO,Sig=EAT,State=hungry",
        "St-Entry Obj=PHILO,State=hungry",
        "MP-Get   Obj=PHILO,Free=3,Min=2",
        "=ASSERT= Mod=main,Loc=42",
    ];
    printed.check(behind == expected, &format!("{behind:#?}"));
    printed.check(printed.stdout.contains("Build=230714_092653"), "the time of the build");
}
