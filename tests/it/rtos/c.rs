//! A program in C sends records through the header and the static library.

use xhist_tests::{Run, Tree, other_cargo, report};

pub fn program() {
    let tree = Tree::with_recorder("samples/qs-c");
    other_cargo("cargo", tree.path()).args("build --quiet").succeed();
    let compile =
        "-Wall -Wextra -Werror -std=c99 main.c target/debug/libxhist_qs.a -lpthread -ldl -lm -o main";
    Run::new("cc", tree.path()).args(compile).succeed();
    Run::new("sh", tree.path()).args("-c").arg("./main > stream.qs").succeed();
    let printed = report(tree.path()).args("qspy stream.qs").succeed().stdout;
    let records: Vec<&str> = printed.lines().filter(|line| line.contains(" PHILO_STAT ")).collect();
    // The first one was off; the host's command came before the last one.
    let expected = ["PHILO EATING     -2 serving", "PHILO EATING      3 paused"];
    let is_same = records.len() == 2 && records.iter().zip(expected).all(|(line, end)| line.ends_with(end));
    assert!(is_same, "{printed}");
    assert!(printed.contains("Trg-Ack  QS_RX_COMMAND"), "{printed}");
}
