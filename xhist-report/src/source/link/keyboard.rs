//! Keys as they are pressed. The terminal is as it was before once [`Raw`] is dropped, a panic included. It must not know what keys mean.

use std::sync::{Mutex, PoisonError};

use super::{Ends, Keeping, Link, client};

/// The keyboard; each key is a packet.
pub fn keyboard() -> Link {
    Link::new("keyboard", Keeping::Packets, |feed| {
        let (from, to) = (Box::new(std::io::stdin()), Box::new(super::Deaf));
        client::read(&feed, Ends { peer: "keyboard".to_owned(), from, to });
    })
}

/// The terminal as it was, where it is different now.
static BEFORE: Mutex<Option<Before>> = Mutex::new(None);

#[cfg(unix)]
type Before = rustix::termios::Termios;
#[cfg(not(unix))]
type Before = ();

/// Keys come at once and are not shown; Ctrl-C and the like still send signals, and lines still end where they begin.
pub struct Raw(());

impl Raw {
    /// Changes the terminal at standard input; `None` when it is none.
    #[cfg(unix)]
    pub fn enter() -> Option<Raw> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

        let stdin = std::io::stdin();
        // In the background the system would stop this process for it.
        if rustix::termios::tcgetpgrp(&stdin).ok()? != rustix::process::getpgrp() {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
        Some(Raw(()))
    }

    /// Not known on this system.
    #[cfg(not(unix))]
    pub fn enter() -> Option<Raw> {
        None
    }

    /// Makes the terminal as it was, if it is not.
    pub fn leave() {
        let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
        #[cfg(unix)]
        if let Some(before) = before {
            let stdin = std::io::stdin();
            let _ = rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Now, &before);
        }
        #[cfg(not(unix))]
        drop(before);
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        Raw::leave();
    }
}
