//! A ring as the user sees it: number, place, owner.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use qs_core::ring::Causes;

use super::{InterruptNames, visible};
use crate::model::defmt::DefmtTable;

/// The status of a ring that firmware wrote before a reset.
pub const BEFORE_RESET: &str = "before the reset";

/// A ring that was found.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    /// Number from 1, in the order of offsets.
    pub number: usize,
    /// Offset of its header in the image.
    pub offset: usize,
    /// Version of its layout in memory.
    pub layout: u8,
    /// Bytes of frames it holds.
    pub size: usize,
    /// Process id; 0 = not known.
    pub pid: u32,
    /// Thread id; 0 = not known.
    pub tid: u32,
    /// Name of the thread, printable.
    pub thread_name: Option<String>,
    /// The core that writes it, if each has a ring.
    pub core: Option<u8>,
    /// State of its owner, in one word.
    pub status: &'static str,
    /// Ticks of its clock a second; 0 = not known.
    pub clock_hz: u32,
    /// Its clock at some moment, and nanoseconds since 1970 then; 0 = not known.
    pub start: (u64, u64),
    /// Its clock at its last time stamp; 0 = not known.
    pub last_time: u64,
    /// Hash of the map of its build; 0 = not known.
    pub map_hash: u64,
    /// Its times are tickets: one order of all entries of its process.
    pub exact: bool,
    /// Its program records only entries of functions.
    pub entries_only: bool,
    /// There may be values among its statements.
    pub has_values: bool,
    /// Address of the recorder's anchor in the program's memory; 0 = not known.
    pub anchor: u64,
    /// Statements that its recorder could not keep.
    pub dropped: u32,
    /// Why other rings of its process are not here.
    pub causes: Causes,
    /// Async tasks that began and that ended in it, under all of its owners; both 0 = not counted.
    pub tasks: (u32, u32),
    /// The target of a live session that it belongs to; 0 in images.
    pub target: usize,
    /// The file of its program, where reading has met it.
    pub program: Option<PathBuf>,
    /// Names of the interrupts of its core.
    pub interrupts: InterruptNames,
    /// What the lines of its `defmt` are in words; empty where no program says so.
    pub defmt: DefmtTable,
    /// Its source, if there are several.
    pub origin: Option<String>,
}

impl Ring {
    /// A ring for all rings of a build.
    pub fn of_map(map_hash: u64) -> Ring {
        Ring { map_hash, ..Ring::default() }
    }

    /// Whether it is the ring of a thread. That of firmware is of the whole program.
    pub fn is_of_thread(&self) -> bool {
        self.thread_name.is_some() || self.tid != 0
    }

    /// Name of the thread, or its id, or the core, or the number of the ring.
    pub fn thread(&self) -> String {
        match (&self.thread_name, self.tid, self.core) {
            (Some(name), ..) => name.clone(),
            (None, 0, Some(core)) => format!("core {core}{}", self.earlier()),
            (None, 0, None) => format!("ring-{}{}", self.number, self.earlier()),
            (None, tid, _) => tid.to_string(),
        }
    }

    /// Whether it is of the run of firmware before a reset.
    pub fn is_before_reset(&self) -> bool {
        self.status == BEFORE_RESET
    }

    /// Of which run of firmware it is, for names.
    fn earlier(&self) -> &'static str {
        if self.is_before_reset() { " before the reset" } else { "" }
    }

    /// Name of the thread, or of an interrupt of it: `ring-1 interrupt 30 UART0`.
    pub fn lane(&self, interrupt: u16) -> String {
        match interrupt {
            0 => self.thread(),
            number => format!("{} {}", self.thread(), self.interrupts.text(number)),
        }
    }

    /// A time of this ring as text: seconds if the clock rate is known, else ticks; `#7` for a ticket.
    pub fn time_text(&self, ticks: u64) -> String {
        if self.exact {
            return format!("#{ticks}");
        }
        if self.clock_hz == 0 {
            return ticks.to_string();
        }
        let hz = u64::from(self.clock_hz);
        let (seconds, rest) = (ticks / hz, ticks % hz);
        format!("{seconds}.{:09}", u128::from(rest) * 1_000_000_000 / u128::from(hz))
    }

    /// Its clock at a moment of the calendar, if that is known and not before the ring.
    pub fn clock_at(&self, moment: SystemTime) -> Option<u64> {
        let (start, wall) = self.start;
        if self.exact || self.clock_hz == 0 || wall == 0 {
            return None;
        }
        let since = moment.duration_since(UNIX_EPOCH).ok()?.as_nanos().checked_sub(wall.into())?;
        let ticks = since.checked_mul(self.clock_hz.into())? / 1_000_000_000;
        start.checked_add(u64::try_from(ticks).ok()?)
    }

    /// A time of its clock in the calendar, if that is known.
    pub fn moment_of(&self, ticks: u64) -> Option<SystemTime> {
        let (start, wall) = self.start;
        if self.exact || self.clock_hz == 0 || wall == 0 {
            return None;
        }
        let since = (u128::from(ticks) * 1_000_000_000).checked_div(self.clock_hz.into())?;
        let start = (u128::from(start) * 1_000_000_000).checked_div(self.clock_hz.into())?;
        let nanoseconds = (u128::from(wall) + since).checked_sub(start)?;
        UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds.try_into().ok()?))
    }

    /// Takes a thread name from an image, where it may hold anything.
    pub fn set_thread_name(&mut self, name: Option<&str>) {
        self.thread_name = name.map(|name| visible(name).into_owned());
    }
}

impl fmt::Display for Ring {
    /// `ring 1 (thread main)`, `the stream`, ` of 127.0.0.1:6601`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            "stream" | "link" => write!(f, "the stream")?,
            _ => write!(f, "ring {}", self.number)?,
        }
        match (&self.thread_name, self.tid, self.core) {
            (Some(name), ..) => write!(f, " (thread {name})"),
            (None, 0, Some(_)) => write!(f, " ({})", self.thread()),
            (None, 0, None) if self.is_before_reset() => f.write_str(" (before the reset)"),
            (None, 0, None) => Ok(()),
            (None, tid, _) => write!(f, " (thread {tid})"),
        }?;
        self.origin.as_ref().map_or(Ok(()), |origin| write!(f, " of {origin}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_of_a_core_has_its_name() {
        let ring = Ring { number: 2, core: Some(1), status: "running or killed", ..Ring::default() };
        assert_eq!((ring.thread(), ring.to_string()), ("core 1".to_owned(), "ring 2 (core 1)".to_owned()));
        assert_eq!(ring.lane(3), "core 1 interrupt 3");
        let earlier = Ring { status: BEFORE_RESET, ..ring };
        assert_eq!(earlier.to_string(), "ring 2 (core 1 before the reset)");
        assert_eq!(Ring { core: None, ..earlier }.to_string(), "ring 2 (before the reset)");
    }

    #[test]
    fn times_are_moments_of_the_calendar_and_back() {
        let wall = 1_795_259_393_000_000_000;
        let ring = Ring { clock_hz: 1_000, start: (500, wall), ..Ring::default() };
        let moment = ring.moment_of(2_750).expect("a moment");
        assert_eq!(
            moment.duration_since(UNIX_EPOCH).expect("later").as_nanos(),
            u128::from(wall) + 2_250_000_000
        );
        assert_eq!(ring.clock_at(moment), Some(2_750));
        assert_eq!(Ring { exact: true, ..ring.clone() }.moment_of(2_750), None, "a ticket is no time");
        assert_eq!(Ring { start: (500, 0), ..ring }.moment_of(2_750), None);
    }
}
