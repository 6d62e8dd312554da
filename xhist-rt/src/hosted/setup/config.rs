//! The configuration of the recorder, from the environment. It is read once, without allocating, because the first
//! statement of a program may run inside its allocator.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use super::trigger_state;
use crate::hosted::setup::settings;
use crate::hosted::setup::settings::{EVER, FILE, FRAMES, MAP_HASH, SANDBOX, SIZE, SWITCH, TIME};
use crate::hosted::setup::{clock, file};
use crate::hosted::system::shared_state::{Once, Progress};
use crate::hosted::system::{sandbox, sys};
use crate::hosted::thread_state::tls;

/// Ring size if the environment gives none. `XHIST_RING_SIZE` changes it at compile time.
const DEFAULT_SIZE: u32 = 512 * 1024;

/// Whether chunks carry time stamps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    On,
    Off,
}

/// How statements are grouped into chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Many statements share a chunk.
    Packed,
    /// Each check begins a chunk.
    Single,
    /// Each check begins a chunk, with its time.
    Timed,
    /// Each check begins a chunk, with its number in the order of all threads.
    Exact,
}

/// How statements are grouped into chunks, once the environment is read.
#[inline]
pub(crate) fn frames() -> Frames {
    match FRAMES_MODE.load(Ordering::Relaxed) {
        0 => Frames::Packed,
        1 => Frames::Single,
        2 => Frames::Timed,
        _ => Frames::Exact,
    }
}

/// Whether the clock stamps chunks, with no other option.
#[inline(always)]
pub(crate) fn is_plain() -> bool {
    FRAMES_MODE.load(Ordering::Relaxed) == Frames::Packed as u8 && !is_untimed()
}

/// Whether nothing is stamped.
#[inline(always)]
pub(crate) fn is_untimed() -> bool {
    TIME_MODE.load(Ordering::Relaxed) & 1 != Time::On as u8
}

/// Whether each check gives its statement a stamp.
#[inline(always)]
pub(crate) fn is_each_timed() -> bool {
    FRAMES_MODE.load(Ordering::Relaxed) != Frames::Packed as u8
}

/// The number of this thread, which a fork does not change: the address of its state.
fn this_thread() -> u64 {
    tls().addr() as u64
}

/// In a forked child: whether another thread was reading the environment, which does not exist here. Then the child
/// reads it again, and nothing else has begun.
pub(crate) fn forget_others() -> bool {
    let is_other = READING.forget_others(this_thread());
    if is_other {
        file::forget();
    }
    is_other
}

/// Whether the environment is read.
pub(crate) fn is_read() -> bool {
    READING.is_done()
}

/// Whether the environment is read and says that nothing is recorded.
pub(crate) fn is_off() -> bool {
    READING.is_done() && TIME_MODE.load(Ordering::Relaxed) & ON == 0
}

/// In [`TIME_MODE`].
const ON: u8 = 1 << 7;

/// What the environment asks for.
#[derive(Clone, Copy)]
pub(crate) struct Config {
    pub(crate) on: bool,
    pub(crate) size: u32,
    pub(crate) time: Time,
    pub(crate) frames: Frames,
    /// Slots of the executed bitmap, 0 for none.
    pub(crate) executed_slots: u32,
    pub(crate) map_hash: u64,
}

static READING: Once = Once::new();
static SIZE_BYTES: AtomicU32 = AtomicU32::new(0);
static TIME_MODE: AtomicU8 = AtomicU8::new(0);
static FRAMES_MODE: AtomicU8 = AtomicU8::new(0);
static EXECUTED_SLOTS: AtomicU32 = AtomicU32::new(0);
static ENVIRONMENT_HASH: AtomicU64 = AtomicU64::new(0);

impl Config {
    /// The configuration. The first call reads it from the environment. `None` only inside that call itself, or if
    /// the thread that reads does not finish.
    pub(crate) fn get() -> Option<Config> {
        if !READING.is_done() {
            // A handler that came meanwhile could not be recorded.
            return sys::keeping_errno(|| sys::with_signals_blocked(|| sys::on_large_stack(Config::read)));
        }
        let mode = TIME_MODE.load(Ordering::Relaxed);
        let time = if mode & 1 == Time::On as u8 { Time::On } else { Time::Off };
        let (size, map_hash) = (SIZE_BYTES.load(Ordering::Relaxed), ENVIRONMENT_HASH.load(Ordering::Relaxed));
        let executed_slots = EXECUTED_SLOTS.load(Ordering::Relaxed);
        Some(Config { on: mode & ON != 0, size, time, frames: frames(), executed_slots, map_hash })
    }

    fn read() -> Option<Config> {
        match Config::wait() {
            Progress::Yours => {
                // A forked child may read values again that its parent has checked.
                static IS_CHECKED: AtomicBool = AtomicBool::new(false);
                let config = Config::from_environment();
                if SANDBOX.is(&["off"]) {
                    sandbox::ignore();
                } else if SANDBOX.is(&["on", "strict"]) {
                    sandbox::enter();
                }
                if SANDBOX.is(&["strict"]) {
                    clock::forbid();
                }
                if config.on {
                    clock::choose();
                }
                SIZE_BYTES.store(config.size, Ordering::Relaxed);
                let on = if config.on { ON } else { 0 };
                TIME_MODE.store(config.time as u8 | on, Ordering::Relaxed);
                FRAMES_MODE.store(config.frames as u8, Ordering::Relaxed);
                EXECUTED_SLOTS.store(config.executed_slots, Ordering::Relaxed);
                ENVIRONMENT_HASH.store(config.map_hash, Ordering::Relaxed);
                if SWITCH.is(&["wait"]) {
                    trigger_state::wait_for_start();
                }
                sys::remember_stderr();
                // Without recording, wrong settings have no effect.
                if config.on && !IS_CHECKED.swap(true, Ordering::Relaxed) {
                    settings::check(COMPILED_SIZE);
                }
                if let Some(pattern) = FILE.value().filter(|_| config.on) {
                    file::open(pattern, true);
                }
                READING.done();
                Some(config)
            }
            Progress::Done => Config::get(),
            Progress::UnderWay(_) => None,
        }
    }

    /// Gives another thread time to read the environment and to open the file, which may be on a busy or remote disk.
    /// The caller sleeps, because that thread may need this processor and have a lower priority.
    fn wait() -> Progress {
        const NAP_NANOS: u32 = 50_000;
        const PATIENCE_NANOS: u64 = 10_000_000_000;
        static GAVE_UP: AtomicBool = AtomicBool::new(false);
        let own = this_thread();
        let give_up_at = sys::nanos() + PATIENCE_NANOS;
        loop {
            match READING.begin(own) {
                // Another thread is reading.
                Progress::UnderWay(owner) if owner != own => {
                    if GAVE_UP.load(Ordering::Relaxed) || sys::nanos() > give_up_at {
                        GAVE_UP.store(true, Ordering::Relaxed);
                        return Progress::UnderWay(owner);
                    }
                    sys::sleep(NAP_NANOS);
                }
                progress => return progress,
            }
        }
    }

    fn from_environment() -> Config {
        Config {
            on: !SWITCH.is(&["off", "0"]),
            size: SIZE
                .text()
                .and_then(settings::parse_size)
                .unwrap_or_else(|| settings::ring_size(COMPILED_SIZE.into())),
            time: if TIME.is(&["off", "0"]) { Time::Off } else { Time::On },
            frames: if FRAMES.is(&["exact"]) {
                Frames::Exact
            } else if TIME.is(&["on", "1"]) {
                Frames::Timed
            } else if FRAMES.is(&["single"]) {
                Frames::Single
            } else {
                Frames::Packed
            },
            executed_slots: EVER.text().and_then(settings::parse_ever).unwrap_or(0),
            map_hash: MAP_HASH.text().and_then(|hash| u64::from_str_radix(hash, 16).ok()).unwrap_or(0),
        }
    }
}

const COMPILED_SIZE: u32 = crate::ring_size::compiled(DEFAULT_SIZE);

/// Bytes of the longest record that fits in a ring.
pub(crate) fn longest_record() -> usize {
    Config::get().map_or(0, |config| config.size as usize / 8)
}
