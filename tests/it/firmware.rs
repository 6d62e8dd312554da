//! Does firmware without an operating system leave a history, whatever becomes of it?

mod at_hand;
mod chips;
mod cores;
mod cost_beside;
mod cost_defmt;
mod cost_risc_v;
mod defmt;
mod detail;
mod embedded_test;
mod executors;
mod kinds;
mod log;
mod probe_rs;
mod rtic;
mod runner;
mod trigger;
mod values;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use object::{Object, ObjectSymbol};
use qs_core::frame::{Decoder, FrameWriter, Outcome};
use xhist_tests::{
    Board, CORTEX_M, COUNTED, Case, Firmware, Listing, Machine, Need, ONE_RING, RISC_V, TWO_CORES,
    TWO_CORTEX_M, line_of, other_cargo, recorded, report, repository, tries,
};

const NEEDS: &[Need] = &[Need::Firmware];
const REGISTRY: &[Need] = &[Need::Firmware, Need::Registry];
const NEEDS_LONG: &[Need] = &[Need::Firmware, Need::Long];
const LONG: &[Need] = &[Need::Firmware, Need::Registry, Need::Long];

pub const CASES: &[Case] = &[
    Case::needing("a_hung_core_shows_the_listing_of_figure_4", NEEDS, hangs),
    Case::needing("a_hung_risc_v_shows_it_too", &[Need::FirmwareRiscV], risc_v),
    Case::needing("in_function_detail_the_ring_says_so_and_has_only_entries", NEEDS, detail::entries),
    Case::needing("values_are_in_a_dump", NEEDS, || values::in_a_dump(&CORTEX_M)),
    Case::needing("on_risc_v_values_are_in_a_dump_too", &[Need::FirmwareRiscV], || {
        values::in_a_dump(&RISC_V)
    }),
    Case::needing("a_fault_and_a_panic_print_the_last_statements", NEEDS, || crash(&CORTEX_M, "function();")),
    Case::needing("on_risc_v_they_print_them_too", &[Need::FirmwareRiscV], || crash(&RISC_V, "unsafe {")),
    Case::needing("a_dump_at_any_step_of_closing_a_frame_is_right", NEEDS, || any_step(&CORTEX_M)),
    Case::needing("on_risc_v_it_is_right_too", &[Need::FirmwareRiscV], || any_step(&RISC_V)),
    Case::needing("a_dump_at_any_instruction_ends_in_the_statement_at_hand", NEEDS, at_hand::any_instruction),
    Case::needing(
        "each_of_ten_thousand_dumps_in_qemu_ends_in_the_statement_at_hand",
        NEEDS,
        at_hand::every_instruction_in_qemu,
    ),
    Case::needing(
        "each_of_twenty_thousand_dumps_of_a_chip_ends_in_the_statement_at_hand",
        &[Need::Firmware, Need::LabWired],
        at_hand::every_instruction,
    ),
    Case::needing(
        "the_walks_with_embassy_on_an_nrf52840_show_what_the_page_says",
        &[Need::Firmware, Need::Registry, Need::LabWired, Need::Long],
        chips::embassy,
    ),
    Case::needing(
        "the_walks_on_an_stm32f401_show_what_the_page_says",
        &[Need::Firmware, Need::Registry, Need::LabWired, Need::Long],
        chips::rtic,
    ),
    Case::needing(
        "the_walk_with_esp_hal_on_an_esp32_c3_shows_what_the_page_says",
        &[Need::FirmwareRiscV, Need::Registry, Need::LabWired, Need::Long],
        chips::esp_hal,
    ),
    Case::needing("the_run_before_a_reset_is_kept", NEEDS, reset),
    Case::needing("a_host_filters_a_live_link", NEEDS, live),
    Case::needing("the_recorder_is_small_and_short", NEEDS, cost),
    Case::needing("the_recorder_is_short_on_risc_v_too", &[Need::FirmwareRiscV], cost_risc_v::cost),
    Case::needing("the_recorder_beside_defmt_over_rtt", LONG, cost_defmt::beside),
    Case::needing("untouched_firmware_that_panics_is_explained", NEEDS, runner::panics),
    Case::needing("untouched_firmware_waits_for_its_start", NEEDS, runner::starts),
    Case::needing("triggers_that_firmware_does_not_have_are_refused", NEEDS, runner::refuses),
    Case::needing("untouched_firmware_that_hangs_is_explained_after_ctrl_c", NEEDS, runner::hangs),
    Case::needing(
        "untouched_firmware_with_a_hard_fault_is_explained_after_a_time_out",
        NEEDS,
        runner::faults,
    ),
    Case::needing("untouched_firmware_whose_stack_overflows_is_explained", NEEDS, runner::overflows),
    Case::needing("untouched_firmware_that_ends_well_names_its_history", NEEDS, runner::ends_well),
    Case::needing("an_untouched_rtic_task_that_panics_shows_what_interrupted_it", REGISTRY, rtic::panics),
    Case::needing("a_lost_wake_up_of_rtic_shows_who_waits", REGISTRY, rtic::lost_wake_up),
    Case::needing("rtic_that_ends_well_has_no_answer", REGISTRY, rtic::ends_well),
    Case::needing("an_embassy_task_that_keeps_another_from_running_is_seen", REGISTRY, executors::starves),
    Case::needing("a_lost_wake_up_between_two_executors_shows_who_waits", REGISTRY, executors::lost_wake_up),
    Case::needing("lines_of_defmt_are_in_the_history_of_untouched_firmware", REGISTRY, defmt::lines),
    Case::needing(
        "on_risc_v_lines_of_defmt_are_in_it_too",
        &[Need::FirmwareRiscV, Need::Registry, Need::Long],
        defmt::on_risc_v,
    ),
    Case::needing("lines_of_the_crate_log_are_in_the_history_of_firmware", LONG, log::lines),
    Case::needing("a_race_of_two_cores_shows_in_their_merged_history", &[Need::FirmwareRiscV], || {
        cores::race(&TWO_CORES)
    }),
    Case::needing("two_cores_with_a_lock_end_well", &[Need::FirmwareRiscV], || cores::ends_well(&TWO_CORES)),
    Case::needing("a_race_of_two_cortex_m_shows_in_their_merged_history", NEEDS_LONG, || {
        cores::race(&TWO_CORTEX_M)
    }),
    Case::needing("two_cortex_m_with_a_lock_end_well", NEEDS_LONG, || cores::ends_well(&TWO_CORTEX_M)),
    Case::needing("a_trigger_stops_firmware_at_the_third_time", NEEDS, trigger::stops),
    Case::needing("a_line_says_what_a_linker_script_of_the_projects_own_lacks", NEEDS_LONG, runner::no_place),
    Case::needing("memory_is_read_after_probe_rs", NEEDS, runner::probe_rs),
    Case::new(
        "the_program_in_place_of_probe_rs_has_only_options_of_its_help",
        probe_rs::options_are_those_of_its_help,
    ),
    Case::needing(
        "the_installed_probe_rs_has_these_options_too",
        &[Need::ProbeRs],
        probe_rs::options_are_those_of_the_installed_one,
    ),
    Case::needing("memory_is_read_after_gdb", NEEDS, runner::gdb),
    Case::needing("memory_is_read_after_a_time_out_of_the_runner", NEEDS, runner::time_out),
    Case::needing("each_failed_test_of_a_target_in_qemu_has_its_own_history", LONG, embedded_test::in_qemu),
    Case::needing(
        "each_failed_test_of_a_target_with_a_probe_runs_again_alone",
        REGISTRY,
        embedded_test::by_probe,
    ),
    Case::needing(
        "tests_of_embedded_test_before_0_7_run_again_alone_too",
        LONG,
        embedded_test::by_probe_before_07,
    ),
    Case::needing("an_unknown_runner_is_passed_through", NEEDS, runner::unknown),
    Case::needing("recorder_compiles_for_cortex_m0", NEEDS, || kinds::compiles("thumbv6m-none-eabi")),
    Case::needing("recorder_compiles_for_cortex_m3", NEEDS, || kinds::compiles("thumbv7m-none-eabi")),
    Case::needing("recorder_compiles_for_cortex_m4f", &[Need::Firmware, Need::Long], || {
        kinds::compiles("thumbv7em-none-eabihf")
    }),
    Case::needing("recorder_compiles_for_risc_v", &[Need::FirmwareRiscV, Need::Long], || {
        kinds::compiles("riscv32imac-unknown-none-elf")
    }),
];

/// Register numbers.
const LR: u8 = 14;
const PC: u8 = 15;

/// The first address of the function whose symbol has this in it.
fn address(firmware: &Firmware, name: &str) -> u32 {
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let found = elf.symbols().find(|symbol| symbol.name().is_ok_and(|symbol| symbol.contains(name)));
    found.unwrap_or_else(|| panic!("no {name}")).address() as u32 & !1
}

/// Runs gdb's commands on the halted firmware.
fn gdb(firmware: &Firmware, machine: &Machine, commands: &[&str]) -> String {
    // With our commands installed: the command `xhist` inside gdb calls one.
    let mut gdb = other_cargo("gdb-multiarch", &firmware.directory).args("-batch -nx");
    gdb = gdb.arg("-ex").arg(format!("target remote :{}", machine.port));
    for command in commands {
        gdb = gdb.arg("-ex").arg(command);
    }
    gdb.arg(&firmware.elf).succeed().stdout
}

fn hangs() {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let machine = firmware.start(&COUNTED);
    let (start, len) = firmware.ring();
    let end = start as usize + len;
    // gdb lets it run and halts it, as a person does.
    let printed = gdb(
        &firmware,
        &machine,
        &[
            "python import threading; threading.Timer(4, lambda: gdb.post_event(lambda: gdb.execute('interrupt'))).start()",
            "continue",
            &format!("dump binary memory dump.bin {start:#x} {end:#x}"),
            "dump binary memory ram.bin 0x20000000 0x20010000",
            &format!("dump ihex memory dump.hex {start:#x} {end:#x}"),
            &format!("dump srec memory dump.srec {start:#x} {end:#x}"),
            &format!("source {}", repository().join("xhist-report/gdb/xhist.py").display()),
            "xhist",
            "echo end of the history\\n",
            "xhist --last 3 --format json",
        ],
    );
    let text = report(&firmware.directory).args("dump.bin").succeed().stdout;
    assert_entered_twice(&firmware, &text);
    let (inside, options) = printed.split_once("end of the history\n").expect("gdb goes on");
    assert!(inside.ends_with(&text), "gdb's own command prints the same history: {inside}");
    assert_eq!(options.matches("\"kind\":\"statement\"").count(), 3, "{options}");
    assert_in_interrupts(&firmware, "SysTick", 15, "PendSV", 14);
    for other in ["ram.bin", "dump.hex", "dump.srec"] {
        let same = report(&firmware.directory).args(other).succeed().stdout == text;
        assert!(same, "{other} has the same history");
    }
}

#[track_caller]
fn assert_entered_twice(firmware: &Firmware, text: &str) {
    assert!(is_entered_twice(firmware, text), "the critical section was entered twice");
}

/// Whether the critical section was entered, interrupted by the handler, and entered again before it was left.
fn is_entered_twice(firmware: &Firmware, text: &str) -> bool {
    let source = firmware.directory.join("src");
    let entered = line_of(&source.join("crit_section.rs"), "let waiting = read()");
    let handler = line_of(&source.join("event_handlers.rs"), "crit_section::add(1)");
    let places: Vec<String> = Listing::parse(text).places();
    let is = |place: &String, line: u32| *place == format!("src/crit_section.rs:{line}");
    places.iter().enumerate().any(|(at, place)| {
        *place == format!("src/event_handlers.rs:{handler}")
            && places[..at]
                .iter()
                .rev()
                .find(|place| place.starts_with("src/c"))
                .is_some_and(|last| is(last, entered) || is(last, entered + 1))
            && places[at..]
                .iter()
                .find(|place| place.starts_with("src/c"))
                .is_some_and(|next| is(next, entered))
    })
}

/// Statements of the timer's handler and of the other one, and of what these call, have their interrupts; those of the
/// program have none.
#[track_caller]
fn assert_in_interrupts(firmware: &Firmware, timer: &str, timer_number: u64, other: &str, number: u64) {
    let printed = report(&firmware.directory).args("dump.bin --format json").succeed().stdout;
    let source = firmware.directory.join("src/event_handlers.rs");
    let timer_line = u64::from(line_of(&source, &format!("fn {timer}()"))) + 1;
    let other_line = u64::from(line_of(&source, &format!("fn {other}()"))) + 1;
    let mut seen = [0; 4];
    for line in printed.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if entry["kind"] != "statement" {
            continue;
        }
        let (file, line) = (entry["file"].as_str().expect("a path"), entry["line"].as_u64().expect("a line"));
        let interrupt = entry["interrupt"].as_u64().unwrap_or(0);
        let handler = |first: u64| file == "src/event_handlers.rs" && (first..first + 2).contains(&line);
        let (kind, right) = match file {
            _ if handler(timer_line) => (0, interrupt == timer_number),
            _ if handler(other_line) => (1, interrupt == number),
            // The program enters it, and so does the handler.
            "src/crit_section.rs" => (2 + usize::from(interrupt != 0), [0, number].contains(&interrupt)),
            "src/main.rs" => (2, interrupt == 0),
            _ => continue,
        };
        assert!(right, "{file}:{line} in interrupt {interrupt}");
        seen[kind] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    // The listing for people and the columns name them.
    let listing = report(&firmware.directory).args("dump.bin --thread").succeed().stdout;
    // The vector table of a Cortex-M has the names; on RISC-V the program gives numbers.
    let name = if other == "PendSV" { " PendSV" } else { "" };
    assert!(listing.contains(&format!("\tring-1 interrupt {number}{name}\n")), "{listing}");
    let columns = report(&firmware.directory).args("dump.bin --lanes").succeed().stdout;
    assert!(columns.contains(&format!("ring-1 interrupt {number}{name}\n")), "{columns}");
}

fn crash(board: &'static Board, fault: &str) {
    for (feature, word) in [("fault", "fault at 0x"), ("panic", "index out of bounds")] {
        let firmware = Firmware::sample(board, feature);
        let printed = firmware.run();
        assert!(printed.contains(word), "{printed}");
        // `6:8`: id of a file, and a line.
        let place = |line: &str| -> Option<(u64, u32)> {
            let (file, line) = line.trim().split_once(':')?;
            Some((file.parse().ok()?, line.parse().ok()?))
        };
        let places: Vec<(u64, u32)> = printed.lines().filter_map(place).collect();
        let mistakes = file_id(&firmware, "src/mistakes.rs");
        let source = firmware.directory.join("src/mistakes.rs");
        let fatal = line_of(&source, if feature == "panic" { "list[index]" } else { fault });
        // Handlers may have run behind it.
        let last = places.iter().rev().find(|(file, _)| *file == mistakes);
        assert_eq!(last, Some(&(mistakes, fatal)), "{printed}");
    }
}

/// The id of a file in the map.
fn file_id(firmware: &Firmware, path: &str) -> u64 {
    let map = std::fs::read_to_string(firmware.directory.join("target/xhist/xhist.map")).expect("the map");
    let lines = map.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let mut ids = lines.filter(|line| line["path"] == path).filter_map(|line| line["file"].as_u64());
    ids.next().expect("its id")
}

/// While a frame is closed and the next one opened, at each instruction: a dump has the history of the previous dump, or
/// one statement more.
fn any_step(board: &'static Board) {
    let frames = tries("XHIST_FRAMES_STEPPED", 1, 10);
    let firmware = Firmware::sample(board, "");
    let commit = address(&firmware, "set_state");
    let (start, len) = firmware.ring();
    let mut machine = firmware.start(&[]);
    machine.ask("?");
    let (mut steps, mut more, mut closed) = (0, 0, 0);
    for _ in 0..frames {
        // Soon after the start: once it hangs, all frames are the same and none is closed.
        let start = loop {
            machine.ask(&format!("Z0,{commit:x},2"));
            machine.ask("c");
            machine.ask(&format!("z0,{commit:x},2"));
            // With two rings, the one that is written.
            let image = machine.memory(start, len);
            let mut rings =
                qs_core::ring::find(&image).filter_map(|found| Some((found.offset, found.header.ok()?)));
            let ring = rings.find(|(_, header)| !header.flags.has(qs_core::ring::Flags::EARLIER));
            let (offset, header) = ring.expect("a ring");
            if header.state.open().is_some() {
                break start + offset as u32;
            }
            machine.ask("s");
        };
        let look = |machine: &mut Machine| {
            let image = machine.memory(start, 64 + 4096);
            let [ring] = &recorded(&image)[..] else { panic!("one ring") };
            let statements = &ring.whole("a dump").statements;
            (statements[statements.len().saturating_sub(40)..].to_vec(), ring.header.state.head())
        };
        let mut before = look(&mut machine);
        let until = (more + 1, closed + 1);
        for _ in 0..3_000 {
            if more >= until.0 && closed >= until.1 {
                break;
            }
            machine.ask("s");
            let now = look(&mut machine);
            let is_more = now.0 != before.0;
            let grown = now.0.split_last().is_some_and(|(_, old)| before.0.ends_with(old));
            assert!(!is_more || grown, "{:?} behind {:?}", now.0, before.0);
            steps += 1;
            more += usize::from(is_more);
            closed += usize::from(now.1 != before.1);
            before = now;
        }
    }
    println!("{steps} instructions, {more} statements, {closed} frames closed");
    assert!(more >= frames && closed >= frames);
}

fn risc_v() {
    let firmware = Firmware::sample(&RISC_V, "");
    let (start, len) = firmware.ring();
    let mut machine = firmware.start(&COUNTED);
    machine.ask("?");
    machine.run_until("the critical section is entered twice", |machine| {
        std::fs::write(firmware.directory.join("dump.bin"), machine.memory(start, len)).expect("written");
        let text = report(&firmware.directory).args("dump.bin").succeed().stdout;
        is_entered_twice(&firmware, &text).then_some(())
    });
    assert_in_interrupts(&firmware, "tick", 7, "count", 3);
}

fn reset() {
    let firmware = Firmware::sample(&CORTEX_M, "watchdog");
    let file = firmware.directory.join("earlier.bin");
    let _ = std::fs::remove_file(&file);
    // Where it hangs depends on its clock, and so does how much it has recorded by then.
    let mut machine = firmware.start(&COUNTED);
    machine.say("c");
    assert!(machine.wait(Duration::from_secs(60)), "it hangs, starts again, and prints");
    let text = report(&firmware.directory).args("earlier.bin").succeed().stdout;
    let places = Listing::parse(&text).places();
    assert!(places.iter().any(|place| place.starts_with("src/crit_section.rs:")), "{} entries", places.len());
    let printed = report(&firmware.directory).args("earlier.bin --format json --last 1").succeed().stdout;
    assert!(printed.contains("before the reset"), "{printed}");
    // In one dump with the ring that is written now, it comes first, wherever it lies.
    let mut both = std::fs::read(&file).expect("the ring");
    both[15] &= !qs_core::ring::Flags::EARLIER.0;
    let word = |at: usize| u32::from_le_bytes(both[at..at + 4].try_into().expect("four bytes"));
    let check = qs_core::ring::check_word([word(8), word(12), word(16) & 0xFFFF, word(20)]);
    both[36..40].copy_from_slice(&check.to_le_bytes());
    both.extend(std::fs::read(&file).expect("the ring"));
    std::fs::write(firmware.directory.join("both.bin"), both).expect("written");
    let printed = report(&firmware.directory).args("both.bin --format json").succeed().stdout;
    let (first, second) = (printed.find("\"n\":1,\"ring\":2").is_some(), printed.rfind("\"ring\":1,"));
    assert!(first && second > printed.rfind("\"ring\":2,"), "the earlier run comes first");
    // Half of it is overwritten meanwhile: that is reported, and the rest is read.
    let mut image = std::fs::read(&file).expect("the ring");
    let header = qs_core::ring::Header::parse(&image).expect("a header");
    // In the middle of its history, which is short when it hung early.
    let held = header.state.head().min(header.size as u64);
    let middle = header.header_len + (header.state.head() - held / 2) as usize % header.size;
    let image_len = image.len();
    let end = image_len.min(middle + 60);
    image[middle..end].fill(0xA5);
    std::fs::write(&file, image).expect("written");
    let done = report(&firmware.directory).args("earlier.bin").done();
    let place = format!("byte {middle} of {image_len}, {held} of history: {}", done.summary());
    assert!(done.code() == 1 && done.stderr.contains("damage"), "{place}");
}

fn live() {
    let firmware = Firmware::sample(&CORTEX_M, "link");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let mut machine = firmware.start(&[COUNTED[0], COUNTED[1], "-serial", &format!("tcp:127.0.0.1:{port}")]);
    let (link, _) = listener.accept().expect("the UART");
    link.set_read_timeout(Some(Duration::from_millis(50))).expect("a limit");
    machine.say("c");
    let mut host = BoardHost { link, decoder: Decoder::default(), seq: 0 };
    host.wait_for("statements", 122);
    // All of the application's records on, statements off.
    host.filter([0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF, 0xFF, 0x00]);
    host.wait_for("a record of the application", 100);
    host.wait_until_silent("statements", 122);
    // And the other way round.
    host.filter([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0F]);
    host.wait_for("statements again", 122);
    host.wait_until_silent("records of the application", 100);
}

/// The host's end of the UART.
struct BoardHost {
    link: TcpStream,
    decoder: Decoder,
    seq: u8,
}

impl BoardHost {
    /// The id of the next record.
    #[track_caller]
    fn next(&mut self) -> u8 {
        let mut byte = [0];
        let mut silent = 0;
        while silent < 400 {
            match self.link.read(&mut byte) {
                Ok(0) => panic!("the firmware has gone"),
                Ok(_) => match self.decoder.push(byte[0]) {
                    Outcome::More => {}
                    Outcome::Damaged(cause) => panic!("{cause}"),
                    Outcome::Frame(frame) => return frame.id,
                },
                Err(_) => silent += 1,
            }
        }
        panic!("nothing comes");
    }

    #[track_caller]
    fn wait_for(&mut self, what: &str, id: u8) {
        assert!((0..5_000).any(|_| self.next() == id), "no {what}");
    }

    /// Waits for twenty records in a row without this one: the first may have been on their way.
    #[track_caller]
    fn wait_until_silent(&mut self, what: &str, id: u8) {
        let is_silent = (0..10).any(|_| (0..20).filter(|_| self.next() == id).count() == 0);
        assert!(is_silent, "{what} still come");
    }

    /// Sets the global filter, and waits until that is acknowledged.
    #[track_caller]
    fn filter(&mut self, bits: [u8; 16]) {
        self.seq += 1;
        let mut frame = Vec::new();
        let payload = [[16].as_slice(), &bits].concat();
        FrameWriter::new(self.seq, 10, |byte| frame.push(byte)).bytes(&payload).finish();
        self.link.write_all(&frame).expect("sent");
        self.wait_for("an acknowledgement", 66);
    }
}

/// The most instructions that ran between masking interrupts and no longer masking them.
fn longest_masked(firmware: &Firmware, disassembly: &str) -> usize {
    const INSTRUCTIONS: usize = 2_000_000;
    let places = |word: &str| -> BTreeSet<u32> {
        let lines = disassembly.lines().filter(|line| line.contains(word));
        lines.filter_map(|line| u32::from_str_radix(line.trim().split(':').next()?, 16).ok()).collect()
    };
    let (mask, unmask) = (places("\tcpsid\ti"), places("\tmsr\tPRIMASK"));
    let (mut since, mut longest, mut all) = (None, 0, 0);
    firmware.trace(|address| {
        all += 1;
        if let (Some(count), true) = (since, unmask.contains(&address)) {
            longest = longest.max(count);
            since = None;
        } else if since.is_none() && mask.contains(&address) {
            since = Some(0);
        } else {
            since = since.map(|count| count + 1);
        }
        all < INSTRUCTIONS
    });
    assert_eq!(all, INSTRUCTIONS);
    longest
}

/// What the README says, on the program itself.
fn cost() {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let disassembly = disassembly(&firmware);
    let function = |label: &str| disassembly.split("\n\n").find(|text| text.contains(label)).expect(label);
    let short = function("record_near>:");
    let words: Vec<&str> = short.lines().skip(1).filter_map(|line| line.split('\t').nth(1)).collect();
    let masked = words.iter().position(|word| word.starts_with("cpsid")).expect("interrupts are masked");
    let open = words.iter().position(|word| word.starts_with("msr")).expect("and no longer");
    let end = words[open..]
        .iter()
        .position(|word| word.starts_with("pop") || word.starts_with("bx"))
        .expect("the end");
    // The constant and the call are two more.
    let (all, masked) = (open + end + 1 + 2, open - masked - 1);
    println!("{all} instructions a statement, {masked} of them masked");
    assert!(all <= 25 && masked <= 12, "{all} instructions, {masked} masked");
    let longest = longest_masked(&firmware, &disassembly);
    println!("at most {longest} instructions masked at a stretch");
    assert!(longest > 0);
    let frame = function("record_slow>:").split("sub\tsp, #").nth(1).and_then(|rest| rest.split('\t').next());
    println!("{} bytes of stack in the long path, and registers", frame.unwrap_or("no").trim());
    assert!(longest <= 40, "{longest} instructions masked");

    // A call and the constant before it; what the program loses around a call is not in it.
    let lines: Vec<&str> = disassembly.lines().collect();
    let address =
        |line: &str| u32::from_str_radix(line.trim().split(':').next().unwrap_or_default(), 16).ok();
    let is_call =
        |line: &str| line.contains("record_near>") && (line.contains("\tbl\t") || line.contains("\tb.w\t"));
    let sizes = lines.windows(2).filter(|pair| is_call(pair[1]));
    let sizes: Vec<u32> = sizes.filter_map(|pair| Some(address(pair[1])? + 4 - address(pair[0])?)).collect();
    let each = f64::from(sizes.iter().sum::<u32>()) / sizes.len() as f64;
    println!("{each:.1} bytes of flash a statement, of {}", sizes.len());
    assert!(each <= 8.0, "{each} bytes");

    // The sample keeps a ring across a reset.
    for (what, firmware, limit) in
        [("with what `keep` adds", firmware, 2700), ("without", Firmware::sample(&CORTEX_M, ONE_RING), 2345)]
    {
        let (flash, ram) = sizes_of(&firmware, "8xhist_rt");
        println!("recorder: {flash} bytes of flash {what}, {ram} of RAM beside the ring");
        assert!(flash <= limit && ram <= 64, "{flash} bytes of flash, {ram} of RAM");
    }
    if let Some(elf) = std::env::var_os("XHIST_METAL_BESIDE") {
        cost_beside::beside(&Firmware::other(&CORTEX_M, elf.into()));
    }
}

fn disassembly(firmware: &Firmware) -> String {
    let objdump = Command::new("arm-none-eabi-objdump")
        .args(["-d", "-C", "--no-show-raw-insn"])
        .arg(&firmware.elf)
        .output()
        .expect("objdump");
    String::from_utf8_lossy(&objdump.stdout).into_owned()
}

/// Bytes of flash and of RAM of what has such a name.
fn sizes_of(firmware: &Firmware, part_of_name: &str) -> (u64, u64) {
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let is_named =
        |symbol: &object::Symbol<'_, '_>| symbol.name().is_ok_and(|name| name.contains(part_of_name));
    let sizes = |is_ram: bool| {
        let named = elf.symbols().filter(is_named);
        named.filter(|symbol| (symbol.address() >= 0x2000_0000) == is_ram).map(|symbol| symbol.size()).sum()
    };
    (sizes(false), sizes(true))
}
