//! Tokens of a Rust source: names, literals, marks, and which bracket closes which.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Name,
    /// `'a`.
    Lifetime,
    /// A number, text or character.
    Literal,
    /// A bracket that opens; the number of the token that closes it.
    Open(u8, u32),
    /// A bracket that closes.
    Close,
    /// One character of an operator.
    Mark(u8),
}

/// A token, with its place in the text in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceToken {
    /// What it is.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: u32,
    /// The byte behind it.
    pub end: u32,
}

/// The tokens of a text. Any text is fine: a bracket that nothing closes is closed by the end.
pub fn tokens(text: &str) -> Vec<SourceToken> {
    let bytes = text.as_bytes();
    let mut tokens: Vec<SourceToken> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (kind, len) = match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += comment(&bytes[at..]);
                continue;
            }
            b'"' => (TokenKind::Literal, quoted(&bytes[at..], b'"')),
            b'\'' => quote(&text[at..]),
            b'0'..=b'9' => (TokenKind::Literal, number(&bytes[at..])),
            byte if is_name(byte) => match literal_with_prefix(&bytes[at..]) {
                Some(len) => (TokenKind::Literal, len),
                None => (TokenKind::Name, name(&bytes[at..])),
            },
            byte @ (b'(' | b'[' | b'{') => {
                open.push(tokens.len());
                (TokenKind::Open(byte, u32::MAX), 1)
            }
            byte @ (b')' | b']' | b'}') => {
                close(&mut tokens, &mut open, byte);
                (TokenKind::Close, 1)
            }
            byte => (TokenKind::Mark(byte), 1),
        };
        tokens.push(SourceToken { kind, start: at as u32, end: (at + len) as u32 });
        at += len;
    }
    let end = tokens.len() as u32;
    for index in open {
        if let TokenKind::Open(_, closed) = &mut tokens[index].kind {
            *closed = end;
        }
    }
    tokens
}

/// A text without its comments, which are blanks then; ends of lines stay.
pub fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut end = 0;
    for token in tokens(text) {
        let (start, next) = (token.start as usize, token.end as usize);
        add_blanks(&text[end..start], &mut code);
        code.push_str(&text[start..next]);
        end = next;
    }
    add_blanks(&text[end..], &mut code);
    code
}

fn add_blanks(between: &str, code: &mut String) {
    code.extend(between.chars().map(|char| if char == '\n' { char } else { ' ' }));
}

/// The next token closes the newest bracket of its kind; those opened since are closed there, too.
fn close(tokens: &mut [SourceToken], open: &mut Vec<usize>, byte: u8) {
    let wanted = match byte {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    };
    let is_it = |index: &usize| matches!(tokens[*index].kind, TokenKind::Open(opened, _) if opened == wanted);
    let Some(found) = open.iter().rposition(is_it) else { return };
    let here = tokens.len() as u32;
    for index in open.drain(found..) {
        if let TokenKind::Open(_, closed) = &mut tokens[index].kind {
            *closed = here;
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

fn name(bytes: &[u8]) -> usize {
    let raw = if bytes.starts_with(b"r#") && bytes.get(2).is_some_and(|byte| is_name(*byte)) { 2 } else { 0 };
    raw + bytes[raw..].iter().take_while(|byte| is_name(**byte)).count()
}

/// The length of a comment `/* */`, in which others may be.
fn comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if bytes[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// The length of a text between two quotes.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A character or a lifetime.
fn quote(text: &str) -> (TokenKind, usize) {
    let mut behind = text.char_indices().skip(1);
    let (first, second) = (behind.next(), behind.next());
    match (first, second) {
        (Some((_, '\\')), _) => (TokenKind::Literal, quoted(text.as_bytes(), b'\'')),
        (Some(_), Some((at, '\''))) => (TokenKind::Literal, at + 1),
        _ => (TokenKind::Lifetime, 1 + name(&text.as_bytes()[1..])),
    }
}

/// The length of a number. `1..2` and `1.max(2)` begin with `1`.
fn number(bytes: &[u8]) -> usize {
    let is_decimal = !(bytes[0] == b'0' && matches!(bytes.get(1), Some(b'x' | b'b' | b'o')));
    let mut at = 0;
    while at < bytes.len() {
        let is_fraction = bytes[at] == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let is_sign = at > 0 && matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
        match bytes[at] {
            byte if is_name(byte) => at += 1,
            _ if is_decimal && (is_fraction || is_sign) => at += 1,
            _ => break,
        }
    }
    at
}

/// The length of a literal with letters in front: `b'x'`, `r#"text"#`.
fn literal_with_prefix(bytes: &[u8]) -> Option<usize> {
    let prefix = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    if !matches!(&bytes[..prefix], b"b" | b"c" | b"r" | b"br" | b"cr") {
        return None;
    }
    let rest = &bytes[prefix..];
    if !bytes[..prefix].ends_with(b"r") {
        let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
        return Some(prefix + quoted(rest, quote));
    }
    let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
    if rest.get(hashes) != Some(&b'"') {
        return None;
    }
    let is_end = |at: &usize| {
        rest[*at] == b'"'
            && rest[at + 1..].iter().take(hashes).filter(|byte| **byte == b'#').count() == hashes
    };
    let end = (hashes + 1..rest.len()).find(is_end).map_or(rest.len(), |at| at + 1 + hashes);
    Some(prefix + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| &text[token.start as usize..token.end as usize]).collect()
    }

    #[test]
    fn literals_lifetimes_and_comments_are_distinguished() {
        let text = r##"a 'b' '\'' 'c r#"x"y"# br"z" b'1' 1.5 1..2 t.0 1e-3 0xe+1 // d
            /* e /* f */ g */ r#fn "h\"i""##;
        assert_eq!(
            texts(text),
            [
                "a",
                "'b'",
                r"'\''",
                "'c",
                r##"r#"x"y"#"##,
                r#"br"z""#,
                "b'1'",
                "1.5",
                "1",
                ".",
                ".",
                "2",
                "t",
                ".",
                "0",
                "1e-3",
                "0xe",
                "+",
                "1",
                "r#fn",
                r#""h\"i""#
            ]
        );
    }

    #[test]
    fn brackets_are_closed_by_the_end() {
        let closes = |text: &str| {
            let close = |token: &SourceToken| match token.kind {
                TokenKind::Open(_, close) => Some(close),
                _ => None,
            };
            tokens(text).iter().filter_map(close).collect::<Vec<_>>()
        };
        assert_eq!(closes("(a[b])"), [5, 4]);
        assert_eq!(closes("{(a}b"), [3, 3]);
        assert_eq!(closes("([)]{"), [2, 2, 5]);
        assert_eq!(closes("\"\u{e9}({"), Vec::<u32>::new());
    }

    #[test]
    fn comments_are_blanks() {
        let text = "if a { // why: \"b\nb(\"//\" /* c\n */);";
        assert_eq!(
            without_comments(text),
            format!("if a {{ {}\nb(\"//\" {}\n   );", " ".repeat(10), " ".repeat(4))
        );
        assert_eq!(without_comments("// only"), " ".repeat(7));
    }
}
