//! What a live session shows: the history of its targets, or the lines that QSPY prints of them.

use std::{fmt, io};

use crate::live::link::ConnectionId;
use crate::qspy::SessionError;
use qs_host::SideFile;
use qs_host::front_end::Tap;
use qs_host::{LineClass, TargetSymbols};
use xhist_history::events::TakeStep;
use xhist_history::events::context::Context;
use xhist_history::notes::Notes;

/// Why a target cannot be shown.
#[derive(Debug)]
pub enum ViewError {
    /// The report cannot be written.
    Output(io::Error),
    /// The files of a QSPY session cannot be opened.
    Session(SessionError),
}

impl From<io::Error> for ViewError {
    fn from(error: io::Error) -> ViewError {
        ViewError::Output(error)
    }
}

impl From<SessionError> for ViewError {
    fn from(error: SessionError) -> ViewError {
        ViewError::Session(error)
    }
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::Output(error) => write!(f, "cannot write the report: {error}"),
            ViewError::Session(error) => error.fmt(f),
        }
    }
}

/// Shows what targets send.
pub trait SessionView {
    /// A target is connected.
    fn opened(
        &mut self,
        id: ConnectionId,
        peer: &Peer,
        take: TakeStep<'_>,
        context: &mut Context<'_, '_>,
    ) -> Result<(), ViewError>;

    /// Bytes came; a front-end listens to some targets.
    fn bytes(
        &mut self,
        id: ConnectionId,
        bytes: &[u8],
        tap: &mut Tap,
        to: (TakeStep<'_>, &mut Context<'_, '_>),
    ) -> io::Result<()>;

    /// The connection is over; another may follow.
    fn closed(&mut self, id: ConnectionId, peer: &Peer, notes: &mut Notes<'_>);

    /// From now on the origin of each line is shown.
    fn several(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>);

    /// What is known of a target.
    fn known(&self, id: ConnectionId) -> Option<&TargetSymbols>;

    /// Shows a line that is not of the streams.
    fn say(&mut self, class: LineClass, line: &[u8], notes: &mut Notes<'_>);

    /// Writes what is buffered.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Shows an empty screen.
    fn clear_screen(&mut self, context: &mut Context<'_, '_>);

    /// Whether it does what follows, as QSPY does.
    fn is_qspy(&self) -> bool {
        false
    }

    /// Quiet, or no longer.
    fn toggle_quiet(&mut self) {}

    /// Writes all names of a target into their file.
    fn save_dictionaries(&mut self, _: ConnectionId) {}

    /// Begins or ends a side file; whether one was begun.
    fn toggle_side_file(&mut self, _: ConnectionId, _: SideFile, _: Option<bool>, _: &mut Notes<'_>) -> bool {
        false
    }

    /// Ends the output.
    fn finish(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<()>;

    /// Whether any target sent a good record.
    fn has_started(&self) -> bool;
}

/// What is at the other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// It came by TCP.
    pub is_tcp: bool,
    /// It may disconnect, and connect again.
    pub is_live: bool,
}
