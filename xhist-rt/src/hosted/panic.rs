//! The panic hook: notes the panic in the ring, and prints under the message how to read the history.

use std::panic::{set_hook, take_hook};

use qs_core::record::EventKind;
use qs_core::ring::{NAME_LEN, Status};
use qs_core::shown::Quoted;

use super::setup::file;
use super::setup::settings::FILE;
use super::slots::foreign;
use super::threads;
use super::track::events::Append;
use super::track::pending;

/// Installs the hook behind the existing one, which prints the message. `has_line`: a line follows.
pub(crate) fn install(has_line: bool) {
    let previous = take_hook();
    set_hook(Box::new(move |info| {
        // This comes before the previous hook runs statements of its own.
        let thread = std::thread::current();
        note(EventKind::Panic, 0, Status::Panicked, thread.name());
        previous(info);
        if has_line {
            print();
        }
    }));
}

/// Appends an event to this thread's ring, and writes status and full name of the thread to the ring's header.
fn note(kind: EventKind, value: u64, status: Status, name: Option<&str>) {
    threads::check_for_fork();
    let Some(header) = threads::own() else { return };
    foreign::look();
    threads::append(Append::Event(kind, value));
    header.set_status(status);
    if let Some(name) = name {
        let len = name.len().min(NAME_LEN);
        let mut bytes = [0; NAME_LEN];
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        pending::set_name(header, bytes);
    }
    pending::on_panic();
}

/// Prints as the default hook does, so that the test harness captures it with the message. The statements are not read
/// here: the map has their names, and the program that dies should do as little as possible.
fn print() {
    if threads::own().is_none() {
        return;
    }
    let tool = if cfg!(feature = "auto") { "cargo xhist" } else { "xhist-report" };
    match file::get() {
        Some(opened) => {
            eprintln!("xhist: what ran before the panic: {tool} answer {}", Quoted(opened.path()));
        }
        None => {
            eprintln!(
                "xhist: what ran before the panic is in memory only: {}=ring.xhist keeps it in a file",
                FILE.name()
            );
        }
    }
}
