//! What a ring yields: items and gaps, without names of files.

use std::fmt;

use qs_core::record::TaskMark;
use qs_core::record::value::RecordedValue;
use qs_core::ring::Repetition;

use qs_host::FieldValue;

use super::{PanicPlace, Trace, count};

/// One thing recorded, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What was recorded.
    pub what: What,
    /// The clock in full, where the item carries a time stamp.
    pub time: Option<u64>,
    /// The number of the interrupt that a statement ran in; 0 for none, or if not known.
    pub interrupt: u16,
    /// How many signal handlers, one inside the other, it was recorded in.
    pub handlers: u8,
    /// Values that were recorded behind it.
    pub values: Vec<RecordedValue>,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A statement was about to run.
    Statement {
        /// File id.
        file: u16,
        /// Line as recorded.
        line: u16,
    },
    /// A step of an async task. No entry of a report: it says which task the statements behind it belong to.
    Task(TaskMark),
    /// Values behind an entry that is not here, or was given before they came.
    Values,
    /// The statements before this ran again.
    Again(Repetition),
    /// The thread panicked, and where.
    Panic(Record, Box<PanicPlace>),
    /// A fatal signal arrived.
    Signal(u64, Record),
    /// A text that the program printed, and the line of the macro that did; 0: it printed in another way.
    Output(Trace, u32),
    /// A trace event.
    Trace(Trace),
    /// Another QS record.
    Record(Record),
}

impl What {
    /// Whether it is a mark of xhist, not something that the program did or sent.
    pub fn is_mark(&self) -> bool {
        match self {
            What::Panic(..) | What::Signal(..) => true,
            What::Record(record) => record.mark.is_some(),
            What::Statement { .. }
            | What::Task(_)
            | What::Values
            | What::Again(_)
            | What::Output(..)
            | What::Trace(_) => false,
        }
    }

    /// Whether it is about the entries before it: a repetition, values, and what a statement printed.
    pub fn is_beside(&self) -> bool {
        matches!(self, What::Again(_) | What::Values | What::Output(..))
    }

    /// Whether it has a number in a report. The step of a task is about the entries behind it.
    pub fn is_entry(&self) -> bool {
        !self.is_beside() && !matches!(self, What::Task(_))
    }
}

impl Item {
    /// An item outside interrupts and signal handlers.
    pub fn new(what: What, time: Option<u64>) -> Item {
        Item { what, time, interrupt: 0, handlers: 0, values: Vec::new() }
    }
}

/// A QS record as text; also in fields, if the format shows those.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Record id.
    pub id: u8,
    /// The line that QSPY prints.
    pub text: String,
    /// Its length is not that of its layout; the line is an error.
    pub is_misfit: bool,
    /// The text of a mark of xhist; `None` for any other record.
    pub mark: Option<String>,
    /// Its name, or that of the application.
    pub name: String,
    /// Its fields by name.
    pub fields: Vec<(&'static str, FieldValue)>,
    /// The elements of an application record.
    pub elements: Vec<FieldValue>,
}

/// What is missing between two entries of a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Bytes that were overwritten before a live reader read them.
    pub overtaken: Option<Overtaken>,
    /// Frames missing by their sequence numbers; at least, since those count modulo 256.
    pub missing_frames: u64,
    /// Bytes that are not a good frame.
    pub damaged: Option<Damaged>,
    /// Bytes of the ring that the image does not hold.
    pub cut_bytes: u64,
    /// Bytes that the ring has overwritten between the prologue and what it still has. That is not a loss: a ring forgets what
    /// is old.
    pub overwritten_bytes: u64,
    /// The newest frame is not the one that the ring's header counted last.
    pub torn: bool,
    /// More words were written than the ring had room for: the newest are not certain.
    pub overrun: bool,
}

/// Bytes that were overwritten before they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// How many.
    pub bytes: u64,
    /// How many entries they held, about.
    pub entries: u64,
}

/// Bytes that are not a good frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// In how many pieces.
    pub pieces: u64,
    /// How many bytes in all.
    pub bytes: u64,
    /// What is wrong with the first piece, and where it is.
    pub first: String,
}

impl Gap {
    /// Adds a piece that is not a good frame.
    pub fn add_damage(&mut self, bytes: u64, what: &impl fmt::Display) {
        let damaged =
            self.damaged.get_or_insert_with(|| Damaged { pieces: 0, bytes: 0, first: what.to_string() });
        damaged.pieces += 1;
        damaged.bytes += bytes;
    }

    /// Adds another gap.
    pub fn add(&mut self, other: Gap) {
        let Gap { overtaken, missing_frames, damaged, cut_bytes, overwritten_bytes, torn, overrun } = other;
        if let Some(other) = overtaken {
            let overtaken = self.overtaken.get_or_insert(Overtaken { bytes: 0, entries: 0 });
            overtaken.bytes += other.bytes;
            overtaken.entries += other.entries;
        }
        match (&mut self.damaged, damaged) {
            (Some(damaged), Some(other)) => {
                damaged.pieces += other.pieces;
                damaged.bytes += other.bytes;
            }
            (None, other) => self.damaged = other,
            (Some(_), None) => {}
        }
        self.missing_frames += missing_frames;
        self.cut_bytes += cut_bytes;
        self.overwritten_bytes += overwritten_bytes;
        self.torn |= torn;
        self.overrun |= overrun;
    }

    /// Whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        *self == Gap::default()
    }

    /// Whether anything is missing that a ring of this size should have.
    pub fn is_loss(&self) -> bool {
        !Gap { overwritten_bytes: 0, ..self.clone() }.is_empty()
    }

    /// Whether the ring has forgotten what ran here, so that which calls ended here is not known.
    pub fn is_overwritten(&self) -> bool {
        self.overwritten_bytes > 0
    }
}

impl fmt::Display for Gap {
    /// `3 frames missing`, `12 bytes damaged (...), 1 frame missing`, ...
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(Overtaken { bytes, entries }) = &self.overtaken {
            write!(
                f,
                "overtaken: {bytes} bytes (about {entries} entries) were overwritten before they were read"
            )?;
            separator = ", ";
        }
        if let Some(Damaged { pieces, bytes, first }) = &self.damaged {
            write!(f, "{separator}{} damaged", count(*bytes as usize, "byte"))?;
            match pieces {
                1 => write!(f, " ({first})")?,
                _ => write!(f, " in {pieces} pieces (first: {first})")?,
            }
            separator = ", ";
        }
        if self.missing_frames > 0 {
            let plural = if self.missing_frames == 1 { "" } else { "s" };
            write!(f, "{separator}{} frame{plural} missing", self.missing_frames)?;
            separator = ", ";
        }
        if self.cut_bytes > 0 {
            write!(f, "{separator}{} bytes of the ring not in the image", self.cut_bytes)?;
            separator = ", ";
        }
        if self.overwritten_bytes > 0 {
            write!(f, "{separator}{} bytes of statements are overwritten", self.overwritten_bytes)?;
            separator = ", ";
        }
        if self.torn {
            write!(f, "{separator}newest frame not whole")?;
            separator = ", ";
        }
        if self.overrun {
            write!(
                f,
                "{separator}a thread recorded more between two checks than its ring keeps free, so what it did last is not \
                 certain"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_says_everything_that_is_missing() {
        let damaged = Some(Damaged { pieces: 2, bytes: 30, first: "8 bytes at offset 4".into() });
        let overtaken = Some(Overtaken { bytes: 5, entries: 4 });
        let gap = Gap {
            overtaken,
            missing_frames: 1,
            damaged,
            cut_bytes: 9,
            overwritten_bytes: 7,
            torn: true,
            overrun: true,
        };
        assert_eq!(
            gap.to_string(),
            "overtaken: 5 bytes (about 4 entries) were overwritten before they were read, \
             30 bytes damaged in 2 pieces (first: 8 bytes at offset 4), 1 frame missing, \
             9 bytes of the ring not in the image, 7 bytes of statements are overwritten, newest frame not whole, a thread recorded more between two checks \
             than its ring keeps free, so what it did last is not certain"
        );
        assert!(Gap::default().is_empty() && !gap.is_empty() && gap.is_loss());
        let overwritten = Gap { overwritten_bytes: 7, ..Gap::default() };
        assert!(!overwritten.is_empty() && !overwritten.is_loss());
        let mut sum = Gap::default();
        sum.add(gap.clone());
        assert_eq!(sum, gap);
        sum.add(gap);
        assert!(sum.to_string().starts_with("overtaken: 10 bytes (about 8 entries)"));
        assert_eq!((sum.damaged.map(|damaged| damaged.bytes), sum.missing_frames), (Some(60), 2));
    }
}
