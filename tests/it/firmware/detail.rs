//! Firmware that records only entries of functions.

use std::collections::BTreeSet;

use xhist_tests::{CORTEX_M, ENTRIES, Firmware, Listing, line_of, recorded, report};

use super::gdb;

pub(super) fn entries() {
    let firmware = Firmware::sample(&CORTEX_M, ENTRIES);
    let machine = firmware.start(&[]);
    let pause = "python import threading; threading.Timer(4, lambda: gdb.post_event(lambda: gdb.execute('interrupt'))).start()";
    let (start, len) = firmware.ring();
    let dump = format!("dump binary memory entries.bin {start:#x} {:#x}", start as usize + len);
    gdb(&firmware, &machine, &[pause, "continue", &dump]);
    let rings = recorded(&std::fs::read(firmware.directory.join("entries.bin")).expect("a dump"));
    assert!(rings[0].header.has_entries_only(), "the header says it");
    let build = report(&firmware.directory).args("builds entries.bin").done();
    build.check(build.stdout.contains("  detail:   function;"), "and the map");
    let text = report(&firmware.directory).args("entries.bin").succeed().stdout;
    // The section's functions have one each.
    let source = firmware.directory.join("src/crit_section.rs");
    let entry = format!("src/crit_section.rs:{}", line_of(&source, "let waiting = read()"));
    let places: BTreeSet<String> = Listing::parse(&text).places().into_iter().collect();
    let in_section = places.iter().filter(|place| place.starts_with("src/crit_section")).count();
    assert!(places.contains(&entry) && in_section <= 2, "{text}");
}
