//! The settings: one table of the variables that the recorder reads, with what a value must be. A value that cannot be
//! used, and a name that looks like one of ours and is not, is named on standard error.

use core::ffi::CStr;
use core::fmt::{self, Display};

use qs_core::ring::MAX_SIZE;
use qs_core::ring::ever::MAX_SLOTS;

use crate::size::MIN_SIZE;

use super::message::{self, Shown};
use super::sys;

/// A variable of the environment that the recorder reads.
pub(super) struct Setting {
    name: &'static CStr,
    /// Whether the recorder can use this value.
    is_usable: fn(&str) -> bool,
    /// What a value must be; empty where any value may do.
    form: &'static str,
    /// What happens with another value; empty where the usual size is used.
    instead: &'static str,
}

/// `XHIST`: `off` records nothing, `wait` nothing before a trigger starts it.
pub(super) const SWITCH: Setting = Setting {
    name: c"XHIST",
    is_usable: |text| is_word(text, &["on", "1", "off", "0", "wait"]),
    form: "on, off or wait",
    instead: "recording is on",
};
/// `XHIST_SIZE`: bytes of each ring.
pub(super) const SIZE: Setting = Setting {
    name: c"XHIST_SIZE",
    is_usable: |text| parse_size(text).is_some(),
    form: "a size (bytes, k, m, g)",
    instead: "",
};
/// `XHIST_FILE`: keep the rings in this file; `%p` is the process id, `%e` the program's name.
pub(super) const FILE: Setting = Setting { name: c"XHIST_FILE", is_usable: |_| true, form: "", instead: "" };
/// `XHIST_TIME`: `on` stamps every statement (with the feature `each`; otherwise those that check for room), `off` none; by
/// default chunks are stamped.
pub(super) const TIME: Setting = Setting {
    name: c"XHIST_TIME",
    is_usable: |text| is_word(text, &["on", "1", "off", "0"]),
    form: "on or off",
    instead: "frames are stamped",
};
/// `XHIST_FRAMES`: `single` gives each statement a frame of its own (as above), `exact` does so with a count that all
/// threads share instead of the time; by default `packed`.
pub(super) const FRAMES: Setting = Setting {
    name: c"XHIST_FRAMES",
    is_usable: |text| is_word(text, &["packed", "single", "exact"]),
    form: "packed, single or exact",
    instead: "packed is used",
};
/// `XHIST_EVER`: `on`, or a number of pages of 96 lines, to remember which statements ever ran.
pub(super) const EVER: Setting = Setting {
    name: c"XHIST_EVER",
    is_usable: |text| parse_ever(text).is_some(),
    form: "on, off or a number of pages",
    instead: "off is used",
};
/// `XHIST_CLOCK`: `monotonic` takes the system's clock in any case.
pub(super) const CLOCK: Setting = Setting {
    name: c"XHIST_CLOCK",
    is_usable: |text| is_word(text, &["counter", "monotonic"]),
    form: "counter or monotonic",
    instead: "the counter is used where it is steady",
};
/// `XHIST_PANIC`: lines that the panic hook prints.
pub(super) const PANIC: Setting = Setting {
    name: c"XHIST_PANIC",
    is_usable: |text| text.parse::<u32>().is_ok(),
    form: "a number of lines",
    instead: "it is ignored",
};
/// `XHIST_MAP`: the map for names under a panic message.
pub(super) const MAP: Setting = Setting { name: c"XHIST_MAP", is_usable: |_| true, form: "", instead: "" };
/// `XHIST_MAP_HASH`: hash of the map, for programs without an instrumented `main`.
pub(super) const MAP_HASH: Setting = Setting {
    name: c"XHIST_MAP_HASH",
    is_usable: |text| u64::from_str_radix(text, 16).is_ok(),
    form: "a hash (up to 16 hexadecimal digits)",
    instead: "it is ignored",
};

/// All of them.
const SETTINGS: [&Setting; 10] =
    [&SWITCH, &SIZE, &FILE, &TIME, &CLOCK, &FRAMES, &EVER, &PANIC, &MAP, &MAP_HASH];

/// Names that others read: builds with the recorder, our tools, our tests. `*` ends the begin of a name.
const OF_OTHERS: [&str; 25] = [
    "XHIST_BIG",
    "XHIST_BLESS",
    "XHIST_CACHE",
    "XHIST_DUMPS",
    "XHIST_FILES",
    "XHIST_FMT",
    "XHIST_FRAMES_STEPPED",
    "XHIST_FUZZ_*",
    "XHIST_KEEP",
    "XHIST_KILLS",
    "XHIST_METAL_BESIDE",
    "XHIST_PROGRAMS",
    "XHIST_QSPY",
    "XHIST_QS_*",
    "XHIST_QUTEST",
    "XHIST_REGISTRY",
    "XHIST_REPORT",
    "XHIST_RING",
    "XHIST_RING_*",
    "XHIST_RT",
    "XHIST_SEED",
    "XHIST_SOAK",
    "XHIST_TEST",
    "XHIST_TESTS_*",
    "XHIST_VARIANTS",
];

impl Setting {
    /// The value, unless it is empty. A program with more rights than its caller reads none, because the caller
    /// chose them all.
    pub(super) fn value(&self) -> Option<&'static [u8]> {
        if sys::has_more_rights_than_its_caller() {
            return None;
        }
        sys::getenv(self.name).filter(|value| !value.is_empty())
    }

    /// The value, if the recorder can use it.
    pub(super) fn text(&self) -> Option<&'static str> {
        let text = core::str::from_utf8(self.value()?).ok()?.trim();
        (self.is_usable)(text).then_some(text)
    }

    /// Whether it is one of these words.
    pub(super) fn is(&self, words: &[&str]) -> bool {
        self.text().is_some_and(|text| is_word(text, words))
    }

    pub(super) fn name(&self) -> &'static str {
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

/// Prints what is wrong with the settings. `size`: bytes of a ring without one.
pub(super) fn check(size: u32) {
    if sys::has_more_rights_than_its_caller() {
        if SETTINGS.iter().any(|setting| sys::getenv(setting.name).is_some()) {
            message::print(format_args!(
                "this program has more rights than its caller: XHIST variables are ignored; the history stays in memory"
            ));
        }
        return;
    }
    SETTINGS.iter().for_each(|setting| setting.check(size));
    check_each();
    sys::for_each_variable(|name| {
        if name.starts_with(b"XHIST") && !is_known(name) {
            check_unknown(name);
        }
    });
}

/// Prints that not all statements can have what is asked for: only with the feature `each` they all check.
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

/// Whether a variable is one of ours.
fn is_known(name: &[u8]) -> bool {
    SETTINGS.iter().any(|setting| setting.name.to_bytes() == name)
        || OF_OTHERS.iter().any(|other| match other.strip_suffix('*') {
            Some(begin) => name.starts_with(begin.as_bytes()),
            None => name == other.as_bytes(),
        })
}

/// Prints a name that begins like ours. Without an underscore it may be a word of another program.
fn check_unknown(name: &[u8]) {
    let near = SETTINGS.iter().find(|setting| is_near(name, setting.name.to_bytes()));
    match near {
        Some(near) => message::print(format_args!(
            "{} is not a setting (is {} meant?): it is ignored",
            Shown(name),
            near.name()
        )),
        None if name.starts_with(b"XHIST_") => {
            message::print(format_args!("{} is not a setting: it is ignored", Shown(name)));
        }
        None => {}
    }
}

/// Whether one becomes the other when one byte is added, taken away or replaced, or two neighbours change places.
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

/// Words may be written large.
fn is_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Bytes, or with a suffix `k`, `m`, `g`; rounded up to what a ring can be.
pub(super) fn parse_size(text: &str) -> Option<u32> {
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
pub(super) fn parse_ever(text: &str) -> Option<u32> {
    /// Pages of a program of half a million lines or so.
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
    fn sizes_are_rounded_up_to_what_a_ring_can_be() {
        assert_eq!(parse_size("65536"), Some(65536));
        assert_eq!(parse_size("1000"), Some(1024));
        assert_eq!(parse_size("64k"), Some(65536));
        assert_eq!(parse_size("1"), Some(MIN_SIZE));
        assert_eq!(parse_size("9g"), Some(MAX_SIZE));
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
    fn words_are_usable_however_they_are_written() {
        for (setting, usable, wrong) in [
            (&SWITCH, "Off", "offf"),
            (&TIME, "ON", "yes"),
            (&FRAMES, "Exact", "nope"),
            (&EVER, "512", "some"),
            (&PANIC, "0", "-1"),
            (&MAP_HASH, "00000000000000A7", "0x12"),
        ] {
            assert!((setting.is_usable)(usable), "{}={usable}", setting.name());
            assert!(!(setting.is_usable)(wrong), "{}={wrong}", setting.name());
        }
    }

    #[test]
    fn names_are_known_or_near_one_that_is() {
        assert!(is_known(b"XHIST_FILE") && is_known(b"XHIST_QS_SIZES") && is_known(b"XHIST_FILES"));
        assert!(!is_known(b"XHIST_FLIE") && !is_known(b"XHIST_FILESX"));
        for near in ["XHIST_FLIE", "XHIST_FIL", "XHIST_FILEE", "XHIST_FILA", "xhist_file", "XHISTFILE"] {
            assert!(is_near(near.as_bytes(), b"XHIST_FILE"), "{near}");
        }
        for far in ["XHIST_FI", "XHIST_FLEI_", "XHIST", "XHIST_LIFE"] {
            assert!(!is_near(far.as_bytes(), b"XHIST_FILE"), "{far}");
        }
    }
}
