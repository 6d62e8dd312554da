//! The panic hook: notes the panic in the ring, and prints under the message how to read the history.

use std::panic::{Location, set_hook, take_hook};

use qs_core::record::{MOST_PANIC, PanicSite, RECORD_BASE, ids};
use qs_core::ring::{NAME_LEN, Status};
use qs_core::shown::Quoted;

use super::setup::file;
use super::setup::settings::FILE;
use super::slots::foreign;
use super::slow_path::append_record;
use super::system::backtrace::Backtrace;
use super::threads;
use super::track::act::count_lost_words;
use super::track::{pending, printed};

/// Bytes before the payload: places for the sequence number and the id.
const HEAD: usize = 2;
/// Bytes of the record of a panic. Behind the payload are zeros.
const RECORD: usize = (HEAD + MOST_PANIC + 2).next_multiple_of(16);

/// Installs the hook behind the existing one, which prints the message. `has_line`: a line follows.
pub(crate) fn install(has_line: bool) {
    let previous = take_hook();
    set_hook(Box::new(move |info| {
        // This comes before the previous hook runs statements of its own.
        let thread = std::thread::current();
        note(info.location(), thread.name());
        printed::muted(|| {
            previous(info);
            if has_line {
                print();
            }
        });
    }));
}

/// Appends the panic to this thread's ring, and writes status and full name of the thread to the ring's header.
fn note(location: Option<&Location<'_>>, name: Option<&str>) {
    threads::check_for_fork();
    let Some(header) = threads::own() else { return };
    foreign::look();
    count_lost_words();
    append(location);
    header.set_status(Status::Panicked);
    if let Some(name) = name {
        let len = name.len().min(NAME_LEN);
        let mut bytes = [0; NAME_LEN];
        bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        pending::set_name(header, bytes);
    }
    pending::on_panic();
}

/// Appends the record: the place in the message, and the frames. A panic's place may be that of a macro's call, and code that is
/// not recorded may have called recorded code.
#[inline(never)]
fn append(location: Option<&Location<'_>>) {
    let site = location.map_or_else(PanicSite::default, |location| {
        PanicSite::new(location.file(), location.line(), location.column())
    });
    let mut payload = [0; MOST_PANIC];
    let frames = Backtrace::here();
    let len = site.write(0, frames.program, frames.addresses(), &mut payload);
    let mut bytes = [0; RECORD];
    bytes[1] = RECORD_BASE + ids::EVENT;
    bytes[HEAD..HEAD + MOST_PANIC].copy_from_slice(&payload);
    append_record::<RECORD, true>(&bytes, HEAD + len);
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
