//! Without a debug probe: the run before a reset leaves through a link, or stays in storage.

use std::time::Duration;

use object::{Object, ObjectSymbol};
use xhist_tests::{CORTEX_M, COUNTED, Firmware, Listing, RISC_V, report};

pub fn earlier_run() {
    let firmware = Firmware::sample(&CORTEX_M, "field");
    let uart = firmware.directory.join("uart.bin");
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let page = elf.symbols().find(|symbol| symbol.name() == Ok("EARLIER_RUN")).expect("the page");
    let mut machine =
        firmware.start(&[COUNTED[0], COUNTED[1], "-serial", &format!("file:{}", uart.display())]);
    machine.ask("?");
    let len = page.size() as usize;
    let mut image = Vec::new();
    let is_whole = (0..300).any(|_| {
        machine.run_for(Duration::from_millis(100));
        let before = std::mem::replace(&mut image, machine.memory(page.address() as u32, len));
        before == image && image.starts_with(&qs_core::ring::MAGIC)
    });
    assert!(is_whole, "it hangs, starts again, and keeps the history");
    std::fs::write(firmware.directory.join("page.bin"), &image).expect("written");
    // As in a file of regions: each with a head of its own, and another one before and behind it.
    let regions = [b"CORE\x01\0\0\0".as_slice(), &[0x5A; 300], &image, &[0xA5; 70]].concat();
    std::fs::write(firmware.directory.join("regions.bin"), regions).expect("written");
    let text = report(&firmware.directory).args("page.bin").succeed().stdout;
    let places = Listing::parse(&text).places();
    assert!(places.iter().any(|place| place.starts_with("src/crit_section.rs:")), "{text}");
    let json = report(&firmware.directory).args("page.bin --format json --last 1").succeed().stdout;
    assert!(json.contains("before the reset"), "{json}");
    for other in ["uart.bin", "regions.bin"] {
        let same = report(&firmware.directory).args(other).succeed().stdout == text;
        assert!(same, "{other} has the same history");
    }
}

/// The core's own counter. A core without one is in the case of embassy, whose board has none.
pub fn cycles() {
    let firmware = Firmware::sample(&RISC_V, "");
    let (start, len) = firmware.ring();
    let mut machine = firmware.start(&COUNTED);
    machine.ask("?");
    let times = machine.run_until("statements at two times", |machine| {
        std::fs::write(firmware.directory.join("stamps.bin"), machine.memory(start, len)).expect("written");
        let json = report(&firmware.directory).args("stamps.bin --format json").done().stdout;
        let entries = json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let times: Vec<u64> = entries.filter_map(|entry| entry["ticks"].as_u64()).collect();
        (times.len() > 2 && times.first() != times.last()).then_some(times)
    });
    assert!(times.is_sorted(), "{times:?}");
}
