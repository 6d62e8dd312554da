//! The keys of a live session: those of QSPY, and one for several targets.

use qs_core::rx::id;

use qs_host::Request;
use qs_host::SideFile;

/// What a key requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyRequest {
    /// End the session.
    Exit,
    /// Show all keys.
    Help,
    /// Clear the screen.
    Clear,
    /// Switch quiet mode.
    Quiet,
    /// Send the requests of keys and front-ends to the next target.
    Next,
    /// Send a packet to the target; its name.
    Send(&'static str, Request),
    /// Write all names to the dictionary file.
    SaveDictionaries,
    /// Open or close a side file.
    Write(SideFile),
}

/// All keys, in the order of the help.
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
    // Ctrl-C is a key on Windows.
    (b"xX\x1b\x03", "x, Esc   end"),
];

/// The requests of keys that arrived together. Arrow keys and others that send several bytes request nothing.
pub fn requests(keys: &[u8]) -> Vec<KeyRequest> {
    match keys {
        [0x1B, _, ..] => Vec::new(),
        keys => keys.iter().filter_map(|key| request(*key)).collect(),
    }
}

/// The help, one line for each key.
pub fn help() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(_, help)| *help)
}

fn request(key: u8) -> Option<KeyRequest> {
    let (names, _) = KEYS.iter().find(|(names, _)| names.contains(&key))?;
    Some(match names[0] {
        b'h' => KeyRequest::Help,
        b'c' => KeyRequest::Clear,
        b'q' => KeyRequest::Quiet,
        b'n' => KeyRequest::Next,
        b'r' => KeyRequest::Send("RESET", Request::bare(id::RESET)),
        b'i' => KeyRequest::Send("INFO", Request::bare(id::INFO)),
        b't' => KeyRequest::Send("TICK-0", Request::byte(id::TICK, 0)),
        b'u' => KeyRequest::Send("TICK-1", Request::byte(id::TICK, 1)),
        b'd' => KeyRequest::SaveDictionaries,
        b'o' => KeyRequest::Write(SideFile::Text),
        b's' => KeyRequest::Write(SideFile::Binary),
        b'm' => KeyRequest::Write(SideFile::Matlab),
        b'g' => KeyRequest::Write(SideFile::Sequence),
        _ => KeyRequest::Exit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_qspy() {
        assert_eq!(requests(b"\x1b"), [KeyRequest::Exit]);
        assert_eq!(requests(b"\x1b[A"), []);
        assert_eq!(requests(b"n"), [KeyRequest::Next]);
        assert_eq!(
            requests(b"7Tb"),
            [KeyRequest::Send("TICK-0", Request::byte(3, 0)), KeyRequest::Write(SideFile::Binary)]
        );
        assert_eq!(help().count(), KEYS.len());
    }
}
