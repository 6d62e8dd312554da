//! Packed statements: one frame for a run of statements, mostly one byte each.
//!
//! `docs/wire-format.md` tells the layout; this file is the only one that knows its numbers, for the recorder
//! and for every reader.

use byteorder::{ByteOrder as _, LittleEndian};

use super::Statement;
use super::element::Data;
use super::xhist::{FORMAT_FILE, FORMAT_U16, file};

/// Lines of a window: a statement's byte counts from the first of them.
pub const WINDOW: u16 = 96;
/// Pages that a frame keeps at hand.
pub const PAGES: usize = 16;
/// Most bytes of data that a recorder puts into a frame before it closes it.
pub const MAX_DATA: usize = 240;
/// Most bytes that closing a frame adds: repeat, end, checksum, flag.
pub const TRAILER: usize = 16;
/// Most bytes before the data, with every one escaped.
pub const MAX_HEADER: usize = 24;
/// Format byte of the block of memory that holds the data.
const FORMAT_MEM: u8 = Data::Memory.format(0);

/// Bytes of data. All that may begin a step is 0x80 or more; what is less belongs to the step before it.
pub mod step {
    /// Not written yet: an open frame ends here.
    pub const FREE: u8 = 0x00;
    /// No step. An open frame ends here as well.
    pub const END: u8 = 0x80;
    /// Goes to a page and keeps it under a number: `number, file, base`.
    pub const PAGE: u8 = 0x81;
    /// Ticks since the last time that this frame told: `ticks`.
    pub const TIME: u8 = 0x82;
    /// The frames before this one came again: `frames, times`.
    pub const REPEAT: u8 = 0x83;
    /// No step, and an open frame goes on.
    pub const SKIP: u8 = 0x84;
    /// What follows ran in the interrupt of this number, 0 for in none, as at the start of a frame: `number`.
    pub const INTERRUPT: u8 = 0x85;
    /// Goes to the page of this number, plus the number.
    pub const RECENT: u8 = 0x90;
    /// The statement in the first line of the window, plus the lines behind that.
    pub const STATEMENT: u8 = 0xA0;
}

/// A window of lines of one file; all statements of a page differ in one byte only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Page {
    /// File id.
    pub file: u16,
    /// First line of the window.
    pub base: u16,
}

impl Page {
    /// The page that a recorder puts a statement on.
    #[inline]
    pub const fn of(statement: Statement) -> Page {
        Page { file: statement.file, base: statement.line - statement.line % WINDOW }
    }

    /// The statement that a byte of data stands for, if it stands for one.
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

/// The bytes of a number behind a step: five bits each, the lowest first, none of them zero or in need of an escape.
pub fn digits(mut value: u64, mut sink: impl FnMut(u8)) {
    const MORE: u8 = 0x20;
    loop {
        let low = 1 + (value & 0x1F) as u8;
        value >>= 5;
        if value == 0 {
            return sink(low);
        }
        sink(low + MORE);
    }
}

/// The payload of a packed frame before its data, in the first so many bytes; `len` is the length of the data. The
/// others are zero.
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
    /// Low 4 bytes of the clock when the frame was opened; 0 without a clock.
    pub time: u32,
    /// Page of the first statement.
    pub page: Page,
    /// The steps.
    pub data: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Reads a payload; `None` when it has another layout.
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

    /// The repetition of earlier frames that the data tells of: how many frames, and how often.
    pub fn repeat(&self) -> Option<Repeat> {
        let mut steps = Steps::new(self.page);
        let mut at = 0;
        while let Some(step) = steps.next(self.data, &mut at) {
            if let Step::Repeat(repeat) = step {
                return Some(repeat);
            }
        }
        None
    }
}

/// Frames that came again and were not written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// How many frames came again, in turn.
    pub frames: u64,
    /// How often all of them came again.
    pub times: u64,
}

/// What a step of a packed frame tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A statement ran.
    Statement(Statement),
    /// Ticks passed since the last time that the frame told.
    Time(u64),
    /// Earlier frames came again, before this one.
    Repeat(Repeat),
}

/// Walks the data of a frame. It borrows nothing, so that a reader can keep it beside the bytes.
#[derive(Clone, Debug)]
pub struct Steps {
    page: Page,
    interrupt: u16,
    pages: [Page; PAGES],
}

impl Steps {
    /// At the start of a frame whose first page is `page`: its number is 0.
    pub const fn new(page: Page) -> Steps {
        let mut pages = [Page { file: 0, base: 0 }; PAGES];
        pages[0] = page;
        Steps { page, interrupt: 0, pages }
    }

    /// The interrupt that the newest statement ran in; 0 for none, or when the recorder does not record it.
    pub const fn interrupt(&self) -> u16 {
        self.interrupt
    }

    /// The next step at `at`, which moves behind it; `None` at the end. Bytes that mean nothing here are
    /// passed over: a newer recorder may tell more.
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
                    return Some(Step::Repeat(Repeat { frames, times }));
                }
                _ => {}
            }
        }
    }

    /// The steps of an open frame end here: what is written so far.
    pub fn written(data: &[u8]) -> usize {
        data.iter()
            .position(|byte| matches!(*byte, step::FREE | step::END | step::REPEAT))
            .unwrap_or(data.len())
    }
}

/// The number whose digits stand at `at`; 0 where there are none.
fn number(data: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0u64, 0);
    while let Some(byte @ 0x01..=0x40) = data.get(*at) {
        *at += 1;
        let digit = u64::from(byte - 1);
        value |= (digit & 0x1F).checked_shl(shift).unwrap_or(0);
        shift += 5;
        if digit < 0x20 {
            break;
        }
    }
    value
}

fn number_u16(data: &[u8], at: &mut usize) -> u16 {
    number(data, at) as u16
}
