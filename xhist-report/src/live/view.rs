//! What a live session shows its targets through: the history, or QSPY's lines. It must not know links.

use std::io;

use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::front_end::Tap;
use crate::qs::{Class, Known};
use crate::qspy::Beside;
use crate::source::link::Id;

/// Shows what comes from targets.
pub trait View {
    /// Somebody is at the other end.
    fn opened(&mut self, id: Id, peer: &Peer, notes: &mut Notes<'_>) -> Result<(), String>;

    /// Bytes came; the front-end listens to some.
    fn bytes(&mut self, id: Id, bytes: &[u8], tap: &mut Tap, notes: &mut Notes<'_>) -> io::Result<()>;

    /// The connection is over; another may follow.
    fn closed(&mut self, id: Id, peer: &Peer, notes: &mut Notes<'_>);

    /// From here on it is told where things come from.
    fn several(&mut self);

    /// What is known of a target.
    fn known(&self, id: Id) -> Option<&Known>;

    /// Says something beside the streams.
    fn say(&mut self, class: Class, line: &[u8], notes: &mut Notes<'_>);

    /// Writes what waits.
    fn flush(&mut self) -> io::Result<()>;

    /// Shows an empty screen.
    fn clear_screen(&mut self);

    /// Whether it does what stands below, which is QSPY's.
    fn is_spy(&self) -> bool {
        false
    }

    /// Quiet, or no longer.
    fn toggle_quiet(&mut self) {}

    /// Writes all names of a target into their file.
    fn save_dictionaries(&mut self, _: Id) {}

    /// Begins or ends a file beside; whether one was begun.
    fn write_beside(&mut self, _: Id, _: Beside, _: Option<bool>, _: &mut Notes<'_>) -> bool {
        false
    }

    /// Behind everything.
    fn finish(self: Box<Self>, notes: &mut Notes<'_>) -> io::Result<ExitCode>;
}

/// Who is at the other end.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// It came by TCP.
    pub is_tcp: bool,
    /// It goes and comes.
    pub is_live: bool,
}
