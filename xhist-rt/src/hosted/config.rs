//! What the environment asks of the recorder. Read once, without allocating, because the first
//! statement of a program may run inside its allocator.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use qs_core::ring::ever::MAX_SLOTS;
use qs_core::ring::{self, MAX_SIZE};

use crate::size::MIN_SIZE;

use super::between::{Once, Progress};
use super::sys::{self, NoFile, RingFile};

/// `XHIST`: `off` records nothing, `wait` nothing before a trigger starts it.
const SWITCH: &CStr = c"XHIST";
/// `XHIST_SIZE`: bytes of each ring.
const SIZE: &CStr = c"XHIST_SIZE";
/// `XHIST_FILE`: keep the rings in this file; `%p` is the process id, `%e` the program's name.
const FILE: &CStr = c"XHIST_FILE";
/// `XHIST_TIME`: `on` stamps every statement, `off` none; by default frames are stamped.
const TIME: &CStr = c"XHIST_TIME";
/// `XHIST_FRAMES`: `single` gives each statement a frame of its own, `exact` does so with a count that all threads
/// share instead of the time; by default `packed`.
const FRAMES: &CStr = c"XHIST_FRAMES";
/// `XHIST_EVER`: `on`, or a number of pages of 96 lines, to remember which statements ever ran.
const EVER: &CStr = c"XHIST_EVER";
/// `XHIST_MAP_HASH`: hash of the map, for programs without an instrumented `main`.
const MAP_HASH: &CStr = c"XHIST_MAP_HASH";

/// Ring size when the environment gives none; `XHIST_RING_SIZE` when compiling changes it.
const DEFAULT_SIZE: u32 = 256 * 1024;

/// Longest path of a ring file.
const PATH_LEN: usize = 1024;

/// Whether frames carry time stamps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    On,
    Off,
}

/// What frames statements stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Many in one.
    Packed,
    /// Each in its own.
    Single,
    /// Each in its own, with its time.
    Timed,
    /// Each in its own, with its number among those of all threads.
    Exact,
}

/// What frames statements stand in, once the environment is read.
#[inline]
pub(crate) fn frames() -> Frames {
    match FRAMES_MODE.load(Ordering::Relaxed) {
        0 => Frames::Packed,
        1 => Frames::Single,
        2 => Frames::Timed,
        _ => Frames::Exact,
    }
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
}

static READING: Once = Once::new();
static SIZE_BYTES: AtomicU32 = AtomicU32::new(0);
static TIME_MODE: AtomicU8 = AtomicU8::new(0);
static FRAMES_MODE: AtomicU8 = AtomicU8::new(0);
static EVER_SLOTS: AtomicU32 = AtomicU32::new(0);
static ENVIRONMENT_HASH: AtomicU64 = AtomicU64::new(0);

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
        Some(Config { on: mode & ON != 0, size, time, frames: frames(), ever, map_hash })
    }

    fn read() -> Option<Config> {
        match Config::wait() {
            Progress::Yours => {
                // Whatever a program sets up: two processes must not write the same file.
                static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
                if !IS_REGISTERED.swap(true, Ordering::Relaxed) {
                    sys::at_fork_in_child(super::threads::on_fork_in_child);
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
                if sys::getenv(SWITCH).is_some_and(|word| word.eq_ignore_ascii_case(b"wait")) {
                    super::trigger::wait_for_start();
                }
                if let Some(pattern) = sys::getenv(FILE).filter(|path| config.on && !path.is_empty()) {
                    file::open(pattern);
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
        let text = |name| sys::getenv(name).and_then(|value| core::str::from_utf8(value).ok());
        let is = |name, words: &[&str]| text(name).is_some_and(|value| is_word(value, words));
        Config {
            on: !is(SWITCH, &["off", "0"]),
            size: text(SIZE).and_then(parse_size).unwrap_or(COMPILED_SIZE),
            time: if is(TIME, &["off", "0"]) { Time::Off } else { Time::On },
            frames: if is(FRAMES, &["exact"]) {
                Frames::Exact
            } else if is(TIME, &["on", "1"]) {
                Frames::Timed
            } else if is(FRAMES, &["single"]) {
                Frames::Single
            } else {
                Frames::Packed
            },
            ever: text(EVER).and_then(parse_ever).unwrap_or(0),
            map_hash: text(MAP_HASH).and_then(|hash| u64::from_str_radix(hash, 16).ok()).unwrap_or(0),
        }
    }
}

const COMPILED_SIZE: u32 = crate::size::compiled(DEFAULT_SIZE);

/// Words may be written large.
fn is_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Bytes, or with a suffix `k`, `m`, `g`; rounded up to what a ring can be.
fn parse_size(text: &str) -> Option<u32> {
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    Some(bytes.clamp(u64::from(MIN_SIZE), u64::from(MAX_SIZE)).next_power_of_two() as u32)
}

/// Slots of a bitmap.
fn parse_ever(text: &str) -> Option<u32> {
    /// Pages of a program of half a million lines or so.
    const DEFAULT: u32 = 8192;
    match text {
        on if is_word(on, &["on"]) => Some(DEFAULT),
        off if is_word(off, &["off", "0"]) => Some(0),
        number => Some(number.parse::<u32>().ok()?.clamp(16, MAX_SLOTS).next_power_of_two()),
    }
}

/// The file that rings are kept in.
pub(crate) mod file {
    use core::sync::atomic::{AtomicI32, AtomicUsize};

    use super::*;

    static FD: AtomicI32 = AtomicI32::new(-1);
    static DEVICE: AtomicU64 = AtomicU64::new(0);
    static INODE: AtomicU64 = AtomicU64::new(0);

    /// The file, if there is one and it could be opened.
    pub(crate) fn get() -> Option<RingFile> {
        let fd = FD.load(Ordering::Acquire);
        (fd >= 0).then(|| RingFile {
            fd,
            device: DEVICE.load(Ordering::Relaxed),
            inode: INODE.load(Ordering::Relaxed),
        })
    }

    /// What the file was asked for by: the directory that the pattern starts in, and the pattern. A daemon changes its
    /// directory and its environment before it forks.
    struct Asked {
        bytes: [AtomicU8; PATH_LEN],
        directory: AtomicUsize,
        len: AtomicUsize,
    }

    static ASKED: Asked = Asked {
        bytes: [const { AtomicU8::new(0) }; PATH_LEN],
        directory: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
    };

    /// Opens the file that `pattern` names; one beside it where another process holds that one.
    pub(crate) fn open(pattern: &[u8]) -> Option<RingFile> {
        let mut asked = Path::new();
        if !pattern.starts_with(b"/") {
            asked.push_working_directory(pattern.len());
        }
        let directory = asked.len;
        asked.push(pattern);
        let file = open_asked(&asked, directory, false)?;
        ASKED.bytes.iter().zip(asked.bytes).for_each(|(to, byte)| to.store(byte, Ordering::Relaxed));
        ASKED.directory.store(directory, Ordering::Relaxed);
        ASKED.len.store(asked.len, Ordering::Relaxed);
        Some(file)
    }

    fn open_asked(asked: &Path, directory: usize, in_child: bool) -> Option<RingFile> {
        let mut path = Path::new();
        path.push(&asked.bytes[..directory]);
        let is_own = path.expand(&asked.bytes[directory..asked.len]);
        let create = |path: &Path| match get() {
            // Set up once more: our own lock is no other process's.
            Some(file) if file.is_at(path.as_c_str()) => Ok(file),
            _ => RingFile::create(path.as_c_str(), holds_own_rings),
        };
        // The name is the first parent's, though it may have ended.
        let mut file = if in_child && !is_own { Err(NoFile::Held) } else { create(&path) };
        if matches!(file, Err(NoFile::Held)) {
            path.push_pid();
            file = create(&path);
        }
        if matches!(file, Err(NoFile::Kept)) {
            let mut aside = path.clone();
            aside.push_pid();
            sys::rename(path.as_c_str(), aside.as_c_str());
            file = RingFile::create(path.as_c_str(), |_| false);
        }
        let file = file.ok()?;
        DEVICE.store(file.device, Ordering::Relaxed);
        INODE.store(file.inode, Ordering::Relaxed);
        FD.store(file.fd, Ordering::Release);
        Some(file)
    }

    /// Whether a file that begins so is of this very process: of what it ran before an `exec`.
    fn holds_own_rings(begin: &[u8; 128]) -> bool {
        let pid_at = match begin.first_chunk() {
            Some(&ring::MAGIC) => ring::PID_OFFSET,
            Some(&ring::ever::MAGIC) => ring::ever::PID_AT,
            _ => return false,
        };
        begin[pid_at..].starts_with(&sys::pid().to_ne_bytes())
    }

    /// In a forked child: the file that there is is the parent's. Whether there is one.
    pub(crate) fn forget() -> bool {
        let of_parent = get();
        FD.store(-1, Ordering::Release);
        of_parent.map(RingFile::close).is_some()
    }

    /// In a forked child: the parent's file stays the parent's, and is locked for as long as the parent lives.
    pub(crate) fn reopen_in_child() {
        if forget() {
            let bytes = core::array::from_fn(|at| ASKED.bytes[at].load(Ordering::Relaxed));
            let asked = Path { bytes, len: ASKED.len.load(Ordering::Relaxed) };
            open_asked(&asked, ASKED.directory.load(Ordering::Relaxed), true);
        }
    }

    /// A C string on the stack.
    #[derive(Clone)]
    struct Path {
        bytes: [u8; PATH_LEN],
        len: usize,
    }

    impl Path {
        fn new() -> Path {
            Path { bytes: [0; PATH_LEN], len: 0 }
        }

        fn push(&mut self, bytes: &[u8]) {
            let room = PATH_LEN - 1 - self.len;
            let bytes = &bytes[..bytes.len().min(room)];
            self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
            self.len += bytes.len();
        }

        /// With a slash behind it, when there is room for so much more.
        fn push_working_directory(&mut self, more: usize) {
            let mut directory = [0; PATH_LEN];
            let len = sys::working_directory(&mut directory);
            if len > 0 && len + 1 + more < PATH_LEN {
                self.push(&directory[..len]);
                self.push(b"/");
            }
        }

        fn push_pid(&mut self) {
            self.push(b".");
            self.push_number(sys::pid());
        }

        fn push_number(&mut self, number: u32) {
            let mut digits = [0; 10];
            let mut at = digits.len();
            let mut rest = number;
            loop {
                at -= 1;
                digits[at] = b'0' + (rest % 10) as u8;
                rest /= 10;
                if rest == 0 {
                    break;
                }
            }
            self.push(&digits[at..]);
        }

        /// Fills in `%p` and `%e`, and any other `%x` as it stands. Whether there was a `%p`: the name is this process's own.
        fn expand(&mut self, pattern: &[u8]) -> bool {
            let mut rest = pattern;
            let mut is_own = false;
            while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
                self.push(&rest[..at]);
                match rest.get(at + 1) {
                    Some(b'p') => {
                        self.push_number(sys::pid());
                        is_own = true;
                    }
                    Some(b'e') => {
                        let mut name = [0; 256];
                        let len = sys::program_name(&mut name);
                        self.push(&name[..len]);
                    }
                    Some(other) => self.push(&[b'%', *other]),
                    None => self.push(b"%"),
                }
                rest = rest.get(at + 2..).unwrap_or(&[]);
            }
            self.push(rest);
            is_own
        }

        fn as_c_str(&self) -> &CStr {
            CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn patterns_name_the_process() {
            let mut path = Path::new();
            path.expand(b"/tmp/%e-%p-%q%");
            let text = path.as_c_str().to_str().expect("UTF-8").to_owned();
            assert!(text.starts_with("/tmp/xhist_rt-"), "{text}");
            assert!(text.ends_with(&format!("-{}-%q%", std::process::id())), "{text}");
        }

        #[test]
        fn what_is_no_file_gets_none_beside_it() {
            let name = format!("xhist-no-file-{}", std::process::id());
            let directory = std::env::temp_dir().join(&name);
            std::fs::create_dir(&directory).expect("a new directory");
            assert!(open(directory.as_os_str().as_encoded_bytes()).is_none());
            std::fs::remove_dir(&directory).expect("it is empty");
            let entries = std::fs::read_dir(std::env::temp_dir()).expect("a directory").flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            assert_eq!(names.filter(|other| other.starts_with(&name)).count(), 0);
        }

        #[test]
        fn a_long_pattern_is_cut() {
            let mut path = Path::new();
            path.expand(&[b'a'; 5000]);
            assert_eq!(path.as_c_str().count_bytes(), PATH_LEN - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_what_a_ring_can_be() {
        assert_eq!(parse_size("65536"), Some(65536));
        assert_eq!(parse_size("1000"), Some(1024));
        assert_eq!(parse_size("64k"), Some(65536));
        assert_eq!(parse_size("1"), Some(MIN_SIZE));
        assert_eq!(parse_size("9g"), Some(MAX_SIZE));
        assert_eq!(parse_size("99999999999999999999g"), None);
        assert_eq!(parse_size("many"), None);
        assert_eq!(parse_size(""), None);
    }
}
