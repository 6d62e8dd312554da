//! The history of live targets: statements and records, numbered as they come.

use std::collections::BTreeMap;
use std::io;

use super::view::{Peer, SessionView, ViewError};
use crate::live::link::ConnectionId;
use crate::options::Options;
use qs_host::front_end::Tap;
use qs_host::{LineClass, TargetSymbols};
use xhist_history::events::context::Context;
use xhist_history::events::{Step, StreamDecoder, StreamTarget, TakeStep, TargetSink, decoder_for};
use xhist_history::model::Ring;
use xhist_history::notes::Notes;
use xhist_history::program::values::name_interrupts_by_program;

/// Decodes what targets send.
pub struct HistoryView<'o> {
    options: &'o Options,
    targets: BTreeMap<ConnectionId, LiveTarget>,
    rings: usize,
    several: bool,
}

struct LiveTarget {
    target: StreamTarget,
    decoder: StreamDecoder,
    name: String,
}

impl<'o> HistoryView<'o> {
    /// Without targets.
    pub fn new(options: &'o Options) -> HistoryView<'o> {
        HistoryView { options, targets: BTreeMap::new(), rings: 0, several: false }
    }

    /// A target that was not here before.
    fn add(
        &mut self,
        id: ConnectionId,
        peer: &Peer,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> io::Result<()> {
        self.rings += 1;
        let mut ring = Ring {
            number: self.rings,
            target: self.rings,
            status: "link",
            origin: self.several.then(|| peer.name.clone()),
            ..Ring::default()
        };
        name_interrupts_by_program(&mut ring, &self.options.read);
        take(Step::Ring(&ring), context)?;
        let (target, decoder) = (StreamTarget::new(ring), decoder_for(&self.options.read, !peer.is_live));
        self.targets.insert(id, LiveTarget { target, decoder, name: peer.name.clone() });
        Ok(())
    }

    /// Gives what a decoder makes of `what`.
    fn decode(
        &mut self,
        id: ConnectionId,
        tap: Option<&mut Tap>,
        (take, context): (TakeStep<'_>, &mut Context<'_, '_>),
        what: impl FnOnce(&mut StreamDecoder, &mut TargetSink<'_, '_, '_>),
    ) -> io::Result<()> {
        let HistoryView { targets, rings, .. } = self;
        let Some(LiveTarget { target, decoder, .. }) = targets.get_mut(&id) else { return Ok(()) };
        let mut sink = TargetSink { target, rings, take, context, tap, result: Ok(()) };
        what(decoder, &mut sink);
        sink.result
    }
}

impl SessionView for HistoryView<'_> {
    fn opened(
        &mut self,
        id: ConnectionId,
        peer: &Peer,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> Result<(), ViewError> {
        let Some(LiveTarget { target, decoder, name }) = self.targets.get_mut(&id) else {
            return Ok(self.add(id, peer, take, context)?);
        };
        decoder.restart();
        name.clone_from(&peer.name);
        if self.several {
            target.set_origin(name, take, context)?;
        }
        Ok(())
    }

    fn bytes(
        &mut self,
        id: ConnectionId,
        bytes: &[u8],
        tap: &mut Tap,
        to: (TakeStep<'_>, &mut Context<'_, '_>),
    ) -> io::Result<()> {
        self.decode(id, Some(tap), to, |decoder, sink| decoder.push(bytes, sink))
    }

    fn closed(&mut self, id: ConnectionId, _: &Peer, _: &mut Notes<'_>) {
        if let Some(LiveTarget { decoder, .. }) = self.targets.get_mut(&id) {
            decoder.close();
        }
    }

    fn several(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) {
        self.several = true;
        for LiveTarget { target, name, .. } in self.targets.values_mut() {
            // What cannot be written now cannot be written later either, and then the error is reported.
            let _ = target.set_origin(name, take, context);
        }
    }

    fn known(&self, id: ConnectionId) -> Option<&TargetSymbols> {
        self.targets.get(&id).map(|target| &target.decoder.decoder.known)
    }

    fn say(&mut self, _: LineClass, line: &[u8], notes: &mut Notes<'_>) {
        notes.note(format_args!("{}", String::from_utf8_lossy(line).trim()));
    }

    fn clear_screen(&mut self, context: &mut Context<'_, '_>) {
        if self.options.layout.terminal {
            let _ = context.out.write_all(b"\x1b[2J\x1b[H");
        }
    }

    fn finish(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let ids: Vec<ConnectionId> = self.targets.keys().copied().collect();
        ids.into_iter().try_for_each(|id| {
            self.decode(id, None, (take, context), |decoder, sink| sink.give(None, decoder.end(), None))
        })
    }

    fn has_started(&self) -> bool {
        self.targets.values().any(|target| target.decoder.decoder.has_started())
    }
}
