//! QSPY's two palettes: escape sequences for the parts of a line.

use qs_core::record::Group;

use super::lines::LineClass;
use crate::stream::decoded::group;

/// The colours of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// No colours.
    #[default]
    None,
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
}

/// Column behind the time, and column behind the title of a record.
const TIME: usize = 11;
const WHAT: usize = 19;

const ERROR: &str = "\x1b[41m\x1b[33;1m";
const INFO: &str = "\x1b[0m\x1b[42m\x1b[30m";
const CLEAR_TO_END: &str = "\x1b[K";
const RESET: &str = "\x1b[0m";

/// The colours of the time, of a record's title and of the rest of its line. Without the second, all behind the time has the
/// third.
fn colours(palette: Palette, group: Group) -> (&'static str, Option<&'static str>, &'static str) {
    let dark = palette == Palette::Dark;
    let time = if dark { "\x1b[40m\x1b[36m" } else { "\x1b[47m\x1b[30;1m" };
    let pick = |on_dark, on_light| if dark { on_dark } else { on_light };
    match group {
        Group::Sm => (time, Some("\x1b[44m\x1b[37m"), pick("\x1b[40m\x1b[37;1m", "\x1b[47m\x1b[34m")),
        Group::Inf => (
            time,
            Some("\x1b[0m\x1b[44m\x1b[33;1m"),
            pick("\x1b[0m\x1b[40m\x1b[33;1m", "\x1b[0m\x1b[47m\x1b[31m"),
        ),
        Group::Tst => (
            time,
            Some("\x1b[0m\x1b[46m\x1b[37;1m"),
            pick("\x1b[0m\x1b[40m\x1b[33m", "\x1b[0m\x1b[47m\x1b[34m"),
        ),
        Group::Err => (time, None, ERROR),
        Group::Dic => (time, None, time),
        Group::Usr => (time, None, pick("\x1b[0m\x1b[47m\x1b[30m", "\x1b[0m\x1b[40m\x1b[37m")),
        _ => (time, Some("\x1b[0m\x1b[45m\x1b[37m"), pick("\x1b[40m\x1b[37m", "\x1b[47m\x1b[35m")),
    }
}

fn of_class(class: LineClass) -> &'static str {
    match class {
        LineClass::Error => ERROR,
        LineClass::TestNote => "\x1b[40m\x1b[33;1m",
        LineClass::UserNote => "\x1b[40m\x1b[37m",
        LineClass::Ordinary | LineClass::Info => INFO,
    }
}

/// Appends a line, without its line end, in the colours of its class. `id` is the record that the line is about.
pub fn push(palette: Palette, class: LineClass, id: u8, line: &[u8], to: &mut Vec<u8>) {
    let mut put = |text: &[u8]| to.extend_from_slice(text);
    if palette == Palette::None {
        return put(line);
    }
    if class != LineClass::Ordinary {
        put(of_class(class).as_bytes());
        put(line);
        put(CLEAR_TO_END.as_bytes());
        return put(RESET.as_bytes());
    }
    let (time, what, rest) = colours(palette, group(id));
    let (head, tail) = line.split_at(line.len().min(TIME));
    put(time.as_bytes());
    put(head);
    match what {
        Some(what) => {
            let (middle, tail) = tail.split_at(tail.len().min(WHAT - TIME));
            put(what.as_bytes());
            put(middle);
            if line.len() > WHAT {
                put(rest.as_bytes());
                put(tail);
            }
        }
        None => {
            put(rest.as_bytes());
            put(tail);
        }
    }
    put(RESET.as_bytes());
}
