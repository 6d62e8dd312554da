//! Dumps at any instruction: the newest statement is the one that the registers of the core show.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use object::{Object, ObjectSymbol};
use qs_core::record::Statement;
use qs_core::ring::Flags;
use xhist_tests::{
    CORTEX_M, COUNTED, Firmware, Listing, Machine, Need, ONE_RING, Tree, finding_recorder, is_long, recorded,
    report, repository, tries,
};

use super::{LR, PC, address, file_id};

/// From here on, a return address is a code: the core goes back to what it was interrupted in.
const EXCEPTION_RETURN: u32 = 0xFFFF_FF00;

/// The id of a file, and a line of it.
type MapPlace = (u64, u32);

/// A statement under way: the word that it is recorded by, and where the call returns to.
#[derive(Clone, Copy)]
struct Begun {
    word: u32,
    back: u32,
    /// A statement of a handler was recorded since: behind this one or ahead of it.
    is_overtaken: bool,
}

impl Begun {
    /// Its place, from page and code, as the fast path takes them.
    fn place(self) -> MapPlace {
        let (page, code) = (self.word >> 7, self.word & 0x7F);
        (u64::from(page >> 4), (page & 15) * 96 + code - 0x20)
    }
}

/// What the core has recorded and is recording, by its registers.
struct AtHand {
    /// The address of the fast path.
    record: u32,
    /// What the newest recorded statement may be: two if a handler came in. At first, what it is before the first instruction.
    newest: Vec<Option<MapPlace>>,
    open: Vec<Begun>,
    done: Option<Begun>,
}

impl AtHand {
    fn new(record: u32, before: Option<MapPlace>) -> AtHand {
        AtHand { record, newest: vec![before], open: Vec::new(), done: None }
    }

    /// The core is at this instruction.
    fn step(&mut self, pc: u32, first_argument: u32, return_address: u32) {
        // A handler's last statement is recorded by a jump, which returns from the exception.
        let inner = self.open.iter().rposition(|begun| begun.back < EXCEPTION_RETURN);
        if pc == self.record {
            self.open.push(Begun { word: first_argument, back: return_address & !1, is_overtaken: false });
        } else if let Some(inner) = inner.filter(|inner| self.open[*inner].back == pc) {
            // Nothing shows when these were done.
            let unseen = self.open.drain(inner + 1..).next_back();
            let done = self.open.pop().expect("it is open");
            let is_first = !done.is_overtaken && unseen.is_none();
            let earlier = if is_first { Vec::new() } else { std::mem::take(&mut self.newest) };
            let unseen = unseen.map(Begun::place);
            self.newest = [Some(done.place())].into_iter().chain(unseen.map(Some)).chain(earlier).collect();
            self.open.iter_mut().for_each(|begun| begun.is_overtaken = true);
            self.done = Some(done);
        }
    }

    /// What the newest statement of a dump may be now: also one that is recorded and has not returned.
    fn may_be_newest(&self) -> Vec<Option<MapPlace>> {
        let unseen = self.open.iter().rev().take_while(|begun| begun.back >= EXCEPTION_RETURN).count();
        let innermost = self.open.iter().rev().take(unseen + 1);
        let interrupted = self.open.iter().filter(|begun| !begun.is_overtaken);
        let open = innermost.chain(interrupted).map(|begun| Some(begun.place()));
        self.newest.iter().copied().chain(open).collect()
    }
}

/// In QEMU, whose debugger's port takes a while for each step.
pub(super) fn any_instruction() {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let dumps = tries("XHIST_DUMPS", 8, 200);
    let record = address(&firmware, "record_near");
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
        let mut at_hand = AtHand::new(record, Some(last_place(&firmware, &mut machine, ring)));
        for step in 0..=random.usize(0..300) {
            if step > 0 {
                machine.ask("s");
            }
            at_hand.step(machine.register(PC), machine.register(0), machine.register(LR));
        }
        let (pc, last) = (machine.register(PC), Some(last_place(&firmware, &mut machine, ring)));
        let expected = at_hand.may_be_newest();
        assert!(expected.contains(&last), "{last:?} at {pc:#x}, expected one of {expected:?}");
        if let Some(done) = at_hand.done {
            completed += 1;
            let table = lines_at(&firmware, done.back - 2);
            let line = done.place().1;
            assert!(table.contains(&format!(":{line}\n")), "{line} by the line table: {table}");
        }
    }
    println!("{dumps} dumps, {completed} of them behind a statement");
}

/// In LabWired, which simulates an STM32F401: at each of its instructions from the second statement on.
/// The first one lays out the ring, which takes some thousands.
pub(super) fn every_instruction() {
    let count = tries("XHIST_INSTRUCTIONS", 20_000, 200_000);
    let project = repository().join("tests/fixtures/stm32f401");
    let project = Tree::kept("stm32f401", &project, finding_recorder);
    // A recorder of its own has the time, too: the chip counts cycles.
    let time = if is_long() { "on" } else { "off" };
    let cargo = CORTEX_M.cargo(project.path(), "xhist build --quiet").env("XHIST_TIME", time);
    cargo.limit(Duration::from_secs(500)).succeed();
    let firmware =
        Firmware::other(&CORTEX_M, project.join("target/xhist/build/thumbv7m-none-eabi/release/pulse"));
    let record = address(&firmware, "record_near");
    // The project has no link-time optimisation.
    let elf = std::fs::read(&firmware.elf).expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let is_called =
        elf.symbols().any(|symbol| symbol.name().is_ok_and(|name| name.contains("statement4near")));
    assert!(!is_called, "what a statement passes on is a constant");
    let (start, len) = firmware.ring();
    let mut steps = Command::new(Need::labwired().expect("LabWired"));
    steps.arg(repository().join("tests/labwired/steps.py")).arg(&firmware.elf).arg("nucleo-f401re");
    steps.args([record as usize, start as usize, len, count].map(|number| number.to_string()));
    let mut steps = steps.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut output = std::io::BufReader::new(steps.stdout.take().expect("a pipe"));
    let mut memory = vec![0; len];
    let seen = check_each(record, count, || {
        let mut words = [0; 13];
        output.read_exact(&mut words).expect("registers");
        if words[12] != 0 {
            output.read_exact(&mut memory).expect("the ring");
        }
        let word = |at: usize| u32::from_le_bytes(words[at..at + 4].try_into().expect("four bytes"));
        let registers = [word(0), word(4), word(8)];
        (registers, (words[12] != 0).then(|| newest_place(&memory)))
    });
    steps.wait().expect("it ends");
    assert!(seen.begun > count / 200 && seen.in_handlers.len() > 1);
    std::fs::write(project.join("dump.bin"), &memory).expect("written");
    let json = report(project.path()).args("dump.bin --format json").done().stdout;
    assert_eq!(json.contains("\"ticks\":"), is_long(), "{json}");
}

/// The same in QEMU, from the second statement on.
pub(super) fn every_instruction_in_qemu() {
    let count = tries("XHIST_INSTRUCTIONS", 10_000, 50_000);
    let firmware = Firmware::sample(&CORTEX_M, ONE_RING);
    let record = address(&firmware, "record_near");
    let (start, len) = firmware.ring();
    let mut machine = firmware.start(&COUNTED);
    machine.ask("?");
    // Timers and interrupts go on in single steps.
    assert_eq!(machine.ask("Qqemu.sstep=1"), "OK");
    machine.ask(&format!("Z0,{record:x},2"));
    machine.ask("c");
    machine.ask("s");
    machine.ask("c");
    machine.ask(&format!("z0,{record:x},2"));
    let mut memory = Vec::new();
    let mut is_first = true;
    let seen = check_each(record, count, || {
        if !std::mem::take(&mut is_first) {
            machine.ask("s");
        }
        let now = machine.memory(start, len);
        let is_new = std::mem::replace(&mut memory, now) != memory;
        let registers = machine.registers();
        let registers = [registers[0], registers[usize::from(LR)], registers[usize::from(PC)]];
        (registers, is_new.then(|| newest_place(&memory)))
    });
    // The first statements of each page take some hundred instructions.
    assert!(seen.begun > count / 100 && !seen.in_handlers.is_empty());
}

/// What was seen on the way.
struct Seen {
    /// Statements that were begun.
    begun: usize,
    /// Where handlers came in.
    in_handlers: BTreeSet<MapPlace>,
}

/// At each of `count` instructions, the newest statement in memory is the one that the registers show. `next` gives R0, LR and
/// PC, and the newest statement if memory has changed.
fn check_each(
    record: u32,
    count: usize,
    mut next: impl FnMut() -> ([u32; 3], Option<Option<MapPlace>>),
) -> Seen {
    let (mut newest, mut at_hand) = (None, None);
    let mut seen = Seen { begun: 0, in_handlers: BTreeSet::new() };
    for step in 0..count {
        let ([argument, back, pc], changed) = next();
        let pc = pc & !1;
        newest = changed.unwrap_or(newest);
        let at_hand = at_hand.get_or_insert_with(|| AtHand::new(record, newest));
        at_hand.step(pc, argument, back);
        if pc == record {
            seen.begun += 1;
            seen.in_handlers.extend((at_hand.open.len() > 1).then(|| at_hand.open[0].place()));
        }
        let expected = at_hand.may_be_newest();
        assert!(
            expected.contains(&newest),
            "{newest:?} at {pc:#x}, instruction {step}, expected one of {expected:?}"
        );
    }
    println!("{count} instructions, {} statements, handlers came in at {:?}", seen.begun, seen.in_handlers);
    seen
}

/// The place of the newest statement of the ring that is written, if it is laid out.
fn newest_place(image: &[u8]) -> Option<MapPlace> {
    let rings = recorded(image);
    let ring = rings.iter().find(|ring| !ring.header.flags.has(Flags::EARLIER))?;
    let Statement { file, line } = *ring.whole("a dump").statements.last()?;
    Some((file.into(), line.into()))
}

/// File id and line of the newest statement in the ring.
#[track_caller]
fn last_place(firmware: &Firmware, machine: &mut Machine, (start, len): (u32, usize)) -> (u64, u32) {
    std::fs::write(firmware.directory.join("step.bin"), machine.memory(start, len)).expect("written");
    let text = report(&firmware.directory).args("step.bin --last 1").succeed().stdout;
    let [last] = &Listing::parse(&text).only_statements().0[..] else { panic!("one line: {text}") };
    (file_id(firmware, &last.path), last.line)
}

/// What the line table says of an address, with what was inlined there.
fn lines_at(firmware: &Firmware, address: u32) -> String {
    let mut table = Command::new("arm-none-eabi-addr2line");
    table.args(["-i", "-e"]).arg(&firmware.elf).arg(format!("{address:#x}"));
    let text = String::from_utf8_lossy(&table.output().expect("addr2line").stdout).into_owned();
    // `file:12 (discriminator 3)`
    text.lines().map(|line| format!("{}\n", line.split(' ').next().unwrap_or_default())).collect()
}
