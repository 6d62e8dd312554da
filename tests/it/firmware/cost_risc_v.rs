//! What a statement costs on RISC-V.

use std::collections::BTreeMap;

use object::{Object, ObjectSymbol};
use xhist_tests::{Firmware, RISC_V};

/// What most statements take while it runs; a disassembler need not know the instructions.
pub(super) fn cost() {
    const INSTRUCTIONS: usize = 500_000;
    let firmware = Firmware::sample(&RISC_V, "");
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let short = elf.symbols().find(|symbol| symbol.name().is_ok_and(|name| name.contains("record_near")));
    let short = short.expect("the short path");
    let (start, end) = (short.address() as u32, (short.address() + short.size()) as u32);
    let (mut all, mut inside, mut times) = (0, 0, BTreeMap::new());
    firmware.trace(|address| {
        if !(start..end).contains(&address) {
            let count = std::mem::take(&mut inside);
            *times.entry(count).or_insert(0) += usize::from(count > 0);
        } else if address == start || inside > 0 {
            inside += 1;
        }
        all += 1;
        all < INSTRUCTIONS
    });
    let most = times.iter().max_by_key(|(_, times)| **times).map(|(count, _)| *count).unwrap_or(0);
    // The constant is one or two more, a far call two.
    println!("{most} instructions a statement on RISC-V, and up to 4 of its call");
    assert!((1..=20).contains(&most), "{times:?}");
}
