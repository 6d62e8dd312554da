//! Packed statements: one frame for a run of statements, mostly one byte each.
//!
//! The wire-format page of the repository describes the layout. The recorder and all readers take its constants from this
//! file.

use byteorder::{ByteOrder as _, LittleEndian};

use super::Statement;
use super::element::Data;
pub use super::operand::digits;
use super::operand::{number, whole_number};
use super::value::RecordedValue;
use super::xhist::{FORMAT_FILE, FORMAT_U16, file};
use crate::frame::FLAG;

/// Number of lines in a window. A statement's byte is an offset from the window's first line.
pub const WINDOW: u16 = 96;
/// Number of pages that a frame can select by number.
pub const PAGES: usize = 16;
/// Largest number of bytes of data in a frame of a recorder.
pub const MAX_DATA: usize = 240;
/// Largest number of bytes that closing a frame adds: repetition, end, checksum, flag.
pub const TRAILER: usize = 16;
/// Largest number of bytes before the data, if all are escaped.
pub const MAX_HEADER: usize = 24;
/// Format byte of the block of memory that holds the data.
const FORMAT_MEM: u8 = Data::Memory.format(0);

/// Bytes of data. A step begins with a byte of 0x80 or more. Lower bytes are operands of the step before them.
pub mod step {
    /// Not written yet. An open frame ends here.
    pub const FREE: u8 = 0x00;
    /// Not a step. An open frame ends here, too.
    pub const END: u8 = 0x80;
    /// Selects a page and stores it under a number: `number, file, base`.
    pub const PAGE: u8 = 0x81;
    /// Ticks since the last time in this frame: `ticks`.
    pub const TIME: u8 = 0x82;
    /// The previous frames repeat: `frames, times`.
    pub const REPEAT: u8 = 0x83;
    /// Not a step. An open frame continues.
    pub const SKIP: u8 = 0x84;
    /// The following statements ran in this interrupt: `number`. 0 = no interrupt, as at the start of a frame.
    pub const INTERRUPT: u8 = 0x85;
    /// The bytes of a variable, which belong behind the statement before them. See
    /// [`RecordedValue::operands`](super::RecordedValue::operands).
    pub const VALUE: u8 = 0x86;
    /// Plus a number: selects the page with this number.
    pub const RECENT: u8 = 0x90;
    /// Plus an offset: the statement in this line of the window.
    pub const STATEMENT: u8 = 0xA0;
}

/// A window of lines of one file. Its statements differ in one byte only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Page {
    /// File id.
    pub file: u16,
    /// First line of the window.
    pub base: u16,
}

impl Page {
    /// The page of a statement, as recorders choose it.
    #[inline]
    pub const fn of(statement: Statement) -> Page {
        Page { file: statement.file, base: statement.line - statement.line % WINDOW }
    }

    /// The statement of a byte of data. `None` for other bytes.
    #[inline]
    pub const fn statement(self, byte: u8) -> Option<Statement> {
        match byte.checked_sub(step::STATEMENT) {
            Some(line) => Some(Statement { file: self.file, line: self.base.wrapping_add(line as u16) }),
            None => None,
        }
    }
}

/// The byte of a statement on its page.
#[inline]
pub const fn code(statement: Statement) -> u8 {
    step::STATEMENT + (statement.line % WINDOW) as u8
}

/// The payload of a packed frame before its data, as bytes and their count. `len` is the length of the data. Further bytes
/// are zero.
#[inline(always)]
pub const fn payload_head(time: u32, page: Page, len: u8) -> ([u8; 12], usize) {
    let [t0, t1, t2, t3] = time.to_le_bytes();
    let ([f0, f1], [b0, b1]) = (page.file.to_le_bytes(), page.base.to_le_bytes());
    match f1 {
        0 => ([t0, t1, t2, t3, FORMAT_FILE, f0, FORMAT_U16, b0, b1, FORMAT_MEM, len, 0], 11),
        _ => ([t0, t1, t2, t3, FORMAT_U16, f0, f1, FORMAT_U16, b0, b1, FORMAT_MEM, len], 12),
    }
}

/// A packed frame, open or closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed<'a> {
    /// Low 4 bytes of the clock when the frame was opened. 0 without a clock.
    pub time: u32,
    /// Page of the first statement.
    pub page: Page,
    /// The steps.
    pub data: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Reads a payload. `None` if it has another layout.
    pub fn parse(payload: &'a [u8]) -> Option<Packed<'a>> {
        let (time, rest) = payload.split_at_checked(4)?;
        let (file, rest) = file(rest)?;
        let &[FORMAT_U16, b0, b1, FORMAT_MEM, len, ref data @ ..] = rest else { return None };
        (data.len() == usize::from(len)).then_some(Packed {
            time: LittleEndian::read_u32(time),
            page: Page { file, base: LittleEndian::read_u16(&[b0, b1]) },
            data,
        })
    }

    /// The repetition of earlier frames, if the data has one.
    pub fn repetition(&self) -> Option<FrameRepetition> {
        let mut steps = Steps::new(self.page);
        let mut at = 0;
        while let Some(step) = steps.next(self.data, &mut at) {
            if let Step::Repetition(repetition) = step {
                return Some(repetition);
            }
        }
        None
    }
}

/// A repetition of frames: they ran again and were not written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRepetition {
    /// Number of frames that repeat, in turn.
    pub frames: u64,
    /// Number of repetitions.
    pub times: u64,
}

/// A decoded step of a packed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A statement ran.
    Statement(Statement),
    /// Ticks since the last time in the frame.
    Time(u64),
    /// Earlier frames repeat, before this one.
    Repetition(FrameRepetition),
    /// The bytes of a variable.
    Value(RecordedValue),
}

/// Walks the data of a frame. It borrows nothing, so a reader can store it beside the bytes.
#[derive(Clone, Debug)]
pub struct Steps {
    page: Page,
    interrupt: u16,
    pages: [Page; PAGES],
}

impl Steps {
    /// The state at the start of a frame. `page` is its first page, with number 0.
    pub const fn new(page: Page) -> Steps {
        let mut pages = [Page { file: 0, base: 0 }; PAGES];
        pages[0] = page;
        Steps { page, interrupt: 0, pages }
    }

    /// The interrupt of the newest statement. 0 = no interrupt, or not recorded.
    pub const fn interrupt(&self) -> u16 {
        self.interrupt
    }

    /// The next step at `at`, which moves behind it. `None` at the end. Skips unknown bytes, which a newer recorder may write.
    pub fn next(&mut self, data: &[u8], at: &mut usize) -> Option<Step> {
        loop {
            let byte = *data.get(*at)?;
            *at += 1;
            match byte {
                step::STATEMENT.. => return self.page.statement(byte).map(Step::Statement),
                step::RECENT.. => self.page = self.pages[usize::from(byte - step::RECENT) % PAGES],
                step::PAGE => {
                    let number = number(data, at) as usize % PAGES;
                    let (file, base) = (number_u16(data, at), number_u16(data, at));
                    self.page = Page { file, base };
                    self.pages[number] = self.page;
                }
                step::INTERRUPT => self.interrupt = number_u16(data, at),
                step::TIME => return Some(Step::Time(number(data, at))),
                step::REPEAT => {
                    let (frames, times) = (number(data, at), number(data, at));
                    return Some(Step::Repetition(FrameRepetition { frames, times }));
                }
                step::VALUE => {
                    if let Some(value) = RecordedValue::from_operands(data, at) {
                        return Some(Step::Value(value));
                    }
                }
                _ => {}
            }
        }
    }

    /// Length of what is written so far in an open frame, whose bytes go on behind it.
    pub fn written(data: &[u8]) -> usize {
        let ends = |at: &usize| match data[*at] {
            step::FREE => true,
            step::END | step::REPEAT => is_trailer(&data[*at..]),
            _ => false,
        };
        (0..data.len()).find(ends).unwrap_or(data.len())
    }

    /// Where the steps end that a recorder can have written, from `at` on. `known`: a bit for each number that has a page. The
    /// last step may be half written.
    pub fn sound(data: &[u8], mut at: usize, mut known: u16) -> usize {
        while let Some(byte) = data.get(at) {
            let start = at;
            at += 1;
            let is_sound = match *byte {
                step::STATEMENT.. => true,
                step::RECENT.. => known >> (byte - step::RECENT) & 1 == 1,
                step::END | step::REPEAT | ..step::END => false,
                _ => has_operands(*byte, data, &mut at, &mut known) || at >= data.len(),
            };
            if !is_sound {
                return start;
            }
        }
        at
    }
}

/// Whether this may be how a recorder closes a frame: from the first byte behind the steps on.
fn is_trailer(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(TRAILER)];
    let Some(flag) = bytes.iter().position(|byte| *byte == FLAG) else { return bytes.len() < TRAILER };
    // The checksum may be any byte, and have an escape before it.
    let steps = bytes[..flag.saturating_sub(2)].iter();
    steps.into_iter().all(|byte| matches!(*byte, step::END | step::REPEAT | 0x01..=0x40))
}

/// Whether a step has its operands, and they are such as a recorder writes.
fn has_operands(step: u8, data: &[u8], at: &mut usize, known: &mut u16) -> bool {
    let mut up_to = |most: u16| {
        let number = u16::try_from(whole_number(data, at)?).ok()?;
        (number <= most).then_some(number)
    };
    match step {
        step::PAGE => {
            let (number, file, base) = (up_to(PAGES as u16 - 1), up_to(u16::MAX), up_to(u16::MAX));
            *known |= number.map_or(0, |number| 1 << number);
            file.is_some() && base.is_some_and(|base| base.is_multiple_of(WINDOW)) && number.is_some()
        }
        step::INTERRUPT => up_to(u16::MAX).is_some(),
        step::TIME => whole_number(data, at).is_some(),
        step::VALUE => RecordedValue::from_operands(data, at).is_some(),
        step::SKIP => true,
        // Steps of a newer recorder may have any operands.
        _ => {
            while whole_number(data, at).is_some() {}
            true
        }
    }
}

fn number_u16(data: &[u8], at: &mut usize) -> u16 {
    number(data, at) as u16
}
