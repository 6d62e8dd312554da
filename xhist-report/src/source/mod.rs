//! Where bytes come from. It must not know what is in them.
//!
//! A new origin is a file here and a row of [`SOURCES`].

mod core;
mod file;
mod hex;
mod holes;
mod image;
mod kept;
pub mod link;
mod live;
mod stdin;

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

pub use image::Image;
pub use kept::{homes, ring_files, text_of};
pub use link::Link;
pub use live::{is_at, is_running, read_at, write_at};
pub use stdin::{Offer, offer};

/// An opened source.
pub struct Opened {
    /// Its bytes.
    pub image: Image,
    /// The pieces of it that may hold anything but zeros; `None` when that is not known.
    pub data: Option<Vec<Range<usize>>>,
    /// The file itself, where a program may be writing it meanwhile.
    pub file: Option<Arc<File>>,
    /// Its path, where it has one.
    pub path: Option<PathBuf>,
    /// When it was last written; `None` when that is not known.
    pub written: Option<SystemTime>,
    /// Directory to look for maps in; `None` when the source has none.
    pub dir: Option<PathBuf>,
    /// What of it could not be read, in sentences.
    pub losses: Vec<String>,
}

/// A kind of source.
pub struct SourceRow {
    /// How it is written on the command line.
    pub form: &'static str,
    /// What it is.
    pub help: &'static str,
    /// What its names look like.
    named: Named,
    /// How it is opened.
    open: Open,
}

/// What the names of a kind of source look like.
#[derive(Clone, Copy)]
enum Named {
    /// They start with this.
    Scheme(&'static str),
    /// This one.
    Exactly(&'static str),
    /// Any other.
    Anything,
}

/// How a source is opened.
#[derive(Clone, Copy)]
enum Open {
    /// All of it at once, to be searched for rings.
    Whole(fn(&OsStr) -> Result<Opened, String>),
    /// As a stream that comes piece by piece.
    Link(fn(&str) -> Result<Link, String>),
}

/// Every kind of source; the first that fits is taken.
pub static SOURCES: &[SourceRow] = &[
    SourceRow {
        form: "tcp://HOST:PORT",
        help: "a target that listens for hosts",
        named: Named::Scheme("tcp://"),
        open: Open::Link(link::tcp),
    },
    SourceRow {
        form: "tcp-listen://ADDRESS:PORT",
        help: "targets that connect to this address, one or several at once",
        named: Named::Scheme("tcp-listen://"),
        open: Open::Link(link::tcp_listen),
    },
    SourceRow {
        form: "udp://ADDRESS:PORT",
        help: "targets that send datagrams to this address",
        named: Named::Scheme("udp://"),
        open: Open::Link(link::udp),
    },
    SourceRow {
        form: "serial:///dev/TTY?baud=115200",
        help: "a serial line; also bits=8|7, parity=none|even|odd, stop=1|2, flow=none|rtscts",
        named: Named::Scheme("serial://"),
        open: Open::Link(link::serial),
    },
    SourceRow {
        form: "-",
        help: "standard input: a file as below, or a QS stream as it comes",
        named: Named::Exactly("-"),
        open: Open::Whole(stdin::open),
    },
    SourceRow {
        form: "FILE",
        help: "a raw image of memory, an ELF core, a ring file, a QS stream, or memory as Intel HEX or Motorola S-records",
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

/// Opens what the user named, all of it.
///
/// # Errors
/// What is wrong and what to do, in a sentence.
pub fn open(text: &OsStr) -> Result<Opened, String> {
    match row(text)?.open {
        // What is text is told by its first line, wherever it comes from.
        Open::Whole(open) => hex::decoded(open(text)?).map(core::in_order),
        Open::Link(_) => Err(format!("{} is a link, and has no end", text.display())),
    }
}

/// Whether the user named something that is alive.
pub fn is_link(text: &OsStr) -> bool {
    scheme(text).is_some()
}

/// Opens what the user named as a stream.
///
/// # Errors
/// What is wrong and what to do, in a sentence.
pub fn open_link(text: &OsStr) -> Result<Link, String> {
    match row(text)?.open {
        Open::Link(open) => open(text.to_str().unwrap_or_default()),
        Open::Whole(_) if text == "-" => link::stdin("-"),
        Open::Whole(_) => link::stream(text.as_ref()),
    }
}

fn row(text: &OsStr) -> Result<&'static SourceRow, String> {
    let row = SOURCES
        .iter()
        .find(|row| row.fits(text))
        .filter(|row| scheme(text).is_none() || matches!(row.named, Named::Scheme(_)));
    row.ok_or_else(|| {
        let schemes = SOURCES.iter().filter(|row| matches!(row.named, Named::Scheme(_))).map(|row| row.form);
        let schemes = schemes.collect::<Vec<_>>().join(", ");
        format!("{} is no kind of source known here; links are {schemes}", text.display())
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
    fn schemes_are_told_from_files() {
        assert_eq!(scheme(OsStr::new("tcp-listen://0.0.0.0:1")), Some("tcp-listen"));
        assert_eq!(scheme(OsStr::new("c://dump.bin")), None);
        assert_eq!(scheme(OsStr::new("dir/a:b")), None);
    }

    #[test]
    fn every_name_has_its_row() {
        let form =
            |text: &str| row(OsStr::new(text)).map(|row| row.form.split(':').next().unwrap_or_default());
        assert_eq!(form("tcp://localhost:1"), Ok("tcp"));
        assert_eq!(form("tcp-listen://:1"), Ok("tcp-listen"));
        assert_eq!((form("-"), form("-x"), form("dump.bin")), (Ok("-"), Ok("FILE"), Ok("FILE")));
        assert!(form("http://localhost").is_err());
        let wrong = open_link(OsStr::new("tcp://localhost")).err().expect("no port");
        assert!(wrong.contains("a host and a port"), "{wrong}");
    }
}
