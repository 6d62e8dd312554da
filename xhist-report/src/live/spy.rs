//! What QSPY prints of live targets, each with a session of its own. It must not know links.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use super::view::{Peer, View};
use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::front_end::Tap;
use crate::qs::{Class, Known};
use crate::qspy::{Beside, QsOptions, Session};
use crate::source::link::Id;

/// Prints.
pub struct Spy<'o> {
    options: &'o QsOptions,
    out: Rc<RefCell<&'o mut dyn Write>>,
    several: Rc<Cell<bool>>,
    sessions: BTreeMap<Id, Session<'o>>,
    labels: BTreeMap<Id, Label>,
}

/// What stands before each line of a target; who comes again may have another name.
type Label = Rc<RefCell<String>>;

impl<'o> Spy<'o> {
    /// Without targets.
    pub fn new(options: &'o QsOptions, out: &'o mut dyn Write) -> Spy<'o> {
        Spy {
            options,
            out: Rc::new(RefCell::new(out)),
            several: Rc::default(),
            sessions: BTreeMap::new(),
            labels: BTreeMap::new(),
        }
    }
}

impl View for Spy<'_> {
    fn opened(&mut self, id: Id, peer: &Peer, notes: &mut Notes<'_>) -> Result<(), String> {
        let label = self.labels.entry(id).or_default();
        *label.borrow_mut() = format!("{}: ", peer.name);
        if !self.sessions.contains_key(&id) {
            let out = Labelled {
                out: Rc::clone(&self.out),
                label: Rc::clone(label),
                several: Rc::clone(&self.several),
                in_line: false,
            };
            let another = (!self.sessions.is_empty()).then(|| self.options.of_another());
            if another.is_some() && self.options.beside().next().is_some() {
                notes.note(format_args!("{}: the files asked for hold the first target only", peer.name));
            }
            let session = Session::new(another.as_ref().unwrap_or(self.options), Box::new(out))?;
            self.sessions.insert(id, session);
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.restart();
            if let Some((host, port)) = peer.tcp() {
                let line = format!("   <COMMS> TCP-IP   Connected to Host={host},Port={port}");
                session.say(Class::Info, line.as_bytes());
            }
        }
        Ok(())
    }

    fn bytes(&mut self, id: Id, bytes: &[u8], tap: &mut Tap, _: &mut Notes<'_>) -> io::Result<()> {
        self.sessions.get_mut(&id).map_or(Ok(()), |session| session.push_with(bytes, tap))
    }

    fn closed(&mut self, id: Id, peer: &Peer, notes: &mut Notes<'_>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.report_cut(&format!("{}: ", peer.name), !peer.is_live, notes);
        if let Some((host, port)) = peer.tcp() {
            let line = format!("   <COMMS> TCP-IP   Disconn from Host={host},Port={port}");
            session.say(Class::Info, line.as_bytes());
        }
    }

    fn several(&mut self) {
        self.several.set(true);
    }

    fn known(&self, id: Id) -> Option<&Known> {
        self.sessions.get(&id).map(Session::known)
    }

    fn say(&mut self, class: Class, line: &[u8], notes: &mut Notes<'_>) {
        match self.sessions.values_mut().next() {
            Some(session) => session.say(class, line),
            None => notes.note(format_args!("{}", String::from_utf8_lossy(line).trim())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sessions.values_mut().try_for_each(Session::flush)
    }

    fn clear_screen(&mut self) {
        self.sessions.values_mut().take(1).for_each(Session::clear_screen);
    }

    fn is_spy(&self) -> bool {
        true
    }

    fn toggle_quiet(&mut self) {
        self.sessions.values_mut().for_each(|session| {
            session.toggle_quiet();
        });
    }

    fn save_dictionaries(&mut self, id: Id) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.save_dictionaries();
        }
    }

    fn write_beside(&mut self, id: Id, kind: Beside, wanted: Option<bool>, notes: &mut Notes<'_>) -> bool {
        self.sessions.get_mut(&id).is_some_and(|session| session.write_beside(kind, wanted, notes))
    }

    fn finish(self: Box<Self>, notes: &mut Notes<'_>) -> io::Result<ExitCode> {
        let mut has_started = false;
        for session in self.sessions.into_values() {
            has_started |= session.end(notes)?;
        }
        Ok(if has_started { notes.finish() } else { notes.no_frame() })
    }
}

impl Peer {
    fn tcp(&self) -> Option<(&str, &str)> {
        if self.is_tcp { self.name.rsplit_once(':') } else { None }
    }
}

/// The output, with the name of a target before each line where there are several.
struct Labelled<'o> {
    out: Rc<RefCell<&'o mut dyn Write>>,
    label: Label,
    several: Rc<Cell<bool>>,
    in_line: bool,
}

impl Write for Labelled<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = self.out.borrow_mut();
        if !self.several.get() {
            out.write_all(bytes)?;
            self.in_line = bytes.last().map_or(self.in_line, |byte| *byte != b'\n');
            return Ok(bytes.len());
        }
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.in_line {
                out.write_all(self.label.borrow().as_bytes())?;
            }
            out.write_all(line)?;
            self.in_line = !line.ends_with(b"\n");
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.borrow_mut().flush()
    }
}
