//! The history of live targets: statements and records numbered as they come. It must not know links.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::view::{Peer, View};
use crate::console::Notes;
use crate::decode::Incoming;
use crate::exit_code::ExitCode;
use crate::format::Format;
use crate::front_end::Tap;
use crate::map::Maps;
use crate::model::{Opening, Ring};
use crate::options::Options;
use crate::qs::{Class, Known};
use crate::source::link::Id;
use crate::stream;
use crate::target::{Target, Teller};
use crate::telling::Telling;

/// Tells histories.
pub struct History<'o> {
    telling: Telling<'o>,
    format: Box<dyn Format>,
    out: &'o mut dyn Write,
    targets: BTreeMap<Id, (Target, Incoming, String)>,
    rings: usize,
    several: bool,
}

impl<'o> History<'o> {
    /// Without targets.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(options: &'o Options, out: &'o mut dyn Write) -> io::Result<History<'o>> {
        let telling = Telling::new(options, Maps::default(), 0);
        let mut format = telling.format();
        format.start(&Opening { rings: &[], entries: 0 }, out)?;
        Ok(History { telling, format, out, targets: BTreeMap::new(), rings: 0, several: false })
    }

    fn target(&mut self, peer: &Peer) -> io::Result<(Target, Incoming, String)> {
        let options = self.telling.options;
        self.rings += 1;
        let ring = Ring {
            number: self.rings,
            target: self.rings,
            status: "link",
            origin: self.several.then(|| peer.name.clone()),
            ..Ring::default()
        };
        self.format.ring(&ring, self.out)?;
        Ok((Target::new(ring), stream::incoming(options, !peer.is_live), peer.name.clone()))
    }

    fn each(
        &mut self,
        id: Id,
        notes: &mut Notes<'_>,
        also: Option<&mut Tap>,
        what: impl FnOnce(&mut Incoming, &mut Teller<'_, '_, '_>),
    ) -> io::Result<()> {
        let Some((target, incoming, _)) = self.targets.get_mut(&id) else { return Ok(()) };
        let mut teller = Teller {
            telling: &mut self.telling,
            format: &mut *self.format,
            target,
            rings: &mut self.rings,
            out: &mut *self.out,
            notes,
            also,
            result: Ok(()),
        };
        what(incoming, &mut teller);
        teller.result
    }
}

fn unwritten(error: io::Error) -> String {
    format!("cannot write the report: {error}")
}

impl View for History<'_> {
    fn opened(&mut self, id: Id, peer: &Peer, _: &mut Notes<'_>) -> Result<(), String> {
        if let Some((target, incoming, name)) = self.targets.get_mut(&id) {
            incoming.restart();
            name.clone_from(&peer.name);
            return match self.several {
                true => target.set_origin(name, &mut *self.format, self.out).map_err(unwritten),
                false => Ok(()),
            };
        }
        let target = self.target(peer).map_err(unwritten)?;
        self.targets.insert(id, target);
        Ok(())
    }

    fn bytes(&mut self, id: Id, bytes: &[u8], tap: &mut Tap, notes: &mut Notes<'_>) -> io::Result<()> {
        self.each(id, notes, Some(tap), |incoming, teller| incoming.push(bytes, teller))
    }

    fn closed(&mut self, id: Id, _: &Peer, _: &mut Notes<'_>) {
        if let Some((_, incoming, _)) = self.targets.get_mut(&id) {
            incoming.close();
        }
    }

    fn several(&mut self) {
        self.several = true;
        for (target, _, name) in self.targets.values_mut() {
            // What cannot be written now cannot be written later, where that is told.
            let _ = target.set_origin(name, &mut *self.format, self.out);
        }
    }

    fn known(&self, id: Id) -> Option<&Known> {
        self.targets.get(&id).map(|(_, incoming, _)| &incoming.decoder.known)
    }

    fn say(&mut self, _: Class, line: &[u8], notes: &mut Notes<'_>) {
        notes.note(format_args!("{}", String::from_utf8_lossy(line).trim()));
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn clear_screen(&mut self) {
        if self.telling.options.layout.terminal {
            let _ = self.out.write_all(b"\x1b[2J\x1b[H");
        }
    }

    fn finish(mut self: Box<Self>, notes: &mut Notes<'_>) -> io::Result<ExitCode> {
        let ids: Vec<Id> = self.targets.keys().copied().collect();
        for id in ids {
            self.each(id, notes, None, |incoming, teller| {
                let gap = incoming.end();
                teller.tell(None, gap, None);
            })?;
        }
        let has_started = self.targets.values().any(|(_, incoming, _)| incoming.decoder.has_started());
        self.telling.finish(&mut *self.format, self.out, notes)?;
        Ok(if has_started { notes.finish() } else { notes.no_frame() })
    }
}
