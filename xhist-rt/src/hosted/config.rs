//! What the environment asks of the recorder. Read once, without allocating, because the first
//! statement of a program may run inside its allocator.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use super::between::{Once, Progress};
use super::settings::{self, EVER, FILE, FRAMES, MAP_HASH, PANIC, SIZE, SWITCH, TIME};
use super::{file, sys};

/// Ring size when the environment gives none; `XHIST_RING_SIZE` when compiling changes it.
const DEFAULT_SIZE: u32 = 512 * 1024;

/// Whether chunks carry time stamps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    On,
    Off,
}

/// What chunks statements stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Many in one.
    Packed,
    /// Each check begins one.
    Single,
    /// Each check begins one, with its time.
    Timed,
    /// Each check begins one, with its number among those of all threads.
    Exact,
}

/// What chunks statements stand in, once the environment is read.
#[inline]
pub(crate) fn frames() -> Frames {
    match FRAMES_MODE.load(Ordering::Relaxed) {
        0 => Frames::Packed,
        1 => Frames::Single,
        2 => Frames::Timed,
        _ => Frames::Exact,
    }
}

/// Whether the clock stamps chunks, and nothing else is asked for.
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

/// What this thread is known by, after a fork as before: the address of its own words.
fn this_thread() -> u64 {
    crate::hot::tls().addr() as u64
}

/// In a forked child: who was at reading the environment may not be here. Whether that is so; then it is read again,
/// and nothing else has begun.
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

/// Whether nothing is to be recorded, once the environment is read.
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
    /// Slots of the ever-executed bitmap, 0 for none.
    pub(crate) ever: u32,
    pub(crate) map_hash: u64,
    /// Lines that the panic hook prints, if the environment says how many.
    pub(crate) panic_lines: Option<u32>,
}

static READING: Once = Once::new();
static SIZE_BYTES: AtomicU32 = AtomicU32::new(0);
static TIME_MODE: AtomicU8 = AtomicU8::new(0);
static FRAMES_MODE: AtomicU8 = AtomicU8::new(0);
static EVER_SLOTS: AtomicU32 = AtomicU32::new(0);
static ENVIRONMENT_HASH: AtomicU64 = AtomicU64::new(0);
static PANIC_LINES: AtomicU32 = AtomicU32::new(UNSET);

/// The environment says nothing.
const UNSET: u32 = u32::MAX;

impl Config {
    /// The configuration, read from the environment at the first call. `None` only inside that call itself, and where it
    /// does not come back.
    pub(crate) fn get() -> Option<Config> {
        if !READING.is_done() {
            // A handler that came in meanwhile could not be recorded.
            return sys::keeping_errno(|| sys::while_signals_wait(|| sys::on_large_stack(Config::read)));
        }
        let mode = TIME_MODE.load(Ordering::Relaxed);
        let time = if mode & 1 == Time::On as u8 { Time::On } else { Time::Off };
        let (size, map_hash) = (SIZE_BYTES.load(Ordering::Relaxed), ENVIRONMENT_HASH.load(Ordering::Relaxed));
        let ever = EVER_SLOTS.load(Ordering::Relaxed);
        let panic_lines = Some(PANIC_LINES.load(Ordering::Relaxed)).filter(|lines| *lines != UNSET);
        Some(Config { on: mode & ON != 0, size, time, frames: frames(), ever, map_hash, panic_lines })
    }

    fn read() -> Option<Config> {
        match Config::wait() {
            Progress::Yours => {
                // Whatever a program sets up: two processes must not write the same file.
                static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
                // A forked child may read again what its parent has checked.
                static IS_CHECKED: AtomicBool = AtomicBool::new(false);
                if !IS_REGISTERED.swap(true, Ordering::Relaxed) {
                    sys::at_fork_in_child(super::fork::on_fork_in_child);
                }
                let config = Config::from_environment();
                if config.on {
                    super::clock::choose();
                }
                SIZE_BYTES.store(config.size, Ordering::Relaxed);
                let on = if config.on { ON } else { 0 };
                TIME_MODE.store(config.time as u8 | on, Ordering::Relaxed);
                FRAMES_MODE.store(config.frames as u8, Ordering::Relaxed);
                EVER_SLOTS.store(config.ever, Ordering::Relaxed);
                ENVIRONMENT_HASH.store(config.map_hash, Ordering::Relaxed);
                PANIC_LINES.store(config.panic_lines.unwrap_or(UNSET), Ordering::Relaxed);
                if SWITCH.is(&["wait"]) {
                    super::trigger::wait_for_start();
                }
                sys::remember_stderr();
                // Where nothing is recorded, nothing is set.
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

    /// Gives another thread that is at it the time to read the environment and to open the file, which may lie on a
    /// busy disk, far away; asleep, because that thread may want this processor and be less urgent.
    fn wait() -> Progress {
        const NAP_NANOS: u32 = 50_000;
        const PATIENCE_NANOS: u64 = 10_000_000_000;
        static GAVE_UP: AtomicBool = AtomicBool::new(false);
        let own = this_thread();
        let give_up_at = sys::nanos() + PATIENCE_NANOS;
        loop {
            match READING.begin(own) {
                // Not this one.
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
            // A ring is mapped by itself.
            size: SIZE
                .text()
                .and_then(settings::parse_size)
                .unwrap_or(COMPILED_SIZE)
                .max(sys::page_size() as u32),
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
            ever: EVER.text().and_then(settings::parse_ever).unwrap_or(0),
            map_hash: MAP_HASH.text().and_then(|hash| u64::from_str_radix(hash, 16).ok()).unwrap_or(0),
            panic_lines: PANIC.text().and_then(|lines| lines.parse().ok()),
        }
    }
}

const COMPILED_SIZE: u32 = crate::size::compiled(DEFAULT_SIZE);
