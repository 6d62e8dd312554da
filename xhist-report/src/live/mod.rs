//! A live session: what happens on links, keys and the front-end's packets come through one queue, and are shown and carried out here.
//! It must not know how a link works, nor how anything looks.

mod history;
mod host;
mod keys;
mod spy;
mod view;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::format::About;
use crate::front_end::{self, FrontEnd, Tap};
use crate::interrupt;
use crate::options::Options;
use crate::qs::{Class, Known, Request};
use crate::qspy::Beside;
use crate::session::outcome;
use crate::source::link::{self, Event, Id, Link, Queue};
pub use host::Host;
use view::{Peer, View};

/// When nothing happens, it is asked so often whether the session shall end.
const PAUSE: Duration = Duration::from_millis(50);

/// Front-ends begin this many files at most.
const MOST_FILES: u32 = 64;

/// What a session is made of.
pub struct Setup {
    /// The sources.
    pub links: Vec<Link>,
    /// The port of front-ends.
    pub front_end: Option<Link>,
    /// Front-ends are told of the target as QP 8 tells it.
    pub as_qp8: bool,
    /// Keys are commands.
    pub keys: bool,
}

/// Shows what comes until all links have ended, or somebody ends the session.
pub fn run(setup: Setup, options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let raw = if setup.keys { link::Raw::enter() } else { None };
    let stop = interrupt::requested(link::Raw::leave);
    let view: Result<Box<dyn View + '_>, io::Error> = match options.format.about {
        About::Stream => Ok(Box::new(spy::Spy::new(&options.qs, out))),
        _ => history::History::new(options, out).map(|history| Box::new(history) as Box<dyn View + '_>),
    };
    let view = match view {
        Ok(view) => view,
        Err(error) => return outcome(Err(error), notes),
    };
    let mut live = Live::new(setup, raw.is_some(), view);
    let mut result = Ok(true);
    while matches!(result, Ok(true)) && !stop.load(Ordering::Relaxed) {
        result = live.step(notes);
    }
    let untold = live.queue.untold();
    if untold > 0 {
        notes.loss(format_args!("{untold} bytes came faster than they could be written, and were dropped"));
    }
    let ended = live.end();
    let code = match result {
        Ok(_) => ended.finish(notes).unwrap_or_else(|error| outcome(Err(error), notes)),
        Err(Ended::Output(error)) => outcome(Err(error), notes),
        Err(Ended::Usage(why)) => {
            notes.error(format_args!("{why}"));
            ExitCode::Usage
        }
    };
    drop(raw);
    code
}

/// Why a session cannot go on.
enum Ended {
    Output(io::Error),
    Usage(String),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Output(error)
    }
}

struct Live<'v> {
    view: Box<dyn View + 'v>,
    queue: Queue,
    /// Names of the sources, by their number.
    names: Vec<String>,
    /// Sources that may still send something.
    running: usize,
    /// Targets that are there now.
    targets: BTreeMap<Id, (Peer, Host)>,
    several: bool,
    /// The target that was chosen to speak to.
    chosen: Option<Id>,
    keys: Option<usize>,
    port: Option<usize>,
    /// Callers: all that sent something to the port, with their addresses.
    callers: BTreeMap<usize, (String, Box<dyn Write + Send>)>,
    /// Files begun for front-ends.
    files: u32,
    front_end: FrontEnd,
    tap: Tap,
    /// Before this target is known, nothing is.
    nothing: Known,
}

impl<'v> Live<'v> {
    fn new(setup: Setup, has_keys: bool, mut view: Box<dyn View + 'v>) -> Live<'v> {
        let queue = Queue::default();
        let names: Vec<String> = setup.links.iter().map(|link| link.name.clone()).collect();
        let several = names.len() > 1;
        if several {
            view.several();
        }
        let running = names.len();
        setup.links.into_iter().for_each(|link| {
            queue.start(link);
        });
        Live {
            view,
            names,
            running,
            several,
            chosen: None,
            targets: BTreeMap::new(),
            keys: has_keys.then(|| queue.start(link::keyboard())),
            port: setup.front_end.map(|port| queue.start(port)),
            queue,
            callers: BTreeMap::new(),
            files: 0,
            front_end: FrontEnd::default(),
            tap: Tap::new(setup.as_qp8),
            nothing: Known::new(Default::default()),
        }
    }

    /// Carries out what happened next; whether the session goes on.
    fn step(&mut self, notes: &mut Notes<'_>) -> Result<bool, Ended> {
        let next = match self.queue.next(Duration::ZERO) {
            Some(next) => Some(next),
            None => {
                self.view.flush()?;
                self.queue.next(PAUSE)
            }
        };
        let Some((id, event)) = next else { return Ok(true) };
        match Some(id.link) {
            link if link == self.keys => match event {
                Event::Bytes(keys) => Ok(self.pressed(&keys, notes)),
                _ => Ok(true),
            },
            link if link == self.port => Ok(self.called(id.slot, event, notes)),
            _ => self.happened(id, event, notes),
        }
    }

    /// The target that keys and front-ends speak to: the one that was chosen, and while it is away the first one.
    fn focus(&self) -> Option<Id> {
        let chosen = self.chosen.filter(|id| self.targets.contains_key(id));
        chosen.or_else(|| self.targets.keys().next().copied())
    }

    /// Chooses the target behind the one that is spoken to, or the first; says which.
    fn choose_next(&mut self, notes: &mut Notes<'_>) {
        let focus = self.focus();
        let next = self.targets.keys().find(|id| Some(**id) > focus);
        self.chosen = next.or(self.targets.keys().next()).copied();
        let peer = self.chosen.and_then(|id| self.targets.get(&id)).map(|(peer, _)| peer.name.as_str());
        let line = format!("   <USER-> Speaking to Target={}", peer.unwrap_or("none"));
        self.view.say(Class::Info, line.as_bytes(), notes);
    }

    fn happened(&mut self, id: Id, event: Event, notes: &mut Notes<'_>) -> Result<bool, Ended> {
        let name = &self.names[id.link];
        match event {
            Event::Note(text) => notes.note(format_args!("{name}: {text}")),
            Event::Ended => {
                self.running -= 1;
                return Ok(self.running > 0);
            }
            Event::Opened { peer, to } => {
                let (is_live, is_tcp) = (name.contains("://"), name.starts_with("tcp"));
                let peer = Peer { name: peer, is_tcp, is_live };
                if is_live {
                    notes.note(format_args!("{name}: connected to {}", peer.name));
                }
                if !self.several && !self.targets.is_empty() {
                    self.several = true;
                    self.view.several();
                }
                self.view.opened(id, &peer, notes).map_err(Ended::Usage)?;
                self.targets.insert(id, (peer, Host::new(to)));
            }
            Event::Closed(why) => {
                if let Some((peer, _)) = self.targets.remove(&id) {
                    if peer.is_live {
                        notes.note(format_args!("{name}: lost {}: {why}", peer.name));
                    } else if why != link::END {
                        notes.incomplete();
                        notes.error(format_args!("cannot read {}: {why}", peer.name));
                    }
                    self.view.closed(id, &peer, notes);
                }
            }
            Event::Dropped(bytes) => {
                let peer = self.targets.get(&id).map_or(name, |(peer, _)| &peer.name);
                notes.loss(format_args!(
                    "{peer}: {bytes} bytes came faster than they could be written, and were dropped"
                ));
            }
            Event::Bytes(bytes) => {
                self.tap.is_open = self.focus() == Some(id);
                self.view.bytes(id, &bytes, &mut self.tap, notes)?;
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

    fn called(&mut self, slot: usize, event: Event, notes: &mut Notes<'_>) -> bool {
        let packet = match event {
            Event::Opened { peer, to } => {
                self.callers.insert(slot, (peer, to));
                return true;
            }
            Event::Closed(_) => {
                self.callers.remove(&slot);
                if self.front_end.owner() == Some(slot) {
                    self.front_end.forget(&mut self.tap);
                }
                return true;
            }
            Event::Note(text) => {
                notes.note(format_args!("front-ends: {text}"));
                return true;
            }
            Event::Bytes(packet) => packet,
            Event::Dropped(_) | Event::Ended => return true,
        };
        self.make_way(slot, &packet, notes);
        let known = self.focus().and_then(|id| self.view.known(id)).unwrap_or(&self.nothing);
        let answers = self.front_end.packet(slot, &packet, known, &mut self.tap);
        if let (Some(owner), Some(link)) = (self.front_end.owner(), self.port) {
            self.queue.keep(Id { link, slot: owner });
        }
        answers.into_iter().all(|answer| self.answer(slot, answer, notes))
    }

    /// A front-end that is gone or silent leaves the port to another that attaches.
    fn make_way(&mut self, slot: usize, packet: &[u8], notes: &mut Notes<'_>) {
        let callers = &self.callers;
        let is_gone = |owner| callers.get(&owner).is_none_or(|(peer, _)| link::is_gone(peer));
        let Some((owner, farewell)) = self.front_end.give_up(slot, packet, is_gone, &mut self.tap) else {
            return;
        };
        if let Some((_, caller)) = self.callers.get_mut(&owner) {
            let _ = caller.write(&farewell);
        }
        let line = "   <F-END> Detached: it is gone or was silent, and another attaches";
        self.view.say(Class::Info, line.as_bytes(), notes);
    }

    fn answer(&mut self, slot: usize, answer: front_end::Answer, notes: &mut Notes<'_>) -> bool {
        if let (Some(reply), Some((_, caller))) = (answer.reply, self.callers.get_mut(&slot)) {
            let _ = caller.write(&reply);
        }
        if let Some((class, line)) = answer.line {
            self.view.say(class, &line, notes);
        }
        match answer.wish {
            None => {}
            Some(front_end::Wish::Exit) => return false,
            Some(front_end::Wish::Send(request)) => {
                if let Err(why) = self.send(&request) {
                    let line = format!("   <F-END> ERROR    not sent to the target: {why}");
                    self.view.say(Class::Error, line.as_bytes(), notes);
                }
            }
            Some(front_end::Wish::SaveDictionaries) => self.save_dictionaries(notes),
            Some(front_end::Wish::Write(kind, wanted)) => self.write_for_front_end(kind, wanted, notes),
            Some(front_end::Wish::ClearScreen) => self.view.clear_screen(),
        }
        true
    }

    fn pressed(&mut self, keys: &[u8], notes: &mut Notes<'_>) -> bool {
        for wish in keys::wishes(keys) {
            match wish {
                keys::Wish::Exit => return false,
                keys::Wish::Help => {
                    keys::help().for_each(|line| self.view.say(Class::Info, line.as_bytes(), notes));
                }
                keys::Wish::Next => self.choose_next(notes),
                keys::Wish::Clear => self.view.clear_screen(),
                keys::Wish::Quiet => {
                    if self.spied(notes).is_some() {
                        self.view.toggle_quiet();
                    }
                }
                keys::Wish::Send(name, request) => {
                    let stat = if self.send(&request).is_ok() { "OK" } else { "ERROR" };
                    let line = format!("   <USER-> Sending {name} to the Target Stat={stat}");
                    self.view.say(Class::Info, line.as_bytes(), notes);
                }
                keys::Wish::SaveDictionaries => self.save_dictionaries(notes),
                keys::Wish::Write(kind) => {
                    self.write_beside(kind, None, notes);
                }
            }
        }
        true
    }

    fn send(&mut self, request: &Request) -> Result<(), String> {
        let id = self.focus();
        let (_, host) = id.and_then(|id| self.targets.get_mut(&id)).ok_or("no target is connected")?;
        host.send(request).map_err(|error| error.to_string())
    }

    /// The target whose lines and names are meant; that there is none is said.
    fn spied(&mut self, notes: &mut Notes<'_>) -> Option<Id> {
        let why = match self.focus() {
            _ if !self.view.is_spy() => "only --format qspy does that",
            None => "no target is connected",
            id => return id,
        };
        self.view.say(Class::Error, format!("   <QSPY-> ERROR    {why}").as_bytes(), notes);
        None
    }

    fn save_dictionaries(&mut self, notes: &mut Notes<'_>) {
        if let Some(id) = self.spied(notes) {
            self.view.save_dictionaries(id);
        }
    }

    /// Whether a file was begun.
    fn write_beside(&mut self, kind: Beside, wanted: Option<bool>, notes: &mut Notes<'_>) -> bool {
        self.spied(notes).is_some_and(|id| self.view.write_beside(id, kind, wanted, notes))
    }

    /// Any process that reaches the port can ask for files, so their number is bounded.
    fn write_for_front_end(&mut self, kind: Beside, wanted: Option<bool>, notes: &mut Notes<'_>) {
        let is_over = self.files >= MOST_FILES;
        if is_over && wanted != Some(false) {
            let line = format!(
                "   <F-END> ERROR    no more files: front-ends began {MOST_FILES} in this session; keys still do"
            );
            self.view.say(Class::Error, line.as_bytes(), notes);
        }
        let wanted = if is_over { Some(false) } else { wanted };
        self.files += u32::from(self.write_beside(kind, wanted, notes));
    }

    /// Says good-bye to the front-end; what is left is the view.
    fn end(mut self) -> Box<dyn View + 'v> {
        if let (Some(packet), Some(owner)) = (self.front_end.farewell(), self.front_end.owner())
            && let Some((_, caller)) = self.callers.get_mut(&owner)
        {
            let _ = caller.write(&packet);
        }
        self.view
    }
}
