//! The keyboard as a link: keys arrive when they are pressed. [`RawTerminal`] restores the terminal when it is dropped, also after a
//! panic.

#[cfg(not(unix))]
use std::io::IsTerminal;
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::{Connection, Keeping, Link, client};

/// The keyboard; each key is a packet.
pub fn keyboard() -> Link {
    Link::new("keyboard", Keeping::Packets, |feed| {
        let (from, to) = (Box::new(std::io::stdin()), Box::new(super::NullWriter));
        client::read(&feed, Connection { peer: "keyboard".to_owned(), from, to });
    })
}

/// The settings to restore, while the terminal has others.
#[cfg(unix)]
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// A terminal that delivers keys at once and does not show them. Output is as before.
pub struct RawTerminal(());

/// Ctrl-C and other keys still send signals.
#[cfg(unix)]
impl RawTerminal {
    /// Changes the terminal at standard input. `None` if it is not a terminal, or not ours.
    pub fn enter() -> Option<RawTerminal> {
        let stdin = std::io::stdin();
        // In the background, the system would stop this process.
        if rustix::termios::tcgetpgrp(&stdin).ok()? != rustix::process::getpgrp() {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
        Some(RawTerminal(()))
    }

    /// Restores the terminal.
    pub fn leave() {
        if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
        }
    }
}

/// Ctrl-C is a key among others.
#[cfg(not(unix))]
impl RawTerminal {
    /// Changes the console. `None` if standard input is not one.
    pub fn enter() -> Option<RawTerminal> {
        let is_console = std::io::stdin().is_terminal();
        (is_console && crossterm::terminal::enable_raw_mode().is_ok()).then_some(RawTerminal(()))
    }

    /// Restores the console.
    pub fn leave() {
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        RawTerminal::leave();
    }
}
