//! The settings: one table of the variables that the recorder reads, and of their allowed values. Values that cannot
//! be used are printed on standard error, and so are misspelt names of settings.

use core::ffi::CStr;
use core::fmt::{self, Display};

use qs_core::ring::MAX_SIZE;
use qs_core::ring::executed::MAX_SLOTS;

use crate::ring_size::MIN_SIZE;

use crate::hosted::system::message;
use crate::hosted::system::message::Shown;
use crate::hosted::system::sys;

/// A variable of the environment that the recorder reads.
pub(crate) struct Setting {
    name: &'static CStr,
    /// Whether the recorder can use this value.
    is_usable: fn(&str) -> bool,
    /// The allowed values, as text; empty if every value is allowed.
    form: &'static str,
    /// What happens with another value; empty if the usual size is used.
    instead: &'static str,
}

/// `XHIST`: `off` records nothing, `wait` nothing before a trigger starts it.
pub(crate) const SWITCH: Setting = Setting {
    name: c"XHIST",
    is_usable: |text| is_word(text, &["on", "1", "off", "0", "wait"]),
    form: "on, off or wait",
    instead: "recording is on",
};
/// `XHIST_SIZE`: bytes of each ring.
pub(crate) const SIZE: Setting = Setting {
    name: c"XHIST_SIZE",
    is_usable: |text| parse_size(text).is_some(),
    form: "a size (bytes, k, m, g)",
    instead: "",
};
/// `XHIST_FILE`: keep the rings in this file; `%p` is the process id, `%e` the program's name.
pub(crate) const FILE: Setting = Setting { name: c"XHIST_FILE", is_usable: |_| true, form: "", instead: "" };
/// `XHIST_TIME`: `on` stamps every statement (with the feature `each`; otherwise those that check for room), `off`
/// stamps nothing. By default chunks are stamped.
pub(crate) const TIME: Setting = Setting {
    name: c"XHIST_TIME",
    is_usable: |text| is_word(text, &["on", "1", "off", "0"]),
    form: "on or off",
    instead: "frames are stamped",
};
/// `XHIST_FRAMES`: `single` gives each statement a frame of its own (with the feature `each`; otherwise each check).
/// `exact` does so with a count that all threads share instead of the time. The default is `packed`.
pub(crate) const FRAMES: Setting = Setting {
    name: c"XHIST_FRAMES",
    is_usable: |text| is_word(text, &["packed", "single", "exact"]),
    form: "packed, single or exact",
    instead: "packed is used",
};
/// `XHIST_EVER`: `on`, or a number of pages of 96 lines, to remember which statements ever ran; `threads` to write for each
/// thread which statements it ran, to a file beside the ring file.
pub(crate) const EVER: Setting = Setting {
    name: c"XHIST_EVER",
    is_usable: |text| parse_ever(text).is_some() || is_threads(text),
    form: "on, off, threads or a number of pages",
    instead: "off is used",
};
/// `XHIST_CLOCK`: `monotonic` always takes the system's clock.
pub(crate) const CLOCK: Setting = Setting {
    name: c"XHIST_CLOCK",
    is_usable: |text| is_word(text, &["counter", "monotonic"]),
    form: "counter or monotonic",
    instead: "the counter is used where it is steady",
};
/// `XHIST_SANDBOX`: `on` makes no system call that a sandbox may kill for, `strict` does not read the counter either.
/// By default the recorder follows when the program installs a filter. `off` means that no filter kills.
pub(crate) const SANDBOX: Setting = Setting {
    name: c"XHIST_SANDBOX",
    is_usable: |text| is_word(text, &["on", "strict", "off"]),
    form: "on, strict or off",
    instead: "it is on once the program installs a filter",
};
/// `XHIST_PANIC`: whether the panic hook prints how to read the history.
pub(crate) const PANIC: Setting = Setting {
    name: c"XHIST_PANIC",
    is_usable: |text| is_word(text, &["on", "1", "off", "0"]),
    form: "on or off",
    instead: "it is ignored",
};
/// `XHIST_MAP_HASH`: hash of the map, for programs without an instrumented `main`.
pub(crate) const MAP_HASH: Setting = Setting {
    name: c"XHIST_MAP_HASH",
    is_usable: |text| u64::from_str_radix(text, 16).is_ok(),
    form: "a hash (up to 16 hexadecimal digits)",
    instead: "it is ignored",
};

/// All variables that the recorder reads.
const SETTINGS: [&Setting; 10] =
    [&SWITCH, &SIZE, &FILE, &TIME, &CLOCK, &FRAMES, &EVER, &SANDBOX, &PANIC, &MAP_HASH];

/// Builds read this one for `name_files!`. Its name is near [`FILE`].
const OF_BUILDS: &[u8] = b"XHIST_FILES";

impl Setting {
    /// The value, unless it is empty. A program with more rights than its caller reads none, because the caller has
    /// chosen them all.
    pub(crate) fn value(&self) -> Option<&'static [u8]> {
        if sys::has_more_rights_than_its_caller() {
            return None;
        }
        sys::getenv(self.name).filter(|value| !value.is_empty())
    }

    /// The value, if the recorder can use it.
    pub(crate) fn text(&self) -> Option<&'static str> {
        let text = core::str::from_utf8(self.value()?).ok()?.trim();
        (self.is_usable)(text).then_some(text)
    }

    /// Whether the value is one of these words.
    pub(crate) fn is(&self, words: &[&str]) -> bool {
        self.text().is_some_and(|text| is_word(text, words))
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name.to_str().unwrap_or_default()
    }

    /// Prints a value that cannot be used, and what is used instead.
    fn check(&self, size: u32) {
        if let Some(value) = self.value().filter(|_| !self.form.is_empty() && self.text().is_none()) {
            let (name, form, instead) = (self.name(), self.form, self.instead);
            match instead {
                "" => message::print(format_args!(
                    "{name}={} is not {form}: {} is used",
                    Shown(value),
                    Size(size)
                )),
                _ => message::print(format_args!("{name}={} is not {form}: {instead}", Shown(value))),
            }
        }
    }
}

/// Prints what is wrong with the settings. `size` is the size of a ring in bytes if no setting changes it.
pub(crate) fn check(size: u32) {
    if sys::has_more_rights_than_its_caller() {
        if SETTINGS.iter().any(|setting| sys::getenv(setting.name).is_some()) {
            message::print(format_args!(
                "this program has more rights than its caller: XHIST variables are ignored; the history stays in memory"
            ));
        }
        return;
    }
    SETTINGS.iter().for_each(|setting| setting.check(size));
    check_limits();
    check_each();
    sys::for_each_variable(|name| {
        if let Some(meant) = setting_meant(name) {
            let meant = meant.name();
            message::print(format_args!(
                "{} is not a setting (is {meant} meant?): it is ignored",
                Shown(name)
            ));
        }
    });
}

/// Prints that the setting applies only to some statements: only with the feature `each` all of them check.
fn check_each() {
    let asked = [(&FRAMES, &["single", "exact"][..]), (&TIME, &["on", "1"])];
    let asked = asked.iter().find(|(setting, words)| setting.is(words)).filter(|_| !cfg!(feature = "each"));
    if let Some((name, value)) = asked.and_then(|(setting, _)| Some((setting.name(), setting.text()?))) {
        message::print(format_args!(
            "{name}={value} reaches function entries and heads of loops only: for every statement, set it for cargo xhist as \
             well, or build with the feature `each` of xhist-rt"
        ));
    }
}

/// The setting that a misspelt name is near to. Other unknown names are not reported: they belong to other programs, of
/// ours or not.
fn setting_meant(name: &[u8]) -> Option<&'static Setting> {
    let is_known = name == OF_BUILDS || SETTINGS.iter().any(|setting| setting.name.to_bytes() == name);
    if is_known || !name.starts_with(b"XHIST") {
        return None;
    }
    SETTINGS.into_iter().find(|setting| is_near(name, setting.name.to_bytes()))
}

/// Whether one name becomes the other when one byte is added, removed or replaced, or when two neighbours are
/// swapped.
fn is_near(one: &[u8], other: &[u8]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    let (a, b) = (&one[same..], &other[same..]);
    let equal = |a: Option<&[u8]>, b: Option<&[u8]>| match (a, b) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => false,
    };
    let swapped =
        a.len() >= 2 && b.len() >= 2 && a[0] == b[1] && a[1] == b[0] && equal(a.get(2..), b.get(2..));
    equal(Some(a), Some(b))
        || equal(a.get(1..), Some(b))
        || equal(Some(a), b.get(1..))
        || equal(a.get(1..), b.get(1..))
        || swapped
}

/// Upper and lower case are equal.
fn is_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Bytes, or with a suffix `k`, `m`, `g`; rounded up to a size that a ring can have.
pub(crate) fn parse_size(text: &str) -> Option<u32> {
    bytes(text).map(ring_size)
}

/// The size of a ring that has room for these bytes, as far as a ring can.
pub(super) fn ring_size(bytes: u64) -> u32 {
    let (least, most) = sizes();
    bytes.clamp(least.into(), most.into()).next_power_of_two() as u32
}

fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The smallest and the largest ring. Each is mapped separately, so none is smaller than a page.
fn sizes() -> (u32, u32) {
    (MIN_SIZE.max(sys::page_size() as u32), MAX_SIZE)
}

/// Prints that no ring has the size that is asked for.
fn check_limits() {
    let (least, most) = sizes();
    let Some(text) = SIZE.text() else { return };
    let asked = bytes(text).filter(|bytes| !(u64::from(least)..=u64::from(most)).contains(bytes));
    if let Some(used) = asked.and_then(|_| parse_size(text)) {
        let (least, most, used) = (Size(least), Size(most), Size(used));
        message::print(format_args!(
            "{}={text} is not between {least} and {most}: {used} is used",
            SIZE.name()
        ));
    }
}

/// Whether `XHIST_EVER` asks for a spectrum of each thread.
pub(crate) fn is_threads(text: &str) -> bool {
    is_word(text, &["threads"])
}

/// Slots of the executed bitmap.
pub(crate) fn parse_ever(text: &str) -> Option<u32> {
    /// Enough pages for a program of about half a million lines.
    const DEFAULT: u32 = 8192;
    match text {
        on if is_word(on, &["on"]) => Some(DEFAULT),
        off if is_word(off, &["off", "0"]) => Some(0),
        number => Some(number.parse::<u32>().ok()?.clamp(16, MAX_SLOTS).next_power_of_two()),
    }
}

/// Bytes, in the largest unit that divides them.
struct Size(u32);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            size if size % (1 << 30) == 0 => write!(f, "{} GiB", size >> 30),
            size if size % (1 << 20) == 0 => write!(f, "{} MiB", size >> 20),
            size if size % (1 << 10) == 0 => write!(f, "{} KiB", size >> 10),
            size => write!(f, "{size} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_sizes_of_rings() {
        assert_eq!(parse_size("65536"), Some(65536));
        assert_eq!(parse_size("65537"), Some(131_072));
        assert_eq!(parse_size("64k"), Some(65536));
        assert_eq!(parse_size("1k"), Some(sys::page_size() as u32));
        assert_eq!(parse_size("9g"), Some(MAX_SIZE));
        assert_eq!(ring_size(1), sys::page_size() as u32, "of a size that is compiled in, too");
        for wrong in ["99999999999999999999g", "many", "", "5x", "-5", "1.5m", "k"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        assert_eq!(
            [Size(256 << 10), Size(2 << 20), Size(100)].map(|size| size.to_string()).join(" "),
            "256 KiB 2 MiB 100 bytes"
        );
    }

    #[test]
    fn keywords_may_be_written_in_any_case() {
        for (setting, usable, wrong) in [
            (&SWITCH, "Off", "offf"),
            (&TIME, "ON", "yes"),
            (&FRAMES, "Exact", "nope"),
            (&EVER, "512", "some"),
            (&EVER, "Threads", "thread"),
            (&SANDBOX, "Strict", "yes"),
            (&PANIC, "0", "16"),
            (&MAP_HASH, "00000000000000A7", "0x12"),
        ] {
            assert!((setting.is_usable)(usable), "{}={usable}", setting.name());
            assert!(!(setting.is_usable)(wrong), "{}={wrong}", setting.name());
        }
    }

    #[test]
    fn misspelt_names_are_near_to_a_setting() {
        let meant = |name: &str| setting_meant(name.as_bytes()).map(Setting::name);
        assert_eq!((meant("XHIST_FLIE"), meant("XHIST_FILE_")), (Some("XHIST_FILE"), Some("XHIST_FILE")));
        let others = ["XHIST_FILE", "XHIST", "XHIST_FILES", "XHIST_KEEP", "XHIST_SPEED", "XHISTORY", "FILE"];
        assert_eq!(others.map(meant), [None; 7], "of a setting, a tool, another program");
        for near in ["XHIST_FLIE", "XHIST_FIL", "XHIST_FILEE", "XHIST_FILA", "xhist_file", "XHISTFILE"] {
            assert!(is_near(near.as_bytes(), b"XHIST_FILE"), "{near}");
        }
        for far in ["XHIST_FI", "XHIST_FLEI_", "XHIST", "XHIST_LIFE"] {
            assert!(!is_near(far.as_bytes(), b"XHIST_FILE"), "{far}");
        }
    }
}
