//! The live view that prints as QSPY does: one QSPY session for each target.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use super::view::{Peer, SessionView, ViewError};
use crate::live::link::ConnectionId;
use crate::qspy::{QsOptions, Session};
use qs_host::SideFile;
use qs_host::front_end::Tap;
use qs_host::{LineClass, TargetSymbols};
use xhist_history::events::TakeStep;
use xhist_history::events::context::Context;
use xhist_history::notes::Notes;

/// The view of a live session that prints as QSPY does.
pub struct QspyView<'o> {
    options: &'o QsOptions,
    out: Rc<RefCell<&'o mut dyn Write>>,
    several: Rc<Cell<bool>>,
    sessions: BTreeMap<ConnectionId, Session<'o>>,
    labels: BTreeMap<ConnectionId, Label>,
    has_started: bool,
}

/// The label before each line of a target. A target that connects again may have another name.
type Label = Rc<RefCell<String>>;

impl<'o> QspyView<'o> {
    /// Creates a view without targets.
    pub fn new(options: &'o QsOptions, out: &'o mut dyn Write) -> QspyView<'o> {
        QspyView {
            options,
            out: Rc::new(RefCell::new(out)),
            several: Rc::default(),
            sessions: BTreeMap::new(),
            labels: BTreeMap::new(),
            has_started: false,
        }
    }
}

impl SessionView for QspyView<'_> {
    fn opened(
        &mut self,
        id: ConnectionId,
        peer: &Peer,
        _: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> Result<(), ViewError> {
        let label = self.labels.entry(id).or_default();
        *label.borrow_mut() = format!("{}: ", peer.name);
        if !self.sessions.contains_key(&id) {
            let out = Labelled {
                out: Rc::clone(&self.out),
                label: Rc::clone(label),
                several: Rc::clone(&self.several),
                in_line: false,
            };
            let another = (!self.sessions.is_empty()).then(|| self.options.without_side_files());
            if another.is_some() && self.options.side_files().next().is_some() {
                context.notes.note(format_args!("{}: the side files hold the first target only", peer.name));
            }
            let session = Session::new(another.as_ref().unwrap_or(self.options), Box::new(out))?;
            self.sessions.insert(id, session);
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.restart();
            if let Some((host, port)) = peer.tcp() {
                let line = format!("   <COMMS> TCP-IP   Connected to Host={host},Port={port}");
                session.say(LineClass::Info, line.as_bytes());
            }
        }
        Ok(())
    }

    fn bytes(
        &mut self,
        id: ConnectionId,
        bytes: &[u8],
        tap: &mut Tap,
        _: (TakeStep<'_>, &mut Context<'_, '_>),
    ) -> io::Result<()> {
        self.sessions.get_mut(&id).map_or(Ok(()), |session| session.push_with(bytes, tap))
    }

    fn closed(&mut self, id: ConnectionId, peer: &Peer, notes: &mut Notes<'_>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.report_cut(&format!("{}: ", peer.name), !peer.is_live, notes);
        if let Some((host, port)) = peer.tcp() {
            let line = format!("   <COMMS> TCP-IP   Disconn from Host={host},Port={port}");
            session.say(LineClass::Info, line.as_bytes());
        }
    }

    fn several(&mut self, _: TakeStep<'_>, _: &mut Context<'_, '_>) {
        self.several.set(true);
    }

    fn known(&self, id: ConnectionId) -> Option<&TargetSymbols> {
        self.sessions.get(&id).map(Session::known)
    }

    fn say(&mut self, class: LineClass, line: &[u8], notes: &mut Notes<'_>) {
        match self.sessions.values_mut().next() {
            Some(session) => session.say(class, line),
            None => notes.note(format_args!("{}", String::from_utf8_lossy(line).trim())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sessions.values_mut().try_for_each(Session::flush)
    }

    fn clear_screen(&mut self, _: &mut Context<'_, '_>) {
        self.sessions.values_mut().take(1).for_each(Session::clear_screen);
    }

    fn is_qspy(&self) -> bool {
        true
    }

    fn toggle_quiet(&mut self) {
        self.sessions.values_mut().for_each(|session| {
            session.toggle_quiet();
        });
    }

    fn save_dictionaries(&mut self, id: ConnectionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.save_dictionaries();
        }
    }

    fn toggle_side_file(
        &mut self,
        id: ConnectionId,
        kind: SideFile,
        wanted: Option<bool>,
        notes: &mut Notes<'_>,
    ) -> bool {
        self.sessions.get_mut(&id).is_some_and(|session| session.toggle_side_file(kind, wanted, notes))
    }

    fn finish(&mut self, _: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        for session in std::mem::take(&mut self.sessions).into_values() {
            self.has_started |= session.end(context.notes)?;
        }
        Ok(())
    }

    fn has_started(&self) -> bool {
        self.has_started
    }
}

impl Peer {
    fn tcp(&self) -> Option<(&str, &str)> {
        if self.is_tcp { self.name.rsplit_once(':') } else { None }
    }
}

/// The output with the name of the target before each line, if there are several targets.
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
