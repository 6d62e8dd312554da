//! What cargo says of a build that is repeated because of us: that it could not compile. It is held back until it is known whether the
//! build is repeated. With `--message-format json` that are lines of both streams, and which comes first is not known.

/// The beginnings of cargo's lines.
const LINES: [&str; 2] =
    ["error: could not compile `", "warning: build failed, waiting for other jobs to finish"];

/// What the wrapper prints when a compiler has refused something, at the end of its line.
const ANNOUNCED: &str = "; building again";
const OURS: &str = "xhist: ";

/// The beginnings of cargo's lines in JSON: the end of a build that failed, and messages, of which ours is one.
const FINISHED: &str = r#"{"reason":"build-finished","success":false"#;
const MESSAGE: &str = r#"{"reason":"compiler-message","#;
/// What the message of the wrapper begins with.
const RENDERED: &str = r#""rendered":"xhist: "#;

/// Longest beginning of a line that is looked at.
const LONGEST: usize = 4096;

/// What cargo writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// Lines for people.
    #[default]
    Text,
    /// `--message-format json`.
    Json,
}

/// Passes on a stream, and holds back lines of cargo behind the announcement.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// The announcement came, or it may come in the other stream.
    is_announced: bool,
    language: Language,
    /// The newest line, as far as it came.
    line: Vec<u8>,
    /// How much of the line was passed on.
    passed: usize,
    /// The line is held back.
    held: Vec<u8>,
}

impl Hidden {
    pub(super) fn new(language: Language) -> Hidden {
        Hidden { is_announced: language == Language::Json, language, ..Hidden::default() }
    }

    /// Takes bytes and returns those that are passed on.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_announced {
                piece.iter().for_each(|byte| self.take_byte(*byte, &mut passed));
            } else {
                passed.extend_from_slice(piece);
                let room = LONGEST.saturating_sub(self.line.len());
                self.line.extend_from_slice(&piece[..piece.len().min(room)]);
                self.passed = self.line.len();
            }
            if piece.ends_with(b"\n") {
                passed.extend(self.take_message());
                self.end_line();
            }
        }
        passed
    }

    /// The rest of a message of the compiler.
    fn take_message(&mut self) -> Vec<u8> {
        let message = self
            .line
            .strip_prefix(MESSAGE.as_bytes())
            .filter(|_| self.language == Language::Json && self.passed == 0);
        let is_ours = |message: &[u8]| {
            let text = String::from_utf8_lossy(message);
            text.contains(RENDERED) && text.contains(ANNOUNCED)
        };
        let is_theirs = message.is_some_and(|message| !is_ours(message));
        if is_theirs { std::mem::take(&mut self.line) } else { Vec::new() }
    }

    fn take_byte(&mut self, byte: u8, passed: &mut Vec<u8>) {
        self.line.push(byte);
        // Messages are long.
        if self.language == Language::Json && self.line.starts_with(MESSAGE.as_bytes()) {
            return;
        }
        if self.line.len() > LONGEST || !self.may_be_cargos(&plain(&self.line)) {
            passed.extend_from_slice(&self.line[self.passed..]);
            self.line.truncate(LONGEST);
            self.passed = self.line.len();
        }
    }

    fn end_line(&mut self) {
        let text = plain(&self.line);
        self.is_announced |= text.starts_with(OURS) && text.trim_end().ends_with(ANNOUNCED);
        self.held.extend_from_slice(&self.line[self.passed..]);
        self.line.clear();
        self.passed = 0;
    }

    /// Whether a line is, or may become, one of cargo's.
    fn may_be_cargos(&self, text: &str) -> bool {
        let json = [FINISHED, MESSAGE].into_iter().filter(|_| self.language == Language::Json);
        LINES.into_iter().chain(json).any(|line| line.starts_with(text) || text.starts_with(line))
    }

    /// The stream has ended: what was held back.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end_line();
        self.held
    }
}

/// A line as a terminal shows it in the end, without colours.
fn plain(line: &[u8]) -> String {
    let (mut text, mut is_start) = (String::new(), false);
    let line = String::from_utf8_lossy(line);
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => _ = chars.by_ref().skip(1).find(|end| end.is_ascii_alphabetic()),
            '\r' => is_start = true,
            char => {
                if std::mem::take(&mut is_start) && char != '\n' {
                    text.clear();
                }
                text.push(char);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS_AND_CARGOS: &str = "   Compiling a v0.1.0\nxhist: a constant needs `f` as `const fn`, so these are not recorded; building again\n\
        \u{1b}[1m\u{1b}[91merror\u{1b}[0m: could not compile `a` (lib) due to 1 previous error\n\
        warning: build failed, waiting for other jobs to finish...\nerror[E0308]: mismatched types\n";

    /// What is passed on, and what was held back, of a stream that comes in pieces of this length.
    fn streamed(text: &str, len: usize) -> (String, String) {
        let mut hidden = Hidden::default();
        let passed: Vec<u8> = text.as_bytes().chunks(len).flat_map(|piece| hidden.take(piece)).collect();
        (String::from_utf8(passed).unwrap(), String::from_utf8(hidden.finish()).unwrap())
    }

    #[test]
    fn lines_of_cargo_behind_the_announcement_are_held_back() {
        for len in [1, 7, 4096] {
            let (passed, held) = streamed(OURS_AND_CARGOS, len);
            assert!(passed.ends_with("; building again\nerror[E0308]: mismatched types\n"), "{passed}");
            assert!(held.contains("could not compile `a`") && held.contains("build failed"), "{held}");
        }
    }

    #[test]
    fn with_json_each_stream_holds_back_its_own_lines() {
        let long = "x".repeat(2 * LONGEST);
        let users = format!("{MESSAGE}\"message\":{{\"rendered\":\"error: {long}\"}}}}\n");
        let ours = format!("{MESSAGE}\"message\":{{{RENDERED}a constant needs `f`{ANNOUNCED}\\n\"}}}}\n");
        let finished = format!("{FINISHED}}}\n");
        let passes = format!("{}\n", FINISHED.replace("false", "true}"));
        for len in [1, 7, 4096] {
            let mut stdout = Hidden::new(Language::Json);
            let text = [&*users, &*ours, &*finished, &*passes].concat();
            let passed: Vec<u8> = text.as_bytes().chunks(len).flat_map(|piece| stdout.take(piece)).collect();
            assert_eq!(String::from_utf8(passed).unwrap(), format!("{users}{passes}"));
            assert_eq!(String::from_utf8(stdout.finish()).unwrap(), format!("{ours}{finished}"));
            let mut stderr = Hidden::new(Language::Json);
            assert_eq!(stderr.take(b"error: could not compile `a` (lib)\nerror: b\n"), b"error: b\n");
            assert_eq!(stderr.finish(), b"error: could not compile `a` (lib)\n");
        }
    }

    #[test]
    fn a_terminal_draws_the_progress_in_the_same_line() {
        let text = OURS_AND_CARGOS
            .replace('\n', "\r\n")
            .replace("error\u{1b}", "\r    Building 1/2\r\u{1b}[Kerror\u{1b}");
        let (passed, held) = streamed(&text, 5);
        assert!(passed.contains("Building 1/2") && !passed.contains("could not compile"), "{passed}");
        assert!(held.contains("could not compile `a`"), "{held}");
    }

    #[test]
    fn without_the_announcement_everything_passes_at_once() {
        for text in ["error: could not compile `a` (lib)\n", "erro", "\r\n\u{1b}[K error: \u{1b}"] {
            assert_eq!(streamed(text, 3), (text.to_owned(), String::new()));
        }
        let long = "x".repeat(2 * LONGEST) + "\nb";
        assert_eq!(streamed(&long, 100), (long.clone(), String::new()));
    }
}
