//! What keys mean in a live session: those of QSPY, and one for several targets. It must not know terminals.

use qs_core::rx::id;

use crate::qs::Request;
use crate::qspy::Beside;

/// What a key asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The session ends.
    Exit,
    /// All keys.
    Help,
    /// An empty screen.
    Clear,
    /// Quiet, or no longer.
    Quiet,
    /// Keys and front-ends speak to the next target from now on.
    Next,
    /// A packet for the target, and what it is called.
    Send(&'static str, Request),
    /// All names into the dictionary file.
    SaveDictionaries,
    /// A file is written beside from now on, or no longer.
    Write(Beside),
}

/// Every key, in the order of the help.
const KEYS: &[(&[u8], &str)] = &[
    (b"hH", "h        this help"),
    (b"cC", "c        clear the screen"),
    (b"qQ", "q        quiet on/off"),
    (b"nN", "n        speak to the next target"),
    (b"rR", "r        reset the target"),
    (b"iI", "i        ask the target what it is, and for its names"),
    (b"tT", "t        tick 0"),
    (b"uU", "u        tick 1"),
    (b"dD", "d        save the dictionaries"),
    (b"oO", "o        lines to a file on/off"),
    (b"sSbB", "s, b     stream to a file on/off"),
    (b"mM", "m        Matlab file on/off"),
    (b"gG", "g        sequence file on/off"),
    (b"xX\x1b", "x, Esc   end"),
];

/// What these keys ask for, which came at once: arrows and the like are several bytes, and mean nothing.
pub fn wishes(keys: &[u8]) -> Vec<Wish> {
    match keys {
        [0x1B, _, ..] => Vec::new(),
        keys => keys.iter().filter_map(|key| wish(*key)).collect(),
    }
}

/// The help, a line each.
pub fn help() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(_, help)| *help)
}

fn wish(key: u8) -> Option<Wish> {
    let (names, _) = KEYS.iter().find(|(names, _)| names.contains(&key))?;
    Some(match names[0] {
        b'h' => Wish::Help,
        b'c' => Wish::Clear,
        b'q' => Wish::Quiet,
        b'n' => Wish::Next,
        b'r' => Wish::Send("RESET", Request::bare(id::RESET)),
        b'i' => Wish::Send("INFO", Request::bare(id::INFO)),
        b't' => Wish::Send("TICK-0", Request::byte(id::TICK, 0)),
        b'u' => Wish::Send("TICK-1", Request::byte(id::TICK, 1)),
        b'd' => Wish::SaveDictionaries,
        b'o' => Wish::Write(Beside::Text),
        b's' => Wish::Write(Beside::Binary),
        b'm' => Wish::Write(Beside::Matlab),
        b'g' => Wish::Write(Beside::Sequence),
        _ => Wish::Exit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_qspy() {
        assert_eq!(wishes(b"\x1b"), [Wish::Exit]);
        assert_eq!(wishes(b"\x1b[A"), []);
        assert_eq!(wishes(b"n"), [Wish::Next]);
        assert_eq!(wishes(b"7Tb"), [Wish::Send("TICK-0", Request::byte(3, 0)), Wish::Write(Beside::Binary)]);
        assert_eq!(help().count(), KEYS.len());
    }
}
