//! Format strings: `{0=u8:#04x}`.

/// Bytes of a format string that is read.
const MAX_LEN: usize = 4 << 10;
/// Values of a format string.
const MAX_VALUES: usize = 256;
/// Digits that a number is filled up to.
const MAX_WIDTH: usize = 128;

/// A part of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Written as it is.
    Text(String),
    /// A value.
    Value { index: usize, kind: Kind, hint: Option<Hint> },
}

/// The type of a value on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bits of an integer: the first, and the first that is not.
    Bits(u8, u8),
    Bool,
    Char,
    /// Text up to a byte that no text has.
    Formatted,
    /// Values up to the number 0.
    Sequence,
    F32,
    F64,
    /// A number of a format string, and its values.
    Format,
    FormatArray(usize),
    FormatSlice,
    Signed(u8),
    Unsigned(u8),
    /// The number of a text.
    Interned,
    Str,
    Bytes,
    ByteArray(usize),
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hint {
    pub(super) style: Style,
    pub(super) has_prefix: bool,
    pub(super) width: usize,
}

/// See [`Hint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Hex,
    UpperHex,
    Octal,
    Binary,
    Ascii,
    Debug,
    /// Seconds with this many decimals.
    Seconds(u32),
    /// Hours, minutes and seconds with this many decimals.
    Time(u32),
    /// A date, from seconds with this many decimals.
    Date(u32),
    /// The names of flags of this set.
    Flags(String),
}

/// The pieces of a format string; `None` if it is not one.
pub(super) fn parse(format: &str) -> Option<Vec<Piece>> {
    if format.len() > MAX_LEN {
        return None;
    }
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut next = 0;
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix(brace) {
            // Doubled, it is written.
            text.push_str(brace);
            rest = behind;
        } else if brace == "{" {
            let (inside, behind) = rest.split_once('}')?;
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(value(inside, &mut next)?);
            rest = behind;
        } else {
            text.push_str(brace);
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Some(pieces)
}

/// A value from what is between its braces. `next`: its number if it has none.
fn value(inside: &str, next: &mut usize) -> Option<Piece> {
    let digits = inside.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(inside.len());
    let (number, rest) = inside.split_at(digits);
    let index = match number {
        "" => {
            *next += 1;
            *next - 1
        }
        number => number.parse().ok()?,
    };
    let (kind, hint) = match rest.split_once(':') {
        Some((kind, hint)) => (kind, Some(self::hint(hint))),
        None => (rest, None),
    };
    let kind = match kind {
        "" => Kind::Format,
        kind => self::kind(kind.strip_prefix('=')?)?,
    };
    (index < MAX_VALUES).then_some(Piece::Value { index, kind, hint })
}

fn kind(name: &str) -> Option<Kind> {
    let array = |begin: &str| name.strip_prefix(begin)?.strip_suffix(']')?.trim().parse().ok();
    Some(match name {
        "bool" => Kind::Bool,
        "char" => Kind::Char,
        "__internal_Debug" | "__internal_Display" => Kind::Formatted,
        "__internal_FormatSequence" => Kind::Sequence,
        "f32" => Kind::F32,
        "f64" => Kind::F64,
        "?" => Kind::Format,
        "[?]" => Kind::FormatSlice,
        "istr" => Kind::Interned,
        "str" => Kind::Str,
        "[u8]" => Kind::Bytes,
        // On the wire these have 32 bits.
        "usize" => Kind::Unsigned(4),
        "isize" => Kind::Signed(4),
        _ if name.starts_with("[u8;") => Kind::ByteArray(array("[u8;")?),
        _ if name.starts_with("[?;") => Kind::FormatArray(array("[?;")?),
        _ => match name.split_once("..") {
            Some((first, end)) => {
                let (first, end) = (first.parse().ok()?, end.parse().ok()?);
                (first < end && end <= 128).then_some(Kind::Bits(first, end))?
            }
            None => integer(name)?,
        },
    })
}

fn integer(name: &str) -> Option<Kind> {
    let bits: u8 = name.get(1..)?.parse().ok()?;
    let bytes = matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(bits / 8)?;
    match name.as_bytes().first()? {
        b'u' => Some(Kind::Unsigned(bytes)),
        b'i' => Some(Kind::Signed(bytes)),
        _ => None,
    }
}

/// A hint. One that is not known is no error: the value is written plainly.
fn hint(text: &str) -> Hint {
    let (has_prefix, text) = text.strip_prefix('#').map_or((false, text), |text| (true, text));
    let digits = text.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(text.len());
    let (width, name) = if text.starts_with('0') { text.split_at(digits) } else { ("", text) };
    let style = match name {
        "x" => Style::Hex,
        "X" => Style::UpperHex,
        "o" => Style::Octal,
        "b" => Style::Binary,
        "a" => Style::Ascii,
        "?" => Style::Debug,
        "us" => Style::Seconds(6),
        "ms" => Style::Seconds(3),
        "tus" => Style::Time(6),
        "tms" => Style::Time(3),
        "ts" => Style::Time(0),
        "iso8601ms" => Style::Date(3),
        "iso8601s" => Style::Date(0),
        name => match name.strip_prefix("__internal_bitflags_") {
            Some(set) => Style::Flags(set.to_owned()),
            None => Style::Plain,
        },
    };
    Hint { style, has_prefix, width: width.parse().unwrap_or(0).min(MAX_WIDTH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_an_index_a_type_and_a_hint() {
        let plain = |index, kind| Piece::Value { index, kind, hint: None };
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(parse("a {{b}} c"), Some(vec![text("a {b} c")]));
        assert_eq!(
            parse("{}{=u8}-{=[u8; 3]}{1}"),
            Some(vec![
                plain(0, Kind::Format),
                plain(1, Kind::Unsigned(1)),
                text("-"),
                plain(2, Kind::ByteArray(3)),
                plain(1, Kind::Format),
            ])
        );
        let hint = Hint { style: Style::Hex, has_prefix: true, width: 8 };
        assert_eq!(
            parse("{0=0..12:#08x}"),
            Some(vec![Piece::Value { index: 0, kind: Kind::Bits(0, 12), hint: Some(hint) }])
        );
        for wrong in
            ["{", "{=u9}", "{=4..4}", "{=0..129}", "{x}", "{999}", "{=[u8;}", "{99999999999999999999999}"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(parse(&"x".repeat(MAX_LEN + 1)), None);
    }
}
