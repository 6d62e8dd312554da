//! Does firmware without an operating system leave a history, whatever becomes of it?

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use object::{Object, ObjectSymbol};
use qs_core::frame::{Decoder, FrameWriter, Outcome};
use xhist_tests::{
    CORTEX_M, Case, Firmware, Listing, Machine, Need, RISC_V, Run, line_of, report, repository,
};

const NEEDS: &[Need] = &[Need::Firmware];

pub const CASES: &[Case] = &[
    Case::needing("a_hung_core_shows_the_listing_of_figure_4", NEEDS, hangs),
    Case::needing("a_hung_risc_v_shows_it_too", &[Need::FirmwareRiscV], risc_v),
    Case::needing("a_dump_at_any_instruction_ends_in_the_statement_at_hand", NEEDS, any_instruction),
    Case::needing("the_run_before_a_reset_is_kept", NEEDS, reset),
    Case::needing("a_host_filters_a_live_link", NEEDS, live),
    Case::needing("the_recorder_is_small_and_short", NEEDS, cost),
];

/// Register numbers.
const LR: u8 = 14;
const PC: u8 = 15;

/// From here on, an address to return to is none: the core goes back to what it was interrupted in.
const EXCEPTION_RETURN: u32 = 0xFFFF_FF00;

/// Lets gdb do this with the halted firmware.
fn gdb(firmware: &Firmware, machine: &Machine, commands: &[&str]) -> String {
    let mut gdb = Run::new("gdb-multiarch", &firmware.directory).args("-batch -nx");
    gdb = gdb.arg("-ex").arg(format!("target remote :{}", machine.port));
    for command in commands {
        gdb = gdb.arg("-ex").arg(command);
    }
    gdb.arg(&firmware.elf).succeed().stdout
}

fn hangs() {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let machine = firmware.start(&[]);
    let (start, len) = firmware.ring();
    let end = start as usize + len;
    // gdb lets it run and halts it, as a person does.
    let told = gdb(
        &firmware,
        &machine,
        &[
            "python import threading; threading.Timer(4, lambda: gdb.post_event(lambda: gdb.execute('interrupt'))).start()",
            "continue",
            "dump binary value dump.bin xhist_rt::bare::memory::XHIST_RING",
            "dump binary memory ram.bin 0x20000000 0x20010000",
            &format!("dump ihex memory dump.hex {start:#x} {end:#x}"),
            &format!("dump srec memory dump.srec {start:#x} {end:#x}"),
            &format!("source {}", repository().join("xhist-report/gdb/xhist.py").display()),
        ],
    );
    drop(told);
    let text = report(&firmware.directory).args("dump.bin").succeed().stdout;
    assert_entered_twice(&firmware, &text);
    for other in ["ram.bin", "dump.hex", "dump.srec"] {
        let same = report(&firmware.directory).args(other).succeed().stdout == text;
        assert!(same, "{other} has the same history");
    }
}

/// The critical section was entered, interrupted by the handler, and entered again before it was left.
#[track_caller]
fn assert_entered_twice(firmware: &Firmware, text: &str) {
    let source = firmware.directory.join("src");
    let entered = line_of(&source.join("crit_section.rs"), "let waiting = read()");
    let handler = line_of(&source.join("event_handlers.rs"), "crit_section::add(1)");
    let places: Vec<String> = Listing::parse(text).places();
    let is = |place: &String, line: u32| *place == format!("src/crit_section.rs:{line}");
    let again = places.iter().enumerate().any(|(at, place)| {
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
    });
    assert!(again, "the critical section was entered twice");
}

fn risc_v() {
    let firmware = Firmware::sample(&RISC_V, "");
    let (start, len) = firmware.ring();
    let mut machine = firmware.start(&[]);
    machine.ask("?");
    machine.run_for(Duration::from_secs(4));
    std::fs::write(firmware.directory.join("dump.bin"), machine.memory(start, len)).expect("written");
    let text = report(&firmware.directory).args("dump.bin").succeed().stdout;
    assert_entered_twice(&firmware, &text);
}

/// A statement under way: the word that it is recorded by, and where the call returns to.
#[derive(Clone, Copy)]
struct Begun {
    word: u32,
    back: u32,
}

impl Begun {
    /// Its line, from the code and the low bits of its page, as the short path takes them.
    fn line(self) -> u32 {
        let (page, code) = (self.word >> 7, self.word & 0x7F);
        (page & 15) * 96 + code - 0x20
    }
}

fn any_instruction() {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let dumps = std::env::var("XHIST_DUMPS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let record = elf.symbols().find(|symbol| symbol.name().is_ok_and(|name| name.contains("record_near")));
    let record = record.expect("the short path").address() as u32 & !1;
    let ring = firmware.ring();
    let mut machine = firmware.start(&[]);
    let mut random = fastrand::Rng::with_seed(7);
    machine.ask("?");
    // The ring is laid out by the first statement.
    machine.run_for(Duration::from_millis(50));
    let mut completed = 0;
    for _ in 0..dumps {
        machine.run_for(Duration::from_millis(random.u64(1..20)));
        machine.ask(&format!("Z0,{record:x},2"));
        machine.ask("c");
        machine.ask(&format!("z0,{record:x},2"));
        let before = last_line(&firmware, &mut machine, ring);
        let (mut open, mut done): (Vec<Begun>, Option<Begun>) = (Vec::new(), None);
        for step in 0..=random.usize(0..120) {
            if step > 0 {
                machine.ask("s");
            }
            let pc = machine.register(PC);
            // A handler's last statement is recorded by a jump, which returns from the exception.
            let inner = open.iter().rposition(|begun| begun.back < EXCEPTION_RETURN);
            if pc == record {
                open.push(Begun { word: machine.register(0), back: machine.register(LR) & !1 });
            } else if let Some(inner) = inner.filter(|inner| open[*inner].back == pc) {
                done = Some(open[inner]);
                open.truncate(inner);
            }
        }
        let (pc, last) = (machine.register(PC), last_line(&firmware, &mut machine, ring));
        let mut expected = vec![done.map_or(before, Begun::line)];
        // Of those nobody sees when they are done.
        let unseen = open.iter().rev().take_while(|begun| begun.back >= EXCEPTION_RETURN).count();
        expected.extend(open.iter().rev().take(unseen + 1).map(|begun| begun.line()));
        if let [.., tail, _] = &open[..]
            && tail.back >= EXCEPTION_RETURN
        {
            expected.push(tail.line());
        }
        assert!(expected.contains(&last), "line {last} at {pc:#x}, expected one of {expected:?}");
        if let Some(done) = done {
            completed += 1;
            let table = lines_at(&firmware, done.back - 2);
            assert!(
                table.contains(&format!(":{}\n", done.line())),
                "{} by the line table: {table}",
                done.line()
            );
        }
    }
    println!("{dumps} dumps, {completed} of them behind a statement");
}

/// The line of the newest statement in the ring.
#[track_caller]
fn last_line(firmware: &Firmware, machine: &mut Machine, (start, len): (u32, usize)) -> u32 {
    std::fs::write(firmware.directory.join("step.bin"), machine.memory(start, len)).expect("written");
    let text = report(&firmware.directory).args("step.bin --last 1").succeed().stdout;
    text.trim().rsplit_once(':').and_then(|(_, line)| line.parse().ok()).expect("a line")
}

/// What the line table says of an address, with what was inlined there.
fn lines_at(firmware: &Firmware, address: u32) -> String {
    let mut table = Command::new("arm-none-eabi-addr2line");
    table.args(["-i", "-e"]).arg(&firmware.elf).arg(format!("{address:#x}"));
    let text = String::from_utf8_lossy(&table.output().expect("addr2line").stdout).into_owned();
    // `file:12 (discriminator 3)`
    text.lines().map(|line| format!("{}\n", line.split(' ').next().unwrap_or_default())).collect()
}

fn reset() {
    let firmware = Firmware::sample(&CORTEX_M, "watchdog");
    let file = firmware.directory.join("earlier.bin");
    let _ = std::fs::remove_file(&file);
    let mut machine = firmware.start(&[]);
    machine.say("c");
    assert!(machine.wait(Duration::from_secs(60)), "it hangs, starts again, and tells");
    let text = report(&firmware.directory).args("earlier.bin").succeed().stdout;
    let places = Listing::parse(&text).places();
    assert!(places.iter().any(|place| place.starts_with("src/crit_section.rs:")), "{} entries", places.len());
    let told = report(&firmware.directory).args("earlier.bin --format json --last 1").succeed().stdout;
    assert!(told.contains("before the reset"), "{told}");
    // Half of it overwritten meanwhile: told, and the rest is read.
    let mut image = std::fs::read(&file).expect("the ring");
    image[64 + 100..64 + 160].fill(0xA5);
    std::fs::write(&file, image).expect("written");
    let done = report(&firmware.directory).args("earlier.bin").done();
    assert!(done.code() == 1 && done.stderr.contains("damage"), "{}", done.stderr);
}

fn live() {
    let firmware = Firmware::sample(&CORTEX_M, "link");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let mut machine = firmware.start(&["-serial", &format!("tcp:127.0.0.1:{port}")]);
    let (link, _) = listener.accept().expect("the UART");
    link.set_read_timeout(Some(Duration::from_millis(50))).expect("a limit");
    machine.say("c");
    let mut host = Host { link, decoder: Decoder::default(), seq: 0 };
    host.wait_for("target info", 64);
    host.wait_for("statements", 122);
    // All of the application's records on, statements off.
    host.filter([0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF, 0xFF, 0x00]);
    host.wait_for("a record of the application", 100);
    let later: Vec<u8> = (0..20).map(|_| host.next()).collect();
    assert!(!later.contains(&122) && later.contains(&100), "{later:?}");
    // And the other way round.
    host.filter([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0F]);
    host.wait_for("statements again", 122);
    let later: Vec<u8> = (0..20).map(|_| host.next()).collect();
    assert!(!later.contains(&100), "{later:?}");
}

/// The host's end of the UART.
struct Host {
    link: TcpStream,
    decoder: Decoder,
    seq: u8,
}

impl Host {
    /// The id of the next record.
    #[track_caller]
    fn next(&mut self) -> u8 {
        let mut byte = [0];
        let mut silent = 0;
        while silent < 400 {
            match self.link.read(&mut byte) {
                Ok(0) => panic!("the firmware has gone"),
                Ok(_) => {
                    if let Outcome::Frame(frame) = self.decoder.push(byte[0]) {
                        return frame.id;
                    }
                }
                Err(_) => silent += 1,
            }
        }
        panic!("nothing comes");
    }

    #[track_caller]
    fn wait_for(&mut self, what: &str, id: u8) {
        assert!((0..5_000).any(|_| self.next() == id), "no {what}");
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

/// What the README says, on the program itself.
fn cost() {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let disassembly = Command::new("arm-none-eabi-objdump")
        .args(["-d", "--no-show-raw-insn"])
        .arg(&firmware.elf)
        .output()
        .expect("objdump")
        .stdout;
    let disassembly = String::from_utf8_lossy(&disassembly).into_owned();
    let short = disassembly
        .split("\n\n")
        .find(|function| function.contains("record_near>:"))
        .expect("the short path");
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

    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let of_recorder = |is_ram: bool| -> u64 {
        let ours = elf.symbols().filter(|symbol| symbol.name().is_ok_and(|name| name.contains("8xhist_rt")));
        ours.filter(|symbol| (symbol.address() >= 0x2000_0000) == is_ram).map(|symbol| symbol.size()).sum()
    };
    let (flash, ram) = (of_recorder(false), of_recorder(true));
    println!("recorder: {flash} bytes of flash, {ram} of RAM beside the ring");
    // With what keeps a ring across a reset, which is some 400 of them.
    assert!(flash <= 2048 + 400 && ram <= 64, "{flash} bytes of flash, {ram} of RAM");
}
