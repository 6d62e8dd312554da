//! Values of firmware, from a dump of its memory.

use std::collections::BTreeSet;

use xhist_tests::{Board, Firmware, Tree, VALUES, line_of, report};

/// Arguments and variables, with the types of the program that the user names.
pub(super) fn in_a_dump(board: &'static Board) {
    let firmware = Firmware::sample(board, VALUES);
    let (start, len) = firmware.ring();
    // More instructions between two ticks than with `COUNTED`: there, and on a busy host in real time, a handler comes between
    // most statements and their values.
    let mut machine = firmware.start(&["-icount", "shift=3"]);
    machine.ask("?");
    let program = firmware.elf.to_str().expect("UTF-8");
    let source = firmware.directory.join("src/crit_section.rs");
    let add = format!("src/crit_section.rs:{}", line_of(&source, "let waiting = read()"));
    let done = machine.run_until("calls with both arguments", |machine| {
        std::fs::write(firmware.directory.join("values.bin"), machine.memory(start, len)).expect("written");
        let done = report(&firmware.directory).args("values.bin --program").arg(program).done();
        let arguments: BTreeSet<&str> = done
            .stdout
            .lines()
            .filter_map(|line| line.split_once(&add)?.1.trim().strip_prefix("change = ")?.split(',').next())
            .collect();
        (arguments == BTreeSet::from(["-1", "1"])).then_some(done.clone())
    });
    done.check(done.stderr.is_empty(), "each value has a type");
    let calls = report(&firmware.directory).args("calls values.bin --program").arg(program).succeed();
    calls.check(calls.stdout.contains("add(change: -1)"), "and of the tree");
    // Away from the project the program's file is enough.
    let tree = Tree::empty("board-away");
    std::fs::copy(firmware.directory.join("values.bin"), tree.join("values.bin")).expect("copied");
    let away = report(tree.path()).args("values.bin --program").arg(program).succeed();
    away.check(away.stdout == done.stdout, "the names are in the program");
    // Without the program's file the bytes are there.
    let bytes = report(&firmware.directory).args("values.bin --program Cargo.toml").done();
    bytes.check(bytes.stdout.contains("change = 0xff 0xff 0xff 0xff (4 bytes)"), "bytes");
}
