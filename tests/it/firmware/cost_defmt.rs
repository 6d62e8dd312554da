//! What an event of defmt over RTT costs on the same core, for the table beside a statement. It is no race: defmt sends what a
//! program formats, and a statement is its place.

use std::time::Duration;

use qs_core::ring::{self, Item, Reader};
use xhist_tests::{CORTEX_M, Firmware, Tree, repository};

use super::address;

const TARGET: &str = "thumbv7m-none-eabi";
/// Instructions that are enough for them.
const MOST: usize = 1_000_000;
/// Rounds of the program that are counted.
const ROUNDS: usize = 100;
/// Where the control block of RTT has the place at which the program writes.
const WRITTEN: u32 = 16 + 8 + 12;
/// Bytes of defmt's channel.
const CHANNEL: u32 = 1024;

pub(super) fn beside() {
    let (without, with) = (program(""), program("--features events"));
    let (bare, counts) = (instructions(&without), instructions(&with));
    let [text, number] = [counts[0] - bare[0], counts[1] - bare[1]];
    let bytes = bytes_sent(&with);
    let plain_flash = sections(&with, false) - sections(&without, false);
    recorded(counts, bare, bytes, plain_flash);
    let (flash, ram) = (sections(&with, false) - sections(&without, false), ram_of(&with));
    println!("defmt: {text} instructions an event without arguments, {number} with a u32");
    println!("defmt: {} and {} bytes an event", bytes[0], bytes[1]);
    println!("defmt: {flash} bytes of flash with two events, {ram} of RAM with the channel");
    let statement = bytes_of_a_statement();
    println!("xhist: {statement:.2} bytes a statement in the ring, without loops that fold");
    assert!(text > 24 && number > text, "{text} and {number} instructions");
    assert!((1..16).contains(&bytes[0]) && bytes[1] > bytes[0], "{bytes:?}");
    assert!(flash > 1_000 && ram >= u64::from(CHANNEL) && (0.5..8.0).contains(&statement));
}

/// The same program under `cargo xhist`, where each event is also in the ring. `plain`, `bare`: instructions of the plain
/// program with and without events; `bytes`: what it sends; `flash`: its events.
fn recorded(plain: [usize; 2], bare: [usize; 2], bytes: [u32; 2], flash: u64) {
    let (without, with) = (recorded_program(""), recorded_program("--features events"));
    let (base, counts) = (instructions(&without), instructions(&with));
    let more = [0, 1].map(|at| (counts[at] - base[at]) - (plain[at] - bare[at]));
    let flash = sections(&with, false) - sections(&without, false) - flash;
    let ram = ram_of(&with) - ram_of(&without) - u64::from(CHANNEL);
    println!("defmt, recorded: {} and {} instructions more, with the statement", more[0], more[1]);
    println!("defmt, recorded: {flash} bytes of flash more, {ram} of RAM beside the channel");
    assert_eq!(bytes_sent(&with), bytes, "the logger of the program sends the same");
    assert!(more.iter().all(|more| (25..4_000).contains(more)), "{more:?}");
    assert!((100..1_500).contains(&flash) && ram < 300, "{flash} bytes of flash, {ram} of RAM");
}

fn program(features: &str) -> Firmware {
    built("defmt-cost", "build", features, "target")
}

fn recorded_program(features: &str) -> Firmware {
    built("defmt-cost-recorded", "xhist build", features, "target/xhist/build")
}

fn built(name: &str, command: &str, features: &str, target: &str) -> Firmware {
    let name = if features.is_empty() { format!("{name}-none") } else { name.to_owned() };
    let tree = Tree::kept(&name, &repository().join("tests/fixtures/defmt-cost"), str::to_owned);
    CORTEX_M.cargo(tree.path(), &format!("{command} --quiet {features}")).succeed();
    Firmware::other(&CORTEX_M, tree.join(target).join(TARGET).join("release/defmt-cost"))
}

/// Instructions from one mark to the next: over the event without arguments, and over that with one.
fn instructions(firmware: &Firmware) -> [usize; 2] {
    let marks = ["begin_event", "middle_event", "end_event"].map(|name| address(firmware, name));
    let (mut all, mut count, mut counts) = (0, 0, [Vec::new(), Vec::new()]);
    firmware.trace(|at| {
        if let Some(mark) = marks.iter().position(|mark| *mark == at) {
            if mark > 0 {
                counts[mark - 1].push(count);
            }
            count = 0;
        }
        count += 1;
        all += 1;
        counts[1].len() < ROUNDS && all < MOST
    });
    assert_eq!(counts[1].len(), ROUNDS, "rounds of {all} instructions");
    counts.map(|mut counts| {
        counts.sort_unstable();
        counts[counts.len() / 2]
    })
}

/// Bytes that each of the two events puts into the channel.
fn bytes_sent(firmware: &Firmware) -> [u32; 2] {
    let written = address(firmware, "_SEGGER_RTT") + WRITTEN;
    let mut machine = firmware.start(&[]);
    machine.ask("?");
    let at = ["begin_event", "middle_event", "end_event"].map(|name| {
        let mark = address(firmware, name);
        machine.ask(&format!("Z0,{mark:x},2"));
        machine.ask("c");
        machine.ask(&format!("z0,{mark:x},2"));
        u32::from_le_bytes(machine.memory(written, 4).try_into().expect("four bytes"))
    });
    [(at[1] + CHANNEL - at[0]) % CHANNEL, (at[2] + CHANNEL - at[1]) % CHANNEL]
}

/// Bytes of the sections in flash, or in RAM.
fn sections(firmware: &Firmware, is_ram: bool) -> u64 {
    use object::{Object as _, ObjectSection as _, SectionFlags};
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let is_loaded = |section: &object::Section<'_, '_>| match section.flags() {
        SectionFlags::Elf { sh_flags } => sh_flags & u64::from(object::elf::SHF_ALLOC) != 0,
        _ => false,
    };
    let sections = elf.sections().filter(is_loaded);
    sections
        .filter(|section| (section.address() >= 0x2000_0000) == is_ram)
        .map(|section| section.size())
        .sum()
}

fn ram_of(firmware: &Firmware) -> u64 {
    sections(firmware, true)
}

/// Frames and all, by the statements that were written out.
fn bytes_of_a_statement() -> f64 {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let (start, len) = firmware.ring();
    let mut machine = firmware.start(&[]);
    machine.ask("?");
    machine.run_for(Duration::from_millis(300));
    let image = machine.memory(start, len);
    let (mut statements, mut bytes) = (0, 0);
    for found in ring::find(&image) {
        let Ok(header) = found.header else { continue };
        bytes += header.state.head().min(header.size as u64);
        let mut reader = Reader::new(header, &image[found.offset..]);
        while let Some(item) = reader.next() {
            statements += usize::from(matches!(item, Item::Statement(..)));
        }
    }
    bytes as f64 / statements as f64
}
