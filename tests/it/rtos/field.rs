//! Without a debug probe: the run before a reset leaves through a link, or stays in storage.

use std::ops::Range;
use std::time::Duration;

use object::{Object, ObjectSection, ObjectSymbol};
use qs_core::ring::MAGIC;
use xhist_tests::{CORTEX_M, COUNTED, Firmware, Listing, RISC_V, report, repository};

use crate::docs::first_missing;

/// Partitions of the sample's flash: what runs, what the boot loader keeps, the history.
const ACTIVE: Range<usize> = 0x0000..0x0400;
const STATE: Range<usize> = 0x0A00..0x0C00;
const HISTORY: Range<usize> = 0x0C00..0x1E00;

/// Runs the sample until it was reset and has kept the history of the run before, in an area that begins with these bytes: its
/// flash, and the report of the history.
fn flash_behind_reset(firmware: &Firmware, serial: &str, begins: &[u8]) -> (Vec<u8>, String) {
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let flash = elf.symbols().find(|symbol| symbol.name() == Ok("FLASH")).expect("the flash");
    let mut machine = firmware.start(&[COUNTED[0], COUNTED[1], "-serial", serial]);
    machine.ask("?");
    let mut image = Vec::new();
    let is_whole = (0..300).any(|_| {
        machine.run_for(Duration::from_millis(100));
        let before =
            std::mem::replace(&mut image, machine.memory(flash.address() as u32, flash.size() as usize));
        before == image && image[HISTORY].starts_with(begins)
    });
    assert!(is_whole, "it hangs, starts again, and keeps the history");
    std::fs::write(firmware.directory.join("page.bin"), &image[HISTORY]).expect("written");
    let text = report(&firmware.directory).args("page.bin").succeed().stdout;
    let places = Listing::parse(&text).places();
    assert!(places.iter().any(|place| place.starts_with("src/crit_section.rs:")), "{text}");
    (image, text)
}

pub fn earlier_run() {
    let firmware = Firmware::sample(&CORTEX_M, "field");
    let uart = firmware.directory.join("uart.bin");
    let (image, text) = flash_behind_reset(&firmware, &format!("file:{}", uart.display()), &MAGIC);
    // As in a file of regions: each with a head of its own, and another one before and behind it.
    let regions = [b"CORE\x01\0\0\0".as_slice(), &[0x5A; 300], &image[HISTORY], &[0xA5; 70]].concat();
    std::fs::write(firmware.directory.join("regions.bin"), regions).expect("written");
    let json = report(&firmware.directory).args("page.bin --format json --last 1").succeed().stdout;
    assert!(json.contains("before the reset"), "{json}");
    for other in ["uart.bin", "regions.bin"] {
        let same = report(&firmware.directory).args(other).succeed().stdout == text;
        assert!(same, "{other} has the same history");
    }
}

/// The history is one of the regions of a coredump, whose heads say where it was in memory.
pub fn coredump() {
    const HEAD: usize = 12;
    let firmware = Firmware::sample(&CORTEX_M, "coredump");
    let (rings, len) = firmware.ring();
    let (image, text) = flash_behind_reset(&firmware, "null", b"CORE");
    let words = |at: usize| {
        let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().expect("four bytes"));
        [word(at), word(at + 4), word(at + 8)]
    };
    let [_, version, total] = words(HISTORY.start);
    let (mut at, end) = (HISTORY.start + HEAD, HISTORY.start + total as usize);
    let mut regions = Vec::new();
    while at < end {
        let [kind, address, len] = words(at);
        assert_eq!((version, kind), (1, 1), "memory");
        regions.push((address, at + HEAD..at + HEAD + len as usize));
        at += HEAD + len as usize;
    }
    assert_eq!(at, end, "the length in the head");
    let addresses: Vec<u32> = regions.iter().map(|(address, _)| *address).collect();
    assert_eq!(addresses, [0xE000_ED28, rings], "why it faulted, and the rings");
    let region = &image[regions[1].1.clone()];
    assert_eq!(2 * region.len(), len, "one of two rings");
    std::fs::write(firmware.directory.join("region.bin"), region).expect("written");
    assert_eq!(report(&firmware.directory).args("region.bin").succeed().stdout, text);
    let page = std::fs::read_to_string(repository().join("docs/rtos.md")).expect("the page");
    let source = std::fs::read_to_string(firmware.directory.join("src/coredump.rs")).expect("a file");
    let function = source.split("\n\n").find(|part| part.contains("\npub fn keep")).expect("a function");
    assert!(page.contains(&format!("\n{function}\n```\n")), "in docs/rtos.md: {function}");
}

/// The boot loader's own code has swapped the update in. It and the program then leave the history alone.
pub fn embassy_boot() {
    const BOOTED: u8 = 0xD0;
    let image = behind_boot_loader("embassy-boot");
    assert!(image[ACTIVE].iter().all(|byte| *byte == 0x42), "the update is swapped in");
    assert_eq!(image[STATE][..8], [BOOTED; 8], "and marked as booted");
}

/// The trailer of the primary slot, in words of eight bytes: `copy_done`, `image_ok`, and two of a mark.
pub fn mcuboot() {
    let image = behind_boot_loader("mcuboot");
    let trailer: Vec<&[u8]> = image[ACTIVE].chunks(8).collect();
    let set = [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
    let count = trailer.len();
    assert_eq!(trailer[count - 4..count - 2], [set, set], "it is swapped in and confirmed");
    assert!(trailer[..count - 4].concat().iter().all(|byte| *byte == 0xFF), "nothing else is written");
}

/// The flash, after a check that the page has the sample's code, and the answer that the history has.
fn behind_boot_loader(feature: &str) -> Vec<u8> {
    let firmware = Firmware::sample(&CORTEX_M, feature);
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let place = |section: &str| elf.section_by_name(section).map(|section| section.address());
    assert_eq!(place(".rings"), Some(0x2000_D000), "the place of the rings");
    let (image, _) = flash_behind_reset(&firmware, "null", &MAGIC);
    let page = std::fs::read_to_string(repository().join("docs/rtos.md")).expect("the page");
    let answer = report(&firmware.directory).args("answer page.bin").succeed();
    let shown =
        page.split("$ xhist-report answer page.bin\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(first_missing(shown.expect("an answer"), &answer.stdout), None, "{}", answer.stdout);
    // The page has one function of this file, and all of the script but its comment.
    let read = |file: &str| std::fs::read_to_string(firmware.directory.join(file)).expect("a file");
    let source = read(&format!("src/boot_{}.rs", feature.trim_end_matches("-boot")));
    let function = source.split("\n\n").find(|part| part.contains("\nfn begin"));
    let script = read("memory.x");
    let script = script.split_once("*/\n").expect("a comment").1;
    for shown in [function.expect("a function"), script] {
        assert!(page.contains(&format!("\n{}\n```\n", shown.trim())), "in docs/rtos.md: {shown}");
    }
    image
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
