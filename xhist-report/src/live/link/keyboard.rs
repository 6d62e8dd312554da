//! The keyboard as a link: keys arrive when they are pressed. [`RawTerminal`] restores the terminal when it is dropped, also after a
//! panic.

use std::sync::{Mutex, PoisonError};

use super::{Connection, Keeping, Link, client};

/// The keyboard; each key is a packet.
pub fn keyboard() -> Link {
    Link::new("keyboard", Keeping::Packets, |feed| {
        let (from, to) = (Box::new(std::io::stdin()), Box::new(super::NullWriter));
        client::read(&feed, Connection { peer: "keyboard".to_owned(), from, to });
    })
}

/// The settings to restore, while the terminal has others.
static BEFORE: Mutex<Option<SavedTerminal>> = Mutex::new(None);

/// Settings of a terminal.
struct SavedTerminal {
    #[cfg(unix)]
    settings: rustix::termios::Termios,
}

/// A terminal that delivers keys at once and does not show them. Ctrl-C and other keys still send signals, and output is as before.
pub struct RawTerminal(());

impl RawTerminal {
    /// Changes the terminal at standard input. `None` if it is not a terminal, or not ours.
    #[cfg(unix)]
    pub fn enter() -> Option<RawTerminal> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

        let stdin = std::io::stdin();
        // In the background, the system would stop this process.
        if rustix::termios::tcgetpgrp(&stdin).ok()? != rustix::process::getpgrp() {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(SavedTerminal { settings: before });
        tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
        Some(RawTerminal(()))
    }

    /// Not known on this system.
    #[cfg(not(unix))]
    pub fn enter() -> Option<RawTerminal> {
        None
    }

    /// Restores the terminal.
    pub fn leave() {
        let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
        #[cfg(unix)]
        if let Some(before) = before {
            let stdin = std::io::stdin();
            let _ =
                rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Now, &before.settings);
        }
        #[cfg(not(unix))]
        drop(before);
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        RawTerminal::leave();
    }
}
