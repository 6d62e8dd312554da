//! The event of a panic, with where it came from: the place that its message names, and the frames that were open.
//!
//! Elements behind those of other events: `08 file, 00`, then `09 length u8, program u64, address u32 ...`. The event's value is
//! the line, and the column in its upper half. Recorders of bare metal, and older ones, write neither elements nor value.

use byteorder::{ByteOrder as _, LittleEndian};

use super::element::{Data, MAX_MEMORY};
use super::xhist::EventKind;

/// Bytes of the event without the elements of a panic.
const EVENT: usize = 15;
/// Bytes of the hash of the program's headers.
const HASH: usize = 8;
/// Most frames of a panic: what fits in one element.
pub const MOST_FRAMES: usize = (MAX_MEMORY - HASH) / ADDRESS;
/// Bytes of an address.
const ADDRESS: usize = 4;
/// Longest path in bytes. A longer one is left out, because a part of it names another file.
pub const MOST_PATH: usize = 200;
/// Longest payload of the event.
pub const MOST_PANIC: usize = EVENT + 1 + MOST_PATH + 1 + 2 + HASH + ADDRESS * MOST_FRAMES;

const TEXT: u8 = Data::Text.format(0);
const MEMORY: u8 = Data::Memory.format(0);

/// Where a panic came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PanicSite<'a> {
    /// The source file, as the compiler named it; empty if not known.
    pub file: &'a str,
    /// Its line; 0 if not known.
    pub line: u32,
    /// The column in this line.
    pub column: u32,
    /// FNV-1a 64 of the program's headers in memory, which distinguishes builds.
    pub program: u64,
    /// The bytes of return addresses, innermost first.
    addresses: &'a [u8],
}

impl<'a> PanicSite<'a> {
    /// Without frames.
    pub fn new(file: &'a str, line: u32, column: u32) -> PanicSite<'a> {
        PanicSite { file, line, column, program: 0, addresses: &[] }
    }

    /// Reads the payload of a panic's event. What is missing there is empty.
    pub fn parse(payload: &'a [u8]) -> PanicSite<'a> {
        let Some((event, rest)) = payload.split_at_checked(EVENT) else { return PanicSite::default() };
        let value = LittleEndian::read_u64(&event[7..]);
        let mut site = PanicSite { line: value as u32, column: (value >> 32) as u32, ..PanicSite::default() };
        let [TEXT, rest @ ..] = rest else { return site };
        let Some(len) = rest.iter().position(|byte| *byte == 0) else { return site };
        let (file, rest) = rest.split_at(len);
        site.file = core::str::from_utf8(file).unwrap_or_default();
        if let Some([MEMORY, len, data @ ..]) = rest.get(1..)
            && let Some((hash, addresses)) = data.get(..usize::from(*len)).and_then(<[u8]>::split_first_chunk)
        {
            (site.program, site.addresses) = (u64::from_le_bytes(*hash), addresses);
        }
        site
    }

    /// Return addresses less the address that the program was loaded at, innermost first.
    pub fn frames(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.addresses.chunks_exact(ADDRESS).map(LittleEndian::read_u32)
    }

    /// Writes the payload of the event of this place, with these frames of a program. Returns its length.
    pub fn write(&self, time: u32, program: u64, frames: &[u32], payload: &mut [u8; MOST_PANIC]) -> usize {
        let mut len = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(place) = payload.get_mut(len..len + bytes.len()) {
                place.copy_from_slice(bytes);
                len += bytes.len();
            }
        };
        put(&EventKind::Panic.payload(time, u64::from(self.line) | u64::from(self.column) << 32));
        let is_whole = self.file.len() <= MOST_PATH && !self.file.contains('\0');
        put(&[TEXT]);
        put(if is_whole { self.file.as_bytes() } else { b"" });
        let frames = &frames[..frames.len().min(MOST_FRAMES)];
        put(&[0]);
        if !frames.is_empty() {
            put(&[MEMORY, (HASH + ADDRESS * frames.len()) as u8]);
            put(&program.to_le_bytes());
            frames.iter().for_each(|frame| put(&frame.to_le_bytes()));
        }
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<'a>(site: &PanicSite<'_>, frames: &[u32], payload: &'a mut [u8; MOST_PANIC]) -> PanicSite<'a> {
        let len = site.write(7, 0x1122_3344_5566_7788, frames, payload);
        PanicSite::parse(&payload[..len])
    }

    #[test]
    fn what_is_written_is_read() {
        let (site, mut payload) = (PanicSite::new("src/gen.rs", 70_000, 9), [0; MOST_PANIC]);
        let read = written(&site, &[1, 0xFFFF_FFFF], &mut payload);
        assert_eq!((read.file, read.line, read.column), ("src/gen.rs", 70_000, 9));
        assert_eq!(read.program, 0x1122_3344_5566_7788);
        assert!(read.frames().eq([1, 0xFFFF_FFFF]));
        let without = written(&site, &[], &mut payload);
        assert_eq!((without, without.frames().count()), (site, 0));
    }

    #[test]
    fn the_longest_event_fits_and_a_longer_path_is_left_out() {
        let (path, mut payload) = ("a".repeat(MOST_PATH + 1), [0; MOST_PANIC]);
        let frames = [5; MOST_FRAMES + 1];
        let len = PanicSite::new(&path[1..], 1, 1).write(0, 1, &frames, &mut payload);
        assert!(len == MOST_PANIC && len <= crate::frame::MAX_PAYLOAD);
        let read = PanicSite::parse(&payload);
        assert_eq!((read.file, read.frames().count()), (&path[1..], MOST_FRAMES));
        let read = written(&PanicSite::new(&path, 1, 1), &frames, &mut payload);
        assert_eq!((read.file, read.frames().count()), ("", MOST_FRAMES));
    }

    #[test]
    fn any_bytes_are_read() {
        let mut payload = [0; MOST_PANIC];
        let len = PanicSite::new("a.rs", 3, 4).write(0, 1, &[5], &mut payload);
        for cut in 0..len {
            let read = PanicSite::parse(&payload[..cut]);
            assert!(cut >= EVENT || read == PanicSite::default());
            assert_eq!(read.frames().count(), 0, "{cut}");
        }
        payload[EVENT] = 0;
        assert_eq!(PanicSite::parse(&payload[..len]), PanicSite::new("", 3, 4));
    }
}
