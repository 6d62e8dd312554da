//! The panic hook: notes the panic in the ring, and prints the last statements under the message.

use std::panic::{set_hook, take_hook};

use qs_core::listing::TailLine;
use qs_core::record::EventKind;
use qs_core::ring::{Header, NAME_LEN, Reader, Status};

use super::names::Names;
use super::rings::slots::SLOTS;
use super::rings::{foreign, fork, threads};
use super::setup::owner;
use crate::slow_path::{self, Append};

/// Installs the hook behind the existing one, which prints the message.
pub(crate) fn install(lines: usize) {
    let previous = take_hook();
    set_hook(Box::new(move |info| {
        // This comes before the previous hook runs statements of its own.
        let thread = std::thread::current();
        note(EventKind::Panic, 0, Status::Panicked, thread.name());
        let history = if lines > 0 { snapshot() } else { None };
        previous(info);
        if let Some(image) = history
            && let Ok(header) = Header::parse(&image)
        {
            let map_hash = header.map_hash;
            let statements: Vec<TailLine> = Reader::new(header, &image).tail(lines).collect();
            print(&statements, map_hash);
        }
    }));
}

/// Appends an event to this thread's ring, and writes status and full name of the thread to the ring's header.
fn note(kind: EventKind, value: u64, status: Status, name: Option<&str>) {
    if owner::is_unseen_child() {
        fork::leave_parent();
    }
    let Some(header) = threads::own() else { return };
    foreign::look();
    slow_path::append(Append::Event(kind, value));
    header.set_status(status);
    if let Some(name) = name {
        let len = name.len().min(NAME_LEN);
        let mut bytes = [0; NAME_LEN];
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        slow_path::set_name(header, bytes);
    }
    slow_path::on_panic();
}

/// A copy of this thread's ring, header first.
fn snapshot() -> Option<Vec<u8>> {
    let own = threads::own()?;
    let slot = SLOTS.iter().find(|slot| slot.ring().is_some_and(|ring| core::ptr::eq(ring, own)))?;
    let region = slot.region()?;
    let mut copy = vec![0u8; region.len()];
    // SAFETY: the region has these bytes. Only this thread writes them, and it is here now.
    unsafe { core::ptr::copy_nonoverlapping(region.header(), copy.as_mut_ptr(), copy.len()) };
    Some(copy)
}

/// Prints as the default hook does, so that the test harness captures it with the message.
fn print(statements: &[TailLine], map_hash: u64) {
    if statements.is_empty() {
        return;
    }
    let names = Names::of(map_hash);
    let mut text = String::from("last statements before the panic (xhist, newest last):\n");
    if let Some(refusal) = names.refusal() {
        text.push_str(&format!("      files are numbered: {refusal}\n"));
    }
    for (index, line) in statements.iter().enumerate() {
        text.push_str(&match line {
            TailLine::Repetition(again) => {
                format!("      {}\n", again.show(|statement| names.place(statement)))
            }
            TailLine::Statement(statement, times) => {
                let (path, line) = names.place(*statement);
                let repeated = if *times > 1 { format!(" x {times}") } else { String::new() };
                format!("{:>4}: {path}:{line}{repeated}\n", index + 1)
            }
        });
    }
    eprint!("{text}");
}
