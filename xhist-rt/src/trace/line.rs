//! Lines of a log: texts of the program as exception events, in their places between the statements.

use core::fmt::{self, Write};

use qs_core::record::trace::{Class, Code, Event, Severity};

use super::logger::{event, is_logged};

/// Bytes of a line that are kept. With the rest of its event they fit into a record.
const LEN: usize = 400;
/// What ends a line that was cut.
const CUT: &str = "...";
/// Bytes of what says how much more there was.
#[cfg(all(feature = "trace", feature = "std"))]
const MORE: usize = 40;

/// How serious a line is, as the crates `log` and `tracing` have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    /// Very serious.
    Error,
    /// Dangerous.
    Warn,
    /// Useful.
    Info,
    /// Of lower priority.
    Debug,
    /// Very verbose.
    Trace,
}

impl LogLevel {
    /// The code and the severity of its lines.
    const fn kind(self) -> (Code, Severity) {
        match self {
            LogLevel::Error => (Code::LOG_ERROR, Severity::Sw2),
            LogLevel::Warn => (Code::LOG_WARN, Severity::Sw1),
            LogLevel::Info => (Code::LOG_INFO, Severity::Sw0),
            LogLevel::Debug => (Code::LOG_DEBUG, Severity::Sw0),
            LogLevel::Trace => (Code::LOG_TRACE, Severity::Sw0),
        }
    }
}

/// Records a line of a log, if there is a [`logger`](super::logger): an exception event with the text `TARGET: TEXT`. Long
/// lines are cut. The text is made in place: nothing is allocated.
///
/// ```
/// use xhist_rt::trace::{self, LogLevel};
/// trace::set_logger(Some(trace::to_ring));
/// trace::line(LogLevel::Warn, "net", format_args!("{} of {} packets lost", 3, 20));
/// ```
pub fn line(level: LogLevel, target: &str, text: fmt::Arguments<'_>) {
    if !is_logged() {
        return;
    }
    let mut line = LineText::new();
    // A `Display` that fails leaves what it wrote.
    let _ = match target {
        "" => line.write_fmt(text),
        target => write!(line, "{target}: {text}"),
    };
    let (code, severity) = level.kind();
    event(&Event { class: Class::Exception { severity, code }, args: &[], buffer: Some(line.finish()) });
}

/// The beginning of a text.
pub(super) struct LineText {
    bytes: [u8; LEN],
    len: usize,
    is_cut: bool,
}

impl LineText {
    pub(super) const fn new() -> LineText {
        LineText { bytes: [0; LEN], len: 0, is_cut: false }
    }

    /// The beginning of bytes without a line end behind them, and how many more there are. The bytes may be of any kind.
    #[cfg(all(feature = "trace", feature = "std"))]
    pub(super) fn finish_bytes(&mut self, bytes: impl Iterator<Item = u8>, len: usize) -> &[u8] {
        for (place, byte) in self.bytes.iter_mut().zip(bytes.take(len)) {
            *place = byte;
            self.len += 1;
        }
        if len > LEN && self.len == LEN {
            self.len = self.start_of_character(LEN - MORE);
            // There is room for both.
            let _ = write!(self, "{CUT} {} bytes more", len - self.len);
        } else if self.bytes[..self.len].ends_with(b"\n") {
            self.len -= 1;
        }
        &self.bytes[..self.len]
    }

    /// Where the character begins that has the byte at this place. Bytes that are no text may be cut anywhere.
    fn start_of_character(&self, end: usize) -> usize {
        let is_start = |at: &usize| self.bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        (end.saturating_sub(3)..=end).rev().find(is_start).unwrap_or(end)
    }

    pub(super) fn finish(&mut self) -> &[u8] {
        if self.is_cut {
            let end = self.start_of_character(self.len.min(LEN - CUT.len()));
            self.len = end + CUT.len();
            self.bytes[end..self.len].copy_from_slice(CUT.as_bytes());
        }
        &self.bytes[..self.len]
    }
}

impl Write for LineText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = if self.is_cut { 0 } else { LEN - self.len };
        let taken = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.len..self.len + taken.len()].copy_from_slice(taken);
        self.len += taken.len();
        self.is_cut |= taken.len() < text.len();
        Ok(())
    }
}

/// Makes a logger for the crate [`log`](https://docs.rs/log) that records each line and passes it on to another logger.
///
/// The crate is the program's own, so that its version is, too. Lines are recorded up to `log::max_level`, also those that the
/// other logger leaves out.
///
/// ```ignore
/// xhist_rt::log_recorder! {
///     /// Lines are in the history.
///     struct Recorded;
/// }
///
/// let logger = env_logger::Builder::from_default_env().build();
/// log::set_max_level(logger.filter());
/// log::set_boxed_logger(Box::new(Recorded(logger))).unwrap();
/// ```
#[macro_export]
macro_rules! log_recorder {
    ($(#[$meta:meta])* $visible:vis struct $name:ident;) => {
        $(#[$meta])*
        $visible struct $name<L>($visible L);

        impl<L: ::log::Log> ::log::Log for $name<L> {
            fn enabled(&self, metadata: &::log::Metadata<'_>) -> bool {
                self.0.enabled(metadata)
            }

            fn log(&self, record: &::log::Record<'_>) {
                let level = match record.level() {
                    ::log::Level::Error => $crate::trace::LogLevel::Error,
                    ::log::Level::Warn => $crate::trace::LogLevel::Warn,
                    ::log::Level::Info => $crate::trace::LogLevel::Info,
                    ::log::Level::Debug => $crate::trace::LogLevel::Debug,
                    ::log::Level::Trace => $crate::trace::LogLevel::Trace,
                };
                $crate::trace::line(level, record.target(), *record.args());
                self.0.log(record);
            }

            fn flush(&self) {
                self.0.flush();
            }
        }
    };
}

/// Makes a layer for the crate [`tracing-subscriber`](https://docs.rs/tracing-subscriber) that records each event: its
/// message, then its fields. The program needs `tracing` and `tracing-subscriber`.
///
/// Spans are not recorded: the history has the calls.
///
/// ```ignore
/// xhist_rt::tracing_recorder! {
///     /// Events are in the history.
///     struct Recorded;
/// }
///
/// tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(Recorded).init();
/// ```
#[macro_export]
macro_rules! tracing_recorder {
    ($(#[$meta:meta])* $visible:vis struct $name:ident;) => {
        $(#[$meta])*
        $visible struct $name;

        impl<S: ::tracing::Subscriber> ::tracing_subscriber::Layer<S> for $name {
            fn on_event(
                &self,
                event: &::tracing::Event<'_>,
                _: ::tracing_subscriber::layer::Context<'_, S>,
            ) {
                struct Text<'e, 'v>(&'e ::tracing::Event<'v>);

                impl ::core::fmt::Display for Text<'_, '_> {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        let mut fields = Fields { to: f, gap: "", result: ::core::result::Result::Ok(()) };
                        self.0.record(&mut fields);
                        fields.result
                    }
                }

                struct Fields<'f, 't> {
                    to: &'f mut ::core::fmt::Formatter<'t>,
                    gap: &'static str,
                    result: ::core::fmt::Result,
                }

                impl ::tracing::field::Visit for Fields<'_, '_> {
                    fn record_debug(
                        &mut self,
                        field: &::tracing::field::Field,
                        value: &dyn ::core::fmt::Debug,
                    ) {
                        let written = match field.name() {
                            "message" => ::core::write!(self.to, "{}{value:?}", self.gap),
                            name => ::core::write!(self.to, "{}{name}={value:?}", self.gap),
                        };
                        self.gap = " ";
                        self.result = self.result.and(written);
                    }
                }

                let metadata = event.metadata();
                let level = match *metadata.level() {
                    ::tracing::Level::ERROR => $crate::trace::LogLevel::Error,
                    ::tracing::Level::WARN => $crate::trace::LogLevel::Warn,
                    ::tracing::Level::INFO => $crate::trace::LogLevel::Info,
                    ::tracing::Level::DEBUG => $crate::trace::LogLevel::Debug,
                    ::tracing::Level::TRACE => $crate::trace::LogLevel::Trace,
                };
                $crate::trace::line(level, metadata.target(), ::core::format_args!("{}", Text(event)));
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[&str]) -> String {
        let mut line = LineText::new();
        pieces.iter().for_each(|piece| line.write_str(piece).expect("it takes any text"));
        String::from_utf8(line.finish().to_vec()).expect("whole characters")
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let fits = "a".repeat(LEN);
        assert_eq!(text(&[&fits]), fits);
        assert_eq!(text(&[&fits, ""]), fits);
        for long in ["é", "€", "𝄞"] {
            for shift in 0..4 {
                let long = format!("{}{}", &fits[..shift], long.repeat(LEN));
                let cut = text(&[&long, "more"]);
                let kept = cut.strip_suffix(CUT).expect("it is cut");
                assert!(long.starts_with(kept) && cut.len() <= LEN && cut.len() > LEN - 8, "{cut}");
            }
        }
        assert_eq!(text(&["b", &fits, "c"]).len(), LEN);
    }

    #[cfg(all(feature = "trace", feature = "std"))]
    #[test]
    fn of_many_bytes_the_beginning_and_the_number_of_the_others_are_kept() {
        let kept = |bytes: &[u8]| LineText::new().finish_bytes(bytes.iter().copied(), bytes.len()).to_vec();
        assert_eq!(
            (kept(b"a\xffb\n"), kept(b"\n\n"), kept(b"")),
            (b"a\xffb".to_vec(), b"\n".to_vec(), b"".to_vec())
        );
        assert_eq!(kept(&[7; LEN]), [7; LEN]);
        for unit in ["a", "é", "€", "𝄞"] {
            let long = unit.repeat(2 * LEN);
            let text = String::from_utf8(kept(long.as_bytes())).expect("whole characters");
            let (begin, more) = text.split_once("... ").expect("it is cut");
            assert!(text.len() <= LEN && long.starts_with(begin), "{text}");
            assert_eq!(more, format!("{} bytes more", long.len() - begin.len()));
        }
        // Bytes within a character only.
        let kept = kept(&[0x80; 5000]);
        assert!(kept.ends_with(b"... 4640 bytes more") && kept.starts_with(&[0x80; LEN - MORE]));
    }
}
