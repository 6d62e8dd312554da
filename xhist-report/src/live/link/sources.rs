//! What users name as a source: links by their schemes, and files.
//!
//! A new kind of source is a row of [`SOURCES`]. Its help text is what `--help` prints.

use std::ffi::OsStr;

use xhist_history::source::{self, Opened};

use super::{Link, LinkError};

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
    Whole,
    /// Read as a stream, piece by piece.
    Link(fn(&str) -> Result<Link, LinkError>),
}

/// Every kind of source; the first one that fits is used.
pub static SOURCES: &[SourceRow] = &[
    SourceRow {
        form: "tcp://HOST:PORT",
        help: "connect to a target that listens",
        named: Named::Scheme("tcp://"),
        open: Open::Link(super::tcp),
    },
    SourceRow {
        form: "tcp-listen://ADDRESS:PORT",
        help: "listen for targets, one or several at once",
        named: Named::Scheme("tcp-listen://"),
        open: Open::Link(super::tcp_listen),
    },
    SourceRow {
        form: "udp://ADDRESS:PORT",
        help: "receive datagrams of targets",
        named: Named::Scheme("udp://"),
        open: Open::Link(super::udp),
    },
    SourceRow {
        form: "serial:///dev/TTY?baud=115200",
        help: "a serial line; more settings: &bits=7 &parity=even|odd &stop=2\n&flow=rtscts",
        named: Named::Scheme("serial://"),
        open: Open::Link(super::serial),
    },
    SourceRow {
        form: "-",
        help: "standard input: a file as below; with --follow a QS stream, as it arrives",
        named: Named::Exactly("-"),
        open: Open::Whole,
    },
    SourceRow {
        form: "FILE",
        help: "a raw image of memory, an ELF core, a ring file, a QS stream, memory as\nIntel HEX or Motorola S-records, or a run in one file, as `pack` makes it",
        named: Named::Anything,
        open: Open::Whole,
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

/// Opens a source and reads it to its end.
///
/// # Errors
/// Why it cannot be opened.
pub fn open(text: &OsStr) -> Result<Opened, LinkError> {
    match row(text)?.open {
        Open::Whole => Ok(source::open(text)?),
        Open::Link(_) => Err(LinkError::Endless(text.display().to_string())),
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
pub fn open_link(text: &OsStr) -> Result<Link, LinkError> {
    match row(text)?.open {
        Open::Link(open) => open(text.to_str().unwrap_or_default()),
        Open::Whole if text == "-" => super::stdin("-"),
        Open::Whole => super::stream(text.as_ref()),
    }
}

fn row(text: &OsStr) -> Result<&'static SourceRow, LinkError> {
    let row = SOURCES
        .iter()
        .find(|row| row.fits(text))
        .filter(|row| scheme(text).is_none() || matches!(row.named, Named::Scheme(_)));
    row.ok_or_else(|| {
        let schemes = SOURCES.iter().filter(|row| matches!(row.named, Named::Scheme(_))).map(|row| row.form);
        LinkError::UnknownScheme { name: text.display().to_string(), links: schemes.collect() }
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
