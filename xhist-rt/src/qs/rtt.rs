//! A control block of SEGGER RTT for programs that have none: a debug probe takes the stream from memory while the program
//! runs, and puts commands there.
//!
//! Channel 1 is called `xhist` in both directions, as it would be beside the channel 0 of logs. Channel 0 has no buffer, so
//! hosts skip it. The block has the symbol of every implementation, so a program with two of them does not link. It is zero
//! after a reset until the first use, so no probe finds the block of an earlier run.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32};

/// Sizes of the buffers in bytes. One of them stays free.
const UP: usize = 1024;
const DOWN: usize = 128;
const CHANNELS: usize = 2;
/// The channel of xhist.
const OURS: usize = 1;
/// The name, with the zero that ends it.
const NAME: &[u8; 6] = b"xhist\0";
/// What hosts look for, from its end to its start: the right order must not be in the program's image.
const MARK: &[u8; 10] = b"TTR REGGES";

/// Fields in SEGGER's order. The program writes `write` of an up-channel and `read` of a down-channel, the host the others.
#[repr(C)]
struct Buffer {
    name: AtomicPtr<u8>,
    bytes: AtomicPtr<u8>,
    size: AtomicU32,
    write: AtomicU32,
    read: AtomicU32,
    /// 0: the program never waits for the host.
    flags: AtomicU32,
}

#[repr(C)]
struct ControlBlock {
    mark: [AtomicU8; 16],
    ups: AtomicU32,
    downs: AtomicU32,
    up: [Buffer; CHANNELS],
    down: [Buffer; CHANNELS],
}

impl Buffer {
    const fn new() -> Buffer {
        Buffer {
            name: AtomicPtr::new(core::ptr::null_mut()),
            bytes: AtomicPtr::new(core::ptr::null_mut()),
            size: AtomicU32::new(0),
            write: AtomicU32::new(0),
            read: AtomicU32::new(0),
            flags: AtomicU32::new(0),
        }
    }

    fn begin(&self, bytes: &'static [AtomicU8]) {
        self.name.store(NAME.as_ptr().cast_mut(), Relaxed);
        self.size.store(bytes.len() as u32, Relaxed);
        self.bytes.store(bytes.as_ptr().cast_mut().cast(), Relaxed);
    }
}

#[unsafe(no_mangle)]
static _SEGGER_RTT: ControlBlock = ControlBlock {
    mark: [const { AtomicU8::new(0) }; 16],
    ups: AtomicU32::new(0),
    downs: AtomicU32::new(0),
    up: [const { Buffer::new() }; CHANNELS],
    down: [const { Buffer::new() }; CHANNELS],
};
static UP_BYTES: [AtomicU8; UP] = [const { AtomicU8::new(0) }; UP];
static DOWN_BYTES: [AtomicU8; DOWN] = [const { AtomicU8::new(0) }; DOWN];
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Fills the control block at the first call, the mark at last.
fn begin() {
    if IS_BEGUN.load(Acquire) {
        return;
    }
    let block = &_SEGGER_RTT;
    block.ups.store(CHANNELS as u32, Relaxed);
    block.downs.store(CHANNELS as u32, Relaxed);
    block.up[OURS].begin(&UP_BYTES);
    block.down[OURS].begin(&DOWN_BYTES);
    for (place, byte) in block.mark.iter().take(MARK.len()).rev().zip(MARK) {
        place.store(*byte, Release);
    }
    IS_BEGUN.store(true, Release);
}

/// Puts bytes into the up-channel, and returns how many it had room for. It never waits for a host. One caller at a time, as
/// a [`Pump`](super::Pump) is.
pub fn write(bytes: &[u8]) -> usize {
    begin();
    let channel = &_SEGGER_RTT.up[OURS];
    let (start, read) = (channel.write.load(Relaxed) as usize, channel.read.load(Acquire) as usize);
    let (mut at, mut count) = (start, 0);
    for byte in bytes {
        let next = (at + 1) % UP;
        if next == read {
            break;
        }
        if let Some(place) = UP_BYTES.get(at) {
            place.store(*byte, Relaxed);
        }
        (at, count) = (next, count + 1);
    }
    channel.write.store(at as u32, Release);
    count
}

/// Takes bytes that a host has put into the down-channel, and returns their number. One caller at a time.
pub fn read(into: &mut [u8]) -> usize {
    begin();
    let channel = &_SEGGER_RTT.down[OURS];
    let (start, write) = (channel.read.load(Relaxed) as usize, channel.write.load(Acquire) as usize);
    let (mut at, mut count) = (start, 0);
    for place in into {
        // A host that writes nonsense gets nothing.
        let Some(byte) = DOWN_BYTES.get(at).filter(|_| at != write && write < DOWN) else { break };
        *place = byte.load(Relaxed);
        (at, count) = ((at + 1) % DOWN, count + 1);
    }
    channel.read.store(at as u32, Release);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only test of the channels, which are static.
    #[test]
    fn a_host_finds_the_block_and_moves_bytes_both_ways() {
        assert_eq!(
            (core::mem::offset_of!(ControlBlock, up), size_of::<Buffer>()),
            (24, 2 * size_of::<usize>() + 16)
        );
        let block = &_SEGGER_RTT;
        assert_eq!(block.mark[0].load(Relaxed), 0, "nothing is found before the first use");
        assert_eq!(write(&[7; 3 * UP]), UP - 1, "one byte stays free, and nothing waits");
        let mark = block.mark.each_ref().map(|byte| byte.load(Relaxed));
        assert_eq!(&mark, b"SEGGER RTT\0\0\0\0\0\0");
        let [unused, up] = &block.up;
        assert!(unused.bytes.load(Relaxed).is_null());
        assert_eq!((up.write.load(Relaxed), up.size.load(Relaxed)), (UP as u32 - 1, UP as u32));
        // The host takes ten bytes: ten more have room, around the end.
        up.read.store(10, Relaxed);
        assert_eq!(write(&[8; 20]), 10);
        assert_eq!((up.write.load(Relaxed), UP_BYTES[8].load(Relaxed), UP_BYTES[9].load(Relaxed)), (9, 8, 7));

        let down = &block.down[OURS];
        (0..3).for_each(|at| DOWN_BYTES[(DOWN - 2 + at) % DOWN].store(at as u8, Relaxed));
        down.read.store(DOWN as u32 - 2, Relaxed);
        down.write.store(1, Relaxed);
        let mut bytes = [0; 8];
        assert_eq!((read(&mut bytes), &bytes[..3], down.read.load(Relaxed)), (3, &[0, 1, 2][..], 1));
        down.write.store(9_999, Relaxed);
        assert_eq!(read(&mut bytes), 0);
    }
}
