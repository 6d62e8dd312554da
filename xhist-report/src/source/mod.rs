//! Sources of bytes: files, standard input and live links.
//!
//! A new kind of source is a file here and a row of [`SOURCES`]. Its help text is what `--help` prints.

mod core;
mod error;
mod file;
mod hex;
mod holes;
#[allow(unsafe_code, reason = "maps files, and handles the signal of a file that became shorter")]
mod image;
mod kept;
pub mod link;
mod live;
mod opened;
mod s_record;
mod stdin;

use std::ffi::OsStr;

pub use error::SourceError;
pub use image::Image;
pub use kept::{homes, ring_files, text_of};
pub use link::Link;
pub use live::{is_at, is_running, read_at, write_at};
pub use opened::Opened;
pub use stdin::{Offer, offer};

/// A kind of source.
pub struct SourceRow {
    /// How the user writes it.
    pub form: &'static str,
    /// What it is, as `--help` prints it.
    pub help: &'static str,
    /// Which names are of this kind.
    named: Named,
    /// How it is opened.
    open: Open,
}

/// Which names are of a kind.
#[derive(Clone, Copy)]
enum Named {
    /// Names that start with this.
    Scheme(&'static str),
    /// This name only.
    Exactly(&'static str),
    /// Any other name.
    Anything,
}

/// How a source is opened.
#[derive(Clone, Copy)]
enum Open {
    /// Read to its end, to be searched for rings.
    Whole(fn(&OsStr) -> Result<Opened, SourceError>),
    /// Read as a stream, piece by piece.
    Link(fn(&str) -> Result<Link, SourceError>),
}

/// Every kind of source; the first one that fits is used.
pub static SOURCES: &[SourceRow] = &[
    SourceRow {
        form: "tcp://HOST:PORT",
        help: "connect to a target that listens",
        named: Named::Scheme("tcp://"),
        open: Open::Link(link::tcp),
    },
    SourceRow {
        form: "tcp-listen://ADDRESS:PORT",
        help: "listen for targets, one or several at once",
        named: Named::Scheme("tcp-listen://"),
        open: Open::Link(link::tcp_listen),
    },
    SourceRow {
        form: "udp://ADDRESS:PORT",
        help: "receive datagrams of targets",
        named: Named::Scheme("udp://"),
        open: Open::Link(link::udp),
    },
    SourceRow {
        form: "serial:///dev/TTY?baud=115200",
        help: "a serial line; more settings: &bits=7 &parity=even|odd &stop=2\n&flow=rtscts",
        named: Named::Scheme("serial://"),
        open: Open::Link(link::serial),
    },
    SourceRow {
        form: "-",
        help: "standard input: a file as below; with --follow a QS stream, as it arrives",
        named: Named::Exactly("-"),
        open: Open::Whole(stdin::open),
    },
    SourceRow {
        form: "FILE",
        help: "a raw image of memory, an ELF core, a ring file, a QS stream, or memory as\nIntel HEX or Motorola S-records",
        named: Named::Anything,
        open: Open::Whole(file::open),
    },
];

impl SourceRow {
    fn fits(&self, text: &OsStr) -> bool {
        match self.named {
            Named::Scheme(scheme) => text.to_str().is_some_and(|text| text.starts_with(scheme)),
            Named::Exactly(name) => text == name,
            Named::Anything => true,
        }
    }
}

/// The kinds of sources for `--help`: a line each, or more.
pub fn help() -> String {
    let width = SOURCES.iter().map(|row| row.form.len()).max().unwrap_or_default();
    let rows = SOURCES.iter().map(|row| {
        // Lines of a help text behind the first one start in the same column.
        let help = row.help.replace('\n', &format!("\n  {:width$}  ", ""));
        format!("  {:width$}  {help}\n", row.form)
    });
    rows.collect()
}

/// Opens a source and reads it to its end.
///
/// # Errors
/// Why it cannot be opened.
pub fn open(text: &OsStr) -> Result<Opened, SourceError> {
    match row(text)?.open {
        // The first line of any source shows whether it is a text form of memory.
        Open::Whole(open) => hex::decoded(open(text)?).map(core::in_order),
        Open::Link(_) => Err(SourceError::Endless(text.display().to_string())),
    }
}

/// Whether the name is that of a live link.
pub fn is_link(text: &OsStr) -> bool {
    scheme(text).is_some()
}

/// Opens a source as a stream.
///
/// # Errors
/// Why it cannot be opened.
pub fn open_link(text: &OsStr) -> Result<Link, SourceError> {
    match row(text)?.open {
        Open::Link(open) => open(text.to_str().unwrap_or_default()),
        Open::Whole(_) if text == "-" => link::stdin("-"),
        Open::Whole(_) => link::stream(text.as_ref()),
    }
}

fn row(text: &OsStr) -> Result<&'static SourceRow, SourceError> {
    let row = SOURCES
        .iter()
        .find(|row| row.fits(text))
        .filter(|row| scheme(text).is_none() || matches!(row.named, Named::Scheme(_)));
    row.ok_or_else(|| {
        let schemes = SOURCES.iter().filter(|row| matches!(row.named, Named::Scheme(_))).map(|row| row.form);
        SourceError::UnknownScheme { name: text.display().to_string(), links: schemes.collect() }
    })
}

/// `tcp` of `tcp://host`; a single letter is a drive of Windows.
fn scheme(text: &OsStr) -> Option<&str> {
    let (scheme, _) = text.to_str()?.split_once("://")?;
    let is_scheme =
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_scheme.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_distinguished_from_files() {
        assert_eq!(scheme(OsStr::new("tcp-listen://0.0.0.0:1")), Some("tcp-listen"));
        assert_eq!(scheme(OsStr::new("c://dump.bin")), None);
        assert_eq!(scheme(OsStr::new("dir/a:b")), None);
    }

    #[test]
    fn the_help_names_every_source_in_lines_of_at_most_110_columns() {
        let help = help();
        for row in SOURCES {
            assert!(help.contains(row.form), "{help}");
        }
        assert!(help.lines().all(|line| line.starts_with("  ") && line.len() <= 110), "{help}");
    }

    #[test]
    fn every_name_has_its_row() {
        let form =
            |text: &str| row(OsStr::new(text)).ok().map(|row| row.form.split(':').next().unwrap_or_default());
        assert_eq!(form("tcp://localhost:1"), Some("tcp"));
        assert_eq!(form("tcp-listen://:1"), Some("tcp-listen"));
        assert_eq!((form("-"), form("-x"), form("dump.bin")), (Some("-"), Some("FILE"), Some("FILE")));
        assert_eq!(form("http://localhost"), None);
        let wrong = open_link(OsStr::new("tcp://localhost")).err().expect("no port").to_string();
        assert!(wrong.contains("a host and a port"), "{wrong}");
    }
}
