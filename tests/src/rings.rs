//! Reads rings as strictly as can be: anything that is not a whole history is an error.

use qs_core::record::{EventKind, Statement, XhistRecord};
use qs_core::ring::{Header, Item, Reader, find};

/// What one ring holds.
#[derive(Clone)]
pub struct Recorded {
    /// Its header.
    pub header: Header,
    /// Every statement, those that were folded written out; oldest first.
    pub statements: Vec<Statement>,
    /// Events, each with the number of statements before it.
    pub events: Vec<(EventKind, usize)>,
    /// What was wrong.
    pub wrong: Vec<String>,
}

impl Recorded {
    /// Fails when the history is not whole.
    #[track_caller]
    pub fn whole(&self, what: &str) -> &Recorded {
        assert!(self.wrong.is_empty(), "{what}: {:?} after {:?}", self.wrong, tail(&self.statements));
        self
    }

    /// Nothing was overwritten.
    pub fn is_complete(&self) -> bool {
        self.header.newest().head() + 2 * 300 < self.header.size as u64
    }
}

/// The newest of them, for messages.
pub fn tail(statements: &[Statement]) -> Vec<(u16, u16)> {
    let from = statements.len().saturating_sub(12);
    statements[from..].iter().map(|statement| (statement.file, statement.line)).collect()
}

/// Every ring in an image.
pub fn recorded(image: &[u8]) -> Vec<Recorded> {
    let found = find(image).filter_map(|found| Some((found.offset, found.header.ok()?)));
    found.map(|(offset, header)| read(header, &image[offset..])).collect()
}

fn read(header: Header, image: &[u8]) -> Recorded {
    let mut reader = Reader::new(header, image);
    let (mut statements, mut events, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, _) => statements.push(statement),
            Item::Again(again) => {
                let from = statements.len() - again.statements;
                for _ in 0..again.times {
                    statements.extend_from_within(from..from + again.statements);
                }
            }
            Item::Frame(frame) => match XhistRecord::parse(&frame, header.record_base) {
                Some(XhistRecord::Event { kind, .. }) if frame.missing == 0 => {
                    events.push((kind, statements.len()));
                }
                _ => wrong.push(format!("{frame:?}")),
            },
            Item::Missing(_) | Item::Damaged(_) | Item::Cut { .. } | Item::Torn { .. } | Item::Overrun => {
                wrong.push(format!("{item:?}"));
            }
        }
    }
    Recorded { header, statements, events, wrong }
}
