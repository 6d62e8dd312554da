//! What records of another QS target cost, in a program that is not here.

use xhist_tests::Firmware;

use super::{disassembly, longest_masked, sizes_of};

/// Another QS target in a program of its own, whose function `one_record` sends a record with two u16, again and again.
pub(super) fn beside(firmware: &Firmware) {
    let disassembly = disassembly(firmware);
    let start = disassembly.lines().find_map(|line| line.strip_suffix(" <one_record>:"));
    let start = start.and_then(|digits| u32::from_str_radix(digits, 16).ok()).expect("a function one_record");
    let (mut count, mut counts) = (0, Vec::new());
    firmware.trace(|address| {
        if address == start {
            counts.push(std::mem::take(&mut count));
        }
        count += 1;
        counts.len() < 200
    });
    let rounds = &counts[1..];
    let each = rounds.iter().sum::<usize>() / rounds.len();
    let longest = longest_masked(firmware, &disassembly);
    println!("beside: {each} instructions a record and its loop, at most {longest} masked at a stretch");
    for names in ["QS_", "rte"] {
        let (flash, ram) = sizes_of(firmware, names);
        println!("beside: {flash} bytes of flash, {ram} of RAM in what is named {names}...");
    }
}
