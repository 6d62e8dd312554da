//! A live session: events of links, keys, and packets of front-ends come through one queue, and are carried out here.

mod history;
mod host;
mod keys;
mod spy;
mod view;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::live::link::{self, ConnectionId, Link, LinkEvent, Queue};
pub use history::HistoryView;
pub use host::Host;
use qs_host::SideFile;
use qs_host::front_end::{self, FrontEnd, Tap};
use qs_host::{LineClass, Request, TargetSymbols};
pub use spy::QspyView;
use view::{Peer, SessionView, ViewError};
use xhist_history::events::context::Context;
use xhist_history::events::{EventSource, Progress, TakeStep};
use xhist_history::model::Opening;

/// The time after which the end of the session is checked again while nothing happens.
const PAUSE: Duration = Duration::from_millis(50);

/// Front-ends begin this many files at most.
const MOST_FILES: u32 = 64;

/// What a session is made of.
pub struct Setup {
    /// The sources.
    pub links: Vec<Link>,
    /// The port of front-ends.
    pub front_end: Option<Link>,
    /// Front-ends see the target as one of QP 8.
    pub as_qp8: bool,
    /// Keys are commands.
    pub keys: bool,
}

/// The links of a session, as a source: what happens on them, keys, and the packets of front-ends.
pub struct LiveSession<'v> {
    view: Box<dyn SessionView + 'v>,
    queue: Queue,
    /// Names of the sources, by their number.
    names: Vec<String>,
    /// Sources that may still send bytes.
    running: usize,
    /// Targets that are connected now.
    targets: BTreeMap<ConnectionId, (Peer, Host)>,
    several: bool,
    /// The view shows the origin of each line.
    shows_origins: bool,
    /// Set when the user wants to end.
    stop: Arc<AtomicBool>,
    /// Why a target could not be shown.
    failure: Option<ViewError>,
    /// The target that was chosen to speak to.
    chosen: Option<ConnectionId>,
    keys: Option<usize>,
    port: Option<usize>,
    /// Everything that sent a packet to the port, with its address.
    callers: BTreeMap<usize, (String, Box<dyn Write + Send>)>,
    /// Files begun for front-ends.
    files: u32,
    front_end: FrontEnd,
    tap: Tap,
    /// The symbols of a target that is not known yet.
    nothing: TargetSymbols,
}

impl<'v> LiveSession<'v> {
    /// Starts the links. `has_keys`: keys are read.
    pub fn new(
        setup: Setup,
        has_keys: bool,
        view: Box<dyn SessionView + 'v>,
        stop: Arc<AtomicBool>,
    ) -> LiveSession<'v> {
        let queue = Queue::default();
        let names: Vec<String> = setup.links.iter().map(|link| link.name.clone()).collect();
        let several = names.len() > 1;
        let running = names.len();
        setup.links.into_iter().for_each(|link| {
            queue.start(link);
        });
        LiveSession {
            view,
            names,
            running,
            several,
            shows_origins: false,
            stop,
            failure: None,
            chosen: None,
            targets: BTreeMap::new(),
            keys: has_keys.then(|| queue.start(link::keyboard())),
            port: setup.front_end.map(|port| queue.start(port)),
            queue,
            callers: BTreeMap::new(),
            files: 0,
            front_end: FrontEnd::default(),
            tap: Tap::new(setup.as_qp8),
            nothing: TargetSymbols::new(Default::default()),
        }
    }

    /// Whether any target sent a good record.
    pub fn has_started(&self) -> bool {
        self.view.has_started()
    }

    /// Why a target could not be shown, which ended the session.
    pub fn failure(&mut self) -> Option<ViewError> {
        self.failure.take()
    }

    /// Carries out the next event of the queue; whether the session goes on.
    fn step(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<bool> {
        let next = match self.queue.next(Duration::ZERO) {
            Some(next) => Some(next),
            None => {
                self.view.flush()?;
                context.out.flush()?;
                self.queue.next(PAUSE)
            }
        };
        let Some((id, event)) = next else { return Ok(true) };
        match Some(id.link) {
            link if link == self.keys => match event {
                LinkEvent::Bytes(keys) => Ok(self.pressed(&keys, context)),
                _ => Ok(true),
            },
            link if link == self.port => Ok(self.called(id.slot, event, context)),
            _ => self.happened(id, event, take, context),
        }
    }

    /// From the second target on, the view shows the origin of each line.
    fn show_origins(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) {
        if self.several && !std::mem::replace(&mut self.shows_origins, true) {
            self.view.several(take, context);
        }
    }

    /// The target that keys and front-ends address: the chosen one, or the first one while that is not connected.
    fn focus(&self) -> Option<ConnectionId> {
        let chosen = self.chosen.filter(|id| self.targets.contains_key(id));
        chosen.or_else(|| self.targets.keys().next().copied())
    }

    /// Chooses the target after the one that is addressed, or the first; shows which.
    fn choose_next(&mut self, context: &mut Context<'_, '_>) {
        let focus = self.focus();
        let next = self.targets.keys().find(|id| Some(**id) > focus);
        self.chosen = next.or(self.targets.keys().next()).copied();
        let peer = self.chosen.and_then(|id| self.targets.get(&id)).map(|(peer, _)| peer.name.as_str());
        let line = format!("   <USER-> Speaking to Target={}", peer.unwrap_or("none"));
        self.view.say(LineClass::Info, line.as_bytes(), context.notes);
    }

    fn happened(
        &mut self,
        id: ConnectionId,
        event: LinkEvent,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> io::Result<bool> {
        let name = &self.names[id.link];
        match event {
            LinkEvent::Note(text) => context.notes.note(format_args!("{name}: {text}")),
            LinkEvent::Ended => {
                self.running -= 1;
                return Ok(self.running > 0);
            }
            LinkEvent::Opened { peer, to } => return Ok(self.opened(id, peer, to, take, context)),
            LinkEvent::Closed(why) => self.closed(id, &why, context),
            LinkEvent::Dropped(bytes) => {
                let peer = self.targets.get(&id).map_or(name, |(peer, _)| &peer.name);
                context.notes.loss(format_args!(
                    "{peer}: {bytes} bytes came faster than they could be written, and were dropped"
                ));
            }
            LinkEvent::Bytes(bytes) => {
                self.tap.is_open = self.focus() == Some(id);
                self.view.bytes(id, &bytes, &mut self.tap, (take, context))?;
                if self.tap.take_record() {
                    self.queue.keep(id);
                }
                if self.tap.take_reset()
                    && let Some((_, host)) = self.targets.get_mut(&id)
                {
                    host.restart();
                }
                self.forward();
            }
        }
        Ok(true)
    }

    /// A target is connected; whether it can be shown.
    fn opened(
        &mut self,
        id: ConnectionId,
        peer: String,
        to: Box<dyn Write + Send>,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> bool {
        let name = &self.names[id.link];
        let (is_live, is_tcp) = (name.contains("://"), name.starts_with("tcp"));
        let peer = Peer { name: peer, is_tcp, is_live };
        if is_live {
            context.notes.note(format_args!("{name}: connected to {}", peer.name));
        }
        self.several |= !self.targets.is_empty();
        self.show_origins(take, context);
        self.failure = self.view.opened(id, &peer, take, context).err();
        self.targets.insert(id, (peer, Host::new(to)));
        self.failure.is_none()
    }

    /// A connection is over.
    fn closed(&mut self, id: ConnectionId, why: &str, context: &mut Context<'_, '_>) {
        let Some((peer, _)) = self.targets.remove(&id) else { return };
        let name = &self.names[id.link];
        if peer.is_live {
            context.notes.note(format_args!("{name}: lost {}: {why}", peer.name));
        } else if why != link::END {
            context.notes.incomplete();
            context.notes.error(format_args!("cannot read {}: {why}", peer.name));
        }
        self.view.closed(id, &peer, context.notes);
    }

    /// Sends the front-end what it listens to.
    fn forward(&mut self) {
        let owner = self.front_end.owner();
        for tapped in std::mem::take(&mut self.tap.tapped) {
            let packet = self.front_end.forwarded(tapped);
            if let Some((_, caller)) = owner.and_then(|owner| self.callers.get_mut(&owner)) {
                // A front-end that cannot be reached loses a datagram, as any may be lost.
                let _ = caller.write(&packet);
            }
        }
    }

    fn called(&mut self, slot: usize, event: LinkEvent, context: &mut Context<'_, '_>) -> bool {
        let packet = match event {
            LinkEvent::Opened { peer, to } => {
                self.callers.insert(slot, (peer, to));
                return true;
            }
            LinkEvent::Closed(_) => {
                self.callers.remove(&slot);
                if self.front_end.owner() == Some(slot) {
                    self.front_end.forget(&mut self.tap);
                }
                return true;
            }
            LinkEvent::Note(text) => {
                context.notes.note(format_args!("front-ends: {text}"));
                return true;
            }
            LinkEvent::Bytes(packet) => packet,
            LinkEvent::Dropped(_) | LinkEvent::Ended => return true,
        };
        self.make_way(slot, &packet, context);
        let known = self.focus().and_then(|id| self.view.known(id)).unwrap_or(&self.nothing);
        let answers = self.front_end.packet(slot, &packet, known, &mut self.tap);
        if let (Some(owner), Some(link)) = (self.front_end.owner(), self.port) {
            self.queue.keep(ConnectionId { link, slot: owner });
        }
        answers.into_iter().all(|answer| self.answer(slot, answer, context))
    }

    /// A front-end that attaches takes the port from one that is gone or silent.
    fn make_way(&mut self, slot: usize, packet: &[u8], context: &mut Context<'_, '_>) {
        let callers = &self.callers;
        let is_gone = |owner| callers.get(&owner).is_none_or(|(peer, _)| link::is_gone(peer));
        let Some((owner, farewell)) = self.front_end.give_up(slot, packet, is_gone, &mut self.tap) else {
            return;
        };
        if let Some((_, caller)) = self.callers.get_mut(&owner) {
            let _ = caller.write(&farewell);
        }
        let line = "   <F-END> Detached: it is gone or was silent, and another attaches";
        self.view.say(LineClass::Info, line.as_bytes(), context.notes);
    }

    fn answer(
        &mut self,
        slot: usize,
        answer: front_end::FrontEndAnswer,
        context: &mut Context<'_, '_>,
    ) -> bool {
        if let (Some(reply), Some((_, caller))) = (answer.reply, self.callers.get_mut(&slot)) {
            let _ = caller.write(&reply);
        }
        if let Some((class, line)) = answer.line {
            self.view.say(class, &line, context.notes);
        }
        match answer.wish {
            None => {}
            Some(front_end::FrontEndRequest::Exit) => return false,
            Some(front_end::FrontEndRequest::Send(request)) => {
                if let Err(why) = self.send(&request) {
                    let line = format!("   <F-END> ERROR    not sent to the target: {why}");
                    self.view.say(LineClass::Error, line.as_bytes(), context.notes);
                }
            }
            Some(front_end::FrontEndRequest::SaveDictionaries) => self.save_dictionaries(context),
            Some(front_end::FrontEndRequest::Write(kind, wanted)) => {
                self.write_for_front_end(kind, wanted, context)
            }
            Some(front_end::FrontEndRequest::ClearScreen) => self.view.clear_screen(context),
        }
        true
    }

    fn pressed(&mut self, keys: &[u8], context: &mut Context<'_, '_>) -> bool {
        for request in keys::requests(keys) {
            match request {
                keys::KeyRequest::Exit => return false,
                keys::KeyRequest::Help => {
                    keys::help()
                        .for_each(|line| self.view.say(LineClass::Info, line.as_bytes(), context.notes));
                }
                keys::KeyRequest::Next => self.choose_next(context),
                keys::KeyRequest::Clear => self.view.clear_screen(context),
                keys::KeyRequest::Quiet => {
                    if self.spied(context).is_some() {
                        self.view.toggle_quiet();
                    }
                }
                keys::KeyRequest::Send(name, request) => {
                    let stat = if self.send(&request).is_ok() { "OK" } else { "ERROR" };
                    let line = format!("   <USER-> Sending {name} to the Target Stat={stat}");
                    self.view.say(LineClass::Info, line.as_bytes(), context.notes);
                }
                keys::KeyRequest::SaveDictionaries => self.save_dictionaries(context),
                keys::KeyRequest::Write(kind) => {
                    self.toggle_side_file(kind, None, context);
                }
            }
        }
        true
    }

    fn send(&mut self, request: &Request) -> io::Result<()> {
        let id = self.focus();
        let (_, host) = id
            .and_then(|id| self.targets.get_mut(&id))
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, "no target is connected"))?;
        host.send(request)
    }

    /// The target whose lines and names are meant. Without one, this prints an error.
    fn spied(&mut self, context: &mut Context<'_, '_>) -> Option<ConnectionId> {
        let why = match self.focus() {
            _ if !self.view.is_qspy() => "only `qspy` does that",
            None => "no target is connected",
            id => return id,
        };
        self.view.say(LineClass::Error, format!("   <QSPY-> ERROR    {why}").as_bytes(), context.notes);
        None
    }

    fn save_dictionaries(&mut self, context: &mut Context<'_, '_>) {
        if let Some(id) = self.spied(context) {
            self.view.save_dictionaries(id);
        }
    }

    /// Whether a file was begun.
    fn toggle_side_file(
        &mut self,
        kind: SideFile,
        wanted: Option<bool>,
        context: &mut Context<'_, '_>,
    ) -> bool {
        self.spied(context).is_some_and(|id| self.view.toggle_side_file(id, kind, wanted, context.notes))
    }

    /// Any process that reaches the port can ask for files, so their number is bounded.
    fn write_for_front_end(&mut self, kind: SideFile, wanted: Option<bool>, context: &mut Context<'_, '_>) {
        let is_over = self.files >= MOST_FILES;
        if is_over && wanted != Some(false) {
            let line = format!(
                "   <F-END> ERROR    no more files: front-ends began {MOST_FILES} in this session; keys still do"
            );
            self.view.say(LineClass::Error, line.as_bytes(), context.notes);
        }
        let wanted = if is_over { Some(false) } else { wanted };
        self.files += u32::from(self.toggle_side_file(kind, wanted, context));
    }

    /// Reports what was dropped, and takes leave of the front-end.
    fn end(&mut self, context: &mut Context<'_, '_>) {
        let dropped = self.queue.unreported_drops();
        if dropped > 0 {
            context.notes.loss(format_args!(
                "{dropped} bytes came faster than they could be written, and were dropped"
            ));
        }
        if let (Some(packet), Some(owner)) = (self.front_end.farewell(), self.front_end.owner())
            && let Some((_, caller)) = self.callers.get_mut(&owner)
        {
            let _ = caller.write(&packet);
        }
    }
}

impl EventSource for LiveSession<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: &[], entries: 0 }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        self.show_origins(take, context);
        let goes_on = if self.stop.load(Ordering::Relaxed) { Ok(false) } else { self.step(take, context) };
        if let Ok(true) = goes_on {
            return Ok(Progress::More);
        }
        self.end(context);
        goes_on?;
        if let Some(why) = &self.failure {
            return Err(io::Error::other(why.to_string()));
        }
        self.view.finish(take, context)?;
        Ok(Progress::End)
    }
}
